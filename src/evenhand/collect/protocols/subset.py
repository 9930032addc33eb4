"""Subset selection: report a set of values, which holds the true one with a known probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.collect import kernels
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.protocols.grr import Listing
from evenhand.collect.protocols.probabilities import GRID, Ideal, exp_below, least_variance, round_down
from evenhand.collect.reports.layouts import SetLayout
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.feeding import feed

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.collect.protocols.probabilities import Floats
    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

    # a kernel, its parameters but for the codes, the type of its units, and the words that a report takes
    _Drawing = tuple[Callable[..., tuple[int, int]], tuple[Any, ...], type[np.unsignedinteger[Any]], float]

_MOST_IN_PAIRS = 1 << 14  # values, so that two choices fit a unit of 32 bits and few units are thrown away
_FEWEST_MAPPED = 128  # values of a report that is drawn as a map of bits
_MOST_MAPPED = 4  # times as many values as a report names, there; swaps are quicker than a sparse map
_BYTE = 1 << 8  # values that a byte tells apart; the map is written in numbers of two bytes
_MOST_DIGITS = 6  # of the probability that a bit of a map is set
_GROUP = 1 << 10  # units of reports that are drawn together, at most; as many as feeding joins at a seam
_LARGEST_REPORT = 1 << 20  # values; what a report draws has to fit a buffer
_REPORTS = 1 << 18  # made at a time, so that codes of another type are never all copied at once
_LARGEST_DECK = 1 << 26  # values; the deck that reports are drawn from takes four bytes for each
_LARGEST_COUNTED = 1 << 17  # values whose sets are counted exactly; beyond, logarithms do


@dataclass(frozen=True, init=False, repr=False)
class SS(Listing):
    r"""Report a set of `size` values that holds the true one more often than any other.

    The true value is in the set with probability :math:`p`; the rest of the set is uniform.

    .. math:: p = \frac{\omega e^\varepsilon}{\omega e^\varepsilon + k - \omega}, \qquad
              q = \frac{p (\omega - 1) + (1 - p)\,\omega}{k - 1}

    where :math:`\omega` is ``size``.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.
    as_printed : bool
        Take the whole number nearest to :math:`k / (e^\varepsilon + 1)` as size, as in the literature,
        instead of the neighbour of least variance.

    Notes
    -----
    A report is a list of the values of its set, in an order that tells nothing about which of them is true:
    every order has the same probability, or the order is ascending where sets are large (128 values or more,
    at least a quarter of 257 to 16,384). The probability that the true value is named is rounded down to
    a multiple of :math:`2^{-53}`, so the ratio never exceeds :math:`e^\varepsilon`.

    References
    ----------
    .. [1] Ye, Barg (2018). Optimal schemes for discrete distribution estimation under locally differential
           privacy. IEEE Transactions on Information Theory.

    Examples
    --------
    >>> ss = SS(k=10, epsilon=1)
    >>> f"{ss.size} {ss.p:.4f} {ss.q:.4f} {ss.variance():.4f}"
    '2 0.4046 0.1773 2.8217'
    >>> SS(k=10, epsilon=1, as_printed=True).size
    3
    """

    name: ClassVar[str] = "ss"
    title: ClassVar[str] = "subset selection"
    is_among_best: ClassVar[bool] = True

    as_printed: bool = False

    def __init__(self, k: int, epsilon: Number, *, as_printed: bool = False) -> None:
        super().__init__(k, epsilon)
        self._set(as_printed=bool(as_printed))

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal:
        """Return p, q and the variance at share zero in floats."""
        shrunk = np.exp(-epsilon)
        near = k * shrunk / (1 + shrunk)
        sizes = (np.floor(near), np.ceil(near))
        return least_variance(*(_ideal_of(k, np.maximum(1.0, size), epsilon) for size in sizes))

    @cached_property
    def size(self) -> int:
        """How many values a report names."""
        shrunk = math.exp(-min(float(self.epsilon), 700.0))
        ideal = self.k * shrunk / (1 + shrunk)
        if self.as_printed:
            return max(1, round(ideal))
        return min(max(1, math.floor(ideal)), math.ceil(ideal), key=self._variance_of)

    def _variance_of(self, size: int) -> float:
        """Return the variance up to a factor that no size changes: p - q may be too small for a float."""
        shrunk = math.exp(-min(float(self.epsilon), 700.0))
        weight = size + (self.k - size) * shrunk
        q = (size - size / weight) / (self.k - 1)
        return q * (1 - q) / (size * (self.k - size) / weight) ** 2

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        raised = self.size * exp_below(self.epsilon)
        p = round_down(raised / (raised + self.k - self.size))
        if p * self.k <= self.size:  # p <= q
            raise InvalidParameterError(
                "epsilon",
                owner="SS",
                must_be=f"large enough to tell {self.k:,} values apart with probabilities of 53 bits",
                got=str(self.epsilon),
            )
        return p, (self.size - p) / (self.k - 1)

    def both_supported(self) -> tuple[Fraction, Fraction]:
        """Return the probabilities that a report names two given values: one of them true, and neither."""
        k, size, p = self.k, self.size, self.p_exact
        beside = p * (size - 1) / (k - 1)
        pairs = (p * (size - 1) * (size - 2) + (1 - p) * size * (size - 1)) / max(1, (k - 1) * (k - 2))
        return beside, pairs

    def _worst_ratio(self) -> Fraction:
        return self.p_exact * (self.k - self.size) / ((1 - self.p_exact) * self.size)

    def _bits(self) -> int:
        listed = self.size * (self.k - 1).bit_length()
        if self.k <= _LARGEST_COUNTED:
            return min(listed, (math.comb(self.k, self.size) - 1).bit_length())
        ways = math.lgamma(self.k + 1) - math.lgamma(self.size + 1) - math.lgamma(self.k - self.size + 1)
        return min(listed, math.ceil(ways / math.log(2) + 1e-3))  # lgamma errs by less, so it is enough

    def _layout(self) -> SetLayout:
        return SetLayout(self.k, self.size)

    def check_drawable(self) -> None:
        """Refuse reports of too many values, and too many values to draw from."""
        if self.size > _LARGEST_REPORT:
            raise LimitExceededError(
                f"A report of {self!r} would name {self.size:,} values, more than {_LARGEST_REPORT:,}. "
                "Hint: use OLH, whose reports stay small.",
                limit="k",
            )
        if self.k > _LARGEST_DECK:
            raise LimitExceededError(
                f"Reports of {self!r} would be drawn from a deck of {4 * self.k:,} bytes, more than "
                f"{4 * _LARGEST_DECK:,}. Hint: use GRR or OLH, which need none.",
                limit="k",
            )

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        self.check_drawable()
        kernel, parameters, units, words = self._as_map() if self._mapped else self._as_shuffle()
        out = np.empty((codes.size, self.size), dtype=code_type(self.k))
        for start in range(0, codes.size, _REPORTS):
            block = np.ascontiguousarray(codes[start : start + _REPORTS], dtype=out.dtype)
            rows = out[start : start + _REPORTS]
            feed(kernel, rows, (block, *parameters), source, units=units, words=words)
        return out

    @property
    def _mapped(self) -> bool:
        """Whether reports are drawn as maps of bits. Changing this changes what a seed gives."""
        large = self.size >= _FEWEST_MAPPED and self.k <= _MOST_MAPPED * self.size
        return large and _BYTE < self.k <= _MOST_IN_PAIRS

    def _as_map(self) -> _Drawing:
        words, wide = -(-self.k // 64), (self.k - 2).bit_length()
        numerator, digits = self._share
        pads = np.zeros(words, dtype=np.uint64)
        pads[-1] = 2**64 - (1 << (self.k - 1) % 64)
        parameters = (
            np.full(max(words, (1 << wide) // 64), 2**64 - 1, dtype=np.uint64),
            pads,
            np.array([(2**64 - 1) * (numerator >> digit & 1) for digit in range(digits)], dtype=np.uint64),
            np.uint64(self.k - 1),
            np.uint64(self.p_exact * GRID),
            np.empty(self.size + 8, dtype=np.uint16),
        )
        return kernels.subset_bits.choose, parameters, np.uint64, 1 + words * digits + self.size / 32

    @cached_property
    def _share(self) -> tuple[int, int]:
        """The probability that a bit of a map is set at first: a numerator, and the binary digits it has.

        A digit takes a word for 64 values. Setting or clearing a bit afterwards takes about as long as
        a word, times the tries until a place is found; how many bits is taken to be off the mean by one
        standard deviation, by nothing, or by one the other way, each in a third of the reports. Additions,
        products, quotients and roots only, which every machine rounds alike: a seed gives the same
        everywhere.
        """
        others, words, places = self.k - 1, -(-self.k // 64), 1 << (self.k - 2).bit_length()

        def cost(share: tuple[int, int]) -> float:
            numerator, digits = share
            mean, left = others * numerator / (1 << digits), 1 - numerator / (1 << digits)
            off = [self.size - mean + side * math.sqrt(mean * left) for side in (-1, 0, 1)]
            tries = sum(
                missing / (others - self.size) if missing > 0 else -missing / self.size for missing in off
            )
            return digits * words + places * tries / 3

        shares = [(odd, digits) for digits in range(1, _MOST_DIGITS + 1) for odd in range(1, 1 << digits, 2)]
        return min(shares, key=cost)

    def _as_shuffle(self) -> _Drawing:
        per_report, bounds, redrawn = self._bounds
        decks = 4 if self.k <= _MOST_IN_PAIRS else 1
        parameters = (
            np.tile(np.arange(self.k - 1, dtype=np.uint32), (decks, 1)),
            bounds,
            redrawn,
            np.empty(redrawn.size, dtype=np.uint32),
            per_report,
            np.uint64(self.p_exact * GRID),
        )
        return kernels.subset.select, parameters, np.uint32, per_report / 2

    @cached_property
    def _bounds(self) -> tuple[int, npt.NDArray[Any], npt.NDArray[np.uint32]]:
        """How many units a report takes; both bounds of each unit of a group, and 2**32 mod their product.

        The first unit of a report makes no choice; the next ones choose a place and the partner of each swap.
        Where there is no choice the bound is 1. Bounds of 16 bits say that a unit makes two.
        """
        drawn = [self.size, *range(self.k - 1, self.k - 1 - self.size, -1)]
        if self.k <= _MOST_IN_PAIRS:
            pairs = np.array([1, 1, *drawn, *[1] * (len(drawn) % 2)], dtype=np.uint16).reshape(-1, 2)
        else:
            pairs = np.array([[1, 1], *([bound, 1] for bound in drawn)], dtype=np.uint32)
        redrawn = (np.uint64(1 << 32) % pairs.prod(axis=1, dtype=np.uint64)).astype(np.uint32)
        together = max(1, _GROUP // len(pairs) // 4 * 4)
        return len(pairs), np.ascontiguousarray(np.tile(pairs.T, together)), np.tile(redrawn, together)

    def _law(self) -> npt.NDArray[Any]:
        inside = self._indicators(self._outputs()).T == 1
        with_it = self.p_exact / math.comb(self.k - 1, self.size - 1)
        without = (1 - self.p_exact) / math.comb(self.k - 1, self.size)
        law = np.full(inside.shape, without, dtype=object)
        law[inside] = with_it
        return law

    def _outputs(self) -> npt.NDArray[Any]:
        if self.k > _LARGEST_COUNTED:  # the number of sets alone would take minutes to compute
            raise self._cells_error(f"about 2**{self._bits()}")
        self._check_few(math.comb(self.k, self.size))
        return np.array(list(combinations(range(self.k), self.size)), dtype=code_type(self.k))


def _ideal_of(k: Floats, size: Floats, epsilon: Floats) -> Ideal:
    """Return p, q and the variance at share zero for sets of these sizes."""
    shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
    whole = size + (k - size) * shrunk
    q = ((size - 1) + (k - size) * shrunk / whole) / (k - 1)
    apart = size * (k - size) * gap / (whole * (k - 1))  # p - q
    return Ideal(size / whole, q, q * (1 - q) / apart**2)
