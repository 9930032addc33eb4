"""Comparisons of groups against fairlearn, live and as numbers that it and aequitas once gave.

Where fairlearn calls a rate of nobody 0, it cannot be estimated here; such tables are not compared.
"""

import math

import numpy as np
import pytest

from evenhand.measure import count_table
from evenhand.measure.counts import Tables
from evenhand.measure.disparities import OTHER_NAMES, compare_groups, compare_with, rate_values

pytestmark = pytest.mark.figures

NAMED = [name for name in OTHER_NAMES if name.endswith(("_difference", "_ratio"))]

PINNED = {
    "demographic_parity_difference": 0.15000000000000002,
    "demographic_parity_ratio": 0.7,
    "equal_opportunity_difference": 0.3333333333333333,
    "equal_opportunity_ratio": 0.5555555555555556,
    "equalized_odds_difference": 0.3333333333333333,
    "equalized_odds_ratio": 0.5,
}
"""What fairlearn 0.15.0 says of :func:`_small_table`."""

DISPARITIES = {
    "selection": 0.7,
    "tpr": 0.5555555555555556,
    "fnr": 2.3333333333333335,
    "fpr": 2.0,
    "tnr": 0.8571428571428571,
    "precision": 0.7936507936507936,
    "fdr": 2.8571428571428568,
    "npv": 0.6593406593406594,
    "for": 1.794871794871795,
}
"""What aequitas 1.1.0 says of the same table: each rate of women divided by that of men."""


def _small_table():
    """Return 20 people of each of two groups."""
    men = [(1, 1)] * 9 + [(1, 0)] * 3 + [(0, 1)] * 1 + [(0, 0)] * 7
    women = [(1, 1)] * 5 + [(1, 0)] * 7 + [(0, 1)] * 2 + [(0, 0)] * 6
    rows = np.array(men + women)
    return rows[:, 0], rows[:, 1], np.repeat(["men", "women"], 20)


def _tables(number, seed):
    generator = np.random.default_rng(seed)
    for _ in range(number):
        groups = int(generator.integers(2, 6))
        people = int(generator.integers(200, 2000))
        group = generator.integers(0, groups, people)
        chances = generator.uniform(0.1, 0.9, (groups, 2))
        truth = generator.integers(0, 2, people)
        yield truth, (generator.random(people) < chances[group, truth]).astype(int), group


def _ours(name, truth, predicted, group):
    shares = Tables.of(count_table(truth, predicted, group), None).groups
    return compare_groups(shares, OTHER_NAMES[name], fewest=1, level=0.95).value


def test_comparisons_are_the_numbers_that_fairlearn_gave():
    actual = {name: _ours(name, *_small_table()) for name in PINNED}

    assert actual == pytest.approx(PINNED, abs=1e-15)


def test_ratios_to_a_reference_are_the_disparities_that_aequitas_gave():
    shares = Tables.of(count_table(*_small_table()), None).groups
    actual = {rate: float(compare_with(shares, rate, 0, 0.95).ratio[1]) for rate in DISPARITIES}

    assert actual == pytest.approx(DISPARITIES, abs=1e-12)


@pytest.mark.parametrize("name", NAMED)
def test_comparisons_equal_the_named_functions_of_fairlearn(name):
    """Somebody who changes over from fairlearn must find the same numbers."""
    metrics = pytest.importorskip("fairlearn.metrics")
    for truth, predicted, group in [_small_table(), *_tables(8, seed=8)]:
        expected = getattr(metrics, name)(truth, predicted, sensitive_features=group)

        assert _ours(name, truth, predicted, group) == pytest.approx(expected, abs=1e-12)


def test_rates_by_group_equal_a_metric_frame():
    metrics = pytest.importorskip("fairlearn.metrics")
    rates = {
        "selection": metrics.selection_rate, "tpr": metrics.true_positive_rate,
        "fpr": metrics.false_positive_rate, "fnr": metrics.false_negative_rate,
        "tnr": metrics.true_negative_rate,
    }  # fmt: skip
    for truth, predicted, group in _tables(4, seed=4):
        frame = metrics.MetricFrame(
            metrics=rates, y_true=truth, y_pred=predicted, sensitive_features=group
        ).by_group
        shares = Tables.of(count_table(truth, predicted, group), None).groups
        for rate in rates:
            assert rate_values(shares, rate).tolist() == pytest.approx(frame[rate].tolist(), abs=1e-12)


def test_the_comparison_can_see():
    """The twin: flipped predictions must not agree."""
    metrics = pytest.importorskip("fairlearn.metrics")
    truth, predicted, group = next(iter(_tables(1, seed=1)))
    expected = metrics.demographic_parity_ratio(truth, 1 - predicted, sensitive_features=group)

    assert not math.isclose(
        _ours("demographic_parity_ratio", truth, predicted, group), expected, abs_tol=1e-6
    )
