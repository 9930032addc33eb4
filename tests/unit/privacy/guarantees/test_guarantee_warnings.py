"""Warnings come once, with the figure of the whole, at the line of the caller."""

import functools
import inspect
import warnings

import pytest

from evenhand.errors import PrivacyWarning
from evenhand.privacy import Guarantee
from evenhand.privacy.guarantees import wording as _wording

CENTRAL = {"unit": "replace one", "trust": "central"}
ADD = {"unit": "add or remove one", "trust": "central"}
REPORT = {"unit": "one report", "trust": "local"}


def here():
    return inspect.currentframe().f_back.f_lineno


SIX, SEVEN = Guarantee(epsilon=6, **CENTRAL), Guarantee(epsilon=7, **CENTRAL)
RHO = Guarantee(rho=2, **CENTRAL)
ONE = Guarantee(epsilon=1, delta="1/1000", people=999, **CENTRAL)
ROW = Guarantee(epsilon=6, **REPORT)
MAKERS = {
    "class": lambda: (Guarantee(epsilon=12, **CENTRAL), here()),
    "pure": lambda: (Guarantee.pure(12, **CENTRAL), here()),
    "approximate": lambda: (Guarantee.approximate(12, 0, **CENTRAL), here()),
    "sum": lambda: (SIX + SEVEN, here()),
    "whole": lambda: (SIX | SEVEN, here()),
    "parallel": lambda: (Guarantee.parallel(SIX, SEVEN), here()),
    "group": lambda: (SIX.group(2), here()),
    "unit": lambda: (ROW.as_unit("replace one", reports=2), here()),
    "conversion": lambda: (RHO.to_approximate(delta="1e-9"), here()),
    "sum()": lambda: (sum([SIX, SEVEN]), here()),
    "reduce": lambda: (functools.reduce(lambda a, b: a | b, [SIX, SEVEN]), here()),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_warning_points_at_the_line_that_made_the_guarantee(make):
    """A warning that points into the package cannot be found, and hides all others from there."""
    with pytest.warns(PrivacyWarning, match="allows odds to change") as caught:
        _, line = make()

    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]


def the_warnings(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("compose", [Guarantee.__add__, Guarantee.__or__, Guarantee.parallel])
def test_the_whole_is_warned_of_and_not_a_step_on_the_way(compose):
    """Six for adding or removing is twelve for replacing, but nobody asked for that figure."""
    told = the_warnings(lambda: compose(Guarantee(epsilon=6, **ADD), SEVEN))

    assert len(told) == 1
    assert "epsilon = 19 " in told[0]


def test_trouble_that_a_part_had_is_not_told_again_after_a_change_of_units():
    with pytest.warns(PrivacyWarning):
        twelve = Guarantee(epsilon=12, **ADD)

    assert the_warnings(lambda: twelve | SEVEN) == []
    assert the_warnings(lambda: twelve + SEVEN) == []


def test_parts_of_unknown_size_still_warn_of_a_delta_that_is_large_for_those_known():
    unknown = Guarantee(epsilon=1, delta="1/1000", **CENTRAL)
    told = the_warnings(lambda: ONE | unknown)

    assert (ONE | Guarantee(epsilon=1, **CENTRAL)).people is None
    assert len(told) == 1
    assert told[0].startswith(
        "Caution: delta = 0.002 with 999 people, so delta is at least one in their number"
    )


def test_no_sentence_is_made_for_a_guarantee_that_nobody_reads(monkeypatch):
    """Sentences cost far more than sums; a thousand sums would wait for a thousand sentences."""
    monkeypatch.setattr(_wording, "round_decimal", None)
    monkeypatch.setattr(_wording, "exp_bounds", None)

    total = sum([Guarantee(epsilon="1/7", delta="1/50", people=3, **CENTRAL)] * 9)

    assert total.epsilon.numerator == 9
