"""Bugs planted in mechanisms of release, each caught by a check that the right ones pass."""

import numpy as np
import pytest

from attacks.planted._release_mutants import (
    CountedAsAddOrRemove,
    EmptyCellsDropped,
    EmptyCellsNeverSurvive,
    EmptyCellsShare,
    NeighbouringRowsShare,
    SensitivityLeftOut,
    SensitivityLeftOutOfTheDraw,
    SurvivorsShareAValue,
    ThirtyTwoBits,
)
from contract._release_claims import (
    assert_bias_is_the_mean,
    assert_cells_have_noise_of_their_own,
    assert_every_cell_is_there,
    assert_noise_follows_the_law,
    assert_nothing_wraps,
    assert_private,
    assert_sparse_is_as_dense,
)
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace

RIGHT = [
    Laplace(1, unit="replace one"),
    Laplace("1/3", unit="add or remove one"),
    DiscreteGaussian(rho="1/10", unit="replace one"),
    DiscreteGaussian(rho="1/10", unit="add or remove one"),
    DiscreteGaussian(epsilon=1, delta="1e-4", unit="replace one"),
    DiscreteGaussian(epsilon="1/2", delta="1e-6", unit="add or remove one"),
]


@pytest.mark.parametrize("mechanism", RIGHT, ids=repr)
def test_the_right_mechanisms_pass_the_same_checks(mechanism):
    assert_private(mechanism)
    assert_noise_follows_the_law(mechanism, cells=20_000, seed=1)
    assert_nothing_wraps(mechanism, seed=2)


# --- planted bug 3: sensitivity left out of a scale --------------------------------------------------


@pytest.mark.parametrize("rho", ["1/100", "1/10", 1])
def test_a_scale_without_the_sensitivity_is_caught(rho):
    """The noise is what it says, its bias too; only the promise is not kept."""
    mutant = SensitivityLeftOut(rho=rho, unit="replace one")

    assert_noise_follows_the_law(mutant, cells=20_000, seed=1)
    with pytest.raises(AssertionError, match="more than is promised"):
        assert_private(mutant)


def test_without_sensitivity_to_leave_out_the_mutant_is_right():
    assert_private(SensitivityLeftOut(rho="1/10", unit="add or remove one"))


def test_a_draw_without_the_sensitivity_is_caught():
    mutant = SensitivityLeftOutOfTheDraw(1, unit="replace one")

    assert_private(mutant)  # as far as it says
    with pytest.raises(AssertionError, match="not drawn as stated"):
        assert_noise_follows_the_law(mutant, cells=20_000, seed=1)


# --- planted bug 10: replace-one data counted with add-or-remove sensitivity -------------------------


@pytest.mark.parametrize("epsilon", ["1/4", 1, 8])
def test_the_sensitivity_of_another_unit_is_caught(epsilon):
    with pytest.raises(AssertionError, match="more than is promised"):
        assert_private(CountedAsAddOrRemove(epsilon, unit="replace one"))
    assert_private(CountedAsAddOrRemove(epsilon, unit="add or remove one"))


# --- planted bug 7: counts cast to 32 bits -----------------------------------------------------------


def test_counts_cast_to_32_bits_are_caught():
    with pytest.raises(AssertionError, match="wrapped"):
        assert_nothing_wraps(ThirtyTwoBits(1, unit="replace one"), seed=2)


def test_small_counts_do_not_show_it():
    """The twin: no other check sees what only a large count shows."""
    assert_noise_follows_the_law(ThirtyTwoBits(1, unit="replace one"), cells=20_000, seed=1)


# --- planted bug 9: one draw shared by all empty cells, or empty cells dropped ----------------------


@pytest.mark.parametrize("mutant", [EmptyCellsShare, NeighbouringRowsShare])
def test_noise_that_cells_share_is_caught(mutant):
    """Each cell follows the law, and the bias is right: only two cells together tell."""
    shared = mutant(1, unit="replace one")

    assert_bias_is_the_mean(shared, draws=300, seed=3)
    with pytest.raises(AssertionError, match="noise in common"):
        assert_cells_have_noise_of_their_own(shared, rows=20_000, seed=17)


def test_empty_cells_without_noise_are_caught():
    mutant = EmptyCellsDropped(1, unit="replace one")

    assert_every_cell_is_there(mutant, seed=5)
    with pytest.raises(AssertionError, match="a cell has no noise"):
        assert_cells_have_noise_of_their_own(mutant, rows=20_000, seed=17)


@pytest.mark.parametrize("mutant", [EmptyCellsNeverSurvive, SurvivorsShareAValue])
def test_a_sparse_release_with_other_empty_cells_is_caught(mutant):
    assert_sparse_is_as_dense(ThresholdedLaplace(1, 3), draws=250, seed=23)
    with pytest.raises(AssertionError, match="not those of the dense table"):
        assert_sparse_is_as_dense(mutant(1, 3), draws=250, seed=23)


# --- low-order bits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", RIGHT, ids=repr)
def test_what_is_published_is_whole_so_its_low_bits_say_nothing(mechanism):
    """Whole numbers on whole noise: every outcome is on one grid, whatever the counts are."""
    import contract._release_claims as claims

    for counts in ([[0, 0, 0], [0, 0, 0]], [[1, 2, 4], [2**20, 2**40, 3]]):
        values = mechanism.release(claims.Histogram.of(counts, claims.SCHEMA), rng=1).values

        assert values.dtype == np.int64
