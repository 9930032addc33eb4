"""CSV files become Arrow tables with the columns and types that were asked for."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import (
    ColumnNotFoundError,
    InvalidParameterError,
    LimitExceededError,
    UnreadableFileError,
)
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Limits, read_csv, read_parquet

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"])), Column("age", Domain.integers(0, 99))])


def read(text, **settings):
    return read_csv(io.BytesIO(text.encode()), **settings)


def test_with_a_schema_only_its_columns_are_read_in_its_order():
    assert read("x,age,sex\n1,2,f\n", schema=SCHEMA).to_pydict() == {"sex": ["f"], "age": [2]}


def test_columns_can_be_chosen():
    assert read("a,b,c\n1,2,3\n", columns=["c", "a", "c"]).to_pydict() == {"c": [3], "a": [1]}
    assert read("x,age,sex\n1,2,f\n", schema=SCHEMA, columns=["age"]).to_pydict() == {"age": [2]}
    with pytest.raises(ColumnNotFoundError, match="'note' is not in the schema"):
        read("x,age,sex\n1,2,f\n", schema=SCHEMA, columns=["note"])


def test_a_column_that_is_not_there_is_told_without_those_that_are():
    """A file without a header has a row of data where the names should be."""
    with pytest.raises(UnreadableFileError) as caught:
        read("S3CRET,41\nm,3\n", schema=SCHEMA)

    assert str(caught.value) == "The buffer was not read: none of its columns is called 'sex'."


def test_a_name_spelled_differently_is_hinted_at():
    with pytest.raises(UnreadableFileError, match="Hint: one is spelled like it but for case or spaces"):
        read(" Sex,age\nm,3\n", schema=SCHEMA)


@pytest.mark.parametrize("wrong", ["age", [1], [None], [], {"age"}, 3])
def test_columns_that_are_no_list_of_names_are_refused(wrong):
    with pytest.raises(
        InvalidParameterError, match="The 'columns' parameter of read_csv must be a list of column names"
    ):
        read("age\n1\n", columns=wrong)


def test_a_first_column_without_a_name_holds_the_numbers_of_rows():
    """R and pandas write them so by default; refused files would be most of those that people have."""
    for header in (b",age,sex\n", b'"","age","sex"\n'):
        table = read_csv(io.BytesIO(header + b"1,38,f\n2,45,m\n"))

        assert table.to_pydict() == {"row": [1, 2], "age": [38, 45], "sex": ["f", "m"]}


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("delimiter", ""),
        ("delimiter", "ab"),
        ("delimiter", "\n"),
        ("delimiter", "é"),
        ("quote", "''"),
        ("quote", 3),
        ("quote", "\r"),
    ],
)
def test_a_dialect_that_cannot_be_is_refused(setting, wrong):
    with pytest.raises(
        InvalidParameterError, match=f"The '{setting}' parameter of [A-Za-z_]+ must be one printable"
    ):
        read("a\n", **{setting: wrong})


def test_delimiter_and_quote_must_differ():
    with pytest.raises(InvalidParameterError, match="must be another character than delimiter"):
        read("a\n", delimiter='"')


@pytest.mark.parametrize(
    ("delimiter", "quote"), [(";", '"'), ("\t", '"'), ("|", "'"), (" ", "'"), (",", "'")]
)
def test_other_dialects_are_read(delimiter, quote):
    text = f"a{delimiter}b\n1{delimiter}{quote}x{delimiter}{quote}{quote}y{quote}\n"

    assert read(text, delimiter=delimiter, quote=quote).to_pydict() == {
        "a": [1],
        "b": [f"x{delimiter}{quote}y"],
    }


def test_many_blocks_make_the_table_that_one_block_makes(monkeypatch):
    text = "a,b,c\n" + "".join(f'{place},{place / 2},"x\n{place}"\n' for place in range(2_000))
    whole = read(text)
    monkeypatch.setattr("evenhand.table.source.BLOCK_BYTES", 97)
    monkeypatch.setattr("evenhand.table.csv.read._GROUP_BYTES", 1_000)
    pieces = read(text)

    assert pieces.equals(whole)
    assert pieces["a"].num_chunks > 10
    assert whole["c"][7].as_py() == "x\n7"


def test_a_type_that_shows_only_late_is_right_for_the_whole_column(monkeypatch):
    """Guessing from the first rows alone fails on, or changes, the later ones."""
    monkeypatch.setattr("evenhand.table.source.BLOCK_BYTES", 64)
    monkeypatch.setattr("evenhand.table.csv.read._GROUP_BYTES", 64)
    table = read("a,b,c\n" + "1,1,1\n" * 100 + "x,1.5,\n")

    assert table.schema.types == [pa.string(), pa.float64(), pa.int64()]
    assert table["a"][0].as_py() == "1"


@pytest.mark.parametrize(
    "fault", [pa.ArrowInvalid("S3CRET"), MemoryError(), OSError("S3CRET"), ValueError("S3CRET")]
)
def test_a_failure_of_the_parser_is_told_in_our_words(monkeypatch, fault):
    """The parser's own message holds cells."""

    def fail(*_):
        raise fault

    monkeypatch.setattr("evenhand.table.csv.read.arrow_csv.read_csv", fail)
    with pytest.raises(UnreadableFileError) as caught:
        read("a\nS3CRET\n")

    assert str(caught.value) == "The buffer was not read: the rows before line 3 could not be parsed."
    assert caught.value.__suppress_context__


def test_a_parser_that_sees_other_rows_than_the_scanner_is_not_believed(monkeypatch):
    real = __import__("pyarrow.csv").csv.read_csv
    monkeypatch.setattr("evenhand.table.csv.read.arrow_csv.read_csv", lambda *given: real(*given).slice(1))
    with pytest.raises(UnreadableFileError, match="could not be told apart"):
        read("a\n1\n")


def test_a_table_that_grows_when_it_is_converted_is_refused(monkeypatch):
    """Text of one letter takes five bytes, a number eight."""
    monkeypatch.setattr("evenhand.table.source.Limits.table_bytes", 14_000)
    assert read("a,b\n" + "x,y\n" * 1_000).num_rows == 1_000
    with pytest.raises(LimitExceededError, match="as a table it takes more than 14,000 bytes"):
        read("a,b\n" + "1,2\n" * 1_000)


def test_a_header_that_python_and_the_scanner_see_differently_is_refused():
    """Python refuses fields over 128 KiB even where the limits allow them."""
    limits = Limits(field_bytes=200_000)
    with pytest.raises(UnreadableFileError, match="its line of column names could not be parsed"):
        read("a," + "b" * 150_000 + "\n", limits=limits)

    assert read("a,b\n1," + "b" * 150_000 + "\n", limits=limits).num_rows == 1


@pytest.mark.parametrize("reader", [read_csv, read_parquet])
def test_schema_and_limits_are_what_they_are_called(reader):
    file = io.BytesIO()
    pq.write_table(pa.table({"age": [1]}), file)
    data = file.getvalue() if reader is read_parquet else b"age\n1\n"

    with pytest.raises(InvalidParameterError, match="must be a Schema"):
        reader(io.BytesIO(data), schema={"age": [1]})
    with pytest.raises(InvalidParameterError, match="must be a Limits"):
        reader(io.BytesIO(data), limits=100)
