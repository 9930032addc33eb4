"""A rule on the counts of entities as distances: how far each comparison is from its border, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.exact.components import Structure
from evenhand.decide.exact.linear_law import exact_reach
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, UnknownNameError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule

__all__ = ["HalfSpaces", "laws_of", "structure_of", "truth_table", "whole_columns"]

_LARGEST = 1 << 62
_MOST_EXACT = 1 << 53


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """The comparisons of a linear rule with the counts put in.

    Attributes
    ----------
    structure : Structure
        The comparisons over the noises.
    thresholds : dict of int to array
        For each comparison, what the weighted sum of noises must exceed, in whole numbers.
    floors : dict of int to array
        For each input with a least value, that value minus the count.
    shape : tuple of int
        The shape of the columns.
    """

    structure: Structure
    thresholds: dict[int, NDArray[Any]]
    floors: dict[int, NDArray[Any]]
    shape: tuple[int, ...]

    @classmethod
    def of(
        cls, rule: Rule, columns: Mapping[str, Any], laws: Mapping[str, Law], *, least: int | None
    ) -> HalfSpaces:
        """Put the counts into a rule of half-spaces.

        Parameters
        ----------
        rule : Rule
            A rule whose comparisons are weighted sums, see
            :meth:`~evenhand.decide.language.rule.Rule.linear`.
        columns : mapping of str to array
            The true counts by input.
        laws : mapping of str to Law
            The noise on each.
        least : int or None
            The value that smaller noisy counts are set to.
        """
        structure = structure_of(rule, laws, floored=least is not None)
        counts = whole_columns(rule.inputs, columns)
        shape = np.broadcast_shapes(*(each.shape for each in counts.values()))
        flat = {name: np.broadcast_to(each, shape).ravel() for name, each in counts.items()}
        size = math.prod(shape)
        thresholds = {}
        for place, predicate in enumerate(rule.predicates):
            scale = predicate.bound.denominator
            weights = {name: int(each * scale) for name, each in predicate.terms}
            bound = int(predicate.bound * scale)
            thresholds[place] = _distance(weights, bound, flat, laws, size)
        floors = {} if least is None else {k: least - flat[name] for k, name in enumerate(rule.inputs)}
        return cls(structure, thresholds, floors, shape)


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
        tuple((places[name], int(each * predicate.bound.denominator)) for name, each in predicate.terms)
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
    given = laws if isinstance(laws, Mapping) else dict.fromkeys(inputs, laws)
    for name in inputs:
        if name not in given:
            raise UnknownNameError("The noise of input", name, map(str, given), place="given")
        if not isinstance(given[name], Laplace | Gaussian | DiscreteLaplace | DiscreteGaussian):
            must_be = "a law of evenhand.privacy.laws, or a mapping of inputs to such laws"
            raise InvalidParameterError("laws", owner=owner, must_be=must_be, got=given[name])
    return {name: given[name] for name in inputs}


def whole_columns(inputs: Sequence[str], columns: Mapping[str, Any]) -> dict[str, NDArray[np.int64]]:
    """Return the counts of the inputs as whole numbers; no message shows one."""
    found = {}
    for name in inputs:
        if name not in columns:
            raise ColumnNotFoundError(name, [str(each) for each in columns], place="among the columns")
        array = np.asarray(columns[name])
        whole = array.dtype.kind in "iu"
        if array.dtype.kind == "f":
            whole = bool((np.abs(array) <= _MOST_EXACT).all() and (array % 1 == 0).all())
        if not whole or (array > _LARGEST).any() or (array < -_LARGEST).any():
            must_be = f"columns of whole numbers below 2**62 without missing ones; '{name}' is not"
            raise InvalidParameterError("columns", owner="rule_probability", must_be=must_be, got="others")
        found[name] = array.astype(np.int64)
    return found
