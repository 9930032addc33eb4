"""Unary encoding: one bit per value, each flipped on its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.collect.base import Protocol
from evenhand.collect.dyadic import exp_above, round_up
from evenhand.collect.layouts import BitsLayout
from evenhand.privacy.sampling import bernoulli

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

__all__ = ["OUE", "RAPPOR", "Unary"]


@dataclass(frozen=True, init=False, repr=False)
class Unary(Protocol):
    """Base of the protocols that send one bit per value, the true one set with p, the others with q."""

    def _worst_ratio(self) -> Fraction:
        p, q = self.p_exact, self.q_exact
        return p * (1 - q) / (q * (1 - p))

    def _bits(self) -> int:
        return self.k

    def _layout(self) -> BitsLayout:
        return BitsLayout(self.k)

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        bits = bernoulli(self.q_exact, size=(codes.size, self.k), source=source)
        bits[np.arange(codes.size), codes] = bernoulli(self.p_exact, size=codes.size, source=source)
        return np.packbits(bits, axis=1, bitorder="little")

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return self._indicators(values).sum(axis=0, dtype=np.int64)

    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        return np.unpackbits(values, axis=1, count=self.k, bitorder="little")

    def _law(self) -> npt.NDArray[Any]:
        bits = self._indicators(self._outputs())
        others = bits.sum(axis=1)[None, :] - bits.T  # bits set besides the true one
        p, q = self.p_exact, self.q_exact
        powers = np.array([q**m * (1 - q) ** (self.k - 1 - m) for m in range(self.k)], dtype=object)
        return np.where(bits.T == 1, p, 1 - p) * powers[others]

    def _outputs(self) -> npt.NDArray[Any]:
        self._check_few(1 << min(self.k, 62))
        numbers = np.arange(1 << self.k, dtype="<u4")
        return numbers.view(np.uint8).reshape(-1, 4)[:, : -(-self.k // 8)].copy()


@dataclass(frozen=True, init=False, repr=False)
class RAPPOR(Unary):
    r"""Flip every bit with the same probability (symmetric unary encoding, the one-time RAPPOR).

    .. math:: p = \frac{e^{\varepsilon/2}}{e^{\varepsilon/2} + 1}, \qquad q = 1 - p

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.

    References
    ----------
    .. [1] Erlingsson, Pihur, Korolova (2014). RAPPOR. ACM CCS.

    Examples
    --------
    >>> rappor = RAPPOR(k=10, epsilon=1)
    >>> f"{rappor.p:.4f} {rappor.variance():.4f}"
    '0.6225 3.9177'
    """

    name: ClassVar[str] = "rappor"
    title: ClassVar[str] = "symmetric unary encoding"

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        shrunk = exp_above(-self.epsilon / 2)
        q = round_up(shrunk / (1 + shrunk))
        return 1 - q, q


@dataclass(frozen=True, init=False, repr=False)
class OUE(Unary):
    r"""Set the true bit with probability one half and the others rarely (optimized unary encoding).

    .. math:: p = \frac12, \qquad q = \frac{1}{e^\varepsilon + 1}

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha (2017). Locally differentially private protocols for frequency estimation.
           USENIX Security.

    Examples
    --------
    >>> oue = OUE(k=10, epsilon=1)
    >>> f"{oue.p} {oue.q:.4f} {oue.variance():.4f}"
    '0.5 0.2689 3.6827'
    """

    name: ClassVar[str] = "oue"
    title: ClassVar[str] = "optimized unary encoding"

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        shrunk = exp_above(-self.epsilon)
        return Fraction(1, 2), round_up(shrunk / (1 + shrunk))
