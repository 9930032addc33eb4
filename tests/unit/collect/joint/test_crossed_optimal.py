"""Optimal over combinations of columns: what it reports of unfairness, against brute force."""

import itertools

import numpy as np
import pytest

from evenhand.collect import GroupOutcomes, Optimal, group_rates, optimal_strategy
from evenhand.collect.joint.combined import CombinedOptimal
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

SIZES = {"sex": 2, "race": 3}


def problem(seed):
    draws = np.random.default_rng(seed)
    return draws.dirichlet(np.ones(6)), draws.uniform(0.1, 0.9, 6)


def reported_rates(strategy, told):
    """The rate of outcome 1 among people by what `told` says of their report, person by person."""
    matrix, weights, rates = strategy.product.matrix(), strategy.product.weights, strategy.product.rates
    people, ones = {}, {}
    for true, sent in itertools.product(range(6), repeat=2):
        key, chance = told(sent), weights[true] * matrix[true, sent]
        people[key] = people.get(key, 0) + chance
        ones[key] = ones.get(key, 0) + chance * rates[true]
    return np.array([ones[key] / people[key] for key in sorted(people)])


@pytest.mark.parametrize("kind", ["ratio", "difference"])
@pytest.mark.parametrize("seed", range(3))
def test_unfairness_is_that_of_the_reported_combinations(kind, seed):
    weights, rates = problem(seed)
    outcomes = GroupOutcomes.public(weights, rates, source="test")
    strategy = optimal_strategy(SIZES, epsilon=1, outcomes=outcomes, protected=["sex", "race"], kind=kind)
    reported = reported_rates(strategy, lambda sent: sent)
    overall = weights @ rates
    expected = np.ptp(reported) if kind == "difference" else np.abs(reported / overall - 1).max()

    assert isinstance(strategy, CombinedOptimal)
    assert strategy.unfairness.after == pytest.approx(expected)
    assert strategy.unfairness.after < strategy.unfairness.before


@pytest.mark.parametrize("seed", range(3))
def test_unfairness_of_one_column_is_that_of_its_reported_values(seed):
    """How a value is reported and how often it has the outcome both depend on the other column."""
    weights, rates = problem(seed)
    strategy = CombinedOptimal(SIZES, Optimal(weights, rates, epsilon=1))
    parts = {"sex": lambda sent: sent // 3, "race": lambda sent: sent % 3}
    for column, told in parts.items():
        found = strategy.protocols[column].unfairness
        by_value = [
            sum(weights[c] * rates[c] for c in range(6) if told(c) == v)
            / sum(weights[c] for c in range(6) if told(c) == v)
            for v in range(SIZES[column])
        ]

        assert found.after == pytest.approx(np.ptp(reported_rates(strategy, told)))
        assert found.before == pytest.approx(np.ptp(by_value))


def test_no_mixture_of_other_channels_over_combinations_is_fairer():
    """Channels made for other rates keep epsilon and the error budget too, and so do their mixtures."""
    draws = np.random.default_rng(8)
    weights, rates = draws.dirichlet(np.ones(4)), draws.uniform(0.1, 0.9, 4)
    best = Optimal(weights, rates, epsilon=1)
    others = [best.matrix()]
    others += [Optimal(weights, draws.random(4), epsilon=1).matrix() for _ in range(8)]
    found = []
    for shares in draws.dirichlet(np.full(len(others), 0.2), 500):
        matrix = np.tensordot(shares, others, axes=1)
        reported = (weights * rates) @ matrix / (weights @ matrix)
        found.append(np.abs(reported / (weights @ rates) - 1).max())

    assert min(found) >= best.unfairness.after - 1e-9
    assert min(found) < 1.5 * best.unfairness.after  # so that some of them come near


def test_outcomes_of_combinations_are_counted_from_crossed_columns():
    draws = np.random.default_rng(3)
    group = {"race": draws.integers(0, 3, 500), "sex": draws.integers(0, 2, 500)}
    outcome = draws.integers(0, 2, 500)
    joined = 3 * group["sex"] + group["race"]

    assert GroupOutcomes.exact(outcome, group, k=SIZES) == GroupOutcomes.exact(outcome, joined, k=6)
    noisy = [GroupOutcomes.noisy(outcome, g, k=k, epsilon=1, rng=2) for g, k in ((group, SIZES), (joined, 6))]
    assert noisy[0] == noisy[1]


def test_other_columns_may_stay_in_the_clear():
    weights, rates = problem(1)
    outcomes = GroupOutcomes.public(weights, rates, source="test")
    sizes = {"age": 4, **SIZES}
    given = {"epsilon": 1, "outcomes": outcomes, "protected": ("sex", "race")}
    strategy = optimal_strategy(sizes, strategy="single", **given)

    assert strategy.columns == ("sex", "race")
    assert strategy.in_clear == ("age",)
    with pytest.raises(InvalidParameterError, match="24 groups"):
        optimal_strategy(sizes, **given)
    with pytest.raises(InvalidParameterError, match="'combined' or 'single'"):
        optimal_strategy(sizes, strategy="independent", **given)


def test_reports_of_the_crossed_channel_give_rates_of_combinations():
    """From outcomes to the channel, to reports, and back to rates."""
    weights, rates = np.full(6, 1 / 6), np.array([0.2, 0.7, 0.4, 0.6, 0.1, 0.5])
    outcomes = GroupOutcomes.public(weights, rates, source="test")
    strategy = optimal_strategy(SIZES, epsilon=4, outcomes=outcomes, protected=list(SIZES), error="minimum")
    draws = np.random.default_rng(5)
    codes = {"sex": draws.integers(0, 2, 40_000), "race": draws.integers(0, 3, 40_000)}
    outcome = draws.random(40_000) < rates[3 * codes["sex"] + codes["race"]]
    found = group_rates(outcome, strategy.privatize(codes, rng=7))

    assert [float(rate) for rate in found.rates.values()] == pytest.approx(rates, abs=0.05)


@pytest.mark.parametrize(
    ("group", "k", "told"),
    [
        ({"sex": [0, 1]}, SIZES, "group"),
        ([0, 1], SIZES, "group"),
        ({"sex": [0, 1], "race": [0]}, SIZES, "group"),
        ({"sex": [0, 1]}, {}, "k"),
        ({"sex": [0, 1]}, {"sex": 1}, "k"),
        ({"a": [0, 1], "b": [0, 1]}, {"a": 2**15, "b": 2**15}, "k"),
    ],
)
def test_columns_and_sizes_that_do_not_fit_are_refused(group, k, told):
    with pytest.raises(InvalidParameterError, match=rf"The '{told}' parameter"):
        GroupOutcomes.exact([0, 1], group, k=k)


def test_a_protected_column_that_is_not_there_is_refused():
    outcomes = GroupOutcomes.public([1, 1], [0.1, 0.2], source="test")
    with pytest.raises(ColumnNotFoundError, match="age"):
        optimal_strategy(SIZES, epsilon=1, outcomes=outcomes, protected=["sex", "age"])
