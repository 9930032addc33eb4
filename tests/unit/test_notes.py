"""Notes: sentences that keep their kind wherever they go."""

import copy
import pickle

import pytest

from evenhand._notes import KINDS, Note
from evenhand.errors import InvalidParameterError
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.store.canonical import facts_from, facts_text, outcome_from, result_text
from evenhand.study.store.outcome import Outcome
from unit.study._page_studies import schema_of

LEAK = Note("privacy", "The domains were read from the rows.")


@pytest.mark.parametrize("kind", KINDS)
def test_a_note_keeps_its_kind_when_it_is_copied_or_sent_to_a_worker(kind):
    note = Note(kind, "A sentence.")

    for other in (copy.deepcopy(note), pickle.loads(pickle.dumps(note)), Note.of(note.plain)):
        assert (other.kind, str(other)) == (kind, "A sentence.")


def test_a_note_is_text():
    assert LEAK == "The domains were read from the rows."
    assert f"{LEAK}" == str(LEAK)


def test_a_kind_that_is_not_known_is_refused():
    with pytest.raises(InvalidParameterError, match="'kind' parameter of Note must be one of data, privacy"):
        Note("gossip", "A sentence.")


def test_a_plan_file_keeps_the_kinds_of_its_notes():
    plan = Plan(notes=(LEAK, "The study uses 500 of the rows."))
    again = Plan.from_toml(plan.to_toml())

    assert [note.kind for note in again.notes] == ["privacy", "data"]
    assert again == plan


@pytest.mark.parametrize(
    "note", [{"kind": "gossip", "text": "a"}, {"kind": "data"}, {"kind": "data", "text": 1}, 7]
)
def test_a_plan_refuses_notes_that_are_no_sentences(note):
    with pytest.raises(
        InvalidParameterError, match="a list of sentences, or of tables with 'kind' and 'text'"
    ):
        Plan(notes=(note,))


def test_stored_facts_keep_the_kinds_of_their_notes():
    schema = schema_of()
    facts = Facts(
        label="a", schema=schema, rows=1, dropped=0, groups=("women", "men"), privileged=1, sizes=(1, 0),
        fingerprint="0", notes=(LEAK, "Another."),
    )  # fmt: skip

    assert [note.kind for note in facts_from(facts_text(facts)).notes] == ["privacy", "data"]


def test_stored_outcomes_keep_the_kinds_of_their_notes():
    cell = Plan(repeats=1).cells()[0]
    outcome = Outcome(cell, notes=(Note("total", "It may be 0."), "exact"))
    again = outcome_from(cell, result=result_text(outcome), seconds="{}")

    assert [(note.kind, str(note)) for note in again.notes] == [
        ("total", "It may be 0."),
        ("method", "exact"),
    ]
