"""The three files appear together, over nothing that was there, and never over the input."""

import os
from pathlib import Path

import pytest

from evenhand.engine import shuffle
from evenhand.engine.privatize import Places, privatize_file
from evenhand.errors import InvalidParameterError, UnwritableFileError
from unit.engine._streams import SCHEMA, people, write


def _fill(places):
    with places.open_files() as files:
        for file, text in zip(files, (b"out", b"schema", b"record"), strict=True):
            file.write(text)


def _stop_half_way(places):
    with places.open_files() as (file, _, _):
        file.write(b"half")
        raise KeyboardInterrupt


def _texts(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_appear_when_all_are_complete(tmp_path):
    _fill(Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=False))

    assert _texts(tmp_path) == {
        "o.csv": b"out",
        "o.csv.schema.toml": b"schema",
        "o.csv.guarantee.json": b"record",
    }


@pytest.mark.parametrize("there", ["o.csv", "o.csv.schema.toml", "o.csv.guarantee.json"])
def test_nothing_is_written_over_unless_told(tmp_path, there):
    (tmp_path / there).write_bytes(b"old")

    with pytest.raises(UnwritableFileError, match=f"{there} was not written: there is a file of that name"):
        Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=False)
    _fill(Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=True))
    assert sorted(_texts(tmp_path).values()) == [b"out", b"record", b"schema"]


@pytest.mark.parametrize("link", ["o.csv", "o.csv.schema.toml", "o.csv.guarantee.json"])
def test_a_link_that_leads_nowhere_is_a_file_of_that_name(tmp_path, link):
    """To follow it would write into a folder that nobody named."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / link).symlink_to(tmp_path / "elsewhere" / "o.csv")

    with pytest.raises(UnwritableFileError, match=f"{link} was not written: there is a file of that name"):
        Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=False)
    _fill(Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=True))
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / link).is_symlink()


def test_a_link_is_replaced_and_the_set_that_it_leads_into_stays_whole(tmp_path):
    """Reports written through a link would stand beside the guarantee of others."""
    other = tmp_path / "other"
    other.mkdir()
    _fill(Places.of(other / "o.csv", taken_by="in.csv", overwrite=False))
    before = _texts(other)
    (tmp_path / "o.csv").symlink_to(other / "o.csv")
    with Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=True).open_files() as (file, _, _):
        file.write(b"new")

    assert _texts(other) == before
    assert (tmp_path / "o.csv").read_bytes() == b"new"


@pytest.mark.parametrize("out", ["in.csv", "link.csv", "hard.csv"])
def test_the_input_is_never_written_over(tmp_path, out):
    source = tmp_path / "in.csv"
    source.write_text("x")
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")

    with pytest.raises(InvalidParameterError, match="another file than the input"):
        Places.of(tmp_path / out, taken_by=source, overwrite=True)


def test_the_input_is_not_taken_for_what_stands_beside_the_output(tmp_path):
    with pytest.raises(InvalidParameterError, match="another file than the input"):
        Places.of(tmp_path / "o.csv", taken_by=tmp_path / "o.csv.schema.toml", overwrite=True)


@pytest.mark.parametrize("old", [False, True])
def test_after_an_error_everything_is_as_it_was(tmp_path, old):
    names = ["o.csv", "o.csv.schema.toml", "o.csv.guarantee.json"]
    for name in names if old else []:
        (tmp_path / name).write_bytes(b"old")
    before = _texts(tmp_path)
    places = Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=True)
    with pytest.raises(KeyboardInterrupt):
        _stop_half_way(places)

    assert _texts(tmp_path) == before


def test_an_error_while_the_files_take_their_places_leaves_no_new_one(tmp_path, monkeypatch):
    """A guarantee without its reports is as wrong as reports without their guarantee."""
    places = Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=False)
    replace = type(tmp_path).replace

    def full(path, target):
        if target.name == "o.csv":
            raise OSError(28, "full")
        return replace(path, target)

    monkeypatch.setattr(type(tmp_path), "replace", full)
    with pytest.raises(UnwritableFileError, match="the disk is full"):
        _fill(places)
    assert _texts(tmp_path) == {}


def test_where_files_are_replaced_the_guarantee_comes_last(tmp_path, monkeypatch):
    """At no moment does a new guarantee or schema stand beside old reports, or an old one beside new ones."""
    for name in ("o.csv", "o.csv.schema.toml", "o.csv.guarantee.json"):
        (tmp_path / name).write_bytes(b"old")
    seen = []
    replace = type(tmp_path).replace

    def watched(path, target):
        found = {name: text for name, text in _texts(tmp_path).items() if not name.endswith(".part")}
        seen.append((found["o.csv"], found.get("o.csv.schema.toml"), found.get("o.csv.guarantee.json")))
        return replace(path, target)

    monkeypatch.setattr(type(tmp_path), "replace", watched)
    _fill(Places.of(tmp_path / "o.csv", taken_by="in.csv", overwrite=True))
    assert seen == [(b"old", None, None), (b"out", None, None), (b"out", b"schema", None)]


def test_a_gzipped_file_is_known_by_its_name(tmp_path):
    packed = [
        Places.of(tmp_path / name, taken_by="in", overwrite=False).packed for name in ("a.CSV.GZ", "a.csv")
    ]

    assert packed == [True, False]


@pytest.mark.parametrize("leads_to", ["elsewhere/o.csv", "not there/o.csv"])
def test_rows_that_wait_for_their_order_stand_where_the_file_will(tmp_path, monkeypatch, leads_to):
    """A link in the place of the output is replaced, so the folder that it leads to is nobody's concern."""
    (tmp_path / "elsewhere").mkdir()
    source = write(people(), tmp_path / "in.csv")
    (tmp_path / "o.csv").symlink_to(tmp_path / leads_to)
    monkeypatch.setattr(shuffle, "MOST_ROWS", 10)
    folders = []
    open_file = shuffle.tempfile.TemporaryFile

    def note_folder(**how):
        folders.extend([how["dir"]] if how.get("suffix") == shuffle.ENDING else [])
        return open_file(**how)

    monkeypatch.setattr(shuffle.tempfile, "TemporaryFile", note_folder)
    privatize_file(source, tmp_path / "o.csv", schema=SCHEMA, epsilon=1, overwrite=True)

    assert {Path(folder).resolve() for folder in folders} == {tmp_path.resolve()}
    assert not (tmp_path / "o.csv").is_symlink()
    assert list((tmp_path / "elsewhere").iterdir()) == []
