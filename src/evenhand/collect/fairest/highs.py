"""One linear program, solved by HiGHS: quietly, with one thread, and again by other means if need be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._lazy import lazy
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from evenhand.collect.fairest.population import Vector
    from evenhand.collect.fairest.program import Program

highspy = lazy("highspy")

SIMPLEX_GROUPS = 20
"""Up to this many groups the simplex method is quicker, and its answers are corners."""

_COMMON = {
    "output_flag": False,
    "parallel": "off",
    "threads": 1,
    "small_matrix_value": 1e-12,
    "ipm_iteration_limit": 300,  # a hundred are many; without limits some degenerate programs never end
    "simplex_iteration_limit": 500_000,
    "time_limit": 1800.0,
}
_TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_SIMPLEX = {"solver": "simplex", **_TIGHT}
_INTERIOR = {
    "solver": "ipx",
    "run_crossover": "off",
    "ipm_optimality_tolerance": 1e-10,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}
_CORNER = {**_INTERIOR, "run_crossover": "on"}
_LAST_RESORTS: tuple[dict[str, Any], ...] = (
    {"solver": "simplex", "simplex_strategy": 4, "simplex_scale_strategy": 4},
    {"solver": "ipx", "run_crossover": "on"},
    {"solver": "choose", "threads": 0, "parallel": "choose"},
)


@dataclass(frozen=True, eq=False)
class Answer:
    """What the solver found: the variables, the duals of the rows, and a basis to begin from next time."""

    values: Vector
    duals: Vector
    objective: float
    violation: float
    basis: Any


class Solver:
    """Solves programs one after another and counts them.

    Parameters
    ----------
    progress : callable, optional
        Called with the number of programs solved so far and about how many there will be.
    expected : int
        About how many programs there will be.
    """

    def __init__(self, progress: Any = None, *, expected: int = 12) -> None:
        self.solves = 0
        self.expected = expected
        self._progress = progress

    def solve(
        self, program: Program, *, basis: Any = None, corner: bool = False, owner: str = "fairest_channel"
    ) -> Answer:
        """Return the optimum; a start from `basis` helps the simplex method only.

        With `corner` the answer is a corner, whose duals are exact, even where that takes long.
        """
        statuses: list[str] = []
        methods = [_CORNER, *_methods(program)] if corner else _methods(program)
        answer = self._first(program, basis, [*methods, *_LAST_RESORTS], statuses)
        if answer is None:
            raise InvalidParameterError(
                "weights",
                owner=owner,
                must_be="such that the linear programs can be solved",
                got=f"the statuses {', '.join(statuses)}",
                hint="round the weights and rates to fewer digits, or choose a larger error.",
            )
        return answer

    def attempt(self, program: Program) -> Answer | None:
        """Return the optimum, or None where none of the usual methods finds it."""
        return self._first(program, None, _methods(program), [])

    def _first(
        self, program: Program, basis: Any, methods: list[dict[str, Any]], statuses: list[str]
    ) -> Answer | None:
        """Return the first accurate answer, else the least inaccurate one, else None."""
        best = None
        accurate = 1e-9 if _is_small(program) else 1e-7  # solvers call some answers optimal that are not
        for settings in methods:
            status, answer = _run(program, settings, basis)
            basis = None
            if answer is None:
                statuses.append(status)
                continue
            if best is None or answer.violation < best.violation:
                best = answer
            if best.violation <= accurate:
                break
        if best is not None:
            self.solves += 1
            if self._progress is not None:
                self._progress(self.solves, max(self.expected, self.solves))
        return best


def _is_small(program: Program) -> bool:
    return len(program.cost) <= SIMPLEX_GROUPS**2 + 2


def _methods(program: Program) -> list[dict[str, Any]]:
    """Return the quick method for the size, then more patient ones."""
    if _is_small(program):
        return [_SIMPLEX, {**_SIMPLEX, "presolve": "off"}, _CORNER]
    return [_INTERIOR, {**_INTERIOR, "ipm_optimality_tolerance": 1e-8}]


def _run(program: Program, settings: dict[str, Any], basis: Any) -> tuple[str, Answer | None]:
    highs = highspy.Highs()
    for name, value in {**_COMMON, **settings}.items():
        highs.setOptionValue(name, value)
    highs.passModel(_model(program))
    if basis is not None:
        highs.setBasis(basis)
    highs.run()
    status = highs.getModelStatus()
    values = np.array(highs.getSolution().col_value)
    if status != highspy.HighsModelStatus.kOptimal or not np.isfinite(values).all():
        return highs.modelStatusToString(status), None
    answer = Answer(
        values=values,
        duals=np.array(highs.getSolution().row_dual),
        objective=float(program.cost @ values),
        violation=program.violation(values),
        basis=highs.getBasis(),
    )
    return "Optimal", answer


def _model(program: Program) -> Any:
    rows, many = program.rows, len(program.cost)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = many, len(rows.sizes)
    model.col_cost_, model.col_lower_ = program.cost, program.least
    model.col_upper_ = np.full(many, highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = rows.least, rows.most
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.num_col_, model.a_matrix_.num_row_ = many, len(rows.sizes)
    model.a_matrix_.start_ = np.append(0, np.cumsum(rows.sizes)).astype(np.int32)
    model.a_matrix_.index_, model.a_matrix_.value_ = rows.columns.astype(np.int32), rows.values
    return model
