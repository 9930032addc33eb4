"""Check the shape of a CSV file block by block, before anything is parsed.

The grammar is that of RFC 4180 and no more: a quoted field starts with its quotation mark and ends with it,
and a quotation mark inside is written twice. Lines end with LF, CR LF or CR. Blank lines are skipped, but in
a file of one column, where they are missing cells. What passes here means the same to every CSV parser; what
does not pass is refused, with its line.

This is written by hand because the parsers that exist guess: they take a stray quotation mark, a short row or
a blank line each in a way of their own, without a word, so that a private value may end up in another column.
They also quote the row at fault in their messages, and hold a whole row in memory however long it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.table.source import over_limit, refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.table.limits import Limits

_DELIMITER, _LINE_FEED, _RETURN, _QUOTE = 1, 2, 3, 4


class ScannedRows(NamedTuple):
    """The complete rows of a block: how many are not blank, and the byte after the last of them."""

    number: int
    end: int


class _Fields(NamedTuple):
    """Where each field of a block ends, whether a line ends with it, and whether CR LF ends that line."""

    ends: NDArray[np.int64]
    newline: NDArray[np.bool_]
    crlf: NDArray[np.bool_]


@dataclass
class Scanner:
    """Walks through a file and remembers the line it is on and the width of the header.

    Parameters
    ----------
    name : str
        The file's own name, for messages.
    limits : Limits
        Most bytes of a field and of a row, most columns.
    delimiter : str
        The character between fields.
    quote : str or None
        The character around quoted fields; None if the file has none.
    hint : str
        What to do about a row of another length than the header.
    has_stand_ins : bool
        Whether broken rows were replaced, by cells that are a NUL character.
    """

    name: str
    limits: Limits
    delimiter: str
    quote: str | None
    hint: str = ""
    has_stand_ins: bool = False
    line: int = 1
    width: int = 0
    _kinds: NDArray[np.uint8] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._kinds = np.zeros(256, np.uint8)
        self._kinds[ord(self.delimiter)] = _DELIMITER
        self._kinds[ord("\n")] = _LINE_FEED
        self._kinds[ord("\r")] = _RETURN
        if self.quote is not None:
            self._kinds[ord(self.quote)] = _QUOTE

    def header(self, block: bytes, *, last: bool) -> ScannedRows:
        """Find the first row that is not blank and keep its width; a count of 0 means: none yet."""
        fields = self._fields(block, last=last)
        starts, line_ends, widths, blank = _lines(fields)
        if blank.all():
            return self._done(block, 0, int(fields.ends[line_ends[-1]]) + 1 if len(line_ends) else 0)
        first = int(np.argmin(blank))
        self.width = int(widths[first])
        if self.width > self.limits.columns:
            over_limit(self.name, f"it has more than {self.limits.columns:,} columns.", limit="columns")
        self._check_lengths(block, fields, starts, upto=int(line_ends[first]) + 1)
        return self._done(block, 1, int(fields.ends[line_ends[first]]) + 1)

    def rows(self, block: bytes, *, last: bool) -> ScannedRows:
        """Check `block`, which starts where a row starts, and tell how far its complete rows reach."""
        fields = self._fields(block, last=last)
        starts, line_ends, widths, blank = _lines(fields)
        if not len(line_ends):
            return ScannedRows(0, 0)
        self._check_lengths(block, fields, starts, upto=int(line_ends[-1]) + 1)
        if self.width == 1:  # a blank line is how a missing cell is written
            blank[:] = False
        ragged = (widths != self.width) & ~blank
        if ragged.any():
            row = int(np.argmax(ragged))
            start = int(starts[line_ends[row] - widths[row] + 1])
            count, where = int(widths[row]), f"line {self._line_at(block, start):,}"
            noun = "field" if count == 1 else "fields"
            why = f"{where} has {count:,} {noun} and the header has {self.width:,}."
            refuse(self.name, f"{why} {self.hint}".rstrip())
        return self._done(block, int(np.count_nonzero(~blank)), int(fields.ends[line_ends[-1]]) + 1)

    def _done(self, block: bytes, count: int, end: int) -> ScannedRows:
        end = min(end, len(block))
        complete = block[:end]
        try:
            complete.decode("utf-8")
        except UnicodeDecodeError as error:
            hint = "Hint: say which encoding the file has, such as windows-1252 (--encoding)."
            refuse(self.name, f"line {self._line_at(block, error.start):,} is not UTF-8 text. {hint}")
        self.line += count_lines(complete)
        return ScannedRows(count, end)

    def _fields(self, block: bytes, *, last: bool) -> _Fields:
        nul = -1 if self.has_stand_ins else block.find(b"\0")
        if nul >= 0:
            refuse(self.name, f"line {self._line_at(block, nul):,} holds a NUL byte, so it is not text.")
        kinds = self._kinds[np.frombuffer(block, np.uint8)]
        places = np.flatnonzero(kinds)
        place_kinds = kinds[places]
        if self.quote is not None and np.any(place_kinds == _QUOTE):
            places, place_kinds = self._outside_quotes(block, kinds, places, place_kinds, last=last)
        fields = _without_returns(places, place_kinds, len(block), last=last)
        self._check_unfinished(block, fields)
        finished = not block or bool(np.any(fields.newline & (fields.ends == len(block) - 1)))
        if not last or finished:
            return fields
        return _Fields(
            np.append(fields.ends, len(block)), np.append(fields.newline, True), np.append(fields.crlf, False)
        )

    def _outside_quotes(
        self,
        block: bytes,
        kinds: NDArray[np.uint8],
        places: NDArray[np.int64],
        place_kinds: NDArray[np.uint8],
        *,
        last: bool,
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Check every quotation mark and drop what stands between two of them."""
        is_quote = place_kinds == _QUOTE
        marks = places[is_quote]
        opening, closing = marks[::2], marks[1::2]
        # What precedes an opening mark, or follows a closing one, is another mark, a delimiter or a line end.
        stray = np.append(
            opening[(opening > 0) & (kinds[opening - 1] == 0)],
            closing[(closing < len(block) - 1) & (kinds[np.minimum(closing + 1, len(block) - 1)] == 0)],
        )
        if len(stray):
            line = self._line_at(block, int(stray.min()))
            hint = "Hint: write it twice inside a quoted field, or pass quote=None."
            refuse(self.name, f"line {line:,} has a quotation mark inside a field. {hint}")
        if last and len(marks) % 2:
            line = self._line_at(block, int(opening[-1]))
            refuse(self.name, f"the quoted field that starts on line {line:,} never ends.")
        inside = np.cumsum(is_quote) % 2 == 1
        structural = ~is_quote & ~inside
        return places[structural], place_kinds[structural]

    def _check_lengths(self, block: bytes, fields: _Fields, starts: NDArray[np.int64], *, upto: int) -> None:
        lengths = fields.ends[:upto] - starts[:upto]
        longest = int(np.argmax(lengths))
        if lengths[longest] > self.limits.field_bytes:
            self._too_long(block, int(starts[longest]), "field", self.limits.field_bytes)
        line_ends = fields.ends[:upto][fields.newline[:upto]]
        row_starts = np.append(0, line_ends[:-1] + 1)
        longest = int(np.argmax(line_ends - row_starts))
        if line_ends[longest] - row_starts[longest] > self.limits.row_bytes:
            self._too_long(block, int(row_starts[longest]), "row", self.limits.row_bytes)

    def _check_unfinished(self, block: bytes, fields: _Fields) -> None:
        """Refuse a field or row that has no end yet and is too long already, before more is read."""
        start = int(fields.ends[-1]) + 1 if len(fields.ends) else 0
        if len(block) - start > self.limits.field_bytes:
            self._too_long(block, start, "field", self.limits.field_bytes)
        line_ends = fields.ends[fields.newline]
        start = int(line_ends[-1]) + 1 if len(line_ends) else 0
        if len(block) - start > self.limits.row_bytes:
            self._too_long(block, start, "row", self.limits.row_bytes)

    def _too_long(self, block: bytes, start: int, what: str, most: int) -> None:
        line = self._line_at(block, start)
        why = f"a {what} on line {line:,} is longer than {most:,} bytes."
        over_limit(self.name, why, limit=f"{what}_bytes")

    def _line_at(self, block: bytes, place: int) -> int:
        return self.line + count_lines(block[:place])


def _lines(
    fields: _Fields,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the start of every field, and of every line its last field, its width, and if it is blank."""
    starts = np.append(0, fields.ends[:-1] + 1)
    line_ends = np.flatnonzero(fields.newline)
    widths = np.diff(line_ends, prepend=-1)
    empty = fields.ends[line_ends] - starts[line_ends] - fields.crlf[line_ends] == 0
    return starts, line_ends, widths, (widths == 1) & empty


def _without_returns(
    places: NDArray[np.int64], place_kinds: NDArray[np.uint8], size: int, *, last: bool
) -> _Fields:
    """Take CR LF for one line end; a CR at the very end of a block waits for what follows it."""
    returns = place_kinds == _RETURN
    if not returns.any():
        return _Fields(places, place_kinds == _LINE_FEED, np.zeros(len(places), np.bool_))
    paired = np.zeros(len(places), np.bool_)
    paired[:-1] = returns[:-1] & (place_kinds[1:] == _LINE_FEED) & (np.diff(places) == 1)
    crlf = np.append(False, paired[:-1])
    waits = returns & (places == size - 1) & (not last)
    keep = ~paired & ~waits
    return _Fields(places[keep], (place_kinds != _DELIMITER)[keep], crlf[keep])


def count_lines(text: bytes) -> int:
    """Return how many lines end in a text, each with LF, CR LF or CR."""
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
