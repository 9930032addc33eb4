"""The gap stays within its bounds as often as stated, and copies with a mistake in them do not."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.learn.parity.bounds import printed_bounds
from evenhand.learn.parity.key import PersonKey
from evenhand.learn.parity.table import bound_gaps, find_rates, noisy_table, printed_table
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from statistical._exact import ALPHA, exact_events_pvalue

pytestmark = pytest.mark.figures

RUNS = 120
CONFIDENCE = 0.9


def settings(epsilon, *, kind="parity", printed=False):
    return SimpleNamespace(
        kind=kind, aim="changes", by_people=not printed, gap=Fraction(0), epsilon=epsilon, as_printed=printed
    )


def misses(rates, sizes, epsilon, *, printed=False, believe=dict, wrong=dict):
    """Return in how many runs the true gap is above the bound that holds with the stated confidence."""
    draw, source, missed = np.random.default_rng(7), SeededSource(7), 0
    rates, given = np.array(rates), settings(Fraction(str(epsilon)), printed=printed)
    for _ in range(RUNS):
        positive = draw.binomial(sizes, rates)
        counts = np.stack([np.array(sizes) - positive, positive], axis=1)
        if printed:
            table = printed_table(counts, epsilon=given.epsilon, source=source)
        else:
            table = noisy_table(counts, epsilon=given.epsilon, unit=Unit.ADD_OR_REMOVE_ONE, source=source)
        made = find_rates(table, given)
        used = made if wrong is dict else find_rates(SimpleNamespace(**wrong(told(table))), given)
        bound = bound_gaps(
            SimpleNamespace(**believe(told(table))), made, given, groups=tuple(sizes), confidence=CONFIDENCE
        )
        after = used.promote + (used.keep - used.promote) * rates
        missed += np.ptp(after) > bound.likely
    return missed


def told(table):
    names = ("counts", "scale", "draws", "at_least_0", "by_prediction", "sizes")
    return {name: getattr(table, name) for name in names}


def too_many(missed):
    """Return the probability of so many misses, or more, if each has its stated probability."""
    return binom.sf(missed - 1, RUNS, 1 - CONFIDENCE)


@pytest.mark.parametrize(
    ("rates", "sizes", "epsilon"),
    [((0.55, 0.3), (300, 700), 0.5), ((0.5, 0.4), (60, 80), 0.1), ((0.2, 0.5, 0.6), (90, 60, 200), 0.3)],
)
def test_the_gap_is_within_its_bound_as_often_as_stated(rates, sizes, epsilon):
    """A bound that fails more often than it says is no bound."""
    assert too_many(misses(rates, sizes, epsilon)) > ALPHA
    assert too_many(misses(rates, sizes, epsilon, printed=True)) > ALPHA


def test_a_bound_that_forgets_the_noise_is_found_out():
    """The twin: the same rows, the same noise, and a bound for rows alone."""
    forget = misses((0.5, 0.4), (60, 80), 0.05, believe=lambda table: table | {"scale": None, "draws": 0})

    assert too_many(forget) < ALPHA
    assert too_many(misses((0.5, 0.4), (60, 80), 0.05)) > ALPHA


def test_a_rate_by_the_other_groups_size_is_found_out():
    """As printed in the thesis, where both counts are divided by one group's size."""

    def other_size(table):
        positive, sizes = table["by_prediction"][:, 1], table["sizes"]
        counts = np.stack([sizes.max() - positive, positive], axis=1)
        return table | {"by_prediction": counts, "sizes": counts.sum(axis=1)}

    assert too_many(misses((0.55, 0.3), (300, 700), 0.5, printed=True, wrong=other_size)) < ALPHA


@pytest.mark.nightly
@pytest.mark.parametrize("gap", [0.0, 0.1])
@pytest.mark.parametrize("unit", ["add or remove one", "replace one"])
@pytest.mark.parametrize(("kind", "aim"), [("parity", "accuracy"), ("odds", "changes"), ("odds", "accuracy")])
def test_every_kind_is_within_its_bound_as_often_as_stated(kind, aim, unit, gap):
    """The long way: labels too, both rates of the odds at once, and both units."""
    draw, source, runs, missed = np.random.default_rng(5), SeededSource(5), 1_500, 0
    given = SimpleNamespace(
        kind=kind, aim=aim, by_people=True, gap=Fraction(str(gap)), epsilon=Fraction(1, 2), as_printed=False
    )
    cells = np.array([[[0.4, 0.1], [0.1, 0.4]], [[0.5, 0.2], [0.2, 0.1]], [[0.3, 0.3], [0.1, 0.3]]])
    for _ in range(runs):
        counts = np.stack(
            [draw.multinomial(n, each.ravel()) for n, each in zip((200, 500, 150), cells, strict=True)]
        )
        table = noisy_table(counts.reshape(3, 2, 2), epsilon=given.epsilon, unit=Unit(unit), source=source)
        made = find_rates(table, given)
        bound = bound_gaps(table, made, given, groups=(0, 1, 2), confidence=CONFIDENCE)
        truth = cells[:, :, 1] / cells.sum(axis=2) if kind == "odds" else cells[:, :, 1].sum(axis=1)[:, None]
        after = made.promote[:, None] + (made.keep - made.promote)[:, None] * truth
        missed += any(np.ptp(after[:, at]) > part.likely for at, part in enumerate(bound.parts))

    assert binom.sf(missed - 1, runs, 1 - CONFIDENCE) > ALPHA


def mean_gap(sizes, epsilon, *, swapped=False, runs=100_000):
    """Return the mean gap of Algorithm 2 over many runs, in its own closed form."""
    draw = np.random.default_rng(11)
    rates, sizes = np.array([0.55, 0.3]), np.array(sizes)
    positive = draw.binomial(sizes, rates, size=(runs, 2))
    noise = DiscreteLaplace(1 / epsilon).draw(size=(runs, 2), source=SeededSource(3))
    made = np.clip((positive + noise) / (sizes[::-1] if swapped else sizes), 0, 1)
    high, low = made.max(axis=1), made.min(axis=1)
    keep, promote = (
        (high + low) / (2 * np.maximum(high, 1e-300)),
        (high - low) / (2 * (1 - np.minimum(low, 1 - 1e-12))),
    )
    lowered = made == high[:, None]
    after = np.where(lowered, rates * keep[:, None], rates + (1 - rates) * promote[:, None])
    return float(np.abs(after[:, 0] - after[:, 1]).mean())


def test_the_expected_gap_is_below_its_bound():
    """For the sizes of the formula sheet; a mean of so many runs is within .011 of the truth (Hoeffding)."""
    room = np.sqrt(np.log(1 / ALPHA) / (2 * 100_000))
    bound = printed_bounds([300, 700], [0.5, 0.5]).expected

    assert mean_gap((300, 700), 0.5) + room < bound
    assert mean_gap((300, 700), 0.5, swapped=True) - room > bound


def test_numbers_of_people_are_uniform():
    """A person's number decides their lot with the stated probability, for every probability at once."""
    numbers = PersonKey(b"statistical test of a fixed key!").numbers(list(range(40_000)))
    tops = (numbers >> np.uint64(53 - 4)).astype(np.int64)
    lows = (numbers & np.uint64(15)).astype(np.int64)

    assert exact_events_pvalue(tops, [1 / 16] * 16) > ALPHA
    assert exact_events_pvalue(lows, [1 / 16] * 16) > ALPHA
    assert exact_events_pvalue(tops // 15, [15.5 / 16, 0.5 / 16]) < ALPHA  # the twin: half as often
