"""The shape of a CSV file is checked before it is parsed, block by block as at once."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import EvenhandError
from evenhand.table import Limits, read_csv
from evenhand.table.csv.scan import Scanner

RAGGED = "Hint: separate the fields of every line by commas, or say what separates them (--delimiter)."
ENCODING = "Hint: say which encoding the file has, such as windows-1252 (--encoding)."


def refusal(data, **settings):
    with pytest.raises(EvenhandError) as caught:
        read_csv(io.BytesIO(data), **settings)
    return str(caught.value).removeprefix("The buffer was not read: ")


def test_a_ragged_row_is_told_with_its_line_and_both_widths():
    header = ",".join(f"c{place}" for place in range(15))
    rows = [",".join(["1"] * 15)] * 1_202
    data = "\n".join([header, *rows, ",".join(["1"] * 14), *rows]).encode()

    assert refusal(data) == f"line 1,204 has 14 fields and the header has 15. {RAGGED}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is empty, where a line of column names should be."),
        (b"\n\r\n\n", "it is empty, where a line of column names should be."),
        (b"\xef\xbb\xbf", "it is empty, where a line of column names should be."),
        (b"a,b\n1\n", f"line 2 has 1 field and the header has 2. {RAGGED}"),
        (b"a,b\n1,2,3", f"line 2 has 3 fields and the header has 2. {RAGGED}"),
        (b"a,b\r\n\r\n1\r\n", f"line 3 has 1 field and the header has 2. {RAGGED}"),
        (b"a,b\r\r1\r", f"line 3 has 1 field and the header has 2. {RAGGED}"),
        (b'a,b\n"x\n\ny",1\n1,2,3\n', f"line 5 has 3 fields and the header has 2. {RAGGED}"),
        (b"a,b\n1,2\n \n", f"line 3 has 1 field and the header has 2. {RAGGED}"),
        (b"a,b\n1,\0\n", "line 2 holds a NUL byte, so it is not text."),
        ("a,b\nä,ä\n".encode() + b"1,\xff\n", f"line 3 is not UTF-8 text. {ENCODING}"),
        ("a,b\nä,ä\n".encode() + b"1\xe9,2\n", f"line 3 is not UTF-8 text. {ENCODING}"),
        (b'a,b\n1,"x\n2,3\n', "the quoted field that starts on line 2 never ends."),
        (b'a,b\n1,"""\n', "the quoted field that starts on line 2 never ends."),
        (b"a,a\n", "columns 1 and 2 have the same name."),
        (b"a,b,\n", "column 3 has no name."),
        (b'a,"",b\n', "column 2 has no name."),
        (b'""\n1\n', "column 1 has no name."),
        (b",row\n1,2\n", "column 1 has no name."),
        (b"PAR1,x\n", "it is a Parquet file. Hint: use read_parquet, or name it .parquet."),
        (b"PK\x03\x04", "it is damaged, or no Excel file. Hint: save it as CSV."),
        (b"ARROW1", "it is an Arrow file. Hint: save it as Parquet."),
        ("a,b\n".encode("utf-32"), "it is UTF-32 text. Hint: save it as UTF-8."),
        ("\ufeffa,b\n".encode("utf-32-be"), "it is UTF-32 text. Hint: save it as UTF-8."),
    ],
)
def test_each_fault_has_its_sentence(data, message):
    assert refusal(data) == message


@pytest.mark.parametrize(
    ("data", "line"), [(b"a,b\n1,\xff\n", 2), (b"a,b\xe9\n1,2\n", 1), (b"a,b\n1,\xed\xa0\x80\n", 2)]
)
def test_what_is_not_utf_8_is_refused_where_that_was_asked_for(data, line):
    assert refusal(data, encoding="utf-8") == f"line {line} is not UTF-8 text. {ENCODING}"


@pytest.mark.parametrize(
    "data", [b'a,b\n1,x"y\n', b'a,b\n1,"x"y\n', b'a,b\n1, "x"\n', b'a,b\n1,x"\n', b'a,b\n1,"x" \n']
)
def test_a_quotation_mark_inside_a_field_is_told(data):
    assert refusal(data) == (
        "line 2 has a quotation mark inside a field. "
        "Hint: write it twice inside a quoted field, or pass quote=None."
    )


def test_without_quoting_a_quotation_mark_is_text():
    assert read_csv(io.BytesIO(b'a,b\n1,x"y\n'), quote=None).to_pydict() == {"a": [1], "b": ['x"y']}


def test_without_quoting_the_separator_is_that_of_the_header_alone():
    assert read_csv(io.BytesIO(b"text\nx\na;b\n"), quote=None).to_pydict() == {"text": ["x", "a;b"]}


@pytest.mark.parametrize("data", [b"a,b", b"a,b\n", b"a,b\r\n", b"\n\na,b\n\n\n"])
def test_a_header_without_rows_is_a_table_without_rows(data):
    assert read_csv(io.BytesIO(data)).to_pydict() == {"a": [], "b": []}


def test_a_blank_line_in_a_file_of_one_column_is_a_missing_cell():
    """Polars and Arrow write a missing cell so: skipped, the person would be left out."""
    assert read_csv(io.BytesIO(b"\na\n1\n\n2\n\r\n3")).to_pydict() == {"a": [1, None, 2, None, 3]}


def test_blank_lines_between_rows_of_several_columns_are_skipped():
    assert read_csv(io.BytesIO(b"a,b\n1,2\n\n3,4\n\r\n")).to_pydict() == {"a": [1, 3], "b": [2, 4]}


cells = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=6)
)


def written(rows, line_end):
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=line_end).writerows(rows)
    return file.getvalue().encode()


@given(tables, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_what_python_writes_is_read_as_it_was(rows, line_end, bom):
    """A reader of its own has to agree with the rest of the world on well-formed files."""
    width = len(rows[0]) if rows else 2
    names = [f"c{place}" for place in range(width)]
    data = (b"\xef\xbb\xbf" if bom else b"") + written([names, *rows], line_end)
    table = read_csv(io.BytesIO(data), schema=text_schema(names, rows))

    assert [list(row.values()) for row in table.to_pylist()] == rows


def text_schema(names, rows):
    """A schema that declares every cell, the empty one too, so that all stay text."""
    from evenhand.schema import Column, Domain, Schema

    values = sorted({cell for row in rows for cell in row} | {""})
    return Schema([Column(name, Domain.categorical(values)) for name in names])


@given(
    st.binary(max_size=60) | st.text(alphabet='ab,"\n\r\u00e9', max_size=40).map(str.encode),
    st.integers(1, 9),
)
def test_blocks_of_any_size_give_the_same_outcome(data, size):
    """Where the operating system cuts a file must not decide what is in it."""

    class Slow(io.BytesIO):
        def read(self, wanted=-1):
            return super().read(min(size, wanted) if wanted > 0 else size)

    def outcome(file):
        try:
            return read_csv(file).to_pydict()
        except EvenhandError as error:
            return str(error)

    assert outcome(Slow(data)) == outcome(io.BytesIO(data))


def test_a_scanner_tells_rows_and_where_they_end():
    scanner = Scanner("x", Limits(), ",", '"')

    assert scanner.header(b"a,b\n1,2", last=False) == (1, 4)
    assert scanner.width == 2
    assert scanner.rows(b"1,2\n\n3,4\n5", last=False) == (2, 9)
    assert scanner.line == 5
    assert scanner.rows(b"5,6\r", last=False) == (0, 0)
    assert scanner.rows(b"5,6\r", last=True) == (1, 4)
