"""What figures 3, 4, 5 and 7 of fioretto2021 are said to show about the language rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import Checked, Claim, cannot_check
from evenhand.papers.fioretto2021.allotment import inverse_excess
from evenhand.papers.fioretto2021.checks import (
    area_errors,
    as_text,
    by_truth,
    county_draws,
    language,
    margins,
    of_proxies,
    rank_correlation,
    verdict,
    wrong_shares,
)
from evenhand.papers.fioretto2021.language import INDEPENDENT, MODELS, ORIGINAL, WHOLE
from evenhand.papers.fioretto2021.printed import COUNTIES, LANGUAGE_EPSILONS
from evenhand.papers.fioretto2021.trials import COUNTY_DRAWS, LANGUAGE, LANGUAGE_DRAWS, PROXIES
from evenhand.papers.rules import mostly
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence
    from evenhand.study.results.estimates import Estimated

    Values = NDArray[np.float64]

__all__ = ["LANGUAGE_CLAIMS", "STRONG", "WIDE"]

STRONG = 0.5
"""A rank correlation beyond it is strong."""

WIDE = 0.1
"""An alpha beyond it is a significant disparity of decisions, and an error below it is small."""

_HALF = 0.5
_REDUCED = ("determined", "simulated")
_FEWEST = 3


def _tables(evidence: Evidence) -> Iterator[str]:
    """Return the tables of areas that were run."""
    yield from _REDUCED[: len(evidence.trials[LANGUAGE])]


# --- figure 3 -------------------------------------------------------------------------------------


def _entitled(evidence: Evidence, epsilon: str) -> tuple[Values, Values]:
    """Return errors and margins of the determined counties that the rule covers."""
    record = language(evidence)
    inside = np.asarray(record["covered"], dtype=bool)
    return area_errors(evidence, epsilon, WHOLE)[inside], margins(record)[inside]


def _disparities(evidence: Evidence) -> Checked:
    found = [float(np.ptp(_entitled(evidence, text)[0])) for text in LANGUAGE_EPSILONS]
    wide = sum(each > WIDE for each in found)
    why = (
        f"Among the covered of the 187 determined counties alpha is {as_text(found)} at epsilon = "
        f"{', '.join(LANGUAGE_EPSILONS)}, more than {WIDE} at {wide} of {len(found)}."
    )
    return verdict(2 * wide > len(found), why)


def _correlated(evidence: Evidence) -> Checked:
    found = [rank_correlation(*_entitled(evidence, text)) for text in LANGUAGE_EPSILONS]
    record = language(evidence)
    inside = np.asarray(record["covered"], dtype=bool)
    s, sp, spe = (np.asarray(record[column], dtype=float)[inside] for column in ("s", "sp", "spe"))
    people = np.minimum(np.maximum(sp - 0.05 * s, sp - 10_000), spe - 0.0131 * sp)
    counted = [rank_correlation(_entitled(evidence, text)[0], people) for text in LANGUAGE_EPSILONS]
    strong = sum(each < -STRONG for each in found)
    why = (
        "The rank correlation of error and distance, as a part of the threshold, is "
        f"{as_text(found, '.2f')} at epsilon = {', '.join(LANGUAGE_EPSILONS)}: beyond {STRONG} at {strong} "
        f"of {len(found)}. With the distance in people, which is what noise must overcome, it is "
        f"{as_text(counted, '.2f')}."
    )
    return verdict(2 * strong > len(found), why)


def _near(evidence: Evidence) -> Checked:
    said, agree = [], 0
    for text in LANGUAGE_EPSILONS:
        errors, away = _entitled(evidence, text)
        order = np.argsort(away, kind="stable")
        part = max(1, len(order) // 4)
        near, far = float(errors[order[:part]].mean()), float(errors[order[-part:]].mean())
        agree += near > far
        said.append(f"{near:.3g} and {far:.3g}")
    why = (
        "Mean errors of the nearest and of the farthest quarter of the covered counties are "
        f"{'; '.join(said)} at epsilon = {', '.join(LANGUAGE_EPSILONS)}."
    )
    return verdict(agree == len(LANGUAGE_EPSILONS), why)


# --- figure 4 -------------------------------------------------------------------------------------


def _principal(epsilon: str) -> list[float]:
    """Return the counties' biases as principal values."""
    return [each.ratio * inverse_excess(1 / (float(epsilon) * each.s)) for each in COUNTIES]


def _ratio_bias(evidence: Evidence) -> Checked:
    said, agree = [], 0
    for text in LANGUAGE_EPSILONS:
        found = _principal(text)
        sizes = [abs(each) for each in found]
        agree += sizes == sorted(sizes, reverse=True)
        drawn = np.abs(county_draws(evidence, text, "mean") - [each.ratio for each in COUNTIES]).mean(axis=0)
        said.append(f"{as_text(found, '.2g')} (a mean of 10,000 draws is off by {as_text(drawn, '.2g')})")
    why = (
        f"As principal values, the only ones there are, the biases of Loving, Terrell and Union are "
        f"{'; '.join(said)} at epsilon = {', '.join(LANGUAGE_EPSILONS)}."
    )
    return verdict(2 * agree > len(LANGUAGE_EPSILONS), why)


def _expectation(evidence: Evidence) -> Checked:
    spread = [county_draws(evidence, text, "mean").std(axis=0, ddof=1)[0] for text in LANGUAGE_EPSILONS]
    near = [0.5 * np.exp(-float(text) * COUNTIES[0].s) for text in LANGUAGE_EPSILONS]
    why = (
        "A noisy denominator has a density at 0, so that the mean of 1 / y is infinite: there is a "
        "principal value only. The denominator of Loving is negative with probability "
        f"{as_text(near, '.2g')} at epsilon = {', '.join(LANGUAGE_EPSILONS)}; means of 10,000 draws of its "
        f"ratio scatter by {as_text(spread, '.2g')}."
    )
    return verdict(agrees=False, why=why)


def _variance(evidence: Evidence) -> Checked:
    agree = 0
    said = []
    for text in LANGUAGE_EPSILONS:
        middle = np.median(county_draws(evidence, text, "variance"), axis=0)
        agree += bool(middle[0] == middle.max())
        said.append(as_text(middle, ".2g"))
    why = (
        f"In the median of our experiments the variance of 10,000 draws is {'; '.join(said)} for the three "
        f"counties at epsilon = {', '.join(LANGUAGE_EPSILONS)}. The variance of the ratio itself is "
        "infinite for all three."
    )
    return verdict(2 * agree > len(LANGUAGE_EPSILONS), why)


def _disjunction(evidence: Evidence) -> Checked:
    small = grown = 0
    for name in _tables(evidence):
        for text in LANGUAGE_EPSILONS:
            one, two, both = (
                area_errors(evidence, text, part, name=name)
                for part in ("number", "schooling", "number or schooling")
            )
            inside = (np.maximum(one, two) < WIDE) & (np.maximum(one, two) > 1e-6)
            small += int(inside.sum())
            grown += int((both[inside] > 1.1 * np.maximum(one, two)[inside]).sum())
    why = (
        f"Of {small:,} counties and epsilons with a small error of both, or-ing the two raises the error "
        f"by more than a tenth in {grown:,}. It can rise only where both are false, at most to the sum of "
        "the two; nearly every county has the schooling predicate true, and there the disjunction errs "
        "no more."
    )
    return verdict(2 * grown > small, why)


# --- figure 5 -------------------------------------------------------------------------------------


def _truths(
    evidence: Evidence, whole: str, first: str, second: str, worst: tuple[bool, bool], *, most: bool
) -> Checked:
    said, agree, number = [], 0, 0
    for name in _tables(evidence):
        for text in LANGUAGE_EPSILONS:
            found = by_truth(
                language(evidence, name), area_errors(evidence, text, whole, name=name), first, second
            )
            found = {pair: each for pair, each in found.items() if each[1] >= _FEWEST}
            if worst not in found or len(found) < 2:
                continue
            number += 1
            means = {pair: mean for pair, (mean, _) in found.items()}
            chosen = max(means, key=means.__getitem__) if most else min(means, key=means.__getitem__)
            agree += chosen == worst
            if text == LANGUAGE_EPSILONS[1]:
                told = ", ".join(
                    f"{'TF'[not a]}{'TF'[not b]} {mean:.3g} ({many:,})"
                    for (a, b), (mean, many) in found.items()
                )
                said.append(f"{name}: {told}")
    if not number:
        return cannot_check(f"No table has {_FEWEST} areas with these truth values.")
    why = (
        f"So it is in {agree} of {number} tables and epsilons. Mean errors at epsilon = "
        f"{LANGUAGE_EPSILONS[1]}, with the number of counties: {'; '.join(said)}."
    )
    return verdict(2 * agree > number, why)


def _red_left(evidence: Evidence) -> Checked:
    return _truths(evidence, "share or number", "share", "number", (False, False), most=True)


def _red_right(evidence: Evidence) -> Checked:
    return _truths(evidence, "share and schooling", "share", "schooling", (False, False), most=False)


# --- what is assumed ------------------------------------------------------------------------------


def _independent(evidence: Evidence) -> Checked:
    found = [
        float(
            np.abs(
                area_errors(evidence, text, WHOLE, name=name)
                - area_errors(evidence, text, INDEPENDENT, name=name)
            ).max()
        )
        for name in _tables(evidence)
        for text in LANGUAGE_EPSILONS
    ]
    why = (
        "The three predicates of the rule share one count. Taken as independent, the error of a county is "
        f"off by up to {max(found):.3f} here, and by 0.123 for counts of 200,000, 10,050 and 140 with "
        "noise of scale 300."
    )
    return verdict(max(found) < 1e-3, why)


def _nontrivial(evidence: Evidence) -> Checked:
    found = [
        max(float(area_errors(evidence, text, WHOLE, name=name).max()) for name in _tables(evidence))
        for text in LANGUAGE_EPSILONS
    ]
    why = (
        f"The largest error of the rule is {as_text(found)} at epsilon = {', '.join(LANGUAGE_EPSILONS)}. One "
        "threshold errs at most half of the time; two that must both hold need not."
    )
    return verdict(max(found) < _HALF, why)


def _touches(evidence: Evidence) -> Checked:
    found = {
        touches: [
            float(area_errors(evidence, text, WHOLE, touches=touches).mean()) for text in LANGUAGE_EPSILONS
        ]
        for touches in ("1", "3")
    }
    why = (
        "The sensitivity is not given. A person may be in x^s, x^sp and x^spe at once, so that noise of "
        "scale 1 / epsilon promises 3 epsilon. The mean error of the determined counties is "
        f"{as_text(found['1'])} with it, and {as_text(found['3'])} with 3 / epsilon, which promises epsilon."
    )
    return cannot_check(why)


def _simulated(evidence: Evidence) -> Checked:
    said, worst = [], 0.0
    for text in LANGUAGE_EPSILONS:
        drawn, number = wrong_shares(evidence, text)
        exact = area_errors(evidence, text, WHOLE, name="simulated")
        error = np.sqrt(np.maximum(exact * (1 - exact), 1 / number) / number)
        worst = max(worst, float((np.abs(drawn - exact) / error).max()))
        said.append(f"{np.abs(drawn - exact).max():.2g}")
    why = (
        f"Frequencies of {number:,} draws are within {', '.join(said)} of the exact probabilities at "
        f"epsilon = {', '.join(LANGUAGE_EPSILONS)}, at most {worst:.1f} standard errors in {len(exact):,} "
        "counties. For a rule, unlike the allotment, they are enough."
    )
    return verdict(worst < 7, why)


# --- figure 7 -------------------------------------------------------------------------------------


def _differences(
    evidence: Evidence, first: str, second: str, measure: str, sign: float = 1.0
) -> list[Estimated]:
    """Return the mean difference of two models in each group, over groupings."""
    found = []
    for text in LANGUAGE_EPSILONS:
        apart = sign * (
            of_proxies(evidence, text, first, measure) - of_proxies(evidence, text, second, measure)
        )
        found += [estimate_mean(apart[:, group]) for group in range(apart.shape[1])]
    return found


def _proxies_lower(evidence: Evidence) -> Checked:
    differences = [each for model in MODELS for each in _differences(evidence, ORIGINAL, model, "alpha")]
    found = mostly(differences, what="models, groups and epsilons")
    own = mostly(
        [each for model in MODELS for each in _differences(evidence, ORIGINAL, model, "own alpha")],
        what="models, groups and epsilons",
    )
    why = (
        f"{found.why} Against the original rule, as the text says, a proxy has an alpha near 1 in most "
        "groups: it is certainly wrong about some counties and certainly right about others. Against its "
        f"own answers on true counts: {own.why[0].lower()}{own.why[1:]}"
    )
    return Checked(found.verdict, why, found.ours)


def _svm_lower(evidence: Evidence) -> Checked:
    return mostly(_differences(evidence, "regression", "svm", "alpha"), what="groups and epsilons")


def _svm_better(evidence: Evidence) -> Checked:
    return mostly(_differences(evidence, "svm", "regression", "right"), what="groups and epsilons")


def _size(evidence: Evidence) -> Checked:
    found = []
    for text in LANGUAGE_EPSILONS:
        alphas = of_proxies(evidence, text, ORIGINAL, "alpha")
        found.append(
            estimate_mean(np.array([-rank_correlation(np.arange(alphas.shape[1]), each) for each in alphas]))
        )
    checked = mostly(found, what="epsilons")
    why = f"{checked.why} Minus the rank correlation of group and alpha, for the rule itself."
    return Checked(checked.verdict, why, checked.ours)


def _private(_: Evidence) -> Checked:
    why = (
        "Grouping by noisy counts is private, but the models are fitted to true counts and true answers, and "
        "their coefficients have no noise: nothing is promised for them."
    )
    return verdict(agrees=False, why=why)


def _claim(name: str, text: str, where: str, check: object, *needs: str, rule: str = "exact") -> Claim:
    return Claim(name, text, where, check, rule, needs or (LANGUAGE,))  # type: ignore[arg-type]


LANGUAGE_CLAIMS = (
    _claim(
        "figure-3-disparities",
        "There are significant disparities in the decision errors of true positives.",
        "section 4, figure 3",
        _disparities,
    ),
    _claim(
        "figure-3-distance",
        "Errors strongly correlate with the distance to the thresholds.",
        "section 4, figure 3",
        _correlated,
    ),
    _claim(
        "figure-3-near",
        "Counties near the threshold have higher decision errors than those far from it.",
        "section 6.1, figure 3",
        _near,
    ),
    _claim(
        "figure-4-bias",
        "Of nearly equal ratios, those with smaller numerators have the higher bias.",
        "section 6.1, figure 4, left",
        _ratio_bias,
        COUNTY_DRAWS,
    ),
    _claim(
        "figure-4-expectation",
        "The noisy ratio has an expected value.",
        "section 6.1, figure 4, left",
        _expectation,
        COUNTY_DRAWS,
        rule="argument",
    ),
    _claim(
        "figure-4-variance",
        "The error variances differ significantly, and Loving county has the largest.",
        "section 6.1, figure 4, middle",
        _variance,
        COUNTY_DRAWS,
    ),
    _claim(
        "figure-4-disjunction",
        "Joining two predicates of small error by 'or' increases the error substantially.",
        "section 6.2, figure 4, right",
        _disjunction,
    ),
    _claim(
        "figure-5-left",
        "Of P1 or P2, counties for which both are false are the most penalised.",
        "section 6.2, figure 5, left",
        _red_left,
    ),
    _claim(
        "figure-5-right",
        "Of P1 and P3, counties for which both are false are the least penalised.",
        "section 6.2, figure 5, right",
        _red_right,
    ),
    _claim(
        "independence",
        "Predicates that are composed have independent noise, 'which is often the case'.",
        "section 5.2",
        _independent,
    ),
    _claim(
        "non-trivial",
        "Every decision errs with a probability below 0.5 with the mechanisms considered.",
        "section 5.2",
        _nontrivial,
    ),
    _claim(
        "sensitivity",
        "The counts of the rule are released with an appropriate sensitivity.",
        "section 3",
        _touches,
        rule="fact",
    ),
    _claim(
        "rule-draws",
        "Averages over 10,000 draws stand for the probabilities of wrong decisions.",
        "section 5",
        _simulated,
        LANGUAGE,
        LANGUAGE_DRAWS,
    ),
    _claim(
        "figure-7-lower",
        "Piecewise linear proxies decrease the fairness violations significantly.",
        "section 7.2, figure 7",
        _proxies_lower,
        PROXIES,
        rule="mostly",
    ),
    _claim(
        "figure-7-svm",
        "The fairness violation of the SVM proxy is typically lower than that of linear regression.",
        "section 7.2, figure 7",
        _svm_lower,
        PROXIES,
        rule="mostly",
    ),
    _claim(
        "figure-7-accuracy",
        "The SVM reaches a higher accuracy than linear regression.",
        "section 7.2",
        _svm_better,
        PROXIES,
        rule="mostly",
    ),
    _claim(
        "figure-7-size",
        "As the population grows the fairness bound falls.",
        "section 7.2, figure 7",
        _size,
        PROXIES,
        rule="mostly",
    ),
    _claim(
        "figure-7-private",
        "Grouping by private counts ensures privacy.",
        "section 7.2",
        _private,
        rule="argument",
    ),
)
"""Findings about the language rule."""
