"""Unary encoding: one bit per value, each flipped on its own."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.collect.base import Protocol
from evenhand.collect.codes import checked_codes
from evenhand.collect.dyadic import GRID, exp_above, round_up
from evenhand.collect.layouts import BitsLayout
from evenhand.errors import InvalidParameterError
from evenhand.privacy.feeding import feed

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

__all__ = ["OUE", "RAPPOR", "Unary"]

_BITS = 1 << 22  # drawn at a time
_REPORTS = 1 << 17  # made at a time
_STRIP = 1 << 12  # bytes of a report counted at a time
_CHUNK = 1 << 20  # bytes counted at a time


@dataclass(frozen=True, init=False, repr=False)
class Unary(Protocol):
    """Base of the protocols that send one bit per value, the true one set with p, the others with q.

    Reports are rows of bytes; value ``v`` is bit ``v % 8``, from the low end, of byte ``v // 8``. A subclass
    gives p and q in ``_bit_probabilities``, as multiples of 2**-53 rounded toward privacy.
    """

    @abstractmethod
    def _bit_probabilities(self) -> tuple[Fraction, Fraction]: ...

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        p, q = self._bit_probabilities()
        if p <= q:
            raise InvalidParameterError(
                "epsilon",
                owner=type(self).__name__,
                must_be="large enough that a bit can tell two values apart with probabilities of 53 bits",
                got=str(self.epsilon),
            )
        return p, q

    def _worst_ratio(self) -> Fraction:
        p, q = self.p_exact, self.q_exact
        return p * (1 - q) / (q * (1 - p))

    def _bits(self) -> int:
        return self.k

    def _layout(self) -> BitsLayout:
        return BitsLayout(self.k)

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        from evenhand.collect import _kernels_bits  # noqa: PLC0415 - starts the compiler

        out = np.empty((codes.size, -(-self.k // 8)), dtype=np.uint8)
        rows = max(1, min(codes.size, _REPORTS, _BITS // self.k))
        room = np.empty(_words_for(rows * self.k), dtype=np.uint64)
        for start in range(0, codes.size, rows):
            block = codes[start : start + rows].astype(np.uint32)
            checked_codes(block, self.k, owner=type(self).__name__)  # once more: the kernel writes by them
            false_bits = room[: _words_for(block.size * self.k)]
            true_bits = np.empty(_words_for(block.size), dtype=np.uint64)
            _draw_bits(false_bits, self.q_exact, source)
            _draw_bits(true_bits, self.p_exact, source)
            _kernels_bits.fill_rows(false_bits, true_bits, block, self.k, out[start : start + rows])
        return out

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        parts = [_column_sums(values[:, at : at + _STRIP]) for at in range(0, values.shape[1], _STRIP)]
        return np.concatenate(parts)[: self.k]

    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        return np.unpackbits(values, axis=1, count=self.k, bitorder="little")

    def _law(self) -> npt.NDArray[Any]:
        bits = self._indicators(self._outputs())
        others = bits.sum(axis=1)[None, :] - bits.T  # bits set besides the true one
        p, q = self.p_exact, self.q_exact
        powers = np.array([q**m * (1 - q) ** (self.k - 1 - m) for m in range(self.k)], dtype=object)
        true = np.array([1 - p, p], dtype=object)
        return np.asarray(true[bits.T] * powers[others])

    def _outputs(self) -> npt.NDArray[Any]:
        self._check_few(1 << min(self.k, 62))
        numbers = np.arange(1 << self.k, dtype="<u4")
        return numbers.view(np.uint8).reshape(-1, 4)[:, : -(-self.k // 8)].copy()


@dataclass(frozen=True, init=False, repr=False)
class RAPPOR(Unary):
    r"""Flip every bit with the same probability (symmetric unary encoding, the one-time RAPPOR).

    .. math:: p = \frac{e^{\varepsilon/2}}{e^{\varepsilon/2} + 1}, \qquad q = 1 - p

    where :math:`\varepsilon` is ``epsilon``, :math:`p` is the probability that the bit of the true value is
    set and :math:`q` the one for every other bit. A report supports the values whose bits are set.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight (met by the
    reports in which the bits of two values differ). Assumes that the values are public and each report uses
    fresh randomness. Numerics: exact. May be used for release.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.

    Notes
    -----
    :math:`q` is rounded up to a multiple of :math:`2^{-53}` and :math:`p` is what is left of 1, so the ratio
    :math:`p (1 - q) / (q (1 - p))` never exceeds :math:`e^\varepsilon`. Above epsilon of about 73 the grid is
    too coarse for the ratio asked for: the report is then more private than asked, and `guarantee` says how
    much. The Bloom filter and the memoised answers of [1]_ are left out: every value has a bit of its own.

    References
    ----------
    .. [1] Erlingsson, Pihur, Korolova (2014). RAPPOR: randomized aggregatable privacy-preserving ordinal
           response. ACM CCS.

    Examples
    --------
    >>> rappor = RAPPOR(k=10, epsilon=1)
    >>> f"{rappor.p:.4f} {rappor.variance():.4f}"
    '0.6225 3.9177'
    """

    name: ClassVar[str] = "rappor"
    title: ClassVar[str] = "symmetric unary encoding"

    def _bit_probabilities(self) -> tuple[Fraction, Fraction]:
        shrunk = exp_above(-self.epsilon / 2)
        q = round_up(shrunk / (1 + shrunk))
        return 1 - q, q


@dataclass(frozen=True, init=False, repr=False)
class OUE(Unary):
    r"""Set the true bit with probability one half and the others rarely (optimized unary encoding).

    .. math:: p = \frac12, \qquad q = \frac{1}{e^\varepsilon + 1}

    where :math:`\varepsilon` is ``epsilon``, :math:`p` is the probability that the bit of the true value is
    set and :math:`q` the one for every other bit. A report supports the values whose bits are set.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight (met by the
    reports in which the bits of two values differ). Assumes that the values are public and each report uses
    fresh randomness. Numerics: exact. May be used for release.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.

    Notes
    -----
    :math:`q` is rounded up to a multiple of :math:`2^{-53}` and :math:`p` needs no rounding, so the ratio
    :math:`p (1 - q) / (q (1 - p))` never exceeds :math:`e^\varepsilon`. Above epsilon of about 36 the grid is
    too coarse for the ratio asked for: the report is then more private than asked, and `guarantee` says how
    much.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha (2017). Locally differentially private protocols for frequency estimation.
           USENIX Security. Optimized unary encoding.

    Examples
    --------
    >>> oue = OUE(k=10, epsilon=1)
    >>> f"{oue.p} {oue.q:.4f} {oue.variance():.4f}"
    '0.5 0.2689 3.6827'
    """

    name: ClassVar[str] = "oue"
    title: ClassVar[str] = "optimized unary encoding"

    def _bit_probabilities(self) -> tuple[Fraction, Fraction]:
        shrunk = exp_above(-self.epsilon)
        return Fraction(1, 2), round_up(shrunk / (1 + shrunk))


def _words_for(bits: int) -> int:
    """Return how many words, in whole groups, hold so many bits and the word to spare for the kernel."""
    from evenhand.collect import _kernels_bits  # noqa: PLC0415 - starts the compiler

    return -(-(bits + 64) // (64 * _kernels_bits.GROUP)) * _kernels_bits.GROUP


def _draw_bits(out: npt.NDArray[np.uint64], probability: Fraction, source: Source) -> None:
    """Fill words with independent bits, each 1 with a probability that is a multiple of 2**-53 below 1."""
    from evenhand.collect import _kernels_bits  # noqa: PLC0415 - starts the compiler

    places, tail = divmod((probability * GRID).numerator, 1 << 45)
    digits = np.array([-(places >> place & 1) for place in range(7, -1, -1)]).astype(np.uint64)
    open_ = np.empty(_kernels_bits.GROUP, dtype=np.uint64)
    listed = np.empty(_kernels_bits.GROUP, dtype=np.int64)
    parameters = (digits, np.uint64(tail), open_, listed)
    feed(_kernels_bits.bernoulli_words, out, parameters, source, units=np.uint64, words=8.25 if tail else 8.0)


def _column_sums(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return how many rows have each bit set, the low bit of each byte first.

    Several short rows count as one long one, whose columns are added up at the end.
    """
    from evenhand.collect import _kernels_bits  # noqa: PLC0415 - starts the compiler

    n, width = values.shape
    step = 8 // math.gcd(8, width)
    together = step * max(1, -(-256 // (step * width)))
    words, rows = together * width // 8, together * _kernels_bits.ROWS
    fields, counters = np.empty((4, words), dtype=np.uint64), np.empty((8, words), dtype=np.uint64)
    totals = np.zeros((8, 8 * words), dtype=np.int64)
    chunk = rows * max(1, _CHUNK // (rows * width))
    for start in range(0, n, chunk):
        block = np.ascontiguousarray(values[start : start + chunk])
        missing = -len(block) % rows
        if missing:  # rows of noughts add nothing
            block = np.concatenate((block, np.zeros((missing, width), dtype=np.uint8)))
        seen = block.reshape(-1).view(np.uint64)
        seen = seen if seen.flags.aligned else seen.copy()
        _kernels_bits.add_columns(seen.reshape(-1, _kernels_bits.ROWS, words), fields, counters, totals)
    return np.asarray(totals.reshape(8, together, width).sum(axis=1).T.reshape(-1))
