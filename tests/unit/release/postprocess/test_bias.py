"""The bias of post-processing: checked vectors, quadrature, sums and enumeration."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from evenhand.errors import InvalidParameterError
from evenhand.measure.alpha import alpha_fairness
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.postprocess import (
    Integral,
    Nonnegative,
    Shrink,
    Step,
    SumTo,
    bias_after,
    carried_bias,
    clamp_bias,
    optimal_temperature,
    shrink_bias,
)
from evenhand.release.postprocess.noise_bias import extreme_biases

REAL = [Laplace(2), Laplace("1/3"), Laplace(40), Gaussian(4), Gaussian("1/9"), Gaussian(900)]
WHOLE = [
    DiscreteLaplace(2),
    DiscreteLaplace("1/3"),
    DiscreteLaplace(9),
    DiscreteGaussian(4),
    DiscreteGaussian(90),
]


def worst_bias(law, temperature):
    up, down = extreme_biases(law, temperature)
    return max(up, -down)


def worst_alpha(law, temperature):
    up, down = extreme_biases(law, temperature)
    return up - down


def density(law):
    """Return the density in plain Python."""
    if isinstance(law, Laplace):
        scale = float(law.scale)
        return lambda x: math.exp(-abs(x) / scale) / (2 * scale)
    variance = law.variance
    return lambda x: math.exp(-(x**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def by_quadrature(count, law, step):
    """Integrate density times change, piece by piece between the corners."""
    far = 45 * law.standard_deviation
    corners = {count - far, count, count + far}
    if isinstance(step, Shrink):
        corners |= {step.least, step.least + (math.sqrt(1 + 4 * step.T) - 1) / 2}
    else:
        corners |= {step.least}
    places = sorted({min(max(each, count - far), count + far) for each in corners})

    height = density(law)

    def change(z):
        made = max(z, step.least)
        if isinstance(step, Shrink):
            made = max(made - step.T / (made + 1 - step.least), step.least)
        return height(z - count) * (made - z)

    return sum(
        quad(change, low, high, limit=400, epsabs=1e-13)[0] for low, high in itertools.pairwise(places)
    )


def by_sum(count, law, step):
    """Add up probability times change over all noise, in Python."""
    far = math.ceil(45 * law.standard_deviation) + 45
    noise = np.arange(-far, far + 1)
    values = (count + noise).astype(float)
    return math.fsum(law.pmf(noise) * (step.apply(values) - values))


class TestClamp:
    @pytest.mark.parametrize(
        ("law", "count", "bias"),
        [
            (Laplace(5), 3, 1.3720290902351),
            (Gaussian(4), 3, 0.058613587525209),
            (DiscreteLaplace(2), 3, 0.21409726569788),
            (Laplace(2), -1, 1.6065306597126),
        ],
    )
    def test_checked_vectors(self, law, count, bias):
        """Numbers from an independent derivation; the literature's text gives .5488 for the first."""
        assert clamp_bias([count], law)[0] == pytest.approx(bias, rel=1e-13)

    @pytest.mark.parametrize("law", REAL, ids=str)
    @pytest.mark.parametrize("count", [-4, 0, 1, 6])
    def test_real_laws_agree_with_quadrature(self, law, count):
        """The formula is the integral it stands for."""
        step = Nonnegative(least=1)

        assert clamp_bias([count], law, least=1)[0] == pytest.approx(
            by_quadrature(count, law, step), rel=1e-9, abs=1e-11
        )

    @pytest.mark.parametrize("law", WHOLE, ids=str)
    def test_whole_laws_agree_with_the_sum(self, law):
        """The formula is the sum it stands for, also between whole counts and below the least value."""
        counts = [-7, -1, 0, 1, 2, 5, 11, 2.25, -0.5]
        step = Nonnegative(least=-1)
        if isinstance(law, DiscreteLaplace):
            counts = counts[:-2]

        assert clamp_bias(counts, law, least=-1) == pytest.approx(
            [by_sum(count, law, step) for count in counts], rel=1e-10, abs=1e-13
        )

    def test_far_counts_have_a_tiny_bias_and_not_none(self):
        """A difference of two nearly equal numbers would give 0, or a negative bias."""
        wide = clamp_bias([30 * 5], Gaussian(25))[0]
        far = clamp_bias([12 * 5], DiscreteGaussian(25))[0]
        tails = math.fsum((j - 60) * float(DiscreteGaussian(25).pmf(j)) for j in range(61, 300))

        assert wide == pytest.approx(5 * math.exp(-450) / math.sqrt(2 * math.pi) / 900, rel=1e-2)
        assert far == pytest.approx(tails, rel=1e-9)
        assert clamp_bias([2**40], DiscreteLaplace(2000)).tolist() == [0]
        assert clamp_bias([2**40, 500], Gaussian(4)).tolist() == [0, 0]

    def test_shape_is_that_of_the_table(self):
        """One bias for each cell."""
        assert clamp_bias(np.zeros((2, 3), int), DiscreteGaussian(4)).shape == (2, 3)
        assert clamp_bias(np.zeros((0,)), DiscreteLaplace(4)).shape == (0,)

    def test_what_is_no_law_is_refused(self):
        """A number could be a scale or a variance."""
        for law in (2, None, DiscreteGaussian(2**40)):
            with pytest.raises(InvalidParameterError, match="law"):
                clamp_bias([1], law)
        with pytest.raises(InvalidParameterError, match="law"):
            bias_after([1], 2, [])


class TestShrink:
    def test_checked_vectors(self):
        """Numbers from an independent derivation."""
        expected = [-0.0015123024105068, 0.83508347171323]

        assert shrink_bias([3, 0], Laplace(2), T=1) == pytest.approx(expected, rel=1e-11)

    @pytest.mark.parametrize("law", REAL, ids=str)
    @pytest.mark.parametrize("temperature", [0, 0.3, 5, 400])
    def test_real_laws_agree_with_quadrature(self, law, temperature):
        """Exponential integrals on both sides of the start, and Gauss and Legendre's rule."""
        counts = [-3, 0, 2, 19, 300]
        slow = [by_quadrature(count, law, Shrink(temperature)) for count in counts]

        assert shrink_bias(counts, law, T=temperature) == pytest.approx(slow, rel=1e-9, abs=1e-10)

    @pytest.mark.parametrize("law", WHOLE, ids=str)
    @pytest.mark.parametrize("temperature", [0, 0.3, 5, 400])
    def test_whole_laws_agree_with_the_sum(self, law, temperature):
        """Recursion and block sums are the sum from the definition."""
        many, few = list(range(40)), [-3, 0, 5, 10**6]
        step = Shrink(temperature, least=2)

        for counts in (many, few):
            slow = [by_sum(count, law, step) for count in counts]
            assert shrink_bias(counts, law, T=temperature, least=2) == pytest.approx(
                slow, rel=1e-9, abs=1e-11
            )

    def test_large_arguments_do_not_overflow(self):
        """exp(c / b) is infinite where the bias is a small number."""
        far = shrink_bias([2**40], Laplace(1), T=100)[0]

        assert far == pytest.approx(-100 / 2**40, rel=1e-6)
        assert shrink_bias([5_000], Laplace("1/10"), T=1)[0] == pytest.approx(-1 / 5001, rel=1e-4)
        assert np.isfinite(shrink_bias([0, 10, 10**6], Laplace("1/100"), T=1e6)).all()

    def test_blocks_of_noise_add_up(self, monkeypatch):
        """Wide noise is summed in parts."""
        whole = shrink_bias([3], DiscreteGaussian(90), T=3)
        monkeypatch.setattr("evenhand.release.postprocess.noise_bias._BLOCK", 7)

        assert shrink_bias([3], DiscreteGaussian(90), T=3) == pytest.approx(whole, rel=1e-12)


class TestTemperature:
    @pytest.mark.parametrize(
        ("scale", "temperature", "worst"),
        [
            (1, 1.20675, 0.299662),
            (2, 3.93314, 0.589476),
            (5, 21.1127, 1.456856),
            (10, 79.7283, 2.901855),
            (20, 309.388, 5.791650),
            (100, 7543.17, 28.90958),
        ],
    )
    def test_the_table_of_best_temperatures(self, scale, temperature, worst):
        """The bias of nobody upwards is that of somebody downwards, and no other temperature does better."""
        found = optimal_temperature(scale)
        law = Laplace(scale)
        places = np.concatenate(
            [np.linspace(0, 30 * scale, 20_001), np.geomspace(30 * scale, 1e6 * scale, 500)]
        )
        biases = shrink_bias(places, law, T=found)

        assert found == pytest.approx(temperature, rel=1e-5)
        assert worst_bias(law, found) == pytest.approx(worst, rel=1e-5)
        assert np.abs(biases).max() == pytest.approx(worst, rel=1e-5)
        assert biases.max() == pytest.approx(-biases.min(), rel=1e-5)
        for other in (0.97 * found, 1.03 * found):
            assert np.abs(shrink_bias(places, law, T=other)).max() > worst
        assert worst < 0.61 * scale / 2

    @pytest.mark.parametrize(("scale", "count"), [(1, 0.0), (5, 9.628), (100, 184.79)])
    def test_the_ends_agree_with_quadrature(self, scale, count):
        """The table above rests on these."""
        step = Shrink(optimal_temperature(scale))

        assert shrink_bias([count], Laplace(scale), T=step.T)[0] == pytest.approx(
            by_quadrature(count, Laplace(scale), step), rel=1e-9
        )

    @pytest.mark.parametrize(
        "law", [DiscreteLaplace(2), DiscreteLaplace(1), DiscreteGaussian(4), Gaussian(4)], ids=str
    )
    def test_other_laws_have_one_too(self, law):
        """For whole-number noise the worst is looked for among whole counts."""
        found = optimal_temperature(law)
        places = np.arange(0, 400)

        worst = np.abs(shrink_bias(places, law, T=found)).max()
        assert worst <= worst_bias(law, found) * (1 + 1e-9)
        for other in (0.95 * found, 1.05 * found):
            assert np.abs(shrink_bias(places, law, T=other)).max() > worst

    @pytest.mark.parametrize(
        ("scale", "temperature", "alpha"),
        [(1, 0.231572, 0.481665), (100, 1668.787, 45.19601)],
    )
    def test_the_worst_bias_and_alpha_ask_for_different_temperatures(self, scale, temperature, alpha):
        """The temperature of the smallest worst bias has a larger alpha than no shrinking at all."""
        law = Laplace(scale)
        worst, evenest = optimal_temperature(law), optimal_temperature(law, minimize="alpha")
        places = np.concatenate(
            [np.linspace(0, 30 * scale, 1_001), np.geomspace(30 * scale, 1e6 * scale, 100)]
        )
        spreads = [np.ptp(shrink_bias(places, law, T=each)) for each in np.geomspace(0.01, 10, 15) * evenest]

        assert evenest == pytest.approx(temperature, rel=1e-3)
        assert np.ptp(shrink_bias(places, law, T=evenest)) == pytest.approx(alpha, rel=1e-4)
        assert worst_alpha(law, evenest) == pytest.approx(alpha, rel=1e-6)
        assert min(spreads) >= alpha * (1 - 1e-6)
        assert np.ptp(clamp_bias(places, law)) == pytest.approx(scale / 2, rel=1e-6)
        assert worst_alpha(law, worst) > 1.15 * scale / 2

    def test_it_depends_on_the_noise_only(self):
        """It takes no table, and moving the least value moves the counts alone."""
        law = DiscreteLaplace(3)
        temperature = optimal_temperature(law)

        assert shrink_bias([0, 4, 9], law, T=temperature) == pytest.approx(
            shrink_bias([7, 11, 16], law, T=temperature, least=7), rel=1e-12
        )

    def test_wide_whole_noise_takes_the_real_law(self):
        """Ten million sums for the seventh digit are not worth it."""
        assert optimal_temperature(DiscreteLaplace(2000)) == optimal_temperature(2000)
        assert optimal_temperature(DiscreteGaussian(10**8)) == optimal_temperature(Gaussian(10**8))
        near = optimal_temperature(DiscreteLaplace(40)) / optimal_temperature(40)
        assert near == pytest.approx(1, abs=2e-4)

    def test_no_noise_needs_no_temperature(self):
        """The noise of a scale of 1/1000 is 0 in every draw that anyone will see."""
        assert optimal_temperature(DiscreteLaplace("1/1000")) == 0
        assert optimal_temperature(DiscreteLaplace("1/1000"), minimize="alpha") == 0

    def test_the_figure_is_one_of_two(self):
        """A typing error must not pick the default."""
        with pytest.raises(InvalidParameterError, match="minimize"):
            optimal_temperature(2, minimize="worst")


class Odd(Step):
    """A step that nobody knows."""

    name = "odd"
    words = "odd"

    def apply(self, values, *, source=None):
        return values


class TestChains:
    LAW = DiscreteLaplace(2)
    COUNTS = np.array([[0, 3], [10, 1]])

    def test_nothing_and_rounding_alone_have_no_bias(self):
        """Noise of mean 0, rounded at random, is right on average."""
        assert bias_after(self.COUNTS, self.LAW, []).tolist() == [[0, 0], [0, 0]]
        assert bias_after(self.COUNTS, self.LAW, [Integral()]).tolist() == [[0, 0], [0, 0]]
        assert bias_after(self.COUNTS, Laplace(2), [Integral()]).tolist() == [[0, 0], [0, 0]]

    @pytest.mark.parametrize(
        "steps",
        [
            [Nonnegative()],
            [Integral(), Nonnegative(), Nonnegative(least=-3)],
            [Nonnegative(least=-2), Nonnegative()],
            [Nonnegative(), Integral()],
        ],
    )
    def test_chains_that_are_one_clamp(self, steps):
        """Rounding whole numbers does nothing, and the highest floor wins."""
        assert np.array_equal(bias_after(self.COUNTS, self.LAW, steps), clamp_bias(self.COUNTS, self.LAW))

    @pytest.mark.parametrize(
        "steps",
        [
            [Shrink(3)],
            [Nonnegative(), Shrink(3), Nonnegative()],
            [Shrink(3), Integral(), Nonnegative(), Integral()],
        ],
    )
    def test_chains_that_are_one_shrink(self, steps):
        """Shrinking clamps first; rounding after it adds nothing, and a floor below it neither."""
        for law in (self.LAW, Gaussian(4)):
            assert np.array_equal(bias_after(self.COUNTS, law, steps), shrink_bias(self.COUNTS, law, T=3))

    def test_other_chains_of_whole_noise_are_summed(self):
        """Two shrinks, or a floor above a shrink, have no formula but a sum."""

        class Both:
            def apply(self, values):
                return Nonnegative(least=2).apply(Shrink(3).apply(values))

        steps = [Shrink(3), Nonnegative(least=2)]
        found = bias_after(self.COUNTS, self.LAW, steps)

        for count, bias in zip(self.COUNTS.ravel(), found.ravel(), strict=True):
            assert bias == pytest.approx(by_sum(count, self.LAW, Both()), rel=1e-11)
        assert bias_after(self.COUNTS, Laplace(2), steps) is None

    def test_a_sum_takes_the_mean_bias_off_and_keeps_alpha(self):
        """The bias of each cell changes by the same, so the largest minus the smallest does not."""
        before = clamp_bias(self.COUNTS, self.LAW)
        right = bias_after(self.COUNTS, self.LAW, [Nonnegative(), SumTo(14), Integral()])
        wrong = bias_after(self.COUNTS, self.LAW, [Nonnegative(), SumTo(22), SumTo(22)])

        assert right == pytest.approx(before - before.mean(), abs=1e-14)
        assert wrong == pytest.approx(before - before.mean() + 2, abs=1e-14)
        assert alpha_fairness(right.ravel()) == pytest.approx(alpha_fairness(before.ravel()), rel=1e-12)

    @pytest.mark.parametrize(("law", "far"), [(DiscreteLaplace("1/2"), 13), (DiscreteGaussian(3), 13)])
    def test_two_cells_with_none_below_0_are_exact(self, law, far):
        """Every pair of noises, one by one."""
        counts, total = [1, 6], 7
        slow = np.zeros(2)
        for first, second in itertools.product(range(-far, far + 1), repeat=2):
            made = SumTo(total, nonnegative=True).apply([1 + first, 6 + second])
            slow += law.pmf(first) * law.pmf(second) * (made - counts)

        assert bias_after(counts, law, [SumTo(total, nonnegative=True)]) == pytest.approx(slow, abs=1e-9)

    def test_none_below_0_breaks_what_a_sum_keeps(self):
        """A sum alone leaves alpha at 0; with none below 0, small cells gain from large ones."""
        law, counts = DiscreteLaplace(4), [1, 9]
        plain = bias_after(counts, law, [SumTo(10)])
        floored = bias_after(counts, law, [SumTo(10, nonnegative=True)])

        assert alpha_fairness(plain) == 0
        assert floored[0] > 0.5 > -0.5 > floored[1]
        assert floored.sum() == pytest.approx(0, abs=1e-12)
        assert alpha_fairness(floored) > 1

    def test_one_cell_gets_the_total(self):
        """There is nothing else to move."""
        assert bias_after([4], Laplace(1), [SumTo(9, nonnegative=True)]).tolist() == [5]

    @pytest.mark.parametrize(
        ("law", "counts", "steps"),
        [
            (DiscreteLaplace(2), [1, 2, 3], [SumTo(6, nonnegative=True)]),
            (Laplace(2), [1, 2], [SumTo(3, nonnegative=True)]),
            (DiscreteGaussian(10**6), [1, 2], [SumTo(3, nonnegative=True)]),
            (DiscreteLaplace(2), [1, 2], [Nonnegative(), SumTo(3, nonnegative=True)]),
            (DiscreteLaplace(2), [1, 2], [SumTo(3), SumTo(3, nonnegative=True)]),
            (DiscreteLaplace(2), [1, 2], [SumTo(3), Nonnegative()]),
            (DiscreteLaplace(2), [1, 2], [SumTo(3, nonnegative=True), SumTo(3, nonnegative=True), Shrink(1)]),
            (Laplace(2), [1, 2], [Integral(), Nonnegative()]),
            (Laplace(2), [1, 2], [Shrink(1), Shrink(1), SumTo(3)]),
            (DiscreteLaplace(2), [1, 2], [Shrink(1), Integral(), Shrink(1)]),
            (DiscreteLaplace(2), [1, 2], [Odd()]),
        ],
    )
    def test_what_has_no_formula_is_left_to_draws(self, law, counts, steps):
        """None says: sample it, with an interval."""
        assert bias_after(counts, law, steps) is None

    def test_a_bias_from_anywhere_is_carried_through_rounding_and_sums(self):
        """Suppression and swapping have a bias of their own; a sum takes its mean off."""
        before, counts = np.array([[3.0, -1.0], [0.5, 0.5]]), self.COUNTS
        steps = [Integral(), SumTo(18), Integral()]

        assert carried_bias(before, counts, []).tolist() == before.tolist()
        assert carried_bias(before, counts, steps) == pytest.approx(before - 0.75 + 1)
        assert carried_bias(before, counts, [*steps, Nonnegative()]) is None
        assert carried_bias(before, counts, [SumTo(18, nonnegative=True)]) is None
        clamped = clamp_bias(counts, self.LAW)
        assert np.array_equal(
            carried_bias(clamped, counts, [SumTo(18)]),
            bias_after(counts, self.LAW, [Nonnegative(), SumTo(18)]),
        )

    def test_a_step_knows_its_own_bias(self):
        """The short way for one step."""
        assert np.array_equal(Nonnegative().bias([0, 3], law=self.LAW), clamp_bias([0, 3], self.LAW))
        assert SumTo(3).bias([0, 3], law=self.LAW).tolist() == [0, 0]
