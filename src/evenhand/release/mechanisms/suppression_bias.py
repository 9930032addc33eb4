r"""The bias and the variance of suppressed counts, count by count: with noise or of a sample, exact as drawn.

Everything here is computed from true counts and is as private as they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

MOST_THRESHOLD = 1_000_000
"""Thresholds above this are refused: they would suppress every table there is."""


class Moments(NamedTuple):
    """Expected published minus true, and the variance of what is published, for each count."""

    bias: Values
    variance: Values


def suppression_bias(counts: npt.ArrayLike, threshold: int, *, fill: float) -> Values:
    r"""Return :math:`f - x` where :math:`x < k`, else 0, with :math:`f` what stands in a suppressed cell.

    >>> suppression_bias([4, 6], 6, fill=3).tolist()
    [-1.0, 0.0]
    """
    true = np.asarray(counts, dtype=np.float64)
    return np.where(true < threshold, fill - true, 0.0)


def count_noise_moments(counts: npt.ArrayLike, threshold: int, *, scale: Fraction, fill: float) -> Moments:
    r"""Return the moments of suppression with fresh noise on every count.

    A count is replaced by the fill with probability :math:`G(x) = \Pr[x + \eta < k]`, so its bias is
    :math:`(f - x) G(x)` and its variance :math:`(f - x)^2 G(x) (1 - G(x))`, where :math:`f` is `fill` and
    :math:`\eta` discrete Laplace noise of scale `scale`.

    >>> from fractions import Fraction
    >>> f"{count_noise_moments([4], 6, scale=Fraction(2), fill=3).bias[0]:.12f}"
    '-0.771010009086'
    """
    true = np.asarray(counts, dtype=np.float64)
    below, above = _below(threshold - true, float(1 / scale))
    return Moments((fill - true) * below, (fill - true) ** 2 * below * above)


def threshold_noise_moments(counts: npt.ArrayLike, threshold: int, *, scale: Fraction) -> Moments:
    r"""Return the moments of suppression with one noisy threshold :math:`t = k + \eta`.

    A count :math:`x` below :math:`t` is replaced by :math:`\lfloor t/2 \rfloor`, so the error has moments

    .. math:: \sum_{t > x} (\lfloor t/2 \rfloor - x)^m \Pr[k + \eta = t].

    From :math:`t = k` on the terms are paired (:math:`2j` and :math:`2j + 1` have the same fill) and summed
    in closed form; below :math:`k` there are fewer than :math:`k` of them.

    >>> from fractions import Fraction
    >>> f"{threshold_noise_moments([4], 6, scale=Fraction(2)).bias[0]:.12f}"
    '-0.557303855236'
    """
    true, k, rate = np.asarray(counts, dtype=np.float64), threshold, float(1 / scale)
    distinct, place = np.unique(true, return_inverse=True)
    centre = np.where(distinct < k, float(k // 2), distinct)  # what is mostly published: keeps digits
    first, second = _tail(np.maximum(distinct + 1, k), centre, k, rate)
    rising = distinct + 1 < k
    low_first, low_second = _rising(distinct[rising], centre[rising], k, rate)
    first[rising] += low_first
    second[rising] += low_second
    _, kept = _below(k - distinct, rate)  # Pr[t <= x], by symmetry Pr[noise >= k - x]
    first += (distinct - centre) * kept
    second += (distinct - centre) ** 2 * kept
    bias, variance = first + (centre - distinct), np.maximum(second - first**2, 0.0)
    return Moments(bias[place].reshape(true.shape), variance[place].reshape(true.shape))


def idealized_threshold_bias(count: float, threshold: int, *, scale: Fraction) -> float:
    r"""Return the bias of one count with a continuous noisy threshold, as the paper's Algorithm 2 has it.

    .. math:: x \Pr[t \le x] + \sum_{m \ge \lfloor x/2 \rfloor} m \Pr[\max(2m, x) < t \le 2m + 2] - x

    with :math:`t` = `threshold` plus continuous Laplace noise; the fill is :math:`\lfloor t/2 \rfloor`.
    What is drawn here is discrete: see :func:`threshold_noise_moments`.

    >>> from fractions import Fraction
    >>> f"{idealized_threshold_bias(4, 6, scale=Fraction(2)):.12f}"
    '-0.841132205394'
    """
    rate = float(1 / scale)

    def beyond(place: float) -> float:  # Pr[t > place]
        tail = math.exp(-abs(place - threshold) * rate) / 2
        return tail if place > threshold else 1 - tail

    least = math.floor(count / 2)
    last = least + math.ceil((max(threshold - count, 0) + 60 / rate) / 2) + 2  # what is left is below 1e-25
    terms = [m * (beyond(max(2 * m, count)) - beyond(2 * m + 2)) for m in range(least, last)]
    return math.fsum(terms) - count * beyond(count)


def _below(place: Values, rate: float) -> tuple[Values, Values]:
    """Return Pr[noise < place] and Pr[noise >= place] for whole places, each accurate where it is tiny."""
    steps = np.where(place > 0, place, 1 - place)
    tail = np.exp(-steps * rate) / (1 + math.exp(-rate))
    return np.where(place > 0, 1 - tail, tail), np.where(place > 0, tail, 1 - tail)


def _tail(start: Values, centre: Values, k: int, rate: float) -> tuple[Values, Values]:
    """Return the sums of (fill - centre) and of its square over thresholds from `start` >= k on."""
    a, q, gone = math.exp(-rate), math.exp(-2 * rate), -math.expm1(-2 * rate)
    odd = start % 2 == 1
    mass = np.where(odd, -math.expm1(-rate) / (1 + a) * np.exp(-(start - k) * rate), 0.0)
    alone = np.floor(start / 2) - centre  # an odd start is the second of its pair
    even = start + odd
    weight = np.exp(-(even - k) * rate) * -math.expm1(-rate)
    u = even / 2 - centre
    first = weight * (u / gone + q / gone**2)
    second = weight * (u**2 / gone + 2 * u * q / gone**2 + q * (1 + q) / gone**3)
    return first + mass * alone, second + mass * alone**2


def _rising(true: Values, centre: Values, k: int, rate: float) -> tuple[Values, Values]:
    """Return the same sums over the thresholds from `true` + 1 to k - 1; `centre` is one number."""
    if not true.size:
        return np.zeros(0), np.zeros(0)
    steps = np.arange(1, k - int(true.min()), dtype=np.float64)  # how far below k
    mass = -math.expm1(-rate) / (1 + math.exp(-rate)) * np.exp(-steps * rate)
    off = np.floor((k - steps) / 2) - centre[0]
    places = (k - true - 1).astype(np.int64) - 1
    return np.cumsum(mass * off)[places], np.cumsum(mass * off**2)[places]


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
