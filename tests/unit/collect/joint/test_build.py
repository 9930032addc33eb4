"""From a few words to a strategy."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.build import optimal_strategy, strategy_for
from evenhand.collect.joint.combined import Combined, CombinedOptimal, check_product
from evenhand.collect.joint.independent import Independent, Sampled, Single
from evenhand.collect.joint.split import split_budget
from evenhand.collect.joint.split_fair import fair_epsilon
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError, UnknownNameError

ADULT = {"gender": 2, "race": 5, "native-country": 41, "age": 74}


@pytest.mark.parametrize("split", ["uniform", "k-based", "optimal"])
@pytest.mark.parametrize("protocol", ["grr", "SS", OUE])
def test_a_split_becomes_protocols(split, protocol):
    made = strategy_for(ADULT, epsilon=1, protocol=protocol, split=split)
    name = protocol.lower() if isinstance(protocol, str) else protocol.name
    parts = split_budget(1, ADULT, how=split, protocol=name, exact=True)

    assert isinstance(made, Independent)
    assert {column: way.epsilon for column, way in made.protocols.items()} == parts
    assert {way.name for way in made.protocols.values()} == {name}
    assert made.sizes == ADULT
    assert made.epsilon <= 1


def test_the_least_variance_and_the_optimal_split_are_the_default():
    made = strategy_for(ADULT, epsilon="1/10")

    assert made == strategy_for(ADULT, epsilon="1/10", protocol="auto", split="optimal")
    assert made.guarantee.epsilon == Fraction(1, 10)


def test_uniform_grr_is_there_by_name():
    made = strategy_for(ADULT, epsilon="1/10", protocol="grr", split="uniform")

    assert made == Independent({column: GRR(k, Fraction(1, 40)) for column, k in ADULT.items()})
    assert made.guarantee.epsilon == Fraction(1, 10)


def test_weights_reach_the_split():
    ones = dict.fromkeys(ADULT, 1)
    made = strategy_for(ADULT, epsilon=1, protocol="oue", split="optimal", weights=ones)

    assert [float(way.epsilon) for way in made.protocols.values()] == pytest.approx([0.25] * 4)


def test_own_epsilons_are_kept():
    own = {"gender": "1/10", "race": 0.2}
    made = strategy_for({"race": 5, "gender": 2}, epsilon=1, split=own)

    assert made.columns == ("race", "gender")
    assert made.epsilon_within_report("race") == Fraction(1, 5)
    assert made.epsilon == Fraction(3, 10)
    with pytest.raises(InvalidParameterError, match="sum to at most 1/4"):
        strategy_for({"race": 5, "gender": 2}, epsilon="1/4", split=own)


def test_the_best_protocol_is_chosen_at_the_columns_own_epsilon():
    made = strategy_for({"a": 2, "b": 100}, epsilon=2, protocol="auto", split="optimal")

    assert [type(way) for way in made.protocols.values()] == [GRR, SS]


def test_protocols_by_column_may_differ():
    made = strategy_for(
        {"a": 2, "b": 50, "c": 9}, epsilon=1, protocol={"a": "grr", "c": "auto", "b": OUE}, split="optimal"
    )

    assert [way.name for way in made.protocols.values()] == ["grr", "oue", "ss"]
    assert made.columns == ("a", "b", "c")


def test_a_protocol_that_is_made_keeps_its_epsilon_and_the_rest_is_split():
    own = SS(50, "1/2", as_printed=True)
    made = strategy_for(
        {"a": 2, "b": 50, "c": 9},
        epsilon=1,
        protocol={"a": "grr", "b": own, "c": "grr"},
        weights={"a": 1, "b": 1, "c": 1},
        split="optimal",
    )
    rest = split_budget("1/2", {"a": 2, "c": 9}, protocol="grr", weights={"a": 1, "c": 1}, exact=True)

    assert made.protocols["b"] is own
    assert {column: made.epsilon_within_report(column) for column in "ac"} == rest
    assert made.epsilon <= 1


def test_made_protocols_must_fit_the_whole():
    """The full epsilon on every column would be several times what was promised."""
    full = {"a": GRR(2, 1), "b": GRR(3, 1)}
    with pytest.raises(InvalidParameterError, match=r"sum to at most 1, the whole. Got a sum of 2"):
        strategy_for({"a": 2, "b": 3}, epsilon=1, protocol=full)
    with pytest.raises(InvalidParameterError, match=r"sum to less than 1, the whole. Got a sum of 1"):
        strategy_for({"a": 2, "b": 3}, epsilon=1, protocol={"a": GRR(2, 1), "b": "grr"})
    with pytest.raises(InvalidParameterError, match=r"a protocol of 3 values for column 'b'. Got one of 2"):
        strategy_for({"a": 2, "b": 3}, epsilon=2, protocol=GRR(2, 1))
    assert strategy_for({"a": 2, "b": 3}, epsilon=2, protocol=full).protocols == full
    assert strategy_for({"a": 2, "b": 2}, epsilon=2, protocol=GRR(2, 1)).epsilon == 2
    with pytest.raises(InvalidParameterError, match="where every protocol is given"):
        strategy_for({"a": 2, "b": 3}, epsilon=2, protocol=full, split={"a": 1, "b": 1})


def test_sampling_asks_one_column_with_the_whole_epsilon():
    made = strategy_for(ADULT, epsilon=1, protocol="auto", split="sample")

    assert isinstance(made, Sampled)
    assert all(way.epsilon == 1 for way in made.protocols.values())
    assert made.probabilities == split_budget(1, ADULT, how="sample", protocol="auto", exact=True)
    assert made.epsilon == 1


def test_sampling_takes_protocols_that_are_made():
    made = strategy_for({"a": 2, "b": 3}, epsilon=1, protocol={"a": GRR(2, "1/2"), "b": OUE}, split="sample")

    assert made.epsilon_within_report("a") == Fraction(1, 2)
    with pytest.raises(InvalidParameterError, match=r"sum to at most 1, the whole. Got a sum of 2"):
        strategy_for({"a": 2, "b": 3}, epsilon=1, protocol={"a": GRR(2, 2), "b": OUE}, split="sample")


def test_combined_and_single():
    assert strategy_for(ADULT, epsilon=1, strategy="combined") == Combined(ADULT, 1)
    assert strategy_for(ADULT, epsilon=1, strategy="combined", split="optimal") == Combined(ADULT, 1)
    single = strategy_for(ADULT, epsilon=1, strategy="single", protected="race", protocol=SS)

    assert single == Single("race", SS(5, 1), in_clear=["gender", "native-country", "age"])
    assert strategy_for({"race": 5}, epsilon=1, strategy="single").columns == ("race",)
    mixed = strategy_for(ADULT, epsilon=1, strategy="single", protected="age", protocol={"age": "auto"})
    assert mixed.protocols == {"age": SS(74, 1)}


@pytest.mark.parametrize("strategy", ["combined", "single"])
@pytest.mark.parametrize("split", ["sample", {"gender": 1}])
def test_nothing_is_split_where_there_is_one_report(strategy, split):
    with pytest.raises(InvalidParameterError, match=f"for the strategy '{strategy}'"):
        strategy_for(ADULT, epsilon=1, strategy=strategy, split=split, protected="gender")


@pytest.mark.parametrize("protocol", ["ss", OUE, GRR(2, 1), {"gender": "grr"}, 7])
def test_combinations_are_reported_by_grr_alone(protocol):
    with pytest.raises(InvalidParameterError, match="'grr' or 'auto' for the strategy 'combined'"):
        strategy_for(ADULT, epsilon=1, strategy="combined", protocol=protocol)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidParameterError, match="'strategy' parameter of strategy_for must be one of"):
        strategy_for(ADULT, epsilon=1, strategy="both")
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of strategy_for"):
        strategy_for(ADULT, epsilon=0)
    for sizes in ({}, [2, 3], None):
        with pytest.raises(InvalidParameterError, match="'sizes' parameter of strategy_for"):
            strategy_for(sizes, epsilon=1)
    with pytest.raises(InvalidParameterError, match="'protected' parameter of strategy_for"):
        strategy_for(ADULT, epsilon=1, strategy="single")
    with pytest.raises(ColumnNotFoundError, match="did you mean 'race'"):
        strategy_for(ADULT, epsilon=1, strategy="single", protected="Race")
    with pytest.raises(InvalidParameterError, match="a mapping with the keys gender, race"):
        strategy_for(ADULT, epsilon=1, protocol={"gender": "grr"})
    with pytest.raises(UnknownNameError, match="did you mean 'grr'"):
        strategy_for(ADULT, epsilon=1, protocol="grrr")
    with pytest.raises(UnknownNameError):
        strategy_for(ADULT, epsilon=1, strategy="single", protected="age", protocol={"race": "grr"})
    with pytest.raises((InvalidParameterError, UnknownNameError)):
        strategy_for(ADULT, epsilon=1, protocol=7)


# --- Several attributes with the fairest channel: on the protected one, or on all combinations ---


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


@pytest.mark.parametrize(("sizes", "got"), [({}, "'none'"), (6, "a int")])
def test_sizes_of_combinations_are_a_mapping(sizes, got):
    with pytest.raises(InvalidParameterError, match=f"'sizes' parameter of CombinedOptimal .* Got {got}"):
        CombinedOptimal(sizes, CELLS.optimal(2))


def test_a_target_that_the_channel_misses_is_refused():
    """With the least error the reports may tell more of the outcome than GRR's, for which the limit is."""
    weights, rates = (0.855, 0.096, 0.031, 0.010, 0.008), (0.26, 0.13, 0.27, 0.12, 0.11)
    groups = GroupOutcomes.public(weights, rates, source="MATH")
    given = {"epsilon": 20, "outcomes": groups, "protected": "race", "target": 0.7}

    kept = optimal_strategy({"race": 5, "sex": 2}, **given).protocols["race"].unfairness
    assert kept.after <= 0.7 * kept.before
    with pytest.raises(InvalidParameterError, match="'target'"):
        optimal_strategy({"race": 5, "sex": 2}, **given, error="minimum")


def test_a_part_of_a_combination_is_not_inverted_by_itself():
    """Its law holds for people of the channel's weights alone, and rates of groups would be wrong."""
    from evenhand.collect.estimates.group_rates import group_rates

    both = CombinedOptimal(SIZES, CELLS.optimal(2))
    codes = {"gender": [0, 1, 1], "race": [0, 1, 2]}
    part = both.privatize(codes, rng=1).by_column["gender"]

    with pytest.raises(InvalidParameterError, match="estimate_joint"):
        group_rates([0, 1, 1], part)
    with pytest.raises(InvalidParameterError, match="estimate_joint"):
        part.protocol.estimate(part)
