"""Tables of a reproduction have the agreed columns, and the verdict of every mean."""

import csv
import re
from dataclasses import replace

import numpy as np

from evenhand.papers.claims import ClaimRow
from evenhand.papers.published import Published
from evenhand.papers.tables import COLUMNS, claims_columns, markdown, means_table, write_table
from evenhand.study.plan.cells import Setting
from unit.papers._made_up import made, setting

NAMES = "table,dataset,mechanism,split,strategy,epsilon,measure,ours,standard_error,runs,paper,verdict,note"


def flat(_setting, _measure):
    """Return the same for every setting."""
    return 0.5


def rows_of(columns):
    """Return the rows of columns."""
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def test_the_columns_are_the_agreed_ones():
    """Whoever reads these files by name must find the names."""
    assert ",".join(COLUMNS) == NAMES
    assert tuple(means_table("lsac", made(flat, epsilons=("4",)), ("acc",))) == COLUMNS


def test_every_setting_and_measure_has_a_row():
    """A row that is left out would hide a mean that is off."""
    table = means_table("lsac", made(flat), ("acc", "spd"), notes={"acc": "as printed"})
    rows = rows_of(table)

    assert len(rows) == (1 + 7 * 2 * 3) * 2
    assert {row["verdict"] for row in rows} == {"cannot be checked"}
    assert rows[0] == {
        "table": "lsac", "dataset": "lsac", "mechanism": "none", "split": "none", "strategy": "none",
        "epsilon": None, "measure": "acc", "ours": rows[0]["ours"],
        "standard_error": rows[0]["standard_error"], "runs": 6, "paper": None,
        "verdict": "cannot be checked", "note": "as printed; no published runs",
    }  # fmt: skip
    assert {row["epsilon"] for row in rows} == {None, 0.25, 4.0, 50.0}


def test_means_are_judged_by_the_published_runs():
    """The unprotected mean must be the same to three decimals; a protected one may be off by chance.

    Where protection changes nothing, a protected mean that is met could be the unprotected one.
    """
    results = made(flat)
    acc = results.arrays.measures.index("acc")
    base, grr = (results.arrays.of_measures[results.place(each), :, acc] for each in (Setting(), setting()))
    good = {("lsac", Setting().id, "acc"): base, ("lsac", setting().id, "acc"): grr + 0.004}
    bad = {("lsac", Setting().id, "acc"): base + 0.002, ("lsac", setting().id, "acc"): grr + 0.1}
    for runs, verdicts in (
        (good, ["agrees", "cannot tell apart"]),
        (bad, ["contradicted", "contradicted"]),
    ):
        published = Published(runs, same_seeds=True)
        table = rows_of(means_table("lsac", results, ("acc",), published=published))
        judged = [row for row in table if row["paper"] is not None]

        assert [row["verdict"] for row in judged] == verdicts
        assert judged[0]["paper"] == np.round(runs["lsac", Setting().id, "acc"].mean(), 6)


def test_means_are_compared_over_the_seeds_that_we_ran():
    """Seeds have splits of their own: with others beside them, the same pipeline would seem another one."""
    whole = made(flat)
    kept = [outcome for outcome in whole.outcomes if outcome.cell.repeat in (1, 4, 5)]
    acc = whole.arrays.measures.index("acc")
    runs = {
        ("lsac", each.id, "acc"): whole.arrays.of_measures[whole.place(each), :, acc]
        for each in (Setting(), setting())
    }
    part = type(whole)(whole.plan, whole.facts, kept)
    table = rows_of(means_table("lsac", part, ("acc",), published=Published(runs, same_seeds=True)))
    judged = [row for row in table if row["paper"] is not None]

    assert judged[0]["verdict"] == "agrees"
    assert [row["ours"] for row in judged] == [row["paper"] for row in judged]


def test_a_setting_without_a_result_has_no_row():
    """A design that was stopped has no means of what it did not run."""
    results = made(flat, epsilons=("4",))
    part = type(results)(results.plan, results.facts, results.outcomes[:3])

    assert len(means_table("lsac", part, ("acc",))["ours"]) == 3


ROW = ClaimRow("a", "p | q", "5.2", "~0.48", 0.4812345678, 0.47, 0.49, 5, "agrees", "=1+1", "quoted")
BARE = ClaimRow(
    "b", "It is so.", "RQ1", "", None, None, None, None, "contradicted", "No.", "mostly", "in words"
)
ALONE = ClaimRow("c", "One run.", "RQ1", "", 0.5, None, None, 1, "cannot be checked", "One.", "mostly")


def test_claims_are_written_as_markdown_that_stays_a_table():
    """A bar in a claim would add a column."""
    lines = [line for line in markdown([ROW, BARE, ALONE]).splitlines() if line.startswith("| ")]

    assert lines[1] == "| 5.2 | p \\| q `a` | ~0.48 | 0.481 (0.470 to 0.490) | **agrees** | =1+1 |"
    assert lines[3] == "| RQ1 | It is so. “in words” `b` |  |  | **contradicted** | No. |"
    assert "| 0.500 |" in lines[5]


def test_several_values_of_ours_stand_beside_the_papers():
    """A row of a table has four numbers on either side."""
    row = replace(ROW, paper="1, 2", shown="1.1, 2.1")

    assert "| 1, 2 | 1.1, 2.1 | **agrees** |" in markdown([row])
    assert claims_columns([row])["shown"] == ["1.1, 2.1"]


def test_claims_are_grouped_by_verdict_and_by_place():
    """A reader looks for what is contradicted, and in it for the section in hand."""
    rows = [
        replace(ROW, id=name, where=where, verdict=verdict)
        for name, where, verdict in (
            ("a", "5.2", "slip"), ("b", "5.3", "agrees"), ("c", "5.2", "agrees"), ("d", "5.3", "agrees"),
        )
    ]  # fmt: skip
    text = markdown(rows)

    assert [line for line in text.splitlines() if line.startswith("##")] == ["## Agrees: 3", "## Slip: 1"]
    assert re.findall(r"`(.)`", text) == ["c", "b", "d", "a"]


def test_a_tiny_number_is_not_written_as_zero():
    """A fairness bound of 3.05e-07 is not 0, but what rounding left of 0 is."""
    rows = [replace(ROW, ours=value) for value in (3.0512e-07, 0.0000912, 1.2345678, -2e-17)]

    assert claims_columns(rows)["ours"] == [3.05e-07, 9.12e-05, 1.234568, 0.0]


def test_files_hold_what_the_tables_hold_and_no_formula(tmp_path):
    """People open these files in spreadsheets."""
    write_table(claims_columns([ROW, BARE]), tmp_path / "claims.csv")
    write_table(means_table("lsac", made(flat, epsilons=("4",)), ("acc",)), tmp_path / "t.csv")
    with (tmp_path / "claims.csv").open(newline="") as file:
        claims = list(csv.DictReader(file))
    with (tmp_path / "t.csv").open(newline="") as file:
        means = list(csv.DictReader(file))

    assert (claims[0]["why"], claims[0]["ours"], claims[1]["ours"]) == ("'=1+1", "0.481235", "")
    assert ",".join(means[0]) == NAMES
    assert (means[0]["epsilon"], means[1]["epsilon"], means[0]["paper"]) == ("", "4", "")
