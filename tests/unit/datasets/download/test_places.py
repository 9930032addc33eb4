"""The places where files are looked for are where a person would expect them."""

import pathlib

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from evenhand.datasets.download.files import cache_folder, name_cache, places


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"XDG_CACHE_HOME": "/x"}, Unix, "/x/evenhand"),
        ({"XDG_CACHE_HOME": ""}, Unix, "~/.cache/evenhand"),
        ({}, Unix, "~/.cache/evenhand"),
        ({}, MacOS, "~/Library/Caches/evenhand"),
        ({}, Windows, "/local/evenhand"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(environment, platform, expected, monkeypatch):
    monkeypatch.setattr("platformdirs.windows.get_win_folder", lambda _: "/local")
    monkeypatch.setattr("platformdirs.PlatformDirs", platform)
    for name in ("EVENHAND_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert cache_folder() == pathlib.Path(expected).expanduser()


def test_the_cache_may_be_named(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    for named in ("/kept", "~/kept"):
        monkeypatch.setenv("EVENHAND_CACHE", named)

        assert cache_folder() == pathlib.Path(named).expanduser()


@pytest.mark.parametrize("platform", [Unix, MacOS])
def test_there_is_no_cache_without_a_home_folder(platform, homeless, monkeypatch):
    monkeypatch.setattr("platformdirs.PlatformDirs", platform)

    assert cache_folder() is None
    monkeypatch.setenv("EVENHAND_CACHE", "~/kept")
    assert cache_folder() is None
    monkeypatch.setenv("EVENHAND_CACHE", "kept")
    assert cache_folder() == pathlib.Path("kept")


def test_without_a_home_folder_only_named_folders_are_looked_in(homeless, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", "set")

    assert [each.folder for each in places("mine")] == [pathlib.Path("mine"), pathlib.Path("set")]


def test_the_cache_is_named_in_words(monkeypatch):
    """A message may be shown to others, so it holds no path of this machine."""
    monkeypatch.setenv("EVENHAND_CACHE", "/somewhere")
    named = name_cache()
    monkeypatch.delenv("EVENHAND_CACHE")

    assert named == "the cache (the folder named by EVENHAND_CACHE)"
    assert name_cache() == "the cache ('evenhand' in the usual folder for caches)"
