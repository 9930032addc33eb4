"""What is said of the data stands in the language of the report."""

import pandas as pd
import pytest

from evenhand.report.language import written_in
from evenhand.study import CollectTask, Plan
from evenhand.study.intake.opening import open_data
from evenhand.study.intake.setup import RoleOptions, set_up
from evenhand.study.run.prepare import prepare
from unit.study.page.test_languages import ENGLISH

ROLES = RoleOptions(
    target="hired", positive="1", protected="white", privileged="1", sensitive=("white", "age")
)


@pytest.fixture
def path(tmp_path):
    people = pd.DataFrame(
        {
            "id": range(400),
            "white": [1, 1, 1, 0] * 100,
            "black": [0, 0, 0, 1] * 100,
            "age": [20 + place % 61 for place in range(400)],
            "town": [None, "a", "b", "b"] * 100,
            "hired": [0, 1] * 200,
        }
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def notes(path, language):
    with written_in(language):
        opened = open_data(str(path))
        setup = set_up(opened, ROLES)
        task = CollectTask("grr", 0.01, model="logistic")
        plan = Plan(data=opened.source, schema=setup.schema, task=task, notes=setup.sentences)
        return prepare(plan, frame=opened.frame).facts.notes


def test_a_german_study_has_no_note_in_english(path):
    german, english = notes(path, "de"), notes(path, "en")

    assert len(german) == len(english) >= 5
    assert not any(ENGLISH.search(note) for note in german)
    assert [note.kind for note in german] == [note.kind for note in english]


def test_english_notes_are_in_english(path):
    """The twin of the test above."""
    assert all(ENGLISH.search(note) for note in notes(path, "en"))
