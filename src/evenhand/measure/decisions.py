"""What each group gets from decisions that were made, how far apart the groups are, and how sure that is.

Everything is counted from columns as they were read: groups are codes, and -1 is a group that is not stated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._validate import refuse
from evenhand.measure.added import ADDED_MEASURES, added_measure
from evenhand.measure.calibration import Calibration, calibrate
from evenhand.measure.counts import CountTable, Tables, count_table
from evenhand.measure.disparities import (
    COMPARED_RATES,
    COMPARISONS,
    Disparity,
    compare_groups,
    compare_with,
    rate_counts,
    rate_limits,
    rate_values,
)
from evenhand.measure.intervals import check_level, mean_of_shares
from evenhand.measure.ranking import Ranking, rank_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.measure.added import GroupMeasure
    from evenhand.measure.counts import Shares

    Coded = tuple[NDArray[np.intp], Sequence[str]]

OWNER = "measure.page"
GROUP_RATES = ("base_rate", *COMPARED_RATES)
"""Rates of a group, in the order in which they are shown."""


class Found(NamedTuple):
    """A number with its limits: NaN and none where it cannot be estimated."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, value: Any, low: Any, high: Any) -> Found:
        """Return a number with its limits; without, where it cannot be estimated."""
        return cls(float(value), float(low), float(high)) if math.isfinite(value) else cls(math.nan)


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Rows with a decision, those of unknown group among them.

    `group` is the place of each row's group among the labels, -1 where it is not stated. Where several
    columns are crossed, `margins` has the codes and the labels of each by itself.
    """

    predicted: NDArray[np.uint8]
    group: NDArray[np.intp]
    labels: tuple[str, ...]
    truth: NDArray[np.uint8] | None = None
    scores: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None
    margins: Mapping[str, Coded] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DecisionNumbers:
    """Every number of some decisions; what it takes is described in :func:`evenhand.measure.page`.

    Examples
    --------
    >>> rows = Decisions(np.array([1, 0] * 60), np.arange(120) // 60, ("a", "b"))
    >>> numbers = DecisionNumbers(rows=rows)
    >>> numbers.rate(0, "selection").value, numbers.compared("selection_gap").value
    (0.5, 0.0)
    """

    rows: Decisions
    privileged: str | None = None
    fewest: int = 30
    level: float = 0.95
    measures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_level(self.level, owner=OWNER)
        if len(np.unique(self.rows.group[self.rows.group >= 0])) < 2:
            hint = "name another column, or compare those who do not state it as a group."
            refuse("group", OWNER, "a column with people of two groups or more", "one group", hint=hint)
        if isinstance(self.fewest, bool) or not isinstance(self.fewest, int) or self.fewest < 1:
            refuse("fewest", OWNER, "a whole number of at least 1", self.fewest)
        if self.privileged is not None and self.privileged not in self.rows.labels:
            refuse("privileged", OWNER, "the label of one of the groups", "another label")
        for name in self.measures:
            if added_measure(name) is None:
                refuse("measures", OWNER, "those of other packages, for the page has evenhand's own", name)

    # --- counts -----------------------------------------------------------------------------------

    @property
    def is_labelled(self) -> bool:
        """Whether the true outcomes are known."""
        return self.rows.truth is not None

    def _count(self, codes: Any, groups: int = 1) -> CountTable:
        """Return rows counted by group, outcome and prediction; those with the code -1 are not in it."""
        rows, chosen = self.rows, codes >= 0
        truth, weights = (None if part is None else part[chosen] for part in (rows.truth, rows.weights))
        there = range(groups)
        return count_table(truth, rows.predicted[chosen], codes[chosen], groups=there, weights=weights)

    @cached_property
    def table(self) -> CountTable:
        """Rows by group, outcome and prediction; those of unknown group are not in it."""
        return self._count(self.rows.group, len(self.rows.labels))

    @cached_property
    def shares(self) -> Shares:
        """Shares of each group."""
        return Tables.of(self.table, None).groups

    @cached_property
    def overall(self) -> Shares:
        """Shares of everybody, those of unknown group too."""
        return Tables.of(self._count(np.zeros(len(self.rows.group), np.intp)), None).groups

    @cached_property
    def people(self) -> tuple[int, ...]:
        """How many rows each group has, whatever their weights."""
        stated = self.rows.group[self.rows.group >= 0]
        return tuple(np.bincount(stated, minlength=len(self.rows.labels)).tolist())

    @property
    def unknown(self) -> int:
        """How many rows are of no group."""
        return len(self.rows.group) - sum(self.people)

    @property
    def reference(self) -> int:
        """The place of the group that others are compared with."""
        if self.privileged is not None:
            return self.rows.labels.index(self.privileged)
        return int(np.argmax(self.people))

    # --- rates and comparisons --------------------------------------------------------------------

    def rate(self, place: int, rate: str, shares: Shares | None = None) -> Found:
        """Return a rate of a group, NaN where it cannot be estimated."""
        of = self.shares if shares is None else shares
        low, high = (limits[place] for limits in rate_limits(of, rate, self.level))
        return Found.of(rate_values(of, rate)[place], low, high)

    @cached_property
    def disparities(self) -> dict[str, Disparity]:
        """Every comparison by its name."""
        return {
            name: compare_groups(self.shares, name, fewest=self.fewest, level=self.level)
            for name in COMPARISONS
        }

    def compared(self, name: str) -> Found:
        """Return a comparison with its limits."""
        found = self.disparities[name]
        return Found.of(found.value, found.low, found.high)

    @cached_property
    def added(self) -> dict[str, tuple[GroupMeasure, Found, str]]:
        """Each measure of another package, its value for groups with enough people, and why it has none."""
        table, large = self.table, [place for place, size in enumerate(self.people) if size >= self.fewest]
        squares, rows = (None if part is None else part[large] for part in (table.squares, table.rows))
        compared = CountTable(tuple(large), table.counts[large], squares, table.labelled, rows)
        found = {}
        for name in self.measures:
            kind = ADDED_MEASURES[name]
            reason = kind.reason_for(compared)
            low, high = (math.nan, math.nan) if reason else kind.interval_of(compared, self.level)
            found[name] = kind, Found.of(kind.value_of(compared), low, high), reason
        return found

    # --- scores -----------------------------------------------------------------------------------

    def _scored(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield outcomes, scores and weights of each group, where there are outcomes and scores."""
        rows = self.rows
        if rows.scores is not None and rows.truth is not None:
            for place in range(len(rows.labels)):
                own = np.flatnonzero(rows.group == place)
                yield rows.truth[own], rows.scores[own], None if rows.weights is None else rows.weights[own]

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """How well scores rank people of each group; none without scores and outcomes."""
        return tuple(rank_scores(*group) for group in self._scored())

    def area(self, place: int) -> Found:
        """Return the area under the ROC curve of a group."""
        ranking = self.rankings[place]
        return Found.of(ranking.area, *ranking.limits(self.level))

    @cached_property
    def calibrations(self) -> tuple[Calibration, ...]:
        """Scores beside outcomes for each group; none unless scores are from 0 to 1."""
        scores = self.rows.scores
        if scores is None or not ((scores >= 0) & (scores <= 1)).all():
            return ()
        return tuple(calibrate(*group, level=self.level) for group in self._scored())

    # --- for machines -----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return every number by its name; what cannot be estimated is not a number."""
        rows, margins = self.rows, {}
        for name, (codes, labels) in rows.margins.items():
            shares = Tables.of(self._count(codes, len(labels)), None).groups
            margins[name] = {label: self._rates(place, shares) for place, label in enumerate(labels)}
        not_stated = None
        if self.unknown:
            shares = Tables.of(self._count(np.where(rows.group < 0, 0, -1)), None).groups
            not_stated = {"people": self.unknown, **self._rates(0, shares)}
        return {
            "level": self.level,
            "fewest": self.fewest,
            "reference": rows.labels[self.reference],
            "overall": self._rates(0, self.overall),
            "groups": {label: self._group(place) for place, label in enumerate(rows.labels)},
            "not_stated": not_stated,
            "margins": margins,
            "comparisons": {name: self.comparison_numbers(name) for name in self.disparities},
            "measures": {name: self.added_numbers(name) for name in self.added},
        }

    def _rates(self, place: int, shares: Shares) -> dict[str, Any]:
        return {rate: self.rate(place, rate, shares)._asdict() for rate in GROUP_RATES}

    def _group(self, place: int) -> dict[str, Any]:
        selected = self.table.counts[:, :, 1].sum(axis=1)
        tpr, tnr = (rate_values(self.shares, rate)[place] for rate in ("tpr", "tnr"))
        (found, positives), (kept, negatives) = (
            [part[place] for part in rate_counts(self.shares, rate)] for rate in ("tpr", "tnr")
        )
        limits = mean_of_shares(found, positives, kept, negatives, self.level)
        numbers: dict[str, Any] = {
            "people": self.people[place],
            **self._rates(place, self.shares),
            "balanced_accuracy": Found.of((tpr + tnr) / 2, *limits)._asdict(),
            "share_of_selected": float(selected[place] / selected.sum()) if selected.sum() else math.nan,
            "against_reference": {
                rate: self._against(place, rate) for rate in COMPARED_RATES if place != self.reference
            },
        }
        if self.rankings:
            numbers["auc"] = self.area(place)._asdict()
        if self.calibrations:
            bins = self.calibrations[place]
            numbers["calibration"] = {"error": bins.error, "bins": [vars(part) for part in bins.bins]}
        return numbers

    def _against(self, place: int, rate: str) -> dict[str, Any]:
        """Return difference and ratio of a group's rate to that of the reference."""
        found = compare_with(self.shares, rate, self.reference, self.level)
        pairs = {
            "difference": (found.difference, *found.difference_limits),
            "ratio": (found.ratio, *found.ratio_limits),
        }
        return {name: Found.of(*(part[place] for part in pair))._asdict() for name, pair in pairs.items()}

    def comparison_numbers(self, name: str) -> dict[str, Any]:
        """Return a comparison by the names of its numbers."""
        labels, found = self.rows.labels, self.disparities[name]
        ends = {"lowest": found.lowest, "highest": found.highest}
        return {
            "value": found.value, "low": found.low, "high": found.high, "rate": found.rate,
            **{end: None if place is None else labels[place] for end, place in ends.items()},
            "not_compared": [labels[place] for place in found.too_few], "reason": found.reason,
        }  # fmt: skip

    def added_numbers(self, name: str) -> dict[str, Any]:
        """Return a measure of another package by the names of its numbers."""
        kind, value, reason = self.added[name]
        return {"words": kind.words, **value._asdict(), "no_disparity": kind.no_disparity, "reason": reason}
