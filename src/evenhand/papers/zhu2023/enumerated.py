r"""The mechanisms of zhu2023 on tables so small that every output can be listed.

The exact delta of a mechanism is the largest :math:`\sum_o (\Pr[o \mid D] - e^\varepsilon \Pr[o \mid D'])_+`
over tables :math:`D` and :math:`D'` in which one person differs. Here it is computed by nothing but listing,
in order to check formulas against it.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from evenhand.papers.zhu2023.exact import keep_probability
from evenhand.privacy.laws import Laplace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from fractions import Fraction

    Cells = tuple[int, ...]
    Outputs = Mapping[Any, float]


def hockey_stick(first: Outputs, second: Outputs, epsilon: float) -> float:
    """Return how much of the first law e^epsilon times the second does not cover.

    >>> hockey_stick({"a": 0.5, "b": 0.5}, {"a": 1.0}, 0.0)
    0.5
    """
    factor = math.exp(epsilon)
    return math.fsum(max(mass - factor * second.get(output, 0.0), 0.0) for output, mass in first.items())


def worst(law: Callable[[Cells], Outputs], pairs: Iterable[tuple[Cells, Cells]], epsilon: float) -> float:
    """Return the delta of a mechanism over these pairs of tables, in both directions."""
    found = 0.0
    for one, other in pairs:
        first, second = law(one), law(other)
        found = max(found, hockey_stick(first, second, epsilon), hockey_stick(second, first, epsilon))
    return found


def hidden_law(cells: Cells, threshold: int) -> Outputs:
    """Return the one output of cell suppression without noise, Algorithm 1.

    >>> hidden_law((2, 7), 6)
    {(3, 7): 1.0}
    """
    return {tuple(count if count >= threshold else threshold // 2 for count in cells): 1.0}


def suppression_law(cells: Cells, epsilon: Fraction, threshold: int) -> dict[Any, float]:
    """Return the outputs of equation (2): each count as it is, or nothing."""
    noise = Laplace(2 / epsilon)
    found: dict[Any, float] = {}
    for hidden in product((False, True), repeat=len(cells)):
        mass = 1.0
        for each, count in zip(hidden, cells, strict=True):
            mass *= float(noise.cdf(threshold - count) if each else noise.sf(threshold - count))
        found[tuple(None if each else count for each, count in zip(hidden, cells, strict=True))] = mass
    return found


def swapping_law(rows: tuple[Cells, ...], epsilon: Fraction) -> dict[Any, float]:
    """Return the outputs of swapping whole cells: a row for each combination of the other columns.

    >>> from fractions import Fraction
    >>> {table: round(mass, 3) for table, mass in swapping_law(((2, 0),), Fraction(0)).items()}
    {((2, 0),): 0.5, ((0, 2),): 0.5}
    """
    size = len(rows[0])
    stay = keep_probability(epsilon, size)
    move = (1 - stay) / (size - 1)
    found: dict[Any, float] = {(): 1.0}
    for row in rows:
        row_law: dict[Any, float] = {}
        for places in product(range(size), repeat=size):
            out, mass = [0] * size, 1.0
            for origin, place in enumerate(places):
                out[place] += row[origin]
                mass *= stay if place == origin else move
            row_law[tuple(out)] = row_law.get(tuple(out), 0.0) + mass
        found = {(*done, out): mass * more for done, mass in found.items() for out, more in row_law.items()}
    return found


def swapping_mean(row: Cells, epsilon: Fraction) -> list[float]:
    """Return the mean count of every cell after swapping one row."""
    law = swapping_law((row,), epsilon)
    return [math.fsum(out[0][place] * mass for out, mass in law.items()) for place in range(len(row))]


def sampling_law(cells: Cells, share: float) -> dict[Any, float]:
    """Return the tables of a sample that everybody is in with the same probability."""
    found: dict[Any, float] = {(): 1.0}
    for count in cells:
        one = {
            kept: math.comb(count, kept) * share**kept * (1 - share) ** (count - kept)
            for kept in range(count + 1)
        }
        found = {(*done, kept): mass * more for done, mass in found.items() for kept, more in one.items()}
    return found
