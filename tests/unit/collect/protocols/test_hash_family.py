"""The hash family: buckets of two values are independent, exactly, and nothing wraps that should not."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.protocols.hashing import LARGEST_DOMAIN, MOST_BUCKETS, OLH, HashFamily
from unit.collect._hash_and_subset_twins import slow_bucket

EVERY = np.arange(256)  # every word of the small family
SMALL = [(u, 9 - u) for u in range(1, 6)]  # bits of a value, bits that choose the bucket: u + l - 1 = 8


def _high_parts(top, value):
    """The top bits of a v + b for every a (row) and b (column), eight bits wide."""
    return ((EVERY[:, None] * value + EVERY) % 256) >> (8 - top)


def _joint(top, one, other):
    """How many of the 2**16 hash functions give each pair of high parts."""
    pairs = _high_parts(top, one) * 2**top + _high_parts(top, other)
    return np.bincount(pairs.ravel(), minlength=4**top)


def _pairs(bits):
    """Every pair of values of so many bits; of five bits, those with certain first values."""
    pairs = itertools.combinations(range(2**bits), 2)
    return [(one, other) for one, other in pairs if bits < 5 or one in {0, 15, 27}]


def _domains():
    for exponent in range(1, 26):
        yield from {max(2, 2 ** (exponent - 1) + 1), 2**exponent}


# --- independence ------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "top"), SMALL)
def test_high_parts_of_two_values_are_independent_and_uniform(bits, top):
    """If this is false the stated q is wrong, and every estimate with it."""
    for one, other in _pairs(bits):
        assert set(_joint(top, one, other).tolist()) == {2**16 // 4**top}


@pytest.mark.parametrize(("bits", "top"), SMALL)
def test_one_bit_more_and_independence_is_lost(bits, top):
    """The twin: the condition u + l - 1 <= w is needed, so the check above can see."""
    seen = [set(_joint(top + 1, a, b).tolist()) for a, b in _pairs(bits)]

    assert any(len(counts) > 1 for counts in seen)


@pytest.mark.parametrize(("bits", "top"), SMALL)
@pytest.mark.parametrize("g", [2, 3, 5, 7, 8])
def test_the_collision_probability_is_the_stated_rational(bits, top, g):
    family = HashFamily(width=8, top=top, g=g)
    buckets = np.stack(
        [family.bucket(EVERY[:, None], EVERY, value).ravel() for value in range(min(2**bits, 9))]
    )

    for one, other in itertools.combinations(buckets, 2):
        assert Fraction(np.count_nonzero(one == other), 2**16) == family.collision_exact


@pytest.mark.parametrize("epsilon", ["1/4", "1", "2"])
def test_a_value_not_held_is_supported_with_probability_q_exactly(epsilon):
    """Averaged over every hash function of a small family: q is no approximation for an ideal hash."""
    protocol = OLH(k=8, epsilon=epsilon)
    family = HashFamily(width=8, top=6, g=protocol.g)
    held, others = 5, [0, 1, 2, 3, 4, 6, 7]
    p, flip = protocol.p_exact, protocol.flip_exact
    stated = flip + (p - flip) * family.collision_exact
    true_bucket = family.bucket(EVERY[:, None], EVERY, held)

    for other in others:
        same = np.count_nonzero(true_bucket == family.bucket(EVERY[:, None], EVERY, other))
        assert (same * p + (2**16 - same) * flip) / 2**16 == stated


@pytest.mark.parametrize("g", [2, 3, 4, 5, 100, 4_096])
def test_the_protocols_use_the_collision_probability_of_their_family(g):
    family = HashFamily.for_domain(100, g)
    sizes = np.diff(family.starts(np.arange(g + 1)).astype(object))

    assert sum(int(size) ** 2 for size in sizes) == family.collision_exact * 4**family.top
    assert sum(sizes) == 2**family.top


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "g", [2, 3, 4, 2**7, 2**7 + 1, 2**12, 2**18, 2**18 + 1, MOST_BUCKETS - 1, MOST_BUCKETS]
)
def test_every_domain_keeps_the_condition_and_no_product_passes_64_bits(g):
    for k in _domains():
        family = HashFamily.for_domain(k, g)
        bits = (k - 1).bit_length()

        assert family.width in {32, 64}
        assert bits + family.top - 1 <= family.width
        assert (2**family.top - 1) * g < 2**64
        assert 2**family.top // g >= 2**14  # buckets differ in size by less than one part in 16,000


@pytest.mark.parametrize("k", [2, 3, 74, 2**17, 2**17 + 1, LARGEST_DOMAIN - 1, LARGEST_DOMAIN])
@pytest.mark.parametrize("g", [2, 3, 5, 2**14 - 1, MOST_BUCKETS - 1, MOST_BUCKETS])
def test_buckets_equal_those_of_python_integers_at_the_edges(k, g):
    family = HashFamily.for_domain(k, g)
    most = 2**family.width - 1
    words = [0, 1, 2, most // 3, most // 2, most // 2 + 1, most - 1, most]
    values = sorted({0, 1, k // 2, k - 1})

    for multiplier, offset in itertools.product(words, words):
        found = family.bucket(multiplier, offset, np.array(values)).tolist()
        assert found == [slow_bucket(family, multiplier, offset, value) for value in values]
        assert all(0 <= bucket < g for bucket in found)


@pytest.mark.parametrize("g", [2, 3, 5, 1_000, MOST_BUCKETS - 1, MOST_BUCKETS])
def test_starts_are_where_buckets_start(g):
    family = HashFamily.for_domain(LARGEST_DOMAIN, g)
    buckets = sorted({0, 1, g // 3, g // 2, g - 1, g})
    starts = family.starts(buckets).tolist()

    assert starts == [-(-bucket * 2**family.top // g) for bucket in buckets]
    for bucket, start in zip(buckets[:-1], starts[:-1], strict=True):
        assert start * g >> family.top == bucket
        assert start == 0 or (start - 1) * g >> family.top == bucket - 1


def test_words_are_as_wide_as_the_family_says():
    assert HashFamily.for_domain(74, 4).word is np.uint32
    assert HashFamily.for_domain(2**18, 4).word is np.uint64
