"""Checks of what fioretto2021 says of its allotment: numbers of the text, and figures 2, 6 and 8 to 10."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import AGREES, Checked, agree_if, cannot_check
from evenhand.papers.fioretto2021.allotment import AS_PRINTED, BEST, EVENEST, OUTPUT, STRENGTHS
from evenhand.papers.fioretto2021.data import (
    AVERAGE,
    BOUNDS,
    BUDGET,
    CLAMP,
    COUNTIES,
    EPSILONS,
    PLAIN,
    PROXY,
)
from evenhand.papers.fioretto2021.records import (
    allotment,
    biases,
    check_amount,
    check_number,
    drawn_alpha,
    drawn_errors,
    language,
    of_allotment,
)
from evenhand.papers.fioretto2021.trials import DRAWS
from evenhand.papers.rules import alike
from evenhand.papers.trials import estimate_mean
from evenhand.study.results.estimates import Estimated

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence

SIMILAR = 0.1
"""Errors within it, as a share, are called similar, and alphas that change by less are hardly changed."""

DRAMATIC = 10.0
"""By what factor a dramatic change is at least."""

PERCEPTIBLE = 0.05
"""Errors within it, as a share, have no perceptible difference."""

_INFERRED = "0.05"  # the epsilon that the third numbers of Example 1 fit; the text says 0.1
_TINY = 1e-300  # a bound that comes out as 0 is only too small for a float
_UNION = "Union County, New Mexico"


# --- the tables -----------------------------------------------------------------------------------


def districts(evidence: Evidence, paper: int) -> Checked:
    found = allotment(evidence)["districts"]
    return agree_if(found == paper, ours=Estimated(float(found)), paper=f"{paper:,}", found=found)


def children(evidence: Evidence) -> Checked:
    students, poor = (allotment(evidence, name) for name in ("students", "poverty"))
    alphas = [of_allotment(evidence, "0.001", PLAIN, "alpha", name=name) for name in ("students", "poverty")]
    return agree_if(students["people"] < 2 * poor["people"], students=students, poor=poor, alphas=alphas)


def counties(evidence: Evidence, paper: int) -> Checked:
    return cannot_check(paper=f"{paper:,}", areas=language(evidence)["areas"])


def county_ratios(_: Evidence, paper: list[float]) -> Checked:
    found = [round(county.ratio, 4) for county in COUNTIES]
    return agree_if(found == paper, paper=", ".join(map(str, paper)), found=found)


def union_county(evidence: Evidence, paper: list[int]) -> Checked:
    record, printed = language(evidence), "/".join(map(str, paper))
    if _UNION not in record["names"]:
        return cannot_check(paper=printed, case="absent")
    place = record["names"].index(_UNION)
    sp, s, covered = (record[column][place] for column in ("sp", "s", "covered"))
    return agree_if([sp, s] == paper, paper=printed, sp=sp, s=s, answer="yes" if covered else "no")


def citizens(evidence: Evidence) -> Checked:
    record = language(evidence)
    if _UNION not in record["names"]:
        return cannot_check(case="absent")
    s = record["s"][record["names"].index(_UNION)]
    return agree_if(s != COUNTIES[2].s, s=s)


# --- Example 1 ------------------------------------------------------------------------------------


def bound(evidence: Evidence, epsilon: str) -> Checked:
    found = check_number(of_allotment(evidence, epsilon, AS_PRINTED, "alpha"), BOUNDS[epsilon])
    values = {
        "true": of_allotment(evidence, epsilon, PLAIN, "alpha"),
        "inferred": of_allotment(evidence, _INFERRED, AS_PRINTED, "alpha"),
    }
    return replace(found, values=values, case="inferred" if epsilon == "0.1" else "")


def exact_bounds(evidence: Evidence) -> Checked:
    printed = [of_allotment(evidence, text, AS_PRINTED, "alpha") for text in BOUNDS]
    true = [of_allotment(evidence, text, PLAIN, "alpha") for text in BOUNDS]
    lost = [of_allotment(evidence, text, PLAIN, "most lost") for text in BOUNDS]
    near = all(0.5 < ours / float(paper) < 2 for ours, paper in zip(true, BOUNDS.values(), strict=True))
    paper = ", ".join(BOUNDS.values())
    return agree_if(near, paper=paper, true=true, times=printed[0] / true[0], first=lost[0], last=lost[-1])


def expectation(evidence: Evidence) -> dict[str, Any]:
    chances = [
        max(allotment(evidence, name)["epsilons"]["0.001"]["not positive"], _TINY)
        for name in ("students", "new-york")
    ]
    return {"every": chances[0], "inside": chances[1]}


def average(evidence: Evidence, epsilon: str) -> Checked:
    found = check_amount(of_allotment(evidence, epsilon, CLAMP, "average"), float(AVERAGE[epsilon]))
    values = {
        "inside": of_allotment(evidence, epsilon, CLAMP, "average, New York"),
        "plain": of_allotment(evidence, epsilon, PLAIN, "average"),
        "formula": of_allotment(evidence, epsilon, AS_PRINTED, "average"),
        "error": BUDGET * allotment(evidence)["epsilons"][epsilon]["error"]["one count"]["all"],
    }
    return replace(found, values=values)


def consistent(_: Evidence) -> Checked:
    falls, steps = (
        [float(one) / float(other) for one, other in pairwise(printed.values())]
        for printed in (BOUNDS, AVERAGE)
    )
    return agree_if(np.allclose(steps, falls, rtol=0.1), falls=falls, steps=steps)


def most_lost(evidence: Evidence, paper: int, ways: dict[str, list[str]]) -> Checked:
    found = {
        words: [of_allotment(evidence, text, way, "most lost", name=name) for text in EPSILONS]
        for words, (name, way) in ways.items()
    }
    near = [check_amount(lost, paper).verdict == AGREES for lost in next(iter(found.values()))]
    told = "; ".join(
        f"{words} {', '.join(f'${lost:,.{0 if lost >= 100 else 2}f}' for lost in losses)}"
        for words, losses in found.items()
    )
    return agree_if(any(near), paper=f"${paper:,}", told=told, epsilons=EPSILONS)


def enough_draws(evidence: Evidence) -> Checked:
    repetitions = sum(record["repetitions"] for record in evidence.trials[DRAWS].values())
    drawn = [drawn_alpha(evidence, text, PLAIN) for text in EPSILONS]
    true = _every(evidence, PLAIN, "alpha, New York")
    pairs = list(zip(drawn, true, strict=True))
    near = all(ours < 2 * exact for ours, exact in pairs)
    told = ", ".join(f"{ours:.2g} for {exact:.2g}" for ours, exact in pairs)
    return agree_if(near, repetitions=repetitions, told=told, epsilons=EPSILONS)


# --- figure 2 -------------------------------------------------------------------------------------


def tenths(evidence: Evidence, epsilon: str, way: str) -> tuple[float, float]:
    """Return the mean bias of the smallest and of the largest tenth of the districts of New York."""
    order = np.argsort(allotment(evidence)["sizes"], kind="stable")
    number = max(1, len(order) // 10)
    ordered = biases(evidence, epsilon, way)[order]
    return float(ordered[:number].mean()), float(ordered[-number:].mean())


def _every(evidence: Evidence, way: str, measure: str = "alpha") -> list[float]:
    return [of_allotment(evidence, text, way, measure) for text in EPSILONS]


def _ratios(evidence: Evidence, above: str, below: str) -> list[float]:
    """Return the alpha of one way as a multiple of another's, at every epsilon."""
    return [a / b for a, b in zip(_every(evidence, above), _every(evidence, below), strict=True)]


def small_gain(evidence: Evidence, way: str) -> Checked:
    found = [tenths(evidence, text, way) for text in EPSILONS]
    agree = sum(small > 0 > large for small, large in found)
    lose = of_allotment(evidence, EPSILONS[0], PLAIN, "below, New York")
    number = len(EPSILONS)
    return agree_if(
        2 * agree > number, case=way, agree=agree, number=number, against=number - agree, lose=lose
    )


def grows(evidence: Evidence) -> Checked:
    found = _every(evidence, CLAMP, "alpha, New York")
    return agree_if(all(one > other for one, other in pairwise(found)), found=found, epsilons=EPSILONS)


def clamp_worse(evidence: Evidence) -> Checked:
    times = _ratios(evidence, CLAMP, PLAIN)
    agree = sum(each > 1 for each in times)
    return agree_if(2 * agree > len(times), agree=agree, number=len(times), times=times)


# --- figure 6 -------------------------------------------------------------------------------------


def dramatic(evidence: Evidence) -> Checked:
    factors, clamped = (_ratios(evidence, way, PROXY) for way in (PLAIN, CLAMP))
    return agree_if(min(factors) >= DRAMATIC, factors=factors, clamped=clamped, epsilons=EPSILONS)


def perfect(evidence: Evidence, way: str) -> Checked:
    found = _every(evidence, way)
    return agree_if(max(found) == 0, paper="0", case=way, found=found)


def similar(evidence: Evidence) -> Checked:
    changes = [
        estimate_mean(drawn_errors(evidence, text, PROXY) / drawn_errors(evidence, text, PLAIN) - 1)
        for text in EPSILONS
    ]
    found = alike(changes, margin=SIMILAR, what="epsilons")
    return replace(found, values={"times": [1 + change.value for change in changes]})


def significant(evidence: Evidence) -> Checked:
    errors = allotment(evidence)["epsilons"][EPSILONS[0]]["error"]
    proxy, counts = (
        {place: errors[OUTPUT][place] / errors[other][place] for place in ("all", "New York")}
        for other in ("public sum", "one count")
    )
    return agree_if(min(proxy.values()) >= 2, proxy=proxy, counts=counts)


def public(evidence: Evidence) -> dict[str, Any]:
    return {"sensitivity": allotment(evidence)["sensitivity"]}


# --- figures 8 and 9 ------------------------------------------------------------------------------


def _strength(part: float) -> str:
    return f"T = {part:g} b^2"


def little(evidence: Evidence) -> Checked:
    changes = [1 - ratio for ratio in _ratios(evidence, _strength(STRENGTHS[0]), CLAMP)]
    least = all(0 < change < SIMILAR for change in changes)
    return agree_if(least, part=STRENGTHS[0], changes=[100 * change for change in changes])


def large(evidence: Evidence) -> Checked:
    factors = _ratios(evidence, _strength(STRENGTHS[-1]), CLAMP)
    return agree_if(min(factors) > 1, part=STRENGTHS[-1], factors=factors)


def some(evidence: Evidence) -> Checked:
    ways = [EVENEST, BEST, *(_strength(part) for part in STRENGTHS)]
    told, agree = [], 0
    for text in EPSILONS:
        alphas = {way: of_allotment(evidence, text, way, "alpha") for way in ways}
        best = min(alphas, key=alphas.__getitem__)
        clamp = of_allotment(evidence, text, CLAMP, "alpha")
        agree += alphas[best] < clamp
        told.append(f"{clamp:.2g} to {alphas[best]:.2g} at {best}")
    number = len(EPSILONS)
    return agree_if(agree == number, ways=len(ways), agree=agree, number=number, told="; ".join(told))


def optimal(evidence: Evidence) -> Checked:
    clamp, best, even = (_every(evidence, way) for way in (CLAMP, BEST, EVENEST))
    agree, evener = (sum(a < b for a, b in zip(way, clamp, strict=True)) for way in (best, even))
    moved = {way: of_allotment(evidence, "0.1", way, "moved") for way in (CLAMP, BEST)}
    values = {"clamp": clamp, "best": best, "even": evener, "moved": moved}
    return agree_if(2 * agree > len(best), agree=agree, number=len(best), **values)


def error(evidence: Evidence) -> Checked:
    changes = [
        estimate_mean(drawn_errors(evidence, text, way) / drawn_errors(evidence, text, CLAMP) - 1)
        for text in EPSILONS
        for way in (EVENEST, BEST)
    ]
    return alike(changes, margin=PERCEPTIBLE, what="epsilons and temperatures")


def needs_data(evidence: Evidence) -> dict[str, Any]:
    known = allotment(evidence)["epsilons"]
    return {"found": [known[text]["temperatures"][BEST] for text in EPSILONS], "epsilons": EPSILONS}


# --- figure 10 ------------------------------------------------------------------------------------


def cost(evidence: Evidence) -> Checked:
    costs = {way: _every(evidence, way, "cost, New York") for way in (CLAMP, PLAIN, PROXY)}
    agree = sum(a > b > c for a, b, c in zip(*costs.values(), strict=True))
    told = {way: ", ".join(f"${each:,.2f}" for each in found) for way, found in costs.items()}
    return agree_if(agree == len(EPSILONS), epsilons=EPSILONS, **told)
