"""The family of hash functions that local hashing draws from: multiply, add, shift."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["LARGEST_DOMAIN", "MOST_BUCKETS", "HashFamily"]

LARGEST_DOMAIN = 1 << 25
MOST_BUCKETS = 1 << 24


@dataclass(frozen=True)
class HashFamily:
    r"""Hash functions :math:`h_{a,b}` from values to `g` buckets, one for each pair of words of `width` bits.

    .. math:: h_{a,b}(v) = \left\lfloor \frac{g\,x}{2^l} \right\rfloor, \qquad
              x = \left\lfloor \frac{(a v + b) \bmod 2^w}{2^{w - l}} \right\rfloor

    where :math:`w` is `width`, :math:`l` is `top` and :math:`a, b` are a multiplier and an offset.

    With :math:`a` and :math:`b` uniform and independent, the buckets of two different values are
    independent if every value is below :math:`2^u` with :math:`u + l - 1 \le w` [1]_:
    :meth:`for_domain` chooses `width` and `top` so.

    Parameters
    ----------
    width : {32, 64}
        How many bits multiplier and offset have.
    top : int
        How many of the high bits of :math:`a v + b` choose the bucket.
    g : int
        How many buckets there are.

    References
    ----------
    .. [1] Dietzfelbinger (1996). Universal hashing and k-wise independent random variables via integer
           arithmetic without primes. STACS.

    Examples
    --------
    >>> family = HashFamily.for_domain(k=74, g=4)
    >>> family
    HashFamily(width=32, top=26, g=4)
    >>> int(family.bucket(2654435769, 305419896, 10))
    1
    """

    width: int
    top: int
    g: int

    @classmethod
    def for_domain(cls, k: int, g: int) -> Self:
        """Return the family for `k` values (at most 2**25) and `g` buckets (at most 2**24).

        Words have 32 bits where that leaves at least 2**14 high parts for each bucket, else 64.
        """
        bits = (k - 1).bit_length()
        if bits + (g - 1).bit_length() <= 19:
            return cls(width=32, top=33 - bits, g=g)
        return cls(width=64, top=40, g=g)

    @property
    def word(self) -> type[np.unsignedinteger[Any]]:
        """The unsigned type of multiplier and offset."""
        found: type[np.unsignedinteger[Any]] = np.dtype(f"u{self.width // 8}").type
        return found

    @cached_property
    def collision_exact(self) -> Fraction:
        """Probability that two values share a bucket: 1/g, and a hair more where g is no power of two."""
        small, larger = divmod(1 << self.top, self.g)
        return Fraction(larger * (small + 1) ** 2 + (self.g - larger) * small**2, 1 << (2 * self.top))

    def bucket(self, multiplier: Any, offset: Any, value: Any) -> npt.NDArray[np.uint64]:
        """Return the bucket of each value under each hash function; the arguments are broadcast."""
        word = self.word
        with np.errstate(over="ignore"):  # the sum is meant modulo 2**width
            mixed = np.asarray(multiplier, word) * np.asarray(value).astype(word) + np.asarray(offset, word)
        high = (mixed >> word(self.width - self.top)).astype(np.uint64)
        found: npt.NDArray[np.uint64] = (high * np.uint64(self.g)) >> np.uint64(self.top)  # of 2**64 at most
        return found

    def starts(self, buckets: Any) -> npt.NDArray[np.uint64]:
        """Return the least `top`-bit high part of each bucket; bucket `g` stands for the end.

        Bucket y has the high parts from starts(y) to starts(y + 1) - 1.

        >>> HashFamily(width=32, top=5, g=3).starts([0, 1, 2, 3]).tolist()
        [0, 11, 22, 32]
        """
        share, rest = divmod(1 << self.top, self.g)
        index = np.asarray(buckets, dtype=np.uint64)
        whole, g = index * np.uint64(share), np.uint64(self.g)  # at most 2**40
        return whole + (index * np.uint64(rest) + (g - np.uint64(1))) // g  # below 2**49
