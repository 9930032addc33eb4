"""Noise scales that the samplers can draw exactly, and the guarantee that belongs to them.

The kernels work with rationals whose numerator and denominator are below 2**31. Another scale is
rounded up to the next such rational, which is more noise, and the guarantee is computed again from it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

__all__ = ["GaussianNoise", "LaplaceNoise", "gaussian_noise", "laplace_noise", "representable"]

LARGEST = (1 << 31) - 1


class LaplaceNoise(NamedTuple):
    """A scale of discrete Laplace noise and the pure guarantee it gives."""

    scale: Fraction
    epsilon: Fraction


class GaussianNoise(NamedTuple):
    """A variance parameter of discrete Gaussian noise and the concentrated guarantee it gives."""

    variance: Fraction
    rho: Fraction


def representable(scale: Number) -> Fraction:
    """Return the smallest rational >= `scale` with numerator and denominator below 2**31.

    Parameters
    ----------
    scale : int, float, str, Fraction or Decimal
        A number > 0 and below 2**31.

    Returns
    -------
    Fraction
        `scale` itself where it qualifies. Otherwise the next larger one, which is at most
        ``scale * (1 + 2**-30)`` unless the scale is below every representable number.

    Raises
    ------
    InvalidParameterError
        If `scale` is not a number > 0, or is too large to be rounded up.

    Examples
    --------
    >>> representable("1/3")
    Fraction(1, 3)
    >>> representable(3.141592653589793)
    Fraction(1790261609, 569857969)
    """
    wanted = exact(scale, name="scale", owner="representable", above=0)
    if wanted > LARGEST:
        must_be = f"a number > 0 and at most {LARGEST}"
        raise InvalidParameterError("scale", owner="representable", must_be=must_be, got=scale)
    return wanted if is_representable(wanted) else _next_above(wanted)


def is_representable(scale: Fraction) -> bool:
    """Tell whether numerator and denominator are both in 1 .. 2**31 - 1."""
    return 0 < scale.numerator <= LARGEST and scale.denominator <= LARGEST


def laplace_noise(epsilon: Number, *, sensitivity: Number) -> LaplaceNoise:
    r"""Return the scale that gives `epsilon` and the exact guarantee of that scale.

    The scale is :math:`b \ge \Delta_1 / \varepsilon`, rounded up to a representable one, and the
    guarantee is :math:`\Delta_1 / b \le \varepsilon`.

    Parameters
    ----------
    epsilon : number
        Privacy parameter asked for, > 0.
    sensitivity : number
        Largest change of the answers in absolute value, summed, that one unit of privacy can make, > 0.

    Examples
    --------
    >>> laplace_noise("1/10", sensitivity=2)
    LaplaceNoise(scale=Fraction(20, 1), epsilon=Fraction(1, 10))
    """
    asked = exact(epsilon, name="epsilon", owner="laplace_noise", above=0)
    change = exact(sensitivity, name="sensitivity", owner="laplace_noise", above=0)
    scale = representable(change / asked)
    return LaplaceNoise(scale, change / scale)


def gaussian_noise(rho: Number, *, squared_sensitivity: Number) -> GaussianNoise:
    r"""Return the variance that gives `rho` and the exact guarantee of that variance.

    The variance parameter is :math:`\sigma^2 \ge \Delta_2^2 / (2 \rho)`, rounded up to a representable
    one, and the guarantee is :math:`\Delta_2^2 / (2 \sigma^2) \le \rho` of zero-concentrated
    differential privacy.

    Parameters
    ----------
    rho : number
        Privacy parameter asked for, > 0.
    squared_sensitivity : number
        Largest sum of squared changes of the answers that one unit of privacy can make, > 0. It is the
        square that is rational: 2 when one person moves between two cells of a table.

    Examples
    --------
    >>> gaussian_noise("1/25", squared_sensitivity=2)
    GaussianNoise(variance=Fraction(25, 1), rho=Fraction(1, 25))
    """
    asked = exact(rho, name="rho", owner="gaussian_noise", above=0)
    change = exact(squared_sensitivity, name="squared_sensitivity", owner="gaussian_noise", above=0)
    variance = representable(change / (2 * asked))
    return GaussianNoise(variance, change / (2 * variance))


def _next_above(wanted: Fraction) -> Fraction:
    """Walk down the Stern-Brocot tree, many steps at a time.

    The neighbours ``low < wanted < high`` always satisfy h k' - h' k = 1, so every fraction between them
    has numerator and denominator at least the sums of theirs. When the sums pass the limit nothing
    representable is left between, and ``high`` is the answer.
    """
    low_top, low_bottom, high_top, high_bottom = 0, 1, 1, 0
    top, bottom = wanted.numerator, wanted.denominator
    while True:
        # Raise `low` by multiples of `high` while it stays below `wanted` and within the limit.
        steps = (top * low_bottom - low_top * bottom) // (high_top * bottom - top * high_bottom)
        fitting = _most_steps(low_top, low_bottom, high_top, high_bottom)
        low_top += min(steps, fitting) * high_top
        low_bottom += min(steps, fitting) * high_bottom
        if steps > fitting:
            return Fraction(high_top, high_bottom)
        # Lower `high` by multiples of `low` while it stays above `wanted` and within the limit.
        steps = (high_top * bottom - top * high_bottom) // (top * low_bottom - low_top * bottom)
        fitting = _most_steps(high_top, high_bottom, low_top, low_bottom)
        high_top += min(steps, fitting) * low_top
        high_bottom += min(steps, fitting) * low_bottom
        if steps >= fitting:
            return Fraction(high_top, high_bottom)


def _most_steps(top: int, bottom: int, by_top: int, by_bottom: int) -> int:
    rooms = [(LARGEST - top) // by_top] if by_top else []
    return min([*rooms, (LARGEST - bottom) // by_bottom] if by_bottom else rooms)
