"""The rules for verdicts, in both directions: what is within agrees, what is outside differs."""

import math

import numpy as np
import pytest

from evenhand.papers.claims import Checked
from evenhand.papers.rules import (
    FEWEST,
    alike,
    fact,
    mostly,
    number_text,
    published_mean,
    quoted,
    same,
    share,
)
from evenhand.study.results.estimates import Estimated


def ours(value, *, error=0.001, runs=20, left_out=0):
    """Return an estimate with an interval of two standard errors."""
    if runs < 2:
        return Estimated(value, None, None, runs, left_out)
    return Estimated(value, value - 2 * error, value + 2 * error, runs, left_out, standard_error=error)


@pytest.mark.parametrize(("value", "verdict"), [(0.4519, "agrees"), (0.4521, "differs"), (0.4281, "agrees"),
                                                (0.4279, "differs")])  # fmt: skip
def test_a_quoted_number_may_be_off_by_two_errors_its_rounding_and_the_slack(value, verdict):
    """2 x 0.001 + 0.005 + 0.005 = 0.012: a wider rule would call anything a success."""
    found = quoted(ours(value), 0.44, decimals=2)

    assert (found.verdict, found.paper, found.paper_value) == (verdict, "0.44", 0.44)


def test_the_published_spread_goes_before_ours():
    """Few repeats of ours have an error that is itself uncertain."""
    wide = quoted(ours(0.46, error=0.001, runs=4), 0.44, decimals=2, spread=0.02)
    narrow = quoted(ours(0.46, error=0.02, runs=4), 0.44, decimals=2, spread=0.001)

    assert (wide.verdict, narrow.verdict) == ("agrees", "differs")


def test_a_single_repeat_without_published_runs_decides_nothing():
    """Without any standard error a tolerance would be made up."""
    found = quoted(ours(0.44, runs=1), 0.44, decimals=2, about=True)

    assert (found.verdict, found.paper) == ("cannot be checked", "~0.44")
    assert quoted(ours(math.nan, runs=0), 0.44, decimals=2, spread=0.1).verdict == "cannot be checked"


def test_a_mean_is_compared_with_the_published_runs_of_the_same_seeds():
    """Over all seeds the published mean is 0.5; over the two that we ran it is 0.4."""
    theirs = np.array([0.39, 0.41, 0.59, 0.61] * 5)

    assert published_mean(ours(0.4, runs=2), theirs, same_seeds=True).paper_value == pytest.approx(0.4)
    assert published_mean(ours(0.4, runs=2), theirs, same_seeds=False).paper_value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.0089, "agrees"), (0.0101, "differs"), (-0.0101, "differs")]
)
def test_a_published_mean_allows_two_standard_errors_and_the_slack(shift, verdict):
    """The spread is 0.0103 and there are 20 runs: 0.0046 + 0.005."""
    theirs = np.array([0.39, 0.41] * 10)
    found = published_mean(ours(0.4 + shift), theirs, same_seeds=True)

    assert found.verdict == verdict


def test_without_published_runs_there_is_nothing_to_compare():
    """An empty comparison must not read as agreement."""
    unknown = np.full(20, np.nan)
    late = np.array([np.nan, np.nan, 0.4, 0.5])

    assert published_mean(ours(0.4), unknown, same_seeds=True).verdict == "cannot be checked"
    assert published_mean(ours(0.4, runs=2), late, same_seeds=True).verdict == "cannot be checked"
    assert published_mean(ours(math.nan, runs=0), late, same_seeds=False).verdict == "cannot be checked"


def test_a_result_without_randomness_must_be_the_same_to_three_decimals():
    """This is what shows that the pipeline is the paper's."""
    assert same(ours(0.8184), 0.8180).verdict == "agrees"
    assert same(ours(0.8186), 0.8180).verdict == "differs"
    assert same(ours(math.nan, runs=0), 0.8180).verdict == "cannot be checked"


FOR, AGAINST, OPEN = ours(0.02), ours(-0.02), ours(0.0)
FEW = ours(0.001, runs=FEWEST - 1)


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([FOR, FOR, AGAINST], "agrees"),
        ([FOR, AGAINST], "differs"),
        ([FOR, OPEN, OPEN], "differs"),
        ([AGAINST, AGAINST, OPEN], "differs"),
        ([FOR, FEW, FEW], "cannot be checked"),
        ([FEW, AGAINST, AGAINST], "differs"),
        ([FOR, FOR, FEW], "agrees"),
        ([], "cannot be checked"),
        ([ours(math.nan, runs=0)], "cannot be checked"),
        ([ours(0.5, runs=1)], "cannot be checked"),
    ],
)
def test_a_finding_agrees_if_more_than_half_of_the_comparisons_are_clearly_for_it(differences, verdict):
    """Half is not most, open is not for, and few repeats that are open do not refute anything."""
    assert mostly(differences).verdict == verdict


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([OPEN, OPEN, FOR], "agrees"),
        ([FOR, AGAINST, OPEN], "differs"),
        ([ours(0.0085), ours(0.009), OPEN], "cannot be checked"),
        ([ours(0.0, runs=1)], "cannot be checked"),
        ([], "cannot be checked"),
    ],
)
def test_similar_means_intervals_within_the_margin(differences, verdict):
    """An interval that straddles the margin shows neither that two ways are alike nor that they differ."""
    assert alike(differences).verdict == verdict


def test_a_table_agrees_if_enough_of_its_values_do():
    """One in twenty may be off by chance; values that cannot be checked do not count for it."""
    good, bad, unknown = Checked("agrees", ""), Checked("differs", ""), Checked("cannot be checked", "")

    assert share([good] * 19 + [bad]).verdict == "agrees"
    assert share([good] * 18 + [bad, bad]).verdict == "differs"
    assert share([good] * 19 + [bad], least=1.0).verdict == "differs"
    assert share([good] * 5 + [bad] + [unknown] * 50).verdict == "differs"
    assert share([unknown]).verdict == "cannot be checked"


def test_facts_are_equal_or_not():
    """There is no tolerance for a count."""
    assert (fact(3, 3).verdict, fact(3, 4).verdict, fact(3, 4).why) == ("agrees", "differs", "Ours: 3.")


def test_numbers_have_three_decimals_and_no_negative_zero():
    """A table with -0.000 in it reads as a loss."""
    assert [number_text(each) for each in (-0.17, -0.0001, 1.0, math.nan)] == [
        "\u22120.170", "0.000", "1.000", "no value",
    ]  # fmt: skip
