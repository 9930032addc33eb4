r"""The settings that no other setting beats in accuracy, disparity and privacy at once.

Setting :math:`b` *dominates* setting :math:`a` if its epsilon is no larger, its mean of both measures is no
worse, and at least one of the three is better. A setting is *undominated* if no other dominates it. Nothing
protects the unprotected setting, so its epsilon counts as infinite: it dominates no protected one.

Measures know their direction. Accuracy and its like are better higher. A disparity is better nearer to no
disparity: its distance from no disparity is taken in each repeat, whichever group it favours, and averaged.

Means of few repeats are ranked by chance as well. So the verdict on each setting is *clear* only where it
does not hang on a difference that its paired interval does not tell from none:

- A dominated setting is clearly so if one that dominates it has a smaller epsilon, or is better in a measure
  by a paired difference whose interval excludes zero.
- An undominated setting is clearly so if it is better than each setting whose epsilon is no larger, in one
  measure at least, by a paired difference whose interval excludes zero.

Without intervals nothing is clear, as after a single repeat, for the ratio of selection rates, and where most
repeats are equal.
Each interval has its own level; they are not corrected for how many pairs there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.measure.intervals import check_level
from evenhand.measure.repeat_means import check_kind, means, means_of
from evenhand.study.results.estimates import estimate
from evenhand.study.results.frames import setting_columns
from evenhand.study.results.lookup import measure_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evenhand.measure.repeat_means import Kind, Means
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.base import Task
    from evenhand.study.tasks.measure import Measure


@dataclass(frozen=True)
class FrontierPoint:
    """A setting, where it stands and whether another is better in every way.

    Parameters
    ----------
    setting : Setting
    x, y : Estimated
        The means of the two measures.
    undominated : bool
        Whether no other setting dominates it. False if a measure has no value.
    clearly : bool
        Whether this verdict does not hang on a difference within its paired interval.
    dominated_by : Setting, optional
        The setting that dominates it, if any: one that does so clearly where there is one, and of those the
        first in the plan's order that is undominated itself.
    x_distance, y_distance : float
        For measures of a disparity, the mean distance from no disparity, by which settings are ranked; NaN
        for others.
    """

    setting: Setting
    x: Estimated
    y: Estimated
    undominated: bool
    clearly: bool
    dominated_by: Setting | None = None
    x_distance: float = np.nan
    y_distance: float = np.nan


class _Ranking(NamedTuple):
    """Who beats whom (rows are the settings judged, columns their rivals), and what follows for each."""

    dominates: NDArray[np.bool_]
    dominates_clearly: NDArray[np.bool_]
    undominated: NDArray[np.bool_]
    clearly: NDArray[np.bool_]


def frontier(
    results: ResultData,
    *,
    x: str = "acc",
    y: str = "sp_gap",
    level: float = 0.95,
    kind: Kind = "seeds",
) -> tuple[FrontierPoint, ...]:
    """Return every setting with its verdict, in the plan's order; see the module for the rules."""
    owner = "frontier"
    level = check_level(level, owner=owner)
    known = results.arrays.measures
    names = [measure_named(name, known, parameter=axis, owner=owner) for axis, name in (("x", x), ("y", y))]
    kind = check_kind(kind, owner=owner)
    described = [results.plan.task.measure(name) for name in names]
    runs = [
        measure.goodness(results.arrays.of_measures[..., known.index(name)])
        for name, measure in zip(names, described, strict=True)
    ]
    scores = np.stack([means(of_measure, level=level).value for of_measure in runs])
    ranks = _ranks([np.inf if setting.epsilon is None else setting.epsilon for setting in results.settings])
    intervals = [
        partial(
            means_of,
            overlap=results.plan.task.overlap,
            kind=kind,
            level=level,
            spread=measure.spread,
            is_exact=results.plan.task.is_exact,
        )
        for measure in described
    ]
    ranking = _rank(scores, ranks, runs, intervals)
    points = []
    for place, setting in enumerate(results.settings):
        both = [estimate(results, setting, name, level=level, kind=kind) for name in names]
        sure = bool(ranking.clearly[place]) and all(estimated.has_interval for estimated in both)
        winner = _find_dominator(ranking, place)
        point = FrontierPoint(
            setting,
            x=both[0],
            y=both[1],
            undominated=bool(ranking.undominated[place]),
            clearly=sure,
            dominated_by=None if winner is None else results.settings[winner],
            x_distance=_distance(described[0], scores[0, place]),
            y_distance=_distance(described[1], scores[1, place]),
        )
        points.append(point)
    return tuple(points)


def frontier_columns(points: Sequence[FrontierPoint], *, x: str, y: str, task: Task) -> dict[str, Any]:
    """Return one row per setting: the two measures with their limits, the verdict, and who dominates it."""
    columns: dict[str, Any] = dict(setting_columns([point.setting for point in points], task))
    for axis, name in (("x", x), ("y", y)):
        estimates = [getattr(point, axis) for point in points]
        columns[name] = [estimated.value for estimated in estimates]
        for end in ("low", "high"):
            limits = [getattr(estimated, end) for estimated in estimates]
            columns[f"{name}_{end}"] = [np.nan if limit is None else limit for limit in limits]
        if task.measure(name).signed:
            columns[f"{name}_distance"] = [getattr(point, f"{axis}_distance") for point in points]
    return columns | {
        "undominated": [point.undominated for point in points],
        "clearly": [point.clearly for point in points],
        "dominated_by": [str(point.dominated_by) if point.dominated_by else "" for point in points],
    }


def _ranks(epsilons: Sequence[Any]) -> NDArray[np.intp]:
    """Return the place of each epsilon among all, so that exact fractions are compared exactly."""
    order = {epsilon: rank for rank, epsilon in enumerate(sorted(set(epsilons)))}
    return np.array([order[epsilon] for epsilon in epsilons], dtype=np.intp)


def _rank(
    scores: NDArray[np.float64],
    ranks: NDArray[np.intp],
    runs: Sequence[NDArray[np.float64]],
    intervals: Sequence[Callable[[NDArray[np.float64]], Means]],
) -> _Ranking:
    """Compare every setting with every other."""
    with np.errstate(invalid="ignore"):
        ahead = scores[:, None, :] - scores[:, :, None]  # of the rival, in each measure
    smaller, no_larger = ranks[None, :] < ranks[:, None], ranks[None, :] <= ranks[:, None]
    dominates = no_larger & (ahead >= 0).all(axis=0) & (smaller | (ahead > 0).any(axis=0))
    clear_wins, clear_losses = np.zeros((2, *dominates.shape), dtype=np.bool_)
    has_interval = np.ones_like(dominates)
    for of_measure, mean_of in zip(runs, intervals, strict=True):
        for place, own in enumerate(of_measure):
            paired = mean_of(of_measure - own)
            clear_wins[place] |= paired.low > 0
            clear_losses[place] |= paired.high < 0
            has_interval[place] &= paired.runs > 1
    dominates_clearly = dominates & has_interval & (smaller | clear_wins)
    usable = np.asarray(np.isfinite(scores).all(axis=0))
    undominated = usable & ~dominates.any(axis=1)
    rivals = no_larger & usable[None, :]
    np.fill_diagonal(rivals, val=False)
    settled = ~(rivals & ~clear_losses).any(axis=1)
    clearly = np.where(undominated, settled, dominates_clearly.any(axis=1))
    return _Ranking(dominates, dominates_clearly, undominated, clearly)


def _distance(measure: Measure, score: float) -> float:
    return -float(score) if isinstance(measure.better, float) else np.nan


def _find_dominator(ranking: _Ranking, place: int) -> int | None:
    """Return who dominates a setting: clearly if there is such a one, on the frontier if there is."""
    for among in (ranking.dominates_clearly[place], ranking.dominates[place]):
        for better in (among & ranking.undominated, among):
            if better.any():
                return int(better.argmax())
    return None
