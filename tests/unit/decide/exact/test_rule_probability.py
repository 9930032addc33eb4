"""Rules on noisy counts: the vectors, high precision, shared inputs, clamps, ties and refusals."""

import functools
import itertools
import math
import operator
import time

import mpmath
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from evenhand.decide.exact.rule_probability import exactly_solvable, rule_probability
from evenhand.decide.language.parse import parse
from evenhand.decide.language.terms import count, ratio, threshold
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, UnknownNameError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.postprocess.steps import Integral, Nonnegative, Shrink, SumTo
from property._slow_rules import enumerated

A, B, C, D = map(count, "abcd")
ZERO = dict.fromkeys("abcd", 0)


def language(nonpositive="false"):
    many = ratio("sp", "s", nonpositive=nonpositive) > 0.05
    return (many | (count("sp") > 10_000)) & (ratio("spe", "sp", nonpositive=nonpositive) > 0.0131)


def county(s, sp, spe):
    return {"s": s, "sp": sp, "spe": spe}


def counties(n, seed=0):
    """Return counties near the borders of the rule, where nothing is decided beforehand."""
    rng = np.random.default_rng(seed)
    s = np.exp(rng.uniform(np.log(50), np.log(400_000), n)).astype(int)
    sp = (s * rng.uniform(0.03, 0.07, n)).astype(int)
    return county(s, sp, (sp * rng.uniform(0.005, 0.02, n)).astype(int))


# --- the vectors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "expected"),
    [(Laplace(2), 0.18393972058572), (Gaussian(4), 0.15865525393146), (DiscreteLaplace(2), 0.13888945025695)],
)
def test_a_threshold_has_its_known_bias(law, expected):
    """12 against 10: the simplest decision there is."""
    assert abs(1 - rule_probability(threshold("x", 10), {"x": 12}, law) - expected) < 1e-13


def test_a_linear_ratio_has_its_known_probability():
    """45 of 800 against 5 %, with noise on both, as the border of the ratio alone."""
    assert abs(rule_probability(A - B / 20 > 0, {"a": 45, "b": 800}, Laplace(10)) - 0.69597466355248) < 1e-13
    assert (
        abs(rule_probability(ratio("a", "b") > 0.05, {"a": 45, "b": 800}, Laplace(10)) - 0.69597466355248)
        < 1e-13
    )


@pytest.mark.parametrize(
    ("place", "scale", "expected"),
    [
        (county(80, 4, 1), 10, 0.26955266644323),
        (county(3305, 160, 3), 10, 0.15833826036665),
        (county(200_000, 10_050, 140), 300, 0.29830374711809),
    ],
)
def test_the_joint_language_rule_has_its_known_probabilities(place, scale, expected):
    """Its three comparisons share a count; independence would be off by up to 12 points."""
    assert abs(rule_probability(language("signed"), place, Laplace(scale)) - expected) < 1e-13


def test_the_joint_language_rule_has_its_known_discrete_probability():
    """With whole noise ties have probability, and comparisons are between whole numbers."""
    found = rule_probability(language(), county(3305, 160, 3), DiscreteLaplace(10))

    assert abs(found - 0.154698191405) < 1e-12


def test_the_independence_formula_is_not_what_is_computed():
    """On this county it gives .4214; a program that multiplied would agree with it."""
    place = county(200_000, 10_050, 140)
    share, many, schooled = (
        rule_probability(each, place, Laplace(300))
        for each in (
            ratio("sp", "s", nonpositive="signed") > 0.05,
            count("sp") > 10_000,
            ratio("spe", "sp") > 0.0131,
        )
    )
    independent = (share + many - share * many) * schooled

    assert abs(independent - 0.4214) < 1e-4
    assert abs(rule_probability(language("signed"), place, Laplace(300)) - independent) > 0.12


# --- high precision ------------------------------------------------------------------------------------


def _precise(s, sp, spe, scale, law):
    """Return the probability of the language rule, non-positive denominators refused, by mpmath."""
    with mpmath.workdps(30):
        b = mpmath.mpf(scale)
        if law is Laplace:
            density = lambda x: mpmath.exp(-abs(x) / b) / (2 * b)  # noqa: E731 - two formulas of one kind
            below = lambda x: mpmath.exp(x / b) / 2 if x < 0 else 1 - mpmath.exp(-x / b) / 2  # noqa: E731 - as above
            far = 60 * b
        else:
            density = lambda x: mpmath.npdf(x, 0, b)  # noqa: E731 - as above
            below = lambda x: mpmath.ncdf(x, 0, b)  # noqa: E731 - as above
            far = 12 * b
        first, third = mpmath.mpf("0.05"), mpmath.mpf("0.0131")

        def integrand(v):
            schooled = below(spe - third * v)
            enough = 1 if v > 10_000 else below(v / first - s) - below(-mpmath.mpf(s))
            return density(v - sp) * schooled * enough

        low, high = max(mpmath.mpf(0), sp - far), max(mpmath.mpf(0), sp + far)
        kinks = [10_000, sp, first * s, spe / third]
        kinks += [
            k + sign * w for k in (first * s,) for sign in (-1, 1) for w in (2 * first * b, 12 * first * b)
        ]
        kinks += [sp + sign * w * b for sign in (-1, 1) for w in (2, 6, 15, 30)]
        cuts = sorted({low, high, *(k for k in kinks if low < k < high)})
        return float(mpmath.quad(integrand, cuts, maxdegree=6)) if high > low else 0.0


@pytest.mark.parametrize(
    ("law", "n"),
    [(Laplace, 2), *(pytest.param(law, 40, marks=pytest.mark.slow) for law in (Laplace, Gaussian))],
)
def test_counties_agree_with_high_precision_to_a_billionth(law, n):
    """The figure that is promised for the joint rule."""
    places = counties(n, seed=3)
    scale = 30
    found = rule_probability(language(), places, law(scale if law is Laplace else scale**2))

    for k in range(n):
        expected = _precise(*(int(places[name][k]) for name in ("s", "sp", "spe")), scale, law)
        assert abs(found[k] - expected) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [
        Laplace(10),
        Gaussian(200),
        DiscreteLaplace(10),
        DiscreteGaussian(200),
        Laplace(100),
        DiscreteLaplace(100),
    ],
)
def test_three_thousand_counties_take_less_than_a_second(law):
    """What is interactive gets used; what takes minutes is sampled with 10,000 draws instead."""
    places = counties(3_000)
    started = time.process_time()
    rule_probability(language(), places, law)

    assert time.process_time() - started < 1


# --- shared inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "laws",
    [
        Laplace(2),
        Gaussian(2),
        {"a": Laplace(1), "b": Laplace(5), "c": Laplace(30)},
        {"a": Laplace(1), "b": Gaussian(5), "c": Laplace("0.01")},
    ],
)
def test_two_shared_inputs_are_integrated_over_both(laws):
    """The sign of a sum is that of the larger noise, so all three sums are positive one time in four."""
    rule = (A + B > 0) & (B + C > 0) & (A + C > 0)

    assert abs(rule_probability(rule, ZERO, laws) - 0.25) < 1e-13


def test_comparisons_of_many_gaussian_inputs_are_orthants():
    """Two comparisons of four inputs take one integral, since only their correlation matters."""
    two = (A + B + C + D > 1) & (A + 2 * B - C - 3 * D > 2)
    weights = np.array([[1, 1, 1, 1], [1, 2, -1, -3]])
    covariance = 4 * weights @ weights.T
    expected = multivariate_normal(cov=covariance).cdf([-1, -2])
    apart = (A + B + C + D > 0) & (A + B - C - D > 0)
    repeated = (A + B + C + D > 0) & (A + 2 * B - C - 3 * D > 0) & (2 * A + 3 * B - 2 * D > 0)
    correlation = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])

    assert abs(rule_probability(two, ZERO, Gaussian(4)) - expected) < 1e-12
    assert abs(rule_probability(apart, ZERO, Gaussian(4)) - 0.25) < 1e-14
    orthant = 0.25 + math.asin(correlation) / (2 * math.pi)
    assert abs(rule_probability(repeated, ZERO, Gaussian(4)) - orthant) < 1e-12


def test_components_that_share_nothing_multiply():
    """Where no input is shared independence is exact."""
    left = (A > 1) & (A + B > 0)
    right = (C > 0) ^ (C - D > 1)
    counts = {"a": [0, 3], "b": [1, 1], "c": [2, 0], "d": [0, 0]}
    law = DiscreteLaplace("0.6")
    one, other = rule_probability(left, counts, law), rule_probability(right, counts, law)

    assert np.allclose(rule_probability(left & right, counts, law), one * other, rtol=0, atol=1e-14)
    assert np.allclose(
        rule_probability(left | right, counts, law), one + other - one * other, rtol=0, atol=1e-14
    )


def test_borders_of_the_same_sum_are_one_law():
    """Between two numbers, outside of both, and three of them at once."""
    law, total = DiscreteLaplace(2), A + B
    between = rule_probability((total > 3) & (total <= 7), ZERO, law)
    one, two, three = (rule_probability(total > each, ZERO, law) for each in (-2, 3, 7))
    striped = (total > -2) ^ (total > 3) ^ (total > 7)

    assert abs(between - (two - three)) < 1e-15
    assert abs(rule_probability(striped, ZERO, law) - (one - two + three)) < 1e-15
    turned = (-2 * A <= 6) ^ (A > 2) ^ (A < 1)
    assert abs(rule_probability(turned, ZERO, law) - enumerated(turned, ZERO, {"a": law}, far=80)) < 1e-14


def test_whole_and_real_noise_mix():
    """A count with discrete noise beside one with real noise: the whole one is summed over first."""
    laws = {"a": DiscreteLaplace(2), "b": Laplace(3)}
    k = np.arange(-120, 121)
    mass = laws["a"].pmf(k)
    single = (mass * laws["b"].sf(2 - k)).sum()
    joint = (mass * laws["b"].sf(np.maximum(2 - k, k))).sum()

    assert abs(rule_probability(A + B > 2, ZERO, laws) - single) < 1e-13
    assert abs(rule_probability((A + B > 2) & (B - A > 0), ZERO, laws) - joint) < 1e-13


def test_three_laplace_inputs_in_one_comparison_beside_another():
    """The sum of the two that are left is in closed form at every point of the integral."""
    rule = (A + B + 2 * C > 1) & (A > 0)

    def tail(w):
        """Return the probability that Laplace noises of scales 2 and 1 are above w together."""
        above = (4 * mpmath.exp(-abs(w) / 2) - mpmath.exp(-abs(w))) / 6
        return above if w >= 0 else 1 - above

    expected = mpmath.quad(lambda v: mpmath.exp(-v) / 2 * tail(1 - v), [0, 1, 4, 12, 50])

    assert abs(rule_probability(rule, ZERO, Laplace(1)) - float(expected)) < 1e-12


# --- clamps and ties -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [Laplace(2), Gaussian(4), DiscreteLaplace(2)])
def test_a_clamped_count_has_an_atom_at_its_least_value(law):
    """After clamping, "at least 0" is certain and "above 0" is not; a density alone would not know."""
    clamp = [Nonnegative()]
    above = law.sf(-1)

    assert rule_probability(A >= 0, {"a": 1}, law, post=clamp) == 1
    assert rule_probability(A < 0, {"a": 1}, law, post=clamp) == 0
    assert abs(rule_probability(A > 0, {"a": 1}, law, post=clamp) - above) < 1e-14
    assert abs(rule_probability(-A >= 0, {"a": 1}, law, post=clamp) - (1 - above)) < 1e-14
    assert abs(rule_probability(A - B >= 0, {"a": -500, "b": -500}, law, post=clamp) - 1) < 1e-14
    assert rule_probability(A - B > 0, {"a": -500, "b": -500}, law, post=clamp) == 0


def test_two_clamped_counts_tie_where_both_are_at_their_least():
    """Two real counts are equal with a probability above 0 once both are clamped."""
    law, counts = Laplace(2), {"a": 1, "b": 3}
    clamp = [Nonnegative()]
    tie = rule_probability(A - B >= 0, counts, law, post=clamp) - rule_probability(
        A - B > 0, counts, law, post=clamp
    )

    assert abs(tie - law.cdf(-1) * law.cdf(-3)) < 1e-14


def test_steps_that_change_nothing_are_passed_over():
    """The largest of several least values counts; whole numbers stay whole; no temperature is a clamp."""
    law = DiscreteLaplace(2)
    several = [Nonnegative(least=-3), Integral(), Shrink(0, least=2), Nonnegative()]

    assert rule_probability(A > 1, {"a": 0}, law, post=several) == 1
    assert abs(rule_probability(A > 2, {"a": 0}, law, post=several) - law.sf(2)) < 1e-15
    assert rule_probability(A > 2, {"a": 0}, law, post=[]) == rule_probability(A > 2, {"a": 0}, law)


# --- hostile inputs ------------------------------------------------------------------------------------


def test_counts_of_any_size_keep_their_digits():
    """Only the distance from the border matters; adding noise to a billion in floats would lose it."""
    far = 10**9
    rule = ratio("sp", "s") > 0.5
    near = rule_probability(count("sp") - count("s") / 2 > 0, {"sp": 3, "s": 1}, Laplace(1))

    assert abs(rule_probability(rule, {"sp": far + 3, "s": 2 * far + 1}, Laplace(1)) - near) < 1e-14


def test_numbers_beyond_64_bits_are_compared_exactly():
    """A coefficient of 10**30 must not wrap around."""
    huge = 10**30
    law = DiscreteLaplace(2)
    plain = (A - B > 0) & (A > 0)
    scaled = (huge * A - (huge + 1) * B > 0) & (A > 0)
    real = rule_probability((huge * A - huge * B > 1) & (A > 0), {"a": 2, "b": 1}, Laplace(2))
    clamped = (huge * A > 1) & (A + B > 1)
    at_least = rule_probability(clamped, {"a": 0, "b": 1}, Laplace(2), post=[Nonnegative()])
    simple = rule_probability((A > 0) & (A + B > 1), {"a": 0, "b": 1}, Laplace(2), post=[Nonnegative()])

    assert rule_probability(plain, {"a": 2, "b": 1}, law) > 0
    assert (
        abs(
            rule_probability(scaled, {"a": 2, "b": 1}, law)
            - enumerated(scaled, {"a": 2, "b": 1}, {"a": law, "b": law}, far=80)
        )
        < 1e-13
    )
    assert abs(real - rule_probability(plain, {"a": 2, "b": 1}, Laplace(2))) < 1e-14
    assert abs(at_least - simple) < 1e-14


def test_shapes_broadcast_and_may_be_empty():
    """A table of entities by years, one county, and none."""
    law = Laplace(2)
    grid = rule_probability(A + B > 3, {"a": np.arange(3)[:, None], "b": np.arange(4)}, law)

    assert grid.shape == (3, 4)
    assert grid[2, 1] == rule_probability(A + B > 3, {"a": 2, "b": 1}, law)
    assert rule_probability(A > 3, {"a": []}, law).shape == (0,)
    assert rule_probability(A > 3, {"a": np.array([3.0, 4.0])}, law).tolist() == [0.5, 1 - math.exp(-0.5) / 2]


@pytest.mark.parametrize(
    "law", [Laplace(10**7), Laplace("1e-6"), Gaussian("1e-12"), Gaussian(10**14), DiscreteLaplace("1e-3")]
)
def test_extreme_scales_give_probabilities(law):
    """Wide and narrow noise beside counts of ordinary size."""
    found = rule_probability(language(), county([80, 0, 10**6], [4, 0, 10_001], [1, 0, 900]), law)

    assert ((found >= 0) & (found <= 1)).all()


def test_scales_of_very_different_size_agree_with_the_limit():
    """Noise a million times narrower than the other is as good as none."""
    laws = {"s": Laplace("1e-4"), "sp": Laplace(100), "spe": Laplace("1e-4")}
    found = rule_probability(language(), county(3305, 160, 3), laws)
    noise = Laplace(100)
    sure = noise.cdf(3 / 0.0131 - 160) - noise.cdf(0.05 * 3305 - 160)

    assert abs(found - sure) < 1e-6


@pytest.mark.parametrize("bad", [[1.5], [math.nan], ["x"], [True], [2**63 - 1], [-(2**63)], [None]])
def test_columns_that_are_not_counts_are_refused_without_showing_them(bad):
    """A message never holds a cell."""
    with pytest.raises(InvalidParameterError, match=r"'a' is not\. Got 'others' instead") as caught:
        rule_probability(A > 1, {"a": bad}, Laplace(2))

    assert str(bad[0]) not in str(caught.value).replace("2**62", "")


def test_what_is_missing_or_of_another_kind_is_refused():
    """Each refusal names what is wrong."""
    with pytest.raises(ColumnNotFoundError, match="'b'"):
        rule_probability(A + B > 1, {"a": [1]}, Laplace(2))
    with pytest.raises(UnknownNameError, match="The noise of input 'b'"):
        rule_probability(A + B > 1, {"a": [1], "b": [2]}, {"a": Laplace(2)})
    with pytest.raises(InvalidParameterError, match="'laws' parameter"):
        rule_probability(A > 1, {"a": [1]}, 3.0)
    with pytest.raises(InvalidParameterError, match="'rule' parameter of exactly_solvable must be a rule"):
        exactly_solvable("a > 1", Laplace(2))
    with pytest.raises(InvalidParameterError, match="'rule' parameter of rule_probability must be a rule"):
        rule_probability(None, {"a": [1]}, Laplace(2))
    with pytest.raises(InvalidParameterError, match="'post' parameter"):
        rule_probability(A > 1, {"a": [1]}, Laplace(2), post=["nonnegative"])


def test_a_reason_says_why_sampling_is_needed():
    """The caller samples then, and shows the reason."""
    pairs = [x + y > 0 for x, y in itertools.combinations((A, B, C, D), 2)]
    tangled = functools.reduce(operator.and_, pairs)
    many = parse(" or ".join(f"a > {k}" for k in range(13)))

    assert exactly_solvable(language(), Laplace(2)) is None
    assert exactly_solvable(A > 1, Laplace(2), [Shrink(1)]) == (
        'no law is known after the step "counts below 0 set to 0, small ones shrunk with T = 1"'
    )
    assert "not whole" in exactly_solvable(A > 1, Laplace(2), [Integral()])
    assert exactly_solvable(A > 1, DiscreteLaplace(2), [Integral()]) is None
    assert "ties the counts" in exactly_solvable(A > 1, Laplace(2), [SumTo(5)])
    assert "13 different comparisons" in exactly_solvable(many, Laplace(2))
    assert "share so many inputs" in exactly_solvable(tangled, Laplace(2))
    assert exactly_solvable(pairs[0] & pairs[1] & pairs[3], Laplace(2)) is None
    assert "share so many inputs" in exactly_solvable(
        pairs[0] & pairs[1] & pairs[3], Laplace(2), entities=3_000
    )
    assert exactly_solvable(language(), DiscreteLaplace(300), entities=3_000) is None
    assert "noise is so wide" in exactly_solvable(language(), DiscreteLaplace(10**6))
    with pytest.raises(InvalidParameterError, match="known exactly; it makes 13 different comparisons"):
        rule_probability(many, {"a": 1}, Laplace(2))
