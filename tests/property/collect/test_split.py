"""The optimal split is never worse than any other, for any sizes, weights and epsilons."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.collect.joint.split import split_budget, split_cost
from evenhand.collect.joint.split_optimal import Attributes
from evenhand.collect.protocols.registry import formula_names, is_convex
from evenhand.privacy.rational import exact

pytestmark = pytest.mark.figures

domains = st.one_of(st.integers(2, 100), st.sampled_from([2, 1_000, 100_000]))
epsilons = st.one_of(st.sampled_from([0.01, 0.1, 1, 50]), st.floats(0.01, 50))
protocols = st.sampled_from(sorted(formula_names()))
weighings = st.sampled_from(["cells", "ones", "odd"])


def weights_for(kind, sizes):
    return {"cells": None, "ones": [1] * len(sizes), "odd": [1 + 7 * (k % 5) for k in sizes]}[kind]


def random_costs(sizes, weights, protocol, epsilon, how_many):
    """Return the costs of random splits, spread evenly over all splits and over their logarithms."""
    draws = np.random.default_rng(len(sizes))
    even = draws.dirichlet(np.ones(len(sizes)), size=how_many // 2)
    skewed = draws.dirichlet(np.full(len(sizes), 0.3), size=how_many // 2)
    splits = np.maximum(np.concatenate((even, skewed)), 1e-9)
    splits = splits / splits.sum(axis=1, keepdims=True) * epsilon
    given = Attributes(np.array(sizes, float), np.array(weights or sizes, float), (protocol,) * len(sizes))
    return given.costs(splits).sum(axis=1)


@settings(max_examples=40)
@given(st.lists(domains, min_size=2, max_size=4), epsilons, protocols, weighings)
def test_no_other_split_is_better(sizes, epsilon, protocol, kind):
    """Uniform, k-based and a thousand random splits never have less total variance."""
    weights = weights_for(kind, sizes)
    best = split_cost(
        split_budget(epsilon, sizes, how="optimal", protocol=protocol, weights=weights),
        sizes,
        protocol=protocol,
        weights=weights,
    )
    others = [
        split_cost(split_budget(epsilon, sizes, how=how), sizes, protocol=protocol, weights=weights)
        for how in ("uniform", "k-based")
    ]
    random = random_costs(sizes, weights, protocol, epsilon, 1_000)

    assert best <= min([*others, random.min()]) * (1 + 1e-11)


def test_the_check_against_random_splits_can_see():
    """The twin: the k-based split is caught as not optimal."""
    k_based = split_cost(split_budget(1, (2, 5, 41), how="k-based"), (2, 5, 41))

    assert k_based > random_costs((2, 5, 41), None, "grr", 1, 1_000).min()


@given(
    st.lists(domains, min_size=1, max_size=6), epsilons, protocols, st.sampled_from(["uniform", "k-based"])
)
def test_simple_splits_keep_the_budget(sizes, epsilon, protocol, how):
    whole = exact(epsilon, name="epsilon", owner="test")

    assert sum(split_budget(epsilon, sizes, how=how, exact=True)) == whole
    assert sum(Fraction(repr(part)) for part in split_budget(epsilon, sizes, how=how)) <= whole


@settings(max_examples=15)
@given(st.lists(domains, min_size=1, max_size=5), epsilons, protocols)
def test_the_optimal_split_keeps_the_budget(sizes, epsilon, protocol):
    whole = exact(epsilon, name="epsilon", owner="test")
    parts = split_budget(epsilon, sizes, how="optimal", protocol=protocol, exact=True)
    floats = split_budget(epsilon, sizes, how="optimal", protocol=protocol)

    assert 0 <= whole - sum(parts) < Fraction(1, 10**12)
    assert all(part > 0 for part in parts)
    assert sum(Fraction(repr(part)) for part in floats) <= whole


@settings(max_examples=15)
@given(st.lists(domains, min_size=2, max_size=5, unique=True), epsilons, protocols, st.randoms())
def test_the_order_of_attributes_does_not_matter(sizes, epsilon, protocol, random):
    order = list(range(len(sizes)))
    random.shuffle(order)
    first = split_budget(epsilon, sizes, how="optimal", protocol=protocol)
    second = split_budget(epsilon, [sizes[each] for each in order], how="optimal", protocol=protocol)

    assert second == pytest.approx([first[each] for each in order], rel=1e-9)


@given(domains, st.integers(1, 6), epsilons, st.sampled_from(sorted(filter(is_convex, formula_names()))))
def test_equal_attributes_get_equal_parts_where_the_variance_is_convex(k, count, epsilon, protocol):
    assert split_budget(epsilon, [k] * count, how="optimal", protocol=protocol) == split_budget(
        epsilon, [k] * count, how="uniform"
    )


@given(domains, epsilons, protocols)
def test_one_attribute_gets_it_all(k, epsilon, protocol):
    assert split_budget(epsilon, [k], how="optimal", protocol=protocol) == (float(epsilon),)


@given(st.lists(domains, min_size=1, max_size=5), epsilons, protocols)
def test_the_chances_of_being_asked_are_the_best_there_are(sizes, epsilon, protocol):
    """By Cauchy and Schwarz nothing costs less than the square of the sum of roots."""
    shares = split_budget(epsilon, sizes, how="sample", protocol=protocol, exact=True)
    alone = [split_cost([epsilon], [k], protocol=protocol) for k in sizes]
    cost = sum(each / float(share) for each, share in zip(alone, shares, strict=True))

    assert sum(shares) == 1
    assert cost == pytest.approx(sum(each**0.5 for each in alone) ** 2, rel=1e-6)
