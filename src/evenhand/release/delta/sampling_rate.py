r"""How many people may be sampled: the largest rate whose exact delta is within what is asked."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exact
from evenhand.release.delta.sampling import MOST_K, sampled_delta

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SMALLEST_DELTA", "rate_for"]

SMALLEST_DELTA = Fraction(1, 10**40)
"""A smaller delta is refused: it is far below anything that could be noticed."""

_CLOSE = 1e-6
_GRID = 2**64
_MOST_STEPS = 80


def rate_for(epsilon: Number, delta: Number, *, k: int, unit: Unit | str) -> Fraction:
    r"""Return the rate at which people may be sampled so that (epsilon, delta) holds, rounded down.

    Two tables with `k` and `k` - 1 people in a cell are told apart by the outcome `k`, which has the chance
    :math:`\beta^k`, so :math:`\delta^{1/k}` is an upper end. From there the rate is found by interpolation
    on the exact delta of :func:`~evenhand.release.delta.sampling.sampled_delta`.

    Parameters
    ----------
    epsilon : number
        Above 0.
    delta : number
        From 1e-40 to below 1.
    k : int
        Sampled counts below it are suppressed, 1 to 1,000.
    unit : Unit or str
        ``"replace one"`` or ``"add or remove one"``.

    Returns
    -------
    Fraction
        A multiple of 2**-64. Its exact delta is at most `delta`, and at least (1 - 10**-6) times it wherever
        the grid of rates is fine enough.

    Raises
    ------
    InvalidParameterError
        If no rate on the grid is small enough; a larger `k` helps.

    Examples
    --------
    >>> f"{float(rate_for(1, '1e-6', k=10, unit='replace one')):.5f}"
    '0.17176'
    """
    owner = "rate_for"
    asked = exact(epsilon, name="epsilon", owner=owner, above=0)
    target = exact(delta, name="delta", owner=owner, above=0)
    if not SMALLEST_DELTA <= target < 1:
        must_be = "a number from 1e-40 to below 1"
        raise InvalidParameterError("delta", owner=owner, must_be=must_be, got=delta)
    least = integer("k", k, owner=owner, low=1, high=MOST_K)
    change = one_of("unit", unit, (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE), owner=owner)
    found = _rate(asked, target, least, change)
    if found == 0:
        raise InvalidParameterError(
            "delta",
            owner=owner,
            must_be=f"large enough that somebody can be sampled with k = {least:,}",
            got=delta,
            hint="a larger k allows a larger rate.",
        )
    return found


@functools.lru_cache(maxsize=256)
def _rate(epsilon: Fraction, target: Fraction, k: int, unit: Unit) -> Fraction:
    def off(rate: Fraction) -> float:
        """Return ln(delta / target) at the rate."""
        delta = sampled_delta(epsilon, rate=rate, k=k, unit=unit).delta
        return math.log(delta / target) if delta else -math.inf

    high = _on_grid(float(target) ** (1 / k))
    if unit is Unit.REPLACE_ONE:  # which allows at most as much, and is quicker to find
        high = _rate(epsilon, target, k, Unit.ADD_OR_REMOVE_ONE)
    over = off(high)
    if over <= 0:
        return high
    low, under = high, over
    while under > 0:
        low = _on_grid(float(low) * math.exp(-under / k) * (1 - _CLOSE))
        under = off(low)
    if under > -_CLOSE or low == 0:
        return low
    return _between(off, low, high)


def _between(off: Callable[[Fraction], float], low: Fraction, high: Fraction) -> Fraction:
    """Return a rate just below the one with the target, on a bracket that holds it."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

    def missed(log: float) -> float:
        value = off(_on_grid(math.exp(log)))
        return 0.0 if -_CLOSE < value <= 0 else value + _CLOSE / 2  # 0 ends the search

    found = brentq(missed, math.log(low), math.log(high), xtol=1e-9, maxiter=_MOST_STEPS)
    rate = _on_grid(math.exp(found))
    while off(rate) > 0:
        rate = _on_grid(float(rate) * (1 - _CLOSE))
    return rate


def _on_grid(rate: float) -> Fraction:
    return Fraction(math.floor(min(rate, 1 - 2**-53) * _GRID), _GRID)
