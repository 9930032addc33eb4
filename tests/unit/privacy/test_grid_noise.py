"""Noise on a grid: what it is, what it costs more than continuous noise, and that the budget covers it."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from evenhand.errors import InvalidParameterError
from evenhand.privacy import grid_noise
from evenhand.privacy.accounting import SampledGaussian, noise_for
from evenhand.privacy.grid_noise import Block, GridCost, GridNoise, training_guarantee
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.randomness import SeededSource

ADD, REPLACE = Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE
SETTING = {"sampling": "0.02", "steps": 300, "unit": ADD}
SMALL = 64  # a variance at which the gap between the laws is large enough to be looked at


def rounded_mass(k, variance):
    """The mass at k of a normal draw rounded to whole numbers."""
    root = mpmath.sqrt(2 * variance)
    return (mpmath.erfc((k - mpmath.mpf(1) / 2) / root) - mpmath.erfc((k + mpmath.mpf(1) / 2) / root)) / 2


def discrete_mass(k, variance):
    """The mass at k of the discrete Gaussian, whose normaliser is summed by its dual."""
    whole = mpmath.sqrt(2 * mpmath.pi * variance) * (1 + 2 * mpmath.exp(-2 * mpmath.pi**2 * variance))
    return mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * variance)) / whole


@pytest.mark.parametrize("variance", [4, SMALL, 1 << 29, (1 << 31) - 1])
def test_both_laws_are_as_close_as_the_proof_says_at_every_point(variance):
    """The whole cost of the grid rests on these two inequalities."""
    with mpmath.workdps(400 if variance <= SMALL else 60):
        sigma = mpmath.sqrt(variance)
        theta = 2 * mpmath.exp(-2 * mpmath.pi**2 * variance)
        for at in (0, 0.01, 0.5, 1, 1.5, 3, 6, 9):
            k = int(at * sigma)
            ratio = mpmath.log(discrete_mass(k, variance) / rounded_mass(k, variance))
            high, low = mpmath.mpf(1) / (24 * variance), -(mpmath.mpf(k) ** 2) / (24 * variance**2)

            assert low - theta <= ratio <= high
            if at == 0:
                assert ratio > high * mpmath.mpf("0.99")  # the twin: a bound 1 % smaller would be wrong
            if at == 9 and variance > SMALL:
                assert ratio < low * mpmath.mpf("0.98")


def test_what_is_left_outside_the_rare_event_is_below_its_probability(monkeypatch):
    """In the direction without a uniform bound, the excess of the rounded law must be below tau."""
    monkeypatch.setattr(grid_noise, "_TAIL", 60)
    cost = grid_noise._cost(1, SMALL)
    with mpmath.workdps(90):
        masses = [(rounded_mass(k, SMALL), discrete_mass(k, SMALL)) for k in range(160)]

        def excess(fall):
            factor = mpmath.exp(mpmath.mpf(fall.numerator) / fall.denominator)
            over = [max(0, rounded - factor * discrete) for rounded, discrete in masses]
            return over[0] + 2 * sum(over[1:])

        assert excess(cost.fall) <= mpmath.mpf(cost.tail.numerator) / cost.tail.denominator
        assert excess(cost.fall / 100) > mpmath.mpf("1e-9")  # the twin: nothing kept for the tail
        assert all(discrete <= mpmath.exp(float(cost.rise)) * rounded for rounded, discrete in masses)


@pytest.mark.parametrize("draws", [1, 2, 30, 1_000, 1_000_000])
@pytest.mark.parametrize("power", [5, 50, 300])
def test_the_tail_of_the_squares_is_bounded(draws, power):
    """Against the chi-square law itself, at powers that a float can hold."""
    limit = draws + 2 * math.sqrt(draws * power) + 2 * power

    assert chi2.logsf(limit, draws) <= -power
    assert chi2.logsf(draws + math.sqrt(draws * power) / 2, draws) > -power  # the twin: a quarter of the way


def test_the_bound_on_the_squares_covers_rounding():
    """Rounding moves a vector of n draws by at most sqrt(n) / 2."""
    draws = np.random.default_rng(7).normal(0, 3, size=(200, 50))
    length, moved = np.linalg.norm(draws, axis=1), np.linalg.norm(np.rint(draws), axis=1)

    assert (moved <= length + math.sqrt(50) / 2).all()


@pytest.mark.parametrize(
    ("draws", "variance"), [(1, SMALL), (7, 1 << 29), (156_000, 1 << 30), (10**9, (1 << 31) - 1)]
)
def test_the_cost_is_the_formula_rounded_up(draws, variance):
    found = grid_noise._cost(draws, variance)
    with mpmath.workdps(60):
        length = draws + 2 * mpmath.sqrt(draws * 700) + 1400
        root = mpmath.sqrt(variance * length) + mpmath.sqrt(draws) / 2
        truth = (mpmath.mpf(draws) / (24 * variance), root**2 / (24 * mpmath.mpf(variance) ** 2))
        stated = [mpmath.mpf(each.numerator) / each.denominator for each in (found.rise, found.fall)]

        assert all(
            true <= said <= true * mpmath.mpf("1.02") for true, said in zip(truth, stated, strict=True)
        )
        assert mpmath.exp(-700) <= mpmath.mpf(found.tail.numerator) / found.tail.denominator


@pytest.mark.parametrize("noise", ["0.05", "0.999", 1, "1.4142", 2, "2.83", "5.65685", 100, 19_999, 20_000])
def test_the_grid_is_as_fine_as_the_sampler_allows(noise):
    grid = GridNoise(1, noise, 10)
    squared = Fraction(noise) ** 2

    assert 1 << 29 <= grid.variance < 1 << 31
    assert grid.variance - 1 < squared * 4**grid.exponent <= grid.variance
    assert math.ceil(squared * 4 ** (grid.exponent + 1)) >= 1 << 31
    assert grid.longest == 2**grid.exponent


def test_the_spacing_is_the_clip_over_a_power_of_two():
    grid = GridNoise("1.5", 2, 10)

    assert grid.spacing == Fraction(3, 2) / 2**14
    assert grid.extra_epsilon == grid.cost.rise + grid.cost.fall
    assert 0 < grid.extra_delta < Fraction(1, 10**300)


def test_draws_are_whole_numbers_of_the_right_size():
    draws = GridNoise(1, 2, 10).draw((50, 3), SeededSource(7))

    assert draws.shape == (50, 3)
    assert draws.dtype == np.int64
    assert 25_000 < draws.std() < 41_000


def test_cost_and_room_undo_each_other():
    cost = GridCost(Fraction(1, 1000), Fraction(1, 500), Fraction(1, 10**60))
    left = cost.room(Fraction(1), Fraction(1, 10**5))
    back = cost.total(*left)

    assert back[0] <= 1
    assert back[1] <= Fraction(1, 10**5)
    assert back[0] == pytest.approx(1, rel=1e-9)
    assert back[1] == pytest.approx(1e-5, rel=1e-9)
    assert cost.total(Fraction(1), Fraction(999_999, 10**6))[1] <= 1


def test_no_room_is_zero_and_never_below():
    cost = GridCost(Fraction(1), Fraction(1), Fraction(1, 10))

    assert cost.room(Fraction(1), Fraction(1, 10)) == (0, 0)
    assert cost.room(Fraction(3), Fraction(1, 10**6)) == (1, 0)


def test_the_budget_is_calibrated_after_the_grid_is_paid():
    """Noise that forgets the grid would be a little too small: the twin is noise_for without it."""
    made = training_guarantee(1, "1e-5", dimensions=100_000, **SETTING)
    forgetful = noise_for(1, "1e-5", **SETTING)
    continuous = SampledGaussian(made.noise, "0.02", 300)
    total = made.grid.cost.total(continuous.epsilon("9e-6", unit=ADD), Fraction(9, 10**6))

    assert (made.epsilon, made.delta) == (1, Fraction(1, 10**5))
    assert made.noise > forgetful
    assert total[0] > continuous.epsilon("9e-6", unit=ADD) + Fraction(1, 1000)
    room = made.grid.cost.room(made.epsilon, made.delta)
    assert continuous.epsilon(room[1], unit=ADD) <= room[0] < 1
    assert made.grid.draws == 30_000_000


def test_given_noise_says_its_epsilon_with_the_grid_added():
    made = training_guarantee(noise=2, dimensions=100_000, **SETTING)
    continuous = SampledGaussian(2, "0.02", 300).epsilon("1e-5", unit=ADD)

    assert made.noise == 2
    assert made.epsilon >= continuous + made.grid.extra_epsilon
    assert made.epsilon <= continuous + made.grid.extra_epsilon + Fraction(3, 1000)
    assert made.delta == Fraction(1, 10**5)


def test_one_step_of_one_number_costs_what_the_exact_sum_over_all_outcomes_says():
    """Every rounding on the way is against us, and all of them together are small."""
    made = training_guarantee(noise="1.5", sampling=1, steps=1, unit=ADD, dimensions=1)
    variance, shift = made.grid.variance, made.grid.longest
    places = np.arange(-12 * 46_340, 12 * 46_340, dtype=np.float64)
    masses = np.exp(-(places**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    losses = shift * (2 * places + shift) / (2 * variance)

    def exact(epsilon):
        return float(np.sum(masses * -np.expm1(np.minimum(0, epsilon - losses))))

    assert exact(float(made.epsilon)) <= float(made.delta)
    assert exact(float(made.epsilon) * 0.999) > float(made.delta)  # the twin


@pytest.mark.slow
def test_many_sampled_steps_of_the_discrete_noise_itself_stay_within_the_statement():
    """The discrete law accounted for directly, with every loss rounded down: a bound from below."""
    from dp_accounting.pld.privacy_loss_distribution import from_discrete_gaussian_mechanism

    made = training_guarantee(noise=2, sampling="0.125", steps=20, unit=ADD, dimensions=1)
    direct = from_discrete_gaussian_mechanism(
        math.sqrt(made.grid.variance),
        sensitivity=made.grid.longest,
        pessimistic_estimate=False,
        use_connect_dots=False,
        value_discretization_interval=1e-4,
        sampling_prob=0.125,
    ).self_compose(20)

    assert direct.get_delta_for_epsilon(float(made.epsilon)) <= float(made.delta)
    assert direct.get_delta_for_epsilon(float(made.epsilon) * 0.99) > float(made.delta)  # the twin


def test_blocks_share_the_loss_of_a_step():
    """Together they must be one Gaussian query of the step's multiplier, in whole numbers of each grid."""
    made = training_guarantee(1, "1e-5", blocks=[Block(100, 1, "4/5"), (8, 4, Fraction(1, 5))], **SETTING)
    first, second = made.grids

    assert made.grid is first
    assert (first.draws, second.draws) == (30_000, 2_400)
    assert (first.clip, second.clip) == (1, 4)
    assert float(first.noise) == pytest.approx(float(made.noise) / math.sqrt(0.8), rel=1e-9)
    assert float(second.noise) == pytest.approx(float(made.noise) / math.sqrt(0.2), rel=1e-9)
    loss = sum(Fraction(grid.longest**2, grid.variance) for grid in made.grids)
    assert loss <= 1 / made.noise**2
    assert float(loss * made.noise**2) == pytest.approx(1, rel=1e-6)
    assert made.epsilon == 1


def test_shares_that_floats_add_up_to_a_little_less_than_one_are_taken():
    made = training_guarantee(noise=2, blocks=[(3, 1, 0.8), (3, 1, 1 - 0.8)], **SETTING)

    assert len(made.grids) == 2


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_the_statement_is_a_guarantee_with_all_that_was_assumed(unit):
    made = training_guarantee(noise=4, sampling="0.02", steps=1300, unit=unit, dimensions=3)
    stated = made.guarantee(
        protects=["age"], in_clear=["state"], assumptions=["bounds are public"], people=50
    )

    assert isinstance(stated, Guarantee)
    assert (stated.epsilon, stated.delta, stated.unit, stated.trust) == (
        made.epsilon,
        made.delta,
        unit,
        "central",
    )
    assert stated.proof == "Poisson-sampled discrete Gaussian, privacy loss distribution"
    assert "bounds are public" in stated.assumptions
    assert any("1,300 steps" in sentence for sentence in stated.assumptions)
    assert (stated.protects, stated.in_clear, stated.people) == (("age",), ("state",), 50)


def test_noise_so_small_that_nothing_is_guaranteed_is_refused(monkeypatch):
    monkeypatch.setattr(SampledGaussian, "epsilon", lambda *_, **__: Fraction(501))
    with pytest.raises(InvalidParameterError, match="an epsilon of at most 500"):
        training_guarantee(noise="0.1", dimensions=3, **SETTING)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"epsilon": 1, "noise": 1, "dimensions": 2}, "'epsilon' parameter .* or else 'noise'"),
        ({"dimensions": 2}, "'epsilon' parameter .* or else 'noise'"),
        ({"epsilon": 1}, "'dimensions' parameter .* or else 'blocks'"),
        ({"epsilon": 1, "dimensions": 2, "blocks": [(2, 1, 1)]}, "or else 'blocks'"),
        ({"epsilon": 1, "dimensions": 0}, "'dimensions' parameter"),
        ({"epsilon": 1, "dimensions": 2, "clip": 0}, "'clip' parameter"),
        ({"epsilon": 1, "blocks": []}, "shares add up to 1"),
        ({"epsilon": 1, "blocks": [(2, 1, "1/2")]}, "shares add up to 1"),
        ({"epsilon": 1, "blocks": [(2, 1, 1), (2, 1, "1/9")]}, "shares add up to 1"),
        ({"epsilon": 1, "blocks": [(2, 1, 0)]}, "'share' parameter"),
        ({"epsilon": "1e-7", "dimensions": 1000}, "above the cost of drawing so many numbers"),
        ({"epsilon": 1, "delta": 0, "dimensions": 2}, "'delta' parameter"),
        ({"noise": "0.01", "dimensions": 2}, "'noise' parameter of training_guarantee"),
        ({"epsilon": 1, "dimensions": 2, "steps": 0}, "'steps' parameter"),
        ({"epsilon": 1, "dimensions": 2, "unit": "one report"}, "'unit' parameter"),
    ],
)
def test_what_cannot_be_is_refused(given, told):
    with pytest.raises(InvalidParameterError, match=told):
        training_guarantee(**SETTING | given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"epsilon": 1, "delta": "1e-15"}, r"'delta' .* well above the rounding .* Got '1e-15'"),
        ({"epsilon": 1, "delta": "1e-350"}, r"'delta' .* well above the rounding .* Got '1e-350'"),
        ({"noise": 1, "delta": "1e-15"}, r"'delta' .* well above the rounding .* Got '1e-15'"),
        ({"noise": 1, "delta": "1e-350"}, r"'delta' .* well above the rounding .* Got '1e-350'"),
        ({"epsilon": "1e-6", "sampling": 1}, r"'epsilon' .* noise of at most 20,000 .* Got '1e-6'"),
    ],
)
def test_what_is_refused_is_shown_as_it_was_given(given, told):
    """The grid takes its cost off first; a fraction of many digits is not what anybody asked for."""
    with pytest.raises(InvalidParameterError, match=told):
        training_guarantee(**SETTING | {"dimensions": 1, "steps": 1} | given)


@pytest.mark.parametrize(
    ("given", "told"),
    [((0, 1, 1), "'clip'"), ((1, "0.01", 1), "'noise'"), ((1, 1, 0), "'draws'"), ((1, 1, 10**13), "'draws'")],
)
def test_a_grid_that_cannot_be_is_refused(given, told):
    with pytest.raises(InvalidParameterError, match=told):
        GridNoise(*given)
