import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import data_unfairness


def _weighted_rows(joint):
    """Rows (group, y) whose weights are a joint law."""
    joint = np.asarray(joint)
    group, y = np.indices(joint.shape).reshape(2, -1)
    return y, group, joint.ravel()


def _law(shares, rates):
    shares, rates = np.array(shares), np.array(rates)
    return np.stack([shares * (1 - rates), shares * rates], axis=1)


def test_both_kinds_follow_their_definitions():
    y, group, weights = _weighted_rows(_law([0.7, 0.3], [0.2, 0.6]))
    overall = 0.7 * 0.2 + 0.3 * 0.6

    assert data_unfairness(y, group, weights=weights) == pytest.approx(0.6 / overall - 1)
    assert data_unfairness(y, group, weights=weights, kind="difference") == pytest.approx(0.4)


def test_the_ratio_sees_a_rate_far_below_the_overall_one():
    y, group, weights = _weighted_rows(_law([0.9, 0.1], [0.5, 0.0]))

    assert data_unfairness(y, group, weights=weights) == pytest.approx(1)


@pytest.mark.parametrize("rates", [(0.2, 0.6), (0.6, 0.2)])
def test_the_known_value_after_a_local_mechanism_is_found(rates):
    """Groups of 0.7 and 0.3, reported truthfully with probability 1/2 and 1 - exp(-1)/2: 0.1101577326127."""
    kept = 1 - math.exp(-1) / 2
    channel = np.array([[0.5, 0.5], [1 - kept, kept]])
    y, group, weights = _weighted_rows(channel.T @ _law([0.7, 0.3], rates))

    assert data_unfairness(y, group, weights=weights, kind="difference") == pytest.approx(
        0.1101577326127, abs=1e-12
    )


def test_the_two_kinds_bound_each_other():
    """Ratio at most difference over the overall rate, difference at most twice both multiplied."""
    generator = np.random.default_rng(1)
    for _ in range(300):
        y, group, weights = _weighted_rows(generator.random((4, 2)))
        overall = weights[y == 1].sum() / weights.sum()
        ratio = data_unfairness(y, group, weights=weights)
        difference = data_unfairness(y, group, weights=weights, kind="difference")

        assert ratio <= difference / overall + 1e-12
        assert difference <= 2 * overall * ratio + 1e-12


def test_equal_rates_are_0():
    assert data_unfairness([1, 0, 1, 0], ["a", "a", "b", "b"]) == 0
    assert data_unfairness([1, 0, 1, 0], ["a", "a", "b", "b"], kind="difference") == 0


def test_labels_of_any_kind_are_taken():
    assert data_unfairness([">50K", "<=50K"], ["a", "b"], positive=">50K", kind="difference") == 1


@pytest.mark.parametrize("kind", ["ratio", "difference"])
@pytest.mark.parametrize(
    ("y", "group", "groups", "reason"),
    [
        ([], [], None, "There are no rows."),
        ([1, 0], ["a", "a"], None, "There is only one group, so there is no pair to compare."),
        ([1, 0], ["a", "b"], ["a", "b", "c"], "Group 'c' has no rows."),
    ],
)
def test_undefined_values_are_nan_with_a_reason(kind, y, group, groups, reason):
    found = data_unfairness(y, group, kind=kind, groups=groups)

    assert math.isnan(found)
    assert found.reason == reason


def test_the_ratio_needs_somebody_positive_and_the_difference_does_not():
    assert "no rows with a positive label" in data_unfairness([0, 0], ["a", "b"]).reason
    assert data_unfairness([0, 0], ["a", "b"], kind="difference") == 0


def test_another_kind_is_refused():
    with pytest.raises(InvalidParameterError, match=r"'kind' .* must be one of 'ratio', 'difference'"):
        data_unfairness([1], [1], kind="quotient")
