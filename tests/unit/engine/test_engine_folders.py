"""Folders and patterns of people, privatised into one file or into a folder of as many."""

import os
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.engine import estimate_file, privatize_file
from evenhand.errors import (
    EvenhandError,
    InvalidParameterError,
    OutsideDomainError,
    UnreadableFileError,
    UnwritableFileError,
)
from evenhand.privacy.ledger import Ledger
from unit.engine._streams import SCHEMA, people, write

ROWS = (300, 1, 450)


@pytest.fixture
def data(tmp_path):
    """Return a folder of three files of people."""
    folder = tmp_path / "people"
    folder.mkdir()
    for place, rows in enumerate(ROWS):
        write(people(rows, seed=place), folder / f"{place}.parquet")
    return folder


def privatize(data, out, **options):
    return privatize_file(
        data, out, **{"schema": SCHEMA, "epsilon": 3, "keep": ("hired",), "linkable": True} | options
    )


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_becomes_a_folder_of_files_that_stand_alone(data, tmp_path):
    """If this is false, a part cannot be estimated by whoever gets only that part."""
    done = privatize(data, tmp_path / "out")

    names = [
        f"{place}.parquet{ending}" for place in range(3) for ending in ("", ".guarantee.json", ".schema.toml")
    ]
    assert listed(tmp_path / "out") == sorted([*names, "folder.guarantee.json"])
    assert done.rows == sum(ROWS)
    assert done.parts == 3
    assert estimate_file(tmp_path / "out").rows == sum(ROWS)
    assert estimate_file(tmp_path / "out" / "2.parquet").rows == ROWS[2]
    assert "row order (in which file a person is)" in done.record.in_clear
    assert "row order (in which file a person is)" in done.guarantee.in_clear
    assert listed(tmp_path) == ["out", "people"]
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o777 & ~_mask()


def _mask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("out", ["out.parquet", "out.csv"])
def test_a_folder_or_pattern_becomes_one_file(data, tmp_path, out):
    done = privatize(data, tmp_path / out)
    other = privatize(str(data / "[02].parquet"), tmp_path / f"other-{out}")

    assert done.rows == sum(ROWS)
    assert other.rows == ROWS[0] + ROWS[2]
    assert estimate_file(tmp_path / out).rows == sum(ROWS)
    assert not any("in which file" in word for word in done.record.in_clear)


def test_the_order_of_files_is_kept_in_one_file(data, tmp_path):
    privatize(data, tmp_path / "out.parquet", keep=("id",), keep_order=True)

    kept = pq.read_table(tmp_path / "out.parquet")["id"].to_pylist()
    assert kept == [f"-{place}" for rows in ROWS for place in range(rows)]


@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("out", ["out", "out.parquet"])
def test_a_simulation_does_not_depend_on_the_number_of_threads(data, tmp_path, out, keep_order):
    """If this is false, a seed does not repeat a result on another machine."""
    found = []
    for workers in (1, 2, 5):
        place = tmp_path / str(workers)
        place.mkdir()
        privatize(data, place / out, simulate=7, workers=workers, batch_rows=40, keep_order=keep_order)
        files = [place / out] if out.endswith("parquet") else sorted((place / out).iterdir())
        found.append([file.read_bytes() for file in files])

    assert found[0] == found[1] == found[2]


def test_files_of_a_simulation_have_draws_of_their_own(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for place in range(2):
        write(people(200, seed=1), folder / f"{place}.parquet")

    privatize(folder, tmp_path / "out", simulate=7, keep_order=True)

    first, second = (pq.read_table(tmp_path / "out" / f"{place}.parquet") for place in range(2))
    assert first["race"].to_pylist() != second["race"].to_pylist()


@pytest.mark.parametrize("out", ["out", "out.parquet"])
@pytest.mark.parametrize(
    "table",
    [
        people(50).set_column(2, "age", pa.array([99] * 50)),  # outside its domain
        people(50).set_column(2, "age", pa.array([None] * 50, pa.int64())),
        people(50).set_column(2, "age", pa.array(["x"] * 50)),
        people(50).rename_columns(["id", "race", "age", "wage", "note", "got"]),
        people(50).select(["race", "id", "age", "wage", "note", "hired"]),
    ],
)
def test_one_bad_file_leaves_nothing_and_charges_nothing(data, tmp_path, table, out):
    """If this is false, half a release is left, or is paid for."""
    write(table, data / "9.parquet")
    ledger = Ledger(tmp_path / "l.db", epsilon=10, unit="one person")
    before = listed(tmp_path)

    with pytest.raises((OutsideDomainError, UnreadableFileError)) as refused:
        privatize(data, tmp_path / out, ledger=ledger, batch_rows=40)
    with pytest.raises((OutsideDomainError, UnreadableFileError)):
        privatize(data, tmp_path / out, batch_rows=40, workers=3)

    assert listed(tmp_path) == before
    assert len(ledger.history()) == 1
    assert "99" not in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize("out", ["out", "out.parquet"])
def test_an_empty_file_among_others_is_refused(data, tmp_path, out):
    (data / "5.parquet").write_bytes(b"")

    with pytest.raises(UnreadableFileError, match=r"5\.parquet was not read"):
        privatize(data, tmp_path / out)
    assert listed(tmp_path) == ["people"]


def test_one_charge_is_made_for_all_files(data, tmp_path):
    ledger = Ledger(data / "evenhand-ledger.db", epsilon=10, unit="one person")

    done = privatize(data, tmp_path / "out")

    assert len(ledger.history()) == 2
    assert done.charge.reference() == ledger.history()[-1].reference()


def test_a_ledger_beside_the_folder_is_charged(data, tmp_path):
    ledger = Ledger(tmp_path / "evenhand-ledger.db", epsilon=10, unit="one person")

    privatize(data, tmp_path / "out.parquet")

    assert len(ledger.history()) == 2


def test_an_output_on_another_drive_is_written(data, tmp_path, monkeypatch):
    """Windows has no folder that holds two drives, and says so with an error."""

    def refuse_drives(paths):
        raise ValueError("Paths don't have the same drive")

    monkeypatch.setattr("os.path.commonpath", refuse_drives)
    privatize(data, tmp_path / "out")

    assert (tmp_path / "out").is_dir()


def test_outputs_that_would_be_read_or_replaced_are_refused(data, tmp_path):
    with pytest.raises(InvalidParameterError, match="outside of the folder"):
        privatize(data, data / "out.parquet")
    with pytest.raises(InvalidParameterError, match="apart from those that are read"):
        privatize(data, data / "out")
    with pytest.raises(InvalidParameterError, match="apart from those that are read"):
        privatize(data, data)
    with pytest.raises(InvalidParameterError, match="another file than the input"):
        privatize(str(data / "*.parquet"), data / "1.parquet", overwrite=True)
    with pytest.raises(UnwritableFileError, match="its folder is not there"):
        privatize(data, tmp_path / "none" / "out")
    (tmp_path / "taken").write_text("")
    with pytest.raises(UnwritableFileError, match="something of that name"):
        privatize(data, tmp_path / "taken")
    with pytest.raises(UnwritableFileError, match="a file of that name"):
        privatize(data, tmp_path / "taken", overwrite=True)
    with pytest.raises(InvalidParameterError, match="ends with"):
        privatize(data / "1.parquet", tmp_path / "out")


def test_two_files_of_one_name_need_one_output(data, tmp_path):
    for name in ("2025", "2026"):
        (tmp_path / name).mkdir()
        write(people(30), tmp_path / name / "a.parquet")

    with pytest.raises(InvalidParameterError, match="the same name twice"):
        privatize(str(tmp_path / "202?" / "*.parquet"), tmp_path / "out")
    assert privatize(str(tmp_path / "202?" / "*.parquet"), tmp_path / "out.csv").rows == 60


def test_a_folder_is_replaced_if_that_is_allowed(data, tmp_path):
    privatize(data, tmp_path / "out")
    (data / "1.parquet").unlink()

    privatize(data, tmp_path / "out", overwrite=True)

    assert len(listed(tmp_path / "out")) == 7


@pytest.mark.parametrize("other", ["thesis.docx", "1.parquet.bak", "more"])
def test_a_folder_with_other_files_is_not_replaced(data, tmp_path, other):
    """Who mistypes the name of a folder must not lose what is in it."""
    privatize(data, tmp_path / "out")
    (tmp_path / "out" / other).mkdir() if other == "more" else (tmp_path / "out" / other).write_text("mine")
    before = listed(tmp_path / "out")

    with pytest.raises(UnwritableFileError, match="holds other files than reports"):
        privatize(data, tmp_path / "out", overwrite=True)
    assert listed(tmp_path / "out") == before


def test_folders_that_killed_processes_left_are_removed(data, tmp_path):
    left = tmp_path / ".out.abcdefgh.evenhand.loose"
    left.mkdir()
    (left / "lock").write_text("")
    other = tmp_path / ".out.abcdefgh.loose"
    other.mkdir()

    privatize(data, tmp_path / "out")

    assert not left.exists()
    assert other.exists()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_of_text_become_csv(tmp_path, kind):
    folder = tmp_path / "people"
    folder.mkdir()
    write(people(30), folder / f"a.{kind}")
    write(people(30), folder / f"b.{kind}")

    privatize(folder, tmp_path / "out")

    assert estimate_file(tmp_path / "out").rows == 60
    assert f"a.{kind}" in listed(tmp_path / "out")


@pytest.mark.figures
def test_ten_thousand_empty_files_are_one_error(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for place in range(10_000):
        (folder / f"{place}.parquet").write_bytes(b"")

    with pytest.raises(EvenhandError) as refused:
        privatize(folder, tmp_path / "out")
    assert str(refused.value).count("\n") == 0
    assert listed(tmp_path) == ["people"]
