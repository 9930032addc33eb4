"""Read a file whole or in batches, by what its name says it is; both with the same checks and limits."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import pyarrow as pa

from evenhand._validate import integer, kind_of, refuse
from evenhand.table.column_codes import TEXT_TYPES, write_out
from evenhand.table.csv.read import CsvBatches, find_format, read_text
from evenhand.table.file_format import FileFormat
from evenhand.table.limits import DEFAULT_LIMITS, Limits
from evenhand.table.parquet.read import ParquetBatches, read_parquet
from evenhand.table.parts import Parts, find_parts
from evenhand.table.source import check_is_schema, open_source, own_name
from evenhand.table.source import refuse as refuse_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from evenhand.schema import Schema


def read(
    path: str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    file_format: FileFormat | None = None,
) -> pa.Table:
    """Read a CSV, Excel or Parquet file into an Arrow table.

    The name of the file says which it is: ``.csv``, ``.tsv`` or ``.txt``, plain or packed (``.csv.gz``,
    ``.csv.bz2``), ``.xlsx``, ``.parquet`` or ``.pq``. How a text file is written is found out from its
    beginning.

    Parameters
    ----------
    path : str or path
        The file.
    schema, columns, limits
        As for :func:`read_csv` and :func:`read_parquet`.
    file_format : FileFormat, optional
        What is known of how the file is written.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InvalidParameterError
        If the name has another ending.
    UnreadableFileError, LimitExceededError
        As for the two readers.
    """
    hint = "use read_csv or read_parquet for a file of another name, or for an open file."
    if file_form(path, owner="read", hint=hint) == "csv":
        return read_text(path, schema=schema, columns=columns, limits=limits, file_format=file_format)
    _refuse_format(path, file_format)
    return read_parquet(path, schema=schema, columns=columns, limits=limits)


def detect_file_format(
    path: str | os.PathLike[str], file_format: FileFormat | None = None, *, limits: Limits = DEFAULT_LIMITS
) -> FileFormat:
    """Return how a file, or the first file of a folder or pattern, is written, found out if not known.

    For a Parquet file nothing is filled in, and for an Excel workbook nothing but the sheet that is known.
    """
    path = find_parts(path, endings=ENDINGS).files[0]
    if file_form(path, owner="detect_file_format") == "parquet":
        _refuse_format(path, file_format)
        return FileFormat()
    with open_source(path, limits=limits, owner="detect_file_format") as source:
        return find_format(source, limits, file_format)


def _refuse_format(path: str | os.PathLike[str], file_format: FileFormat | None) -> None:
    if file_format is not None and file_format.parts:
        why = "it is a Parquet file, which says itself how it is written."
        refuse_file(own_name(path), f"{why} Hint: leave {', '.join(file_format.parts)} out.")


BATCH_ROWS = 1 << 18
"""Rows of a batch, unless fewer are asked for or the rows are long."""

MOST_BATCH_ROWS = 1 << 22

Form = Literal["csv", "parquet"]

WRITTEN_ENDINGS: dict[str, Form] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""The endings of files that evenhand writes, and the form of each."""

ENDINGS: dict[str, Form] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    **{f".{text}.{packed}": "csv" for text in ("csv", "tsv", "txt") for packed in ("gz", "bz2")},
    ".xlsx": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""The endings of files that evenhand reads; a sheet is read as the CSV file that a spreadsheet saves."""

ENDINGS_TEXT = ".csv, .tsv, .txt (also packed, as .csv.gz or .csv.bz2), .xlsx, .parquet, .pq"
"""The endings in words."""


def read_batches(
    path: str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    batch_rows: int = BATCH_ROWS,
    limits: Limits = DEFAULT_LIMITS,
    file_format: FileFormat | None = None,
) -> Iterator[pa.RecordBatch]:
    r"""Yield a CSV, Excel or Parquet file, or several, as Arrow batches, one after the other.

    Files are refused for the same reasons as by :func:`evenhand.table.read`, but memory depends on the
    length of rows and not on how many there are. A reason that lies far inside a file is found when the
    reader gets there: what was made of earlier batches is to be thrown away then.

    Parameters
    ----------
    path : str or path
        The file; its name ends as for :func:`evenhand.table.read`. Or a folder of such files, or a pattern
        such as ``"data/*.parquet"``: all have the same columns, and are read in the order of their names.
    schema : Schema, optional
        Columns of a CSV file that are read with the types their domains need, as
        :func:`evenhand.table.read_csv` does. All other columns of a CSV file are text as it stands, since
        the type of a column is only known at its end.
    columns : sequence of str, optional
        The columns to read, by default all of the file.
    batch_rows : int, default 262,144
        Most rows of a batch. Where rows are long a batch has fewer.
    limits : Limits
        How large the file may be. For a file of any length pass
        :data:`~evenhand.table.limits.STREAM_LIMITS`, which keeps the limits of fields, rows and columns.
    file_format : FileFormat, optional
        What is known of how the file is written.

    Yields
    ------
    pyarrow.RecordBatch
        Text that a Parquet file stores as a list of values and places in it comes so, as a dictionary array.

    Raises
    ------
    UnreadableFileError, LimitExceededError
        As for the reader of whole files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("sex,age\nf,30\nm,41\nf,07\n")
    >>> [batch.to_pydict() for batch in read_batches(path, batch_rows=2)]
    [{'sex': ['f', 'm'], 'age': ['30', '41']}, {'sex': ['f'], 'age': ['07']}]
    """
    with open_batches(
        path,
        schema=schema,
        columns=columns,
        batch_rows=batch_rows,
        limits=limits,
        file_format=file_format,
        owner="read_batches",
    ) as batches:
        yield from batches


@contextmanager
def open_batches(
    path: str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    batch_rows: int = BATCH_ROWS,
    limits: Limits = DEFAULT_LIMITS,
    file_format: FileFormat | None = None,
    owner: str = "open_batches",
) -> Iterator[CsvBatches | ParquetBatches | PartBatches]:
    """Open a file, a folder or a pattern to be read in batches, with the parameters of :func:`read_batches`.

    What it gives can be gone through once, and says the names and types of all columns (``schema``) before
    the first batch and how far it has come (``share_read``, from 0 to 1) at any time.
    """
    rows = integer("batch_rows", batch_rows, owner=owner, low=1, high=MOST_BATCH_ROWS)
    check_is_schema(schema, owner=owner)
    asked: dict[str, Any] = {"schema": schema, "columns": columns, "batch_rows": rows, "owner": owner}
    parts = find_parts(path, endings=ENDINGS)
    if parts.is_alone:
        with _open_file(path, limits, file_format, asked) as batches:
            yield batches
        return
    _refuse_mixed_forms(parts, owner=owner)
    written = detect_file_format(parts.files[0], file_format, limits=limits)
    with PartBatches(parts, lambda file: _open_file(file, limits, written, asked)) as several:
        yield several


@contextmanager
def _open_file(
    path: str | os.PathLike[str], limits: Limits, file_format: FileFormat | None, asked: dict[str, Any]
) -> Iterator[CsvBatches | ParquetBatches]:
    form = file_form(path, owner=asked["owner"])
    if form == "parquet":
        _refuse_format(path, file_format)
    with open_source(path, limits=limits, owner=asked["owner"]) as source:
        if form == "csv":
            yield CsvBatches(source, limits, **asked, file_format=file_format)
        else:
            yield ParquetBatches(source, limits, **asked)


class PartBatches:
    """The rows of several files, one file after the other, to be gone through once.

    Every file must have the columns of the first, in the same order and of the same types; text is one type,
    however Parquet stores it.
    """

    def __init__(self, parts: Parts, opener: Callable[[Path], AbstractContextManager[Any]]) -> None:
        self._parts, self._opener = parts, opener
        self._stack = ExitStack()
        self._sizes = [file.stat().st_size for file in parts.files]
        self._now, self._done = self._open(parts.files[0]), 0
        self.schema: pa.Schema = self._now.schema

    def _open(self, file: Path) -> Any:
        self._stack.close()  # one file is open at a time
        return self._stack.enter_context(self._opener(file))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def share_read(self) -> float:
        """How much of all files was read, from 0 to 1."""
        total = sum(self._sizes)
        now = 0.0 if self._done >= len(self._sizes) else self._now.share_read * self._sizes[self._done]
        return (sum(self._sizes[: self._done]) + now) / total if total else 1.0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        rows = 0
        for place, file in enumerate(self._parts.files):
            if place:
                self._now = self._open(file)
            if not _has_same_columns(self._now.schema, self.schema):
                _refuse_other_columns(file, self._parts)
            for batch in self._now:
                rows += batch.num_rows
                yield _with_text_of(self.schema, batch)
            self._done = place + 1
        if not rows:
            refuse_file(self._parts.name, "its files have columns and no rows.")


def _has_same_columns(schema: pa.Schema, first: pa.Schema) -> bool:
    return schema.names == first.names and all(
        _kind_of_values(field.type) == _kind_of_values(other.type)
        for field, other in zip(schema, first, strict=True)
    )


def _kind_of_values(kind: Any) -> Any:
    """Return the type of a column's values; whether a file lists them, or stores long text, does not matter.

    >>> _kind_of_values(pa.dictionary(pa.int8(), pa.large_string())) == _kind_of_values(pa.string())
    True
    """
    kind = _value_type(kind)
    return pa.string() if any(is_one(kind) for is_one in TEXT_TYPES) else kind


def _value_type(kind: Any) -> Any:
    return getattr(kind, "value_type", kind)


def _with_text_of(first: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose text has the type that it has in the first file."""
    for place, wanted in enumerate(_value_type(field.type) for field in first):
        column = batch.column(place)
        if _value_type(column.type) != wanted:
            batch = batch.set_column(place, first.names[place], write_out(column).cast(wanted))
    return batch


def _refuse_other_columns(file: Path, parts: Parts) -> NoReturn:
    why = f"its columns are not those of {own_name(parts.files[0])}, in name, order and type."
    refuse_file(own_name(file), why)


def _refuse_mixed_forms(parts: Parts, *, owner: str) -> None:
    if len({file_form(file, owner=owner) for file in parts.files}) > 1:
        refuse_file(parts.name, "it has text files and Parquet files. Hint: a pattern such as '*.csv'.")


def file_columns(
    path: str | os.PathLike[str],
    *,
    limits: Limits = DEFAULT_LIMITS,
    file_format: FileFormat | None = None,
    owner: str = "file_columns",
) -> tuple[str, ...]:
    """Return the names of the columns of a file, in order; files of a folder or pattern must have the same.

    They may be private where a file has no header: show none of them that was not asked for by name.
    """
    parts = find_parts(path, endings=ENDINGS)
    if parts.is_alone:
        return tuple(_fields_of(path, limits, file_format, owner))
    _refuse_mixed_forms(parts, owner=owner)
    written = detect_file_format(parts.files[0], file_format, limits=limits)
    first = _fields_of(parts.files[0], limits, written, owner)
    for file in parts.files[1:]:
        other = _fields_of(file, limits, written, owner)
        if list(other.items()) != list(first.items()):
            _refuse_other_columns(file, parts)
    return tuple(first)


def _fields_of(
    path: str | os.PathLike[str], limits: Limits, file_format: FileFormat | None, owner: str
) -> dict[str, Any]:
    """Return the names of the columns of a file, each with its type where the file has one."""
    form = file_form(path, owner=owner)
    with open_source(path, limits=limits, owner=owner) as source:
        if form == "csv":
            return dict.fromkeys(CsvBatches.names_in(source, limits, file_format))
        return {field.name: _kind_of_values(field.type) for field in ParquetBatches.fields_in(source, limits)}


def file_form(path: str | os.PathLike[str], *, owner: str, parameter: str = "path", hint: str = "") -> Form:
    """Return which form of file a name stands for, of one that is read or, as 'out', of one that is written.

    >>> file_form("survey.CSV.gz", owner="example")
    'csv'
    """
    given: object = path
    name = own_name(path) if isinstance(given, str | os.PathLike) else ""
    is_written = parameter == "out"
    for suffix, form in (WRITTEN_ENDINGS if is_written else ENDINGS).items():
        if name.lower().endswith(suffix):
            return form
    listed = ", ".join(WRITTEN_ENDINGS) if is_written else ENDINGS_TEXT
    return refuse(parameter, owner, f"a path that ends with {listed}", name or kind_of(path), hint=hint)
