"""A payer is not named alone where another group may lose as much."""

import numpy as np

from evenhand.answer.compose import compose
from evenhand.answer.effects import Observation
from evenhand.answer.harm import find_payers
from unit.answer._tables import PAGE, make, runs, see

_WIGGLE = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 0.5])


def _table(*seen):
    return make(*seen).table


def _payers(table):
    return [payer.row.group for payer in find_payers(table).payers]


def test_a_payer_beside_an_open_group_is_not_named_without_a_caveat():
    wide = Observation(PAGE, "small", "selected", 250 + 90 * _WIGGLE, np.full(10, 310.0), 40.0)
    made = _table(see("large", "selected", 280, 300), wide)

    verdict = find_payers(made)
    assert _payers(made) == ["large"]
    assert [row.group for row in verdict.maybe_worse] == ["small"]


def test_a_payer_that_may_lose_more_by_another_effect_is_no_other_group():
    """If it were, the verdict would suspect a group that cannot lose as much."""
    own = Observation(PAGE, "large", "selected", 250 + 90 * _WIGGLE, np.full(10, 300.0), 1_000.0)
    other = Observation(PAGE, "other", "selected", 292 + 9 * _WIGGLE, np.full(10, 300.0), 1_000.0)
    verdict = find_payers(_table(see("large", "wrongly_refused", 240, 200), own, other))

    assert [payer.row.group for payer in verdict.payers] == ["large"]
    assert {row.group for row in verdict.open} == {"large", "other"}
    assert max(row.bound for row in verdict.open if row.group == "large") > verdict.payers[0].amount
    assert verdict.maybe_worse == ()


def test_a_group_that_differs_in_a_few_repeats_is_bounded_below_the_payer():
    """If not, a group that lost nothing in 26 of 30 repeats would be said to lose perhaps as much or more."""
    lost, rare = 120 + np.tile(3 * _WIGGLE, 3), np.array([0.0] * 26 + [146, 152, 145, 148])
    payer = Observation(PAGE, "payer", "selected", 173 - lost, np.full(30, 173.0), 15_000.0)
    beside = {
        factor: Observation(PAGE, "rare", "selected", 795 - factor * rare, np.full(30, 795.0), 25_000.0)
        for factor in (1, 5)
    }

    found = {factor: find_payers(_table(payer, each)) for factor, each in beside.items()}
    assert [row.group for row in found[1].open] == ["rare"]
    assert (found[1].maybe_worse, _payers(_table(payer, beside[1]))) == ((), ["payer"])
    assert 90 < found[1].open[0].bound < 100
    assert [row.group for row in found[5].maybe_worse] == ["rare"]


def test_an_open_group_with_limits_comes_before_one_without():
    """If not, a page would begin with what it knows nothing of."""
    rare = runs("men", "selected", [300] * 8 + [200, 210], 300)
    view = compose(make([see("women", "selected", 295, 300, wiggle=40), rare]))

    assert view.who.text == "It is still open for women and men."
    assert view.how_much.text == "Of 1,000 women, up to 43 could lose, or up to 29 gain."
