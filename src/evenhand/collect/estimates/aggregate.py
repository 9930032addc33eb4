"""Sums of reports: counts that are merged in any order and give the estimates of all reports, bit for bit."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notebook import figures_html
from evenhand._validate import kind_of, refuse, require_true_values
from evenhand.collect.estimates import aggregate_files
from evenhand.collect.estimates.crossed_reports import (
    check_group_names,
    combine_labels,
    count_columns,
    count_no_reports,
    read_crossed_columns,
)
from evenhand.collect.estimates.group_rates import GroupRates
from evenhand.collect.estimates.outcome_counts import (
    ColumnCounts,
    CountedBy,
    CrossedCounts,
    count_outcomes,
    warn_of_impossible_groups,
)
from evenhand.collect.joint.combined import Combined, CombinedOptimal, ProductStrategy
from evenhand.collect.joint.independent import Independent
from evenhand.collect.joint.strategy import JointReports, Strategy
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.collect.reports.reports import Reports
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.randomness import SecureSource

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.estimates.frequencies import Frequencies
    from evenhand.collect.joint.estimate import JointFrequencies
    from evenhand.schema import Schema

    Table = npt.NDArray[np.int64]

MOST_CROSSED = 1 << 16
"""Combinations of reports that are counted unless somebody says so."""

_OWNER = "Aggregate"
_ALONE = ""  # stands for the column of reports that belong to none


@dataclass(frozen=True, eq=False, repr=False)
class Aggregate:
    r"""How many reports support each value: all that an estimate needs, and a sum.

    Collectors anywhere count their own reports; the sums are merged later, in any order. What is estimated
    from the merged sum is what would be estimated from all reports, to the last bit, because every number in
    it is a whole number.

    Make one with :meth:`of`, from reports in memory, or with :func:`evenhand.engine.count_file`. The
    fields below are for engines that count elsewhere.

    **Guarantee.** That of the reports: counting them, merging and saving look at nothing else.

    Parameters
    ----------
    maker : Protocol or Strategy
        What made the reports.
    people : int
        How many people sent reports.
    columns : mapping of str to ColumnCounts
        The counts of each column; reports of a protocol without a column have the name ``""``.
    simulated : bool
        Whether the reports were drawn with a seed.
    parts : frozenset of str
        What was counted, by names of which no two are the same. Sums with a part in common are not merged:
        the people in it would count twice.
    crossed : array, optional
        How many people reported each combination of values, one axis for each column.
    outcome : CountedBy, optional
        By which outcome reports were counted as well.
    schema : Schema, optional
        What the values of the columns are called.
    inferred : tuple of str
        The columns whose domains were read from private rows, which is a leak.
    crossed_outcome : CrossedCounts, optional
        The counts by outcome of the combinations of some columns.

    Examples
    --------
    >>> from evenhand.collect import GRR
    >>> grr = GRR(k=3, epsilon=1)
    >>> north, south = grr.privatize([0, 1, 2, 2], rng=1), grr.privatize([0, 0, 1], rng=2)
    >>> both = Aggregate.of(north) + Aggregate.of(south)
    >>> both
    <sum of 7 reports of GRR(k=3, epsilon=1), simulated>
    >>> bool((both.estimate().values == grr.estimate(Reports.concat([north, south])).values).all())
    True
    """

    maker: Protocol | Strategy
    people: int
    columns: Mapping[str, ColumnCounts]
    simulated: bool
    parts: frozenset[str]
    crossed: Table | None = None
    outcome: CountedBy | None = None
    schema: Schema | None = None
    inferred: tuple[str, ...] = ()
    crossed_outcome: CrossedCounts | None = None

    # --- counting ---------------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        reports: Reports | JointReports,
        *,
        part: str | None = None,
        outcome: npt.ArrayLike | None = None,
        outcome_name: str = "outcome",
        crossed: bool | None = None,
        protected: Sequence[str] | None = None,
        schema: Schema | None = None,
    ) -> Aggregate:
        """Count reports.

        Parameters
        ----------
        reports : Reports or JointReports
            What people sent.
        part : str, optional
            A name of these reports that no others have, such as ``"north, 2026-11"``. Two sums with the same
            part are not merged. By default a random one, so that a sum and its copies are known, but not the
            same reports counted again.
        outcome : array of 0 and 1, optional
            An outcome in the clear of each person, for :meth:`group_rates`.
        outcome_name : str
            What the outcome is called; sums of different outcomes are not merged.
        crossed : bool, optional
            Whether combinations of columns are counted, for :meth:`estimate_joint`. By default they are where
            each report names one value and there are at most 65,536 combinations.
        protected : sequence of str, optional
            Columns whose combinations are counted by outcome, for :meth:`group_rates` of all of them.
        schema : Schema, optional
            What the values are called.
        """
        name = random_part() if part is None else part
        maker: Protocol | Strategy
        binary = None if outcome is None else _read_outcome(outcome, len(reports))
        if isinstance(reports, JointReports):
            sums, maker, table = (
                _count_joint(reports, binary),
                reports.strategy,
                _cross(reports, crossed=crossed),
            )
        elif isinstance(reports, Reports) and isinstance(reports.protocol, Protocol):
            sums, maker, table = {_ALONE: _count(reports, binary)}, reports.protocol, None
        else:
            must_be = "Reports or JointReports"
            raise InvalidParameterError(
                "reports", owner="Aggregate.of", must_be=must_be, got=kind_of(reports)
            )
        told = None if binary is None else CountedBy(outcome_name)
        return cls(
            maker,
            len(reports),
            sums,
            reports.simulated,
            frozenset([name]),
            table,
            told,
            _reported(schema, sums),
            crossed_outcome=None if protected is None else _cross_outcome(reports, binary, protected),
        )

    def merge(self, *others: Aggregate) -> Aggregate:
        """Return the sum of this and others, which is the same whatever their order.

        Raises
        ------
        InvalidParameterError
            If they are of other protocols, parameters, columns, schemas or outcomes, if one is simulated and
            another is not, or if two have a part in common.
        """
        total = self
        for other in others:
            total = total._add(other)
        return total

    def __add__(self, other: Aggregate) -> Aggregate:
        return self.merge(other)

    @staticmethod
    def merged(aggregates: Iterable[Aggregate]) -> Aggregate:
        """Return the sum of several, at least one."""
        listed = tuple(aggregates)
        if not listed:
            refuse("aggregates", "Aggregate.merged", "one sum or more", "none")
        return listed[0].merge(*listed[1:])

    def _add(self, other: Any) -> Aggregate:
        if not isinstance(other, Aggregate):
            raise InvalidParameterError("other", owner=_OWNER, must_be="an Aggregate", got=kind_of(other))
        if why := self._difference(other):
            raise InvalidParameterError(
                "other", owner="Aggregate.merge", must_be=why[0], got=why[1], hint=why[2]
            )
        sums = {name: add_counts(own, other.columns[name]) for name, own in self.columns.items()}
        table = None if self.crossed is None or other.crossed is None else self.crossed + other.crossed
        inferred = tuple(name for name in sums if name in {*self.inferred, *other.inferred})
        groups = self.crossed_outcome
        if groups is not None and other.crossed_outcome is not None:
            groups = groups._replace(counts=groups.counts + other.crossed_outcome.counts)
        return replace(
            self,
            people=self.people + other.people,
            columns=sums,
            crossed=table,
            parts=self.parts | other.parts,
            inferred=inferred,
            crossed_outcome=groups,
        )

    def _difference(self, other: Aggregate) -> tuple[str, str, str] | None:  # noqa: PLR0911 - one each
        """Return what the other must be, what it is and what to do, if the two do not belong together."""
        if aggregate_files.describe_maker(self.maker) != aggregate_files.describe_maker(other.maker):
            return "of the same protocols, parameters and columns", "a sum of others", ""
        if self.simulated != other.simulated:
            got = f"{'collected' if self.simulated else 'simulated'} reports"
            return f"of {'simulated' if self.simulated else 'collected'} reports too", got, ""
        if self.columns.keys() != other.columns.keys() or (self.crossed is None) != (other.crossed is None):
            return "a count of the same columns and combinations", "a count of others", ""
        if self.outcome != other.outcome:
            hint = "name the same outcome, and the same value of it, wherever reports are counted."
            return "counted by the same outcome", "a count by another", hint
        if self._groups != other._groups:
            return "counted by outcome for the same columns", "a count for others", ""
        own, others = (each.schema and each.schema.fingerprint for each in (self, other))
        if own != others:
            return "of the same schema, in which a code stands for the same value", "a sum of another", ""
        if self.people + other.people >= aggregate_files.MOST_REPORTS:
            return "of so few people that there are fewer than 2**53 in all", "a sum of too many", ""
        if self.parts & other.parts:
            hint = "merge each part once; other reports of the same name need another (part=...)."
            return "of other people: each part is merged once", "a sum with a part in common", hint
        return None

    @property
    def _groups(self) -> tuple[Any, ...]:
        """The columns, and the crossed columns, whose groups are counted by outcome."""
        own = {name for name, sums in self.columns.items() if sums.by_outcome is not None}
        return own, self.crossed_outcome and self.crossed_outcome.columns

    # --- estimates --------------------------------------------------------------------------------

    def estimate(self) -> Any:
        """Return what the protocol or the strategy would estimate from all the reports.

        Returns
        -------
        Frequencies, or dict of str to Frequencies
            One for each column, where a strategy made the reports.
        """
        if isinstance(self.maker, Protocol):
            return self._shares(_ALONE)
        if isinstance(self.maker, CombinedOptimal):
            self.maker.estimate(_no_reports(self.maker))  # which refuses it
        return {name: self._shares(name) for name in self.columns}

    def estimate_joint(self) -> JointFrequencies:
        """Return the shares of all combinations of values, as :meth:`Strategy.estimate_joint` would.

        Raises
        ------
        InvalidParameterError
            If combinations were not counted.
        """
        if self.crossed is None or not isinstance(self.maker, Independent | ProductStrategy):
            raise InvalidParameterError(
                "crossed",
                owner="Aggregate.estimate_joint",
                must_be="counted: reports of several columns that name one value each",
                got="none",
                hint="Aggregate.of(reports, crossed=True) counts combinations where that can be done.",
            )
        return self.maker.estimate_joint_from_table(self.crossed)

    def group_rates(
        self, column: str | Sequence[str] | None = None, *, privileged: Any = None, level: float = 0.95
    ) -> GroupRates:
        """Return the rates of the outcome in the true groups, as :func:`group_rates` would.

        Parameters
        ----------
        column : str or sequence of str, optional
            Whose groups; it may be left out where there is one. Several columns are crossed: those, in their
            order, whose combinations were counted.
        privileged : object, optional
            The label of the group that others are compared with; of crossed columns a tuple.
        level : float
            The level of intervals.

        Warns
        -----
        IndependenceWarning
            If no true groups could have made the counts.
        """
        rates = self.rates_without_warning(column, privileged=privileged, level=level)
        warn_of_impossible_groups(rates, *rates.margins.values(), stacklevel=3)
        return rates

    def rates_without_warning(
        self, column: str | Sequence[str] | None, *, privileged: Any, level: float
    ) -> GroupRates:
        """Return the rates, for a caller that warns of its own place."""
        if column is not None and not isinstance(column, str):
            return self._crossed_rates(tuple(column), privileged, level)
        name = next(iter(self.columns)) if column is None and len(self.columns) == 1 else str(column)
        if name not in self.columns:
            raise ColumnNotFoundError(name, tuple(self.columns), place="among those counted")
        counts = self.columns[name].by_outcome
        if counts is None:
            must_be = "counted by an outcome, see Aggregate.of"
            raise InvalidParameterError("outcome", owner="Aggregate.group_rates", must_be=must_be, got=None)
        law = self._law(name)
        channel = Channel.of(law, owner="Aggregate.group_rates")
        labels = check_group_names(tuple(self._labels(name) or range(law.k)), privileged)
        return GroupRates(counts, channel, labels, privileged, level, law)

    def _crossed_rates(self, columns: tuple[str, ...], privileged: Any, level: float) -> GroupRates:
        """Return the rates of combinations, with those of each column alone."""
        crossed = self.crossed_outcome
        if crossed is None or crossed.columns != columns:
            must_be = "columns whose combinations were counted by an outcome, in their order"
            got = "others" if crossed else "columns of which none were"
            raise InvalidParameterError("column", owner="Aggregate.group_rates", must_be=must_be, got=got)
        maker: Any = self.maker
        labels = {name: tuple(self._labels(name) or range(self._law(name).k)) for name in columns}
        names = check_group_names(combine_labels(labels), privileged)
        own = dict(zip(columns, privileged or (None,) * len(columns), strict=True))
        margins = {
            name: self.rates_without_warning(name, privileged=own[name], level=level) for name in columns
        }
        nobody = count_no_reports(maker, columns)
        counts = nobody.counts + crossed.counts
        return GroupRates(counts, nobody.channel, names, privileged, level, maker, margins)

    def _shares(self, name: str) -> Frequencies:
        own = self.columns[name]
        return self._law(name).estimate_from_counts(own.counts, own.reports, labels=self._labels(name))

    def _law(self, name: str) -> Protocol:
        return self.maker if isinstance(self.maker, Protocol) else self.maker.protocols[name]

    def _labels(self, name: str) -> Sequence[str] | None:
        if self.schema is None:
            return None
        named = self.schema.names[0] if name == _ALONE else name
        return self.schema[named].display_labels

    # --- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the sum to a file that ends with ``.json``, ``.parquet`` or ``.pq``, whole or not at all.

        Simulated sums are written too, and say so.
        """
        aggregate_files.save(
            {each.name: getattr(self, each.name) for each in fields(self)}, path, overwrite=overwrite
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Aggregate:
        """Read what :meth:`save` wrote.

        Raises
        ------
        UnreadableFileError
            If it is damaged, holds no sum, or is in a form of a later version.
        """
        return cls(**aggregate_files.load(path))

    def __repr__(self) -> str:
        kind = ", simulated" if self.simulated else ""
        return f"<sum of {self.people:,} reports of {self.maker!r}{kind}>"

    def _repr_html_(self) -> str:
        figures = [("people", f"{self.people:,}"), ("made by", repr(self.maker)), ("parts", len(self.parts))]
        return figures_html("Sum of reports", [(name, str(figure)) for name, figure in figures])


def random_part() -> str:
    """Return a name that no other part has."""
    return SecureSource().words(2).tobytes().hex()


def _no_reports(strategy: Strategy) -> JointReports:
    return strategy.privatize({name: np.empty(0, np.uint8) for name in strategy.columns}, rng=0)


def _reported(schema: Schema | None, sums: Mapping[str, Any]) -> Schema | None:
    """Return the schema of the columns that are counted."""
    return schema if schema is None or _ALONE in sums else schema.select(list(sums))


def _read_outcome(outcome: Any, n: int) -> npt.NDArray[np.uint8]:
    require_true_values(outcome, name="outcome", owner="Aggregate.of")
    array = np.asarray(outcome)
    if array.ndim != 1 or len(array) != n or not np.isin(array, (0, 1)).all():
        must_be = "0 or 1 for each person"
        raise InvalidParameterError("outcome", owner="Aggregate.of", must_be=must_be, got="something else")
    return array.astype(np.uint8)


def _count(reports: Reports, outcome: npt.NDArray[np.uint8] | None) -> ColumnCounts:
    law: Any = reports.protocol
    both = None if outcome is None else count_outcomes(outcome, reports, law)
    return ColumnCounts(len(reports), law.counts(reports), both)


def _count_joint(joint: JointReports, outcome: npt.NDArray[np.uint8] | None) -> dict[str, ColumnCounts]:
    sums = {}
    for place, (name, part) in enumerate(joint.by_column.items()):
        own = outcome
        if outcome is not None and joint.asked is not None:
            own = outcome[joint.asked == place]
        sums[name] = _count(part, own)
    return sums


def _cross(joint: JointReports, *, crossed: bool | None) -> Table | None:
    """Return how many people reported each combination, where that was asked for or costs little."""
    strategy = joint.strategy
    shape = tuple(strategy.sizes.values())
    names_one = all(isinstance(sender.layout, IntegerLayout) for sender in strategy.senders)
    can_be = names_one and isinstance(strategy, Independent | ProductStrategy)
    if crossed is None:
        crossed = can_be and math.prod(shape) <= MOST_CROSSED
    if not crossed:
        return None
    if not can_be:
        must_be = "False where reports do not name one value of each column"
        raise InvalidParameterError("crossed", owner="Aggregate.of", must_be=must_be, got=True)
    if isinstance(strategy, ProductStrategy):
        return strategy.product.counts(joint.sent[0]).reshape(shape)
    codes = np.ravel_multi_index([part.values.astype(np.int64) for part in joint.sent], shape)
    return np.bincount(codes, minlength=math.prod(shape)).reshape(shape)


def _cross_outcome(
    reports: Any, outcome: npt.NDArray[np.uint8] | None, protected: Sequence[str]
) -> CrossedCounts:
    """Count combinations of columns by outcome."""
    joint = isinstance(reports, JointReports) and isinstance(reports.strategy, Independent | Combined)
    if not joint or outcome is None:
        must_be = "left out, except with an outcome and reports of several columns of each person"
        raise InvalidParameterError("protected", owner="Aggregate.of", must_be=must_be, got="given")
    names = read_crossed_columns(protected, reports.strategy)
    return CrossedCounts(names, count_columns(outcome, reports, names).counts)


def add_counts(own: ColumnCounts, other: ColumnCounts) -> ColumnCounts:
    """Return the sum of the counts of one column."""
    both = None
    if own.by_outcome is not None and other.by_outcome is not None:
        both = own.by_outcome + other.by_outcome
    return ColumnCounts(own.reports + other.reports, own.counts + other.counts, both)
