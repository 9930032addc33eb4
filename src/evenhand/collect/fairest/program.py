r"""The linear programs of a fairest channel, in a form whose numbers keep their size at any epsilon.

A channel is written as :math:`q_{jj} = d_j` and :math:`q_{ij} = e^{-\varepsilon} d_j + w x_{ij}` with
:math:`0 \le x_{ij} \le d_j` and :math:`w = 1 - e^{-\varepsilon}`, so that every entry of a column lies
between :math:`e^{-\varepsilon} d_j` and :math:`d_j`: privacy is bounds and one row per entry.
A report says the truth at least as often as anything else: :math:`q_{ij} \le q_{ii}`.

How far group :math:`a`'s reports are from the mean outcome is :math:`w n_a / m_a` with
:math:`n_a = \sum_j c_j x_{ja}`, where :math:`x_{aa} = d_a`,
:math:`c_j = p_j (r_j - \pi) / \max_i |r_i - \pi|` and :math:`m_a = \Pr(Z = a)`.
The part :math:`e^{-\varepsilon} d_a` of a column drops out because the :math:`c_j` sum to zero; no digits
are lost where epsilon is small.

Certificates are sums of products in which no digit is lost, so that they need not allow for their own
arithmetic: a tiny group and a small error budget make duals of several millions whose products cancel down to
1e-10. Summed in floating point, the worst that rounding could have done is then larger than the gap that is
to be proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.fairest.population import Matrix, Population, Vector

    Tilt = tuple[float, float]
    Places = npt.NDArray[np.intp]

_LEAST_SCALE = 1e-6


class ChannelProgram:
    """Makes the programs for one population, and turns their solutions into matrices.

    The variables are the diagonal, then the other entries row by row.

    Parameters
    ----------
    people : Population
        Weights, rates and epsilon.
    """

    def __init__(self, people: Population) -> None:
        self.people = people
        k = people.k
        away = people.away
        self.scale = float(np.abs(away).max())
        self.costs = people.weights * away / self.scale if self.scale > 0 else np.zeros(k)
        self.row, self.column = np.nonzero(~np.eye(k, dtype=bool))
        self._place = np.diag(np.arange(k))  # of each entry among the variables
        self._place[self.row, self.column] = np.arange(k, k * k)
        self._channel = self._channel_rows()

    @property
    def size(self) -> int:
        """How many variables a channel has."""
        return self.people.k**2

    @property
    def least_made(self) -> Vector:
        """The least that m_a can be of d_a."""
        least: Vector = self.people.weights + self.people.floor * (1 - self.people.weights)
        return least

    def fewest_made(self, budget: float) -> Vector:
        r"""Return the least that m_a can be within an error budget.

        The truth is no less likely than 1/k, and :math:`p_a (1 - d_a)` is no more than the whole error.
        """
        weights = self.people.weights
        short = np.divide(budget, weights, out=np.full_like(weights, np.inf), where=weights > 0)
        fewest: Vector = self.least_made * np.maximum(1 / self.people.k, 1 - short)
        return fewest

    def truthful(self, *blocks: Rows) -> Program:
        """Return the program of the most truthful channel that keeps all `blocks` of rows."""
        return self.within(-self.on_diagonal(self.people.weights), *blocks)

    def on_diagonal(self, costs: Vector) -> Vector:
        """Return the cost of each variable where the entries of the diagonal cost `costs`, others nothing."""
        return np.append(costs, np.zeros(self.size - len(costs)))

    def within(self, cost: Vector, *blocks: Rows) -> Program:
        """Return the program that minimises `cost` over the channels that keep all `blocks` of rows."""
        return self._program(cost, [self._channel, *blocks], free=0)

    def fairness(self, budget: float, limit: float, scales: Vector, tilt: Tilt = (1.0, 1.0)) -> Program:
        r"""Return the program of one step: how far the limit of unfairness can come down.

        It minimises :math:`s` where :math:`n_a / H - t m_a \le s g_a` and :math:`-n_a / L - t m_a \le s g_a`,
        with `limit`, `scales` and `tilt` as :math:`t, g, (H, L)`; the rows are divided by :math:`g_a`.
        """
        step = self.limits((limit * tilt[0], limit * tilt[1]), scales, tilt, steps=(0, 0))
        return self._stepping(budget, step, free=1)

    def descent(self, budget: float, limits: Tilt, scales: Vector) -> Program:
        """Return the program of one step for the sum of both limits, each of which comes down by itself."""
        return self._stepping(budget, self.limits(limits, scales, steps=(0, 1)), free=2)

    def budget_row(self, budget: float) -> Rows:
        """Return the row that keeps the error probability within `budget`."""
        return self.diagonal_row(self.people.weights, 1 - budget)

    def diagonal_row(self, factors: Vector, least: float) -> Rows:
        """Return the row that keeps the sum of factor_i d_i at `least` or above."""
        return Rows.table(np.arange(self.people.k)[None, :], factors[None, :], least=least, most=np.inf)

    def limits(
        self,
        limits: Tilt,
        scales: Vector,
        tilt: Tilt = (1.0, 1.0),
        *,
        steps: tuple[int, int] | None = None,
    ) -> Rows:
        """Return the rows n_a <= limits[0] m_a and -n_a <= limits[1] m_a, divided by `scales` and `tilt`.

        With `steps`, the rows of either side are relaxed by the free variable of that number.
        """
        apart = self._by_report(self.costs, self.costs)
        made = self._by_report(self.least_made, self.people.width * self.people.weights)
        columns = np.tile(self._place.T, (2, 1))
        values = np.concatenate(
            [
                (sign * apart - limit * made) / (side * scales)[:, None]
                for sign, limit, side in zip((1, -1), limits, tilt, strict=True)
            ]
        )
        if steps is not None:
            free = self.size + np.repeat(steps, self.people.k)
            columns = np.column_stack([columns, free])
            values = np.column_stack([values, np.full(len(values), -1.0)])
        return Rows.table(columns, values, least=-np.inf, most=0.0)

    def fair(self, *, ignoring: float = 0.0) -> Rows:
        """Return the rows n_a = 0: no unfairness at all.

        Groups whose part in it is below `ignoring`, relatively, do not count; the largest part makes up for
        them, so that the uniform channel stays among those without unfairness.
        """
        parts = np.abs(self.costs)
        costs = np.where(parts >= ignoring * parts.max(), self.costs, 0.0)
        costs[parts.argmax()] -= costs.sum()
        scales = np.maximum(self.least_made, _LEAST_SCALE) * parts.max()
        apart = self._by_report(costs, costs) / scales[:, None]
        return Rows.table(self._place.T, apart, least=0.0, most=0.0)

    def values(self, matrix: Matrix) -> tuple[Vector, Vector]:
        """Return n_a and m_a of a matrix."""
        return (self.costs @ matrix) / self.people.width, self.people.weights @ matrix

    def matrix(self, solution: Vector) -> Matrix:
        """Return the matrix that a solution stands for, with every entry within its column's limits."""
        people, k = self.people, self.people.k
        diagonal = np.maximum(solution[:k], 1 / (2 * k))
        matrix = np.diag(diagonal)
        top = diagonal[self.column]
        inner = np.clip(solution[k : k * k], 0.0, top)
        matrix[self.row, self.column] = people.floor * top + people.width * inner
        return matrix

    def _by_report(self, own: Vector, others: Vector) -> Matrix:
        """Return the coefficients of own_a d_a and the others_j x_ja, one row for each report a."""
        values = np.tile(others, (self.people.k, 1))
        np.fill_diagonal(values, own)
        return values

    def _channel_rows(self) -> Rows:
        """Return what every channel keeps: rows sum to one, entries stay below the top of row and column."""
        people, k = self.people, self.people.k
        entry, many = self._place[self.row, self.column], k * (k - 1)
        diagonal = np.full((k, k), people.floor)
        np.fill_diagonal(diagonal, 1.0)
        others = entry.reshape(k, k - 1)
        sums = np.column_stack([np.tile(np.arange(k), (k, 1)), others])
        shares = np.column_stack([diagonal, np.full((k, k - 1), people.width)])
        column = np.column_stack([entry, self.column])
        row = np.column_stack([entry, self.column, self.row])
        below_row = np.tile([people.width, people.floor, -1.0], (many, 1))
        return stacked(
            [
                Rows.table(sums, shares, least=1.0, most=1.0),
                Rows.table(column, np.tile([1.0, -1.0], (many, 1)), least=-np.inf, most=0.0),
                Rows.table(row, below_row, least=-np.inf, most=0.0),
            ]
        )

    def _stepping(self, budget: float, step: Rows, *, free: int) -> Program:
        """Return the program that minimises the sum of the free variables, which relax the rows of `step`."""
        cost = np.append(np.zeros(self.size), np.ones(free))
        return self._program(cost, [self._channel, self.budget_row(budget), step], free=free)

    def _program(self, cost: Vector, blocks: list[Rows], *, free: int) -> Program:
        k = self.people.k
        top = 1 - self.people.floor * (k - 1) / k
        return Program(
            cost=cost,
            least=np.concatenate([np.full(k, 1 / k), np.zeros(self.size - k), np.full(free, -np.inf)]),
            most=np.concatenate([np.full(self.size, top), np.full(free, np.inf)]),
            rows=stacked(blocks),
        )


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

    @property
    def starts(self) -> Places:
        """Where the entries of each row begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def reduced(self, cost: Vector, factors: Vector) -> Vector:
        """Return the cost of each variable less all rows times their factors, each rounded only once."""
        used = np.repeat(factors != 0, self.sizes)
        columns, spread = self.columns[used], np.repeat(factors, self.sizes)[used]
        parts = exact_products(spread, -self.values[used])
        places = np.concatenate([np.arange(len(cost)), columns, columns])
        return sums_by_place(places, np.concatenate([cost, *parts]), len(cost))


def stacked(blocks: list[Rows]) -> Rows:
    """Return all rows of all blocks."""
    return Rows(*(np.concatenate([getattr(block, field.name) for block in blocks]) for field in fields(Rows)))


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
        sums = np.add.reduceat(rows.values * values[rows.columns], rows.starts)
        over = np.maximum(rows.least - sums, sums - rows.most)
        return max(0.0, float(over.max()), float((self.least - values).max()))

    def lower_bound(self, duals: Vector) -> float:
        """Return a number that the optimum is not below, whatever the duals are, rounding included.

        The duals must give every free variable a reduced cost of zero. The sums are exact, since duals may
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
        largest = np.maximum.reduceat(np.abs(rows.values), rows.starts)
        terms = np.abs(duals) @ (np.abs(limits) + largest) + 2 * np.abs(right).sum() + abs(value)
        return value - float(terms * np.finfo(float).eps + np.finfo(float).tiny)


_SPLITTER = 2.0**27 + 1


def exact_products(left: Vector, right: Vector) -> tuple[Vector, Vector]:
    """Return the rounded products and what rounding took from them; both together are exact.

    Dekker's product, for finite factors below 1e290. Where a product is below 1e-290, up to 1e-320 is lost.

    >>> product, rest = exact_products(np.array([1 + 2.0**-30]), np.array([1 - 2.0**-30]))
    >>> product.item(), rest.item() == -(2.0**-60)
    (1.0, True)
    """
    product = left * right
    left_high, left_low = _split_digits(left)
    right_high, right_low = _split_digits(right)
    over = ((product - left_high * right_high) - left_low * right_high) - left_high * right_low
    return product, left_low * right_low - over


def sums_by_place(places: npt.NDArray[np.intp], parts: Vector, many: int) -> Vector:
    """Return for each of `many` places the sum of its parts, rounded once.

    >>> sums_by_place(np.array([1, 0, 1, 1]), np.array([1e16, 5.0, 1.0, -1e16]), 3)
    array([5., 1., 0.])
    """
    there = parts != 0
    places, parts = places[there], parts[there]
    ends = np.cumsum(np.bincount(places, minlength=many)).tolist()
    ordered = parts[np.argsort(places, kind="stable")].tolist()
    starts = [0, *ends[:-1]]
    return np.array([math.fsum(ordered[start:end]) for start, end in zip(starts, ends, strict=True)])


def _split_digits(values: Vector) -> tuple[Vector, Vector]:
    """Return two parts of each number, of half its digits each."""
    wide = _SPLITTER * values
    high = wide - (wide - values)
    return high, values - high
