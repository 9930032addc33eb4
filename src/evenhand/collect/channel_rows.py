"""Rows of a linear program, kept sparse; and the program that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.channel_population import Matrix, Vector

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

    def weighed(self, factors: Vector, variables: int) -> Vector:
        """Return the sum of all rows times their factors: one number for each variable."""
        spread = np.repeat(factors, self.sizes) * self.values
        found: Vector = np.bincount(self.columns, weights=spread, minlength=variables).astype(np.float64)
        return found


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

        The duals must give every free variable a reduced cost of nought.
        """
        rows, many = self.rows, len(self.cost)
        limits = np.where(duals > 0, rows.least, rows.most)
        useful = np.isfinite(limits)
        duals, limits = np.where(useful, duals, 0.0), np.where(useful, limits, 0.0)
        reduced = self.cost - rows.weighed(duals, many)
        bounded = np.isfinite(self.most)
        least, most, reduced = self.least[bounded], self.most[bounded], reduced[bounded]
        right = np.minimum(reduced * least, reduced * most)
        terms = np.abs(duals) @ (np.abs(limits) + rows.sizes * _largest(rows))
        rounding = (float(terms) + float(np.abs(self.cost).sum())) * float(np.finfo(float).eps)
        return float(duals @ limits) + float(right.sum()) - rounding


def _largest(rows: Rows) -> Vector:
    starts = np.concatenate([[0], np.cumsum(rows.sizes)[:-1]])
    found: Vector = np.maximum.reduceat(np.abs(rows.values), starts)
    return found
