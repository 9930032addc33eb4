"""The temperatures of shrinking with the smallest worst bias and alpha: properties of the noise alone."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from evenhand._validate import one_of
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.release.postprocess.noise_bias import shrink_bias

__all__ = ["best_temperature", "evenest_temperature", "optimal_temperature", "worst_alpha", "worst_bias"]

_POINTS = 33
_CLOSE = 1e-9
_WIDE = 500


def optimal_temperature(law: Law | float, *, minimize: str = "worst bias") -> float:
    r"""Return the temperature at which ``Shrink`` has the smallest worst bias, or alpha, of all counts.

    .. math:: T^* = \arg\min_T \max_{x \ge \ell} |B(x)|, \quad
              T_\alpha = \arg\min_T \big( \max_{x \ge \ell} B(x) - \min_{x \ge \ell} B(x) \big), \quad
              B(x) = E[\hat x] - x

    The extremes are over all counts that are possible, so no data are needed: the temperature depends on the
    noise only and may be chosen before the table is seen. For Laplace noise of a large scale :math:`b`,
    :math:`T^*` is about :math:`0.75\, b^2` and its worst bias 42 % below that of clamping, but its alpha is
    16 % above. :math:`T_\alpha` is about :math:`0.17\, b^2` and its alpha 10 % below that of clamping.

    Parameters
    ----------
    law : Law or number
        The noise; a number is the scale of Laplace noise. Where discrete noise is wider than 500, the
        real law of the same scale stands in for it, which changes less than a millionth.
    minimize : {"worst bias", "alpha"}, default "worst bias"
        Which figure is to be small: the bias of the count that is off most, or the largest difference
        between the biases of two counts.

    Examples
    --------
    >>> f"{optimal_temperature(2):.4f} {optimal_temperature(2, minimize='alpha'):.4f}"
    '3.9331 0.8554'
    """
    chosen = one_of("minimize", minimize, ("worst bias", "alpha"), owner="optimal_temperature")
    return best_temperature(law) if chosen == "worst bias" else evenest_temperature(law)


def best_temperature(law: Law | float) -> float:
    """Return the temperature at which the bias upwards of nobody equals the worst bias downwards.

    The first falls with the temperature and the second grows, so the larger of both is smallest there.
    """
    noise = _real_law(law)
    low, high = 0.0, noise.variance / 8
    if not high:
        return 0.0
    while _balance(noise, high) > 0:
        low, high = high, 2 * high
    found: float = brentq(lambda each: _balance(noise, each), low, high, xtol=_CLOSE * high, rtol=_CLOSE)
    return found


def evenest_temperature(law: Law | float) -> float:
    """Return the temperature at which the bias of any two counts differs least.

    It is below the other one: where both ends are as far from 0, the lower one still falls faster than the
    upper one.
    """
    noise, most = _real_law(law), best_temperature(law)
    if not most:
        return 0.0
    grid = np.geomspace(most / 1000, most, _POINTS)
    lowest = int(np.argmin([worst_alpha(noise, each) for each in grid]))
    ends = (grid[max(0, lowest - 1)], grid[min(len(grid) - 1, lowest + 1)])
    found = minimize_scalar(
        lambda each: worst_alpha(noise, each), bounds=ends, method="bounded", options={"xatol": 1e-7 * most}
    )
    return float(found.x)


def _real_law(law: Law | float) -> Law:
    """Return the law; for wide discrete noise the real one, which differs by less than a millionth."""
    if not isinstance(law, Law):
        return Laplace(law)
    if isinstance(law, DiscreteLaplace) and float(law.scale) > _WIDE:
        return Laplace(law.scale)
    if isinstance(law, DiscreteGaussian) and float(law.squared_scale) > _WIDE**2:
        return Gaussian(law.squared_scale)
    return law


def worst_bias(law: Law, temperature: float) -> float:
    """Return the largest absolute bias that a count of at least the least value can have."""
    up, down = _ends(law, temperature)
    return max(up, -down)


def worst_alpha(law: Law, temperature: float) -> float:
    """Return the largest difference between the biases of two counts of at least the least value."""
    up, down = _ends(law, temperature)
    return up - down


def _balance(law: Law, temperature: float) -> float:
    up, down = _ends(law, temperature)
    return up + down


def _ends(law: Law, temperature: float) -> tuple[float, float]:
    """Return the bias at the least value and the lowest bias above it."""
    up = float(shrink_bias(np.zeros(1), law, T=temperature)[0])
    whole = law.support == "integers"
    far = 40 * law.standard_deviation + 10 * np.sqrt(temperature) + 40
    grid = np.geomspace(1, far + 1, 4 * _POINTS) - 1
    while True:
        points = np.unique(np.rint(grid)) if whole else grid
        biases = shrink_bias(points, law, T=temperature)
        lowest = int(np.argmin(biases))
        left, right = points[max(0, lowest - 1)], points[min(len(points) - 1, lowest + 1)]
        if right - left <= (2 if whole else 1e-7 * (1 + right)):
            return up, float(biases[lowest])
        grid = np.linspace(left, right, _POINTS)
