"""Sets of subset selection that are drawn as maps of bits follow their law, set by set and value by value.

The kernel is called directly for few values, where every set can be counted, and as people call it for many.
Counts of cells that are fixed in advance are compared with their exact binomial laws, Bonferroni over the
cells, error rate ALPHA. The twins are reports as a broken program would make them, which must be rejected.
"""

import numpy as np
import pytest

from evenhand.collect.protocols.subset import SS
from evenhand.privacy.feeding import feed
from evenhand.privacy.randomness import SecureSource, SeededSource
from statistical._exact import ALPHA, binomial_pvalue
from unit.collect._hash_and_subset_twins import slow_maps, slow_mend

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

N = 200_000
FEW = [
    SS(k=3, epsilon="1/2"),
    SS(k=5, epsilon="1/4"),  # others are half of the places they are numbered by, and one more
    SS(k=6, epsilon="1/10"),
    SS(k=8, epsilon="1/2"),
    SS(k=9, epsilon=1),  # as many others as places
]
SOURCES = {"seeded": lambda: SeededSource(20_261_118), "secure": SecureSource}


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]()


def cells_pvalue(counts, n, probabilities):
    """The smallest of the exact p-values of all cells, times their number."""
    counts, probabilities = np.broadcast_arrays(counts, np.asarray(probabilities, dtype=float))
    return float(min(1, counts.size * binomial_pvalue(counts, n, probabilities).min()))


def _mapped(ss, value, n, source):
    """Reports drawn as maps, however few the values are."""
    kernel, parameters, units, words = ss._as_map()
    out = np.empty((n, ss.size), dtype=np.uint16)
    feed(kernel, out, (np.full(n, value, np.uint16), *parameters), source, units=units, words=words)
    return out


def _set_counts(ss, rows):
    """How often each set came, and each value in any set; sets that are none count nowhere."""
    rows = np.asarray(rows, dtype=np.int64)
    powers = ss.k ** np.arange(ss.size)[::-1]
    outputs = ss.outputs().values.astype(np.int64) @ powers
    found = np.minimum(np.searchsorted(outputs, rows @ powers), outputs.size - 1)
    sets = np.bincount(found[outputs[found] == rows @ powers], minlength=outputs.size)
    return np.append(sets, np.bincount(rows.ravel(), minlength=ss.k))


def _set_law(ss, value, factor=1.0):
    """The probabilities of what is counted, if the true value is named `factor` times as often."""
    inside = ss.indicators(ss.outputs())
    tilt = np.where(inside[:, value] == 1, factor, (1 - factor * ss.p) / (1 - ss.p))
    row = ss.matrix()[value] * tilt
    return np.append(row, row @ inside)


@pytest.mark.parametrize("share", [None, (1, 1), (1, 3), (7, 3)])
@pytest.mark.parametrize("ss", FEW, ids=repr)
def test_every_set_comes_as_often_as_the_matrix_says(ss, share, source):
    """If this is false the guarantee, which is proved for the matrix, says nothing about the code.

    With a share far from the one that is chosen almost all sets are mended: bits set, or bits cleared.
    """
    if share is not None:
        ss.__dict__["_share"] = share
    try:
        for value in {0, ss.k // 2, ss.k - 1}:
            counts = _set_counts(ss, _mapped(ss, value, N // 4, source))

            assert counts.sum() == N // 4 * (1 + ss.size)  # all are sets
            assert cells_pvalue(counts, N // 4, _set_law(ss, value)) > ALPHA
    finally:
        ss.__dict__.pop("_share", None)


def _mend_in_order(chosen, wanted, others, _):
    """Set the lowest that is clear, clear the highest that is set."""
    for place in range(others):
        if len(chosen) < wanted:
            chosen.add(place)
    while len(chosen) > wanted:
        chosen.remove(max(chosen))


def _mend_by_remainder(chosen, wanted, others, places):
    """Take a place past the end for one at the beginning."""
    slow_mend(chosen, wanted, others, (place % others for place in places))


def _mend_one_less(chosen, wanted, others, places):
    """Stop a bit too early; what is missing is then the highest of the values that are not named."""
    slow_mend(chosen, wanted - 1, others, places)
    chosen.add(max(set(range(others)) - chosen))


@pytest.mark.parametrize("mend", [_mend_in_order, _mend_by_remainder, _mend_one_less])
def test_sets_that_are_mended_badly_are_seen(mend):
    """The twins: places in order, a generator with a favourite, a count that is off by one."""
    ss, n = SS(k=6, epsilon="1/2"), 6_000
    rows = slow_maps(ss, np.full(n, 2), SeededSource(1).words(10 * n), mend=mend)

    assert cells_pvalue(_set_counts(ss, rows), n, _set_law(ss, 2)) < ALPHA


def test_sets_that_are_mended_well_pass_where_the_bad_ones_do_not():
    ss, n = SS(k=6, epsilon="1/2"), 6_000
    rows = slow_maps(ss, np.full(n, 2), SeededSource(1).words(10 * n))

    assert cells_pvalue(_set_counts(ss, rows), n, _set_law(ss, 2)) > ALPHA


def test_another_probability_of_the_true_value_is_seen():
    """The twins: named 3 % more often, 3 % less often."""
    ss = SS(k=8, epsilon="1/2")
    counts = _set_counts(ss, _mapped(ss, 3, N, SeededSource(2)))

    assert cells_pvalue(counts, N, _set_law(ss, 3, 0.97)) < ALPHA
    assert cells_pvalue(counts, N, _set_law(ss, 3, 1.03)) < ALPHA


# --- many values -------------------------------------------------------------------------------


def _pair_law(ss):
    """Probability that two given other values are both named."""
    with_it, without = (each * (each - 1) for each in (ss.size - 1, ss.size))
    return float(ss.p * with_it + (1 - ss.p) * without) / ((ss.k - 1) * (ss.k - 2))


def _large_pvalues(ss, value, rows):
    """Of every value, of pairs of values some distances apart, and of the number named of the lower half."""
    n, inside = len(rows), np.zeros((len(rows), ss.k), dtype=bool)
    np.put_along_axis(inside, rows.astype(np.int64), values=True, axis=1)
    law = np.where(np.arange(ss.k) == value, ss.p, ss.q)
    others = np.delete(inside, value, axis=1)
    pairs = [(others[:, step:] & others[:, :-step]).sum(axis=0) for step in (1, 8, 64)]
    follow = (inside[1::2] & inside[::2]).sum(axis=0)  # of two people in a row
    return [
        cells_pvalue(inside.sum(axis=0), n, law),
        min(cells_pvalue(each, n, _pair_law(ss)) for each in pairs),
        cells_pvalue(follow, n // 2, law**2),
    ]


@pytest.mark.parametrize(("k", "epsilon", "value"), [(300, "1/10", 0), (513, "1/2", 512), (1_000, 1, 64)])
def test_values_and_pairs_of_values_of_a_large_set_have_their_law(k, epsilon, value, source):
    ss = SS(k=k, epsilon=epsilon)
    rows = ss.privatize(np.full(20_000, value), rng=source).values

    assert ss._mapped
    assert (np.diff(rows.astype(np.int64), axis=1) > 0).all()
    assert min(_large_pvalues(ss, value, rows)) > ALPHA


def test_large_sets_that_are_drawn_badly_are_seen():
    """The twins: a value named too often, neighbours that come together, reports that are repeated."""
    ss = SS(k=300, epsilon="1/10")
    honest = ss.privatize(np.full(20_000, 7), rng=3).values
    often, together, twice = honest.copy(), honest.copy(), honest.copy()
    lacking = np.flatnonzero(~(often == 20).any(axis=1))[:2_000]
    often[lacking, 50] = 20
    lonely = np.flatnonzero((together == 150).any(axis=1) & ~(together == 151).any(axis=1))[:2_000]
    together[lonely, -1] = 151
    twice[1:2_000:2] = twice[:2_000:2]

    assert _large_pvalues(ss, 7, often)[0] < ALPHA
    assert _large_pvalues(ss, 7, together)[1] < ALPHA
    assert _large_pvalues(ss, 7, twice)[2] < ALPHA
