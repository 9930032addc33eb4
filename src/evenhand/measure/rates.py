r"""Rates as shares: how many of how many, by group, by side and for everybody.

A row of a count table has four cells, in the order (label, prediction) = 00, 01, 10, 11.
Every rate is a sum of some cells divided by a sum of more of them, so two small matrices define
them all, and one product with the table computes them all, for one table or for thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.measure.counts import CountTable

__all__ = ["RATES", "GroupRates", "RatesByGroup", "Shares", "Tables", "why_undefined"]

RATES = ("selection", "tpr", "fpr", "accuracy", "precision", "base_rate")
"""The rates of a group, as named in reports."""

# The last column, the share of true positives among all rows that are positive either way,
# is no rate of a report: f1 is a function of it.
#                      selection tpr fpr accuracy precision base_rate hits
_SUCCESSES = np.array([[       0,  0,  0,       1,        0,        0,   0],    # 00
                       [       1,  0,  1,       0,        0,        0,   0],    # 01
                       [       0,  0,  0,       0,        0,        1,   0],    # 10
                       [       1,  1,  0,       1,        1,        1,   1]])  # 11  # fmt: skip
_TRIALS = np.array([[          1,  0,  1,       1,        0,        1,   0],
                    [          1,  0,  1,       1,        1,        1,   1],
                    [          1,  1,  0,       1,        0,        1,   1],
                    [          1,  1,  0,       1,        1,        1,   1]])  # fmt: skip
_WITHOUT_LABELS = np.array([   1,  0,  0,       0,        0,        0,   0])  # fmt: skip
PLACE = {name: place for place, name in enumerate((*RATES, "hits"))}
"""The column of each rate."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Successes among trials, for every rate along the last axis.

    ``effective`` is the number of trials for the purpose of an interval: the trials themselves,
    or with weights Kish's effective size, the squared sum of weights over their sum of squares.
    """

    successes: NDArray[Any]
    trials: NDArray[Any]
    effective: NDArray[Any]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The rates, NaN where there are no trials."""
        return _divide(self.successes, self.trials)

    def rate(self, name: str) -> NDArray[np.float64]:
        """Return the values of one rate."""
        return np.asarray(self.values[..., PLACE[name]])

    def of(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return successes and trials of one rate, both on the scale of the effective size."""
        place = PLACE[name]
        successes, trials = self.successes[..., place], self.trials[..., place]
        effective = self.effective[..., place]
        if self.effective is self.trials:
            return successes, trials
        return _divide(successes, trials) * effective, effective


@dataclass(frozen=True, eq=False)
class Tables:
    """One count table or a stack of them, with the side that is privileged.

    Parameters
    ----------
    cells : array of shape (..., groups, 4)
        Counts, or sums of weights.
    squares : array of the same shape, optional
        Sums of squared weights.
    privileged : int, optional
        The row of the privileged group.
    labelled : bool
        Whether the true labels are known.
    """

    cells: NDArray[Any]
    squares: NDArray[Any] | None = None
    privileged: int | None = None
    labelled: bool = True

    @classmethod
    def of(cls, table: CountTable, privileged: int | None) -> Tables:
        """Return the tables of one count table."""
        shape = (len(table.groups), 4)
        squares = None if table.squares is None else table.squares.reshape(shape)
        return cls(table.counts.reshape(shape), squares, privileged, table.labelled)

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.cells.shape[-2])

    @cached_property
    def groups(self) -> Shares:
        """Shares of each group."""
        return self._shares(self.cells, self.squares)

    @cached_property
    def overall(self) -> Shares:
        """Shares of everybody."""
        return self._shares(self.cells.sum(axis=-2), _sum_groups(self.squares))

    @cached_property
    def privileged_side(self) -> Shares:
        """Shares of the privileged group."""
        return self._side(np.arange(self.n_groups) == self.privileged)

    @cached_property
    def other_side(self) -> Shares:
        """Shares of everybody who is not in the privileged group, pooled."""
        return self._side(np.arange(self.n_groups) != self.privileged)

    def _side(self, members: NDArray[np.bool]) -> Shares:
        chosen = members & (self.privileged is not None)  # without a privileged group both sides are empty
        squares = None if self.squares is None else self.squares[..., chosen, :]
        return self._shares(self.cells[..., chosen, :].sum(axis=-2), _sum_groups(squares))

    def _shares(self, cells: NDArray[Any], squares: NDArray[Any] | None) -> Shares:
        known = _TRIALS if self.labelled else _TRIALS * _WITHOUT_LABELS
        trials = cells @ known
        if squares is None:
            return Shares(cells @ _SUCCESSES, trials, trials)
        effective = np.fmax(_divide(trials * trials, squares @ known), 1)  # 1 also where squares underflow
        return Shares(cells @ _SUCCESSES, trials, effective)


@dataclass(frozen=True)
class GroupRates:
    """The rates of one group; a rate that is undefined is NaN and ``reasons`` says why.

    ``size`` is the number of rows, or with weights the sum of their weights.
    """

    size: float
    selection: float
    tpr: float
    fpr: float
    accuracy: float
    precision: float
    base_rate: float
    reasons: dict[str, str]


@dataclass(frozen=True, eq=False)
class RatesByGroup(Mapping[Any, GroupRates]):
    """The rates of each group by its label: read like a dict, copied and pickled, and never written."""

    rows: dict[Any, GroupRates]

    def __getitem__(self, label: Any) -> GroupRates:
        return self.rows[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def why_undefined(subject: str, rate: str, shares: Shares, *, labelled: bool, weighted: bool = False) -> str:
    """Return the sentence that says why a rate has no value, or nothing if it has one.

    >>> tables = Tables(np.array([[3, 1, 0, 0]]))
    >>> why_undefined("Group 'b' has", "tpr", tables.overall, labelled=True)
    "Group 'b' has no rows with a positive label."
    """
    if shares.trials[PLACE[rate]] > 0:
        return ""
    if not labelled and rate != "selection":
        return "No true labels were given."
    weight = "a weight above 0 and " if weighted else ""
    rows = "rows with a weight above 0" if weighted else "rows"
    lacking = {
        "tpr": f"rows with {weight}a positive label",
        "hits": f"rows with {weight}a positive label or prediction",
        "fpr": f"rows with {weight}a negative label",
        "precision": f"rows with {weight}a positive prediction",
    }
    nobody = shares.trials[PLACE["selection"]] == 0
    return f"{subject} no {rows if nobody else lacking[rate]}."


def _divide(over: NDArray[Any], under: NDArray[Any]) -> NDArray[np.float64]:
    result = np.full(np.shape(over), np.nan)
    np.divide(over, under, out=result, where=under > 0)
    return result


def _sum_groups(squares: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if squares is None else np.asarray(squares.sum(axis=-2))
