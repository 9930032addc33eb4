"""Bounds on composed rules: thresholds, vectors and what is refused."""

import numpy as np
import pytest

from evenhand.decide.bounds import (
    ErrorRange,
    alpha_bound,
    alpha_bound_excess,
    composed_error,
    error_limits,
    most_erring_truth,
    threshold_bound,
)
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace


@pytest.mark.parametrize("law", [Laplace(3), Gaussian(9), DiscreteLaplace(3), DiscreteGaussian("0.3")])
@pytest.mark.parametrize("level", [10, 9.5])
def test_no_threshold_errs_more_often_than_its_bound(law, level):
    """Theorem 4: half, and less for whole noise, met by a count at the threshold."""
    counts = np.arange(0, 25)
    holds = np.asarray(
        1 - law.cdf(np.ceil(level - counts) - 1) if law.support == "integers" else law.sf(level - counts)
    )
    errors = np.where(counts >= level, 1 - holds, holds)

    assert errors.max() <= threshold_bound(law) + 1e-12
    if level == 10:
        assert errors.max() == pytest.approx(threshold_bound(law))


def test_whole_noise_does_better_than_one_half():
    assert threshold_bound(Laplace(1)) == 0.5
    assert threshold_bound(DiscreteLaplace(1)) == pytest.approx(1 / (1 + np.e))


def test_a_threshold_bound_needs_a_law():
    with pytest.raises(InvalidParameterError, match="'law' parameter of threshold_bound must be a Law"):
        threshold_bound(0.5)


def test_a_table_of_entities_is_composed_at_once():
    one, two = [True, True, False, False], [True, False, True, False]
    conjunction = composed_error("and", np.full(4, 0.1), 0.2, first_true=one, second_true=two)
    disjunction = composed_error("or", np.full(4, 0.1), 0.2, first_true=one, second_true=two)

    assert conjunction == pytest.approx([0.28, 0.18, 0.08, 0.02])
    assert disjunction == pytest.approx([0.02, 0.08, 0.18, 0.28])
    assert composed_error("xor", 0.1, 0.2, first_true=True, second_true=False) == pytest.approx(0.26)


@pytest.mark.parametrize("first", [[-0.1], [1.1], [np.nan], ["a"], [None]])
def test_errors_are_probabilities(first):
    with pytest.raises(InvalidParameterError, match="must be probabilities"):
        composed_error("and", first, 0.2, first_true=True, second_true=True)


def test_truth_values_are_true_or_false():
    with pytest.raises(InvalidParameterError, match=r"'second_true'.*true or false"):
        error_limits("and", 0.1, 0.2, first_true=True, second_true=1)


def test_lengths_must_agree():
    with pytest.raises(InvalidParameterError, match="as long as the other arguments"):
        composed_error("or", [0.1, 0.2], [0.1, 0.2, 0.3], first_true=True, second_true=True)


def test_an_unknown_operator_is_refused_with_the_list():
    with pytest.raises(InvalidParameterError, match="one of 'and', 'or', 'xor'"):
        alpha_bound("nand", ErrorRange(least=0, greatest=0.1), ErrorRange(least=0, greatest=0.1))


@pytest.mark.parametrize(
    ("least", "greatest"), [(-0.1, 0.2), (0.1, 0.6), (True, 0.2), ("a", 0.2), (np.inf, 0.5)]
)
def test_a_range_lies_below_one_half(least, greatest):
    with pytest.raises(InvalidParameterError, match="at most 1/2"):
        ErrorRange(least=least, greatest=greatest)


def test_a_range_is_the_right_way_round():
    with pytest.raises(InvalidParameterError, match="at most 'greatest'"):
        ErrorRange(least=0.3, greatest=0.2)


def test_a_range_needs_an_entity():
    with pytest.raises(InvalidParameterError, match="at least one entity"):
        ErrorRange.of(np.zeros(0))


def test_bounds_take_ranges():
    with pytest.raises(InvalidParameterError, match=r"'second'.*an ErrorRange.*ErrorRange\.of"):
        alpha_bound_excess(ErrorRange(least=0, greatest=0.1), 0.1)


def test_no_answers_err_most_under_xor():
    assert most_erring_truth("xor", [0.1], [0.2]) is None


def test_who_errs_most_is_only_known_where_all_err_alike():
    """Theorems 7 and 8 compare entities that err alike in each predicate; others can turn it round."""
    with pytest.raises(InvalidParameterError, match="the same error for every entity"):
        most_erring_truth("and", [0.1, 0.4], [0.2, 0.2])

    errors = composed_error(
        "and", [0.01, 0.4], [0.01, 0.01], first_true=[True, False], second_true=[True, True]
    )

    assert errors[1] > errors[0]
