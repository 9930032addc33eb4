"""The figures of an audit: errors, suppression and small cells, over any set of cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.release.table.frames import cell_labels, read_cells
from evenhand.release.table.histogram import Histogram
from evenhand.release.table.released import Release
from evenhand.schema import Schema
from evenhand.schema.text import visible
from evenhand.schema.values import instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Values = NDArray[np.float64]

SMALL = 5
"""Cells of fewer people are small, unless told."""

_SIZES = ((0, 0), (1, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
_OWNER = "audit_release"


@dataclass(frozen=True)
class Figures:
    """Errors and suppression over some cells.

    Attributes
    ----------
    name : str
        Which cells.
    cells, people : int
        How many there are, and how many people are in them in truth.
    mean_error : float
        The mean of published minus true: an estimate of the mean bias. NaN without cells.
    standard_error : float
        Its standard error over the cells; NaN with fewer than two.
    mean_absolute_error, root_mean_square_error : float
        How large errors are, whatever their sign.
    unchanged : int
        Cells that were published as they are.
    missing : int
        Cells that are not in the published table, or have no count there.
    zeroed : int
        Cells with people that were published as empty.
    hidden_people : int
        The people in cells that are missing or zeroed.
    """

    name: str
    cells: int
    people: float
    mean_error: float
    standard_error: float
    mean_absolute_error: float
    root_mean_square_error: float
    unchanged: int
    missing: int
    zeroed: int
    hidden_people: float

    @property
    def hidden_share(self) -> float:
        """The share of the people who are in cells that are missing or zeroed; NaN without people."""
        return self.hidden_people / self.people if self.people else math.nan

    @property
    def relative_error(self) -> float:
        """The error of the sum of these cells, as a share of the people; NaN without people."""
        return self.mean_error * self.cells / self.people if self.people else math.nan


@dataclass(frozen=True)
class SmallCells:
    """What the published table tells about the smallest cells.

    Attributes
    ----------
    threshold : int
        Small cells have at least one person and fewer than this.
    cells : int
        How many small cells there are in truth.
    unchanged : int
        How many of them were published as they are.
    ones_and_twos : int
        Cells of one or two people in truth.
    ones_and_twos_unchanged : int
        How many of them were published as they are: each tells about a person to whoever knows the table
        is exact.
    """

    threshold: int
    cells: int
    unchanged: int
    ones_and_twos: int
    ones_and_twos_unchanged: int

    @property
    def unchanged_share(self) -> float:
        """The share of small cells that were published as they are; NaN without any."""
        return self.unchanged / self.cells if self.cells else math.nan


@dataclass(frozen=True, eq=False)
class Pair:
    """Both tables over the cells that either lists; in truth all other cells are empty."""

    schema: Schema
    size: int
    cells: NDArray[np.int64]
    true: NDArray[Any]
    published: NDArray[Any]
    missing: Mask
    listed: bool  # whether cells that are not here are missing from the published table

    @property
    def errors(self) -> Values:
        """Published minus true; whole numbers are subtracted as such."""
        difference: Values = (self.published - self.true).astype(np.float64)
        return difference

    @property
    def everywhere(self) -> Mask:
        """All cells that are here."""
        return np.ones(self.cells.size, np.bool_)

    def figures(self, name: str, chosen: Mask, cells: int) -> Figures:
        """Return the figures of the chosen cells; those of `cells` that are not here are empty in truth."""
        errors, true = self.errors[chosen], self.true[chosen]
        missing, published = self.missing[chosen], self.published[chosen]
        elsewhere = cells - errors.size
        zeroed = ~missing & (true > 0) & (published == 0)
        mean = float(errors.sum()) / cells if cells else math.nan
        squares = float((errors**2).sum())
        spread = max(squares - cells * mean**2, 0.0) / (cells - 1) if cells > 1 else math.nan
        return Figures(
            name=name,
            cells=cells,
            people=true.sum().item(),
            mean_error=mean,
            standard_error=math.sqrt(spread / cells) if cells > 1 else math.nan,
            mean_absolute_error=float(np.abs(errors).sum()) / cells if cells else math.nan,
            root_mean_square_error=math.sqrt(squares / cells) if cells else math.nan,
            unchanged=int((~missing & (errors == 0)).sum()) + (0 if self.listed else elsewhere),
            missing=int(missing.sum()) + (elsewhere if self.listed else 0),
            zeroed=int(zeroed.sum()),
            hidden_people=true[missing | zeroed].sum().item(),
        )


def compare_tables(true: Any, published: Any, schema: Schema | None) -> Pair:
    """Lay both tables side by side, in the order of the true one."""
    known = _find_schema(true, published, schema)
    cells, counts, _, _ = _list_cells(true, known, "true")
    other_cells, other_counts, missing, listed = _list_cells(published, known, "published")
    both = np.union1d(cells, np.union1d(other_cells, missing))
    left, right = (np.zeros(both.size, stored.dtype) for stored in (counts, other_counts))
    left[np.searchsorted(both, cells)] = counts
    right[np.searchsorted(both, other_cells)] = other_counts
    absent = np.zeros(both.size, np.bool_)
    if listed:
        absent[~np.isin(both, other_cells, assume_unique=True)] = True
    absent[np.searchsorted(both, missing)] = True
    size = math.prod(column.size for column in known)
    return Pair(known, size, both, left, right, absent, listed)


def figures_by_size(pair: Pair) -> tuple[Figures, ...]:
    """Return the figures of cells of like size in truth."""
    by_size = []
    for low, high in _SIZES:
        inside = (pair.true >= low) & (pair.true < math.inf if high is None else pair.true < high + 1)
        name = str(low) if high == low else f"{low} or more" if high is None else f"{low} to {high}"
        elsewhere = pair.size - pair.cells.size if low == 0 else 0
        by_size.append(pair.figures(name, inside, int(inside.sum()) + elsewhere))
    return tuple(by_size)


def figures_by_group(pair: Pair, columns: Sequence[str]) -> tuple[Figures, ...]:
    """Return the figures of the cells of each value of a column, or of each combination of several."""
    chosen = [pair.schema[column] for column in columns]
    shape = tuple(column.size for column in chosen)
    places = np.unravel_index(pair.cells, tuple(column.size for column in pair.schema))
    own = [places[pair.schema.names.index(column)] for column in columns]
    codes = np.ravel_multi_index(own, shape)
    labels = product(*(cell_labels(column, display=True) for column in chosen))
    return tuple(
        pair.figures(", ".join(map(visible, combination)), codes == code, pair.size // math.prod(shape))
        for code, combination in enumerate(labels)
    )


def small_cells(pair: Pair, threshold: int) -> SmallCells:
    """Return how many small cells were published as they are."""
    same = ~pair.missing & (pair.errors == 0)
    small = (pair.true > 0) & (pair.true < threshold)
    tiny = (pair.true > 0) & (pair.true <= 2)
    return SmallCells(
        threshold=threshold,
        cells=int(small.sum()),
        unchanged=int((small & same).sum()),
        ones_and_twos=int(tiny.sum()),
        ones_and_twos_unchanged=int((tiny & same).sum()),
    )


def _find_schema(true: Any, published: Any, schema: Schema | None) -> Schema:
    if schema is not None:
        return instance("schema", schema, Schema, owner=_OWNER)
    for table in (true, published):
        if isinstance(table, Histogram):
            return table.schema
        if isinstance(table, Release):
            return table.histogram.schema
    must_be, got = "given where both tables are frames", "none"
    raise InvalidParameterError("schema", owner=_OWNER, must_be=must_be, got=got)


def _list_cells(
    table: Any, schema: Schema, name: str
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64], bool]:
    """Return cells, their counts, cells without a count, and whether cells not listed are missing."""
    if isinstance(table, Release):
        return _of_release(table, schema, name)
    if isinstance(table, Histogram):
        ordered = _order_columns(table, schema, name)
        cells = np.arange(ordered.size) if ordered.cells is None else ordered.cells
        return cells, ordered.stored.ravel(), np.empty(0, np.int64), ordered.is_sparse
    read = read_cells(table, schema, count="count")
    return read.present.cells, read.present.filled, read.missing, True


def _of_release(
    release: Release, schema: Schema, name: str
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64], bool]:
    cells, counts, _, sparse = _list_cells(release.histogram.with_counts(release.values), schema, name)
    listed = sparse and release.mechanism.unlisted == "suppressed"
    if release.unpublished is None or listed:
        return cells, counts, np.empty(0, np.int64), listed
    marks = release.histogram.with_counts(release.unpublished.astype(np.int64))
    hidden = _list_cells(marks, schema, name)[1] > 0
    return cells[~hidden], counts[~hidden], cells[hidden], False


def _order_columns(table: Histogram, schema: Schema, name: str) -> Histogram:
    """Return the table with its columns in this order; refuse other columns or other domains."""
    same = set(table.columns) == set(schema.names) and all(
        (column.domain, column.size) == (schema[column.name].domain, schema[column.name].size)
        for column in table.schema
    )
    if not same:
        must_be = f"a table of the columns {', '.join(schema.names)}, with the same domains"
        got = f"a table of {', '.join(table.columns)}"
        raise InvalidParameterError(name, owner=_OWNER, must_be=must_be, got=got)
    return table if table.columns == schema.names else table.margin(schema.names)
