"""Equalised odds by a linear program on two probabilities for each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.optimize import linprog

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["AIMS", "Aim", "OddsRates", "closest_odds"]

Aim = Literal["changes", "accuracy"]

AIMS: tuple[Aim, ...] = ("changes", "accuracy")
"""What is kept small: the share of changed answers, or the share of wrong ones."""

_OWNER = "closest_odds"
_LIGHTEST = 1e-9  # weight of a group that has none, so that nothing is changed in it without need
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
    >>> found = closest_odds(table)
    >>> found.target.round(4).tolist(), round(found.cost, 4)
    ([[0.1667, 0.5], [0.1667, 0.5]], 0.2103)
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 3 or table.shape[1:] != (2, 2) or not (table >= 0).all() or not np.isfinite(table).all():
        must_be = "an array of (groups, 2, 2) with counts of at least 0"
        raise InvalidParameterError("counts", owner=_OWNER, must_be=must_be, got="another array")
    order = np.lexsort(table.reshape(len(table), 4).T)  # so that the groups' own order changes nothing
    given = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    found = _solve(table[order], given[order], float(gap), aim)
    back = np.argsort(order)
    rates = _rates(table)
    keep, promote = (np.clip(values[back], 0.0, 1.0) for values in (found.keep, found.promote))
    target = promote[:, None] + (keep - promote)[:, None] * rates
    return OddsRates(rates, target, keep, promote, found.cost, found.bound, float(gap))


@dataclass(frozen=True, eq=False)
class _Found:
    keep: Values
    promote: Values
    cost: float
    bound: float


def _rates(table: Values) -> Values:
    """Return the false and true positive rates; where a group has nobody of a label, those of all groups."""
    seen = table.sum(axis=2)
    pooled = table.sum(axis=0)
    everyone = np.divide(pooled[:, 1], pooled.sum(axis=1), out=np.full(2, 0.5), where=pooled.sum(axis=1) > 0)
    return np.where(seen > 0, table[:, :, 1] / np.where(seen > 0, seen, 1), everyone)


def _solve(table: Values, weights: Values, gap: float, aim: Aim) -> _Found:
    k = len(table)
    heaviest = max(1.0, float(weights.max()))  # the solver is given no large numbers: it may not survive them
    shares = _shares(table) * np.maximum(weights / heaviest, _LIGHTEST)[:, None, None]
    changes = np.concatenate([-shares[:, :, 1].sum(axis=1), shares[:, :, 0].sum(axis=1), np.zeros(2)])
    errors = np.concatenate(
        [shares[:, 0, 1] - shares[:, 1, 1], shares[:, 0, 0] - shares[:, 1, 0], np.zeros(2)]
    )
    always = {"changes": float(shares[:, :, 1].sum()), "accuracy": float(shares[:, 1, :].sum())}
    limits, most = _within(_rates(table), gap)
    bounds = [(0.0, 1.0)] * (2 * k + 2)
    wanted = changes if aim == "changes" else errors
    best = _run_linprog(wanted, A_ub=limits, b_ub=most, bounds=bounds)
    point = best.x
    if aim == "accuracy":
        face = _run_linprog(changes, **_optimal_face(best, limits, most))
        point = face.x if face.status == 0 else point
    dual = float(most @ best.ineqlin.marginals + best.upper.marginals.sum())
    keep, promote = point[:k], point[k : 2 * k]
    cost = heaviest * (float(wanted @ point) + always[aim])
    return _Found(keep, promote, cost, heaviest * (dual + always[aim]))


def _run_linprog(costs: Values, **program: Any) -> Any:
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
