"""Noise on counts of groups by outcomes has the scale that its guarantee states, whatever the unit.

What is looked at is what the kernel of noise is given, at the last moment before random words are read.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from evenhand.collect.fairest.group_outcomes import GroupOutcomes, _count_rows
from evenhand.privacy import _kernels, sampling

OUTCOME, GROUP = [0, 1, 1, 0, 1], [0, 0, 1, 2, 2]
UNITS = ["replace one", "add or remove one"]


@pytest.fixture
def drawn(monkeypatch):
    """Note every draw: its kernel, its scale in exact numbers, and how many numbers; all noise is 0."""
    kept = []

    def note(kernel, out, parameters, source, **_):
        kept.append((kernel, Fraction(int(parameters[0]), int(parameters[1])), len(out)))
        out[:] = 0

    monkeypatch.setattr(sampling, "feed", note)
    return kept


def _largest_change(unit, k=3):
    """How much the counts of all neighbours of a small table differ, added up: every neighbour is tried."""
    before = _count_rows(OUTCOME, GROUP, k, owner="test")
    neighbours = []
    for place in range(len(GROUP)):
        without = [[*column[:place], *column[place + 1 :]] for column in (OUTCOME, GROUP)]
        for outcome, group in product(range(2), range(k)):
            neighbours.append([[*without[0], outcome], [*without[1], group]])
    if unit == "add or remove one":
        neighbours = [
            [[*OUTCOME, outcome], [*GROUP, group]] for outcome, group in product(range(2), range(k))
        ]
    return max(
        int(np.abs(before - _count_rows(outcome, group, k, owner="test")).sum())
        for outcome, group in neighbours
    )


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "epsilon", ["1", "1/10", "3/7", "5", "1000003/1000000", "0.1234567890123", "1/999999937"]
)
def test_noise_on_counts_of_groups_has_the_stated_scale(drawn, unit, epsilon):
    found = GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon=epsilon, unit=unit, rng=1)
    ((kernel, scale, many),) = drawn
    change = _largest_change(unit)

    assert kernel is _kernels.discrete_laplace
    assert many == 6
    assert found.guarantee.epsilon == change / scale <= Fraction(epsilon)
    assert scale - change / Fraction(epsilon) <= scale / 2**30  # rounded up, by no more than it must
    assert str(found.guarantee.unit) == unit


@pytest.mark.parametrize("unit", UNITS)
def test_noise_that_can_be_drawn_is_not_rounded(drawn, unit):
    GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon="1/10", unit=unit, rng=1)
    ((_, scale, _),) = drawn

    assert scale == 10 * _largest_change(unit) == {"replace one": 20, "add or remove one": 10}[unit]


def test_noise_for_one_count_would_be_seen_where_two_change(drawn, monkeypatch):
    """The twin: with the noise of the other unit the guarantee is no longer the change over the scale."""
    monkeypatch.setattr(
        "evenhand.collect.fairest.group_outcomes._SENSITIVITY", {"replace one": 1, "add or remove one": 1}
    )
    found = GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon="1/10", unit="replace one", rng=1)
    ((_, scale, _),) = drawn

    assert found.guarantee.epsilon != _largest_change("replace one") / scale
