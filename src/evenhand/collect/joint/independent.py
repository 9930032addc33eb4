"""Each attribute reported by a protocol of its own: all of them, one alone, or one drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from evenhand._validate import integer
from evenhand.collect.joint.estimate import (
    MOST_CELLS,
    JointFrequencies,
    as_shares,
    check_cells,
    checked_shares,
    product_shares,
    product_variance,
    shares_from_table,
)
from evenhand.collect.joint.split import dyadic_shares
from evenhand.collect.joint.strategy import (
    JointReports,
    Strategy,
    check_column_names,
    check_protocols,
    streams,
)
from evenhand.collect.protocols.base import draw_reports
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.protocols.probabilities import GRID
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.sampling import uniform_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.joint.strategy import Codes, Sent
    from evenhand.collect.protocols.base import Protocol
    from evenhand.privacy.randomness import Source

_TIGHT = Fraction(1, 10**12)
_DRAWN = "which column a person is asked is drawn without regard to their values"
_NEAR_ONE = Fraction(1, 10**9)


@dataclass(frozen=True, init=False, repr=False)
class Independent(Strategy):
    r"""Report each attribute by a protocol of its own, with fresh randomness.

    The probability of a whole report is the product over the attributes.

    **Guarantee.** Pure local differential privacy with the sum of the protocols' epsilons; unit: one report
    of all columns; tight where the protocols are. Two people who differ in one attribute alone are told apart
    by that attribute's epsilon at most. Numerics: exact. May be used for release.

    Parameters
    ----------
    protocols : mapping of str to Protocol
        The protocol of each column.
    in_clear : sequence of str
        Columns that are sent as they are, for the guarantee.

    Examples
    --------
    >>> from evenhand.collect import GRR, OUE
    >>> survey = Independent({"gender": GRR(k=2, epsilon="1/4"), "country": OUE(k=41, epsilon="3/4")})
    >>> print(survey)
    column   k   protocol  epsilon within the report  if only this column is seen
    gender   2   GRR       0.25                       0.25
    country  41  OUE       0.75                       0.75
    whole report: epsilon 1
    >>> survey.guarantee.epsilon
    Fraction(1, 1)
    """

    name: ClassVar[str] = "independent"

    pairs: tuple[tuple[str, Protocol], ...]

    def __init__(self, protocols: Mapping[str, Protocol], *, in_clear: Sequence[str] = ()) -> None:
        owner = type(self).__name__
        self._set(
            pairs=check_protocols(protocols, owner=owner),
            in_clear=check_column_names(in_clear, parameter="in_clear", owner=owner),
        )

    @property
    def epsilon(self) -> Fraction:
        """Privacy parameter of a person's whole report: the sum over the columns."""
        return sum((protocol.epsilon for _, protocol in self.pairs), Fraction(0))

    def guarantee_for(self, *, in_clear: Sequence[str] = ()) -> Guarantee:
        """Return what a person's whole report promises: the guarantees of its columns added up.

        The worst reports of the columns together are the worst report, so the sum is tight if it is attained
        column by column.
        """
        parts = [
            protocol.guarantee_for(protects=(column,), in_clear=in_clear) for column, protocol in self.pairs
        ]
        whole = reduce(Guarantee.__add__, parts)
        realised = sum((protocol.realised_epsilon for _, protocol in self.pairs), Fraction(0))
        return Guarantee.from_dict(whole.to_dict() | {"tight": whole.loss.amount - realised <= _TIGHT})

    def _privatize(self, codes: Codes, source: Source) -> Sent:
        own = streams(source, self.columns)
        return [draw_reports(way, codes[column], own[column]) for column, way in self.pairs], None

    def estimate_joint(self, reports: JointReports, *, most_cells: int = MOST_CELLS) -> JointFrequencies:
        r"""Estimate what share of the people has each combination of values.

        .. math:: \hat f_a = \frac1n \sum_i \prod_j \frac{1\{\text{report } j \text{ of } i \text{ supports }
                  a_j\} - q_j}{p_j - q_j}

        Parameters
        ----------
        reports : JointReports
            Reports of this strategy.
        most_cells : int
            How many combinations there may be.

        Raises
        ------
        LimitExceededError
            If there are more combinations.
        """
        own = self.own(reports)
        most = integer("most_cells", most_cells, owner=f"{type(self).__name__}.estimate_joint", low=1)
        check_cells(self.sizes, most, subject="A joint estimate")
        n = len(own)
        if not n:
            return self.estimate_joint_from_table(np.zeros(tuple(self.sizes.values()), np.int64))
        return self._joint_frequencies(product_shares(own.sent, self.senders), n)

    def estimate_joint_from_table(self, table: npt.NDArray[Any]) -> JointFrequencies:
        """Estimate from how many people reported each combination, where every report names one value."""
        n = int(table.sum())
        if not n:
            nothing = np.full(tuple(self.sizes.values()), np.nan)
            return JointFrequencies(nothing, nothing, 0, self.columns)
        return self._joint_frequencies(shares_from_table(table, self.senders), n)

    def _joint_frequencies(self, values: npt.NDArray[np.float64], n: int) -> JointFrequencies:
        variance = product_variance(as_shares(values), self.senders) / n
        return JointFrequencies(values, np.sqrt(variance), n, self.columns)

    def joint_variance(self, shares: npt.ArrayLike, *, n: int = 1) -> npt.NDArray[Any]:
        r"""Return the variance of the joint estimates, given the true share of each combination.

        A combination that nobody shares a value with has :math:`\prod_j q_j (1 - q_j) / (p_j - q_j)^2 / n`.

        Parameters
        ----------
        shares : array
            The true shares among the people who report, one axis for each column.
        n : int
            How many people report.
        """
        owner = f"{type(self).__name__}.joint_variance"
        array = checked_shares(shares, tuple(self.sizes.values()), owner=owner)
        return product_variance(array, self.senders) / integer("n", n, owner=owner, low=1)


@dataclass(frozen=True, init=False, repr=False)
class Single(Independent):
    """Report one attribute and leave the others in the clear.

    **Guarantee.** That of the protocol, about the one column; nothing is promised about columns in the clear.

    Parameters
    ----------
    column : str
        The column that is reported.
    protocol : Protocol
        How it is reported.
    in_clear : sequence of str
        The columns that are sent as they are.

    Examples
    --------
    >>> from evenhand.collect import GRR
    >>> print(Single("gender", GRR(k=2, epsilon=1), in_clear=["age"]).guarantee)
    Seeing one report can change the odds between any two values of gender by at most a factor of 2.72
    (epsilon = 1, pure, unit: one report, trust: local; tight, by generalized randomized response).
    In the clear, and so not protected: age. Assumes: ...
    """

    name: ClassVar[str] = "single"

    def __init__(self, column: str, protocol: Protocol, *, in_clear: Sequence[str] = ()) -> None:
        super().__init__({column: protocol}, in_clear=in_clear)


@dataclass(frozen=True, init=False, repr=False)
class Sampled(Strategy):
    r"""Ask each person one attribute, drawn at random, and spend the whole epsilon on it.

    Who is asked what is drawn without regard to anybody's values, and is part of the report. The shares of
    each column are estimated from those who were asked it, and their intervals are about those; about all
    who took part, ask for ``interval(of="population")``.

    **Guarantee.** Pure local differential privacy with the largest of the protocols' epsilons; unit: one
    report; tight. Numerics: exact; the probabilities of being asked are multiples of :math:`2^{-53}`. May be
    used for release.

    Parameters
    ----------
    protocols : mapping of str to Protocol
        The protocol of each column.
    probabilities : mapping of str to number, optional
        How likely a person is asked each column; they sum to 1. By default alike.
        :func:`evenhand.collect.joint.split.split_budget` with ``how="sample"`` gives the best.
    in_clear : sequence of str
        Columns that are sent as they are, for the guarantee.

    Examples
    --------
    >>> from evenhand.collect import GRR, SS
    >>> survey = Sampled({"gender": GRR(2, 1), "country": SS(41, 1)}, {"gender": 0.25, "country": 0.75})
    >>> print(survey)
    column   k   protocol  asked of  epsilon within the report  if only this column is seen
    gender   2   GRR       25 %      1                          1
    country  41  SS        75 %      1                          1
    whole report: epsilon 1
    """

    name: ClassVar[str] = "sampled"

    pairs: tuple[tuple[str, Protocol], ...]
    shares: tuple[Fraction, ...]

    def __init__(
        self,
        protocols: Mapping[str, Protocol],
        probabilities: Mapping[str, Number] | None = None,
        *,
        in_clear: Sequence[str] = (),
    ) -> None:
        pairs = check_protocols(protocols, owner="Sampled")
        self._set(
            pairs=pairs,
            shares=dyadic_shares(_check_probabilities(probabilities, [column for column, _ in pairs])),
            in_clear=check_column_names(in_clear, parameter="in_clear", owner="Sampled"),
        )

    @property
    def probabilities(self) -> dict[str, Fraction]:
        """The probability that a person is asked each column, exactly as drawn."""
        return dict(zip(self.columns, self.shares, strict=True))

    @property
    def epsilon(self) -> Fraction:
        """Privacy parameter of a person's whole report: the largest over the columns."""
        return max(protocol.epsilon for _, protocol in self.pairs)

    def guarantee_for(self, *, in_clear: Sequence[str] = ()) -> Guarantee:
        """Return what a person's whole report promises: the largest epsilon of a column."""
        _, largest = max(self.pairs, key=lambda pair: pair[1].claimed_epsilon)
        whole = largest.guarantee_for(protects=self.columns, in_clear=in_clear)
        proofs = dict.fromkeys(protocol.title for _, protocol in self.pairs)
        assumed = dict.fromkeys(
            assumption for _, way in self.pairs for assumption in way.guarantee_for().assumptions
        )
        changed = {"proof": "; ".join(proofs), "assumptions": [*assumed, _DRAWN]}
        return Guarantee.from_dict(whole.to_dict() | changed)

    def _privatize(self, codes: Codes, source: Source) -> Sent:
        own = streams(source, ["", *self.columns])
        n = next(iter(codes.values())).size
        edges = np.array([int(edge * GRID) for edge in accumulate(self.shares)], dtype=np.int64)
        draws = uniform_below(GRID, size=n, source=own[""])
        asked = np.searchsorted(edges, draws, side="right").astype(code_type(max(2, len(self.pairs))))
        sent = [
            draw_reports(protocol, codes[column][asked == position], own[column])
            for position, (column, protocol) in enumerate(self.pairs)
        ]
        return sent, asked

    def checked_sent(self, sent: Sequence[Reports], asked: Any) -> tuple[Reports, ...]:
        """Return what was sent if it is one set of reports of each column, of those who were asked it."""
        count = len(self.pairs)
        whole = isinstance(asked, np.ndarray) and asked.ndim == 1 and asked.dtype.kind in "iu"
        if not whole or len(sent) != count:
            raise self._not_sent("another number of reports" if whole else "not who was asked")
        parts = tuple(Reports.of(part, sender) for part, sender in zip(sent, self.senders, strict=True))
        inside = asked.size == 0 or (int(asked.min()) >= 0 and int(asked.max()) < count)
        if not inside or np.bincount(asked, minlength=count).tolist() != [len(part) for part in parts]:
            raise self._not_sent("reports of others than were asked")
        return parts

    def indicators(self, reports: JointReports) -> dict[str, npt.NDArray[np.uint8]]:
        """Return for each column one row per person; those who were not asked have zeros."""
        own = self.own(reports)
        indicators = {}
        for position, (column, part) in enumerate(super().indicators(own).items()):
            indicators[column] = np.zeros((len(own), part.shape[1]), dtype=np.uint8)
            indicators[column][own.asked == position] = part
        return indicators

    def _indicator_chunks(
        self, reports: JointReports, step: int
    ) -> Iterator[dict[str, npt.NDArray[np.uint8]]]:
        """Go through the people once: the next block of a column's reports begins where the last ended."""
        asked: npt.NDArray[Any] = np.asarray(reports.asked)
        seen = np.zeros(len(self.pairs), dtype=np.int64)
        for start in range(0, len(asked), step):
            here = asked[start : start + step]
            after = seen + np.bincount(here, minlength=len(self.pairs))
            sent = [part[low:high] for part, low, high in zip(reports.sent, seen, after, strict=True)]
            yield self.indicators(JointReports(sent, strategy=self, asked=here))
            seen = after

    def estimate_joint(self, reports: JointReports) -> NoReturn:
        """Refuse: nobody reports two attributes, so nothing is known of combinations."""
        self.own(reports)
        raise InvalidParameterError(
            "reports",
            owner="Sampled.estimate_joint",
            must_be="reports in which each person tells several columns",
            got="one column of each person",
            hint="Combined and Independent estimate combinations.",
        )

    def _row(self, column: str) -> dict[str, str]:
        row = super()._row(column)
        asked = {"asked of": f"{float(100 * self.probabilities[column]):.3g} %"}
        return {name: row[name] for name in ("column", "k", "protocol")} | asked | row

    def __repr__(self) -> str:
        shares = {column: float(f"{float(share):.6g}") for column, share in self.probabilities.items()}
        return f"Sampled({self.protocols!r}, {shares!r})"


def _check_probabilities(
    probabilities: Mapping[str, Number] | None, columns: Sequence[str]
) -> Sequence[Fraction]:
    if probabilities is None:
        return [Fraction(1, len(columns))] * len(columns)
    must_be = f"probabilities that sum to 1, one for each of {', '.join(columns)}"
    if not hasattr(probabilities, "keys") or set(probabilities.keys()) != set(columns):
        got = f"a {type(probabilities).__name__} with other keys"
        raise InvalidParameterError("probabilities", owner="Sampled", must_be=must_be, got=got)
    amounts = [
        exact(probabilities[column], name="probabilities", owner="Sampled", above=0) for column in columns
    ]
    total = sum(amounts, Fraction(0))
    if abs(total - 1) > _NEAR_ONE:
        got = f"numbers that sum to {float(total):.12g}"
        raise InvalidParameterError("probabilities", owner="Sampled", must_be=must_be, got=got)
    return amounts
