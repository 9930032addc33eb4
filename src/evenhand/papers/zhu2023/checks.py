"""Checks of tables 1 to 3 of zhu2023, of what the text reads from them, and of figures 2 to 9."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import CONTRADICTED, Checked, agree_if, cannot_check
from evenhand.papers.rules import alike, below, mostly, share
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023.classification import BASELINE
from evenhand.papers.zhu2023.data import (
    ANONYMITY,
    DATA,
    EPSILONS,
    GAUSSIAN,
    LAPLACE,
    MECHANISMS,
    PRINTED,
    SUPPRESSION,
    SWAPPING,
)
from evenhand.papers.zhu2023.exact import anonymity_delta
from evenhand.papers.zhu2023.experiments import (
    CELLS,
    EXACT,
    FEW,
    ORIGINAL,
    READINGS,
    REPETITIONS,
    SHARES,
    THRESHOLDS,
)
from evenhand.papers.zhu2023.records import accuracies, exact_record, number_of, of_figure, of_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence

    Runs = NDArray[np.float64]

CLOSE = 0.1
"""Errors and alphas within it of the original's, as a share of that, are called close."""

MUCH, NEAR = 0.01, 0.02
"""Accuracies are much higher by more than the first, and close to the baseline within the second."""

_METHODS = ("suppression", "swapping", "k-anonymity")
_MEASURES = ("l1", "alpha")
_CLASSICAL, _COUNTERPARTS = (LAPLACE, GAUSSIAN), (SUPPRESSION, SWAPPING, ANONYMITY)
_RIVALS = tuple(product(_CLASSICAL, _COUNTERPARTS, EPSILONS))


# --- numbers of the tables ------------------------------------------------------------------------


def numbers(evidence: Evidence, name: str, mechanism: str, measure: str, reason: str = "") -> Checked:
    """Check the four numbers of a mechanism in a table; a `reason` tells why they may differ."""
    parts = [number_of(evidence, name, mechanism, text, measure) for text in EPSILONS]
    found = share(parts, what="numbers")
    exact = exact_record(evidence, name)["numbers"].get(mechanism, {})
    told = ""
    if measure in exact.get(EPSILONS[0], {}):
        told = f" Exactly: {', '.join(f'{exact[text][measure]:,.2f}' for text in EPSILONS)}."
    values = {
        "ours": [part.ours.value for part in parts if part.ours],
        "offs": [part.why.removeprefix("Off by ").partition(",")[0] for part in parts],
        "exact": told,
    }
    case = "delta" if measure == "delta" else reason if found.verdict == CONTRADICTED else ""
    return replace(found, paper=", ".join(part.paper for part in parts), values=values, case=case)


def areas(evidence: Evidence, printed: str) -> Checked:
    records = evidence.trials[EXACT].values()
    told = "; ".join(
        f"{DATA[record['name']].title}: {record['people']:,} people, {record['cells']:,} cells, "
        f"{record['empty']:,} of them empty"
        for record in records
    )
    ours, paper = [record["areas"] for record in records], [DATA[record["name"]].areas for record in records]
    return agree_if(ours == paper, paper=printed, told=told)


def features(evidence: Evidence, printed: str) -> Checked:
    added = 2
    number = next(iter(evidence.trials[EXACT].values()))["columns"] - added
    return cannot_check(paper=printed, number=number)


def repetitions(_: Evidence) -> Checked:
    few, many, odd = True, True, False
    for table in PRINTED.values():
        for (mechanism, _epsilon), row in table.items():
            for text in (row.l1, row.alpha):
                if mechanism == ANONYMITY:
                    few = few and _is_multiple(text, FEW)
                else:
                    many = many and _is_multiple(text, REPETITIONS)
                    odd = odd or not _is_multiple(text, FEW)
    return agree_if(not (few and many and odd), paper=str(REPETITIONS), few=FEW, many=REPETITIONS)


def _is_multiple(text: str, parts: int) -> bool:
    value = float(text) * parts
    return abs(value - round(value)) < 1e-6


def against_truth(evidence: Evidence) -> Checked:
    told, below_lost = [], 0
    for record in evidence.trials[EXACT].values():
        name = record["name"]
        lost = (1 - anonymity_delta(Fraction(1, 2))) * record["people"]
        printed = float(PRINTED[name][ANONYMITY, "0.5"].l1)
        below_lost += printed < lost
        told.append(f"{DATA[name].title} {printed:,.1f} printed, {lost:,.0f} people left out")
    return agree_if(not below_lost, told="; ".join(told))


def randomness(evidence: Evidence, name: str) -> Checked:
    known = exact_record(evidence, name)["numbers"][LAPLACE]
    exact = [known[text]["alpha"] for text in EPSILONS]
    ours = [of_table(evidence, name, LAPLACE, text, "alpha").mean() for text in EPSILONS]
    paper = [float(PRINTED[name][LAPLACE, text].alpha) for text in EPSILONS]
    least = min(printed / true for printed, true in zip(paper, exact, strict=True))
    return agree_if(least <= 1.25, printed=paper, drawn=ours, exact=exact)


# --- what the text reads from the tables ----------------------------------------------------------


def lower(evidence: Evidence, name: str, measure: str) -> Checked:
    """Check that Laplace and the discrete Gaussian are below every counterpart."""
    return mostly(
        [
            estimate_mean(
                of_table(evidence, name, other, text, measure) - of_table(evidence, name, own, text, measure)
            )
            for own, other, text in _RIVALS
        ]
    )


def lower_delta(evidence: Evidence) -> Checked:
    known = exact_record(evidence, next(iter(DATA)))["numbers"]
    pairs = [(known[own][text], known[other][text]) for own, other, text in _RIVALS]
    printed = sum(one["delta"] < two["delta"] for one, two in pairs)
    true = sum(one["exact delta"] < two["exact delta"] for one, two in pairs)
    least = min(two["exact delta"] for _, two in pairs)
    return agree_if(true > len(pairs) / 2, printed=printed, number=len(pairs), true=true, least=least)


def advantage(evidence: Evidence, name: str) -> Checked:
    return mostly(
        [
            estimate_mean(
                of_table(evidence, name, ANONYMITY, text, measure)
                - of_table(evidence, name, LAPLACE, text, measure)
            )
            for measure, text in product(_MEASURES, EPSILONS)
        ]
    )


def rising(evidence: Evidence, name: str) -> Checked:
    """Check that the bias of k-anonymity rises with epsilon, as printed."""
    runs = [of_table(evidence, name, ANONYMITY, text, "l1") for text in EPSILONS]
    return mostly([estimate_mean(after - before) for before, after in pairwise(runs)])


def same_order(evidence: Evidence) -> Checked:
    first, *others = (
        [
            tuple(np.argsort([of_table(evidence, name, each, text, "l1").mean() for each in MECHANISMS]))
            for text in EPSILONS
        ]
        for name in DATA
    )
    same = [sum(a == b for a, b in zip(first, other, strict=True)) for other in others]
    return agree_if(min(same) > 2, same=same)


# --- figures of errors and alphas -----------------------------------------------------------------


def pairs(
    evidence: Evidence, name: str, method: str, epsilon: str, measure: str, *, reading: str = CELLS
) -> list[tuple[Runs, Runs]]:
    """Return the original and its counterpart at an epsilon, for every threshold or share of a figure.

    Parameters
    ----------
    evidence : Evidence
    name : str
    method : {"suppression", "swapping", "k-anonymity"}
    epsilon : str
    measure : {"error", "alpha"}
    reading : str
        What swapping is taken to be.
    """
    if method == "swapping":
        own = of_figure(evidence, name, method, "epsilon", epsilon, measure)
        return [(of_figure(evidence, name, method, reading, str(each), measure), own) for each in SHARES]
    return [
        (
            of_figure(evidence, name, method, str(k), ORIGINAL, measure),
            of_figure(evidence, name, method, str(k), epsilon, measure),
        )
        for k in THRESHOLDS
    ]


def _relative(original: Runs, own: Runs) -> Runs:
    """Return how far an error is from the original's, as a share of that."""
    scale = float(original.mean())
    return (own - original) / scale if scale else np.full(len(own), np.nan)


def close(evidence: Evidence, name: str, method: str) -> Checked:
    found = [
        estimate_mean(_relative(*pair))
        for text in EPSILONS
        for pair in pairs(evidence, name, method, text, "error")
    ]
    checked = alike(found, margin=CLOSE)
    if method != "swapping":
        return checked
    own = [of_figure(evidence, name, method, "epsilon", text, "error").mean() for text in EPSILONS]
    told = []
    for reading in READINGS:
        first, last = (
            of_figure(evidence, name, method, reading, str(each), "error").mean()
            for each in (SHARES[0], SHARES[-1])
        )
        told.append(f"{reading} {first:,.0f} to {last:,.0f}")
    values = {"told": "; ".join(told), "own": ", ".join(f"{each:,.0f}" for each in own), "shares": SHARES}
    return replace(checked, values=values, case="swapping")


def improved(evidence: Evidence, name: str) -> Checked:
    """Check that a sample's k-anonymity has smaller errors than everybody's at small epsilons."""
    small = EPSILONS[:2]
    found = [
        estimate_mean(original - own)
        for text in small
        for original, own in pairs(evidence, name, "k-anonymity", text, "error")
    ]
    lines = {"own": small[0], "everybody": f"{small[0]}, everybody", "original": ORIGINAL}
    values = {
        key: float(of_figure(evidence, name, "k-anonymity", "6", line, "error").mean())
        for key, line in lines.items()
    }
    return replace(mostly(found), values={**values, "epsilon": small[0]})


def approaches(evidence: Evidence, name: str, method: str, measure: str) -> Checked:
    """Check that the distance to the original falls from each epsilon to the next."""
    found = [
        estimate_mean(np.abs(before - original) - np.abs(after - original))
        for one, other in pairwise(EPSILONS)
        for (original, before), (_, after) in zip(
            pairs(evidence, name, method, one, measure),
            pairs(evidence, name, method, other, measure),
            strict=True,
        )
    ]
    return mostly(found)


def comparable(evidence: Evidence, name: str) -> Checked:
    found = {
        method: [
            estimate_mean(_relative(*pair))
            for text in EPSILONS
            for pair in pairs(evidence, name, method, text, "alpha")
        ]
        for method in _METHODS
    }
    parts = [
        f"{method} {sum(each.value <= CLOSE for each in own)} of {len(own)}" for method, own in found.items()
    ]
    checked = below([each for own in found.values() for each in own], limit=CLOSE)
    return replace(checked, values={"parts": parts})


def fairer(evidence: Evidence, name: str) -> Checked:
    return mostly(
        [
            estimate_mean(original - own)
            for text in EPSILONS
            for original, own in pairs(evidence, name, "k-anonymity", text, "alpha")
        ]
    )


# --- classification -------------------------------------------------------------------------------


def higher(evidence: Evidence, name: str) -> Checked:
    plain, more = (
        [
            accuracies(evidence, name, own, text, setting=setting)
            - accuracies(evidence, name, other, text, setting=setting)
            for own, other, text in _RIVALS
        ]
        for setting in ("plain", "areas")
    )
    checked, at_all, with_areas = (
        mostly([estimate_mean(gap - least) for gap in gaps])
        for gaps, least in ((plain, MUCH), (plain, 0.0), (more, MUCH))
    )
    words = [each.why[:1].lower() + each.why[1:] for each in (at_all, with_areas)]
    return replace(checked, values={"much": MUCH, "at_all": words[0], "areas": words[1]})


def near(evidence: Evidence, name: str) -> Checked:
    base = accuracies(evidence, name, BASELINE, "")
    losses = [
        estimate_mean(base - accuracies(evidence, name, each, text))
        for each, text in product(_CLASSICAL, EPSILONS)
    ]
    return replace(below(losses, limit=NEAR), values={"base": base.mean()})


def nearer(evidence: Evidence, name: str) -> Checked:
    """Check that Laplace and the discrete Gaussian are closer to the baseline than any other."""
    base = accuracies(evidence, name, BASELINE, "")

    def away(each: str, text: str) -> Runs:
        return np.abs(base - accuracies(evidence, name, each, text))

    return mostly([estimate_mean(away(other, text) - away(own, text)) for own, other, text in _RIVALS])
