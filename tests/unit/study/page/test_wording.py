"""Numbers and names as sentences have them."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.html import sentence
from evenhand.report.words import epsilon_of, plain
from unit.study._page_studies import setting


@given(st.text(max_size=80))
def test_text_from_data_is_one_line_that_ends_no_bold(text):
    """A label with asterisks must not move where a finding ends."""
    shown = plain(text)

    assert "**" not in shown
    assert "\n" not in shown
    assert 0 < len(shown) <= 2 * 60
    assert str(sentence(f"**The gap of {shown}:** x")).count("<b>") == 1


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [
        (1.12346, "1.124"),
        (0.1, "0.1"),
        (1.1, "1.1"),
        (10, "10"),
        (0, "0"),
        (Fraction(1, 3), "0.3334"),
        (Fraction(1123, 1000) + Fraction(1, 10**30), "1.124"),
        (19.9999, "20"),
        (math.inf, "∞"),
    ],
)
def test_an_epsilon_is_never_shown_below_what_it_is(epsilon, shown):
    assert epsilon_of(epsilon) == shown
    assert str(setting("grr", "1/3")).endswith("ε = 0.333334")
