"""What figures 2, 6 and 8 to 10 of fioretto2021 are said to show about the allotment and its remedies."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import Checked, Claim
from evenhand.papers.fioretto2021.allotment import BEST, EVENEST, OUTPUT, STRENGTHS
from evenhand.papers.fioretto2021.checks import (
    allotment,
    as_text,
    biases,
    drawn_errors,
    of_allotment,
    verdict,
)
from evenhand.papers.fioretto2021.draws import CLAMP, PLAIN, PROXY
from evenhand.papers.fioretto2021.printed import EPSILONS
from evenhand.papers.fioretto2021.trials import ALLOTMENT, DRAWS
from evenhand.papers.rules import alike
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence

__all__ = ["ALLOTMENT_CLAIMS", "DRAMATIC", "SIMILAR", "tenths"]

SIMILAR = 0.1
"""Errors within it, as a share, are called similar, and alphas that change by less are hardly changed."""

DRAMATIC = 10.0
"""By what factor a dramatic change is at least."""

PERCEPTIBLE = 0.05
"""Errors within it, as a share, have no perceptible difference."""


def tenths(evidence: Evidence, epsilon: str, way: str) -> tuple[float, float]:
    """Return the mean bias of the smallest and of the largest tenth of the districts of New York."""
    order = np.argsort(allotment(evidence)["sizes"], kind="stable")
    number = max(1, len(order) // 10)
    ordered = biases(evidence, epsilon, way)[order]
    return float(ordered[:number].mean()), float(ordered[-number:].mean())


def _all(evidence: Evidence, way: str, measure: str = "alpha") -> list[float]:
    return [of_allotment(evidence, text, way, measure) for text in EPSILONS]


# --- figure 2 -------------------------------------------------------------------------------------


def _small_gain(evidence: Evidence) -> Checked:
    found = [tenths(evidence, text, CLAMP) for text in EPSILONS]
    agree = sum(small > 0 > large for small, large in found)
    why = (
        "With counts clamped at 0, as in figure 2, the smallest tenth gains and the largest loses at "
        f"{agree} of {len(EPSILONS)} epsilons."
    )
    return verdict(2 * agree > len(EPSILONS), why)


def _without_clamping(evidence: Evidence) -> Checked:
    found = [tenths(evidence, text, PLAIN) for text in EPSILONS]
    agree = sum(small > 0 > large for small, large in found)
    share = of_allotment(evidence, EPSILONS[0], PLAIN, "below, New York")
    why = (
        f"Without clamping it is the other way round at {len(EPSILONS) - agree} of {len(EPSILONS)} epsilons: "
        f"curvature favours the large, and {share:.0%} of the districts of New York lose. What figure 2 "
        "shows is the clamp, not the formula."
    ).replace("%", " %")
    return verdict(2 * agree > len(EPSILONS), why)


def _grows(evidence: Evidence) -> Checked:
    found = _all(evidence, CLAMP, "alpha, New York")
    falls = all(one > other for one, other in pairwise(found))
    return verdict(falls, f"Alpha of New York is {as_text(found)} at epsilon = {', '.join(EPSILONS)}.")


def _worse(evidence: Evidence) -> Checked:
    pairs = list(zip(_all(evidence, PLAIN), _all(evidence, CLAMP), strict=True))
    agree = sum(clamped > plain for plain, clamped in pairs)
    why = (
        f"Alpha is larger with the clamp at {agree} of {len(pairs)} epsilons, "
        f"{as_text([c / p for p, c in pairs], ',.0f')} times."
    )
    return verdict(2 * agree > len(pairs), why)


# --- figure 6 -------------------------------------------------------------------------------------


def _dramatic(evidence: Evidence) -> Checked:
    factors = [p / q for p, q in zip(_all(evidence, PLAIN), _all(evidence, PROXY), strict=True)]
    clamped = [p / q for p, q in zip(_all(evidence, CLAMP), _all(evidence, PROXY), strict=True)]
    why = (
        f"Alpha falls by a factor of {as_text(factors, ',.0f')} at epsilon = {', '.join(EPSILONS)}; against "
        f"clamped counts by {as_text(clamped, ',.0f')}."
    )
    return verdict(min(factors) >= DRAMATIC, why)


def _perfect(evidence: Evidence) -> Checked:
    found = _all(evidence, PROXY)
    why = (
        "Only if the sum is exact, and so public. With noise on it, as in appendix B.3, every share has a "
        f"bias of P_i (Z E[1/Z~] - 1), upwards, and alpha is {as_text(found)}: small, and not 0."
    )
    return verdict(max(found) == 0, why, paper="0")


def _output_fair(evidence: Evidence) -> Checked:
    found = _all(evidence, OUTPUT)
    why = "Noise of mean 0 on the shares leaves them without bias; they no longer add up to 1."
    return verdict(max(found) == 0, why, paper="0")


def _similar(evidence: Evidence) -> Checked:
    changes = [
        estimate_mean(drawn_errors(evidence, text, PROXY) / drawn_errors(evidence, text, PLAIN) - 1)
        for text in EPSILONS
    ]
    found = alike(changes, margin=SIMILAR, what="epsilons")
    why = (
        f"{found.why} Its mean absolute error is {as_text([1 + each.value for each in changes])} times that "
        "of noisy counts: half of epsilon is left for the counts, so that their noise is twice as wide."
    )
    return Checked(found.verdict, why, found.ours)


def _significant(evidence: Evidence) -> Checked:
    errors = allotment(evidence)["epsilons"][EPSILONS[0]]["error"]
    against = {
        place: (
            errors[OUTPUT][place] / errors["public sum"][place],
            errors[OUTPUT][place] / errors["one count"][place],
        )
        for place in ("all", "New York")
    }
    why = (
        f"Its error is {against['all'][0]:.2f} times that of the linear proxy over all districts, and "
        f"{against['New York'][0]:.2f} times in New York, whose weight is the largest; against noisy "
        f"counts {against['all'][1]:.2f} and {against['New York'][1]:.2f} times. The factors are the "
        "same at every epsilon."
    )
    return verdict(min(each[0] for each in against.values()) >= 2, why)


def _public(evidence: Evidence) -> Checked:
    sensitivity = allotment(evidence)["sensitivity"]
    why = (
        "A bound of 0.9 Z is made from the private sum, and so not public: the noise it sets tells Z, and no "
        f"guarantee follows. It gives a sensitivity of {sensitivity['theorem 11']:.4g}; this table's own is "
        f"{sensitivity['exact']:.4g}."
    )
    return verdict(agrees=False, why=why, paper="L = 0.9 Z")


# --- figures 8 and 9 ------------------------------------------------------------------------------


def _strength(part: float) -> str:
    return f"T = {part:g} b^2"


def _little(evidence: Evidence) -> Checked:
    changes = [
        1 - p / q for p, q in zip(_all(evidence, _strength(STRENGTHS[0])), _all(evidence, CLAMP), strict=True)
    ]
    why = f"At T = {STRENGTHS[0]} b^2 alpha falls by {as_text([100 * each for each in changes])} per cent."
    return verdict(all(0 < each < SIMILAR for each in changes), why)


def _large(evidence: Evidence) -> Checked:
    factors = [
        p / q for p, q in zip(_all(evidence, _strength(STRENGTHS[-1])), _all(evidence, CLAMP), strict=True)
    ]
    why = f"At T = {STRENGTHS[-1]:g} b^2 alpha is {as_text(factors)} times that of the clamp."
    return verdict(min(factors) > 1, why)


def _some(evidence: Evidence) -> Checked:
    ways = [EVENEST, BEST, *(_strength(each) for each in STRENGTHS)]
    said, agree = [], 0
    for text in EPSILONS:
        alphas = {way: of_allotment(evidence, text, way, "alpha") for way in ways}
        best = min(alphas, key=lambda way, found=alphas: found[way])  # type: ignore[misc]
        clamp = of_allotment(evidence, text, CLAMP, "alpha")
        agree += alphas[best] < clamp
        said.append(f"{clamp:.2g} to {alphas[best]:.2g} at {best}")
    why = (
        f"For the best of {len(ways)} temperatures alpha falls at {agree} of {len(EPSILONS)} epsilons: "
        f"{'; '.join(said)}. Choosing among them looks at the true counts."
    )
    return verdict(agree == len(EPSILONS), why)


def _optimal(evidence: Evidence) -> Checked:
    pairs = list(zip(_all(evidence, CLAMP), _all(evidence, BEST), strict=True))
    agree = sum(best < clamp for clamp, best in pairs)
    moved = [of_allotment(evidence, "0.1", way, "moved") for way in (CLAMP, BEST)]
    even = sum(
        of_allotment(evidence, text, EVENEST, "alpha") < of_allotment(evidence, text, CLAMP, "alpha")
        for text in EPSILONS
    )
    why = (
        f"With T* of (32) alpha falls at {agree} of {len(pairs)} epsilons: {as_text([b for _, b in pairs])} "
        f"where the clamp has {as_text([c for c, _ in pairs])}. T* evens out counts and lowers them all; at "
        f"epsilon = 0.1 it moves ${moved[1]:,.0f} between districts, the clamp ${moved[0]:,.0f}. The "
        "temperature with the smallest alpha of counts, which needs no data either, lowers the "
        f"allotment's at {even}."
    )
    return verdict(2 * agree > len(pairs), why)


def _error(evidence: Evidence) -> Checked:
    changes = [
        estimate_mean(drawn_errors(evidence, text, way) / drawn_errors(evidence, text, CLAMP) - 1)
        for text in EPSILONS
        for way in (EVENEST, BEST)
    ]
    return alike(changes, margin=PERCEPTIBLE, what="epsilons and temperatures")


def _needs_data(evidence: Evidence) -> Checked:
    found = [allotment(evidence)["epsilons"][text]["temperatures"][BEST] for text in EPSILONS]
    why = (
        "The extremes of (32) are over all counts from the bound on, not over the data: T* depends on the "
        f"noise alone and is {as_text(found, ',.1f')} at epsilon = {', '.join(EPSILONS)}. What needs data "
        "is the best T for one allotment."
    )
    return verdict(agrees=False, why=why)


# --- figure 10 ------------------------------------------------------------------------------------


def _cost(evidence: Evidence) -> Checked:
    costs = {way: _all(evidence, way, "cost, New York") for way in (CLAMP, PLAIN, PROXY)}
    agree = sum(a > b > c for a, b, c in zip(*costs.values(), strict=True))
    said = "; ".join(
        f"{words} {', '.join(f'${each:,.2f}' for each in costs[way])}"
        for way, words in ((CLAMP, "clamped"), (PLAIN, "as they are"), (PROXY, "linear proxy"))
    )
    why = (
        f"In New York at epsilon = {', '.join(EPSILONS)}: {said}. The proxy costs nothing because all its "
        "biases are upwards."
    )
    return verdict(agree == len(EPSILONS), why)


def _claim(name: str, text: str, where: str, check: object, *needs: str, rule: str = "exact") -> Claim:
    return Claim(name, text, where, check, rule, needs or (ALLOTMENT,))  # type: ignore[arg-type]


ALLOTMENT_CLAIMS = (
    _claim(
        "figure-2-small",
        "Allotments of small districts are typically overestimated and those of large ones underestimated.",
        "section 4, figure 2",
        _small_gain,
    ),
    _claim(
        "figure-2-curvature",
        "That is what the formula itself does with noise, as Example 1 has it.",
        "section 6.1, Example 1",
        _without_clamping,
    ),
    _claim("figure-2-epsilon", "Errors grow as epsilon falls.", "figure 2", _grows),
    _claim(
        "figure-2-clamp",
        "Ensuring that counts are not negative exacerbates the disparity of the allotment.",
        "section 6.3",
        _worse,
    ),
    _claim(
        "figure-6-alpha",
        "The linear proxy can reduce the fairness violation dramatically.",
        "section 7.2, figure 6",
        _dramatic,
    ),
    _claim(
        "figure-6-perfect", "The linear proxy achieves perfect fairness.", "section 7.2, figure 6", _perfect
    ),
    _claim(
        "figure-6-output",
        "Output perturbation achieves perfect fairness.",
        "section 7.2, figure 6",
        _output_fair,
    ),
    _claim(
        "figure-6-similar",
        "The linear proxy retains similar errors.",
        "section 7.2, figure 6",
        _similar,
        DRAWS,
        rule="alike",
    ),
    _claim(
        "figure-6-errors",
        "Output perturbation, unlike the linear proxy, incurs errors that make it rarely usable.",
        "section 7.2, figure 6",
        _significant,
    ),
    _claim(
        "output-public",
        "L = 0.9 Z is a known public lower bound on the normalising sum.",
        "appendix B.3",
        _public,
        rule="argument",
    ),
    _claim(
        "figure-8-small",
        "Small temperatures have a small impact on the disparity.",
        "section 7.3, figure 8",
        _little,
    ),
    _claim("figure-8-large", "Large temperatures exacerbate unfairness.", "section 7.3, figure 8", _large),
    _claim(
        "figure-9-some",
        "Some temperature of the modified post-processing reduces the fairness bound of the allotment.",
        "section 7.3, figure 9",
        _some,
    ),
    _claim(
        "figure-9-optimal",
        "The optimal temperature T* reduces the fairness bound of the allotment.",
        "section 7.3, equation (32), figure 9",
        _optimal,
    ),
    _claim(
        "figure-9-error",
        "Modified post-processing has no perceptible impact on the mean absolute error.",
        "section 7.3, figure 9",
        _error,
        DRAWS,
        rule="alike",
    ),
    _claim(
        "temperature-data",
        "Finding the optimal temperature may need access to the true data.",
        "section 7.3",
        _needs_data,
        rule="argument",
    ),
    _claim(
        "figure-10-order",
        "The cost of privacy is largest with post-processing, smaller without, smallest with a linear proxy.",
        "section 7.4, figure 10",
        _cost,
    ),
)
"""Findings about the allotment."""
