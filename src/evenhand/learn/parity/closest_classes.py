"""The rates of several classes closest to given ones that agree between groups: a transport problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from evenhand._validate import refuse
from evenhand.learn.parity.closest import LIGHTEST, run_linprog
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    import numpy.typing as npt
    from numpy.typing import NDArray

    from evenhand.privacy.rational import Number

    Values = NDArray[np.float64]

MOST_CELLS = 20_000
"""How many groups times classes there may be."""

_OWNER = "closest_class_rates"
_SUM = 1e-9  # by which shares may miss one
_SLACK = 1e-9  # by which the second program may miss the optimum of the first


@dataclass(frozen=True, eq=False)
class ClassRates:
    """What :func:`closest_class_rates` found; one entry for each group, in the order given.

    Attributes
    ----------
    rates, target : array of (groups, classes)
        The rate of each class as it was, and afterwards.
    transition : array of (groups, classes, classes)
        The probability of each answer (last axis) for each prediction.
    cost : float
        What the change costs: the weighted sum of the shares changed, or of what is charged for them.
    lower_bound : float
        The value of the dual program, below which no rule of this kind can be.
    gap : float
        The largest difference of rates that was allowed, of every class.
    """

    rates: Values
    target: Values
    transition: Values
    cost: float
    lower_bound: float
    gap: float


def closest_class_rates(
    rates: npt.ArrayLike,
    *,
    gap: Number = 0,
    weights: npt.ArrayLike | None = None,
    costs: npt.ArrayLike | None = None,
) -> ClassRates:
    r"""Return how predictions are to be changed so that every class has the same rate in all groups.

    .. math:: \min_{x \ge 0} \sum_a w_a \sum_{c,d} C_{acd}\, x_{acd} \quad \text{with} \quad
              \sum_d x_{acd} = \alpha_{ac}, \quad
              \max_a \sum_c x_{acd} - \min_a \sum_c x_{acd} \le \gamma

    where :math:`\alpha_{ac}` are the `rates`, :math:`x_{acd}` is the share of group :math:`a` for whom
    :math:`c` was predicted and :math:`d` is answered, :math:`\gamma` is the `gap`, :math:`w_a` are the
    `weights` and :math:`C_{acd}` the `costs`. Without costs a changed answer costs one, and a group costs the
    total variation between its rates before and after: no rule can change fewer. Of several solutions one is
    taken that changes least in the group where most is changed.

    Parameters
    ----------
    rates : array of (groups, classes)
        The share of each class among the predictions of each group; each row adds up to one.
    gap : number
        From 0 to 1; the same for every class.
    weights : array, optional
        How much each group counts, at least 0; all alike by default.
    costs : array of (classes, classes) or (groups, classes, classes), optional
        What it costs to answer the class of the column where that of the row was predicted. May be negative.

    Returns
    -------
    ClassRates

    Examples
    --------
    >>> closest = closest_class_rates([[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]])
    >>> closest.target.round(9).tolist(), round(closest.cost, 9)
    ([[0.4, 0.3, 0.3], [0.4, 0.3, 0.3]], 0.2)
    >>> closest.transition[0].round(9).tolist()
    [[0.8, 0.0, 0.2], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    given = _read_rates(rates)
    width = float(exact(gap, name="gap", owner=_OWNER, least=0, most=1))
    weighed = _read_weights(weights, len(given))
    charged = _read_costs(costs, given.shape)
    order = np.lexsort(np.column_stack([charged.reshape(len(given), -1), weighed, given]).T)
    moved, bound = _solve(given[order], weighed[order], charged[order], width)
    moved = np.maximum(moved[np.argsort(order)], 0.0)
    sums = moved.sum(axis=2, keepdims=True)
    kept = np.eye(given.shape[1])  # of a class that nobody of a group has, predictions stay
    transition = np.where((sums > 0) & (given[..., None] > 0), moved / np.where(sums > 0, sums, 1), kept)
    after = given[..., None] * transition
    cost = float((weighed[:, None, None] * charged * after).sum())
    return ClassRates(given, after.sum(axis=1), transition, cost, bound, width)


def _solve(rates: Values, weights: Values, costs: Values, gap: float) -> tuple[Values, float]:
    """Return the shares that are moved, and the bound of the dual."""
    k, n = rates.shape
    heaviest, dearest = float(weights.max()), max(1.0, float(np.abs(costs).max()))
    scaled = np.maximum(weights / heaviest, LIGHTEST)[:, None, None] * costs / dearest
    sums, limits, most = _sum_rows(k, n), _gap_rows(k, n), np.repeat([gap, 0.0], k * n)
    bounds = np.repeat([[0.0, 1.0]], k * n * n + n, axis=0)
    prices, given = np.append(scaled.ravel(), np.zeros(n)), rates.ravel()
    best = run_linprog(prices, A_ub=limits, b_ub=most, A_eq=sums, b_eq=given, bounds=bounds)
    dual = most @ best.ineqlin.marginals + given @ best.eqlin.marginals + best.upper.marginals.sum()
    # At the same cost, as little as possible in the group that is changed most: one variable more.
    rows = [_wider(limits), sparse.csr_matrix(np.append(prices, 0.0)), _changed_rows(k, n)]
    even = run_linprog(
        np.append(np.zeros(len(prices)), 1.0),
        A_ub=sparse.vstack(rows),
        b_ub=np.concatenate([most, [best.fun + _SLACK], np.zeros(k)]),
        A_eq=_wider(sums),
        b_eq=given,
        bounds=np.vstack([bounds, [0.0, 1.0]]),
    )
    point = even.x if even.status == 0 else best.x
    return point[: k * n * n].reshape(k, n, n), float(dual) * heaviest * dearest


def _wider(rows: Any, last: float = 0.0) -> Any:
    """Return rows with one variable more."""
    return sparse.hstack([rows, sparse.csr_matrix(np.full((rows.shape[0], 1), last))])


def _sum_rows(k: int, n: int) -> Any:
    """Return the rows that add up what becomes of each prediction."""
    sums = sparse.kron(sparse.eye(k * n), np.ones((1, n)))
    return sparse.hstack([sums, sparse.csr_matrix((k * n, n))])


def _gap_rows(k: int, n: int) -> Any:
    """Return the rows of the program: each rate is at least its lowest, and at most that and the gap."""
    after = sparse.kron(sparse.eye(k), sparse.hstack([sparse.eye(n)] * n))
    lowest = sparse.vstack([sparse.eye(n)] * k)
    above: Any = sparse.hstack([after, -lowest])
    return sparse.csr_matrix(sparse.vstack([above, -above]))


def _changed_rows(k: int, n: int) -> Any:
    """Return the rows that keep what is changed in each group below the last variable."""
    changed = sparse.kron(sparse.eye(k), (1 - np.eye(n)).reshape(1, -1))
    return _wider(sparse.hstack([changed, sparse.csr_matrix((k, n))]), -1.0)


def _read_numbers(name: str, values: npt.ArrayLike) -> Values:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if not np.isfinite(array).all():
        refuse(name, _OWNER, "an array of numbers", "something else")
    return array


def _read_rates(rates: npt.ArrayLike) -> Values:
    array = _read_numbers("rates", rates)
    good = array.ndim == 2 and array.shape[1] >= 2 and array.size and bool((array >= 0).all())
    if not good or (np.abs(array.sum(axis=1) - 1) > _SUM).any():
        must_be = "an array of (groups, classes) whose rows are shares that add up to one"
        refuse("rates", _OWNER, must_be, "another array")
    if array.size > MOST_CELLS:
        refuse("rates", _OWNER, f"of at most {MOST_CELLS:,} groups times classes", f"{array.size:,}")
    return np.asarray(array / array.sum(axis=1, keepdims=True))


def _read_weights(weights: npt.ArrayLike | None, k: int) -> Values:
    if weights is None:
        return np.ones(k)
    array = _read_numbers("weights", weights)
    if array.shape != (k,) or (array < 0).any() or not array.any():
        refuse("weights", _OWNER, "a number of at least 0 for each group, not all of them 0", "others")
    return array


def _read_costs(costs: npt.ArrayLike | None, shape: tuple[int, ...]) -> Values:
    k, n = shape
    array = 1 - np.eye(n) if costs is None else _read_numbers("costs", costs)
    if array.shape not in {(n, n), (k, n, n)}:
        must_be = "an array of (classes, classes) or (groups, classes, classes)"
        refuse("costs", _OWNER, must_be, "another shape")
    return np.array(np.broadcast_to(array, (k, n, n)))
