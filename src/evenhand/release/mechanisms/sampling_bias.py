r"""The bias and the variance of sampled counts with small ones suppressed, count by count.

Everything here is computed from true counts and is as private as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.release.mechanisms.suppression_bias import Moments

if TYPE_CHECKING:
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["at_least", "merge_bias", "sampled_moments"]


def at_least(least: int, people: npt.ArrayLike, rate: float) -> Values:
    r"""Return :math:`\Pr[\operatorname{Bin}(n, \beta) \ge m]` for each :math:`n`; 0 where n < m.

    >>> f"{at_least(6, [8], 0.6)[0]:.8f}"
    '0.31539456'
    """
    from scipy.special import betainc  # noqa: PLC0415 - slow to import

    given = np.asarray(people, dtype=np.float64)
    if least <= 0:
        return np.ones(given.shape)
    enough = given >= least
    chance: Values = betainc(float(least), np.where(enough, given - least + 1, 1.0), rate)
    return np.where(enough, chance, 0.0)


def merge_bias(counts: npt.ArrayLike, k: int, rate: float) -> Values:
    r"""Return how much likelier a count is to be below `k` in the sample than in truth.

    For :math:`x \ge k` it is :math:`\Pr[\operatorname{Bin}(x, \beta) < k]`, else 0: Theorem 6 of Zhu et al.
    (2023).

    >>> f"{merge_bias([8], 6, 0.6)[0]:.8f}"
    '0.68460544'
    """
    true = np.asarray(counts, dtype=np.float64)
    return np.where(true >= k, 1 - at_least(k, true, rate), 0.0)


def sampled_moments(counts: npt.ArrayLike, k: int, rate: float, *, weight: float = 1.0) -> Moments:
    r"""Return the moments of the published count, 0 where it is suppressed.

    With :math:`Y \sim \operatorname{Bin}(x, \beta)`,

    .. math:: E[Y 1_{Y \ge k}] = x \beta \Pr[\operatorname{Bin}(x - 1, \beta) \ge k - 1], \quad
              E[Y (Y - 1) 1_{Y \ge k}] = x (x - 1) \beta^2 \Pr[\operatorname{Bin}(x - 2, \beta) \ge k - 2].

    `weight` is what the published count is multiplied by: with :math:`1/\beta` the bias is
    :math:`-x \Pr[\operatorname{Bin}(x - 1, \beta) < k - 1]`.

    >>> sampled_moments([100, 8], 6, 0.25, weight=4.0).bias.round(4).tolist()
    [-0.0, -7.897]
    """
    true = np.asarray(counts, dtype=np.float64)
    mean = true * rate * np.where(true >= 1, at_least(k - 1, np.maximum(true - 1, 0), rate), 0.0)
    pairs = (
        true * (true - 1) * rate**2 * np.where(true >= 2, at_least(k - 2, np.maximum(true - 2, 0), rate), 0.0)
    )
    variance = np.maximum(pairs + mean - mean**2, 0.0)
    return Moments(weight * mean - true, weight**2 * variance)
