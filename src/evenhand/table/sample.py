"""Rows of a file that does not fit into memory, drawn at random in one pass."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from evenhand._validate import integer
from evenhand.errors import LimitExceededError
from evenhand.table.column_codes import write_out
from evenhand.table.csv.read import read_text
from evenhand.table.file_format import FileFormat
from evenhand.table.limits import STREAM_LIMITS, Limits
from evenhand.table.parts import Parts, find_parts
from evenhand.table.read import ENDINGS, detect_file_format, file_form, open_batches, read
from evenhand.table.source import over_limit

if TYPE_CHECKING:
    import os

    from evenhand.schema import Schema

LARGE_FILE_ROWS = 500_000
"""Rows that are drawn from a file that does not fit, unless somebody says how many."""


class ReadRows(NamedTuple):
    """Rows of a file, and how many were drawn if these are not all."""

    frame: Any
    drawn: int | None = None


def read_or_sample(
    path: str | os.PathLike[str],
    *,
    rows: int | None,
    source: Any,
    schema: Schema | None = None,
    limits: Limits,
    file_format: FileFormat | None = None,
) -> ReadRows:
    """Return all rows of a file, a folder or a pattern if they fit the limits, else some drawn at random.

    Parameters
    ----------
    path : str or path
        What to read.
    rows : int, optional
        How many rows to draw where all do not fit; None to refuse it then.
    source : Source
        Where the draws come from (it stands above this layer); one word for each row.
    schema, limits, file_format
        As for :func:`evenhand.table.read`.
    """
    parts = find_parts(path, endings=ENDINGS)
    try:
        if parts.is_alone:
            return ReadRows(read(parts.files[0], schema=schema, limits=limits, file_format=file_format))
        return ReadRows(_read_parts(path, parts, schema, limits, file_format))
    except LimitExceededError as error:
        if rows is None or error.limit != "bytes":
            raise
    rows = integer("rows", rows, owner="read_or_sample", low=1)
    drawn = sample_rows(path, rows, source=source, schema=schema, file_format=file_format)
    return ReadRows(_with_types(drawn, path, parts, schema, file_format), rows)


def _read_parts(
    path: str | os.PathLike[str],
    parts: Parts,
    schema: Schema | None,
    limits: Limits,
    file_format: FileFormat | None,
) -> pa.Table:
    """Return the rows of several files, which together may not be larger than one may be."""
    why = f"its files hold more than {limits.bytes:,} bytes."
    if sum(file.stat().st_size for file in parts.files) > limits.bytes:
        over_limit(parts.name, why, limit="bytes")
    columns = None if schema is None else [*schema.names, *schema.beside]
    asked: Any = {"schema": schema, "columns": columns, "file_format": file_format}
    tables, size = [], 0
    with open_batches(path, limits=STREAM_LIMITS, **asked) as batches:
        for batch in batches:
            size += batch.nbytes
            if size > limits.table_bytes:
                over_limit(parts.name, why, limit="bytes")
            tables.append(_plain(pa.Table.from_batches([batch])))
    return _with_types(_join(tables), path, parts, schema, file_format)


def _with_types(
    table: pa.Table,
    path: str | os.PathLike[str],
    parts: Parts,
    schema: Schema | None,
    file_format: FileFormat | None,
) -> pa.Table:
    """Return rows of text files in the types that all of them have, where no schema says them."""
    if schema is not None or file_form(parts.files[0], owner="read") != "csv":
        return table
    return _find_types(table, detect_file_format(path, file_format, limits=STREAM_LIMITS))


def sample_rows(
    path: str | os.PathLike[str],
    rows: int,
    *,
    source: Any,
    schema: Schema | None = None,
    file_format: FileFormat | None = None,
) -> pa.Table:
    """Return so many rows of files drawn at random, in their order, or all if there are fewer.

    Every row gets a random word, and those with the smallest words are kept: every set of `rows` rows has the
    same probability, and which one it is depends on the words alone, not on the size of batches.
    """
    columns = None if schema is None else [*schema.names, *schema.beside]
    kept: pa.Table | None = None
    words = np.zeros(0, np.uint64)
    with open_batches(
        path, schema=schema, columns=columns, limits=STREAM_LIMITS, file_format=file_format
    ) as batches:
        empty = pa.Table.from_batches([], batches.schema)
        waiting: list[pa.Table] = []
        for batch in batches:
            drawn = source.words(batch.num_rows)
            few = len(words) >= rows
            chosen = np.flatnonzero(drawn < words.max()) if few else np.arange(batch.num_rows)
            waiting.append(_plain(pa.Table.from_batches([batch]).take(pa.array(chosen))))
            words = np.concatenate([words, drawn[chosen]])
            if len(words) > rows:
                least = np.sort(np.argpartition(words, rows - 1)[:rows])
                joined = _join(waiting if kept is None else [kept, *waiting])
                kept, waiting, words = joined.take(pa.array(least)), [], words[least]
    tables = ([] if kept is None else [kept]) + waiting
    return _join(tables) if tables else _plain(empty)


def _plain(table: pa.Table) -> pa.Table:
    """Return columns as their values, so that rows of other batches can be put beside them."""
    arrays = [[write_out(chunk) for chunk in column.chunks] for column in table.columns]
    types = [write_out(pa.nulls(0, column.type)).type for column in table.columns]
    columns = [pa.chunked_array(chunks, kind) for chunks, kind in zip(arrays, types, strict=True)]
    return pa.table(columns, names=table.column_names)


def _join(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(
        [_plain(table) for table in tables], promote_options="permissive"
    ).combine_chunks()


def _find_types(table: pa.Table, written: FileFormat) -> pa.Table:
    """Return text of CSV files in the types that these rows have, as a reader of one file does."""
    text = io.BytesIO()
    arrow_csv.write_csv(table, text)
    text.seek(0)
    size = Limits(bytes=max(Limits().bytes, 4 * len(text.getvalue())))
    form = FileFormat(delimiter=",", encoding="utf-8", decimal=written.decimal)
    return read_text(text, schema=None, columns=None, limits=size, file_format=form)
