r"""The privacy loss of one step of noise on a random sample of the rows, for one person with one row or more.

A person has :math:`m` rows at most, each of which joins a step with probability :math:`q`, and each row that
joins moves the sum by a vector of length at most 1. Given who else joined, the sum with noise is a mixture
:math:`P = \sum_j w_j N(a_j, z^2 I)` over the subsets of the person's rows, and :math:`Q = \sum_j w_j
N(b_j, z^2 I)` if other rows stand in their place, or none, with :math:`|a_j|` and :math:`|b_j|` at most the
number of rows in the subset. No pair is worse than normal laws on one line,

.. math:: P^* = \sum_{j=0}^m \binom mj q^j (1-q)^{m-j} N(j, z^2), \quad
          Q^* = \sum_{j=0}^m \binom mj q^j (1-q)^{m-j} N(-j, z^2),

with :math:`N(0, z^2)` in place of the one that has no rows. For take any event :math:`S`, and :math:`t` with
:math:`\Phi(t)` its probability under :math:`N(0, z^2 I)`. By the lemma of Neyman and Pearson, a shift by
:math:`a` gives it at most :math:`\Phi(t + |a|/z)` and at least :math:`\Phi(t - |a|/z)`. So for every
:math:`\varepsilon`, :math:`P(S) - e^\varepsilon Q(S)` is at most :math:`P^* - e^\varepsilon Q^*` of one half
line. The same argument shows that a larger :math:`q` or :math:`m` is never better. For one removed or added
person this is Corollary 4.7 of [1]_.

References
----------
.. [1] Choquette-Choo, Ganesh, Steinke, Thakurta (2024). Privacy amplification for matrix mechanisms. ICLR.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import MissingExtraError

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.privacy.guarantees.units import Unit

    Floats = npt.NDArray[np.float64]

LOG_TAIL = 10.0
"""Standard deviations of noise within which losses get points of their own."""

MOST_ROWS = 100
"""Rows of one person that are accounted for."""

_LARGEST_LOSS = 1_000.0  # of a step: larger ones count as no guarantee
_KNOTS = 20_001
_ROUNDS = 4
_AT_ONCE = 1 << 14


class NoisySteps(NamedTuple):
    """What is composed: a multiplier rounded down, a sampling rate rounded up, how often, for which unit."""

    noise: float
    sampling: float
    steps: int
    unit: Unit
    rows_per_person: int = 1


def load_dp_accounting() -> Any:
    """Return dp-accounting's package for distributions of losses, with its modules loaded."""
    try:
        from dp_accounting import pld  # noqa: PLC0415 - optional, and slow to import
        from dp_accounting.pld import (  # noqa: F401, PLC0415 - as above
            pld_pmf,
            privacy_loss_distribution,
            privacy_loss_mechanism,
        )
    except ImportError:
        feature = "Accounting for noise on sampled rows"
        raise MissingExtraError("dp-accounting", feature=feature, extra="dp") from None
    return pld


def one_step(of: NoisySteps, change: str, interval: float) -> Any:
    """Return the loss of one step on its line of points: as dp-accounting makes it, in arrays.

    Parameters
    ----------
    of : NoisySteps
    change : {"REMOVE", "ADD", "REPLACE"}
        What happens to the rows of one person.
    interval : float
        The distance of the points.
    """
    package = load_dp_accounting()
    if of.rows_per_person == 1:
        adjacency = package.privacy_loss_mechanism.AdjacencyType[change]
        pair: Any = package.privacy_loss_mechanism.GaussianPrivacyLoss(
            of.noise, sampling_prob=of.sampling, adjacency_type=adjacency
        )
        ends = pair.connect_dots_bounds()
        lower, upper = ends.epsilon_lower, ends.epsilon_upper
    else:
        pair = SeveralRows(of, change)
        lower, upper = pair.reach()
    lowest, highest = math.floor(lower / interval), math.ceil(upper / interval)
    epsilons = np.arange(lowest, highest + 1) * interval
    deltas = one_step_deltas(pair, epsilons) if of.rows_per_person == 1 else pair.deltas(epsilons)
    return package.pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, lowest, highest, deltas)


# --- one row of each person ---------------------------------------------------------------------------


def one_step_deltas(pair: Any, epsilons: Floats) -> Floats:
    r"""Return the delta of one step at every epsilon.

    Losses are at least :math:`\varepsilon` left of a point, and delta is the difference there of the two
    distribution functions, the second times :math:`e^\varepsilon`.
    """
    rate, change, deltas = pair.sampling_prob, pair.adjacency_type.name, np.zeros_like(epsilons)
    inside = np.ones(epsilons.shape, dtype=np.bool_)
    if rate < 1 and change == "ADD":
        inside = epsilons < -math.log1p(-rate)  # no loss is larger, and delta is 0
    elif rate < 1 and change == "REMOVE":
        inside = epsilons > math.log1p(-rate)  # every loss is larger
        deltas[~inside] = -np.expm1(epsilons[~inside])
    within = epsilons[inside]
    points = _points_of_loss(pair, within)
    lower = np.exp(within + pair.mu_lower_log_cdf(points))
    deltas[inside] = np.clip(pair.mu_upper_cdf(points) - lower, 0, 1)
    return deltas


def _points_of_loss(pair: Any, epsilons: Floats) -> Floats:
    """Return the points at which the loss is epsilon; it falls from left to right."""
    rate, squared = pair.sampling_prob, pair.standard_deviation**2
    if pair.adjacency_type.name == "REPLACE":
        steep = (1 - rate) / rate * math.exp(1 / (2 * squared))
        points = -squared * (epsilons / 2 + np.arcsinh(steep * np.sinh(epsilons / 2)))
    else:
        sign = 1.0 if pair.adjacency_type.name == "ADD" else -1.0
        with np.errstate(divide="ignore"):  # at the very end of the losses the point is at infinity
            ratios = np.log(np.maximum(_above_the_rest(-sign * epsilons, rate), 0) / rate)
        points = sign * (squared * ratios + 0.5)
    return np.asarray(points, dtype=np.float64)


def _above_the_rest(logs: Floats, rate: float) -> Floats:
    """Return e**x - (1 - rate), the way that loses fewer digits."""
    far = rate > 0.5
    return np.asarray(np.exp(logs) - (1 - rate) if far else np.expm1(logs) + rate, dtype=np.float64)


# --- several rows of one person -----------------------------------------------------------------------


class SeveralRows:
    r"""The two laws of one step between which one person's rows make the difference, P and Q of the module.

    Examples
    --------
    >>> from evenhand.privacy.guarantees.units import Unit
    >>> pair = SeveralRows(NoisySteps(1.0, 1.0, 1, Unit.ADD_OR_REMOVE_ONE, 2), "REMOVE")
    >>> f"{pair.deltas(np.array([0.0]))[0]:.4f}"  # one normal law, moved by two standard deviations
    '0.6827'
    """

    def __init__(self, of: NoisySteps, change: str) -> None:
        self._noise, self._rows = of.noise, of.rows_per_person
        self._chances = _chances(of.rows_per_person, of.sampling)
        with np.errstate(divide="ignore"):  # what never happens has the logarithm of 0
            self._logs = np.log(self._chances)
        self._has_rows = change != "ADD", change != "REMOVE"

    def reach(self) -> tuple[float, float]:
        """Return the losses between which points are laid; below they are rounded up, above infinite."""
        far = self._rows + LOG_TAIL * self._noise
        lower, upper = self._loss(np.array([-far, far]))[0]
        return max(float(lower), -_LARGEST_LOSS), min(float(upper), _LARGEST_LOSS)

    def deltas(self, epsilons: Floats) -> Floats:
        """Return the delta of one step at every epsilon: the loss grows from left to right."""
        parts = [
            self._deltas(epsilons[start : start + _AT_ONCE]) for start in range(0, epsilons.size, _AT_ONCE)
        ]
        return np.concatenate(parts)

    def _deltas(self, epsilons: Floats) -> Floats:
        from scipy.special import log_ndtr, logsumexp, ndtr  # noqa: PLC0415 - slow to import

        moved = np.arange(self._rows + 1)
        here = self._points_of_loss(epsilons)
        right = [
            ndtr((moved - here[:, None]) / self._noise) @ self._chances
            if self._has_rows[0]
            else ndtr(-here / self._noise),
            logsumexp(log_ndtr((-moved - here[:, None]) / self._noise) + self._logs, axis=1)
            if self._has_rows[1]
            else log_ndtr(-here / self._noise),
        ]
        return np.clip(right[0] - np.exp(epsilons + right[1]), np.maximum(-np.expm1(epsilons), 0), 1)

    def _points_of_loss(self, epsilons: Floats) -> Floats:
        """Return where the loss is epsilon, or the end. Delta is flat around it, so that near is enough."""
        far = 2 * self._rows + 4 * LOG_TAIL * self._noise
        knots = np.linspace(-far, far, _KNOTS)
        points = np.interp(epsilons, self._loss(knots)[0], knots)
        for _ in range(_ROUNDS):
            loss, slope = self._loss(points)
            step = np.clip((epsilons - loss) / np.maximum(slope, 1e-300), -self._noise, self._noise)
            points = np.clip(points + step, -far, far)
        return points

    def _loss(self, points: Floats) -> tuple[Floats, Floats]:
        """Return the loss at each point, and how fast it grows."""
        total, slope = np.zeros_like(points), np.zeros_like(points)
        for sign, has_rows in zip((1.0, -1.0), self._has_rows, strict=True):
            if has_rows:
                ratio, mean = self._log_ratio(sign * points)
                total += sign * ratio
                slope += mean / self._noise**2
        return total, slope

    def _log_ratio(self, points: Floats) -> tuple[Floats, Floats]:
        """Return the logarithm of the mixture over the law without rows, and the mean rows that joined."""
        moved = np.arange(self._rows + 1)
        logs = (points[:, None] - moved / 2) * moved / self._noise**2 + self._logs
        highest = logs.max(axis=1)
        shares = np.exp(logs - highest[:, None])
        total = shares.sum(axis=1)
        return highest + np.log(total), shares @ moved / total


def _chances(rows: int, rate: float) -> Floats:
    """Return the chances that 0, 1, ... of so many rows join, each right to the last bit."""
    joins = Fraction(rate)
    chances = [math.comb(rows, j) * joins**j * (1 - joins) ** (rows - j) for j in range(rows + 1)]
    return np.array([float(chance) for chance in chances])


# --- how large losses are ------------------------------------------------------------------------------


def least_mean_loss(of: NoisySteps) -> float:
    """Return what the mean loss of one step is at least.

    The loss is convex in the noise, so its mean is at least that at the mean noise, whoever joined.
    """
    pair, joined = SeveralRows(of, "REMOVE"), np.arange(of.rows_per_person + 1.0)
    return float(_chances(of.rows_per_person, of.sampling) @ pair._loss(joined)[0])  # noqa: SLF001 - of this module


def size_of_losses(of: NoisySteps) -> tuple[float, float, float]:
    """Return the usual loss of a step, about the largest, and a bound of its standard deviation."""
    rows, rate, shift = of.rows_per_person, of.sampling, 1 / of.noise
    chances, joined = _chances(rows, rate), np.arange(rows + 1)
    mean, square = rows * rate, rows * rate * (1 - rate) + (rows * rate) ** 2
    grown = chances @ np.expm1(np.minimum(np.outer(joined, joined) * shift**2, 700.0)) @ chances
    reach = SeveralRows(of, "REMOVE").reach()[1]
    return mean * shift, reach, min(math.sqrt(grown), math.sqrt(square) * shift)
