"""Generalized randomized response: say the truth with a known probability, else another value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.collect import kernels
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.protocols.probabilities import GRID, Ideal, exp_above, response_log_gain, round_up
from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.errors import InvalidParameterError
from evenhand.privacy.feeding import feed

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.collect.protocols.probabilities import Floats
    from evenhand.privacy.randomness import Source

_BLOCK = 1 << 20  # listed values that are counted at a time
_FEW = 1 << 14  # values whose several tables of counts stay in the cache


def flip_probability(k: int, epsilon: Fraction, *, owner: str) -> Fraction:
    r"""Return the probability of one given false value, :math:`1/(e^\varepsilon+k-1)` rounded up.

    What is left for the truth is :math:`1 - (k - 1)` times that.
    """
    shrunk = exp_above(-epsilon)
    other = round_up(shrunk / (1 + (k - 1) * shrunk))
    if 1 - (k - 1) * other <= other:
        raise InvalidParameterError(
            "epsilon",
            owner=owner,
            must_be=f"large enough that {k:,} values can be told apart with probabilities of 53 bits",
            got=str(epsilon),
            hint="use OUE or SS, whose probabilities do not shrink with the number of values.",
        )
    return other


class Listing(Protocol):
    """A protocol whose report lists one or several of the values, and supports those."""

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        tables = np.zeros((4 if self.k <= _FEW else 1, self.k), dtype=np.int64)
        for _, block in self._blocks(values, _rows_at_once(values)):
            self._require(kernels.response.add_counts(block.reshape(-1), tables))
        return np.asarray(tables.sum(axis=0))

    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        out = np.zeros((len(values), self.k), dtype=np.uint8)
        for start, block in self._blocks(values, _rows_at_once(values)):
            mark = kernels.response.mark if block.ndim == 1 else kernels.subset.indicate
            self._require(mark(block, out[start : start + len(block)]))
        return out


def _rows_at_once(values: npt.NDArray[Any]) -> int:
    """Return how many reports list as many values as are counted at a time."""
    return max(1, _BLOCK // math.prod(values.shape[1:]))


class Naming(Listing):
    """A protocol whose report says one of the values."""

    def _bits(self) -> int:
        return (self.k - 1).bit_length()

    def _layout(self) -> IntegerLayout:
        return IntegerLayout(self.k)

    def _outputs(self) -> npt.NDArray[Any]:
        self._check_few(self.k)
        return np.arange(self.k, dtype=code_type(self.k))


@dataclass(frozen=True, init=False, repr=False)
class GRR(Naming):
    r"""Say the true value with a known probability, otherwise another value (k-RR, direct encoding).

    .. math:: \Pr[y \mid v] = \begin{cases} e^\varepsilon / (e^\varepsilon + k - 1) & y = v \\
              1 / (e^\varepsilon + k - 1) & y \neq v \end{cases}

    where :math:`\varepsilon` is ``epsilon`` and :math:`k` is ``k``. A report supports the value it says.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight (met by the
    report that says the truth). Assumes that the values are public and each report uses fresh randomness.
    Numerics: exact. May be used for release.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.

    Notes
    -----
    The probability of each false value is rounded up to a multiple of :math:`2^{-53}`, and the truth gets
    what is left, so the ratio never exceeds :math:`e^\varepsilon`. Above epsilon of about 36 the grid is
    too coarse for the ratio asked for: the report is then more private than asked, and `guarantee` says how
    much.

    References
    ----------
    .. [1] Kairouz, Bonawitz, Ramage (2016). Discrete distribution estimation under local privacy. ICML.
    .. [2] Wang, Blocki, Li, Jha (2017). Locally differentially private protocols for frequency estimation.
           USENIX Security. Direct encoding.

    Examples
    --------
    >>> grr = GRR(k=10, epsilon=1)
    >>> f"{grr.p:.4f} {grr.q:.4f} {grr.variance():.4f}"
    '0.2320 0.0853 3.6302'
    >>> reports = grr.privatize([0, 3, 9], rng=7)
    >>> len(reports), grr.indicators(reports).shape
    (3, (3, 10))
    """

    name: ClassVar[str] = "grr"
    title: ClassVar[str] = "generalized randomized response"
    is_among_best: ClassVar[bool] = True

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal | None:
        """Return p, q and the variance at share zero in floats."""
        shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
        p = 1 / (1 + (k - 1) * shrunk)
        return Ideal(p, shrunk * p, shrunk * (1 + (k - 2) * shrunk) / gap**2)

    @classmethod
    def log_gain(cls, k: Floats, epsilon: Floats) -> Floats:
        """Return the logarithm of minus the derivative of the variance."""
        return response_log_gain(k, epsilon)

    def both_supported(self) -> tuple[Fraction, Fraction]:
        """Return zero twice: a report names one value."""
        return 0 * self.p_exact, 0 * self.p_exact

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        other = flip_probability(self.k, self.epsilon, owner="GRR")
        return 1 - (self.k - 1) * other, other

    def _worst_ratio(self) -> Fraction:
        return self.p_exact / self.q_exact

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        return respond(codes, self.k, self.p_exact, source)

    def _law(self) -> npt.NDArray[Any]:
        self._check_few(self.k)
        law = np.full((self.k, self.k), self.q_exact, dtype=object)
        np.fill_diagonal(law, self.p_exact)
        return law


def respond(codes: npt.NDArray[Any], k: int, keep: Fraction, source: Source) -> npt.NDArray[Any]:
    """Return each code with probability `keep`, else a uniform one of the others.

    Parameters
    ----------
    codes : array of int
        Whole numbers from 0 to ``k - 1``, checked by the caller.
    k : int
        How many values there are, at least 2.
    keep : Fraction
        A multiple of 2**-53 from 0 to 1.
    source : Source
        Where the randomness comes from.

    Notes
    -----
    Both parts of the law are exact: see ``kernels/response.py``. Within one call the reports do not depend
    on the type of the codes, nor on how many random words are asked for at a time.
    """
    out, read_only = answer_room(codes, k)
    law = np.array(_thresholds(k, keep), dtype=np.uint64)
    parameters = (read_only, law, np.empty(kernels.response.SPAN, dtype=np.uint32))
    feed(kernels.response.respond, out, parameters, source, units=np.uint32, words=0.5)
    return out


def answer_room(codes: npt.NDArray[Any], k: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return room for reports that name one of `k` values, and the codes in its type, which may be there."""
    kind = code_type(k)
    if codes.dtype == kind and codes.flags.c_contiguous:
        out, read_only = np.empty_like(codes), codes.view()
    else:
        out = codes.astype(kind)
        read_only = out.view()
    read_only.flags.writeable = False  # so that it has one type for the compiler, whatever the caller gives
    return out, read_only


def _thresholds(k: int, keep: Fraction) -> tuple[int, ...]:
    """Return the numbers that the kernel compares with: flip, cell, others, reciprocal, shift, limit."""
    flip = (1 - keep) * GRID
    if flip.denominator != 1 or not 0 <= flip <= GRID:
        raise InvalidParameterError("keep", owner="respond", must_be="a multiple of 2**-53", got=str(keep))
    others = k - 1
    cell = flip.numerator // others
    if cell <= 1 << 21:  # a unit may span two cells: every code that may be flipped goes the slow way
        return flip.numerator, cell, others, 0, 32, 0
    spare = 31 - ((GRID // cell).bit_length() - 1)
    reciprocal = (GRID << spare) // cell
    limit = max(0, (1 << (32 + spare)) - reciprocal - (1 << 32))
    return flip.numerator, cell, others, reciprocal, 32 + spare, limit
