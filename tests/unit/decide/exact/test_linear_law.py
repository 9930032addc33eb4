"""Weighted sums of noises: the vectors, high precision, and sums written out."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.decide.exact.noise_laws import (
    cached_law,
    exact_reach,
    laplace_sum_tail,
    lattice_points,
    linear_law,
)
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace


@pytest.mark.parametrize(
    ("w", "scales", "expected"),
    [(2, (3, 3), 0.34227807935506), (2, (3, 1), 0.28033867425354), (5, (10, 0.5), 1 - 0.69597466355248)],
)
def test_two_laplace_scales_give_the_known_values(w, scales, expected):
    """These decide every ratio; the last is 45 of 800 against 5 %, which holds with the rest of 1."""
    assert abs(laplace_sum_tail(w, scales) - expected) < 1e-13


def _partial_fractions(w, scales):
    """Return the tail by partial fractions with 150 digits, equal scales moved apart in the 30th."""
    with mpmath.workdps(400):
        squares = [mpmath.mpf(s) ** 2 * (1 + mpmath.mpf(10) ** -30 * k) for k, s in enumerate(scales)]
        total, power = mpmath.mpf(0), len(squares) - 1
        for k, square in enumerate(squares):
            others = mpmath.fprod(square - each for j, each in enumerate(squares) if j != k)
            total += square**power * mpmath.exp(-w / mpmath.sqrt(square)) / others
        return float(total / 2)


@pytest.mark.parametrize(
    "scales",
    [
        (3,),
        (2, 2.0000001),
        (3, 2, 1),
        (1, 1, 1),
        (1, 1.0001, 1.1),
        (1, 1.19, 1.2, 5),
        (1e-6, 1, 1e6),
        (1, 1, 1, 100, 100),
        (1, 1, 1, 1, 1, 1, 1, 1),
        (1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4),
    ],
)
def test_any_number_of_laplace_scales_keeps_its_digits(scales):
    """Partial fractions cancel where scales are close; what is printed then would be noise."""
    places = [0.0, 1e-3, 0.5, 3.0, 20.0, 100.0]

    found = laplace_sum_tail(np.array(places), scales)

    assert np.allclose(found, [_partial_fractions(w, scales) for w in places], rtol=0, atol=2e-13)


def test_real_sums_are_symmetric_and_gaussian_ones_add_their_variances():
    """A sum below and above its centre is equally likely, whatever the signs of the coefficients."""
    law = linear_law([1, "-1/20", 2], [Laplace(3)] * 3)
    bell = linear_law([3, -4], [Gaussian(4), Gaussian(1)])

    assert law.below(-1.5) == law.above(1.5)
    assert law.above(0) == 0.5
    assert abs(law.below(1.5) + law.above(1.5) - 1) < 1e-15
    assert abs(bell.above(2) - Gaussian(3 * 3 * 4 + 16).sf(2)) < 1e-15
    assert not law.whole


@pytest.mark.parametrize("weights", [(1,), (1, -1), (2, 3)])
def test_whole_sums_agree_with_every_combination(weights):
    """Ties between whole numbers decide thresholds; a table that is one off would move them all."""
    laws = [DiscreteLaplace("0.5"), DiscreteGaussian(2)][: len(weights)]
    sums = {}
    for drawn in itertools.product(range(-20, 21), repeat=len(weights)):
        total = sum(w * each for w, each in zip(weights, drawn, strict=True))
        sums.setdefault(total, []).append(drawn)
    masses = {
        total: float(sum(np.prod([law.pmf(k) for law, k in zip(laws, each, strict=True)]) for each in found))
        for total, found in sums.items()
        if abs(total) <= 12
    }
    law = linear_law(weights, laws)

    assert law.whole
    for total, mass in masses.items():
        assert abs(law.below(total) - law.below(total - 1) - mass) < 1e-14
    assert abs(law.below(3.7) - law.below(3)) == 0
    assert abs(law.above(3) + law.below(3) - 1) < 1e-14
    assert law.above(3.5) == law.above(3)
    assert law.below(10**9) == 1
    assert law.below(-(10**9)) == 0


def test_three_whole_noises_agree_with_a_double_sum():
    """The table of three noises is made by transforms, whose rounding must stay far below a probability."""
    first, second, third = DiscreteLaplace(2), DiscreteLaplace(3), DiscreteGaussian(20)
    law = linear_law([1, 2, -1], [first, second, third])
    one, two = np.arange(-90, 91)[:, None], np.arange(-120, 121)[None, :]

    for t in (-7, 0, 4):
        direct = (first.pmf(one) * second.pmf(two) * third.sf(one + 2 * two - t - 1)).sum()

        assert abs(law.below(t) - direct) < 1e-13


def test_a_law_too_wide_for_a_table_is_taken_as_it_is():
    """Noise of a scale of a million still has exact thresholds."""
    wide = DiscreteLaplace(10**6)

    assert linear_law([1], [wide]).below(12345) == wide.cdf(12345)
    assert linear_law([1], [wide]).reach == 36 * 10**6


def test_what_has_no_closed_form_is_refused_or_left_to_conditioning():
    """A wrong kind must not be taken for another: the caller conditions on an input instead."""
    assert cached_law((Fraction(1), Fraction(1)), (Laplace(1), Gaussian(1))) is None
    assert cached_law((Fraction(1), Fraction(1)), (Laplace(1), DiscreteLaplace(1))) is None
    assert cached_law((Fraction(1, 2),), (DiscreteLaplace(1),)) is None
    assert cached_law((Fraction(2),), (DiscreteLaplace(1),)) is None
    assert cached_law((Fraction(10_000), Fraction(131)), (DiscreteLaplace(300),) * 2) is None
    assert lattice_points([10_000, -131], [DiscreteLaplace(300)] * 2) == 1 + 2 * 10_800 * 10_131
    with pytest.raises(InvalidParameterError, match="all Laplace, all Gaussian, or discrete"):
        linear_law([1, 1], [Laplace(1), Gaussian(1)])
    for weights in ([1], [], [1, 0]):
        with pytest.raises(InvalidParameterError, match="as many numbers as there are laws, none of them 0"):
            linear_law(weights, [Laplace(1), Laplace(1)])


@pytest.mark.parametrize(
    "law", [Laplace(7), Gaussian(7), DiscreteLaplace(7), DiscreteGaussian(7), DiscreteLaplace("1/9")]
)
def test_noise_beyond_its_reach_can_be_left_out(law):
    """What is cut off must not show in the twelfth digit."""
    assert 2 * law.sf(exact_reach(law)) < 1e-14
