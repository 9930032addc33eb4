"""Intervals of shares that are estimated from reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.measure.intervals import Interval, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evenhand.collect.protocols.channel import Channel
    from evenhand.collect.protocols.matrix_channel import MatrixChannel

__all__ = ["Intervals", "Target", "score_limits"]

Target = Literal["people", "population"]
"""Whom an interval is about: those who reported, or those they were drawn from."""

Limits = tuple["npt.NDArray[np.float64]", "npt.NDArray[np.float64]"]


@dataclass(frozen=True, eq=False)
class Intervals:
    """One interval for each value; unpacks into its lower and its upper limits.

    Parameters
    ----------
    low, high : array
        The limits, from 0 to 1; NaN if there are no reports.
    level : float
        How often each of them is meant to hold the true share.
    of : {"people", "population"}
        Whom they are about.
    method : str
        The name of the method.
    exact : bool
        Whether the level is guaranteed for every sample size, and not only approached.
    reason : str
        Why there are none, if there are none.

    Examples
    --------
    >>> found = Intervals(
    ...     np.array([0.1, 0.4]), np.array([0.3, 0.7]), level=0.95, of="people", method="score", exact=False
    ... )
    >>> low, high = found
    >>> low.tolist(), found.at(1).high
    ([0.1, 0.4], 0.7)
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    level: float
    of: Target
    method: str
    exact: bool
    reason: str = ""

    def __iter__(self) -> Iterator[npt.NDArray[np.float64]]:
        yield self.low
        yield self.high

    def at(self, value: int) -> Interval:
        """Return the interval of one value."""
        low, high = float(self.low[value]), float(self.high[value])
        return Interval(low, high, self.level, self.method, exact=self.exact, reason=self.reason)


def score_limits(
    counts: npt.ArrayLike, n: int, channel: Channel | MatrixChannel, *, level: float, of: Target
) -> Limits:
    r"""Return the shares that a test at the level does not reject, in closed form.

    .. math:: \left| \tfrac{C}{n} - q - f (p - q) \right| \le \tfrac{1}{2n} + z \sqrt{V(f) / n}

    where :math:`C` of the :math:`n` reports support the value, :math:`f` is its share and :math:`z` the
    normal quantile. About the people who reported, :math:`V(f) = f p(1-p) + (1-f) q(1-q)`; about the
    population they were drawn from, :math:`V(f) = \pi (1 - \pi)` with :math:`\pi = q + f(p-q)`.
    The half report is the correction for counts being whole. An estimate below 0 or above 1 gets the
    interval of 0 or 1: it is never empty and never a single point. Where reports follow a matrix, V is the
    variance of the score, and the people who do not have the value are spread as estimated.
    """
    if n == 0:
        nothing = np.full(np.shape(counts), np.nan)
        return nothing, nothing.copy()
    scaled = normal_quantile(1 - level) ** 2 / n
    excess, width, noise, slope, step = channel.score_terms(counts, n, population=of == "population")
    shape, half = _Shape(noise, slope, of == "population"), 0.5 * step / n
    low = shape.root(np.clip(excess - half, 0, width), scaled, -1) / width
    high = shape.root(np.clip(excess + half, 0, width), scaled, 1) / width
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


@dataclass(frozen=True)
class _Shape:
    """Variance of the support of a value as its excess g over q grows: noise + slope g (- g squared)."""

    noise: Any
    slope: Any
    bent: bool

    def root(self, excess: npt.NDArray[np.float64], scaled: float, sign: int) -> npt.NDArray[np.float64]:
        """Return the smaller or larger g at which (excess - g) squared is `scaled` variances."""
        leading = 1 + scaled if self.bent else 1.0
        middle = excess + scaled * self.slope / 2
        last = excess**2 - scaled * self.noise
        found: npt.NDArray[np.float64] = np.sqrt(np.maximum(middle**2 - leading * last, 0))
        return np.asarray((middle + sign * found) / leading)
