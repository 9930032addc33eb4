"""Local hashing: hash the value into a few buckets, then randomized response on the bucket."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._validate import integer
from evenhand.collect.base import Protocol
from evenhand.collect.grr import flip_probability, respond
from evenhand.collect.layouts import HashedLayout
from evenhand.errors import LimitExceededError

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

__all__ = ["BLH", "OLH", "LocalHashing", "bucket"]

_LARGEST_DOMAIN = 1 << 25
_MOST_BUCKETS = 1 << 24


def bucket(multiplier: Any, offset: Any, value: Any, *, width: int, top: int, g: int) -> Any:
    r"""Return the bucket of a value under one hash function of the family.

    .. math:: h(v) = \left\lfloor \frac{g \lfloor ((a v + b) \bmod 2^w) / 2^{w - l} \rfloor}{2^l} \right\rfloor

    where :math:`a, b` are `multiplier` and `offset`, :math:`w` is `width` and :math:`l` is `top`.
    """
    word = np.dtype(f"u{width // 8}").type
    with np.errstate(over="ignore"):
        mixed = np.asarray(multiplier, word) * np.asarray(value).astype(word) + np.asarray(offset, word)
    high = (mixed >> word(width - top)).astype(np.uint64)
    return (high * np.uint64(g)) >> np.uint64(top)


@dataclass(frozen=True, init=False, repr=False)
class LocalHashing(Protocol):
    r"""Base of the protocols that hash the value into `g` buckets and report the bucket.

    Each person draws a hash function :math:`h` of a family in which the buckets of any two values are
    independent, reports it, and reports :math:`h(v)` by randomized response over the buckets. The report
    supports every value of the bucket it names.
    """

    def __init__(self, k: int, epsilon: Number) -> None:
        integer("k", k, owner=type(self).__name__, low=2, high=_LARGEST_DOMAIN)
        super().__init__(k, epsilon)

    @cached_property
    def g(self) -> int:
        """How many buckets there are."""
        return self._buckets()

    @abstractmethod
    def _buckets(self) -> int: ...

    @property
    def width(self) -> int:
        """How many bits multiplier and offset have: 32 where that leaves the buckets even enough, else 64."""
        return 32 if (self.k - 1).bit_length() + (self.g - 1).bit_length() <= 19 else 64

    @property
    def top(self) -> int:
        """How many of the high bits choose the bucket."""
        return 33 - (self.k - 1).bit_length() if self.width == 32 else 40

    @cached_property
    def flip_exact(self) -> Fraction:
        """Probability of one given false bucket, exactly as drawn."""
        return flip_probability(self.g, self.epsilon, owner=type(self).__name__)

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        p = 1 - (self.g - 1) * self.flip_exact
        return p, self.flip_exact + (p - self.flip_exact) * self.collision_exact

    @cached_property
    def collision_exact(self) -> Fraction:
        """Probability that two values share a bucket: 1/g, and a hair more where g is no power of two."""
        small, larger = divmod(1 << self.top, self.g)
        return Fraction(larger * (small + 1) ** 2 + (self.g - larger) * small**2, 1 << (2 * self.top))

    def _worst_ratio(self) -> Fraction:
        return self.p_exact / self.flip_exact

    def _bits(self) -> int:
        return 2 * self.width + (self.g - 1).bit_length()

    def _layout(self) -> HashedLayout:
        return HashedLayout(self.width, self.g)

    def _bucket(self, values: npt.NDArray[Any], of: Any) -> Any:
        shape = {"width": self.width, "top": self.top, "g": self.g}
        return bucket(values["multiplier"], values["offset"], of, **shape)

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        out = np.empty(codes.size, dtype=self._layout().dtype)
        words = source.words(codes.size * self.width // 32)
        seeds = words.astype("<u8").view(f"<u{self.width // 8}").reshape(-1, 2)
        out["multiplier"], out["offset"] = seeds[:, 0], seeds[:, 1]
        out["value"] = respond(self._bucket(out, codes), self.g, self.p_exact, source)
        return out

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        found = [np.count_nonzero(self._bucket(values, v) == values["value"]) for v in range(self.k)]
        return np.array(found, dtype=np.int64)

    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        return (self._bucket(values[:, None], np.arange(self.k)) == values["value"][:, None]).astype(np.uint8)

    def _law(self) -> npt.NDArray[Any]:
        raise self._too_many()

    def _outputs(self) -> npt.NDArray[Any]:
        raise self._too_many()

    def _too_many(self) -> LimitExceededError:
        return LimitExceededError(
            f"{type(self).__name__} has 2**{2 * self.width} hash functions, too many reports for a matrix. "
            f"Hint: given the hash function it is GRR(k={self.g}, ...) on the bucket.",
            limit="cells",
        )


@dataclass(frozen=True, init=False, repr=False)
class BLH(LocalHashing):
    r"""Hash the value to one bit, then randomized response on the bit (binary local hashing).

    .. math:: p = \frac{e^\varepsilon}{e^\varepsilon + 1}, \qquad q = \frac12

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight. It holds for
    any hash function, since the function is drawn without regard to the value.

    Parameters
    ----------
    k : int
        How many values there are, 2 to 2**25.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.

    References
    ----------
    .. [1] Bassily, Smith (2015). Local, private, efficient protocols for succinct histograms. STOC.

    Examples
    --------
    >>> blh = BLH(k=10, epsilon=1)
    >>> f"{blh.p:.4f} {blh.q} {blh.variance():.4f}"
    '0.7311 0.5 4.6827'
    """

    name: ClassVar[str] = "blh"
    title: ClassVar[str] = "binary local hashing"

    def _buckets(self) -> int:
        return 2


@dataclass(frozen=True, init=False, repr=False)
class OLH(LocalHashing):
    r"""Hash the value to the best number of buckets, then randomized response (optimal local hashing).

    .. math:: p = \frac{e^\varepsilon}{e^\varepsilon + g - 1}, \qquad q = \frac1g

    where :math:`g` is ``g``, of the two whole numbers around :math:`e^\varepsilon + 1` the one of less
    variance.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight. It holds for
    any hash function, since the function is drawn without regard to the value.

    Parameters
    ----------
    k : int
        How many values there are, 2 to 2**25.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.
    as_printed : bool
        Round :math:`e^\varepsilon + 1` down, as in the literature.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha (2017). Locally differentially private protocols for frequency estimation.
           USENIX Security.

    Examples
    --------
    >>> olh = OLH(k=10, epsilon=1)
    >>> f"{olh.g} {olh.p:.4f} {olh.q} {olh.variance():.4f}"
    '4 0.4754 0.25 3.6917'
    """

    name: ClassVar[str] = "olh"
    title: ClassVar[str] = "optimal local hashing"

    as_printed: bool = False

    def __init__(self, k: int, epsilon: Number, *, as_printed: bool = False) -> None:
        super().__init__(k, epsilon)
        self._set(as_printed=bool(as_printed))

    def _buckets(self) -> int:
        raised = math.exp(min(float(self.epsilon), 50.0))
        low, high = (
            min(max(2, each), _MOST_BUCKETS) for each in (math.floor(raised + 1), math.ceil(raised + 1))
        )
        return low if self.as_printed else min(low, high, key=lambda g: (raised - 1 + g) ** 2 / (g - 1))
