"""Scores beside outcomes, in bins of about equal size."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from evenhand.measure.calibration import FEWEST_IN_BIN, MOST_BINS, calibrate


def people(number=1000, seed=1):
    generator = np.random.default_rng(seed)
    scores = generator.random(number)
    return (generator.random(number) < scores).astype(np.uint8), scores


def test_bins_have_equal_sizes_and_exact_intervals():
    positive, scores = people()
    found = calibrate(positive, scores)

    assert [part.people for part in found.bins] == [100] * 10
    for part in found.bins:
        inside = (scores >= part.least) & (scores <= part.most)
        exact = binomtest(int(positive[inside].sum()), int(inside.sum())).proportion_ci(method="exact")
        assert part.score == pytest.approx(scores[inside].mean())
        assert part.observed == pytest.approx(positive[inside].mean())
        assert (part.low, part.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_scores_that_are_right_are_rarely_off_and_shifted_ones_are():
    positive, scores = people(5000)

    assert sum(part.is_off for part in calibrate(positive, scores).bins) <= 2
    assert not calibrate(positive, scores).whole.is_off
    assert calibrate(positive, np.clip(scores + 0.2, 0, 1)).whole.is_off


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.5, 0.9])), max_size=300))
def test_bins_hold_everybody_once_and_never_part_equal_scores(rows):
    positive = np.array([row[0] for row in rows], dtype=np.uint8)
    scores = np.array([row[1] for row in rows], dtype=float)
    found = calibrate(positive, scores)
    ends = [(part.least, part.most) for part in found.bins]

    assert len(found.bins) <= MOST_BINS
    assert len(found.bins) != 1
    assert all(part.people >= FEWEST_IN_BIN for part in found.bins)
    assert sum(part.people for part in found.bins) in {0, len(rows)}
    assert all(before[1] < after[0] for before, after in pairwise(ends))


def test_a_group_without_people_has_nothing_and_a_small_one_no_bins():
    nobody = calibrate(np.array([], dtype=np.uint8), np.array([]))
    few = calibrate(*people(59))

    assert (nobody.whole, nobody.bins) == (None, ())
    assert few.bins == ()
    assert few.whole.people == 59
    assert math.isnan(few.error)


def test_weights_of_one_change_nothing_and_others_widen_the_interval():
    positive, scores = people(300)
    uneven = np.where(np.arange(300) % 2, 0.2, 1.8)

    assert calibrate(positive, scores, np.ones(300)) == calibrate(positive, scores)
    plain, weighted = calibrate(positive, scores).whole, calibrate(positive, scores, uneven).whole
    assert weighted.high - weighted.low > plain.high - plain.low


@pytest.mark.parametrize(("every", "weight"), [(1, 5.0), (6, 3.0)])
def test_weighted_intervals_rest_on_the_smaller_of_both_effective_sizes(every, weight):
    """Weights that go with the outcome tell less than Kish's size says, or seem to tell more."""
    positive, scores = people(300)
    positive = np.where(np.arange(300) % every == 0, positive, 0).astype(np.uint8)
    weights = np.where((positive == 1) & (np.arange(300) % 3 == 0), weight, 1.0)
    found = calibrate(positive, scores, weights).whole
    share = weights @ positive / weights.sum()
    variance = (weights**2) @ (positive - share) ** 2 / weights.sum() ** 2
    kish = weights.sum() ** 2 / (weights**2).sum()
    linearised = share * (1 - share) / variance
    size = min(linearised, kish)
    exact = beta.ppf(
        [0.025, 0.975], [share * size, share * size + 1], [(1 - share) * size + 1, (1 - share) * size]
    )

    assert (linearised > kish + 10, linearised < kish - 10) == (every == 1, every == 6)
    assert (found.low, found.high) == pytest.approx(tuple(exact), abs=1e-9)


def test_a_bin_in_which_all_are_alike_rests_on_the_size_of_kish():
    weights = np.where(np.arange(40) % 2, 0.2, 1.8)
    found = calibrate(np.ones(40, dtype=np.uint8), np.full(40, 0.5), weights).whole
    kish = weights.sum() ** 2 / (weights**2).sum()

    assert found.low == pytest.approx(0.025 ** (1 / kish), abs=1e-9)
