"""What every test may use."""

import os
import pathlib

import pytest
from hypothesis import HealthCheck, settings

SLOW_DATA = [HealthCheck.too_slow]
settings.register_profile("fast", max_examples=100, deadline=None, suppress_health_check=SLOW_DATA)
settings.register_profile("balanced", parent=settings.get_profile("fast"), max_examples=1_000)
settings.register_profile("nightly", parent=settings.get_profile("fast"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def sources() -> list[pathlib.Path]:
    """Return every Python file of the package."""
    return sorted((ROOT / "src" / "evenhand").rglob("*.py"))
