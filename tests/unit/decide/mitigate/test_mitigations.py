"""Mitigations of allotments: each one's guarantee, bias, error and alpha, beside the plain release."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide import mitigate
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias
from evenhand.decide.allotment.principal_values import reciprocal_mean
from evenhand.decide.language.terms import threshold
from evenhand.decide.mitigate import (
    compare,
    cost_of_privacy,
    decision_temperature,
    fairness_payment,
    linear_proxy,
    output_perturbation,
    plain_release,
    share_sensitivity,
    share_sensitivity_here,
    shrink,
    sum_constraint,
    total_sensitivity,
)
from evenhand.decide.mitigate.mitigation import draw_error, scaled_law
from evenhand.decide.mitigate.sum_constraint import constrained_bias
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.mechanisms.noise import DiscreteGaussian as GaussianRelease
from evenhand.release.mechanisms.noise import Laplace as LaplaceRelease
from evenhand.release.postprocess.steps import Nonnegative, Shrink

ADD, REPLACE = "add or remove one", "replace one"
SHARES = Allotment([1, 2, 3], budget=1_000_000)
COUNTS = {"x": [300, 500, 800]}
MECHANISM = LaplaceRelease(epsilon="1/2", unit=ADD)


class TestPlainRelease:
    def test_the_plain_release_has_a_guarantee_a_bias_and_an_error(self):
        """Its error is that of one release, far above its bias."""
        plain = plain_release(SHARES, COUNTS, MECHANISM)

        assert plain.guarantee.epsilon == Fraction(1, 2)
        assert plain.alpha == pytest.approx(np.ptp(plain.bias))
        assert plain.moved == pytest.approx(np.abs(plain.bias).sum() / 2)
        spread = np.sqrt(plain.decided.variance).mean()
        assert 0.6 * spread < plain.mean_absolute_error < 0.9 * spread
        assert 0 < plain.standard_error < 0.1 * plain.mean_absolute_error

    def test_draws_without_any_total_have_no_error(self):
        """A formula that never pays has nothing to be off by."""
        never = draw_error(lambda rows, _: np.full((rows, 2), np.nan), np.ones(2), source=SeededSource(1))

        assert np.isnan(never).all()
        assert repr(plain_release(SHARES, COUNTS, MECHANISM)).startswith(
            "<Mitigation 'plain release': alpha "
        )

    def test_a_law_needs_a_unit(self):
        with pytest.raises(InvalidParameterError, match="given with a law"):
            plain_release(SHARES, COUNTS, Laplace(2))

    def test_the_secure_source_is_refused(self):
        """A simulation must not look like a release."""
        with pytest.raises(InvalidParameterError, match="a simulation, not a release"):
            plain_release(SHARES, COUNTS, MECHANISM, rng=SecureSource())


class TestLinearProxy:
    def test_its_bias_is_one_over_the_noisy_total(self):
        """Not 0, as the literature says: all shares are too large by the same factor."""
        proxy = linear_proxy(SHARES, COUNTS, Laplace(2), unit=ADD)
        total = float(SHARES.total(COUNTS["x"]))
        excess = reciprocal_mean(total, Laplace(2 * 3 * 2)).excess

        assert proxy.bias == pytest.approx(SHARES.shares(COUNTS["x"]) * excess, rel=1e-12)
        assert excess == pytest.approx(2 * 12**2 / total**2, rel=1e-3)
        assert "real-valued" in proxy.words

    def test_the_vector(self):
        """Z = 100, b = 10: 2.355 % of each share. Half of epsilon 1/5 goes to the total."""
        proxy = linear_proxy(Allotment([1, 1]), {"x": [40, 60]}, Laplace(5), unit=ADD)

        assert proxy.bias == pytest.approx(np.array([0.4, 0.6]) * (100 * 0.01023551772066 - 1), rel=1e-9)

    def test_variance_and_error_are_those_of_draws(self):
        """The error doubles with the noise on the counts, which get half of the budget."""
        proxy = linear_proxy(SHARES, COUNTS, MECHANISM, rng=5)
        plain = plain_release(SHARES, COUNTS, MECHANISM, rng=5)

        assert proxy.guarantee.epsilon == Fraction(1, 2)
        assert 2 < proxy.mean_absolute_error / plain.mean_absolute_error < 4  # what the total undid is left
        assert proxy.decided.variance == pytest.approx(
            (SHARES.weights / SHARES.total(COUNTS["x"])) ** 2 * DiscreteLaplace(4).variance
            + SHARES.shares(COUNTS["x"]) ** 2 * DiscreteLaplace(12).variance / SHARES.total(COUNTS["x"]) ** 2,
            rel=1e-3,
        )

    def test_its_own_total_may_be_0_or_less(self):
        """Not as often as that of the plain release, whose note it once carried."""
        proxy = linear_proxy(Allotment([1, 1]), {"x": [4, 6]}, Laplace(2), unit=ADD)
        known = linear_proxy(Allotment([1, 1]), {"x": [4, 6]}, Laplace(2), unit=ADD, total=10)

        assert proxy.decided.notes[0].startswith(
            f"The noisy total is 0 or less with probability {np.exp(-10 / 4) / 2:.2g}, where"
        )
        assert known.decided.notes == ()

    def test_a_public_total_has_no_bias(self):
        total = float(SHARES.total(COUNTS["x"]))

        assert linear_proxy(SHARES, COUNTS, MECHANISM, total=total).alpha == 0
        assert (linear_proxy(SHARES, COUNTS, MECHANISM, total=0.9 * total).bias > 0).all()

    def test_with_equal_weights_nobody_can_move_the_total_by_a_replacement(self):
        """Then it is known without spending anything."""
        equal = Allotment([2, 2, 2])
        proxy = linear_proxy(equal, COUNTS, LaplaceRelease(epsilon=1, unit=REPLACE))

        assert total_sensitivity(equal, Unit.REPLACE_ONE) == 0
        assert proxy.alpha == 0
        assert "all weights are equal" in proxy.words

    def test_noise_that_was_made_for_an_epsilon_is_rounded_up_and_never_down(self):
        """Half of the budget has a variance that no sampler takes; a smaller one would promise too much."""
        release = GaussianRelease(epsilon=1, delta="1e-6", unit=REPLACE)
        split = scaled_law(release.law, part=0.5)

        assert linear_proxy(SHARES, COUNTS, release).mean_absolute_error > 0
        assert split.squared_scale >= 2 * Fraction(release.law.squared_scale)
        assert float(split.squared_scale) == pytest.approx(2 * float(release.law.squared_scale), rel=1e-9)

    @pytest.mark.parametrize("part", [0.3, 1 / 3, 0.7])
    @pytest.mark.parametrize("epsilon", ["1/2", 0.3, "0.123456789012345678901"])
    def test_laplace_noise_is_split_at_any_part(self, part, epsilon):
        """A scale that is no short decimal is rounded up to one that can be drawn, so less is spent."""
        release = LaplaceRelease(epsilon=epsilon, unit=ADD)
        split = scaled_law(release.law, part=part)

        assert linear_proxy(SHARES, COUNTS, release, part=part).mean_absolute_error > 0
        assert split.scale >= Fraction(release.law.scale) / Fraction(part)
        assert float(split.scale) == pytest.approx(float(release.law.scale) / part, rel=1e-9)

    def test_a_part_that_leaves_too_little_is_named(self):
        """Noise that no sampler draws is the fault of the part, not of a scale that nobody typed."""
        with pytest.raises(InvalidParameterError, match="'part' parameter of linear_proxy must be"):
            linear_proxy(SHARES, COUNTS, MECHANISM, part=1e-12)

    def test_a_noisy_total_of_zero_is_left_out_in_silence(self):
        """It has no shares; whoever turns warnings into errors still gets an answer."""
        proxy = linear_proxy(Allotment([1, 2]), {"x": [1, 2]}, DiscreteLaplace(2), unit=ADD, draws=500)

        assert proxy.mean_absolute_error > 0

    def test_gaussian_noise_is_split_by_rho(self):
        """Half of rho doubles the variance."""
        proxy = linear_proxy(SHARES, COUNTS, GaussianRelease(rho="1/50", unit=ADD))
        law = GaussianRelease(rho="1/50", unit=ADD).law

        assert proxy.guarantee.rho == 1 / (2 * Fraction(law.squared_scale))
        assert scaled_law(law, part=0.5).squared_scale == 2 * law.squared_scale
        assert scaled_law(Gaussian(5), part=0.5, factor=3) == Gaussian(90)
        assert scaled_law(DiscreteGaussian(5), part=0.5, whole=False) == Gaussian(10)

    @pytest.mark.parametrize(
        "given", [{"part": 0}, {"part": 1}, {"part": True}, {"total": -1}, {"total": "9"}]
    )
    def test_parameters_that_make_no_sense(self, given):
        with pytest.raises(
            InvalidParameterError, match=f"The '{next(iter(given))}' parameter of linear_proxy"
        ):
            linear_proxy(SHARES, COUNTS, MECHANISM, **given)

    def test_rules_are_refused(self):
        with pytest.raises(InvalidParameterError, match="must be an Allotment"):
            linear_proxy(threshold("x", 5), COUNTS, MECHANISM)


class TestOutputPerturbation:
    def test_the_vectors_of_its_sensitivity(self):
        """What one person changes of this table, exactly."""
        assert share_sensitivity_here([1, 2, 3], [5, 1, 4], ADD) == pytest.approx(0.21052631578947, rel=1e-12)
        assert share_sensitivity_here([1, 2, 3], [5, 1, 4], REPLACE) == pytest.approx(
            0.26315789473684, rel=1e-12
        )

    @pytest.mark.parametrize("unit", [ADD, REPLACE])
    def test_the_sensitivity_of_a_table_is_found_by_moving_everybody(self, unit):
        """And the data-free one is never below it, or there would be no guarantee."""
        draws = np.random.default_rng(3)
        for _ in range(60):
            size = int(draws.integers(1, 5))
            a, x = draws.integers(0, 5, size) * 0.5, draws.integers(0, 6, size)
            if not a @ x > 0:
                continue
            slow = slowest_change(a, x, unit)
            here, least = share_sensitivity_here(a, x, unit), least_neighbour(a, x, unit)

            assert here == pytest.approx(slow, abs=1e-13)
            if least > 0:
                assert here <= share_sensitivity(float(a.max()), least, unit) + 1e-13

    def test_no_share_has_a_bias_and_all_have_the_same_error(self):
        noisy = output_perturbation(SHARES, COUNTS, MECHANISM, least_total=2000)

        assert noisy.bias.tolist() == [0, 0, 0]
        assert noisy.mean_absolute_error == pytest.approx(2 * 3 / 2003 / 0.5)
        assert noisy.guarantee.epsilon == Fraction(1, 2)
        assert any("which is public" in each for each in noisy.guarantee.assumptions)

    def test_replacing_a_person_takes_hardly_more_noise_than_adding_one(self):
        noisy = output_perturbation(SHARES, COUNTS, LaplaceRelease(epsilon=1, unit=REPLACE), least_total=2000)

        assert noisy.mean_absolute_error == pytest.approx(2 * 3 / 2000)

    def test_the_sensitivity_bounds_every_pair_of_tables_and_one_meets_it(self):
        """Every pair of small tables that differ in one person, with the lesser total of each pair as L."""
        a = np.array([0.5, 2, 2])
        tables = [np.array(each) for each in itertools.product(range(4), repeat=3) if a @ each > 0]
        nearest = {ADD: 0.0, REPLACE: 0.0}
        for one, two in itertools.combinations(tables, 2):
            moved = sorted((two - one).tolist())
            unit = ADD if moved in ([0, 0, 1], [-1, 0, 0]) else REPLACE if moved == [-1, 0, 1] else None
            if unit is None:
                continue
            apart = np.abs(a * one / (a @ one) - a * two / (a @ two)).sum()
            limit = share_sensitivity(2.0, float(min(a @ one, a @ two)), unit)
            nearest[unit] = max(nearest[unit], apart / limit)

        assert nearest == pytest.approx({ADD: 1.0, REPLACE: 1.0}, abs=1e-12)

    def test_shares_are_never_further_apart_than_two(self):
        """They are parts of a whole, whatever the least total is."""
        assert share_sensitivity(3, 1e-9, REPLACE) == 2
        assert share_sensitivity(3, 1e-9, ADD) <= 2

    def test_a_least_total_from_the_table_is_refused_unless_declared_public(self):
        """The paper's L = 0.9 Z is private: noise scaled by it protects nobody."""
        with pytest.raises(InvalidParameterError, match="declared public with declared_public=True"):
            output_perturbation(SHARES, COUNTS, MECHANISM, least_part=0.9)
        declared = output_perturbation(SHARES, COUNTS, MECHANISM, least_part=0.9, declared_public=True)

        assert any(
            "0.9 of the true one, was declared public" in each for each in declared.guarantee.assumptions
        )

    @pytest.mark.parametrize(
        "given",
        [{}, {"least_total": 5, "least_part": 0.5}, {"least_total": 0}, {"least_total": np.inf}],
    )
    def test_the_least_total_is_required(self, given):
        with pytest.raises(InvalidParameterError, match="The 'least_total' parameter of output_perturbation"):
            output_perturbation(SHARES, COUNTS, MECHANISM, **given)

    def test_other_refusals(self):
        with pytest.raises(InvalidParameterError, match="at most 1"):
            output_perturbation(SHARES, COUNTS, MECHANISM, least_part=1.5, declared_public=True)
        with pytest.raises(InvalidParameterError, match="voids the guarantee"):
            output_perturbation(SHARES, COUNTS, MECHANISM, least_total=1e9)
        with pytest.raises(InvalidParameterError, match="must be Laplace noise"):
            output_perturbation(SHARES, COUNTS, Gaussian(9), unit=ADD, least_total=10)
        with pytest.raises(InvalidParameterError, match="with a total above 0"):
            share_sensitivity_here([1, 2], [0, 0], ADD)


def slowest_change(a, x, unit):
    """Move every person of the table in every way there is."""
    before, most = a * x / (a @ x), 0.0
    for leaves in np.flatnonzero(x >= 1):
        for enters in range(len(x)) if unit == REPLACE else [None]:
            after = x.copy()
            after[leaves] -= 1
            if enters is not None:
                after[enters] += 1
            if a @ after > 0:
                most = max(most, np.abs(a * after / (a @ after) - before).sum())
    return most


def least_neighbour(a, x, unit):
    """Return the least total of the table and of all tables one person away."""
    totals = [a @ x]
    for leaves in np.flatnonzero(x >= 1):
        totals += [a @ x - a[leaves] + (a[e] if unit == REPLACE else 0) for e in range(len(x))]
        totals.append(a @ x - a[leaves])
    return float(min(totals))


MANY = {"x": [40, 500, 3000]}


class TestShrink:
    def test_both_temperatures_are_shown(self):
        """T* is for counts and can be worse than the clamp; the one for the decision cannot."""
        data_free = shrink(SHARES, MANY, Laplace(10), unit=ADD)
        chosen = shrink(SHARES, MANY, Laplace(10), unit=ADD, temperature="decision")
        clamp = plain_release(SHARES, MANY, Laplace(10), unit=ADD, post=[Nonnegative()])

        assert chosen.moved <= clamp.moved * (1 + 1e-9)
        assert clamp.moved < data_free.moved
        assert "T = 79.7283, which depends on the noise alone" in data_free.words
        assert "from the true counts, which no guarantee covers; T* for counts is 79.7283" in chosen.words

    def test_a_temperature_of_ones_own(self):
        own = shrink(SHARES, MANY, Laplace(10), unit=ADD, temperature=5)

        assert own.name == "shrink, T = 5"
        with pytest.raises(InvalidParameterError, match="The 'T' parameter of Shrink"):
            shrink(SHARES, MANY, Laplace(10), unit=ADD, temperature=-1)

    @pytest.mark.parametrize("law", [DiscreteLaplace(10), DiscreteGaussian(100), Gaussian(100)], ids=repr)
    def test_the_search_agrees_with_a_finer_one(self, law):
        """On a grid of its own the part moved is no smaller than at the temperature found."""
        counts = [6, 20, 700]

        def moved(temperature):
            return np.abs(allotment_bias(SHARES, counts, law, post=[Shrink(temperature)]).values).sum()

        found = decision_temperature(SHARES, {"x": counts}, law)

        assert moved(found) <= min(moved(each) for each in (0, 3, 12, 50)) * 1.02

    def test_rules_and_several_laws(self):
        """For a rule alpha decides; one temperature for several laws makes no sense."""
        rule = threshold("x", 10)
        found = shrink(rule, {"x": [3, 9, 12, 80]}, DiscreteLaplace(2), unit=ADD, temperature="decision")

        assert (
            found.alpha
            <= plain_release(rule, {"x": [3, 9, 12, 80]}, DiscreteLaplace(2), unit=ADD).alpha + 1e-9
        )
        both = {"x": DiscreteLaplace(2), "y": DiscreteLaplace(3)}
        with pytest.raises(InvalidParameterError, match="of one law for all inputs"):
            shrink(rule & threshold("y", 3), {"x": [3, 9], "y": [1, 2]}, both, unit=ADD)


class TestSumConstraint:
    @pytest.mark.parametrize("total", [16, 15, 40])
    def test_it_is_the_sum_over_all_noise(self, total):
        """Also where the public total is not the true one."""
        shares, counts, law = Allotment([1, 2, 1.5]), np.array([30, 50, 80]), DiscreteGaussian("0.4")
        noise = np.arange(-6, 7)
        grid = np.array(list(itertools.product(noise, repeat=3)))
        masses = law.pmf(grid).prod(axis=1)
        moved = grid + counts
        moved = moved + (10 * total - moved.sum(axis=1, keepdims=True)) / 3
        slow = masses @ shares.shares(moved) - shares.shares(counts)
        values, error, variance = constrained_bias(shares, counts, law, total=10 * total)

        assert (np.abs(values - slow) <= error + 1e-14).all()
        assert variance == pytest.approx(
            masses @ (shares.shares(moved) - masses @ shares.shares(moved)) ** 2, rel=1e-2
        )

    def test_it_changes_who_gains(self):
        constrained = sum_constraint(SHARES, COUNTS, MECHANISM, total=1600)
        plain = plain_release(SHARES, COUNTS, MECHANISM)

        assert constrained.guarantee.loss == plain.guarantee.loss
        assert "is public" in constrained.guarantee.assumptions[-1]
        assert constrained.mean_absolute_error < plain.mean_absolute_error
        assert "certified" in constrained.decided.method

    def test_what_the_series_does_not_reach_is_sampled(self):
        """Few people, a total that leaves nothing, or a rule."""
        wide = sum_constraint(SHARES, {"x": [3, 5, 8]}, Laplace(9), unit=ADD, total=16, draws=200)
        rule = sum_constraint(threshold("x", 5), {"x": [3, 5, 8]}, Laplace(1), unit=ADD, total=16, draws=200)

        assert wide.decided.draws == 200
        assert rule.decided.draws == 200
        assert constrained_bias(SHARES, np.array([3, 5, 8]), Laplace(2), total=-900) is None


class TestFairnessPayment:
    def test_nobody_loses_any_more(self):
        paid = fairness_payment(SHARES, COUNTS, MECHANISM)
        plain = plain_release(SHARES, COUNTS, MECHANISM)

        assert (paid.bias >= 0).all()
        assert paid.bias.sum() == pytest.approx(cost_of_privacy(plain.bias), rel=1e-9)
        assert f"{cost_of_privacy(plain.bias) * 1e6:.2f} beyond the budget" in paid.words
        assert "which no guarantee covers" in paid.decided.notes[-1]

    def test_without_a_budget_the_payment_is_a_part_of_it(self):
        assert "of the budget beyond it" in fairness_payment(Allotment([1, 2, 3]), COUNTS, MECHANISM).words


class TestCompare:
    def test_all_that_apply_are_listed(self):
        found = compare(SHARES, COUNTS, MECHANISM, least_total=1000, total=1600)
        names = [way.name for way in found]

        assert names == [
            "plain release",
            "clamp",
            "shrink",
            "shrink for the decision",
            "sum constraint",
            "linear proxy",
            "output perturbation",
            "fairness payment",
        ]
        assert len(found) == 8
        assert found["linear proxy"].name == "linear proxy"
        assert repr(found) == "<Comparison of 8 ways. Computed from the true data: not for publication.>"

    def test_a_rule_of_two_entities_has_the_alpha_of_its_report(self):
        """Of x >= 10 a count of 10 and one of 9 are decided wrongly about as often: alpha is about 0."""
        found = compare(threshold("x", 10), {"x": [10, 9]}, DiscreteLaplace(2), unit=ADD)
        plain = found["plain release"]

        assert [way.alpha for way in found] == [way.decided.alpha for way in found]
        assert plain.alpha == abs(abs(plain.bias[0]) - abs(plain.bias[1]))
        assert not [way for way in found if way.name.startswith("piecewise")]

    def test_it_is_shown_as_text_a_page_and_a_frame(self):
        found = compare(SHARES, COUNTS, GaussianRelease(rho="1/50", unit=ADD))
        frame = found.to_frame(backend="polars")

        assert str(found).startswith("Computed from the true data")
        assert "rho" in str(found)
        assert "moved (money)" in str(found)
        assert found._repr_html_().startswith("<p>Computed from the true data")
        assert frame.shape[0] == len(found)
        assert "output perturbation" not in frame["name"].to_list()

    def test_a_name_that_is_not_there(self):
        with pytest.raises(UnknownNameError, match="linear proxy"):
            compare(Allotment([1, 2]), {"x": [30, 50]}, Laplace(2), unit=ADD)["linear prxy"]

    def test_other_problems_are_refused(self):
        with pytest.raises(InvalidParameterError, match="an Allotment or a Rule"):
            compare("x > 5", COUNTS, MECHANISM)

    def test_every_function_is_in_one_place(self):
        """The study looks them up by name."""
        assert all(callable(getattr(mitigate, name)) for name in mitigate.__all__)
