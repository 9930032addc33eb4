"""The combination of several attributes reported as one value, whatever the protocol of that value is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evenhand.collect.joint.estimate import JointFrequencies
from evenhand.collect.joint.strategy import Strategy, streams
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.reports.reports import Reports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from evenhand.collect.joint.reports import JointReports
    from evenhand.collect.joint.strategy import Codes, Sent
    from evenhand.collect.protocols.base import Protocol
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.randomness import Source

__all__ = ["ProductStrategy"]


@dataclass(frozen=True, init=False, repr=False)
class ProductStrategy(Strategy):
    """Number the combinations in row-major order, and report a person's number by one protocol."""

    name: ClassVar[str] = "combined"

    pairs: tuple[tuple[str, int], ...]
    product: Protocol

    @property
    @abstractmethod
    def _laws(self) -> tuple[Protocol, ...]:
        """The law of each column's part of the report."""

    @property
    def protocols(self) -> dict[str, Protocol]:
        """For each column, the law of its part of the report."""
        return dict(zip((column for column, _ in self.pairs), self._laws, strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has, in order."""
        return tuple(k for _, k in self.pairs)

    @property
    def epsilon(self) -> Fraction:
        """Privacy parameter of a person's whole report."""
        return self.product.epsilon

    def guarantee_for(self, *, in_clear: Sequence[str] = ()) -> Guarantee:
        """Return what a person's whole report promises."""
        return self.product.guarantee_for(protects=self.columns, in_clear=in_clear)

    @property
    def senders(self) -> tuple[Protocol, ...]:
        """The one protocol that makes what is sent."""
        return (self.product,)

    def _privatize(self, codes: Codes, source: Source) -> Sent:
        whole = np.ravel_multi_index([codes[each].astype(np.int64) for each in self.columns], self.shape)
        return [self.product.privatize(whole, rng=streams(source, [""])[""])], None

    def decoded(self, sent: Sequence[Reports]) -> dict[str, Reports]:
        """Return the reports of each column: the combination taken apart."""
        parts = np.unravel_index(sent[0].values.astype(np.int64), self.shape)
        return {
            column: Reports(part.astype(code_type(law.k)), protocol=law, simulated=sent[0].simulated)
            for (column, law), part in zip(self.protocols.items(), parts, strict=True)
        }

    def estimate_joint(self, reports: JointReports) -> JointFrequencies:
        """Estimate what share of the people has each combination of values.

        Parameters
        ----------
        reports : JointReports
            Reports of this strategy.
        """
        found = self.product.estimate(self.own(reports).sent[0])
        values, errors = (np.array(each).reshape(self.shape) for each in (found.values, found.standard_error))
        return JointFrequencies(values, errors, found.n, self.columns)
