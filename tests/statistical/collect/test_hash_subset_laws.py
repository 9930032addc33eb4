"""Reports of local hashing and subset selection follow the laws they state, cell by cell, place by place.

Each test draws 200,000 reports (or as said) and compares counts of cells that are fixed in advance with
their exact binomial laws, Bonferroni over the cells, error rate ALPHA. Each has twins: reports as a broken
program would make them, which must be rejected.
"""

import itertools
import math

import numpy as np
import pytest

from evenhand.collect.protocols.hashing import BLH, OLH
from evenhand.collect.protocols.subset import SS
from evenhand.privacy.randomness import SecureSource, SeededSource
from statistical._exact import ALPHA, binomial_pvalue

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

N = 200_000
SOURCES = {"seeded": lambda: SeededSource(20_261_115), "secure": SecureSource}


def cells_pvalue(counts, n, probabilities):
    """The smallest of the exact p-values of all cells, times their number."""
    counts, probabilities = np.broadcast_arrays(counts, np.asarray(probabilities, dtype=float))
    return float(min(1, counts.size * binomial_pvalue(counts, n, probabilities).min()))


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]()


def _held(protocol, value, source, n=N):
    return protocol.privatize(np.full(n, value), rng=source).values


# --- subset selection --------------------------------------------------------------------------

SETS = [SS(k=2, epsilon=1), SS(k=3, epsilon="1/2"), SS(k=5, epsilon="1/4"), SS(k=8, epsilon="1/2")]
LISTS = [SS(k=3, epsilon="1/100"), SS(k=5, epsilon="1/4"), SS(k=6, epsilon="1/10")]


def _ranks(rows, k):
    """A number for each list, from its values in order."""
    return rows.astype(np.int64) @ (k ** np.arange(rows.shape[1])[::-1])


def _set_counts(ss, rows):
    """How often each set came, and each value in any set."""
    outputs = _ranks(ss.outputs().values, ss.k)
    found = np.searchsorted(outputs, _ranks(np.sort(rows, axis=1), ss.k))
    return np.append(np.bincount(found, minlength=outputs.size), np.bincount(rows.ravel(), minlength=ss.k))


def _set_law(ss, value, factor=1.0):
    """The probabilities of what is counted, if the true value is named `factor` times as often."""
    inside = ss.indicators(ss.outputs())
    tilt = np.where(inside[:, value] == 1, factor, (1 - factor * ss.p) / (1 - ss.p))
    row = ss.matrix()[value] * tilt
    return np.append(row, row @ inside)


def _listed(ss):
    """Every list there can be, and its probability under each held value: all orders alike."""
    lists = np.array(list(itertools.permutations(range(ss.k), ss.size)))
    sets = _ranks(ss.outputs().values, ss.k)
    column = np.searchsorted(sets, _ranks(np.sort(lists, axis=1), ss.k))
    return _ranks(lists, ss.k), ss.matrix()[:, column] / math.factorial(ss.size)


def _list_counts(ss, rows, lists):
    return np.bincount(np.searchsorted(lists, _ranks(rows, ss.k)), minlength=lists.size)


@pytest.mark.parametrize("ss", SETS, ids=repr)
def test_every_set_comes_as_often_as_the_matrix_says(ss, source):
    """If this is false the guarantee, which is proved for the matrix, says nothing about the code."""
    for value in range(ss.k):
        counts = _set_counts(ss, _held(ss, value, source))

        assert cells_pvalue(counts, N, _set_law(ss, value)) > ALPHA


@pytest.mark.parametrize("ss", SETS, ids=repr)
def test_another_law_of_sets_is_told_from_it(ss):
    """The twins: the true value named 3 % more often, 3 % less often, and the law of another value."""
    counts = _set_counts(ss, _held(ss, 1, SeededSource(1)))

    assert cells_pvalue(counts, N, _set_law(ss, 1, 1.03)) < ALPHA
    assert cells_pvalue(counts, N, _set_law(ss, 1, 0.97)) < ALPHA
    assert cells_pvalue(counts, N, _set_law(ss, 0)) < ALPHA


@pytest.mark.parametrize("ss", LISTS, ids=repr)
def test_every_list_comes_as_often_as_its_set_in_any_order(ss, source):
    """Every place of every list: if the order told anything, a list would be likelier than its reverse."""
    lists, law = _listed(ss)
    for value in range(ss.k):
        counts = _list_counts(ss, _held(ss, value, source), lists)

        assert cells_pvalue(counts, N, law[value]) > ALPHA


@pytest.mark.parametrize("ss", [SS(k=5, epsilon="1/4"), SS(k=6, epsilon="1/10")], ids=repr)
def test_an_order_that_tells_the_value_is_seen(ss):
    """The twins: the true value first, the true value last, the true value exchanged with the first place
    in one report of ten."""
    lists, law = _listed(ss)
    honest = _held(ss, 2, SeededSource(3))
    for place, share in [(0, 1.0), (ss.size - 1, 1.0), (0, 0.1)]:
        rows = honest.copy()
        moved = (rows == 2).any(axis=1) & (np.arange(N) < share * N)
        at = np.argmax(rows[moved] == 2, axis=1)
        rows[np.flatnonzero(moved), at] = rows[moved, place]
        rows[moved, place] = 2

        assert cells_pvalue(_list_counts(ss, rows, lists), N, law[2]) < ALPHA


@pytest.mark.parametrize(("k", "epsilon"), [(74, 1), (300, 2), (20_000, 8)])
def test_every_place_of_a_long_list_has_its_law(k, epsilon, source):
    """At each place the true value comes with p / size, every other value alike; pairs of places too."""
    ss, n = SS(k=k, epsilon=epsilon), 50_000
    value = k - 1
    rows = _held(ss, value, source, n).astype(np.int64)
    at_place = ss.p / ss.size
    low = (1 - at_place) * (k // 2) / (k - 1)  # a value of the lower half, which the true one is not
    both = _share_of_both_low(ss)

    assert cells_pvalue((rows == value).sum(axis=0), n, at_place) > ALPHA
    assert cells_pvalue((rows < k // 2).sum(axis=0), n, low) > ALPHA
    together = ((rows[:, :-1] < k // 2) & (rows[:, 1:] < k // 2)).sum(axis=0)
    assert cells_pvalue(together, n, both) > ALPHA
    assert cells_pvalue(np.bincount(rows.ravel(), minlength=k)[:value], n, ss.q) > ALPHA


def _share_of_both_low(ss):
    """Probability that two given places hold values of the lower half: neither is the true value."""
    half, others = ss.k // 2, ss.k - 1
    neither = 1 - 2 * ss.p / ss.size
    return neither * half * (half - 1) / (others * (others - 1))


def test_a_deck_that_is_shuffled_badly_is_seen():
    """The twin: the last place takes the value after the one before it, one report in twenty."""
    ss, n, k = SS(k=74, epsilon=1), 50_000, 74
    rows = _held(ss, k - 1, SeededSource(5), n).astype(np.int64)
    rows[: n // 20, -1] = (rows[: n // 20, -2] + 1) % (k // 2)
    low = (1 - ss.p / ss.size) * (k // 2) / (k - 1)

    assert cells_pvalue((rows < k // 2).sum(axis=0), n, low) < ALPHA


# --- local hashing -----------------------------------------------------------------------------

HASHED = [
    BLH(k=4, epsilon=1),
    OLH(k=5, epsilon=1),
    OLH(k=6, epsilon="1/2"),
    OLH(k=9, epsilon=3),
    OLH(k=40, epsilon=7),  # words of 64 bits
    OLH(k=2**18, epsilon=1),  # words of 64 bits
]


def _steps(protocol, values, held):
    true = protocol.family.bucket(values["multiplier"], values["offset"], held)
    return (values["value"].astype(np.int64) - true.astype(np.int64)) % protocol.g


def _step_law(protocol):
    law = np.full(protocol.g, float(protocol.flip_exact))
    law[0] = protocol.p
    return law


def _bits_of(values):
    """One column for each bit of multiplier and offset."""
    size = values.dtype["multiplier"].itemsize
    words = np.stack([values["multiplier"], values["offset"]], axis=1).astype(f"<u{size}")
    return np.unpackbits(words.view(np.uint8), axis=1)


def _tested(protocol):
    return np.unique(np.concatenate([np.arange(min(protocol.k, 12)), [protocol.k // 2, protocol.k - 1]]))


@pytest.mark.parametrize("protocol", HASHED, ids=repr)
def test_true_values_are_supported_with_p_and_others_with_q(protocol, source):
    """Every (held, supported) cell: q holds over the hash functions, so estimates are without bias."""
    tested, n = _tested(protocol), N // 2
    for held in tested if protocol.k <= 6 else tested[[0, 5, -1]]:
        values = _held(protocol, held, source, n)
        buckets = protocol.family.bucket(values["multiplier"][:, None], values["offset"][:, None], tested)
        counts = (buckets == values["value"][:, None]).sum(axis=0)
        law = np.where(tested == held, protocol.p, protocol.q)

        assert cells_pvalue(counts, n, law) > ALPHA
        assert cells_pvalue(counts, n, law * 1.05) < ALPHA  # the twin: 5 % off is seen


@pytest.mark.parametrize("protocol", HASHED, ids=repr)
def test_the_step_from_the_true_bucket_has_its_law_whatever_the_bucket(protocol, source):
    """Every (true bucket, reported bucket) cell is that of randomized response over the buckets."""
    values, g = _held(protocol, protocol.k - 1, source), protocol.g
    steps = _steps(protocol, values, protocol.k - 1)
    true = (values["value"].astype(np.int64) - steps) % g
    sizes = np.diff(protocol.family.starts(np.arange(g + 1)).astype(float)) / 2.0**protocol.family.top
    few = min(g, 60)
    cells = np.bincount((true * few + steps)[(true < few) & (steps < few)], minlength=few * few)

    assert cells_pvalue(np.bincount(steps, minlength=g), N, _step_law(protocol)) > ALPHA
    assert cells_pvalue(cells, N, np.outer(sizes[:few], _step_law(protocol)[:few]).ravel()) > ALPHA


@pytest.mark.parametrize("protocol", HASHED[:4], ids=repr)
def test_a_step_that_is_off_is_seen(protocol):
    """The twins: one report in ten moved on by one bucket, and noise left out of one in ten."""
    values = _held(protocol, 1, SeededSource(7))
    steps = _steps(protocol, values, 1)
    moved, silent = steps.copy(), steps.copy()
    moved[: N // 10] = (moved[: N // 10] + 1) % protocol.g
    silent[: N // 10] = 0

    for wrong in (moved, silent):
        assert cells_pvalue(np.bincount(wrong, minlength=protocol.g), N, _step_law(protocol)) < ALPHA


@pytest.mark.parametrize("protocol", HASHED, ids=repr)
def test_every_bit_of_the_hash_function_is_fair_whatever_the_value_and_the_noise(protocol, source):
    """If the function told of the value, no noise on the bucket could keep the guarantee."""
    codes = np.arange(N) % 2 * (protocol.k - 1)  # half of the people hold each of two values
    values = protocol.privatize(codes, rng=source).values
    bits = _bits_of(values)
    noisy = _steps(protocol, values, codes) > 0
    flipped = 1 - protocol.p

    assert cells_pvalue(bits.sum(axis=0), N, 0.5) > ALPHA
    assert cells_pvalue(bits[codes > 0].sum(axis=0), N // 2, 0.5) > ALPHA
    assert cells_pvalue(bits[noisy].sum(axis=0), N, flipped / 2) > ALPHA
    neighbours = bits[:, 1:] ^ bits[:, :-1]
    assert cells_pvalue(neighbours.sum(axis=0), N, 0.5) > ALPHA
    following = bits[1:] ^ bits[:-1]  # of two people in a row
    assert cells_pvalue(following[::2].sum(axis=0), N // 2, 0.5) > ALPHA


def test_a_hash_function_that_tells_the_value_or_the_noise_is_seen():
    """The twins: the value in the lowest bit, noise from the words of the function, one function for two."""
    protocol = OLH(k=5, epsilon=1)
    codes = np.arange(N) % 2 * 4
    values = protocol.privatize(codes, rng=8).values
    told, shared, twice = values.copy(), values.copy(), values.copy()
    told["multiplier"] |= (codes > 0).astype(np.uint32)
    first_byte = shared["multiplier"] >> np.uint32(24)
    noise = np.where(first_byte < 256 * (1 - protocol.p), 1 + first_byte % 3, 0)
    true = protocol.family.bucket(shared["multiplier"], shared["offset"], codes)
    shared["value"] = (true.astype(np.int64) + noise) % protocol.g
    twice["multiplier"][1::2] = twice["multiplier"][::2]
    noisy = _steps(protocol, shared, codes) > 0
    following = _bits_of(twice)[1:] ^ _bits_of(twice)[:-1]

    assert cells_pvalue(_bits_of(told)[codes > 0].sum(axis=0), N // 2, 0.5) < ALPHA
    assert cells_pvalue(_bits_of(shared)[noisy].sum(axis=0), N, (1 - protocol.p) / 2) < ALPHA
    assert cells_pvalue(following[::2].sum(axis=0), N // 2, 0.5) < ALPHA


@pytest.mark.parametrize("protocol", [BLH(k=6, epsilon=1), OLH(k=6, epsilon="1/2"), SS(k=6, epsilon="1/2")])
def test_estimates_are_without_bias(protocol):
    """The sum of supports of each value over a mixed population, against its exact mean, 6.2 errors wide.

    A sum of independent Bernoulli variables of two probabilities: split by held value, each part is binomial.
    """
    codes = np.repeat(np.arange(6), [60_000, 40_000, 50_000, 10_000, 25_000, 15_000])
    inside = protocol.indicators(protocol.privatize(codes, rng=9))
    for held in range(6):
        n = np.count_nonzero(codes == held)
        law = np.where(np.arange(6) == held, protocol.p, protocol.q)

        assert cells_pvalue(inside[codes == held].sum(axis=0), n, law) > ALPHA
    shares = protocol.estimate(protocol.privatize(codes, rng=9)).values
    errors = np.sqrt(protocol.variance(np.bincount(codes) / N, N))
    assert (np.abs(shares - np.bincount(codes) / N) < 6.2 * errors).all()
