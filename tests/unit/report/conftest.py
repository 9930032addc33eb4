"""The sample page, drawn once: pictures take most of the time."""

import pytest

from evenhand.report.html import render
from unit.report._sample_page import page


@pytest.fixture(scope="session")
def sample():
    return page()


@pytest.fixture(scope="session")
def rendered(sample):
    return render(sample)
