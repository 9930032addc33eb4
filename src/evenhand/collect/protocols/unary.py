"""Unary encoding: one bit per value, each flipped on its own."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.collect import kernels
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.codes import check_codes, code_type
from evenhand.collect.protocols.probabilities import GRID, Ideal, exp_above, response_log_gain, round_up
from evenhand.collect.reports.layouts import BitsLayout
from evenhand.errors import InvalidParameterError
from evenhand.privacy.feeding import feed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from evenhand.collect.protocols.probabilities import Floats
    from evenhand.privacy.randomness import Source

_LEAST_USED = 8  # bits of values to each bit of padding, where reports are drawn padded
_BITS = 1 << 22  # cut at a time
_REPORTS = 1 << 18  # made at a time; 256 of any width fill whole groups of words
_STRIP = 1 << 12  # bytes of a report counted at a time
_CHUNK = 1 << 20  # bytes counted at a time
_LONG = 1 << 9  # bytes of several short reports that are counted as one


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

    def both_supported(self) -> tuple[Fraction, Fraction]:
        """Return the probabilities of two bits, which are independent."""
        return self.p_exact * self.q_exact, self.q_exact**2

    def _worst_ratio(self) -> Fraction:
        p, q = self.p_exact, self.q_exact
        return p * (1 - q) / (q * (1 - p))

    def _bits(self) -> int:
        return self.k

    def _layout(self) -> BitsLayout:
        return BitsLayout(self.k)

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        padding = -self.k % 8
        return (_draw_padded if _LEAST_USED * padding <= self.k else _draw_and_cut)(self, codes, source)

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        parts = [
            _column_sums(values[:, at : at + _STRIP], self.k - 8 * at)
            for at in range(0, values.shape[1], _STRIP)
        ]
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

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG003 - every formula has the same signature
        """Return p, q and the variance at share zero in floats."""
        shrunk, gap = np.exp(-epsilon / 2), -np.expm1(-epsilon / 2)
        return Ideal(1 / (1 + shrunk), shrunk / (1 + shrunk), shrunk / gap**2)

    @classmethod
    def log_gain(cls, k: Floats, epsilon: Floats) -> Floats:
        """Return the logarithm of minus the derivative of the variance."""
        return response_log_gain(np.full_like(k, 2.0), epsilon / 2) - math.log(2)

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
    is_among_best: ClassVar[bool] = True

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG003 - every formula has the same signature
        """Return p, q and the variance at share zero in floats."""
        shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
        return Ideal(np.full_like(epsilon, 0.5), shrunk / (1 + shrunk), 4 * shrunk / gap**2)

    @classmethod
    def log_gain(cls, k: Floats, epsilon: Floats) -> Floats:
        """Return the logarithm of minus the derivative of the variance."""
        return response_log_gain(np.full_like(k, 2.0), epsilon) + math.log(4)

    def _bit_probabilities(self) -> tuple[Fraction, Fraction]:
        shrunk = exp_above(-self.epsilon)
        return Fraction(1, 2), round_up(shrunk / (1 + shrunk))


def _draw_padded(protocol: Unary, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[np.uint8]:
    """Return reports drawn where they lie, padding and all, which is quicker where that is little."""
    width = -(-protocol.k // 8)
    out = np.empty(_words_for(8 * width * codes.size), dtype=np.uint64)
    for start in range(0, codes.size, _REPORTS):
        block = _check_block(protocol, codes[start : start + _REPORTS])
        true_bits = np.empty(_words_for(block.size), dtype=np.uint64)
        _draw_bits(kernels.bits.bernoulli_words, true_bits, protocol.p_exact, source)
        first = start * width // 8
        rows = out[first : first + _words_for(8 * width * block.size)]
        _draw_bits(kernels.bits.padded_rows, rows, protocol.q_exact, source, true_bits, block, protocol.k)
    little = out.astype("<u8", copy=False).view(np.uint8)
    return little[: width * codes.size].reshape(codes.size, width)


def _draw_and_cut(protocol: Unary, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[np.uint8]:
    """Return reports cut from a stream of bits without gaps, so that few values waste no random words."""
    k = protocol.k
    out = np.empty((codes.size, -(-k // 8)), dtype=np.uint8)
    rows = max(1, min(codes.size, _REPORTS, _BITS // k))
    room = np.empty(_words_for(rows * k + 64), dtype=np.uint64)  # the kernel asks for a word to spare
    for start in range(0, codes.size, rows):
        block = _check_block(protocol, codes[start : start + rows])
        false_bits = room[: _words_for(block.size * k + 64)]
        true_bits = np.empty(_words_for(block.size + 64), dtype=np.uint64)
        _draw_bits(kernels.bits.bernoulli_words, false_bits, protocol.q_exact, source)
        _draw_bits(kernels.bits.bernoulli_words, true_bits, protocol.p_exact, source)
        kernels.bits.fill_rows(false_bits, true_bits, block, k, out[start : start + rows])
    return out


def _check_block(protocol: Unary, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return codes as the kernels take them, checked before and after: they write by them."""
    given = check_codes(codes, protocol.k, owner=type(protocol).__name__)
    return check_codes(given.astype(code_type(protocol.k)), protocol.k, owner=type(protocol).__name__)


def _words_for(bits: int) -> int:
    """Return how many words, in whole groups, hold so many bits."""
    group: int = kernels.bits.GROUP
    return -(-bits // (64 * group)) * group


def _draw_bits(
    kernel: Callable[..., tuple[int, int]],
    out: npt.NDArray[np.uint64],
    probability: Fraction,
    source: Source,
    *parameters: Any,
) -> None:
    """Fill words with independent bits, each 1 with a probability that is a multiple of 2**-53 below 1."""
    places, tail = divmod((probability * GRID).numerator, 1 << 45)
    digits = np.array([-(places >> place & 1) for place in range(7, -1, -1)]).astype(np.uint64)
    open_ = np.empty(kernels.bits.GROUP, dtype=np.uint64)
    parameters = (digits, np.uint64(tail), open_, *parameters)
    feed(kernel, out, parameters, source, units=np.uint64, words=8.25 if tail else 8.0)


def _column_sums(values: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Return how many rows have each bit set, the low bit of each byte first.

    Bits of a byte from `k` on are not looked at. Several short rows count as one long one, whose columns are
    added up at the end.
    """
    n, width = values.shape
    step = 8 // math.gcd(8, width)
    together = step * max(1, -(-_LONG // (step * width)))
    words, rows, bits = together * width // 8, together * kernels.bits.ROWS, min(8, k)
    planes, counters = np.empty((5, words), dtype=np.uint64), np.empty((bits, words), dtype=np.uint64)
    totals = np.zeros((bits, 8 * words), dtype=np.int64)
    chunk, whole = rows * max(1, _CHUNK // (rows * width)), n - n % rows
    last = np.zeros((rows, width), dtype=np.uint8)  # rows of zeros add nothing
    last[: n - whole] = values[whole:]
    for block in [*(values[at : min(at + chunk, whole)] for at in range(0, whole, chunk)), last]:
        seen = np.ascontiguousarray(block).reshape(-1).view(np.uint64)
        seen = seen if seen.flags.aligned else seen.copy()
        kernels.bits.add_columns(seen.reshape(-1, words), planes, counters, totals)
    return np.asarray(totals.reshape(bits, together, width).sum(axis=1).T.reshape(-1))
