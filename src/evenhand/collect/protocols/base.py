"""What every protocol of local collection has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, Field, dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._validate import integer
from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.protocols.assumptions import FRESH, TAKES_PART, VALUES_PUBLIC
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.codes import checked_codes
from evenhand.collect.protocols.describe import guarantee_text, probability_text, protocol_html, protocol_text
from evenhand.collect.protocols.dyadic import realised_epsilon, require_private
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.randomness import Source, source_from
from evenhand.privacy.rational import Number, as_text, exact, round_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.matrix_channel import MatrixChannel
    from evenhand.collect.reports.layouts import Layout

__all__ = ["MOST_INDICATOR_BYTES", "Protocol", "between", "shown_epsilon"]

MOST_INDICATOR_BYTES = 1 << 31
"""Most bytes of an array of indicators, unless more are allowed."""

_TIGHT = Fraction(1, 10**12)
_NOTED = Fraction(1, 10**6)  # a share of epsilon lost to rounding that is worth a smaller claim
_MOST_CELLS = 1 << 22  # of a transition matrix
_CHUNK_BYTES = 1 << 26
_LARGEST_DOMAIN = 2**31 - 1


@dataclass(frozen=True, init=False, repr=False)
class Protocol(ABC):
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

    name: ClassVar[str]
    """The protocol's name in plans and files."""
    title: ClassVar[str]
    """The protocol's name in words."""
    most_values: ClassVar[int] = _LARGEST_DOMAIN
    """How many values there may be."""

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

    @classmethod
    def of_size(cls, k: int, epsilon: Number, **parameters: Any) -> Protocol:
        """Return the protocol for `k` values and `epsilon`, where these say all that must be known.

        This is what a protocol's name stands for in a plan or a strategy.

        Raises
        ------
        InvalidParameterError
            If the protocol needs to know more.
        """
        return cls(k, epsilon, **parameters)

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
    def channel(self) -> Channel | MatrixChannel:
        """What an estimate needs to know of the law: one p and one q, or a whole matrix.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> f"{GRR(k=5, epsilon=1).channel.width:.4f}"
        '0.2558'
        """
        return Channel(self.p_exact, self.q_exact)

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
        return min(self.epsilon, realised_epsilon(ratio))

    @property
    def claimed_epsilon(self) -> Fraction:
        """The epsilon that `guarantee` claims: `epsilon`, or less where the reports have noticeably less."""
        if self.epsilon - self.realised_epsilon > _NOTED * self.epsilon:
            return min(self.epsilon, round_up(self.realised_epsilon, digits=15))
        return self.epsilon

    @property
    def tight(self) -> bool:
        """Whether some report attains `claimed_epsilon`, to twelve digits."""
        return self.claimed_epsilon - self.realised_epsilon <= _TIGHT

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises."""
        return self.guarantee_for()

    def guarantee_for(self, *, protects: Sequence[str] = (), in_clear: Sequence[str] = ()) -> Guarantee:
        """Return what one report promises about the columns named.

        Parameters
        ----------
        protects : sequence of str
            The columns whose value is reported.
        in_clear : sequence of str
            The columns that are sent as they are.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> print(GRR(k=5, epsilon=1).guarantee_for(protects=["race"], in_clear=["income"]))
        Seeing one report can change the odds between any two values of race
        by at most a factor of 2.72 (epsilon = 1, pure, unit: one report, trust: local; tight,
        by generalized randomized response). In the clear, and so not protected: income.
        Assumes: the values a person may have are public; whether a person reports does
        not depend on the values reported; each report uses fresh randomness.
        """
        return Guarantee(
            epsilon=self.claimed_epsilon,
            unit="one report",
            trust="local",
            protects=protects,
            in_clear=in_clear,
            tight=self.tight,
            proof=self.title,
            assumptions=self._assumptions(),
        )

    def _assumptions(self) -> tuple[str, ...]:
        return (VALUES_PUBLIC, TAKES_PART, FRESH)

    def variance(self, f: npt.ArrayLike | None = 0.0, n: npt.ArrayLike = 1) -> Any:
        r"""Return the variance of the estimated share of a value.

        .. math:: \frac{q(1-q) + f\,(p(1-p) - q(1-q))}{n\,(p-q)^2}

        Parameters
        ----------
        f : float or array
            The true share of the value among the people who report, 0 to 1.
        n : number or array
            How many people report, at least 1.

        Returns
        -------
        float or array
            A float if `f` and `n` are numbers, else an array of their common shape.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> f"{GRR(k=10, epsilon=1).variance(f=0.2, n=1000):.7f}"
        '0.0045614'
        """
        shares = between("f", f, 0.0, 1.0, "a share, or an array of shares, from 0 to 1")
        people = between("n", n, 1.0, np.inf, "a number of people, or an array of such, of at least 1")
        p, q = self.p_exact, self.q_exact
        at_zero = float(q * (1 - q) / (p - q) ** 2)
        slope = float((p * (1 - p) - q * (1 - q)) / (p - q) ** 2)
        found = (at_zero + shares * slope) / people
        return float(found) if np.ndim(found) == 0 else found

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

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> GRR(k=3, epsilon=1).matrix().round(3)
        array([[0.576, 0.212, 0.212],
               [0.212, 0.576, 0.212],
               [0.212, 0.212, 0.576]])
        """
        law = self._law()
        return law if exact else law.astype(float)

    def outputs(self) -> Reports:
        """Return every report there can be, one each, where they are few.

        Raises
        ------
        LimitExceededError
            If there are too many different reports.
        """
        return Reports._drawn(self._outputs(), self, simulated=True)  # noqa: SLF001 - made here

    @cached_property
    def layout(self) -> Layout:
        """How reports look in memory, in Arrow and in JSON."""
        return self._layout()

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
            raise self._too_many_cells(
                f"{outputs:,}" if outputs < 1 << 62 else f"about 2**{outputs.bit_length() - 1}"
            )

    def _too_many_cells(self, columns: str) -> LimitExceededError:
        return LimitExceededError(
            f"The matrix of {self!r} would have {self.k:,} rows and {columns} columns, "
            f"more than {_MOST_CELLS:,} cells. Hint: p_exact and q_exact hold at any size.",
            limit="cells",
        )

    # --- records --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file; :func:`evenhand.collect.protocol_from` reads them back."""
        return {"protocol": self.name} | {
            each.name: _plain(getattr(self, each.name)) for each in fields(self)
        }

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        """Return the protocol of a record whose names are checked; for :func:`protocol_from`."""
        return cls(**values)

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield what :meth:`describe` says of the law, each with its figure."""
        yield "supports the true value", f"p = {probability_text(self.p_exact)}"
        yield "supports another value", f"q = {probability_text(self.q_exact)}"
        yield "guarantee", guarantee_text(self)
        yield "variance at f = 0", f"{self.variance():.5g} / n"

    def describe(self) -> str:
        """Return the protocol's figures as a few lines of text."""
        return protocol_text(self)

    def _repr_html_(self) -> str:
        return protocol_html(self)

    def __repr__(self) -> str:
        told = [each.name for each in fields(self) if self._is_told(each)]
        shown = {each: repr(getattr(self, each)) for each in told} | {"epsilon": shown_epsilon(self.epsilon)}
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in shown.items())})"

    def _is_told(self, field: Field[Any]) -> bool:
        return field.default is MISSING or getattr(self, field.name) != field.default


def shown_epsilon(epsilon: Fraction) -> str:
    """Write epsilon as Python would take it: 1, 0.5 or '1/3'."""
    if epsilon.denominator == 1:
        return str(epsilon.numerator)
    decimal = float(epsilon)
    return repr(decimal) if Fraction(repr(decimal)) == epsilon else repr(str(epsilon))


def _plain(value: object) -> Any:
    """Return a parameter as JSON has it: rationals as text, tuples as lists."""
    if isinstance(value, Fraction):
        return as_text(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def between(name: str, given: object, low: float, high: float, must_be: str) -> npt.NDArray[Any]:
    """Return numbers as an array if all are finite and from `low` to `high`, else refuse them."""
    try:
        numbers = np.asarray(given, dtype=float)  # nothing becomes NaN
        right = bool(((numbers >= low) & (numbers <= high) & np.isfinite(numbers)).all())
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        got = given if isinstance(given, int | float | str | None) else "something else"
        raise InvalidParameterError(name, owner="variance", must_be=must_be, got=got)
    return numbers
