"""Files are written whole or not at all, and text stays text."""

import datetime as dt
import errno
import stat
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError, UnwritableFileError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table, read, write_csv, write_parquet
from evenhand.table.write import replacing_together

ROWS = {
    "text": ["a", "=1", None, ""],
    "whole": [1, -2, None, 4],
    "number": [0.5, -1e-9, None, 1e300],
    "truth": [True, None, False, True],
}
WRITERS = pytest.mark.parametrize(("writer", "name"), [(write_csv, "x.csv"), (write_parquet, "x.parquet")])


@pytest.mark.parametrize(
    "make", [pa.table, pl.DataFrame, lambda rows: pd.DataFrame(rows).convert_dtypes()], ids=["pa", "pl", "pd"]
)
def test_a_frame_of_any_library_is_written(make, tmp_path):
    write_csv(make(ROWS), tmp_path / "x.csv")

    assert (tmp_path / "x.csv").read_text().splitlines() == [
        '"text","whole","number","truth"',
        '"a",1,0.5,true',
        '"\'=1",-2,-1e-9,',
        ",,,false",
        '"",4,1e+300,true',
    ]


def test_a_table_is_written_by_its_values(tmp_path):
    schema = Schema(
        [
            Column("a", Domain.categorical(["-x", "y"]), outside="other"),
            Column("b", Domain.binned([-5, 0, 5])),
        ]
    )
    table = Table.encode(pa.table({"a": ["-x", "?"], "b": [-5, 5]}), schema)
    write_csv(table, tmp_path / "x.csv")
    write_parquet(table, tmp_path / "x.parquet")

    assert (tmp_path / "x.csv").read_text() == '"a","b"\n"\'-x","[-5, 0)"\n,"[0, 5]"\n'
    assert read(tmp_path / "x.parquet").to_pydict() == {"a": ["-x", None], "b": ["[-5, 0)", "[0, 5]"]}


def test_dates_decimals_and_labels_are_written(tmp_path):
    table = pa.table(
        {
            "day": [dt.date(2020, 1, 2)],
            "exact": [Decimal("-1.50")],
            "label": pa.array(["@x"]).dictionary_encode(),
            "view": pa.array(["\tx"], pa.string_view()),
            "nan": [float("nan")],
            "number": pa.array([2.5]).dictionary_encode(),
        }
    )
    write_csv(table, tmp_path / "x.csv")

    assert (tmp_path / "x.csv").read_text().splitlines()[1] == '2020-01-02,-1.50,"\'@x","\'\tx",,2.5'


def test_a_lone_missing_cell_does_not_become_a_blank_line(tmp_path):
    """A blank line is skipped when it is read, so a person would be lost."""
    for values in ([1, None, 3], ["a", None, "c"], [None, None, None]):
        write_csv(pa.table({"x": values}), tmp_path / "x.csv")

        assert read(tmp_path / "x.csv")["x"].to_pylist() == values


@pytest.mark.parametrize("column", [[b"=1"], [[1]], [{"a": 1}]])
def test_what_csv_has_no_form_for_is_refused(column, tmp_path):
    with pytest.raises(
        InvalidParameterError, match="must be a frame of text, numbers, truth values, dates and times"
    ):
        write_csv(pa.table({"x": column}), tmp_path / "x.csv")

    assert list(tmp_path.iterdir()) == []


def test_what_parquet_has_no_form_for_is_refused(tmp_path):
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(InvalidParameterError, match="write_parquet must be a frame of"):
        write_parquet(pa.table({"x": union}), tmp_path / "x.parquet")

    assert list(tmp_path.iterdir()) == []


@WRITERS
def test_a_mixed_column_is_refused_without_its_values(writer, name, tmp_path):
    with pytest.raises(InvalidParameterError) as caught:
        writer(pd.DataFrame({"x": pd.Series(["S3CRET", 1], dtype=object)}), tmp_path / name)

    assert "each hold one type" in str(caught.value)
    assert "S3CRET" not in str(caught.value)


@WRITERS
def test_what_is_no_frame_is_refused(writer, name, tmp_path):
    with pytest.raises(InvalidParameterError, match="The 'frame_or_table' parameter of write_"):
        writer([1, 2], tmp_path / name)


def test_the_index_of_pandas_is_not_written(tmp_path):
    """It may hold the names of people."""
    write_csv(pd.DataFrame({"a": [1]}, index=["S3CRET"]), tmp_path / "x.csv")
    write_parquet(pd.DataFrame({"a": [1]}, index=["S3CRET"]), tmp_path / "x.parquet")

    assert (tmp_path / "x.csv").read_text() == '"a"\n1\n'
    assert b"S3CRET" not in (tmp_path / "x.parquet").read_bytes()


@WRITERS
def test_a_failed_write_leaves_the_old_file_and_nothing_else(writer, name, tmp_path, monkeypatch):
    """A table half written over the last good one loses both."""
    path = tmp_path / name
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("evenhand.table.write.os.fsync", fail)
    with pytest.raises(UnwritableFileError) as caught:
        writer(pa.table({"a": [1]}), path)

    assert str(caught.value) == f"{name} was not written: the disk is full."
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.table.write.os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_csv(pa.table({"a": [1]}), tmp_path / "x.csv")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError(2, "no"), "its folder is not there."),
        (NotADirectoryError(20, "no"), "its folder is not there."),
        (PermissionError(13, "no"), "you may not write there."),
        (IsADirectoryError(21, "no"), "it is a folder."),
        (OSError(errno.EIO, "no"), "the system could not write it."),
    ],
)
def test_each_failure_has_its_sentence(error, reason, tmp_path, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr("evenhand.table.write.os.fsync", fail)
    with pytest.raises(UnwritableFileError) as caught:
        write_csv(pa.table({"a": [1]}), tmp_path / "x.csv")

    assert str(caught.value) == f"x.csv was not written: {reason}"


def test_real_failures_are_told_too(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UnwritableFileError, match=r"x\.csv was not written: its folder is not there"):
        write_csv(pa.table({"a": [1]}), tmp_path / "gone" / "x.csv")
    with pytest.raises(UnwritableFileError, match=r"folder\.csv was not written: it is a folder"):
        write_csv(pa.table({"a": [1]}), tmp_path / "folder.csv")

    assert [each.name for each in tmp_path.iterdir()] == ["folder.csv"]


def test_the_new_file_has_the_permissions_of_the_old_one(tmp_path):
    """A file that only its owner may read must not become readable by being written again."""
    path = tmp_path / "x.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_csv(pa.table({"a": [1]}), path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("leads", ["somewhere", "nowhere"])
def test_a_link_is_replaced_and_what_it_leads_to_is_not_touched(tmp_path, leads):
    """Through a link a table would be written into a folder that nobody named."""
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    if leads == "somewhere":
        real.write_text("old")
        real.chmod(0o600)
    link.symlink_to(real)
    write_csv(pa.table({"a": [1]}), link)

    assert not link.is_symlink()
    assert link.read_text() == '"a"\n1\n'
    assert (real.read_text() if leads == "somewhere" else real.exists()) in {"old", False}


def test_a_folder_that_is_reached_by_a_link_is_written_into(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    write_csv(pa.table({"a": [1]}), tmp_path / "link" / "x.csv")

    assert [path.name for path in (tmp_path / "real").iterdir()] == ["x.csv"]


@pytest.mark.parametrize("name", ["", ".", "..", "folder/", "folder/.."])
def test_a_name_of_a_folder_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnwritableFileError, match="was not written"):
        write_csv(pa.table({"a": [1]}), name)

    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def _write_together(*paths):
    with replacing_together(*paths) as files:
        for file in files:
            file.write(b"new")


def test_an_error_at_a_companion_names_it_and_leaves_no_new_file(tmp_path, monkeypatch):
    replace = type(tmp_path).replace

    def full(path, target):
        if target.name == "b.csv":
            raise OSError(errno.ENOSPC, "full")
        return replace(path, target)

    monkeypatch.setattr(type(tmp_path), "replace", full)
    with pytest.raises(UnwritableFileError, match=r"b\.csv was not written: the disk is full"):
        _write_together(tmp_path / "a.csv", tmp_path / "c.csv", tmp_path / "b.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_a_companion_is_noticed_before_anything_changes(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"old")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(UnwritableFileError, match=r"b\.csv was not written: it is a folder"):
        _write_together(tmp_path / "a.csv", tmp_path / "b.csv")

    assert (tmp_path / "a.csv").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_many_batches_are_one_file(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.table.write._BATCH_ROWS", 7)
    values = np.arange(100)
    write_csv(pa.table({"a": values, "b": [f"={value}" for value in values]}), tmp_path / "x.csv")

    assert read(tmp_path / "x.csv")["a"].to_pylist() == values.tolist()
    assert read(tmp_path / "x.csv")["b"][99].as_py() == "'=99"


def test_a_parquet_file_carries_no_notes_about_its_maker(tmp_path):
    table = pa.table({"a": [1]}).replace_schema_metadata({"who": "S3CRET"})
    write_parquet(table, tmp_path / "x.parquet")

    assert b"S3CRET" not in (tmp_path / "x.parquet").read_bytes()


def test_an_error_at_the_table_leaves_no_new_companion_where_old_ones_were(tmp_path, monkeypatch):
    """A killed run may have left a guarantee alone; the new one must not stay without its table either."""
    (tmp_path / "b.csv").write_bytes(b"old")
    replace = type(tmp_path).replace

    def full(path, target):
        if target.name == "a.csv":
            raise OSError(errno.ENOSPC, "full")
        return replace(path, target)

    monkeypatch.setattr(type(tmp_path), "replace", full)
    with pytest.raises(UnwritableFileError, match=r"a\.csv was not written: the disk is full"):
        _write_together(tmp_path / "a.csv", tmp_path / "b.csv")
    assert list(tmp_path.iterdir()) == []


def test_what_is_to_be_removed_is_gone_before_the_table_is_replaced(tmp_path, monkeypatch):
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_bytes(b"old")
    seen = []
    replace = type(tmp_path).replace

    def watched(path, target):
        seen.append({file.name for file in tmp_path.iterdir()} & {"a.csv", "b.csv", "c.csv"})
        return replace(path, target)

    monkeypatch.setattr(type(tmp_path), "replace", watched)
    with replacing_together(tmp_path / "a.csv", remove=[tmp_path / "b.csv", tmp_path / "c.csv"]) as (file,):
        file.write(b"new")

    assert seen == [{"a.csv"}]
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"new"]


def test_a_folder_that_would_be_removed_is_noticed_before_anything_changes(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"old")
    (tmp_path / "b.csv").write_bytes(b"old")
    (tmp_path / "c.csv").mkdir()
    beside = [tmp_path / "b.csv", tmp_path / "c.csv"]
    with (
        pytest.raises(UnwritableFileError, match=r"c\.csv was not written: it is a folder"),
        replacing_together(tmp_path / "a.csv", remove=beside),
    ):
        pass

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "c.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"old"
