"""The bias of formulas to second order: what it is, how far it may be off, and where it is refused."""

import itertools

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment, Formula
from evenhand.decide.exact.noise_laws import standard_cumulants
from evenhand.decide.exact.second_order import _signs, second_order
from evenhand.decide.result.bias import bias
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.postprocess.steps import Nonnegative

WEIGHTS, COUNTS = np.array([1, 2, 1.5]), np.array([30, 50, 80])
LAWS = [Laplace(2), DiscreteLaplace(2), Gaussian(8), DiscreteGaussian(8)]


def shares_of(weights):
    return Formula(lambda x: weights * x / (weights * x).sum())


def fourth_order_by_hand(weights, counts, law):
    """The printed vector's formula: what the fourth order adds to the second."""
    a, x, v = weights, counts, law.variance
    kappa = standard_cumulants(law, 2)[1] * v**2
    total, m2 = float(a @ x), v * float(a @ a)
    m4 = 3 * m2**2 + kappa * float((a**4).sum())
    return a * x / total * m4 / total**4 - a * (3 * v * a * m2 + kappa * a**3) / total**4


@pytest.mark.parametrize("law", LAWS)
def test_it_is_the_second_order_and_its_error_that_of_the_fourth(law):
    """If this is false a reader takes an approximation for better, or worse, than it is."""
    found = second_order(shares_of(WEIGHTS), COUNTS, law)
    a, total = WEIGHTS, float(WEIGHTS @ COUNTS)
    by_hand = law.variance * a * (COUNTS * float(a @ a) - a * total) / total**3

    assert found.bias == pytest.approx(by_hand, rel=1e-6)
    next_term = np.abs(fourth_order_by_hand(a, COUNTS, law))
    assert (1.99 * next_term < found.error_bound).all()
    assert (found.error_bound < 20 * next_term).all()
    assert not found.certified


@pytest.mark.parametrize("law", LAWS)
def test_the_estimate_covers_what_is_left_out(law):
    exact = bias(Allotment(WEIGHTS), COUNTS, law).bias
    found = bias(shares_of(WEIGHTS), COUNTS, law, method="second order")

    assert (np.abs(found.bias - exact) <= found.error_bound).all()
    assert (np.abs(found.bias - exact) > found.error_bound / 20).all()
    assert found.variance == pytest.approx(bias(Allotment(WEIGHTS), COUNTS, law).variance, rel=0.02)


@pytest.mark.parametrize("size", [7, 8, 9, 40])
def test_diagonals_that_are_drawn_do_as_all_of_them(size):
    """Up to seven entities all of them are taken; beyond, the error of the draw is added."""
    weights, counts = np.linspace(1, 2, size), np.arange(40, 40 + size)
    found = second_order(shares_of(weights), counts, Laplace(15))
    exact = bias(Allotment(weights), counts, Laplace(15)).bias
    next_term = np.abs(fourth_order_by_hand(weights, counts, Laplace(15)))

    assert (found.error_bound > 1.8 * next_term).all()
    assert (np.abs(found.bias - exact) <= found.error_bound).all()


def test_many_entities_keep_the_digits_of_their_bias():
    """Steps of a thousandth of a count would leave rounding alone: it is a billionth of each share."""
    counts, weights = np.arange(5, 605), np.linspace(1, 2, 600)
    exact = bias(Allotment(weights), counts, Laplace(20)).bias
    found = second_order(shares_of(weights), counts, Laplace(20))

    assert found.bias == pytest.approx(exact, rel=1e-3)
    assert (np.abs(found.bias - exact) <= found.error_bound).all()
    assert (found.error_bound < 0.01 * np.abs(exact).max()).all()


# --- certified --------------------------------------------------------------------------------------

WAVE = 50.0


def wave(counts):
    return np.sin(counts / WAVE)


@pytest.mark.parametrize("law", [Laplace(2), Gaussian(8)])
@pytest.mark.parametrize("hessian", [None, lambda x: np.diag(-wave(x) / WAVE**2)])
def test_a_bound_of_the_fourth_derivative_certifies(law, hessian):
    """The mean of a sine is the sine times the characteristic function, which is known in closed form."""
    formula = Formula(wave, hessian_diagonal=hessian, fourth_derivative=WAVE**-4)
    found = bias(formula, [30, 100], law, method="second order")
    at = 1 / WAVE
    phi = 1 / (1 + (2 * at) ** 2) if law == Laplace(2) else np.exp(-4 * at**2)
    exact = wave(np.array([30, 100])) * (phi - 1)

    assert "certified by the bound" in found.method
    assert found.exact
    assert (np.abs(found.bias - exact) <= found.error_bound).all()
    assert (found.error_bound < 0.01 * np.abs(found.bias)).all()


def test_a_bound_that_is_too_small_is_caught_by_the_same_check():
    """The twin: with a hundredth of the bound the interval misses, so the check above can see."""
    formula = Formula(wave, fourth_derivative=WAVE**-4 / 100)
    found = bias(formula, [30, 100], Laplace(2), method="second order")
    exact = wave(np.array([30, 100])) * (1 / (1 + (2 / WAVE) ** 2) - 1)

    assert (np.abs(found.bias - exact) > found.error_bound).any()


def test_a_cubic_is_exact_and_so_for_auto_too():
    """Its fourth derivative is 0, and noise that is even has no third moment."""
    formula = Formula(lambda x: x**2 + x**3, fourth_derivative=0)
    for method in ("auto", "exact"):
        found = bias(formula, [3, 4], Laplace(2), method=method)

        assert found.bias == pytest.approx([80, 104], rel=1e-12)
        assert (found.error_bound < 1e-10).all()


def test_the_bound_may_be_given_entity_by_entity():
    mixed = Formula(lambda x: np.array([wave(x)[0], x[1] ** 2]), fourth_derivative=[WAVE**-4, 0])
    found = bias(mixed, [30, 100], Laplace(2), method="second order")

    assert found.error_bound[0] > 1e-6
    assert found.error_bound[1] < 1e-7
    assert hash(mixed) == hash(mixed)
    with pytest.raises(InvalidParameterError, match="one for each entity, which are 3"):
        bias(Formula(wave, fourth_derivative=[1, 1]), [30, 100, 2], Laplace(2), method="second order")


def test_auto_draws_where_the_bound_is_too_wide():
    found = bias(Formula(wave, fourth_derivative=1.0), [30, 100], Laplace(2), draws=100)

    assert found.method.startswith("sampled, because the bound of the fourth derivative leaves too wide")
    clamped = bias(Formula(wave, fourth_derivative=0.0), [30, 100], Laplace(2), post=Nonnegative(), draws=100)
    assert clamped.method == "sampled, because a step such as clamping is not smooth"


# --- what is said and what is refused ---------------------------------------------------------------


def test_a_result_that_is_not_certified_says_so_everywhere():
    found = bias(shares_of(WEIGHTS), COUNTS, Laplace(2), method="second order")

    assert found.method == "second order, not certified, error estimated by the next term"
    assert not found.exact
    assert found.standard_error is None
    assert "not certified" in str(found)
    assert "draws" not in str(found)
    assert any("Whether the expectation exists" in note for note in found.notes)
    assert np.array_equal(found.interval()[1], found.bias + found.error_bound)


@pytest.mark.parametrize(
    ("problem", "counts", "post", "reason"),
    [
        (Formula(lambda x: np.sqrt(x) / np.sqrt(x).sum()), [0, 50], None, "no finite values around"),
        (Formula(lambda x: np.log(x - 3)), [4, 50], None, "no finite values around"),
        (shares_of(WEIGHTS), COUNTS, [Nonnegative()], "not smooth"),
        (Allotment(WEIGHTS), COUNTS, None, "only a Formula"),
    ],
)
def test_what_has_no_second_order_is_refused_with_the_reason(problem, counts, post, reason):
    with pytest.raises(InvalidParameterError, match=f"cannot be computed to second order: .*{reason}"):
        bias(problem, counts, Gaussian(4), post=post, method="second order")


def test_a_formula_that_ends_near_a_count_is_told_by_shorter_steps():
    """The root of 4 with noise of deviation 10: differences that long would leave the domain."""
    formula = Formula(np.sqrt)
    with np.errstate(invalid="ignore"):
        found = formula.second_order_bias([4.0, 900.0], variances=100.0)

    assert found == pytest.approx([-100 / 8 * 4**-1.5, -100 / 8 * 900**-1.5], rel=1e-4)


@pytest.mark.parametrize("given", [-1, np.nan, np.inf, "a", [[1]], [], [1, -1]])
def test_a_bound_must_be_a_number(given):
    with pytest.raises(InvalidParameterError, match="The 'fourth_derivative' parameter of Formula"):
        Formula(wave, fourth_derivative=given)


def test_all_signs_are_taken_once():
    """Of two opposite diagonals one is enough, since fourth differences are the same both ways."""
    taken = {tuple(row) for row in _signs(4).tolist()}
    every = set(itertools.product((-1.0, 1.0), repeat=4))

    assert len(taken) == 8
    assert taken | {tuple(-each for each in row) for row in taken} == every
    assert _signs(30).shape == (64, 30)
    assert set(np.unique(_signs(30))) == {-1.0, 1.0}


@pytest.mark.parametrize("scale", ["1/360", "1/400", "1/800"])
def test_noise_that_is_nearly_always_zero_ends_in_no_division_by_zero(scale):
    """Its fourth moment is its variance, since it is 1 at most where it is not 0."""
    approximation = second_order(shares_of(WEIGHTS), COUNTS, DiscreteLaplace(scale))

    assert abs(approximation.bias).max() < 1e-100
    assert approximation.error_bound.max() < 1e-100
