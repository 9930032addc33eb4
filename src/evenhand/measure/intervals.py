r"""Intervals for shares, their differences, ratios and means, in closed form.

All functions take arrays and broadcast. A share with no trials has no interval: both limits are
NaN. Every other input has one, also 0 of 1 and 1 of 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import kind_of, refuse
from evenhand.measure.columns import read_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

special = lazy("scipy.special")

_HIGHEST_LEVEL = 1 - 1e-12  # nearer to 1 the error left over is lost in rounding
_OTHER = ("other", "other_trials")
_ROUNDING = 1e-9  # by which a sum of weights may pass another that it is part of

Limits = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""Lower and upper limits."""


@dataclass(frozen=True)
class Interval:
    """Two limits and how they were found.

    Parameters
    ----------
    low, high : float
        The limits; NaN where the measure itself is undefined.
    level : float
        How often such intervals are meant to hold the true value.
    method : str
        The name of the method.
    exact : bool
        Whether the level is guaranteed for every sample size, and not only approached.
    reason : str
        Why there is no interval, if there is none.

    Examples
    --------
    >>> low, high = Interval(-0.1, 0.3, level=0.95, method="Newcombe hybrid score", exact=False)
    >>> low, high
    (-0.1, 0.3)
    >>> 0 in Interval(-0.1, 0.3, level=0.95, method="Newcombe hybrid score", exact=False)
    True
    """

    low: float
    high: float
    level: float
    method: str
    exact: bool
    reason: str = ""

    def __iter__(self) -> Iterator[float]:
        yield self.low
        yield self.high

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def check_level(level: object, *, owner: str) -> float:
    """Return `level` if it is a number strictly between 0 and 1, else refuse it."""
    if not isinstance(level, int | float | np.floating):
        refuse("level", owner, "a number between 0 and 1", kind_of(level))
    if not 0 < level <= _HIGHEST_LEVEL:
        refuse("level", owner, "a number between 0 and 1, and at most 1 - 1e-12", level)
    return float(level)


def normal_quantile(tails: float) -> float:
    """Return how many standard errors leave out `tails`, half of it on each side.

    >>> f"{normal_quantile(0.05):.4f}"
    '1.9600'
    """
    return -NormalDist().inv_cdf(tails / 2)


def clopper_pearson(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    r"""Return the exact interval of a share, by inverting the binomial test from both sides.

    .. math:: L = B_{\alpha/2}(x, n - x + 1), \qquad U = B_{1-\alpha/2}(x + 1, n - x)

    where :math:`B_q(a, b)` is the :math:`q` quantile of the beta law, :math:`x` is `successes`,
    :math:`n` is `trials` and :math:`\alpha` is one minus `level`.

    Parameters
    ----------
    successes, trials : array_like
        Counts, with successes from 0 to trials; they need not be whole, as effective sizes are not.
    level : float
        Between 0 and 1.

    Returns
    -------
    low, high : arrays

    References
    ----------
    .. [1] Clopper, Pearson (1934). The use of confidence or fiducial limits illustrated in the
           case of the binomial. Biometrika 26.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> f"{low:.4f} {high:.4f}"
    '0.0000 0.3085'
    """
    tails = 1 - check_level(level, owner="clopper_pearson")
    return exact_limits(*_counts(successes, trials, "clopper_pearson"), tails)


def exact_limits(x: NDArray[Any], n: NDArray[Any], tails: float) -> Limits:
    """Return the interval of :func:`clopper_pearson` that leaves out `tails`, half of it on each side."""
    inner = np.where((n > 0) & (x > 0), x, np.nan)
    low = np.where(x <= 0, 0.0, special.betaincinv(inner, n - inner + 1, tails / 2))
    inner = np.where((n > 0) & (x < n), x, np.nan)
    high = np.where(x >= n, 1.0, special.betainccinv(inner + 1, n - inner, tails / 2))
    return _blank(low, n), _blank(high, n)


def wilson(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    r"""Return the score interval of a share.

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n}

    where :math:`\hat p = x/n` is the share and :math:`z` the normal quantile of the level.

    References
    ----------
    .. [1] Wilson (1927). Probable inference, the law of succession, and statistical inference.
           Journal of the American Statistical Association 22.

    Examples
    --------
    >>> low, high = wilson(0, 10)
    >>> f"{low:.4f} {high:.4f}"
    '0.0000 0.2775'
    """
    z = normal_quantile(1 - check_level(level, owner="wilson"))
    x, n = _counts(successes, trials, "wilson")
    n = np.where(n > 0, n, np.nan)
    share = x / n
    middle = share + z * z / (2 * n)
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = np.where(x <= 0, 0.0, (middle - reach) / (1 + z * z / n))
    high = np.where(x >= n, 1.0, (middle + reach) / (1 + z * z / n))
    return _blank(low, n), _blank(high, n)


def newcombe(
    successes: ArrayLike, trials: ArrayLike, other: ArrayLike, other_trials: ArrayLike, level: float = 0.95
) -> Limits:
    r"""Return the hybrid score interval of the first share minus the other.

    It is that of :func:`share_difference`, which reports use, with the :func:`wilson` interval of each share.
    One success in a small group puts its lower limit far above a small rate, so beside a large group it
    misses a difference of 0 far more often than it says.

    References
    ----------
    .. [1] Newcombe (1998). Interval estimation for the difference between independent proportions:
           comparison of eleven methods. Statistics in Medicine 17, method 10.

    Examples
    --------
    >>> low, high = newcombe(56, 70, 48, 80)  # Newcombe's own example
    >>> f"{low:.4f} {high:.4f}"
    '0.0524 0.3339'
    """
    check_level(level, owner="newcombe")
    first, second = _counts(successes, trials, "newcombe"), _counts(other, other_trials, "newcombe", _OTHER)
    return difference_limits(_share(*first), wilson(*first, level), _share(*second), wilson(*second, level))


def share_difference(
    successes: ArrayLike, trials: ArrayLike, other: ArrayLike, other_trials: ArrayLike, level: float = 0.95
) -> Limits:
    r"""Return an interval of the first share minus the other, from both exact intervals.

    .. math:: \hat p_1 - \hat p_2 - \sqrt{(\hat p_1 - l_1)^2 + (u_2 - \hat p_2)^2}, \qquad
              \hat p_1 - \hat p_2 + \sqrt{(u_1 - \hat p_1)^2 + (\hat p_2 - l_2)^2}

    where :math:`(l_i, u_i)` is the :func:`clopper_pearson` interval of each share. Beside a share that is
    known almost for certain it is the exact interval of the other, also where successes are rare.

    References
    ----------
    .. [1] Zou, Donner (2008). Construction of confidence limits about effect measures: a general
           approach. Statistics in Medicine 27.

    Examples
    --------
    >>> low, high = share_difference(56, 70, 48, 80)
    >>> f"{low:.4f} {high:.4f}"
    '0.0439 0.3442'
    >>> low, high = share_difference(1, 30, 110, 20_000)  # one success in a small group is no evidence
    >>> f"{low:.4f} {high:.4f}"
    '-0.0047 0.1667'
    """
    return difference_limits(
        *_two_shares((successes, trials), (other, other_trials), level, "share_difference")
    )


def difference_limits(
    first: NDArray[np.float64], limits: Limits, second: NDArray[np.float64], other_limits: Limits
) -> Limits:
    """Return the interval of :func:`share_difference` from two shares and their intervals."""
    (low, high), (other_low, other_high) = limits, other_limits
    difference = first - second
    down = (first - low) ** 2 + (other_high - second) ** 2  # all within 0 and 1, so hypot would be but slow
    up = (high - first) ** 2 + (second - other_low) ** 2
    return _plain(difference - np.sqrt(down)), _plain(difference + np.sqrt(up))


def share_ratio(
    successes: ArrayLike, trials: ArrayLike, other: ArrayLike, other_trials: ArrayLike, level: float = 0.95
) -> Limits:
    r"""Return an interval of the first share divided by the other, from both exact intervals.

    .. math:: L = \frac{l_1 (2 \hat p_1 - l_1)}{\hat p_1 \hat p_2 +
                  \sqrt{(\hat p_1 \hat p_2)^2 - l_1 (2 \hat p_1 - l_1)\, u_2 (2 \hat p_2 - u_2)}}, \qquad
              U = \frac{\hat p_1 \hat p_2 +
                  \sqrt{(\hat p_1 \hat p_2)^2 - u_1 (2 \hat p_1 - u_1)\, l_2 (2 \hat p_2 - l_2)}}
                  {l_2 (2 \hat p_2 - l_2)}

    where :math:`(l_i, u_i)` is the :func:`clopper_pearson` interval of each share. If the other share is 0
    the ratio is undefined and so are its limits.

    Notes
    -----
    Donner and Zou write :math:`L` with :math:`u_2 (2 \hat p_2 - u_2)` as denominator, which can be
    0 or negative. The form above is the same number and has neither fault.

    References
    ----------
    .. [1] Donner, Zou (2012). Closed-form confidence intervals for functions of the normal mean and
           standard deviation. Statistical Methods in Medical Research 21.
    .. [2] Newcombe (2016). MOVER-R confidence intervals for ratios and products of two independently
           estimated quantities. Statistical Methods in Medical Research 25.

    Examples
    --------
    >>> low, high = share_ratio(30, 100, 60, 100)
    >>> f"{low:.3f} {high:.3f}"
    '0.344 0.706'
    """
    return ratio_limits(*_two_shares((successes, trials), (other, other_trials), level, "share_ratio"))


def ratio_limits(
    first: NDArray[np.float64], limits: Limits, second: NDArray[np.float64], other_limits: Limits
) -> Limits:
    """Return the interval of :func:`share_ratio` from two shares and their intervals."""
    (low, high), (other_low, other_high) = limits, other_limits
    second = np.where(second > 0, second, np.nan)
    product = first * second
    beneath, above = low * (2 * first - low), high * (2 * first - high)
    other_beneath, other_above = other_low * (2 * second - other_low), other_high * (2 * second - other_high)
    # Mathematically neither radicand is negative; rounding may make it so by one unit in the last place.
    lower_root = np.sqrt(np.maximum(product**2 - beneath * other_above, 0))
    upper_root = np.sqrt(np.maximum(product**2 - above * other_beneath, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        smallest = np.where(first == 0, 0 * second, beneath / (product + lower_root))
        largest = (product + upper_root) / other_beneath
    return _plain(smallest), _plain(largest)


def mean_of_shares(
    successes: ArrayLike, trials: ArrayLike, other: ArrayLike, other_trials: ArrayLike, level: float = 0.95
) -> Limits:
    r"""Return an interval of the mean of two independent shares, from both exact intervals.

    .. math:: \tfrac12 \Big(\hat p_1 + \hat p_2 - \sqrt{(\hat p_1 - l_1)^2 + (\hat p_2 - l_2)^2}\Big), \qquad
              \tfrac12 \Big(\hat p_1 + \hat p_2 + \sqrt{(u_1 - \hat p_1)^2 + (u_2 - \hat p_2)^2}\Big)

    References
    ----------
    .. [1] Zou, Donner (2008). Construction of confidence limits about effect measures: a general
           approach. Statistics in Medicine 27.

    Examples
    --------
    >>> low, high = mean_of_shares(8, 10, 80, 100)
    >>> f"{low:.3f} {high:.3f}"
    '0.616 0.895'
    """
    first, (low, high), second, (other_low, other_high) = _two_shares(
        (successes, trials), (other, other_trials), level, "mean_of_shares"
    )
    total = first + second
    return (
        _plain((total - np.hypot(first - low, second - other_low)) / 2),
        _plain((total + np.hypot(high - first, other_high - second)) / 2),
    )


def _counts(
    successes: ArrayLike, trials: ArrayLike, owner: str, names: tuple[str, str] = ("successes", "trials")
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return counts as floats of one shape, or refuse them."""
    x = read_array(successes, name=names[0], owner=owner, must_be="numbers").astype(float)
    n = read_array(trials, name=names[1], owner=owner, must_be="numbers").astype(float)
    try:
        x, n = np.broadcast_arrays(x, n)
    except ValueError:
        fits = False
    else:
        fits = True
    if not fits:
        refuse(names[0], owner, f"of a shape that fits '{names[1]}'", "another shape")
    if not ((n >= 0) & np.isfinite(n)).all():
        refuse(names[1], owner, "finite and not negative", "other numbers")
    if not ((x >= 0) & (x <= n * (1 + _ROUNDING))).all():
        refuse(names[0], owner, f"from 0 to '{names[1]}'", "other numbers")
    return np.minimum(x, n), n


def _two_shares(
    counts: tuple[ArrayLike, ArrayLike], others: tuple[ArrayLike, ArrayLike], level: float, owner: str
) -> tuple[NDArray[np.float64], Limits, NDArray[np.float64], Limits]:
    """Return both shares, each with its exact limits."""
    tails = 1 - check_level(level, owner=owner)
    first, second = _counts(*counts, owner), _counts(*others, owner, _OTHER)
    return _share(*first), exact_limits(*first, tails), _share(*second), exact_limits(*second, tails)


def _share(x: NDArray[np.float64], n: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.clip(x / np.where(n > 0, n, np.nan), 0, 1))


def _blank(limits: NDArray[Any], trials: NDArray[np.float64]) -> NDArray[np.float64]:
    return _plain(np.where(trials > 0, limits, np.nan))


def _plain(limits: Any) -> NDArray[np.float64]:
    """Return an array, or a number if it has no dimension."""
    array: NDArray[np.float64] = np.asarray(limits, dtype=float)[()]
    return array
