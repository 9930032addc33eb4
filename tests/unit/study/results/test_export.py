"""Tables of results in files."""

import csv

import pyarrow.parquet as pq
import pytest

from evenhand.errors import InvalidParameterError, UnwritableFileError
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from unit._study_results import NOTHING, facts, grr, outcome, study

TABLES = ("cells", "groups", "data", "summary", "frontier")


@pytest.fixture(name="results", scope="module")
def _results():
    return study(
        {
            NOTHING: {"acc": [0.8, 0.9], "sp_gap": [0.1, 0.2]},
            grr(1): {"acc": [0.7, 0.8], "sp_gap": [0.1, 0.1]},
        }
    )


@pytest.mark.parametrize("table", TABLES)
def test_every_table_can_be_written_and_read_back(results, table, tmp_path):
    results.to_csv(tmp_path / "table.csv", table=table)
    results.to_parquet(tmp_path / "table.parquet", table=table)
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    frame = pq.read_table(tmp_path / "table.parquet")

    assert len(rows) == frame.num_rows > 0
    assert list(rows[0]) == frame.column_names


def test_undefined_is_an_empty_cell(results, tmp_path):
    results.to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))

    assert row["auc"] == row["epsilon"] == ""
    assert float(row["acc"]) == 0.8


def test_a_group_whose_name_is_a_formula_stays_text(tmp_path):
    """Group labels come from the data; a spreadsheet must not run them."""
    names = ("=cmd()", "+1")
    plan = Plan(repeats=1)
    results = Results(plan, facts(names), [outcome(cell, groups=names, acc=0.5) for cell in plan.cells()])
    results.to_csv(tmp_path / "groups.csv", table="groups")

    assert '"\'=cmd()"' in (tmp_path / "groups.csv").read_text(encoding="utf-8")
    assert '"=cmd()"' not in (tmp_path / "groups.csv").read_text(encoding="utf-8")


def test_what_cannot_be_written_is_refused(results, tmp_path):
    with pytest.raises(InvalidParameterError, match="'table' parameter of to_csv"):
        results.to_csv(tmp_path / "x.csv", table="rows")
    with pytest.raises(UnwritableFileError):
        results.to_parquet(tmp_path / "nowhere" / "x.parquet")
