r"""The group report: what each group gets, how far apart the groups are, and how sure that is.

It is shown as text, as HTML and as frames.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from evenhand._notebook import aligned, html_table
from evenhand._validate import kind_of, refuse
from evenhand.measure import gaps
from evenhand.measure.added import added_measure
from evenhand.measure.columns import (
    check_label,
    check_name,
    label_groups,
    read_numbers,
    same_index,
    same_length,
)
from evenhand.measure.counts import RATES, CountTable, GroupRates, RatesByGroup, Tables, Tabulated, tabulate
from evenhand.measure.frames import Columns, count_times, take_columns
from evenhand.measure.gaps import (
    MEASURES,
    NO_DISPARITY,
    Measured,
    group_rates,
    measure_reason,
)
from evenhand.measure.intervals import Interval, check_level, clopper_pearson, normal_quantile
from evenhand.measure.ranking import Ranking, rank_scores
from evenhand.measure.report_text import (
    list_undefined,
    measure_rows,
    more_groups,
    not_paired,
    rate_rows,
    title_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.table.frames import Backend

_METHODS = {
    **dict.fromkeys(gaps.DIFFERENCES, "difference of shares from exact limits (MOVER)"),
    "di": "ratio of shares from exact limits (MOVER)",
    "sp_gap": "simultaneous MOVER intervals of all pairs from exact limits, conservative",
    "eo_gap": "simultaneous MOVER intervals of all pairs and both rates from exact limits, conservative",
    "meo_gap": "simultaneous MOVER intervals of all pairs and both rates from exact limits, conservative",
    "acc": "Clopper-Pearson",
    "recall": "Clopper-Pearson",
    "f1": "Clopper-Pearson, transformed",
    "balanced_accuracy": "mean of shares from exact limits (MOVER)",
}
_EXACT = {"acc", "recall", "f1"}


class _MeasureByName:
    """An attribute of a report that is the measure of the same name."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, report: None, owner: type) -> Self: ...
    @overload
    def __get__(self, report: GroupReport, owner: type) -> Measured: ...
    def __get__(self, report: GroupReport | None, owner: type) -> Self | Measured:
        return self if report is None else report.value(self._name)


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
    crossed : mapping of str to tuple
        The columns that are crossed with their values; each group is then a combination of values.
    """

    table: CountTable
    privileged: Any = None
    ranking: Ranking | None = None
    crossed: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.table, CountTable):
            refuse("table", "GroupReport", "a CountTable", kind_of(self.table))
        groups, must_be = self.table.groups, "the label of one of the groups"
        check_label(self.privileged, name="privileged", owner="group_report", must_be=must_be)
        if self.privileged is not None and groups and self.privileged not in groups:
            refuse(
                "privileged",
                "group_report",
                must_be,
                self.privileged,
                hint="if this group may have no rows, declare all groups with groups=...",
            )

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.table, self.privileged, self.ranking, self.crossed)  # what was computed is left out
        return type(self), state

    # -- by name ---------------------------------------------------------------------------------

    def value(self, measure: str) -> Measured:
        """Return a measure by its name: one of :data:`MEASURES`, or one that another package adds."""
        added = added_measure(measure)
        if added is not None:
            return Measured(added.value_of(self.table), added.reason_for(self.table))
        if measure == "auc":
            number = math.nan if self.ranking is None else self.ranking.area
        else:
            number = float(gaps.value(measure, self._tables))
        return Measured(number, self.reason(measure) if math.isnan(number) else "")

    def reason(self, measure: str) -> str:
        """Return why a measure is undefined; nothing if it has a value."""
        added = added_measure(measure)
        if added is not None:
            return added.reason_for(self.table)
        if measure == "auc" and self.ranking is None:
            return "No scores were given; of 0/1 predictions this area would be balanced_accuracy."
        counted = "balanced_accuracy" if measure == "auc" else measure
        return measure_reason(counted, self.table, self._tables, self.privileged)

    @property
    def reasons(self) -> dict[str, str]:
        """The measures that are undefined, each with the sentence that says why."""
        sentences = {name: self.reason(name) for name in gaps.MEASURES}
        return {name: sentence for name, sentence in sentences.items() if sentence}

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
        added = added_measure(measure)
        if added is not None:
            return added.interval_of(self.table, level)
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
            refuse("group", owner, must_be, group)
        place = self.table.groups.index(group)
        reason = self.rates[group].reasons.get(rate, "")
        if reason:
            return Interval(math.nan, math.nan, level, "none", exact=False, reason=reason)
        successes, trials = self._tables.groups.of(rate)
        low, high = clopper_pearson(successes[place], trials[place], level)
        return self._interval(float(low), float(high), level, "Clopper-Pearson", exact=True)

    def size_interval(self, group: Any, level: float = 0.95) -> Interval:
        """Return the interval of the weighted size of a group, from the linearised variance of a total."""
        level = check_level(level, owner="GroupReport.size_interval")
        self.rate_interval("selection", group, level)  # refuses what is no group
        place, table = self.table.groups.index(group), self.table
        rows = 0 if table.rows is None else int(table.rows.sum())
        if table.squares is None or rows < 2:
            reason = "Without weights of two rows or more, a size is a number of rows and no estimate."
            return Interval(math.nan, math.nan, level, "none", exact=False, reason=reason)
        total, squares = float(table.sizes[place]), float(table.squares[place].sum())
        reach = math.sqrt(max(squares - total * total / rows, 0.0) * rows / (rows - 1))
        reach *= normal_quantile(1 - level)
        method = "normal, linearised variance"
        return Interval(max(total - reach, 0.0), total + reach, level, method, exact=False)

    def worst_pair(self, gap: str) -> tuple[Any, Any] | None:
        """Return the two groups behind a worst-pair gap, in group order; ``None`` if it is undefined."""
        check_name("Worst-pair gap", gap, tuple(gaps.WORST_PAIR))
        if self.reason(gap):
            return None
        first, second = gaps.worst_members(gap, self._tables)
        return self.table.groups[first], self.table.groups[second]

    # -- crossed columns -------------------------------------------------------------------------

    @cached_property
    def margins(self) -> dict[str, GroupReport]:
        """The report of each crossed column by itself; empty if nothing is crossed.

        A value of the privileged combination is the privileged group of its margin.
        """
        return {
            name: GroupReport(
                _margin(self.table, place, self.crossed[name]),
                None if self.privileged is None else self.privileged[place],
                self.ranking,
            )
            for place, name in enumerate(self.crossed)
        }

    @property
    def empty_combinations(self) -> list[tuple[Any, ...]]:
        """The combinations of crossed values that nobody has, which are no groups of the report."""
        known = set(self.table.groups)
        return [group for group in product(*self.crossed.values()) if group not in known] * bool(self.crossed)

    def is_hidden(self, gap: str = "sp_gap", level: float = 0.95) -> bool:
        """Return whether a worst-pair gap of the combinations is larger than its margins let one think.

        It is if all that the interval of the gap allows is above the gap of every margin.

        >>> sex, race = ["f"] * 200 + ["m"] * 200, (["a"] * 100 + ["b"] * 100) * 2
        >>> hired = [1] * 80 + [0] * 20 + [1] * 20 + [0] * 80 + [1] * 20 + [0] * 80 + [1] * 80 + [0] * 20
        >>> report = group_report(None, hired, {"sex": sex, "race": race})
        >>> report.sp_gap, [margin.sp_gap for margin in report.margins.values()], report.is_hidden()
        (0.6..., [0.0, 0.0], True)
        """
        check_name("Worst-pair gap", gap, tuple(gaps.WORST_PAIR))
        low = self.interval(gap, level).low
        return bool(self.crossed) and all(low > margin.value(gap) for margin in self.margins.values())

    # -- tables ----------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Mapping[Any, GroupRates]:
        """The rates of each group, by its label."""
        return RatesByGroup(group_rates(self.table, self._tables))

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the rates as a frame with one row per group; undefined rates are NaN and noted."""
        rows = self.rates
        columns: dict[str, Any] = {"group": list(rows), "size": [row.size for row in rows.values()]}
        for rate in RATES:
            columns[rate] = [getattr(row, rate) for row in rows.values()]
        columns["note"] = [
            " ".join(f"{rate}: {why}" for rate, why in row.reasons.items()) for row in rows.values()
        ]
        return _make_frame(columns, backend)

    def summary_frame(self, level: float = 0.95, backend: Backend | None = None) -> Any:
        """Return the measures as a frame: value, limits, method, and why if undefined."""
        intervals = [self.interval(name, level) for name in MEASURES]
        return _make_frame(
            {
                "measure": list(MEASURES),
                "value": [float(self.value(name)) for name in MEASURES],
                "low": [interval.low for interval in intervals],
                "high": [interval.high for interval in intervals],
                "level": [interval.level for interval in intervals],
                "method": [interval.method for interval in intervals],
                "exact": [interval.exact for interval in intervals],
                "no_disparity": [NO_DISPARITY.get(name, math.nan) for name in MEASURES],
                "note": [interval.reason for interval in intervals],
            },
            backend,
        )

    def __repr__(self) -> str:
        rates, measures = aligned(rate_rows(self)), aligned(measure_rows(self))
        parts = [title_of(self), *rates, *more_groups(self), "", *measures, *not_paired(self)]
        undefined = list_undefined(self)
        if undefined:
            parts += ["", "Undefined:", *(f"  {names}: {why}" for names, why in undefined)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        tables = html_table(rate_rows(self)) + "".join(f"<p>{line}</p>" for line in more_groups(self))
        tables += html_table(measure_rows(self)) + "".join(f"<p>{line}</p>" for line in not_paired(self))
        undefined = "".join(f"<li>{escape(names)}: {escape(why)}</li>" for names, why in list_undefined(self))
        notes = f"<p>Undefined:</p><ul>{undefined}</ul>" if undefined else ""
        return f"<div><p>{escape(title_of(self))}</p>{tables}{notes}</div>"

    # -- the measures ----------------------------------------------------------------------------

    acc = _MeasureByName("Share of predictions that are right.")
    f1 = _MeasureByName("Harmonic mean of precision and recall.")
    recall = _MeasureByName("Share of the truly positive that are predicted positive.")
    balanced_accuracy = _MeasureByName("Mean of the true positive and the true negative rate.")
    auc = _MeasureByName("Area under the ROC curve, from scores.")
    spd = _MeasureByName("Selection rate, privileged minus unprivileged; 0 means no disparity.")
    di = _MeasureByName("Selection rate, unprivileged divided by privileged; 1 means no disparity.")
    eod = _MeasureByName("True positive rate, privileged minus unprivileged; 0 means no disparity.")
    ped = _MeasureByName("False positive rate, privileged minus unprivileged; 0 means no disparity.")
    oad = _MeasureByName("Accuracy, privileged minus unprivileged; 0 means no disparity.")
    prd = _MeasureByName("Precision, privileged minus unprivileged; 0 means no disparity.")
    sp_gap = _MeasureByName("Largest difference in selection rate between two groups; 0 means no disparity.")
    eo_gap = _MeasureByName(
        "Largest difference in true or false positive rate between two groups; 0 means no disparity."
    )
    meo_gap = _MeasureByName(
        "Mean difference in true and false positive rate, worst pair; 0 means no disparity."
    )

    # -- inside ----------------------------------------------------------------------------------

    @cached_property
    def _tables(self) -> Tables:
        groups = self.table.groups
        return Tables.of(self.table, groups.index(self.privileged) if self.privileged in groups else None)

    def _interval(self, low: float, high: float, level: float, method: str, *, exact: bool) -> Interval:
        if self.table.weighted:
            method += ", effective size from the linearised variance, at most Kish's"
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
    labels: Mapping[Any, Any] | None = None,
    frame: Any = None,
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
    group : array, list, series, mapping or data frame
        The group of each row: whole numbers or labels, any number of groups. The columns of a mapping or of
        a data frame are crossed: each combination that occurs is a group, and its label a tuple.
    privileged : object, optional
        The label of the privileged group, a tuple for crossed columns. Differences are privileged minus
        unprivileged, and with more than two groups the unprivileged side is everybody else, pooled.
    groups : sequence, optional
        Every group, in the order of the report, also those without rows. By default the groups
        that occur, sorted.
    positive : object, optional
        The label that counts as positive. Needed unless outcomes are 0 and 1 or booleans.
    scores : array, list or series, optional
        Scores for ``auc``; larger means more likely positive.
    weights : array, list or series, optional
        One weight per row, at least 0, such as those of a survey. Rates are weighted; intervals then rest on
        the linearised variance of a ratio for rows drawn with replacement, and are approximate. Strata and
        clusters are not known to it.
    labels : mapping, optional
        What people read instead of a group, such as ``{1: "White"}``: the groups of the report are then
        called so. `privileged` may be a group or its label. For crossed columns such a mapping by column.
    frame : pandas, Polars, Arrow or lazy frame, optional
        Where the columns are: those above are then names of columns, several for a crossed `group`. A lazy
        frame is counted where its rows are and takes neither scores nor weights, see
        :doc:`/how-to/large-files-and-engines`.

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
    '-0.29 to 0.84'
    >>> report.rates["f"].selection
    0.25
    >>> group_report([0, 0], [1, 0], ["m", "f"], privileged="m").eod.reason
    "The privileged group 'm' has no rows with a positive label."
    >>> list(group_report(y_true, y_pred, [1, 1, 1, 1, 0, 0, 0, 0], labels={0: "women", 1: "men"}).rates)
    ['women', 'men']
    >>> crossed = group_report(y_true, y_pred, {"sex": sex, "member": [1, 1, 0, 0, 1, 1, 0, 0]})
    >>> crossed.worst_pair("sp_gap"), list(crossed.margins)
    ((('f', 0), ('m', 1)), ['sex', 'member'])
    """
    times = None
    if frame is not None:
        columns = take_columns(frame, Columns(y_true, y_pred, group, scores, weights), owner="group_report")
        y_true, y_pred, group, scores, weights, times = columns
    named = {"y_pred": y_pred} if y_true is None else {"y_true": y_true, "y_pred": y_pred}
    weights = weights if times is None else times
    counted = tabulate(named, group, groups=groups, positive=positive, weights=weights, owner="group_report")
    if times is not None:
        counted = counted._replace(table=count_times(counted.table))
    ranking = None
    if scores is not None:
        numbers = read_numbers(scores, name="scores", owner="group_report")
        same_length([("y_pred", counted.outcomes[-1]), ("scores", numbers)], owner="group_report")
        same_index([*named.items(), ("weights", weights), ("scores", scores)], owner="group_report")
        if y_true is not None:
            ranking = rank_scores(counted.outcomes[0], numbers, counted.weights)
        else:
            ranking = Ranking(math.nan, math.nan, 0.0, 0.0)
    if labels is None:
        return GroupReport(counted.table, privileged, ranking, counted.crossed)
    check_label(privileged, name="privileged", owner="group_report")
    if counted.crossed:
        return _label_crossing(counted, privileged, ranking, labels)
    shown = label_groups(counted.table.groups, labels, owner="group_report")
    table = replace(counted.table, groups=tuple(shown.values()))
    return GroupReport(table, shown.get(privileged, privileged), ranking)


def _label_crossing(
    counted: Tabulated, privileged: Any, ranking: Ranking | None, labels: Mapping[str, Mapping[Any, str]]
) -> GroupReport:
    """Return a report of crossed columns whose values are called by the labels of each column."""
    if not isinstance(labels, Mapping):
        refuse("labels", "group_report", "a mapping from a crossed column to its labels", kind_of(labels))
    for name in labels:
        check_name("Column", name, counted.crossed)
    by_column = [
        label_groups(values, labels.get(name, {}), owner="group_report")
        for name, values in counted.crossed.items()
    ]

    def shown(group: Any) -> tuple[Any, ...]:
        return tuple(column.get(value, value) for column, value in zip(by_column, group, strict=True))

    fits = isinstance(privileged, tuple) and len(privileged) == len(by_column)
    table = replace(counted.table, groups=tuple(map(shown, counted.table.groups)))
    crossed = {name: tuple(column.values()) for name, column in zip(counted.crossed, by_column, strict=True)}
    return GroupReport(table, shown(privileged) if fits else privileged, ranking, crossed)


def _make_frame(columns: Mapping[str, Any], backend: Backend | None) -> Any:
    from evenhand.table.frames import make_frame  # noqa: PLC0415 - brings pyarrow, which numbers do not need

    return make_frame(columns, backend=backend)


def _margin(table: CountTable, place: int, values: Sequence[Any]) -> CountTable:
    """Return the table of one of several crossed columns: its groups are the values of that column."""
    own = [combination[place] for combination in table.groups]
    kept = tuple(value for value in values if value in own)
    member = np.array([[value == other for other in own] for value in kept], dtype=np.int64)

    def add_up(cells: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.tensordot(member, cells, axes=1))

    squares, rows = (None if cells is None else add_up(cells) for cells in (table.squares, table.rows))
    return CountTable(kept, add_up(table.counts), squares, table.labelled, rows)
