"""fioretto2021: its tables, files and figures, and which verdicts no number decides."""

import csv
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from evenhand.papers.claims import Evidence
from evenhand.papers.fioretto2021 import PAPER
from evenhand.papers.fioretto2021.data import COUNTIES, LANGUAGE_EPSILONS
from evenhand.papers.fioretto2021.tables import build_tables
from evenhand.papers.fioretto2021.trials import PARTS
from evenhand.papers.paper import read_toml
from evenhand.papers.reproduction import build_reproduction
from evenhand.report.charts import plots
from unit.papers._made_up_decisions import evidence

CLAIMS = {claim.id: claim for claim in PAPER.claims if claim.needs}


@lru_cache(maxsize=1)
def as_found():
    """Return the records as they are; nothing may be changed in them."""
    return evidence()


def test_verdicts_that_no_number_could_change_are_few():
    """A reader who sees a rule expects that other records would have given another verdict.

    Those of figures 5 and 7 have no verdict at all, since the table that they are about is not to be had.
    """
    stored = read_toml("evenhand.papers.fioretto2021", "claims.toml")["claim"]
    figures = ("5-left", "5-right", "7-lower", "7-svm", "7-accuracy", "7-size")

    assert {entry["id"]: entry["verdict"] for entry in stored if "verdict" in entry} == {
        "most-lost": "method unknown",
        **{f"figure-{each}": "cannot be checked" for each in figures},
    }


def test_tables_have_the_papers_method_and_the_exact_number_in_rows_of_their_own():
    """Whoever compares must know which of the two a number is."""
    made = build_tables(as_found())
    rows = [
        dict(zip(made["example-1"], cells, strict=True))
        for cells in zip(*made["example-1"].values(), strict=True)
    ]
    alphas = [row for row in rows if row["measure"] == "alpha" and row["epsilon"] == 0.001]

    assert [(row["strategy"], row["paper"]) for row in alphas] == [
        ("as in the paper", 0.003),
        ("exact", None),
    ]
    assert list(made) == ["example-1", "allotment", "draws", "language", "counties", "proxies"]
    assert {row["table"] for row in rows} == {"example-1"}
    assert len(made["language"]["ours"]) == 2 * 2 * 3 * (2 + len(PARTS)) * 5
    assert all(np.isfinite(each) for table in made.values() for each in table["ours"])


def test_what_was_not_run_has_no_table():
    """A quick look has no draws of the allotment."""
    kept = {name: as_found().trials[name] for name in ("allotment", "language")}

    assert list(build_tables(Evidence({}, None, kept))) == ["example-1", "allotment", "language"]
    assert build_tables(Evidence({})) == {}


@pytest.mark.figures
def test_everything_is_written(tmp_path):
    """Claims, tables and figures, each table with the agreed columns."""
    pytest.importorskip("altair")
    paper = replace(PAPER, claims=tuple(CLAIMS.values()), figures=lambda told: PAPER.figures(told)[:1])
    kept = {name: as_found().trials[name] for name in ("language", "counties")}
    found = build_reproduction(paper, "quick", {}, trials=kept)
    found.write(tmp_path)
    with (tmp_path / "counties.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    assert sum(found.counts.values()) == len(CLAIMS)
    assert {row["dataset"] for row in rows} == {each.name for each in COUNTIES}
    assert len(rows) == 4 * len(COUNTIES) * len(LANGUAGE_EPSILONS)
    assert "As figure 3 of the paper" in (tmp_path / "figures.md").read_text(encoding="utf-8")


def test_every_figure_of_the_paper_is_drawn(monkeypatch):
    """Figure 1 is an illustration; what was not run is not drawn."""
    monkeypatch.setattr(plots, "_picture", lambda *_: "<svg/>")
    quick = {name: as_found().trials[name] for name in ("allotment", "language")}
    one = {"language": {0: as_found().trials["language"][0]}}

    assert [chart.name for chart in PAPER.figures(as_found())] == [f"fig{number}" for number in range(2, 11)]
    assert [chart.name for chart in PAPER.figures(Evidence({}, None, quick))] == [
        "fig2", "fig3", "fig5", "fig8", "fig10",
    ]  # fmt: skip
    assert "187 determined" in PAPER.figures(Evidence({}, None, one))[1].caption
    assert not PAPER.figures(Evidence({}))
