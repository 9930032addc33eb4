"""Numbers and text as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.html import sentence
from evenhand.report.language import money_in_language, written_in
from evenhand.report.marks import Estimate
from evenhand.report.words import clean, epsilon_of, number, shortened, value_of, width_of


@given(st.text())
def test_clean_text_can_be_written_and_read_as_xml(text):
    """A control character in one label would make the whole picture unreadable."""
    from xml.etree import ElementTree as ET
    from xml.sax.saxutils import escape

    kept = clean(text)

    kept.encode()
    ET.fromstring(f"<g>{escape(kept)}</g>")
    assert clean(kept) == kept


def test_direction_marks_are_dropped_and_scripts_are_kept():
    assert clean("a\u202eb\u2066c\ufeff") == "abc"
    assert clean("نساء 女性 👩\u200d🔬") == "نساء 女性 👩\u200d🔬"


@pytest.mark.parametrize(
    ("value", "digits", "sign", "expected"),
    [(-0.04, 1, True, "0.0"), (0.0, 0, True, "0"), (-1234.5, 1, False, "−1,234.5"), (3, 2, True, "+3.00")],
)
def test_numbers_have_a_true_minus_and_no_sign_on_nought(value, digits, sign, expected):
    assert number(value, digits, sign=sign) == expected


@pytest.mark.parametrize(
    ("language", "currency", "expected"),
    [("en", "$", "$1,234"), ("en", "EUR ", "EUR 1,234"), ("en", "", "1,234"), ("de", "$", "1.234\xa0$"),
     ("de", "EUR ", "1.234\xa0EUR"), ("de", "", "1.234")],
)  # fmt: skip
def test_money_is_written_as_the_language_does(language, currency, expected):
    with written_in(language):
        assert money_in_language(number(1234, 0), currency) == expected


def test_a_value_without_an_interval_stands_alone():
    assert value_of(Estimate(0.5), times=100) == "50.0"
    assert value_of(Estimate(0.5, 0.4, None), times=100) == "50.0"
    assert value_of(Estimate(-0.02, -0.03, -0.01), times=100) == "−2.0 (−3.0 to −1.0)"


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.1, "0.1"), (1.0, "1"), (1 / 3, "0.3334"), (math.inf, "∞")]
)
def test_epsilon_is_said_briefly_and_never_below_what_it_is(epsilon, expected):
    assert epsilon_of(epsilon) == expected


@given(st.text(), st.floats(20, 400))
def test_a_shortened_text_fits(text, width):
    assert width_of(shortened(text, width)) <= width


def test_short_text_stays_whole():
    assert shortened("a  b\n c", 200) == "a b c"
    assert width_of("e\u0301") == width_of("e")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a **b** c", "a <b>b</b> c"),
        ("** a ** b", "** a ** b"),
        ("2 ** 3", "2 ** 3"),
        ("**<i>**", "<b>&lt;i&gt;</b>"),
        ("ε = 1 and ε ≤ 4", "ε\u00a0=\u00a01 and ε\u00a0≤\u00a04"),
        ("(−1.0 to +2.5%)", '<span class="interval">(−1.0 to +2.5%)</span>'),
        ("(here to there)", "(here to there)"),
        ("\"&'", "&#34;&amp;&#39;"),
    ],
)
def test_a_sentence_is_escaped_and_then_set(text, expected):
    assert str(sentence(text)) == expected


BOLD = dict(
    zip(
        "AUTOGRSPIMLEoher() ",
        (722, 722, 611, 778, 778, 722, 667, 667, 278, 833, 611, 667, 611, 611, 556, 389, 333, 333, 278),
        strict=True,
    )
)
"""Widths of letters in bold Arial and Liberation Sans, in thousandths of the size of the type."""


@pytest.mark.parametrize("name", ["AUTO (here GRR or SS)", "OPTIMAL", "RAPPOR", "OUE", "GRR"])
def test_names_in_capitals_are_given_the_room_that_they_take(name):
    """The first letter of a name beside its row was cut off on a phone."""
    assert width_of(name, bold=True) >= sum(BOLD[letter] for letter in name) * 12 / 1000
