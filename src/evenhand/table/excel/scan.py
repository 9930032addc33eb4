"""Check the parts of a workbook before they are parsed.

A workbook is a zip file of XML. The parser that reads it holds the elements of a row, and those outside rows,
as objects many times as large as their text, takes some microseconds for each, and fills up the cells that a
row leaves out. So a small file may take all the memory, or hours. Each part is gone through beforehand, with
no element kept: first its tags are counted, which takes a moment, then the cells that its rows ask for. A
part is refused where these are too many, where it is nested too deeply, or where it declares entities.
"""

from __future__ import annotations

import zipfile
import zlib
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat

from evenhand.errors import EvenhandError
from evenhand.table.source import BLOCK_BYTES, over_limit, refuse

if TYPE_CHECKING:
    from evenhand.table.limits import Limits

_MOST_PARTS = 10_000
_MOST_ELEMENTS = 300_000
_DEEPEST = 100
_OF_A_CELL = 4
_BYTES_OF_A_ROW = 100
_BYTES_OF_A_TEXT = 57  # in Python, beside its characters, which take 1, 2 or 4 bytes each, as the widest does
_PASSING = ("row", "si")  # the parser drops what is in them when they end
_DEPTH_OF_TEXT = 3  # in a row: a cell, what it holds, and the parts of its text
_LAST_ROW = 1 << 20
_CSV = "save the sheet as CSV, or "
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)


def check_parts(file: IO[bytes], name: str, limits: Limits) -> None:
    """Refuse a workbook whose parts are too large, too many or not what they should be."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS:
                why = f"as a zipped file it has more than {_MOST_PARTS:,} parts."
                refuse(name, f"{why} Hint: save it as CSV.")
            if sum(part.file_size for part in parts) > limits.bytes:
                why = f"unpacked it holds more than {limits.bytes:,} bytes."
                over_limit(name, why, limit="bytes", instead=_CSV)
            written = []
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    written.append(part)
                elif _is_xml(archive, part):
                    refuse(name, "it is damaged: a part that is XML has no name that says so.")
            counter = _Counter(name, limits)
            _count_tags(archive, written, counter)
            for part in written:
                with archive.open(part) as stream:
                    _check_part(stream, counter)
    except EvenhandError:
        raise
    except _BAD_ZIP:
        refuse(name, "it is damaged, or no Excel file. Hint: save it as CSV.")


def _is_xml(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    with archive.open(part) as stream:
        start = stream.read(256).lstrip(b"\xef\xbb\xbf\xff\xfe\0 \r\n\t")
    return start.startswith(b"<")


def _count_tags(archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo], counter: _Counter) -> None:
    """Refuse parts that open more elements than the cells of the limit have, before any is parsed."""
    most, tags = _OF_A_CELL * counter.most + _MOST_ELEMENTS, 0
    for part in parts:
        with archive.open(part) as stream:
            while block := stream.read(BLOCK_BYTES):
                tags += block.count(b"<") - block.count(b"</")
                if tags > most:
                    counter.refuse_cells()


def _check_part(stream: Any, counter: _Counter) -> None:
    counter.start_part()
    parser = expat.ParserCreate()
    parser.StartElementHandler = counter.start
    parser.EndElementHandler = counter.end
    parser.CharacterDataHandler = counter.take_text
    parser.StartDoctypeDeclHandler = counter.refuse_entities
    try:
        while block := stream.read(BLOCK_BYTES):
            parser.Parse(block, False)  # noqa: FBT003 - expat takes it by position
        parser.Parse(b"", True)  # noqa: FBT003 - as above
    except expat.ExpatError:
        refuse(counter.name, "it is damaged: a part of it is not XML. Hint: save it again, or as CSV.")


@lru_cache(maxsize=1 << 15)
def _place_of(column: str) -> int:
    """Return the place of a column that is called by letters; 0 if it is not.

    >>> _place_of("A"), _place_of("AB"), _place_of("?")
    (1, 28, 0)
    """
    place = 0
    for letter in column.upper():
        if not "A" <= letter <= "Z":
            return 0
        place = 26 * place + ord(letter) - ord("A") + 1
    return place


class _Counter:
    """Counts what a parser would hold at a time, and the cells that it would go through in all."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name, self.most, self.most_columns = name, limits.cells, limits.columns
        self.most_in_row = _OF_A_CELL * limits.columns + 16
        self.most_rows = limits.bytes // _BYTES_OF_A_ROW + 16
        self.most_text = limits.row_bytes
        self.most_shared = limits.bytes // 2
        self.cells = self.texts = self.shared = 0
        self.start_part()

    def start_part(self) -> None:
        """Forget all but the cells and texts of earlier parts."""
        self.kept = self.rows = self.passing = self.text = self.depth = self.inside = 0
        self.row = self.column = 0
        self.widest = 1
        self.in_row = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            refuse(self.name, "it is damaged: its XML is nested too deeply. Hint: save it as CSV.")
        if not self.inside:
            self.text = 0
        if attributes:
            self.take_text("".join(attributes.values()))
        bare = tag.rpartition(":")[2]
        if self.inside:
            if bare == "row":
                self._refuse_damaged()
            self._take_inside(attributes)
        elif bare in _PASSING:
            self.inside, self.passing, self.in_row, self.rows = self.depth, 0, bare == "row", self.rows + 1
            if self.rows > self.most_rows:
                over_limit(self.name, "it has too many rows or texts.", limit="bytes", instead=_CSV)
            if self.in_row:
                self._start_row(attributes.get("r", ""))
            else:
                self._take_texts()
        else:
            self.kept += 1
            self._take_texts()
            if self.kept > _MOST_ELEMENTS:
                why = f"a part of it has more than {_MOST_ELEMENTS:,} elements besides cells."
                refuse(self.name, f"{why} Hint: save the sheet as CSV.")

    def _take_inside(self, attributes: dict[str, str]) -> None:
        self.passing += 1
        if self.passing > self.most_in_row:
            why = "a row of it has too many cells, or a cell of it too many parts."
            over_limit(self.name, why, limit="columns", instead=_CSV)
        level = self.depth - self.inside
        if not self.in_row or level >= _DEPTH_OF_TEXT:
            self._take_texts()
        elif level == 1:
            self._take_cell(attributes.get("r", ""))

    def _start_row(self, place: str) -> None:
        """Count a row as a cell, with the rows that are left out before it."""
        try:
            row = int(float(place)) if place else self.row + 1
        except (ValueError, OverflowError):
            self._refuse_damaged()
        if max(row, self.rows) > _LAST_ROW:
            why = f"a sheet of it has more than {_LAST_ROW:,} rows, as no Excel file can."
            refuse(self.name, f"{why} Hint: save it as CSV.")
        self.cells += max(1, row - self.row)
        self.row, self.column = max(row, self.row), 0
        if self.cells > self.most:
            self.refuse_cells()

    def _take_cell(self, place: str) -> None:
        """Count a cell with those that are left out before it."""
        column = _place_of(place.rstrip("0123456789")) if place else self.column + 1
        if not column:
            self._refuse_damaged()
        if column > self.most_columns:
            why = f"a row of it has too many cells: more than {self.most_columns:,}."
            over_limit(self.name, why, limit="columns", instead=_CSV)
        self.cells += max(1, column - self.column)
        self.column = column
        if self.cells > self.most:
            self.refuse_cells()

    def _take_texts(self) -> None:
        self.texts += 1
        if self.texts > self.most:
            why = f"its texts have more than {self.most:,} parts."
            over_limit(self.name, why, limit="cells", instead=_CSV)

    def _refuse_damaged(self) -> NoReturn:
        refuse(self.name, "it is damaged: a row or a cell has no place. Hint: save it again, or as CSV.")

    def refuse_cells(self) -> NoReturn:
        why = f"it has more than {self.most:,} cells, with empty ones."
        over_limit(self.name, why, limit="cells", instead="delete the empty rows and columns, " + _CSV)

    def take_text(self, text: str) -> None:
        self.text += len(text)
        if self.text > self.most_text:
            why = f"a row has more than {self.most_text:,} bytes."
            over_limit(self.name, why, limit="row_bytes", instead=_CSV)
        if not text.isascii():
            self.widest = max(self.widest, 2 if max(text) <= "\uffff" else 4)

    def end(self, tag: str) -> None:  # noqa: ARG002 - expat hands it on
        if self.depth == self.inside:
            self.inside = 0
            if not self.in_row:
                self._end_shared_text()
        self.depth -= 1

    def _end_shared_text(self) -> None:
        """Count the memory of a text that is kept for the cells that share it."""
        self.shared += _BYTES_OF_A_TEXT + self.widest * self.text
        self.widest = 1
        if self.shared > self.most_shared:
            why = f"the texts that its cells share take more than {self.most_shared:,} bytes."
            over_limit(self.name, why, limit="bytes", instead=_CSV)

    def refuse_entities(self, *_: object) -> None:
        refuse(self.name, "it declares entities, as no spreadsheet does. Hint: save it as CSV.")
