"""`group_rates` of crossed columns: what comes in, what comes out, and what is refused."""

import narwhals as nw
import numpy as np
import pytest

from evenhand.collect import GRR, OUE, GroupOutcomes, Optimal, group_rates, strategy_for
from evenhand.collect.joint.combined import CombinedOptimal
from evenhand.collect.joint.independent import Sampled
from evenhand.errors import (
    ColumnNotFoundError,
    IndependenceWarning,
    InvalidParameterError,
    LimitExceededError,
)

SIZES = {"sex": 2, "race": 3}
LABELS = {"sex": ["f", "m"], "race": ["a", "b", "c"]}
RATES = {("f", "a"): 0.7, ("f", "b"): 0.2, ("f", "c"): 0.5, ("m", "a"): 0.2, ("m", "b"): 0.7, ("m", "c"): 0.5}


def people(n=60_000, seed=2):
    draws = np.random.default_rng(seed)
    codes = {"sex": draws.integers(0, 2, n), "race": draws.integers(0, 3, n)}
    chance = np.array(list(RATES.values()))[3 * codes["sex"] + codes["race"]]
    return (draws.random(n) < chance).astype(int), codes


def strategies():
    optimal = Optimal(np.full(6, 1 / 6), list(RATES.values()), epsilon=4, error=0.15)
    return {
        "independent": strategy_for(SIZES, epsilon=5, protocol="grr"),
        "sets": strategy_for(SIZES, epsilon=5, protocol="oue"),
        "combined": strategy_for(SIZES, epsilon=5, protocol="grr", strategy="combined"),
        "optimal": CombinedOptimal(SIZES, optimal),
    }


@pytest.mark.parametrize("name", ["independent", "sets", "combined", "optimal"])
def test_rates_of_combinations_and_margins_are_near_the_true_ones(name):
    outcome, codes = people()
    strategy = strategies()[name]
    rates = group_rates(
        outcome, strategy.privatize(codes, rng=7), labels=LABELS, privileged=("f", "a"), level=0.999
    )

    assert list(rates.rates) == list(RATES)
    for group, rate in RATES.items():
        assert rates.interval(group).low <= rate <= rates.interval(group).high
    assert list(rates.margins) == ["sex", "race"]
    for place, (column, margin) in enumerate(rates.margins.items()):
        for label in LABELS[column]:
            truth = np.mean([rate for group, rate in RATES.items() if group[place] == label])
            assert margin.interval(label).low <= truth + 0.01
            assert margin.interval(label).high >= truth - 0.01
        assert margin.privileged == ("f", "a")[place]
    assert rates.is_hidden()
    assert "No column by itself shows a gap as large" in repr(rates)
    assert not rates.margins["sex"].is_hidden()


def test_one_column_of_joint_reports_is_that_column_alone():
    outcome, codes = people(2_000)
    joint = strategies()["independent"].privatize(codes, rng=7)
    crossed = group_rates(outcome, joint, columns=["race"], labels={"race": LABELS["race"]})
    alone = group_rates(outcome, joint["race"], labels=LABELS["race"])

    assert crossed.rates == alone.rates
    assert crossed.margins == {}


def test_reports_of_each_column_in_a_mapping_are_joint_reports():
    outcome, codes = people(2_000)
    parts = {
        "sex": GRR(2, 2).privatize(codes["sex"], rng=1),
        "race": OUE(3, 2).privatize(codes["race"], rng=2),
    }
    rates = group_rates(outcome, parts)
    turned = group_rates(outcome, dict(reversed(parts.items())))

    assert list(rates.rates)[:2] == [(0, 0), (0, 1)]
    assert float(turned.rates[1, 0]) == pytest.approx(float(rates.rates[0, 1]))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_all_pairs_are_in_a_frame_with_intervals_that_hold_together(backend):
    outcome, codes = people(5_000)
    rates = group_rates(outcome, strategies()["independent"].privatize(codes, rng=7), labels=LABELS)
    frame = nw.from_native(rates.pairs_frame(backend=backend), eager_only=True)
    widest = rates.data_unfairness_interval("difference")

    assert frame.shape == (15, 6)
    assert frame["group"].to_list()[0], frame["against"].to_list()[0] == ("f, a", "f, b")
    alone = rates.interval(("f", "a"), against=("f", "b"))
    assert frame["low"].to_list()[0] < alone.low < alone.high < frame["high"].to_list()[0]
    limits = list(zip(frame["low"].to_list(), frame["high"].to_list(), strict=True))
    assert widest.high == pytest.approx(max(max(abs(low), abs(high)) for low, high in limits))
    names = nw.from_native(rates.to_frame(backend=backend), eager_only=True)["group"].to_list()
    assert names[:2] == ["f, a", "f, b"]


def test_a_pilot_of_crossed_reports_gives_the_outcomes_of_combinations():
    """So that Optimal can be made over combinations from reports alone."""
    outcome, codes = people(20_000)
    joint = strategies()["combined"].privatize(codes, rng=7)
    outcomes = GroupOutcomes.from_pilot(group_rates(outcome, joint))

    assert outcomes.k == 6
    assert outcomes.rates == pytest.approx(tuple(RATES.values()), abs=0.1)
    assert outcomes.guarantee.epsilon == 5


def test_small_groups_are_shown_with_what_is_not_known_of_them():
    outcome, codes = people(300)
    codes["race"][codes["race"] == 2] = 0
    rates = group_rates(outcome, strategy_for(SIZES, epsilon=1).privatize(codes, rng=7), labels=LABELS)

    assert len(rates.rates) == 6
    assert tuple(rates.interval(("m", "c"))) == (0, 1)
    assert "'m, c'" in rates.interval(("m", "c")).reason


def test_no_people_have_no_rates():
    empty = np.array([], dtype=int)
    joint = strategies()["independent"].privatize({"sex": empty, "race": empty}, rng=7)
    rates = group_rates(empty, joint)

    assert np.isnan(float(rates.rates[0, 0]))
    assert not rates.is_hidden()
    assert len(nw.from_native(rates.pairs_frame(), eager_only=True)) == 0


def test_an_outcome_that_is_made_from_the_reports_is_found():
    _, codes = people(5_000)
    joint = strategies()["independent"].privatize(codes, rng=7)
    outcome = (joint["sex"].values == 1) & (joint["race"].values == 2)

    with pytest.warns(IndependenceWarning, match="'1, 2'"):
        group_rates(outcome, joint)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"columns": ["age"]}, ColumnNotFoundError, "age"),
        ({"columns": []}, InvalidParameterError, "one or more"),
        ({"labels": ["f", "m"]}, InvalidParameterError, "mapping"),
        ({"labels": {"age": ["x"]}}, ColumnNotFoundError, "age"),
        ({"labels": {"sex": ["f"]}}, InvalidParameterError, "2 different labels"),
        ({"labels": {"sex": ["f", None]}}, InvalidParameterError, "other than None"),
        ({"privileged": "f"}, InvalidParameterError, "one of the groups"),
        ({"privileged": (0, 9)}, InvalidParameterError, "one of the groups"),
        ({"protocol": GRR(2, 1)}, InvalidParameterError, "left out"),
    ],
)
def test_what_cannot_be_crossed_is_refused(given, error, words):
    outcome, codes = people(100)
    joint = strategies()["independent"].privatize(codes, rng=7)
    with pytest.raises(error, match=words):
        group_rates(outcome, joint, **given)


def test_reports_that_cannot_be_crossed_are_refused():
    outcome, codes = people(100)
    sampled = Sampled({"sex": GRR(2, 1), "race": GRR(3, 1)}).privatize(codes, rng=7)
    with pytest.raises(InvalidParameterError, match="tells all columns"):
        group_rates(outcome, sampled)
    with pytest.raises(InvalidParameterError, match="mapping of columns to reports"):
        group_rates(outcome, {"sex": [0, 1]})
    with pytest.raises(InvalidParameterError, match="left out"):
        group_rates(outcome, sampled["sex"], columns=["sex"])
    with pytest.raises(InvalidParameterError, match="as long as"):
        group_rates(outcome[:5], strategies()["independent"].privatize(codes, rng=7))


def test_too_many_combinations_are_refused():
    many = {name: np.zeros(5, dtype=int) for name in "abcdefghij"}
    wide = strategy_for(dict.fromkeys(many, 2), epsilon=10, protocol="oue").privatize(many, rng=7)
    with pytest.raises(LimitExceededError, match="59,049"):
        group_rates([0, 1, 0, 1, 1], wide)
    large = strategy_for({"a": 40, "b": 40}, epsilon=10, protocol="grr")
    with pytest.raises(LimitExceededError, match="1,600 groups"):
        group_rates([0], large.privatize({"a": [0], "b": [0]}, rng=7))
