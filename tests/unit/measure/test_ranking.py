import math
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evenhand.measure.ranking import Ranking, rank_scores


def _slow(label, scores):
    """Compare every positive with every negative, and DeLong's variance from the placements."""
    high, low = scores[label == 1], scores[label == 0]
    wins = (high[:, None] > low[None, :]) + 0.5 * (high[:, None] == low[None, :])
    variance = wins.mean(axis=1).var(ddof=1) / len(high) + wins.mean(axis=0).var(ddof=1) / len(low)
    return wins.mean(), variance


@pytest.mark.parametrize("seed", range(20))
def test_the_area_and_its_variance_equal_the_comparison_of_all_pairs(seed):
    generator = np.random.default_rng(seed)
    label = np.append(generator.integers(0, 2, 40), [0, 0, 1, 1]).astype(np.uint8)
    scores = generator.integers(0, 8, 44).astype(float)  # many ties
    ranking = rank_scores(label, scores)

    assert (ranking.area, ranking.variance) == pytest.approx(_slow(label, scores), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_weighted_area_equals_that_of_scikit_learn(seed):
    generator = np.random.default_rng(seed)
    label = np.append(generator.integers(0, 2, 50), [0, 1]).astype(np.uint8)
    scores, weights = generator.integers(0, 9, 52).astype(float), generator.random(52)

    assert rank_scores(label, scores, weights).area == pytest.approx(
        roc_auc_score(label, scores, sample_weight=weights), abs=1e-12
    )


def _leave_out(label, scores, weights):
    """The jackknife variance of the weighted area: each row left out once, class by class."""
    total = 0.0
    for side in (0, 1):
        rows = np.flatnonzero(label == side)
        areas = [
            rank_scores(*(np.delete(column, row) for column in (label, scores, weights))).area for row in rows
        ]
        total += (len(rows) - 1) / len(rows) * ((areas - np.mean(areas)) ** 2).sum()
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_weighted_variance_is_that_of_the_jackknife(seed):
    """The twin is DeLong's variance without weights, which is far too small."""
    generator = np.random.default_rng(seed)
    label = np.repeat([0, 1], 200).astype(np.uint8)
    scores = np.round(generator.normal(size=400) + 1.2 * label, 1)  # with ties
    weights = generator.random(400) ** 2
    ranking, expected = rank_scores(label, scores, weights), _leave_out(label, scores, weights)

    assert ranking.variance == pytest.approx(expected, rel=0.05)
    assert rank_scores(label, scores).variance < 0.8 * expected


def test_equal_weights_change_nothing():
    label, scores = np.array([1, 0, 1, 0, 1], dtype=np.uint8), np.array([3.0, 1.0, 2.0, 2.0, 5.0])
    plain, weighted = rank_scores(label, scores), rank_scores(label, scores, np.full(5, 7.0))

    assert (weighted.area, weighted.variance) == pytest.approx((plain.area, plain.variance))


@pytest.mark.parametrize("label", [[0, 0], [1, 1], []])
def test_one_class_alone_has_no_area(label):
    ranking = rank_scores(np.array(label, dtype=np.uint8), np.arange(len(label), dtype=float))

    assert math.isnan(ranking.area)
    assert all(math.isnan(limit) for limit in ranking.limits(0.95))


@pytest.mark.parametrize(
    ("label", "scores"),
    [
        ([1, 0], [1, 0]),
        ([1, 0], [0, 1]),
        ([1, 0], [1, 1]),
        ([1, 1, 1, 0, 0], [3, 4, 5, 1, 2]),
        ([1, 0, 0, 0], [2, 1, 3, 0]),
        ([1, 1, 0, 0], [1, 1, 1, 1]),
    ],
)
def test_perfect_rankings_and_single_rows_have_intervals(label, scores):
    """DeLong's variance is 0 or unknown here, and an interval of no width would be a lie."""
    ranking = rank_scores(np.array(label, dtype=np.uint8), np.array(scores, dtype=float))
    low, high = ranking.limits(0.95)

    assert 0 <= low <= ranking.area <= high <= 1
    assert high - low > 0.3
    assert ranking.method == "Newcombe score for the area"


def test_the_score_interval_solves_its_equation():
    """Newcombe's method 5: the distance to the limit is z standard errors at the limit."""
    ranking = Ranking(1.0, 0.0, 12, 15)
    low, high = ranking.limits(0.95)
    extra = (12 + 15) / 2 - 1
    variance = low * (1 - low) * (1 + extra * ((1 - low) / (2 - low) + low / (1 + low))) / (12 * 15)

    assert high == 1
    assert 1 - low == pytest.approx(1.959963984540054 * math.sqrt(variance), abs=1e-9)


@pytest.mark.parametrize("area", [0.02, 0.5, 0.98])
def test_the_logit_interval_stays_inside_0_and_1(area):
    low, high = Ranking(area, 0.05, 5, 5).limits(0.999999)

    assert 0 <= low < area < high <= 1


WEIGHTS = np.array([0.7, 0.8, 0.1, 0.8, 0.5, 0.5, 0.6, 0.3])
APART = np.array([0, 11, 2, 13, 4, 15, 6, 17], dtype=float)
LABEL = np.array([0, 1] * 4, dtype=np.uint8)


@pytest.mark.parametrize(
    ("scores", "area"), [(APART, 1.0), (-APART, 0.0), (np.zeros(8), 0.5)], ids=["perfect", "reversed", "tied"]
)
def test_weights_do_not_hide_that_a_ranking_does_not_vary(scores, area):
    """Rounding gave a variance of 1e-33 or an area above 1, and with it an interval of no width."""
    ranking = rank_scores(LABEL, scores, WEIGHTS)
    low, high = ranking.limits(0.95)

    assert ranking.area == area
    assert ranking.method == "Newcombe score for the area"
    assert high - low > 0.3
    assert 0 <= low <= area <= high <= 1


@pytest.mark.parametrize("seed", range(50))
def test_no_weighted_perfect_ranking_has_an_interval_of_no_width(seed):
    weights = np.random.default_rng(seed).random(8).round(1) + 0.1
    ranking = rank_scores(LABEL, APART, weights)
    low, high = ranking.limits(0.95)

    assert (ranking.area, high) == (1, 1)
    assert low < 0.9


def test_an_inversion_lost_in_rounding_does_not_narrow_the_interval():
    """A row of next to no weight is the only one out of order."""
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1e-17])
    ranking = rank_scores(np.array([0, 0, 1, 1, 0], np.uint8), np.array([1.0, 2.0, 3.0, 4.0, 5.0]), weights)
    low, high = ranking.limits(0.95)

    assert ranking.area <= 1
    assert high - low > 0.3


def test_rows_without_weight_do_not_count():
    weights = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    ranking = rank_scores(np.array([0, 0, 1, 1, 0], np.uint8), np.array([1.0, 2.0, 3.0, 4.0, 5.0]), weights)

    assert (ranking.area, ranking.variance, ranking.negatives) == (1, 0, 2)


def test_weights_whose_squares_underflow_have_an_area():
    label, scores = np.array([0, 1, 0, 1], np.uint8), np.array([1.0, 2.0, 3.0, 4.0])
    tiny, plain = rank_scores(label, scores, np.full(4, 1e-200)), rank_scores(label, scores)

    assert (tiny.area, tiny.positives) == (plain.area, plain.positives)


AREAS = """
import numpy as np
from evenhand.measure.ranking import rank_scores
for seed in range(20):
    generator = np.random.default_rng(seed)
    scores, label = generator.random(5_000), generator.integers(0, 2, 5_000).astype(np.uint8)
    print(rank_scores(label, scores).area.hex(), float(scores @ generator.random(5_000)).hex())
"""


def test_the_area_is_the_same_to_the_last_digit_on_another_processor():
    """If not, a study that was kept could not be computed again the same by anybody with another machine."""

    def compute(kernel):
        variables = {**os.environ, "OPENBLAS_CORETYPE": kernel}
        words = [sys.executable, "-c", AREAS]
        told = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
        return zip(*(line.split() for line in told.splitlines()), strict=True)

    (areas, products), (other_areas, other_products) = compute("Haswell"), compute("Prescott")
    if products == other_products:
        pytest.skip("numpy adds up products here in one way only")

    assert areas == other_areas
