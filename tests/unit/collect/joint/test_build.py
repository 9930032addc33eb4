"""From a few words to a strategy."""

from fractions import Fraction

import pytest

from evenhand.collect.joint.build import strategy_for
from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Independent, Single
from evenhand.collect.joint.sampled import Sampled
from evenhand.collect.joint.split import split_budget
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, UnknownNameError

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


def test_uniform_grr_is_the_default():
    made = strategy_for(ADULT, epsilon="1/10")

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
    made = strategy_for({"a": 2, "b": 100}, epsilon=2, protocol="best", split="optimal")

    assert [type(way) for way in made.protocols.values()] == [GRR, SS]


def test_protocols_by_column_may_differ():
    made = strategy_for(
        {"a": 2, "b": 50, "c": 9}, epsilon=1, protocol={"a": "grr", "c": "best", "b": OUE}, split="optimal"
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
    rest = split_budget("1/2", {"a": 2, "c": 9}, how="optimal", weights={"a": 1, "c": 1}, exact=True)

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
    made = strategy_for(ADULT, epsilon=1, protocol="best", split="sample")

    assert isinstance(made, Sampled)
    assert all(way.epsilon == 1 for way in made.protocols.values())
    assert made.probabilities == split_budget(1, ADULT, how="sample", protocol="best", exact=True)
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
    mixed = strategy_for(ADULT, epsilon=1, strategy="single", protected="age", protocol={"age": "best"})
    assert mixed.protocols == {"age": SS(74, 1)}


@pytest.mark.parametrize("strategy", ["combined", "single"])
@pytest.mark.parametrize("split", ["sample", {"gender": 1}])
def test_nothing_is_split_where_there_is_one_report(strategy, split):
    with pytest.raises(InvalidParameterError, match=f"for the strategy '{strategy}'"):
        strategy_for(ADULT, epsilon=1, strategy=strategy, split=split, protected="gender")


@pytest.mark.parametrize("protocol", ["ss", OUE, GRR(2, 1), {"gender": "grr"}, 7])
def test_combinations_are_reported_by_grr_alone(protocol):
    with pytest.raises(InvalidParameterError, match="'grr' for the strategy 'combined'"):
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
