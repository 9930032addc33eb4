"""Check the parts of a workbook before they are parsed.

A workbook is a zip file of XML. The parser that reads it holds the elements of a row, and those outside rows,
as objects many times as large as their text, so that a small file may fill the memory. Each part is gone
through once beforehand, with no element kept, and refused where it asks for too many, is nested too deeply,
or declares entities.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any
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
_PASSING = ("row", "si")  # the parser drops what is in them when they end
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)


def check_parts(file: IO[bytes], name: str, limits: Limits) -> None:
    """Refuse a workbook whose parts are too large, too many or not what they should be."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS:
                refuse(name, f"as a zipped file it has more than {_MOST_PARTS:,} parts.")
            if sum(part.file_size for part in parts) > limits.bytes:
                over_limit(name, f"unpacked it holds more than {limits.bytes:,} bytes.", limit="bytes")
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    with archive.open(part) as stream:
                        _check_part(stream, name, limits)
                elif _is_xml(archive, part):
                    refuse(name, "it is damaged: a part that is XML has no name that says so.")
    except EvenhandError:
        raise
    except _BAD_ZIP:
        refuse(name, "it is damaged, or no Excel file. Hint: save it as CSV.")


def _is_xml(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    with archive.open(part) as stream:
        start = stream.read(256).lstrip(b"\xef\xbb\xbf\xff\xfe\0 \r\n\t")
    return start.startswith(b"<")


def _check_part(stream: Any, name: str, limits: Limits) -> None:
    counter = _Counter(name, limits)
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
        refuse(name, "it is damaged: a part of it is not XML. Hint: save it again, or as CSV.")


class _Counter:
    """Counts the elements that a parser would hold at a time."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self.most_in_row = _OF_A_CELL * limits.columns + 16
        self.most_rows = limits.bytes // _BYTES_OF_A_ROW + 16
        self.most_text = limits.row_bytes
        self.kept = self.rows = self.passing = self.text = self.depth = self.inside = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            refuse(self.name, "it is damaged: its XML is nested too deeply.")
        if not self.inside:
            self.text = 0
        self.take_text("".join(attributes.values()))
        if self.inside:
            self.passing += 1
            if self.passing > self.most_in_row:
                refuse(self.name, "a row of it has too many cells, or a cell of it too many parts.")
        elif tag.rpartition(":")[2] in _PASSING:
            self.inside, self.passing, self.rows = self.depth, 0, self.rows + 1
            if self.rows > self.most_rows:
                over_limit(self.name, "it has too many rows or texts.", limit="bytes")
        else:
            self.kept += 1
            if self.kept > _MOST_ELEMENTS:
                refuse(self.name, f"a part of it has more than {_MOST_ELEMENTS:,} elements besides cells.")

    def take_text(self, text: str) -> None:
        self.text += len(text)
        if self.text > self.most_text:
            over_limit(self.name, f"a row has more than {self.most_text:,} bytes.", limit="row_bytes")

    def end(self, tag: str) -> None:  # noqa: ARG002 - expat hands it on
        if self.depth == self.inside:
            self.inside = 0
        self.depth -= 1

    def refuse_entities(self, *_: object) -> None:
        refuse(self.name, "it declares entities, as no spreadsheet does.")
