"""A page in German: its words, its numbers, and that nothing of English stays behind."""

import re

import pytest

from evenhand.report.language import written_in
from evenhand.report.words import interval_of, number
from evenhand.study.page.words import words_in

ENGLISH = re.compile(r"\b(?:the|of|and|with|than|that|people|accuracy|gap|settings?|runs?|repeats?|points)\b")


def test_the_language_ends_with_its_block():
    with written_in("de"):
        assert (number(1234.5), interval_of(0.5, 1)) == ("1.234,5", "(0,5 bis 1,0)")
    assert (number(1234.5), interval_of(0.5, 1)) == ("1,234.5", "(0.5 to 1.0)")


def test_an_error_ends_the_language_as_well():
    with pytest.raises(ZeroDivisionError), written_in("de"):
        _ = 1 / 0
    assert number(0.5) == "0.5"


@pytest.mark.parametrize(
    ("language", "key", "count", "words"),
    [
        ("en", "method.empty", 1, "1 combination of sex and age, of 8 in all, nobody has: this is no group."),
        (
            "en",
            "method.empty",
            3,
            "3 combinations of sex and age, of 8 in all, nobody has: these are no groups.",
        ),
        ("de", "method.empty", 1, "1 Kombination von a, von 8 insgesamt, hat niemand: das ist keine Gruppe."),
    ],
)
def test_a_verb_agrees_with_its_number(language, key, count, words):
    columns = "sex and age" if language == "en" else "a"
    slots = {"failed": count, "empty": count, "total": 10, "combinations": 8, "columns": columns}

    assert words_in(language).say(key, **slots) == words
