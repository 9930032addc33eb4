r"""The most epsilon that a protected attribute may have if its reports are to tell little about the outcome.

Reports mix the groups, so that the outcome differs less between reported groups than between true ones.
Under randomized response over two groups of shares :math:`p_0, p_1` the difference shrinks to the share

.. math:: R(\varepsilon) = \frac{p_0 p_1 (e^{2\varepsilon} - 1)}
          {(p_0 + p_1 e^\varepsilon)(p_0 e^\varepsilon + p_1)}

of what it was, whatever the rates are. It grows with :math:`\varepsilon`, so a target for it is a limit for
:math:`\varepsilon`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Kind = Literal["difference", "ratio"]

_MOST_EPSILON = 700.0
_STEPS = 80  # of a bisection


def reported_unfairness(
    share: Any, epsilon: Number, *, rates: Sequence[float] | None = None, kind: Kind = "difference"
) -> float:
    r"""Return what share of the groups' unfairness is left in reports by randomized response.

    Parameters
    ----------
    share : float, or sequence of float
        The share of one of two groups; or the shares of all groups, in proportion.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of the report, > 0.
    rates : sequence of float, optional
        The outcome rate of each group, where there are more than two, or with the kind ``"ratio"``.
    kind : {"difference", "ratio"}
        The largest difference between the rates of two groups, or the largest distance of a rate from that
        of all, as a share of it.

    Returns
    -------
    float
        From 0 to 1; NaN if the groups do not differ.

    Examples
    --------
    >>> f"{reported_unfairness(0.7, 1):.14f}"
    '0.40191105480226'
    """
    owner = "reported_unfairness"
    amount = float(exact(epsilon, name="epsilon", owner=owner, above=0))
    groups = _Groups.read(share, rates, kind, owner=owner)
    return groups.ratio(min(amount, _MOST_EPSILON))


def fair_epsilon(
    share: Any, target: Number, *, rates: Sequence[float] | None = None, kind: Kind = "difference"
) -> float:
    r"""Return the largest epsilon at which reports keep at most the share `target` of the unfairness.

    For two groups and the kind ``"difference"`` it is, with :math:`s = p_0^2 + p_1^2` and
    :math:`m = p_0 p_1`,

    .. math:: e^\varepsilon = \frac{\kappa s + \sqrt{\kappa^2 s^2 + 4 (1 - \kappa^2) m^2}}{2 (1 - \kappa) m}

    where :math:`\kappa` is `target`. Otherwise it is found by bisection: a smaller epsilon is the same report
    with more noise added, so less is left of the unfairness.

    Parameters
    ----------
    share : float, or sequence of float
        The share of one of two groups; or the shares of all groups, in proportion.
    target : int, float, str, Fraction or Decimal
        From above 0 to below 1.
    rates, kind
        As for :func:`reported_unfairness`.

    Returns
    -------
    float
        At most 700, and rounded down, so that the target is met; 700 if the groups do not differ, since then
        nothing need be held back. It is a limit for :func:`evenhand.collect.split_budget`. It also serves
        for :class:`evenhand.collect.Optimal` of the same kind, whose reports with GRR's error keep no more of
        the unfairness than GRR's.

    Examples
    --------
    >>> f"{fair_epsilon(0.7, target=0.25):.14f}"
    '0.60482006893109'
    >>> from evenhand.collect import split_budget
    >>> limits = {"gender": fair_epsilon(0.7, target=0.25)}
    >>> parts = split_budget(4, {"gender": 2, "race": 5, "region": 7}, how="optimal", limits=limits)
    >>> {column: round(part, 3) for column, part in parts.items()}
    {'gender': 0.605, 'race': 1.563, 'region': 1.832}
    """
    owner = "fair_epsilon"
    wanted = exact(target, name="target", owner=owner, above=0)
    if wanted >= 1:
        must_be, got = "a number above 0 and below 1", str(wanted)
        raise InvalidParameterError("target", owner=owner, must_be=must_be, got=got)
    groups = _Groups.read(share, rates, kind, owner=owner)
    kappa = min(float(wanted), math.nextafter(1, 0))
    if groups.is_equal:
        return _MOST_EPSILON
    if groups.rates is None:
        return groups.rounded_to_target(groups.closed_form(kappa), kappa)
    low, high = 0.0, _MOST_EPSILON
    if groups.ratio(high) <= kappa:
        return high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if groups.ratio(middle) <= kappa else (low, middle)
    return low


class _Groups:
    """Shares of groups, and their rates where those matter."""

    def __init__(
        self, weights: npt.NDArray[np.float64], rates: npt.NDArray[np.float64] | None, kind: str
    ) -> None:
        self.weights, self.rates, self.kind = weights, rates, kind

    @classmethod
    def read(cls, share: Any, rates: Any, kind: Any, *, owner: str) -> _Groups:
        chosen = one_of("kind", kind, ("difference", "ratio"), owner=owner)
        weights = _check_shares(share, owner=owner)
        two = weights.size == 2 and chosen == "difference"
        if rates is None and not two:
            must_be = "given where there are more than two groups, or with the kind 'ratio'"
            raise InvalidParameterError("rates", owner=owner, must_be=must_be, got=None)
        if rates is None:
            return cls(weights, None, chosen)
        try:
            numbers = np.asarray(rates, dtype=float)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.shape != weights.shape or not bool(((numbers >= 0) & (numbers <= 1)).all()):
            must_be = f"{weights.size} numbers from 0 to 1, one for each group"
            raise InvalidParameterError("rates", owner=owner, must_be=must_be, got="something else")
        return cls(weights, None if two and numbers[0] != numbers[1] else numbers, chosen)

    @property
    def is_equal(self) -> bool:
        """Whether all groups that have anybody have one rate."""
        return self.rates is not None and np.ptp(self.rates[self.weights > 0]) == 0

    def closed_form(self, kappa: float) -> float:
        """Return the logarithm of the formula of :func:`fair_epsilon`, with all digits near zero.

        Since s + 2 m = 1, the formula minus one is kappa (1 + kappa (p0 - p1)^2 / (root + 2 m)) over its
        denominator, in which nothing cancels.
        """
        first, second = self.weights.tolist()
        s, m = first * first + second * second, first * second
        root = math.hypot(kappa * s, 2 * m * math.sqrt((1 - kappa) * (1 + kappa)))
        above = kappa * (1 + kappa * (first - second) ** 2 / (root + 2 * m))
        below = math.log(2) + math.log(1 - kappa) + math.log(first) + math.log(second)
        size = math.log(above) - below
        return min(math.log1p(math.exp(size)) if size < 30 else size, _MOST_EPSILON)

    def rounded_to_target(self, epsilon: float, kappa: float) -> float:
        """Return `epsilon`, or slightly less where rounding would miss the target by one."""
        rounded, less = epsilon, 2.0**-52
        while self.ratio(rounded) > kappa:
            rounded, less = epsilon * (1 - less), 2 * less
        return rounded

    def ratio(self, epsilon: float) -> float:
        """Return how much of the unfairness is left; only ratios of the probabilities of a report count."""
        small = math.exp(-epsilon)
        if self.rates is None:
            first, second = self.weights.tolist()
            both = (first * small + second) * (first + second * small)
            return float(first * second * -math.expm1(-2 * epsilon) / both)
        if self.is_equal:
            return math.nan
        there = self.weights > 0
        weights, rates = self.weights, self.rates
        overall = float(weights @ rates)
        keep = -math.expm1(-epsilon)
        people = small + keep * weights
        reported = (small * overall + keep * weights * rates) / people
        return self._spread(reported, overall) / self._spread(rates[there], overall)

    def _spread(self, rates: npt.NDArray[np.float64], overall: float) -> float:
        if self.kind == "difference":
            return float(np.ptp(rates))
        return float(np.abs(rates / overall - 1).max())


def _check_shares(share: Any, *, owner: str) -> npt.NDArray[np.float64]:
    """Return the shares of all groups, which add up to one."""
    must_be = "the share of one of two groups, between 0 and 1; or numbers for two groups or more"
    try:
        numbers = np.asarray(share, dtype=float)
    except (TypeError, ValueError):
        raise InvalidParameterError("share", owner=owner, must_be=must_be, got="something else") from None
    if numbers.ndim == 0:
        numbers = np.array([float(numbers), 1 - float(numbers)])
    right = numbers.ndim == 1 and numbers.size > 1 and bool((np.isfinite(numbers) & (numbers >= 0)).all())
    if not right or np.count_nonzero(numbers) < 2:
        got = float(share) if isinstance(share, int | float) else "other numbers"
        raise InvalidParameterError("share", owner=owner, must_be=must_be, got=got)
    numbers = numbers / numbers.max()  # so that no sum is too large
    return np.asarray(numbers / math.fsum(numbers.tolist()))
