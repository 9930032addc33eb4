"""A file is read as what its name says."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InvalidParameterError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import read


def test_the_ending_decides(tmp_path):
    table = pa.table({"a": [1, 2]})
    (tmp_path / "x.csv").write_text("a\n1\n2\n")
    (tmp_path / "x.CSV.gz").write_bytes(gzip.compress(b"a\n1\n2\n"))
    pq.write_table(table, tmp_path / "x.parquet")
    pq.write_table(table, tmp_path / "x.pq")

    for name in ("x.csv", "x.CSV.gz", "x.parquet", "x.pq"):
        assert read(tmp_path / name).to_pydict() == {"a": [1, 2]}
        assert read(str(tmp_path / name), columns=["a"]).to_pydict() == {"a": [1, 2]}


def test_the_schema_is_handed_on(tmp_path):
    (tmp_path / "x.csv").write_text("b,a\n1,01\n")

    assert read(tmp_path / "x.csv", schema=Schema([Column("a", Domain.categorical(["01"]))])).to_pydict() == {
        "a": ["01"]
    }


@pytest.mark.parametrize("name", ["x.ods", "csv", "x.xls", "x.parquet.gz", ""])
def test_another_ending_is_refused(name):
    with pytest.raises(
        InvalidParameterError,
        match=r"must be a path that ends with \.csv, \.tsv, \.txt .*\.xlsx, \.parquet, \.pq",
    ):
        read(name)


@pytest.mark.parametrize("wrong", [None, 3, b"x.csv"])
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="The 'path' parameter of read"):
        read(wrong)


def test_an_open_file_is_for_the_other_readers(tmp_path):
    (tmp_path / "x.csv").write_text("a\n")
    with (
        (tmp_path / "x.csv").open("rb") as file,
        pytest.raises(InvalidParameterError, match="use read_csv or read_parquet"),
    ):
        read(file)


def test_a_wrong_ending_is_noticed(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.csv")
    (tmp_path / "x.parquet").write_text("a\n1\n2\n3\n4\n5\n6\n")

    with pytest.raises(UnreadableFileError, match=r"x\.csv was not read: it is a Parquet file"):
        read(tmp_path / "x.csv")
    with pytest.raises(UnreadableFileError, match=r"x\.parquet was not read: it is not a Parquet file"):
        read(tmp_path / "x.parquet")
