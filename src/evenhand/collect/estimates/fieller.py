r"""Intervals of a ratio of two estimates, which may be unbounded.

The rate of a group is a ratio: the share of people who are in the group and have the outcome, divided by
the share of people in the group. Both are estimates, and where the second may be nought the ratio may be
anything. Fieller's set says so; intervals built around the ratio itself do not. The variance is that of the
rate being tested, as in a score interval, which keeps the level also where few people have the outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["fieller_limits", "rate_variance", "separated"]

Limits = tuple["npt.NDArray[np.float64]", "npt.NDArray[np.float64]"]


def separated(
    below: npt.NDArray[np.float64], variance: npt.NDArray[np.float64], z: float
) -> npt.NDArray[np.bool_]:
    """Whether each denominator is above nought by more than `z` standard errors."""
    return np.asarray((below > 0) & (below**2 > z * z * variance))


def rate_variance(
    below: npt.NDArray[np.float64], overall: npt.NDArray[np.float64], squares: tuple[Any, Any]
) -> npt.NDArray[np.float64]:
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
    above: npt.NDArray[np.float64],
    below: npt.NDArray[np.float64],
    *,
    variance: npt.NDArray[np.float64],
    known: npt.NDArray[np.bool_],
    z: float,
    half: npt.NDArray[np.float64] | float = 0.0,
) -> Limits:
    r"""Return the ratios that a test does not reject, cut at 0 and 1.

    .. math:: \{ r \in [0, 1] : |N - r D| \le h + z \sqrt{v_0 + v_1 r + v_2 r^2} \}

    where :math:`N` is `above`, :math:`D` is `below` and :math:`h` is `half`. Where the
    denominator is not known to be above nought the limits are 0 and 1. A ratio outside of [0, 1] gets the
    interval of 0 or 1, so that none is empty.

    Parameters
    ----------
    above, below : array
        Numerator and denominator.
    variance : array of shape (..., 3)
        The coefficients of the variance of :math:`N - r D` in r.
    known : array of bool
        Whether the denominator is :func:`separated` from nought.
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
        np.where(bounded, _root(np.clip(moved, 0, kept), kept, (constant, linear, leading), sign), end)
        for moved, sign, end in ((above - half, -1, 0.0), (above + half, 1, 1.0))
    )
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _root(
    top: npt.NDArray[np.float64],
    below: npt.NDArray[np.float64],
    terms: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]],
    sign: int,
) -> npt.NDArray[np.float64]:
    """Return the smaller or larger ratio at which the squared distance is z squared variances."""
    constant, linear, leading = terms
    middle = top * below + linear / 2
    root = np.sqrt(np.maximum(middle**2 - leading * (top**2 - constant), 0))
    return np.asarray((middle + sign * root) / leading)
