"""Comparisons behind the claims of arcolezi2023: which settings, which measures, which difference."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.arcolezi2023.plans import SPLITS
from evenhand.papers.comparisons import mean_of, of_each, values
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
from evenhand.study.tasks.shared.report_settings import protocol_parameters, report_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.papers.comparisons import Runs
    from evenhand.papers.published import Published
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

FAIRNESS = ("di", "spd", "eod", "oad")

LIMITS: dict[str, Callable[[float], bool]] = {
    "all": lambda _: True,
    "first": lambda epsilon: epsilon == 0.25,
    "private": lambda epsilon: epsilon < 20,
    "low": lambda epsilon: epsilon >= 20,
}
"""Epsilons by how private they are; from 20 on are the paper's "low privacy regimes"."""


def chosen(
    results: Results, *, split: str | None = None, protocol: str | None = None, epsilons: str = "all"
) -> list[Setting]:
    """Return the protected settings of a split, a protocol and some epsilons."""
    return [
        each
        for each in results.settings
        if each.epsilon is not None
        and LIMITS[epsilons](float(each.epsilon))
        and split in (None, each.option("split"))
        and protocol in (None, each.mechanism)
    ]


def _better(results: Results, first: Setting, second: Setting, measure: str) -> Runs:
    """Return by how much better a measure is in one setting than in another: closer to no disparity."""
    goodness = CLASSIFIER_MEASURES[measure].goodness
    gain: Runs = goodness(values(results, first, measure)) - goodness(values(results, second, measure))
    return gain


def _apart(results: Results, first: Setting, second: Setting, measure: str) -> Runs:
    return values(results, first, measure) - values(results, second, measure)


def _other_split(setting: Setting) -> Setting:
    split = next(split for split in SPLITS if split != setting.option("split"))
    strategy, parameters = setting.option("strategy"), protocol_parameters(setting)
    return report_setting(setting.mechanism, setting.epsilon, split, strategy, parameters)


def _rivals(results: Results, own: Setting) -> list[Setting]:
    """Return the settings of other protocols with the same split and epsilon."""
    return [
        each
        for each in chosen(results)
        if (each.option("split"), each.epsilon) == (own.option("split"), own.epsilon)
        and each.mechanism != own.mechanism
    ]


def against_rivals(
    results: Results, settings: Sequence[Setting], measures: Sequence[str], *, sign: int
) -> list[Runs]:
    """Return by how much settings of a protocol beat each other one, or with sign -1 are beaten."""
    return [
        sign * _better(results, own, other, measure)
        for own in settings
        for other in _rivals(results, own)
        for measure in measures
    ]


NONE = Setting()

COMPARISONS: dict[str, Callable[..., list[Runs]]] = {
    "improvements": of_each(lambda results, own, each: _better(results, own, NONE, each)),
    "worsenings": of_each(lambda results, own, each: _better(results, NONE, own, each)),
    "against": of_each(lambda results, own, each: _apart(results, own, NONE, each)),
    "losses": of_each(lambda results, own, each: _apart(results, NONE, own, each)),
    "splits_apart": of_each(lambda results, own, each: _apart(results, own, _other_split(own), each)),
    "better_split": of_each(lambda results, own, each: _better(results, own, _other_split(own), each)),
    "ahead": partial(against_rivals, sign=1),
    "behind": partial(against_rivals, sign=-1),
}
"""The comparisons by the name that claims have for them: results, settings and measures."""


def average(results: Results, settings: Sequence[Setting], measure: str, *, loss: bool = False) -> Estimated:
    """Return the mean of a measure over settings, repeat by repeat, or how far it is below unprotected."""
    mean = np.mean([values(results, each, measure) for each in settings], axis=0)
    return mean_of(results, values(results, NONE, measure) - mean if loss else mean)


def average_spread(
    published: Published | None, study: str, settings: Sequence[Setting], measure: str, *, loss: bool = False
) -> float | None:
    """Return the published spread of such a mean, or of such a loss; None without published runs."""
    if published is None:
        return None
    found = [published.runs(study, each, measure) for each in settings]
    known = [each for each in found if each is not None]
    base = published.runs(study, NONE, measure)
    if len(known) < len(found) or not known or base is None:
        return None
    mean = np.mean(known, axis=0)
    return float(np.std(base - mean if loss else mean, ddof=1))


def dominations(results: Results) -> dict[str, int]:
    """Return how often each protocol is dominated by another with the same split and epsilon.

    One protocol dominates another if it is clearly better in accuracy or in the parity gap and not clearly
    worse in the other of the two.
    """
    found = dict.fromkeys((each.mechanism for each in chosen(results)), 0)
    for own in chosen(results):
        for other in _rivals(results, own):
            found[own.mechanism] += _dominates(results, other, own)
    return found


def dominate(results: Results, protocols: Sequence[str]) -> tuple[int, int, int]:
    """Return how often some protocols dominate the others and are dominated by them, of how many pairs.

    Pairs without a repeat that both have were not compared and do not count.
    """
    done = results.arrays.done
    pairs = [
        (own, other)
        for protocol in protocols
        for own in chosen(results, protocol=protocol)
        for other in _rivals(results, own)
        if other.mechanism not in protocols and (done[results.place(own)] & done[results.place(other)]).any()
    ]
    ahead = sum(_dominates(results, own, other) for own, other in pairs)
    return ahead, sum(_dominates(results, other, own) for own, other in pairs), len(pairs)


def _dominates(results: Results, first: Setting, second: Setting) -> bool:
    accuracy, gap = (_beats(results, first, second, measure) for measure in ("acc", "spd"))
    return max(accuracy, gap) > 0 and min(accuracy, gap) >= 0


def _beats(results: Results, first: Setting, second: Setting, measure: str) -> int:
    """Return 1 if the first is clearly better, -1 if it is clearly worse, else 0."""
    apart = mean_of(results, _better(results, first, second, measure))
    return (1 if apart.value > 0 else -1) if apart.is_clear else 0
