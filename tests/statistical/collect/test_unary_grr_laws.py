"""Reports of GRR and the unary codes are drawn from the matrix that is claimed, cell by cell and bit by bit.

Exact binomial tests, alpha 1e-9, on cells fixed in advance, with either source; broken copies of the reports
and laws 3 % off (5 % with the secure source, whose draws differ from run to run) are rejected.
The sizes make a miss of a law 3 % off a matter of ten standard errors where seven are needed.
"""

import numpy as np
import pytest

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.privacy.randomness import SecureSource, SeededSource
from statistical._exact import ALPHA, binomial_pvalue

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

UNARY = [RAPPOR, OUE, THE]
SOURCES = ["secure", "seeded"]


def _source(kind, name):
    return SecureSource() if kind == "secure" else SeededSource(20261120).for_cell(name)


def _off(kind):
    return 0.05 if kind == "secure" else 0.03


def _pvalue(counts, n, probabilities):
    """The smallest of many exact p-values, times their number."""
    found = binomial_pvalue(np.asarray(counts), n, np.asarray(probabilities, dtype=float))
    return min(1.0, found.size * float(found.min()))


def _cells(codes, outputs, k, kinds):
    """How many people with each value sent each report."""
    return np.bincount(codes * kinds + outputs, minlength=k * kinds).reshape(k, kinds)


# --- every (input, output) cell -----------------------------------------------------------------


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (3, "1/2"), (5, 1), (8, 2), (74, 3)])
def test_every_cell_of_randomized_response_has_its_probability(k, epsilon, kind):
    grr = GRR(k, epsilon)
    each = 1_500_000 // k
    codes = np.repeat(np.arange(k), each)
    counts = _cells(codes, grr.privatize(codes, rng=_source(kind, f"cells {k}")).values, k, k)

    assert _pvalue(counts, each, grr.matrix()) > ALPHA
    if k <= 8:
        for factor in (1 + _off(kind), 1 - _off(kind)):
            wrong = np.full((k, k), factor * grr.q)
            np.fill_diagonal(wrong, 1 - (k - 1) * factor * grr.q)

            assert _pvalue(counts, each, wrong) < ALPHA


def test_a_share_of_k_instead_of_k_minus_one_is_seen():
    """The classic slip: the false values share 1 - p among k, so the truth is told too often."""
    k = 5
    grr = GRR(k, 1)
    codes = np.repeat(np.arange(k), 100_000)
    kept = grr.privatize(codes, rng=1).values == codes
    said = np.where(kept, codes, SeededSource(2).generator().integers(0, k, codes.size))

    assert _pvalue(_cells(codes, said, k, k), 100_000, grr.matrix()) < ALPHA


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("make", UNARY)
def test_every_cell_of_a_small_unary_code_has_its_probability(make, kind):
    k, each = 3, 400_000
    protocol = make(k, 1)
    codes = np.repeat(np.arange(k), each)
    outputs = protocol.privatize(codes, rng=_source(kind, f"small {make.__name__}")).values[:, 0]
    counts = _cells(codes, outputs, k, 8)

    assert _pvalue(counts, each, protocol.matrix()) > ALPHA
    for factor in (1 + _off(kind), 1 - _off(kind)):
        bits = protocol.indicators(protocol.outputs())
        ones = np.where(np.eye(k, dtype=bool), protocol.p, factor * protocol.q)
        wrong = np.prod(np.where(bits[None], ones[:, None], 1 - ones[:, None]), axis=2)

        assert _pvalue(counts, each, wrong) < ALPHA


# --- every coordinate ---------------------------------------------------------------------------


def _coordinates(protocol, each, source):
    """How many of the people with each value set each bit, and the bits."""
    codes = np.repeat(np.arange(protocol.k), each)
    bits = protocol.indicators(protocol.privatize(codes, rng=source))
    return bits, bits.reshape(protocol.k, each, protocol.k).sum(axis=1, dtype=np.int64)


def _claimed(protocol, factor=1.0):
    return np.where(np.eye(protocol.k, dtype=bool), protocol.p, factor * protocol.q)


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("make", UNARY)
@pytest.mark.parametrize(("k", "each"), [(2, 200_000), (5, 50_000), (9, 20_000), (74, 2_000)])
def test_every_bit_of_a_report_has_its_probability(make, k, each, kind):
    """Also the last one: a bit that is never flipped tells everything about its value."""
    protocol = make(k, 1)
    _, counts = _coordinates(protocol, each, _source(kind, f"bits {make.__name__} {k}"))

    assert _pvalue(counts, each, _claimed(protocol)) > ALPHA
    pooled, off = counts.sum() - np.trace(counts), _off(kind)
    for factor in (1 + off, 1 - off):
        assert _pvalue(pooled, each * k * (k - 1), factor * protocol.q) < ALPHA


@pytest.mark.parametrize("make", UNARY)
@pytest.mark.parametrize("k", [5, 9])
def test_broken_bits_are_seen(make, k):
    protocol, each = make(k, 1), 20_000
    bits, counts = _coordinates(protocol, each, SeededSource(3))
    codes = np.repeat(np.arange(k), each)

    assert _pvalue(counts, each, _claimed(protocol)) > ALPHA
    unflipped = bits.copy()
    unflipped[:, -1] = codes == k - 1
    swapped = bits[:, ::-1]
    for broken in (unflipped, swapped):
        found = broken.reshape(k, each, k).sum(axis=1, dtype=np.int64)

        assert _pvalue(found, each, _claimed(protocol)) < ALPHA


# --- independence -------------------------------------------------------------------------------


def _both(stream, lag):
    """Count the disjoint pairs at a distance in which both are set."""
    whole = stream[: stream.size // (2 * lag) * 2 * lag].reshape(-1, 2, lag)
    return int((whole[:, 0] & whole[:, 1]).sum()), whole.size // 2


def _pairs_pvalue(stream, probability):
    """Neighbours; the next byte, word and group of lanes; and the two halves of everything."""
    lags = [1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 65, 128, 2_048, 4_096, stream.size // 2]
    found = [_both(stream, lag) for lag in lags]
    return min(1.0, len(found) * min(float(binomial_pvalue(count, n, probability**2)) for count, n in found))


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(("make", "k"), [(RAPPOR, 3), (OUE, 8), (THE, 74)])
def test_no_bit_depends_on_another(make, k, kind):
    """Within a report and between people: the bits of values nobody has, in the order they were drawn."""
    protocol, people = make(k, 1), 1_000_000 // k
    source = _source(kind, f"pairs {make.__name__}")
    bits = protocol.indicators(protocol.privatize(np.zeros(people, dtype=int), rng=source))[:, 1:]
    neighbours, people_twice = bits.copy(), np.tile(bits[: people // 2], (2, 1))
    neighbours[:, 1::2] = neighbours[:, 0:-1:2]

    assert _pairs_pvalue(bits.reshape(-1), protocol.q) > ALPHA
    for broken in (neighbours, people_twice):
        assert _pairs_pvalue(broken.reshape(-1), protocol.q) < ALPHA


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("make", UNARY)
def test_the_true_bit_does_not_depend_on_the_others(make, kind):
    protocol, people = make(6, 1), 400_000
    codes = np.arange(people) % 6
    bits = protocol.indicators(protocol.privatize(codes, rng=_source(kind, f"true {make.__name__}")))
    place = np.arange(people)
    true, following = bits[place, codes], bits[place, (codes + 1) % 6]
    both = np.count_nonzero(true & following)

    assert _pvalue(both, people, protocol.p * protocol.q) > ALPHA
    assert _pvalue(np.count_nonzero(true & true), people, protocol.p * protocol.q) < ALPHA
    assert _pairs_pvalue(true, protocol.p) > ALPHA
    assert _pairs_pvalue(np.repeat(true[::2], 2), protocol.p) < ALPHA


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("k", [2, 5, 74])
def test_people_answer_randomized_response_independently(k, kind):
    grr, people = GRR(k, 1), 400_000
    codes = np.arange(people) % k
    said = grr.privatize(codes, rng=_source(kind, f"people {k}")).values
    kept = said == codes

    assert _pairs_pvalue(kept, grr.p) > ALPHA
    assert _pairs_pvalue(np.repeat(kept[::2], 2), grr.p) < ALPHA
    step = (said.astype(int) - codes) % k  # zero, or one of the others evenly, whatever the code

    assert _pairs_pvalue(step == k - 1, grr.q) > ALPHA
