"""Checks of what figures 3, 4, 5 and 7 of fioretto2021 are said to show about the language rule."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import CONTRADICTED, UNCHECKED, Checked, agree_if, cannot_check
from evenhand.papers.fioretto2021 import data
from evenhand.papers.fioretto2021.allotment import inverse_excess
from evenhand.papers.fioretto2021.allotment_checks import SIGNIFICANT
from evenhand.papers.fioretto2021.data import (
    AREAS,
    CHANCES,
    COUNTIES,
    COUNTY_DRAWS,
    LANGUAGE,
    LANGUAGE_DRAWS,
    LANGUAGE_EPSILONS,
)
from evenhand.papers.fioretto2021.theory_checks import finite_mean
from evenhand.papers.fioretto2021.trials import INDEPENDENT, MODELS, ORIGINAL, TOUCHES, WHOLE
from evenhand.papers.paper import fill
from evenhand.papers.rules import mostly, rank_correlation, within_sentence
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values

STRONG, WIDE = 0.5, 0.1
"""A rank correlation beyond the first is strong; an alpha beyond the second is a significant disparity of
decisions, and an error below it is small."""

_FEWEST, _MOST_ERRORS = 3, 7
_AT = {"epsilons": LANGUAGE_EPSILONS}


def _runs(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Return the tables of areas that were run, with every epsilon."""
    yield from product(AREAS[: len(evidence.trials[LANGUAGE])], LANGUAGE_EPSILONS)


def _of_counties(evidence: Evidence, measure: str) -> list[Values]:
    """Return means or variances of the counties' noisy ratios, experiments x counties, at every epsilon."""
    return [data.of_draws(evidence, COUNTY_DRAWS, text, measure) for text in LANGUAGE_EPSILONS]


# --- figure 3 -------------------------------------------------------------------------------------


def _entitled(evidence: Evidence, epsilon: str) -> tuple[Values, Values]:
    """Return errors and margins of the determined counties that the rule covers."""
    record = data.language(evidence)
    inside = np.asarray(record["covered"], dtype=bool)
    return data.area_errors(evidence, epsilon, WHOLE)[inside], data.margins(record)[inside]


def disparities(evidence: Evidence) -> Checked:
    alphas = [float(np.ptp(_entitled(evidence, text)[0])) for text in LANGUAGE_EPSILONS]
    wide = sum(alpha > WIDE for alpha in alphas)
    return agree_if(2 * wide > len(alphas), alphas=alphas, most=WIDE, wide=wide, number=len(alphas), **_AT)


def correlated(evidence: Evidence) -> Checked:
    """Check that errors fall with the distance to the thresholds in people, which noise must overcome."""
    record = data.language(evidence)
    inside = np.asarray(record["covered"], dtype=bool)
    s, sp, spe = (np.asarray(record[column], dtype=float)[inside] for column in ("s", "sp", "spe"))
    share, number, schooling = CHANCES
    people = np.minimum(np.maximum(sp - share * s, sp - number), spe - schooling * sp)
    found = [rank_correlation(_entitled(evidence, text)[0], people) for text in LANGUAGE_EPSILONS]
    parts = [rank_correlation(*_entitled(evidence, text)) for text in LANGUAGE_EPSILONS]
    strong = sum(each < -STRONG for each in found)
    values = {"found": found, "parts": parts, "least": STRONG, "strong": strong, "number": len(found)}
    return agree_if(2 * strong > len(found), **values, **_AT)


def near(evidence: Evidence) -> Checked:
    told, agree = [], 0
    for text in LANGUAGE_EPSILONS:
        errors, away = _entitled(evidence, text)
        order = np.argsort(away, kind="stable")
        part = max(1, len(order) // 4)
        close, far = float(errors[order[:part]].mean()), float(errors[order[-part:]].mean())
        agree += close > far
        told.append(f"{close:.3g} and {far:.3g}")
    return agree_if(agree == len(told), told="; ".join(told), **_AT)


# --- figures 4 and 5 ------------------------------------------------------------------------------


def ratio_bias(evidence: Evidence) -> Checked:
    told, agree = [], 0
    sentence = "{found:.2g} (a mean of 10,000 draws is off by {drawn:.2g})"
    for text, means in zip(LANGUAGE_EPSILONS, _of_counties(evidence, "mean"), strict=True):
        found = [county.ratio * inverse_excess(1 / (float(text) * county.s)) for county in COUNTIES]
        sizes = [abs(bias) for bias in found]
        agree += sizes == sorted(sizes, reverse=True)
        drawn = np.abs(means - [county.ratio for county in COUNTIES]).mean(axis=0)
        told.append(fill(sentence, found=found, drawn=drawn))
    return agree_if(2 * agree > len(told), told="; ".join(told), **_AT)


def ratio_mean(evidence: Evidence) -> Checked:
    spread = [means.std(axis=0, ddof=1)[0] for means in _of_counties(evidence, "mean")]
    below = [0.5 * np.exp(-float(text) * COUNTIES[0].s) for text in LANGUAGE_EPSILONS]
    checked = finite_mean(evidence, COUNTIES[0].s, 1 / float(LANGUAGE_EPSILONS[0]))
    return replace(checked, values={**checked.values, "below": below, "spread": spread, **_AT})


def variance(evidence: Evidence) -> Checked:
    middle = [np.median(variances, axis=0) for variances in _of_counties(evidence, "variance")]
    agree = sum(found[0] >= SIGNIFICANT * found[1:].max() for found in middle)
    return agree_if(2 * agree > len(middle), middle=middle, **_AT)


def disjunction(evidence: Evidence) -> Checked:
    small = grown = 0
    for name, text in _runs(evidence):
        one, two, both = (
            data.area_errors(evidence, text, part, name=name)
            for part in ("number", "schooling", "number or schooling")
        )
        larger = np.maximum(one, two)
        inside = (larger < WIDE) & (larger > 1e-6)
        small += int(inside.sum())
        grown += int((both[inside] > 1.1 * larger[inside]).sum())
    otherwise = CONTRADICTED if small else UNCHECKED
    return agree_if(2 * grown > small, otherwise=otherwise, small=small, grown=grown)


def both_false(evidence: Evidence, joined: str, parts: list[str], extreme: str) -> Checked:
    told, agree, number = [], 0, 0
    for name, text in _runs(evidence):
        errors = data.area_errors(evidence, text, joined, name=name)
        every = data.by_truth(data.language(evidence, name), errors, *parts)
        found = {pair: (mean, many) for pair, (mean, many) in every.items() if many >= _FEWEST}
        if (False, False) not in found or len(found) < 2:
            continue
        number += 1
        means = {pair: mean for pair, (mean, _) in found.items()}
        pick = max(means, key=means.__getitem__) if extreme == "most" else min(means, key=means.__getitem__)
        agree += pick == (False, False)
        if text == LANGUAGE_EPSILONS[1]:
            words = (
                f"{'TF'[not a]}{'TF'[not b]} {mean:.3g} ({many:,})" for (a, b), (mean, many) in found.items()
            )
            told.append(f"{name}: {', '.join(words)}")
    if not number:
        return cannot_check(case="none", fewest=_FEWEST)
    at = LANGUAGE_EPSILONS[1]
    return agree_if(2 * agree > number, agree=agree, number=number, epsilon=at, told="; ".join(told))


# --- what is assumed ------------------------------------------------------------------------------


def independent(evidence: Evidence) -> Checked:
    apart = [
        data.area_errors(evidence, text, WHOLE, name=name)
        - data.area_errors(evidence, text, INDEPENDENT, name=name)
        for name, text in _runs(evidence)
    ]
    worst = max(float(np.abs(each).max()) for each in apart)
    return agree_if(worst < 1e-3, worst=worst)


def nontrivial(evidence: Evidence) -> Checked:
    found = dict.fromkeys(LANGUAGE_EPSILONS, 0.0)
    for name, text in _runs(evidence):
        found[text] = max(found[text], float(data.area_errors(evidence, text, WHOLE, name=name).max()))
    return agree_if(max(found.values()) < 0.5, largest=list(found.values()), **_AT)


def touches(evidence: Evidence) -> Checked:
    found = {
        f"counts{number}": [
            float(data.area_errors(evidence, text, WHOLE, touches=number).mean())
            for text in LANGUAGE_EPSILONS
        ]
        for number in TOUCHES
    }
    return cannot_check(**found)


def rule_draws(evidence: Evidence) -> Checked:
    told, worst = [], 0.0
    parts = evidence.trials[LANGUAGE_DRAWS].values()
    number = sum(part["repetitions"] for part in parts)
    for text in LANGUAGE_EPSILONS:
        drawn = np.sum([part["wrong"][text] for part in parts], axis=0) / number
        exact = data.area_errors(evidence, text, WHOLE, name="simulated")
        error = np.sqrt(np.maximum(exact * (1 - exact), 1 / number) / number)
        worst = max(worst, float((np.abs(drawn - exact) / error).max()))
        told.append(np.abs(drawn - exact).max())
    values = {"number": number, "off": told, "worst": worst, "most": _MOST_ERRORS}
    return agree_if(worst < _MOST_ERRORS, **values, counties=len(exact), **_AT)


# --- figure 7 -------------------------------------------------------------------------------------


def _apart(evidence: Evidence, first: str, second: str, measure: str) -> list[Estimated]:
    """Return the mean difference of two models in each group, over groupings."""
    found = []
    for text in LANGUAGE_EPSILONS:
        one, other = (data.of_proxies(evidence, text, model, measure) for model in (first, second))
        found += [estimate_mean(differences) for differences in (one - other).T]
    return found


def proxies_lower(evidence: Evidence) -> Checked:
    rule, own = (
        mostly(
            [each for model in MODELS for each in _apart(evidence, ORIGINAL, model, measure)],
            what="models, groups and epsilons",
        )
        for measure in ("alpha", "own alpha")
    )
    return replace(rule, values={"own": within_sentence(own.why)})


def models_apart(evidence: Evidence, first: str, second: str, measure: str) -> Checked:
    return mostly(_apart(evidence, first, second, measure), what="groups and epsilons")


def size(evidence: Evidence) -> Checked:
    found = []
    for text in LANGUAGE_EPSILONS:
        alphas = data.of_proxies(evidence, text, ORIGINAL, "alpha")
        groups = np.arange(alphas.shape[1])
        found.append(estimate_mean(np.array([-rank_correlation(groups, each) for each in alphas])))
    return mostly(found, what="epsilons")
