"""Which other ways to train are tried as remedies, and what their cells promise."""

from fractions import Fraction

import pytest

from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.tasks.learn.effects import effects
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.task import LearnTask
from unit.study._learn_studies import made, measures, small_plan, small_rows
from unit.study._page_studies import remedies_of, schema_of

CASES = {
    ("dp",): ["DP + parity", "Fermi"],
    ("dp", "fermi"): ["DP + parity"],
    ("dp", "dp+parity"): ["Fermi"],
    tuple(METHODS): [],
    ("fermi",): ["Fermi + parity"],
    ("fermi+parity",): ["Fermi"],
    ("dp+parity",): ["DP", "Fermi"],
    ("local",): [],
    ("plain+parity",): [],
}


@pytest.mark.parametrize("methods", CASES, ids=" ".join)
def test_remedies_are_those_that_apply_and_are_not_asked_for(methods):
    """A remedy would be missing, or whoever trusts nobody would be told to trust whoever trains."""
    task = LearnTask(methods, [1, 3])
    found = remedies_of(task, schema_of())
    assert [each.label for each in found] == CASES[methods]
    assert {each.epsilon for each in found} <= {Fraction(1)}
    assert not set(found) & set(task.settings())


def test_one_group_has_no_remedy():
    """Everybody of a single group would be evened out with themselves."""
    assert not remedies_of(LearnTask("dp", [1]), schema_of(), groups=("men",))


def marked(methods):
    """Return the page and the options of a made-up study of methods and their remedies."""
    found = remedies_of(LearnTask(methods, [1]), schema_of())
    results = made(
        lambda each, _: measures(epsilon=each.epsilon), methods=methods, epsilons=(1,), remedies=found
    )
    table = effects(results.plan.task, results)
    return table.page, {each.name: each for each in table.options}


def test_a_remedy_is_marked_with_its_step_and_its_simplicity():
    """What parity does would be called the price of privacy, or a larger change be named first."""
    page, found = marked(("dp",))
    assert page == "DP, ε = 1"
    parity, fermi = found["DP + parity, ε = 1"], found["Fermi, ε = 1"]
    assert (parity.is_remedy, parity.reference, parity.simplicity) == (True, "DP, ε = 1", 1)
    assert (fermi.is_remedy, fermi.reference, fermi.simplicity) == (True, "DP, ε = 1", 2)


def test_a_step_that_is_run_for_comparison_does_not_take_the_page_over():
    """Whoever asks for parity alone would read a page about training without it."""
    page, found = marked(("dp+parity",))
    assert page == "DP + parity, ε = 1"
    assert found[page].reference == "DP, ε = 1"
    assert not found["DP, ε = 1"].is_remedy


def test_training_is_no_remedy_of_reports():
    """Reports trust nobody, training on the rows trusts whoever trains."""
    _, found = marked(("local", "dp", "dp+parity", "fermi"))
    assert not any(option.is_remedy for option in found.values())


@pytest.mark.figures
def test_remedies_run_within_the_epsilon_asked_and_leave_asked_cells_as_they_are():
    """A remedy would spend more than was asked, or change what was asked."""
    plan, rows = small_plan(("dp",)), small_rows()
    page = Setting("dp", Fraction(3))
    found = plan.task.remedies(page, rows.facts)
    before = plan.task.execute(Cell(page, 0), plan=plan, prepared=rows)
    for remedy in found:
        first, again = (plan.task.execute(Cell(remedy, 0), plan=plan, prepared=rows) for _ in range(2))
        assert first.failure is None
        assert first.measures["claimed_epsilon"] <= before.measures["claimed_epsilon"] <= 3
        assert first.measures["delta"] <= before.measures["delta"] <= 1e-5
        assert repr((first.measures, first.groups)) == repr((again.measures, again.groups))
    after = plan.task.execute(Cell(page, 0), plan=plan, prepared=rows)
    assert repr((before.measures, before.groups)) == repr((after.measures, after.groups))
