"""What every protocol of local collection has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, Field, dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._validate import integer
from evenhand.collect.codes import checked_codes
from evenhand.collect.dyadic import realised_epsilon, require_private
from evenhand.collect.estimate import Frequencies
from evenhand.collect.reports import Reports
from evenhand.errors import LimitExceededError
from evenhand.privacy.guarantee import Guarantee
from evenhand.privacy.randomness import Source, source_from
from evenhand.privacy.rational import Number, exact, round_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from evenhand.collect.layouts import Layout

__all__ = ["Protocol"]

_TIGHT = Fraction(1, 10**12)
_NOTED = Fraction(1, 10**6)  # a share of epsilon lost to rounding that is worth a smaller claim
_MOST_CELLS = 1 << 22  # of a transition matrix
_MOST_BYTES = 1 << 31  # of an array of indicators
_LARGEST_DOMAIN = 2**31 - 1


@dataclass(frozen=True, init=False, repr=False)
class Protocol(ABC):
    r"""A way to report one of `k` values under local differential privacy.

    A report *supports* some of the values. With :math:`p` the probability that it supports the true value
    and :math:`q` the probability that it supports any other given value, both as they are drawn,
    the share of people with value :math:`v` is estimated without bias by

    .. math:: \hat f_v = \frac{C_v / n - q}{p - q}

    where :math:`C_v` of the :math:`n` reports support :math:`v`.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0. ``0.1`` and ``"1/10"`` mean one tenth exactly.
    """

    name: ClassVar[str]
    """The protocol's name in plans and files."""
    title: ClassVar[str]
    """The protocol's name in words."""

    k: int
    epsilon: Fraction

    def __init__(self, k: int, epsilon: Number) -> None:
        owner = type(self).__name__
        self._set(
            k=integer("k", k, owner=owner, low=2, high=_LARGEST_DOMAIN),
            epsilon=exact(epsilon, name="epsilon", owner=owner, above=0, most=1_000_000),
        )

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def example(cls, k: int = 5, epsilon: Number = 1) -> Self:
        """Return a protocol of this class for `k` values and `epsilon`."""
        return cls(k=k, epsilon=epsilon)

    # --- the law --------------------------------------------------------------------------------

    @cached_property
    def p_exact(self) -> Fraction:
        """Probability that a report supports the true value, exactly as drawn."""
        return self._probabilities()[0]

    @cached_property
    def q_exact(self) -> Fraction:
        """Probability that a report supports a given other value, exactly as drawn."""
        return self._probabilities()[1]

    @cached_property
    def worst_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two values, exactly as drawn."""
        return self._worst_ratio()

    @property
    def p(self) -> float:
        """Probability that a report supports the true value."""
        return float(self.p_exact)

    @property
    def q(self) -> float:
        """Probability that a report supports a given other value."""
        return float(self.q_exact)

    @cached_property
    def bits_per_report(self) -> int:
        """How many bits one report needs."""
        return self._bits()

    @cached_property
    def realised_epsilon(self) -> Fraction:
        """The epsilon of the probabilities as drawn: at most `epsilon`, and often a hair below it."""
        ratio = require_private(self.worst_ratio, self.epsilon, owner=type(self).__name__)
        return realised_epsilon(ratio)

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises."""
        return self.guarantee_for()

    def guarantee_for(self, *, protects: Sequence[str] = (), in_clear: Sequence[str] = ()) -> Guarantee:
        """Return what one report promises about the columns named."""
        claimed = self.epsilon
        if claimed - self.realised_epsilon > _NOTED * claimed:
            claimed = min(claimed, round_up(self.realised_epsilon, digits=15))
        return Guarantee(
            epsilon=claimed,
            unit="one report",
            trust="local",
            protects=protects,
            in_clear=in_clear,
            tight=claimed - self.realised_epsilon <= _TIGHT,
            proof=self.title,
            assumptions=("the values a person may have are public", "each report uses fresh randomness"),
        )

    def variance(self, f: npt.ArrayLike = 0.0, n: int = 1) -> Any:
        r"""Return the variance of the estimated share of a value.

        .. math:: \frac{q(1-q) + f\,(p(1-p) - q(1-q))}{n\,(p-q)^2}

        Parameters
        ----------
        f : float or array
            The true share of the value among the people who report.
        n : int
            How many people report.
        """
        p, q = self.p_exact, self.q_exact
        at_zero = float(q * (1 - q) / (p - q) ** 2)
        slope = float((p * (1 - p) - q * (1 - q)) / (p - q) ** 2)
        found = (at_zero + np.asarray(f, dtype=float) * slope) / n
        return float(found) if found.ndim == 0 else found

    def matrix(self, *, exact: bool = False) -> npt.NDArray[Any]:
        """Return the probability of every report (column) under every value (row).

        The columns are in the order of :meth:`outputs`.

        Parameters
        ----------
        exact : bool
            Return Fractions, exactly as drawn, instead of floats.

        Raises
        ------
        LimitExceededError
            If there are too many different reports.
        """
        law = self._law()
        return law if exact else law.astype(float)

    def outputs(self) -> Reports:
        """Return every report there can be, one each, where they are few."""
        return Reports(self._outputs(), protocol=self, simulated=True)

    @cached_property
    def layout(self) -> Layout:
        """How reports look in memory, in Arrow and in JSON."""
        return self._layout()

    # --- people and server ----------------------------------------------------------------------

    def privatize(self, codes: Any, *, rng: Any = None) -> Reports:
        """Return one report for each person.

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
        """
        source = source_from(rng)
        values = self._privatize(
            checked_codes(codes, self.k, owner=f"{type(self).__name__}.privatize"), source
        )
        return Reports(values, protocol=self, simulated=source.simulated)

    def counts(self, reports: Any) -> npt.NDArray[np.int64]:
        """Return how many reports support each value."""
        return self._counts(self._values(reports))

    def indicators(self, reports: Any) -> npt.NDArray[np.uint8]:
        """Return an array of one row per report and one column per value: 1 where it supports the value.

        Raises
        ------
        LimitExceededError
            If the array would take more than 2 GiB; :meth:`indicator_chunks` gives it in parts.
        """
        values = self._values(reports)
        if len(values) * self.k > _MOST_BYTES:
            raise LimitExceededError(
                f"Indicators of {len(values):,} reports by {self.k:,} values would take "
                f"{len(values) * self.k / 2**30:,.1f} GiB, more than {_MOST_BYTES // 2**30} GiB. "
                "Hint: estimate(reports) needs none of it; indicator_chunks(reports) gives it in parts.",
                limit="bytes",
            )
        return self._indicators(values)

    def indicator_chunks(self, reports: Any, *, rows: int | None = None) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the indicators of one block of reports after the other.

        Parameters
        ----------
        rows : int, optional
            How many reports a block has; by default as many as take 64 MiB.
        """
        values = self._values(reports)
        default = max(1, (1 << 26) // self.k)
        step = default if rows is None else integer("rows", rows, owner="indicator_chunks", low=1)
        for start in range(0, len(values), step):
            yield self._indicators(values[start : start + step])

    def estimate(self, reports: Any) -> Frequencies:
        """Estimate what share of the people has each value."""
        values = self._values(reports)
        return Frequencies(self._counts(values), n=len(values), protocol=self)

    def _values(self, reports: Any) -> npt.NDArray[Any]:
        """Return the array of the reports, checked to be reports of this protocol."""
        return Reports.of(reports, self).values

    # --- what a protocol defines ----------------------------------------------------------------

    @abstractmethod
    def _probabilities(self) -> tuple[Fraction, Fraction]:
        """Return p and q as drawn."""

    @abstractmethod
    def _worst_ratio(self) -> Fraction: ...

    @abstractmethod
    def _bits(self) -> int: ...

    @abstractmethod
    def _layout(self) -> Layout: ...

    @abstractmethod
    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]: ...

    @abstractmethod
    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]: ...

    @abstractmethod
    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]: ...

    @abstractmethod
    def _law(self) -> npt.NDArray[Any]: ...

    @abstractmethod
    def _outputs(self) -> npt.NDArray[Any]: ...

    def _check_few(self, outputs: int) -> None:
        if outputs * self.k > _MOST_CELLS:
            raise LimitExceededError(
                f"The matrix of {self!r} would have {self.k:,} rows and {outputs:,} columns, "
                f"more than {_MOST_CELLS:,} cells. Hint: p_exact and q_exact hold at any size.",
                limit="cells",
            )

    # --- records --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file; :func:`evenhand.collect.protocol_from` reads them back."""
        record = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"protocol": self.name} | record | {"epsilon": str(self.epsilon)}

    def __repr__(self) -> str:
        told = [each.name for each in fields(self) if self._is_told(each)]
        shown = {each: repr(getattr(self, each)) for each in told} | {"epsilon": _shown(self.epsilon)}
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in shown.items())})"

    def _is_told(self, field: Field[Any]) -> bool:
        return field.default is MISSING or getattr(self, field.name) != field.default


def _shown(epsilon: Fraction) -> str:
    """Write epsilon as Python would take it: 1, 0.5 or '1/3'."""
    if epsilon.denominator == 1:
        return str(epsilon.numerator)
    decimal = float(epsilon)
    return repr(decimal) if Fraction(repr(decimal)) == epsilon else repr(str(epsilon))
