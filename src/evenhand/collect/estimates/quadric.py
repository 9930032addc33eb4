r"""How far an estimate is from the points where a quadratic expression is nought.

A gap between two rates, or a rate in units of the overall rate, is a function of four or three estimated
numbers, and *the gap is* :math:`\delta` is a quadratic equation in them once denominators are cleared. The
interval of the gap is the set of :math:`\delta` whose points come within :math:`z` standard errors of the
estimate. Where denominators stay clear of nought that set is an interval, and its ends are looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Equation = Callable[[Array], tuple[Array, Array]]

__all__ = ["distance", "reach"]

_STEPS = 100
_LOOKS = 60
_SMALL = 1e-300
_CLOSE = 1e-12
_LEVEL = 1e-9  # standard errors


def distance(point: Array, root: Array, quadratic: Array, linear: Array) -> Array:
    r"""Return the least squared number of standard errors from a point to where the expression is nought.

    .. math:: \min_m\ (m - x)^\top \Sigma^{-1} (m - x) \quad \text{with} \quad m^\top G m + g^\top m = 0

    where :math:`x` is `point`, :math:`\Sigma = L L^\top` with :math:`L` = `root`, and :math:`G, g` are
    `quadratic` and `linear`. In the axes of :math:`L^\top G L` the multiplier :math:`\mu` of the condition
    solves one falling equation between two poles, so the minimum is found for certain.

    Parameters
    ----------
    point : array of shape (..., d)
    root : array of shape (..., d, d)
    quadratic : array of shape (..., d, d)
        Symmetric, with eigenvalues of both signs or none at all.
    linear : array of shape (..., d)
    """
    turned = np.swapaxes(root, -1, -2)
    curve, axes = np.linalg.eigh(turned @ quadratic @ root)
    gradient = (quadratic @ point[..., None])[..., 0] + linear / 2
    tilt = (np.swapaxes(axes, -1, -2) @ (turned @ gradient[..., None]))[..., 0]
    level = np.sum(point * (gradient + linear / 2), axis=-1)
    multiplier = _multiplier(curve, tilt**2, level)[..., None]
    with np.errstate(over="ignore"):  # beside a pole: infinitely far
        return np.asarray(np.sum((multiplier * tilt / (1 + multiplier * curve)) ** 2, axis=-1))


def reach(
    point: Array, covariance: Array, equation: Equation, start: Array, end: Array, within: float
) -> Array:
    """Return how far from `start` toward `end` the values go that are within `within` standard errors.

    Parameters
    ----------
    point : array of shape (..., d)
        The estimate.
    covariance : array of shape (..., d, d)
        Its covariance, positive definite.
    equation : callable
        From values to the quadratic and linear part of the equation that says the value is this one.
    start, end : array
        A value that is within reach, and the last one that is of interest.
    within : float
        How many standard errors.
    """
    root = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)

    def excess(value: Array) -> Array:
        return np.sqrt(distance(point, root, *equation(value))) - within

    above = excess(end)
    whole = above <= 0  # all the way
    near, below = start, np.full_like(start, -within)
    far, above, found = end, np.where(whole, 1.0, above), start
    was_inside = np.zeros_like(whole)
    was_outside = np.zeros_like(whole)
    for _ in range(_LOOKS):  # regula falsi, the height of an end that stays being halved
        found = np.where(
            np.isfinite(above), near + (far - near) * (below / (below - above)), (near + far) / 2
        )
        height = excess(found)
        inside = height <= 0
        above = np.where(inside & was_inside, above / 2, above)
        below = np.where(~inside & was_outside, below / 2, below)
        near, below = np.where(inside, found, near), np.where(inside, height, below)
        far, above = np.where(inside, far, found), np.where(inside, above, height)
        was_inside, was_outside = inside, ~inside
        if (whole | (np.abs(height) <= _LEVEL)).all():
            break
    return np.where(whole, end, found)


def _multiplier(curve: Array, tilted: Array, level: Array) -> Array:
    """Return where the falling function is nought: Newton's steps, halving where they would leave."""
    most, least = curve.max(axis=-1), curve.min(axis=-1)
    low, high = -1 / np.maximum(most, _SMALL), -1 / np.minimum(least, -_SMALL)
    found = np.zeros_like(level)
    for _ in range(_STEPS):
        bent = 1 + found[..., None] * curve
        part = tilted / bent
        height = np.sum(part * found[..., None] * (found[..., None] * curve / bent - 2), axis=-1) + level
        low, high = np.where(height > 0, found, low), np.where(height > 0, high, found)
        fall = np.maximum(2 * np.sum(part / bent**2, axis=-1), _SMALL)
        step = found + height / fall
        inside = (step >= low) & (step <= high)
        following = np.where(inside, step, (low + high) / 2)
        settled = np.abs(following - found) <= _CLOSE * np.abs(following)
        found = following
        if settled.all():
            break
    return found
