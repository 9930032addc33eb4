"""One report for each attribute, drawn on its own; or for one attribute alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

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
)
from evenhand.collect.joint.strategy import Strategy, check_column_names, check_protocols, streams
from evenhand.privacy.guarantees.guarantee import Guarantee

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.joint.strategy import Codes, JointReports, Sent
    from evenhand.collect.protocols.base import Protocol
    from evenhand.privacy.randomness import Source

__all__ = ["Independent", "Single"]

_TIGHT = Fraction(1, 10**12)


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
    def protocols(self) -> dict[str, Protocol]:
        """The protocol of each column."""
        return dict(self.pairs)

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
        return [way.privatize(codes[column], rng=own[column]) for column, way in self.pairs], None

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
        check_cells(self.sizes, most, what="A joint estimate")
        n = len(own)
        if not n:
            nothing = np.full(tuple(self.sizes.values()), np.nan)
            return JointFrequencies(nothing, nothing, 0, self.columns)
        values = product_shares(own.sent, self.senders)
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
