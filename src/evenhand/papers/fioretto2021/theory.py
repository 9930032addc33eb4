"""What fioretto2021 proves about allotments and post-processing, each checked in another way."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.noisy_total import build_noisy_shares
from evenhand.decide.allotment.principal_values import principal_value
from evenhand.decide.bounds_curvature import (
    allotment_trace,
    ratio_trace,
    second_order_alpha,
    second_order_bias,
)
from evenhand.papers.claims import Checked, Claim
from evenhand.papers.fioretto2021.checks import as_text, verdict
from evenhand.privacy.laws import Laplace
from evenhand.release import postprocess

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence

    Values = NDArray[np.float64]

__all__ = ["THEORY", "expected"]

_CLOSE = 1e-9
_COUNTS, _WEIGHTS, _SCALE = (30, 50, 80), (1.0, 2.0, 1.5), 2


def expected(function: Callable[[Values], Values], scale: float, kinks: tuple[float, ...] = (0.0,)) -> float:
    """Return the mean of a function of Laplace noise, by Gauss and Legendre's rule between its kinks.

    >>> round(expected(lambda noise: noise**2, 3.0), 9)
    18.0
    """
    nodes, weights = np.polynomial.legendre.leggauss(40)
    reach = [each * scale for each in (1, 2, 4, 8, 16, 24, 32, 40, 50)]
    cuts = sorted({0.0, *kinks, *reach, *(-each for each in reach)})
    total = 0.0
    for left, right in pairwise(cuts):
        noise = left + (right - left) * (nodes + 1) / 2
        density = np.exp(-np.abs(noise) / scale) / (2 * scale)
        total += float((function(noise) * density * weights).sum()) * (right - left) / 2
    return total


def _exact_shares() -> Values:
    """Return the exact bias of a small allotment."""
    return np.asarray(principal_value(build_noisy_shares(Allotment(_WEIGHTS), _COUNTS, Laplace(_SCALE)))[0])


# --- curvature ------------------------------------------------------------------------------------


def _theorem_3(_: Evidence) -> Checked:
    worst = 0.0
    for x, b, factor in product((0.0, 3.0, 40.0), (1.0, 7.0), (1.0, -2.0)):
        mean = expected(lambda noise, x=x, factor=factor: factor * (x + noise) ** 2, b)  # type: ignore[misc]
        worst = max(worst, abs(mean - factor * x**2 - factor * 2 * b**2) / b**2)
    why = (
        f"Of a quadratic formula the bias is half the variance times the trace, whatever the counts (to "
        f"{worst:.0e} in 12 cases), so that alpha is finite."
    )
    return verdict(worst < _CLOSE, why)


def _factor(_: Evidence) -> Checked:
    true = _exact_shares()
    trace = allotment_trace(_WEIGHTS, _COUNTS)
    printed, right = (second_order_bias(trace, Laplace(_SCALE), as_printed=each) for each in (True, False))
    why = (
        f"For counts {_COUNTS}, weights {_WEIGHTS} and noise of scale 2 the bias is {as_text(true)} "
        f"exactly, {as_text(right)} by half the variance times the trace, and {as_text(printed)} by (4g): "
        "(4f) takes a sum of products for a product of sums, and is n times too large."
    )
    return verdict(bool(np.allclose(printed, true, rtol=0.1)), why)


def _half(_: Evidence) -> Checked:
    trace = allotment_trace(_WEIGHTS, _COUNTS)
    true = float(np.ptp(_exact_shares()))
    printed = second_order_alpha(trace, Laplace(_SCALE), as_printed=True)
    why = (
        f"In the same example alpha is {true:.4g} exactly and {printed:.4g} by (5b), which besides the "
        "factor n has lost the 1/2."
    )
    return verdict(math.isclose(printed, true, rel_tol=0.1), why)


def _corollary_1(_: Evidence) -> Checked:
    worst = max(
        abs(expected(lambda noise, x=x: 3 * (x + noise) - 2, 5.0) - (3 * x - 2))  # type: ignore[misc]
        for x in (0.0, 11.0)
    )
    return verdict(worst < _CLOSE, f"A linear formula of noise with mean 0 has no bias (to {worst:.0e}).")


def _corollary_2(_: Evidence) -> Checked:
    b, x, y = 1.0, 2.0, 3.0
    powers = [expected(lambda noise, k=k: noise**k, b) for k in (2, 4)]  # type: ignore[misc]
    fourth = [z**4 + 6 * z**2 * powers[0] + powers[1] for z in (x, y)]
    squares = [z**2 + powers[0] for z in (x, y)]
    mean = fourth[0] - 6 * squares[0] * squares[1] + fourth[1]
    apart = mean - (x**4 - 6 * x**2 * y**2 + y**4)
    why = (
        "True to second order only, for formulas that are not bounded, as linear ones are not. x^4 - 6 x^2 "
        "y^2 + y^4 and 0 have equal traces, 0, at every data set, and with Laplace noise of scale 1 their "
        f"biases differ by {apart:.6g} = 24 b^4. Formulas bounded on all real counts differ by a constant "
        "then (Liouville), and it holds."
    )
    return verdict(abs(apart) < _CLOSE, why)


def _corollary_4(_: Evidence) -> Checked:
    slope = math.sqrt(1 / 5)
    mean = expected(lambda noise: np.exp(slope * noise), 1.0) * expected(lambda noise: np.cos(noise / 2), 1.0)
    why = (
        "True to second order only, for formulas that are not bounded. exp(x / sqrt 5) cos(y / 2) and 0 "
        "have traces that differ, -exp(x / sqrt 5) cos(y / 2) / 20 and 0, but Laplace noise of scale 1 "
        f"multiplies the first by 5/4 * 4/5 = {mean:.6f}: neither has a bias at any data set. Of formulas "
        "bounded on all real counts it holds (Choquet and Deny). Biases of the allotment do differ."
    )
    return verdict(abs(mean - 1) > 1e-6, why)


def _convex(_: Evidence) -> Checked:
    mean = expected(lambda noise: (2 + noise) ** 2, 3.0) - expected(lambda noise: (5 + noise) ** 2, 3.0)
    why = (
        "x^2 - y^2 is not convex, and has no bias with equal noise on both (off by "
        f"{abs(mean - (4 - 25)):.0e}): entities with this formula are treated alike."
    )
    return verdict(abs(mean + 21) > _CLOSE, why)


def _trace(_: Evidence) -> Checked:
    formula = allotment_trace(_WEIGHTS, _COUNTS)
    counts, weights, step = np.array(_COUNTS, dtype=float), np.array(_WEIGHTS), 0.05
    trace = np.zeros(3)
    for unit in step * np.eye(3):
        near = [x * weights / (x @ weights) for x in (counts + unit, counts, counts - unit)]
        trace += (near[0] - 2 * near[1] + near[2]) / step**2
    off = float(np.abs(trace / formula - 1).max())
    return verdict(off < 1e-4, f"Second differences of a small allotment are within {off:.0e} of it.")


def _different(_: Evidence) -> Checked:
    trace = allotment_trace([1, 2], [10, 20])
    why = "Counts 10 and 20 with weights 1 and 2 both have the trace 0. It holds if all weights are equal."
    return verdict(float(np.ptp(trace)) > 1e-12, why)


def _corollary_5(_: Evidence) -> Checked:
    traces = ratio_trace([4, 30], [80, 600])
    why = f"Of 4/80 and 30/600, which are equal, the traces are {as_text(traces)}: small places curve more."
    return verdict(float(np.ptp(traces)) > 0, why)


# --- post-processing ------------------------------------------------------------------------------


def _theorem_9(_: Evidence) -> Checked:
    worst = 0.0
    for x, b in product((0, 3, 10, 100), (2, 5, 50)):
        mean = expected(lambda noise, x=x: np.maximum(0.0, x + noise), float(b), (float(-x),))  # type: ignore[misc]
        worst = max(worst, abs(mean - x - b / 2 * math.exp(-x / b)))
    shipped = float(postprocess.clamp_bias([3], Laplace(5))[0])
    why = f"Within {worst:.0e} of the integral in 12 cases; x = 3, l = 0, lambda = 5 has {shipped:.7f}."
    return verdict(worst < _CLOSE, why)


def _after_theorem_9(_: Evidence) -> Checked:
    true, printed = float(postprocess.clamp_bias([3], Laplace(5))[0]), math.exp(-3 / 5)
    why = (
        "The factor lambda / 2 of the theorem is lost: for x = 3, l = 0, lambda = 5 the bias is "
        f"{true:.4f}, not {printed:.4f}."
    )
    return verdict(math.isclose(true, printed, rel_tol=1e-3), why)


def _integral(_: Evidence) -> Checked:
    values = np.linspace(-3, 3, 61)
    low = np.floor(values)
    mean = low * (1 - (values - low)) + (low + 1) * (values - low)
    off = float(np.abs(mean - values).max())
    return verdict(off < _CLOSE, f"The mean of the two whole numbers is the value itself (to {off:.0e}).")


def _integral_decisions(_: Evidence) -> Checked:
    b = 2.0
    moved = expected(lambda noise: np.where((noise > -1) & (noise < 0), 1 + noise, 0.0), b, (-1.0,))
    why = (
        "The rounded counts have the same mean, but a decision is not linear in them. A count at its "
        "threshold of 10, with noise of scale 2, is let in with probability 0.5 before rounding and "
        f"{0.5 + moved:.4f} after."
    )
    return verdict(moved < _CLOSE, why)


def _theorem_10(_: Evidence) -> Checked:
    bias = np.array([0.3, -0.1, 0.05, 0.0])
    after = bias - bias.mean()
    off = abs(float(np.ptp(after) - np.ptp(bias)))
    why = (
        f"Every value moves by the same, so that differences stay (to {off:.0e}). It does not hold if "
        "values must not be negative besides. Shares of an allotment add up already, so that nothing "
        "changes for them."
    )
    return verdict(off < _CLOSE, why)


def _equation_29(_: Evidence) -> Checked:
    z, total = np.array([1.0, 2.0, 6.0]), 12.0
    right = z + (total - z.sum()) / 3
    printed = z + np.array([(total - (z.sum() - each)) / 3 for each in z])
    why = (
        "The constraint must be on the variable, 1'z^ = S; on z it says nothing. (30a) leaves out the "
        f"entity's own value: for z = (1, 2, 6) and S = 12 it adds up to {printed.sum():g}, and the "
        f"minimizer to {right.sum():g}."
    )
    return verdict(math.isclose(float(printed.sum()), total), why)


# --- Theorem 11 -----------------------------------------------------------------------------------


def _moves(counts: tuple[int, ...], weights: tuple[int, ...]) -> Fraction:
    """Return how far all shares move together, at most, if one person leaves."""
    worst = Fraction(0)
    whole = sum(x * a for x, a in zip(counts, weights, strict=True))
    for gone in range(len(counts)):
        left = [x - (place == gone) for place, x in enumerate(counts)]
        total = sum(x * a for x, a in zip(left, weights, strict=True))
        if counts[gone] and total:
            moves = (
                abs(Fraction(x * a, whole) - Fraction(y * a, total))
                for x, y, a in zip(counts, left, weights, strict=True)
            )
            moved = sum(moves, Fraction(0))
            worst = max(worst, moved)
    return worst


def _theorem_11(_: Evidence) -> Checked:
    weights = (1, 2, 3)
    broken, tight, number = 0, 0, 0
    for counts in product(range(7), repeat=3):
        total = sum(x * a for x, a in zip(counts, weights, strict=True))
        if total > max(weights):
            moved = _moves(counts, weights)
            least = total - max(weights)  # the smaller table may have as little
            number += 1
            broken += moved > Fraction(2 * max(weights), least)
            tight += moved > Fraction(2 * max(weights), least + max(weights))
    why = (
        f"Valid if one person is added or removed, in all {number} tables of three entities, of which "
        f"{broken} break it. Not an equation: 2 a_max / (L + a_max) holds too ({tight} break it). It "
        "holds as well if one person is replaced: the total rises or falls, and then one entity alone gains "
        "or loses, a_max / L at most. It needs an L that is public."
    )
    return verdict(not broken, why)


def _claim(name: str, text: str, where: str, check: Any) -> Claim:
    return Claim(name, text, where, check, "fact")


THEORY = (
    _claim(
        "theorem-3",
        "If all second derivatives of an allotment are constant, alpha is finite.",
        "Theorem 3",
        _theorem_3,
    ),
    _claim("equation-4g", "The bias is n / 2 times the variance times the trace.", "equation (4g)", _factor),
    _claim(
        "equation-5b", "Alpha is n times the variance times a difference of traces.", "equation (5b)", _half
    ),
    _claim("corollary-1", "A linear allotment is fair.", "Corollary 1", _corollary_1),
    _claim(
        "corollary-2", "Equal traces at all data sets make a mechanism fair.", "Corollary 2", _corollary_2
    ),
    _claim(
        "corollary-4",
        "Traces that differ at some data set make a mechanism unfair.",
        "Corollary 4",
        _corollary_4,
    ),
    _claim(
        "corollary-4-convex",
        "Fairness cannot be achieved if the allotment is a non-convex function.",
        "section 6.1",
        _convex,
    ),
    _claim("example-1-trace", "The trace of the allotment's Hessian.", "Example 1", _trace),
    _claim(
        "example-1-different",
        "Any two entries with different counts have different traces.",
        "Example 1",
        _different,
    ),
    _claim("corollary-5", "The mechanism is not fair with respect to ratios.", "Corollary 5", _corollary_5),
    _claim(
        "theorem-9",
        "Clamping at l gives a count of x > l the mean x + lambda / 2 exp((l - x) / lambda).",
        "Theorem 9",
        _theorem_9,
    ),
    _claim("theorem-9-text", "That bias is exp((l - x) / lambda).", "section 6.3", _after_theorem_9),
    _claim("integrality", "Stochastic rounding is unbiased.", "equation (28)", _integral),
    _claim(
        "integrality-decisions",
        "Stochastic rounding does not contribute to further biasing decisions.",
        "section 6.3",
        _integral_decisions,
    ),
    _claim("theorem-10", "A sum constraint leaves alpha as it is.", "Theorem 10", _theorem_10),
    _claim(
        "equation-29",
        "The sum constraint, and its minimizer, as printed.",
        "equations (29), (30a)",
        _equation_29,
    ),
    _claim("theorem-11", "The sensitivity of all shares together is 2 a_max / L.", "Theorem 11", _theorem_11),
)
"""Statements about allotments and post-processing."""
