"""Sums of products without a lost digit, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.fairest.program import exact_products, sums_by_place


def wide(draw, size):
    return draw.normal(size=size) * 10.0 ** draw.uniform(-40, 40, size)


@pytest.mark.parametrize("seed", range(5))
def test_a_product_and_its_rest_are_exact(seed):
    """The rest is what a certificate would otherwise have to allow for."""
    left, right = wide(np.random.default_rng(seed), (2, 200))
    product, rest = exact_products(left, right)

    for one, other, rounded, lost in zip(left, right, product, rest, strict=True):
        assert Fraction(rounded) + Fraction(lost) == Fraction(one) * Fraction(other)


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_rounded_once(seed):
    """Large parts that cancel must leave the small ones whole."""
    draw = np.random.default_rng(seed)
    parts, places = wide(draw, 100), draw.integers(0, 7, 100)
    parts = np.concatenate([parts, -parts, draw.normal(size=20)])
    places = np.concatenate([places, places, draw.integers(0, 7, 20)])
    found = sums_by_place(places, parts, 9)
    slow = [sum(map(Fraction, parts[places == place]), Fraction(0)) for place in range(9)]

    assert found.tolist() == [float(each) for each in slow]
    assert np.bincount(places, parts, minlength=9).tolist() != found.tolist()  # the quick way is another


def test_no_parts_sum_to_nought():
    """Duals may all be zero."""
    assert sums_by_place(np.array([], dtype=int), np.array([]), 2).tolist() == [0, 0]
    assert sums_by_place(np.array([1, 1]), np.array([0.0, 0.0]), 2).tolist() == [0, 0]
