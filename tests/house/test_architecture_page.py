"""The map of the house names every folder, and no file that is not there."""

import re
import tomllib

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


def test_the_picture_has_the_layers_of_the_linter_in_their_order(root, page):
    """Whoever reads the picture must see every layer: one that is missing seems to be free to import."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    layers = [re.findall(r"\b[a-z]+\b", layer) for layer in contract["layers"]]
    picture = page.split("```text\n")[1].split("```")[0].splitlines()
    folders = [{path.name for path in (root / "src" / "evenhand").iterdir()} & set(layer) for layer in layers]

    assert [set(line[:24].split()) for line in picture] == [layer for layer in folders if layer]


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
