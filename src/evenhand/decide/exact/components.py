"""Tell how comparisons depend on each other: which share an input, and which input to condition on.

Two comparisons with no noisy input in common are independent. Those that have one fall apart once its noise
is given a value, so the joint law is a sum or an integral over that value. This module looks at the
structure alone; no count is seen.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from evenhand.decide.exact.noise_laws import LinearLaw, cached_law, whole_reach
from evenhand.privacy.laws import Gaussian

if TYPE_CHECKING:
    from evenhand.privacy.laws import Law

_REAL_NODES = 250  # points of a typical integral over one real input
_MOST_PLANES = 100  # borders of the integrand among the noises, before a sum is too long


@dataclass(frozen=True)
class Structure:
    """Hold what is public about a rule under noise.

    Attributes
    ----------
    coefficients : tuple of tuples of (int, int or float)
        For each comparison the inputs, as positions in `laws`, and their coefficients.
    strict : tuple of bool
        For each comparison, True for ``>``.
    laws : tuple of Law
        The noise on each input.
    floored : frozenset of int
        The inputs that are set to a least value where they fall below it.
    """

    coefficients: tuple[tuple[tuple[int, int | float], ...], ...]
    strict: tuple[bool, ...]
    laws: tuple[Law, ...]
    floored: frozenset[int] = frozenset()

    def weights(self, predicate: int) -> dict[int, int | float]:
        """Return the coefficients of a comparison by input."""
        return dict(self.coefficients[predicate])

    def whole(self, name: int) -> bool:
        """Tell whether the noise on an input is a whole number."""
        return self.laws[name].support == "integers"


@dataclass(frozen=True)
class Component:
    """Comparisons that share noisy inputs, directly or through others."""

    predicates: tuple[int, ...]
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """One weighted sum that all comparisons of a component compare with a number, and its law.

    `multiples` has, for each comparison, the number its left side is of the sum.
    """

    law: LinearLaw
    multiples: tuple[int | float, ...]
    floored: int | None


@lru_cache(maxsize=1024)
def split_components(
    structure: Structure, predicates: tuple[int, ...], inputs: tuple[int, ...]
) -> tuple[Component, ...]:
    """Return the components of these comparisons when only these inputs are still random."""
    groups: list[tuple[set[int], set[int]]] = []
    for predicate in predicates:
        touched = {name for name, _ in structure.coefficients[predicate] if name in inputs}
        joined = [group for group in groups if group[1] & touched]
        groups = [group for group in groups if not group[1] & touched]
        members = {predicate}.union(*(group[0] for group in joined))
        groups.append((members, touched.union(*(group[1] for group in joined))))
    return tuple(
        Component(tuple(sorted(members)), tuple(sorted(names))) for members, names in groups if names
    )


@lru_cache(maxsize=1024)
def simple_form(structure: Structure, component: Component) -> Form | None:
    """Return the one sum that decides a component if its law is known in closed form, else None."""
    rows = [
        {name: weight for name, weight in structure.coefficients[predicate] if name in component.inputs}
        for predicate in component.predicates
    ]
    first = _primitive(rows[0])
    multiples = []
    for row in rows:
        if row.keys() != first.keys():
            return None
        ratios = {Fraction(row[name]) / Fraction(first[name]) for name in row}
        if len(ratios) > 1:
            return None
        multiple = ratios.pop()
        multiples.append(int(multiple) if multiple.denominator == 1 else float(multiple))
    floored = [name for name in component.inputs if name in structure.floored]
    if floored and len(component.inputs) > 1:
        return None
    weights = tuple(abs(Fraction(weight)) for weight in first.values())
    law = cached_law(weights, tuple(structure.laws[name] for name in first))
    return None if law is None else Form(law, tuple(multiples), floored[0] if floored else None)


def _primitive(row: dict[int, int | float]) -> dict[int, int | float]:
    """Return the coefficients over their common divisor, the first one positive; a single one becomes 1."""
    values = list(row.values())
    if len(values) == 1:
        return dict.fromkeys(row, 1)
    divisor = (
        math.gcd(*(int(weight) for weight in values))
        if all(isinstance(weight, int) for weight in values)
        else 1
    )
    sign = -1 if values[0] < 0 else 1
    return {name: sign * (weight // divisor if divisor != 1 else weight) for name, weight in row.items()}


def cost(structure: Structure, component: Component) -> float:
    """Return about how many evaluations the law of a component takes for one entity."""
    return _turned_cost(component) if is_rotated(structure, component) else _cost(structure, component)


@lru_cache(maxsize=4096)
def _cost(structure: Structure, component: Component) -> float:
    if simple_form(structure, component) is not None:
        return 1.0
    return min(_cost_given(structure, component, name) for name in candidates(structure, component))


def _turned_cost(component: Component) -> float:
    return float(_REAL_NODES) ** (len(component.predicates) - 1)


@lru_cache(maxsize=4096)
def best_input(structure: Structure, component: Component) -> int:
    """Return the input whose noise is best given a value, so that the component falls apart."""
    return min(candidates(structure, component), key=lambda name: _cost_given(structure, component, name))


def candidates(structure: Structure, component: Component) -> tuple[int, ...]:
    """Return the inputs that may be conditioned on: whole-numbered ones before real ones."""
    whole = tuple(name for name in component.inputs if structure.whole(name))
    return whole or component.inputs


def is_rotated(structure: Structure, component: Component) -> bool:
    """Tell whether a component of Gaussian inputs has fewer comparisons than inputs need conditioning on."""
    gaussian = all(isinstance(structure.laws[name], Gaussian) for name in component.inputs)
    if not gaussian or structure.floored.intersection(component.inputs):
        return False
    return _turned_cost(component) < _cost(structure, component) / 2


def _cost_given(structure: Structure, component: Component, name: int) -> float:
    left = components_given(structure, component, name)
    nodes = (
        _whole_nodes(structure, left, name)
        if structure.whole(name)
        else _real_nodes(structure, component, name)
    )
    patterns = math.prod(
        len(part.predicates) + 1 if simple_form(structure, part) is not None else 1 << len(part.predicates)
        for part in left
    )
    return nodes * (sum(cost(structure, part) for part in left) + patterns / 4)


def _real_nodes(structure: Structure, component: Component, name: int) -> float:
    """Return about how many points an integral over a real input takes, from how many kinks it can have."""
    planes = [
        frozenset(touched for touched, _ in structure.coefficients[predicate] if touched in component.inputs)
        for predicate in component.predicates
    ]
    for other in component.inputs:
        if other != name:
            gone = [plane for plane in planes if other in plane] + [frozenset({other})]
            if len(gone) > _MOST_PLANES:
                return math.inf
            met = [(first | second) - {other} for first, second in itertools.combinations(gone, 2)]
            planes = [plane for plane in planes if other not in plane] + [plane for plane in met if plane]
    return 20.0 * (6 + len(planes))


def _whole_nodes(structure: Structure, left: tuple[Component, ...], name: int) -> int:
    """Return about how many values a whole-numbered noise must be given."""
    far = whole_reach(structure.laws[name])
    total = 1
    for part in left:
        form = simple_form(structure, part)
        if form is None or not form.law.whole:
            return 2 * far + 1
        for predicate, multiple in zip(part.predicates, form.multiples, strict=True):
            weight = structure.weights(predicate).get(name, 0)
            if weight:
                total += _expected_runs(int(weight), abs(int(multiple)), int(form.law.reach), far)
    return min(total, 2 * far + 1)


@lru_cache(maxsize=4096)
def components_given(structure: Structure, component: Component, name: int) -> tuple[Component, ...]:
    """Return the components that are left of one when an input's noise has a value."""
    return split_components(
        structure, component.predicates, tuple(other for other in component.inputs if other != name)
    )


def _expected_runs(coefficient: int, multiple: int, reach: int, far: int) -> int:
    """Return about how many runs one comparison makes of -far, ..., far."""
    size = abs(coefficient)
    if multiple <= size:
        return min(2 * far + 1, 2 * (reach * multiple // size) + 3)
    return min(2 * reach + 3, 2 * (far * size // multiple) + 3)
