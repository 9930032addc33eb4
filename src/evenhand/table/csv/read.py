"""Read a CSV file within limits, with nothing of its cells in any message."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import pyarrow as pa
import pyarrow.csv as arrow_csv

from evenhand._validate import refuse as refuse_parameter
from evenhand.schema import Domain
from evenhand.table.csv.cells import TypeGuess, converter, point_decimals, take_as_missing
from evenhand.table.csv.lines import mend_lines
from evenhand.table.csv.scan import Scanner
from evenhand.table.csv.text import in_force, open_text
from evenhand.table.file_format import SEPARATORS, FileFormat, check_mark
from evenhand.table.limits import DEFAULT_LIMITS, Limits
from evenhand.table.source import (
    Source,
    batch_names,
    check_names,
    name_row_numbers,
    open_source,
    over_limit,
    refuse,
    wanted_names,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from evenhand.schema import Schema
    from evenhand.table.source import ReadableBuffer

_GROUP_BYTES = 2 << 20
_NUMBERS = Domain.binned((0.0, 1.0))
_ARRAY_BYTES = 512  # what an Arrow array takes beside its data


def read_csv(
    path_or_buffer: str | os.PathLike[str] | ReadableBuffer,
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    quote: str | None = '"',
) -> pa.Table:
    r"""Read a CSV file into an Arrow table.

    The first line names the columns. What separates the fields, the encoding and the decimal mark are found
    out from the beginning of the file, see :mod:`evenhand.table.csv.detect`; it may be packed with gzip or
    bzip2, and an Excel workbook is read as the CSV file of its sheet. Quoted fields
    may hold delimiters, line ends and doubled quotation marks.
    Blank lines are skipped, but in a file of one column, where they are empty cells. An empty cell is a
    missing value; an empty quoted cell is the empty text where the domain declares it and missing elsewhere.

    Parameters
    ----------
    path_or_buffer : str, path or binary file
        What to read.
    schema : Schema, optional
        Columns to read, with the types their domains need: ``01`` stays text for text categories,
        and is the number 1 for whole numbers. A cell that is no number in a column of numbers is
        read as one that no domain holds: the smallest 64-bit integer, or infinity. So the column's
        rule for values outside the domain decides about it, and reading never fails because of it.
        Without a schema, each column gets the narrowest type that all its cells agree with.
    columns : sequence of str, optional
        The columns to read. By default those of the schema; without a schema, all.
    limits : Limits
        How large the file may be.
    delimiter, encoding, decimal : str, optional
        What is known of how the file is written, see :class:`evenhand.table.FileFormat`.
    quote : str or None, default '"'
        The character around quoted fields. With None, quotation marks are part of the text.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    UnreadableFileError
        If the file is missing, is no CSV file, or is damaged. The message names the line.
    LimitExceededError
        If it passes a limit; what lies beyond the limit has not been read.

    Examples
    --------
    >>> import io
    >>> from evenhand.schema import Column, Domain, Schema
    >>> zip_code, age = Domain.categorical(["01", "02"]), Domain.integers(0, 99)
    >>> schema = Schema([Column("zip", zip_code), Column("age", age)])
    >>> read_csv(io.BytesIO(b"zip,age,note\n01,07,x\n02,?,y\n"), schema=schema).to_pydict()
    {'zip': ['01', '02'], 'age': [7, -9223372036854775808]}
    """
    if quote is not None:
        check_mark("quote", quote, owner="read_csv")
    asked = FileFormat(delimiter=delimiter, encoding=encoding, decimal=decimal)
    if quote is not None and asked.delimiter == quote:
        refuse_parameter("quote", "read_csv", "another character than delimiter", quote)
    return read_text(
        path_or_buffer, schema=schema, columns=columns, limits=limits, file_format=asked, quote=quote
    )


def read_text(
    path_or_buffer: str | os.PathLike[str] | ReadableBuffer,
    *,
    schema: Schema | None,
    columns: Sequence[str] | None,
    limits: Limits,
    file_format: FileFormat | None,
    quote: str | None = '"',
) -> pa.Table:
    """Read a CSV file or a sheet of a workbook, whose format may be known; else as :func:`read_csv`."""
    with open_source(path_or_buffer, limits=limits, owner="read_csv") as source:
        rows = _Rows(source, limits, file_format, quote=quote)
        scanner, groups, names, decimal = rows.scanner, rows.groups, rows.names, rows.decimal
        wanted = wanted_names(names, source.name, schema=schema, columns=columns, owner="read_csv")
        rows.refuse_undeclared(wanted, schema, owner="read_csv")
        place_of = {name: str(place) for place, name in enumerate(names)}
        places = [place_of[name] for name in wanted]
        if schema is not None:
            convert = [_converter_of(schema, name, decimal) for name in wanted]
            return _table(wanted, _pieces(groups, scanner, places, convert))
        guesses = [TypeGuess(decimal) for _ in wanted]
        pieces = _pieces(groups, scanner, places, [guess.look for guess in guesses])
        return _table(wanted, _convert(pieces, guesses, scanner))


def _converter_of(schema: Schema | None, name: str, decimal: str) -> Callable[[Any], Any]:
    """Return what converts the cells of a column; one that was inferred has words for missing."""
    if schema is None or name not in (*schema.names, *schema.beside):
        return lambda text: text
    if name not in schema:
        return _converter_beside(schema, name, decimal)
    column = schema[name]
    words = column.inferred and column.nulls != "error"
    return converter(column.domain, words=words, decimal=decimal)


class _Rows:
    """An open file: how it is written, the names of its columns, and its rows, to be gone through once."""

    def __init__(
        self, source: Source, limits: Limits, asked: FileFormat | None, *, quote: str | None = '"'
    ) -> None:
        self.file_format, stream = open_text(source, limits, asked, quote=quote)
        text = in_force(self.file_format)
        self.decimal, delimiter = str(text.decimal), str(text.delimiter)
        self.scanner = Scanner(source.name, limits, delimiter, quote, _ragged_hint(delimiter))
        if self.file_format.broken_rows is not None:
            stream, self.scanner.has_stand_ins = mend_lines(stream, self.scanner), True
        self.groups = _groups(stream, self.scanner)
        self.names = _header_names(next(self.groups).data, self.scanner)

    def refuse_undeclared(self, names: Sequence[str], schema: Schema | None, *, owner: str) -> None:
        """Refuse to read broken rows into columns whose rules for values outside are not known."""
        declared = () if schema is None else (*schema.names, *schema.beside)
        if self.file_format.broken_rows is not None and not set(names) <= set(declared):
            must_be = "one without broken_rows where a column is read that no schema declares"
            refuse_parameter("file_format", owner, must_be, "broken_rows='other'")


def _ragged_hint(delimiter: str) -> str:
    marks = f"{SEPARATORS[delimiter]}s" if delimiter in SEPARATORS else f"the character '{delimiter}'"
    return f"Hint: separate the fields of every line by {marks}, or say what separates them (--delimiter)."


def find_format(source: Source, limits: Limits, asked: FileFormat | None) -> FileFormat:
    """Return how an open file is written: a sheet, or a delimiter, an encoding and a decimal mark."""
    return open_text(source, limits, asked)[0]


def _converter_beside(schema: Schema, name: str, decimal: str) -> Callable[[Any], Any]:
    """Return what converts weights, which are numbers, and the person, who is a text with decimal points."""
    if name == schema.weight:
        return converter(_NUMBERS, decimal=decimal)
    return lambda text: point_decimals(take_as_missing(text, ()), decimal)


class _Group(NamedTuple):
    """Whole rows as they stand in the file, and how many of them are not blank."""

    data: bytes
    number: int


def _groups(stream: Iterator[bytes], scanner: Scanner) -> Iterator[_Group]:
    """Yield the header, then whole rows in groups of a few megabytes, all checked."""
    rest = next(stream, b"")
    header, last = scanner.header(rest, last=False), False
    while not header.number and not last:
        block = next(stream, None)
        rest, last = rest[header.end :] + (block or b""), block is None
        header = scanner.header(rest, last=last)
    if not header.number:
        refuse(scanner.name, "it is empty, where a line of column names should be.")
    yield _Group(rest[: header.end], 1)

    rest, parts, size, count = rest[header.end :], [], 0, 0
    while not last:
        block = next(stream, None)
        rest, last = rest + (block or b""), block is None
        rows = scanner.rows(rest, last=last)
        parts.append(rest[: rows.end])
        rest, size, count = rest[rows.end :], size + rows.end, count + rows.number
        if last or size >= _GROUP_BYTES:
            if count:
                yield _Group(b"".join(parts), count)
            parts, size, count = [], 0, 0


def _header_names(header: bytes, scanner: Scanner) -> list[str]:
    lines = io.StringIO(header.decode("utf-8"), newline="")
    rows = csv.reader(
        lines,
        delimiter=scanner.delimiter,
        quotechar=scanner.quote,
        quoting=csv.QUOTE_MINIMAL if scanner.quote else csv.QUOTE_NONE,
    )
    try:
        names = next((row for row in rows if row), [])
    except csv.Error:
        names = []
    if len(names) != scanner.width:
        refuse(scanner.name, "its line of column names could not be parsed.")
    named = name_row_numbers(names)
    check_names(named, scanner.name)
    return named


def _pieces(
    groups: Iterator[_Group], scanner: Scanner, places: list[str], convert: list[Callable[[Any], Any]]
) -> list[list[Any]]:
    """Parse and convert group by group, and refuse to go on when the table grows over its limit."""
    pieces: list[list[Any]] = [[] for _ in convert]
    taken = 0
    for group in groups:
        parsed = _parse_rows(group, scanner, places)
        for column, convert_one, kept in zip(parsed.columns, convert, pieces, strict=True):
            kept.extend(convert_one(chunk) for chunk in column.chunks)
            taken += sum(chunk.nbytes + _ARRAY_BYTES for chunk in kept[-column.num_chunks :])
        if taken > scanner.limits.table_bytes:
            _too_large(scanner)
    if pieces and not pieces[0]:  # no rows, but types all the same
        return [[convert_one(pa.array([], pa.string()))] for convert_one in convert]
    return pieces


def _convert(pieces: list[list[Any]], guesses: list[TypeGuess], scanner: Scanner) -> list[list[Any]]:
    taken = 0
    for column, guess in zip(pieces, guesses, strict=True):
        for place, chunk in enumerate(column):
            column[place] = guess.convert(chunk)
            taken += column[place].nbytes + _ARRAY_BYTES
        if taken > scanner.limits.table_bytes:
            _too_large(scanner)
    return pieces


def _parse_rows(group: _Group, scanner: Scanner, places: list[str]) -> pa.Table:
    """Parse checked rows into columns of text; columns are called by their place."""
    every = [str(place) for place in range(scanner.width)]
    try:
        parsed = arrow_csv.read_csv(
            pa.BufferReader(group.data),
            arrow_csv.ReadOptions(use_threads=False, column_names=every, block_size=len(group.data) + 1),
            arrow_csv.ParseOptions(
                delimiter=scanner.delimiter,
                quote_char=scanner.quote or False,
                newlines_in_values=True,
                ignore_empty_lines=scanner.width > 1,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(every, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                include_columns=places,
            ),
        )
    except (pa.ArrowException, MemoryError, OSError, ValueError):
        refuse(scanner.name, f"the rows before line {scanner.line:,} could not be parsed.")
    if parsed.num_rows != group.number:
        refuse(scanner.name, f"the rows before line {scanner.line:,} could not be told apart.")
    return parsed


def _table(names: list[str], pieces: list[list[Any]]) -> pa.Table:
    return pa.table([pa.chunked_array(column) for column in pieces], names=names)


def _too_large(scanner: Scanner) -> NoReturn:
    most = scanner.limits.table_bytes
    over_limit(scanner.name, f"as a table it takes more than {most:,} bytes of memory.", limit="bytes")


_BATCH_BYTES = 32 << 20


class CsvBatches:
    """The rows of an open CSV file, to be gone through once."""

    def __init__(
        self,
        source: Source,
        limits: Limits,
        *,
        schema: Schema | None,
        columns: Sequence[str] | None,
        batch_rows: int,
        owner: str,
        file_format: FileFormat | None = None,
    ) -> None:
        self._source, self._batch_rows = source, batch_rows
        rows = _Rows(source, limits, file_format)
        self._scanner, self._blocks, names = rows.scanner, rows.groups, rows.names
        wanted = batch_names(names, source.name, schema=schema, columns=columns, owner=owner)
        rows.refuse_undeclared(wanted, schema, owner=owner)
        places = {name: str(place) for place, name in enumerate(names)}
        self._places = [places[name] for name in wanted]
        self._convert = [_converter_of(schema, name, rows.decimal) for name in wanted]
        nothing = pa.array([], pa.string())
        types = [convert(nothing).type for convert in self._convert]
        self.schema = pa.schema(zip(wanted, types, strict=True))

    @classmethod
    def names_in(
        cls, source: Source, limits: Limits, file_format: FileFormat | None = None
    ) -> tuple[str, ...]:
        """Return the names of all columns of an open file."""
        return tuple(_Rows(source, limits, file_format).names)

    @property
    def share_read(self) -> float:
        """How much of the file was read, from 0 to 1."""
        size = self._source.size or 0
        return min(1.0, self._source.stream.tell() / size) if size else 1.0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        waiting: list[Any] = []
        rows = size = 0
        for group in self._blocks:
            parsed = _parse_rows(group, self._scanner, self._places)
            converted = [
                [convert(chunk) for chunk in column.chunks]
                for column, convert in zip(parsed.columns, self._convert, strict=True)
            ]
            chunked = [
                pa.chunked_array(chunks, field.type)
                for chunks, field in zip(converted, self.schema, strict=True)
            ]
            waiting.append(pa.table(chunked, schema=self.schema))
            rows, size = rows + parsed.num_rows, size + waiting[-1].nbytes
            if rows >= self._batch_rows or size >= _BATCH_BYTES:
                whole = pa.concat_tables(waiting)
                end = rows if size >= _BATCH_BYTES else rows - rows % self._batch_rows
                yield from self._cut_batches(whole.slice(0, end))
                rest = whole.slice(end)
                waiting, rows, size = ([rest] if end < rows else []), rows - end, rest.nbytes
        if waiting:
            yield from self._cut_batches(pa.concat_tables(waiting))

    def _cut_batches(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        for start in range(0, table.num_rows, self._batch_rows):
            part = table.slice(start, self._batch_rows).combine_chunks()
            columns = [column.chunk(0) for column in part.columns]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)
