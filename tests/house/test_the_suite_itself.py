"""Tests that are not collected cannot fail."""

import pytest

DEFAULT = "not browser and not engines and not figures and not slow and not system and not nightly"
FEWEST = 17_500
"""Tests of a whole default run; raise it as the suite grows."""


@pytest.fixture
def whole_run(request):
    """Skip unless this run is the default one, of everything."""
    paths = {str(each).rstrip("/") for each in request.config.args}
    chosen = request.config.option.keyword or request.config.option.markexpr
    if paths != {"tests", "src", "docs", "README.md"} or chosen != DEFAULT:
        pytest.skip("only a run of everything can tell")
    return request.session


def test_no_tests_went_missing(whole_run):
    """A renamed folder or a wrong mark would drop tests in silence."""
    assert whole_run.testscollected >= FEWEST


def test_the_examples_of_every_page_are_collected(root, whole_run):
    written = (root / "docs").glob("**/*.md")
    pages = {path.name for path in written if ">>>" in path.read_text(encoding="utf-8")}
    collected = {item.path.name for item in whole_run.items}

    assert {"README.md", *pages} <= collected
