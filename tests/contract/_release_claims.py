"""What every mechanism of release must do, each claim a function that a planted bug must fail."""

import math
from statistics import NormalDist

import numpy as np

from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.randomness import SeededSource
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, CORRELATION, Event, exact_events_pvalue, worst_correlation

SCHEMA = Schema(
    [Column("sex", Domain.categorical(["f", "m"])), Column("age", Domain.integers(0, 2))],
    quasi_identifiers=["sex"],
)
COUNTS = [[9, 4, 0], [7, 1, 12]]
BOUND = 50


def table(counts=COUNTS):
    return Histogram.of(counts, SCHEMA, bound=BOUND)


def neighbours(unit):
    """Yield pairs of tables that differ by one unit, the empty table and that of one person among them."""
    if unit is Unit.ADD_OR_REMOVE_ONE:
        yield [[0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]]
        yield COUNTS, [[9, 3, 0], [7, 1, 12]]
    else:
        yield [[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1]]
        yield COUNTS, [[9, 3, 0], [8, 1, 12]]
        yield [[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]


def releases(mechanism, histogram, *, draws, seed):
    """Return what `draws` simulated releases publish, one row for each."""
    source = SeededSource(seed)
    return np.stack([mechanism.release(histogram, rng=source).values.ravel() for _ in range(draws)])


def assert_every_cell_is_there(mechanism, *, seed):
    for counts in ([[0, 0, 0], [0, 0, 0]], COUNTS):
        release = mechanism.release(table(counts), rng=seed)
        frame = release.to_frame("pyarrow")

        assert release.values.shape == (2, 3), "a declared cell is missing"
        assert frame.num_rows == 6, "a declared cell is missing"
        marks = [] if release.suppressed is None else ["suppressed"]
        assert frame.column_names == ["sex", "age", "count", *marks]


def assert_bias_is_the_mean(mechanism, *, draws, seed):
    """The stated bias must be that of the releases: each cell within a normal bound of error rate ALPHA.

    Where the variance is zero, nothing may move at all.
    """
    errors = releases(mechanism, table(), draws=draws, seed=seed) - np.ravel(COUNTS)
    bias = mechanism.bias(table(), draws=200, rng=seed + 1)
    reach = NormalDist().inv_cdf(1 - ALPHA / (4 * errors.shape[1]))
    allowed = errors.std(axis=0) ** 2 / draws
    if bias.standard_error is not None:
        allowed = allowed + bias.standard_error.ravel() ** 2
    off = np.abs(errors.mean(axis=0) - bias.values.ravel())

    assert (off <= reach * np.sqrt(allowed) + 1e-12).all(), "the releases do not have the stated bias"


def assert_variance_is_that_of_the_releases(mechanism, *, draws, seed):
    """The same for the variance, whose own error is taken from the draws' fourth moments."""
    errors = releases(mechanism, table(), draws=draws, seed=seed) - np.ravel(COUNTS)
    centred = errors - errors.mean(axis=0)
    variance = mechanism.variance(table(), draws=200, rng=seed + 1)
    allowed = ((centred**2).std(axis=0)) ** 2 / draws
    if variance.standard_error is not None:
        allowed = allowed + 4 * variance.standard_error.ravel() ** 2  # its error is that of normal counts
    off = np.abs((centred**2).sum(axis=0) / (draws - 1) - variance.values.ravel())
    reach = NormalDist().inv_cdf(1 - ALPHA / (4 * errors.shape[1]))

    assert (off <= reach * np.sqrt(allowed) + 1e-9).all(), "the releases do not have the stated variance"


def assert_absolute_error_is_the_mean(mechanism, *, draws, seed, post=()):
    """An exact absolute error must be that of the releases, where a mechanism has one.

    Each cell is within a normal bound of error rate ALPHA; where nothing is random nothing may move at all.
    """
    stated = mechanism.exact_absolute_error(table(), post=post)
    if stated is None:
        return False
    source = SeededSource(seed)
    drawn = [mechanism.release(table(), rng=source, post=post).values.ravel() for _ in range(draws)]
    errors = np.abs(np.stack(drawn) - np.ravel(COUNTS))
    reach = NormalDist().inv_cdf(1 - ALPHA / (4 * errors.shape[1])) * errors.std(axis=0) / math.sqrt(draws)

    assert (np.abs(errors.mean(axis=0) - stated.ravel()) <= reach + 1e-12).all(), "another absolute error"
    return True


def assert_cells_have_noise_of_their_own(mechanism, *, rows, seed):
    """No two cells may share a draw, empty cells least of all: from one of them, the other is known.

    One table of many rows and eight columns, of which four are empty: every pair of columns is compared, and
    every column with the one before it, shifted by one row.
    """
    wide = Schema([Column("place", Domain.integers(1, rows)), Column("kind", Domain.integers(1, 8))])
    counts = np.tile([0, 60, 0, 7, 0, 3, 0, 900], (rows, 1))
    errors = mechanism.release(Histogram.of(counts, wide), rng=seed).values - counts
    moved = np.hstack((errors[1:], errors[:-1]))

    assert (errors.std(axis=0) > 0).all(), "a cell has no noise"
    assert (np.array([np.unique(each).size for each in errors[:, ::2].T[:, :200]]) > 1).all()
    assert worst_correlation(moved) < CORRELATION, "two cells have noise in common"


def assert_private(mechanism):
    """The law of the noise must keep what is promised for the change that the unit names.

    The change is written here once more: who is replaced leaves one cell and enters another, who is added
    enters one. Both directions are the same, since the noise is symmetric.
    """
    guarantee = mechanism.guarantee_for(table())
    moved = {Unit.REPLACE_ONE: 2, Unit.ADD_OR_REMOVE_ONE: 1}[guarantee.unit]
    far = math.ceil(30 * mechanism.law.standard_deviation) + 2
    chances = mechanism.law.pmf(np.arange(-far, far + 1))
    before, after = chances[1:], chances[:-1]  # of the same outcome, from counts that differ by 1
    if moved == 2:
        before, after = np.multiply.outer(before, after), np.multiply.outer(after, before)
    if guarantee.rho is not None:
        for order in (1.5, 2.0, 4.0, 8.0):
            seen = (before > 1e-280) & (after > 1e-280)
            moment = np.exp(order * np.log(before[seen]) + (1 - order) * np.log(after[seen])).sum()
            divergence = math.log(moment) / (order - 1)

            assert divergence <= order * float(guarantee.rho) * (1 + 1e-9), "more than is promised"
    else:
        lost = np.maximum(0, before - math.exp(guarantee.epsilon) * after * (1 - 1e-12)).sum()

        assert lost <= float(guarantee.delta) + 1e-11, "more than is promised"


def assert_noise_follows_the_law(mechanism, *, cells, seed):
    """What is added to the counts must have the law that bias, variance and guarantee are computed from."""
    wide = Schema([Column("place", Domain.integers(1, cells))])
    counts = np.arange(cells) % 5 * 100
    errors = mechanism.release(Histogram.of(counts, wide), rng=seed).values - counts

    assert exact_events_pvalue(errors, mechanism.law) > ALPHA, "the noise is not drawn as stated"


def assert_nothing_wraps(mechanism, *, seed):
    """Counts beyond 32 bits, and at the ends of 64, come out near themselves."""
    large = np.array([2**31 - 1, 2**31, 2**32, 2**40, 2**53 + 1, 2**62])
    wide = Schema([Column("place", Domain.integers(1, large.size))])
    published = mechanism.release(Histogram.of(large, wide), rng=seed).values
    most = 100 * mechanism.law.standard_deviation

    assert published.dtype == np.int64
    assert all(abs(int(a) - int(b)) <= most for a, b in zip(published, large, strict=True)), "a count wrapped"


def assert_sparse_is_as_dense(mechanism, *, draws, seed):
    """A table kept as its filled cells must be published by the law of the same table kept as all cells.

    Per release of 200 cells, 3 of them filled: of each cell, whether it is published, and what; and how many
    pairs of neighbouring empty cells are published with the same count.
    """
    wide = Schema([Column("place", Domain.integers(1, 200))])
    filled, counts = np.array([0, 77, 199]), np.array([2, 40, 5])
    sparse = Histogram.of_cells(filled, counts, wide)
    source = SeededSource(seed)
    seen = np.full((draws, 200), -1)
    for row in seen:
        made = mechanism.release(sparse, rng=source).histogram
        row[made.cells] = made.filled
    true = np.zeros(200, dtype=int)
    true[filled] = counts
    for place in (*filled, None):
        values = np.delete(seen, filled, axis=1).ravel() if place is None else seen[:, place]
        distance = mechanism.threshold - (0 if place is None else true[place])
        chances = {more: float(mechanism.law.sf(distance + more - 1)) for more in (0, 1, 3)}
        events = [
            Event(lambda x, more=more: x >= mechanism.threshold + more, chance)
            for more, chance in chances.items()
        ]

        assert exact_events_pvalue(values, events=events) > ALPHA, "not those of the dense table"
    chance = float(mechanism.law.sf(mechanism.threshold - 1))
    equal = (mechanism.law.pmf(np.arange(mechanism.threshold, 2_000)) ** 2).sum()
    pairs = seen[:, 1:77].reshape(-1, 2)
    events = [
        Event(lambda x: (x >= 0).all(axis=1), chance**2),
        Event(lambda x: (x >= 0).all(axis=1) & (x[:, 0] == x[:, 1]), float(equal)),
    ]

    assert exact_events_pvalue(pairs, events=events) > ALPHA, "not those of the dense table"
