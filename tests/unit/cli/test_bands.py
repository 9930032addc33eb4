"""--band and a threshold in --positive: from a file with birth dates to the same numbers again."""

import csv
import datetime as dt
from pathlib import Path

import pytest

from evenhand.schema import Domain, Schema
from evenhand.study.plan.plan import Plan

ROLES = ["--target", "pay", "--positive", ">= 50000", "--protected", "sex", "--privileged", "m"]
FAST = ["--workers", 1, "--repeats", 1, "--anyway"]


@pytest.fixture
def born():
    path = Path("born.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["birth", "us", "sex", "pay"])
        for row in range(200):
            day = dt.date(1950, 1, 1) + dt.timedelta(days=97 * row)
            pay = 30_000 + (row * 7919) % 45_000
            lines.writerow([day.strftime("%d.%m.%Y"), day.strftime("%m/%d/%y"), "fm"[row % 2], pay])
    return path


def test_a_band_and_a_threshold_stand_in_the_plan(call, born, fake):
    done = call("audit", born, *ROLES, "--sensitive", "sex,birth", "--band", "birth=10y", *FAST)

    schema = fake[0]["plan"].schema
    assert done.exit_code == 0, done.stderr
    assert schema["birth"].domain == Domain.dates(
        "1950-01-01", "2009-12-31", band="10y", written="dd.mm.yyyy"
    )
    assert schema["birth"].inferred
    assert schema["pay"].domain == Domain.threshold(">= 50000")
    assert "put into bins" not in done.stderr
    assert Plan.from_toml(fake[0]["plan"].to_toml()).schema == schema


def test_a_threshold_reads_as_one_comparison(call, born):
    small = ["--sensitive", "sex", "--protocol", "grr", "--epsilon", 1, "--model", "logistic"]
    done = call("audit", born, *ROLES, *small, *FAST, "--out", "s")

    assert done.exit_code == 0, done.stderr
    assert "target pay >= 50000; protected sex" in " ".join(done.stderr.split())
    page = (Path("s") / "report.html").read_text(encoding="utf-8")
    assert "pay &lt; 50000" in page or "pay &gt;= 50000" in page
    assert not any(wrong in page + done.output for wrong in ("= &lt;", "= &gt;", "pay = <", "pay = >"))


def test_dates_are_left_out_as_dates_with_what_to_type(call, born, fake):
    done = call("audit", born, *ROLES, "--sensitive", "sex", *FAST)

    assert "birth (holds dates; band them: --band birth=10y)" in " ".join(done.stderr.split())
    assert "us (holds dates with years of two digits; write years with four digits)" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--positive", ">= 500000"], "are on one side of '>= 500000'"),
        (["--target", "sex"], "A threshold parts numbers, and column 'sex' holds none"),
        (["--band", "birth"], "--band takes each column once, with its band"),
        (["--band", "birth=10"], "years, quarters or months such as 10y, 1q or 6m"),
        (["--band", "sex=10y"], "holds neither dates nor numbers"),
        (["--band", "age=10"], "Column 'age' is not in the data"),
        (["--protected", "birth"], "it holds dates; band them: --band birth=10y"),
        (
            ["--protected", "birth", "--privileged", "1940-1949", "--band", "birth=10y"],
            "Values of birth: 1950–1959",
        ),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_written(call, born, more, message):
    pairs = zip(ROLES[::2], ROLES[1::2], strict=True)
    roles = [word for option, value in pairs if option not in more for word in (option, value)]
    done = call("audit", born, *roles, "--sensitive", "sex", *FAST, *more)

    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not Path("study").exists()


@pytest.mark.figures
@pytest.mark.parametrize("kind", ["collect", "learn", "release"])
def test_a_plan_with_bands_gives_the_same_numbers_again(call, born, kind):
    roles = {
        "collect": [*ROLES, "--sensitive", "sex,birth", "--epsilon", 1, "--protocol", "grr"],
        "learn": [*ROLES, "--epsilon", 1],
        "release": ["--columns", "birth,sex,pay", *ROLES, "--epsilon", 1, "--mechanism", "laplace"],
    }[kind]
    first = call("audit", kind, born, *roles, "--band", "birth=10y", *FAST, "--out", "one")
    second = call("audit", kind, "--plan", "one/plan.toml", "--workers", 1, "--out", "two")

    assert (first.exit_code, second.exit_code) == (0, 0), first.stderr + second.stderr
    assert Path("one/cells.csv").read_text() == Path("two/cells.csv").read_text()


def test_reports_and_tables_have_bands(call, born):
    banded = ["--infer-schema", "--band", "birth=20y"]
    done = call("privatize", born, "out.csv", "--columns", "birth", "--epsilon", 1, "--only-reports", *banded)
    table = call(
        "release",
        born,
        "--columns",
        "birth,sex",
        "--epsilon",
        1,
        "--mechanism",
        "laplace",
        "--out",
        "t.csv",
        *banded,
    )

    assert (done.exit_code, table.exit_code) == (0, 0), done.stderr + table.stderr
    assert Schema.load("out.csv.schema.toml")["birth"].labels == (
        "1940–1959",
        "1960–1979",
        "1980–1999",
        "2000–2019",
    )
    assert '"1960–1979","f",' in Path("t.csv").read_text()
    refused = call("privatize", born, "x.csv", "--columns", "birth", "--epsilon", 1, "--schema",
                   "out.csv.schema.toml", "--band", "birth=10y")  # fmt: skip
    assert "--band goes with --infer-schema" in refused.stderr
