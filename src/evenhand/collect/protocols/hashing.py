"""Local hashing: hash the value into a few buckets, then randomized response on the bucket."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._validate import integer
from evenhand.collect import kernels
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.protocols.grr import flip_probability
from evenhand.collect.protocols.probabilities import GRID, Ideal, least_variance, response_log_gain
from evenhand.collect.reports.layouts import HashedLayout
from evenhand.errors import LimitExceededError
from evenhand.privacy.feeding import feed

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.protocols.probabilities import Floats
    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

LARGEST_DOMAIN = 1 << 25
MOST_BUCKETS = 1 << 24
_BLOCK = 1 << 15  # reports whose hash functions are drawn at a time
_SERVED = 1 << 18  # reports that a kernel counts at a time
_NEAR = 1 << 11  # reports that stay in the nearest cache while they are counted
_MOST_RANGES = 1 << 12  # buckets whose ranges are kept in a table


@dataclass(frozen=True, init=False, repr=False)
class LocalHashing(Protocol):
    r"""Base of the protocols that hash the value into `g` buckets and report the bucket.

    Each person draws a hash function :math:`h` of a family in which the buckets of any two values are
    independent, reports it, and reports :math:`h(v)` by randomized response over the buckets. The report
    supports every value of the bucket it names.

    The words of the hash functions are drawn first, for all people, and the noise on the buckets after
    them: no bit serves both.
    """

    most_values: ClassVar[int] = LARGEST_DOMAIN

    @cached_property
    def g(self) -> int:
        """How many buckets there are."""
        return self._buckets()

    @abstractmethod
    def _buckets(self) -> int: ...

    @cached_property
    def family(self) -> HashFamily:
        """The hash functions that a person draws from."""
        return HashFamily.for_domain(self.k, self.g)

    @cached_property
    def flip_exact(self) -> Fraction:
        """Probability of one given false bucket, exactly as drawn."""
        return flip_probability(self.g, self.epsilon, owner=type(self).__name__)

    @property
    def collision_exact(self) -> Fraction:
        """Probability that two values share a bucket: 1/g, and slightly more where g is no power of two."""
        return self.family.collision_exact

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        p = 1 - (self.g - 1) * self.flip_exact
        return p, self.flip_exact + (p - self.flip_exact) * self.collision_exact

    def _worst_ratio(self) -> Fraction:
        return self.p_exact / self.flip_exact

    def _bits(self) -> int:
        return 2 * self.family.width + (self.g - 1).bit_length()

    def _layout(self) -> HashedLayout:
        return HashedLayout(self.family.width, self.g)

    def matrix_given(self, multiplier: int, offset: int, *, exact: bool = False) -> npt.NDArray[Any]:
        """Return the probability of every bucket (column) under every value (row), given the hash function.

        The hash function is drawn without regard to the value, so this is what protects the value.

        Parameters
        ----------
        multiplier, offset : int
            The hash function, as in a report.
        exact : bool
            Return Fractions, exactly as drawn, instead of floats.

        Raises
        ------
        LimitExceededError
            If there are too many cells.

        Examples
        --------
        >>> BLH(k=3, epsilon=1).matrix_given(2654435769, 0).round(3)
        array([[0.731, 0.269],
               [0.269, 0.731],
               [0.731, 0.269]])
        """
        owner, most = f"{type(self).__name__}.matrix_given", (1 << self.family.width) - 1
        words = (
            integer("multiplier", multiplier, owner=owner, low=0, high=most),
            integer("offset", offset, owner=owner, low=0, high=most),
        )
        self._check_few(self.g)
        values = np.arange(self.k)
        law = np.full((self.k, self.g), self.flip_exact, dtype=object)
        law[values, self.family.bucket(*words, values)] = self.p_exact
        return law if exact else law.astype(float)

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        out = np.empty(codes.size, dtype=self.layout.dtype)
        rows, family, (top, g) = _rows_of(out), self.family, self._shape
        room, refill = np.empty(min(_BLOCK, codes.size), dtype=code_type(self.k)), source.refills()
        for start in range(0, codes.size, _BLOCK):
            block = room[: codes.size - start]
            block[:] = codes[start : start + _BLOCK]
            words = refill(block.size * family.width // 32).astype("<u8", copy=False)
            seeds = words.view(f"<u{family.width // 8}").astype(family.word, copy=False)
            kernels.hashing.seed(seeds, block, rows[start : start + _BLOCK], top, g)
        parameters = (self._steps, np.uint64(self.flip_exact * GRID), g)
        bytes_each = 1 + 6 * np.count_nonzero(self._steps == g) / self._steps.size
        feed(
            kernels.hashing.add_noise, out["value"], parameters, source, units=np.uint8, words=bytes_each / 8
        )
        return out

    @cached_property
    def _steps(self) -> npt.NDArray[np.uint64]:
        """How far the bucket moves for each first byte of a number of 53 bits; `g` if it is still open."""
        first = np.arange(256, dtype=np.uint64) << np.uint64(45)
        flip, g, one = np.uint64(self.flip_exact * GRID), np.uint64(self.g), np.uint64(1)
        low, high = first // flip + one, (first + np.uint64((1 << 45) - 1)) // flip + one
        return np.where(low >= g, 0, np.where(high == low, low, g)).astype(np.uint64)

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        counts = np.zeros(self.k, dtype=np.int64)
        scratch = np.empty((3, _NEAR), dtype=self.family.word)
        for _, block in self._blocks(values, _SERVED):
            self._require(kernels.hashing.count(_rows_of(block), counts, self._ranges, scratch, *self._shape))
        return counts

    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        out = np.empty((len(values), self.k), dtype=np.uint8)
        for start, block in self._blocks(values, _SERVED):
            part = out[start : start + len(block)]
            self._require(kernels.hashing.indicate(_rows_of(block), part, self._ranges, *self._shape))
        return out

    @cached_property
    def _ranges(self) -> npt.NDArray[Any]:
        """Where each bucket's words start and how many there are, in two rows; a last column of zeros.

        That one is the only column where the buckets are too many for a table.
        """
        family = self.family
        many = self.g if self.g <= _MOST_RANGES else 0
        ranges = np.zeros((2, many + 1), dtype=family.word)
        starts = family.starts(np.arange(many + 1)) << np.uint64(family.width - family.top)
        ranges[:, :-1] = starts[:-1], np.diff(starts)
        return ranges

    @property
    def _shape(self) -> tuple[np.uint64, np.uint64]:
        return np.uint64(self.family.top), np.uint64(self.g)

    def _law(self) -> npt.NDArray[Any]:
        raise self._too_many()

    def _outputs(self) -> npt.NDArray[Any]:
        raise self._too_many()

    def _too_many(self) -> LimitExceededError:
        return LimitExceededError(
            f"{type(self).__name__} has 2**{2 * self.family.width} hash functions, too many reports for a "
            "matrix. Hint: matrix_given(multiplier, offset) is the matrix of one hash function.",
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

    Notes
    -----
    The family of hash functions is that of :class:`~evenhand.collect.protocols.hashing.HashFamily`, in
    which the buckets of two values are independent: `q_exact` is no approximation. Reports are not
    interchangeable with those of libraries that use xxhash.

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

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG003 - every formula has the same signature
        """Return p, q and the variance at share zero in floats."""
        return _ideal_of(np.full_like(epsilon, 2.0), epsilon)

    @classmethod
    def log_gain(cls, k: Floats, epsilon: Floats) -> Floats:
        """Return that of OUE: the variance is one more than that of OUE, at every epsilon."""
        return response_log_gain(np.full_like(k, 2.0), epsilon) + math.log(4)

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

    Notes
    -----
    The family of hash functions is that of :class:`~evenhand.collect.protocols.hashing.HashFamily`, in
    which the buckets of two values are independent: `q_exact` is no approximation. Reports are not
    interchangeable with those of libraries that use xxhash.

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

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG003 - every formula has the same signature
        """Return p, q and the variance at share zero in floats."""
        raised = np.exp(np.minimum(epsilon, 50.0))
        low, high = (
            _ideal_of(np.clip(near(raised + 1), 2.0, float(MOST_BUCKETS)), epsilon)
            for near in (np.floor, np.ceil)
        )
        return least_variance(low, high)

    def _buckets(self) -> int:
        raised = math.exp(min(float(self.epsilon), 50.0))
        low, high = (
            min(max(2, buckets), MOST_BUCKETS) for buckets in (math.floor(raised + 1), math.ceil(raised + 1))
        )
        return low if self.as_printed else min(low, high, key=lambda g: (raised - 1 + g) ** 2 / (g - 1))


def _ideal_of(buckets: Floats, epsilon: Floats) -> Ideal:
    """Return p, q and the variance at share zero for numbers of buckets."""
    shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
    others = 1 + (buckets - 1) * shrunk
    return Ideal(1 / others, 1 / buckets, (others / gap) ** 2 / (buckets - 1))


def _rows_of(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of each report as a row, in place."""
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize)


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
        word: type[np.unsignedinteger[Any]] = np.dtype(f"u{self.width // 8}").type
        return word

    @cached_property
    def collision_exact(self) -> Fraction:
        """Probability that two values share a bucket: 1/g, and slightly more where g is no power of two."""
        small, larger = divmod(1 << self.top, self.g)
        return Fraction(larger * (small + 1) ** 2 + (self.g - larger) * small**2, 1 << (2 * self.top))

    def bucket(self, multiplier: Any, offset: Any, value: Any) -> npt.NDArray[np.uint64]:
        """Return the bucket of each value under each hash function; the arguments are broadcast."""
        word = self.word
        with np.errstate(over="ignore"):  # the sum is meant modulo 2**width
            mixed = np.asarray(multiplier, word) * np.asarray(value).astype(word) + np.asarray(offset, word)
        high = (mixed >> word(self.width - self.top)).astype(np.uint64)
        bucket: npt.NDArray[np.uint64] = (high * np.uint64(self.g)) >> np.uint64(self.top)  # of 2**64 at most
        return bucket

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
