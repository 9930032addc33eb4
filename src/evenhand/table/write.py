"""Write frames and tables to files, whole or not at all, with text that spreadsheets leave alone."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from evenhand._part_files import open_part, resolve_folder, sweep
from evenhand.errors import EvenhandError, InvalidParameterError, UnwritableFileError
from evenhand.table.encode import Table
from evenhand.table.frames import eager_frame
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from evenhand._part_files import Part

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\0")
"""What a text cell must not start with: a spreadsheet would take it for a formula."""

_FORMULA_REGEX = r"^[=+\-@\t\r\x00]"
_BATCH_ROWS = 1 << 16


def inert_text(text: str) -> str:
    """Return `text` with an apostrophe before it if a spreadsheet could take it for a formula.

    >>> inert_text("=1+1"), inert_text("-5"), inert_text("f = 1")
    ("'=1+1", "'-5", 'f = 1')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def write_csv(frame_or_table: Any, path: str | os.PathLike[str]) -> None:
    """Write a frame, or the values of a table, to a CSV file that spreadsheets can open.

    UTF-8, commas, all text in quotation marks, missing values and NaN as empty cells, LF at line ends.
    Text cells and column names that start with ``=``, ``+``, ``-``, ``@``, a tab, a carriage return
    or NUL get an apostrophe before them, so that no spreadsheet runs them as a formula.
    Numbers, truth values and dates stay as they are.

    Parameters
    ----------
    frame_or_table : Table or pandas, Polars or Arrow frame
        What to write. Cells may be text, numbers, truth values, dates and times.
    path : str or path
        Where to. An old file there stays until the new one is complete. A link there is replaced, not
        followed.

    Raises
    ------
    UnwritableFileError
        If the file cannot be written; nothing is left behind.
    InvalidParameterError
        If a column holds what CSV has no form for.
    """
    with replacing(path) as file:
        write_csv_into(frame_or_table, file)


def write_csv_into(frame_or_table: Any, file: Any) -> None:
    """Write what :func:`write_csv` writes into a binary file that is open, and leave it open."""
    table = _arrow(frame_or_table, owner="write_csv")
    text = [_is_text(column.type) for column in table.columns]
    if any(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) for kind in table.schema.types):
        raise _unfit("write_csv")  # bytes may be text with a formula in it
    shapes = [
        pa.field(inert_text(field.name), pa.large_string() if is_text else _plain_type(field.type))
        for field, is_text in zip(table.schema, text, strict=True)
    ]
    if len(shapes) == 1 and table.column(0).null_count:  # a lone empty cell would be a blank line
        shapes = [pa.field(shapes[0].name, pa.large_string())]
    try:
        with arrow_csv.CSVWriter(file, pa.schema(shapes)) as writer:
            for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
                writer.write_batch(_inert_batch(batch, text, pa.schema(shapes)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise _unfit("write_csv") from None


def write_parquet(frame_or_table: Any, path: str | os.PathLike[str]) -> None:
    """Write a frame, or the values of a table, to a Parquet file.

    Parameters
    ----------
    frame_or_table : Table or pandas, Polars or Arrow frame
        What to write. Text is written as it is: a Parquet file is not opened by a spreadsheet.
    path : str or path
        Where to. An old file there stays until the new one is complete. A link there is replaced, not
        followed.

    Raises
    ------
    UnwritableFileError
        If the file cannot be written; nothing is left behind.
    InvalidParameterError
        If a column holds what Parquet has no form for.
    """
    with replacing(path) as file:
        write_parquet_into(frame_or_table, file)


def write_parquet_into(frame_or_table: Any, file: Any) -> None:
    """Write what :func:`write_parquet` writes into a binary file that is open, and leave it open."""
    table = _arrow(frame_or_table, owner="write_parquet").replace_schema_metadata(None)
    try:
        pq.write_table(table, file, compression="zstd")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise _unfit("write_parquet") from None


def _arrow(frame_or_table: Any, *, owner: str) -> pa.Table:
    if isinstance(frame_or_table, Table):
        return frame_or_table.to_frame("pyarrow")
    frame = eager_frame(frame_or_table, owner=owner, parameter="frame_or_table")
    try:
        return frame.to_arrow().select(frame.columns)
    except (pa.ArrowException, TypeError, ValueError):
        must_be, got = "a frame whose columns each hold one type", "a frame with a mixed column"
        raise InvalidParameterError("frame_or_table", owner=owner, must_be=must_be, got=got) from None


def _unfit(owner: str) -> InvalidParameterError:
    must_be = "a frame of text, numbers, truth values, dates and times"
    got = "a frame with a column of another type"
    return InvalidParameterError("frame_or_table", owner=owner, must_be=must_be, got=got)


def _is_text(kind: Any) -> bool:
    kind = _plain_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _plain_type(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _inert_batch(batch: Any, text: list[bool], shapes: pa.Schema) -> pa.RecordBatch:
    columns = []
    for column, is_text, shape in zip(batch.columns, text, shapes, strict=True):
        cells = column.cast(shape.type)
        if is_text:
            risky = pc.match_substring_regex(cells, _FORMULA_REGEX)
            before, between = (pa.scalar(text, pa.large_string()) for text in ("'", ""))
            cells = pc.if_else(risky, pc.binary_join_element_wise(before, cells, between), cells)
        elif pa.types.is_floating(shape.type):
            cells = pc.if_else(pc.is_nan(cells), None, cells)
        if len(shapes) == 1 and pa.types.is_large_string(shape.type):
            cells = cells.fill_null("")
        columns.append(cells)
    return pa.RecordBatch.from_arrays(columns, schema=shapes)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a new file beside the old one and put it in its place once it is complete.

    What processes that were killed left half written in the same folder is removed first. A link in its place
    is replaced, not followed.
    """
    with replacing_together(path) as (file,):
        yield file


@contextmanager
def replacing_together(
    path: str | os.PathLike[str],
    *companions: str | os.PathLike[str],
    remove: Iterable[str | os.PathLike[str]] = (),
) -> Iterator[tuple[Any, ...]]:
    """Open new files that belong together; they take their places when all of them are complete.

    The last companion is the one that says what the others are, such as their guarantee. Whenever this
    process is killed, the files that are there are all old or all new: no guarantee stands beside a table
    that it does not speak of. Old files of `remove` are removed first, in their order, then old companions,
    the guarantee before the others. Then a file that replaces another comes before its companions, and a
    file with a new name after them.

    Parameters
    ----------
    path : str or path
        The file that the others belong to.
    *companions : str or path
        What is written beside it.
    remove : iterable of str or path
        What must not stay beside the new file, such as :func:`evenhand.table.side_files.side_files`. A name
        that is also a companion is written anew.

    Yields
    ------
    tuple of binary files
        One for each name, in their order.
    """
    names = (path, *companions)
    targets = [resolve_folder(name) for name in names]
    for folder in {target.parent for target in targets}:
        sweep(folder)
    with ExitStack() as stack, _own_words(path):
        parts = []
        for name, target in zip(names, targets, strict=True):
            with _own_words(name):
                parts.append(stack.enter_context(open_part(target)))
        yield tuple(part.file for part in parts)
        for name, part in zip(names, parts, strict=True):
            with _own_words(name):
                part.finish()
        first, *others = zip(targets, names, strict=True)
        old = dict([*((resolve_folder(name), name) for name in remove), *reversed(others)])
        _take_places(parts, dict([first]) | old, remove=old)


def _take_places(
    parts: list[Part], names: Mapping[Path, str | os.PathLike[str]], *, remove: Iterable[Path]
) -> None:
    """Put finished files in their places, once those of `remove` are gone.

    After an error the files that have a new name are gone again. What was removed first has a new name too.
    """
    first, *companions = parts
    for target, name in names.items():
        if target.is_dir() and not target.is_symlink():
            raise UnwritableFileError(f"{own_name(name)} was not written: it is a folder.")
    replaces = os.path.lexists(first.target)
    placed: list[Path] = []
    try:
        for target in remove:
            with _own_words(names[target]):
                target.unlink(missing_ok=True)
        for part in (first, *companions) if replaces else (*companions, first):
            placed.append(part.target)
            with _own_words(names[part.target]):
                synced = names if len(names) > 1 and part is first else ()
                _sync_folders(synced)  # after and before all that happens to the others,
                part.take_place()  # also if the power is cut
                _sync_folders(synced)
    except BaseException:
        for target in placed:
            if target != first.target or not replaces:
                target.unlink(missing_ok=True)
        raise


def _sync_folders(files: Iterable[Path]) -> None:
    """Bring to the disk what was renamed and removed in the folders of some files."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    for folder in {file.parent for file in files}:
        with suppress(OSError):  # not every disk knows how
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


@contextmanager
def _own_words(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say what the system refused in our own words: its message holds the folder."""
    try:
        yield
    except OSError as error:
        if isinstance(error, EvenhandError):  # ours say more already
            raise
        raise UnwritableFileError(f"{own_name(path)} was not written: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    """Return why a file was not written, as a sentence."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "its folder is not there."
    if isinstance(error, PermissionError):
        return "you may not write there."
    if isinstance(error, IsADirectoryError):
        return "it is a folder."
    if error.errno == errno.ENOSPC:
        return "the disk is full."
    return "the system could not write it."
