"""CSV content of public files as typed columns, as rows, and written anew."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def parse_csv(content: bytes, *, integers: Iterable[str] = (), numbers: Iterable[str] = ()) -> dict[str, Any]:
    r"""Return the columns of a CSV file as numpy arrays.

    The types are declared, never guessed: `integers` are whole numbers, `numbers` are numbers with
    blanks as not-a-number, and every other column is text, blanks and all.

    Examples
    --------
    >>> parse_csv(b"name,age\nann,41\nbob,7\n", integers=["age"])["age"].tolist()
    [41, 7]
    """
    types = dict.fromkeys(read_rows(content.split(b"\n", 1)[0])[0], pa.string())
    types.update(dict.fromkeys(integers, pa.int64()))
    types.update(dict.fromkeys(numbers, pa.float64()))
    table = arrow_csv.read_csv(
        io.BytesIO(content),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types, null_values=[""], strings_can_be_null=False
        ),
    )
    return {name: table.column(name).to_numpy() for name in table.column_names}


def keep_rows(columns: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """Return the columns with only the rows that `rows` marks.

    Examples
    --------
    >>> import numpy as np
    >>> keep_rows({"age": np.array([41, 7])}, np.array([True, False]))["age"].tolist()
    [41]
    """
    return {name: values[rows] for name, values in columns.items()}


def read_rows(content: bytes) -> list[list[str]]:
    r"""Return the rows of a CSV file as texts.

    Examples
    --------
    >>> read_rows(b'a,b\r\n1,"x, y"\r\n')
    [['a', 'b'], ['1', 'x, y']]
    """
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


def write_rows(rows: Iterable[Sequence[str]]) -> bytes:
    r"""Return the rows as a CSV file, quoted only where it must be, lines ended by a line feed.

    Examples
    --------
    >>> write_rows([["a", "b"], ["1", "x, y"]])
    b'a,b\n1,"x, y"\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")


def as_it_stands(raw: bytes) -> bytes:
    """Take a file as it is published."""
    return raw


def line_feeds(raw: bytes) -> bytes:
    r"""End every line by a line feed, the last one too.

    Examples
    --------
    >>> line_feeds(b"a\r\nb")
    b'a\nb\n'
    """
    unix = raw.replace(b"\r\n", b"\n")
    return unix if unix.endswith(b"\n") else unix + b"\n"
