r"""The probability that a rule holds on noisy counts, exactly, inputs shared or not.

Comparisons that share no noisy input are independent and multiply. Those that share one are conditioned on
it: given its noise, each depends on inputs of its own, so the joint law is an integral over one noise, or a
sum where it is whole-numbered; two shared inputs take two. Independence is never assumed where it does not
hold.

>>> from evenhand.decide.language.terms import count, ratio
>>> from evenhand.privacy.laws import DiscreteLaplace
>>> rule = ((ratio("sp", "s") > 0.05) | (count("sp") > 10_000)) & (ratio("spe", "sp") > 0.0131)
>>> county = {"s": [3305], "sp": [160], "spe": [3]}
>>> f"{rule_probability(rule, county, DiscreteLaplace(10))[0]:.12f}"
'0.154698191405'
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import require_true_values
from evenhand.decide.exact.components import Structure, cost, split_components
from evenhand.decide.exact.joint_law import State, component_atoms, products
from evenhand.decide.exact.noise_laws import exact_reach
from evenhand.decide.language.rule import Rule
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, UnknownNameError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.release.postprocess.steps import Integral, Nonnegative, Shrink, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]

MOST_PREDICATES = 12
MOST_EVALUATIONS = 500_000
"""Evaluations for one entity beyond which sampling is left to the caller."""
MOST_IN_ALL = 200_000_000
"""Evaluations for all entities beyond which it is: a minute or two."""

_LARGEST = 1 << 62
_MOST_EXACT = 1 << 53


def rule_probability(
    rule: Rule,
    columns: Mapping[str, Any],
    laws: Law | Mapping[str, Law],
    *,
    post: Sequence[Step] | None = None,
) -> Values:
    r"""Return the probability that a rule holds on counts with independent noise, for each entity.

    Within 1e-9 of the truth, and in general within 1e-12: single comparisons in closed form; integrals
    between all kinks with pieces short enough for Gauss and Legendre's rule; sums over whole numbers with
    exact comparisons and tails below 1e-14.

    Parameters
    ----------
    rule : Rule
        The rule.
    columns : mapping of str to array
        The true counts by input, whole numbers of shapes that broadcast. The result is as private as they
        are.
    laws : Law or mapping of str to Law
        The noise on each input, independent between inputs and entities.
    post : sequence of Step, optional
        What is done to the noisy counts first; of steps that change anything,
        :class:`~evenhand.release.postprocess.Nonnegative` has an exact law.

    Raises
    ------
    InvalidParameterError
        Where :func:`exactly_solvable` gives a reason.

    Examples
    --------
    >>> from evenhand.decide.language.terms import count
    >>> from evenhand.privacy.laws import Laplace
    >>> f"{rule_probability(count('x') >= 10, {'x': 12}, Laplace(2)):.6f}"
    '0.816060'
    """
    _check_rule(rule, owner="rule_probability")
    reason = exactly_solvable(rule, laws, post)
    if reason is not None:
        must_be = f"one whose probability is known exactly; {reason}"
        raise InvalidParameterError("rule", owner="rule_probability", must_be=must_be, got=rule)
    linear = rule.linear()
    by_input = laws_of(laws, linear.inputs, owner="rule_probability")
    structure, state, shape = half_spaces(linear, columns, by_input, least=_least(post))
    table = truth_table(linear).astype(np.float64)
    probabilities = np.empty(state.size)
    sure, reached = _decided_comparisons(structure, state)
    groups, members = np.unique(np.concatenate([sure, reached], axis=1), axis=0, return_inverse=True)
    for place, group in enumerate(groups):
        rows = np.flatnonzero(members.ravel() == place)
        probabilities[rows] = _probability(structure, state, table, rows, group)
    return np.clip(probabilities, 0.0, 1.0).reshape(shape)[()]


def exactly_solvable(
    rule: Rule,
    laws: Law | Mapping[str, Law],
    post: Sequence[Step] | None = None,
    *,
    entities: int = 1,
) -> str | None:
    """Return None if :func:`rule_probability` can say the probability, else the reason why not, in words.

    Parameters
    ----------
    rule : Rule
        The rule.
    laws : Law or mapping of str to Law
        The noise on each input.
    post : sequence of Step, optional
        What is done to the noisy counts first.
    entities : int, default 1
        How many there are: a rule that shares two inputs is quick for one and takes minutes for thousands.

    Examples
    --------
    >>> from evenhand.decide.language.terms import count
    >>> from evenhand.privacy.laws import Laplace
    >>> from evenhand.release.postprocess.steps import SumTo
    >>> exactly_solvable(count("x") > 3, Laplace(2)) is None
    True
    >>> exactly_solvable(count("x") > 3, Laplace(2), [SumTo(100)])
    'the step "moved to add up to 100" ties the counts to one another'
    """
    _check_rule(rule, owner="exactly_solvable")
    linear = rule.linear()
    by_input = laws_of(laws, linear.inputs, owner="exactly_solvable")
    reason = _step_reason(by_input, post)
    if reason is not None:
        return reason
    if len(linear.predicates) > MOST_PREDICATES:
        return f"it makes {len(linear.predicates)} different comparisons, more than {MOST_PREDICATES}"
    structure = structure_of(linear, by_input, floored=_least(post) is not None)
    every = split_components(
        structure, tuple(range(len(linear.predicates))), tuple(range(len(linear.inputs)))
    )
    each_takes = sum(cost(structure, component) for component in every)
    if each_takes > MOST_EVALUATIONS or each_takes * entities > MOST_IN_ALL:
        return "its comparisons share so many inputs, or their noise is so wide, that sampling is quicker"
    return None


def _step_reason(laws: Mapping[str, Law], post: Sequence[Step] | None) -> str | None:
    for step in _steps(post):
        if isinstance(step, Nonnegative) or (isinstance(step, Shrink) and step.T == 0):
            continue
        if isinstance(step, Integral):
            if all(law.support == "integers" for law in laws.values()):
                continue
            return f'no law is known after the step "{step.words}" of noise that is not whole'
        if isinstance(step, Shrink):
            return f'no law is known after the step "{step.words}"'
        return f'the step "{step.words}" ties the counts to one another'
    return None


def _steps(post: Sequence[Any] | None) -> tuple[Step, ...]:
    steps = () if post is None else tuple(post)
    for step in steps:
        if not isinstance(step, Step):
            must_be = "a sequence of steps of evenhand.release.postprocess"
            raise InvalidParameterError("post", owner="rule_probability", must_be=must_be, got=step)
    return steps


def _least(post: Sequence[Step] | None) -> int | None:
    least = [step.least for step in _steps(post) if isinstance(step, Nonnegative | Shrink)]
    return max(least, default=None)


def _check_rule(rule: object, *, owner: str) -> None:
    if not isinstance(rule, Rule):
        raise InvalidParameterError("rule", owner=owner, must_be="a rule", got=rule)


# --- what is certain -----------------------------------------------------------------------------------


def _decided_comparisons(structure: Structure, state: State) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Tell for each entity which comparisons are decided whatever the noise, and which floors are in reach.

    The noise is taken to stay within its reach, which it leaves with a probability below 1e-14.
    """
    ends = {}
    reached = np.zeros((state.size, len(structure.laws)), dtype=np.int8)
    for place, law in enumerate(structure.laws):
        far = exact_reach(law)
        floor = state.floors[place].astype(np.float64) if place in state.floors else np.float64(-np.inf)
        ends[place] = (np.maximum(floor, -far), np.maximum(floor, far))
        reached[:, place] = floor > -far
    sure = np.zeros((reached.shape[0], len(structure.strict)), dtype=np.int8)
    for place, threshold in state.thresholds.items():
        left = threshold.astype(np.float64)
        low, high = (
            sum(weight * ends[name][(weight > 0) == upper] for name, weight in structure.coefficients[place])
            for upper in (False, True)
        )
        strict = structure.strict[place]
        sure[:, place] = np.where(low > left if strict else low >= left, 1, 0)
        sure[:, place] -= np.where(high <= left if strict else high < left, 1, 0).astype(np.int8)
    return sure, reached


def _probability(
    structure: Structure, state: State, table: Values, rows: NDArray[np.int64], group: NDArray[np.int8]
) -> Any:
    """Return the probability for entities with the same comparisons decided and the same floors in reach."""
    known, reached = group[: len(structure.strict)], group[len(structure.strict) :]
    open_, table = _restrict_table(table, known)
    if not open_:
        return table[0]
    floored = frozenset(int(name) for name in np.flatnonzero(reached)) & structure.floored
    here = State(
        {predicate: state.thresholds[predicate][rows] for predicate in open_},
        {name: state.floors[name][rows] for name in floored},
        rows.size,
    )
    narrowed = replace(structure, floored=floored)
    bits = {predicate: 1 << place for place, predicate in enumerate(open_)}
    components = split_components(narrowed, open_, tuple(range(len(structure.laws))))
    atoms = products([component_atoms(narrowed, here, component, bits=bits) for component in components])
    return sum(table[code] * mass for code, mass in atoms)


def _restrict_table(table: Values, known: NDArray[np.int8]) -> tuple[tuple[int, ...], Values]:
    """Return the comparisons that still matter, and the table over the patterns of these alone."""
    cube: Any = table.reshape((2,) * len(known), order="F")
    open_: list[int] = []
    for place in reversed(range(len(known))):
        if known[place]:
            cube = cube.take(int(known[place] > 0), axis=place)
        elif np.array_equal(cube.take(0, axis=place), cube.take(1, axis=place)):
            cube = cube.take(0, axis=place)
        else:
            open_.insert(0, place)
    return tuple(open_), cube.ravel(order="F")


def half_spaces(
    rule: Rule, columns: Mapping[str, Any], laws: Mapping[str, Law], *, least: int | None
) -> tuple[Structure, State, tuple[int, ...]]:
    """Put the counts into a rule of half-spaces: its structure, the entities, and the shape of the columns.

    Parameters
    ----------
    rule : Rule
        A rule whose comparisons are weighted sums, see :meth:`~evenhand.decide.language.rule.Rule.linear`.
    columns : mapping of str to array
        The true counts by input.
    laws : mapping of str to Law
        The noise on each.
    least : int or None
        The value that smaller noisy counts are set to.
    """
    counts = whole_columns(rule.inputs, columns)
    shape = np.broadcast_shapes(*(column.shape for column in counts.values()))
    flat = {name: np.broadcast_to(column, shape).ravel() for name, column in counts.items()}
    size = math.prod(shape)
    thresholds = {}
    for place, predicate in enumerate(rule.predicates):
        scale = predicate.bound.denominator
        weights = {name: int(weight * scale) for name, weight in predicate.terms}
        thresholds[place] = _distance(weights, int(predicate.bound * scale), flat, laws, size)
    floors = {} if least is None else {k: least - flat[name] for k, name in enumerate(rule.inputs)}
    return structure_of(rule, laws, floored=least is not None), State(thresholds, floors, size), shape


def _distance(
    weights: Mapping[str, int],
    bound: int,
    counts: Mapping[str, NDArray[Any]],
    laws: Mapping[str, Law],
    size: int,
) -> NDArray[Any]:
    """Return bound minus the weighted sum, in 64 bits where nothing that is added later can overflow."""
    far = abs(bound)
    for name, weight in weights.items():
        column = counts[name]
        largest = int(np.abs(column).max(initial=0))
        far += abs(weight) * (largest + math.ceil(exact_reach(laws[name])) + 8)
    wide = 2 * far >= _LARGEST
    total = np.full(size, bound, dtype=object if wide else np.int64)
    for name, weight in weights.items():
        column = counts[name].astype(object) if wide else counts[name]
        total = total - weight * column
    return total


def structure_of(rule: Rule, laws: Mapping[str, Law], *, floored: bool) -> Structure:
    """Return the comparisons of a linear rule with whole coefficients, the inputs by their place."""
    places = {name: place for place, name in enumerate(rule.inputs)}
    coefficients = tuple(
        tuple((places[name], int(weight * predicate.bound.denominator)) for name, weight in predicate.terms)
        for predicate in rule.predicates
    )
    strict = tuple(predicate.strict for predicate in rule.predicates)
    chosen = tuple(laws[name] for name in rule.inputs)
    return Structure(coefficients, strict, chosen, frozenset(places.values()) if floored else frozenset())


def truth_table(rule: Rule) -> NDArray[np.bool_]:
    """Return where the rule holds, for every pattern of its comparisons: bit p stands for comparison p."""
    codes = np.arange(1 << len(rule.predicates))
    return rule.evaluate([(codes >> place) % 2 == 1 for place in range(len(rule.predicates))])


def laws_of(laws: Any, inputs: Sequence[str], *, owner: str) -> dict[str, Law]:
    """Return the noise on each input, from one law for all or one by name."""
    by_input = laws if isinstance(laws, Mapping) else dict.fromkeys(inputs, laws)
    for name in inputs:
        if name not in by_input:
            raise UnknownNameError("The noise of input", name, map(str, by_input), place="given")
        if not isinstance(by_input[name], Laplace | Gaussian | DiscreteLaplace | DiscreteGaussian):
            must_be = "a law of evenhand.privacy.laws, or a mapping of inputs to such laws"
            raise InvalidParameterError("laws", owner=owner, must_be=must_be, got=by_input[name])
    return {name: by_input[name] for name in inputs}


def whole_columns(inputs: Sequence[str], columns: Mapping[str, Any]) -> dict[str, NDArray[np.int64]]:
    """Return the counts of the inputs as whole numbers; no message shows one."""
    whole_counts = {}
    for name in inputs:
        if name not in columns:
            raise ColumnNotFoundError(name, [str(column) for column in columns], place="among the columns")
        require_true_values(columns[name], name="columns", owner="rule_probability")
        array = np.asarray(columns[name])
        whole = array.dtype.kind in "iu"
        if array.dtype.kind == "f":
            whole = bool((np.abs(array) <= _MOST_EXACT).all() and (array % 1 == 0).all())
        if not whole or (array > _LARGEST).any() or (array < -_LARGEST).any():
            must_be = f"columns of whole numbers below 2**62 without missing ones; '{name}' is not"
            raise InvalidParameterError("columns", owner="rule_probability", must_be=must_be, got="others")
        whole_counts[name] = array.astype(np.int64)
    return whole_counts
