"""How much epsilon a protected attribute may have for a fairness target."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.joint.split import split_budget
from evenhand.collect.joint.split_fair import fair_epsilon, reported_unfairness
from evenhand.collect.protocols.grr import GRR
from evenhand.errors import InvalidParameterError

WEIGHTS, RATES = (0.5, 0.3, 0.2), (0.7, 0.4, 0.2)


def by_hand(weights, rates, epsilon, kind):
    """Return the unfairness of GRR's reports over that of the groups, from its whole matrix."""
    weights, rates = np.array(weights) / np.sum(weights), np.array(rates)
    matrix = GRR(k=len(weights), epsilon=epsilon).matrix()
    reported = ((weights * rates) @ matrix) / (weights @ matrix)
    overall = weights @ rates

    def spread(each):
        return np.ptp(each) if kind == "difference" else np.abs(each / overall - 1).max()

    return spread(reported) / spread(rates)


def test_the_published_vectors():
    assert reported_unfairness(0.7, 1) == pytest.approx(0.40191105480226, abs=1e-14)
    assert reported_unfairness(0.3, 1) == reported_unfairness([3, 7], 1)
    assert fair_epsilon(0.7, 0.25) == pytest.approx(0.60482006893109, abs=1e-14)


@pytest.mark.parametrize("kind", ["difference", "ratio"])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_formula_is_that_of_the_whole_matrix(kind, epsilon):
    found = reported_unfairness(WEIGHTS, epsilon, rates=RATES, kind=kind)

    assert found == pytest.approx(by_hand(WEIGHTS, RATES, epsilon, kind), rel=1e-9)


@pytest.mark.parametrize("kind", ["difference", "ratio"])
def test_more_groups_by_bisection(kind):
    found = fair_epsilon(WEIGHTS, 0.25, rates=RATES, kind=kind)

    assert by_hand(WEIGHTS, RATES, found, kind) == pytest.approx(0.25, abs=1e-9)


def test_two_groups_with_rates_have_the_closed_form():
    assert fair_epsilon([0.7, 1 - 0.7], 0.25, rates=[0.2, 0.6]) == fair_epsilon(0.7, 0.25)


def test_groups_that_do_not_differ_need_no_limit():
    assert fair_epsilon([1, 1, 1], 0.1, rates=[0.3, 0.3, 0.3]) == 700
    assert math.isnan(reported_unfairness([1, 1], 1, rates=[0.3, 0.3]))
    assert fair_epsilon([1, 1, 0], 0.1, rates=[0.3, 0.3, 0.9]) == 700


def test_a_group_that_is_all_but_empty_allows_the_most_and_no_more():
    assert fair_epsilon([1e-306, 1, 1], 0.999, rates=[0.0, 0.5, 0.5]) == 700


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, [1], [0, 1], "x", None, [[1, 2]], [1, float("nan")]])
def test_wrong_shares_are_refused(share):
    with pytest.raises(InvalidParameterError, match="'share' parameter"):
        fair_epsilon(share, 0.5)


def test_wrong_targets_and_rates_are_refused():
    for target in (0, 1, -1, "x", 2):
        with pytest.raises(InvalidParameterError, match="'target' parameter"):
            fair_epsilon(0.5, target)
    with pytest.raises(InvalidParameterError, match="given where there are more than two groups"):
        fair_epsilon([1, 1, 1], 0.5)
    with pytest.raises(InvalidParameterError, match="3 numbers from 0 to 1"):
        fair_epsilon([1, 1, 1], 0.5, rates=[0, 1])
    with pytest.raises(InvalidParameterError, match="'kind' parameter"):
        fair_epsilon(0.5, 0.5, kind="both")


# --- limits of a split ----------------------------------------------------------------------------


def test_a_limit_holds_and_the_rest_goes_to_the_others():
    sizes = {"gender": 2, "race": 5, "region": 7}
    plain = split_budget(4, sizes, how="optimal", exact=True)
    found = split_budget(4, sizes, how="optimal", limits={"gender": "1/4"}, exact=True)

    assert found["gender"] == Fraction(1, 4)
    assert sum(found.values()) == 4
    assert found["race"] > plain["race"]
    rest = split_budget("15/4", {"race": 5, "region": 7}, how="optimal", exact=True)
    assert {"gender": Fraction(1, 4), **rest} == found


def test_a_limit_that_is_not_reached_changes_nothing():
    assert split_budget(1, (2, 5), how="optimal", limits=(1, None)) == split_budget(1, (2, 5), how="optimal")
    assert split_budget(1, (2, 5), how="uniform", limits=(None, None)) == (0.5, 0.5)


def test_one_limit_can_push_another_attribute_over_its_own():
    assert split_budget(1, (2, 2, 2), limits=("1/10", "2/5", None), exact=True) == (
        Fraction(1, 10),
        Fraction(2, 5),
        Fraction(1, 2),
    )


def test_less_is_spent_if_everything_is_at_its_limit():
    assert split_budget(1, (2, 2), limits=("1/10", "1/5"), exact=True) == (Fraction(1, 10), Fraction(1, 5))
    assert split_budget(1, (2, 3), how="k-based", limits=("1/10", "1/5")) == (0.1, 0.2)


@pytest.mark.parametrize("limits", [{"b": 1}, (1,), 7, (0, None), ("x", None), {0: 1}])
def test_wrong_limits_are_refused(limits):
    with pytest.raises(InvalidParameterError, match="'limits' parameter"):
        split_budget(1, (2, 3), limits=limits)
    with pytest.raises(InvalidParameterError, match="'limits' parameter"):
        split_budget(1, {"a": 2, "c": 3}, limits={"b": 1})


@pytest.mark.parametrize("how", ["sample", (0.5, 0.5)])
def test_limits_are_for_rules_that_split_a_budget(how):
    with pytest.raises(InvalidParameterError, match="'how' parameter"):
        split_budget(1, (2, 3), how=how, limits=(0.1, None))


@pytest.mark.parametrize("share", [0.5, 0.7, 0.999, 1e-9, 1e-300, 5e-324])
@pytest.mark.parametrize(
    "target", ["1e-300", "1e-17", "1e-9", "0.5", "0.999999999", "0.99999999999999999999"]
)
def test_extreme_shares_and_targets_have_an_epsilon_too(share, target):
    """A limit of zero would be refused by the split, and a division by zero is no answer."""
    found = fair_epsilon(share, target)

    assert 0 < found <= 700
    assert reported_unfairness(share, found) <= float(target)
    if found < 600 and float(target) < 0.999:
        assert reported_unfairness(share, found * (1 + 1e-9)) > float(target)


def test_shares_in_proportion_may_be_of_any_size():
    assert fair_epsilon([1e308, 1e308], 0.5) == fair_epsilon(0.5, 0.5)


def test_rates_that_are_no_numbers_are_refused():
    with pytest.raises(InvalidParameterError, match="'rates'"):
        fair_epsilon([0.5, 0.5], 0.5, rates="ab")
