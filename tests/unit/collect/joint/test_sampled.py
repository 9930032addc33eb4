"""One question of several, drawn at random: the draws are exact, and everybody counts where asked."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.joint.independent import Sampled
from evenhand.collect.joint.split import split_budget
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import InvalidParameterError
from property._joint_law import (
    all_pairs,
    assert_whole_report_is_private,
    joint_law,
    pairs_that_differ_in,
    within,
    worst_ratio,
)

PAIR = Sampled({"a": GRR(2, 1), "b": OUE(3, 1)}, {"a": "1/4", "b": "3/4"})
SOME = [PAIR, Sampled({"a": GRR(2, 1), "b": GRR(2, "1/2"), "c": SS(3, 1)}), Sampled({"a": GRR(4, 1)})]
CODES = {"a": np.arange(400) % 2, "b": np.arange(400) % 3, "c": np.arange(400) % 3}


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_the_worst_ratio_is_the_largest_epsilon(strategy):
    law = joint_law(strategy)

    assert all(sum(row) == 1 for row in law)
    assert_whole_report_is_private(strategy)
    assert math.log(worst_ratio(law, all_pairs(strategy))) == pytest.approx(
        float(strategy.epsilon), rel=1e-12
    )
    for column in strategy.columns:
        ratio = worst_ratio(law, pairs_that_differ_in(strategy, column))

        assert within(ratio, strategy.epsilon_within_report(column))


def test_the_guarantee_is_the_largest_and_says_what_it_rests_on():
    guarantee = SOME[1].guarantee

    assert guarantee.epsilon == SOME[1].epsilon == 1
    assert guarantee.tight
    assert guarantee.protects == ("a", "b", "c")
    assert any("drawn without regard to their values" in each for each in guarantee.assumptions)
    assert "subset selection" in guarantee.proof


def test_probabilities_are_dyadic_and_sum_to_one():
    thirds = Sampled({"a": GRR(2, 1), "b": GRR(2, 1), "c": GRR(2, 1)})

    assert PAIR.probabilities == {"a": Fraction(1, 4), "b": Fraction(3, 4)}
    assert sum(thirds.probabilities.values()) == 1
    assert all((each * 2**53).denominator == 1 for each in thirds.probabilities.values())
    assert float(thirds.probabilities["b"]) == pytest.approx(1 / 3, rel=1e-15)


def test_the_best_probabilities_go_straight_in():
    sizes = {"a": 2, "b": 41}
    shares = split_budget(1, sizes, how="sample", protocol="ss", exact=True)
    strategy = Sampled({column: SS(k, 1) for column, k in sizes.items()}, shares)
    floats = Sampled(strategy.protocols, split_budget(1, sizes, how="sample", protocol="ss"))

    assert strategy.probabilities == shares
    assert float(floats.probabilities["b"]) == pytest.approx(float(shares["b"]), rel=1e-12)


def test_everybody_is_asked_one_question_and_counted_there():
    reports = PAIR.privatize(CODES, rng=5)
    bits, estimates = PAIR.indicators(reports), PAIR.estimate(reports)

    assert reports.asked.shape == (400,)
    assert [len(part) for part in reports.sent] == np.bincount(reports.asked, minlength=2).tolist()
    assert estimates["a"].n + estimates["b"].n == 400
    assert not bits["a"][reports.asked == 1].any()
    assert not bits["b"][reports.asked == 0].any()
    assert (bits["a"][reports.asked == 0].sum(axis=1) == 1).all()


def test_who_is_asked_does_not_depend_on_anybodys_values():
    """If it did, being asked would itself be an answer."""
    other = {column: (codes + 1) % 2 for column, codes in CODES.items()}

    assert np.array_equal(PAIR.privatize(CODES, rng=5).asked, PAIR.privatize(other, rng=5).asked)


def test_a_report_holds_the_answer_of_the_person_who_was_asked():
    sure = Sampled({"a": GRR(2, 30), "b": GRR(3, 30)})  # so large that the truth is told
    reports = sure.privatize(CODES, rng=5)
    for position, column in enumerate("ab"):
        assert np.array_equal(reports[column].values, CODES[column][reports.asked == position])


def test_nothing_is_known_of_combinations():
    with pytest.raises(InvalidParameterError, match="Combined and Independent estimate combinations"):
        PAIR.estimate_joint(PAIR.privatize(CODES, rng=5))


@pytest.mark.parametrize(
    "wrong",
    [{"a": 0.5}, {"a": 0.5, "b": 0.6}, {"a": 0, "b": 1}, {"a": 1, "b": -1}, [0.5, 0.5], {"a": 0.5, "c": 0.5}],
)
def test_wrong_probabilities_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="'probabilities' parameter of Sampled"):
        Sampled({"a": GRR(2, 1), "b": GRR(2, 1)}, wrong)


def test_the_table_says_of_whom_each_column_is_asked():
    assert "asked of" in str(PAIR)
    assert "25 %" in str(PAIR)
    assert "0.25" in repr(PAIR)
