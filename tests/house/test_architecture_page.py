"""The map of the house names every folder, and no file that is not there."""

import re

import pytest


@pytest.fixture(name="page", scope="module")
def _page(root):
    return (root / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_folder_is_on_the_map(root, page):
    """A newcomer who meets a folder must be able to look it up."""
    package = root / "src" / "evenhand"
    folders = {path.parent.relative_to(package).as_posix() for path in package.rglob("*.py")} - {"."}
    only_folders_inside = {"collect", "release", "decide", "learn", "datasets", "study"}
    named = set(re.findall(r"`([a-z0-9_/]+)`", page))

    assert sorted(folders - named - only_folders_inside) == []


def test_every_file_on_the_map_exists(root, page):
    files = set(re.findall(r"`([a-z0-9_]+(?:/[a-z0-9_]+)+\.py)`", page))
    places = (root / "src" / "evenhand", root)

    assert len(files) > 60
    assert sorted(file for file in files if not any((place / file).is_file() for place in places)) == []


def test_no_way_through_the_house_has_more_than_25_stops(page):
    """The common stops and those of one kind together, file by file."""
    common, *kinds = re.split(
        r"^### ", page.split("## The way of the data")[1].split("Two commands")[0], flags=re.MULTILINE
    )
    stops = [set(re.findall(r"`[a-z0-9_/]+\.py`", part)) for part in (common, *kinds)]

    assert len(kinds) == 4
    assert max(len(stops[0] | own) for own in stops[1:]) <= 25
