"""The six steps: each opens when what it needs is there, and says why it is locked."""

from types import SimpleNamespace

from evenhand.app.flow.data import built_in, choose_dataset
from evenhand.app.flow.steps import STEPS, step_states
from evenhand.app.state.record import DataChoice, StudyRecord

RECORD = StudyRecord(id="0" * 16, name="", created=0.0)
DATA = DataChoice(source="dataset", label="causal", dataset="causal")


def states(record, run=None):
    return {step.name: step.state for step in step_states(record, run)}


def current(record, run=None):
    return next(step.name for step in step_states(record, run) if step.is_current)


def test_a_step_opens_when_the_one_before_is_done():
    described = RECORD.with_(data=DATA, described=True)
    running, done = SimpleNamespace(state="running", done=1), SimpleNamespace(state="finished", done=9)

    assert current(RECORD) == "data"
    assert current(RECORD.with_(data=DATA)) == "schema"
    assert current(described) == "question"
    assert current(described, running) == "run"
    assert states(described, running)["result"] == "locked"
    assert states(described, done) == {
        **dict.fromkeys(("data", "schema", "question", "run"), "done"), "result": "open", "apply": "open",
    }  # fmt: skip


def test_what_was_finished_before_a_stop_can_be_seen():
    stopped = SimpleNamespace(state="stopped", done=3)

    assert states(RECORD.with_(data=DATA, described=True), stopped)["result"] == "open"


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
