"""Rows of persons in files: whose they are, whatever the file, and in fixed memory."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import OutsideDomainError, UnreadableFileError
from evenhand.privacy import bounded_rows
from evenhand.release import Histogram, Laplace
from evenhand.release.table import counting, files
from evenhand.schema import Column, Domain, Schema
from evenhand.table import FileFormat

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]), outside="other", nulls="drop")], person="id")
SPELLINGS = ["7", " 7", "07", "7.0", "8"]
TEXT = pa.table({"sex": list("fmfmf"), "id": SPELLINGS})


def write_sheet(path):
    book = openpyxl.Workbook()
    for row in [("sex", "id"), ("f", 7), ("m", " 7"), ("f", "07"), ("m", 7.0), ("f", 8)]:
        book.active.append(row)
    book.save(path)


def write_text(path, *, separator=",", ids=SPELLINGS):
    rows = (f"{sex}{separator}{spelled}" for sex, spelled in zip("fmfmf", ids, strict=True))
    path.write_text("\n".join([f"sex{separator}id", *rows, ""]))


@pytest.mark.parametrize("form", ["a.csv", "a.parquet", "a.xlsx"])
def test_one_person_spelled_in_several_ways_counts_once_in_every_form_of_file(tmp_path, form):
    """If this is false one person has several rows in the table, and the noise covers one."""
    path = tmp_path / form
    if form == "a.parquet":
        pq.write_table(TEXT, path)
    elif form == "a.xlsx":
        write_sheet(path)
    else:
        write_text(path)

    assert Histogram.count(path, SCHEMA).people == 2


def test_ids_of_numbers_follow_the_decimal_mark_of_the_file(tmp_path):
    write_text(tmp_path / "a.csv", separator=";", ids=["7", "7,0", "07,00", "7", "8"])

    counted = Histogram.count(tmp_path / "a.csv", SCHEMA, file_format=FileFormat(decimal=","))
    assert counted.people == 2
    weighted = SCHEMA.with_roles(weight="w")
    (tmp_path / "b.csv").write_text("sex;id;w\nf;7;1,5\nf;7,0;1,5\n")
    assert Histogram.count(tmp_path / "b.csv", weighted, file_format=FileFormat(decimal=",")).people == 1.5


@pytest.mark.parametrize("frame", [TEXT, TEXT.to_pandas(), pl.from_arrow(TEXT)])
def test_one_person_spelled_in_several_ways_counts_once_in_every_frame(frame):
    assert Histogram.count(frame, SCHEMA).people == 2


@pytest.mark.parametrize("missing", ["", " ", "NA", "N/A"])
def test_a_row_without_a_person_is_refused(tmp_path, missing):
    write_text(tmp_path / "a.csv", ids=[*SPELLINGS[:4], missing])

    with pytest.raises(OutsideDomainError, match="no person in some rows"):
        Histogram.count(tmp_path / "a.csv", SCHEMA)
    with pytest.raises(OutsideDomainError, match="no person in some rows"):
        Histogram.count(pd.read_csv(tmp_path / "a.csv", dtype=str, keep_default_na=False), SCHEMA)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_files_that_do_not_fit_are_counted_as_their_frame_is(tmp_path, monkeypatch, most, sparse):
    """If this is false the table depends on how much memory there is."""
    monkeypatch.setattr(bounded_rows, "LEAST_ROWS", 64)
    for module in (counting, files) if sparse else ():
        monkeypatch.setattr(module, "MOST_CELLS", 2)
    draw = np.random.default_rng(most)
    sex = np.array(["f", "m", "x", None], object)[draw.integers(0, 4, 3_000)]
    rows = pa.table({"sex": pa.array(sex, pa.string()), "id": draw.integers(0, 800, 3_000)})
    pq.write_table(rows, tmp_path / "a.parquet", row_group_size=400)
    schema = SCHEMA.with_roles(person="id", rows_per_person=most)

    counted = Histogram.count(tmp_path / "a.parquet", schema, rng=4)

    assert counted.counts.tolist() == Histogram.count(rows, schema, rng=4).counts.tolist()


KINDS = {
    "int32": pa.array([1, 2], pa.int32()),
    "int64": pa.array([1, 2]),
    "float": pa.array([1.0, 2.0]),
    "text": pa.array(["1", "2"]),
    "long text": pa.array(["1", "2"], pa.large_string()),
    "views": pa.array(["1", "2"], pa.string_view()),
    "listed": pa.array(["1", "2"]).dictionary_encode(),
    "listed long": pa.array(["1", "2"], pa.large_string()).dictionary_encode(),
}
PAIRS = list(itertools.permutations(KINDS, 2))
IS_TEXT = {name for name in KINDS if not name.startswith(("int", "float"))}


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_ids_of_another_type_in_another_file_are_refused_in_our_words(tmp_path, first, second, weight):
    """If this is false a folder ends with Arrow's own error, which may hold a cell."""
    for place, kind in enumerate((first, second)):
        rows = pa.table({"sex": ["f", "m"], "id": KINDS[kind], "w": [1.0, 1.0]})
        pq.write_table(rows, tmp_path / f"{place}.parquet")
    schema = SCHEMA.with_roles(weight=weight)

    if {first, second} <= IS_TEXT:
        assert Histogram.count(tmp_path, schema).people == 2
    else:
        with pytest.raises(UnreadableFileError, match="in name, order and type"):
            Histogram.count(tmp_path, schema)


@pytest.mark.parametrize(("first", "second"), [pair for pair in PAIRS if {*pair} <= IS_TEXT])
def test_other_columns_of_text_may_be_stored_in_any_way(tmp_path, first, second):
    schema = Schema([Column("sex", Domain.categorical(["1", "2"]))], person="id")
    for place, kind in enumerate((first, second)):
        rows = pa.table({"sex": KINDS[kind], "id": [place, place + 7]})
        pq.write_table(rows, tmp_path / f"{place}.parquet")

    assert Histogram.count(tmp_path, schema).counts.tolist() == [2, 2]


_PEAK = """
import resource, sys
from evenhand.release import Histogram, Laplace
from evenhand.schema import Column, Domain, Schema
schema = Schema([Column("sex", Domain.categorical(["f", "m"]))], person="id")
assert Histogram.count(sys.argv[1], schema).people > 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.figures
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is told in other units elsewhere")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """The page promises it: a million rows more took 83 MiB more when files were read whole."""
    peaks = []
    for rows in (600_000, 1_600_000):
        ids = np.random.default_rng(1).integers(0, rows // 2, rows)
        people = pa.table({"sex": np.array(["f", "m"])[ids % 2], "id": ids})
        pq.write_table(people, tmp_path / "people.parquet", row_group_size=100_000)
        run = [sys.executable, "-c", _PEAK, str(tmp_path / "people.parquet")]
        peaks.append(int(subprocess.run(run, check=True, capture_output=True, text=True).stdout))

    assert peaks[1] - peaks[0] < 48 * 1024


def test_rows_that_seem_to_be_of_few_people_are_promised_for_each_row():
    """Who counts a panel in Python is told what the command line tells, and so are tables made from it."""
    who = np.repeat(np.arange(60), 4)
    rows = pd.DataFrame({"nr": who * 31 % 61, "sex": np.array(["f", "m"])[who % 2], "wage": range(240)})
    rows["mixed"] = pd.Series([1, "a", None, 10**40] * 60, dtype=object)
    schema = Schema([Column("sex", Domain.categorical(["f", "m"]))])
    panel, once = Histogram.count(rows, schema), Histogram.count(rows.iloc[::4], schema)
    told = [
        Laplace(epsilon=1, unit="replace one").promise_of(each)
        for each in (panel, panel.margin(["sex"]), once)
    ]

    assert (panel.repeats, once.repeats) == ("nr", None)
    assert ["one person may have several rows" in str(each) for each in told] == [True, True, False]
    assert ["each person is one row" in str(each) for each in told] == [False, False, True]
    assert Histogram.count(rows, schema.with_roles(person="nr"), rng=1).repeats is None
