"""The record of a study comes back as it was, and what is damaged or newer is refused with a sentence."""

import json

import pytest

from evenhand.app.state.record import DataChoice, StudyRecord, check_id, tidy_name
from evenhand.errors import UnknownNameError, UnreadableFileError

RECORD = StudyRecord(
    id="0123456789abcdef",
    name="Löhne “2024”",
    created=1_790_000_000.25,
    data=DataChoice(source="upload", label="löhne.csv", file="5c0ffee.csv", file_format={"delimiter": ";"}),
    roles={"target": "hired", "sensitive": ["sex", "age"]},
    columns={"age": {"type": "integer", "low": 18, "high": 67}},
    described=True,
    kind="release",
    form={"release": {"epsilons": ["0.5", "1"]}},
    tutorial=True,
)


def changed(**parts):
    document = json.loads(RECORD.to_json())
    return json.dumps({**document, **parts})


def test_a_record_comes_back_as_it_was():
    """Otherwise a restart would change what a person said."""
    assert StudyRecord.from_json(RECORD.to_json()) == RECORD


def test_a_changed_record_leaves_the_old_one_alone():
    assert RECORD.with_(name="b").name == "b"
    assert RECORD.name == "Löhne “2024”"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        changed(format="evenhand workbench study 2"),
        changed(format="something else"),
        changed(id="../../etc"),
        changed(id="0123456789ABCDEF"),
        changed(name=3),
        changed(name="\ud800"),
        changed(created="today"),
        changed(created=True),
        changed(data=[]),
        changed(data={"source": "upload"}),
        changed(data={"source": "web", "label": "a"}),
        changed(data={"source": "upload", "label": "a", "file": "../secret"}),
        changed(data={"source": "upload", "label": "a", "file": ".."}),
        changed(data={"source": "upload", "label": "a", "file": "/etc/passwd"}),
        changed(roles=[]),
        changed(columns={"age": 3}),
        changed(described="yes"),
        changed(unknown=1),
    ],
)
def test_a_damaged_or_newer_record_is_refused_with_a_hint(text):
    """If a damaged record were believed, a page would show or read what nobody chose."""
    with pytest.raises(UnreadableFileError, match="Hint:"):
        StudyRecord.from_json(text)


@pytest.mark.parametrize(
    "study", ["", "..", "0" * 15, "0" * 17, "0123456789abcdeF", "0123456789abcde/", None, 3]
)
def test_only_sixteen_hexadecimal_digits_are_an_id(study):
    """An id is the name of a folder: any other text could lead out of the workspace."""
    with pytest.raises(UnknownNameError):
        check_id(study)


def test_a_name_is_one_line_of_bounded_length():
    assert tidy_name("a\n\tb\u202ec") == "a b c"
    assert len(tidy_name("x" * 500)) == 120
