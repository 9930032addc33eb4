"""The laws agree with 50-digit arithmetic, in the middle and where they are 1e-290."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from evenhand.errors import InvalidParameterError
from evenhand.privacy import laws
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.privacy.randomness import SecureSource, SeededSource

SCALES = ["1/100", "1/3", 1, "7/3", 10, 1_000, 10**6, 2**31 - 1, Fraction(10**9 + 7, 2**31 - 1)]
SQUARES = ["1/50", "1/7", "0.16", "1/3", 1, 25, 10**4]
WIDE = [1_100_000, 10**8, 2**31 - 1]
TINY = 1e-290
ALL = [DiscreteLaplace(2), DiscreteGaussian(4), DiscreteGaussian(10**7), Laplace(2), Gaussian(4)]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


def _exact(value):
    value = Fraction(value)
    return mpf(value.numerator) / value.denominator


def _close(actual, expected):
    return expected < TINY or abs(mpf(float(actual)) / expected - 1) < mpf("1e-12")


def _places(spread):
    return sorted({0, 1, 2, 5, *(int(z * spread) for z in (0.3, 1, 3, 8, 20, 30, 36, 300, 600))})


def _tails_agree(law, place, beyond):
    """`beyond` is the exact probability of more than `place`, which is not negative."""
    assert _close(law.sf(place), beyond)
    assert _close(law.cdf(-place - 1), beyond)
    assert _close(law.cdf(place), 1 - beyond)
    assert _close(law.sf(-place - 1), 1 - beyond)


# --- discrete ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_discrete_laplace_law_is_exact_to_twelve_digits(scale):
    law, a = DiscreteLaplace(scale), mpmath.exp(-1 / _exact(scale))
    for place in _places(float(Fraction(scale))):
        assert _close(law.pmf(place), (1 - a) / (1 + a) * a**place)
        assert law.pmf(-place) == law.pmf(place)
        _tails_agree(law, place, a ** (place + 1) / (1 + a))

    assert _close(law.variance, 2 * a / (1 - a) ** 2)


def _bell(place, squared):
    return mpmath.exp(-(mpf(place) ** 2) / (2 * squared))


def _normaliser(squared):
    """Both sums, the direct one and its dual, must agree where both are short."""
    dual = mpmath.sqrt(2 * mpmath.pi * squared) * (
        1 + 2 * mpmath.fsum(mpmath.exp(-2 * mpmath.pi**2 * squared * k * k) for k in range(1, 30))
    )
    if squared < 30:
        direct = 1 + 2 * mpmath.fsum(_bell(k, squared) for k in range(1, 120))
        if squared > mpf(1) / 10:
            assert abs(direct / dual - 1) < mpf(10) ** -40
        return direct
    return dual


@pytest.mark.parametrize("squared", SQUARES, ids=str)
def test_the_discrete_gaussian_law_is_exact_to_twelve_digits(squared):
    law, true = DiscreteGaussian(squared), _exact(squared)
    total, spread = _normaliser(true), math.sqrt(float(true))
    last = int(70 * spread) + 3
    masses = [_bell(k, true) / total for k in range(last + 1)]
    tails = [mpf(0)]
    for mass in reversed(masses):
        tails.append(tails[-1] + mass)
    tails.reverse()
    for place in [each for each in _places(spread) if each + 1 < last]:
        assert _close(law.pmf(place), masses[place])
        assert law.pmf(-place) == law.pmf(place)
        _tails_agree(law, place, tails[place + 1])

    assert _close(law.variance, 2 * mpmath.fsum(k * k * mass for k, mass in enumerate(masses)))


@pytest.mark.parametrize("squared", WIDE)
def test_wide_discrete_gaussian_tails_are_exact_to_twelve_digits(squared):
    """Too many terms to sum: the reference uses more terms of the same expansion, at 50 digits."""
    law, scale = DiscreteGaussian(squared), mpmath.sqrt(mpf(squared))
    numbers = [
        (2 ** (1 - 2 * j) - 1) * mpmath.bernoulli(2 * j) / mpmath.factorial(2 * j) for j in range(1, 12)
    ]
    for place in _places(float(scale))[4:]:
        u = (place + mpf(1) / 2) / scale
        density = mpmath.npdf(u) / scale
        hermite = [1, u]
        for n in range(1, 23):
            hermite.append(u * hermite[-1] - n * hermite[-2])
        terms = [c * hermite[2 * j - 1] / scale ** (2 * j - 1) for j, c in enumerate(numbers, start=1)]
        beyond = mpmath.erfc(u / mpmath.sqrt(2)) / 2 + density * mpmath.fsum(terms)
        _tails_agree(law, place, beyond)


def test_the_two_ways_to_a_gaussian_tail_meet():
    places = np.array([1.0, 10, 1_000, 5_000, 20_000, 35_000])
    summed = laws._tails(1e6)[places.astype(int)]

    np.testing.assert_allclose(laws._tail_by_integral(places, 1_000.0), summed, rtol=1e-12)


@pytest.mark.parametrize(
    "law", [DiscreteLaplace("1/9"), DiscreteLaplace(3), DiscreteGaussian("1/9"), DiscreteGaussian(30)]
)
def test_masses_add_up(law):
    places = np.arange(-300, 301)
    masses = law.pmf(places)

    assert math.isclose(math.fsum(masses), 1, rel_tol=1e-14)
    assert math.isclose(math.fsum(masses * places**2), law.variance, rel_tol=1e-12)
    np.testing.assert_allclose(np.cumsum(masses), law.cdf(places), rtol=1e-12, atol=1e-30)
    np.testing.assert_allclose(law.cdf(places) + law.sf(places), 1, rtol=1e-15)


def test_the_vectors_of_the_formula_sheet():
    """Discrete Laplace with a = exp(-1/2); discrete Gaussian with variance 25, one cell and two."""
    a, law = math.exp(-0.5), DiscreteLaplace(2)
    gaussian = DiscreteGaussian(25)
    places = np.arange(-400, 401)
    masses = gaussian.pmf(places)
    one = math.fsum(masses * np.maximum(0, 1 - np.exp(1 - (2 * places + 1) / 50)))
    sums = np.convolve(masses, masses)
    two = math.fsum(sums * np.maximum(0, 1 - np.exp(1 - (np.arange(-800, 801) + 1) / 25)))

    assert math.isclose(law.sf(0), a / (1 + a), rel_tol=1e-14)
    assert math.isclose(law.cdf(-3), a**3 / (1 + a), rel_tol=1e-14)
    assert math.isclose(law.sf(-1), 1 - a / (1 + a), rel_tol=1e-14)
    assert math.isclose(law.variance, 2 * a / (1 - a) ** 2, rel_tol=1e-14)
    assert math.isclose(law.cdf(-3), 0.13888945025695, rel_tol=1e-12)
    assert math.isclose(one, 1.82933602487278e-08, rel_tol=1e-10)
    assert math.isclose(two, 2.28670866955554e-05, rel_tol=1e-10)


def test_the_discrete_gaussian_is_a_little_narrower_than_its_parameter():
    for squared in ("1/10", "1/2", 1):
        assert DiscreteGaussian(squared).variance < float(Fraction(squared))
    assert DiscreteGaussian(100).variance == 100


# --- continuous --------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["1e-9", 1, "7/3", 10**6], ids=str)
def test_the_laplace_law_is_exact_to_twelve_digits(scale):
    law, b = Laplace(scale), _exact(scale)
    for z in (0.0, 1e-9, 0.3, 1.0, 20.0, 300.0, 600.0):
        x = z * float(b)
        beyond = mpmath.exp(-mpf(x) / b) / 2

        assert _close(law.pdf(x), beyond / b)
        assert _close(law.sf(x), beyond)
        assert _close(law.cdf(-x), beyond)
        assert _close(law.cdf(x), 1 - beyond)
    assert _close(law.variance, 2 * b**2)


@pytest.mark.parametrize("squared", ["1e-9", 1, "7/3", 10**12], ids=str)
def test_the_gaussian_law_is_exact_to_twelve_digits(squared):
    law, true = Gaussian(squared), _exact(squared)
    for z in (0.0, 1e-9, 0.3, 1.0, 5.0, 20.0, 36.0):
        x = z * law.standard_deviation
        beyond = mpmath.erfc(mpf(x) / mpmath.sqrt(2 * true)) / 2

        assert _close(law.pdf(x), mpmath.exp(-(mpf(x) ** 2) / (2 * true)) / mpmath.sqrt(2 * mpmath.pi * true))
        assert _close(law.sf(x), beyond)
        assert _close(law.cdf(-x), beyond)
        assert _close(law.cdf(x), 1 - beyond)
    assert _close(law.variance, true)


# --- what every law does -----------------------------------------------------------------------


@pytest.mark.parametrize("law", ALL, ids=str)
def test_continuous_laws_are_marked_idealized(law):
    """A release refuses them by this mark."""
    discrete = isinstance(law, (DiscreteLaplace, DiscreteGaussian))

    assert law.idealized is not discrete
    assert law.support == ("integers" if discrete else "reals")
    assert hasattr(law, "pmf") is discrete
    assert hasattr(law, "pdf") is not discrete
    assert law.standard_deviation == math.sqrt(law.variance)


@pytest.mark.parametrize("law", ALL, ids=str)
def test_special_values_have_one_outcome(law):
    inf, nan = math.inf, math.nan

    assert (law.cdf(-inf), law.cdf(inf), law.sf(-inf), law.sf(inf)) == (0, 1, 1, 0)
    assert (law.cdf(-1e300), law.cdf(1e300), law.sf(1e300)) == (0, 1, 0)
    assert np.isnan([law.cdf(nan), law.sf(nan)]).all()
    height = law.pdf if law.idealized else law.pmf
    assert (height(inf), height(-inf), height(1e300)) == (0, 0, 0)
    assert np.isnan(height(nan))
    assert height(0.0) == height(-0.0) > 0


@pytest.mark.parametrize("law", ALL, ids=str)
def test_arrays_keep_their_shape_and_numbers_stay_numbers(law):
    grid = np.array([[-3, 0, 2], [5, -1, 7]])

    assert law.cdf(grid).shape == law.sf(grid).shape == (2, 3)
    assert np.ndim(law.cdf(1)) == 0
    assert law.cdf([]).shape == (0,)


@pytest.mark.parametrize("law", [DiscreteLaplace(2), DiscreteGaussian(4), DiscreteGaussian(10**7)], ids=str)
def test_between_integers_a_discrete_law_is_flat_and_has_no_mass(law):
    assert (law.pmf(0.5), law.pmf(-2.25)) == (0, 0)
    assert (law.cdf(2.99), law.cdf(-2.01)) == (law.cdf(2), law.cdf(-3))
    assert law.sf(-0.5) == law.sf(-1)


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, Laplace, Gaussian])
@pytest.mark.parametrize("extreme", ["1e-100", "1e100"])
def test_extreme_scales_give_finite_numbers(kind, extreme):
    law = kind(extreme)

    assert 0 <= law.variance < math.inf
    assert 0 <= law.sf(1) <= 0.5 <= law.cdf(1) <= 1
    assert math.isclose(law.sf(-1) + law.sf(0), 1, abs_tol=1e-12) or law.sf(-1) > 0.5


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, Laplace, Gaussian])
@pytest.mark.parametrize("wrong", [0, -1, "x", None, True, float("nan"), float("inf"), "1e-101", "1e101"])
def test_other_scales_are_refused(kind, wrong):
    with pytest.raises(InvalidParameterError, match=f"parameter of {kind.__name__} must be a number"):
        kind(wrong)


def test_a_law_is_a_value():
    assert DiscreteLaplace("5/2") == DiscreteLaplace(2.5)
    assert hash(Gaussian(4)) == hash(Gaussian("4"))
    assert DiscreteLaplace(2) != Laplace(2)
    assert repr(DiscreteGaussian(0.1)) == "DiscreteGaussian(squared_scale=Fraction(1, 10))"
    with pytest.raises(AttributeError):
        Laplace(2).scale = 3
    with pytest.raises(TypeError, match="abstract"):
        Law()


# --- drawing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [DiscreteLaplace("7/3"), DiscreteGaussian("25/7")], ids=str)
def test_discrete_noise_is_drawn_from_either_source(law):
    from evenhand.privacy.sampling import discrete_gaussian, discrete_laplace

    sampler = discrete_laplace if isinstance(law, DiscreteLaplace) else discrete_gaussian
    parameter = law.scale if isinstance(law, DiscreteLaplace) else law.squared_scale
    expected = sampler(parameter, size=50, source=SeededSource(1))

    assert np.array_equal(law.draw(size=50, source=SeededSource(1)), expected)
    assert law.draw(size=(2, 3), source=SecureSource()).shape == (2, 3)


@pytest.mark.parametrize("law", [Laplace(3), Gaussian(9)], ids=str)
def test_continuous_noise_is_drawn_in_simulations(law):
    draws = law.draw(size=(200, 500), source=SeededSource(1))

    assert draws.shape == (200, 500)
    assert math.isclose(draws.std(), law.standard_deviation, rel_tol=0.02)
    assert abs(draws.mean()) < 6 * law.standard_deviation / math.sqrt(draws.size)


@pytest.mark.parametrize("law", [Laplace(3), Gaussian(9)], ids=str)
@pytest.mark.parametrize("source", [SecureSource(), None, 7])
def test_continuous_noise_is_refused_for_a_release(law, source):
    """Its last bits tell the value it was added to."""
    with pytest.raises(
        InvalidParameterError, match=f"simulations only.*use Discrete{type(law).__name__} for a release"
    ):
        law.draw(size=1, source=source)
