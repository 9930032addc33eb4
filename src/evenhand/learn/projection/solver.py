r"""The dual of a projection, solved exactly by an interior-point method.

Minimise :math:`\Phi(\lambda)` over :math:`\lambda \ge 0`, one multiplier for each constraint; its gradient is
how much room each constraint has. The number of multipliers does not depend on the number of rows. At
tolerance 0 the two signs of a constraint are one equality with a multiplier of any sign.

**Why not scipy.optimize.** The solver promises conditions of optimality and a duality gap within 1e-8, and
comes within 1e-13. On 560 problems of 2 to 4 classes and 2 to 8 groups (``bench_projection_scipy.py``), with
the same function, gradient and Hessian, the best method of scipy at tolerance 0, trust-exact, takes 5 times
as long and misses 1e-11 in 6 of 112. Above 0, the best with bounds, SLSQP, takes 4.4 times as long and misses
1e-8 in 8 of 448 and 1e-11 in 313; L-BFGS-B misses 1e-8 in 105, TNC in 37 at 23 times the time. Rescuing those
would need the interior point as well. Constraints of different groups depend on each other, so the Hessian
has no full rank, and many multipliers give the same prices: that is what general methods stumble over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._validate import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.learn.projection.problem import Problem

    Floats = NDArray[np.float64]

_OWNER = "FairProjection"
_GOOD_ENOUGH = 1e-8
"""The largest residual of the conditions of optimality, and duality gap, of a solution that is returned."""
_LARGEST_MULTIPLIER = 1e6  # sound ones reach 1e4 where a group is one row with a score near 0
_MOST_STEPS = 200
_RANK = 1e-12
_SMALLEST_TOLERANCE = 1e-9  # one below is taken as 0


@dataclass(frozen=True, eq=False)
class Solution:
    """The prices that project the rows, and how well they were found."""

    tolerance: float
    prices: Floats
    multipliers: Floats
    objective: float
    """The mean divergence from the scores given, or in the printed form minus the penalised dual."""
    residual: float
    """How far the conditions of optimality are from being met."""
    gap: float
    """The divergence minus the dual's bound of it."""
    steps: int


class _Dual:
    """Function, gradient and Hessian of the multipliers, with the penalty of the printed form."""

    def __init__(self, problem: Problem, columns: Floats, ridge: float, *, stray: bool) -> None:
        self.problem, self.columns, self.ridge = problem, columns, ridge
        self.evaluations = 0
        if ridge:
            square, line = problem.rows.ridge()
            self.square = ridge * (columns.T @ square @ columns + np.eye(columns.shape[1]))
            self.line = -ridge * (line @ columns) if stray else np.zeros(columns.shape[1])

    def __call__(self, multipliers: Floats, *, with_value: bool = False) -> tuple[float, Floats, Floats]:
        self.evaluations += 1
        terms = self.problem.terms(self.columns @ multipliers, with_value=with_value)
        value, gradient = terms.value, terms.gradient @ self.columns
        hessian = self.columns.T @ terms.hessian @ self.columns
        if self.ridge:
            push = self.square @ multipliers
            value += float(multipliers @ (push / 2 + self.line))
            gradient, hessian = gradient + push + self.line, hessian + self.square
        return value, gradient, hessian


def solve(problem: Problem, tolerance: float, *, ridge: float = 0.0, stray: bool = False) -> Solution:
    """Project the rows so that every constraint holds within the tolerance.

    Parameters
    ----------
    problem : Problem
        The rows and what they must meet.
    tolerance : float
        At least 0.
    ridge : float, default 0
        The weight of the penalty of the printed form. With it the constraints are not met exactly.
    stray : bool, default False
        Whether the linear term of the released program is there too.

    Raises
    ------
    InvalidParameterError
        If no scores meet the tolerance, or the solution is not as exact as promised.
    """
    if tolerance < _SMALLEST_TOLERANCE and not ridge:
        return _check_solution(problem, 0.0, *_solve_equalities(problem))
    dual = _Dual(problem, problem.columns(tolerance), ridge, stray=stray)
    multipliers = np.zeros(dual.columns.shape[1])
    _, room, _ = dual(multipliers)
    if (room < 0).any():
        multipliers = _polish(dual, *_solve_interior(dual, room))
    return _check_solution(problem, tolerance, dual, multipliers)


def _solve_interior(dual: _Dual, room: Floats) -> tuple[Floats, Floats]:
    """Primal-dual interior point: multipliers and room both positive, their products driven to 0."""
    count = len(room)
    x = np.full(count, 0.05)
    z = np.full(count, max(0.05, float(np.abs(room).max())))
    _, g, hessian = dual(x)
    shrink = 0.1
    for _ in range(_MOST_STEPS):
        mean = float(x @ z) / count
        if mean < 1e-16 and np.abs(g - z).max() < 1e-12:
            break
        _refuse_infeasible(x)
        mu = shrink * mean
        dx = np.asarray(np.linalg.solve(hessian + np.diag(z / x + 1e-14), mu / x - g), dtype=np.float64)
        dz = (mu - x * z - z * dx) / x
        step = min(1.0, 0.99 * _distance(x, dx), 0.99 * _distance(z, dz))
        shrink = 0.01 if step > 0.9 else 0.1
        old = _merit(g - z, x * z - mu)
        for _ in range(30 if mean > 1e-12 else 3):
            new_x, new_z = x + step * dx, z + step * dz
            _, g, hessian = dual(new_x)
            if _merit(g - new_z, new_x * new_z - mu) <= (1 - 0.01 * step) * old:
                break
            step /= 2
        else:  # as exact as the arithmetic allows
            break
        x, z = new_x, new_z
    return x, z


def _polish(dual: _Dual, x: Floats, z: Floats) -> Floats:
    """Set the multipliers of slack constraints to 0 and let Newton's method finish the others."""
    best, least = x, _fault(x, dual(x)[1])
    for used in (x > z, x > 0.1 * x.max()):  # the second where the tolerance hardly binds
        if least < 1e-12:
            break
        trial = np.where(used, x, 0.0)
        for _ in range(6):
            _, g, hessian = dual(trial)
            here = _fault(trial, g)
            if here < least:
                best, least = trial, here
            places = np.flatnonzero(trial > 0)
            if not places.size or here < 1e-14:
                break
            trial = trial.copy()
            move = _newton_step(hessian[np.ix_(places, places)], g[places])
            trial[places] = np.maximum(trial[places] - move, 0.0)
    return best


def _solve_equalities(problem: Problem) -> tuple[_Dual, Floats]:
    """Solve for tolerance 0, with multipliers of any sign; there are many, the prices are the same."""
    dual = _Dual(problem, problem.signed, 0.0, stray=False)
    x = np.zeros(problem.signed.shape[1])
    value, g, hessian = dual(x, with_value=True)
    for _ in range(_MOST_STEPS):
        if np.abs(g).max() < 1e-14:
            break
        direction = -_newton_step(hessian, g)
        slope, step = float(g @ direction), 1.0
        for _ in range(60):
            new = x + step * direction
            new_value, new_g, new_hessian = dual(new, with_value=True)
            falls = new_value <= value + 1e-4 * step * slope
            if falls or (slope > -1e-10 and np.abs(new_g).max() < np.abs(g).max()):  # the value cannot tell
                break
            step /= 2
        else:
            break
        x, value, g, hessian = new, new_value, new_g, new_hessian
        _refuse_infeasible(x)
    return dual, x


def _check_solution(problem: Problem, tolerance: float, dual: _Dual, x: Floats) -> Solution:
    prices = dual.columns @ x
    value, g, _ = dual(x, with_value=True)
    equal = tolerance == 0 and not dual.ridge
    # how far a constraint is from being met, or a multiplier from being 0 where there is room
    residual = float(np.abs(g).max() if equal else max(-g.min(), np.abs(x * g).max()))
    if dual.ridge:
        objective, gap = -value, float(x @ g)
    else:
        objective = problem.objective(prices)
        gap = objective + value
        objective = max(objective, 0.0)  # where no score is changed, rounding may leave less
    if not (residual < _GOOD_ENOUGH and abs(gap) < _GOOD_ENOUGH):
        _refuse_infeasible(x)
        refuse(
            "tolerance",
            _OWNER,
            f"one whose projection can be computed to within {_GOOD_ENOUGH:g}",
            (
                f"{tolerance:g}, where the conditions of optimality are {residual:.1g} and the two bounds "
                f"{abs(gap):.1g} apart"
            ),
            hint="a larger tolerance, fewer groups, or for kind='odds' marginals='calibrated' may help.",
        )
    both = np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)]) if equal else x
    return Solution(tolerance, problem.table(prices), both, objective, residual, gap, dual.evaluations)


def _refuse_infeasible(multipliers: Floats) -> None:
    largest = float(np.abs(multipliers).max())
    if largest > _LARGEST_MULTIPLIER or not np.isfinite(largest):
        refuse(
            "tolerance",
            _OWNER,
            "one that some scores can meet",
            "one that none can, as far as can be told",
            hint=(
                "a larger tolerance; for kind='odds' the labels may contradict the scores: "
                "marginals='calibrated' takes the shares from the scores, and then every tolerance can be "
                "met."
            ),
        )


def _fault(x: Floats, room: Floats) -> float:
    """Return a stricter residual, which falls on until it is clear which constraints bind."""
    return float(max(np.abs(np.minimum(x, room)).max(), abs(x @ room)))


def _merit(first: Floats, second: Floats) -> float:
    return float(np.hypot(np.linalg.norm(first), np.linalg.norm(second)))


def _distance(x: Floats, direction: Floats) -> float:
    """Return how many steps it is to the boundary."""
    shrinking = direction < 0
    return float(np.min(-x[shrinking] / direction[shrinking])) if shrinking.any() else np.inf


def _newton_step(hessian: Floats, g: Floats) -> Floats:
    """Return the shortest step among Newton's: constraints of different groups depend on each other."""
    return np.asarray(np.linalg.lstsq(hessian, g, rcond=_RANK)[0])
