"""The words of a rule's text."""

import pytest

from evenhand.decide.language.tokens import Token, refuse, tokens
from evenhand.errors import RuleError


def test_a_text_falls_into_words_with_their_places():
    found = tokens("`a b`>= 1_0.5e2 AND(x)")

    assert [(each.kind, each.text, each.place) for each in found] == [
        ("name", "a b", 0),
        ("sign", ">=", 5),
        ("number", "10.5e2", 8),
        ("word", "and", 16),
        ("sign", "(", 19),
        ("name", "x", 20),
        ("sign", ")", 21),
        ("end", "", 22),
    ]


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\x0b", "\x00", "\ufeff", "\u200b"])
def test_spaces_that_look_like_spaces_are_refused(space):
    """Two rules that look alike must not be read differently."""
    with pytest.raises(RuleError):
        tokens(f"x{space}> 3")


@pytest.mark.parametrize("digit", ["٣", "３", "²", "½", "x²"])
def test_digits_are_the_ten_on_the_keyboard(digit):
    """Others look like them in some fonts and not in others."""
    with pytest.raises(RuleError) as caught:
        tokens(f"x > {digit}")

    assert caught.value.column == 5


def test_a_token_is_shown_short():
    assert Token("name", "x" * 100, 0).shown == f"'{'x' * 34}'"
    assert Token("end", "", 0).shown == "the end"
    assert not Token("name", "and", 0).is_("and")


def test_the_message_stands_alone():
    with pytest.raises(RuleError) as caught:
        refuse("x > 3", 2, expected="y", got="'>'", hint="think.")

    assert str(caught.value) == (
        "The rule cannot be read at column 3: expected y, got '>'. Hint: think.\n    x > 3\n      ^"
    )
