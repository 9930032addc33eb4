"""A workbook that is small and asks for much is refused before it is parsed, with what to do."""

import io
import subprocess
import sys
import zipfile

import pytest

from evenhand.errors import LimitExceededError, UnreadableFileError
from evenhand.table import Limits, read_csv
from evenhand.table.excel import read as excel_read

pytest.importorskip("openpyxl")

PLACE = "http://schemas.openxmlformats.org"
MAIN = f'xmlns="{PLACE}/spreadsheetml/2006/main"'
RELATIONS = f"{PLACE}/officeDocument/2006/relationships"
PACKAGE = f'xmlns="{PLACE}/package/2006/relationships"'
HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>S3CRET</t></is></c></row>'
ONE = '<row r="2"><c r="A2"><v>1</v></c></row>'


def relation(number, kind, target):
    return f'<Relationship Id="rId{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'


def workbook(*sheets, texts=""):
    """Return a workbook whose sheets have these rows, and that shares these texts."""
    places = range(1, len(sheets) + 1)
    kinds = {"/xl/workbook.xml": "sheet.main", "/xl/strings.xml": "sharedStrings"}
    kinds |= {f"/xl/sheet{place}.xml": "worksheet" for place in places}
    form = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = "".join(
        f'<Override PartName="{part}" ContentType="{form}.{kind}+xml"/>' for part, kind in kinds.items()
    )
    relations = "".join(relation(place, "worksheet", f"sheet{place}.xml") for place in places)
    listed = "".join(f'<sheet name="s{place}" sheetId="{place}" r:id="rId{place}"/>' for place in places)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PLACE}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{overrides}</Types>",
        "_rels/.rels": f"<Relationships {PACKAGE}>{relation(1, 'officeDocument', 'xl/workbook.xml')}"
        "</Relationships>",
        "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships {PACKAGE}>{relations}"
        f"{relation(0, 'sharedStrings', 'strings.xml')}</Relationships>",
        "xl/strings.xml": f"<sst {MAIN}>{texts}</sst>",
    }
    for place, rows in zip(places, sheets, strict=True):
        parts[f"xl/sheet{place}.xml"] = f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def test_the_workbook_of_these_tests_is_one():
    """A file that is refused for another reason would prove nothing."""
    shared = '<row r="3"><c r="A3" t="s"><v>0</v></c></row>'
    table = read_csv(io.BytesIO(workbook(HEADER + ONE + shared, "", texts="<si><t>x</t></si>")))

    assert table.to_pydict() == {"S3CRET": ["1", "x"]}


BOMBS = {
    "empty cells": ([HEADER + ("<row>" + "<c/>" * 100 + "</row>") * 20], "", "cells"),
    "empty cells of few rows": ([HEADER + ("<row>" + "<c/>" * 100 + "</row>") * 200], "", "cells"),
    "blank rows": ([HEADER + ONE + "<row/>" * 1_100], "", "cells"),
    "cells of many sheets": ([HEADER + "<row><c/><c/></row>" * 100] * 4, "", "cells"),
    "rows left out": ([HEADER + '<row r="1000000"/>'], "", "cells"),
    "rows left out of many sheets": (['<row r="200"/>'] * 6, "", "cells"),
    "cells left out": ([HEADER + '<row><c r="CV1"/></row>' * 11], "", "cells"),
    "cells left out, and back": ([HEADER + '<row><c r="CV1"/><c r="A1"/></row>' * 11], "", "cells"),
    "a row beyond the columns": ([HEADER + '<row><c r="XFD1"/></row>'], "", "columns"),
    "a row of too many cells": ([HEADER + "<row>" + "<c/>" * 201 + "</row>"], "", "columns"),
    "shared texts": ([HEADER], "<si><t>x</t></si>" * 501, "cells"),
    "parts of a shared text": ([HEADER], ("<si>" + "<r><t>x</t></r>" * 100 + "</si>") * 6, "cells"),
    "parts of a text": (
        [HEADER + ('<row><c t="inlineStr"><is>' + "<r/>" * 500 + "</is></c></row>") * 3],
        "",
        "cells",
    ),
    "wide letters": ([HEADER], f"<si><t>\U0001f600{'x' * 9_000}</t></si>" * 6, "bytes"),
    "one text in many cells": (
        [HEADER + '<row><c t="s"><v>0</v></c></row>' * 60],
        f"<si><t>{'x' * 9_000}</t></si>",
        "bytes",
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_with_what_to_do(bomb, monkeypatch):
    """If false, a file of a few kilobytes keeps a machine busy for hours."""
    sheets, texts, limit = BOMBS[bomb]
    if bomb != "one text in many cells":  # which no scan can see
        monkeypatch.setattr(excel_read, "_chosen", lambda *_: pytest.fail("the workbook was parsed"))
    limits = Limits(cells=1_000, columns=200, bytes=400_000)
    with pytest.raises(LimitExceededError) as caught:
        read_csv(io.BytesIO(workbook(*sheets, texts=texts)), limits=limits)

    assert caught.value.limit == limit
    assert f"Limits({limit}=...)" in str(caught.value)
    assert "S3CRET" not in str(caught.value)
    if limit == "cells":
        assert "save the sheet as CSV" in str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [
        '<row><row><c r="XFD1"/></row></row>',
        '<si><row><c r="XFD1"/></row></si>',
        '<row r="inf"/>',
        '<row r="nan"/>',
        '<row><c r="XFD1_0"/></row>',
        '<row><c r="7"/></row>',
    ],
)
def test_a_place_that_the_scan_cannot_count_is_refused(rows):
    """A parser may take for a place what a scan does not; then the count would be too low."""
    with pytest.raises(UnreadableFileError, match=r"has no place\. Hint: save it again, or as CSV"):
        read_csv(io.BytesIO(workbook(HEADER + rows)))


@pytest.mark.parametrize("place", ["1e6", " 1000000 ", "1_000_000"])
def test_a_row_number_is_read_as_the_parser_reads_it(place):
    with pytest.raises(LimitExceededError, match="more than 1,000 cells"):
        read_csv(io.BytesIO(workbook(f'{HEADER}<row r="{place}"/>')), limits=Limits(cells=1_000))


def test_a_cell_beyond_the_header_is_refused_at_its_row():
    """The rows after it are not gone through: none of them is even a row."""
    wide = '<row r="2"><c r="A2"><v>1</v></c><c r="C2"><v>5</v></c></row>'
    with pytest.raises(UnreadableFileError, match=r"row 2 has 3 fields and the header has 1\. Hint: give"):
        read_csv(io.BytesIO(workbook(HEADER + wide + '<row><c t="s"><v>9</v></c></row>')))


def test_blank_rows_at_the_end_are_skipped():
    blank = "".join(f'<row r="{place}"><c r="A{place}" s="0"/></row>' for place in range(3, 400))

    assert read_csv(io.BytesIO(workbook(HEADER + ONE + blank))).num_rows == 1


_MEASURE = """
import io, resource, sys
import openpyxl
from evenhand.errors import LimitExceededError
from evenhand.table import read_csv
data = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF)
try:
    print(read_csv(io.BytesIO(data)).num_rows)
except LimitExceededError as error:
    print(error.limit)
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
print((after.ru_maxrss - before.ru_maxrss) / 1024)
"""

REAL = {  # rows, texts, what is printed, seconds and MB: several times what was measured
    "30 million empty cells": (HEADER + ("<row>" + "<c/>" * 3_000 + "</row>") * 10_000, "", "cells", 10, 50),
    "19 million empty cells": (HEADER + ("<row>" + "<c/>" * 1_900 + "</row>") * 10_000, "", "cells", 30, 50),
    "a million blank rows": (HEADER + ONE + "<row><c/></row>" * 1_000_000, "", "1", 60, 250),
    "deep texts": (HEADER, ("<si>" + "<r><t>x</t></r>" * 5_000 + "</si>") * 1_000, "cells", 30, 50),
    "many texts": (HEADER + ONE, "<si><t>x</t></si>" * 1_700_000, "1", 90, 350),
}


@pytest.mark.parametrize(
    "bomb",
    [
        pytest.param(bomb, marks=pytest.mark.slow if at else pytest.mark.figures)
        for at, bomb in enumerate(REAL)
    ],
)
def test_a_real_bomb_takes_bounded_time_and_memory(bomb):
    rows, texts, result, seconds, megabytes = REAL[bomb]
    data = workbook(rows, texts=texts)
    command = [sys.executable, "-c", _MEASURE]
    done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=300)
    said, taken, held = done.stdout.decode().split()

    assert len(data) < 1_000_000
    assert said == result
    assert float(taken) < seconds
    assert float(held) < megabytes
