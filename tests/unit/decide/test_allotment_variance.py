"""The variance of shares, with its bound."""

import numpy as np
import pytest

from evenhand.decide.allotment import Allotment
from evenhand.decide.allotment_input import noisy_shares
from evenhand.decide.allotment_variance import allotment_variance, variance_series
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace
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
