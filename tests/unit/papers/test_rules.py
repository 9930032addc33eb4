"""The rules for verdicts, in both directions: what is within agrees, what is outside is contradicted."""

import math

import numpy as np
import pytest
from scipy import stats

from evenhand.measure.repeat_means import Estimated
from evenhand.papers.claims import Checked
from evenhand.papers.rules import (
    MOST_REPEATS,
    Control,
    alike,
    below,
    fact,
    mostly,
    number_text,
    published_mean,
    quoted,
    repeats_to_decide,
    same,
    share,
)


def ours(value, *, error=0.001, runs=20, left_out=0):
    """Return an estimate with an interval of two standard errors."""
    if runs < 2:
        return Estimated(value, None, None, runs, left_out)
    return Estimated(value, value - 2 * error, value + 2 * error, runs, left_out, standard_error=error)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.4519, "agrees"), (0.4521, "contradicted"), (0.4281, "agrees"), (0.4279, "contradicted")],
)
def test_a_quoted_number_may_be_off_by_two_errors_its_rounding_and_the_slack(value, verdict):
    """2 x 0.001 + 0.005 + 0.005 = 0.012: a wider rule would call anything a success."""
    found = quoted(ours(value), 0.44, decimals=2)

    assert (found.verdict, found.paper, found.paper_value) == (verdict, "0.44", 0.44)


def test_the_published_spread_goes_before_ours():
    """Few repeats of ours have an error that is itself uncertain."""
    wide = quoted(ours(0.46, error=0.001, runs=4), 0.44, decimals=2, spread=0.02)
    narrow = quoted(ours(0.46, error=0.02, runs=4), 0.44, decimals=2, spread=0.001)

    assert (wide.verdict, narrow.verdict) == ("agrees", "contradicted")


@pytest.mark.parametrize(
    ("trials", "errors", "verdict"),
    [(None, 2, "contradicted"), (20, 2, "contradicted"), (10, 2, "agrees"), (20, 3, "agrees")],
)
def test_a_printed_mean_has_an_error_of_its_own_if_its_repeats_are_told(trials, errors, verdict):
    """Ours is 0.004: 2 of it are 0.008, with 20 repeats of theirs 0.0113, with ten 0.0139; 3 are 0.017."""
    value = Estimated(0.5 + 0.0185, runs=20, standard_error=0.004)
    given = {"trials": trials, "errors": errors, "decimals": 3}

    assert quoted(value, 0.5, **given).verdict == verdict


def test_a_single_repeat_without_published_runs_decides_nothing():
    """Without any standard error a tolerance would be made up."""
    found = quoted(ours(0.44, runs=1), 0.44, decimals=2, about=True)

    assert (found.verdict, found.paper) == ("cannot be checked", "~0.44")
    assert quoted(ours(math.nan, runs=0), 0.44, decimals=2, spread=0.1).verdict == "cannot be checked"


def test_a_mean_is_compared_with_the_published_runs_of_the_same_seeds():
    """Over all seeds the published mean is 0.5; over the two that we ran it is 0.4."""
    theirs = np.array([0.39, 0.41, 0.59, 0.61] * 5)

    assert published_mean(ours(0.4, runs=2), theirs, like=theirs[:2]).paper_value == pytest.approx(0.4)
    assert published_mean(ours(0.4, runs=2), theirs).paper_value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.0146, "agrees"), (0.0149, "contradicted"), (-0.0149, "contradicted")]
)
def test_a_published_mean_allows_three_joint_standard_errors_and_the_slack(shift, verdict):
    """The spread is 0.0103 and there are 20 runs of either: 0.0097 + 0.005."""
    theirs = np.array([0.39, 0.41] * 10)
    found = published_mean(ours(0.4 + shift), theirs, like=theirs)

    assert found.verdict == verdict


def test_without_published_runs_there_is_nothing_to_compare():
    """An empty comparison must not read as agreement."""
    unknown = np.full(20, np.nan)
    late = np.array([np.nan, np.nan, 0.4, 0.5])

    assert published_mean(ours(0.4), unknown, like=unknown).verdict == "cannot be checked"
    assert published_mean(ours(0.4, runs=2), late, like=late[:2]).verdict == "cannot be checked"
    assert published_mean(ours(math.nan, runs=0), late).verdict == "cannot be checked"


def test_a_result_without_randomness_must_be_the_same_to_three_decimals():
    """This is what shows that the pipeline is the paper's."""
    assert same(ours(0.8184), 0.8180).verdict == "agrees"
    assert same(ours(0.8186), 0.8180).verdict == "contradicted"
    assert same(ours(math.nan, runs=0), 0.8180).verdict == "cannot be checked"
    assert same(ours(0.8184), math.nan).verdict == "cannot be checked"


FOR, AGAINST, OPEN = ours(0.02), ours(-0.02), ours(0.0)
WIDE = ours(0.001)


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([FOR, FOR, AGAINST], "agrees"),
        ([FOR, AGAINST], "contradicted"),
        ([FOR, OPEN, OPEN], "not shown"),
        ([AGAINST, AGAINST, OPEN], "contradicted"),
        ([AGAINST, OPEN, OPEN], "not shown"),
        ([FOR, WIDE, WIDE], "not shown"),
        ([FOR, AGAINST, WIDE], "not shown"),
        ([FOR, FOR, WIDE], "agrees"),
        ([], "cannot be checked"),
        ([ours(math.nan, runs=0)], "cannot be checked"),
        ([ours(0.5, runs=1)], "not shown"),
    ],
)
def test_a_finding_is_decided_by_clear_comparisons_alone(differences, verdict):
    """Half is not most, and what is open speaks neither for a finding nor against it."""
    assert mostly(differences).verdict == verdict


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([OPEN, OPEN, FOR], "agrees"),
        ([FOR, AGAINST, OPEN], "contradicted"),
        ([ours(0.0085), ours(0.009), OPEN], "not shown"),
        ([ours(0.0, runs=1)], "not shown"),
        ([], "cannot be checked"),
    ],
)
def test_similar_means_intervals_within_the_margin(differences, verdict):
    """An interval that straddles the margin shows neither that two ways are alike nor that they differ."""
    assert alike(differences).verdict == verdict


@pytest.mark.parametrize(
    ("amounts", "verdict"),
    [
        ([ours(0.01)], "agrees"),
        ([ours(0.03)], "contradicted"),
        ([ours(0.0195)], "not shown"),
        ([ours(0.01), ours(0.03), ours(0.0195)], "not shown"),
    ],
)
def test_a_limit_is_kept_broken_or_not_told(amounts, verdict):
    """The row shows the amount, not how far it is from the limit."""
    found = below(amounts, limit=0.02)

    assert found.verdict == verdict
    assert found.ours in amounts


def test_a_finding_that_is_not_shown_says_how_many_repeats_could():
    """The number must be the first that decides: one repeat fewer leaves the interval open."""
    open_now = ours(0.001, runs=20)
    repeats = repeats_to_decide([open_now])

    def half_width(number):
        return stats.t.ppf(0.975, number - 1) * 0.001 * math.sqrt(20 / number)

    assert half_width(repeats) < 0.001 <= half_width(repeats - 1)
    assert f"About {repeats} repeats could decide" in mostly([open_now]).why
    assert f"About {repeats} repeats could decide" in alike([ours(0.009)]).why
    assert f"About {repeats} repeats could decide" in below([ours(0.019)], limit=0.02).why


def test_repeats_are_those_of_the_comparison_that_turns_the_count():
    """Of three that are open, the second to become clear decides."""
    near, far, never = ours(0.0019), ours(0.001), ours(0.0)

    assert repeats_to_decide([near, far, never]) == repeats_to_decide([far])
    assert repeats_to_decide([near, never, never]) is None
    assert "against it. More repeats of the same would not decide" in mostly([near, never, never]).why
    assert repeats_to_decide([ours(0.00001)]) == MOST_REPEATS + 1
    assert "Not even 10,000 repeats" in mostly([ours(0.00001)]).why


def test_equal_results_and_single_repeats_are_told_as_such():
    """Neither is a matter of wide intervals: the first stays as it is, and the second lacks repeats."""
    equal = Estimated(0.0, 0.0, 0.0, runs=5, standard_error=0.0)

    assert "In 2 there is no difference at all. More repeats" in mostly([ours(0.0019), equal, equal]).why
    assert mostly([Estimated(0.01, runs=1)]).why.endswith("has no interval: more repeats could decide.")


# --- controls -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "control", "verdict"),
    [
        (0.80, 0.85, "agrees"),
        (0.80, 0.806, "cannot tell apart"),
        (0.83, 0.85, "contradicted"),
        (0.83, 0.80, "contradicted"),
    ],
)
def test_a_number_agrees_only_if_doing_nothing_does_not(value, control, verdict):
    """An accuracy that hardly moves is as close to print without any protection."""
    found = quoted(ours(value), 0.80, decimals=2, control=Control(control))

    assert found.verdict == verdict
    assert "doing nothing is off by" in found.why


def test_the_slack_is_a_share_of_the_effect():
    """A protection that moves a number by 0.01 cannot be checked with a slack of half of that."""
    assert Control(0.81).slack(0.80) == pytest.approx(0.001)
    assert Control(0.5, printed=0.81).slack(0.80) == pytest.approx(0.001)
    assert Control(0.9).slack(0.80) == 0.005
    runs = [quoted(ours(0.8075, error=0.0), 0.80, decimals=3, control=each) for each in (None, Control(0.81))]
    assert runs[0].verdict == "contradicted"
    near = [quoted(ours(0.804, error=0.0), 0.80, decimals=3, control=each) for each in (None, Control(0.81))]
    assert [each.verdict for each in near] == ["agrees", "contradicted"]


def test_published_means_have_controls_too():
    theirs = np.array([0.39, 0.41] * 10)
    found = published_mean(ours(0.4), theirs, like=theirs, control=Control(0.401))

    assert found.verdict == "cannot tell apart"


def test_a_table_agrees_if_enough_of_its_values_do():
    """One in twenty may be off by chance; values that cannot be checked do not count for it."""
    good, bad, unknown = Checked("agrees", ""), Checked("contradicted", ""), Checked("cannot be checked", "")

    assert share([good] * 19 + [bad]).verdict == "agrees"
    assert share([good] * 18 + [bad, bad]).verdict == "contradicted"
    assert share([good] * 19 + [bad], least=1.0).verdict == "contradicted"
    assert share([good] * 5 + [bad] + [unknown] * 50).verdict == "contradicted"
    assert share([unknown]).verdict == "cannot be checked"


def test_a_table_that_doing_nothing_would_fill_as_well_tells_nothing():
    """Numbers that a control meets are no evidence, and a table of them is none."""
    good, bad, same_as_nothing = (
        Checked(each, "") for each in ("agrees", "contradicted", "cannot tell apart")
    )

    assert share([same_as_nothing] * 48 + [good] * 4).verdict == "agrees"
    assert share([same_as_nothing] * 48 + [good] * 3 + [bad]).verdict == "contradicted"
    assert share([same_as_nothing] * 50 + [good] * 2).verdict == "cannot tell apart"
    assert "come as close to 48 others" in share([same_as_nothing] * 48 + [good] * 4).why


def test_facts_are_equal_or_not():
    """There is no tolerance for a count."""
    assert (fact(3, 3).verdict, fact(3, 4).verdict, fact(3, 4).why) == ("agrees", "contradicted", "Ours: 3.")


def test_numbers_have_three_decimals_and_no_negative_zero():
    """A table with -0.000 in it reads as a loss."""
    assert [number_text(each) for each in (-0.17, -0.0001, 1.0, math.nan)] == [
        "\u22120.170", "0.000", "1.000", "no value",
    ]  # fmt: skip
