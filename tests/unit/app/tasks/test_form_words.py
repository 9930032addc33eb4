"""Every choice of a form says what it does, and every word behind a question mark is defined."""

import re
from fractions import Fraction

import pytest

from evenhand.app.pages.glossary import WORDS
from evenhand.app.tasks.registry import FORMS, form_of_kind
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.release.task import ReleaseTask

TERMS_OF_CODE = re.compile(r"one-hot|\bbit(?:s)?\b vector|zhu20|\bhash|Hash|:math:|`")


@pytest.mark.parametrize("kind", FORMS)
def test_every_word_of_a_form_is_in_the_glossary(kind):
    """A word without its definition is a closed door for somebody who never heard of it."""
    fields = form_of_kind(kind).fields(None, ("a", "b"))

    assert [field.term for field in fields if field.term and field.term not in WORDS] == []


@pytest.mark.parametrize("kind", FORMS)
def test_every_way_of_protecting_says_what_it_does_in_plain_words(kind):
    named = {"protocols", "mechanisms", "methods", "mitigations"}
    fields = [field for field in form_of_kind(kind).fields(None, ("a", "b")) if field.name in named]
    choices = [choice for field in fields for choice in field.choices]

    assert choices
    for choice in choices:
        assert choice.sentence[0].isupper(), choice
        assert choice.sentence.endswith("."), choice
        assert not TERMS_OF_CODE.search(choice.sentence), choice


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Laplace noise, ε = 0.1"),
        ({"post": "nonnegative"}, "Laplace noise (negatives set to 0), ε = 0.1"),
        ({"mitigation": "shrink"}, "Laplace noise (cut of small counts), ε = 0.1"),
    ],
)
def test_a_setting_of_a_decision_is_named_as_in_the_report(options, words):
    task = DecideTask(count="people")

    assert task.name_setting(Setting("laplace", Fraction(1, 10), options)) == words
    assert task.name_setting(Setting()) == "unprotected"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (
            Setting("laplace", Fraction(1, 2), {"post": "nonnegative"}),
            "Laplace noise (negatives set to 0), ε = 0.5",
        ),
        (Setting("suppression", None, {"threshold": 6}), "Suppression (threshold 6)"),
        (Setting("none"), "unprotected"),
    ],
)
def test_a_setting_of_a_table_is_named_as_in_the_report(setting, words):
    """Two names for one thing, one of them code, make people look for a difference."""
    assert ReleaseTask(["sex"]).name_setting(setting) == words
