"""The sheet of an Excel workbook as the plain CSV text that a spreadsheet would save.

So limits, types and missing cells are those of a CSV file. Numbers without decimals are written as whole
numbers, dates as ISO dates. Cells with formulas are refused: the values that a workbook keeps of them may be
old or absent.

openpyxl reads the cells. It tells formulas from values, goes row by row, and fails with ordinary errors;
python-calamine is faster, but holds the sheet as a full rectangle and does not tell formulas apart.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import warnings
from typing import IO, TYPE_CHECKING, Any

from evenhand.errors import EvenhandError, MissingExtraError
from evenhand.table.excel.scan import check_parts
from evenhand.table.source import BLOCK_BYTES, over_limit, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.table.limits import Limits

_EXACT = 1 << 53
_WIDE_HINT = "Hint: give every column of the sheet a name in its first row, and write nothing beside them."


def sheet_blocks(file: IO[bytes], name: str, limits: Limits, sheet: str | None) -> Iterator[bytes]:
    """Yield a sheet as blocks of CSV text in UTF-8.

    Parameters
    ----------
    file : binary file
    name : str
        Of the file, for messages.
    limits : Limits
    sheet : str or None
        The name of the sheet or its place; None for the only one that has cells.
    """
    try:
        from openpyxl import load_workbook  # noqa: PLC0415 - of an extra
    except ImportError:
        raise MissingExtraError("openpyxl", feature="Reading an Excel file", extra="excel") from None
    check_parts(file, name, limits)
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts that hold no cells, such as charts
            book = load_workbook(file, read_only=True, keep_links=False)
            total = 0
            for block in _write_blocks(_rows(_chosen(book.worksheets, name, sheet), name)):
                total += len(block)  # one text may stand in many cells
                if total > limits.bytes:
                    over_limit(name, f"its sheet holds more than {limits.bytes:,} bytes.", limit="bytes")
                yield block
    except EvenhandError:
        raise
    except Exception:  # noqa: BLE001 - a damaged workbook fails in any way, and the message may hold a cell
        refuse(name, "it is damaged, or no Excel file. Hint: save it again, or as CSV.")


def _chosen(sheets: list[Any], name: str, wanted: str | None) -> Any:
    """Return the sheet that is wanted; names of sheets stand in no message, for they may be private."""
    for sheet in sheets:
        sheet.reset_dimensions()  # what a file says of them may be wrong
    if wanted is not None:
        by_name = {sheet.title: sheet for sheet in sheets}
        by_place = {str(place): sheet for place, sheet in enumerate(sheets, start=1)}
        if wanted not in by_name | by_place:
            hint = f"Hint: give a name, or a place from 1 to {len(sheets)} (--sheet)."
            refuse(name, f"none of its {len(sheets)} sheets is called '{wanted}'. {hint}")
        return by_name.get(wanted) or by_place[wanted]
    filled = [sheet for sheet in sheets if any(_is_filled(row) for row in sheet.iter_rows())]
    if len(filled) > 1:
        hint = "Hint: say which by its name, or by its place such as 1 (--sheet)."
        refuse(name, f"it has {len(filled)} sheets with cells. {hint}")
    if not filled:
        refuse(name, "it is empty, where a row of column names should be.")
    return filled[0]


def _is_filled(row: tuple[Any, ...]) -> bool:
    return any(cell.value is not None for cell in row)


def _rows(sheet: Any, name: str) -> Iterator[list[str]]:
    """Yield the cells of each row as text, as many as the header has unless there are more."""
    width = blank = 0
    for place, row in enumerate(sheet.iter_rows(), start=1):
        if any(cell.data_type == "f" for cell in row):
            hint = "Hint: copy the sheet and paste it as values, or save it as CSV."
            refuse(name, f"row {place:,} has a formula. {hint}")
        cells = [_as_text(cell.value) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            blank += 1
            continue
        width = width or len(cells)
        if len(cells) > width:
            more = f"row {place:,} has {len(cells):,} fields and the header has {width:,}."
            refuse(name, f"{more} {_WIDE_HINT}")
        yield from ([] for _ in range(blank))  # those at the end are not part of the table
        yield cells + [""] * (width - len(cells))
        blank = 0


def _as_text(value: Any) -> str:
    """Return a cell as a spreadsheet writes it in a CSV file, with dates in ISO form.

    >>> [_as_text(cell) for cell in (None, 2.0, 2.5, True, dt.datetime(2024, 1, 2))]
    ['', '2', '2.5', 'TRUE', '2024-01-02']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        value = value.date()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def _write_blocks(rows: Iterator[list[str]]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        if text.tell() >= BLOCK_BYTES:
            yield text.getvalue().encode("utf-8")
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode("utf-8")
