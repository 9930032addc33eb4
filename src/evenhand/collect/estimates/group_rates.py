"""Outcome rates of the true groups, where the group is known only from reports."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import kind_of, one_of
from evenhand.collect.estimates import group_rates_views as views
from evenhand.collect.estimates import tables
from evenhand.collect.estimates.crossed_reports import (
    A_LABEL,
    check_group_names,
    combine_labels,
    count_columns,
    count_reports,
    read_crossed_columns,
    read_crossed_labels,
    read_joint_reports,
)
from evenhand.collect.estimates.group_moments import (
    GroupMoments,
    difference_interval,
    gap_limits_of_all_pairs,
    ratio_interval,
    worst_pair,
)
from evenhand.collect.estimates.outcome_counts import (
    DEPENDENT_OUTCOME,
    OutcomeCounts,
    read_trained_on,
    warn_of_impossible_groups,
    warn_of_training,
)
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.reports.reports import Reports
from evenhand.errors import IndependenceWarning, InvalidParameterError
from evenhand.measure.columns import check_label, read_binary, read_column, same_length
from evenhand.measure.gaps import Measured
from evenhand.measure.intervals import Interval, check_level, normal_quantile
from evenhand.measure.report_text import quote_group

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.estimates.crossed_channel import CrossedChannel
    from evenhand.collect.estimates.crossed_reports import CountedReports
    from evenhand.collect.protocols.channel import Channel, MatrixChannel
    from evenhand.table.frames import Backend

_NO_PEOPLE = "There are no people."
_OWNER = "group_rates"


@dataclass(frozen=True, eq=False, repr=False)
class GroupRates(tables.TableView):
    """What each true group gets, estimated from outcomes in the clear and groups under local privacy.

    Make one with :func:`group_rates`. Rates and shares are without bias, or nearly so, and may leave [0, 1];
    intervals do not, and neither does what is shown, which is ``possible_rates``. A value that is undefined
    is NaN and its ``reason`` says why.

    Parameters
    ----------
    counts : OutcomeCounts
        Reports counted by outcome.
    channel : Channel, MatrixChannel or CrossedChannel
        How often a report supports the true group, and any other.
    labels : tuple
        The label of each group; where columns are crossed, a tuple with the label of each.
    privileged : object, optional
        The label of the group that others are compared with.
    level : float
        The level of intervals, unless another is asked for.
    protocol : Protocol or Strategy, optional
        What made the reports.
    margins : dict of str to GroupRates
        The rates by each column alone, where columns are crossed.
    """

    counts: OutcomeCounts
    channel: Channel | MatrixChannel | CrossedChannel
    labels: tuple[Any, ...]
    privileged: Any = None
    level: float = 0.95
    protocol: Any = None
    margins: dict[str, GroupRates] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many people there are."""
        return self.counts.n

    @property
    def overall(self) -> Measured:
        """The rate of outcome 1 among all, which is known without any report."""
        return Measured(float(self._moments.overall)) if self.n else Measured(math.nan, _NO_PEOPLE)

    @cached_property
    def rates(self) -> dict[Any, Measured]:
        """The rate of outcome 1 in each true group."""
        if not self.n:
            return dict.fromkeys(self.labels, Measured(math.nan, _NO_PEOPLE))
        return {
            label: Measured(
                rate,
                f"The estimated share of group {quote_group(label)} is not above 0."
                if math.isnan(rate)
                else "",
            )
            for label, rate in zip(self.labels, self._moments.rates.tolist(), strict=True)
        }

    @cached_property
    def possible_rates(self) -> dict[Any, Measured]:
        """The rates as they are shown: the nearest from 0 to 1, and NaN where a rate may be anything."""
        z = normal_quantile(1 - self.level)
        reasons = [self._unknown([place], z) for place in range(len(self.labels))]
        return {
            label: rate if math.isnan(rate) else Measured(math.nan, why) if why else _nearest_rate(rate)
            for (label, rate), why in zip(self.rates.items(), reasons, strict=True)
        }

    @cached_property
    def shares(self) -> dict[Any, Measured]:
        """The share of people in each true group."""
        if not self.n:
            return dict.fromkeys(self.labels, Measured(math.nan, _NO_PEOPLE))
        return dict(zip(self.labels, map(Measured, self._moments.denominators.tolist()), strict=True))

    @cached_property
    def naive(self) -> dict[Any, Measured]:
        """The rate of outcome 1 among the reports that support each group: not that of the true group."""
        support = self.counts.support
        total = support.sum(axis=0)
        reason = "No report supports this group."
        return {
            label: Measured(one / all_of) if all_of else Measured(math.nan, reason)
            for label, one, all_of in zip(self.labels, support[1].tolist(), total.tolist(), strict=True)
        }

    @cached_property
    def separated(self) -> dict[Any, bool]:
        """Whether the share of each group is above zero at `level`; if not, its rate may be anything."""
        separated = self._separated(normal_quantile(1 - self.level))
        return dict(zip(self.labels, separated.tolist(), strict=True))

    @cached_property
    def gaps(self) -> dict[Any, Measured]:
        """The rate of the privileged group minus that of each other group; empty if none is named."""
        others = [label for label in self.labels if label != self.privileged]
        return {other: self.gap(self.privileged, other) for other in others if self.privileged is not None}

    def gap(self, group: Any, against: Any) -> Measured:
        """Return the rate of one group minus that of another; 0 means no disparity."""
        first = self.rates[self.labels[self._place(group)]]
        second = self.rates[self.labels[self._place(against, "against")]]
        return Measured(float(first) - float(second), first.reason or second.reason)

    def interval(self, group: Any, *, against: Any = None, level: float | None = None) -> Interval:
        """Return the interval of the rate of a group, or of the gap between two groups.

        Parameters
        ----------
        group : object
            The label of a group.
        against : object, optional
            The label of another: then the interval is that of the first rate minus the other one.
        level : float, optional
            Between 0 and 1; by default that of the object.

        Returns
        -------
        Interval
            From 0 to 1, or for a gap from -1 to 1. If a share is not separated from zero it is all of
            that, and its ``reason`` says so.
        """
        chosen = self._level(level)
        place = self._place(group)
        other = None if against is None else self._place(against, "against")
        if other == place:
            must_be = "the label of another group than 'group'"
            raise InvalidParameterError("against", owner="GroupRates", must_be=must_be, got=against)
        if not self.n:
            return Interval(math.nan, math.nan, chosen, "none", exact=False, reason=_NO_PEOPLE)
        z = normal_quantile(1 - chosen)
        reason = self._unknown([place] if other is None else [place, other], z)
        if other is None:
            limits, method = self._moments.rate_limits(z), "Fieller, score variance"
            low, high = (float(limit[place]) for limit in limits)
        else:
            pair, method = np.array([[place, other]]), "profile of the joint estimate"
            low, high = (float(limit[0]) for limit in self._moments.gap_limits(pair, z))
        return Interval(low, high, chosen, method, exact=False, reason=reason)

    # --- all groups at once ---------------------------------------------------------------------

    @property
    def worst_pair(self) -> tuple[Any, Any] | None:
        """The groups of the highest and the lowest rate; ``None`` if a rate is undefined."""
        places = None if self._undefined() else worst_pair(self._moments)
        return None if places is None else (self.labels[places[0]], self.labels[places[1]])

    def data_unfairness(self, kind: Literal["ratio", "difference"] = "ratio") -> Measured:
        r"""Return how unequal the rates of the true groups are; 0 means no disparity.

        See :func:`evenhand.measure.data_unfairness`, of which this is the estimate.

        Parameters
        ----------
        kind : {"ratio", "difference"}
            The largest distance of a rate from the overall rate, as a share of it, or the largest
            difference between two rates.
        """
        chosen = one_of("kind", kind, ("ratio", "difference"), owner="GroupRates.data_unfairness")
        reason = self._undefined() or (self._no_outcome() if chosen == "ratio" else "")
        if reason:
            return Measured(math.nan, reason)
        rates = self._moments.rates
        if chosen == "difference":
            return Measured(rates.max() - rates.min())
        return Measured(np.abs(rates / self._moments.overall - 1).max())

    def data_unfairness_interval(
        self, kind: Literal["ratio", "difference"] = "ratio", *, level: float | None = None
    ) -> Interval:
        """Return an interval of :meth:`data_unfairness`.

        All groups, or all pairs of groups, get intervals that hold together at the level; the unfairness
        lies between what they exclude and what they allow. This is conservative.
        """
        owner = "GroupRates.data_unfairness_interval"
        chosen = one_of("kind", kind, ("ratio", "difference"), owner=owner)
        level = self._level(level)
        reason = _NO_PEOPLE if not self.n else self._no_outcome() if chosen == "ratio" else ""
        if reason:
            return Interval(math.nan, math.nan, level, "none", exact=False, reason=reason)
        interval = ratio_interval if chosen == "ratio" else difference_interval
        lowest, highest, z = interval(self._moments, level)
        low, high = float(lowest), float(highest)
        reason = self._unknown(range(self.counts.k), z)
        return Interval(low, high, level, "simultaneous intervals of all groups", exact=False, reason=reason)

    def is_hidden(self) -> bool:
        """Return whether the largest gap of the combinations is larger than its margins let one think.

        It is if all that the interval of that gap allows is above the gap of every margin, as estimated.
        """
        if not self.margins or not self.n:
            return False
        low = self.data_unfairness_interval("difference").low
        return all(low > margin.data_unfairness("difference") for margin in self.margins.values())

    # --- views ----------------------------------------------------------------------------------

    def to_frame(self, *, level: float | None = None, backend: Backend | None = None) -> Any:
        """Return a frame with one row per group: share, rate and gap with limits, naive rate, and a note."""
        return views.rates_frame(self, self._level(level), backend)

    def pairs_frame(self, *, level: float | None = None, backend: Backend | None = None) -> Any:
        """Return a frame with one row for every two groups: their gap with limits.

        The intervals of all pairs hold together: with the probability `level` none of them misses.
        """
        return views.pairs_frame(self, self._level(level), backend)

    def _make_table(self) -> tuple[str, list[list[str]], list[str]]:
        return views.title_of(self), views.rate_rows(self), views.rate_notes(self)

    def gaps_of_all_pairs(self, level: float) -> Iterator[tuple[npt.NDArray[np.intp], Any]]:
        """Yield pairs of groups, by their places, with limits of their gaps that hold together."""
        return gap_limits_of_all_pairs(self._moments, level) if self.n else iter(())

    # --- inside ---------------------------------------------------------------------------------

    @cached_property
    def _moments(self) -> GroupMoments:
        return GroupMoments(self.counts.people, self.counts.together, self.channel)

    def _separated(self, z: float) -> npt.NDArray[np.bool_]:
        return self._moments.separated(z) if self.n else np.zeros(self.counts.k, dtype=bool)

    def _level(self, level: float | None) -> float:
        return self.level if level is None else check_level(level, owner="GroupRates")

    def _place(self, label: Any, name: str = "group") -> int:
        check_label(label, name=name, owner="GroupRates", must_be=A_LABEL)
        if label not in self.labels:
            raise InvalidParameterError(name, owner="GroupRates", must_be=A_LABEL, got=label)
        return self.labels.index(label)

    def _undefined(self) -> str:
        return next((rate.reason for rate in self.rates.values() if rate.reason), "")

    def _no_outcome(self) -> str:
        return "" if self.counts.people[1] else "Nobody has outcome 1, and the ratio divides by their share."

    def _unknown(self, places: Sequence[int], z: float) -> str:
        """Return which shares are not separated from zero, in words."""
        known = self._separated(z)
        named = [quote_group(self.labels[place]) for place in places if not known[place]]
        if not named:
            return ""
        shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
        return f"The share of group {shown} is not separated from 0, so its rate may be anything."


def group_rates(
    outcome: Any,
    reports: Any,
    protocol: Protocol | None = None,
    *,
    columns: Sequence[str] | None = None,
    labels: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    privileged: Any = None,
    positive: object = None,
    level: float = 0.95,
    outcome_from_reports: bool | None = None,
    trained_on: Any = None,
) -> GroupRates:
    r"""Estimate what each true group gets, from outcomes and locally private reports of the group.

    .. math:: \hat r_v = \frac{\sum_i y_i s_i(v)}{\sum_i s_i(v)}, \qquad
              s_i(v) = \frac{\mathbb 1\{\text{report } i \text{ supports } v\} - q}{p - q}

    where :math:`y_i` is the outcome of person :math:`i`. On average :math:`s_i(v)` is 1 for a person of group
    :math:`v` and 0 for anybody else, so this is the rate of the true group and not of the reported one.

    Parameters
    ----------
    outcome : array, list or series
        0 or 1 for each person, in the clear.
    reports : Reports, array, JointReports or mapping of str to Reports
        The group of each person, as reported under local differential privacy, in the same order. With joint
        reports, or with the reports of each column in a mapping, the groups are the combinations of columns.
    protocol : Protocol, optional
        What made the reports, where they are a bare array.
    columns : sequence of str, optional
        Which of the columns that are reported are crossed; all by default.
    labels : sequence, or mapping of str to sequence, optional
        What the groups are called; by default their codes. Where columns are crossed, the labels of the
        values of each column.
    privileged : object, optional
        The label of the group that others are compared with; where columns are crossed, a tuple.
    positive : object, optional
        The outcome that counts as 1, where outcomes are other labels than 0 and 1.
    level : float
        The level of intervals.
    outcome_from_reports : bool, optional
        Whether the outcome was made from the reports, such as predictions of a model that saw them. The rates
        are then wrong, and a warning says so.
    trained_on : array of bool, optional
        Where the outcome is predicted: whether each person was in the training. What the model memorised of
        their reports shows in a comparison with the others, who must have been drawn at random.

    Returns
    -------
    GroupRates

    Raises
    ------
    InvalidParameterError
        If the outcome is not 0 and 1, has missing values or another length than the reports. No value of it
        is told. Also if the reports follow a matrix that makes groups alike.

    Warns
    -----
    IndependenceWarning
        If the outcome is said to be made from the reports, or the counts show it: a rate outside of 0 to 1 by
        more than 5 standard errors. An outcome that is not made from them is suspected with a chance of at
        most 1.15e-6 for each group. Also if reports differ between people in `trained_on` and others with the
        same outcome; where nothing was memorised that has a chance of at most 1e-4, and of as much for each
        column that is crossed.

    Notes
    -----
    The outcome must not depend on the report once the true group is known. Observed labels do not;
    predictions made from the reports do, and no test can find all of those. If reports were what a model was
    trained to predict, `trained_on` tells. If a report is a feature, it decides for everybody alike, and
    nothing tells.

    Intervals are about the population that people were drawn from. The outcomes themselves are in the clear.

    Of crossed columns that are reported independently, the score of a combination is the product of the
    scores of its values. Its variance and its covariance with other scores come from the products of scores
    of the people themselves, so they have all that one person's reports share.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.collect.protocols.grr import GRR
    >>> group = np.repeat([0, 1], [7000, 3000])
    >>> outcome = np.r_[np.arange(7000) < 1400, np.arange(3000) < 1800]  # 20 % and 60 %
    >>> reports = GRR(k=2, epsilon=1).privatize(group, rng=7)
    >>> found = group_rates(outcome, reports, labels=["men", "women"])
    >>> f"{found.rates['men']:.1f} {found.rates['women']:.1f}"
    '0.2 0.6'
    >>> f"{found.naive['women']:.1f}"  # among those who reported to be women
    '0.4'

    Two columns, of which each has a report of its own:

    >>> from evenhand.collect.joint.build import strategy_for
    >>> codes = {"sex": np.tile([0, 1], 5000), "race": np.repeat([0, 1, 0], [4000, 4000, 2000])}
    >>> hired = np.random.default_rng(7).random(10_000) < np.where(codes["sex"] == codes["race"], 0.6, 0.2)
    >>> joint = strategy_for({"sex": 2, "race": 2}, epsilon=4, protocol="grr").privatize(codes, rng=7)
    >>> crossed = group_rates(hired, joint, labels={"sex": ["f", "m"]})
    >>> {group: round(float(rate), 1) for group, rate in crossed.rates.items()}
    {('f', 0): 0.6, ('f', 1): 0.2, ('m', 0): 0.2, ('m', 1): 0.6}
    >>> crossed.is_hidden(), round(float(crossed.margins["sex"].data_unfairness("difference")), 1)
    (True, 0.1)
    """
    level = check_level(level, owner=_OWNER)
    received: Any = read_joint_reports(reports)
    if received is None:
        if columns is not None:
            must_be, got = "left out, except with reports of several columns", "given"
            raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got=got)
        received = _read_reports(reports, protocol)
    elif protocol is not None:
        must_be = "left out with reports of several columns, which have theirs"
        raise InvalidParameterError("protocol", owner=_OWNER, must_be=must_be, got=kind_of(protocol))
    binary = _read_outcome(outcome, received, positive)
    estimate = _estimate_groups(binary, received, columns, labels, privileged, level)
    if outcome_from_reports:
        warnings.warn(DEPENDENT_OUTCOME, IndependenceWarning, stacklevel=2)
    else:
        warn_of_impossible_groups(estimate, *estimate.margins.values(), stacklevel=3)
    if trained_on is not None:
        part = read_trained_on(trained_on, received, owner=_OWNER)
        trained = _estimate_groups(binary[part], received[part], columns, labels, privileged, level)
        warn_of_training(estimate, trained, stacklevel=3)
    return estimate


def _estimate_groups(
    binary: npt.NDArray[Any], received: Any, columns: Any, labels: Any, privileged: Any, level: float
) -> GroupRates:
    """Return the rates of the groups of one column, or of combinations of several."""
    if not isinstance(received, Reports):
        return _cross(binary, received, columns, labels, privileged, level)
    names = check_group_names(tables.as_labels(labels, received.protocol.k, owner=_OWNER), privileged)
    return _estimate(count_reports(binary, received), names, privileged, level, received.protocol)


def _cross(
    binary: npt.NDArray[Any], joint: Any, columns: Any, labels: Any, privileged: Any, level: float
) -> GroupRates:
    """Return the rates of the combinations of columns, with those of each column alone."""
    strategy = joint.strategy
    crossed = read_crossed_columns(columns, strategy)
    named = read_crossed_labels(labels, {column: strategy.sizes[column] for column in crossed})
    names = check_group_names(combine_labels(named), privileged)
    estimate = _estimate(count_columns(binary, joint, crossed), names, privileged, level, strategy)
    if len(crossed) == 1:
        return estimate
    for place, column in enumerate(crossed):
        counted = count_columns(binary, joint, (column,))
        own = None if privileged is None else privileged[place]
        estimate.margins[column] = _estimate(counted, named[column], own, level, strategy.protocols[column])
    return estimate


def _estimate(
    counted: CountedReports, names: tuple[Any, ...], privileged: Any, level: float, protocol: Any
) -> GroupRates:
    return GroupRates(counted.counts, counted.channel, names, privileged, level, protocol)


def _read_reports(reports: Any, protocol: Protocol | None) -> Reports:
    """Return the reports of one column with the protocol that made them."""
    if protocol is None and not isinstance(reports, Reports):
        raise InvalidParameterError(
            "protocol", owner=_OWNER, must_be="given where reports are a bare array", got=kind_of(protocol)
        )
    made_by = reports.protocol if protocol is None else protocol
    if not isinstance(made_by, Protocol):
        raise InvalidParameterError(
            "protocol", owner=_OWNER, must_be="a protocol such as GRR(k=2, epsilon=1)", got=kind_of(protocol)
        )
    return Reports.of(reports, made_by)


def _read_outcome(outcome: Any, reports: Any, positive: Any) -> npt.NDArray[Any]:
    """Return outcomes as 0 and 1, as many as there are reports."""
    column = read_column(outcome, name="outcome", owner=_OWNER)
    same_length([("outcome", column), ("reports", reports)], owner=_OWNER)
    return read_binary({"outcome": column}, positive=positive, owner=_OWNER)["outcome"]


def _nearest_rate(rate: Measured) -> Measured:
    return rate if 0 <= rate <= 1 else Measured(min(max(rate, 0.0), 1.0))
