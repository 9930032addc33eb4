"""One step for a person with several rows: no tables are worse than two mixtures on one line."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom, norm

from evenhand.privacy.accounting import SampledGaussian, epsilon_at, noise_for
from evenhand.privacy.grid_noise import training_guarantee
from evenhand.privacy.guarantees.units import ONE_ROW, Unit
from evenhand.privacy.one_step import NoisySteps, SeveralRows, one_step_deltas

ADD, REPLACE = Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE
CHANGES = ("REMOVE", "ADD", "REPLACE")


def pair_of(rows, noise, sampling, change):
    return SeveralRows(NoisySteps(noise, sampling, 1, ADD, rows), change)


def precise_delta(rows, noise, sampling, change, epsilon):
    """The largest difference of both laws, the second times e**epsilon, right of a point: forty digits."""
    with mpmath.workdps(40):
        z, q, grown = mpmath.mpf(noise), mpmath.mpf(sampling), mpmath.exp(mpmath.mpf(float(epsilon)))
        chances = [mpmath.binomial(rows, j) * q**j * (1 - q) ** (rows - j) for j in range(rows + 1)]
        there = [(chance, j) for j, chance in enumerate(chances)]
        back = [(chance, -j) for chance, j in there]
        upper = [(1, 0)] if change == "ADD" else there
        lower = [(1, 0)] if change == "REMOVE" else back

        def density(mixture, x):
            return sum(share * mpmath.exp(-((x - at) ** 2) / (2 * z**2)) for share, at in mixture)

        low, high = -mpmath.mpf(60) * z - 9 * rows, mpmath.mpf(60) * z + 9 * rows
        for _ in range(80):  # bisection
            middle = (low + high) / 2
            if density(upper, middle) > grown * density(lower, middle):
                high = middle
            else:
                low = middle

        def tail(mixture):
            return sum(share * mpmath.erfc((low - at) / z / mpmath.sqrt(2)) / 2 for share, at in mixture)

        return max(tail(upper) - grown * tail(lower), mpmath.mpf(0), 1 - grown)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("rows", "noise", "sampling"), [(2, 1.0, 0.034), (3, 0.4, 0.9), (8, 3.0, 0.05), (2, 2.0, 1.0)]
)
def test_the_delta_of_one_step_is_right_to_the_last_bits(rows, noise, sampling, change):
    """The allowance for rounding rests on this: at most 2**-50 at every point."""
    pair = pair_of(rows, noise, sampling, change)
    epsilons = np.linspace(*pair.reach(), 7)
    found = pair.deltas(epsilons)
    off = [abs(found[i] - precise_delta(rows, noise, sampling, change, epsilons[i])) for i in range(7)]

    assert max(off) <= 2.0**-50


@pytest.mark.parametrize("change", CHANGES)
def test_one_row_is_a_special_case(change):
    from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss

    known = GaussianPrivacyLoss(1.5, sampling_prob=0.1, adjacency_type=AdjacencyType[change])
    epsilons = np.linspace(-2, 4, 25)

    assert (
        np.abs(pair_of(1, 1.5, 0.1, change).deltas(epsilons) - one_step_deltas(known, epsilons)).max()
        <= 2.0**-50
    )


@pytest.mark.parametrize(
    ("rows", "noise", "sampling", "steps"),
    [
        (20, 8, "0.01", 100),
        pytest.param(2, 1, "0.01", 200, marks=pytest.mark.figures),
        pytest.param(5, 2, "0.034", 300, marks=pytest.mark.figures),
    ],
)
def test_many_steps_cost_what_an_independent_computation_says(rows, noise, sampling, steps):
    """The mixture of Gaussians of dp-accounting; the twin is the guarantee of one row, which is too small."""
    from dp_accounting.pld.privacy_loss_distribution import from_mixture_gaussian_mechanism

    chances = binom.pmf(range(rows + 1), rows, float(sampling)).tolist()
    loss = from_mixture_gaussian_mechanism(
        noise, list(range(rows + 1)), chances, value_discretization_interval=1e-3
    )
    expected = loss.self_compose(steps).get_epsilon_for_delta(1e-5)
    ours = float(SampledGaussian(noise, sampling, steps, rows_per_person=rows).epsilon("1e-5", unit=ADD))
    alone = float(SampledGaussian(noise, sampling, steps).epsilon("1e-5", unit=ADD))

    assert ours == pytest.approx(expected, rel=2e-3)
    assert alone < 0.6 * expected


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_where_every_row_joins_the_person_moves_the_sum_by_all_of_them(unit):
    whole = SampledGaussian(3, 1, 4, rows_per_person=3).epsilon("1e-5", unit=unit)
    one_of_three_times_the_length = SampledGaussian(1, 1, 4).epsilon("1e-5", unit=unit)

    assert float(whole) == pytest.approx(float(one_of_three_times_the_length), rel=1e-3)


def hockey_stick(upper, lower, chances, noise, epsilon):
    """The delta of two mixtures on a line, by sums over a fine grid."""
    x = np.linspace(-60, 60, 240_001)
    first = sum(c * norm.pdf(x, at, noise) for c, at in zip(chances, upper, strict=True))
    second = sum(c * norm.pdf(x, at, noise) for c, at in zip(chances, lower, strict=True))
    return np.maximum(first - np.exp(epsilon) * second, 0).sum() * (x[1] - x[0])


@pytest.mark.figures
@pytest.mark.parametrize("seed", range(8))
def test_no_rows_that_a_person_may_have_are_worse(seed):
    """Vectors of any length up to 1, in either direction; the twin is the bound for one row less."""
    draw = np.random.default_rng(seed)
    noise, rate, rows = draw.uniform(0.8, 3), draw.uniform(0.05, 0.9), 3
    subsets = np.array([[(s >> bit) & 1 for bit in range(rows)] for s in range(2**rows)])
    chances = np.prod(np.where(subsets, rate, 1 - rate), axis=1)
    epsilon = draw.uniform(0, 2)
    bound = pair_of(rows, noise, rate, "REPLACE").deltas(np.array([epsilon]))[0]
    less = pair_of(rows - 1, noise, rate, "REPLACE").deltas(np.array([epsilon]))[0]
    for _ in range(5):
        one, other = draw.uniform(-1, 1, (2, rows))
        assert hockey_stick(subsets @ one, subsets @ other, chances, noise, epsilon) <= bound + 1e-7
    worst = hockey_stick(subsets.sum(axis=1), -subsets.sum(axis=1), chances, noise, epsilon)

    assert worst == pytest.approx(bound, abs=1e-7)  # the sums have a kink
    assert worst > less + 1e-5


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_more_rows_never_cost_less(unit):
    found = [epsilon_at(NoisySteps(2.0, 0.05, 200, unit, rows), 1e-5, coarse=True) for rows in (1, 2, 3, 8)]

    assert found == sorted(found)
    assert len(set(found)) == len(found)


def test_noise_for_several_rows_keeps_the_budget_and_less_does_not():
    rows = {"rows_per_person": 4}
    noise = noise_for(2, "1e-5", sampling="0.05", steps=100, unit=REPLACE, **rows)
    enough = SampledGaussian(noise, "0.05", 100, **rows).epsilon("1e-5", unit=REPLACE)
    less = SampledGaussian(0.97 * noise, "0.05", 100, **rows).epsilon("1e-5", unit=REPLACE)

    assert enough <= 2 < less


def test_training_is_calibrated_for_so_many_rows():
    terms = {"sampling": "0.05", "steps": 100, "unit": ADD, "dimensions": 4}
    one, three = (training_guarantee(2, "1e-5", rows_per_person=rows, **terms) for rows in (1, 3))
    given = training_guarantee(noise=three.noise, delta="1e-5", rows_per_person=3, **terms)

    assert three.noise > 2 * one.noise
    assert Fraction(19, 10) < given.epsilon <= 2
    assert ONE_ROW in one.assumptions
    assert ONE_ROW not in three.assumptions


@pytest.mark.parametrize("rows", [0, 101, 1.5, True])
def test_more_rows_than_are_accounted_for_are_refused(rows):
    with pytest.raises(ValueError, match="'rows_per_person' parameter of SampledGaussian"):
        SampledGaussian(1, "0.1", 10, rows_per_person=rows)
