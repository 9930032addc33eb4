"""Numbers and names as sentences have them."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.html import sentence
from evenhand.report.words import epsilon_of, plain
from evenhand.study.page.wording import amount, change, digits_that_agree, points, round_apart
from evenhand.study.results.estimates import Estimated
from evenhand.study.tasks.collect.wording import protocol_name, setting_name, way_name
from unit.study._page_studies import NOTHING, setting


def test_a_value_that_does_not_exist_is_called_undefined():
    """ "nan points" says nothing to anybody."""
    assert change(Estimated(math.nan)) == points(math.nan) == "undefined"


def test_without_an_interval_there_are_no_brackets():
    assert change(Estimated(0.012)) == "+1.2"
    assert amount(Estimated(-0.012)) == "1.2 points"


def test_a_gain_and_a_loss_of_one_size_have_one_amount():
    assert amount(Estimated(0.009, 0.008, 0.011)) == amount(Estimated(-0.009, -0.011, -0.008))


@given(low=st.floats(1e-6, 0.5), width=st.floats(1e-9, 0.3))
def test_an_interval_that_leaves_out_no_difference_is_never_shown_with_nought(low, width):
    """A reader would take it for one that includes no difference."""
    found = Estimated(low + width / 2, low, low + width)
    shown = amount(found).partition("(")[2].partition(" ")[0]

    assert found.is_clear
    assert float(shown) > 0 or low < 5e-7


@given(before=st.floats(0, 1), moved=st.floats(-0.01, 0.01))
def test_numbers_shown_side_by_side_add_up(before, moved):
    """ "30.0 become 30.0, a change of −0.1" makes a reader doubt every other number."""
    after = before + moved
    digits = digits_that_agree(before, after, moved)
    if digits is None:
        return
    shown = [round(float(f"{100 * value:.{digits}f}"), digits) for value in (before, after, moved)]

    assert round(shown[1] - shown[0], digits) == shown[2]


@given(before=st.floats(0.01, 0.99), moved=st.floats(1e-5, 0.01))
def test_a_clear_change_is_never_from_a_number_to_the_same(before, moved):
    found = Estimated(moved, moved / 2, 2 * moved)
    first, second = round_apart(Estimated(before), Estimated(before + moved), found)

    assert points(first.value, first.digits) != points(second.value, second.digits)


@given(st.text(max_size=80))
def test_text_from_data_is_one_line_that_ends_no_bold(text):
    """A label with asterisks must not move where a finding ends."""
    shown = plain(text)

    assert "**" not in shown
    assert "\n" not in shown
    assert 0 < len(shown) <= 2 * 60
    assert str(sentence(f"**The gap of {shown}:** x")).count("<b>") == 1


def test_settings_are_named_with_all_that_tells_them_apart():
    assert setting_name(NOTHING) == "unprotected"
    assert epsilon_of(NOTHING.epsilon) == "∞"
    assert (
        setting_name(setting("olh", "1/3", as_printed=True)) == "OLH (as printed), uniform split, ε = 0.3334"
    )
    assert setting_name(setting("olh", 1, g=4), epsilon=False) == "OLH (g 4), uniform split"
    assert way_name(setting(split="sample")) == "one column asked of each person"


def test_two_tables_never_have_one_name():
    """Lines of a chart are told apart by names: of 600 tables with four digits each, two are likely alike."""
    tables = [{"weights": [0.5, 0.5], "rates": [0.2, each / 1000]} for each in range(600)]
    names = {protocol_name(setting("optimal", 1, outcomes=each)) for each in tables}

    assert len(names) == len(tables)


def test_a_long_name_keeps_what_tells_it_apart():
    """What differs may stand behind the place where a name is cut."""
    table = {"weights": [0.5, 0.5], "rates": [0.2, 0.4]}
    given = {"error": 0.123456789, "kind": "difference", "outcomes": table}
    first, second = (protocol_name(setting("optimal", 1, **given, target=each)) for each in ("1/3", "1/4"))

    assert first != second
    assert len(first) < 80


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
