r"""The fairest channel: least unfairness of the reports within an error budget, under local privacy."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.collect.fairest.highs import SIMPLEX_GROUPS, Solver
from evenhand.collect.fairest.population import (
    KINDS,
    average_twins,
    channel_error,
    population,
    read_only,
    repair,
    require_outcome,
    unfairness_of,
)
from evenhand.collect.fairest.program import ChannelProgram
from evenhand.collect.fairest.search import (
    SearchResult,
    choose,
    extremes,
    largest_deviations,
    least_difference,
    least_limit,
    mix_extremes,
)
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import numpy.typing as npt

    from evenhand.collect.fairest.population import Kind, Matrix, Population, Vector
    from evenhand.collect.fairest.search import Extremes

    Budget = Literal["grr", "minimum"] | float
    Progress = Callable[[int, int], object]

_LEAST_SLACK = 1e-9  # what the least error is given on top: with none the set of channels has no inside

_LIMIT_SLACK = 1e-9
_LEAST_LIMIT = 1e-3
_EXPECTED: dict[Kind, int] = {"ratio": 10, "difference": 80}
Answer = TypeVar("Answer")


class Recent(Generic[Answer]):
    """Keeps the answers that were asked for last; they must be immutable, because everybody gets the same.

    Parameters
    ----------
    size : int
        How many answers are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """Return the answer that belongs to `key`, made by `make` if it is not at hand."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        answer = make()  # without the lock: two threads may do the same work, but none waits for the other
        with self._lock:
            self._answers[key] = answer
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
        return answer

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._answers.clear()


_EXTREMES: Recent[Extremes] = Recent(32)
_CHANNELS: Recent[FairestChannel] = Recent(64)


@dataclass(frozen=True, eq=False)
class FairestChannel:
    r"""What `fairest_channel` found, with the figures that show how good it is.

    Attributes
    ----------
    matrix : ndarray of shape (k, k), read-only
        Row :math:`i` holds the probabilities of the reports of somebody in group :math:`i`.
    unfairness_before, unfairness : float
        Of the true groups, and of the reports of this very matrix.
    bound : float
        No channel within the budget that keeps the constraints has less unfairness than this. It follows
        from the duals of the last programs and holds whatever the solver's tolerances are.
    error : float
        Probability that a report of this very matrix says another group than the true one.
    error_budget : float
        What was asked for; `error` exceeds it by a few 1e-9 at most.
    solves : int
        How many linear programs it takes, with those whose answers were still in memory.
    kind : {"ratio", "difference"}
        Which unfairness is meant.
    """

    matrix: Matrix
    unfairness_before: float
    unfairness: float
    bound: float
    error: float
    error_budget: float
    solves: int
    kind: Kind


def fairest_channel(
    weights: npt.ArrayLike,
    rates: npt.ArrayLike,
    epsilon: object,
    *,
    error: Budget = "grr",
    kind: Kind = "ratio",
    progress: Progress | None = None,
) -> FairestChannel:
    r"""Return the locally private channel whose reports tell least about an outcome.

    .. math:: \min_Q \max_a \left| \frac{\Pr(Y = 1 \mid Z = a)}{\Pr(Y = 1)} - 1 \right|
              \quad \text{where} \quad
              q_{ij} \le e^\varepsilon q_{lj}, \; q_{ij} \le \min(q_{ii}, q_{jj}), \; \Pr(Z \ne A) \le \zeta,

    where :math:`q_{ij} = \Pr(Z = j \mid A = i)` is an entry of the matrix, :math:`A` the true and :math:`Z`
    the reported group, :math:`Y` the outcome, :math:`\varepsilon` is ``epsilon`` and :math:`\zeta` is
    ``error``. With ``kind="difference"`` the largest minus the smallest :math:`\Pr(Y = 1 \mid Z = a)` is
    minimised instead.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report.
    Assumes that weights and rates are public.
    Numerics: floating point; draw from `dyadic_channel`, whose ratios are exact.

    Parameters
    ----------
    weights : array-like of shape (k,)
        Share of each group; they sum to one. A group may be empty.
    rates : array-like of shape (k,)
        Share with outcome 1 in each group.
    epsilon : number
        Privacy parameter, > 0; meant for 0.001 to 20.
    error : {"grr", "minimum"} or float, default "grr"
        How often a report may say another group than the true one: as often as generalized randomized
        response with the same epsilon does, as rarely as can be, or a probability.
    kind : {"ratio", "difference"}, default "ratio"
        Which unfairness to minimise.
    progress : callable, optional
        Called after each linear program with how many were solved and about how many there will be.

    Returns
    -------
    FairestChannel
        The matrix, its unfairness and error, and a certified lower bound.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of its range, among them an error below the least feasible one.

    Notes
    -----
    [1]_ states the problem for many groups as one that is not convex and solves it by branch and bound up to
    a gap of 1e-2. It is quasi-convex: for a fixed limit of the unfairness the channels form a polytope, so
    that a handful of linear programs reach the optimum, and the last of them proves it. For
    ``kind="difference"`` a search along one line is left, and the gap between ``unfairness`` and
    ``bound`` is wider: in 120 random instances it was 4.4e-3 of the unfairness before at worst, and up to
    0.7 % of the optimum. Of several optimal channels the most truthful one is taken, and of those one by a
    fixed rule; groups of the same weight and rate are treated alike.

    Weights and rates count with 12 significant digits. Answers are kept in memory for the next such question,
    and are the same as without.

    References
    ----------
    .. [1] Ghoukasian (2024). Classification algorithms with differential privacy and fairness guarantees.
           Thesis, section 5.

    Examples
    --------
    >>> found = fairest_channel([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], epsilon=1, error=0.5)
    >>> found.matrix.round(3)
    array([[0.578, 0.172, 0.25 ],
           [0.422, 0.422, 0.155],
           [0.422, 0.155, 0.422]])
    >>> print(f"{found.unfairness_before:.3f} before, {found.unfairness:.3f} after")
    0.608 before, 0.058 after
    >>> abs(found.unfairness - found.bound) < 1e-8
    True
    """
    owner = "fairest_channel"
    people = population(weights, rates, epsilon, owner=owner).rounded
    kind = one_of("kind", kind, KINDS, owner=owner)
    if kind == "ratio":
        require_outcome(people, owner=owner)
    solver = Solver(progress, expected=_EXPECTED[kind])
    ends = _find_extremes(people, solver, owner=owner)
    budget = _read_budget(error, people, ends, owner=owner)
    key = (*people.key, budget, kind)
    return _CHANNELS.get(key, lambda: _solve_channel(people, solver, ends, budget, kind))


def _find_extremes(people: Population, solver: Solver, *, owner: str) -> Extremes:
    """Return both ends of the range of errors, which are kept for the next question about these people."""
    before = solver.solves
    ends = _EXTREMES.get(people.key, lambda: extremes(ChannelProgram(people), solver, owner=owner))
    solver.solves = before + ends.solves
    return ends


def clear_channels() -> None:
    """Forget all answers that are kept in memory."""
    _EXTREMES.clear()
    _CHANNELS.clear()


def _unfairness_unit(program: ChannelProgram, kind: Kind) -> float:
    """Return the unfairness that one unit of the program's limits stands for."""
    return program.people.width * program.scale / (program.people.mean if kind == "ratio" else 1)


def _solve_channel(
    people: Population, solver: Solver, ends: Extremes, budget: float, kind: Kind
) -> FairestChannel:
    program, owner = ChannelProgram(people), "fairest_channel"
    spent = max(budget, ends.least + _LEAST_SLACK)
    if spent >= ends.fair_error:
        blocks = [program.fair()] if program.scale > 0 else []
        matrix, bound = choose(program, solver, blocks, ends.fair, error=ends.fair_error), 0.0
    else:
        search = least_limit if kind == "ratio" else least_difference
        result = search(program, solver, mix_extremes(ends, spent), spent, owner=owner)
        matrix, bound = _choose_among_equals(program, solver, result, spent, kind), result.bound
    matrix = repair(average_twins(matrix, people), people)
    unfairness = unfairness_of(matrix, people, kind, owner=owner)
    return FairestChannel(
        matrix=read_only(matrix),
        unfairness_before=unfairness_of(np.eye(people.k), people, kind, owner=owner),
        unfairness=unfairness,
        bound=min(float(_unfairness_unit(program, kind) * bound), unfairness),
        error=channel_error(matrix, people),
        error_budget=budget,
        solves=solver.solves,
        kind=kind,
    )


def _choose_among_equals(
    program: ChannelProgram, solver: Solver, result: SearchResult, budget: float, kind: Kind
) -> Matrix:
    """Return the channel that the fixed rule takes from those that are as fair as `result`."""
    reached = largest_deviations(program, result.matrix)
    slack = _LIMIT_SLACK * max(*reached, _LEAST_LIMIT)
    above, below = reached[0] + slack, reached[1] + slack
    if kind == "ratio":
        above = below = max(above, below)
    made = program.values(result.matrix)[1]
    blocks = [program.budget_row(budget), program.limits((above, below), made)]
    chosen = choose(program, solver, blocks, result.matrix)
    return chosen if _is_as_fair(program, chosen, result, kind) else result.matrix


def _is_as_fair(program: ChannelProgram, chosen: Matrix, result: SearchResult, kind: Kind) -> bool:
    """Whether the chosen channel is as fair as the one found, once both are repaired."""
    people, coarse = program.people, program.people.k > SIMPLEX_GROUPS
    after, before = (
        unfairness_of(repair(matrix, people), people, kind, owner="fairest_channel")
        for matrix in (chosen, result.matrix)
    )
    allowed = _LIMIT_SLACK * (100 if coarse else 5) * max(result.limit, _LEAST_LIMIT)
    return after <= before + allowed * _unfairness_unit(program, kind)


def _read_budget(error: Any, people: Population, ends: Extremes, *, owner: str) -> float:
    """Return the error budget as a number that some channel keeps."""
    if isinstance(error, str):
        named = one_of("error", error, ("grr", "minimum"), owner=owner)
        return max(people.grr_error, ends.least) if named == "grr" else ends.least
    try:
        number = float(error)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(error, bool) or not ends.least - _LEAST_SLACK <= number <= 1:
        raise InvalidParameterError(
            "error",
            owner=owner,
            must_be=f"'grr', 'minimum' or a number from {ends.least:.6g} to 1 for this epsilon",
            got=error,
            hint=f"from {ends.fair_error:.6g} on, no unfairness need be left.",
        )
    return number


_LOOKS = 6
_PER_POINT: dict[Kind, int] = {"ratio": 4, "difference": 30}


class ErrorRange(NamedTuple):
    """Error probabilities that matter at one epsilon.

    Attributes
    ----------
    least : float
        The smallest that any channel has.
    grr : float
        That of generalized randomized response.
    fair : float
        The smallest that a channel without unfairness has.
    """

    least: float
    grr: float
    fair: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """The least unfairness for each of several error budgets, from the least error to no unfairness.

    Attributes
    ----------
    errors : ndarray
        Error budgets, rising.
    unfairnesses : ndarray
        Unfairness of the best channel found for each, which never rises.
    bounds : ndarray
        Certified lower bounds of the least unfairness.
    kind : {"ratio", "difference"}
        Which unfairness is meant.
    """

    errors: Vector
    unfairnesses: Vector
    bounds: Vector
    kind: Kind


def error_range(weights: npt.ArrayLike, rates: npt.ArrayLike, epsilon: object) -> ErrorRange:
    """Return the smallest error of all, that of generalized randomized response, and the smallest fair one.

    Parameters
    ----------
    weights, rates : array-like of shape (k,)
        Share of each group, and share with outcome 1 in it.
    epsilon : number
        Privacy parameter, > 0.

    Examples
    --------
    >>> least, grr, fair = error_range([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], epsilon=1)
    >>> print(f"{least:.4f} {grr:.4f} {fair:.4f}")
    0.4202 0.4239 0.5777
    """
    owner = "error_range"
    people = population(weights, rates, epsilon, owner=owner).rounded
    ends = _find_extremes(people, Solver(), owner=owner)
    return ErrorRange(ends.least, people.grr_error, ends.fair_error)


def frontier(
    weights: npt.ArrayLike,
    rates: npt.ArrayLike,
    epsilon: object,
    *,
    points: int = 20,
    kind: Kind = "ratio",
    progress: Progress | None = None,
) -> Frontier:
    """Return the least unfairness for error budgets from the least feasible one to the fair one.

    Parameters
    ----------
    weights, rates : array-like of shape (k,)
        Share of each group, and share with outcome 1 in it.
    epsilon : number
        Privacy parameter, > 0.
    points : int, default 20
        How many error budgets, at least 2, equally spaced.
    kind : {"ratio", "difference"}, default "ratio"
        Which unfairness to minimise.
    progress : callable, optional
        Called after each linear program with how many were solved and about how many there will be.

    Examples
    --------
    >>> found = frontier([0.7, 0.3], [0.2, 0.6], epsilon=1, points=4)
    >>> found.errors.round(3), found.unfairnesses.round(3)
    (array([0.269, 0.346, 0.423, 0.5  ]), array([0.298, 0.167, 0.068, 0.   ]))
    """
    owner = "frontier"
    people = population(weights, rates, epsilon, owner=owner).rounded
    points = integer("points", points, owner=owner, low=2)
    kind = one_of("kind", kind, KINDS, owner=owner)
    if kind == "ratio":
        require_outcome(people, owner=owner)
    solver = Solver(progress, expected=2 + points * _PER_POINT[kind])
    search = least_limit if kind == "ratio" else partial(least_difference, looks=_LOOKS)
    ends = _find_extremes(people, solver, owner=owner)
    program, errors = ChannelProgram(people), np.linspace(ends.least, ends.fair_error, points)
    unfairnesses, bounds, before = [], [], ends.truthful
    for budget in errors[:-1]:
        spent = max(float(budget), ends.least + _LEAST_SLACK)
        if spent >= ends.fair_error:  # every channel is fair
            unfairnesses.append(0.0)
            bounds.append(0.0)
            continue
        first = _first_channel(program, ends, before, spent)
        best = search(program, solver, first, spent, owner=owner)
        unfairnesses.append(unfairness_of(repair(best.matrix, people), people, kind, owner=owner))
        bounds.append(_unfairness_unit(program, kind) * best.bound)
        before = best.matrix
    falling = np.minimum.accumulate([*unfairnesses, 0.0])
    return Frontier(
        read_only(errors), read_only(falling), read_only(np.minimum([*bounds, 0.0], falling)), kind
    )


def _first_channel(program: ChannelProgram, ends: Extremes, before: Matrix, budget: float) -> Matrix:
    """Return the better of two mixtures that use up the budget: with the point before, or both ends."""
    spent = channel_error(before, program.people)
    share = min(max((budget - spent) / max(ends.fair_error - spent, _LEAST_SLACK), 0.0), 1.0)
    mixed = (1 - share) * before + share * ends.fair
    return min(
        (mixed, mix_extremes(ends, budget)), key=lambda matrix: max(largest_deviations(program, matrix))
    )
