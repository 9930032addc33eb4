"""The numbers of an audit of predictions: rates by group, comparisons, rules, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import refuse
from evenhand.answer.effects import FEWEST_PEOPLE, read_matters
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
from evenhand.study.predictions.columns import OWNER, Predictions
from evenhand.study.results.estimates import Estimated
from evenhand.study.tasks.shared.fields import participle

if TYPE_CHECKING:
    from evenhand.measure.added import GroupMeasure
    from evenhand.measure.counts import Shares
    from evenhand.study.predictions.rules import Rule, Verdict

GROUP_RATES = ("base_rate", *COMPARED_RATES)
"""Rates of a group, in the order in which they are shown."""

RATES = {"wrongly_refused": "fnr", "wrongly_selected": "fpr", "wrong": "error", "selected": "selection"}
"""The rate that each effect is, with outcomes; without them it is the last one only."""


@dataclass(frozen=True, eq=False, repr=False)
class PredictionAudit:
    """What each group gets from predictions, how far apart the groups are, and how sure that is.

    Parameters
    ----------
    rows : Predictions
    rules : tuple of Rule
    privileged : str, optional
        The group that others are compared with; by default the largest.
    fewest : int
        How many people a rate must rest on to be compared; an effect is never judged from fewer than 30.
    level : float
    unwanted : bool
        Whether the positive prediction is bad for people, such as an alarm.
    measures : tuple of str
        Measures of other packages that are shown besides.
    matters : tuple of str
        The least amount that counts, such as ``"20"`` of 1,000 or ``"wrong=50"``; by default 10 of 1,000.
    called : str
        What happens to somebody whose prediction is positive, such as ``"approved"``; by default *selected*,
        or *flagged* where that is unwanted.
    """

    rows: Predictions
    rules: tuple[Rule, ...] = ()
    privileged: str | None = None
    fewest: int = FEWEST_PEOPLE
    level: float = 0.95
    unwanted: bool = False
    measures: tuple[str, ...] = ()
    matters: tuple[str, ...] = ()
    called: str = ""

    def __post_init__(self) -> None:
        check_level(self.level, owner=OWNER)
        read_matters(self.matters, owner=OWNER, names=tuple(RATES))
        participle(self.called, owner=OWNER)
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

    @cached_property
    def table(self) -> CountTable:
        """Rows counted by group, outcome and prediction; those of unknown group are not in it."""
        return self._count(self.rows.group >= 0, self.rows.group, range(len(self.rows.labels)))

    @cached_property
    def not_stated(self) -> CountTable | None:
        """The same of those whose group is not stated, as one group; None if all are."""
        unknown = self.rows.group < 0
        return self._count(unknown, np.zeros(len(unknown), np.intp), range(1)) if unknown.any() else None

    def _count(self, chosen: Any, codes: Any, groups: range) -> CountTable:
        rows = self.rows
        truth = None if rows.truth is None else rows.truth[chosen]
        weights = None if rows.weights is None else rows.weights[chosen]
        return count_table(truth, rows.predicted[chosen], codes[chosen], groups=groups, weights=weights)

    @cached_property
    def shares(self) -> Shares:
        """Shares of each group."""
        return Tables.of(self.table, None).groups

    @cached_property
    def overall(self) -> Shares:
        """Shares of everybody, those of unknown group too."""
        codes = np.zeros(len(self.rows.group), np.intp)
        return Tables.of(self._count(codes == 0, codes, range(1)), None).groups

    @cached_property
    def people(self) -> tuple[int, ...]:
        """How many rows each group has, whatever their weights."""
        stated = self.rows.group[self.rows.group >= 0]
        return tuple(np.bincount(stated, minlength=len(self.rows.labels)).tolist())

    @cached_property
    def margins(self) -> dict[str, Shares]:
        """Shares of the groups of each crossed column by itself; none where nothing is crossed."""
        return {
            name: Tables.of(self._count(codes >= 0, codes, range(len(labels))), None).groups
            for name, (codes, labels) in self.rows.margins.items()
        }

    @property
    def reference(self) -> int:
        """The place of the group that others are compared with."""
        if self.privileged is not None:
            return self.rows.labels.index(self.privileged)
        return int(np.argmax(self.people))

    # --- rates and comparisons --------------------------------------------------------------------

    def rate(self, place: int, rate: str, shares: Shares | None = None) -> Estimated:
        """Return a rate of a group, NaN where it cannot be estimated."""
        of = self.shares if shares is None else shares
        low, high = (limits[place] for limits in rate_limits(of, rate, self.level))
        return _estimated(rate_values(of, rate)[place], low, high, self.level)

    def balanced(self, place: int, shares: Shares | None = None) -> Estimated:
        """Return the balanced accuracy of a group: the mean of its true positive and true negative rate."""
        of = self.shares if shares is None else shares
        (found, positives), (kept, negatives) = (
            [part[place] for part in rate_counts(of, rate)] for rate in ("tpr", "tnr")
        )
        value = (rate_values(of, "tpr")[place] + rate_values(of, "tnr")[place]) / 2
        return _estimated(value, *mean_of_shares(found, positives, kept, negatives, self.level), self.level)

    @cached_property
    def disparities(self) -> dict[str, Disparity]:
        """Every comparison by its name."""
        return {
            name: compare_groups(self.shares, name, fewest=self.fewest, level=self.level)
            for name in COMPARISONS
        }

    @cached_property
    def added(self) -> dict[str, tuple[GroupMeasure, Estimated, str]]:
        """Each measure of another package, its value for groups with enough people, and why it has none."""
        table, large = self.table, [place for place, size in enumerate(self.people) if size >= self.fewest]
        squares, rows = (None if part is None else part[large] for part in (table.squares, table.rows))
        compared = CountTable(tuple(large), table.counts[large], squares, table.labelled, rows)
        found = {}
        for name in self.measures:
            kind = ADDED_MEASURES[name]
            reason = kind.reason_for(compared)
            low, high = (math.nan, math.nan) if reason else kind.interval_of(compared, self.level)
            found[name] = kind, _estimated(kind.value_of(compared), low, high, self.level), reason
        return found

    @cached_property
    def verdicts(self) -> tuple[tuple[Rule, Verdict], ...]:
        """Whether each rule is kept."""
        return tuple((rule, rule.judge(self.disparities[rule.comparison])) for rule in self.rules)

    # --- scores -----------------------------------------------------------------------------------

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """How well scores rank people of each group; none without scores and outcomes."""
        rows = self.rows
        if rows.scores is None or rows.truth is None:
            return ()
        return tuple(
            rank_scores(rows.truth[chosen], rows.scores[chosen], _part(rows.weights, chosen))
            for chosen in self._members()
        )

    def area(self, place: int) -> Estimated:
        """Return the area under the ROC curve of a group."""
        ranking = self.rankings[place]
        return _estimated(ranking.area, *ranking.limits(self.level), self.level)

    @property
    def has_probabilities(self) -> bool:
        """Whether there are outcomes, and scores from 0 to 1."""
        scores = self.rows.scores
        return scores is not None and self.is_labelled and bool(((scores >= 0) & (scores <= 1)).all())

    @cached_property
    def calibrations(self) -> tuple[Calibration, ...]:
        """Scores beside outcomes for each group; none unless scores are from 0 to 1."""
        rows = self.rows
        if not self.has_probabilities or rows.truth is None or rows.scores is None:
            return ()
        return tuple(
            calibrate(rows.truth[chosen], rows.scores[chosen], _part(rows.weights, chosen), level=self.level)
            for chosen in self._members()
        )

    def _members(self) -> list[Any]:
        return [np.flatnonzero(self.rows.group == place) for place in range(len(self.rows.labels))]

    # --- for machines -----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return every number by its name; what cannot be estimated is not a number."""
        labels = self.rows.labels
        groups = {label: self._group(place) for place, label in enumerate(labels)}
        if self.not_stated is not None:
            shares = Tables.of(self.not_stated, None).groups
            people = int((self.rows.group < 0).sum())
            groups_apart = {
                "people": people,
                **{name: _numbers(self.rate(0, name, shares)) for name in GROUP_RATES},
            }
        return {
            "outcome": self.rows.outcome if self.is_labelled else None,
            "protected": self.rows.protected,
            "people": len(self.rows.predicted),
            "left_out": dict(self.rows.left_out),
            "level": self.level,
            "fewest": self.fewest,
            "reference": labels[self.reference],
            "overall": {name: _numbers(self.rate(0, name, self.overall)) for name in GROUP_RATES},
            "groups": groups,
            "not_stated": groups_apart if self.not_stated is not None else None,
            "margins": {name: self._margin(name) for name in self.margins},
            "comparisons": {name: self.comparison_numbers(found) for name, found in self.disparities.items()},
            "measures": {name: self.added_numbers(name) for name in self.added},
            "rules": [self.rule_numbers(rule, verdict) for rule, verdict in self.verdicts],
        }

    def _margin(self, name: str) -> dict[str, Any]:
        """Return the rates of the groups of a crossed column."""
        shares, labels = self.margins[name], self.rows.margins[name][1]
        return {
            label: {rate: _numbers(self.rate(place, rate, shares)) for rate in GROUP_RATES}
            for place, label in enumerate(labels)
        }

    def _group(self, place: int) -> dict[str, Any]:
        numbers: dict[str, Any] = {"people": self.people[place]}
        numbers |= {name: _numbers(self.rate(place, name)) for name in GROUP_RATES}
        numbers["balanced_accuracy"] = _numbers(self.balanced(place))
        selected = self.table.counts[:, :, 1].sum(axis=1)
        numbers["share_of_selected"] = float(selected[place] / selected.sum()) if selected.sum() else math.nan
        numbers["against_reference"] = {
            rate: self._against(place, rate) for rate in COMPARED_RATES if place != self.reference
        }
        if self.rankings:
            numbers["auc"] = _numbers(self.area(place))
        if self.calibrations:
            found = self.calibrations[place]
            numbers["calibration"] = {"error": found.error, "bins": [vars(part) for part in found.bins]}
        return numbers

    def against(self, place: int, rate: str) -> tuple[Estimated, Estimated]:
        """Return difference and ratio of a group's rate to that of the reference."""
        found = compare_with(self.shares, rate, self.reference, self.level)
        pairs = (found.difference, found.difference_limits), (found.ratio, found.ratio_limits)
        difference, ratio = (
            _estimated(values[place], low[place], high[place], self.level) for values, (low, high) in pairs
        )
        return difference, ratio

    def _against(self, place: int, rate: str) -> dict[str, Any]:
        difference, ratio = self.against(place, rate)
        return {"difference": _numbers(difference), "ratio": _numbers(ratio)}

    def comparison_numbers(self, found: Disparity) -> dict[str, Any]:
        """Return a comparison by the names of its numbers."""
        labels = self.rows.labels
        ends = {"lowest": found.lowest, "highest": found.highest}
        return {
            "value": found.value, "low": found.low, "high": found.high, "rate": found.rate,
            **{name: None if place is None else labels[place] for name, place in ends.items()},
            "not_compared": [labels[place] for place in found.too_few], "reason": found.reason,
        }  # fmt: skip

    def added_numbers(self, name: str) -> dict[str, Any]:
        """Return a measure of another package by the names of its numbers."""
        kind, value, reason = self.added[name]
        more = {"no_disparity": kind.no_disparity, "reason": reason}
        return {"words": kind.words, **_numbers(value), **more}

    def rule_numbers(self, rule: Rule, verdict: Verdict) -> dict[str, Any]:
        """Return a rule with what was measured and the verdict."""
        found = self.disparities[rule.comparison]
        numbers = {"value": found.value, "low": found.low, "high": found.high}
        return {"rule": rule.text, "comparison": rule.comparison, "limit": rule.limit, **numbers,
                "verdict": verdict}  # fmt: skip


def _estimated(value: Any, low: Any, high: Any, level: float) -> Estimated:
    """Return a number with its limits; without, where it cannot be estimated."""
    if not math.isfinite(value):
        return Estimated(math.nan, level=level)
    return Estimated(float(value), float(low), float(high), level=level)


def _numbers(found: Estimated) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _part(weights: Any, chosen: Any) -> Any:
    return None if weights is None else weights[chosen]
