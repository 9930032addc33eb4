"""An error of a cell is its result, and tells nothing private."""

import warnings

import pytest

from attacks._study_cells import cheap, picky, small_plan
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.run.attempt import attempt, failure_of, lost
from evenhand.study.run.prepare import prepare

PLAN = small_plan()


@pytest.fixture(scope="module")
def prepared():
    return prepare(PLAN)


def test_an_outcome_is_what_a_store_would_give_back(prepared):
    """Results in memory and results from a folder must be the same."""
    outcome = attempt(PLAN.cells()[0], plan=PLAN, prepared=prepared, execute=cheap)

    assert outcome.failure is None
    assert all(type(rates["people"]) is float for rates in outcome.groups.values())


def test_our_own_message_is_kept(prepared):
    outcome = attempt(Cell(Setting(), 3), plan=PLAN, prepared=prepared, execute=picky)

    assert outcome.failure.kind == "InvalidParameterError"
    assert outcome.failure.message == "The 'k' parameter of GRR must be at least 2. Got 1 instead."
    assert outcome.measures == {}


def test_of_a_stranger_only_class_and_place_are_told(prepared):
    """A library may put a person's value into its message, and the server's folders into its traceback."""
    outcome = attempt(Cell(Setting(), 23), plan=PLAN, prepared=prepared, execute=picky)

    assert outcome.failure.kind == "ZeroDivisionError"
    assert outcome.failure.message.startswith("Raised at _study_cells.py:")
    assert "123-45-6789" not in outcome.failure.message
    assert "/" not in outcome.failure.message


def test_an_error_without_a_place_is_told_too():
    assert failure_of(ValueError("secret")).message == "Raised at an unknown place."


def test_the_filters_for_warnings_do_not_change_results(prepared):
    """With warnings as errors, a model that warns would fail in one process and not in another."""

    def warning(cell, *, plan, prepared):
        warnings.warn("did not converge", stacklevel=1)
        return cheap(cell, plan=plan, prepared=prepared)

    assert attempt(PLAN.cells()[0], plan=PLAN, prepared=prepared, execute=warning).failure is None


def test_what_is_no_outcome_is_a_failure(prepared):
    nothing = attempt(PLAN.cells()[0], plan=PLAN, prepared=prepared, execute=lambda *_, **__: None)

    assert nothing.failure.kind == "AttributeError"


@pytest.mark.parametrize(("code", "words"), [(-9, "was ended by signal 9"), (1, "ended with code 1")])
def test_a_lost_cell_says_how_its_worker_ended(code, words):
    assert words in lost(PLAN.cells()[0], code=code).failure.message


def test_a_cell_that_a_cluster_lost_has_no_code():
    message = lost(PLAN.cells()[0], code=None).failure.message

    assert message.startswith("The worker process was lost again and again before the run was done. Hint: ")


@pytest.mark.parametrize("error", [SystemExit, MemoryError, RecursionError, GeneratorExit, StopIteration])
def test_a_model_that_gives_up_in_any_way_is_one_bad_cell(prepared, error):
    """A model that calls sys.exit must not end a study of hours, nor count as a process that died."""

    def giving_up(cell, *, plan, prepared):
        raise error

    outcome = attempt(PLAN.cells()[0], plan=PLAN, prepared=prepared, execute=giving_up)

    assert outcome.failure.kind == error.__name__
    assert outcome.failure.message.startswith("Raised at test_attempt.py:")


def test_ctrl_c_is_not_the_result_of_a_cell(prepared):
    def interrupted(cell, *, plan, prepared):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(PLAN.cells()[0], plan=PLAN, prepared=prepared, execute=interrupted)
