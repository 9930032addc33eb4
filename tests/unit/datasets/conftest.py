"""Where the tests of data sets find real files, and how they are kept away from them."""

import functools
import os
import pathlib
import sys

import pytest

from evenhand.datasets import load


@pytest.fixture(scope="session")
def data():
    """Return the folder of real files; tests that need it are skipped without it."""
    named = os.environ.get("EVENHAND_DATA")
    if not named or not pathlib.Path(named).is_dir():
        pytest.skip("EVENHAND_DATA names no folder of data files")
    return pathlib.Path(named)


@pytest.fixture(scope="session")
def real(data):
    """Load a data set from real files only, once for each choice of options."""

    @functools.cache
    def loaded(name, **options):
        return load(name, folder=data, download=False, **options)

    return loaded


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Take away the folder of real files and give an empty cache of its own."""
    cache = tmp_path / "cache"
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    monkeypatch.setenv("EVENHAND_CACHE", str(cache))
    return cache


@pytest.fixture
def homeless(monkeypatch):
    """Take away the home folder, as in a container whose account is in no list of accounts."""
    for name in ("HOME", "USERPROFILE", "HOMEPATH", "XDG_CACHE_HOME", "LOCALAPPDATA", "EVENHAND_CACHE"):
        monkeypatch.delenv(name, raising=False)
    if sys.platform != "win32":
        import pwd

        def unknown(_):
            raise KeyError("no such account")

        monkeypatch.setattr(pwd, "getpwuid", unknown)
