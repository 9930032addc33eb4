"""Splitting the epsilon of a whole report among several attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.collect.joint.split_optimal import Attributes, optimal_split
from evenhand.collect.protocols.probabilities import GRID
from evenhand.collect.protocols.registry import AUTO, check_formula, is_convex
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    import numpy.typing as npt

SPLITS = ("uniform", "k-based", "optimal", "sample")
"""The ways to split by name."""

_LARGEST_DOMAIN = 2**31 - 1
_MOST_WEIGHT = Fraction(10**100)
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 10**6), 700  # between which the formulas are precise


def split_budget(
    epsilon: Number,
    sizes: Any,
    *,
    how: Any = "optimal",
    protocol: Any = AUTO,
    weights: Any = None,
    limits: Any = None,
    exact: bool = False,
) -> Any:
    r"""Split the epsilon of a person's whole report among several attributes.

    =============  ========================================================================================
    how            what each attribute gets
    =============  ========================================================================================
    ``uniform``    the same: :math:`\varepsilon / d`
    ``k-based``    in proportion to its number of values: :math:`\varepsilon k_j / \sum_i k_i`
    ``optimal``    what makes :math:`\sum_j w_j V_j(\varepsilon_j)` least
    ``sample``     a share :math:`\pi_j \propto \sqrt{w_j V_j(\varepsilon)}` of the *people*, each of whom
                   spends the whole epsilon on one attribute
    numbers        the epsilons given, checked to sum to at most `epsilon`
    =============  ========================================================================================

    where :math:`V_j` is the variance of the estimated share of a value that nobody has
    (:func:`evenhand.collect.protocols.registry.ideal`) and :math:`w_j` is the weight.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of the whole report, > 0. For ``optimal`` and ``sample`` from 1e-6 to 700.
    sizes : sequence of int, or mapping of str to int
        How many values each attribute has.
    how : {"uniform", "k-based", "optimal", "sample"}, or numbers in the form of `sizes`
        See above. With ``sample`` the result is *probabilities, not budgets*: who is asked which attribute.
    protocol : str, or str in the form of `sizes`
        The protocol by name, or ``auto``, or one name for each attribute. It matters to ``optimal`` and
        ``sample`` only.
    weights : numbers in the form of `sizes`, optional
        How much the variance of each attribute counts, 1e-100 to 1e100. By default its number of values,
        which makes the expected squared error summed over all values of all attributes least; ones count
        attributes alike.
    limits : mapping of attribute to number, or sequence of numbers or None, optional
        The most that an attribute may get, > 0, such as what
        :func:`evenhand.collect.joint.split_fair.fair_epsilon` allows the protected one. What is left goes to
        the others by the same rule. Not for ``sample`` and own numbers.
    exact : bool
        Return Fractions instead of floats.

    Returns
    -------
    tuple, or dict where `sizes` is a mapping
        In the order of `sizes`. The decimals that the floats print sum to at most `epsilon`, Fractions to
        exactly `epsilon`; the probabilities of ``sample`` are multiples of 2**-53 that sum to exactly 1.
        Less than `epsilon` is spent if every attribute is at its limit.

    Notes
    -----
    The variances of ``grr``, ``oue``, ``rappor`` and ``blh`` are smooth and convex in epsilon, so equal
    marginal gains mark the one optimum. Those of ``ss``, ``olh``, ``the`` and ``auto`` are not taken to be;
    the best split on a grid of 2,000 parts is found by dynamic programming and then refined.

    Examples
    --------
    >>> split_budget(1, [2, 5, 41, 74], how="optimal", protocol="oue")
    (0.118678450..., 0.161071332..., 0.324800446..., 0.395449769...)
    >>> split_budget(1, {"gender": 2, "race": 5}, how="k-based", exact=True)
    {'gender': Fraction(2, 7), 'race': Fraction(5, 7)}
    >>> split_budget(1, {"gender": 2, "race": 5}, limits={"gender": 0.2})
    {'gender': 0.2, 'race': 0.8}
    """
    given = _Budget.read(epsilon, sizes, owner="split_budget")
    if limits is not None:
        parts = given.limited(how, protocol, weights, limits)
    elif isinstance(how, str):
        parts = given.split(one_of("how", how, SPLITS, owner="split_budget"), protocol, weights)
    else:
        parts = given.checked_own(how)
    if exact:
        return given.like_sizes(parts)
    return given.like_sizes([float(part) if how == "sample" else float_below(part) for part in parts])


def split_cost(epsilons: Any, sizes: Any, *, protocol: Any = AUTO, weights: Any = None) -> float:
    r"""Return the total variance of a split, times the number of people.

    .. math:: \sum_j w_j V_j(\varepsilon_j)

    Parameters
    ----------
    epsilons : numbers in the form of `sizes`
        The epsilon of each attribute, > 0.
    sizes, protocol, weights
        As for :func:`split_budget`.

    Examples
    --------
    >>> sizes = [2, 5, 41, 74]
    >>> for how in ("uniform", "k-based", "optimal"):
    ...     print(f"{how:8} {split_cost(split_budget(1, sizes, how=how), sizes):8,.0f}")
    uniform     7,300
    k-based    17,425
    optimal     3,750
    """
    given = _Budget.read(1, sizes, owner="split_cost")
    amounts = np.array([float(number) for number in given.numbers("epsilons", epsilons)])
    return given.attributes(protocol, weights).total(amounts)


def sampling_cost(
    probabilities: Any, epsilon: Number, sizes: Any, *, protocol: Any = AUTO, weights: Any = None
) -> float:
    r"""Return the total variance when each person is asked one attribute, times the number of people.

    .. math:: \sum_j \frac{w_j V_j(\varepsilon)}{\pi_j}

    Parameters
    ----------
    probabilities : numbers in the form of `sizes`
        The share of people who are asked each attribute, > 0.
    epsilon, sizes, protocol, weights
        As for :func:`split_budget`.

    Examples
    --------
    >>> sizes = [2, 5, 41, 74]
    >>> asked = split_budget(1, sizes, how="sample", protocol="auto")
    >>> f"{sampling_cost(asked, 1, sizes, protocol='auto'):.1f}"
    '1062.7'
    """
    given = _Budget.read(epsilon, sizes, owner="sampling_cost")
    shares = np.array([float(number) for number in given.numbers("probabilities", probabilities)])
    return math.fsum(given.costs_of_all(protocol, weights) / shares)


class _Budget(NamedTuple):
    """A budget and the attributes it is for, checked."""

    epsilon: Fraction
    sizes: tuple[int, ...]
    columns: tuple[Any, ...] | None
    owner: str

    @classmethod
    def read(cls, epsilon: Number, sizes: Any, *, owner: str) -> _Budget:
        total = exact(epsilon, name="epsilon", owner=owner, above=0)
        columns = tuple(sizes) if isinstance(sizes, Mapping) else None
        listed = _as_list(sizes)
        if not listed:
            must_be = "how many values each attribute has, in a sequence or by name"
            raise InvalidParameterError("sizes", owner=owner, must_be=must_be, got=sizes)
        checked = tuple(integer("sizes", size, owner=owner, low=2, high=_LARGEST_DOMAIN) for size in listed)
        return cls(total, checked, columns, owner)

    def like_sizes(self, parts: Sequence[Any]) -> Any:
        if self.columns is None:
            return tuple(parts)
        return dict(zip(self.columns, parts, strict=True))

    def in_order(self, name: str, given: Any) -> list[Any]:
        """Return one item for each attribute, in order, of what was given in the form of the sizes."""
        if self.columns is None:
            listed = None if isinstance(given, Mapping) else _as_list(given)
            if listed is None or len(listed) != len(self.sizes):
                must_be = f"a sequence of {len(self.sizes)}, one for each attribute"
                raise InvalidParameterError(name, owner=self.owner, must_be=must_be, got=given)
            return listed
        if not isinstance(given, Mapping) or set(given) != set(self.columns):
            must_be = f"a mapping with the keys {', '.join(map(str, self.columns))}"
            raise InvalidParameterError(name, owner=self.owner, must_be=must_be, got=given)
        return [given[column] for column in self.columns]

    def numbers(self, name: str, given: Any) -> list[Fraction]:
        return [exact(number, name=name, owner=self.owner, above=0) for number in self.in_order(name, given)]

    def attributes(self, protocol: Any, weights: Any) -> Attributes:
        if isinstance(protocol, Mapping) or (
            isinstance(protocol, Sequence) and not isinstance(protocol, str)
        ):
            named = self.in_order("protocol", protocol)
        else:
            named = [protocol] * len(self.sizes)
        names = tuple(
            check_formula(name.lower() if isinstance(name, str) else name, owner=self.owner) for name in named
        )
        default = weights is None or (isinstance(weights, str) and weights == "cells")
        amounts = self.sizes if default else self.checked_weights(weights)
        return Attributes(np.array(self.sizes, float), np.array([float(amount) for amount in amounts]), names)

    def checked_weights(self, weights: Any) -> list[Fraction]:
        amounts = self.numbers("weights", weights)
        if not all(1 / _MOST_WEIGHT <= amount <= _MOST_WEIGHT for amount in amounts):
            must_be, got = "numbers from 1e-100 to 1e100", "larger or smaller ones"  # their costs are floats
            raise InvalidParameterError("weights", owner=self.owner, must_be=must_be, got=got)
        return amounts

    def split(self, how: str, protocol: Any, weights: Any) -> Sequence[Fraction]:
        if how == "uniform":
            return [self.epsilon / len(self.sizes)] * len(self.sizes)
        if how == "k-based":
            return [self.epsilon * k / sum(self.sizes) for k in self.sizes]
        if how == "sample":
            return dyadic_shares([Fraction(cost) for cost in np.sqrt(self.costs_of_all(protocol, weights))])
        return self.optimal(self.attributes(protocol, weights))

    def limited(self, how: Any, protocol: Any, weights: Any, limits: Any) -> Sequence[Fraction]:
        """Return the split in which no attribute gets more than its limit.

        Attributes that would get more are set to their limit and the rest is split again, until none does.
        Where the rule is to make a sum of convex costs least, this is the least sum under the limits.
        """
        rule = one_of("how", how, SPLITS[:3], owner=self.owner)
        highest = self.checked_limits(limits)
        named = self.attributes(protocol, weights) if rule == "optimal" else None
        parts: dict[int, Fraction] = {}
        free, left = list(range(len(self.sizes))), self.epsilon
        while free:
            rest = _Budget(left, tuple(self.sizes[place] for place in free), None, self.owner)
            taken = None if named is None else named.select(np.array(free))
            split = rest.split(rule, None, None) if taken is None else rest.optimal(taken)
            over = [place for place, part in zip(free, split, strict=True) if part > highest[place]]
            if not over:
                parts |= dict(zip(free, split, strict=True))
                break
            parts |= {place: highest[place] for place in over}
            left -= sum((parts[place] for place in over), Fraction(0))
            free = [place for place in free if place not in over]
        return [parts[place] for place in range(len(self.sizes))]

    def checked_limits(self, limits: Any) -> list[Any]:
        """Return the limit of each attribute, in order; infinity where there is none."""
        given = limits
        if self.columns is not None and isinstance(limits, Mapping) and set(limits) <= set(self.columns):
            given = {column: limits.get(column) for column in self.columns}
        return [
            math.inf if limit is None else exact(limit, name="limits", owner=self.owner, above=0)
            for limit in self.in_order("limits", given)
        ]

    def optimal(self, attributes: Attributes) -> Sequence[Fraction]:
        if len(self.sizes) == 1:
            return [self.epsilon]
        self.precise_epsilon()
        alike = set(zip(attributes.sizes, attributes.weights, attributes.names, strict=True))
        if len(alike) == 1 and is_convex(attributes.names[0]):
            return self.split("uniform", None, None)
        starts = tuple(tuple(map(float, self.split(how, None, None))) for how in SPLITS[:2])
        weights = tuple(attributes.weights.tolist())
        return _least_cost(self.epsilon, self.sizes, weights, attributes.names, starts)

    def costs_of_all(self, protocol: Any, weights: Any) -> npt.NDArray[np.float64]:
        """Return weight times variance of each attribute if it gets the whole epsilon."""
        attributes = self.attributes(protocol, weights)
        return attributes.costs(np.full(len(self.sizes), self.precise_epsilon()))

    def precise_epsilon(self) -> float:
        if not _LEAST_EPSILON <= self.epsilon <= _MOST_EPSILON:
            must_be = f"from 1e-6 to {_MOST_EPSILON} where variances are compared"
            raise InvalidParameterError("epsilon", owner=self.owner, must_be=must_be, got=str(self.epsilon))
        return float(self.epsilon)

    def checked_own(self, how: Any) -> Sequence[Fraction]:
        parts = self.numbers("how", how)
        if sum(parts) > self.epsilon:
            raise InvalidParameterError(
                "how",
                owner=self.owner,
                must_be=f"one of {', '.join(SPLITS)}, or epsilons that sum to at most {self.epsilon}",
                got=f"epsilons that sum to {sum(parts)}",
            )
        return parts


@lru_cache(maxsize=256)  # the cells of a study ask for the same few
def _least_cost(
    epsilon: Fraction,
    sizes: tuple[int, ...],
    weights: tuple[float, ...],
    names: tuple[str, ...],
    starts: tuple[tuple[float, ...], ...],
) -> tuple[Fraction, ...]:
    attributes = Attributes(np.array(sizes, float), np.array(weights), names)
    parts = optimal_split(float(epsilon), attributes, [np.array(start) for start in starts])
    return decimal_parts(epsilon, parts.tolist())


def _as_list(given: Any) -> list[Any] | None:
    if isinstance(given, str):
        return None
    try:
        return list(given.values() if isinstance(given, Mapping) else given)
    except TypeError:
        return None


def dyadic_shares(amounts: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return multiples of 1 / GRID, all above zero, that sum to 1 and are next to the amounts' shares.

    >>> dyadic_shares([Fraction(1), Fraction(3)])
    (Fraction(1, 4), Fraction(3, 4))
    """
    total = sum(amounts, Fraction(0))
    units = [max(1, round(amount / total * GRID)) for amount in amounts]
    units[units.index(max(units))] += GRID - sum(units)
    return tuple(Fraction(unit, GRID) for unit in units)


def decimal_parts(total: Fraction, amounts: Sequence[float]) -> tuple[Fraction, ...]:
    """Return rationals, all above zero, in proportion to the amounts, that sum to `total`.

    All but the largest are decimals rounded down; the largest takes the rest, less than `total` / 10**15.

    >>> decimal_parts(Fraction(1), [1.0, 2.0])
    (Fraction(333333333333333333, 1000000000000000000), Fraction(666666666666666667, 1000000000000000000))
    """
    if len(amounts) == 1:
        return (total,)
    digits = 17 + len(str(len(amounts))) - math.floor(math.log10(total))
    unit = Fraction(1, 10**digits) if digits >= 0 else Fraction(10**-digits)
    whole = sum(map(Fraction, amounts))
    units = [max(1, math.floor(Fraction(amount) / whole * total / unit)) for amount in amounts]
    parts = [count * unit for count in units]
    largest = units.index(max(units))
    parts[largest] += total - sum(parts)  # below zero where some part was lifted to one unit
    return tuple(parts)


def float_below(amount: Fraction) -> float:
    """Return a float next to `amount` whose shortest decimal is not above it.

    >>> float_below(Fraction(1, 10)), float_below(Fraction(2, 3))
    (0.1, 0.6666666666666666)
    """
    number = float(amount)
    while Fraction(repr(number)) > amount:
        number = math.nextafter(number, 0.0)
    return number
