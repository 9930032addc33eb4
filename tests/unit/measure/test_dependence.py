"""Cramer's V is that of a slow reckoning, and its interval holds the true one."""

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency

from evenhand.measure.dependence import Bounded, dependence
from statistical._exact import ALPHA


def slow_v(table):
    """Return Bergsma's corrected V from SciPy's chi-squared."""
    table = np.asarray(table)
    n, (rows, columns) = table.sum(), table.shape
    phi = chi2_contingency(table, correction=False).statistic / n
    less = max(0.0, phi - (rows - 1) * (columns - 1) / (n - 1))
    r, c = (each - (each - 1) ** 2 / (n - 1) for each in (rows, columns))
    return math.sqrt(less / (min(r, c) - 1))


def codes_of(table):
    """Return two columns of codes with these counts."""
    counts = np.asarray(table)
    return [np.repeat(codes.ravel(), counts.ravel()) for codes in np.indices(counts.shape)]


@pytest.mark.parametrize(
    "table",
    [
        [[40, 10], [20, 30]],
        [[400, 100, 20], [200, 300, 10]],
        [[9, 1], [1, 9]],
        [[50, 50, 50], [50, 50, 50], [50, 50, 51]],
    ],
)
def test_v_is_that_of_a_slow_reckoning(table):
    """Only pairs that occur are counted; the result must be that of the whole table."""
    found = dependence(*codes_of(table))

    assert found.value == pytest.approx(slow_v(table))
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_v_turns_with_neither_order_nor_names_of_values():
    """Codes are names: which is larger says nothing."""
    first, second = codes_of([[40, 10, 5], [20, 30, 5]])
    found = dependence(first, second)

    assert dependence(second, first).value == pytest.approx(found.value)
    assert dependence(7 - 3 * first, second % 3 * 100).value == pytest.approx(found.value)


def test_full_dependence_is_one_and_none_is_nought():
    """The two ends of the scale."""
    codes = np.arange(3000) % 3

    assert dependence(codes, codes) == Bounded(1.0, pytest.approx(1, abs=0.05), 1.0)
    assert dependence(codes, np.arange(3000) // 1000).value == 0.0


@pytest.mark.parametrize("first", [np.zeros(50, int), np.arange(50)])
def test_a_column_with_one_value_or_a_value_for_each_person_has_no_v(first):
    """Chance alone would give the largest value."""
    found = dependence(first, np.arange(50) % 2)

    assert math.isnan(found.value)
    assert math.isnan(found.high)


@pytest.mark.statistical
@pytest.mark.parametrize("dependent", [0.05, 0.15, 0.4])
def test_the_interval_of_v_holds_the_true_value_about_as_often_as_it_says(dependent):
    """Whether dependence is called weak or strong rests on it. It is approximate, so 90 of 100 is asked."""
    rng = np.random.default_rng(5)
    rows, columns = np.array([0.7, 0.3]), np.array([0.5, 0.3, 0.2])
    joint = (1 - dependent) * np.outer(rows, columns)
    joint += dependent * np.array([[0.5, 0.2, 0.0], [0.0, 0.1, 0.2]])
    even = np.outer(rows, columns)
    truth = math.sqrt(((joint - even) ** 2 / even).sum())
    tables = rng.multinomial(2000, joint.ravel(), size=300).reshape(-1, 2, 3)
    found = [dependence(*codes_of(table)) for table in tables]
    held = sum(each.low <= truth <= each.high for each in found)
    narrow = sum(each.value - 0.005 <= truth <= each.value + 0.005 for each in found)

    assert binom.cdf(held, 300, 0.9) > ALPHA
    assert binom.cdf(narrow, 300, 0.9) < ALPHA  # the twin: an interval of one point
