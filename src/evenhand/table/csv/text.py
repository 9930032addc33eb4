"""Open a file as UTF-8 text, block by block, whatever its encoding; a workbook is opened as its sheet."""

from __future__ import annotations

import codecs
import io
from itertools import chain
from typing import TYPE_CHECKING

from evenhand.table.csv.detect import PREFIX_BYTES, detect_format
from evenhand.table.csv.lines import KEEP_LINES, header_line
from evenhand.table.csv.scan import count_lines
from evenhand.table.excel.read import sheet_blocks
from evenhand.table.file_format import PLAIN, FileFormat
from evenhand.table.source import Source, blocks, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.table.limits import Limits

_FOREIGN = {
    b"PAR1": "it is a Parquet file. Hint: use read_parquet, or name it .parquet.",
    b"\xd0\xcf\x11\xe0": "it is an Excel file of before 2007. Hint: save it as .xlsx or as CSV.",
    b"\xff\xfe\0\0": "it is UTF-32 text. Hint: save it as UTF-8.",
    b"\0\0\xfe\xff": "it is UTF-32 text. Hint: save it as UTF-8.",
    b"ARROW1": "it is an Arrow file. Hint: save it as Parquet.",
}
_WORKBOOK = b"PK\x03\x04"
_BOM = b"\xef\xbb\xbf"


def open_text(
    source: Source, limits: Limits, asked: FileFormat | None, *, quote: str | None = '"'
) -> tuple[FileFormat, Iterator[bytes]]:
    """Return how a file is written, and its text as blocks of UTF-8 without a byte-order mark.

    A workbook has no format but its sheet, and comes as the plain CSV file that a spreadsheet saves.
    """
    asked = asked or FileFormat()
    stream = blocks(source, limits)
    start = next(stream, b"")
    for magic, what in _FOREIGN.items():
        if start.startswith(magic):
            refuse(source.name, what)
    if start.startswith(_WORKBOOK):
        if asked.parts.keys() - {"sheet"}:
            why = "it is an Excel file, which has no delimiter, encoding, decimal mark or broken rows."
            refuse(source.name, f"{why} Hint: leave them out.")
        file = io.BytesIO(b"".join([start, *stream]))
        return FileFormat(sheet=asked.sheet), sheet_blocks(file, source.name, limits, asked.sheet)
    if asked.sheet is not None:
        refuse(source.name, "it is no Excel file, so it has no sheets. Hint: leave the sheet out.")
    pieces, is_whole = [start], False
    while not is_whole and sum(map(len, pieces)) < PREFIX_BYTES:
        block = next(stream, None)
        pieces, is_whole = [*pieces, block or b""], block is None
    prefix = b"".join(pieces)
    if asked.broken_rows is not None:  # what people wrote must not say how others are read
        prefix, is_whole = header_line(prefix), True
    file_format = detect_format(prefix, asked, name=source.name, quote=quote, is_whole=is_whole)
    return file_format, _as_utf8(chain(pieces, stream), file_format, source.name)


def is_sheet(file_format: FileFormat) -> bool:
    """Whether a format that was found is that of a workbook."""
    return file_format.delimiter is None


def in_force(file_format: FileFormat) -> FileFormat:
    """Return the format of the text that was opened: a sheet comes as plain text."""
    return PLAIN if is_sheet(file_format) else file_format


def _as_utf8(stream: Iterator[bytes], file_format: FileFormat, name: str) -> Iterator[bytes]:
    """Yield the blocks of a file in UTF-8; text that is UTF-8 is checked later, as it is scanned."""
    keep_lines = file_format.broken_rows is not None
    if file_format.encoding == "utf-8" and not keep_lines:
        yield next(stream).removeprefix(_BOM)
        yield from stream
        return
    errors = KEEP_LINES if keep_lines else "strict"
    decoder = codecs.getincrementaldecoder(str(file_format.encoding))(errors)
    line, block, is_first, is_last = 1, next(stream), True, False
    while True:
        try:
            text = decoder.decode(block, is_last).encode("utf-8")
        except UnicodeError as error:
            line += _lines_before(error)
            known = f"is not {file_format.shown_encoding} text"
            refuse(name, f"line {line:,} {known}. Hint: say which encoding it has (--encoding).")
        yield text.removeprefix(_BOM) if is_first else text
        if is_last:
            return
        line += count_lines(text)
        following = next(stream, None)
        block, is_first, is_last = following or b"", False, following is None


def _lines_before(error: UnicodeError) -> int:
    """Return how many lines of a block end before what could not be decoded."""
    if not isinstance(error, UnicodeDecodeError):
        return 0
    good = error.object[: error.start].decode(error.encoding, "replace")
    return count_lines(good.encode("utf-8"))
