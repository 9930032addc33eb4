"""A sheet is read as the CSV file that a spreadsheet would save; what has no one meaning is refused."""

import datetime as dt
import io
import sys
import zipfile

import pytest

from evenhand.errors import LimitExceededError, MissingExtraError, UnreadableFileError
from evenhand.table import FileFormat, Limits, read, read_csv
from evenhand.table.excel import scan
from evenhand.table.read import file_columns, read_batches

openpyxl = pytest.importorskip("openpyxl")


def book(tmp_path, **sheets):
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path = tmp_path / "book.xlsx"
    made.save(path)
    return path


def refusal(path, **settings):
    with pytest.raises(UnreadableFileError) as caught:
        read(path, **settings)
    assert "S3CRET" not in str(caught.value)
    return str(caught.value)


ROWS = [
    ["name", "age", "wage", "born", "here"],
    ["Zoë", 41.0, 1.5, dt.date(1980, 1, 2), True],
    [None, None, None, None, None],
    ["a,b", None, 2, dt.datetime(1981, 2, 3), False],  # noqa: DTZ001 - a spreadsheet has no time zones
    [None, None, None, None, None],
]


def test_a_sheet_has_the_types_of_its_csv_twin(tmp_path):
    csv = 'name,age,wage,born,here\nZoë,41,1.5,1980-01-02,TRUE\n\n"a,b",,2,1981-02-03,FALSE\n'

    assert read(book(tmp_path, one=ROWS)).equals(read_csv(io.BytesIO(csv.encode())))


def test_names_and_batches_of_a_sheet(tmp_path):
    path = book(tmp_path, one=ROWS)

    assert file_columns(path) == ("name", "age", "wage", "born", "here")
    assert [len(batch) for batch in read_batches(path, batch_rows=1)] == [1, 1]


def test_an_empty_sheet_beside_is_not_asked_about(tmp_path):
    assert read(book(tmp_path, one=[], two=[["a"], [1]], three=[])).to_pydict() == {"a": [1]}


def test_several_sheets_are_chosen_from_by_name_or_place(tmp_path):
    path = book(tmp_path, S3CRET=[["a"], [1]], two=[["b"], [2]])

    assert refusal(path) == (
        "book.xlsx was not read: it has 2 sheets with cells. "
        "Hint: say which by its name, or by its place such as 1 (--sheet)."
    )
    assert "none of its 2 sheets is called 'three'" in refusal(path, file_format=FileFormat(sheet="three"))
    assert read(path, file_format=FileFormat(sheet="two")).to_pydict() == {"b": [2]}
    assert read(path, file_format=FileFormat(sheet="1")).to_pydict() == {"a": [1]}


def test_a_formula_is_refused_with_its_row(tmp_path):
    path = book(tmp_path, one=[["a", "b"], [1, 2], [3, "=A1+S3CRET"]])

    assert refusal(path) == (
        "book.xlsx was not read: row 3 has a formula. "
        "Hint: copy the sheet and paste it as values, or save it as CSV."
    )


def test_a_header_of_another_length_than_the_rows_is_refused(tmp_path):
    said = refusal(book(tmp_path, one=[["S3CRET"], ["a", "b"], [1, 2]]))

    assert "row 2 has 2 fields and the header has 1. Hint: give every column of the sheet a name" in said


@pytest.mark.parametrize("part", [{"delimiter": ";"}, {"encoding": "utf-8"}, {"decimal": ","}])
def test_a_workbook_has_no_separators(tmp_path, part):
    assert "it is an Excel file, which has no delimiter" in refusal(
        book(tmp_path, one=ROWS), file_format=FileFormat(**part)
    )


def test_an_empty_workbook_is_told(tmp_path):
    assert "it is empty" in refusal(book(tmp_path, one=[]))


def test_a_missing_package_is_told_with_the_extra(tmp_path, monkeypatch):
    path = book(tmp_path, one=ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"Reading an Excel file needs .*evenhand\[excel\]"):
        read(path)


def with_part(path, name, text):
    """Return a workbook in which one part has another text."""
    made = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, text if part == name else old.read(part))
    return made.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def sheet(inside, head=""):
    return f"{head}<worksheet {NAMESPACE}><sheetData>{inside}</sheetData></worksheet>"


ENTITY = '<!DOCTYPE x [<!ENTITY a "S3CRET">]>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (sheet('<row r="1"><c r="A1"><v>&a;</v></c></row>', ENTITY), "declares entities"),
        (sheet("<foo/>" * 300_001), "more than 300,000 elements besides cells"),
        (sheet("<a>" * 200 + "</a>" * 200), "nested too deeply"),
        (sheet('<row r="1">'), "a part of it is not XML"),
        (sheet('<row r="2000000"><c r="A2000000"><v>1</v></c></row>'), "more than 1,048,576 rows"),
        (sheet('<row r="x"><c r="!!"><v>a</v></c></row>'), "damaged"),
    ],
)
def test_a_workbook_that_asks_for_too_much_is_refused(tmp_path, text, said):
    path = book(tmp_path, one=ROWS)
    with pytest.raises(UnreadableFileError, match=said) as caught:
        read_csv(io.BytesIO(with_part(path, SHEET, text)))
    assert "S3CRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "limits", "limit"),
    [
        (sheet(f'<row r="1"><c r="A1" t="str"><v>{"x" * 2_000_000}</v></c></row>'), {}, "row_bytes"),
        (sheet("<row>" + "<c/>" * 30_000 + "</row>"), {}, "columns"),
        (sheet("<row/>" * 100_000), {"bytes": 700_000}, "bytes"),
        (sheet("<row/>" * 100_000), {"bytes": 500_000}, "bytes"),
    ],
)
def test_limits_hold_for_what_a_workbook_unpacks_to(tmp_path, text, limits, limit):
    data = with_part(book(tmp_path, one=ROWS), SHEET, text)
    with pytest.raises(LimitExceededError) as caught:
        read_csv(io.BytesIO(data), limits=Limits(**limits))

    assert caught.value.limit == limit


def test_parts_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(scan, "_MOST_PARTS", 3)

    assert "more than 3 parts" in refusal(book(tmp_path, one=ROWS))


def test_a_part_that_hides_that_it_is_xml_is_refused(tmp_path):
    data = with_part(book(tmp_path, one=ROWS), "nothing", "")
    made = io.BytesIO(data)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("xl/worksheets/sheet9.bin", "\n<worksheet/>")
    with pytest.raises(UnreadableFileError, match="a part that is XML"):
        read_csv(io.BytesIO(made.getvalue()))
