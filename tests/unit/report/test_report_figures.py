"""The numbers of every figure are beside the page, under harmless names and harmless to a spreadsheet."""

import csv
import math
from fractions import Fraction

import pytest

from evenhand.errors import UnwritableFileError
from evenhand.report import Page, Section, Table
from evenhand.report.html import file_names, write


def page_of(*tables):
    return Page(question="q", answers=("a",), sections=(Section("s", tables=tables),))


def table(name, **data):
    return Table(["a"], [["1"]], [True], name=name, data=data or {"a": [1]})


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_page_is_written_with_its_figures(sample, tmp_path):
    target = tmp_path / "my report.html"
    write(sample, target)

    folder = tmp_path / "my report-figures"
    assert sorted(path.name for path in folder.iterdir()) == [
        "all-settings.csv",
        "frontier.csv",
        "measures.csv",
        "protocols.csv",
        "where.csv",
        "who-moved.csv",
    ]
    assert 'href="my%20report-figures/frontier.csv"' in target.read_text(encoding="utf-8")
    assert len(rows_of(folder / "frontier.csv")) == 1 + 144 + 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my report-figures", "my report.html"]


def test_writing_again_gives_the_same_bytes(tmp_path):
    page = page_of(table("t", a=[1, 2], b=["x", None]))
    write(page, tmp_path / "a.html")
    first = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    write(page, tmp_path / "a.html")

    assert first == {path.name: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/passwd", "etc-passwd.csv"),
        ("C:\\x", "c-x.csv"),
        ("con", "figure-1.csv"),
        ("..", "figure-1.csv"),
        ("nul.txt", "nul-txt.csv"),
        ("ＦＵＬＬ", "figure-1.csv"),
        ("a%2fb", "a-2fb.csv"),
        ("x" * 300, f"{'x' * 60}.csv"),
        ("\x00a\n", "a.csv"),
        ('"><script>', "script.csv"),
    ],
)
def test_names_of_charts_never_become_paths(name, expected):
    assert file_names(page_of(table(name))) == {0: expected}


def test_no_two_files_have_one_name():
    assert file_names(page_of(table("a"), table("A "), table("a-2"), table("a"))) == {
        0: "a.csv",
        1: "a-2.csv",
        2: "a-2-2.csv",
        3: "a-3.csv",
    }


def test_tables_without_a_name_or_numbers_have_no_file(tmp_path):
    write(
        page_of(Table(["a"], [["1"]], [True]), Table(["a"], [["1"]], [True], name="n")), tmp_path / "a.html"
    )

    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_text_in_files_is_inert_and_numbers_are_numbers(tmp_path):
    """A group called =cmd|... must not run when the table is opened."""
    page = page_of(
        table(
            "t",
            text=["=1+1", "@x", None],
            number=[-1.5, math.nan, None],
            whole=[1, 2, None],
            truth=[True, None, False],
            exact=[Fraction(1, 4), 1, None],
            mixed=["-a", 1, 2.5],
        )
    )
    write(page, tmp_path / "a.html")
    rows = rows_of(tmp_path / "a-figures" / "t.csv")

    assert rows[0] == ["text", "number", "whole", "truth", "exact", "mixed"]
    assert rows[1] == ["'=1+1", "-1.5", "1", "true", "0.25", "'-a"]
    assert rows[2] == ["'@x", "", "2", "", "1", "1"]
    assert rows[3] == ["", "", "", "false", "", "2.5"]


def test_a_folder_that_cannot_be_made_is_said_without_its_path(tmp_path):
    with pytest.raises(UnwritableFileError, match=r"^a-figures was not made") as caught:
        write(page_of(table("t")), tmp_path / "nowhere" / "a.html")

    assert str(tmp_path) not in str(caught.value)
