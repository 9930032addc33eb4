"""Results: frames, order, failures, files."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import MEASURES, RATES
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.outcome import Outcome
from evenhand.study.store.store import Store
from evenhand.study.tasks.collect.task import CollectTask
from unit._study_results import NOTHING, facts, failed, grr, outcome, study

BACKENDS = ("pandas", "polars", "pyarrow")


@pytest.fixture(name="results", scope="module")
def _results():
    plan = Plan(task=CollectTask(["grr"], ["1/2", 1], splits="uniform"), repeats=3)
    outcomes = [outcome(cell, acc=0.5 + 0.01 * at) for at, cell in enumerate(plan.cells()[:-1])]
    outcomes[4] = failed(outcomes[4].cell)
    return Results(plan, facts(), outcomes[::-1])


def test_a_frame_has_one_row_per_cell_in_the_plans_order(results):
    """People sort and join by position; a table in order of completion would differ from run to run."""
    frame = results.frame(backend="pyarrow")

    assert frame.column_names[:6] == ["mechanism", "strategy", "split", "epsilon", "repeat", "state"]
    assert frame.column_names[6:] == list(MEASURES)
    assert frame["repeat"].to_pylist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert frame["mechanism"].to_pylist()[:3] == ["none", "grr", "grr"]
    assert frame["epsilon"].to_pylist()[1:3] == [0.5, 1.0]
    assert np.isnan(frame["epsilon"].to_pylist()[0])
    assert frame["acc"].to_pylist()[3] == 0.53
    assert len(results) == 8


def test_a_failure_is_a_row_without_numbers(results):
    """A cell that vanished could hide that a mechanism does not work at all."""
    frame = results.frame(backend="pyarrow")

    assert frame["state"].to_pylist() == ["done"] * 4 + ["failed"] + ["done"] * 3
    assert np.isnan(frame["acc"].to_pylist()[4])
    assert [each.cell for each in results.failures] == [Cell(grr("1/2"), 1)]
    assert results.groups(backend="pyarrow").num_rows == 7 * 2
    assert results.data(backend="pyarrow").num_rows == 7


def test_cells_that_were_not_run_are_listed(results):
    assert results.missing == (Cell(grr(1), 2),)


def test_groups_have_one_row_per_cell_and_group_with_every_rate(results):
    frame = results.groups(backend="pyarrow")

    assert frame["group"].to_pylist()[:4] == ["women", "men", "women", "men"]
    assert frame.column_names[-len(RATES) - 1 :] == [*RATES, "people"]
    assert frame["people"].to_pylist() == [100.0] * 14
    assert frame["repeat"].to_pylist()[:6] == [0] * 6


def test_data_has_the_disparity_of_the_labels_true_and_reported(results):
    frame = results.data(backend="pyarrow")

    assert frame["true"].to_pylist() == [0.2] * 7
    assert frame["reported"].to_pylist()[:2] == [0.2, 0.1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("table", ["frame", "groups", "data", "summary", "frontier"])
def test_every_table_comes_in_every_library(results, backend, table):
    frame = getattr(results, table)(backend=backend)

    assert type(frame).__module__.startswith(backend)


def test_no_table_needs_pandas(results, monkeypatch):
    """The core does not install it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pandas" else object())

    assert isinstance(results.frame(), pa.Table)


def test_each_option_is_a_column_under_its_name():
    plan = Plan(
        task=CollectTask(["olh", {"name": "olh", "as_printed": True}], 1, splits="uniform"), repeats=1
    )
    results = Results(plan, facts(), [outcome(cell, acc=0.5) for cell in plan.cells()])
    frame = results.frame(backend="pyarrow")

    assert frame.column_names[:5] == ["mechanism", "strategy", "split", "as_printed", "epsilon"]
    assert frame["as_printed"].to_pylist() == ["none", "none", "true"]


def test_measures_beyond_the_usual_ones_come_last():
    """A reproduction may store a measure under the name its paper gave it."""
    plan = Plan(repeats=1)
    extra = [
        dataclasses.replace(outcome(cell), measures={"acc": 0.5, "b": 1.0, "a": 2.0}) for cell in plan.cells()
    ]
    frame = Results(plan, facts(), extra).frame(backend="pyarrow")

    assert frame.column_names[-3:] == [MEASURES[-1], "a", "b"]
    assert frame["b"].to_pylist() == [1.0, 1.0]


def test_results_cannot_be_changed(results):
    """Two readers of one study must see the same numbers."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        results.outcomes = ()
    with pytest.raises(ValueError, match="read-only"):
        results.arrays.of_measures[0, 0, 0] = 1


def test_arrays_are_made_once(results):
    assert results.arrays is results.arrays


def test_an_empty_study_has_empty_tables():
    """What a study shows before its first cell is done."""
    results = Results(Plan(repeats=2), facts(), [])

    assert len(results) == 0
    assert results.frame(backend="pyarrow").num_rows == 0
    assert results.groups(backend="pyarrow").num_rows == 0
    assert np.isnan(results.summary("acc", backend="pyarrow")["acc"].to_pylist()).all()
    assert not any(results.frontier(backend="pyarrow")["undominated"].to_pylist())
    assert "4 runs not run" in repr(results)


@pytest.mark.parametrize(
    ("plan", "known", "message"),
    [
        ("plan.toml", facts(), "'plan' parameter of Results must be a Plan"),
        (Plan(), {"people": 5}, "'facts' parameter of Results must be a Facts"),
    ],
)
def test_what_is_no_study_is_refused(plan, known, message):
    with pytest.raises(InvalidParameterError, match=message):
        Results(plan, known, [])


def test_two_outcomes_of_one_cell_are_refused():
    """Which of them is the result?"""
    twice = [outcome(Cell(NOTHING, 0), acc=0.5)] * 2
    with pytest.raises(InvalidParameterError, match="at most one per cell"):
        Results(Plan(), facts(), twice)


def test_an_outcome_of_another_plan_is_refused():
    """It would silently be left out of every table."""
    with pytest.raises(InvalidParameterError, match="not in it"):
        Results(Plan(), facts(), [outcome(Cell(grr(99), 0))])


def test_the_canonical_bytes_do_not_depend_on_the_order_or_the_times(results):
    plan = results.plan
    slower = [dataclasses.replace(each, seconds={"train": 9.0}) for each in results.outcomes]
    again = Results(plan, results.facts, slower)

    assert again.canonical() == results.canonical() == canonical_table(results.outcomes[::-1])
    assert again.digest == results.digest
    assert len(results.digest) == 64


def test_a_stored_study_reads_back_the_same(results, tmp_path):
    """A report made later must show what the run showed."""
    with Store.reserve(tmp_path / "study") as store:
        store.start(results.plan, results.facts)
        for each in results.outcomes:
            store.write(each)
    again = Results.load(tmp_path / "study")

    assert again.digest == results.digest
    assert again.plan == results.plan
    assert again.facts == results.facts
    assert again.missing == results.missing


_RESULTS = "evenhand.study.results.results"


def test_a_report_is_drawn_from_the_answer_of_the_chosen_setting(results, monkeypatch, tmp_path):
    """If results had a page of their own, it could say something else than the terminal."""
    monkeypatch.setattr(f"{_RESULTS}.build_page", lambda view: view.page)
    monkeypatch.setattr(f"{_RESULTS}.render", lambda page: f"<p>{page}</p>")
    monkeypatch.setattr(f"{_RESULTS}.write", lambda page, path: path.write_text(page, encoding="utf-8"))
    path, chosen = tmp_path / "report.html", results.setting("grr 1")

    assert results.report(chosen=chosen) == f"<p>{chosen}</p>"
    assert results.report(path, chosen="grr 1") == path
    assert path.read_text(encoding="utf-8") == str(chosen)


def test_a_chosen_setting_must_be_one_of_the_study(results):
    with pytest.raises(InvalidParameterError, match="a setting of the study"):
        results.report(chosen="oue 1")


def test_an_outcome_without_groups_has_rates_that_are_undefined():
    """An old store may lack them; a table must not break."""
    plan = Plan(repeats=1)
    bare = [Outcome(cell, measures={"acc": 0.5}) for cell in plan.cells()]
    results = Results(plan, facts(), bare)

    assert np.isnan(results.groups(backend="pyarrow")["tpr"].to_pylist()).all()


def test_studies_from_a_helper_have_what_they_say():
    results = study({NOTHING: {"acc": [0.5, 0.6]}, grr(1): {"acc": [0.4, 0.5]}})

    assert results.frame(backend="pyarrow")["acc"].to_pylist() == [0.5, 0.4, 0.6, 0.5]
