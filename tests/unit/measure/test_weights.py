"""Weighted rates and their linearised variance, beside an independent library and beside repeated rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import RATES, CountTable, count_table, group_report
from evenhand.measure.counts import PLACE, Tables, linearise_variance
from evenhand.measure.ranking import rank_scores

N = 60
I = np.arange(N)  # noqa: E741 - the number of each row, as in the script that made the vectors
Y, P = ((I * 7) % 11 < 5).astype(int), ((I * 5) % 13 < 6).astype(int)
GROUP = np.where((I * 3) % 7 < 3, "a", "b")
WEIGHTS = 1 + ((I * I) % 17) / 4

SAMPLICS = {
    ("selection", "a"): (0.4728434504792332, 0.011948963911372555),
    ("selection", "b"): (0.4441687344913151, 0.009051773653120548),
    ("tpr", "a"): (0.4057971014492754, 0.026774440897254826),
    ("tpr", "b"): (0.4567307692307692, 0.019747688232194558),
    ("fpr", "a"): (0.5257142857142857, 0.02100462624189074),
    ("fpr", "b"): (0.4307692307692308, 0.016075399724289192),
    ("accuracy", "a"): (0.4440894568690096, 0.0117694715124143),
    ("accuracy", "b"): (0.511166253101737, 0.009185772896147677),
    ("precision", "a"): (0.3783783783783784, 0.02476233455659106),
    ("precision", "b"): (0.5307262569832403, 0.01980534711180841),
    ("base_rate", "a"): (0.44089456869009586, 0.011804333073160759),
    ("base_rate", "b"): (0.5161290322580645, 0.009124880054946613),
}
"""Point estimate and variance by samplics 0.6.1: for each rate and group
``TaylorEstimator(PopParam.ratio).estimate(y=successes, x=trials, samp_weight=WEIGHTS)`` on all 60 rows, with
successes and trials set to 0 outside of the group."""


def _weighted(**changes):
    return group_report(Y, P, GROUP, privileged="a", **({"weights": WEIGHTS} | changes))


@pytest.mark.parametrize(("rate", "group"), SAMPLICS)
def test_rates_and_their_linearised_variance_equal_those_of_samplics(rate, group):
    """If this is false, intervals of survey data are not those of a survey statistician."""
    value, variance = SAMPLICS[rate, group]
    report = _weighted()
    tables, place = Tables.of(report.table, None), ("ab".index(group), PLACE[rate])
    shares = tables.groups
    linearised = N / (N - 1) * linearise_variance(shares.values, shares.trials, tables.squares)[place]
    counted = WEIGHTS[
        (group == GROUP) & {"tpr": Y == 1, "fpr": Y == 0, "precision": P == 1}.get(rate, Y >= 0)
    ]
    kish = counted.sum() ** 2 / (counted**2).sum()

    assert getattr(report.rates[group], rate) == pytest.approx(value, rel=1e-12)
    assert linearised == pytest.approx(variance, rel=1e-10)
    size = min(N / (N - 1) * value * (1 - value) / variance, kish)
    assert shares.effective[place] == pytest.approx(size, rel=1e-10)


@pytest.mark.parametrize(
    ("group", "total", "error"), [("a", 78.25, 13.735200047286646), ("b", 100.75, 14.199359916344758)]
)
def test_weighted_sizes_and_their_errors_equal_those_of_samplics(group, total, error):
    """By ``TaylorEstimator(PopParam.total).estimate(y=GROUP == group, samp_weight=WEIGHTS)``."""
    low, high = _weighted().size_interval(group, level=0.9)

    assert (low + high) / 2 == pytest.approx(total, rel=1e-12)
    assert (high - low) / 2 == pytest.approx(1.6448536269514722 * error, rel=1e-10)


def test_a_size_without_weights_is_no_estimate():
    interval = _weighted(weights=None).size_interval("a")

    assert math.isnan(interval.low)
    assert "a number of rows and no estimate" in interval.reason
    assert group_report([1, 0], [1, 0], ["a", "b"], weights=[1, 1]).size_interval("a").low == 0
    with pytest.raises(InvalidParameterError, match="'group' parameter"):
        _weighted().size_interval("c")


def test_linearised_scores_of_two_groups_have_no_covariance():
    """The interval of a gap adds two variances; that is right only if the joint scores say the same."""
    scores = {}
    for group in "ab":
        inside = (group == GROUP) * WEIGHTS
        rate = (inside * P).sum() / inside.sum()
        scores[group] = inside * (P - rate) / inside.sum()
    joint = N * np.cov(scores["a"] - scores["b"])

    assert joint == pytest.approx(SAMPLICS["selection", "a"][1] + SAMPLICS["selection", "b"][1], rel=1e-10)


@pytest.mark.parametrize("measure", ["acc", "f1", "spd", "di", "eod", "ped", "prd", "eo_gap", "meo_gap"])
def test_equal_weights_change_no_value_and_no_limit(measure):
    plain, equal = _weighted(weights=None), _weighted(weights=np.full(N, 2.5))

    assert equal.value(measure) == pytest.approx(plain.value(measure), rel=1e-12)
    assert tuple(equal.interval(measure)) == pytest.approx(tuple(plain.interval(measure)), rel=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_whole_weights_are_repeated_rows_in_every_rate(rate):
    times = 1 + I % 4
    weighted = _weighted(weights=times)
    repeated = group_report(*(np.repeat(column, times) for column in (Y, P, GROUP)))

    for group in "ab":
        expected = getattr(repeated.rates[group], rate)
        assert getattr(weighted.rates[group], rate) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("tiny", [1e-3, 1e-17])
def test_no_row_counts_for_more_than_one_in_an_interval(tiny):
    """One row of a tiny weight that differs makes the linearised variance far too small."""
    y, weights = np.array([1] * 49 + [0]), np.array([1.0] * 49 + [tiny])
    table = count_table(y, y, ["a"] * 50, weights=weights)
    tables = Tables.of(table, None)
    shares = tables.groups
    variance = linearise_variance(shares.values, shares.trials, tables.squares)
    place = 0, PLACE["selection"]

    assert shares.effective[place] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert tiny < 1e-16 or shares.values[place] * (1 - shares.values[place]) / variance[place] > 500


def test_a_share_of_all_or_of_nobody_has_the_size_of_kish():
    table = count_table([1] * 4, [1] * 4, ["a"] * 4, weights=[1, 1, 1, 3])

    assert Tables.of(table, None).overall.effective[PLACE["selection"]] == pytest.approx(36 / 12)


def test_rows_add_up_with_the_tables():
    first, second = (count_table(Y, P, GROUP, weights=WEIGHTS + shift) for shift in (0, 1))
    together = first + second

    assert together.rows.tolist() == (2 * count_table(Y, P, GROUP).counts).tolist()
    assert (first + CountTable(first.groups, first.counts, first.squares)).rows is None


def test_the_area_has_the_linearised_variance_of_its_placements_or_that_at_the_size_of_kish():
    scores = ((I * 11) % 23).astype(float)
    ranking = rank_scores(Y.astype(np.uint8), scores, WEIGHTS)
    expected = 0.0
    for label in (1, 0):
        own, other = label == Y, label != Y
        above = (scores[own][:, None] > scores[other]) + 0.5 * (scores[own][:, None] == scores[other])
        placements = above @ WEIGHTS[other] / WEIGHTS[other].sum()
        area = float(WEIGHTS[own] @ placements / WEIGHTS[own].sum())
        squares = (WEIGHTS[own] * (placements - area) / WEIGHTS[own].sum()) ** 2
        kish = WEIGHTS[own].sum() ** 2 / (WEIGHTS[own] ** 2).sum()
        spread = float(WEIGHTS[own] @ (placements - area) ** 2 / WEIGHTS[own].sum())
        expected += max(squares.sum(), spread / kish) * own.sum() / (own.sum() - 1)
        if label:
            assert ranking.area == pytest.approx(area, rel=1e-12)

    assert ranking.variance == pytest.approx(expected, rel=1e-10)


def test_an_interval_says_what_it_rests_on():
    method = _weighted().interval("acc").method

    assert method == "Clopper-Pearson, effective size from the linearised variance, at most Kish's"
