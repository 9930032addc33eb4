"""A split under limits keeps them, keeps the budget, and is the best there is."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.collect.joint.split import split_budget, split_cost
from evenhand.collect.joint.split_fair import fair_epsilon, reported_unfairness
from evenhand.privacy.rational import exact

sizes = st.lists(st.integers(2, 60), min_size=1, max_size=4)
epsilons = st.floats(0.05, 10)
rules = st.sampled_from(["uniform", "k-based", "optimal"])


@settings(max_examples=20)
@given(sizes, epsilons, rules, st.lists(st.one_of(st.none(), st.floats(0.01, 5)), min_size=4, max_size=4))
def test_limits_and_budget_are_kept(values, epsilon, how, wanted):
    limits = wanted[: len(values)]
    parts = split_budget(epsilon, values, how=how, limits=limits, exact=True)
    highest = [None if each is None else exact(each, name="limit", owner="test") for each in limits]
    total = exact(epsilon, name="epsilon", owner="test")

    assert all(part > 0 for part in parts)
    assert all(most is None or part <= most for part, most in zip(parts, highest, strict=True))
    assert sum(parts) <= total
    if sum(parts) < total:
        assert list(parts) == highest


@settings(max_examples=10)
@given(st.lists(st.integers(2, 60), min_size=2, max_size=4), epsilons, st.floats(0.05, 0.95))
def test_no_other_split_under_the_limit_is_better(values, epsilon, share):
    limit = share * epsilon / len(values)
    found = split_budget(epsilon, values, how="optimal", limits=[limit, *[None] * (len(values) - 1)])
    best = split_cost(found, values)
    draws = np.random.default_rng(len(values)).dirichlet(np.ones(len(values)), size=200) * epsilon
    draws[:, 0] = np.minimum(draws[:, 0], limit)
    draws = np.maximum(draws, 1e-9)

    assert best <= min(split_cost(row.tolist(), values) for row in draws[:40]) * (1 + 1e-9)


@settings(max_examples=60)
@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_the_target_is_met_and_not_undershot(share, target):
    """A limit that misses the target breaks a promise; one that is too low wastes the budget."""
    most = fair_epsilon(share, target)

    assert reported_unfairness(share, most) <= target
    assert reported_unfairness(share, most * (1 + 1e-6)) > target * (1 - 1e-12)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0.05, 1), st.floats(0, 1)), min_size=3, max_size=6),
    st.floats(0.01, 0.9),
    st.sampled_from(["difference", "ratio"]),
)
def test_the_target_is_met_for_any_number_of_groups(groups, target, kind):
    weights, rates = zip(*groups, strict=True)
    if max(rates) - min(rates) < 1e-3:
        return
    most = fair_epsilon(weights, target, rates=rates, kind=kind)

    assert reported_unfairness(weights, Fraction(most), rates=rates, kind=kind) <= target * (1 + 1e-12)
    if most < 600:
        assert reported_unfairness(weights, most * 1.001, rates=rates, kind=kind) > target * (1 - 1e-9)
