"""Generalised tables: classes of people, each with sets of labels and intervals in place of values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand._notebook import figures_html
from evenhand.errors import InvalidParameterError
from evenhand.release.kanonymity.mondrian import Partition, mondrian, rank_codes
from evenhand.release.table.counting import cell_numbers
from evenhand.release.table.frames import build_frame, cell_labels, cell_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.release.table.histogram import Histogram
    from evenhand.schema import Column, Schema
    from evenhand.table.frames import Backend

    Integers = npt.NDArray[np.int64]

_BETWEEN = " | "
_BITS = 64


@dataclass(frozen=True, eq=False)
class Merged:
    """What stands in place of one column's values: for each class a set of codes, or an interval of them.

    Parameters
    ----------
    column : Column
        The column.
    numeric : bool
        Whether the classes have intervals: the column holds whole numbers, and no "other".
    codes : array of int64
        For intervals, the lowest and the highest code of each class; else the codes that occur in each class,
        increasing, one class after the other.
    ends : array of int64
        Where the codes of each class end.
    """

    column: Column
    numeric: bool
    codes: Integers
    ends: Integers

    def of_class(self, number: int) -> Integers:
        """Return the codes of one class: all that occur, or the ends of the interval."""
        return self.codes[self.ends[number - 1] if number else 0 : self.ends[number]]

    def texts(self) -> tuple[list[str], Integers]:
        """Return the different texts, and for each class which one it has.

        >>> from evenhand.schema import Column, Domain
        >>> race = Column("race", Domain.categorical(["a", "b", "c"]))
        >>> Merged(race, False, np.array([0, 2, 1]), np.array([2, 3])).texts()
        (['b', 'a | c'], array([1, 0]))
        """
        labels: Sequence[str] = self.column.labels if self.numeric else cell_labels(self.column)
        write = _interval if self.numeric else _set
        first, places = self._different()
        return [write(labels, self.of_class(number).tolist()) for number in first], places

    def _different(self) -> tuple[list[int], Integers]:
        """Return one class for each different set or interval, and for each class which of these it has.

        Sets of few values are compared as the bits of a number, which is several times as fast.
        """
        if not self.numeric and len(self.codes) and self.column.size <= _BITS:
            bits = np.left_shift(np.uint64(1), self.codes.astype(np.uint64))
            starts = self.ends - np.diff(self.ends, prepend=0)
            _, first, places = np.unique(
                np.bitwise_or.reduceat(bits, starts), return_index=True, return_inverse=True
            )
            return first.tolist(), places
        seen: dict[bytes, tuple[int, int]] = {}
        raw = np.ascontiguousarray(self.codes, dtype=np.int64).tobytes()
        cuts = [0, *(8 * self.ends).tolist()]
        numbers = [
            seen.setdefault(raw[start:end], (len(seen), number))[0]
            for number, (start, end) in enumerate(pairwise(cuts))
        ]
        return [number for _, number in seen.values()], np.array(numbers, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizedTable:
    """A table in which at least `k` people share what stands in place of their quasi-identifiers.

    Each row is a class of people together with one combination of the other columns, which are as they
    were, and says how many people it stands for. Projected to the quasi-identifiers, every row appears at
    least `k` times.

    Attributes
    ----------
    schema : Schema
        The columns, in the order of the table.
    k : int
        The least number of people in a class.
    merged : tuple of Merged
        For each quasi-identifier, what the classes have in place of its values.
    others : tuple of str
        The columns that are published as they were.
    people : array of int64
        How many people each class has.
    classes, combinations, counts : array of int64
        For each row its class, the number of its combination of the other columns (in row-major order), and
        how many people it stands for.
    """

    schema: Schema
    k: int
    merged: tuple[Merged, ...]
    others: tuple[str, ...]
    people: Integers
    classes: Integers
    combinations: Integers
    counts: Integers

    def __post_init__(self) -> None:
        arrays = [self.people, self.classes, self.combinations, self.counts]
        for array in (*arrays, *(part for merged in self.merged for part in (merged.codes, merged.ends))):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.people)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns whose values are merged."""
        return tuple(merged.column.name for merged in self.merged)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the table as a frame: texts for the quasi-identifiers, the other columns, and ``count``.

        A set is written ``a | b``, an interval ``17 to 24``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default pandas where it is installed, else pyarrow.
        """
        if "count" in self.schema:
            must_be = "a table without a column of that name"
            raise InvalidParameterError(
                "count", owner="GeneralizedTable.to_frame", must_be=must_be, got="count"
            )
        arrays: dict[str, Any] = {}
        for merged in self.merged:
            texts, places = merged.texts()
            arrays[merged.column.name] = pa.array(texts, pa.string()).take(pa.array(places[self.classes]))
        if self.others:
            arrays |= cell_values(self.schema.select(self.others), self.combinations, len(self.classes))
        ordered = {name: arrays[name] for name in self.schema.names}
        return build_frame({**ordered, "count": pa.array(self.counts)}, backend=backend)

    def _repr_html_(self) -> str:
        figures = [("quasi-identifiers", ", ".join(self.quasi_identifiers)), ("classes", f"{len(self):,}")]
        return figures_html("Generalised table", [*figures, ("people in each, at least", f"{self.k:,}")])

    def __repr__(self) -> str:
        names = " × ".join(self.quasi_identifiers)
        return f"<GeneralizedTable of {names}: {len(self):,} classes of at least {self.k:,} people>"


def generalize(histogram: Histogram, k: int) -> GeneralizedTable:
    """Cut the people of a table into classes of at least `k` people, by Mondrian.

    Parameters
    ----------
    histogram : Histogram
        The table. Its quasi-identifiers are merged, or all columns if none is declared. A count below 1 means
        nobody.
    k : int
        The least number of people in a class. With fewer people in all the result has no class and no row.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> columns = [Column("age", Domain.integers(20, 24)), Column("sex", Domain.categorical(["f", "m"]))]
    >>> table = Histogram.of([[3, 0], [1, 1], [0, 2], [0, 0], [2, 2]], Schema(columns))
    >>> for row in generalize(table, 4).to_frame("pyarrow").to_pylist():
    ...     print(row)
    {'age': '20 to 21', 'sex': 'f | m', 'count': 5}
    {'age': '22 to 24', 'sex': 'f | m', 'count': 6}
    """
    schema = histogram.schema
    inside, outside = histogram.split_columns()
    if not inside:  # no quasi-identifier is declared
        inside, outside = outside, inside
    if histogram.stored.dtype.kind != "i":
        must_be, got = "a table of whole numbers of people", "a table of fractions"
        raise InvalidParameterError("histogram", owner="k-anonymity", must_be=must_be, got=got)
    cells, filled = histogram.filled_cells()
    codes = np.unravel_index(cells, histogram.shape)
    keys = cell_numbers([codes[axis] for axis in inside], [histogram.shape[axis] for axis in inside])
    first, tuple_of = np.arange(len(cells)), np.arange(len(cells))
    weights = filled
    if outside:
        order, starts = _sort_keys(keys)
        first, weights = order[starts], _sum_stretches(filled[order], starts)
        tuple_of[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
    columns = [schema.columns[axis] for axis in inside]
    numeric = [column.domain.kind == "integers" and not column.has_other for column in columns]
    tuples = [codes[axis][first] for axis in inside]
    partition = mondrian(np.stack(tuples, axis=1), weights, k=k, numeric=numeric)
    merged = tuple(
        _merge(column, values, partition, numeric=kind)
        for column, kind, values in zip(columns, numeric, tuples, strict=True)
    )
    other_codes = [codes[axis] for axis in outside]
    rows = _rows(partition.labels[tuple_of], other_codes, [histogram.shape[axis] for axis in outside], filled)
    others = tuple(schema.names[axis] for axis in outside)
    return GeneralizedTable(schema, k, merged, others, partition.people, *rows)


def _merge(column: Column, codes: Integers, partition: Partition, *, numeric: bool) -> Merged:
    """Return what each class has in place of the column's values."""
    classes = len(partition.people)
    if not classes:
        return Merged(column, numeric, np.zeros(0, np.int64), np.zeros(0, np.int64))
    if numeric:
        ends = np.empty((classes, 2), np.int64)
        ends[:, 0], ends[:, 1] = np.iinfo(np.int64).max, -1
        np.minimum.at(ends[:, 0], partition.labels, codes)
        np.maximum.at(ends[:, 1], partition.labels, codes)
        return Merged(column, numeric, ends.reshape(-1), 2 * np.arange(1, classes + 1))
    values, ranks = rank_codes(codes)
    keys = np.sort(partition.labels * len(values) + ranks)
    keys = keys[np.diff(keys, prepend=-1) > 0]
    where = keys // len(values)
    return Merged(column, numeric, values[keys - where * len(values)], np.cumsum(np.bincount(where)))


def _rows(
    labels: Integers, codes: list[Any], sizes: list[int], filled: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return the class, the combination of other columns and the people of each row of the table."""
    there = labels >= 0
    if not there.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    values, ranks = np.zeros(1, np.int64), np.zeros(len(labels), np.int32)
    if codes:
        values, ranks = rank_codes(cell_numbers(codes, sizes))
    keys = labels * len(values) + ranks
    order, starts = _sort_keys(keys)
    first = order[starts]
    return labels[first], values[ranks[first]], _sum_stretches(filled[order], starts)


def _sort_keys(keys: Integers) -> tuple[Integers, Integers]:
    """Return an order in which equal keys stand together, smaller ones first, and where each key begins."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    return order, np.flatnonzero(np.diff(ordered, prepend=-1))


def _sum_stretches(values: Integers, starts: Integers) -> Integers:
    return np.add.reduceat(values, starts) if starts.size else np.zeros(0, np.int64)


def _set(labels: Any, codes: list[int]) -> str:
    return _BETWEEN.join(labels[code] for code in codes)


def _interval(labels: Any, codes: list[int]) -> str:
    low, high = codes
    return labels[low] if low == high else f"{labels[low]} to {labels[high]}"
