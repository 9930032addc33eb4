"""What every way to report several attributes of a person has in common, and the reports of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._notebook import figures_html
from evenhand._validate import integer, refuse
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.codes import check_codes
from evenhand.collect.reports.reports import OWN_SEEDS, Reports, share_streams
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, SchemaError
from evenhand.privacy.ledger.charging import charge_draw, fit_purpose
from evenhand.privacy.randomness import SeededSource, Source, source_from
from evenhand.privacy.rational import text_above
from evenhand.schema import Column, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.estimates.frequencies import Frequencies
    from evenhand.collect.joint.estimate import JointFrequencies
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import AnyLedger

    Codes = dict[str, npt.NDArray[Any]]
    Sent = tuple[list[Reports], npt.NDArray[Any] | None]

RARELY_TRUE = 0.05
"""Below this share of true reports a column is little more than noise."""

_CHUNK_BYTES = 1 << 22
_LOGARITHM = 1 + Fraction(1, 2**40)  # more than a logarithm of floats can be too small by


@dataclass(frozen=True, init=False, repr=False)
class Strategy(ABC):
    """A way to report several attributes of a person under local differential privacy.

    A strategy fixes which columns are reported, by which protocols, and so the epsilon of the whole report:
    everything that one person sends.
    """

    name: ClassVar[str]
    """The strategy's name in plans and files."""

    in_clear: tuple[str, ...]
    """Columns that are known to be sent as they are, for the guarantee."""

    pairs: tuple[tuple[str, Any], ...]
    """Each column with what it is reported by."""

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # --- what is promised -------------------------------------------------------------------------

    @property
    def protocols(self) -> dict[str, Protocol]:
        """For each column, the protocol whose p, q and variance its reports follow."""
        return dict(self.pairs)

    @property
    @abstractmethod
    def epsilon(self) -> Fraction:
        """Privacy parameter of a person's whole report."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are reported."""
        return tuple(self.protocols)

    @property
    def sizes(self) -> dict[str, int]:
        """How many values each column has."""
        return {column: protocol.k for column, protocol in self.protocols.items()}

    @property
    def guarantee(self) -> Guarantee:
        """What a person's whole report promises."""
        return self.guarantee_for(in_clear=self.in_clear)

    @abstractmethod
    def guarantee_for(self, *, in_clear: Sequence[str] = ()) -> Guarantee:
        """Return what a person's whole report promises when the columns named are sent as they are."""

    def epsilon_within_report(self, column: str) -> Fraction:
        """Return the epsilon of one column when the whole report is seen.

        Two people who differ in this column alone send any given report with probabilities whose ratio is at
        most e to this number.
        """
        return self._protocol(column).epsilon

    def epsilon_if_seen_alone(self, column: str) -> float:
        """Return the epsilon of one column if only this column is seen.

        This is never a guarantee: whoever gets the report sees the other columns too.
        """
        return float(self.epsilon_within_report(column))

    def truth_within_report(self, column: str) -> float:
        """Return how often a value that a report supports is the true one, if every value is as common.

        A report of GRR is one value; one of OUE and SS is a set of values, of which one is picked.

        Examples
        --------
        >>> from evenhand.collect.joint.build import strategy_for
        >>> f"{strategy_for({'town': 400}, epsilon=1, protocol='grr').truth_within_report('town'):.4f}"
        '0.0068'
        """
        law = self._protocol(column)
        true = getattr(law, "truthfulness", None)  # of a matrix, which has no single p and q
        return law.p / (law.p + (law.k - 1) * law.q) if true is None else float(true.mean())

    @property
    def rarely_true(self) -> dict[str, float]:
        """The columns whose reports are true less than 5 % of the time, with how often they are."""
        shares = {column: self.truth_within_report(column) for column in self.columns}
        return {column: share for column, share in shares.items() if share < RARELY_TRUE}

    # --- people and server ------------------------------------------------------------------------

    def privatize(
        self,
        codes: Mapping[str, Any],
        *,
        rng: Any = None,
        ledger: AnyLedger | None = None,
        purpose: str | None = None,
    ) -> JointReports:
        """Return what each person sends, in the order of `codes`.

        Parameters
        ----------
        codes : mapping of str to array of int
            Each person's value of each column, 0 to ``k - 1``. Other columns than those of the strategy are
            left alone.
        rng : None, int, Generator or Source
            None for the operating system's secure source. Anything else makes a simulation, in which each
            column has a stream of its own: adding a column does not change what is drawn for the others.
        ledger, purpose
            As for :meth:`~evenhand.collect.protocols.base.Protocol.privatize`, for a person's whole report.

        Raises
        ------
        ColumnNotFoundError
            If a column is missing.
        InvalidParameterError
            If the codes are not whole numbers of the domain, or not as many for each column.
        SchemaError
            If they are the codes of a table whose rules may leave people out for a column that is reported or
            sensitive. Nothing is drawn in any of these cases.
        """
        checked, source = self._check_codes(codes), source_from(rng)
        for sender in self.senders:
            sender.check_drawable()
        told = fit_purpose(f"reports of {', '.join(self.columns)}") if purpose is None else purpose
        owner = f"{type(self).__name__}.privatize"
        charge_draw(ledger, self.guarantee_for, source=source, purpose=told, owner=owner)
        sent, asked = self._privatize(checked, source)
        return JointReports(sent, strategy=self, asked=asked)

    def indicators(self, reports: JointReports) -> dict[str, npt.NDArray[np.uint8]]:
        """Return for each column an array of one row per person and one column per value.

        An entry is 1 where the person's report supports the value. A person who was not asked has zeros.
        """
        own = self.own(reports).by_column
        return {column: self._protocol(column).indicators(part) for column, part in own.items()}

    def indicator_chunks(
        self, reports: JointReports, *, rows: int | None = None
    ) -> Iterator[dict[str, npt.NDArray[np.uint8]]]:
        """Return an iterator over the indicators of one block of people after the other.

        Parameters
        ----------
        reports : JointReports
            Reports of this strategy.
        rows : int, optional
            How many people a block has; by default as many as take 4 MiB.

        Examples
        --------
        >>> from evenhand.collect.joint.build import strategy_for
        >>> strategy = strategy_for({"gender": 2, "race": 5}, epsilon=1)
        >>> reports = strategy.privatize({"gender": [0, 1, 1], "race": [4, 0, 2]})
        >>> [block["race"].shape for block in strategy.indicator_chunks(reports, rows=2)]
        [(2, 5), (1, 5)]
        """
        step = max(1, _CHUNK_BYTES // sum(self.sizes.values()))
        if rows is not None:
            step = integer("rows", rows, owner=f"{type(self).__name__}.indicator_chunks", low=1)
        return self._indicator_chunks(self.own(reports), step)

    def _indicator_chunks(
        self, reports: JointReports, step: int
    ) -> Iterator[dict[str, npt.NDArray[np.uint8]]]:
        starts = range(0, len(reports), step)
        return (self.indicators(reports[start : start + step]) for start in starts)

    def estimate(self, reports: JointReports) -> dict[str, Frequencies]:
        """Estimate for each column what share of the people has each value."""
        own = self.own(reports).by_column
        return {column: self._protocol(column).estimate(part) for column, part in own.items()}

    @abstractmethod
    def estimate_joint(self, reports: JointReports) -> JointFrequencies:
        """Estimate what share of the people has each combination of values."""

    def own(self, reports: object) -> JointReports:
        """Return `reports` if they are joint reports of this strategy, else refuse them."""
        if not isinstance(reports, JointReports) or reports.strategy != self:
            joint = isinstance(reports, JointReports)
            raise InvalidParameterError(
                "reports",
                owner=type(self).__name__,
                must_be=f"joint reports of {self!r}",
                got="joint reports of another strategy" if joint else f"a {type(reports).__name__}",
            )
        return reports

    # --- what a strategy defines ------------------------------------------------------------------

    @abstractmethod
    def _privatize(self, codes: Codes, source: Source) -> Sent: ...

    @property
    def senders(self) -> tuple[Protocol, ...]:
        """The protocols that make what is sent, in the order of :attr:`JointReports.sent`."""
        return tuple(self.protocols.values())

    def decoded(self, sent: Sequence[Reports]) -> dict[str, Reports]:
        """Return the reports of each column from what was sent."""
        return dict(zip(self.columns, sent, strict=True))

    def checked_sent(self, sent: Sequence[Reports], asked: Any) -> tuple[Reports, ...]:
        """Return what was sent if it is one set of reports of each sender, as long as it must be."""
        if len(sent) != len(self.senders) or asked is not None:
            raise self._not_sent("another number of reports" if asked is None else "who was asked")
        parts = tuple(Reports.of(part, sender) for part, sender in zip(sent, self.senders, strict=True))
        if len({len(part) for part in parts}) > 1:
            raise self._not_sent("reports of different numbers of people")
        if share_streams(parts):
            raise self._not_sent("columns drawn with one seed, which share every flip", hint=OWN_SEEDS)
        return parts

    def _not_sent(self, got: str, *, hint: str = "") -> InvalidParameterError:
        must_be = f"what people send under {self!r}, as many of each"
        return InvalidParameterError("sent", owner="JointReports", must_be=must_be, got=got, hint=hint)

    def _protocol(self, column: str) -> Protocol:
        protocol = self.protocols.get(column)
        if protocol is None:
            raise ColumnNotFoundError(column, self.columns, place="among those reported")
        return protocol

    def _check_codes(self, codes: Mapping[str, Any]) -> Codes:
        owner = f"{type(self).__name__}.privatize"
        if not hasattr(codes, "keys"):
            must_be, got = "a mapping of columns to codes", f"a {type(codes).__name__}"
            raise InvalidParameterError("codes", owner=owner, must_be=must_be, got=got)
        schema = getattr(codes, "schema", None)  # of a table; bare arrays cannot know who was left out
        if isinstance(schema, Schema):
            hidden = {*self.columns, *schema.sensitive}
            refuse_dropping(column for column in schema if column.name in hidden)
        for column in self.columns:
            if column not in codes:
                known = [name for name in codes.keys() if isinstance(name, str)]  # noqa: SIM118 - frames too
                raise ColumnNotFoundError(column, known, place="among the codes given")
        checked = {column: check_codes(codes[column], k, owner=owner) for column, k in self.sizes.items()}
        if len({array.size for array in checked.values()}) > 1:
            must_be = "arrays of one length, one code for each person"
            raise InvalidParameterError("codes", owner=owner, must_be=must_be, got="different lengths")
        return checked

    # --- for people to read -----------------------------------------------------------------------

    def describe(self) -> str:
        """Return a table of what is reported, and with which epsilon."""
        rows = [self._row(column) for column in self.columns]
        cells = [tuple(rows[0]), *(tuple(row.values()) for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, f"whole report: epsilon {text_above(self.epsilon)}"])

    def _row(self, column: str) -> dict[str, str]:
        within = self.epsilon_within_report(column)
        alone = Fraction(self.epsilon_if_seen_alone(column)) * _LOGARITHM
        return {
            "column": column,
            "k": f"{self.sizes[column]:,}",
            "protocol": type(self._protocol(column)).__name__,
            "epsilon within the report": text_above(within),
            "if only this column is seen": text_above(min(within, alone)),
        }

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        shown = ", ".join(f"{column!r}: {protocol!r}" for column, protocol in self.protocols.items())
        return f"{type(self).__name__}({{{shown}}})"


_TELLS = {"outside": "outside its domain", "nulls": "missing"}


def refuse_dropping(reported: Iterable[Column]) -> None:
    """Refuse columns that people report if a rule could leave a person out for the value of one of them.

    A person without a report is a person whose value is outside the domain or missing, for whoever knows the
    list of people; no noise on the reports of the others hides that. Only what is declared counts, so that
    the refusal itself depends on no row.

    Parameters
    ----------
    reported : iterable of Column
        The columns that are reported.

    Raises
    ------
    SchemaError
        If one of them has the rule ``"drop"``.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain
    >>> refuse_dropping([Column("race", Domain.categorical(["a", "b"]), outside="other", nulls="other")])
    """
    for column in reported:
        for rule, tells in _TELLS.items():
            if getattr(column, rule) == "drop":
                raise SchemaError(
                    f"Column '{column.name}' is declared with {rule}='drop' in a collection of reports: who "
                    f"has no report would tell, with certainty, whose value is {tells}. Hint: declare "
                    f"{rule}='other', so that the person reports the value 'other'; or clean the data by a "
                    "rule that does not depend on the columns that are reported.",
                    field=f"columns.{column.name}.{rule}",
                )


def draw_joint_reports(strategy: Strategy, codes: Mapping[str, Any], source: Source) -> JointReports:
    """Return what each person sends, for whoever has charged it already."""
    checked = strategy._check_codes(codes)  # noqa: SLF001 - of this file
    sent, asked = strategy._privatize(checked, source)  # noqa: SLF001 - of this file
    return JointReports(sent, strategy=strategy, asked=asked)


def streams(source: Source, columns: Iterable[str]) -> dict[str, Source]:
    """Return a source for each column, none of which depends on what the others draw.

    The secure source never repeats itself, so it serves all of them. A seeded source gives 256 bits, which
    with a column's name make the column's seed: using the same source twice gives other streams.
    """
    if source.kind == "secure" or not source.simulated:
        return dict.fromkeys(columns, source)
    seed = int.from_bytes(source.words(4).astype(">u8").tobytes(), "big")
    return {column: SeededSource(seed).for_cell(column) for column in columns}


def check_column_names(names: Iterable[object], *, parameter: str, owner: str) -> tuple[str, ...]:
    """Return the names of columns, each a text and there once, else refuse them."""
    columns = (names,) if isinstance(names, str) else tuple(names)
    texts = tuple(column for column in columns if isinstance(column, str) and column)
    if len(set(texts)) < len(columns):
        must_be = "different names of columns"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=columns)
    return texts


def check_protocols(protocols: Mapping[str, Protocol], *, owner: str) -> tuple[tuple[str, Protocol], ...]:
    """Return pairs of a column and its protocol, else refuse them."""
    must_be = "a mapping of columns to protocols, one or more"
    hint = "strategy_for(sizes, epsilon=..., protocol='grr') makes the protocols."
    if not hasattr(protocols, "items") or not protocols:
        got = f"a {type(protocols).__name__}" if protocols else "none"
        raise InvalidParameterError("protocols", owner=owner, must_be=must_be, got=got, hint=hint)
    columns = check_column_names(protocols, parameter="protocols", owner=owner)
    for column in columns:
        if not isinstance(protocols[column], Protocol):
            got = f"a {type(protocols[column]).__name__} for column '{column}'"
            raise InvalidParameterError("protocols", owner=owner, must_be=must_be, got=got, hint=hint)
    return tuple((column, protocols[column]) for column in columns)


class JointReports:
    """What each person sent about several attributes.

    ``reports["race"]`` gives the reports of one column. Slices, masks and positions take people and give
    joint reports again. The length is the number of people.

    Parameters
    ----------
    sent : sequence of Reports
        What was sent: one item for each column, or a single one where the columns were combined.
    strategy : Strategy
        What made them.
    asked : array of int, optional
        Which column each person was asked, as a position in ``strategy.columns``, where everybody was asked
        only one. An item of `sent` then holds the reports of those who were asked, in order.

    Examples
    --------
    >>> from evenhand.collect.joint.build import strategy_for
    >>> strategy = strategy_for({"gender": 2, "race": 5}, epsilon=1, protocol="grr", split="uniform")
    >>> reports = strategy.privatize({"gender": [0, 1, 1], "race": [4, 0, 2]}, rng=7)
    >>> reports
    <3 joint reports of gender, race, simulated>
    >>> reports["race"]
    <3 reports of GRR(k=5, epsilon=0.5), simulated>
    >>> reports[1:]
    <2 joint reports of gender, race, simulated>
    """

    def __init__(
        self, sent: Sequence[Reports], *, strategy: Strategy, asked: npt.NDArray[Any] | None = None
    ) -> None:
        self.sent = strategy.checked_sent(sent, asked)
        self.strategy = strategy
        self.asked = asked

    @property
    def simulated(self) -> bool:
        """Whether any of it was drawn with a seed."""
        return any(part.simulated for part in self.sent)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are reported."""
        return self.strategy.columns

    @cached_property
    def by_column(self) -> dict[str, Reports]:
        """The reports of each column. Where everybody was asked one column: of those who were asked it."""
        return self.strategy.decoded(self.sent)

    @classmethod
    def concat(cls, parts: Sequence[JointReports]) -> JointReports:
        """Return the reports of several batches of one strategy as one."""
        if not parts:
            refuse("parts", "JointReports.concat", "not empty", "no reports")
        strategy = parts[0].strategy
        own = [strategy.own(part) for part in parts]
        sent = [Reports.concat(batches) for batches in zip(*(part.sent for part in own), strict=True)]
        asked = [part.asked for part in own if part.asked is not None]
        return cls(sent, strategy=strategy, asked=np.concatenate(asked) if asked else None)

    def to_arrow(self) -> dict[str, Any]:
        """Return the reports of each column as Arrow data, as :meth:`Reports.to_arrow` makes it."""
        return {column: part.to_arrow() for column, part in self.by_column.items()}

    def __len__(self) -> int:
        return len(self.sent[0]) if self.asked is None else len(self.asked)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            if which not in self.columns:
                raise ColumnNotFoundError(which, self.columns, place="among those reported")
            return self.by_column[which]
        if np.ndim(which) == 0 and not isinstance(which, slice):
            must_be = "a column, a slice, a mask or an array of positions"
            hint = "reports[3:4] gives the reports of one person."
            refuse("which", "JointReports", must_be, which, hint=hint)
        if self.asked is None:
            return JointReports([part[which] for part in self.sent], strategy=self.strategy)
        return self._of_those(which, self.asked)

    def _of_those(self, which: Any, asked: npt.NDArray[Any]) -> JointReports:
        """Take people where each of them is in one item of `sent` only."""
        people = np.arange(len(asked))[which]
        taken = asked[people]
        sent = []
        for position, part in enumerate(self.sent):
            place = np.cumsum(asked == position) - 1
            sent.append(part[place[people[taken == position]]])
        return JointReports(sent, strategy=self.strategy, asked=taken)

    def _repr_html_(self) -> str:
        figures = [("people", f"{len(self):,}"), ("strategy", repr(self.strategy))]
        promise = "simulated, so no guarantee holds" if self.simulated else str(self.strategy.guarantee)
        return figures_html("Joint reports", [*figures, ("promise", promise)])

    def __repr__(self) -> str:
        kind = ", simulated" if self.simulated else ""
        return f"<{len(self):,} joint reports of {', '.join(self.columns)}{kind}>"
