"""Rows of a linear program, kept sparse; and the program that they make."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.collect.fairest.sums import exact_products, sums_by_place

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.fairest.population import Matrix, Vector

    Places = npt.NDArray[np.intp]

__all__ = ["Program", "Rows", "stacked"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows least <= row · v <= most, one after another.

    Parameters
    ----------
    sizes : ndarray of int
        How many entries each row has.
    columns, values : ndarray
        Which variable each entry belongs to, and its coefficient.
    least, most : ndarray
        Limits of each row.
    """

    sizes: Places
    columns: Places
    values: Vector
    least: Vector
    most: Vector

    @classmethod
    def table(cls, columns: Places, values: Matrix, *, least: float, most: float) -> Rows:
        """Return rows that have equally many entries, one row of `columns` and `values` each."""
        many = len(columns)
        return cls(
            sizes=np.full(many, columns.shape[1]),
            columns=columns.ravel(),
            values=values.ravel(),
            least=np.full(many, least),
            most=np.full(many, most),
        )

    def reduced(self, cost: Vector, factors: Vector) -> Vector:
        """Return the cost of each variable less all rows times their factors, each rounded only once."""
        used = np.repeat(factors != 0, self.sizes)
        columns, spread = self.columns[used], np.repeat(factors, self.sizes)[used]
        parts = exact_products(spread, -self.values[used])
        places = np.concatenate([np.arange(len(cost)), columns, columns])
        return sums_by_place(places, np.concatenate([cost, *parts]), len(cost))


def stacked(blocks: list[Rows]) -> Rows:
    """Return all rows of all blocks."""
    return Rows(
        sizes=np.concatenate([block.sizes for block in blocks]),
        columns=np.concatenate([block.columns for block in blocks]),
        values=np.concatenate([block.values for block in blocks]),
        least=np.concatenate([block.least for block in blocks]),
        most=np.concatenate([block.most for block in blocks]),
    )


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise cost · v where least <= v <= most and the rows keep their limits.

    `most` bounds what is feasible but is not told to the solver: the rows imply it. It serves to turn any
    dual solution into a lower bound that holds. A free variable has no finite limits.
    """

    cost: Vector
    least: Vector
    most: Vector
    rows: Rows

    def violation(self, values: Vector) -> float:
        """Return by how much the values break a limit of a row or of a variable at most."""
        rows = self.rows
        starts = np.concatenate([[0], np.cumsum(rows.sizes)[:-1]])
        sums = np.add.reduceat(rows.values * values[rows.columns], starts)
        over = np.maximum(rows.least - sums, sums - rows.most)
        return max(0.0, float(over.max()), float((self.least - values).max()))

    def lower_bound(self, duals: Vector) -> float:
        """Return a number that the optimum is not below, whatever the duals are, rounding included.

        The duals must give every free variable a reduced cost of nought. The sums are exact, since duals may
        be large and cancel. What is allowed for is that the coefficients and limits are rounded themselves:
        the parts of a row are no larger together than its limit and largest coefficient, but for small
        factors.
        """
        rows = self.rows
        limits = np.where(duals > 0, rows.least, rows.most)
        useful = np.isfinite(limits)
        duals, limits = np.where(useful, duals, 0.0), np.where(useful, limits, 0.0)
        reduced = rows.reduced(self.cost, duals)
        bounded = np.isfinite(self.most)
        least, most, reduced = self.least[bounded], self.most[bounded], reduced[bounded]
        right = np.minimum(reduced * least, reduced * most)
        value = math.fsum(np.concatenate([*exact_products(duals, limits), right]).tolist())
        terms = np.abs(duals) @ (np.abs(limits) + _largest(rows)) + 2 * np.abs(right).sum() + abs(value)
        return value - float(terms * np.finfo(float).eps + np.finfo(float).tiny)


def _largest(rows: Rows) -> Vector:
    starts = np.concatenate([[0], np.cumsum(rows.sizes)[:-1]])
    found: Vector = np.maximum.reduceat(np.abs(rows.values), starts)
    return found
