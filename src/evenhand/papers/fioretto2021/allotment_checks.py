"""Checks of what fioretto2021 says of its allotment: numbers of the text, and figures 2, 6 and 8 to 10."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.repeat_means import Estimated
from evenhand.papers.claims import AGREES, CONTRADICTED, SLIP, Checked, agree_if, cannot_check
from evenhand.papers.fioretto2021 import data
from evenhand.papers.fioretto2021.allotment import AS_PRINTED, BEST, EVENEST, OUTPUT, SHRUNK
from evenhand.papers.fioretto2021.data import AVERAGE, BOUNDS, CLAMP, DRAWS, EPSILONS, PLAIN, PROXY
from evenhand.papers.rules import alike
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values

SIMILAR, PERCEPTIBLE = 0.1, 0.05
"""Errors within these shares are similar, and without perceptible difference; so are alphas the first."""

DRAMATIC, SIGNIFICANT = 10.0, 2.0
"""By what factor a dramatic change is at least, and how many times as large significant errors are."""

_INFERRED = "0.05"  # the epsilon that the third numbers of Example 1 fit; the text says 0.1
_UNION = "Union County, New Mexico"
_WEAKEST, *_, _STRONGEST = SHRUNK


# --- the tables -----------------------------------------------------------------------------------


def districts(evidence: Evidence, paper: int) -> Checked:
    found = data.allotment(evidence)["districts"]
    return agree_if(found == paper, ours=Estimated(float(found)), paper=f"{paper:,}", found=found)


def children(evidence: Evidence) -> Checked:
    students, poor = (data.allotment(evidence, name) for name in ("students", "poverty"))
    alphas = [
        data.of_allotment(evidence, "0.001", PLAIN, "alpha", name=name) for name in ("students", "poverty")
    ]
    return agree_if(students["people"] < 2 * poor["people"], students=students, poor=poor, alphas=alphas)


def counties(evidence: Evidence, paper: int) -> Checked:
    return cannot_check(paper=f"{paper:,}", areas=data.language(evidence)["areas"])


def county_ratios(_: Evidence, paper: list[float]) -> Checked:
    found = [round(county.ratio, 4) for county in data.COUNTIES]
    texts = [", ".join(map(str, ratios)) for ratios in (paper, found)]
    return agree_if(found == paper, paper=texts[0], shown=texts[1], found=found)


def _union(evidence: Evidence) -> dict[str, Any] | None:
    """Return the published counts of the county that can be looked up, if they are there."""
    record = data.language(evidence)
    if _UNION not in record["names"]:
        return None
    place = record["names"].index(_UNION)
    return {column: record[column][place] for column in ("sp", "s", "covered")}


def union_county(evidence: Evidence, paper: list[int]) -> Checked:
    county, printed = _union(evidence), "/".join(map(str, paper))
    if county is None:
        return cannot_check(paper=printed, case="absent")
    sp, s, answer = county["sp"], county["s"], "yes" if county["covered"] else "no"
    return agree_if([sp, s] == paper, paper=printed, shown=f"{sp}/{s}", sp=sp, s=s, answer=answer)


def citizens(evidence: Evidence) -> Checked:
    county = _union(evidence)
    if county is None:
        return cannot_check(case="absent")
    return agree_if(county["s"] != data.COUNTIES[2].s, s=county["s"])


# --- Example 1 ------------------------------------------------------------------------------------


def bound(evidence: Evidence, epsilon: str) -> Checked:
    """Check a fairness bound; one that fits another epsilon than the one beside it is a slip."""
    ours, inferred = (data.of_allotment(evidence, text, AS_PRINTED, "alpha") for text in (epsilon, _INFERRED))
    checked, other = (data.check_number(each, BOUNDS[epsilon]) for each in (ours, inferred))
    values = {"true": data.of_allotment(evidence, epsilon, PLAIN, "alpha"), "inferred": inferred}
    if checked.verdict == CONTRADICTED and other.verdict == AGREES:
        return replace(checked, verdict=SLIP, values=values, case="inferred")
    return replace(checked, values=values)


def exact_bounds(evidence: Evidence) -> Checked:
    true, lost = (
        [data.of_allotment(evidence, text, PLAIN, measure) for text in BOUNDS]
        for measure in ("alpha", "most lost")
    )
    times = data.of_allotment(evidence, next(iter(BOUNDS)), AS_PRINTED, "alpha") / true[0]
    near = all(0.5 < ours / float(paper) < 2 for ours, paper in zip(true, BOUNDS.values(), strict=True))
    texts = {"paper": ", ".join(BOUNDS.values()), "shown": ", ".join(f"{alpha:.3g}" for alpha in true)}
    return agree_if(near, **texts, true=true, times=times, first=lost[0], last=lost[-1])


def average(evidence: Evidence, epsilon: str) -> Checked:
    found = data.check_amount(data.of_allotment(evidence, epsilon, CLAMP, "average"), float(AVERAGE[epsilon]))
    values = {
        "inside": data.of_allotment(evidence, epsilon, CLAMP, "average, New York"),
        "plain": data.of_allotment(evidence, epsilon, PLAIN, "average"),
        "formula": data.of_allotment(evidence, epsilon, AS_PRINTED, "average"),
        "error": data.BUDGET * data.allotment(evidence)["epsilons"][epsilon]["error"]["one count"]["all"],
    }
    return replace(found, values=values)


def consistent(_: Evidence) -> Checked:
    falls, steps = (
        [float(one) / float(other) for one, other in pairwise(printed.values())]
        for printed in (BOUNDS, AVERAGE)
    )
    return agree_if(np.allclose(steps, falls, rtol=0.1), falls=falls, steps=steps)


def most_lost(evidence: Evidence, paper: int) -> Checked:
    """Check what the district that loses most loses; without its epsilon any amount in between is reached."""
    lost, plain = (_every(evidence, way, "most lost") for way in (CLAMP, PLAIN))
    levels = np.log([float(text) for text in EPSILONS])
    at = math.exp(np.interp(-math.log(paper), -np.log(lost), levels))
    values = {"lost": lost, "plain": plain, "at": at, "epsilons": EPSILONS}
    return agree_if(min(lost) <= paper <= max(lost), paper=f"${paper:,}", **values)


def enough_draws(evidence: Evidence) -> Checked:
    repetitions = sum(record["repetitions"] for record in evidence.trials[DRAWS].values())
    drawn = [float(np.ptp(data.drawn_biases(evidence, text, PLAIN))) for text in EPSILONS]
    pairs = list(zip(drawn, _every(evidence, PLAIN, "alpha, New York"), strict=True))
    near = all(ours < 2 * exact for ours, exact in pairs)
    told = ", ".join(f"{ours:.2g} for {exact:.2g}" for ours, exact in pairs)
    return agree_if(near, repetitions=repetitions, told=told, epsilons=EPSILONS)


# --- figure 2 -------------------------------------------------------------------------------------


def tenths(evidence: Evidence, epsilon: str, way: str) -> tuple[float, float]:
    """Return the mean bias of the smallest and of the largest tenth of the districts of New York."""
    order = np.argsort(data.allotment(evidence)["sizes"], kind="stable")
    number = max(1, len(order) // 10)
    ordered = data.biases(evidence, epsilon, way)[order]
    return float(ordered[:number].mean()), float(ordered[-number:].mean())


def _every(evidence: Evidence, way: str, measure: str = "alpha") -> Values:
    """Return a number about a way to allot, at every epsilon."""
    return np.array([data.of_allotment(evidence, text, way, measure) for text in EPSILONS])


def _ratios(evidence: Evidence, above: str, below: str) -> Values:
    """Return the alpha of one way as a multiple of another's, at every epsilon."""
    return np.asarray(_every(evidence, above) / _every(evidence, below))


def small_gain(evidence: Evidence, way: str) -> Checked:
    agree = sum(small > 0 > large for small, large in (tenths(evidence, text, way) for text in EPSILONS))
    number = len(EPSILONS)
    values = {"agree": agree, "number": number, "against": number - agree}
    lose = data.of_allotment(evidence, EPSILONS[0], PLAIN, "below, New York")
    return agree_if(2 * agree > number, case=way, lose=lose, **values)


def clamp_worse(evidence: Evidence) -> Checked:
    times = _ratios(evidence, CLAMP, PLAIN)
    agree = int((times > 1).sum())
    return agree_if(2 * agree > len(times), agree=agree, number=len(times), times=times)


# --- figure 6 -------------------------------------------------------------------------------------


def dramatic(evidence: Evidence) -> Checked:
    factors, clamped = (_ratios(evidence, way, PROXY) for way in (PLAIN, CLAMP))
    return agree_if(min(factors) >= DRAMATIC, factors=factors, clamped=clamped, epsilons=EPSILONS)


def perfect(evidence: Evidence, way: str) -> Checked:
    found = _every(evidence, way)
    return agree_if(max(found) == 0, paper="0", case=way, found=found)


def _change_of_error(evidence: Evidence, text: str, way: str, other: str) -> Estimated:
    """Return by what share one way's mean absolute error is above another's, over parts of the simulation."""
    return estimate_mean(
        data.drawn_errors(evidence, text, way) / data.drawn_errors(evidence, text, other) - 1
    )


def similar(evidence: Evidence) -> Checked:
    changes = [_change_of_error(evidence, text, PROXY, PLAIN) for text in EPSILONS]
    found = alike(changes, margin=SIMILAR, what="epsilons")
    return replace(found, values={"times": [1 + change.value for change in changes]})


def significant(evidence: Evidence) -> Checked:
    errors = data.allotment(evidence)["epsilons"][EPSILONS[0]]["error"]
    proxy, counts = (
        {place: errors[OUTPUT][place] / errors[other][place] for place in ("all", "New York")}
        for other in ("public sum", "one count")
    )
    return agree_if(min(counts.values()) >= SIGNIFICANT, proxy=proxy, counts=counts, least=SIGNIFICANT)


def public(evidence: Evidence) -> Checked:
    sensitivity = data.allotment(evidence)["sensitivity"]
    moved = data.LEAST * sensitivity["theorem 11"] / 2  # a_max / Z
    return agree_if(moved == 0, paper="L = 0.9 Z", moved=moved, sensitivity=sensitivity)


# --- figures 8 to 10 ------------------------------------------------------------------------------


def little(evidence: Evidence) -> Checked:
    changes = 1 - _ratios(evidence, _WEAKEST, CLAMP)
    holds = min(changes) > 0 and max(changes) < SIMILAR
    return agree_if(holds, part=SHRUNK[_WEAKEST], changes=100 * changes)


def large(evidence: Evidence) -> Checked:
    factors = _ratios(evidence, _STRONGEST, CLAMP)
    return agree_if(min(factors) > 1, part=SHRUNK[_STRONGEST], factors=factors)


def _best_temperatures(evidence: Evidence) -> list[tuple[str, float, float]]:
    """Return at every epsilon the temperature with the smallest alpha, that alpha, and the clamp's."""
    ways = [EVENEST, BEST, *SHRUNK]
    found = []
    for text in EPSILONS:
        alphas = {way: data.of_allotment(evidence, text, way, "alpha") for way in ways}
        best = min(alphas, key=alphas.__getitem__)
        found.append((best, alphas[best], data.of_allotment(evidence, text, CLAMP, "alpha")))
    return found


def some(evidence: Evidence) -> Checked:
    found = _best_temperatures(evidence)
    agree = sum(alpha < clamp for _, alpha, clamp in found)
    told = "; ".join(f"{clamp:.2g} to {alpha:.2g} at {best}" for best, alpha, clamp in found)
    return agree_if(agree == len(found), ways=len(SHRUNK) + 2, agree=agree, number=len(found), told=told)


def optimal(evidence: Evidence) -> Checked:
    clamp, best, even = (_every(evidence, way) for way in (CLAMP, BEST, EVENEST))
    agree, evener = (int((way < clamp).sum()) for way in (best, even))
    moved = {way: data.of_allotment(evidence, "0.1", way, "moved") for way in (CLAMP, BEST)}
    values = {"clamp": clamp, "best": best, "even": evener, "moved": moved}
    return agree_if(2 * agree > len(best), agree=agree, number=len(best), **values)


def error(evidence: Evidence) -> Checked:
    pairs = product(EPSILONS, (EVENEST, BEST))
    changes = [_change_of_error(evidence, text, way, CLAMP) for text, way in pairs]
    return alike(changes, margin=PERCEPTIBLE, what="epsilons and temperatures")


def needs_data(evidence: Evidence) -> Checked:
    """Check that the temperature that is best for these counts is another than T*, which needs no data."""
    known = data.allotment(evidence)["epsilons"]
    free = [known[text]["temperatures"][BEST] for text in EPSILONS]
    best = [way for way, *_ in _best_temperatures(evidence)]
    other = sum(way != BEST for way in best)
    return agree_if(other > 0, other=other, best=best, free=free, epsilons=EPSILONS)


def cost(evidence: Evidence) -> Checked:
    costs = {way: _every(evidence, way, "cost, New York") for way in (CLAMP, PLAIN, PROXY)}
    agree = sum(a > b > c for a, b, c in zip(*costs.values(), strict=True))
    told = {way: ", ".join(f"${each:,.2f}" for each in found) for way, found in costs.items()}
    return agree_if(agree == len(EPSILONS), epsilons=EPSILONS, **told)
