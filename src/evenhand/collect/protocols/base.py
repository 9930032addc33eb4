"""What every protocol of local collection has in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.protocols.codes import check_codes
from evenhand.collect.protocols.law import ExactLaw
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError
from evenhand.privacy.ledger.charging import charge_draw, fit_purpose
from evenhand.privacy.randomness import Source, source_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evenhand.privacy.ledger import AnyLedger


@dataclass(frozen=True, init=False, repr=False)
class Protocol(ExactLaw):
    r"""A way to report one of `k` values under local differential privacy.

    A report *supports* some of the values. With :math:`p` the probability that it supports the true value
    and :math:`q` the probability that it supports any other given value, both as they are drawn,
    the share of people with value :math:`v` is estimated without bias by

    .. math:: \hat f_v = \frac{C_v / n - q}{p - q}

    where :math:`C_v` of the :math:`n` reports support :math:`v`. A protocol whose probabilities differ from
    value to value has a whole matrix instead, and `channel` is what an estimate then needs.

    A protocol cannot be changed, and two are equal if they are of one class with equal parameters.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0. ``0.1`` and ``"1/10"`` mean one tenth exactly.

    Examples
    --------
    >>> from evenhand.collect import GRR
    >>> GRR(5, 1) == GRR(k=5, epsilon="1")
    True
    >>> print(GRR(k=5, epsilon=1).describe())
    GRR(k=5, epsilon=1): generalized randomized response
      supports the true value  p = 0.40461
      supports another value   q = 0.148848
      guarantee                epsilon = 1, pure, local, for one report, tight
      variance at f = 0        1.9368 / n
      size of a report         3 bits; 1 byte in a file
    """

    # --- the people -----------------------------------------------------------------------------

    def privatize(
        self, codes: Any, *, rng: Any = None, ledger: AnyLedger | None = None, purpose: str | None = None
    ) -> Reports:
        """Return one report for each person, in the order of `codes`; :meth:`Reports.write_parquet` shuffles.

        Parameters
        ----------
        codes : array of int
            Each person's value, 0 to ``k - 1``.
        rng : None, int, Generator or Source
            None for the operating system's secure source. Anything else makes a simulation, in which each
            column of the same people needs a seed of its own: with one seed, columns share every flip.
        ledger : Ledger, str or path, optional
            The ledger to charge with one report of each person, or its file, before anything is drawn.
            Without one, the ledger that ``EVENHAND_LEDGER`` names is charged, unless this is a simulation.
        purpose : str, optional
            What the ledger is told; the protocol if left out.

        Raises
        ------
        InvalidParameterError
            If the codes are not whole numbers of the domain. Nothing is drawn then.
        BudgetExceededError
            If the ledger has less left. Nothing is drawn then.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> GRR(k=5, epsilon=1).privatize([0, 3, 4])
        <3 reports of GRR(k=5, epsilon=1)>
        """
        owner, source = f"{type(self).__name__}.privatize", source_from(rng)
        checked = check_codes(codes, self.k, owner=owner)
        self.check_drawable()
        told = fit_purpose(f"reports of {self!r}") if purpose is None else purpose
        charge_draw(ledger, self.guarantee_for, source=source, purpose=told, owner=owner)
        return draw_reports(self, checked, source)

    def check_drawable(self) -> None:
        """Refuse parameters with which no report can be drawn; it is asked before a ledger is charged."""

    def _values(self, reports: Any) -> npt.NDArray[Any]:
        """Return the array of the reports, checked to be reports of this protocol."""
        return Reports.of(reports, self).values

    def _blocks(self, values: npt.NDArray[Any], rows: int) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield where each block of reports starts, and the block without gaps, as the kernels want it."""
        if values.dtype != self.layout.dtype:
            values = self.layout.checked(values)
        for start in range(0, len(values), rows):
            yield start, np.ascontiguousarray(values[start : start + rows])

    def _require(self, right: bool) -> None:  # noqa: FBT001 - what a kernel says of its reports
        """Refuse reports that a kernel found to be others than the layout has."""
        if not right:
            must_be = f"reports of {self!r}, {self.layout.described}"
            raise InvalidParameterError(
                "reports", owner=type(self).__name__, must_be=must_be, got="something else"
            )

    def outputs(self) -> Reports:
        """Return every report there can be, one each, where they are few.

        Raises
        ------
        LimitExceededError
            If there are too many different reports.
        """
        return Reports._drawn(self._outputs(), self, simulated=True)  # noqa: SLF001 - made here

    # --- what a protocol defines ----------------------------------------------------------------

    @abstractmethod
    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]: ...

    @abstractmethod
    def _outputs(self) -> npt.NDArray[Any]: ...


def draw_reports(protocol: Protocol, codes: npt.NDArray[Any], source: Source) -> Reports:
    """Return one report for each of some checked codes, for whoever has charged them already."""
    streams = frozenset() if source.place is None else frozenset((source.place,))
    values = protocol._privatize(codes, source)  # noqa: SLF001 - of this file
    return Reports._drawn(values, protocol, simulated=source.simulated, streams=streams)  # noqa: SLF001 - made here
