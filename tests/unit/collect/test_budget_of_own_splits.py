"""No door to a strategy lets parts through that sum to more than the whole, by however little.

A part that is above the whole by one in 10**30 is refused: epsilons are exact, and what is refused here is
what a person would have lost beyond what was asked for.
"""

from fractions import Fraction

import pytest

from evenhand.collect import GRR
from evenhand.collect.joint.build import strategy_for
from evenhand.collect.joint.split import split_budget
from evenhand.collect.privatizer.columns import build_strategy
from evenhand.errors import InvalidParameterError

SIZES = {"a": 2, "b": 3}
LITTLE = Fraction(1, 10**30)
TOTAL = Fraction(1)


def by_split_budget(first, second):
    parts = split_budget(TOTAL, SIZES, how={"a": first, "b": second}, exact=True)
    return sum(parts.values())


def by_split_of_a_sequence(first, second):
    return sum(split_budget(TOTAL, [2, 3], how=[first, second], exact=True))


def by_strategy(first, second):
    return strategy_for(SIZES, epsilon=TOTAL, split={"a": first, "b": second}).epsilon


def by_made_protocols(first, second):
    made = {"a": GRR(2, first), "b": GRR(3, second)}
    return strategy_for(SIZES, epsilon=TOTAL, protocol=made).epsilon


def by_one_made_protocol_and_a_split(first, second):
    made = {"a": GRR(2, first), "b": "grr"}
    return strategy_for(SIZES, epsilon=TOTAL, protocol=made, split={"b": second}).epsilon


def by_privatizer(first, second):
    given = {"protocol": "grr", "split": {"a": first, "b": second}, "strategy": "independent"}
    return build_strategy(SIZES, epsilon=TOTAL, **given).epsilon


DOORS = [
    by_split_budget,
    by_split_of_a_sequence,
    by_strategy,
    by_made_protocols,
    by_one_made_protocol_and_a_split,
    by_privatizer,
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("first", [Fraction(1, 3), Fraction(1, 10**6)])
def test_parts_that_sum_to_the_whole_pass_and_slightly_more_does_not(door, first):
    rest = TOTAL - first

    assert door(first, rest) == TOTAL
    assert door(first, rest - LITTLE) == TOTAL - LITTLE
    for over in (LITTLE, Fraction(1, 10**12), Fraction(1, 100), Fraction(1)):
        with pytest.raises(InvalidParameterError, match="sum to at most"):
            door(first, rest + over)


@pytest.mark.parametrize("strategy", ["single", "sample"])
def test_a_made_protocol_slightly_above_the_whole_is_refused(strategy):
    given = {"strategy": "single", "protected": "a"} if strategy == "single" else {"split": "sample"}

    def made(epsilon):
        return strategy_for(
            SIZES, epsilon=TOTAL, protocol={"a": GRR(2, epsilon), "b": GRR(3, TOTAL)}, **given
        )

    assert made(TOTAL).epsilon == TOTAL
    with pytest.raises(InvalidParameterError, match="sum to at most 1"):
        made(TOTAL + LITTLE)


def test_made_protocols_that_leave_nothing_for_the_others_are_refused():
    for epsilon in (TOTAL, TOTAL + LITTLE):
        with pytest.raises(InvalidParameterError, match="sum to less than 1"):
            strategy_for(SIZES, epsilon=TOTAL, protocol={"a": GRR(2, epsilon), "b": "grr"})


@pytest.mark.parametrize("how", ["uniform", "k-based", "optimal"])
@pytest.mark.parametrize("epsilon", ["1/3", "7/10", "1e-5", "13/7"])
@pytest.mark.parametrize("protocol", ["grr", "oue", "ss", "auto"])
def test_every_split_sums_to_the_whole_and_its_floats_to_no_more(how, epsilon, protocol):
    whole = Fraction(epsilon)
    parts = split_budget(epsilon, [2, 5, 41], how=how, protocol=protocol, exact=True)
    shown = split_budget(epsilon, [2, 5, 41], how=how, protocol=protocol)

    assert sum(parts) == whole
    assert sum(Fraction(repr(part)) for part in shown) <= whole
    assert all(Fraction(repr(part)) <= exact for part, exact in zip(shown, parts, strict=True))


@pytest.mark.parametrize("how", ["uniform", "k-based", "optimal"])
def test_parts_under_limits_sum_to_no_more_than_the_whole(how):
    parts = split_budget("7/10", [2, 5, 41], how=how, limits=["1/10", None, "1/2"], exact=True)

    assert sum(parts) <= Fraction(7, 10)
    assert parts[0] <= Fraction(1, 10)
    assert parts[2] <= Fraction(1, 2)
