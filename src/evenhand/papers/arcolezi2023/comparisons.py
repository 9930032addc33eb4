"""Comparisons behind the claims of arcolezi2023: which settings, which measures, which difference."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.comparisons import mean_of, means_over, values
from evenhand.papers.rules import shift_estimate
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
from evenhand.study.tasks.shared.report_settings import protocol_parameters, report_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from evenhand.papers.published import Published
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

    Runs = NDArray[np.float64]

FAIRNESS = ("di", "spd", "eod", "oad")

LIMITS: dict[str, Callable[[float], bool]] = {
    "all": lambda _: True,
    "first": lambda epsilon: epsilon == 0.25,
    "private": lambda epsilon: epsilon < 20,
    "low": lambda epsilon: epsilon >= 20,
}
"""Epsilons by how private they are; from 20 on are the paper's "low privacy regimes"."""

_SPLITS = ("uniform", "k-based")


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


def _better(results: Results, first: Setting, second: Setting, measure: str) -> Estimated:
    """Return by how much better a measure is in one setting than in another: closer to no disparity."""
    goodness = CLASSIFIER_MEASURES[measure].goodness
    return mean_of(
        results,
        goodness(values(results, first, measure)) - goodness(values(results, second, measure)),
    )


# --- against the unprotected result ---------------------------------------------------------------


def improvements(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much each measure of each setting is closer to no disparity than unprotected."""
    return [_better(results, each, Setting(), measure) for each in settings for measure in measures]


def worsenings(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return the same the other way round."""
    return [shift_estimate(each, sign=-1) for each in improvements(results, settings, measures)]


def against(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return how far each measure of each setting is from its unprotected value."""
    read = partial(values, results)
    return means_over(results, settings, measures, lambda own, each: read(own, each) - read(Setting(), each))


def losses(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much each measure of each setting is below its unprotected value."""
    read = partial(values, results)
    return means_over(results, settings, measures, lambda own, each: read(Setting(), each) - read(own, each))


def average(results: Results, settings: Sequence[Setting], measure: str) -> Estimated:
    """Return the mean of a measure over settings, repeat by repeat."""
    return mean_of(results, np.mean([values(results, each, measure) for each in settings], axis=0))


def average_loss(results: Results, settings: Sequence[Setting], measure: str) -> Estimated:
    """Return by how much a measure, averaged over settings, is below its unprotected value."""
    mean = np.mean([values(results, each, measure) for each in settings], axis=0)
    return mean_of(results, values(results, Setting(), measure) - mean)


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


def splits_apart(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return k-based minus uniform, for each of the k-based settings and each measure."""

    def difference(own: Setting, measure: str) -> Runs:
        return values(results, own, measure) - values(results, _other(own, "uniform"), measure)

    return means_over(results, settings, measures, difference)


def better_split(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much settings of one split beat those of the other, for each measure."""
    found = []
    for setting in settings:
        worse = next(split for split in _SPLITS if split != setting.option("split"))
        found += [_better(results, setting, _other(setting, worse), measure) for measure in measures]
    return found


# --- between protocols ----------------------------------------------------------------------------


def _rivals(results: Results, own: Setting) -> list[Setting]:
    """Return the settings of other protocols with the same split and epsilon."""
    return [
        each
        for each in chosen(results)
        if (each.option("split"), each.epsilon) == (own.option("split"), own.epsilon)
        and each.mechanism != own.mechanism
    ]


def ahead(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much settings of a protocol beat those of each other one."""
    return [
        _better(results, own, other, measure)
        for own in settings
        for other in _rivals(results, own)
        for measure in measures
    ]


def behind(results: Results, settings: Iterable[Setting], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much they are beaten."""
    return [
        _better(results, other, own, measure)
        for own in settings
        for other in _rivals(results, own)
        for measure in measures
    ]


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
    apart = _better(results, first, second, measure)
    return (1 if apart.value > 0 else -1) if apart.is_clear else 0


def domination_words(counts: dict[str, int]) -> str:
    """Return the counts, fewest first.

    >>> domination_words({"grr": 2, "blh": 9})
    'GRR 2, BLH 9'
    """
    ordered = sorted(counts.items(), key=lambda pair: pair[1])
    return ", ".join(f"{name.upper()} {number}" for name, number in ordered)


COMPARISONS: dict[str, Callable[..., list[Estimated]]] = {
    compare.__name__: compare
    for compare in (
        improvements, worsenings, against, losses, splits_apart, better_split, ahead, behind,
    )
}  # fmt: skip
"""The comparisons by the name that claims have for them: results, settings and measures."""
