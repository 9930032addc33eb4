"""Remedies are tried beside what is asked for, and the best of them is run again on fresh draws."""

from fractions import Fraction

import pytest

from evenhand.app.flow.result import read_result
from evenhand.errors import InvalidParameterError, PlanError
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.plan.stages import expect_confirming, split_cells
from evenhand.study.results.results import Results
from evenhand.study.run.events import CellDone, Finished, StageDone
from evenhand.study.run.prepare import prepare
from evenhand.study.run.stages import add_remedies
from evenhand.study.run.whole import Runner, run
from evenhand.study.store.canonical import canonical_table
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import MEN, WOMEN, _outcome, facts_of, schema_of

REPEATS = 8
ASKED = CollectTask("grr", [1, 4], splits="uniform", model="logistic")
CURE = Setting("grr", Fraction(1), {"strategy": "combined"}, label="joint reports")
PLAN = Plan(data=DataSource(path="people.csv"), task=ASKED, repeats=REPEATS, remedies=(CURE,), confirm=True)
FACTS = facts_of(schema_of((WOMEN, MEN)), (WOMEN, MEN), sizes=(2_000, 2_000))


def _results(cure=0.29, again=0.29):
    """Return results in which women lose, and a remedy helps by so much at first and on fresh draws."""
    runner = _Made(PLAN, cure=cure, again=again)
    events = list(runner.events())
    assert isinstance(events[-1], Finished)
    return runner, events


class _Made(Runner):
    """A study whose runs are made up."""

    def __init__(self, plan, *, cure, again, **more):
        def execute(cell, *, plan, prepared):
            return _outcome(cell, self._rates(cell), FACTS, 0.002, 0.2, ())

        super().__init__(plan, workers=1, execute=execute, **more)
        self._cure = cure, again

    def _prepared(self):
        return type("Rows", (), {"facts": FACTS})

    def _rates(self, cell):
        women = 0.3 if not cell.setting.is_protected else 0.2
        if cell.setting == CURE:
            women = self._cure[cell.repeat >= REPEATS]
        return {WOMEN: (women, 0.6, 0.8), MEN: (0.3, 0.7, 0.8)}


# --- the order of runs ----------------------------------------------------------------------------


def test_who_pays_comes_first_then_remedies_then_their_confirmation_then_other_epsilons():
    _, events = _results()
    cells = [event.outcome.cell for event in events if isinstance(event, CellDone)]
    settings = [str(cell.setting) for cell in cells]
    page, cure, other = "GRR, uniform split, ε = 1", "joint reports, ε = 1", "GRR, uniform split, ε = 4"

    assert set(settings[:16]) == {"unprotected", page}
    assert set(settings[16:24]) == {cure}
    assert set(settings[24:48]) == {"unprotected", page, cure}
    assert {cell.repeat for cell in cells[24:48]} == set(range(8, 16))
    assert set(settings[48:]) == {other}
    assert [event.done for event in events if isinstance(event, StageDone)] == [16, 24, 48]


def test_a_first_look_is_called_so_until_all_is_run():
    _, events = _results()
    looks = [event.results for event in events if isinstance(event, StageDone)]

    for results in looks:
        assert any(each.head == "A first look." for each in results.view().warnings)
        assert (
            results.view().meta == "people.csv: 2,000 people, 8 repeats, a first look"
        )  # warnings are folded
    whole = _results()[0].results.view()
    assert not any(each.head == "A first look." for each in whole.warnings)
    assert whole.meta == "people.csv: 2,000 people, 8 repeats"


ONE = PLAN.with_(task=CollectTask("grr", [1], splits="uniform", model="logistic"))
"""With nothing to run once a remedy is confirmed."""


def test_a_remedy_that_is_not_confirmed_yet_makes_a_first_look():
    """The page of a study that was stopped there recommended what fresh repeats may well refuse."""
    events = list(_Made(ONE, cure=0.29, again=0.2).events())
    looks = [event.results for event in events if isinstance(event, StageDone)]

    assert [len(results.missing) for results in looks] == [8, 24]
    for results in looks:
        assert results.view().meta.endswith("a first look")


def test_a_study_that_is_stopped_while_a_remedy_is_confirmed_leaves_a_first_look(tmp_path):
    events = _Made(ONE, cure=0.29, again=0.28, out=tmp_path).events()
    for event in events:
        if event.done == 30:
            break
    events.close()
    results, shown = Results.load(tmp_path), read_result(tmp_path)

    assert len(results.missing) == 18
    assert (shown.done, shown.total) == (30, 48)
    assert results.view().meta.endswith("a first look")
    assert "Of 48 runs 18 are still to come" in str(results.report())


def test_a_quick_look_that_leaves_out_only_the_confirmation_is_a_first_look():
    runner = _Made(ONE, cure=0.29, again=0.28, quick=True)
    list(runner.events())

    assert len(runner.results.missing) == 24
    assert runner.results.view().meta.endswith("a first look")


def test_no_stage_is_announced_once_all_is_done():
    """It wrote the page twice, and said that there was nothing new."""
    events = list(_Made(ONE, cure=0.2, again=0.2).events())

    assert [event.done for event in events if isinstance(event, StageDone)] == [16]


def test_whatever_was_asked_for_at_the_epsilon_of_the_page_may_be_a_remedy():
    """Else the best might be one that is run only after what is confirmed was chosen."""
    plan = Plan(task=CollectTask(["grr", "oue"], [1, 4]), repeats=1)
    first, remedies, others = ({str(cell.setting) for cell in stage} for stage in split_cells(plan))

    assert first == {"unprotected", "GRR, optimal split, ε = 1"}
    assert remedies == {"OUE, optimal split, ε = 1"}
    assert {text[-5:] for text in others} == {"ε = 4"}


# --- confirmation ---------------------------------------------------------------------------------


def test_the_figures_of_a_recommended_remedy_are_those_of_fresh_draws():
    """The best of several looks better than it is on the draws by which it was chosen."""
    runner, _ = _results(cure=0.295, again=0.27)
    view = runner.results.view()
    women = next(
        row for row in view.rows
        if (row.setting, row.group, row.effect) == (str(CURE), WOMEN, "selected")
    )  # fmt: skip

    assert view.recommended == str(CURE)
    assert women.after == pytest.approx(270, abs=5)
    assert "Confirmed on 8 fresh repeats; the changes told are theirs." in view.what_to_do.details
    effects = runner.results.effects(backend="pyarrow").to_pylist()
    stored = [row for row in effects if row["setting"] == str(CURE) and row["effect"] == "selected"]
    assert next(row["after"] for row in stored if row["group"] == WOMEN) == women.after


def test_a_remedy_that_helped_by_chance_is_not_recommended():
    runner, _ = _results(cure=0.295, again=0.2)
    view = runner.results.view()

    assert view.recommended == ""
    told = "Nothing yet: answers together helped at first, but not clearly on fresh repeats."
    assert view.what_to_do.text == told


def test_nothing_is_run_again_where_no_remedy_helps():
    runner, _ = _results(cure=0.2)

    assert runner.results.confirming == ()
    assert len(runner.outcomes) == len(PLAN.cells())


def test_a_study_that_is_resumed_confirms_the_same(tmp_path):
    whole = list(_Made(PLAN, cure=0.29, again=0.28, out=tmp_path / "whole").events())
    events = _Made(PLAN, cure=0.29, again=0.28, out=tmp_path / "part").events()
    for event in events:
        if event.done == 30:
            break
    events.close()
    again = list(_Made(PLAN, cure=0.29, again=0.28, out=tmp_path / "part", resume=True).events())

    one, other = (Results.load(tmp_path / name) for name in ("whole", "part"))
    assert again[0].done == 30
    assert whole[-1].total == again[-1].total == 56
    assert canonical_table(one.outcomes) == canonical_table(other.outcomes)


# --- plans ----------------------------------------------------------------------------------------


def test_a_plan_with_remedies_reads_as_it_was_written():
    assert Plan.from_toml(PLAN.to_toml()) == PLAN
    assert Plan.from_toml(PLAN.to_toml()).remedies[0].label == "joint reports"


def test_a_plan_that_was_written_before_has_no_remedies():
    plan = Plan.from_toml('format = 1\n[task]\nkind = "collect"\n')

    assert (plan.remedies, plan.confirm) == ((), False)


@pytest.mark.parametrize(
    "text",
    ["remedies = 3", "[[remedies]]\nmechanism = 4", '[[remedies]]\nepsilon = "x"', "[[remedies]]\nq = 1"],
)
def test_a_plan_file_with_other_remedies_is_refused(text):
    with pytest.raises(PlanError, match="remedies"):
        Plan.from_toml(f"format = 1\n{text}\n")


@pytest.mark.parametrize("given", ["grr", [Setting()], [CURE, CURE], [next(ASKED.settings())]])
def test_remedies_are_settings_that_the_task_does_not_try(given):
    with pytest.raises(InvalidParameterError, match="remedies"):
        PLAN.with_(remedies=given)


def test_remedies_leave_every_run_that_was_asked_for_as_it_is():
    """Somebody who compares two studies must not find other numbers for the same question."""
    data = DataSource(dataset="causal", options={"n": 400})
    task = CollectTask("grr", [1], splits="uniform", model="logistic")
    asked = Plan(data=data, task=task, repeats=2)
    more = add_remedies(asked, prepare(asked).facts)
    ids = {cell.id for cell in asked.cells()}
    both = run(more, workers=1, progress=False)

    assert more.remedies
    kept = [outcome for outcome in both.outcomes if outcome.cell.id in ids]
    assert canonical_table(kept) == run(asked, workers=1, progress=False).canonical()


def test_there_are_at_most_as_many_remedies_as_settings_that_were_asked_for():
    plan = Plan(data=DataSource(dataset="causal", options={"n": 100}), task=ASKED, repeats=1)
    more = add_remedies(plan, prepare(plan).facts)

    assert 0 < len(more.remedies) <= len(plan.settings())
    assert all(each.epsilon <= 1 for each in more.remedies)
    assert add_remedies(more, prepare(plan).facts) == more


# --- how long it will take ------------------------------------------------------------------------


def test_a_confirmation_that_may_not_come_is_allowed_for_in_part():
    """Counted as a whole, a study of one setting was told to take 70 runs where 40 were all."""
    assert expect_confirming(ONE) == 10
    assert expect_confirming(ONE.with_(confirm=False)) == 0
    for cure in (0.2, 0.29):
        taken = len(_whole(ONE, cure).outcomes)
        told = len(ONE.cells()) + expect_confirming(ONE)

        assert 1 / 1.5 < told / taken < 1.5


def _whole(plan, cure):
    runner = _Made(plan, cure=cure, again=cure)
    list(runner.events())
    return runner
