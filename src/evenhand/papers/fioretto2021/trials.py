"""The experiments of fioretto2021 as trials: what is exact, once, and what is drawn, part by part.

Continuous noise is drawn here as the paper does it, for a simulation; nothing of this is fit for release.
How often noise turns each part of the language rule round is exact. In figure 7 one linear rule for each of
nine groups takes the place of that rule. Groups are formed by noisy counts of people with limited English. In
each a linear model is fitted to the true answers of its areas, as the paper does; that the model itself then
tells about the true counts is not taken care of there, and so not here.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.svm import SVC

from evenhand.decide.bounds import composed_error
from evenhand.decide.exact.noise_laws import laplace_sum_tail
from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.terms import count, ratio
from evenhand.papers.fioretto2021 import allotment, data
from evenhand.papers.fioretto2021.allotment import round_significant
from evenhand.papers.fioretto2021.data import (
    ALLOTMENT,
    COUNTIES,
    COUNTY_DRAWS,
    DRAWS,
    EPSILONS,
    LANGUAGE,
    LANGUAGE_DRAWS,
    LANGUAGE_EPSILONS,
    PROXIES,
)
from evenhand.papers.trials import Trials, source_of
from evenhand.privacy.laws import Laplace
from evenhand.release.postprocess.steps import Shrink

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.papers.fioretto2021.data import Areas, Districts
    from evenhand.papers.trials import Values
    from evenhand.privacy.laws import Law
    from evenhand.privacy.randomness import SeededSource

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


def rule_errors(
    rule: Rule, columns: Mapping[str, Any], laws: Mapping[str, Law]
) -> tuple[Values, NDArray[np.bool_]]:
    """Return how often noise turns a rule round, for each entity, and what it says of the true counts."""
    own = {name: columns[name] for name in rule.inputs}
    truth = np.asarray(rule.holds(own), dtype=bool)
    holds = np.asarray(rule_probability(rule, own, {name: laws[name] for name in own}), dtype=float)
    return np.where(truth, 1 - holds, holds), truth


@lru_cache(maxsize=64)
def part_errors(name: str, epsilon: str, touches: str = "1") -> dict[str, Values]:
    """Return how often noise turns the rule and each part round, one probability for each area."""
    columns = data.load_areas(name).columns
    laws = dict.fromkeys(columns, Laplace(int(touches) / Fraction(epsilon)))
    found, truth = {}, {}
    for part, rule in parts().items():
        found[part], truth[part] = rule_errors(rule, columns, laws)
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

_source = partial(source_of, 2021)


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
        members, _ = group_areas(table, epsilon, _source("proxies", number, text))
        own = part_errors(TABLE, text)[WHOLE]
        rows = []
        for inside in members:
            answers = table.covered[inside]
            row = {ORIGINAL: _summary(own[inside], own[inside], 1.0)}
            for model in MODELS:
                linear = linear_rule(features[inside], answers, model)
                errors, turned, right = flips(features[inside], answers, *linear, 1 / float(epsilon))
                row[model] = _summary(errors, turned, float(right.mean()))
            rows.append(row)
        found[text] = rows
    return {"epsilons": found}


def _summary(errors: Values, turned: Values, right: float) -> dict[str, float]:
    """Return alpha and mean error against the original rule, alpha against its own answers, and accuracy."""
    alpha, own = float(np.ptp(errors)), float(np.ptp(turned))
    return {"alpha": alpha, "error": float(errors.mean()), "own alpha": own, "right": right}


PART, REPETITIONS = 1_000, 10_000
"""Repetitions of a trial of the two simulations, of which ten are the paper's, and of figure 4."""

_CHUNK = 100


def paper_trials(sizes: Mapping[str, int]) -> tuple[Trials, ...]:
    """Return the trials of a design, by how many there are of each."""
    kinds = {
        ALLOTMENT: allotment.allotment_record,
        LANGUAGE: language_record,
        DRAWS: _draws,
        LANGUAGE_DRAWS: _language_draws,
        COUNTY_DRAWS: _counties,
        PROXIES: proxies_record,
    }
    return tuple(Trials(name, sizes[name], compute) for name, compute in kinds.items() if sizes.get(name))


def _draws(number: int) -> dict[str, Any]:
    """Return mean errors of shares over some repetitions: those of New York, and alphas of all."""
    table = data.load_districts("students")
    found: dict[str, Any] = {}
    for text in EPSILONS:
        known = allotment.temperatures(text)
        chosen = {each: known[each] for each in (allotment.EVENEST, allotment.BEST)}
        source = _source("draws", "students", number, text)
        drawn = draw_allotments(table, Fraction(text), chosen, PART, source)
        found[text] = {
            way: {
                "bias": round_significant(off[table.chosen]),
                "alpha": float(np.ptp(off)),
                "error": float(size.mean()),
                "error, New York": float(size[table.chosen].mean()),
            }
            for way, (off, size) in drawn.items()
        }
    return {"repetitions": PART, "epsilons": found}


def _language_draws(number: int) -> dict[str, Any]:
    """Return how often the rule was wrong over some repetitions, for each area."""
    table, found = data.load_areas("simulated"), {}
    for text in LANGUAGE_EPSILONS:
        source = _source("rule", "simulated", number, text)
        found[text] = draw_rule_errors(table, Fraction(text), PART, source).tolist()
    return {"repetitions": PART, "wrong": found}


def _counties(number: int) -> dict[str, Any]:
    """Return mean and variance of the noisy ratios of the three counties, over the paper's repetitions."""
    pairs, found = [(each.sp, each.s) for each in COUNTIES], {}
    for text in LANGUAGE_EPSILONS:
        drawn = draw_counties(pairs, Fraction(text), REPETITIONS, _source("counties", number, text))
        found[text] = dict(zip(("mean", "variance"), (each.tolist() for each in drawn), strict=True))
    return {"epsilons": found}


def _chunks(repetitions: int) -> Iterator[int]:
    """Yield how many repetitions are drawn at once."""
    for start in range(0, repetitions, _CHUNK):
        yield min(_CHUNK, repetitions - start)


def draw_allotments(
    table: Districts,
    epsilon: Fraction,
    temperatures: Mapping[str, float],
    repetitions: int,
    source: SeededSource,
) -> dict[str, tuple[Values, Values]]:
    """Return, for each way to allot, the mean error of each share and its mean absolute error.

    Counts have Laplace noise of scale 1 / epsilon; for the proxy of 2 / epsilon, its sum has the rest.
    Further ways are to shrink counts at these temperatures.
    """
    weights, true = table.weights.astype(float), table.shares
    shrunk = {name: Shrink(value) for name, value in ({data.CLAMP: 0.0} | dict(temperatures)).items()}
    sums: dict[str, Any] = {}
    for size in _chunks(repetitions):
        noise = Laplace(1 / epsilon).draw(size=(size, len(true)), source=source)
        about = Laplace(2 * int(weights.max()) / epsilon).draw(size=(size, 1), source=source)
        noisy = table.counts + noise
        counts = {data.PLAIN: noisy} | {name: step.apply(noisy) for name, step in shrunk.items()}
        shares = {
            name: each * weights / (each * weights).sum(axis=1, keepdims=True)
            for name, each in counts.items()
        }
        shares[data.PROXY] = (table.counts + 2 * noise) * weights / (table.total + about)
        for name, each in shares.items():
            off, total = sums.get(name, (0.0, 0.0))
            sums[name] = off + (each - true).sum(axis=0), total + np.abs(each - true).sum(axis=0)
    return {name: (off / repetitions, size / repetitions) for name, (off, size) in sums.items()}


def draw_rule_errors(table: Areas, epsilon: Fraction, repetitions: int, source: SeededSource) -> Any:
    """Return how often noise turned the language rule's answer round, for each area.

    Ratios are computed as they stand, so that two negative counts have a positive ratio.
    """
    wrong = np.zeros(len(table.covered), dtype=np.int64)
    for size in _chunks(repetitions):
        s, sp, spe = (
            each + Laplace(1 / epsilon).draw(size=(size, len(each)), source=source)
            for each in table.columns.values()
        )
        holds = ((sp / s > 0.05) | (sp > 10_000)) & (spe / sp > 0.0131)
        wrong += (holds != table.covered).sum(axis=0)
    return wrong


def draw_counties(
    counts: Any, epsilon: Fraction, repetitions: int, source: SeededSource
) -> tuple[Values, Values]:
    """Return mean and variance of noisy ratios x / y, for rows of x and y."""
    pairs = np.asarray(counts, dtype=float)
    noisy = pairs + Laplace(1 / epsilon).draw(size=(repetitions, *pairs.shape), source=source)
    ratios = noisy[:, :, 0] / noisy[:, :, 1]
    return ratios.mean(axis=0), ratios.var(axis=0, ddof=1)
