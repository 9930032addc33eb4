import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import alpha_fairness, bias_from_runs, l1_bias


def test_the_known_value_for_clamped_laplace_noise():
    """Counts 2 and 50, noise of scale 2/epsilon clamped at 0: bias exp(-epsilon x / 2) / epsilon."""
    bias = np.exp(-0.5 * np.array([2, 50]) / 2) / 0.5

    assert alpha_fairness(bias) == pytest.approx(1.2130538661189, abs=1e-12)


def test_a_bias_that_is_the_same_everywhere_is_alpha_0():
    assert alpha_fairness([0.4, 0.4, 0.4]) == 0
    assert l1_bias([0.4, 0.4, 0.4]) == pytest.approx(1.2)


def test_a_single_entry_is_even():
    assert alpha_fairness([3]) == 0


def test_repeated_releases_are_averaged_before_they_are_measured():
    """Averaging after taking absolute values would report noise as bias."""
    released = np.array([[3, 7, 5], [1, 5, 9]])
    estimate = bias_from_runs(released, [2, 5, 7])

    assert estimate.values.tolist() == [0, 1, 0]
    assert (alpha_fairness(estimate), l1_bias(estimate), estimate.runs) == (1, 1, 2)
    assert estimate.standard_error == pytest.approx([1, 1, 2])


def test_one_release_has_no_standard_error():
    estimate = bias_from_runs([3, 7], [2, 7])

    assert l1_bias(estimate) == 1
    assert all(math.isnan(error) for error in estimate.standard_error)


@pytest.mark.parametrize("bias", [[], [[1, 2], [3, 4]], 5, ["a"], [None]])
@pytest.mark.parametrize("function", [alpha_fairness, l1_bias])
def test_what_is_no_bias_vector_is_refused(function, bias):
    with pytest.raises(InvalidParameterError, match=r"'bias' .* must be a vector of at least one number"):
        function(bias)


@pytest.mark.parametrize("bias", [[1, math.nan], [math.inf, 0]])
def test_a_bias_must_be_finite(bias):
    with pytest.raises(InvalidParameterError, match="must be finite numbers"):
        alpha_fairness(bias)


@pytest.mark.parametrize("released", [[[1, 2, 3]], [[[1, 2]]], np.zeros((0, 2)), [["a", "b"]], 5])
def test_releases_must_fit_the_true_values(released):
    with pytest.raises(InvalidParameterError, match=r"'released' .* must be numbers of shape"):
        bias_from_runs(released, [1, 2])


def test_releases_must_be_finite():
    with pytest.raises(InvalidParameterError, match=r"'released' .* must be finite"):
        bias_from_runs([[1, math.nan]], [1, 2])
