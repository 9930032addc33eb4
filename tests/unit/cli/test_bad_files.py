"""A bad file ends with one sentence that says what to do: exit code 2, no file written, no cell shown."""

import pytest

from unit.cli.conftest import people

SECRET = "S3CRET"
AUDIT = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--privileged", "male"]
AUDIT += ["--sensitive", "sex", "--out", "study", "--yes", "--workers", 1]
RELEASE = ["--mechanism", "laplace", "--columns", "sex,hired", "--epsilon", 1, "--infer-schema"]
RELEASE += ["--out", "table.csv"]
SCHEMA = ["--out", "schema.toml"]
MEASURE = ["--outcome", "hired", "--prediction", "hired", "--positive", "yes", "--protected", "sex"]
MEASURE += ["--out", "measure.html"]
COMMANDS = {"audit": AUDIT, "release": RELEASE, "schema": SCHEMA, "measure": MEASURE}
HEADER = ["sex", "age", "hired", "note"]


def rows(number=40):
    return [
        ["male" if row % 2 else "female", 20 + row, "yes" if row % 3 else "no", "x"] for row in range(number)
    ]


def text(delimiter=",", lines=(), number=40):
    table = [HEADER, *rows(number), *lines]
    return "".join(delimiter.join(map(str, row)) + "\n" for row in table)


def late_encoding(folder):
    """UTF-8 as far as anybody looks, and then not."""
    good = text(";", number=40_000).encode()
    (folder / "file.csv").write_bytes(good + f"male;30;yes;{SECRET}".encode() + b"\xe9\n")
    return ["file.csv"]


def late_old_encoding(folder):
    """Text that looks like Windows-1252 at its beginning, with a byte far below that is no letter there."""
    good = text(";", number=40_000).replace("note", "größe").encode("latin-1")
    (folder / "file.csv").write_bytes(good + f"male;30;yes;{SECRET}".encode() + b"\x81\n")
    return ["file.csv"]


def wrong_encoding(folder):
    (folder / "file.csv").write_bytes(text().encode() + f"male,30,yes,{SECRET}".encode() + b"\xe9\n")
    return ["file.csv", "--encoding", "utf-8"]


def mixed_separators(folder):
    (folder / "file.csv").write_text(text(";") + f"male,30,yes,{SECRET}\n")
    return ["file.csv"]


def long_row(folder):
    (folder / "file.csv").write_text(text(lines=[["male", 30, "yes", SECRET, SECRET]]))
    return ["file.csv"]


def short_row(folder):
    (folder / "file.csv").write_text(text(lines=[["male", 30, SECRET]]))
    return ["file.csv"]


def save_book(folder, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for place, table in enumerate(sheets):
        sheet = book.create_sheet(f"{SECRET}{place}")
        for row in table:
            sheet.append(row)
    book.save(folder / "file.xlsx")
    return ["file.xlsx"]


def formula(folder):
    return save_book(folder, [HEADER, *rows(), ["male", f'="{SECRET}"', "yes", "x"]])


def several_sheets(folder):
    return save_book(folder, [HEADER, *rows()], [[SECRET], [1]])


def long_row_of_a_sheet(folder):
    return save_book(folder, [HEADER, *rows(), ["male", 30, "yes", "x", SECRET]])


def label_twice(folder):
    people(folder / "file.csv")
    return ["file.csv", "--label", "sex=male:Men", "--label", "sex=male:Man"]


def same_label(folder):
    people(folder / "file.csv")
    return ["file.csv", "--label", "sex=male:People", "--label", "sex=female:People"]


def weights(last):
    def write(folder):
        lines = "".join(f"{sex},{hired},1.5\n" for sex, _, hired, _ in rows())
        (folder / "file.csv").write_text(f"sex,hired,w\n{lines}male,yes,{last}\n")
        return ["file.csv", "--weight", "w"]

    return write


WEIGHT = {
    "audit": "Column 'w' holds weights, of which one is negative, missing or no number",
    "release": "--weight does not go with release",
    "schema": "Column 'w' holds weights, of which one is negative, missing or no number",
    "measure": "--weight must be a column with a number from 0 to 1e100 in every row. Got one that is",
}
CASES = {
    "late encoding": (late_encoding, "line 40,002 is not UTF-8 text"),
    "late old encoding": (late_old_encoding, "line 40,002 is not Windows-1252 text"),
    "wrong encoding": (wrong_encoding, "is not UTF-8 text"),
    "mixed separators": (mixed_separators, "line 42 has 1 field and the header has 4"),
    "long row": (long_row, "line 42 has 5 fields and the header has 4"),
    "short row": (short_row, "line 42 has 3 fields and the header has 4"),
    "formula": (formula, "row 42 has a formula"),
    "several sheets": (several_sheets, "it has 2 sheets with cells"),
    "long row of a sheet": (long_row_of_a_sheet, "row 42 has 5 fields and the header has 4"),
    "label twice": (label_twice, "--label must be given once for each value"),
    "same label": (same_label, "--label must be another label for each value"),
    "negative weight": (weights("-77.25"), WEIGHT),
    "missing weight": (weights(""), WEIGHT),
    "weight that is no number": (weights(SECRET), WEIGHT),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_ends_with_one_sentence_and_nothing_written(call, tmp_path, command, case):
    """If false, somebody is left with half a study, or with a cell of a person in a log."""
    write, problem = CASES[case]
    typed = write(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = call(command, *typed, *COMMANDS[command])
    said = " ".join(done.output.split())

    assert done.exit_code == 2
    assert (problem if isinstance(problem, str) else problem[command]) in said
    assert said.count("Error ") == said.count("Hint: ") == 1
    assert said.endswith(".")
    assert SECRET not in said
    assert "77.25" not in said
    assert "Traceback" not in said
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("write", [late_encoding, mixed_separators])
def test_what_was_assumed_is_said_although_reading_fails(call, tmp_path, command, write):
    """Whoever sees it knows which option to type."""
    said = " ".join(call(command, *write(tmp_path), *COMMANDS[command]).stderr.split())

    assert said.index("file.csv as semicolon-separated UTF-8; --delimiter") < said.index("was not read")
