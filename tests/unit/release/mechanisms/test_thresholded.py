"""Suppression after noise, on tables of any size."""

import itertools
import math
import time

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.mechanisms.noise import Laplace
from evenhand.release.mechanisms.suppression import NoisySuppression
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
from evenhand.release.postprocess.steps import Nonnegative
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, exact_events_pvalue

SCHEMA = Schema([Column("tenure", Domain.categorical(["own", "rent", "free"]))])
FAR = np.arange(-700, 701)


def _wide(columns):
    return Schema([Column(name, Domain.integers(0, 999)) for name in "abcdefg"[:columns]])


@pytest.mark.parametrize("threshold", [0, 1, 3, 10, 40])
@pytest.mark.parametrize("epsilon", ["1/5", 1, 6])
def test_bias_and_variance_are_the_sums_over_the_noise(threshold, epsilon):
    mechanism = ThresholdedLaplace(epsilon, threshold)
    counts = np.array([0, 1, 2, 3, 9, 10, 11, 39, 40, 41, 200])
    table = Histogram.of(counts, Schema([Column("x", Domain.integers(1, counts.size))]))
    noise = mechanism.law.pmf(FAR)
    published = counts[:, None] + FAR
    published = np.where(published >= threshold, published, 0)
    mean = published @ noise
    spread = ((published - mean[:, None]) ** 2) @ noise

    assert mechanism.bias(table).values == pytest.approx(mean - counts, abs=1e-9)
    assert mechanism.variance(table).values == pytest.approx(spread, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        ThresholdedLaplace(1, 6),
        NoisySuppression(1, threshold=6),
        NoisySuppression(1, threshold=6, noise="threshold"),
    ],
)
def test_the_chance_to_be_suppressed_is_the_sum_over_the_noise(mechanism):
    """If not, people who vanish in blanks would be told in wrong numbers."""
    counts = np.array([0, 2, 5, 6, 9, 30])
    table = Histogram.of(counts, Schema([Column("x", Domain.integers(1, counts.size))]))
    noise = DiscreteLaplace(2).pmf(FAR)

    expected = (counts[:, None] + FAR < 6) @ noise
    assert mechanism.blank_chances(table) == pytest.approx(expected)
    assert Laplace(1, unit="replace one").blank_chances(table).tolist() == [0.0] * counts.size


@pytest.mark.parametrize("unit", ["replace one", "add or remove one"])
def test_the_guarantee_is_that_of_the_noise(unit):
    """Every outcome of a small table, both ways round: suppression loses nothing and gains nothing."""
    mechanism = ThresholdedLaplace(1, 3, unit=unit)
    shown = np.arange(3, 60)

    def law(count):
        return np.append(mechanism.law.pmf(shown - count), mechanism.law.cdf(2 - count))

    ratios = []
    for x, y in itertools.product(range(8), repeat=2):
        pair = (
            [(law(x), law(x + 1))]
            if unit != "replace one"
            else [(np.multiply.outer(law(x), law(y + 1)), np.multiply.outer(law(x + 1), law(y)))]
        )
        ratios += [np.abs(np.log(p / q)).max() for p, q in pair]
    guarantee = mechanism.guarantee_for(Histogram.of([1, 2, 3], SCHEMA))

    assert max(ratios) == pytest.approx(float(guarantee.epsilon), rel=1e-12)
    assert guarantee.tight
    assert guarantee.unit == unit


def test_tightness_is_claimed_only_where_it_can_be_met():
    bounded = Histogram.of([1, 2, 3], SCHEMA, bound=4)

    assert not ThresholdedLaplace(1, 5).guarantee_for(bounded).tight
    assert ThresholdedLaplace(1, 4).guarantee_for(bounded).tight
    assert not ThresholdedLaplace(1, 5).guarantee_for(Histogram.of([1, 2, 3], SCHEMA), epsilon="1/2").tight


def test_a_dense_release_is_laplace_noise_and_then_suppression():
    table = Histogram.of([120, 14, 0], SCHEMA)
    noisy = Laplace(1, unit="replace one").release(table, rng=9).values
    release = ThresholdedLaplace(1, 10).release(table, rng=9)

    assert np.array_equal(release.suppressed, noisy < 10)
    assert np.array_equal(release.values, np.where(noisy < 10, 0, noisy))


@pytest.mark.statistical
def test_a_sparse_release_has_the_law_of_a_dense_one():
    """All outcomes of four cells, one of them filled; what is far above the threshold counts as one."""
    mechanism = ThresholdedLaplace(1, 2)
    small = Schema([Column("x", Domain.integers(1, 4))])
    sparse = Histogram.of_cells([2], [2], small)
    source = SeededSource(31)
    seen = np.zeros((1_500, 4), dtype=int)
    for row in seen:
        made = mechanism.release(sparse, rng=source).histogram
        row[made.cells] = np.minimum(made.filled, 4) - 1  # 0 suppressed, 1, 2, and 3 for more
    codes = seen @ [64, 16, 4, 1]

    def of_one(count):
        return [
            float(mechanism.law.cdf(1 - count)),
            float(mechanism.law.pmf(2 - count)),
            float(mechanism.law.pmf(3 - count)),
            float(mechanism.law.sf(3 - count)),
        ]

    def joint(counts):
        return [math.prod(each) for each in itertools.product(*(of_one(count) for count in counts))]

    assert exact_events_pvalue(codes, joint([0, 0, 2, 0])) > ALPHA
    assert exact_events_pvalue(codes, joint([0, 0, 0, 2])) < ALPHA  # the twin: the filled cell is another
    assert exact_events_pvalue(codes, joint([0, 0, 1, 0])) < ALPHA


def test_1e15_cells_are_published_at_once():
    """Nothing is allocated for the product: a second is a thousand times what it takes."""
    filled = np.arange(5, 10**15, 10**12)
    table = Histogram.of_cells(filled, np.full(filled.size, 100), _wide(5))
    started = time.perf_counter()
    release = ThresholdedLaplace(1, 60).release(table, rng=1)

    assert time.perf_counter() - started < 5
    assert release.histogram.is_sparse
    assert release.histogram.size == 10**15
    assert (np.diff(release.histogram.cells) > 0).all()
    assert (release.values >= 60).all()
    assert np.isin(filled, release.histogram.cells).all()
    assert 10 < release.values.size - filled.size < 200  # 57.8 are expected
    assert release.to_frame("pyarrow").num_rows == release.values.size


def test_empty_cells_keep_clear_of_the_filled_ones():
    """A surviving empty cell is never a filled one: places are counted among the empty ones."""
    filled = np.arange(0, 300, 2)
    table = Histogram.of_cells(
        filled, np.full(filled.size, 50), Schema([Column("x", Domain.integers(1, 300))])
    )
    release = ThresholdedLaplace(1, 1).release(table, rng=4)
    empty = np.setdiff1d(release.histogram.cells, filled)

    assert np.unique(release.histogram.cells).size == release.histogram.cells.size
    assert (empty % 2 == 1).all()
    assert empty.size > 20


def test_a_table_whose_noise_would_fill_memory_is_refused_with_the_numbers():
    """Only public numbers decide, so both of two neighbouring tables are refused."""
    for cells in ([], [7]):
        table = Histogram.of_cells(
            np.array(cells, dtype=int), np.array([3] * len(cells), dtype=int), _wide(5)
        )
        with pytest.raises(
            LimitExceededError, match=r"1,000,000,000,000,000 cells.*threshold of 34"
        ) as caught:
            ThresholdedLaplace(1, 20).release(table, rng=1)
        with pytest.raises(LimitExceededError, match="threshold of 0"):
            ThresholdedLaplace(1, 0).release(table, rng=1)

        assert caught.value.limit == "threshold"
    enough = ThresholdedLaplace(1, 34)
    enough._check(Histogram.of_cells([7], [3], _wide(5)))


def test_an_empty_sparse_table_is_published_like_any_other():
    nobody = Histogram.of_cells(np.array([], dtype=int), np.array([], dtype=int), _wide(5))
    release = ThresholdedLaplace(1, 55).release(nobody, rng=2)

    assert release.values.size > 100
    assert release.suppressed is None


def test_a_sparse_table_is_not_processed_further():
    table = Histogram.of_cells([7], [3], _wide(5))
    mechanism = ThresholdedLaplace(1, 60)
    with pytest.raises(InvalidParameterError, match="empty for a table"):
        mechanism.release(table, rng=1, post=[Nonnegative()])
    with pytest.raises(LimitExceededError, match="one number for each of 1,000,000,000,000,000 cells"):
        mechanism.bias(table)


def test_the_bias_after_a_step_is_sampled():
    table = Histogram.of([120, 14, 0], SCHEMA)
    bias = ThresholdedLaplace(1, 10).bias(table, post=[Nonnegative()], draws=50)

    assert (bias.exact, bias.draws) == (False, 50)


@pytest.mark.parametrize("threshold", [-1, 1.5, None, True, 2**51])
def test_a_threshold_that_cannot_be_is_refused(threshold):
    with pytest.raises(InvalidParameterError, match="threshold"):
        ThresholdedLaplace(1, threshold)
