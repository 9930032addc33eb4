"""The exact law of a protocol: probabilities, guarantee, variance, description, and the server's estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, Field, dataclass, fields
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._notebook import figures_html
from evenhand._validate import integer
from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.protocols.channel import Channel, MatrixChannel
from evenhand.collect.protocols.codes import check_numbers
from evenhand.collect.protocols.describe import (
    count_text,
    epsilon_literal,
    figures_text,
    probability_text,
)
from evenhand.collect.protocols.probabilities import realised_epsilon, require_private
from evenhand.errors import EvenhandError, LimitExceededError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import Number, as_text, exact, round_up, text_above

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.probabilities import Floats, Ideal
    from evenhand.collect.reports.layouts import Layout

VALUES_PUBLIC = "the values a person may have are public"
"""What a guarantee assumes of the domain."""

TAKES_PART = "whether a person reports does not depend on the values reported"
"""What it assumes of who reports: whoever knows the list of people sees who does not."""

FRESH = "each report uses fresh randomness"
"""What it assumes of the draw."""

MOST_INDICATOR_BYTES = 1 << 31
"""Most bytes of an array of indicators, unless more are allowed."""

_TIGHT = Fraction(1, 10**12)
_NOTED = Fraction(1, 10**6)  # a share of epsilon lost to rounding that is worth a smaller claim
_MOST_CELLS = 1 << 22  # of a transition matrix
_CHUNK_BYTES = 1 << 26


@dataclass(frozen=True, init=False, repr=False)
class ExactLaw(ABC):
    """What a report of a protocol says, with exact probabilities, what it promises, and what a server counts.

    This is the part of :class:`~evenhand.collect.protocols.base.Protocol` that draws nothing.
    """

    name: ClassVar[str]
    """The protocol's name in plans and files."""
    title: ClassVar[str]
    """The protocol's name in words."""
    most_values: ClassVar[int] = 2**31 - 1
    """How many values there may be."""
    is_among_best: ClassVar[bool] = False
    """Whether the name ``auto`` compares this protocol with others."""

    k: int
    epsilon: Fraction

    def __init__(self, k: int, epsilon: Number) -> None:
        owner = type(self).__name__
        self._set(
            k=integer("k", k, owner=owner, low=2, high=self.most_values),
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
    def of_size(cls, k: int, epsilon: Number, **parameters: Any) -> Self:
        """Return the protocol for `k` values and `epsilon`, where these say all that must be known.

        This is what a protocol's name stands for in a plan or a strategy.

        Raises
        ------
        InvalidParameterError
            If the protocol needs to know more.
        """
        return cls(k, epsilon, **parameters)

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal | None:  # noqa: ARG003 - for protocols that have a formula
        """Return p, q and the variance at share zero in floats, for arrays of one shape.

        ``None``: there is no formula, and no budget is split by this protocol's variance.
        """
        return None

    @classmethod
    def log_gain(cls, k: Floats, epsilon: Floats) -> Floats | None:  # noqa: ARG003 - as above
        """Return the logarithm of minus the derivative of the variance of :meth:`ideal` in epsilon.

        ``None``: the variance is not known to be smooth and convex, and an optimal split is searched on
        a grid.
        """
        return None

    # --- probabilities and what they promise ------------------------------------------------------

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

    def both_supported(self) -> tuple[Fraction, Fraction] | None:
        """Return the probabilities that a report supports two given values: one of them true, and neither.

        ``None``: they depend on which values they are, and covariances are counted from the reports.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> GRR(k=5, epsilon=1).both_supported()
        (Fraction(0, 1), Fraction(0, 1))
        """
        return None

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
        """The epsilon of the probabilities as drawn: at most `epsilon`, and often slightly below it."""
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
        shares = check_numbers("f", f, 0.0, 1.0, "a share, or an array of shares, from 0 to 1")
        people = check_numbers("n", n, 1.0, np.inf, "a number of people, or an array of such, of at least 1")
        p, q = self.p_exact, self.q_exact
        at_zero = float(q * (1 - q) / (p - q) ** 2)
        slope = float((p * (1 - p) - q * (1 - q)) / (p - q) ** 2)
        variance = (at_zero + shares * slope) / people
        return float(variance) if np.ndim(variance) == 0 else variance

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

    @cached_property
    def layout(self) -> Layout:
        """How reports look in memory, in Arrow and in JSON."""
        return self._layout()

    # --- the server ----------------------------------------------------------------------------------

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

    def estimate(self, reports: Any, *, labels: Sequence[Any] | None = None) -> Frequencies:
        """Estimate what share of the people has each value; `labels` say what the values are called."""
        values = self._values(reports)
        return self.estimate_from_counts(self._counts(values), len(values), labels=labels)

    def estimate_from_counts(
        self, counts: npt.ArrayLike, n: int, *, labels: Sequence[Any] | None = None
    ) -> Frequencies:
        """Estimate from how many of `n` reports support each value, which is all that an estimate needs."""
        return Frequencies(counts, n=n, protocol=self, labels=labels)

    @abstractmethod
    def _values(self, reports: Any) -> npt.NDArray[Any]:
        """Return the array of the reports, checked to be reports of this protocol."""

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
    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]: ...

    @abstractmethod
    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]: ...

    @abstractmethod
    def _law(self) -> npt.NDArray[Any]: ...

    def _check_few(self, outputs: int) -> None:
        if outputs * self.k > _MOST_CELLS:
            raise self._cells_error(
                f"{outputs:,}" if outputs < 1 << 62 else f"about 2**{outputs.bit_length() - 1}"
            )

    def _cells_error(self, columns: str) -> LimitExceededError:
        return LimitExceededError(
            f"The matrix of {self!r} would have {self.k:,} rows and {columns} columns, "
            f"more than {_MOST_CELLS:,} cells. Hint: p_exact and q_exact hold at any size.",
            limit="cells",
        )

    # --- records --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file; :func:`evenhand.collect.protocol_from` reads them back."""
        return {"protocol": self.name} | {
            field.name: _plain_value(getattr(self, field.name)) for field in fields(self)
        }

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        """Return the protocol of a record whose names are checked; for :func:`protocol_from`."""
        return cls(**values)

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield what :meth:`describe` says of the law, each with its figure."""
        yield "supports the true value", f"p = {probability_text(self.p_exact)}"
        yield "supports another value", f"q = {probability_text(self.q_exact)}"
        yield "guarantee", self._guarantee_text()
        yield "variance at f = 0", f"{self.variance():.5g} / n"

    def describe(self) -> str:
        """Return the protocol's figures as a few lines of text."""
        return figures_text(f"{self!r}: {self.title}", self._all_figures())

    def _repr_html_(self) -> str:
        try:
            return figures_html(f"{self!r}: {self.title}", self._all_figures())
        except EvenhandError:  # it has no figures, because it cannot draw
            return f"<pre>{escape(repr(self))}</pre>"

    def _all_figures(self) -> list[tuple[str, str]]:
        bits, size = self.bits_per_report, self.layout.bytes_per_report
        return [
            *self.figures(),
            ("size of a report", f"{count_text(bits, 'bit')}; {count_text(size, 'byte')} in a file"),
        ]

    def _guarantee_text(self) -> str:
        kind = "tight" if self.tight else "bound"
        return f"epsilon = {text_above(self.claimed_epsilon)}, pure, local, for one report, {kind}"

    def __repr__(self) -> str:
        names = [field.name for field in fields(self) if self._differs_from_default(field)]
        shown = {name: repr(getattr(self, name)) for name in names} | {
            "epsilon": epsilon_literal(self.epsilon)
        }
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in shown.items())})"

    def _differs_from_default(self, field: Field[Any]) -> bool:
        return field.default is MISSING or getattr(self, field.name) != field.default


def _plain_value(value: object) -> Any:
    """Return a parameter as JSON has it: rationals as text, tuples as lists."""
    if isinstance(value, Fraction):
        return as_text(value)
    return [_plain_value(item) for item in value] if isinstance(value, tuple) else value
