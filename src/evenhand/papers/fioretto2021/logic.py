"""What fioretto2021 proves about rules, each statement checked with exact probabilities of joined rules."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.bounds import (
    ErrorRange,
    alpha_bound,
    alpha_bound_excess,
    composed_error,
    errors_by_truth,
)
from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.terms import count
from evenhand.papers.claims import Checked, Claim
from evenhand.papers.fioretto2021.checks import verdict
from evenhand.privacy.laws import Laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.papers.claims import Evidence

    Values = NDArray[np.float64]

__all__ = ["LOGIC", "rule_errors"]

_CLOSE = 1e-9
_HALF = 0.5
_FIRST, _SECOND = count("x") >= 10, count("y") > 6
_X, _Y = (column.ravel() for column in np.meshgrid(np.arange(4, 17), np.arange(0, 13)))
_LAWS = {"x": Laplace(2), "y": Laplace(3)}
_LEVELS = (0.01, 0.1, 0.2, 0.35, 0.49)


def rule_errors(
    rule: Rule, columns: dict[str, Any], laws: dict[str, Any]
) -> tuple[Values, NDArray[np.bool_]]:
    """Return how often noise turns a rule round, for each entity, and what it says of the true counts."""
    truth = np.asarray(rule.holds(columns), dtype=bool)
    holds = np.asarray(rule_probability(rule, columns, laws), dtype=float)
    return np.where(truth, 1 - holds, holds), truth


def _grid(rule: Rule) -> tuple[Values, NDArray[np.bool_]]:
    columns = {"x": _X, "y": _Y}
    return rule_errors(
        rule, {name: columns[name] for name in rule.inputs}, {name: _LAWS[name] for name in rule.inputs}
    )


def _theorem_4(_: Evidence) -> Checked:
    errors, _truth = rule_errors(count("x") >= 10, {"x": np.arange(-40, 60)}, {"x": Laplace(2)})
    why = f"The largest error is {errors.max():.9f}, of a count at the threshold."
    return verdict(float(errors.max()) <= _HALF + _CLOSE, why)


def _property_1(_: Evidence) -> Checked:
    steps = np.linspace(0, 0.5, 51)
    a, b = np.meshgrid(steps, steps)
    least = min(
        float(np.diff(table, axis=axis).min())
        for table in (a * b, a + b - a * b, a + b - 2 * a * b)
        for axis in (0, 1)
    )
    return verdict(
        least >= -_CLOSE,
        "None of the three falls anywhere on a grid of 51 x 51; at 0 or 1/2 some stay level.",
    )


def _lemma(operator: str, _: Evidence) -> Checked:
    joined = {"and": _FIRST & _SECOND, "or": _FIRST | _SECOND, "xor": _FIRST ^ _SECOND}[operator]
    (one, first), (two, second), (both, _truth) = (_grid(each) for each in (_FIRST, _SECOND, joined))
    formula = composed_error(operator, one, two, first_true=first, second_true=second)  # type: ignore[arg-type]
    off = float(np.abs(formula - both).max())
    why = (
        f"Within {off:.0e} of the exact probability of the joined rule for {len(both)} pairs of counts, if "
        "the noise is independent."
    )
    return verdict(off < _CLOSE, why)


def _bound(operator: str, _: Evidence) -> Checked:
    joined = {"and": _FIRST & _SECOND, "or": _FIRST | _SECOND, "xor": _FIRST ^ _SECOND}
    said, broken = [], 0
    for each in ("and", "or") if operator == "and" else ("xor",):
        one, two, both = (_grid(rule)[0] for rule in (_FIRST, _SECOND, joined[each]))
        for start in range(0, len(both), 13):
            inside = slice(start, start + 13)
            most = alpha_bound(each, ErrorRange.of(one[inside]), ErrorRange.of(two[inside]))
            broken += float(np.ptp(both[inside])) > most + _CLOSE
        most = alpha_bound(each, ErrorRange.of(one), ErrorRange.of(two))
        broken += float(np.ptp(both)) > most + _CLOSE
        said.append(f"'{each}': {np.ptp(both):.4f}, at most {most:.4f}")
    why = (
        f"It holds for 14 sets of entities each, with {broken} exceptions; alpha of all of them for "
        f"{'; '.join(said)}."
    )
    return verdict(not broken, why)


def _equation_20b(_: Evidence) -> Checked:
    high, low = (0.4, 0.3), (0.1, 0.2)
    plain = high[0] + high[1] - 2 * high[0] * high[1]
    printed = plain - low[0] + low[1] - 2 * low[0] * low[1]
    right = plain - low[0] - low[1] + 2 * low[0] * low[1]
    found = alpha_bound(
        "xor", ErrorRange(least=low[0], greatest=high[0]), ErrorRange(least=low[1], greatest=high[1])
    )
    why = (
        "Two signs are wrong: with largest errors 0.4 and 0.3 and smallest 0.1 and 0.2 it gives "
        f"{printed:.2f}; put right, {right:.2f}, which is what (17) gives ({found:.2f})."
    )
    return verdict(abs(printed - right) < _CLOSE, why)


def _corollary_3(_: Evidence) -> Checked:
    worst = max(
        abs(alpha_bound("xor", ErrorRange(least=a, greatest=a), ErrorRange(least=b, greatest=b)))
        for a, b in product(_LEVELS, repeat=2)
    )
    return verdict(
        worst < _CLOSE, f"Equal errors of both parts give equal errors under xor (to {worst:.0e})."
    )


def _corollary_6(_: Evidence) -> Checked:
    pairs = [(low, high) for low, high in product(_LEVELS, repeat=2) if low <= high]
    least = min(
        alpha_bound_excess(ErrorRange(least=a, greatest=b), ErrorRange(least=c, greatest=d))
        for (a, b), (c, d) in product(pairs, repeat=2)
    )
    why = (
        f"Of the bound (10) it holds: it is above both alphas by at least {least:.4f} in {len(pairs) ** 2} "
        "cases. (21b) leaves out minus twice the product of the least errors, which changes the steps and "
        "not the result."
    )
    return verdict(least > 0, why)


def _composition(_: Evidence) -> Checked:
    columns = {"x": np.array([10, 0]), "y": np.array([-8, 6])}
    laws = {"x": Laplace(2), "y": Laplace(2)}
    (one, _a), (two, _b), (both, _c) = (
        rule_errors(
            rule, {name: columns[name] for name in rule.inputs}, {name: laws[name] for name in rule.inputs}
        )
        for rule in (count("x") > 10, count("y") > 6, (count("x") > 10) & (count("y") > 6))
    )
    why = (
        "That is said of the bound, not of what happens. Two entities, each at one threshold and far "
        f"below the other: alpha is {np.ptp(one):.3f} and {np.ptp(two):.3f} for the predicates and "
        f"{np.ptp(both):.3f} for both together."
    )
    return verdict(bool(np.ptp(both) > max(np.ptp(one), np.ptp(two))), why)


def _truths(operator: str, _: Evidence) -> Checked:
    expected = (True, True) if operator == "and" else (False, False)
    wrong = sum(
        next(iter(errors_by_truth(operator, a, b))) != expected  # type: ignore[arg-type]
        for a, b in product(_LEVELS, repeat=2)
    )
    (one, first), (two, second), (both, _truth) = (
        _grid(each) for each in (_FIRST, _SECOND, _FIRST & _SECOND if operator == "and" else _FIRST | _SECOND)
    )
    like = (np.abs(one - one[_X == 12][0]) < _CLOSE) & (np.abs(two - two[_Y == 9][0]) < _CLOSE)
    by = {(bool(a), bool(b)): float(c) for a, b, c in zip(first[like], second[like], both[like], strict=True)}
    most = max(by, key=by.__getitem__)
    told = ", ".join(f"{'TF'[not a]}{'TF'[not b]} {error:.4f}" for (a, b), error in by.items())
    why = (
        f"In {len(_LEVELS) ** 2} pairs of errors, with {wrong} exceptions; exactly, for counts as far "
        f"above their thresholds as below: {told}. It needs equal errors of all entities, which real "
        "counties do not have (see figure-5)."
    )
    return verdict(not wrong and most == expected, why)


def _claim(name: str, text: str, where: str, check: Any) -> Claim:
    return Claim(name, text, where, check, "fact")


def _with(check: Any, operator: str) -> Any:
    return lambda evidence: check(operator, evidence)


LOGIC = (
    _claim("theorem-4", "A threshold on a count is 0.5-fair.", "Theorem 4", _theorem_4),
    _claim("property-1", "ab, a + b - ab and a + b - 2ab increase on [0, 1/2].", "Property 1", _property_1),
    _claim("lemma-1", "The error of two predicates joined by 'and'.", "Lemma 1", _with(_lemma, "and")),
    _claim("lemma-2", "The error of two predicates joined by 'or'.", "Lemma 2", _with(_lemma, "or")),
    _claim("lemma-3", "The error of two predicates joined by 'xor'.", "Lemma 3", _with(_lemma, "xor")),
    _claim("theorem-5", "The bound (10) on alpha for 'and' and 'or'.", "Theorem 5", _with(_bound, "and")),
    _claim("theorem-6", "The bound (17) on alpha for 'xor'.", "Theorem 6", _with(_bound, "xor")),
    _claim("equation-20b", "The step (20b) to that bound.", "equation (20b)", _equation_20b),
    _claim(
        "corollary-3", "What is fair for two predicates is fair for their xor.", "Corollary 3", _corollary_3
    ),
    _claim("corollary-6", "For 'and' and 'or' alpha is above both alphas.", "Corollary 6", _corollary_6),
    _claim(
        "composition",
        "Composing predicates has a negative impact on fairness.",
        "section 6.2",
        _composition,
    ),
    _claim("theorem-7", "Under 'and', entities with both true err most.", "Theorem 7", _with(_truths, "and")),
    _claim("theorem-8", "Under 'or', entities with both false err most.", "Theorem 8", _with(_truths, "or")),
)
"""Statements about rules."""
