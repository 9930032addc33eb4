"""Bounds of the literature beside exact values."""

import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import Laplace
from evenhand.release.alpha_bounds import (
    laplace_alpha,
    laplace_alpha_bound,
    merge_bias,
    ranking_counterexamples,
    suppression_alpha,
    suppression_alpha_bound,
    suppression_l1_bound,
    swapping_alpha,
    swapping_alpha_bound,
    swapping_bias,
    swapping_l1,
)
from evenhand.release.postprocess import clamp_bias


def tables(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, rng.integers(1, 80), (rng.integers(1, 5), rng.integers(1, 6)))
    return matrix, int(rng.integers(1, 12)), float(rng.uniform(0.05, 5))


class TestVectors:
    def test_swapping(self):
        """Proposition 1, checked by hand."""
        found = swapping_bias([[5, 1, 0]], epsilon=1)

        assert found.ravel() == pytest.approx([-1.907474018554, 0.635824672851, 1.271649345703], abs=1e-12)

    def test_suppression_of_one_count_beside_one_that_is_always_shown(self):
        """The bias of the count 4 alone, by hand."""
        found = suppression_alpha([4, 1000], threshold=6, epsilon=1)

        assert found == pytest.approx(0.816060279414, rel=1e-11)

    def test_merging(self):
        """Theorem 6, and the binomial sum it is written as."""
        slow = sum(math.comb(8, j) * 0.6 ** (8 - j) * 0.4**j for j in range(8 - 6 + 1, 8 + 1))

        assert merge_bias([8], k=6, beta=0.6)[0] == pytest.approx(0.68460544, rel=1e-12)
        assert merge_bias([5, 6], k=6, beta=0.6).tolist() == pytest.approx([0, 1 - 0.6**6])
        assert slow == pytest.approx(0.68460544, rel=1e-12)
        assert merge_bias([0, 5, 6], k=6, beta=1).tolist() == [0, 0, 0]

    def test_clamped_laplace(self):
        """The bound is twelve times the truth."""
        assert laplace_alpha([2, 50], epsilon=0.5) == pytest.approx(1.2130538661189, rel=1e-13)
        assert laplace_alpha_bound([2, 50], epsilon=0.5) == pytest.approx(14.5567, rel=1e-5)

    def test_suppression_bias_of_one_cell(self):
        """The bias of x = 4 at k = 6 is -.816; with a cell that has none, that is alpha."""
        assert suppression_alpha([4, 3], threshold=6, epsilon=1) == pytest.approx(0.816060279414, rel=1e-11)


class TestBounds:
    @pytest.mark.parametrize("seed", range(60))
    def test_every_bound_holds_and_every_equality_is_one(self, seed):
        """A bound below the truth would be no bound."""
        matrix, threshold, epsilon = tables(seed)
        hidden = np.asarray(Laplace(2 / epsilon).cdf(threshold - matrix))
        suppressed = (threshold / 2 - matrix) * hidden
        moved = swapping_bias(matrix, epsilon=epsilon)
        clamped = clamp_bias(matrix, Laplace(2 / epsilon))
        how = {"threshold": threshold, "epsilon": epsilon}

        assert np.abs(suppressed).sum() <= suppression_l1_bound(matrix, **how) * (1 + 1e-12)
        assert suppression_alpha(matrix, **how) == pytest.approx(np.ptp(suppressed), abs=1e-12)
        assert suppression_alpha(matrix, **how) <= suppression_alpha_bound(matrix, **how) + 1e-12
        assert swapping_l1(matrix, epsilon=epsilon) == pytest.approx(np.abs(moved).sum(), abs=1e-9)
        assert (
            swapping_alpha(matrix, epsilon=epsilon) <= swapping_alpha_bound(matrix, epsilon=epsilon) + 1e-12
        )
        assert laplace_alpha(matrix, epsilon=epsilon) == pytest.approx(np.ptp(clamped), abs=1e-12)
        assert laplace_alpha(matrix, epsilon=epsilon) <= laplace_alpha_bound(matrix, epsilon=epsilon) + 1e-12

    def test_swapping_takes_a_large_epsilon(self):
        """exp(1000) is infinite and the bias 0."""
        assert swapping_bias([[5, 1]], epsilon=1000).tolist() == [[0, 0]]


class TestRanking:
    def test_the_theorem_is_wrong_for_these_tables(self):
        """Laplace is ranked first by the bounds and is last in truth, under the theorem's own conditions."""
        suppression, swapping = ranking_counterexamples()

        assert suppression.other == pytest.approx(0.9983, abs=5e-5)
        assert suppression.laplace == pytest.approx(8.084, abs=5e-4)
        assert swapping.other == 0
        for each in (suppression, swapping):
            smallest = min(min(row) for row in each.matrix)
            assert 2 <= smallest <= each.threshold
            assert each.laplace > each.other
            assert each.laplace_bound <= each.other_bound


class TestArguments:
    @pytest.mark.parametrize(
        "call",
        [
            lambda: laplace_alpha([], epsilon=1),
            lambda: laplace_alpha([1, 2], epsilon=0),
            lambda: swapping_bias([1, 2], epsilon=1),
            lambda: suppression_alpha([1], threshold=0, epsilon=1),
            lambda: merge_bias([1], k=2, beta=1.5),
            lambda: merge_bias([1], k=0, beta=0.5),
        ],
    )
    def test_parameters_are_checked(self, call):
        """What cannot be computed is refused with the reason."""
        with pytest.raises(InvalidParameterError):
            call()
