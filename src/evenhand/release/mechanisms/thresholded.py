r"""Suppression after noise: the look of suppressed small counts, with a pure guarantee.

**Which of very many empty cells survive** the threshold is drawn from the exact law without visiting them.
Each of :math:`n` empty cells survives by itself with probability :math:`p = \Pr[\eta \ge k]`, where
:math:`\eta` is discrete Laplace noise of scale :math:`b`: :math:`p = a^k / (1 + a)`, :math:`a = e^{-1/b}`.
Instead of asking each of them, we jump from one *candidate* to the next. A cell is a candidate with
probability :math:`p' = 1 - e^{-1/B} \ge p`, :math:`B` a rational near :math:`1/p`, so the number of cells
passed over is geometric with ratio :math:`e^{-1/B}`: what discrete Laplace noise of scale :math:`B` is where
it is not negative, which can be drawn exactly. A candidate survives with probability :math:`p / p'`,
decided by comparing random bits with bounds of that number until they differ. Both together are the law of
asking each cell, exactly: the number of survivors is binomial and their places are uniform.

A :math:`B` above :math:`2^{30}` is :math:`2^t \beta`: with :math:`u` uniform below :math:`2^t`, taken with
probability :math:`e^{-u/B}`, and :math:`g` geometric with ratio :math:`e^{-1/\beta}`, the sum
:math:`u + 2^t g` is geometric with ratio :math:`e^{-1/B}`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from evenhand._validate import integer
from evenhand.errors import LimitExceededError, RandomSourceError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exp_bounds
from evenhand.privacy.sampling import discrete_laplace, uniform_below
from evenhand.release.mechanisms.mechanism import Published
from evenhand.release.mechanisms.noise import LaplaceMechanism, clip_counts
from evenhand.release.table.counting import MOST_CELLS
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

    Values = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]
    Bounds = tuple[Fraction, Fraction]

_LARGEST_THRESHOLD = 1 << 50
_WORD = 64
_LARGEST_SCALE = 1 << 30
_FARTHEST = 1 << 62
_SMALLEST_LOG = -2_000
_MOST_BITS = 1 << 12  # that are compared; a random source needs so many with probability below 10**-1000
_CHUNK = 1 << 20
_DIGITS = 60
_MARGIN = 1 + 2.0**-20


@dataclass(frozen=True, init=False, repr=False)
class ThresholdedLaplace(LaplaceMechanism):
    r"""Add discrete Laplace noise to every count, and publish those that then reach a threshold.

    .. math:: \tilde x_i = x_i + \eta_i \ \text{if } x_i + \eta_i \ge k, \text{ else suppressed}, \quad
              \Pr[\eta_i = j] = \frac{1 - a}{1 + a} a^{|j|}, \quad a = e^{-\varepsilon / \Delta_1}

    where :math:`\varepsilon` is ``epsilon``, :math:`k` is ``threshold``, and :math:`\Delta_1` is 2 when one
    person is replaced by another and 1 when one is added or removed.

    **Guarantee.** Pure central differential privacy with ``epsilon``; unit: as given; tight. Assumes that
    each person is in one cell and the cells are public. Proof: what is suppressed is decided by the noisy
    count alone, so this is post-processing of :class:`~evenhand.release.mechanisms.noise.Laplace`. Numerics:
    exact, also for the empty cells that are never visited. May be used for release.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter, > 0.
    threshold : int
        The least noisy count that is published, at least 0. It must not be chosen by looking at the table.
    unit : {"replace one", "add or remove one"}, default "replace one"
        What may change between two tables that are to look alike.
    rows_per_person : int, default 1
        How many rows one person may have in the table.

    Notes
    -----
    A table of more than 50 million cells is kept as its filled cells. Those get their noise one by one. How
    many of the empty ones survive, and which, is drawn from the exact law in time proportional to the number
    of survivors (:func:`survivors`); what is published in them is the threshold
    plus a geometric number, because the tail of the noise has no memory. In the published table, a cell that
    is not listed is suppressed.

    Where bias and variance are computed, a suppressed cell counts as 0.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("tenure", Domain.categorical(["own", "rent", "free"]))])
    >>> table = Histogram.of([120, 14, 0], schema)
    >>> mechanism = ThresholdedLaplace(epsilon=1, threshold=10)
    >>> mechanism.bias(table).values.round(3)
    array([-0.   , -0.381,  0.048])
    >>> print(mechanism.release(table, rng=3).to_frame("pyarrow")["count"].to_pylist())
    [119, 11, None]
    """

    name: ClassVar[str] = "thresholded-laplace"
    title: ClassVar[str] = "discrete Laplace noise and a threshold"
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "threshold": 5}
    label: ClassVar[str] = "Threshold after noise"
    defaults: ClassVar[Mapping[str, Any]] = {"threshold": 6}
    suppresses: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    epsilon: Fraction
    threshold: int
    unit: Unit = Unit.REPLACE_ONE
    rows_per_person: int = field(default=1, kw_only=True)

    def __init__(
        self,
        epsilon: Number,
        threshold: int,
        *,
        unit: Unit | str = Unit.REPLACE_ONE,
        rows_per_person: int = 1,
    ) -> None:
        least = integer("threshold", threshold, owner="ThresholdedLaplace", low=0, high=_LARGEST_THRESHOLD)
        self._set(threshold=least)
        self._set_noise(epsilon, unit, rows_per_person)

    def _is_tight(self, histogram: Histogram, delta: Fraction) -> bool:
        seen = histogram.bound is None or histogram.bound >= max(1, self.threshold)
        return super()._is_tight(histogram, delta) and seen and not delta

    # --- publishing -----------------------------------------------------------------------------

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        if histogram.counts is None:
            return Published(self._sparse(histogram, source))
        noisy = self.law.draw(size=histogram.shape, source=source)
        noisy += clip_counts(histogram.counts)
        suppressed = noisy < self.threshold
        return Published(histogram.with_counts(np.where(suppressed, 0, noisy)), suppressed)

    def _sparse(self, histogram: Histogram, source: Source) -> Histogram:
        """Draw the published cells of a table of which only the filled cells are kept."""
        scale = self.noise.scale
        filled: Whole = histogram.cells  # type: ignore[assignment]
        noisy = clip_counts(histogram.filled) + self.law.draw(size=filled.size, source=source)  # type: ignore[arg-type]
        kept = noisy >= self.threshold
        places = survivors(histogram.size - filled.size, scale, self.threshold, source=source)
        empty = places + np.searchsorted(filled - np.arange(filled.size), places, side="right")
        values = self.threshold + geometric(scale, places.size, source=source)
        cells = np.concatenate((filled[kept], empty))
        order = np.argsort(cells, kind="stable")
        counts = np.concatenate((noisy[kept], values))[order]
        return Histogram.of_cells(cells[order], counts, histogram.schema)

    def _check(self, histogram: object, *, dense: bool = False) -> None:
        super()._check(histogram, dense=dense)
        if not isinstance(histogram, Histogram) or not histogram.is_sparse:
            return
        # Too many empty cells must not survive; only public numbers are looked at.
        size = histogram.size
        expected = size * survival_bounds(self.noise.scale, max(1, self.threshold))[1]
        if self.threshold > 0 and expected <= MOST_CELLS:
            return
        enough = math.ceil(float(self.noise.scale) * math.log(size / MOST_CELLS))
        raise LimitExceededError(
            f"Of {size:,} cells about {float(expected):,.0f} empty ones would reach a threshold of "
            f"{self.threshold:,} by noise alone, more than {MOST_CELLS:,}. "
            f"Hint: a threshold of {max(1, enough):,} is enough at this epsilon; or publish fewer columns.",
            limit="threshold",
        )

    # --- its errors -----------------------------------------------------------------------------

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        if post:
            return None
        counts, below, first, _ = self._moments(histogram)
        bias: Values = first - counts * below
        return bias

    def _variance(self, histogram: Histogram) -> Values:
        counts, below, first, second = self._moments(histogram)
        above = self.law.sf(self.threshold - counts - 1)
        variance: Values = second - first**2 + counts**2 * below * above + 2 * counts * below * first
        return variance

    def _absolute_error(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        if post:
            return None
        counts, below, first, _ = self._moments(histogram)
        ratio = math.exp(-1 / float(self.noise.scale))
        size = 2 * ratio / (1 - ratio**2)  # of the noise, on average
        found: Values = counts * below + np.where(self.threshold > counts, first, size - first)
        return found

    def _blank_chances(self, histogram: Histogram) -> Values:
        return self._moments(histogram)[1]

    def _moments(self, histogram: Histogram) -> tuple[Values, Values, Values, Values]:
        r"""Return the counts, the chance to be suppressed, and the noise's moments where it is not.

        With :math:`d = k - x` and :math:`d \ge 1`: :math:`E[\eta; \eta \ge d] = a^d (d + r) / (1 + a)` and
        :math:`E[\eta^2; \eta \ge d] = a^d (d^2 + 2 d r + r + 2 r^2) / (1 + a)`, with
        :math:`r = a / (1 - a)`. Below that, the noise is turned about: what is left out
        is what was above :math:`1 - d`.
        """
        counts = clip_counts(histogram.require_dense(owner=type(self).__name__)).astype(np.float64)
        rate = 1 / float(self.noise.scale)
        ratio = 1 / math.expm1(rate)
        distance = self.threshold - counts
        turned = np.where(distance >= 1, distance, 1 - distance)
        tail = self.law.sf(turned - 1)
        first = tail * (turned + ratio)
        rest = tail * (turned**2 + 2 * turned * ratio + ratio + 2 * ratio**2)
        second = np.where(distance >= 1, rest, self.law.variance - rest)
        return counts, self.law.cdf(distance - 1), first, second


# --- which empty cells survive -------------------------------------------------------------------


@lru_cache(maxsize=64)
def survival_bounds(scale: Fraction, threshold: int, *, digits: int = _DIGITS) -> Bounds:
    r"""Return bounds of :math:`\Pr[\eta \ge k]`, :math:`k \ge 1`, from below and from above."""
    low, high = _exp(-1 / scale, digits)
    tail_low, tail_high = _exp(-threshold / scale, digits)
    return tail_low / (1 + high), tail_high / (1 + low)


def survivors(cells: int, scale: Fraction, threshold: int, *, source: Source) -> Whole:
    """Return the places, increasing, of those among `cells` empty cells whose noise is at least `threshold`.

    Parameters
    ----------
    cells : int
        How many empty cells there are, below 2**63.
    scale : Fraction
        Scale of the discrete Laplace noise.
    threshold : int
        At least 1.
    source : Source
        Where the randomness comes from.
    """
    jump = _jump(scale, threshold)

    def chance(digits: int) -> Bounds:
        return _chance(jump, scale, threshold, digits)

    parts, place = [np.empty(0, dtype=np.int64)], -1
    while place < cells - 1:
        expected = (cells - 1 - place) / float(jump.scale)
        ahead = _gaps(jump, min(_CHUNK, 64 + math.ceil(1.02 * expected)), source)
        places, place = _walk(place, ahead, cells)
        parts.append(places[_draw_events(chance, places.size, source)])
    return np.concatenate(parts)


def geometric(scale: Fraction, size: int, *, source: Source) -> Whole:
    r"""Draw whole numbers with :math:`\Pr[G \ge g] = e^{-g/b}`: noise that is not negative."""
    drawn, count = [np.empty(0, dtype=np.int64)], 0
    while count < size:
        wanted = size - count
        noise = discrete_laplace(scale, size=2 * wanted + 16, source=source)
        kept = noise[noise >= 0][:wanted]
        drawn.append(kept)
        count += kept.size
    return np.concatenate(drawn)


class _Jump(NamedTuple):
    """A scale 2**shift * part of the candidates' geometric law."""

    shift: int
    part: Fraction

    @property
    def scale(self) -> Fraction:
        return self.part * (1 << self.shift)


@lru_cache(maxsize=64)
def _jump(scale: Fraction, threshold: int) -> _Jump:
    """Return a scale at which candidates are at least as likely as survivors, and not much more.

    1 - exp(-1/B) >= p for every B up to -1/ln(1 - p), which is above 1 since p < 1/2, and above 1/p - 1.
    """
    most = survival_bounds(scale, threshold)[1]
    inverse = min(math.floor(1 / most), _FARTHEST)
    shift = (inverse // _LARGEST_SCALE).bit_length()
    if shift:
        return _Jump(shift, Fraction((inverse - 1) >> shift))
    below = -1 / math.log1p(-float(most)) * (1 - 2.0**-18)
    grid = 256 if below < 1 << 20 else 1
    return _Jump(0, Fraction(math.floor(below * grid), grid))


@lru_cache(maxsize=64)
def _chance(jump: _Jump, scale: Fraction, threshold: int, digits: int) -> Bounds:
    """Return bounds of the chance that a candidate survives, p / (1 - exp(-1/B))."""
    low, high = survival_bounds(scale, threshold, digits=digits)
    kept_low, kept_high = _exp(-1 / jump.scale, digits)
    return low / (1 - kept_low), high / (1 - kept_high)


def _gaps(jump: _Jump, size: int, source: Source) -> Whole:
    """Draw how many cells lie between one candidate and the next; what would pass 2**62 stays below 2**63."""
    steps = geometric(jump.part, size, source=source)
    if not jump.shift:
        return steps
    inside = np.empty(size, dtype=np.int64)
    waiting = np.arange(size)
    while waiting.size:
        inside[waiting] = uniform_below(1 << jump.shift, size=waiting.size, source=source)
        waiting = waiting[_draw_refusals(inside[waiting], jump, source)]
    gaps: Whole = inside + (np.minimum(steps, (1 << 62) >> jump.shift) << jump.shift)
    return gaps


def _draw_refusals(inside: Whole, jump: _Jump, source: Source) -> npt.NDArray[np.bool_]:
    """Return True with probability 1 - exp(-u/B) for each u, which is below 1/part."""
    words = source.words(inside.size)
    refused = np.zeros(inside.size, dtype=np.bool_)
    doubtful = (1 << _WORD) - math.ceil((1 << _WORD) / jump.part)
    for place in np.flatnonzero(words >= np.uint64(doubtful)):
        exponent = -int(inside[place]) / jump.scale

        def bounds(digits: int, exponent: Fraction = exponent) -> Bounds:
            return _exp(exponent, digits)

        refused[place] = not _is_below(int(words[place]), bounds, source)
    return refused


def _walk(place: int, gaps: Whole, cells: int) -> tuple[Whole, int]:
    """Return the cells that these jumps from `place` reach, and the last of them, or of all if they leave.

    Sums in floats tell where the jumps have surely left; up to there, sums of 64 bits do not wrap.
    """
    left = cells - 1 - place
    steps = np.minimum(gaps, left).astype(np.uint64) + np.uint64(1)
    staying = int(np.searchsorted(np.cumsum(steps.astype(np.float64)), left * _MARGIN + 1, side="right"))
    sums = np.cumsum(steps[:staying])
    inside = sums[sums <= np.uint64(left)].astype(np.int64) + place
    gone = inside.size < gaps.size
    return inside, cells - 1 if gone else int(inside[-1])


def _draw_events(chance: Callable[[int], Bounds], size: int, source: Source) -> npt.NDArray[np.bool_]:
    """Return True with the probability that `chance` bounds, as closely as it takes."""
    low, high = chance(_DIGITS)
    words = source.words(size)
    surely = min(math.floor(low * (1 << _WORD)), (1 << _WORD) - 1)
    never = min(math.ceil(high * (1 << _WORD)), (1 << _WORD) - 1)
    happens = words < np.uint64(surely)
    for place in np.flatnonzero(~happens & (words <= np.uint64(never))):
        happens[place] = _is_below(int(words[place]), chance, source)
    return happens


def _is_below(word: int, bounds: Callable[[int], Bounds], source: Source) -> bool:
    """Tell whether a uniform number that starts with these bits is below the number that is bounded."""
    bits, digits = _WORD, _DIGITS
    while bits <= _MOST_BITS:
        low, high = bounds(digits)
        if word + 1 <= low * (1 << bits):
            return True
        if word >= high * (1 << bits):
            return False
        word = word << _WORD | int(source.words(1)[0])
        bits, digits = bits + _WORD, digits + 20
    raise RandomSourceError(
        f"{source!r} gave {bits:,} bits that decide nothing: it is not random. "
        "Hint: check the machine's generator; nothing was drawn."
    )


def _exp(exponent: Fraction, digits: int) -> Bounds:
    """Return bounds of an exponential; decimals are slow far below e**-2000, and nobody sees that far."""
    if exponent < _SMALLEST_LOG:
        return Fraction(0), exp_bounds(Fraction(_SMALLEST_LOG), digits=digits)[1]
    return exp_bounds(exponent, digits=digits)
