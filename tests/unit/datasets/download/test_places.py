"""The places where files are looked for are where a person would expect them."""

import pathlib

import pytest

from evenhand.datasets.download.places import cache_folder, cache_words, places


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"EVENHAND_CACHE": "/kept", "XDG_CACHE_HOME": "/x"}, "linux", "/kept"),
        ({"XDG_CACHE_HOME": "/x"}, "linux", "/x/evenhand"),
        ({"XDG_CACHE_HOME": ""}, "linux", "~/.cache/evenhand"),
        ({}, "freebsd14", "~/.cache/evenhand"),
        ({"XDG_CACHE_HOME": "/x"}, "darwin", "~/Library/Caches/evenhand"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/evenhand"),
        ({}, "win32", "~/AppData/Local/evenhand"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(environment, platform, expected):
    assert cache_folder(environment, platform=platform) == pathlib.Path(expected).expanduser()


def test_the_cache_may_begin_with_a_tilde():
    assert cache_folder({"EVENHAND_CACHE": "~/kept"}) == pathlib.Path("~/kept").expanduser()


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_there_is_no_cache_without_a_home_folder(platform, homeless):
    assert cache_folder({}, platform=platform) is None
    assert cache_folder({"EVENHAND_CACHE": "~/kept"}, platform=platform) is None
    assert cache_folder({"EVENHAND_CACHE": "kept"}, platform=platform) == pathlib.Path("kept")


def test_without_a_home_folder_only_named_folders_are_looked_in(homeless, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", "set")

    assert [each.folder for each in places("mine")] == [pathlib.Path("mine"), pathlib.Path("set")]


def test_the_cache_is_named_in_words(monkeypatch):
    """A message may be shown to others, so it holds no path of this machine."""
    monkeypatch.setenv("EVENHAND_CACHE", "/somewhere")
    named = cache_words()
    monkeypatch.delenv("EVENHAND_CACHE")

    assert named == "the cache (the folder named by EVENHAND_CACHE)"
    assert cache_words() == "the cache ('evenhand' in the usual folder for caches)"
