"""The finished cells that are kept with the pages: of the plans as they are, and computed again the same."""

import csv
import io
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import DataSetNotFoundError
from evenhand.papers import reproduction
from evenhand.papers.packed import load_cells
from evenhand.papers.paper import PAPERS, paper_named
from evenhand.papers.reproduction import RUN_END, RUN_START
from evenhand.papers.tables import write_table
from evenhand.papers.trials import FOLDER, load_records
from evenhand.study.run.attempt import attempt, execute
from evenhand.study.run.prepare import prepare
from evenhand.study.store.canonical import result_text

PAGES = Path(__file__).parents[3] / "docs" / "reproductions"
LARGEST = 500_000
STUDIES = {
    f"{name} {study.name}": (name, study)
    for name in PAPERS
    for study in paper_named(name).studies("full")
    if (PAGES / name / FOLDER / f"{study.name}.parquet").is_file()
}
pytestmark = pytest.mark.figures


def kept(name, study):
    """Return the finished parts of a study."""
    return load_cells(PAGES / name / FOLDER / f"{study.name}.parquet")


def plan_of(study, number):
    """Return the plan of a part of a study, and its rows if they are not those of the plan."""
    plan = study.plan if study.parts is None else study.parts()[number]
    return (plan, None) if study.completed is None else study.completed(plan)


def test_files_are_small_and_none_is_of_something_else():
    """A repository is no place for stores, nor for results that no paper reads."""
    files = [path for path in PAGES.glob(f"*/{FOLDER}/*") if path.is_file()]
    known = {
        PAGES / name / FOLDER / file
        for name in PAPERS
        for paper in (paper_named(name),)
        for file in (
            *(f"{study.name}.parquet" for study in paper.studies("full")),
            *(f"{trials.name}.json.gz" for trials in paper.trials("full")),
        )
    }

    assert files
    assert set(files) <= known
    assert max(path.stat().st_size for path in files) < LARGEST


@pytest.mark.parametrize("name", STUDIES)
def test_kept_cells_are_cells_of_the_full_design(name):
    """A cell of another grid or task would never be shown."""
    paper, study = STUDIES[name]
    wanted = {cell.id for cell in study.plan.cells()}
    for number, part in kept(paper, study).items():
        repeats = {outcome.cell.repeat for outcome in part.outcomes}

        assert part.spec.parts["task"] == study.plan.task.fixed
        assert study.parts is None or repeats == {0}
        assert study.parts is not None or set(part.cells) <= wanted
        assert number < (1 if study.parts is None else study.plan.repeats)


@pytest.mark.parametrize("name", STUDIES)
def test_a_kept_cell_is_computed_again_the_same(name):
    """Whoever runs it anew must get these numbers, to the last digit.

    But for the area under the curve: when these were kept, its products were added up in an order that hung
    on the processor, so that its last two digits are those of one processor.
    """
    paper, study = STUDIES[name]
    number, part = next(iter(kept(paper, study).items()))
    outcome = min(part.outcomes, key=lambda each: each.cell.id)
    try:
        plan, frame = plan_of(study, number)
        prepared = prepare(plan, frame=frame)
    except DataSetNotFoundError:
        pytest.skip("the data are not on this machine")
    again = attempt(outcome.cell, plan=plan, prepared=prepared, execute=execute)

    assert prepared.facts.fingerprint == part.facts.fingerprint
    area, kept_area = (each.measures.get("auc", math.nan) for each in (again, outcome))
    assert area == pytest.approx(kept_area, rel=0, abs=1e-14, nan_ok=True)
    own = {**again.measures, "auc": kept_area} if "auc" in again.measures else again.measures
    assert result_text(replace(again, measures=own)) == result_text(outcome)


def test_kept_records_are_of_the_trials_of_their_paper():
    """The number of a record is that of a trial of the full design."""
    for name in PAPERS:
        for trials in paper_named(name).trials("full"):
            found = load_records(PAGES / name / FOLDER / f"{trials.name}.json.gz", trials.name)

            assert set(found) <= set(range(trials.number))


# --- the pages beside them ------------------------------------------------------------------------


def page_of(name):
    """Return the page of a paper's claims, and the design that it says it shows."""
    page = (PAGES / name / "claims.md").read_text(encoding="utf-8")
    return page, re.search(r"^Design '(\w+)'", page, re.MULTILINE)[1]


def run_of(page):
    """Return what a page says was run, line by line."""
    return page.partition(RUN_START)[2].partition(RUN_END)[0].split("\n")[1:-1]


def claims_of(name):
    """Return the rows of a paper's claims as the pages have them."""
    with (PAGES / name / "claims.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_has_the_statements_as_they_are(name):
    """A statement that was mended and not written again would be judged by words that nobody stands for."""
    wanted = [(each.id, each.text, each.where, each.words, each.rule) for each in paper_named(name).claims]
    columns = ("id", "claim", "where", "words", "rule")

    assert [tuple(row[column] for column in columns) for row in claims_of(name)] == wanted
    assert all(f"`{row['id']}`" in page_of(name)[0] for row in claims_of(name))


@pytest.mark.parametrize(
    ("verdict", "promised"),
    [
        ("not shown", r"could decide|would not decide"),
        ("method unknown", r"does not (say|give)|gives neither|without the file|which are ours"),
    ],
)
@pytest.mark.parametrize("name", PAPERS)
def test_a_reason_has_what_its_verdict_promises(name, verdict, promised):
    """How many repeats could decide, and what the paper does not tell."""
    rows = [row for row in claims_of(name) if row["verdict"] == verdict]

    assert [row["id"] for row in rows if not re.search(promised, row["why"])] == []


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_says_that_what_is_kept_was_run(name, monkeypatch):
    """A number that is not that of the files would be of a run that nobody can judge again."""
    page, design = page_of(name)
    paper = paper_named(name)
    if not (PAGES / name / FOLDER).is_dir():  # nothing is kept where the whole design takes minutes
        assert run_of(page) == [f"- {each.name}: {each.number:,} trials" for each in paper.trials(design)]
        return
    nothing = {"claims": (), "tables": lambda _: {}, "figures": lambda _: ()}
    monkeypatch.setattr(reproduction, "paper_named", lambda _: replace(paper, **nothing))
    kept_there = reproduction.examine(name, PAGES / name, design=design)

    assert run_of(page) == run_of(kept_there.report())


@pytest.mark.parametrize("name", [name for name in PAPERS if (PAGES / name / FOLDER).is_dir()])
def test_tables_are_made_of_what_is_kept(name, monkeypatch):
    """Numbers of a larger run beside cells of a smaller one cannot be traced to anything."""
    monkeypatch.setattr(
        reproduction, "paper_named", lambda _: replace(paper_named(name), claims=(), figures=lambda _: ())
    )
    tables = reproduction.examine(name, PAGES / name, design=page_of(name)[1]).tables
    ours = ("mechanism", "split", "strategy", "epsilon", "measure", "ours", "standard_error", "runs")

    assert {f"{table}.csv" for table in tables} | {"claims.csv"} == {
        path.name for path in (PAGES / name).glob("*.csv")
    }
    for table, columns in tables.items():
        file = io.BytesIO()
        write_table({column: columns[column] for column in ours}, file)
        with (PAGES / name / f"{table}.csv").open(encoding="utf-8", newline="") as page:
            written = [[row[column] for column in ours] for row in csv.DictReader(page)]
        expected = list(csv.reader(io.StringIO(file.getvalue().decode())))[1:]

        assert written == expected
