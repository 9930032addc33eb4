"""The six steps: each opens when what it needs is there, and says why it is locked."""

import pytest

from evenhand.app.flow.data import built_in, choose_dataset
from evenhand.app.flow.steps import STEPS, step_states
from evenhand.app.state.jobs import RunState
from evenhand.app.state.record import DataChoice, StudyRecord

RECORD = StudyRecord(id="0" * 16, name="", created=0.0)
DATA = DataChoice(source="dataset", label="causal", dataset="causal")


def states(record, run=None):
    return {step.name: step.state for step in step_states(record, run)}


def current(record, run=None):
    return next(step.name for step in step_states(record, run) if step.is_current)


def test_a_step_opens_when_the_one_before_is_done():
    described = RECORD.with_(data=DATA, described=True)
    running, done = RunState("running", done=1), RunState("finished", done=9)

    assert current(RECORD) == "data"
    assert current(RECORD.with_(data=DATA)) == "schema"
    assert current(described) == "question"
    assert current(described, running) == "run"
    assert states(described, running)["result"] == "locked"
    assert states(described, done) == {
        **dict.fromkeys(("data", "schema", "question", "run"), "done"), "result": "open", "apply": "open",
    }  # fmt: skip


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_what_was_finished_before_the_end_can_be_seen(state):
    """The page of the answer shows it, so the way there must not be locked."""
    described = RECORD.with_(data=DATA, described=True)

    assert states(described, RunState(state, done=3))["result"] == "open"
    assert states(described, RunState(state))["result"] == "locked"


def test_a_locked_step_says_why():
    assert list(STEPS) == [step.name for step in step_states(RECORD)]
    assert all(bool(step.reason) == (step.state == "locked") for step in step_states(RECORD))


def test_the_demo_comes_first_and_every_data_set_has_a_sentence():
    sets = built_in()

    assert sets[0].is_demo
    assert sets[0].here
    assert all(each.sentence and each.title and each.kinds for each in sets)
    assert choose_dataset("school_districts")["kind"] == "decide"
    assert choose_dataset("causal")["kind"] == "collect"
