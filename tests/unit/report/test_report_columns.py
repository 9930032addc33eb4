"""Text in the columns of a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.columns import columns_of, pad, shorten, wrap

WIDE = "漢字語테스트女性"
LETTERS = st.text(alphabet="abc xyz-é\u0301" + WIDE, max_size=60)


def slow_width(text):
    """Return the columns of a text of the letters above, by a list."""
    return sum(2 if letter in WIDE else 0 if letter == "\u0301" else 1 for letter in text)


@given(LETTERS)
def test_wide_letters_take_two_columns_and_accents_none(text):
    """If not, every column to the right of a Chinese name would be shifted."""
    assert columns_of(text) == slow_width(text)


@given(LETTERS, st.integers(2, 30))
def test_wrapped_text_keeps_every_letter_in_the_room_it_has(text, columns):
    """If not, a line would be broken by the terminal, or a word would be lost."""
    lines = wrap(text, columns)

    assert all(slow_width(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


@given(LETTERS, st.integers(1, 30))
def test_shortened_text_fits_and_a_text_that_fits_is_left_as_it_is(text, columns):
    """If not, a long name would push its numbers away."""
    shown = shorten(text, columns)

    assert slow_width(shown) <= columns
    assert shown == text or slow_width(text) > columns


@pytest.mark.parametrize(("text", "right", "expected"), [("女", False, "女  "), ("女", True, "  女")])
def test_text_is_padded_by_its_columns(text, right, expected):
    """If blanks were counted by letters, tables with wide names would not line up."""
    assert pad(text, 4, right=right) == expected
