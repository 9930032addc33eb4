r"""Calibration: whether people who are scored 0.7 have the outcome in 70 of 100 cases.

People of a group are put into bins of about equal size by their scores, equal scores always into one bin.
Of each bin the mean score is compared with the share who have the outcome. Scores are taken as they are, so
that the only chance is in the outcomes, and the interval of each share is the exact one of Clopper and
Pearson.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.counts import Tables
from evenhand.measure.intervals import clopper_pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BINS = 10
"""How many bins a group has at most."""

FEWEST_IN_BIN = 30
"""How many people a bin has at least."""


@dataclass(frozen=True)
class ScoreBin:
    """People with about the same score.

    Parameters
    ----------
    least, most : float
        The lowest and the highest score among them.
    people : int
    score : float
        The mean score.
    observed, low, high : float
        The share who have the outcome, and its interval.
    """

    least: float
    most: float
    people: int
    score: float
    observed: float
    low: float
    high: float

    @property
    def is_off(self) -> bool:
        """Whether the interval leaves out the mean score."""
        return not self.low <= self.score <= self.high


@dataclass(frozen=True)
class Calibration:
    """The scores of one group beside the outcomes.

    Parameters
    ----------
    whole : ScoreBin, optional
        All people of the group; None if there are none.
    bins : tuple of ScoreBin
        By score; none if the group has fewer people than two bins need.
    """

    whole: ScoreBin | None
    bins: tuple[ScoreBin, ...]

    @property
    def error(self) -> float:
        """The mean distance of score and share over the bins, weighted by people; NaN without bins."""
        people = sum(part.people for part in self.bins)
        distances = sum(part.people * abs(part.score - part.observed) for part in self.bins)
        return distances / people if people else math.nan


def calibrate(
    positive: NDArray[np.uint8],
    scores: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    *,
    bins: int = MOST_BINS,
    fewest: int = FEWEST_IN_BIN,
    level: float = 0.95,
) -> Calibration:
    """Compare scores with outcomes, in bins of about equal size.

    Parameters
    ----------
    positive : array of 0 and 1
        Whether somebody has the outcome.
    scores : array of float
    weights : array of float, optional
        With weights, shares and means are weighted and intervals rest on the effective size of
        :class:`evenhand.measure.counts.Shares`.
    bins : int
        How many bins there are at most.
    fewest : int
        How many people a bin has at least.
    level : float

    Examples
    --------
    >>> outcome, score = np.array([0, 0, 0, 1] * 30, dtype=np.uint8), np.repeat([0.2, 0.4], 60)
    >>> [(part.people, round(part.score, 3), part.observed) for part in calibrate(outcome, score).bins]
    [(60, 0.2, 0.25), (60, 0.4, 0.25)]
    """
    order = np.argsort(scores, kind="stable")
    ranked, hits = scores[order], positive[order].astype(float)
    mass = np.ones(len(scores)) if weights is None else weights[order]
    if not mass.sum() > 0:
        return Calibration(None, ())
    count = min(bins, len(scores) // fewest)
    parts = [_bin(ranked, hits, mass, slice(*ends), level) for ends in _split(ranked, count, fewest)]
    whole = _bin(ranked, hits, mass, slice(None), level)
    return Calibration(whole, tuple(part for part in parts if part is not None) if len(parts) > 1 else ())


def _split(ranked: NDArray[np.float64], count: int, fewest: int) -> list[tuple[int, int]]:
    """Return where bins of about equal size begin and end, so that none ends between equal scores."""
    edges, last = [0], len(ranked)
    for place in range(1, count):
        edge = int(np.searchsorted(ranked, ranked[place * last // count], side="left"))
        if edge - edges[-1] >= fewest and last - edge >= fewest:
            edges.append(edge)
    return list(zip(edges, [*edges[1:], last], strict=True))


def _bin(ranked: Any, hits: Any, mass: Any, part: slice, level: float) -> ScoreBin | None:
    weights = mass[part]
    total = float(weights.sum())
    if not total > 0:
        return None
    share, score = min(float(weights @ hits[part]) / total, 1.0), float(weights @ ranked[part]) / total
    outcomes = np.stack([1 - hits[part], hits[part], *np.zeros((2, len(weights)))])
    shares = Tables(outcomes @ weights, outcomes @ weights**2, labelled=False).groups
    low, high = clopper_pearson(*shares.of("selection"), level)
    people = int((weights > 0).sum())
    return ScoreBin(
        float(ranked[part][0]), float(ranked[part][-1]), people, score, share, float(low), float(high)
    )
