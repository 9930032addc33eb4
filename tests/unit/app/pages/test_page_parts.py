"""Addresses, roles, words and small parts of the pages."""

import shlex

import pytest
from htmltools import TagList

from evenhand.app.flow.steps import STEPS
from evenhand.app.pages.address import Address, help_address, read_address, study_address
from evenhand.app.pages.columns import ROLES, change_role, role_of
from evenhand.app.pages.glossary import WORDS, read_words, term
from evenhand.app.pages.parts import (
    bold,
    button,
    chips,
    error_note,
    one_option_a_line,
    select,
    table,
    text_input,
)
from evenhand.app.pages.run import duration_words
from evenhand.app.pages.side import SHORT
from evenhand.app.pages.tutorial import SENTENCES

HOSTILE = '"><script>alert(1)</script>'
STUDY = "0123456789abcdef"


@pytest.mark.parametrize("step", STEPS)
def test_the_address_of_a_step_is_read_back(step):
    assert read_address(study_address(STUDY, step)) == Address("study", STUDY, step)


@pytest.mark.parametrize("text", ["", "#", "#/", "#/nowhere", "#/study", "javascript:alert(1)"])
def test_an_address_that_names_no_page_is_the_first_page(text):
    assert read_address(text) == Address()


def test_the_address_of_help_keeps_its_parts():
    assert read_address(help_address("mechanisms/grr")).page == "mechanisms/grr"


@pytest.mark.parametrize("role", ROLES)
def test_a_column_has_the_role_that_it_was_given(role):
    """A role that is not kept sends people in circles on the schema page."""
    before = {"target": "income", "positive": "high", "protected": ["sex"], "sensitive": ["sex", "age"]}

    assert role_of(change_role(before, "region", role), "region") == role


def test_a_column_that_gets_another_role_loses_the_old_one():
    roles = change_role({"protected": ["sex"], "sensitive": ["sex"]}, "sex", "clear")

    assert roles == {}


def test_the_good_outcome_goes_with_its_target():
    roles = change_role({"target": "income", "positive": "high"}, "hired", "target")

    assert "positive" not in roles


def test_the_privileged_group_stays_when_another_column_changes():
    roles = change_role({"protected": ["sex"], "privileged": "m"}, "age", "sensitive")

    assert roles["privileged"] == "m"


@pytest.mark.parametrize(
    "part",
    [
        bold(f"**{HOSTILE}** {HOSTILE}"),
        error_note(HOSTILE),
        button(HOSTILE, "do", data_study=HOSTILE),
        select("name", [(HOSTILE, HOSTILE)], HOSTILE, do="x"),
        text_input("name", HOSTILE, do="x"),
        chips("name", HOSTILE, [(HOSTILE, HOSTILE, HOSTILE)], [HOSTILE], do="x"),
        table([HOSTILE, "b"], [[HOSTILE, HOSTILE]], caption=HOSTILE),
    ],
)
def test_text_of_data_never_becomes_markup(part):
    """A value of a file that runs as a script would own the workbench."""
    html = str(TagList(part))

    assert "alert(1)" in html
    assert "<script" not in html
    assert '"><script' not in html


def test_a_command_has_one_option_a_line_and_the_same_words():
    command = "evenhand audit 'my file.csv' --rule '(a > 1) -- b' --epsilon 1,2"
    broken = one_option_a_line(command)

    assert shlex.split(broken.replace("\\\n", " ")) == shlex.split(command)
    assert broken.count("\n") == 2


def test_every_definition_is_a_sentence():
    assert [key for key, word in WORDS.items() if not word.text.endswith(".")] == []


def test_a_term_without_words_has_a_name_for_those_who_do_not_see_it():
    assert 'aria-label="What is: ε (epsilon)"' in str(term("epsilon"))


def test_the_tutorial_has_a_sentence_for_each_step():
    assert list(SENTENCES) == list(STEPS) == list(SHORT)


def test_the_help_on_reports_has_findings_as_headings():
    parts = read_words("reading")["part"]

    assert len(parts) >= 5
    assert all(part["heading"] and part["text"].endswith(".") for part in parts)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0 s"), (59.4, "59 s"), (60, "1 min 0 s"), (3600, "1 h 0 min")]
)
def test_a_time_is_said_in_its_largest_units(seconds, words):
    assert duration_words(seconds) == words
