"""What every protocol of local collection has in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer
from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.protocols.codes import checked_codes
from evenhand.collect.protocols.law import ExactLaw
from evenhand.collect.reports.reports import Reports
from evenhand.errors import LimitExceededError
from evenhand.privacy.randomness import Source, source_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt


__all__ = ["MOST_INDICATOR_BYTES", "Protocol"]

MOST_INDICATOR_BYTES = 1 << 31
"""Most bytes of an array of indicators, unless more are allowed."""

_CHUNK_BYTES = 1 << 26


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

    # --- people and server ----------------------------------------------------------------------

    def privatize(self, codes: Any, *, rng: Any = None) -> Reports:
        """Return one report for each person, in the order of `codes`; :meth:`Reports.write_parquet` shuffles.

        Parameters
        ----------
        codes : array of int
            Each person's value, 0 to ``k - 1``.
        rng : None, int, Generator or Source
            Nothing for the operating system's secure source. Anything else makes a simulation.

        Raises
        ------
        InvalidParameterError
            If the codes are not whole numbers of the domain. Nothing is drawn then.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> GRR(k=5, epsilon=1).privatize([0, 3, 4])
        <3 reports of GRR(k=5, epsilon=1)>
        """
        source = source_from(rng)
        values = self._privatize(
            checked_codes(codes, self.k, owner=f"{type(self).__name__}.privatize"), source
        )
        return Reports._drawn(values, self, simulated=source.simulated)  # noqa: SLF001 - made here

    def counts(self, reports: Any) -> npt.NDArray[np.int64]:
        """Return how many reports support each value."""
        return self._counts(self._values(reports))

    def indicators(self, reports: Any, *, most_bytes: int = MOST_INDICATOR_BYTES) -> npt.NDArray[np.uint8]:
        """Return an array of one row per report and one column per value: 1 where it supports the value.

        Parameters
        ----------
        reports : Reports or array
            Reports of this protocol.
        most_bytes : int
            How many bytes the array may take, 2 GiB unless told.

        Raises
        ------
        LimitExceededError
            If the array would take more; :meth:`indicator_chunks` gives it in parts.

        Examples
        --------
        >>> import numpy as np
        >>> from evenhand.collect import GRR
        >>> GRR(k=3, epsilon=1).indicators(np.array([2, 0]))
        array([[0, 0, 1],
               [1, 0, 0]], dtype=uint8)
        """
        values = self._values(reports)
        most = integer("most_bytes", most_bytes, owner=f"{type(self).__name__}.indicators", low=0)
        if len(values) * self.k > most:
            raise LimitExceededError(
                f"Indicators of {len(values):,} reports by {self.k:,} values would take "
                f"{len(values) * self.k:,} bytes, more than {most:,}. Hint: estimate(reports) needs none of "
                "it; indicator_chunks(reports) gives it in parts; most_bytes=... allows more.",
                limit="most_bytes",
            )
        return self._indicators(values)

    def indicator_chunks(self, reports: Any, *, rows: int | None = None) -> Iterator[npt.NDArray[np.uint8]]:
        """Return an iterator over the indicators of one block of reports after the other.

        Parameters
        ----------
        reports : Reports or array
            Reports of this protocol.
        rows : int, optional
            How many reports a block has; by default as many as take 64 MiB.

        Examples
        --------
        >>> import numpy as np
        >>> from evenhand.collect import GRR
        >>> [block.shape for block in GRR(k=3, epsilon=1).indicator_chunks(np.array([2, 0, 1]), rows=2)]
        [(2, 3), (1, 3)]
        """
        values = self._values(reports)
        step = max(1, _CHUNK_BYTES // self.k)
        if rows is not None:
            step = integer("rows", rows, owner=f"{type(self).__name__}.indicator_chunks", low=1)
        starts = range(0, len(values), step)
        return (self._indicators(values[start : start + step]) for start in starts)

    def estimate(self, reports: Any) -> Frequencies:
        """Estimate what share of the people has each value."""
        values = self._values(reports)
        return Frequencies(self._counts(values), n=len(values), protocol=self)

    def _values(self, reports: Any) -> npt.NDArray[Any]:
        """Return the array of the reports, checked to be reports of this protocol."""
        return Reports.of(reports, self).values

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
    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]: ...

    @abstractmethod
    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]: ...

    @abstractmethod
    def _outputs(self) -> npt.NDArray[Any]: ...
