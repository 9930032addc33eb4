"""What every test may use."""

import gc
import importlib.util
import os
import pathlib
import sys
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

SLOW_DATA = [HealthCheck.too_slow]
settings.register_profile("fast", max_examples=100, deadline=None, suppress_health_check=SLOW_DATA)
settings.register_profile("balanced", parent=settings.get_profile("fast"), max_examples=1_000)
settings.register_profile("nightly", parent=settings.get_profile("fast"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

# Where the environment says to leave no bytecode, as in many containers, every worker and every process that
# a test starts would compile all that it imports again: a tenth of the time of all tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure(config):
    """Look for no garbage while twenty thousand tests are collected, of which nothing is thrown away."""
    gc.disable()


LARGE = ("attacks", "contract/papers", "contract/plugins", "property", "statistical", "unit/papers")
FIGURES = tuple(f"tests/{folder}/" for folder in LARGE)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave whole folders that take long to `make test-figures`, which every change must pass as well."""
    for item in items:
        if item.nodeid.startswith(FIGURES):
            item.add_marker("figures")


def pytest_collection_finish(session):
    """Look for it again, but not among the tests themselves."""
    gc.enable()
    gc.freeze()


ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def sources() -> list[pathlib.Path]:
    """Return every Python file of the package."""
    return sorted((ROOT / "src" / "evenhand").rglob("*.py"))


@pytest.fixture
def run_example(monkeypatch, capsys):
    """Return a function that makes one of an example: it runs the script in this process with some words."""

    def load(script):
        about = importlib.util.spec_from_file_location(f"{script.stem}_example", script)
        module = importlib.util.module_from_spec(about)
        about.loader.exec_module(module)

        def run(*arguments):
            monkeypatch.setattr(sys, "argv", [script.name, *arguments])
            code = None
            try:
                module.main()
            except SystemExit as left:
                code = left.code
            out, err = capsys.readouterr()
            return SimpleNamespace(
                code=code, stdout=out, stderr=err + (code if isinstance(code, str) else "")
            )

        return run

    return load
