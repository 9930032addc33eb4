"""The variance of shares, with its bound."""

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.inputs import noisy_shares
from evenhand.decide.allotment.variance import allotment_variance, variance_series
from evenhand.decide.result.bias import bias
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace
from evenhand.release.postprocess.steps import Nonnegative
from unit.decide._slow_shares import by_enumeration


@pytest.mark.parametrize(
    ("law", "reach"), [(DiscreteLaplace("0.4"), 14), (DiscreteGaussian("1.5"), 11)], ids=repr
)
def test_it_is_that_of_the_releases_within_nine_tenths(law, reach):
    """The spread is what one release shows; the bias hides in it."""
    weights, counts = [1, 2, 3], [30, 50, 80]
    found = variance_series(noisy_shares(Allotment(weights), counts, law))
    _, slow = by_enumeration(weights, counts, law, reach, inside=0.9)

    assert found.certified
    assert (np.abs(found.values - slow) <= found.error_bound + 1e-16).all()


def test_its_first_order_is_the_textbook_formula():
    """sum_j Var_j (dP_i / dx_j)**2."""
    a, x, law = np.array([1.0, 2.0, 1.5]), np.array([30.0, 50.0, 80.0]) * 1e4, Laplace(2)
    total = a @ x
    gradient = np.diag(a) / total - np.outer(a * x, a) / total**2
    found = allotment_variance(Allotment(a), x, law)

    assert found.values == pytest.approx((gradient**2).sum(axis=1) * law.variance, rel=1e-6)
    assert "certified for the releases whose total" in found.method


def test_wide_noise_has_a_wide_bound():
    """Nothing is called certified that is not."""
    found = allotment_variance(Allotment([1, 2]), [3, 5], DiscreteLaplace(3))

    assert "with a bound above 1e-9" in found.method


def test_several_laws_and_one_entity():
    """One entity gets all, without any variance; different laws go with their own cumulants."""
    counts = [3000, 5000, 8000]
    alike = allotment_variance(Allotment([1, 2, 3]), counts, [Laplace(2), Laplace(2), Laplace("2.0")])
    mixed = allotment_variance(Allotment([1, 2, 3]), counts, [Laplace(2), Laplace(4), Laplace(2)])

    assert alike.values == pytest.approx(allotment_variance(Allotment([1, 2, 3]), counts, Laplace(2)).values)
    assert (mixed.values > alike.values).all()
    assert allotment_variance(Allotment([2]), [7], Laplace(2)).values.tolist() == [0.0]


def test_entities_without_any_effect():
    """A weight of 0 has no variance, and its bound does not make the others' uncertain."""
    found = allotment_variance(Allotment([1, 0, 2]), [500, 800, 900], DiscreteLaplace(2))

    assert found.values[1] == 0
    assert "certified for" in found.method


@pytest.mark.parametrize(
    ("weights", "counts", "law", "reach"),
    [
        ([1, 1], [1, 2], DiscreteLaplace(1), 45),
        ([1, 3], [0, 2], DiscreteLaplace("0.5"), 25),
        ([1, 2, 0], [2, 1, 5], DiscreteGaussian("2.5"), 14),
        ([0.5, 0.1, 1], [2, 3, 1], DiscreteGaussian(1), 9),
    ],
)
def test_small_totals_have_a_variance_in_which_a_total_of_0_is_no_error(weights, counts, law, reach):
    """A series that does not reach so far must not pass for the spread of one release."""
    found = bias(Allotment(weights), counts, law)
    mean, slow = by_enumeration(weights, counts, law, reach)

    assert found.bias == pytest.approx(mean, abs=1e-12)
    assert found.variance == pytest.approx(slow, abs=1e-12)


def test_there_is_no_variance_where_the_bound_is_as_wide_as_the_figure():
    """Under real noise a total near 0 has no variance at all; a number would be made up."""
    found = bias(Allotment([1, 2]), [1, 1], Laplace(3))

    assert np.isnan(found.variance).all()
    assert np.isnan(found.standard_deviation).all()


@pytest.mark.parametrize(
    ("weights", "counts"), [([1, 1], [1, 2]), ([1, 1], [0, 1]), ([3], [2]), ([1, 0, 2], [0, 4, 1])]
)
def test_no_variance_is_below_0_after_a_clamp(weights, counts):
    """A series whose figure is below 0 was taken for one within its bound."""
    law = DiscreteLaplace(2)
    found = allotment_variance(Allotment(weights), counts, law, post=[Nonnegative()])
    some = np.array(weights) > 0  # the others change nothing, and need not be enumerated
    slow = np.zeros(len(weights))
    _, slow[some] = by_enumeration(
        np.array(weights)[some], np.array(counts)[some], law, 80, step=lambda values: np.maximum(values, 0)
    )

    assert found.values == pytest.approx(slow, abs=1e-10)


def test_a_place_with_a_certain_share_keeps_a_variance_of_0():
    """What is known to be 0 is not withheld for want of a relative bound."""
    one = bias(Allotment([3]), [1000], DiscreteLaplace(2), post=Nonnegative())
    idle = bias(Allotment([1, 0, 2]), [300, 5, 400], DiscreteLaplace(2), post=Nonnegative())
    alone = bias(Allotment([3]), [1000], Laplace(2))

    assert one.variance == pytest.approx([0.0], abs=1e-11)
    assert idle.variance[1] == 0
    assert np.isfinite(idle.variance).all()
    assert alone.variance.tolist() == [0.0]


def test_one_entity_that_a_clamp_may_leave_with_nothing_has_a_variance():
    """A series of exactly 0 with a bound of 1 says nothing."""
    law = DiscreteLaplace(1)
    found = allotment_variance(Allotment([1]), [1], law, post=[Nonnegative()])
    nothing = float(law.cdf(-1))

    assert found.values == pytest.approx([nothing * (1 - nothing)], abs=1e-10)
