"""Find out how a text file is written, from its first bytes.

The rules, in order. *Encoding*: a byte-order mark says it; zero bytes in every other place are UTF-16; text
that is valid UTF-8 is UTF-8, and so is text most of whose letters beyond ASCII are, for it is damaged; the
rest is Windows-1252, which holds all printable characters of Latin-1, unless its letters beyond ASCII mostly
stand in rows of three and more, as no Western language writes them. *Separator*: the one of comma, semicolon,
tab and pipe that the header has outside quotation marks; if it has several, one that gives every row as many
fields as the header; then the one with most fields; then the first in this order. A header without any of
them has one column. *Decimal mark*: a comma if a column has decimal commas and the fields are not separated
by commas; a file with columns of both kinds is refused.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import replace

from evenhand.table.csv.cells import MISSING_WORDS, number_pattern
from evenhand.table.file_format import SEPARATORS, FileFormat
from evenhand.table.source import refuse

PREFIX_BYTES = 1 << 16
"""How much of a file is looked at."""

_MARKED = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_LONG_RUN = re.compile(rb"[\x80-\xff]{3,}")
_HIGH = re.compile(rb"[\x80-\xff]+")
_DECIMAL_COMMA = re.compile(r"[0-9],[0-9]|(^|[^0-9]),[0-9]")


def detect_format(
    start: bytes, asked: FileFormat, *, name: str, quote: str | None = '"', is_whole: bool = False
) -> FileFormat:
    r"""Return how a file that begins with `start` is written; what was asked for is not looked at.

    Parameters
    ----------
    start : bytes
        The beginning of the file, unpacked.
    asked : FileFormat
        What is known already.
    name : str
        Of the file, for messages.
    quote : str or None
        The character around quoted fields.
    is_whole : bool
        Whether the file ends with `start`.

    Examples
    --------
    >>> start = "größe;name\n1,5;a\n".encode("latin-1")
    >>> print(detect_format(start, FileFormat(), name="x.csv", is_whole=True))
    semicolon-separated Windows-1252 with decimal commas
    """
    is_whole = is_whole and len(start) <= PREFIX_BYTES
    start = start[:PREFIX_BYTES]
    encoding = asked.encoding or _detect_encoding(start, name, is_whole=is_whole)
    text = _decode(start, encoding, is_whole=is_whole).removeprefix("\ufeff")
    delimiter = asked.delimiter or _detect_delimiter(text, quote, is_whole=is_whole)
    decimal = asked.decimal or "."
    if asked.decimal is None and delimiter != "," and _DECIMAL_COMMA.search(text):
        decimal = _detect_decimal(_rows(text, delimiter, quote, is_whole=is_whole), name)
    return replace(asked, delimiter=delimiter, encoding=encoding, decimal=decimal)


def _detect_encoding(start: bytes, name: str, *, is_whole: bool) -> str:
    for mark, encoding in _MARKED.items():
        if start.startswith(mark):
            return encoding
    even, odd = start[::2].count(0), start[1::2].count(0)
    if 20 * max(even, odd) >= 7 * len(start) > 0 and min(even, odd) * 10 < max(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    try:
        _decode(start, "utf-8", is_whole=is_whole, errors="strict")
    except UnicodeDecodeError:
        return _without_marks(start, name, is_whole=is_whole)
    return "utf-8"


def _without_marks(start: bytes, name: str, *, is_whole: bool) -> str:
    """Tell damaged UTF-8 from Windows-1252 and that from what is neither."""
    letters = [letter for letter in _decode(start, "utf-8", is_whole=is_whole) if letter > "\x7f"]
    damaged = sum("\udc80" <= letter <= "\udcff" for letter in letters)
    if 2 * damaged <= len(letters):
        return "utf-8"
    in_runs, high = (sum(map(len, pattern.findall(start))) for pattern in (_LONG_RUN, _HIGH))
    if 2 * in_runs > high > 8:
        why = "its letters are neither UTF-8 nor those of Western languages."
        refuse(name, f"{why} Hint: say which encoding it has, such as windows-1251 (--encoding).")
    return "windows-1252"


def _decode(start: bytes, encoding: str, *, is_whole: bool, errors: str = "") -> str:
    """Return the text of a beginning, which may end within a character."""
    errors = errors or ("surrogateescape" if encoding == "utf-8" else "replace")
    return codecs.getincrementaldecoder(encoding)(errors).decode(start, is_whole)


def _detect_delimiter(text: str, quote: str | None, *, is_whole: bool) -> str:
    mark = re.escape(quote or "\0")  # which no text file has
    header = re.match(rf"(?:[^{mark}\r\n]|{mark}[^{mark}]*{mark})*", text.lstrip("\r\n"))
    bare = re.sub(rf"{mark}[^{mark}]*{mark}", "", header[0] if header else "")
    there = [separator for separator in SEPARATORS if separator in bare]
    if len(there) < 2:
        return there[0] if there else ","
    return max(there, key=lambda separator: _fit(_rows(text, separator, quote, is_whole=is_whole)))


def _fit(rows: list[list[str]]) -> tuple[bool, int]:
    """Return whether all rows are as wide as the first, and how wide that is; the largest is the best."""
    width = len(rows[0]) if rows else 0
    return all(len(row) == width for row in rows), width


def _rows(text: str, delimiter: str, quote: str | None, *, is_whole: bool) -> list[list[str]]:
    """Return the rows that are complete, without blank ones."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    try:
        rows = [row for row in reader if row]
    except csv.Error:
        return []
    return rows if is_whole else rows[:-1]


def _detect_decimal(rows: list[list[str]], name: str) -> str:
    found = {
        mark: any(_is_decimal(cells, mark) for cells in zip(*_of_one_width(rows), strict=True))
        for mark in (",", ".")
    }
    if all(found.values()):
        why = "some columns of numbers have decimal commas, and others have decimal points."
        refuse(name, f"{why} Hint: say which are numbers (--decimal comma or --decimal point).")
    return "," if found[","] else "."


def _of_one_width(rows: list[list[str]]) -> list[list[str]]:
    return [row for row in rows[1:] if len(row) == len(rows[0])]


def _is_decimal(cells: tuple[str, ...], mark: str) -> bool:
    """Whether all cells are numbers with this decimal mark, and some have it."""
    stated = [cell for cell in map(str.strip, cells) if cell and cell not in MISSING_WORDS]
    return any(mark in cell for cell in stated) and all(map(number_pattern(mark).fullmatch, stated))
