"""Bounds of the gap: the printed ones, ours, and every step of the proof that can be computed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, binom

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity import bounds as parity_bounds
from evenhand.learn.parity.bounds import Bounds, GapBound, Released, gap_bounds, printed_bounds, rate_limits
from evenhand.privacy.laws import DiscreteLaplace

COUNTS = np.array([[140, 160], [490, 210]])
ONES, NOUGHTS = np.ones(2), np.zeros(2)


def bound(released, keep=ONES, promote=NOUGHTS, **changed):
    given = {"name": "positive rate", "gap": 0.0, "confidence": 0.95, "intervals": 2, "epsilon": None}
    return gap_bounds(released, keep, promote, **given | changed)


def test_the_printed_bounds_are_those_of_the_formula_sheet():
    """The corrected Theorem 8 and Proposition 9, to nine digits."""
    found = printed_bounds([300, 700], [0.5, 0.5])

    assert found.expected == pytest.approx(0.057289546634, abs=1e-9)
    assert found.likely == pytest.approx(0.193913363592, abs=1e-9)
    assert found.expected_changes == pytest.approx(2.5 * 0.057289546634, abs=1e-9)
    assert found.likely_changes == pytest.approx(2.5 * 0.193913363592, abs=1e-9)


def test_with_more_groups_the_two_worst_count_and_the_logarithms_grow():
    """The gap is between two groups, but all of them must behave at once."""
    found = printed_bounds([300, 700, 900], [0.5, 0.5, 0.5], gap=0.1, confidence=0.9)
    worst = sum(math.log(60) / (n * 0.5) + math.sqrt(math.log(120) / (2 * n)) for n in (300, 700))

    assert found.likely == pytest.approx(0.1 + worst)
    assert found.expected == pytest.approx(0.1 + sum(2 / n + math.sqrt(1 / (4 * n)) for n in (300, 700, 900)))


def test_limits_of_a_rate_cover_every_table_the_noise_may_hide():
    """The true counts are anywhere within reach; the limits must be the outermost of them all."""
    low, high, fewest = rate_limits(
        Released(np.array([[30, 12]]), Fraction(2), 2), confidence=0.9, intervals=1
    )
    share = 0.1 * 0.2
    each = 1 - math.sqrt(1 - share)
    reach = next(q for q in range(100) if 2 * DiscreteLaplace(2).sf(q) <= each)
    tail = ((0.1 - share) / (1 - share)) / 2
    tables = [(x, n) for x in range(12 - reach, 13 + reach) for n in range(30 - reach, 31 + reach)]

    assert low[0] == pytest.approx(min(beta.ppf(tail, x, n + 1) for x, n in tables if x > 0), abs=1e-12)
    assert high[0] == pytest.approx(max(beta.ppf(1 - tail, x + 1, n) for x, n in tables if n > 0), abs=1e-12)
    assert fewest[0] == 42 - 2 * reach


def test_a_group_that_seems_empty_is_bounded_by_nothing():
    """Nobody seen, nothing known: the interval is everything."""
    low, high, fewest = rate_limits(
        Released(np.array([[0, 0]]), Fraction(1), 2), confidence=0.95, intervals=1
    )
    found = bound(Released(np.array([[0, 0], [50, 50]]), Fraction(1), 4))

    assert (low[0], high[0], fewest[0]) == (0.0, 1.0, 0)
    assert (found.expected, found.likely) == (1.0, pytest.approx(1.0, abs=0.4))
    assert found.printed is None


@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(1), Fraction(20), Fraction(5000), Fraction(10**12)]
)
@pytest.mark.parametrize("risk", [0.3, 1e-3, 1e-12])
def test_noise_stays_within_its_reach_and_no_shorter_one_does(scale, risk):
    law = DiscreteLaplace(scale)
    reach = parity_bounds.noise_reach(scale, risk)

    assert 2 * law.sf(reach) <= risk
    assert reach == 0 or 2 * law.sf(reach - 1) > risk


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_the_tail_of_two_noises_is_their_convolution(scale):
    """The closed form stands in the expected bound; a slip in it would be a bound too low."""
    reach = 400
    mass = DiscreteLaplace(scale).pmf(np.arange(-reach, reach + 1))
    both = np.convolve(mass, mass)[2 * reach :]
    least = np.array([1.0, 2.0, 5.0, 20.0])
    slow = [both[int(each) :].sum() for each in least]

    assert parity_bounds.sum_tail(math.exp(-1 / scale), least) == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("counts", [(3, 9), (20, 20), (150, 10)])
def test_the_expected_error_of_a_rate_is_below_its_bound(epsilon, counts):
    """Computed exactly, over all noise that matters, with counts held at zero as in the table."""
    noise = np.arange(-200, 201)
    mass = DiscreteLaplace(1 / epsilon).pmf(noise)
    n0, n1 = (np.maximum(count + noise, 0) for count in counts)
    total = n0[:, None] + n1[None, :]
    made = np.where(total > 0, n1[None, :] / np.maximum(total, 1), 0.5)
    exactly = mass @ np.abs(made - counts[1] / sum(counts)) @ mass
    released = Released(np.array([counts]), Fraction(1) / Fraction(str(epsilon)), 2)
    bounded = parity_bounds._expected_noise(released, np.array([sum(counts)]))

    assert exactly <= bounded
    assert bounded <= max(4 * exactly, 1.0)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_mean_deviation_of_a_share_is_that_of_the_worst_probability(n):
    """Summed term by term over a grid of probabilities; nothing may be above it, and something comes near."""
    chances, counts = np.linspace(0, 1, 2_001)[:, None], np.arange(n + 1)
    means = (binom.pmf(counts, n, chances) * np.abs(counts / n - chances)).sum(axis=1)
    found = parity_bounds._mean_deviation(n)

    assert max(means) <= found
    assert found == pytest.approx(max(means), rel=1e-4)
    assert found <= 0.5 / math.sqrt(n) * (1 + 1e-8)


def test_for_many_rows_the_variance_stands_in_its_place():
    many = parity_bounds._MOST_SUMMED

    assert parity_bounds._mean_deviation(many + 1) == 0.5 / math.sqrt(many + 1)
    assert parity_bounds._mean_deviation(many) == pytest.approx(math.sqrt(1 / (2 * math.pi * many)), rel=1e-3)


def test_ours_are_tighter_than_the_printed_ones():
    """The printed bounds are three to five times what happens; the interval should not be."""
    found = bound(
        Released(COUNTS, Fraction(2), 4), np.array([0.78, 1.0]), np.array([0.0, 0.17]), epsilon=Fraction(1, 2)
    )

    assert found.likely < found.printed.likely
    assert found.expected < found.printed.expected


def test_rules_that_answer_everybody_alike_have_no_gap():
    """A constant answer is exactly fair, and the bound knows."""
    found = bound(Released(COUNTS, Fraction(2), 4), np.full(2, 0.4), np.full(2, 0.4))

    assert found.likely == pytest.approx(0)
    assert found.low == pytest.approx(found.high)


def test_without_noise_only_the_rows_count():
    found = bound(Released(COUNTS, None, 0, public_sizes=True))

    assert found.expected == pytest.approx(sum(map(parity_bounds._mean_deviation, (300, 700))))
    assert found.expected < 0.81 * (0.5 / math.sqrt(300) + 0.5 / math.sqrt(700))
    assert found.low[0] < 160 / 300 < found.high[0]


def test_public_sizes_and_sums_of_counts_have_their_own_noise():
    public = bound(Released(COUNTS, Fraction(2), 2, public_sizes=True)).expected
    mean = 2 * math.exp(-0.5) / (1 - math.exp(-1))
    rows = sum(map(parity_bounds._mean_deviation, (300, 700)))

    assert public == pytest.approx(rows + mean / 300 + mean / 700)
    assert (
        bound(Released(COUNTS, Fraction(2), 8, per_count=2)).likely
        > bound(Released(COUNTS, Fraction(2), 4)).likely
    )


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 1.5, True, "0.95", float("nan")])
def test_what_is_no_confidence_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="'confidence' parameter of ParityPostProcessor"):
        printed_bounds([10, 10], [1, 1], confidence=wrong)


def two_parts():
    parts = tuple(
        GapBound(name, expected, likely, NOUGHTS, ONES)
        for name, expected, likely in (("false positive rate", 0.1, 0.2), ("true positive rate", 0.05, 0.3))
    )
    return Bounds(0.0, 0.95, parts, ("a", "b"), "noisy")


def test_the_whole_is_as_large_as_its_largest_part():
    bounds = two_parts()

    assert (bounds.expected, bounds.likely, bounds.measured) == (0.1, 0.3, None)
    assert bounds.beside([0.04, 0.06]).measured == 0.06
    assert bounds.measured is None
    with pytest.raises(ValueError, match="zip"):
        bounds.beside([0.1])
