r"""Intervals of ratios of estimates, which may be unbounded, and of gaps between two ratios.

The rate of a group is a ratio: the share of people who are in the group and have the outcome, divided by
the share of people in the group. Both are estimates, and where the second may be zero the ratio may be
anything. Fieller's set says so; intervals built around the ratio itself do not. The variance is that of the
rate being tested, as in a score interval, which keeps the level also where few people have the outcome.

A gap between two rates, or a rate in units of the overall rate, is a function of four or three estimated
numbers, and *the gap is* :math:`\delta` is a quadratic equation in them once denominators are cleared. The
interval of the gap is the set of :math:`\delta` whose points come within :math:`z` standard errors of the
estimate. Where denominators stay clear of zero that set is an interval, and its ends are looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Limits = tuple[Array, Array]
    Equation = Callable[[Array], Limits]


def is_separated(below: Array, variance: Array, z: float) -> npt.NDArray[np.bool_]:
    """Whether each denominator is above zero by more than `z` standard errors."""
    return np.asarray((below > 0) & (below**2 > z * z * variance))


def rate_variance(below: Array, overall: Array, squares: tuple[Any, Any]) -> Array:
    r"""Return the variance of numerator minus rate times denominator, for one person, if the rate is true.

    .. math:: V(r) = \kappa_1 D\, r (1-r) + \kappa_0 \big( (\pi - r D)(1-r)^2 + (1 - \pi - D + r D) r^2 \big)

    where :math:`D` is the share of the group, :math:`\pi` the overall rate, and
    :math:`\kappa_1 = (p (1-q)^2 + (1-p) q^2)/(p-q)^2`, :math:`\kappa_0 = q (1-q)/(p-q)^2` are the mean
    squares of a person's score for their own and for another group (`squares`, from a channel's
    ``mean_squares``). The cubic terms cancel.

    Returns
    -------
    array of shape (..., 3)
        The coefficients of 1, r and r squared.
    """
    own, other = squares
    share = np.clip(below, 0, 1)
    rate = np.broadcast_to(overall, share.shape)
    linear = own * share - other * (2 * rate + share)
    return np.stack([other * rate, linear, other * (1 + share) - own * share], axis=-1)


def fieller_limits(
    above: Array,
    below: Array,
    *,
    variance: Array,
    known: npt.NDArray[np.bool_],
    z: float,
    half: Array | float = 0.0,
) -> Limits:
    r"""Return the ratios that a test does not reject, cut at 0 and 1.

    .. math:: \{ r \in [0, 1] : |N - r D| \le h + z \sqrt{v_0 + v_1 r + v_2 r^2} \}

    where :math:`N` is `above`, :math:`D` is `below` and :math:`h` is `half`. Where the
    denominator is not known to be above zero the limits are 0 and 1. A ratio outside of [0, 1] gets the
    interval of 0 or 1, so that none is empty.

    Parameters
    ----------
    above, below : array
        Numerator and denominator.
    variance : array of shape (..., 3)
        The coefficients of the variance of :math:`N - r D` in r.
    known : array of bool
        Whether the denominator is :func:`is_separated` from zero.
    z : float
        How many standard errors far.
    half : array or float
        Half of what one report changes in the numerator: the correction for counts being whole.

    References
    ----------
    .. [1] Fieller (1954). Some problems in interval estimation. Journal of the Royal Statistical Society,
           series B 16.

    Examples
    --------
    >>> precise, vague = [1e-4, 0, 1e-4], [0.04, 0, 0.04]  # N and D uncorrelated, each with this variance
    >>> low, high = fieller_limits(
    ...     np.array([0.1, 0.1]), np.array([0.3, 0.3]),
    ...     variance=np.array([precise, vague]), known=np.array([True, False]), z=1.96,
    ... )
    >>> [f"{a:.3f} to {b:.3f}" for a, b in zip(low, high)]
    ['0.266 to 0.404', '0.000 to 1.000']
    """
    constant, linear, square = (z * z * variance[..., place] for place in range(3))
    leading = below**2 - square
    bounded = known & (leading > 0)
    kept, leading = np.where(bounded, below, 1.0), np.where(bounded, leading, 1.0)
    low, high = (
        np.where(bounded, score_root(np.clip(moved, 0, kept), kept, (constant, linear, leading), sign), end)
        for moved, sign, end in ((above - half, -1, 0.0), (above + half, 1, 1.0))
    )
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def score_root(top: Any, below: Any, terms: tuple[Any, Any, Any], sign: int) -> Array:
    """Return the smaller or larger ratio at which the squared distance is z squared variances."""
    constant, linear, leading = terms
    middle = top * below + linear / 2
    root = np.sqrt(np.maximum(middle**2 - leading * (top**2 - constant), 0))
    return np.asarray((middle + sign * root) / leading)


_STEPS = 100
_LOOKS = 60
_SMALL = 1e-300
_CLOSE = 1e-12
_LEVEL = 1e-9  # standard errors


def distance(point: Array, root: Array, quadratic: Array, linear: Array) -> Array:
    r"""Return the least squared number of standard errors from a point to where the expression is zero.

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


def find_limit(
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
    far, above, value = end, np.where(whole, 1.0, above), start
    was_inside = np.zeros_like(whole)
    was_outside = np.zeros_like(whole)
    for _ in range(_LOOKS):  # regula falsi, the height of an end that stays being halved
        value = np.where(
            np.isfinite(above), near + (far - near) * (below / (below - above)), (near + far) / 2
        )
        height = excess(value)
        inside = height <= 0
        above = np.where(inside & was_inside, above / 2, above)
        below = np.where(~inside & was_outside, below / 2, below)
        near, below = np.where(inside, value, near), np.where(inside, height, below)
        far, above = np.where(inside, far, value), np.where(inside, above, height)
        was_inside, was_outside = inside, ~inside
        if (whole | (np.abs(height) <= _LEVEL)).all():
            break
    return np.where(whole, end, value)


def _multiplier(curve: Array, tilted: Array, level: Array) -> Array:
    """Return where the falling function is zero: Newton's steps, halving where they would leave."""
    most, least = curve.max(axis=-1), curve.min(axis=-1)
    low, high = -1 / np.maximum(most, _SMALL), -1 / np.minimum(least, -_SMALL)
    multiplier = np.zeros_like(level)
    for _ in range(_STEPS):
        bent = 1 + multiplier[..., None] * curve
        part = tilted / bent
        height = (
            np.sum(part * multiplier[..., None] * (multiplier[..., None] * curve / bent - 2), axis=-1) + level
        )
        low, high = np.where(height > 0, multiplier, low), np.where(height > 0, high, multiplier)
        fall = np.maximum(2 * np.sum(part / bent**2, axis=-1), _SMALL)
        step = multiplier + height / fall
        inside = (step >= low) & (step <= high)
        following = np.where(inside, step, (low + high) / 2)
        settled = np.abs(following - multiplier) <= _CLOSE * np.abs(following)
        multiplier = following
        if settled.all():
            break
    return multiplier
