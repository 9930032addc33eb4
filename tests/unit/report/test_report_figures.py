"""The numbers of every figure travel inside the page, under harmless names and harmless to a spreadsheet."""

import csv
import gzip
import io
import math
from fractions import Fraction
from urllib.request import urlopen

import pytest

from evenhand.errors import UnwritableFileError
from evenhand.report import Page, Section, Table
from evenhand.report.html import file_names, render, write
from unit.report._parsing import Parsed

pytestmark = pytest.mark.figures


def page_of(*tables):
    return Page(question="q", answers=("a",), sections=(Section("s", tables=tables),))


def table(name, **data):
    return Table(["a"], [["1"]], [True], name=name, data=data or {"a": [1]})


def files_of(html):
    """Save every data link as a browser does: its bytes by the name that the link gives the file."""
    links = [link for link in Parsed(html).all("a") if "download" in link]
    assert all(link["href"].startswith("data:") for link in links)
    return {link["download"]: urlopen(link["href"]).read() for link in links}


def rows_of(content):
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_a_page_is_one_file_that_holds_its_numbers(sample, tmp_path):
    """A report that is mailed or moved keeps its numbers."""
    target = tmp_path / "my report.html"
    write(sample, target)
    files = files_of(target.read_text(encoding="utf-8"))

    assert sorted(files) == [
        "all-settings.csv",
        "frontier.csv",
        "measures.csv",
        "where.csv",
    ]
    assert len(rows_of(files["frontier.csv"])) == 1 + 144 + 1
    assert [path.name for path in tmp_path.iterdir()] == ["my report.html"]


def test_many_rows_are_compressed():
    values = [(place * 7919) % 1_000_003 for place in range(80_000)]
    html = render(page_of(table("t", a=values)))
    files = files_of(html)

    assert list(files) == ["t.csv.gz"]
    assert rows_of(gzip.decompress(files["t.csv.gz"])) == [["a"], *([str(value)] for value in values)]
    assert "The numbers as CSV, compressed with gzip" in html


def test_what_a_browser_cannot_save_is_cut_and_said():
    """Chromium saves nothing from a link of more than two million letters, and does not say why."""
    values = [math.sin(place) for place in range(300_000)]
    html = render(page_of(table("t", a=values)))
    links = [link["href"] for link in Parsed(html).all("a") if "download" in link]
    rows = rows_of(gzip.decompress(files_of(html)["t.csv.gz"]))[1:]

    assert len(links[0]) < 2 * 1024**2
    assert f"The first {len(rows):,} of 300,000 rows as CSV" in html
    assert [float(row[0]) for row in rows] == values[: len(rows)]
    assert len(rows) > 50_000


def test_writing_again_gives_the_same_bytes(tmp_path):
    page = page_of(table("t", a=[1, 2], b=["x", None]))
    write(page, tmp_path / "a.html")
    first = (tmp_path / "a.html").read_bytes()
    write(page, tmp_path / "a.html")

    assert (tmp_path / "a.html").read_bytes() == first


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


def test_tables_without_a_name_or_numbers_have_no_link():
    bare = page_of(Table(["a"], [["1"]], [True]), Table(["a"], [["1"]], [True], name="n"))

    assert files_of(render(bare)) == {}


def test_text_in_files_is_inert_and_numbers_are_numbers():
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
    rows = rows_of(files_of(render(page))["t.csv"])

    assert rows[0] == ["text", "number", "whole", "truth", "exact", "mixed"]
    assert rows[1] == ["'=1+1", "-1.5", "1", "true", "0.25", "'-a"]
    assert rows[2] == ["'@x", "", "2", "", "1", "1"]
    assert rows[3] == ["", "", "", "false", "", "2.5"]


def test_a_page_that_cannot_be_written_is_said_without_its_path(tmp_path):
    with pytest.raises(UnwritableFileError, match=r"^a.html was not") as caught:
        write(page_of(table("t")), tmp_path / "nowhere" / "a.html")

    assert str(tmp_path) not in str(caught.value)
