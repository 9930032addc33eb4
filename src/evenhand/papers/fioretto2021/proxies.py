"""Figure 7 of fioretto2021: the language rule replaced by one linear rule for each of nine groups.

Groups are formed by noisy counts of people with limited English. In each group a linear model is fitted to
the true answers of its areas, as the paper does; that the model itself then tells about the true counts is
not taken care of there, and so not here. What a linear rule does with fresh noise is known exactly.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.svm import SVC

from evenhand.decide.exact.linear_law import laplace_sum_tail
from evenhand.papers.fioretto2021.data import areas
from evenhand.papers.fioretto2021.language import WHOLE, part_errors
from evenhand.papers.fioretto2021.printed import GROUPS, LANGUAGE_EPSILONS
from evenhand.privacy.laws import Laplace
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.papers.fioretto2021.data import Areas

    Values = NDArray[np.float64]

__all__ = ["MODELS", "ORIGINAL", "flips", "grouped", "linear_rule", "proxies_record"]

MODELS = ("regression", "svm")
ORIGINAL = "original"
"""The rule itself, and the two models that stand in for it."""

TABLE = "simulated"
"""The table of areas: only the simulated one has enough of them for nine groups."""

_SEED = 2021


def grouped(table: Areas, epsilon: Fraction, source: SeededSource) -> tuple[list[NDArray[np.int64]], Values]:
    """Return the areas of each group, by their noisy number with limited English, and that number."""
    noisy = table.sp + Laplace(1 / epsilon).draw(size=len(table.sp), source=source)
    return list(np.array_split(np.argsort(noisy, kind="stable"), GROUPS)), noisy


def linear_rule(features: Values, answers: Any, model: str) -> tuple[Values, float]:
    """Return weights and bias of a linear rule: it says yes where their sum is above 0.

    A group in which all answers are alike has weights of 0.

    >>> weights, bias = linear_rule(np.array([[1.0], [3.0]]), np.array([False, True]), "regression")
    >>> round(float(-bias / weights[0]), 6)
    2.0
    """
    if answers.all() or not answers.any():
        return np.zeros(features.shape[1]), 1.0 if answers.all() else -1.0
    center, spread = features.mean(axis=0), features.std(axis=0)
    scaled = (features - center) / np.where(spread > 0, spread, 1.0)
    if model == "regression":
        design = np.column_stack([scaled, np.ones(len(scaled))])
        solved = np.linalg.lstsq(design, answers.astype(float), rcond=None)[0]
        weights, bias = solved[:-1], float(solved[-1]) - 0.5
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a group may not be separable; the fit is then its best
            fitted = SVC(kernel="linear", max_iter=200_000).fit(scaled, answers)
        weights, bias = fitted.coef_[0], float(fitted.intercept_[0])
    slope = weights / np.where(spread > 0, spread, 1.0)
    return slope, bias - float(slope @ center)


def flips(
    features: Values, answers: Any, weights: Values, bias: float, scale: float
) -> tuple[Values, Values, NDArray[np.bool_]]:
    """Return how often a linear rule on noisy counts errs, and whether it is right on true counts.

    It errs against the answers of the original rule, and, second, against its own on true counts.

    Parameters
    ----------
    features : array
    answers : array of bool
        What the original rule says of the true counts.
    weights, bias : array, float
    scale : float
        Of the Laplace noise on each feature.
    """
    margin = features @ weights + bias
    says = margin > 0
    moved = np.abs(weights)[np.abs(weights) > 0] * scale
    if len(moved):
        tail = laplace_sum_tail(np.abs(margin), moved.tolist())
        yes = np.where(says, 1 - tail, tail)
    else:
        yes = says.astype(float)
    return np.where(answers, 1 - yes, yes), np.where(says, 1 - yes, yes), says == answers


def proxies_record(number: int) -> dict[str, Any]:
    """Return alpha and accuracy of the rule and its proxies in each group, for one drawing of the groups."""
    table = areas(TABLE)
    features = np.column_stack([table.spe, table.sp, table.s]).astype(float)
    found: dict[str, Any] = {}
    for text in LANGUAGE_EPSILONS:
        epsilon = Fraction(text)
        members, noisy = grouped(table, epsilon, SeededSource(_SEED, cell=f"proxies/{number}/{text}"))
        own = part_errors(TABLE, text)[WHOLE]
        rows = []
        for inside in members:
            answers = table.covered[inside]
            row = {
                "size": len(inside),
                "low": float(noisy[inside].min()),
                "high": float(noisy[inside].max()),
                "covered": int(answers.sum()),
                ORIGINAL: _alpha(own[inside], own[inside]) | {"right": 1.0},
            }
            for model in MODELS:
                weights, bias = linear_rule(features[inside], answers, model)
                errors, turned, right = flips(features[inside], answers, weights, bias, 1 / float(epsilon))
                row[model] = _alpha(errors, turned) | {"right": float(right.mean())}
            rows.append(row)
        found[text] = rows
    return {"epsilons": found}


def _alpha(errors: Values, turned: Values) -> dict[str, float]:
    """Return alpha and the mean error against the original rule, and alpha against the rule's own answers."""
    return {"alpha": float(np.ptp(errors)), "error": float(errors.mean()), "own alpha": float(np.ptp(turned))}
