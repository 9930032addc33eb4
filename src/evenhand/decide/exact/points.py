r"""Where the noise on one input is given a value, with which weight, for many entities at once.

Real noise takes points of integrals whose integrand has kinks.
Between its kinks the integrand is a sum of products of exponentials (Laplace noise) or of smooth functions of
known widths (Gaussian noise). A piece is cut so that its length times the sum of the rates that are at work
on it is at most 12. The error of Gauss and Legendre's rule with 16 points on such a piece is

.. math:: \frac{(16!)^4}{33\, (32!)^3}\, h\, (h R)^{32} < 10^{-18} h

times the size of the integrand, for exponentials with rates that add up to :math:`R`.

Whole-numbered noise takes runs on which no comparison changes. Given the noise v on one input, a comparison
asks whether another sum of noises is above ``(threshold - coefficient * v) // multiple``. That number stays
the same for many v where the coefficient is small, and where it is beyond the reach of the other sum it does
not matter. So a sum over all v is one over runs, each with the probability that v falls into it. All
comparisons are between whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.exact.noise_laws import cached_law

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.decide.exact.components import Component, Structure

    Values = NDArray[np.float64]
    Whole = NDArray[np.int64]

ORDER = 16
LONGEST = 12.0
"""The most that the length of a piece times the rates at work on it may be."""


@dataclass(frozen=True, eq=False)
class _Plane:
    """A border of the integrand among the noises: sum of coefficients times noises = place.

    It may be blurred by noises that were integrated out: by at most `reach`, over these `widths`.
    """

    coefficients: dict[int, float]
    place: Values
    reach: float = 0.0
    widths: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Kink:
    """Where the integrand bends or jumps, or how near to it something changes quickly.

    Attributes
    ----------
    place : array
        For each entity, the value of the noise.
    reach : float
        How far from there something still changes.
    rate : float
        How quickly it does, there and nowhere else.
    """

    place: Values
    reach: float
    rate: float


def find_kinks(
    structure: Structure,
    component: Component,
    name: int,
    *,
    thresholds: dict[int, Values],
    floors: dict[int, Values],
) -> list[Kink]:
    """Return the kinks of what is integrated over the noise of one input, all other inputs integrated out.

    Every border is a plane among the noises; integrating one noise out leaves the planes without it, and
    the planes that go through where two with it meet.
    """
    planes = []
    for predicate in component.predicates:
        weights = structure.weights(predicate).items()
        among = {input_: float(weight) for input_, weight in weights if input_ in component.inputs}
        planes.append(_Plane(among, thresholds[predicate].astype(np.float64)))
    zero = np.zeros(planes[0].place.shape)
    for other in component.inputs:
        if other != name:
            reach, width = spread(structure, other)
            planes.append(_Plane({other: 1.0}, zero, reach, (width,)))
            if other in floors:
                planes.append(_Plane({other: 1.0}, floors[other].astype(np.float64)))
            planes = _without(planes, other)
    reach, width = spread(structure, name)
    result = [Kink(zero, reach, 1 / width)]
    for plane in planes:
        slope = plane.coefficients[name]
        rate = sum(abs(slope) / width for width in plane.widths)
        result.append(Kink(plane.place / slope, plane.reach / abs(slope), rate))
    return result


def spread(structure: Structure, name: int) -> tuple[float, float]:
    """Return how far the noise on an input reaches and over which length it changes."""
    law = cached_law((Fraction(1),), (structure.laws[name],))
    return (0.0, 1.0) if law is None else (law.reach, law.width)


def _without(planes: list[_Plane], name: int) -> list[_Plane]:
    kept = [plane for plane in planes if name not in plane.coefficients]
    gone = [plane for plane in planes if name in plane.coefficients]
    for index, first in enumerate(gone):
        for second in gone[:index]:
            met = _meeting(first, second, name)
            if met.coefficients:
                kept.append(met)
    return kept


def _meeting(first: _Plane, second: _Plane, name: int) -> _Plane:
    a, b = first.coefficients[name], second.coefficients[name]
    names = {*first.coefficients, *second.coefficients} - {name}
    slopes = {
        other: first.coefficients.get(other, 0.0) / a - second.coefficients.get(other, 0.0) / b
        for other in names
    }
    size = max((abs(other) for other in slopes.values()), default=0.0)
    return _Plane(
        {other: slope for other, slope in slopes.items() if abs(slope) > 1e-14 * size},
        first.place / a - second.place / b,
        first.reach / abs(a) + second.reach / abs(b),
        tuple(w / abs(a) for w in first.widths) + tuple(w / abs(b) for w in second.widths),
    )


def nodes(kinks: Sequence[Kink], low: Values, high: Values) -> tuple[NDArray[np.int64], Values, Values]:
    """Return points and weights of integrals from `low` to `high`, one for each entity.

    Parameters
    ----------
    kinks : sequence of Kink
        The kinks; the first is that of the noise itself.
    low, high : array
        The ends, one for each entity.

    Returns
    -------
    rows, places, weights : arrays
        The entity each point belongs to, in order, the point and its weight.
    """
    rows, left, length = _pieces(kinks, low, high)
    points, weights = unit_rule(ORDER)
    places = left[:, None] + length[:, None] * points
    return np.repeat(rows, ORDER), places.ravel(), (length[:, None] * weights).ravel()


def _pieces(kinks: Sequence[Kink], low: Values, high: Values) -> tuple[NDArray[np.int64], Values, Values]:
    """Return the entity, left end and length of every piece."""
    ends = [low, high]
    for kink in kinks:
        ends.append(kink.place)
        if kink.reach:
            ends.extend((kink.place - kink.reach, kink.place + kink.reach))
    borders = np.sort(np.clip(np.stack(ends, axis=1), low[:, None], high[:, None]), axis=1)
    lengths = np.diff(borders, axis=1)
    middles = borders[:, :-1] + lengths / 2
    rates = np.zeros(lengths.shape)
    for kink in kinks:
        if kink.reach:
            rates += kink.rate * (np.abs(middles - kink.place[:, None]) <= kink.reach)
    counts = np.ceil(lengths * rates / LONGEST).astype(np.int64)
    counts[lengths > 0] = np.maximum(counts[lengths > 0], 1)
    cut = np.repeat(np.arange(counts.size), counts.ravel())
    position = np.arange(cut.size) - np.repeat(np.cumsum(counts.ravel()) - counts.ravel(), counts.ravel())
    length = lengths.ravel()[cut] / counts.ravel()[cut]
    return cut // lengths.shape[1], borders[:, :-1].ravel()[cut] + position * length, length


@cache
def unit_rule(order: int, panels: int = 1) -> tuple[Values, Values]:
    """Return the points and weights of Gauss and Legendre's rule in equal parts of the line from 0 to 1."""
    points, weights = np.polynomial.legendre.leggauss(order)
    inside = (np.arange(panels)[:, np.newaxis] + (points + 1) / 2) / panels
    return inside.ravel(), np.tile(weights / (2 * panels), panels)


@dataclass(frozen=True, eq=False)
class ComparisonSteps:
    """A comparison that changes with v: whether a sum is above (threshold - coefficient * v) // multiple.

    Attributes
    ----------
    threshold : array of int64
        One for each entity; one less where the comparison is not strict.
    coefficient : int
        That of v, not 0.
    multiple : int
        At least 1.
    reach : int
        How far from 0 the other sum goes; -1 where there is none and the sign decides.
    """

    threshold: Whole
    coefficient: int
    multiple: int
    reach: int


def run_starts(steps: Sequence[ComparisonSteps], far: int, size: int) -> tuple[Whole, Whole]:
    """Return the entity and first v of every run of -far, ..., far, in order.

    Parameters
    ----------
    steps : sequence of Steps
        The comparisons.
    far : int
        How far v goes.
    size : int
        How many entities there are.
    """
    span = 2 * far + 1
    keys = [np.arange(size, dtype=np.int64) * span]
    for step in steps:
        rows, starts = _sign_change(step) if step.reach < 0 else _changes(step, far)
        inside = (starts > -far) & (starts <= far)
        keys.append(rows[inside] * span + starts[inside] + far)
    merged = np.sort(np.concatenate(keys))  # np.unique hashes, which is ten times slower here
    merged = merged[np.append(True, merged[1:] != merged[:-1])]
    return merged // span, merged % span - far


def _sign_change(step: ComparisonSteps) -> tuple[Whole, Whole]:
    size = abs(step.coefficient)
    quotient = step.threshold // size
    return np.arange(step.threshold.size), quotient + 1 if step.coefficient > 0 else -quotient


def _changes(step: ComparisonSteps, far: int) -> tuple[Whole, Whole]:
    """Return the first v of each run that one comparison makes, as far as the other sum reaches."""
    size, multiple, sign = abs(step.coefficient), step.multiple, 1 if step.coefficient > 0 else -1
    edge = step.reach + 2
    if multiple <= size:  # it changes at nearly every v; which of them matter?
        middle, half = sign * step.threshold // size, multiple * edge // size + 2
        return _ranges(np.maximum(middle - half, -far), np.minimum(middle + half, far))
    ends = [(step.threshold - step.coefficient * v) // multiple for v in (-far, far)]
    low, high = np.maximum(np.minimum(*ends), -edge), np.minimum(np.maximum(*ends), edge)
    rows, values = _ranges(low, high)
    threshold = step.threshold[rows]
    if sign > 0:
        return rows, (threshold - multiple * (values + 1)) // size + 1
    return rows, -((threshold - multiple * values) // size)


def _ranges(low: Whole, high: Whole) -> tuple[Whole, Whole]:
    """Return the entity and value of every whole number from `low` to `high`, of each entity."""
    counts = np.maximum(high - low + 1, 0)
    rows: Any = np.repeat(np.arange(counts.size), counts)
    first = np.cumsum(counts) - counts
    return rows, np.arange(rows.size) - first[rows] + low[rows]
