"""The series of the bias of shares: its values, its proved bound, and what it refuses."""

import numpy as np
import pytest

from evenhand.decide.allotment import series as allotment_series
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias, allotment_variance, total_not_positive
from evenhand.decide.allotment.noisy_total import build_noisy_shares, whole_weights
from evenhand.decide.allotment.principal_values import reciprocal_mean
from evenhand.decide.allotment.series import bias_series, variance_series
from evenhand.decide.exact.noise_laws import even_moments, standard_cumulants
from evenhand.decide.mitigate.sum_constraint import constrained_bias
from evenhand.decide.result.bias import bias
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.postprocess.steps import Nonnegative, SumTo
from unit.decide._slow_shares import by_enumeration, principal_value

WEIGHTS, COUNTS = [1, 2, 1.5], [30, 50, 80]
SHARES = Allotment(WEIGHTS)
EXACT = np.array([-1.6604364767317e-05, -1.4155275772298e-04, 1.5815712249151e-04])
TRUTH = np.array([-1.660436476750171e-05, -1.4155275772336339e-04, 1.5815712249086508e-04])  # to 30 digits
SECOND = np.array([-1.664e-05, -1.408e-04, 1.5744e-04])
FOURTH = np.array([-1.660534784e-05, -1.415446528e-04, 1.5815000064e-04])


def after(orders):
    """Return the series after this many orders."""
    noisy = build_noisy_shares(SHARES, COUNTS, Laplace(2))
    standard = noisy.cumulants(orders + 1)
    moments = even_moments(noisy.of_total(standard))
    return allotment_series._terms(noisy, standard, moments, orders)[0]


class TestVectors:
    def test_the_exact_principal_value(self):
        """The published vector, to 1e-9; it sums to 0, as shares sum to 1 with and without noise."""
        found = allotment_bias(SHARES, COUNTS, Laplace(2))

        assert found.values == pytest.approx(EXACT, rel=1e-9)
        assert abs(found.values.sum()) < 1e-18
        assert found.method == "series of 9 even orders, certified for the principal value"

    def test_the_second_and_fourth_order(self):
        """One order is half the variance times the trace, without a factor n."""
        assert after(1) == pytest.approx(SECOND, rel=1e-9)
        assert after(2) == pytest.approx(FOURTH, rel=1e-9)

    def test_the_bound_holds_against_thirty_digits(self):
        """The vector itself is good to 1e-11; the bound claims 1e-12."""
        found = bias_series(build_noisy_shares(SHARES, COUNTS, Laplace(2)))

        assert (np.abs(found.values - TRUTH) <= found.error_bound).all()
        assert (found.error_bound <= 2e-11 * np.abs(TRUTH)).all()

    @pytest.mark.nightly
    def test_the_thirty_digits(self):
        """Computed again, the slow way."""
        assert principal_value(WEIGHTS, COUNTS, 2) == pytest.approx(TRUTH, rel=1e-15)

    def test_unequal_variances_are_half_the_sum_of_variances_times_curvatures(self):
        """Each place may have noise of its own; at small noise only the second order is left."""
        laws = [Gaussian("1e-4"), Gaussian("4e-4"), Laplace("0.01")]
        a, x, variances = np.array(WEIGHTS), np.array(COUNTS), np.array([law.variance for law in laws])
        total = a @ x
        curvature = np.array(
            [
                [
                    2 * a[j] ** 2 * a[i] * x[i] / total**3 - (i == j) * 2 * a[i] ** 2 / total**2
                    for j in range(3)
                ]
                for i in range(3)
            ]
        )
        found = allotment_bias(SHARES, COUNTS, laws)

        assert found.values == pytest.approx(curvature @ variances / 2, rel=1e-6)
        assert "at most nine tenths" in found.method


class TestBound:
    @pytest.mark.parametrize(
        ("law", "reach"),
        [(DiscreteLaplace("0.4"), 14), (DiscreteGaussian("0.3"), 6), (DiscreteGaussian(2), 14)],
        ids=repr,
    )
    @pytest.mark.parametrize("weights", [[1, 2, 3], [1, 2, 1.5], [0.1, 0.25, 0]])
    def test_it_holds_for_whole_noise(self, law, reach, weights):
        """A bound that is too small is worse than none: people would stop looking."""
        counts = [30, 50, 80]
        found = bias_series(build_noisy_shares(Allotment(weights), counts, law))
        slow, _ = by_enumeration(weights, counts, law, reach)

        assert found.certified
        assert (np.abs(found.values - slow) <= found.error_bound + 1e-15).all()

    def test_it_is_wide_where_the_noise_is(self):
        """With few people and much noise the series says so itself."""
        found = bias_series(build_noisy_shares(SHARES, COUNTS, Laplace(20)))

        assert not found.certified
        assert not np.isfinite(found.error_bound).any()

    def test_weights_that_are_not_on_a_grid_have_only_the_mean_over_the_event(self):
        """A total can then come as near to 0 as it likes."""
        noisy = build_noisy_shares(Allotment([1, 2**0.5]), [3000, 5000], DiscreteLaplace(2))

        assert whole_weights(noisy) is None
        assert bias_series(noisy).covers == "the mean where the total moves by at most nine tenths of itself"

    def test_dropping_an_order_breaks_it(self):
        """The check of the bound can see an error of one order."""
        found = bias_series(build_noisy_shares(SHARES, COUNTS, Laplace(2)))

        assert (np.abs(after(found.orders - 6) - TRUTH) > found.error_bound).all()

    def test_a_hundred_thousand_times_the_people_is_certified_too(self):
        """Counts of 1e9, as somebody's table has."""
        found = allotment_bias(Allotment([1, 2, 3]), [10**9, 3, 0], DiscreteLaplace(10))

        assert "certified" in found.method
        assert (found.error_bound <= 1e-9 * np.abs(found.values)).all()


class TestEdges:
    def test_one_entity_gets_everything_whatever_the_noise(self):
        found = allotment_bias(Allotment([3]), [7], Laplace(100))

        assert found.values.tolist() == [0.0]
        assert found.error_bound.tolist() == [0.0]

    def test_a_weight_of_zero_gets_no_share(self):
        found = allotment_bias(Allotment([1, 0, 2]), [500, 800, 900], DiscreteLaplace(2))

        assert found.values[1] == 0
        assert found.error_bound[1] <= 1e-30

    def test_counts_beside_which_noise_is_negligible(self):
        """Its square is below the smallest float, and so is every bias."""
        found = allotment_bias(Allotment([1, 1]), [1e200, 1e200], Laplace(1))

        assert found.values.tolist() == [0.0, 0.0]

    def test_zero_counts_are_no_trouble(self):
        """An empty place gets shares from noise alone, which are negative on average."""
        found = allotment_bias(Allotment([1, 1]), [0, 1000], DiscreteLaplace(2))

        assert found.values[0] < 0
        assert "certified" in found.method

    @pytest.mark.parametrize(
        "counts", [[1, 2], [1, 2, -3], [1, 2, np.nan], ["a", "b", "c"], [[1, 2, 3]], [0, 0, 0]]
    )
    def test_counts_that_make_no_shares_are_refused_without_showing_them(self, counts):
        with pytest.raises(
            InvalidParameterError, match="The 'counts' parameter of allotment_bias"
        ) as refusal:
            allotment_bias(SHARES, counts, Laplace(2))

        assert "-3" not in str(refusal.value)

    @pytest.mark.parametrize("law", [2, [Laplace(1)], [Laplace(1), Laplace(1), 3], "laplace"])
    def test_noise_that_is_no_law_is_refused(self, law):
        with pytest.raises(InvalidParameterError, match="The 'law' parameter of allotment_bias"):
            allotment_bias(SHARES, COUNTS, law)

    def test_steps_without_a_formula_are_refused(self):
        with pytest.raises(InvalidParameterError, match="other steps need sampling"):
            allotment_bias(SHARES, COUNTS, Laplace(2), post=[SumTo(160)])

    def test_the_chance_of_no_total(self):
        """Beyond reach it is a bound, and says so."""
        chance, method = total_not_positive(SHARES, [3000, 5000, 8000], Laplace(2))

        assert 0 <= chance < 1e-100
        assert method.startswith("at most")

    def test_large_weights_and_totals_are_not_on_a_grid(self):
        """Beyond 2**52 a float does not hold every whole number."""
        assert whole_weights(build_noisy_shares(Allotment([1, 2.0**51]), [1, 4], DiscreteLaplace(2))) is None
        assert whole_weights(build_noisy_shares(Allotment([1, 3]), [1, 0.5], DiscreteLaplace(2))) is None
        weights, total = whole_weights(build_noisy_shares(Allotment([0.1, 0.25]), [3, 8], DiscreteLaplace(2)))
        assert (weights.tolist(), total) == ([2, 5], 46)


@pytest.mark.parametrize(
    "law", [DiscreteLaplace("1/100"), DiscreteLaplace("1/60"), DiscreteGaussian("1/1000")], ids=repr
)
def test_noise_that_is_nearly_always_zero_has_a_negligible_bias(law):
    """Its standardised cumulants do not fit floats, and that must not be the reader's trouble."""
    values, bound, method = allotment_bias(Allotment([1, 2, 3]), [10, 20, 30], law)
    chance, _ = total_not_positive(Allotment([1, 2, 3]), [10, 20, 30], law)

    assert values.tolist() == [0, 0, 0]
    assert 0 < bound.max() < 1e-20
    assert "negligible" in method
    assert chance <= 1e-25


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplace("1/60"), DiscreteLaplace("1/200"), DiscreteLaplace("1/800"), DiscreteGaussian("1/2000")],
    ids=repr,
)
def test_noise_that_is_nearly_always_zero_ends_in_no_division_by_zero(law):
    allotment, counts = Allotment([1, 2]), [30, 50]
    variance = allotment_variance(allotment, counts, law)
    clamped = [
        figures(allotment, counts, law, post=[Nonnegative()])
        for figures in (allotment_bias, allotment_variance)
    ]
    constrained = constrained_bias(allotment, counts, law, total=80)

    assert variance.values.tolist() == [0, 0]
    assert 0 < variance.error_bound.max() < 1e-20
    assert all(abs(figures.values).max() < 1e-12 for figures in clamped)
    assert abs(reciprocal_mean(30, law).excess) < 1e-25
    assert constrained is None or abs(constrained[0]).max() < 1e-25


def test_powers_of_a_narrow_bell_overflow_nothing():
    """Forty places from 0 the mass is 0, and the power of the distance is infinite."""
    assert np.isfinite(standard_cumulants(DiscreteGaussian("1/100"), 13)).all()


def test_a_narrow_discrete_gaussian_has_its_bias():
    """Its variance is far below the squared scale that bounds its tails by those of a Gaussian."""
    noisy = build_noisy_shares(Allotment([1, 2]), [30, 50], DiscreteGaussian("1/50"))
    values, bound, _ = allotment_bias(Allotment([1, 2]), [30, 50], DiscreteGaussian("1/50"))

    second_order = noisy.shares * (noisy.reach**2).sum() - noisy.reach**2
    assert values == pytest.approx(second_order, rel=1e-2, abs=0)
    assert bound.max() < 1e-9 * abs(values).max()


def test_noise_that_is_mostly_zero_still_has_its_series():
    values, bound, _ = allotment_bias(Allotment([1, 2, 3]), [10, 20, 30], DiscreteLaplace("1/56"))

    assert 0 < values[0] < 1e-30
    assert bound.max() < 1e-8 * abs(values).max()


@pytest.mark.parametrize(
    ("law", "reach"), [(DiscreteLaplace("0.4"), 14), (DiscreteGaussian("1.5"), 11)], ids=repr
)
def test_it_is_that_of_the_releases_within_nine_tenths(law, reach):
    """The spread is what one release shows; the bias hides in it."""
    weights, counts = [1, 2, 3], [30, 50, 80]
    found = variance_series(build_noisy_shares(Allotment(weights), counts, law))
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


def test_one_entity_that_a_clamp_may_set_to_zero_has_a_variance():
    """A series of exactly 0 with a bound of 1 says nothing."""
    law = DiscreteLaplace(1)
    found = allotment_variance(Allotment([1]), [1], law, post=[Nonnegative()])
    nothing = float(law.cdf(-1))

    assert found.values == pytest.approx([nothing * (1 - nothing)], abs=1e-10)
