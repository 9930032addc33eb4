"""The intervals of all pairs of groups hold together: how often, and how wide beside a max-T bootstrap.

There are 4, 12 and 30 groups whose sizes go from 20 to 20,000 in equal ratios, with one rate for all and with
rates from 0.1 to 0.7 in an order that has nothing to do with size. They were chosen after a first look at
several sizes and rates; the worst of that look, groups of ten with a rate of 0.05, stands in the docs too.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.measure.counts import Tables
from evenhand.measure.gaps import each_tail, pair_blocks, pair_differences
from evenhand.measure.intervals import exact_limits
from statistical._exact import ALPHA

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "audit-your-own-model.md"
DRAWS = 10_000
LEVEL = 0.95
DESIGNS = [(number, rates) for number in (4, 12, 30) for rates in ("alike", "spread")]


def _design(number, rates):
    sizes = np.geomspace(20, 20_000, number).round().astype(int)
    chances = np.full(number, 0.3) if rates == "alike" else np.linspace(0.1, 0.7, number)
    return sizes, np.random.default_rng(number).permutation(chances)


def _tables(sizes, selected):
    cells = np.zeros((*selected.shape, 4))
    cells[..., 0], cells[..., 1] = sizes - selected, selected
    return Tables(cells, labelled=False)


def _limits(sizes, selected, tail):
    (pairs,) = pair_blocks(len(sizes))
    shares = _tables(sizes, selected).groups
    return pairs, pair_differences(shares, "selection", pairs, exact_limits(*shares.of("selection"), tail))


def covered(number, rates, tail):
    """Return how many of the draws have all true differences within the intervals of their pairs."""
    sizes, chances = _design(number, rates)
    selected = np.random.default_rng(1).binomial(sizes, chances, (DRAWS, number))
    (first, second), (low, high) = _limits(sizes, selected, tail)
    truth = chances[first] - chances[second]
    return int(((low <= truth) & (truth <= high)).all(axis=1).sum())


def width_ratio(number, rates, *, tables=20, resamples=2_000):
    """Return the mean width of our intervals over that of a max-T bootstrap, over pairs and tables."""
    sizes, chances = _design(number, rates)
    draws = np.random.default_rng(2)
    ratios = []
    for _ in range(tables):
        selected = draws.binomial(sizes, chances)
        (first, second), (low, high) = _limits(sizes, selected, each_tail(LEVEL, number, 1))
        share = selected / sizes
        again = draws.binomial(sizes, share, (resamples, number)) / sizes

        def errors(shares):
            smoothed = (shares * sizes + 1) / (sizes + 2)  # a share of 0 is not known for certain
            variance = smoothed * (1 - smoothed) / sizes
            return np.sqrt(variance[..., first] + variance[..., second])  # noqa: B023 (called at once)

        moved = np.abs((again - share)[:, first] - (again - share)[:, second]) / errors(again)
        reach = np.quantile(moved.max(axis=1), LEVEL) * errors(share)
        ratios.append((high - low).mean() / (2 * reach).mean())
    return float(np.mean(ratios))


@pytest.mark.figures
@pytest.mark.parametrize(("number", "rates"), DESIGNS)
def test_intervals_of_all_pairs_hold_together_between_95_and_98_times_in_100(number, rates):
    """The twin has each pair at the level by itself, and misses some pair far too often."""
    found = covered(number, rates, each_tail(LEVEL, number, 1))
    alone = covered(number, rates, 1 - LEVEL)

    assert binom.cdf(found, DRAWS, 0.95) > ALPHA
    assert binom.sf(found - 1, DRAWS, 0.98) > ALPHA
    assert binom.cdf(alone, DRAWS, 0.95) < ALPHA


@pytest.mark.figures
@pytest.mark.parametrize("number", [4, 12, 30])
def test_they_are_hardly_wider_than_a_bootstrap_that_knows_the_sizes_and_the_page_says_so(number):
    """The page has the figures of this very test."""
    pairs = number * (number - 1) // 2
    both = ("alike", "spread")
    held, simple = (
        [f"{covered(number, rates, tail) / DRAWS:.1%}".replace("%", " %") for rates in both]
        for tail in (each_tail(LEVEL, number, 1), (1 - LEVEL) / pairs)
    )
    widths = [width_ratio(number, rates) for rates in both]
    cells = [number, pairs, *held, ", ".join(simple), f"{widths[0]:.2f}, {widths[1]:.2f}"]
    row = f"| {' | '.join(map(str, cells))} |"

    assert max(widths) <= 1.1
    assert row in PAGE.read_text(encoding="utf-8")
