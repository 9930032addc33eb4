"""The rates closest to given ones whose largest difference is at most a target, in closed form.

All arithmetic is on rationals: ties are ties, and the order of the groups changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Rates", "closest_rates"]

_OWNER = "closest_rates"


@dataclass(frozen=True, eq=False)
class Rates:
    """What :func:`closest_rates` found; one entry for each group, in the order given.

    Attributes
    ----------
    rates : array
        The positive rates as they were.
    target : array
        The positive rates afterwards.
    keep, promote : array
        The probability that a positive prediction stays positive, and that a negative one becomes positive.
    cost : float
        What the change costs: the weighted sum of the shares changed, or with costs of errors the expected
        change of what they measure.
    lower_bound : float
        What every rule with that gap must cost, from Proposition 6 of ghoukasian2024 applied to pairs of
        groups. It equals `cost`: nothing cheaper exists.
    gap : float
        The largest difference of rates that was allowed.
    interval : tuple of float
        All lowest rates that cost as little; the middle one was taken.
    """

    rates: Values
    target: Values
    keep: Values
    promote: Values
    cost: float
    lower_bound: float
    gap: float
    interval: tuple[float, float]


class _Hinge(NamedTuple):
    """A cost that starts at a rate and grows by so much for each unit beyond it."""

    place: Fraction
    slope: Fraction


class _Curve(NamedTuple):
    """What the rates of one group cost: convex, with one kink in [0, 1]."""

    reversed: bool  # whether the kink is where every prediction is reversed, and not where it stays
    kink: Fraction
    at_kink: Fraction
    left: Fraction  # the slope before the kink
    right: Fraction  # and after it

    @property
    def best(self) -> Fraction:
        """The group's own cheapest rate."""
        if self.left > 0:
            return Fraction(0)
        return Fraction(1) if self.right < 0 else self.kink

    def __call__(self, rate: Fraction) -> Fraction:
        return self.at_kink + (rate - self.kink) * (self.left if rate < self.kink else self.right)

    def hinges(self) -> tuple[list[_Hinge], list[_Hinge]]:
        """Return the hinges for rates above the cheapest one, and for rates below it."""
        turn = self.right - self.left
        if self.left > 0:
            return [_Hinge(Fraction(0), self.left), _Hinge(self.kink, turn)], []
        if self.right < 0:
            return [], [_Hinge(Fraction(1), -self.right), _Hinge(self.kink, turn)]
        return [_Hinge(self.kink, self.right)], [_Hinge(self.kink, -self.left)]


def closest_rates(
    rates: Sequence[Number] | Values,
    *,
    gap: Number = 0,
    weights: Sequence[Number] | Values | None = None,
    costs: tuple[Sequence[Number] | Values, Sequence[Number] | Values] | None = None,
) -> Rates:
    r"""Return the rates that are closest to `rates` with a largest difference of at most `gap`.

    .. math:: \min_r \sum_a w_a |r_a - \alpha_a| \quad \text{such that} \quad
              \max_a r_a - \min_a r_a \le \gamma

    where :math:`\alpha_a` are the `rates`, :math:`\gamma` is the `gap` and :math:`w_a` are the `weights`.
    A rule that keeps a positive prediction with one probability and promotes a negative one with another
    turns :math:`\alpha_a` into :math:`r_a` by changing the share :math:`|r_a - \alpha_a|` of the group, and
    no rule can change fewer. The solution is :math:`r_a = \min(\max(\alpha_a, t), t + \gamma)` where
    :math:`t` is a weighted median; of several, the middle one. With two groups, equal weights and a gap
    of 0 this is Algorithm 1 of [1]_.

    Parameters
    ----------
    rates : sequence of numbers
        The positive rate of each group, from 0 to 1. A float means the decimal it prints.
    gap : number
        From 0 to 1.
    weights : sequence of numbers, optional
        How much a changed share of each group counts, at least 0: all alike by default (then `cost` is the
        sum over groups), or the groups' shares of all people (then it is the share of people changed).
    costs : pair of sequences of numbers, optional
        Instead of weights, what it costs to lower the rate of a group by one, and to raise it by one. They
        may be negative: lowering the rate of a group whose positive predictions are mostly wrong pays. If
        they add up to less than 0 the group's predictions are better reversed, and may be.

    Returns
    -------
    Rates
        With `target`, `keep`, `promote`, `cost` and `lower_bound`.

    References
    ----------
    .. [1] Ghoukasian (2024). Classification Algorithms with Differential Privacy and Fairness Guarantees.
           Thesis, Algorithm 1, Proposition 6.

    Examples
    --------
    >>> found = closest_rates([0.6, 0.3])
    >>> found.target.tolist(), found.keep.tolist(), found.promote.round(4).tolist()
    ([0.45, 0.45], [0.75, 1.0], [0.0, 0.2143])
    >>> found.cost, found.lower_bound
    (0.3, 0.3)
    >>> closest_rates([0.6, 0.3, 0.45, 0.1], gap=0.1).target.tolist()
    [0.425, 0.325, 0.425, 0.325]
    """
    given = _numbers(rates, name="rates", least=0, most=1)
    width = exact(gap, name="gap", owner=_OWNER, least=0, most=1)
    down, up = _costs(weights, costs, len(given))
    curves = [_curve(*each) for each in zip(given, down, up, strict=True)]
    rising = [hinge for curve in curves for hinge in curve.hinges()[0]]
    falling = [hinge for curve in curves for hinge in curve.hinges()[1]]
    first, last = _cheapest(rising, falling, width)
    lowest = (first + last) / 2
    target = [min(max(curve.best, lowest), lowest + width) for curve in curves]
    pairs = [_probabilities(*each) for each in zip(given, curves, target, strict=True)]
    least = sum((curve(curve.best) for curve in curves), Fraction(0)) + _paired(rising, falling, width)
    return Rates(
        rates=_floats(given),
        target=_floats(target),
        keep=_floats([keep for keep, _ in pairs]),
        promote=_floats([promote for _, promote in pairs]),
        cost=float(sum((curve(rate) for curve, rate in zip(curves, target, strict=True)), Fraction(0))),
        lower_bound=float(least),
        gap=float(width),
        interval=(float(first), float(last)),
    )


def _curve(rate: Fraction, down: Fraction, up: Fraction) -> _Curve:
    if down + up >= 0:
        return _Curve(False, rate, Fraction(0), -down, up)  # noqa: FBT003 - one field of five
    # Cheapest with every prediction reversed: from no positives, through all reversed, to all positive.
    return _Curve(True, 1 - rate, down * rate + up * (1 - rate), up, -down)  # noqa: FBT003 - as above


def _probabilities(rate: Fraction, curve: _Curve, target: Fraction) -> tuple[Fraction, Fraction]:
    """Return with which probabilities to keep and to promote, so that `rate` becomes `target`."""
    if curve.reversed:
        kept = Fraction(0) if target <= 1 - rate else (target - (1 - rate)) / rate
        return kept, (Fraction(1) if target >= 1 - rate else target / (1 - rate))
    kept = Fraction(1) if target >= rate else target / rate
    return kept, (Fraction(0) if target <= rate else (target - rate) / (1 - rate))


def _cheapest(rising: list[_Hinge], falling: list[_Hinge], gap: Fraction) -> tuple[Fraction, Fraction]:
    """Return the interval of lowest rates t for which the sum of all hinges is smallest.

    The sum is convex in t. Its slope changes at a rising hinge, and at a falling one less the gap.
    """
    end = 1 - gap
    turns: dict[Fraction, Fraction] = {}
    slope = -sum((hinge.slope for hinge in falling), Fraction(0))
    for place, turn in [*rising, *((place - gap, turn) for place, turn in falling)]:
        if place <= 0:
            slope += turn
        elif place < end:
            turns[place] = turns.get(place, Fraction(0)) + turn
    first = Fraction(0) if slope >= 0 else None
    if slope > 0:
        return Fraction(0), Fraction(0)
    for place in sorted(turns):
        slope += turns[place]
        if slope >= 0 and first is None:
            first = place
        if slope > 0:
            return first if first is not None else place, place
    return (end if first is None else first), end


def _paired(rising: list[_Hinge], falling: list[_Hinge], gap: Fraction) -> Fraction:
    """Return what any rates with that gap cost at least: Proposition 6, for one pair of hinges at a time.

    A group at a high rate and a group at a low one must together move by the distance less the gap. Each
    unit of slope is spent in one pair, the farthest apart first.
    """
    high, low = sorted(falling, reverse=True), sorted(rising)
    total, above, below = Fraction(0), 0, 0
    left = [hinge.slope for hinge in high], [hinge.slope for hinge in low]
    while above < len(high) and below < len(low):
        distance = high[above].place - low[below].place - gap
        if distance <= 0:
            break
        spent = min(left[0][above], left[1][below])
        total += spent * distance
        left[0][above] -= spent
        left[1][below] -= spent
        above += left[0][above] == 0
        below += left[1][below] == 0
    return total


def _costs(weights: object, costs: object, k: int) -> tuple[list[Fraction], list[Fraction]]:
    if costs is None:
        same = [Fraction(1)] * k if weights is None else _numbers(weights, name="weights", least=0, length=k)
        if not any(same):
            must_be = "a sequence of numbers of at least 0, not all of them 0"
            raise InvalidParameterError("weights", owner=_OWNER, must_be=must_be, got=weights)
        return same, same
    pair = costs if isinstance(costs, tuple) and len(costs) == 2 else None
    if pair is None or weights is not None:
        raise InvalidParameterError(
            "costs",
            owner=_OWNER,
            must_be="a pair of sequences, for lowering and for raising, in place of 'weights'",
            got=costs if pair is None else "both of them",
        )
    down, up = pair
    return _numbers(down, name="costs", length=k), _numbers(up, name="costs", length=k)


def _numbers(
    values: object, *, name: str, least: int | None = None, most: int | None = None, length: int | None = None
) -> list[Fraction]:
    try:
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[call-overload]
    except TypeError:
        listed = []
    if not listed or (length is not None and len(listed) != length):
        must_be = "a sequence with one number for each group"
        raise InvalidParameterError(name, owner=_OWNER, must_be=must_be, got=values)
    return [exact(value, name=name, owner=_OWNER, least=least, most=most) for value in listed]


def _floats(values: Sequence[Fraction]) -> Values:
    array = np.array([float(value) for value in values])
    array.setflags(write=False)
    return array
