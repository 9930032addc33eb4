"""Lines of a text file, of which a broken one is a row that fits no domain.

Where a file is read so, each line is one row, whatever is in the other lines: an open quotation mark ends
with its line, and bytes that are not text, a line end of another kind than that of the header, another number
of fields and what is over a limit break their own line alone. So nothing in one line changes how others are
read, and a cell that holds a line end is two broken lines or more.

A broken line is replaced by one whose every cell is a NUL character, which no other line holds. It is a value
outside of every domain, but one that declares it, so that the rules of the columns decide about it.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.table.source import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.table.csv.scan import Scanner

BROKEN_CELL = "\0"
"""What stands in every cell of a broken row."""

KEEP_LINES = "evenhand.broken"
"""How a decoder handles bytes that are not text so that their line is broken, and no other."""

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


def _break_line(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    # What a decoder could not read may end with a line end: go on after the first byte, or the first two of
    # UTF-16, whose line ends take two.
    return BROKEN_CELL, min(error.end, error.start + (2 if "16" in error.encoding else 1))


codecs.register_error(KEEP_LINES, _break_line)


def header_line(start: bytes) -> bytes:
    r"""Return the first line of a beginning that is not blank, which is public.

    >>> header_line(b"\r\nsex;age\r\nf;30\r\n")
    b'sex;age\r'
    """
    return re.split(rb"(?<=[\r\n])", start.lstrip(b"\r\n"), maxsplit=1)[0]


def mend_lines(stream: Iterator[bytes], scanner: Scanner) -> Iterator[bytes]:
    """Yield the header, then the other lines in blocks of whole lines, broken ones replaced."""
    rest, end, is_last = b"", None, False
    while end is None and not is_last and len(rest) <= scanner.limits.row_bytes:
        block = next(stream, None)
        is_last = block is None
        rest = (rest + (block or b"")).lstrip(b"\r\n")
        end = _LINE_END.search(rest + (b"\n" if is_last else b""))
    header, rest = (rest, b"") if end is None else (rest[: end.start()], rest[end.end() :])
    mark = b"\r" if end is not None and end[0] == b"\r" else b"\n"
    quote = re.escape((scanner.quote or BROKEN_CELL).encode())
    bare = re.sub(quote + b"[^" + quote + b"]*" + quote, b"", header)
    mender = _Mender(scanner, mark, bare.count(scanner.delimiter.encode()) + 1)
    if header and mender.mend(header + mark) != header + mark:
        refuse(scanner.name, "its line of column names could not be parsed.")
    yield header + mark if header else b""
    for block in stream:
        rest += block
        cut = rest.rfind(mark) + 1
        if cut:
            yield mender.mend(rest[:cut])
            rest = rest[cut:]
        if len(rest) > scanner.limits.row_bytes:
            rest = BROKEN_CELL.encode()  # the line is too long already, so nothing else of it is needed
    if rest:
        yield mender.mend(rest if rest.endswith(mark) else rest + mark)


@dataclass(frozen=True)
class _Mender:
    """Replaces broken lines, which end with `mark` and should have `width` fields."""

    scanner: Scanner
    mark: bytes
    width: int

    def mend(self, lines: bytes) -> bytes:
        """Return whole lines, in which every broken one is replaced."""
        broken = np.flatnonzero(self._find_broken(lines))
        if not len(broken):
            return lines
        ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == self.mark[0]) + 1
        starts = np.append(0, ends[:-1])
        instead = self.scanner.delimiter.join([BROKEN_CELL] * self.width).encode() + self.mark
        pieces, done = [], 0
        for start, end in zip(starts[broken].tolist(), ends[broken].tolist(), strict=True):
            pieces += [lines[done:start], instead]
            done = end
        return b"".join([*pieces, lines[done:]])

    def _find_broken(self, lines: bytes) -> NDArray[np.bool_]:
        text = np.frombuffer(lines, np.uint8)
        ends = np.flatnonzero(text == self.mark[0])
        starts = np.append(0, ends[:-1] + 1)
        broken: NDArray[np.bool_] = ends - starts > self.scanner.limits.row_bytes

        def break_at(places: NDArray[np.intp]) -> None:
            broken[np.searchsorted(ends, places)] = True

        break_at(np.flatnonzero(text == 0))
        other = np.flatnonzero(text == (ord("\n") if self.mark == b"\r" else ord("\r")))
        break_at(other if self.mark == b"\r" else other[text[other + 1] != ord("\n")])
        marks = np.flatnonzero(text == ord(self.scanner.delimiter))
        if self.scanner.quote is not None and self.scanner.quote.encode() in lines:
            quotes = np.flatnonzero(text == ord(self.scanner.quote))
            break_at(_stray_quotes(text, quotes, ends, delimiter=ord(self.scanner.delimiter)))
            first = np.searchsorted(quotes, starts)[np.searchsorted(ends, marks)]
            before = np.searchsorted(quotes, marks) - first  # quotation marks between its line's start and it
            marks = marks[before % 2 == 0]
        fields = np.bincount(np.searchsorted(ends, marks), minlength=len(ends)) + 1
        blank = (ends == starts) | ((ends == starts + 1) & (text[starts] == ord("\r")))
        broken |= (fields != self.width) & ~blank
        field_ends = np.sort(np.append(marks, ends), kind="stable")
        break_at(field_ends[np.diff(field_ends, prepend=-1) - 1 > self.scanner.limits.field_bytes])
        return broken


def _stray_quotes(
    text: NDArray[np.uint8], quotes: NDArray[np.intp], ends: NDArray[np.intp], *, delimiter: int
) -> NDArray[np.intp]:
    """Return quotation marks that neither begin nor end a field, and the last of a line that has one open."""
    line = np.searchsorted(ends, quotes)
    number = np.arange(len(quotes)) - np.searchsorted(line, line)  # of the mark in its line
    is_opening = number % 2 == 0
    before = np.append(ord("\n"), text)[quotes]
    after = text[quotes + 1]
    beside = np.where(is_opening, before, after)
    stray = ~np.isin(beside, [delimiter, ord("\n"), ord("\r"), text[quotes[0]]])
    is_last = np.append(line[1:] != line[:-1], True)
    found: NDArray[np.intp] = quotes[stray | (is_last & is_opening)]
    return found
