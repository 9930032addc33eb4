"""The language rule of fioretto2021 without any draws: how often noise turns each of its parts round.

In figure 7 one linear rule for each of nine groups takes its place. Groups are formed by noisy counts of
people with limited English. In each group a linear model is fitted to the true answers of its areas, as the
paper does; that the model itself then tells about the true counts is not taken care of there, and so not
here. What a linear rule does with fresh noise is known exactly.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.svm import SVC

from evenhand.decide.bounds import composed_error
from evenhand.decide.exact.noise_laws import laplace_sum_tail
from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.terms import count, ratio
from evenhand.papers.fioretto2021 import data
from evenhand.papers.fioretto2021.allotment import round_significant
from evenhand.papers.fioretto2021.data import LANGUAGE_EPSILONS
from evenhand.privacy.laws import Laplace
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.papers.fioretto2021.data import Areas

    Values = NDArray[np.float64]

TOUCHES = ("1", "3")
"""Of how many counts the noise takes care: one, as printed, or the three that a person may be in."""

WHOLE, INDEPENDENT = "rule", "rule, if independent"
PARTS = ("share", "number", "schooling", "share or number", "share and schooling", "number or schooling")
"""The three comparisons, and the pairs of figures 4 and 5."""


@lru_cache(maxsize=1)
def parts() -> dict[str, Rule]:
    """Return the rule and its parts; a ratio is computed as it stands, as in the paper."""
    share = ratio("sp", "s", nonpositive="signed") > Fraction("0.05")
    number = count("sp") > 10_000
    schooling = ratio("spe", "sp", nonpositive="signed") > Fraction("0.0131")
    return {
        WHOLE: (share | number) & schooling,
        "share": share,
        "number": number,
        "schooling": schooling,
        "share or number": share | number,
        "share and schooling": share & schooling,
        "number or schooling": number | schooling,
    }


@lru_cache(maxsize=64)
def part_errors(name: str, epsilon: str, touches: str = "1") -> dict[str, Values]:
    """Return how often noise turns the rule and each part round, one probability for each area."""
    columns = data.load_areas(name).columns
    laws = dict.fromkeys(columns, Laplace(int(touches) / Fraction(epsilon)))
    found, truth = {}, {}
    for part, rule in parts().items():
        truth[part] = np.asarray(rule.holds(columns), dtype=bool)
        holds = np.asarray(rule_probability(rule, columns, laws), dtype=float)
        found[part] = np.where(truth[part], 1 - holds, holds)
    joined: Any = found["share"]
    steps: Any = (("or", "share", "number"), ("and", "share or number", "schooling"))
    for operator, first, second in steps:
        given = {"first_true": truth[first], "second_true": truth[second]}
        joined = composed_error(operator, joined, found[second], **given)
    return found | {INDEPENDENT: joined}


def language_record(number: int) -> dict[str, Any]:
    """Return everything about one of the tables of areas."""
    name = data.AREAS[number]
    table = data.load_areas(name)
    errors: dict[str, Any] = {touches: {} for touches in TOUCHES}
    for touches, text in product(TOUCHES, LANGUAGE_EPSILONS):
        found = part_errors(name, text, touches)
        errors[touches][text] = {part: round_significant(each) for part, each in found.items()}
    return {
        "name": name,
        "areas": len(table.covered),
        "drawn": int(table.drawn.sum()),
        "covered": table.covered.tolist(),
        "names": table.names.tolist() if name == "determined" else [],
        **{column: values.tolist() for column, values in table.columns.items()},
        "truth": {part: rule.holds(table.columns).tolist() for part, rule in parts().items()},
        "errors": errors,
    }


ORIGINAL, MODELS = "original", ("regression", "svm")
"""The rule itself, and the two models that stand in for it."""

TABLE, GROUPS = "simulated", 9
"""The table of areas, as only the simulated one has enough of them, and the groups of about equal size."""

_SEED = 2021


def group_areas(
    table: Areas, epsilon: Fraction, source: SeededSource
) -> tuple[list[NDArray[np.int64]], Values]:
    """Return the areas of each group, by their noisy number with limited English, and that number."""
    counts = table.columns["sp"]
    noisy = counts + Laplace(1 / epsilon).draw(size=len(counts), source=source)
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
    """Return how often a linear rule errs with Laplace noise of this scale, and where it is right without.

    It errs against the answers of the original rule, and, second, against its own on true counts.
    """
    margin = features @ weights + bias
    says = margin > 0
    moved = np.abs(weights)[np.abs(weights) > 0] * scale
    tail = laplace_sum_tail(np.abs(margin), moved.tolist()) if len(moved) else np.zeros(len(says))
    yes = np.where(says, 1 - tail, tail)
    return np.where(answers, 1 - yes, yes), np.where(says, 1 - yes, yes), says == answers


def proxies_record(number: int) -> dict[str, Any]:
    """Return alpha and accuracy of the rule and its proxies in each group, for one drawing of the groups."""
    table, found = data.load_areas(TABLE), {}
    features = np.column_stack([table.columns[name] for name in ("spe", "sp", "s")]).astype(float)
    for text in LANGUAGE_EPSILONS:
        epsilon = Fraction(text)
        members, noisy = group_areas(table, epsilon, SeededSource(_SEED, cell=f"proxies/{number}/{text}"))
        own = part_errors(TABLE, text)[WHOLE]
        rows = []
        for inside in members:
            answers = table.covered[inside]
            row = {
                "size": len(inside),
                "low": float(noisy[inside].min()),
                "high": float(noisy[inside].max()),
                "covered": int(answers.sum()),
                ORIGINAL: _summary(own[inside], own[inside], 1.0),
            }
            for model in MODELS:
                linear = linear_rule(features[inside], answers, model)
                errors, turned, right = flips(features[inside], answers, *linear, 1 / float(epsilon))
                row[model] = _summary(errors, turned, float(right.mean()))
            rows.append(row)
        found[text] = rows
    return {"epsilons": found}


def _summary(errors: Values, turned: Values, right: float) -> dict[str, float]:
    """Return alpha and mean error against the original rule, alpha against its own answers, and accuracy."""
    alphas = {
        "alpha": float(np.ptp(errors)),
        "error": float(errors.mean()),
        "own alpha": float(np.ptp(turned)),
    }
    return alphas | {"right": right}
