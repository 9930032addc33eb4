"""Comparisons behind the claims of arcolezi2023: which settings, which measures, which difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimated
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
from evenhand.study.tasks.shared.report_settings import protocol_parameters, report_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from evenhand.papers.published import Published
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

__all__ = [
    "FAIRNESS",
    "LOW_PRIVACY",
    "UTILITY",
    "against",
    "average",
    "best_split",
    "dominations",
    "improvements",
    "losses",
    "splits_apart",
]

FAIRNESS = ("di", "spd", "eod", "oad")
UTILITY = ("acc", "f1", "balanced_accuracy", "recall")

LOW_PRIVACY = 20.0
"""Epsilons from here on are the paper's "low privacy regimes"."""

_SPLITS = ("uniform", "k-based")


def values(results: Results, setting: Setting, measure: str) -> NDArray[np.float64]:
    """Return a measure of a setting, one value per repeat."""
    arrays = results.arrays
    found: NDArray[np.float64] = arrays.of_measures[results.place(setting), :, arrays.measures.index(measure)]
    return found


def chosen(
    results: Results,
    *,
    split: str | None = None,
    protocol: str | None = None,
    keep: Callable[[float], bool] = lambda _: True,
) -> list[Setting]:
    """Return the protected settings of a split, a protocol and some epsilons."""
    return [
        each
        for each in results.settings
        if each.epsilon is not None
        and keep(float(each.epsilon))
        and split in (None, each.option("split"))
        and protocol in (None, each.mechanism)
    ]


def _mean(results: Results, runs: NDArray[np.float64]) -> Estimated:
    return estimated(results, runs, level=0.95, kind="student", owner="claim")


# --- against the unprotected result ---------------------------------------------------------------


def improvements(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much each measure of each setting is closer to no disparity than unprotected."""
    return [
        _mean(
            results,
            CLASSIFIER_MEASURES[measure].goodness(values(results, setting, measure))
            - CLASSIFIER_MEASURES[measure].goodness(values(results, Setting(), measure)),
        )
        for setting in settings
        for measure in measures
    ]


def against(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return how far each measure of each setting is from its unprotected value."""
    return [
        _mean(results, values(results, setting, measure) - values(results, Setting(), measure))
        for setting in settings
        for measure in measures
    ]


def losses(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much each measure of each setting is below its unprotected value."""
    return [
        _mean(results, values(results, Setting(), measure) - values(results, setting, measure))
        for setting in settings
        for measure in measures
    ]


def average(results: Results, settings: Sequence[Setting], measure: str) -> Estimated:
    """Return the mean of a measure over settings, repeat by repeat."""
    return _mean(results, np.mean([values(results, each, measure) for each in settings], axis=0))


def average_loss(results: Results, settings: Sequence[Setting], measure: str) -> Estimated:
    """Return by how much a measure, averaged over settings, is below its unprotected value."""
    mean = np.mean([values(results, each, measure) for each in settings], axis=0)
    return _mean(results, values(results, Setting(), measure) - mean)


def average_spread(
    published: Published | None, study: str, settings: Sequence[Setting], measure: str, *, loss: bool = False
) -> float | None:
    """Return the published spread of such a mean, or of such a loss; None without published runs."""
    if published is None:
        return None
    found = [published.runs(study, each, measure) for each in settings]
    known = [each for each in found if each is not None]
    base = published.runs(study, Setting(), measure)
    if len(known) < len(found) or not known or base is None:
        return None
    mean = np.mean(known, axis=0)
    return float(np.std(base - mean if loss else mean, ddof=1))


# --- between splits -------------------------------------------------------------------------------


def _other(setting: Setting, split: str) -> Setting:
    return report_setting(
        setting.mechanism,
        setting.epsilon,
        split,
        setting.option("strategy"),
        protocol_parameters(setting),
    )


def splits_apart(
    results: Results, measures: Sequence[str], *, keep: Callable[[float], bool] = lambda _: True
) -> list[Estimated]:
    """Return k-based minus uniform, for each protocol, epsilon and measure."""
    return [
        _mean(
            results, values(results, setting, measure) - values(results, _other(setting, "uniform"), measure)
        )
        for setting in chosen(results, split="k-based", keep=keep)
        for measure in measures
    ]


def best_split(results: Results, measures: Sequence[str], *, better: str = "k-based") -> list[Estimated]:
    """Return by how much `better` beats the other split, for each protocol, epsilon and measure."""
    worse = next(split for split in _SPLITS if split != better)
    return [
        _mean(
            results,
            CLASSIFIER_MEASURES[measure].goodness(values(results, setting, measure))
            - CLASSIFIER_MEASURES[measure].goodness(values(results, _other(setting, worse), measure)),
        )
        for setting in chosen(results, split=better)
        for measure in measures
    ]


# --- between protocols ----------------------------------------------------------------------------


def _matched(results: Results, protocol: str) -> list[tuple[Setting, list[Setting]]]:
    """Return each setting of a protocol with those of the others that have its split and epsilon."""
    every = chosen(results)
    return [
        (
            own,
            [
                each
                for each in every
                if (each.option("split"), each.epsilon) == (own.option("split"), own.epsilon)
                and each.mechanism != protocol
            ],
        )
        for own in chosen(results, protocol=protocol)
    ]


def ahead(results: Results, protocol: str, measures: Sequence[str], *, sign: int = 1) -> list[Estimated]:
    """Return by how much a protocol beats each other one; with sign -1 by how much it is beaten."""
    return [
        _mean(
            results,
            sign
            * (
                CLASSIFIER_MEASURES[measure].goodness(values(results, own, measure))
                - CLASSIFIER_MEASURES[measure].goodness(values(results, other, measure))
            ),
        )
        for own, others in _matched(results, protocol)
        for other in others
        for measure in measures
    ]


def dominations(results: Results) -> dict[str, int]:
    """Return how often each protocol is dominated by another with the same split and epsilon.

    One protocol dominates another if it is clearly better in accuracy or in the parity gap and not clearly
    worse in the other of the two.
    """
    protocols = dict.fromkeys(each.mechanism for each in chosen(results))
    found = dict.fromkeys(protocols, 0)
    for protocol in protocols:
        for own, others in _matched(results, protocol):
            for other in others:
                accuracy, gap = (_beats(results, other, own, measure) for measure in ("acc", "spd"))
                found[protocol] += max(accuracy, gap) > 0 and min(accuracy, gap) >= 0
    return found


def _beats(results: Results, first: Setting, second: Setting, measure: str) -> int:
    """Return 1 if the first is clearly better, -1 if it is clearly worse, else 0."""
    apart = _mean(
        results,
        CLASSIFIER_MEASURES[measure].goodness(values(results, first, measure))
        - CLASSIFIER_MEASURES[measure].goodness(values(results, second, measure)),
    )
    return (1 if apart.value > 0 else -1) if apart.is_clear else 0


def domination_words(counts: dict[str, int]) -> str:
    """Return the counts, fewest first.

    >>> domination_words({"grr": 2, "blh": 9})
    'GRR 2, BLH 9'
    """
    ordered = sorted(counts.items(), key=lambda pair: pair[1])
    return ", ".join(f"{name.upper()} {number}" for name, number in ordered)
