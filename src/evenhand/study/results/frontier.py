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
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.intervals import check_level
from evenhand.measure.repeat_means import check_kind, means, means_of
from evenhand.study.results.estimates import estimate
from evenhand.study.results.frames import number_column, setting_columns
from evenhand.study.results.lookup import measure_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.measure.repeat_means import Estimated, Kind, Means
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData

_OWNER = "frontier"


@dataclass(frozen=True)
class FrontierPoint:
    """A setting, where it stands and whether another is better in every way."""

    setting: Setting
    x: Estimated
    y: Estimated
    undominated: bool
    """Whether no other setting dominates it. False if a measure has no value."""
    clearly: bool
    """Whether this verdict does not hang on a difference within its paired interval."""
    dominated_by: Setting | None
    """One that dominates it clearly where there is one, and of those the first that is undominated itself."""
    x_distance: float
    y_distance: float
    """The mean distance from no disparity, by which settings are ranked; NaN for other measures."""


def frontier(
    results: ResultData, *, x: str = "acc", y: str = "sp_gap", level: float = 0.95, kind: Kind = "seeds"
) -> tuple[FrontierPoint, ...]:
    """Return every setting with its verdict, in the plan's order; see the module for the rules."""
    level, kind = check_level(level, owner=_OWNER), check_kind(kind, owner=_OWNER)
    known, task = results.arrays.measures, results.plan.task
    names = [measure_named(name, known, parameter=axis, owner=_OWNER) for axis, name in (("x", x), ("y", y))]
    described = [task.measure(name) for name in names]
    runs = [
        measure.goodness(results.arrays.of_measures[..., known.index(name)])
        for name, measure in zip(names, described, strict=True)
    ]
    scores = np.stack([means(of_measure, level=level).value for of_measure in runs])
    distances = [
        -score if isinstance(measure.better, float) else np.full(len(score), np.nan)
        for measure, score in zip(described, scores, strict=True)
    ]

    how: dict[str, Any] = {"overlap": task.overlap, "kind": kind, "level": level, "is_exact": task.is_exact}
    paired = [
        [means_of(of_measure - own, spread=measure.spread, **how) for own in of_measure]
        for of_measure, measure in zip(runs, described, strict=True)
    ]
    ranks = _ranks([np.inf if setting.epsilon is None else setting.epsilon for setting in results.settings])
    undominated, clearly, winners = _rank(scores, ranks, paired)
    points = []
    for place, (setting, winner) in enumerate(zip(results.settings, winners, strict=True)):
        both = [estimate(results, setting, name, level=level, kind=kind) for name in names]
        point = FrontierPoint(
            setting,
            x=both[0],
            y=both[1],
            undominated=bool(undominated[place]),
            clearly=bool(clearly[place]) and all(found.has_interval for found in both),
            dominated_by=None if winner is None else results.settings[winner],
            x_distance=float(distances[0][place]),
            y_distance=float(distances[1][place]),
        )
        points.append(point)
    return tuple(points)


def frontier_columns(results: ResultData, *, x: str, y: str, **how: Any) -> dict[str, Any]:
    """Return one row per setting: the two measures with their limits, the verdict, and who dominates it."""
    points, task = frontier(results, x=x, y=y, **how), results.plan.task
    columns: dict[str, Any] = dict(setting_columns(results.settings, task))
    for axis, given in (("x", x), ("y", y)):
        name = measure_named(given, results.arrays.measures, parameter=axis, owner=_OWNER)
        estimates = [getattr(point, axis) for point in points]
        columns[name] = [found.value for found in estimates]
        columns[f"{name}_low"] = number_column(found.low for found in estimates)
        columns[f"{name}_high"] = number_column(found.high for found in estimates)
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
    scores: NDArray[np.float64], ranks: NDArray[np.intp], paired: Sequence[Sequence[Means]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], list[int | None]]:
    """Compare every setting (rows) with every rival: who is undominated, how clearly, and who dominates it.

    The paired means are, by measure and setting, those of its rivals minus its own.
    """
    with np.errstate(invalid="ignore"):
        ahead = scores[:, None, :] - scores[:, :, None]  # of the rival, in each measure
    smaller, no_larger = ranks[None, :] < ranks[:, None], ranks[None, :] <= ranks[:, None]
    dominates = no_larger & (ahead >= 0).all(axis=0) & (smaller | (ahead > 0).any(axis=0))
    low, high, pairs = (
        np.array([[getattr(mean, part) for mean in of_measure] for of_measure in paired])
        for part in ("low", "high", "runs")
    )
    dominates_clearly = dominates & (pairs > 1).all(axis=0) & (smaller | (low > 0).any(axis=0))
    usable = np.asarray(np.isfinite(scores).all(axis=0))
    undominated = usable & ~dominates.any(axis=1)
    rivals = no_larger & usable[None, :]
    np.fill_diagonal(rivals, val=False)
    settled = ~(rivals & ~(high < 0).any(axis=0)).any(axis=1)
    clearly = np.where(undominated, settled, dominates_clearly.any(axis=1))
    winners: list[int | None] = []
    for clear, any_ in zip(dominates_clearly, dominates, strict=True):
        preferred = (clear & undominated, clear, any_ & undominated, any_)
        winners.append(next((int(better.argmax()) for better in preferred if better.any()), None))
    return undominated, clearly, winners
