"""What figures 2 to 9 of zhu2023 are said to show."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import Checked, Claim
from evenhand.papers.rules import alike, below, mostly
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023.checks import accuracies, anonymity_at, suppression_at, swapping_at
from evenhand.papers.zhu2023.classification import BASELINE, classification_name
from evenhand.papers.zhu2023.data import DATA
from evenhand.papers.zhu2023.experiments import (
    CELLS,
    ORIGINAL,
    READINGS,
    SHARES,
    THRESHOLDS,
    figures_name,
)
from evenhand.papers.zhu2023.printed import (
    ANONYMITY,
    EPSILONS,
    GAUSSIAN,
    LAPLACE,
    SUPPRESSION,
    SWAPPING,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence

    Runs = NDArray[np.float64]

__all__ = ["CLOSE", "FIGURE_CLAIMS", "MUCH", "NEAR", "pairs"]

CLOSE = 0.1
"""Errors and alphas within it of the original's, as a share of that, are called close."""

MUCH, NEAR = 0.01, 0.02
"""Accuracies are much higher by more than the first, and close to the baseline within the second."""

_METHODS = ("suppression", "swapping", "k-anonymity")
_MEASURES = {"error": "errors", "alpha": "alphas"}
_CLASSICAL, _COUNTERPARTS = (LAPLACE, GAUSSIAN), (SUPPRESSION, SWAPPING, ANONYMITY)
_EVERYBODY = "everybody"


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
        own = swapping_at(evidence, name, "epsilon", epsilon, measure)
        return [(swapping_at(evidence, name, reading, str(each), measure), own) for each in SHARES]
    read = suppression_at if method == "suppression" else anonymity_at
    return [
        (read(evidence, name, k, ORIGINAL, measure), read(evidence, name, k, epsilon, measure))
        for k in THRESHOLDS
    ]


def _relative(original: Runs, own: Runs) -> Runs:
    """Return how far an error is from the original's, as a share of that."""
    scale = float(original.mean())
    return (own - original) / scale if scale else np.full(len(own), np.nan)


# --- errors ---------------------------------------------------------------------------------------


def _close(name: str, method: str, evidence: Evidence) -> Checked:
    found = [
        estimate_mean(_relative(*pair))
        for text in EPSILONS
        for pair in pairs(evidence, name, method, text, "error")
    ]
    checked = alike(found, margin=CLOSE)
    words = f"{checked.why} Here: as a share of the original's error."
    if method == "swapping":
        words += f" {_readings(evidence, name)}"
    return Checked(checked.verdict, words, checked.ours)


def _readings(evidence: Evidence, name: str) -> str:
    """Tell the errors of swapping in its three readings beside those of the counterpart."""
    own = [float(swapping_at(evidence, name, "epsilon", text, "error").mean()) for text in EPSILONS]
    told = []
    for reading in READINGS:
        ends = [
            float(swapping_at(evidence, name, reading, str(each), "error").mean())
            for each in (SHARES[0], SHARES[-1])
        ]
        told.append(f"{reading} {ends[0]:,.0f} to {ends[1]:,.0f}")
    return (
        f"Errors of the original with {SHARES[0]} to {SHARES[-1]} % swapped: {'; '.join(told)}; of the "
        f"counterpart {', '.join(f'{each:,.0f}' for each in own)}."
    )


def _improved(name: str, evidence: Evidence) -> Checked:
    """Check that a sample's k-anonymity has smaller errors than everybody's at small epsilons."""
    small = EPSILONS[:2]
    found = [
        estimate_mean(original - own)
        for text in small
        for original, own in pairs(evidence, name, "k-anonymity", text, "error")
    ]
    checked = mostly(found)
    text = small[0]
    all_of = float(anonymity_at(evidence, name, 6, f"{text}, {_EVERYBODY}", "error").mean())
    own = float(anonymity_at(evidence, name, 6, text, "error").mean())
    original = float(anonymity_at(evidence, name, 6, ORIGINAL, "error").mean())
    why = (
        f"{checked.why} This is against the table of the sample. For k = 6 and epsilon = {text} the error is "
        f"{own:,.0f} against it and {all_of:,.0f} against everybody; that of the original is {original:,.0f}."
    )
    return Checked(checked.verdict, why, checked.ours)


def _approaches(name: str, method: str, measure: str, evidence: Evidence) -> Checked:
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


# --- alpha ----------------------------------------------------------------------------------------


def _comparable(name: str, evidence: Evidence) -> Checked:
    found = [
        estimate_mean(_relative(*pair))
        for method, text in product(_METHODS, EPSILONS)
        for pair in pairs(evidence, name, method, text, "alpha")
    ]
    checked = below(found, limit=CLOSE)
    parts = []
    for method in _METHODS:
        own = [
            estimate_mean(_relative(*pair)).value
            for text in EPSILONS
            for pair in pairs(evidence, name, method, text, "alpha")
        ]
        parts.append(f"{method} {sum(each <= CLOSE for each in own)} of {len(own)}")
    return Checked(
        checked.verdict,
        f"{checked.why} At most a tenth above the original: {', '.join(parts)}.",
        checked.ours,
    )


def _fairer(name: str, evidence: Evidence) -> Checked:
    return mostly(
        [
            estimate_mean(original - own)
            for text in EPSILONS
            for original, own in pairs(evidence, name, "k-anonymity", text, "alpha")
        ]
    )


# --- classification -------------------------------------------------------------------------------


def _higher(name: str, evidence: Evidence) -> Checked:
    def gaps(setting: str) -> list[Runs]:
        return [
            accuracies(evidence, name, own, text, setting=setting)
            - accuracies(evidence, name, other, text, setting=setting)
            for own, other, text in product(_CLASSICAL, _COUNTERPARTS, EPSILONS)
        ]

    checked = mostly([estimate_mean(each - MUCH) for each in gaps("plain")])
    more = mostly([estimate_mean(each - MUCH) for each in gaps("areas")])
    any_at_all = mostly([estimate_mean(each) for each in gaps("plain")])
    why = (
        f"{checked.why} That is by more than {MUCH:g}; by anything at all: {_lowered(any_at_all.why)} "
        f"With the area as a further feature, by more than {MUCH:g}: {_lowered(more.why)}"
    )
    return Checked(checked.verdict, why, checked.ours)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _near(name: str, evidence: Evidence) -> Checked:
    base = accuracies(evidence, name, BASELINE, "")
    losses = [
        estimate_mean(base - accuracies(evidence, name, each, text))
        for each, text in product(_CLASSICAL, EPSILONS)
    ]
    checked = below(losses, limit=NEAR)
    return Checked(checked.verdict, f"{checked.why} The baseline is {base.mean():.3f}.", checked.ours)


def _nearer(name: str, evidence: Evidence) -> Checked:
    """Check that Laplace and the discrete Gaussian are closer to the baseline than any other."""
    base = accuracies(evidence, name, BASELINE, "")

    def away(each: str, text: str) -> Runs:
        return np.abs(base - accuracies(evidence, name, each, text))

    return mostly(
        [
            estimate_mean(away(other, text) - away(own, text))
            for own, other, text in product(_CLASSICAL, _COUNTERPARTS, EPSILONS)
        ]
    )


# --- claims ---------------------------------------------------------------------------------------


def _claim(
    key: str, words: str, where: str, check: Callable[[Evidence], Checked], rule: str, need: str
) -> Claim:
    return Claim(key, words, where, check, rule, (need,))


def _curve_claims(name: str) -> Iterator[Claim]:
    """Yield what figures of errors and alphas are said to show."""
    source, need = DATA[name], figures_name(name)
    errors, alphas = f"figure {source.errors}", f"section 6, figure {source.alphas}"
    for method in _METHODS:
        words = f"{source.title}: the errors of DP {method} are close to those of the original."
        yield _claim(f"{name}-close-{method}", words, errors, partial(_close, name, method), "alike", need)
    words = f"{source.title}: for small epsilons DP k-anonymity has smaller errors than the original."
    yield _claim(f"{name}-improved", words, errors, partial(_improved, name), "mostly", need)
    for (measure, word), method in product(_MEASURES.items(), _METHODS):
        words = f"{source.title}: as epsilon rises, the {word} of DP {method} approach those of the original."
        where = f"appendix C.2, figure {source.errors if measure == 'error' else source.alphas}"
        check = partial(_approaches, name, method, measure)
        yield _claim(f"{name}-approaches-{method}-{measure}", words, where, check, "mostly", need)
    words = (
        f"{source.title}: the alphas of the counterparts are comparable to those of the originals or better."
    )
    yield _claim(f"{name}-comparable", words, alphas, partial(_comparable, name), "below", need)
    words = f"{source.title}: DP k-anonymity has lower alphas than k-anonymity."
    yield _claim(f"{name}-fairer", words, alphas, partial(_fairer, name), "mostly", need)


def _accuracy_claims(name: str) -> Iterator[Claim]:
    """Yield what figures of accuracies are said to show."""
    source, need = DATA[name], classification_name(name)
    where = f"section 7, figure {source.accuracy}"
    words = (
        f"{source.title}: classifiers from Laplace and discrete Gaussian tables are much more accurate than "
        "those from the counterparts."
    )
    yield _claim(f"{name}-higher", words, where, partial(_higher, name), "mostly", need)
    words = f"{source.title}: their accuracy is close to the baseline."
    yield _claim(f"{name}-near", words, where, partial(_near, name), "below", need)
    words = f"{source.title}: their accuracy is closer to the baseline than that of any counterpart."
    yield _claim(f"{name}-nearer", words, where, partial(_nearer, name), "mostly", need)


FIGURE_CLAIMS = (
    *(claim for name in DATA for claim in _curve_claims(name)),
    *(claim for name in DATA for claim in _accuracy_claims(name)),
)
"""The findings of the figures, for each data set."""
