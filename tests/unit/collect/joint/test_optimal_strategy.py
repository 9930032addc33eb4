"""Several attributes with the fairest channel: on the protected one, or on all combinations."""

import math

import numpy as np
import pytest

from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.build import optimal_strategy
from evenhand.collect.joint.combined import CombinedOptimal, check_product
from evenhand.collect.joint.split_fair import fair_epsilon
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError

CENSUS = GroupOutcomes.public([0.7, 0.3], [0.2, 0.6], source="census")
SIZES = {"gender": 2, "race": 3}
CELLS = GroupOutcomes.public([0.3, 0.1, 0.2, 0.2, 0.1, 0.1], [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], source="census")


def made(**given):
    return optimal_strategy(SIZES, **{"epsilon": 2, "outcomes": CENSUS, "protected": "gender"} | given)


@pytest.mark.parametrize("split", ["uniform", "k-based", "optimal", {"gender": 0.5, "race": 1.5}])
def test_the_protected_column_is_optimal_and_the_others_are_grr(split):
    found = made(split=split)

    assert isinstance(found.protocols["gender"], Optimal)
    assert isinstance(found.protocols["race"], GRR)
    assert found.epsilon == 2
    assert found.guarantee.epsilon <= 2


def test_a_target_limits_the_protected_column():
    found = made(epsilon=6, target=0.1)
    most = fair_epsilon([0.7, 0.3], 0.1, rates=[0.2, 0.6], kind="ratio")

    assert float(found.epsilon_within_report("gender")) == most
    assert found.epsilon == 6
    before, after = found.protocols["gender"].unfairness
    assert after <= 0.1 * before * (1 + 1e-9)


def test_everybody_may_be_asked_one_column():
    found = made(split="sample")
    reports = found.privatize({"gender": [0, 1] * 50, "race": [0, 1] * 50}, rng=1)

    assert found.name == "sampled"
    assert found.epsilon == 2
    assert set(found.indicators(reports)) == {"gender", "race"}


def test_a_single_column_leaves_the_others_in_the_clear():
    found = made(strategy="single")

    assert found.columns == ("gender",)
    assert found.guarantee.in_clear == ("race",)
    assert optimal_strategy({"gender": 2}, epsilon=1, outcomes=CENSUS, strategy="single").columns == (
        "gender",
    )


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"protected": None}, InvalidParameterError),
        ({"protected": "age"}, ColumnNotFoundError),
        ({"protected": "race"}, InvalidParameterError),  # it has three values, the census two
        ({"outcomes": [0.7, 0.3]}, InvalidParameterError),
        ({"strategy": "combined"}, InvalidParameterError),
        ({"strategy": "single", "target": 0.5}, InvalidParameterError),
        ({"split": "sample", "target": 0.5}, InvalidParameterError),
        ({"strategy": "each"}, InvalidParameterError),
    ],
)
def test_what_does_not_go_together_is_refused(given, error):
    with pytest.raises(error):
        made(**given)


# --- combinations ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def combined():
    return optimal_strategy(SIZES, epsilon=1, outcomes=CELLS, strategy="combined")


def test_the_product_is_taken_where_it_is_small_and_known():
    """Whoever knows the outcomes of all combinations should not have to know that one channel serves them."""
    chosen = optimal_strategy(SIZES, epsilon=1, outcomes=CELLS, protected="gender")
    large = {"gender": 2, "race": 40}

    assert isinstance(chosen, CombinedOptimal)
    assert optimal_strategy(SIZES, epsilon=1, outcomes=CELLS, strategy="auto") == chosen
    assert made(strategy="auto").name == "independent"  # the outcomes of the protected column alone are known
    assert optimal_strategy(large, epsilon=1, outcomes=CENSUS, protected="gender").name == "independent"
    assert optimal_strategy({"gender": 2}, epsilon=1, outcomes=CENSUS).columns == ("gender",)
    assert made(strategy="auto", target=0.5, epsilon=6).name == "independent"


def test_combinations_are_decoded_into_their_columns(combined):
    codes = {"gender": np.array([0, 1, 1] * 40), "race": np.array([2, 0, 1] * 40)}
    reports = combined.privatize(codes, rng=5)
    whole = reports.sent[0].values.astype(int)

    assert reports["gender"].values.tolist() == (whole // 3).tolist()
    assert reports["race"].values.tolist() == (whole % 3).tolist()
    assert combined.indicators(reports)["race"].sum(axis=1).tolist() == [1] * 120


def test_the_whole_report_has_the_epsilon_and_so_has_each_column(combined):
    assert combined.epsilon == combined.epsilon_within_report("race") == 1
    assert combined.guarantee.epsilon <= 1
    assert combined.guarantee.protects == ("gender", "race")
    assert 0 < combined.epsilon_if_seen_alone("gender") <= 1
    assert combined.product.worst_ratio <= math.e


def test_the_law_of_a_column_is_the_mean_over_the_others(combined):
    matrix = combined.product.matrix().reshape(2, 3, 2, 3)
    weights = np.array(CELLS.weights).reshape(2, 3)
    wanted = np.zeros((2, 2))
    for gender in range(2):
        for race in range(3):
            share = weights[gender, race] / weights[gender].sum()
            wanted[gender] += share * matrix[gender, race].sum(axis=1)

    assert combined.protocols["gender"].matrix() == pytest.approx(wanted, abs=1e-12)
    assert combined.protocols["gender"].k == 2


def test_joint_shares_come_back(combined):
    draws = np.random.default_rng(1)
    cells = draws.choice(6, size=60_000, p=CELLS.weights)
    codes = {"gender": cells // 3, "race": cells % 3}
    found = combined.estimate_joint(combined.privatize(codes, rng=2))

    error = np.abs(found.values.ravel() - CELLS.weights) / found.standard_error.ravel()
    assert found.columns == ("gender", "race")
    assert error.max() < 6


def test_columns_one_by_one_are_refused_with_the_way_out(combined):
    reports = combined.privatize({"gender": [0], "race": [0]}, rng=1)
    with pytest.raises(InvalidParameterError, match="estimate_joint"):
        combined.estimate(reports)


def test_a_combination_that_nobody_has_does_no_harm():
    weights, rates = [0.5, 0, 0, 0, 0.25, 0.25], [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    outcomes = GroupOutcomes.public(weights, rates, source="census")
    found = optimal_strategy(SIZES, epsilon=1, outcomes=outcomes, strategy="combined")

    assert found.protocols["race"].matrix().sum(axis=1) == pytest.approx([1, 1, 1])


def test_it_says_what_it_is(combined):
    assert "Optimal, combined" in str(combined)
    assert repr(combined).startswith("CombinedOptimal({'gender': 2, 'race': 3}, Optimal(")


def test_what_does_not_fit_is_refused():
    with pytest.raises(LimitExceededError, match="more than 64"):
        check_product({"a": 5, "b": 13})
    with pytest.raises(InvalidParameterError, match="an Optimal of 6 groups"):
        CombinedOptimal(SIZES, CENSUS.optimal(1))
    with pytest.raises(InvalidParameterError, match="an Optimal of 6 groups"):
        CombinedOptimal(SIZES, GRR(6, 1))


def test_a_target_that_the_channel_misses_is_refused():
    """With the least error the reports may tell more of the outcome than GRR's, for which the limit is."""
    weights, rates = (0.855, 0.096, 0.031, 0.010, 0.008), (0.26, 0.13, 0.27, 0.12, 0.11)
    groups = GroupOutcomes.public(weights, rates, source="MATH")
    given = {"epsilon": 20, "outcomes": groups, "protected": "race", "target": 0.7}

    kept = optimal_strategy({"race": 5, "sex": 2}, **given).protocols["race"].unfairness
    assert kept.after <= 0.7 * kept.before
    with pytest.raises(InvalidParameterError, match="'target'"):
        optimal_strategy({"race": 5, "sex": 2}, **given, error="minimum")


def test_a_part_of_a_combination_is_not_undone_by_itself():
    """Its law holds for people of the channel's weights alone, and rates of groups would be wrong."""
    from evenhand.collect.estimates.group_rates import group_rates

    both = CombinedOptimal(SIZES, CELLS.optimal(2))
    codes = {"gender": [0, 1, 1], "race": [0, 1, 2]}
    part = both.privatize(codes, rng=1).by_column["gender"]

    with pytest.raises(InvalidParameterError, match="estimate_joint"):
        group_rates([0, 1, 1], part)
    with pytest.raises(InvalidParameterError, match="estimate_joint"):
        part.protocol.estimate(part)
