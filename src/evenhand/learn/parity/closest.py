"""The rates closest to given ones that agree between groups: statistical parity, or equalised odds.

For parity the solution has a closed form. All its arithmetic is on rationals: ties are ties, and the order of
the groups changes nothing. Equalised odds are a linear program on two probabilities for each group.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import linprog

from evenhand._validate import refuse
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]


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
    >>> closest = closest_rates([0.6, 0.3])
    >>> closest.target.tolist(), closest.keep.tolist(), closest.promote.round(4).tolist()
    ([0.45, 0.45], [0.75, 1.0], [0.0, 0.2143])
    >>> closest.cost, closest.lower_bound
    (0.3, 0.3)
    >>> closest_rates([0.6, 0.3, 0.45, 0.1], gap=0.1).target.tolist()
    [0.425, 0.325, 0.425, 0.325]
    """
    given = _numbers(rates, name="rates", least=0, most=1)
    width = exact(gap, name="gap", owner="closest_rates", least=0, most=1)
    down, up = _costs(weights, costs, len(given))
    curves = [_curve(*terms) for terms in zip(given, down, up, strict=True)]
    rising = [hinge for curve in curves for hinge in curve.hinges()[0]]
    falling = [hinge for curve in curves for hinge in curve.hinges()[1]]
    first, last = _cheapest(rising, falling, width)
    lowest = (first + last) / 2
    target = [min(max(curve.best, lowest), lowest + width) for curve in curves]
    pairs = [_probabilities(*terms) for terms in zip(given, curves, target, strict=True)]
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
            refuse(
                "weights", "closest_rates", "a sequence of numbers of at least 0, not all of them 0", weights
            )
        return same, same
    pair = costs if isinstance(costs, tuple) and len(costs) == 2 else None
    if pair is None or weights is not None:
        refuse(
            "costs",
            "closest_rates",
            "a pair of sequences, for lowering and for raising, in place of 'weights'",
            costs if pair is None else "both of them",
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
        refuse(name, "closest_rates", "a sequence with one number for each group", values)
    return [exact(value, name=name, owner="closest_rates", least=least, most=most) for value in listed]


def _floats(values: Sequence[Fraction]) -> Values:
    array = np.array([float(value) for value in values])
    array.setflags(write=False)
    return array


# --- equalised odds -----------------------------------------------------------------------------------

Aim = Literal["changes", "accuracy"]

AIMS: tuple[Aim, ...] = ("changes", "accuracy")
"""What is kept small: the share of changed answers, or the share of wrong ones."""

LIGHTEST = 1e-9
"""Weight of a group that has none, so that nothing is changed in it without need."""

_TIE = 1e-12  # a price below this is none
_SOLVER: dict[str, Any] = {
    "method": "highs-ds",
    "options": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
}


@dataclass(frozen=True, eq=False)
class OddsRates:
    """What :func:`closest_odds` found; one entry for each group, in the order given.

    Attributes
    ----------
    rates : array of (groups, 2)
        The false and the true positive rates as they were.
    target : array of (groups, 2)
        The same afterwards.
    keep, promote : array
        The probability that a positive prediction stays positive, and that a negative one becomes positive.
    cost : float
        The weighted sum of the shares changed or, for ``aim="accuracy"``, of the shares that are wrong
        afterwards.
    lower_bound : float
        The value of the dual program, below which no rule of this kind can be.
    gap : float
        The largest difference of rates that was allowed.
    """

    rates: Values
    target: Values
    keep: Values
    promote: Values
    cost: float
    lower_bound: float
    gap: float


def closest_odds(
    counts: NDArray[Any], *, gap: float = 0.0, weights: Values | None = None, aim: Aim = "changes"
) -> OddsRates:
    r"""Return probabilities by which the true and the false positive rates of all groups agree up to `gap`.

    A positive prediction for somebody of group :math:`a` stays positive with probability :math:`\kappa_a`, a
    negative one becomes positive with probability :math:`\tau_a`, so that a true or false positive rate
    :math:`x` becomes :math:`\tau_a + (\kappa_a - \tau_a) x`. Both enter linearly, and so does the cost: a
    linear program with :math:`2k + 2` variables, as in [1]_ for two groups.

    Parameters
    ----------
    counts : array of (groups, 2, 2)
        How many people there are of each group, label and prediction, negative first; at least 0.
    gap : float
        From 0 to 1.
    weights : array, optional
        How much each group counts; all alike by default.
    aim : {"changes", "accuracy"}
        Whether as few answers as possible are changed, or as few as possible are wrong. Of several solutions
        for ``"accuracy"`` one with the fewest changes is taken.

    References
    ----------
    .. [1] Hardt, Price, Srebro (2016). Equality of opportunity in supervised learning. NeurIPS, section 3.

    Examples
    --------
    >>> table = np.array([[[60, 10], [5, 25]], [[50, 10], [20, 20]]])
    >>> closest = closest_odds(table)
    >>> closest.target.round(4).tolist(), round(closest.cost, 4)
    ([[0.1667, 0.5], [0.1667, 0.5]], 0.2103)
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 3 or table.shape[1:] != (2, 2) or not (table >= 0).all() or not np.isfinite(table).all():
        refuse(
            "counts", "closest_odds", "an array of (groups, 2, 2) with counts of at least 0", "another array"
        )
    order = np.lexsort(table.reshape(len(table), 4).T)  # so that the groups' own order changes nothing
    given = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    pair, cost, bound = _solve(table[order], given[order], float(gap), aim)
    keep, promote = np.clip(pair[:, np.argsort(order)], 0.0, 1.0)
    rates = _rates(table)
    target = promote[:, None] + (keep - promote)[:, None] * rates
    return OddsRates(rates, target, keep, promote, cost, bound, float(gap))


def _rates(table: Values) -> Values:
    """Return the false and true positive rates; where a group has nobody of a label, those of all groups."""
    seen = table.sum(axis=2)
    pooled = table.sum(axis=0)
    everyone = np.divide(pooled[:, 1], pooled.sum(axis=1), out=np.full(2, 0.5), where=pooled.sum(axis=1) > 0)
    return np.where(seen > 0, table[:, :, 1] / np.where(seen > 0, seen, 1), everyone)


def _solve(table: Values, weights: Values, gap: float, aim: Aim) -> tuple[Values, float, float]:
    """Return the probabilities of keeping and promoting, two rows, their cost and the bound of the dual."""
    k = len(table)
    heaviest = max(1.0, float(weights.max()))  # the solver is given no large numbers: it may not survive them
    shares = _shares(table) * np.maximum(weights / heaviest, LIGHTEST)[:, None, None]
    changes = np.concatenate([-shares[:, :, 1].sum(axis=1), shares[:, :, 0].sum(axis=1), np.zeros(2)])
    errors = np.concatenate(
        [shares[:, 0, 1] - shares[:, 1, 1], shares[:, 0, 0] - shares[:, 1, 0], np.zeros(2)]
    )
    always = {"changes": float(shares[:, :, 1].sum()), "accuracy": float(shares[:, 1, :].sum())}
    limits, most = _within(_rates(table), gap)
    bounds = [(0.0, 1.0)] * (2 * k + 2)
    wanted = changes if aim == "changes" else errors
    best = run_linprog(wanted, A_ub=limits, b_ub=most, bounds=bounds)
    point = best.x
    if aim == "accuracy":
        face = run_linprog(changes, **_optimal_face(best, limits, most))
        point = face.x if face.status == 0 else point
    dual = float(most @ best.ineqlin.marginals + best.upper.marginals.sum())
    cost = heaviest * (float(wanted @ point) + always[aim])
    return point[: 2 * k].reshape(2, k), cost, heaviest * (dual + always[aim])


def run_linprog(costs: Values, **program: Any) -> Any:
    """Return what the solver found; with its own tolerances where it cannot meet ours."""
    found: Any = linprog(costs, **program, **_SOLVER)
    return found if found.status == 0 else linprog(costs, **program, method=_SOLVER["method"])


def _shares(table: Values) -> Values:
    """Return what each group is made of; one without anybody is thought to be made as all are."""
    everyone = table.sum(axis=0) if table.any() else np.ones((2, 2))
    filled = np.where(table.sum(axis=(1, 2), keepdims=True) > 0, table, everyone)
    return np.asarray(filled / filled.sum(axis=(1, 2), keepdims=True))


def _optimal_face(best: Any, limits: Values, most: Values) -> dict[str, Any]:
    """Return the rows and bounds that solutions meet and nothing else does: what has a price is tight."""
    tight = best.ineqlin.marginals < -_TIE
    low = np.where(best.upper.marginals < -_TIE, 1.0, 0.0)
    high = np.where(best.lower.marginals > _TIE, 0.0, 1.0)
    return {
        "A_ub": limits[~tight],
        "b_ub": most[~tight],
        "A_eq": limits[tight],
        "b_eq": most[tight],
        "bounds": np.stack([low, high], axis=1),
    }


def _within(rates: Values, gap: float) -> tuple[Values, Values]:
    """Return the rows of the program: each rate is at least its lowest, and at most that and the gap."""
    k = len(rates)
    rows, most = [], []
    for label in (0, 1):
        for group in range(k):
            row = np.zeros(2 * k + 2)
            row[group], row[k + group] = rates[group, label], 1 - rates[group, label]
            row[2 * k + label] = -1.0
            rows += [row, -row]
            most += [gap, 0.0]
    return np.array(rows), np.array(most)
