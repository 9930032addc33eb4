"""Tables of counts: every declared combination of values, and how many people have it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notebook import html_table
from evenhand._validate import integer
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError
from evenhand.privacy.contributions import bound_rows
from evenhand.privacy.randomness import source_from
from evenhand.release.table.counting import (
    MOST_CELLS,
    MOST_COUNT,
    Cells,
    cell_numbers,
    check_codes,
    checked_cells,
    checked_size,
    count_lazy_rows,
    count_rows,
    sum_by_cell,
    sum_counts,
    whole_or_real,
)
from evenhand.release.table.files import count_file
from evenhand.release.table.frames import cells_frame, read_cells
from evenhand.schema import Schema
from evenhand.schema.text import visible
from evenhand.schema.values import instance, shown
from evenhand.table.encode import Table, read_only
from evenhand.table.lazy.combinations import lazy_frame
from evenhand.table.repeated_people import notice_people_in_file, notice_people_in_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from evenhand.table import FileFormat
    from evenhand.table.frames import Backend


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Histogram:
    """A table with one cell for each combination of declared values.

    Make one with :meth:`count`, :meth:`of`, :meth:`of_cells` or :meth:`from_frame`.

    Parameters
    ----------
    schema : Schema
        The columns of the table and no others, in its order.
    counts : array, optional
        How many people are in each cell, of shape `shape`: ``int64``, or ``float64`` where a
        published table holds fractions. None where the table is kept as its filled cells.
    cells, filled : array, optional
        The numbers of the filled cells in row-major order of `shape`, increasing, and what is in
        them. None where the table is kept as all cells.
    bound : int, optional
        A public bound on every count, known without the rows. Larger counts are lowered to it:
        an exception would tell something about people.
    may_drop : tuple of str, optional
        The columns whose rules may have left people out, whether or not they did, and whether or not
        the table has the columns. Those of `schema` are added. Guarantees depend on it.
    simulated : bool, default False
        Whether a seed decided which rows of each person count. Such a table is not published.
    repeats : str, optional
        The column whose values seem to be people with several rows, where no role says who they are. What
        is promised is then promised for one row. It was read from the rows, and no guarantee covers it.

    Notes
    -----
    A table of at most 50 million cells (``MOST_CELLS``) keeps all of them, a larger one only the
    filled ones. That depends on the schema, never on the rows. Two tables are not compared by
    ``==``. The arrays cannot be written to. Neither ``repr`` nor the view in a notebook shows a count.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([
    ...     Column("sex", Domain.categorical(["f", "m"])),
    ...     Column("tenure", Domain.categorical(["own", "rent", "other"])),
    ... ])
    >>> rows = pa.table({"sex": ["f", "m", "f"], "tenure": ["own", "rent", "own"]})
    >>> histogram = Histogram.count(rows, schema)
    >>> histogram
    Histogram of sex × tenure: 6 cells
    >>> histogram.counts
    array([[2, 0, 0],
           [0, 1, 0]])
    >>> histogram.margin("sex").counts
    array([2, 1])
    """

    schema: Schema
    counts: NDArray[Any] | None = None
    cells: NDArray[np.int64] | None = None
    filled: NDArray[Any] | None = None
    bound: int | None = None
    may_drop: tuple[str, ...] = ()
    simulated: bool = False
    repeats: str | None = None
    size: int = field(init=False)

    def __post_init__(self) -> None:
        owner = "Histogram"
        instance("schema", self.schema, Schema, owner=owner)
        object.__setattr__(self, "size", checked_size(self.shape, owner=owner))
        dropping = tuple(dict.fromkeys((*self.may_drop, *self.schema.may_drop)))
        object.__setattr__(self, "may_drop", dropping)
        if self.bound is not None:
            object.__setattr__(self, "bound", integer("bound", self.bound, owner=owner, low=1))
        if (self.counts is None) == (self.cells is None) or (self.cells is None) != (self.filled is None):
            must_be = "given, or else 'cells' and 'filled'"
            raise InvalidParameterError("counts", owner=owner, must_be=must_be, got="another combination")
        if self.counts is not None:
            counts = whole_or_real(self.counts, parameter="counts", owner=owner)
            if counts.shape not in {self.shape, (self.size,)}:
                must_be = f"of shape {self.shape}, or flat with {self.size:,} cells"
                raise InvalidParameterError(
                    "counts", owner=owner, must_be=must_be, got=f"shape {counts.shape}"
                )
            object.__setattr__(self, "counts", self._clip_to_bound(counts.reshape(self.shape)))
        else:
            cells, filled = checked_cells(self.cells, self.filled, self.size)
            object.__setattr__(self, "cells", read_only(cells))
            object.__setattr__(self, "filled", self._clip_to_bound(filled))

    def _clip_to_bound(self, counts: NDArray[Any]) -> NDArray[Any]:
        if self.bound is None or self.bound >= MOST_COUNT:  # which no count exceeds
            return read_only(counts)
        return read_only(np.minimum(counts, self.bound))

    @classmethod
    def count(
        cls,
        df: Any,
        schema: Schema,
        columns: Iterable[str] | None = None,
        *,
        bound: int | None = None,
        rng: Any = None,
        file_format: FileFormat | None = None,
    ) -> Histogram:
        """Count the people in every declared cell, the empty ones too.

        Parameters
        ----------
        df : pandas, Polars or Arrow frame, lazy frame, Table, or path
            One row for each person. A lazy frame is counted where its rows are, see
            :doc:`/how-to/large-files-and-engines`. A :class:`~evenhand.table.Table` is taken as it is. A path
            names a file of any length, a folder or a pattern, which is counted in batches.
        schema : Schema
            The columns with their domains and rules; values outside follow the column's rule. Where
            that is ``"drop"`` the person is in no cell, and `may_drop` names the column.
        columns : list of str, optional
            The columns to cross, in this order. By default all columns of the schema.
        bound : int, optional
            A public bound on every count; larger ones are lowered to it.
        rng : None, int, Generator or Source
            Where the schema has the role `person`, what says which rows of a person count: None for the
            operating system's secure source, anything else for a simulation.
        file_format : FileFormat, optional
            What is known of how a file is written, and what becomes of rows that cannot be read.

        Notes
        -----
        With the role `weight` a count is the sum of weights, which no mechanism publishes. With the role
        `person` at most `rows_per_person` rows of each person are counted, drawn at random. Whose row it is
        says the rule of :mod:`evenhand.table.persons`. Rows of a file that do not fit into memory wait in a
        temporary file until it has been read.

        Raises
        ------
        ColumnNotFoundError
            If a column is not in the schema or not in the frame.
        OutsideDomainError
            If a value does not fit and its column's rule is ``"error"``, or a row has no person. No other
            content of a frame makes this fail.
        UnreadableFileError, LimitExceededError
            If a file cannot be read. Of a text file no row makes this fail with ``broken_rows="other"``.
        LimitExceededError
            If there would be more cells than can be numbered, or a lazy frame has more combinations of values
            than can be fetched.
        EngineError
            If the engine of a lazy frame fails.
        """
        chosen = _choose_columns(schema, columns, owner="Histogram.count")
        shape = _shape(chosen)
        size = checked_size(shape, owner="Histogram.count")
        if isinstance(df, Table):
            if chosen.person is not None:
                must_be = "a frame, whose rows of one person can be told apart"
                raise InvalidParameterError("df", owner="Histogram.count", must_be=must_be, got="a Table")
            check_codes(df.schema, chosen)
            table = Table(chosen, {name: df[name] for name in chosen.names}, weights=df.weights)
            stored = count_rows(table, shape, size)
            return cls.of_stored(stored, chosen, bound=bound, may_drop=df.schema.may_drop)
        is_path = isinstance(df, str | os.PathLike)
        if not is_path and (lazy := lazy_frame(df)) is not None:
            return cls.of_stored(count_lazy_rows(lazy, chosen, shape), chosen, bound=bound)
        source = source_from(rng)
        if is_path:
            counted = count_file(df, chosen, shape, size, source=source, file_format=file_format)
            repeats = None if chosen.person else notice_people_in_file(df, file_format=file_format)
        else:
            rows = bound_rows(df, chosen, source=source, owner="Histogram.count")
            counted = count_rows(Table.encode(rows, chosen), shape, size)
            repeats = None if chosen.person else notice_people_in_frame(df, owner="Histogram.count")
        person = () if chosen.person is None else (chosen.person,)
        left_out = person if is_path and file_format is not None and file_format.broken_rows else ()
        simulated = bool(person) and source.simulated
        traits: Any = {"may_drop": left_out, "simulated": simulated, "repeats": repeats}
        return cls.of_stored(counted, chosen, bound=bound, **traits)

    @classmethod
    def of(
        cls,
        counts: ArrayLike,
        schema: Schema,
        columns: Iterable[str] | None = None,
        *,
        bound: int | None = None,
    ) -> Histogram:
        """Make a table from an array of counts, of the table's shape or flat.

        >>> from evenhand.schema import Column, Domain, Schema
        >>> schema = Schema([Column("sex", Domain.categorical(["f", "m"]))])
        >>> Histogram.of([5, 3], schema).people
        8
        """
        chosen = _choose_columns(schema, columns, owner="Histogram.of")
        return cls(schema=chosen, counts=np.asarray(counts), bound=bound)

    @classmethod
    def of_cells(
        cls,
        cells: ArrayLike,
        filled: ArrayLike,
        schema: Schema,
        columns: Iterable[str] | None = None,
        *,
        bound: int | None = None,
    ) -> Histogram:
        """Make a table kept as its filled cells: their numbers, increasing, and what is in them."""
        chosen = _choose_columns(schema, columns, owner="Histogram.of_cells")
        return cls(schema=chosen, cells=np.asarray(cells), filled=np.asarray(filled), bound=bound)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        schema: Schema,
        columns: Iterable[str] | None = None,
        *,
        bound: int | None = None,
        count: str = "count",
    ) -> Histogram:
        """Read a table of cells and counts: the way back from :meth:`to_frame`.

        Parameters
        ----------
        frame : pandas, Polars or Arrow frame
            One row for each cell. Cells that are not there, or whose count is missing, get 0;
            rows of one cell are added.
        schema : Schema
            The columns with their domains and rules.
        columns : list of str, optional
            The columns of the table. By default all columns of the schema.
        bound : int, optional
            A public bound on every count; larger ones are lowered to it.
        count : str, default "count"
            The name of the column of counts.
        """
        chosen = _choose_columns(schema, columns, owner="Histogram.from_frame")
        return cls.of_stored(read_cells(frame, chosen, count=count).present, chosen, bound=bound)

    @classmethod
    def of_stored(cls, stored: NDArray[Any] | Cells, schema: Schema, **traits: Any) -> Histogram:
        """Make a table from all counts, or filled cells, kept as one of its size is; `traits` are fields."""
        if isinstance(stored, Cells):
            size = checked_size(_shape(schema), owner="Histogram")
            if size > MOST_CELLS:
                return cls(schema=schema, **stored._asdict(), **traits)
            counts = np.zeros(size, stored.filled.dtype)
            counts[stored.cells] = stored.filled
            stored = counts
        return cls(schema=schema, counts=stored, **traits)

    def of_same_people(self, stored: NDArray[Any] | Cells, schema: Schema, *, bound: int | None) -> Histogram:
        """Make a table of other cells from this one: who was left out, and how, stays as it is."""
        traits = {name: getattr(self, name) for name in ("may_drop", "simulated", "repeats")}
        return Histogram.of_stored(stored, schema, bound=bound, **traits)

    # --- what it is ----------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.schema.names

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has, "other" included."""
        return _shape(self.schema)

    @property
    def is_sparse(self) -> bool:
        """Whether only the filled cells are kept."""
        return self.counts is None

    @cached_property
    def people(self) -> Any:
        """The sum of all counts: a whole number that never wraps, or a number where counts are."""
        return sum_counts(self.stored).item()

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that others may know too, in the order of the table."""
        return tuple(self.columns[axis] for axis in self.split_columns()[0])

    @property
    def stored(self) -> NDArray[Any]:
        """The counts that are kept: of all cells, or of the filled ones."""
        return self.filled if self.counts is None else self.counts  # type: ignore[return-value]

    def filled_cells(self) -> Cells:
        """Return the numbers of the cells that hold somebody, and how many they hold."""
        counts = self.stored.reshape(-1)
        places = np.flatnonzero(counts > 0)
        return Cells(places if self.cells is None else self.cells[places], counts[places])

    def require_dense(self, *, owner: str) -> NDArray[Any]:
        """Return the counts of all cells; refuse, with the numbers, a table kept as its filled cells."""
        if self.counts is None:
            raise LimitExceededError(
                f"{owner} needs every cell, and a table of {self.size:,} cells keeps only the filled ones; "
                f"at most {MOST_CELLS:,} are possible. Hint: take fewer columns, or release with "
                "ThresholdedLaplace, which draws the empty cells that survive.",
                limit="MOST_CELLS",
            )
        return self.counts

    # --- tables from this one ------------------------------------------------------------------

    def with_counts(self, counts: ArrayLike, *, bound: int | None = None) -> Histogram:
        """Return a table of the same cells with other counts.

        For one kept as its filled cells, the counts are those of :attr:`cells`. The bound does not
        carry over: noise keeps to none.
        """
        if self.is_sparse:
            return replace(self, filled=np.asarray(counts), bound=bound)
        return replace(self, counts=np.asarray(counts), bound=bound)

    def margin(self, columns: Iterable[str]) -> Histogram:
        """Return the table of fewer columns, in the order given; counts of merged cells are added."""
        chosen = _choose_columns(self.schema, columns, owner="Histogram.margin")
        axes = [self.columns.index(name) for name in chosen.names]
        size = checked_size(_shape(chosen), owner="Histogram.margin")
        bound = None if self.bound is None else self.bound * (self.size // size)
        if self.counts is not None:
            dropped = tuple(axis for axis in range(len(self.shape)) if axis not in axes)
            kept = sorted(axes)
            sums = sum_counts(self.counts, dropped) if dropped else self.counts
            merged: Any = np.transpose(sums, [kept.index(axis) for axis in axes])
        else:
            codes = np.unravel_index(self.cells, self.shape)  # type: ignore[arg-type]
            sum_counts(self.stored)  # refuses sums that would wrap
            merged = sum_by_cell(cell_numbers([codes[axis] for axis in axes], _shape(chosen)), self.stored)
        return self.of_same_people(merged, chosen, bound=bound)

    def slice(self, values: Mapping[str, object]) -> Histogram:
        """Return the table of the other columns among those people who have these values.

        Parameters
        ----------
        values : mapping of str to value
            For each column the value, the label of a bin, or None for "other".
        """
        places = dict(self._axis_and_code(name, value) for name, value in dict(values).items())
        rest = [name for axis, name in enumerate(self.columns) if axis not in places]
        if not rest:
            must_be, got = "values of some columns, with at least one column left", "values of all columns"
            raise InvalidParameterError("values", owner="Histogram.slice", must_be=must_be, got=got)
        schema = self.schema.select(rest)
        if self.counts is not None:
            index = tuple(places.get(axis, slice(None)) for axis in range(len(self.shape)))
            return self.of_same_people(self.counts[index], schema, bound=self.bound)
        codes = np.unravel_index(self.cells, self.shape)  # type: ignore[arg-type]
        here = np.ones(len(codes[0]), np.bool_)
        for axis, code in places.items():
            here &= codes[axis] == code
        left = [codes[self.columns.index(name)][here] for name in rest]
        cells = Cells(cell_numbers(left, _shape(schema)), self.stored[here])
        return self.of_same_people(cells, schema, bound=self.bound)

    def _axis_and_code(self, name: str, value: object) -> tuple[int, int]:
        if name not in self.columns:
            raise ColumnNotFoundError(name, self.columns, place="in the table")
        column = self.schema[name]
        code = column.other_code if value is None else column.domain.find(value)
        if code is None:
            must_be = f"for column '{name}' a value of its domain ({column.domain.describe()})"
            raise InvalidParameterError("values", owner="Histogram.slice", must_be=must_be, got=shown(value))
        return self.columns.index(name), code

    # --- quasi-identifiers against the others --------------------------------------------------

    def split_columns(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the axes of the quasi-identifiers and the axes of the other columns."""
        known = set(self.schema.quasi_identifiers)
        inside = tuple(axis for axis, name in enumerate(self.columns) if name in known)
        return inside, tuple(axis for axis in range(len(self.columns)) if axis not in inside)

    def as_matrix(self) -> NDArray[Any]:
        """Return the counts with one row per combination of the other columns.

        Each row has one entry per combination of quasi-identifiers. Without quasi-identifiers
        there is one column, without others one row.
        """
        counts = self.require_dense(owner="Histogram.as_matrix")
        inside, others = self.split_columns()
        rows = int(np.prod([self.shape[axis] for axis in others], dtype=np.int64))
        return read_only(np.transpose(counts, others + inside).reshape(rows, -1))

    def from_matrix(self, array: ArrayLike) -> Histogram:
        """Return a table of the same cells from a matrix laid out as :meth:`as_matrix` does."""
        matrix, wanted = np.asarray(array), self.as_matrix().shape
        if matrix.shape != wanted:
            must_be, got = f"an array of shape {wanted}", f"shape {matrix.shape}"
            raise InvalidParameterError("array", owner="Histogram.from_matrix", must_be=must_be, got=got)
        inside, others = self.split_columns()
        order = others + inside
        back = np.argsort(order)
        return self.with_counts(np.transpose(matrix.reshape([self.shape[axis] for axis in order]), back))

    # --- out -----------------------------------------------------------------------------------

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row per cell: its values, and the column ``count``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default pandas where it is installed, else pyarrow.

        Notes
        -----
        Bins come back as labels. What the rule "other" collects is called "other", "not stated" or
        "other or not stated" in columns of text and of bins, and is null in the others. A table kept as
        its filled cells gives those only: every cell that is not there holds 0.
        """
        return cells_frame(self.schema, self.cells, self.stored, backend=backend)

    def __reduce__(self) -> tuple[Any, ...]:
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.init}
        return partial(Histogram, **given), ()

    def __repr__(self) -> str:
        names = " × ".join(visible(name) for name in self.columns)
        plural = "" if self.size == 1 else "s"
        sparse = ", the filled ones kept" if self.is_sparse else ""
        bound = "" if self.bound is None else f", at most {self.bound:,} people in each"
        return f"Histogram of {names}: {self.size:,} cell{plural}{sparse}{bound}"

    def _repr_html_(self) -> str:
        known = set(self.quasi_identifiers)
        rows = [["Column", "Values", "Quasi-identifier"]] + [
            [visible(column.name), f"{column.size:,}", "yes" if column.name in known else "no"]
            for column in self.schema
        ]
        return f"<div><p>{escape(repr(self))}</p>{html_table(rows)}</div>"


def _choose_columns(schema: Schema, columns: Iterable[str] | None, *, owner: str) -> Schema:
    given = instance("schema", schema, Schema, owner=owner)
    if columns is None:
        return given
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) < len(names):
        must_be, got = "a list of at least one column, each once", "something else"
        raise InvalidParameterError("columns", owner=owner, must_be=must_be, got=got)
    return given.select(names)


def _shape(schema: Schema) -> tuple[int, ...]:
    return tuple(column.size for column in schema)
