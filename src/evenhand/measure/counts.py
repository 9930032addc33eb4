"""The count table, how many rows each (group, true label, prediction) has, and the rates made of it.

Every measure of a group report is computed from this table and from nothing else, so rows are read once, and
tables of parts of the data can be added. A row of the table has four cells, in the order (label, prediction)
= 00, 01, 10, 11. Every rate is a sum of some cells divided by a sum of more of them, so two small matrices
define them all, and one product with the table computes them all, for one table or for thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from evenhand._validate import kind_of, refuse
from evenhand.measure.columns import (
    is_label,
    read_array,
    read_binary,
    read_column,
    read_weights,
    same_index,
    same_length,
)
from evenhand.measure.crossing import read_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_BYTE_CODES = 64  # groups whose codes fit in one byte together with the two outcomes
_LARGEST_COUNT = 1 << 53  # above it floats skip whole numbers
_ROWS_AT_ONCE = 1 << 17
_PAIRS_PAY_FROM = 1 << 14  # rows from which counting two rows at a time is the faster way


@dataclass(frozen=True, eq=False)
class CountTable:
    """Rows counted by group, true label and prediction.

    Parameters
    ----------
    groups : tuple
        The label of each group, in order.
    counts : array of shape (groups, 2, 2)
        ``counts[g, y, p]`` is the number of rows of group ``g`` with true label ``y`` and
        prediction ``p``; with weights, the sum of their weights.
    squares : array of the same shape, optional
        The sums of the squared weights; ``None`` says that the rows have no weights.
    labelled : bool
        Whether true labels were given. If not, every row is counted under ``y = 0``.
    rows : array of the same shape, optional
        With weights, how many rows were counted.

    Examples
    --------
    >>> first = count_table([1, 0], [1, 1], ["a", "b"], groups=["a", "b"])
    >>> second = count_table([0, 0], [1, 0], ["a", "a"], groups=["a", "b"])
    >>> (first + second).counts.tolist()
    [[[1, 1], [0, 1]], [[0, 1], [0, 0]]]
    """

    groups: tuple[Any, ...]
    counts: NDArray[Any]
    squares: NDArray[np.float64] | None = None
    labelled: bool = True
    rows: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        groups = _distinct(self.groups)
        if groups is None:
            _refuse_groups("CountTable", self.groups)
        if not isinstance(self.labelled, bool | np.bool):
            refuse("labelled", "CountTable", "True or False", kind_of(self.labelled))
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "counts", _cells("counts", self.counts, len(groups)))
        if self.squares is not None:
            squares = _cells("squares", self.squares, len(groups)).astype(np.float64)
            object.__setattr__(self, "squares", _lock(squares))
        if self.rows is not None:
            object.__setattr__(self, "rows", _cells("rows", self.rows, len(groups)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are checked again, and cannot be written either.
        return type(self), (self.groups, self.counts, self.squares, self.labelled, self.rows)

    @property
    def weighted(self) -> bool:
        """Whether rows were weighted."""
        return self.squares is not None

    @property
    def sizes(self) -> NDArray[Any]:
        """Rows of each group; with weights, the sum of their weights."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    @property
    def people(self) -> NDArray[Any]:
        """Rows of each group, whatever their weights; where these were not counted, :attr:`sizes`."""
        return self.sizes if self.rows is None else np.asarray(self.rows.sum(axis=(1, 2)))

    def __add__(self, other: CountTable) -> CountTable:
        """Return the table of both parts; they must have the same groups."""
        if not isinstance(other, CountTable):
            return NotImplemented
        if (self.groups, self.labelled, self.weighted) != (other.groups, other.labelled, other.weighted):
            refuse(
                "other",
                "CountTable.__add__",
                "a table with the same groups, both labelled or not and both weighted or not",
                "another kind of table",
                hint="declare the groups of every part with groups=...",
            )
        pairs = (self.squares, other.squares), (self.rows, other.rows)
        squares, rows = (None if a is None or b is None else a + b for a, b in pairs)
        return CountTable(self.groups, self.counts + other.counts, squares, self.labelled, rows)


def count_table(
    y_true: Any,
    y_pred: Any,
    group: Any,
    *,
    groups: Sequence[Any] | None = None,
    positive: object = None,
    weights: Any = None,
) -> CountTable:
    """Count rows by group, true label and prediction.

    Parameters
    ----------
    y_true, y_pred, group : array, list or series
        See :func:`evenhand.measure.group_report`; `y_true` may be ``None``.
    groups : sequence, optional
        Every group, in order, also those without rows. By default those that occur, sorted.
    positive : object, optional
        The label that counts as positive, by default 1 or ``True``.
    weights : array, list or series, optional
        One weight per row, at least 0.

    >>> table = count_table([1, 0, 1, 0], [1, 0, 0, 0], ["a", "a", "b", "b"])
    >>> table.groups, table.counts[0].tolist()
    (('a', 'b'), [[1, 0], [0, 1]])
    """
    named = {"y_pred": y_pred} if y_true is None else {"y_true": y_true, "y_pred": y_pred}
    return tabulate(
        named, group, groups=groups, positive=positive, weights=weights, owner="count_table"
    ).table


class Tabulated(NamedTuple):
    """A count table, the columns it was made from as they were read, and the values of crossed columns."""

    table: CountTable
    outcomes: list[NDArray[np.uint8]]
    weights: NDArray[np.float64] | None
    crossed: dict[str, tuple[Any, ...]]


def tabulate(
    named: Mapping[str, Any],
    group: Any,
    *,
    groups: Sequence[Any] | None,
    positive: object,
    weights: Any,
    owner: str,
) -> Tabulated:
    """Count rows; `named` holds predictions by the name of their parameter, or labels and then these."""
    columns = {name: read_column(values, name=name, owner=owner) for name, values in named.items()}
    members = read_groups(group, owner=owner)
    weight = None if weights is None else read_weights(weights, owner=owner)
    others = [("group", members.codes), *([] if weight is None else [("weights", weight)])]
    same_length([*columns.items(), *others], owner=owner)
    by_position = [*named.items(), *(("group", column) for column in members.columns), ("weights", weights)]
    same_index(by_position, owner=owner)
    outcomes = list(read_binary(columns, positive=positive, owner=owner).values())
    number = len(members.labels)
    combined = _combine(members.codes, number, outcomes)
    counts = _tally(combined, number, weight)
    present = counts if weight is None else _tally(combined, number, None)
    chosen, places = _choose_groups(members.labels, present, groups, owner)
    squares = rows = None
    if weight is not None:
        squares = _take(_tally(combined, number, weight * weight), places)
        rows = _take(present, places)
    table = CountTable(chosen, _take(counts, places), squares, len(outcomes) == 2, rows)
    return Tabulated(table, outcomes, weight, members.crossed)


def _combine(codes: NDArray[Any], n_groups: int, outcomes: list[NDArray[np.uint8]]) -> NDArray[Any]:
    """Write group, label and prediction as one number: 4 group + 2 label + prediction."""
    kind = np.uint8 if n_groups <= _BYTE_CODES else np.intp
    combined: NDArray[Any] = np.multiply(codes, 2, dtype=kind, casting="unsafe")
    if len(outcomes) == 2:
        combined += outcomes[0]
    combined += combined
    combined += outcomes[-1]
    return combined


def _tally(combined: NDArray[Any], n_groups: int, weights: NDArray[np.float64] | None) -> NDArray[Any]:
    """Count each of the combined numbers, in one pass."""
    cells = 4 * n_groups
    if weights is not None:
        counts = np.bincount(combined, weights=weights, minlength=cells)
    elif combined.dtype == np.uint8 and len(combined) >= _PAIRS_PAY_FROM:
        counts = _tally_pairs(combined, cells)
    else:
        counts = np.bincount(combined, minlength=cells)
    return np.reshape(counts[:cells], (n_groups, 2, 2))


def _tally_pairs(combined: NDArray[np.uint8], cells: int) -> NDArray[np.int64]:
    """Count bytes two at a time: half as many numbers for ``bincount``, then two small sums."""
    even = len(combined) - len(combined) % 2
    pairs = combined[:even].view(np.uint16)
    table = np.zeros(256 * cells, dtype=np.int64)
    for start in range(0, len(pairs), _ROWS_AT_ONCE):
        table += np.bincount(pairs[start : start + _ROWS_AT_ONCE], minlength=len(table))
    square = table.reshape(cells, 256)
    counts: NDArray[np.int64] = square.sum(axis=1) + square[:, :cells].sum(axis=0)
    if even < len(combined):
        counts[combined[-1]] += 1
    return counts


def _choose_groups(
    labels: list[Any], present: NDArray[Any], groups: Sequence[Any] | None, owner: str
) -> tuple[tuple[Any, ...], list[int]]:
    """Return the groups of the table and which row of the tally each has (-1: nobody)."""
    occurs = np.asarray(present.any(axis=(1, 2)))
    if groups is None:
        rows = np.flatnonzero(occurs).tolist()
        return tuple(labels[row] for row in rows), rows
    declared = _distinct(groups)
    if not declared:
        _refuse_groups(owner, groups)
    place = {label: row for row, label in enumerate(labels) if occurs[row]}
    rows = [place.pop(label, -1) for label in declared]
    if place:
        refuse("group", owner, "a column of the labels in 'groups'", "labels outside them")
    return declared, rows


def _distinct(groups: Any) -> tuple[Any, ...] | None:
    """Return the labels of groups as a tuple; ``None`` if they are no labels, or one occurs twice."""
    if isinstance(groups, str | bytes | dict | set | frozenset):  # text, or nothing that has an order
        return None
    try:
        labels = tuple(groups.tolist() if isinstance(groups, np.ndarray) else groups)
    except TypeError:
        return None
    distinct = all(map(is_label, labels)) and len(set(labels)) == len(labels)
    return labels if distinct else None


def _refuse_groups(owner: str, groups: object) -> NoReturn:
    refuse("groups", owner, "a sequence of distinct labels", kind_of(groups))


def _cells(name: str, values: Any, n_groups: int) -> NDArray[Any]:
    """Return counts as whole numbers of 8 bytes, or as floats if they are given so."""
    must_be = "an array of shape (groups, 2, 2)"
    table = read_array(values, name=name, owner="CountTable", must_be=must_be)
    if table.shape != (n_groups, 2, 2):
        refuse(name, "CountTable", must_be, table.shape)
    if not (np.isfinite(table).all() and (table >= 0).all()):
        refuse(name, "CountTable", "finite and not negative", "other numbers")
    if table.dtype.kind == "f":
        return _lock(table.astype(np.float64))
    if (table > _LARGEST_COUNT).any():
        refuse(name, "CountTable", "at most 2**53 in each cell", "a larger count")
    return _lock(table.astype(np.int64))


def _lock(table: NDArray[Any]) -> NDArray[Any]:
    table.flags.writeable = False
    return table


def _take(tally: NDArray[Any], rows: list[int]) -> NDArray[Any]:
    taken = np.zeros((len(rows), 2, 2), dtype=tally.dtype)
    for place, row in enumerate(rows):
        if row >= 0:
            taken[place] = tally[row]
    return taken


# --- rates --------------------------------------------------------------------------------------------

RATES = ("selection", "tpr", "fpr", "accuracy", "precision", "base_rate")
"""The rates of a group, as named in reports."""

# The last two columns are no rates of a report: the share of true positives among all rows that are
# positive either way, of which f1 is a function, and the share of true negatives among predicted ones.
#                      selection tpr fpr accuracy precision base_rate hits npv
_SUCCESSES = np.array([[       0,  0,  0,       1,        0,        0,   0,  1],    # 00
                       [       1,  0,  1,       0,        0,        0,   0,  0],    # 01
                       [       0,  0,  0,       0,        0,        1,   0,  0],    # 10
                       [       1,  1,  0,       1,        1,        1,   1,  0]])  # 11  # fmt: skip
_TRIALS = np.array([[          1,  0,  1,       1,        0,        1,   0,  1],
                    [          1,  0,  1,       1,        1,        1,   1,  0],
                    [          1,  1,  0,       1,        0,        1,   1,  1],
                    [          1,  1,  0,       1,        1,        1,   1,  0]])  # fmt: skip
_WITHOUT_LABELS = np.array([   1,  0,  0,       0,        0,        0,   0,  0])  # fmt: skip
PLACE = {name: place for place, name in enumerate((*RATES, "hits", "npv"))}
"""The column of each rate."""


@dataclass(frozen=True, eq=False)
class Shares:
    r"""Successes among trials, for every rate along the last axis.

    ``effective`` is the number of trials for the purpose of an interval: the trials themselves, or with
    weights the number of trials at which rows of equal weights would have the variance of this share. For
    rows drawn with replacement the linearised variance of a ratio is

    .. math:: V = \frac{n}{n - 1} \frac{\sum_i w_i^2 (y_i - R x_i)^2}{(\sum_i w_i x_i)^2}

    where :math:`x_i` and :math:`y_i` say whether row :math:`i` is a trial and a success, :math:`w_i` is its
    weight, :math:`R` the share and :math:`n` counts all rows; with equal weights and :math:`m` trials it is
    :math:`\frac{n}{n - 1} R (1 - R) / m`. So the size is :math:`\frac{n}{n - 1} R (1 - R) / V`, but at most
    Kish's :math:`(\sum_i w_i x_i)^2 / \sum_i w_i^2 x_i`, which no outcome changes: where few rows are heavy,
    a variance estimated from them is often far too small. It is Kish's where every trial or none is a
    success. Shares of disjoint rows have a linearised covariance of 0.

    References
    ----------
    .. [1] Korn, Graubard (1998). Confidence intervals for proportions with small expected number of
           positive counts estimated from survey data. Survey Methodology 24.
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
        effective = self.effective[..., place]
        if self.effective is self.trials:
            return self.successes[..., place], effective
        return self.values[..., place] * effective, effective


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
        return self._side(np.ones(self.n_groups, np.bool_))

    @cached_property
    def privileged_side(self) -> Shares:
        """Shares of the privileged group; nobody's without one."""
        return self._side((np.arange(self.n_groups) == self.privileged) & (self.privileged is not None))

    @cached_property
    def other_side(self) -> Shares:
        """Shares of everybody who is not in the privileged group, pooled; nobody's without one."""
        return self._side((np.arange(self.n_groups) != self.privileged) & (self.privileged is not None))

    def _side(self, members: NDArray[np.bool]) -> Shares:
        return self._shares(
            self.cells[..., members, :].sum(axis=-2),
            None if self.squares is None else self.squares[..., members, :].sum(axis=-2),
        )

    def _shares(self, cells: NDArray[Any], squares: NDArray[Any] | None) -> Shares:
        known = _TRIALS if self.labelled else _TRIALS * _WITHOUT_LABELS
        successes, trials = cells @ _SUCCESSES, cells @ known
        if squares is None:
            return Shares(successes, trials, trials)
        share = _divide(successes, trials)
        kish = _divide(trials * trials, squares @ known)
        inside = share * (1 - share)
        linearised = _divide(inside, linearise_variance(share, trials, squares, known))
        effective = np.where(inside > 0, np.fmin(linearised, kish), kish)
        return Shares(successes, trials, np.fmax(effective, 1))  # 1 also where squares underflow


def linearise_variance(
    share: NDArray[Any], trials: NDArray[Any], squares: NDArray[Any], known: NDArray[Any] = _TRIALS
) -> NDArray[np.float64]:
    """Return the linearised variance of weighted shares, without its factor n / (n - 1)."""
    variance = (1 - share) ** 2 * _divide(squares @ _SUCCESSES, trials * trials)
    variance += share**2 * _divide(squares @ (known - _SUCCESSES * known), trials * trials)
    return np.asarray(variance)


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
