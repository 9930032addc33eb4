"""Suppression after noise: the look of suppressed small counts, with a pure guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._validate import integer
from evenhand.errors import LimitExceededError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.scales import LaplaceNoise, laplace_noise
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism, checked_unit
from evenhand.release.mechanisms.noise import assumptions_of, cells_moved, clip_counts, stated_loss
from evenhand.release.mechanisms.survivors import geometric, survival_bounds, survivors
from evenhand.release.table.histogram import MOST_CELLS, Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

    Values = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

__all__ = ["ThresholdedLaplace"]

_LARGEST_THRESHOLD = 1 << 50


@dataclass(frozen=True, init=False, repr=False)
class ThresholdedLaplace(ReleaseMechanism):
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

    Notes
    -----
    A table of more than 50 million cells is kept as its filled cells. Those get their noise one by one. How
    many of the empty ones survive, and which, is drawn from the exact law in time proportional to the number
    of survivors (:mod:`evenhand.release.mechanisms.survivors`); what is published in them is the threshold
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

    def __init__(self, epsilon: Number, threshold: int, *, unit: Unit | str = Unit.REPLACE_ONE) -> None:
        owner = "ThresholdedLaplace"
        self._set(
            epsilon=exact(epsilon, name="epsilon", owner=owner, above=0, most=1_000_000),
            threshold=integer("threshold", threshold, owner=owner, low=0, high=_LARGEST_THRESHOLD),
            unit=checked_unit(unit, owner=owner),
        )
        _ = self.noise  # refuses an epsilon whose noise cannot be drawn

    @cached_property
    def noise(self) -> LaplaceNoise:
        """The scale of the noise as it is drawn, and the epsilon of that."""
        return laplace_noise(self.epsilon, sensitivity=cells_moved(self.unit))

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The law of the noise on one count."""
        return DiscreteLaplace(self.noise.scale)

    def guarantee_for(
        self,
        histogram: Histogram,
        *,
        epsilon: Any = None,
        as_printed: bool = False,  # noqa: ARG002 - nobody prints another
    ) -> Guarantee:
        """Return what a release of this table promises; with `epsilon`, a delta at that smaller epsilon."""
        claimed, delta = stated_loss(self.noise, self.unit, epsilon, owner="ThresholdedLaplace.guarantee_for")
        seen = histogram.bound is None or histogram.bound >= max(1, self.threshold)
        return Guarantee(
            epsilon=claimed,
            delta=delta,
            unit=self.unit,
            trust="central",
            protects=histogram.columns,
            tight=histogram.size >= cells_moved(self.unit) and seen and not delta,
            proof=self.title,
            assumptions=assumptions_of(histogram),
        )

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
        if isinstance(histogram, Histogram) and histogram.is_sparse:
            self._check_room(histogram.size)

    def _check_room(self, size: int) -> None:
        """Refuse a table of which too many empty cells would survive; only public numbers are looked at."""
        least = 1 if self.threshold == 0 else self.threshold
        expected = size * survival_bounds(self.noise.scale, least)[1]
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
        found: Values = first - counts * below
        return found

    def _variance(self, histogram: Histogram) -> Values:
        counts, below, first, second = self._moments(histogram)
        above = self.law.sf(self.threshold - counts - 1)
        found: Values = second - first**2 + counts**2 * below * above + 2 * counts * below * first
        return found

    def _absolute_error(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        if post:
            return None
        counts, below, first, _ = self._moments(histogram)
        ratio = math.exp(-1 / float(self.noise.scale))
        size = 2 * ratio / (1 - ratio**2)  # of the noise, on average
        found: Values = counts * below + np.where(self.threshold > counts, first, size - first)
        return found

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
