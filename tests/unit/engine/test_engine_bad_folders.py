"""A folder in which one file is bad: one clear error, nothing written, and no value of anybody in it."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.engine import estimate_file, privatize_file
from evenhand.errors import EvenhandError
from evenhand.privacy.randomness import SeededSource
from evenhand.release import Histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.table.limits import Limits
from evenhand.table.sample import read_or_sample
from unit.engine._keeping import privatize_all

SECRET = "x-secret"
SCHEMA = Schema(
    [Column("sex", Domain.categorical(["f", "m"])), Column("age", Domain.integers(0, 99))],
    sensitive=["sex", "age"],
)
OTHER_COLUMNS = "b.parquet was not read: its columns are not those of a.parquet, in name, order and type."


def people(rows=50):
    ages = pa.array([row % 90 for row in range(rows)], pa.int64())
    return pa.table({"sex": ["f", "m"] * (rows // 2), "age": ages, "hired": [0, 1] * (rows // 2)})


def change(column, values):
    table = people()
    return table.set_column(table.column_names.index(column), column, values)


def cut(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()[:-60]


def harm_pages(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    raw = sink.getvalue().to_pybytes()
    return raw[:20] + bytes(byte ^ 0x5A for byte in raw[20:60]) + raw[60:]


BAD = {
    "another type": (change("age", pa.array([SECRET] * 50)), OTHER_COLUMNS),
    "a list": (change("age", pa.array([[7]] * 50)), "b.parquet was not read: column 2 holds lists"),
    "a missing column": (people().drop_columns(["age"]), "b.parquet was not read"),
    "a null": (change("age", pa.array([None] * 50, pa.int64())), "Column 'age' holds a missing value"),
    "a value outside": (change("sex", pa.array([SECRET] * 50)), "Column 'sex' holds a value outside"),
    "no bytes": (b"", "b.parquet was not read: it is not a Parquet file"),
    "cut off": (cut(people()), "b.parquet was not read: it is damaged or cut off"),
    "bad pages": (harm_pages(people()), "b.parquet was not read: it is damaged"),
    "other bytes": (bytes(range(256)) * 3, "b.parquet was not read: it is not a Parquet file"),
}
ASKED = {"schema": SCHEMA, "epsilon": 1}
READ = {
    "to a folder": lambda path, out: privatize_file(path, out / "reports", **ASKED),
    "to a file": lambda path, out: privatize_file(path, out / "reports.parquet", **ASKED),
    "to text": lambda path, out: privatize_file(path, out / "reports.csv", keep_order=True, **ASKED),
    "with resume": lambda path, out: privatize_file(path, out / "reports.parquet", resume=True, **ASKED),
    "count": lambda path, _out: Histogram.count(path, SCHEMA),
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    pq.write_table(people(), tmp_path / "in" / "a.parquet")
    return tmp_path / "in"


def put(content, path):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pq.write_table(content, path)


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_is_one_clear_error(folder, fault, way):
    """If this is false, half a release is left behind, or a message shows a person's value."""
    content, told = BAD[fault]
    put(content, folder / "b.parquet")
    out = folder.parent / "out"

    with pytest.raises(EvenhandError, match=told) as refused:
        READ[way](str(folder), out)
    assert SECRET not in str(refused.value)
    left = {path.name for path in out.rglob("*") if not path.name.startswith(".")}
    assert way == "with resume" or not list(out.iterdir())
    assert not {"reports", "reports.parquet", "reports.csv"} & left


@pytest.mark.parametrize("fault", [name for name, (_, told) in BAD.items() if "b.parquet" in told])
@pytest.mark.parametrize("rows", [None, 10])
def test_an_audit_refuses_what_a_release_refuses(folder, fault, rows):
    """If this is false, a column that one file lacks is taken for missing values, without a word."""
    put(BAD[fault][0], folder / "b.parquet")
    limits = Limits() if rows is None else Limits(bytes=1_000)

    with pytest.raises(EvenhandError, match=r"b\.parquet was not read") as refused:
        read_or_sample(folder, rows=rows, source=SeededSource(1), limits=limits)
    assert SECRET not in str(refused.value)


def test_text_files_of_a_folder_have_the_types_of_all_their_rows(tmp_path):
    """If this is false, a column of numbers in one file and of texts in another is an unforeseen error."""
    (tmp_path / "a.csv").write_text("code,size\n1,1\n2,2\n")
    (tmp_path / "b.csv").write_text("code,size\nx,1.5\n3,2\n")

    table = read_or_sample(tmp_path, rows=None, source=SeededSource(1), limits=Limits()).frame

    assert table.to_pydict() == {"code": ["1", "2", "x", "3"], "size": [1.0, 2.0, 1.5, 2.0]}


def test_small_files_that_unfold_into_a_large_table_do_not_fit(tmp_path):
    """If this is false, a folder of packed files takes the memory of the machine."""
    for name in "abc":
        table = pa.table({"x": pa.array([0] * 1_000_000, pa.int64())})
        pq.write_table(table, tmp_path / f"{name}.parquet", compression="zstd")

    found = read_or_sample(tmp_path, rows=10, source=SeededSource(1), limits=Limits(bytes=200_000))
    assert found.drawn == 10


def test_a_file_without_rows_is_no_fault_beside_others(folder):
    pq.write_table(people().slice(0, 0), folder / "b.parquet")

    made = privatize_file(folder, folder.parent / "out" / "reports.parquet", **ASKED)

    assert made.rows == 50
    assert Histogram.count(str(folder), SCHEMA).counts.sum() == 50


REPORTS = {
    "another type": lambda table: table.set_column(0, "sex", pa.array([SECRET] * 50)),
    "a missing column": lambda table: table.drop_columns(["age"]),
    "a null": lambda table: table.set_column(0, "sex", pa.array([None] * 50, pa.uint8())),
    "a value outside": lambda table: table.set_column(0, "sex", pa.array([77] * 50, pa.uint8())),
    "no rows": lambda table: table.slice(0, 0),
    "fewer rows": lambda table: table.slice(0, 20),
    "no bytes": lambda _table: b"",
    "cut off": cut,
    "bad pages": harm_pages,
}


@pytest.mark.parametrize("fault", REPORTS)
@pytest.mark.parametrize("protected", [None, ["sex", "age"]])
def test_bad_reports_are_one_clear_error(folder, fault, protected):
    pq.write_table(people(), folder / "b.parquet")
    out = folder.parent / "out" / "reports"
    privatize_all(folder, out, **ASKED)
    put(REPORTS[fault](pq.read_table(out / "b.parquet")), out / "b.parquet")

    with pytest.raises(EvenhandError, match=r"b\.parquet was not read") as refused:
        estimate_file(out, by="hired", protected=protected)
    assert SECRET not in str(refused.value)
    assert "77" not in str(refused.value)


@pytest.mark.parametrize("read", [lambda path: privatize_file(path, "x.csv", **ASKED), estimate_file])
def test_a_pattern_that_stands_for_no_file_says_so(folder, read, monkeypatch):
    monkeypatch.chdir(folder)

    with pytest.raises(EvenhandError, match="no file has a name that this pattern stands for"):
        read("z*.parquet")
    assert [path.name for path in folder.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize("pattern", ["in", "in/*.parquet", "in/../in", "*/*.parquet"])
@pytest.mark.parametrize("out", ["in/new.parquet", "in/a.parquet"])
def test_reports_are_not_written_among_the_files_that_are_read(folder, pattern, out, monkeypatch):
    """If this is false, reports are taken for people the next time, or replace them."""
    monkeypatch.chdir(folder.parent)
    before = (folder / "a.parquet").read_bytes()

    with pytest.raises(EvenhandError, match="'out' parameter"):
        privatize_file(pattern, out, overwrite=True, **ASKED)
    assert [path.name for path in folder.iterdir()] == ["a.parquet"]
    assert (folder / "a.parquet").read_bytes() == before
