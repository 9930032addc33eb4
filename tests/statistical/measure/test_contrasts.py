"""How often limits of the difference between two groups' lacks hold the truth, where both share people.

Nothing is simulated: all counts of three small groups are gone through, each with its probability.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.measure import share_difference
from evenhand.measure.contrasts import rate_of
from evenhand.measure.counts import Tables

pytestmark = pytest.mark.figures

SIZES = (10, 10, 3)
LEVEL = 0.8
CORNERS = [(0.3, 0.3, 0.3), (0.5, 0.5, 0.5), (0.5, 0.2, 0.3)]


def lack(strata, place):
    """Return the rate of a group less that of everybody outside it."""
    own = np.arange(3) == place
    return rate_of(strata, "selection", own) - rate_of(strata, "selection", ~own)


def lack_of(rates, place):
    """Return the same, of true rates."""
    others = [at for at in range(3) if at != place]
    return rates[place] - sum(SIZES[at] * rates[at] for at in others) / sum(SIZES[at] for at in others)


def exactly(strata):
    return (lack(strata, 0) - lack(strata, 1)).limits(LEVEL)


def as_if_apart(strata):
    """Return limits as if the two lacks had nobody in common, which is wrong."""
    ends = [(lack(strata, place).value, *lack(strata, place).limits(LEVEL)) for place in (0, 1)]
    (one, low, high), (two, least, most) = ends
    return one - two - math.hypot(one - low, most - two), one - two + math.hypot(high - one, two - least)


def coverage(method, rates):
    """Return how often limits hold the true difference of the two lacks."""
    laws = [binom.pmf(np.arange(size + 1), size, rate) for size, rate in zip(SIZES, rates, strict=True)]
    truth = lack_of(rates, 0) - lack_of(rates, 1)
    held = 0.0
    for counts in product(*(range(size + 1) for size in SIZES)):
        chance = math.prod(law[count] for law, count in zip(laws, counts, strict=True))
        cells = [[size - count, count, 0, 0] for size, count in zip(SIZES, counts, strict=True)]
        low, high = method(Tables(np.array(cells)))
        held += chance * (low - 1e-12 <= truth <= high + 1e-12)
    return held


@pytest.mark.parametrize("rates", CORNERS)
def test_limits_of_two_lacks_allow_for_the_people_that_both_count(rates):
    """A group is among those whom the other is compared with: where one lacks more, the other lacks less."""
    assert coverage(exactly, rates) >= LEVEL


def test_limits_that_take_the_two_for_strangers_hold_too_rarely():
    """If not, the test above could not fail."""
    assert min(coverage(as_if_apart, rates) for rates in CORNERS) < LEVEL


def test_groups_that_share_nobody_have_the_limits_of_a_difference():
    strata = Tables(np.array([[14, 56, 0, 0], [32, 48, 0, 0], [5, 5, 5, 5]]))
    first, second = (rate_of(strata, "selection", np.arange(3) == place) for place in (0, 1))

    assert (first - second).limits(0.9) == pytest.approx(share_difference(56, 70, 48, 80, 0.9))
    assert (first - first).limits(0.9) == (0, 0)
