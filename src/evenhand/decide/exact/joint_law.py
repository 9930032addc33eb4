"""The joint law of comparisons of noisy counts: closed where one sum decides, else given one input at a time.

A law is a list of *atoms*: which comparisons hold, as the sum of their bits, and with which probability,
for each entity. Components that share no input multiply; one that does is conditioned on it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.exact.components import (
    Component,
    Structure,
    best_input,
    components_given,
    is_rotated,
    simple_form,
    split_components,
)
from evenhand.decide.exact.noise_laws import cached_law
from evenhand.decide.exact.points import ComparisonSteps, find_kinks, nodes, run_starts
from evenhand.privacy.laws import Gaussian

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.decide.exact.components import Form
    from evenhand.decide.exact.noise_laws import LinearLaw

    Values = NDArray[np.float64]
    Atoms = list[tuple[Any, Values]]
    Nodes = tuple[NDArray[np.int64], NDArray[Any], Values]

_MOST_NODES = 1 << 19  # points that are worked on at a time
_FEW_ROWS = 64


@dataclass(frozen=True, eq=False)
class State:
    """The entities, as distances: a comparison holds where its sum of noises is above its number.

    Attributes
    ----------
    thresholds : dict of int to array
        For each comparison, the number; whole where the counts and the noise are.
    floors : dict of int to array
        For each input with a least value, that value minus the count.
    size : int
        How many entities, or points of an integral, there are.
    """

    thresholds: dict[int, NDArray[Any]]
    floors: dict[int, NDArray[Any]]
    size: int

    def at(self, rows: Any, component: Component) -> State:
        """Return the state of these entities, as far as a component looks at it."""
        thresholds = {place: self.thresholds[place][rows] for place in component.predicates}
        floors = {place: self.floors[place][rows] for place in component.inputs if place in self.floors}
        return State(thresholds, floors, next(iter(thresholds.values())).shape[0])


def products(groups: Sequence[Atoms], code: Any = 0, mass: Any = 1.0) -> Iterator[tuple[Any, Values]]:
    """Yield the joint atoms of independent components, given those of each, one after the other."""
    if not groups:
        yield code, mass
        return
    for more, part in groups[0]:
        yield from products(groups[1:], code + more, mass * part)


def component_atoms(
    structure: Structure, state: State, component: Component, *, bits: dict[int, int]
) -> Atoms:
    """Return the joint law of the comparisons of one component.

    Parameters
    ----------
    structure : Structure
        The comparisons and laws.
    state : State
        The entities.
    component : Component
        The component.
    bits : dict of int to int
        The bit that stands for each comparison.
    """
    form = simple_form(structure, component)
    if form is not None:
        return _cells(structure, state, component, form, bits)
    if is_rotated(structure, component):
        turned, turned_state = _rotation(structure, state, component)
        names = {place: bits[predicate] for place, predicate in enumerate(component.predicates)}
        pieces = split_components(turned, tuple(names), tuple(range(len(turned.laws))))
        return list(products([component_atoms(turned, turned_state, part, bits=names) for part in pieces]))
    local = {predicate: 1 << place for place, predicate in enumerate(component.predicates)}
    masses = _integrate_patterns(structure, state, component, local)
    codes = [
        sum(bits[predicate] for predicate in local if code & local[predicate])
        for code in range(masses.shape[1])
    ]
    return [(code, masses[:, place]) for place, code in enumerate(codes)]


# --- one sum decides -----------------------------------------------------------------------------------


def _cells(
    structure: Structure, state: State, component: Component, form: Form, bits: dict[int, int]
) -> Atoms:
    """Return the atoms where every comparison is whether one sum is above, or below, its own number."""
    below, steps, start = [], [], 0
    for predicate, multiple in zip(component.predicates, form.multiples, strict=True):
        floor = None if form.floored is None else state.floors[form.floored]
        threshold, strict = state.thresholds[predicate], structure.strict[predicate]
        below.append(_mass_below(form.law, threshold, multiple, floor, strict=strict))
        steps.append(bits[predicate] if multiple > 0 else -bits[predicate])
        start += bits[predicate] if multiple < 0 else 0
    if len(below) == 1:
        return [(start, below[0]), (start + steps[0], 1 - below[0])]
    if len(below) == 2:  # two borders need no sorting
        first = np.minimum(*below)
        last = np.maximum(*below)
        between = start + np.where(below[0] <= below[1], *steps)
        return [(start, first), (between, last - first), (start + sum(steps), 1 - last)]
    stacked = np.stack(below, axis=1)
    order = np.argsort(stacked, axis=1)
    ordered = np.take_along_axis(stacked, order, axis=1)
    codes = start + np.cumsum(np.asarray(steps)[order], axis=1)
    masses = np.diff(ordered, axis=1, append=1.0)
    return [
        (start, ordered[:, 0]),
        *((codes[:, place], masses[:, place]) for place in range(len(below))),
    ]


def _mass_below(
    law: LinearLaw, threshold: NDArray[Any], multiple: float, floor: NDArray[Any] | None, *, strict: bool
) -> Values:
    """Return the probability that a sum is on the lower side of multiple * sum > threshold, or >=."""
    if law.whole:
        last = _clip_whole(_last_whole(threshold, multiple, strict=strict))
        mass = law.below(last)
        return mass if floor is None else np.where(last >= floor, mass, 0.0)
    mass = law.below(threshold.astype(np.float64) / float(multiple))
    if floor is None:
        return mass
    # a sum at the floor is an event of its own: no rounding may decide it
    least = multiple * (floor.astype(object) if threshold.dtype.kind == "O" else floor)
    if multiple > 0:
        at_least = threshold >= least if strict else threshold > least
    else:
        at_least = threshold < least if strict else threshold <= least
    return np.where(at_least, mass, 0.0)


def _last_whole(threshold: NDArray[Any], multiple: float, *, strict: bool) -> NDArray[Any]:
    """Return the last whole number on the lower side."""
    size = abs(multiple)
    if multiple > 0:
        return threshold // size if strict else -(-threshold // size) - 1
    return -(threshold // size) - 1 if strict else -threshold // size


def _clip_whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers of any size as those of a fixed size, the far ones nearer."""
    if numbers.dtype.kind != "O":
        return numbers
    near: NDArray[np.int64] = np.clip(numbers, -(1 << 62), 1 << 62).astype(np.int64)
    return near


# --- given one input -----------------------------------------------------------------------------------


def _integrate_patterns(
    structure: Structure, state: State, component: Component, bits: dict[int, int]
) -> Values:
    """Return the probability of every pattern of the comparisons, by summing over one input's noise."""
    name = best_input(structure, component)
    patterns = 1 << len(component.predicates)
    masses = np.empty((state.size, patterns))
    step = _FEW_ROWS
    start = 0
    while start < state.size:
        rows = slice(start, min(start + step, state.size))
        chunk = state.at(rows, component)
        points = _points(structure, chunk, component, name)
        masses[rows] = _sum_over_points(structure, chunk, component, name, points, bits)
        start += step
        step = max(1, min(int(_MOST_NODES * chunk.size / max(1, points[0].size)), _MOST_NODES // patterns))
    return masses


def _sum_over_points(
    structure: Structure, state: State, component: Component, name: int, points: Nodes, bits: dict[int, int]
) -> Values:
    rows, values, weights = points
    given_state = state.at(rows, component)
    code: Any = rows << len(bits)
    for predicate in component.predicates:
        weight = structure.weights(predicate).get(name)
        if weight is not None:
            given_state.thresholds[predicate] = _shift_thresholds(
                given_state.thresholds[predicate], weight, values
            )
        if not any(
            other in component.inputs and other != name for other, _ in structure.coefficients[predicate]
        ):
            left = given_state.thresholds[predicate]
            code = code + bits[predicate] * (left < 0 if structure.strict[predicate] else left <= 0)
    groups = [
        component_atoms(structure, given_state, part, bits=bits)
        for part in components_given(structure, component, name)
    ]
    masses = np.zeros(state.size << len(bits))
    together = max(1, masses.size // max(1, rows.size))  # many patterns are added up at a time
    atoms = products(groups)
    while several := list(itertools.islice(atoms, together)):
        codes = np.concatenate([code + more for more, _ in several])
        added = np.concatenate([weights * mass for _, mass in several])
        masses += np.bincount(codes, weights=added, minlength=masses.size)
    return masses.reshape(state.size, -1)


def _shift_thresholds(threshold: NDArray[Any], weight: float, values: NDArray[Any]) -> NDArray[Any]:
    """Return threshold - weight * values; whole numbers stay exact, whatever their size."""
    if values.dtype.kind == "f":
        return threshold.astype(np.float64) - float(weight) * values
    return threshold - weight * (values.astype(object) if threshold.dtype.kind == "O" else values)


def _points(structure: Structure, state: State, component: Component, name: int) -> Nodes:
    """Return the values that the noise on an input is given, with their probabilities, for each entity."""
    law: Any = cached_law((Fraction(1),), (structure.laws[name],))
    floor = state.floors.get(name)
    if structure.whole(name):
        far = int(law.reach)
        steps = _steps(structure, state, component, name)
        if steps is None:
            rows, values = np.divmod(np.arange(state.size * (2 * far + 1)), 2 * far + 1)
            values -= far
        else:
            rows, values = run_starts(steps, far, state.size)
        below = np.where(values > -far, law.below(values - 1), 0.0)
        above = np.append(np.where(rows[1:] == rows[:-1], below[1:], 1.0), 1.0)
        return rows, values if floor is None else np.maximum(values, floor[rows]), above - below
    kinks = find_kinks(structure, component, name, thresholds=state.thresholds, floors=state.floors)
    high = np.full(state.size, law.reach)
    low = -high if floor is None else np.clip(floor.astype(np.float64), -high, high)
    rows, places, weights = nodes(kinks, low, high)
    weights = weights * law.density(places)
    if floor is None:
        return rows, places, weights
    ends = np.arange(state.size)
    least = floor.astype(np.float64)
    return (
        np.concatenate([rows, ends]),
        np.concatenate([places, least]),
        np.concatenate([weights, law.below(least)]),
    )


def _steps(
    structure: Structure, state: State, component: Component, name: int
) -> list[ComparisonSteps] | None:
    """Return how each comparison changes with the noise on one input; None where the runs are not known."""
    forms: dict[int, tuple[int, int]] = {}
    for part in components_given(structure, component, name):
        form = simple_form(structure, part)
        if form is None or not form.law.whole:
            return None
        for predicate, multiple in zip(part.predicates, form.multiples, strict=True):
            forms[predicate] = (abs(int(multiple)), int(form.law.reach))
    steps = []
    for predicate in component.predicates:
        weight = structure.weights(predicate).get(name)
        threshold = state.thresholds[predicate]
        if threshold.dtype.kind == "O":
            return None
        if weight is not None:
            multiple, reach = forms.get(predicate, (1, -1))
            steps.append(
                ComparisonSteps(threshold - (not structure.strict[predicate]), int(weight), multiple, reach)
            )
    return steps


# --- fewer comparisons than Gaussian inputs ------------------------------------------------------------


def _rotation(structure: Structure, state: State, component: Component) -> tuple[Structure, State]:
    """Return the same joint law over as many independent Gaussian inputs as there are comparisons."""
    deviations = [math.sqrt(float(structure.laws[predicate].variance)) for predicate in component.inputs]
    forms = np.array(
        [
            [structure.weights(predicate).get(name, 0) for name in component.inputs]
            for predicate in component.predicates
        ],
        dtype=np.float64,
    )
    scaled = forms * deviations
    size = np.linalg.norm(scaled, axis=1)
    upper: Values = np.linalg.qr((scaled / size[:, None]).T).R
    triangle = upper.T
    triangle[np.abs(triangle) < 1e-14] = 0.0  # rounding
    latent = range(triangle.shape[1])
    coefficients = tuple(tuple((name, float(row[name])) for name in latent if row[name]) for row in triangle)
    strict = tuple(structure.strict[predicate] for predicate in component.predicates)
    turned = Structure(coefficients, strict, (Gaussian(1),) * triangle.shape[1])
    places = {
        place: state.thresholds[predicate].astype(np.float64) / size[place]
        for place, predicate in enumerate(component.predicates)
    }
    return turned, State(places, {}, state.size)
