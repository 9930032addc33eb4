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
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.svm import SVC

from evenhand.decide.bounds import composed_error
from evenhand.decide.exact.noise_laws import laplace_sum_tail
from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.terms import count, ratio
from evenhand.papers.fioretto2021.allotment import round_significant
from evenhand.papers.fioretto2021.data import AREAS, LANGUAGE_EPSILONS, load_areas
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
    table = load_areas(name)
    laws = dict.fromkeys(("s", "sp", "spe"), Laplace(int(touches) / Fraction(epsilon)))
    found, truth = {}, {}
    for part, rule in parts().items():
        truth[part] = np.asarray(rule.holds(table.columns), dtype=bool)
        holds = np.asarray(rule_probability(rule, table.columns, laws), dtype=float)
        found[part] = np.where(truth[part], 1 - holds, holds)
    either = composed_error(
        "or", found["share"], found["number"], first_true=truth["share"], second_true=truth["number"]
    )
    found[INDEPENDENT] = composed_error(
        "and", either, found["schooling"], first_true=truth["share or number"], second_true=truth["schooling"]
    )
    return found


def language_record(number: int) -> dict[str, Any]:
    """Return everything about one of the tables of areas."""
    name = list(AREAS)[number]
    table = load_areas(name)
    return {
        "name": name,
        "areas": len(table.s),
        "drawn": int(table.drawn.sum()),
        "covered": table.covered.tolist(),
        "names": table.names.tolist() if name == "determined" else [],
        **{column: values.tolist() for column, values in table.columns.items()},
        "truth": {part: rule.holds(table.columns).tolist() for part, rule in parts().items()},
        "errors": {
            touches: {
                text: {
                    part: round_significant(each) for part, each in part_errors(name, text, touches).items()
                }
                for text in LANGUAGE_EPSILONS
            }
            for touches in TOUCHES
        },
    }


# --- figure 7: linear rules -----------------------------------------------------------------------


MODELS = ("regression", "svm")
ORIGINAL = "original"
"""The rule itself, and the two models that stand in for it."""

TABLE = "simulated"
"""The table of areas: only the simulated one has enough of them for nine groups."""

GROUPS = 9
"""Groups of about equal size."""

_SEED = 2021


def group_areas(
    table: Areas, epsilon: Fraction, source: SeededSource
) -> tuple[list[NDArray[np.int64]], Values]:
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
    table = load_areas(TABLE)
    features = np.column_stack([table.spe, table.sp, table.s]).astype(float)
    found: dict[str, Any] = {}
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
