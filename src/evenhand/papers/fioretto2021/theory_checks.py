"""Checks of what fioretto2021 proves about allotments, post-processing and rules, each in another way."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide import bounds, bounds_curvature
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.noisy_total import build_noisy_shares
from evenhand.decide.allotment.principal_values import principal_value
from evenhand.decide.language.terms import count
from evenhand.papers.claims import Checked, agree_if
from evenhand.papers.fioretto2021.trials import rule_errors
from evenhand.privacy.laws import Laplace
from evenhand.release import postprocess

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values

_CLOSE = 1e-9
_HALF = 0.5
_COUNTS, _WEIGHTS, _SCALE = (30, 50, 80), (1.0, 2.0, 1.5), 2
_FIRST, _SECOND = count("x") >= 10, count("y") > 6
_JOINED = {"and": _FIRST & _SECOND, "or": _FIRST | _SECOND, "xor": _FIRST ^ _SECOND}
_X, _Y = (column.ravel() for column in np.meshgrid(np.arange(4, 17), np.arange(0, 13)))
_LAWS = {"x": Laplace(2), "y": Laplace(3)}
_CUTS = (1e-3, 1e-6, 1e-9, 1e-12)
_LEVELS = (0.01, 0.1, 0.2, 0.35, 0.49)
_RANGES = ((0.4, 0.3), (0.1, 0.2))  # the largest and the smallest errors of two predicates


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


def theorem_3(_: Evidence) -> Checked:
    worst = 0.0
    for x, b, factor in product((0.0, 3.0, 40.0), (1.0, 7.0), (1.0, -2.0)):
        mean = expected(lambda noise, x=x, factor=factor: factor * (x + noise) ** 2, b)  # type: ignore[misc]
        worst = max(worst, abs(mean - factor * x**2 - factor * 2 * b**2) / b**2)
    return agree_if(worst < _CLOSE, worst=worst)


def equation_4g(_: Evidence) -> Checked:
    true = _exact_shares()
    trace = bounds_curvature.allotment_trace(_WEIGHTS, _COUNTS)
    printed, right = (
        bounds_curvature.second_order_bias(trace, Laplace(_SCALE), as_printed=each) for each in (True, False)
    )
    values = {"counts": _COUNTS, "weights": _WEIGHTS, "true": true, "right": right, "printed": printed}
    return agree_if(np.allclose(printed, true, rtol=0.1), **values)


def equation_5b(_: Evidence) -> Checked:
    true = float(np.ptp(_exact_shares()))
    trace = bounds_curvature.allotment_trace(_WEIGHTS, _COUNTS)
    printed = bounds_curvature.second_order_alpha(trace, Laplace(_SCALE), as_printed=True)
    return agree_if(math.isclose(printed, true, rel_tol=0.1), true=true, printed=printed)


def corollary_1(_: Evidence) -> Checked:
    worst = max(
        abs(expected(lambda noise, x=x: 3 * (x + noise) - 2, 5.0) - (3 * x - 2))  # type: ignore[misc]
        for x in (0.0, 11.0)
    )
    return agree_if(worst < _CLOSE, worst=worst)


def corollary_2(_: Evidence) -> Checked:
    """Check it for formulas of bounded range, as section 3 asks, and compute what unbounded ones do.

    Bounded formulas of equal traces differ by a constant (Liouville), and so do their means.
    """
    x, b, constant = 2.0, 1.0, 3.0
    bounded = [expected(lambda noise, c=c: np.sin(x + noise) + c, b) - c for c in (0.0, constant)]  # type: ignore[misc]
    second, fourth = (expected(lambda noise, k=k: noise**k, b) for k in (2, 4))  # type: ignore[misc]
    apart = 2 * (fourth - 3 * second**2)  # of x^4 - 6 x^2 y^2 + y^4, whose trace is 0
    off = abs(bounded[0] - bounded[1])
    return agree_if(off < _CLOSE, off=off, apart=apart)


def corollary_4(_: Evidence) -> Checked:
    """Check it for formulas of bounded range, and compute what an unbounded one does.

    Bounded formulas of equal biases differ by a constant (Choquet and Deny), and so have equal traces.
    """
    x, b, slope = 1.0, 1.0, math.sqrt(1 / 5)
    biases = [expected(lambda noise, k=k: np.cos(k * (x + noise)), b) - math.cos(k * x) for k in (1, 2)]  # type: ignore[misc]
    mean = expected(lambda noise: np.exp(slope * noise), b) * expected(lambda noise: np.cos(noise / 2), b)
    return agree_if(abs(biases[0] - biases[1]) > _CLOSE, biases=biases, mean=mean)


def not_convex(_: Evidence) -> Checked:
    """Compare two entities that get the same bounded amount by a formula that is not convex."""
    biases = [
        expected(lambda noise, s=s: np.cos(s * (2 + noise)), 3.0) - math.cos(s * 2)  # type: ignore[misc]
        for s in (1, -1)
    ]
    off = abs(biases[0] - biases[1])
    return agree_if(off > _CLOSE, bias=biases[0], off=off)


def trace_of_example(_: Evidence) -> Checked:
    formula = bounds_curvature.allotment_trace(_WEIGHTS, _COUNTS)
    counts, weights, step = np.array(_COUNTS, dtype=float), np.array(_WEIGHTS), 0.05
    trace = np.zeros(3)
    for unit in step * np.eye(3):
        near = [x * weights / (x @ weights) for x in (counts + unit, counts, counts - unit)]
        trace += (near[0] - 2 * near[1] + near[2]) / step**2
    off = float(np.abs(trace / formula - 1).max())
    return agree_if(off < 1e-4, off=off)


def different_traces(_: Evidence) -> Checked:
    traces = bounds_curvature.allotment_trace([1, 2], [10, 20])
    return agree_if(float(np.ptp(traces)) > 1e-12, traces=traces)


def inverse_growth(count: float, scale: float, cuts: tuple[float, ...]) -> list[float]:
    r"""Return what the mean of :math:`1 / |y|` of a noisy count gains from one cut around 0 to the next.

    It is the integral of the density over the logarithm of :math:`|y|` from a smaller cut to a larger one. If
    it does not shrink, the mean does not exist.
    """
    nodes, weights = np.polynomial.legendre.leggauss(40)
    gains = []
    for larger, smaller in pairwise(map(math.log, cuts)):
        sizes = np.exp(smaller + (larger - smaller) * (nodes + 1) / 2)
        density = sum(np.exp(-np.abs(side * sizes - count) / scale) / (2 * scale) for side in (1, -1))
        gains.append(float((density * weights).sum()) * (larger - smaller) / 2)
    return gains


def finite_mean(_: Evidence, count: float, scale: float) -> Checked:
    gains = inverse_growth(count, scale, _CUTS)
    return agree_if(gains[-1] < gains[0] / 2, gains=gains, cuts=_CUTS)


def proxies_private(_: Evidence) -> Checked:
    counts = np.array([[900.0, 40, 3], [1200, 80, 1], [700, 20, 2], [3000, 190, 9]])
    more = counts + np.eye(4, 3, k=-1)  # one person more in the second county
    answers = np.array([0.0, 1.0, 0.0, 1.0])
    first, second = (np.linalg.lstsq(table, answers, rcond=None)[0] for table in (counts, more))
    moved = float(np.abs(first / second - 1).max())
    return agree_if(moved < _CLOSE, moved=moved)


def corollary_5(_: Evidence) -> Checked:
    traces = bounds_curvature.ratio_trace([4, 30], [80, 600])
    return agree_if(float(np.ptp(traces)) > 0, traces=traces)


# --- post-processing ------------------------------------------------------------------------------


def theorem_9(_: Evidence) -> Checked:
    worst = 0.0
    for x, b in product((0, 3, 10, 100), (2, 5, 50)):
        mean = expected(lambda noise, x=x: np.maximum(0.0, x + noise), float(b), (float(-x),))  # type: ignore[misc]
        worst = max(worst, abs(mean - x - b / 2 * math.exp(-x / b)))
    return agree_if(worst < _CLOSE, worst=worst, shipped=float(postprocess.clamp_bias([3], Laplace(5))[0]))


def after_theorem_9(_: Evidence) -> Checked:
    true = expected(lambda noise: np.maximum(-3.0, noise), 5.0, (-3.0,))
    printed = float(np.exp(-3 / 5))
    return agree_if(math.isclose(true, printed, rel_tol=1e-3), true=true, printed=printed)


def integrality(_: Evidence) -> Checked:
    values = np.linspace(-3, 3, 61)
    low = np.floor(values)
    mean = low * (1 - (values - low)) + (low + 1) * (values - low)
    off = float(np.abs(mean - values).max())
    return agree_if(off < _CLOSE, off=off)


def integral_decisions(_: Evidence) -> Checked:
    b = 2.0
    moved = expected(lambda noise: np.where((noise > -1) & (noise < 0), 1 + noise, 0.0), b, (-1.0,))
    return agree_if(moved < _CLOSE, after=0.5 + moved)


def theorem_10(_: Evidence) -> Checked:
    bias = np.array([0.3, -0.1, 0.05, 0.0])
    after = bias - bias.mean()
    off = abs(float(np.ptp(after) - np.ptp(bias)))
    return agree_if(off < _CLOSE, off=off)


def equation_29(_: Evidence) -> Checked:
    z, total = np.array([1.0, 2.0, 6.0]), 12.0
    right = float((z + (total - z.sum()) / 3).sum())
    printed = float(sum(each + (total - (z.sum() - each)) / 3 for each in z))
    return agree_if(math.isclose(printed, total), own=z.sum(), printed=printed, right=right)


def _moves(counts: tuple[int, ...], weights: tuple[int, ...]) -> Fraction:
    """Return how far all shares move together, at most, if one person leaves."""
    worst, before = Fraction(0), [x * a for x, a in zip(counts, weights, strict=True)]
    for gone in range(len(counts)):
        after = [part - weights[gone] * (place == gone) for place, part in enumerate(before)]
        if counts[gone] and sum(after):
            moves = [
                Fraction(x, sum(before)) - Fraction(y, sum(after)) for x, y in zip(before, after, strict=True)
            ]
            worst = max(worst, sum(map(abs, moves), Fraction(0)))
    return worst


def theorem_11(_: Evidence) -> Checked:
    """Check that no table moves further than stated, and that some move so far, with its own sum as L."""
    weights = (1, 2, 3)
    broken, reached, number = 0, 0, 0
    for counts in product(range(7), repeat=3):
        total = sum(x * a for x, a in zip(counts, weights, strict=True))
        if total > max(weights):
            moved, stated = _moves(counts, weights), Fraction(2 * max(weights), total)
            number += 1
            broken += moved > stated
            reached += moved == stated
    return agree_if(not broken and reached, number=number, broken=broken, reached=reached)


# --- rules ----------------------------------------------------------------------------------------


def _grid(rule: Rule) -> tuple[Values, NDArray[np.bool_]]:
    return rule_errors(rule, {"x": _X, "y": _Y}, _LAWS)


def theorem_4(_: Evidence) -> Checked:
    errors, _truth = rule_errors(count("x") >= 10, {"x": np.arange(-40, 60)}, {"x": Laplace(2)})
    return agree_if(float(errors.max()) <= _HALF + _CLOSE, largest=errors.max())


def property_1(_: Evidence) -> Checked:
    steps = np.linspace(0, 0.5, 51)
    a, b = np.meshgrid(steps, steps)
    tables = (a * b, a + b - a * b, a + b - 2 * a * b)
    least = min(float(np.diff(table, axis=axis).min()) for table, axis in product(tables, (0, 1)))
    return agree_if(least >= -_CLOSE, least=least)


def lemma(_: Evidence, operator: Any) -> Checked:
    (one, first), (two, second), (both, _truth) = map(_grid, (_FIRST, _SECOND, _JOINED[operator]))
    formula = bounds.composed_error(operator, one, two, first_true=first, second_true=second)
    off = float(np.abs(formula - both).max())
    return agree_if(off < _CLOSE, off=off, pairs=len(both))


def bound_of_alpha(_: Evidence, operators: list[Any]) -> Checked:
    told, broken = [], 0
    for operator in operators:
        one, two, both = (_grid(rule)[0] for rule in (_FIRST, _SECOND, _JOINED[operator]))
        for inside in (*(slice(start, start + 13) for start in range(0, len(both), 13)), slice(None)):
            most = bounds.alpha_bound(
                operator, bounds.ErrorRange.of(one[inside]), bounds.ErrorRange.of(two[inside])
            )
            broken += float(np.ptp(both[inside])) > most + _CLOSE
        told.append(f"'{operator}': {np.ptp(both):.4f}, at most {most:.4f}")
    return agree_if(not broken, broken=broken, told="; ".join(told))


def equation_20b(_: Evidence) -> Checked:
    high, low = _RANGES
    plain = high[0] + high[1] - 2 * high[0] * high[1]
    printed = plain - low[0] + low[1] - 2 * low[0] * low[1]
    right = plain - low[0] - low[1] + 2 * low[0] * low[1]
    one, other = (bounds.ErrorRange(least=a, greatest=b) for a, b in zip(low, high, strict=True))
    found = bounds.alpha_bound("xor", one, other)
    return agree_if(abs(printed - right) < _CLOSE, printed=printed, right=right, found=found)


def corollary_3(_: Evidence) -> Checked:
    same = [bounds.ErrorRange(least=level, greatest=level) for level in _LEVELS]
    worst = max(abs(bounds.alpha_bound("xor", *pair)) for pair in product(same, repeat=2))
    return agree_if(worst < _CLOSE, worst=worst)


def corollary_6(_: Evidence) -> Checked:
    pairs = [(low, high) for low, high in product(_LEVELS, repeat=2) if low <= high]
    ranges = [bounds.ErrorRange(least=low, greatest=high) for low, high in pairs]
    excess = [bounds.alpha_bound_excess(*two) for two in product(ranges, repeat=2)]
    return agree_if(min(excess) > 0, least=min(excess), number=len(excess))


def composition(_: Evidence) -> Checked:
    columns = {"x": np.array([10, 0]), "y": np.array([-8, 6])}
    laws = {"x": Laplace(2), "y": Laplace(2)}
    rules = (count("x") > 10, count("y") > 6, (count("x") > 10) & (count("y") > 6))
    one, two, both = (np.ptp(rule_errors(rule, columns, laws)[0]) for rule in rules)
    return agree_if(both > max(one, two), one=one, two=two, both=both)


def most_by_truth(_: Evidence, operator: Any, worst: list[bool]) -> Checked:
    wrong = sum(
        next(iter(bounds.errors_by_truth(operator, a, b))) != tuple(worst)
        for a, b in product(_LEVELS, repeat=2)
    )
    (one, first), (two, second), (both, _truth) = map(_grid, (_FIRST, _SECOND, _JOINED[operator]))
    like = (np.abs(one - one[_X == 12][0]) < _CLOSE) & (np.abs(two - two[_Y == 9][0]) < _CLOSE)
    by = {(bool(a), bool(b)): float(c) for a, b, c in zip(first[like], second[like], both[like], strict=True)}
    most = max(by, key=by.__getitem__)
    told = ", ".join(f"{'TF'[not a]}{'TF'[not b]} {error:.4f}" for (a, b), error in by.items())
    return agree_if(not wrong and most == tuple(worst), pairs=len(_LEVELS) ** 2, wrong=wrong, told=told)
