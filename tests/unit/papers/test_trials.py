"""Trials: what a study of cells does not express, computed once, kept, and read again."""

import json

import pytest

from evenhand.errors import DataSetNotFoundError, StudyStoreError
from evenhand.papers import reproduction
from evenhand.papers.claims import Checked, Claim, Evidence
from evenhand.papers.paper import Paper, Study
from evenhand.papers.reproduction import examine, reproduce
from evenhand.papers.trials import Trials
from evenhand.study.plan.plan import Plan
from evenhand.study.run.events import Cancel, Event, Finished, Started
from evenhand.study.tasks.collect.task import CollectTask


def counted(number=3, name="squares"):
    """Return trials, and the list of those that were computed."""
    computed = []

    def square(place):
        computed.append(place)
        return {"square": place**2}

    return Trials(name, number, square), computed


def test_a_finished_trial_is_not_computed_again(tmp_path):
    """A run of hours that was stopped goes on where it was."""
    first, _ = counted(2)
    first.run(tmp_path / "squares")
    more, computed = counted(4)

    assert more.run(tmp_path / "squares") == {place: {"square": place**2} for place in range(4)}
    assert computed == [2, 3]
    assert first.load_records(tmp_path / "squares") == {0: {"square": 0}, 1: {"square": 1}}


def test_without_a_folder_nothing_is_kept(tmp_path):
    """A person who just tries it leaves no files."""
    trials, computed = counted()

    assert len(trials.run(None)) == 3
    assert computed == [0, 1, 2]
    assert trials.load_records(tmp_path) == {}


def test_every_trial_is_told():
    """A bar has to move."""
    told = []
    counted()[0].run(None, tell=told.append)

    assert told[0] == Started(done=0, failed=0, total=3)
    assert told[1:] == [Event(done=each, failed=0, total=3) for each in (1, 2, 3)]


def test_a_cancelled_run_keeps_what_is_finished(tmp_path):
    """The next run needs only the rest."""
    cancel = Cancel()
    trials, _ = counted()
    found = trials.run(tmp_path, tell=lambda event: event.done and cancel.request(), cancel=cancel)

    assert list(found) == [0]
    assert list(trials.load_records(tmp_path)) == [0]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        json.dumps({"format": 1, "name": "cubes", "number": 0, "record": {}}),
        json.dumps({"format": "1", "name": "squares", "number": 0, "record": {}}),
        json.dumps({"format": 1, "name": "squares", "number": 1, "record": {}}),
        json.dumps({"format": 1, "name": "squares", "number": 0, "record": []}),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, text):
    """Half a record, or that of another trial, must not become a result."""
    (tmp_path / "00.json").write_text(text, encoding="utf-8")

    with pytest.raises(StudyStoreError, match=r"00\.json of squares is damaged"):
        counted()[0].load_records(tmp_path)


# --- in a reproduction ----------------------------------------------------------------------------

PLAN = Plan(
    task=CollectTask("grr", [1], model="logistic"),
    repeats=1,
    name="made up",
)


def completed(plan):
    """Return the plan with its schema, and rows that no data set has."""
    from evenhand.datasets import load

    people = load("causal", n=300, backend="pyarrow")
    return plan.with_(schema=people.schema), people.frame


def lost(_):
    """Raise what a data set that is not there raises."""
    raise DataSetNotFoundError("It is not here.")


def seen(evidence):
    """Check that the second square is one."""
    return Checked("agrees" if evidence.trials["squares"][1]["square"] == 1 else "contradicted", "It is.")


@pytest.fixture(name="paper", autouse=True)
def _paper(monkeypatch):
    paper = Paper(
        name="made2026",
        title="Made up",
        citation="Nobody (2026)",
        studies=lambda *_, **__: (Study("own rows", PLAN, completed=completed),),
        claims=(Claim("two", "2.", "1", seen, "fact", ("squares", "own rows")),),
        tables=lambda _: {},
        designs={"quick": "One.", "reduced": "Two.", "full": "All."},
        trials=lambda design: (
            counted(2 if design == "quick" else 3)[0],
            Trials("lost", 1, lost),
        ),
    )
    monkeypatch.setattr(reproduction, "paper_named", lambda _: paper)


def test_trials_are_evidence_like_studies(tmp_path):
    """A claim about a table that no study makes is judged with the others."""
    told = []
    found = reproduce("made2026", out=tmp_path, workers=1, progress=told.append)

    assert found.trials == {"squares": {0: {"square": 0}, 1: {"square": 1}}}
    assert found.missing == {"lost": "It is not here."}
    assert [row.verdict for row in found.claims] == ["agrees"]
    assert "- squares: 2 trials" in found.report()
    assert told[-1] == Finished(done=4, failed=0, total=5)


def test_a_study_may_bring_its_own_rows(tmp_path):
    """Roles and columns of a paper are not always those of the data set."""
    found = reproduce("made2026", out=tmp_path, only="own rows", workers=1, progress=False)

    assert found.studies["own rows"].facts.rows == 300
    assert found.claims[0].why == "Not run: squares."
    assert "- squares: not run" in found.report()


def test_trials_that_were_not_run_are_counted(tmp_path):
    """If this is false, half of the evidence looks like the whole."""
    reproduce("made2026", out=tmp_path, workers=1, progress=False)

    assert "- squares: 2 trials, 1 not run" in examine("made2026", tmp_path).report()
    assert examine("made2026", tmp_path, design="quick").studies["own rows"].facts.rows == 300


def test_stored_trials_are_examined(tmp_path):
    """Pages are written from what is finished."""
    reproduce("made2026", out=tmp_path, only=["squares"], workers=1, progress=False)
    found = examine("made2026", tmp_path, design="reduced")

    assert list(found.trials["squares"]) == [0, 1]
    assert found.claims[0].verdict == "cannot be checked"


def test_evidence_has_no_trials_unless_they_are_given():
    """Papers without any need not name them."""
    assert Evidence({}).trials == {}
