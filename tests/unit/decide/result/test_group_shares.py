"""What each group of people gains or loses."""

import math

import numpy as np
import pytest

from evenhand.decide.result.breakdown import group_shares
from evenhand.decide.result.decided import Decided
from evenhand.decide.result.figures import BANNER
from evenhand.errors import InvalidParameterError, UnknownNameError

PEOPLE = {"young": [40, 100, 0], "old": [60, 20, 0]}


def made(kind="allotment", **changed):
    given = {
        "kind": kind,
        "problem": "made up",
        "noise": "made up",
        "names": ["North", "South", "Nowhere"],
        "truth": [True, False, True] if kind == "rule" else [0.5, 0.3, 0.2],
        "bias": [-0.25, 0.1, -0.5] if kind == "rule" else [-0.01, 0.004, 0.006],
        "variance": [0.1, 0.1, 0.1],
        "method": "made up",
        "populations": PEOPLE,
    }
    return Decided(**given | changed)


def slow(decided, money):
    """Give every person of a place an equal part of what the place gains, one by one."""
    gains = dict.fromkeys(decided.populations, 0.0)
    for place, bias in enumerate(decided.bias):
        lives = [group for group, people in decided.populations.items() for _ in range(people[place])]
        for group in lives:
            gains[group] += money * bias / len(lives)
    return gains


def test_a_group_gains_what_its_people_gain():
    """The same as handing out the money person by person."""
    decided = made(budget=1000.0)
    found = group_shares(decided)
    expected = slow(decided, 1000)

    assert {each.group: each.gain for each in found.groups} == pytest.approx(expected)
    assert found["young"].gain_per_head == pytest.approx(expected["young"] / 140)
    assert found["old"].due == pytest.approx(1000 * (0.5 * 0.6 + 0.3 / 6))
    assert found.gap == pytest.approx(abs(expected["young"] / 140 - expected["old"] / 80))
    assert found.in_money


def test_money_of_places_without_people_goes_to_no_group():
    found = group_shares(made(budget=1000.0))

    assert found.nobody == pytest.approx(6)
    assert sum(each.gain for each in found.groups) + found.nobody == pytest.approx(0, abs=1e-12)


def test_without_a_budget_gains_are_parts_of_the_whole():
    found = made().by("group")

    assert not found.in_money
    assert found["young"].gain == pytest.approx(-0.01 * 0.4 + 0.004 * 100 / 120)
    assert group_shares(made(), budget=10)["young"].gain == pytest.approx(10 * found["young"].gain)


def test_people_are_wrongly_refused_where_a_rule_holds_and_wrongly_granted_elsewhere():
    found = group_shares(made("rule"))

    assert (found["young"].refused, found["young"].granted) == pytest.approx((10, 10))
    assert (found["old"].refused, found["old"].granted) == pytest.approx((15, 2))
    assert found["old"].gain_per_head == pytest.approx(-13 / 80)
    assert found["old"].due == 60


def test_a_group_of_nobody_has_no_gain_per_head():
    found = group_shares(made(populations={"young": [0, 0, 0], "old": [1, 1, 1]}))
    nobody = group_shares(made("rule", populations={"young": [0, 0, 0]}))

    assert math.isnan(found["young"].gain_per_head)
    assert found["young"].gain == 0
    assert found.gap == 0
    assert math.isnan(nobody.gap)
    assert math.isnan(nobody["young"].gain_per_head)


def test_errors_carry_over_to_groups():
    """Independent places cancel; places that share noise may not."""
    spread = {"standard_error": [0.1, 0.1, 0.1], "draws": 100}
    alone = group_shares(made("rule", **spread))
    tied = group_shares(made(coupled=True, budget=10.0, **spread))

    assert alone["young"].standard_error == pytest.approx(0.1 * np.hypot(40, 100))
    assert tied["young"].standard_error == pytest.approx(10 * 0.1 * (0.4 + 100 / 120))
    assert alone["young"].error_bound is None
    exact = group_shares(made(error_bound=[1e-3, 1e-3, 1e-3]))
    assert exact["old"].error_bound == pytest.approx(1e-3 * (0.6 + 20 / 120))
    assert exact["old"].standard_error is None
    assert group_shares(made(error_bound=[np.nan] * 3))["old"].error_bound is None


def test_groups_in_another_order_are_the_same_groups():
    turned = {name: PEOPLE[name] for name in ("old", "young")}

    assert group_shares(made(populations=turned))["old"] == group_shares(made())["old"]


def test_it_is_shown_with_the_banner():
    for found in (group_shares(made("rule")), group_shares(made()), group_shares(made(budget=5.0))):
        assert str(found).startswith(BANNER)
        assert BANNER in found._repr_html_()
        assert found.to_frame("pyarrow").num_rows == len(found) == 2
    assert "wrongly refused" in str(group_shares(made("rule")))
    assert "<b>" not in group_shares(made(populations={"<b>": [1, 1, 1]}))._repr_html_()


def test_groups_that_are_not_there_are_refused():
    with pytest.raises(InvalidParameterError, match="populations by group"):
        group_shares(made(populations={}))
    with pytest.raises(UnknownNameError, match=r"Group 'yuong' is not known.*young"):
        group_shares(made())["yuong"]
    with pytest.raises(InvalidParameterError, match="'budget'"):
        group_shares(made(), budget=-5)
