"""What projected scores decide, the whole curve of tolerances, and the tolerance that meets a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notebook import aligned, number_text
from evenhand._validate import refuse
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.learn.projection.problem import Divergence, Kind, ScoredRows
    from evenhand.table.frames import Backend

    Floats = NDArray[np.float64]

_SHOWN = 12
_HALVINGS = 20
POINTS = 33
"""How many tolerances a curve has unless told."""


@dataclass(frozen=True)
class Decided:
    """Gap and accuracy of the decisions at one tolerance."""

    gap: float
    accuracy: float
    signed: float
    """For two groups and two classes: the second group's rate of the second class minus the first's."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Rows whose decisions are counted.

    Parameters
    ----------
    rows : ScoredRows
        Their scores and groups.
    labels : array or None
        The place of the class of each row, if it is known.
    groups : array
        As in `ScoredRows`.
    kind : {"parity", "odds"}
        Which gap is meant.
    weights : array, optional
        For how many rows each counts.
    """

    rows: ScoredRows
    labels: NDArray[np.intp] | None
    groups: NDArray[Any]
    kind: Kind
    weights: Floats | None = None

    def judge(self, prices: Floats, divergence: Divergence) -> Decided:
        """Decide for the class with the largest projected score, and count."""
        table = self._table(self.rows.tilted(prices, divergence).argmax(axis=1))
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = table.sum(axis=1) / table.sum(axis=(1, 2))[:, None]
            gap = float(np.ptp(rates, axis=0).max()) if self.kind == "parity" else _odds_gap(table)
        accuracy = float(np.einsum("scc->", table) / table.sum()) if self.labels is not None else np.nan
        return Decided(gap, accuracy, float(rates[1, -1] - rates[0, -1]))

    def _table(self, decided: NDArray[np.intp]) -> Floats:
        """Return how many rows there are by group, class and decision."""
        k, C = self.rows.n_groups, self.rows.n_classes  # noqa: N806 - as in the formulas
        labels = np.zeros(len(decided), dtype=np.intp) if self.labels is None else self.labels
        cells = C * labels + decided
        if self.groups.ndim == 1:
            counted = np.bincount(C * C * self.groups + cells, self.weights, minlength=k * C * C)
            return counted.reshape(k, C, C).astype(np.float64)
        shares = self.groups if self.groups.ndim == 2 else self.groups[labels, np.arange(len(labels))]
        shares = shares if self.weights is None else shares * self.weights[:, None]
        counts = [np.bincount(cells, weights=shares[:, s], minlength=C * C) for s in range(k)]
        return np.array(counts, dtype=np.float64).reshape(k, C, C)


def _odds_gap(table: Floats) -> float:
    """Return the largest mean, over two groups and one class, of the differences of its two error rates."""
    worst = []
    for c in range(table.shape[1]):
        others = np.delete(table, c, axis=1)
        hit = table[:, c, c] / table[:, c].sum(axis=1)
        false = others[:, :, c].sum(axis=1) / others.sum(axis=(1, 2))
        worst.append(max(np.ptp(hit + false), np.ptp(hit - false)) / 2)  # the largest |x| + |y| of any pair
    return float(np.max(worst))


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """The trade-off of a projection, one point for each tolerance.

    Parameters
    ----------
    kind, divergence : str
        What was projected, and how.
    tolerance : array
        The tolerances, from small to large.
    objective : array
        The mean divergence from the scores of the estimator.
    gap : array
        Of the decisions, on the rows the curve was asked for: for ``"parity"`` the largest difference of two
        groups' rates of one decision, for ``"odds"`` the largest mean difference of two groups' true and
        false positive rates of one class.
    accuracy : array
        Of the same decisions; NaN where no labels are known.
    """

    kind: Kind
    divergence: Divergence
    tolerance: Floats
    objective: Floats
    gap: Floats
    accuracy: Floats

    def __post_init__(self) -> None:
        for values in (self.tolerance, self.objective, self.gap, self.accuracy):
            values.setflags(write=False)

    def __len__(self) -> int:
        return len(self.tolerance)

    def to_frame(self, *, backend: Backend | None = None) -> Any:
        """Return a frame with one row for each tolerance."""
        names = ("tolerance", "objective", "gap", "accuracy")
        return make_frame({name: getattr(self, name).tolist() for name in names}, backend=backend)

    def __repr__(self) -> str:
        places = np.unique(np.linspace(0, len(self) - 1, min(len(self), _SHOWN)).round().astype(int))
        rows = [["tolerance", "divergence", "gap", "accuracy"]]
        for place in places:
            values = [getattr(self, name)[place] for name in ("objective", "gap", "accuracy")]
            rows.append(
                [number_text(self.tolerance[place]), f"{values[0]:.5f}", *map(number_text, values[1:])]
            )
        few = f", {len(places)} of {len(self)} points" if len(places) < len(self) else ""
        return "\n".join([f"Projection for {self.kind} by {self.divergence}{few}", *aligned(rows)])


def tolerance_that_meets(
    target: float, decided: Callable[[float], Decided], largest: float, *, monotone: bool, owner: str
) -> float:
    """Return the largest tolerance found whose decisions are at most `target` apart.

    With two groups and two classes the signed gap does not fall as the tolerance grows, so it is cut in
    half again and again; the absolute gap has no such order, and neither has the gap of odds.
    """
    base = decided(largest)
    if np.isnan(base.gap):
        refuse("group", owner, "such that every group has rows of every kind that is counted", "one without")
    if base.gap <= target:
        return largest
    search = _by_sign if monotone else _by_grid
    found, least = search(target, decided, largest, base)
    if found is None:
        refuse(
            "gap",
            owner,
            f"one that a projection reaches on these rows, about {least:.4f} or more",
            target,
            hint=(
                "the tolerance bounds mean scores, not decisions; thresholds of their own for each group "
                "(post-processing) reach any gap."
            ),
        )
    return found


def _by_sign(
    target: float, decided: Callable[[float], Decided], largest: float, base: Decided
) -> tuple[float | None, float]:
    sign = 1.0 if base.signed > 0 else -1.0
    low, high, best = 0.0, largest, sign * decided(0.0).signed
    if best > target:
        return None, best
    least = base.gap if best < -target else abs(best)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        here = sign * decided(middle).signed
        least = min(least, abs(here))
        if here <= target:
            low, best = middle, here
        else:
            high = middle
    return (low, least) if best >= -target else (None, least)


def _by_grid(
    target: float, decided: Callable[[float], Decided], largest: float, base: Decided
) -> tuple[float | None, float]:
    grid = np.linspace(0.0, largest, POINTS)
    gaps = np.array([decided(float(tolerance)).gap for tolerance in grid[:-1]] + [base.gap])
    if gaps.min() > target:  # a finer grid round the best
        best = int(gaps.argmin())
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, POINTS - 1)], 17)
        gaps = np.array([decided(float(tolerance)).gap for tolerance in grid])
        if gaps.min() > target:
            return None, float(gaps.min())
    place = int(np.flatnonzero(gaps <= target)[-1])
    low, high = float(grid[place]), float(grid[place + 1])  # the last of either grid does not meet it
    for _ in range(_HALVINGS // 2):
        middle = (low + high) / 2
        low, high = (middle, high) if decided(middle).gap <= target else (low, middle)
    return low, float(gaps.min())
