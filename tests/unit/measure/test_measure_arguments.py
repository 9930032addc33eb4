"""Arguments that are no columns: refused in our words, and without showing what they hold."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.measure import (
    GroupReport,
    alpha_fairness,
    bias_from_runs,
    bootstrap_interval,
    clopper_pearson,
    count_table,
    group_report,
    l1_bias,
    mean_of_shares,
    newcombe,
    share_difference,
    share_ratio,
    wilson,
)

Y, P, G = [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]
REPORT = group_report(Y, P, G, privileged=0)
NO_LABELS = {
    "array": np.array([1, 0]),
    "array of one": np.array([1]),
    "array without dimension": np.array(1),
    "series": pd.Series([1, 0]),
    "list": [1],
    "dict": {1: 0},
    "missing": pd.NA,
    "nan": float("nan"),
    "no time": pd.NaT,
}


@pytest.mark.parametrize("kind", NO_LABELS)
def test_what_is_no_label_is_refused_as_privileged(kind):
    with pytest.raises(InvalidParameterError, match=r"'privileged' .* the label of one of the groups"):
        group_report(Y, P, G, privileged=NO_LABELS[kind])


@pytest.mark.parametrize("kind", NO_LABELS)
def test_what_is_no_label_is_refused_as_positive(kind):
    with pytest.raises(InvalidParameterError, match=r"'positive' .* must be a single label"):
        group_report(Y, P, G, positive=NO_LABELS[kind])


@pytest.mark.parametrize("kind", NO_LABELS)
def test_what_is_no_label_is_refused_as_a_group(kind):
    with pytest.raises(InvalidParameterError, match=r"'group' .* the label of one of the groups"):
        REPORT.rate_interval("tpr", NO_LABELS[kind])
    with pytest.raises(InvalidParameterError, match="distinct labels"):
        count_table(Y, P, G, groups=[0, 1, NO_LABELS[kind]])


def test_a_column_in_the_place_of_a_label_is_not_shown():
    """Whoever mixes up two arguments must not find a person's data in the log."""
    column = pd.Series(["Jane Roe", "John Doe"])

    for arguments in ({"privileged": column}, {"positive": column}, {"groups": [column]}):
        with pytest.raises(InvalidParameterError) as caught:
            group_report(Y, P, G, **arguments)
        assert "Roe" not in str(caught.value)


@pytest.mark.parametrize("name", [np.array(["spd"]), ["spd"], None, 3, "spdd"])
def test_what_is_no_name_of_a_measure_is_unknown(name):
    generator = np.random.default_rng(1)

    for function in (REPORT.value, REPORT.reason, REPORT.interval, REPORT.worst_pair):
        with pytest.raises(UnknownNameError):
            function(name)
    with pytest.raises(UnknownNameError):
        REPORT.rate_interval(name, 0)
    with pytest.raises(UnknownNameError):
        bootstrap_interval(REPORT, name, generator=generator)


@pytest.mark.parametrize("report", ["x", None, count_table(Y, P, G)])
def test_a_bootstrap_needs_a_report(report):
    with pytest.raises(InvalidParameterError, match=r"'report' .* must be a GroupReport"):
        bootstrap_interval(report, "spd", generator=np.random.default_rng(1))


def test_a_report_needs_a_count_table():
    with pytest.raises(InvalidParameterError, match=r"'table' .* must be a CountTable"):
        GroupReport([[1, 2], [3, 4]])


@pytest.mark.parametrize("level", [0.9999999999999999, 0, 1, True, np.nan, "0.95", pd.Series([0.9]), None])
def test_a_level_without_a_quantile_is_refused(level):
    for function in (
        lambda: wilson(1, 2, level),
        lambda: clopper_pearson(1, 2, level),
        lambda: newcombe(1, 2, 1, 2, level),
        lambda: share_difference(1, 2, 1, 2, level),
        lambda: REPORT.interval("spd", level),
        lambda: REPORT.rate_interval("tpr", 0, level),
    ):
        with pytest.raises(InvalidParameterError, match=r"'level' .* must be a number between 0 and 1"):
            function()


def test_the_highest_level_has_an_interval_with_many_groups():
    """The error left over is shared by thousands of pairs, and one minus that share rounds to 1."""
    y, group = np.tile([0, 1], 4000), np.repeat(np.arange(200), 40)
    low, high = group_report(y, y, group).interval("sp_gap", 1 - 1e-12)
    tail = (1 - (1 - 1e-12)) / (200 * 199 / 2) / 2
    reach = beta.isf(tail, 21, 20) - 0.5  # of the exact interval, at 1/2

    assert (low, high) == (0, pytest.approx(math.sqrt(2) * reach, rel=1e-9))


@pytest.mark.parametrize(
    ("counts", "parameter"),
    [
        ((11, 10), "successes"),
        ((-1, 10), "successes"),
        ((np.nan, 10), "successes"),
        (("3", 10), "successes"),
        (([1, "x"], 10), "successes"),
        (([[1], [1, 2]], 10), "successes"),
        (([1, 2], [10, 10, 10]), "successes"),
        ((np.ma.masked_array([1, 2], mask=[0, 1]), 10), "successes"),
        ((0, -1), "trials"),
        ((0, np.inf), "trials"),
        ((0, np.nan), "trials"),
        ((0, "10"), "trials"),
    ],
)
@pytest.mark.parametrize(
    "function", [clopper_pearson, wilson, newcombe, share_difference, share_ratio, mean_of_shares]
)
def test_counts_outside_their_trials_are_refused(function, counts, parameter):
    """11 of 10 has no share; an interval of it, or a NaN without a reason, hides a mistake."""
    if function in (clopper_pearson, wilson):
        with pytest.raises(InvalidParameterError, match=rf"'{parameter}' parameter of {function.__name__}"):
            function(*counts)
        return
    with pytest.raises(InvalidParameterError, match=rf"'{parameter}' parameter of {function.__name__}"):
        function(*counts, 1, 2)
    other = {"successes": "other", "trials": "other_trials"}[parameter]
    with pytest.raises(InvalidParameterError, match=rf"'{other}' parameter of {function.__name__}"):
        function(1, 2, *counts)


@pytest.mark.parametrize("function", [clopper_pearson, wilson])
def test_only_a_share_without_trials_has_no_limits(function):
    low, high = function([0, 0, 1], [0, 1, 1])

    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False, False]


MASKED = np.ma.masked_array([1.0, 99.0], mask=[False, True])


@pytest.mark.parametrize("bias", [MASKED, [1.0, np.ma.masked], [[1], [1, 2]], [object()], "ab"])
def test_a_bias_with_masked_entries_or_ragged_is_refused(bias):
    """The number under a mask is whatever was there before, and it would be counted."""
    for function in (alpha_fairness, l1_bias, lambda each: bias_from_runs([1, 2], each)):
        with pytest.raises(InvalidParameterError, match="must be a vector of at least one number"):
            function(bias)


@pytest.mark.parametrize(
    "released", [np.ma.masked_array([[1, 99]], mask=[[0, 1]]), [MASKED, MASKED], [[1], [1, 2]]]
)
def test_releases_with_masked_entries_or_ragged_are_refused(released):
    with pytest.raises(InvalidParameterError, match=r"'released' .* must be numbers of shape"):
        bias_from_runs(released, [1, 2])


def test_a_mask_that_hides_nothing_is_no_matter():
    assert alpha_fairness(np.ma.masked_array([1.0, 3.0], mask=[False, False])) == 2
