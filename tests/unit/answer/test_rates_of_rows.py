"""Effects that are rates of rows: their limits, and comparisons of groups that share people."""

import numpy as np
import pytest

from evenhand.answer.effects import EffectTable, Observation, Option
from evenhand.answer.harm import find_payers, lacks, sample_difference
from evenhand.answer.status import judge, limit_samples
from evenhand.measure import share_difference
from evenhand.measure.contrasts import rate_of
from evenhand.measure.counts import Tables

OTHERS, PAGE = "others", "decisions"
STRATA = Tables(np.array([[100, 100, 0, 0], [150, 50, 0, 0], [60, 140, 0, 0]]))
SELECTED, OF = (100, 50, 140), 200


def see(place, *, option=PAGE, strata=STRATA, effect="selected", **more):
    """Return how many of a stratum are selected, beside everybody outside it."""
    own = np.arange(3) == place
    after, due = rate_of(strata, "selection", own, 1000), rate_of(STRATA, "selection", ~own, 1000)
    numbers = {"after": np.array([after.value]), "due": np.array([due.value]), "people": 200.0}
    numbers |= {"contrasts": (after, due), **more}
    return Observation(option, "abc"[place], effect, basis="rows", **numbers)


def table(*seen, options=(), **more):
    return EffectTable((Option(OTHERS), Option(PAGE, OTHERS), *options), seen, PAGE, **more)


def test_limits_are_found_at_the_level_of_the_family():
    """A single standard error would be as wide on both sides, also beside a rate of 0."""
    rows = judge(table(*(see(place) for place in range(3))))
    low, high = share_difference(SELECTED[0], OF, SELECTED[1] + SELECTED[2], 2 * OF, 1 - 0.05 / 3)
    _, most = share_difference(SELECTED[1] + SELECTED[2], 2 * OF, SELECTED[0], OF, 0.9)

    assert (rows[0].low, rows[0].high) == pytest.approx((1000 * low, 1000 * high))
    assert rows[0].bound == pytest.approx(1000 * most)  # to be selected less hurts


def test_a_remedy_is_compared_with_the_step_before_it():
    """Limits of what it has beyond what is due would call a change clear that nobody sees."""
    better = Tables(np.array([[90, 110, 0, 0], [100, 100, 0, 0], [60, 140, 0, 0]]))
    remedy = Option("cure", PAGE, is_remedy=True)
    made = table(see(1), see(1, option="cure", strata=better), options=(remedy,))
    row = next(row for row in judge(made) if row.setting == "cure")

    assert row.change == pytest.approx(250)
    assert (row.low, row.high) == pytest.approx(
        tuple(1000 * float(limit) for limit in share_difference(100, 200, 50, 200))
    )


def test_two_lacks_are_compared_by_the_people_behind_both():
    """Each group is among those whom the other is compared with."""
    made = table(see(0), see(1))
    one, other = made.observations
    sample = sample_difference(one, lacks(made, one), other, lacks(made, other))
    limits = limit_samples([sample], 0.95)[0]
    apart = np.hypot(*(np.ptp(seen.contrasts[0].limits(0.95)) for seen in made.observations))

    assert limits.mean == pytest.approx(float(lacks(made, one)[0] - lacks(made, other)[0]))
    assert limits.high - limits.low > 1.2 * apart


def test_nobody_counted_is_unjudged_and_does_not_forbid_nobody():
    """Rows hold all that there is: a rate of nobody is no gap in what a folder stores."""
    empty = see(2, after=np.array([]), due=np.array([]), people=0.0, contrasts=None)
    [row] = judge(table(empty))

    assert row.status == "unjudged"
    assert [each.group for each in find_payers(table(empty)).unjudged] == ["c"]


def test_context_is_shown_and_hurts_nobody():
    shown = table(see(1), context=frozenset({"selected"}))
    [row] = judge(shown)

    assert (row.harm, row.status) == ("", "clear")
    assert find_payers(table(see(1))).payers
    assert not find_payers(shown).payers
