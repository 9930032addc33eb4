r"""The group report: what each group gets, how far apart the groups are, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.measure import gaps
from evenhand.measure.arguments import check_label, check_name, kind_of
from evenhand.measure.columns import read_numbers, same_index, same_length
from evenhand.measure.counts import CountTable, tabulate
from evenhand.measure.intervals import Interval, check_level, clopper_pearson
from evenhand.measure.ranking import Ranking, rank_scores
from evenhand.measure.rates import RATES, GroupRates, RatesByGroup, Tables
from evenhand.measure.reasons import Measured, group_rates, measure_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.table.frames import Backend

__all__ = ["GroupReport", "group_report"]

_METHODS = {
    **dict.fromkeys(gaps.DIFFERENCES, "Newcombe hybrid score"),
    "di": "ratio of shares from Wilson limits (MOVER)",
    "sp_gap": "simultaneous Newcombe intervals of all pairs, conservative",
    "eo_gap": "simultaneous Newcombe intervals of all pairs and both rates, conservative",
    "meo_gap": "simultaneous Newcombe intervals of all pairs and both rates, conservative",
    "acc": "Clopper-Pearson",
    "recall": "Clopper-Pearson",
    "f1": "Clopper-Pearson, transformed",
    "balanced_accuracy": "mean of shares from Wilson limits (MOVER)",
}
_EXACT = {"acc", "recall", "f1"}


@dataclass(frozen=True, eq=False, repr=False)
class GroupReport:
    """Rates of every group, measures between them, and intervals of all of these.

    Make one with :func:`group_report`, or from a :class:`CountTable` of your own. Values are
    computed from the table when they are asked for. A value that is undefined is NaN, and
    :meth:`reason` says why.

    Parameters
    ----------
    table : CountTable
        Rows counted by group, true label and prediction.
    privileged : object, optional
        The label of the privileged group.
    ranking : Ranking, optional
        The area under the ROC curve, if scores were given.
    """

    table: CountTable
    privileged: Any = None
    ranking: Ranking | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.table, CountTable):
            raise InvalidParameterError(
                "table", owner="GroupReport", must_be="a CountTable", got=kind_of(self.table)
            )
        groups, must_be = self.table.groups, "the label of one of the groups"
        check_label(self.privileged, name="privileged", owner="group_report", must_be=must_be)
        if self.privileged is not None and groups and self.privileged not in groups:
            raise InvalidParameterError(
                "privileged",
                owner="group_report",
                must_be=must_be,
                got=self.privileged,
                hint="if this group may have no rows, declare all groups with groups=...",
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table, self.privileged, self.ranking)  # what was computed is left out

    # -- by name ---------------------------------------------------------------------------------

    def value(self, measure: str) -> Measured:
        """Return a measure by its name; see :data:`MEASURES`."""
        check_name("Measure", measure, gaps.MEASURES)
        if measure == "auc":
            number = math.nan if self.ranking is None else self.ranking.area
        else:
            number = float(gaps.value(measure, self._tables))
        return Measured(number, self.reason(measure) if math.isnan(number) else "")

    def reason(self, measure: str) -> str:
        """Return why a measure is undefined; nothing if it has a value."""
        check_name("Measure", measure, gaps.MEASURES)
        if measure == "auc":
            return self._ranking_reason()
        return measure_reason(measure, self.table, self._tables, self.privileged)

    @property
    def reasons(self) -> dict[str, str]:
        """The measures that are undefined, each with the sentence that says why."""
        found = {name: self.reason(name) for name in gaps.MEASURES}
        return {name: sentence for name, sentence in found.items() if sentence}

    def interval(self, measure: str, level: float = 0.95) -> Interval:
        """Return the interval of a measure.

        Parameters
        ----------
        measure : str
            The name of the measure.
        level : float
            Between 0 and 1.

        Returns
        -------
        Interval
            It unpacks into its two limits; both are NaN where the measure is undefined.
        """
        level = check_level(level, owner="GroupReport.interval")
        reason = self.reason(measure)
        if reason:
            return Interval(math.nan, math.nan, level, "none", exact=False, reason=reason)
        if self.ranking is not None and measure == "auc":
            low, high = self.ranking.limits(level)
            return self._interval(low, high, level, self.ranking.method, exact=False)
        low, high = (float(limit) for limit in gaps.limits(measure, self._tables, level))
        return self._interval(low, high, level, _METHODS[measure], exact=measure in _EXACT)

    def rate_interval(self, rate: str, group: Any, level: float = 0.95) -> Interval:
        """Return the Clopper-Pearson interval of a rate of one group."""
        level = check_level(level, owner="GroupReport.rate_interval")
        check_name("Rate", rate, RATES)
        owner, must_be = "GroupReport.rate_interval", "the label of one of the groups"
        check_label(group, name="group", owner=owner, must_be=must_be)
        if group not in self.table.groups:
            raise InvalidParameterError("group", owner=owner, must_be=must_be, got=group)
        place = self.table.groups.index(group)
        reason = self.rates[group].reasons.get(rate, "")
        if reason:
            return Interval(math.nan, math.nan, level, "none", exact=False, reason=reason)
        successes, trials = self._tables.groups.of(rate)
        low, high = clopper_pearson(successes[place], trials[place], level)
        return self._interval(float(low), float(high), level, "Clopper-Pearson", exact=True)

    def worst_pair(self, gap: str) -> tuple[Any, Any] | None:
        """Return the two groups behind a worst-pair gap, in group order; ``None`` if it is undefined."""
        check_name("Worst-pair gap", gap, tuple(gaps.WORST_PAIR))
        if self.reason(gap):
            return None
        first, second = gaps.worst_members(gap, self._tables)
        return self.table.groups[first], self.table.groups[second]

    # -- tables ----------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Mapping[Any, GroupRates]:
        """The rates of each group, by its label."""
        return RatesByGroup(group_rates(self.table, self._tables))

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the rates as a frame with one row per group; undefined rates are NaN and noted."""
        from evenhand.measure.render import rates_frame  # noqa: PLC0415 (only when asked for)

        return rates_frame(self, backend)

    def summary_frame(self, level: float = 0.95, backend: Backend | None = None) -> Any:
        """Return the measures as a frame: value, limits, method, and why if undefined."""
        from evenhand.measure.render import summary_frame  # noqa: PLC0415 (only when asked for)

        return summary_frame(self, level, backend)

    def __repr__(self) -> str:
        from evenhand.measure.render import as_text  # noqa: PLC0415 (only when asked for)

        return as_text(self)

    def _repr_html_(self) -> str:
        from evenhand.measure.render import as_html  # noqa: PLC0415 (only when asked for)

        return as_html(self)

    # -- the measures ----------------------------------------------------------------------------

    @property
    def acc(self) -> Measured:
        """Share of predictions that are right."""
        return self.value("acc")

    @property
    def f1(self) -> Measured:
        """Harmonic mean of precision and recall."""
        return self.value("f1")

    @property
    def recall(self) -> Measured:
        """Share of the truly positive that are predicted positive."""
        return self.value("recall")

    @property
    def balanced_accuracy(self) -> Measured:
        """Mean of the true positive and the true negative rate."""
        return self.value("balanced_accuracy")

    @property
    def auc(self) -> Measured:
        """Area under the ROC curve, from scores."""
        return self.value("auc")

    @property
    def spd(self) -> Measured:
        """Selection rate, privileged minus unprivileged; 0 means no disparity."""
        return self.value("spd")

    @property
    def di(self) -> Measured:
        """Selection rate, unprivileged divided by privileged; 1 means no disparity."""
        return self.value("di")

    @property
    def eod(self) -> Measured:
        """True positive rate, privileged minus unprivileged; 0 means no disparity."""
        return self.value("eod")

    @property
    def ped(self) -> Measured:
        """False positive rate, privileged minus unprivileged; 0 means no disparity."""
        return self.value("ped")

    @property
    def oad(self) -> Measured:
        """Accuracy, privileged minus unprivileged; 0 means no disparity."""
        return self.value("oad")

    @property
    def prd(self) -> Measured:
        """Precision, privileged minus unprivileged; 0 means no disparity."""
        return self.value("prd")

    @property
    def sp_gap(self) -> Measured:
        """Largest difference in selection rate between two groups; 0 means no disparity."""
        return self.value("sp_gap")

    @property
    def eo_gap(self) -> Measured:
        """Largest difference in true or false positive rate between two groups; 0 means no disparity."""
        return self.value("eo_gap")

    @property
    def meo_gap(self) -> Measured:
        """Mean difference in true and false positive rate, worst pair; 0 means no disparity."""
        return self.value("meo_gap")

    # -- inside ----------------------------------------------------------------------------------

    @cached_property
    def _tables(self) -> Tables:
        groups = self.table.groups
        return Tables.of(self.table, groups.index(self.privileged) if self.privileged in groups else None)

    def _ranking_reason(self) -> str:
        if self.ranking is None:
            return "No scores were given; of 0/1 predictions this area would be balanced_accuracy."
        return measure_reason("balanced_accuracy", self.table, self._tables, self.privileged)

    def _interval(self, low: float, high: float, level: float, method: str, *, exact: bool) -> Interval:
        if self.table.weighted:
            method += ", Kish effective size"
        return Interval(low, high, level, method, exact=exact and not self.table.weighted)


def group_report(
    y_true: Any,
    y_pred: Any,
    group: Any,
    *,
    privileged: Any = None,
    groups: Sequence[Any] | None = None,
    positive: object = None,
    scores: Any = None,
    weights: Any = None,
) -> GroupReport:
    r"""Report what each group gets and how far apart the groups are.

    Rows are matched by position. They are read once, into a table of counts by group, true label
    and prediction; see :class:`GroupReport` for what is computed from it.

    Parameters
    ----------
    y_true : array, list, series or None
        True labels. Without them only selection rates and what follows from these are defined.
    y_pred : array, list or series
        Decisions or hard predictions, not scores.
    group : array, list or series
        The group of each row: whole numbers or labels, any number of groups.
    privileged : object, optional
        The label of the privileged group. Differences are privileged minus unprivileged, and
        with more than two groups the unprivileged side is everybody else, pooled.
    groups : sequence, optional
        Every group, in the order of the report, also those without rows. By default the groups
        that occur, sorted.
    positive : object, optional
        The label that counts as positive. Needed unless outcomes are 0 and 1 or booleans.
    scores : array, list or series, optional
        Scores for ``auc``; larger means more likely positive.
    weights : array, list or series, optional
        One weight per row, at least 0. Rates are weighted; intervals then rest on Kish's effective
        size and are approximate.

    Returns
    -------
    GroupReport

    Raises
    ------
    InvalidParameterError
        If columns differ in length or in their pandas index, have missing values or more than one
        dimension, or hold other labels than they may. No value of a column is told.

    Examples
    --------
    >>> y_true = [1, 1, 0, 0, 1, 1, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 0, 0, 0]
    >>> sex = ["m", "m", "m", "m", "f", "f", "f", "f"]
    >>> report = group_report(y_true, y_pred, sex, privileged="m")
    >>> report.spd, report.eod, report.eo_gap
    (0.5, 0.5, 0.5)
    >>> f"{report.di:.3f}"
    '0.333'
    >>> low, high = report.interval("spd", 0.95)
    >>> f"{low:.2f} to {high:.2f}"
    '-0.14 to 0.79'
    >>> report.rates["f"].selection
    0.25
    >>> group_report([0, 0], [1, 0], ["m", "f"], privileged="m").eod.reason
    "The privileged group 'm' has no rows with a positive label."
    """
    named = {"y_pred": y_pred} if y_true is None else {"y_true": y_true, "y_pred": y_pred}
    counted = tabulate(named, group, groups=groups, positive=positive, weights=weights, owner="group_report")
    ranking = None
    if scores is not None:
        numbers = read_numbers(scores, name="scores", owner="group_report")
        same_length([("y_pred", counted.outcomes[-1]), ("scores", numbers)], owner="group_report")
        others = (("group", group), ("weights", weights), ("scores", scores))
        same_index([*named.items(), *others], owner="group_report")
        if y_true is not None:
            ranking = rank_scores(counted.outcomes[0], numbers, counted.weights)
        else:
            ranking = Ranking(math.nan, math.nan, 0.0, 0.0)
    return GroupReport(counted.table, privileged, ranking)
