r"""From classes back to cells: Algorithm 5 of the paper, and what it gives on average.

A generalised table says how many people share a set or an interval of values. To compare it with the true
table, each person of a class gets values of the class's sets by chance, every column apart from the others.

* ``"uniform"``: each value of a set, and each whole number of an interval, is equally likely. Exact.
* ``"as_printed"``: as the paper writes for numbers, a draw from a normal law with mean :math:`(a + b)/2` and
  standard deviation :math:`(b - a)/4`, rounded to the nearest whole number that is not negative, for the
  interval from :math:`a` to :math:`b`. What falls outside of the declared domain is moved to its end, since
  the table has no other cell for it. Floats are used, so this is for simulations only. It leaves a
  wide interval in about one draw of twenty.

Both agree where no column holds numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import one_of
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.feeding import feed
from evenhand.privacy.randomness import SeededSource
from evenhand.release.table.counting import MOST_CELLS, Cells, sum_by_cell
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.kanonymity.generalized import GeneralizedTable, Merged

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

Reconstruction = Literal["uniform", "as_printed"]
"""How a person gets a value of a class."""

MOST_DRAWN = 1 << 33
"""How many people are drawn one by one at most; more than there are on earth."""

kernels = lazy("evenhand.release.kanonymity.reconstruct_kernels")  # importing it starts the compiler

_CHUNK = 1 << 20
_REACH = 9.0  # standard deviations; beyond them lies less than a float can add to one


def reconstruct(table: GeneralizedTable, *, source: Source, how: Reconstruction = "uniform") -> Histogram:
    """Draw a table of counts from a generalised one.

    Parameters
    ----------
    table : GeneralizedTable
        The classes.
    source : Source
        Where the randomness comes from; a seeded one for ``"as_printed"``.
    how : {"uniform", "as_printed"}
        How a person gets a value of a class.

    Returns
    -------
    Histogram
        As many people as the classes have; the other columns have the counts they had.

    Raises
    ------
    LimitExceededError
        If more than 2**33 people would have to be drawn.
    """
    one_of("how", how, get_args(Reconstruction), owner="reconstruct")
    check_source(source, how)
    layout = _layout(table)
    mixed = np.asarray((layout.sizes > 1).any(axis=1))[table.classes]
    fixed = Cells(_fixed_cells(layout, table.classes[~mixed], ~mixed), table.counts[~mixed])
    ends = np.cumsum(table.counts[mixed])
    if ends.size and ends[-1] > MOST_DRAWN:
        raise LimitExceededError(
            f"At most {MOST_DRAWN:,} people are drawn one by one from classes with several values. "
            "Hint: publish the classes alone, by evenhand.release.kanonymity.generalized.generalize.",
            limit="people",
        )
    drawn = _drawn_cells(table, layout, mixed, ends, source, how)
    return _count_cells(table, fixed, drawn)


def check_source(source: Source, how: Reconstruction) -> None:
    """Refuse to draw numbers as printed from anything but a seed."""
    if how == "as_printed" and not isinstance(source, SeededSource):
        must_be = (
            "a seeded source where numbers are drawn as printed, because floats are for simulations only"
        )
        hint = "give release() a seed, or take the uniform reconstruction."
        raise InvalidParameterError("source", owner="reconstruct", must_be=must_be, got=source, hint=hint)


def expected_counts(table: GeneralizedTable, how: Reconstruction = "uniform") -> tuple[Floats, Floats]:
    """Return the mean and the variance of every cell of :func:`reconstruct`, given the classes.

    They are computed by going through all cells of every class, which do not overlap.

    Parameters
    ----------
    table : GeneralizedTable
        The classes, of a table that is not sparse.
    how : {"uniform", "as_printed"}
        How a person gets a value of a class.
    """
    one_of("how", how, get_args(Reconstruction), owner="expected_counts")
    layout = _layout(table)
    shape = tuple(column.size for column in table.schema)
    size = math.prod(shape)
    if size > MOST_CELLS:
        message = (
            f"A table of {size:,} cells is too large for one number for each; {MOST_CELLS:,} are possible."
        )
        raise LimitExceededError(message, limit="cells")
    mean, variance = np.zeros(size), np.zeros(size)
    lists = [_list_values(merged, how) for merged in table.merged]
    counts = np.stack([listed.sizes for listed in lists], axis=1)
    lengths = np.array([listed.codes.size for listed in lists])
    firsts = np.cumsum(counts, axis=0) - counts + (np.cumsum(lengths) - lengths)
    columns = len(lists)
    kernels.expect(
        mean,
        variance,
        np.array(table.counts),  # copies that can be written to, so that the compiler sees one type
        np.array(table.classes),
        layout.bases,
        firsts,
        counts,
        np.concatenate([listed.codes for listed in lists]),
        np.concatenate([listed.chances for listed in lists]),
        layout.strides,
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns),
    )
    return mean.reshape(shape), variance.reshape(shape)


# --- where the cells of a class are ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Layout:
    """The numbers that the kernels work with; see ``reconstruct_kernels.py``."""

    bases: Integers
    firsts: Integers
    sizes: Integers
    pool: Integers
    numeric: npt.NDArray[np.bool_]
    strides: Integers


@dataclass(frozen=True, eq=False)
class _Listed:
    """The values of each class in one column, one class after the other, with their probabilities."""

    codes: Integers
    sizes: Integers
    chances: Floats


def _layout(table: GeneralizedTable) -> _Layout:
    schema = table.schema
    steps, stride = {}, 1
    for column in reversed(schema.columns):
        steps[column.name] = stride
        stride *= column.size
    bases = np.zeros(len(table.classes), np.int64)
    if table.others:
        sizes = tuple(schema[name].size for name in table.others)
        for name, codes in zip(table.others, np.unravel_index(table.combinations, sizes), strict=True):
            bases += codes * steps[name]
    firsts = np.zeros((len(table), len(table.merged)), np.int64)
    counts = np.ones_like(firsts)
    pool, used = [np.zeros(0, np.int64)], 0
    for place, merged in enumerate(table.merged):
        if merged.numeric:
            low, high = merged.codes[0::2], merged.codes[1::2]
            firsts[:, place], counts[:, place] = low, high - low + 1
        else:
            counts[:, place] = np.diff(merged.ends, prepend=0)
            firsts[:, place] = merged.ends - counts[:, place] + used
            pool.append(merged.codes)
            used += len(merged.codes)
    numeric = np.array([merged.numeric for merged in table.merged])
    strides = np.array([steps[merged.column.name] for merged in table.merged], np.int64)
    return _Layout(bases, firsts, counts, np.concatenate(pool), numeric, strides)


def _fixed_cells(layout: _Layout, classes: Integers, rows: npt.NDArray[np.bool_]) -> Integers:
    """Return the cells of rows whose class has a single value in every column."""
    cells = layout.bases[rows]
    for place, stride in enumerate(layout.strides):
        codes = layout.firsts[classes, place]
        cells += (codes if layout.numeric[place] else layout.pool[codes]) * stride
    return cells


# --- drawing ---------------------------------------------------------------------------------------


def _drawn_cells(
    table: GeneralizedTable,
    layout: _Layout,
    rows: npt.NDArray[np.bool_],
    ends: Integers,
    source: Source,
    how: Reconstruction,
) -> Iterator[Integers]:
    """Yield the cells of people who are drawn, so many at a time that memory stays a constant."""
    classes, people = table.classes[rows], int(ends[-1]) if ends.size else 0
    firsts, sizes = layout.firsts, layout.sizes
    if how == "as_printed":  # the kernel leaves the numbers at code 0, and their draws are added
        firsts = np.where(layout.numeric, 0, firsts)
        sizes = np.where(layout.numeric, 1, sizes)
    mixed = max(1, int((sizes > 1).sum(axis=1).max(initial=1)))
    for begin in range(0, people, _CHUNK):
        cells = np.empty(min(_CHUNK, people - begin), np.int64)
        rest = (firsts, sizes, layout.pool, layout.numeric, layout.strides)
        parameters = (begin, ends, classes, layout.bases[rows], *rest)
        feed(kernels.draw, cells, parameters, source, units=np.uint32, words=mixed / 2)
        if how == "as_printed" and isinstance(source, SeededSource):
            there = np.searchsorted(ends, begin + np.arange(cells.size), side="right")
            for place in np.flatnonzero(layout.numeric):
                codes = _normal_codes(table.merged[place], classes[there], source)
                cells += codes * layout.strides[place]
        yield cells


def _normal_codes(merged: Merged, classes: Integers, source: SeededSource) -> Integers:
    """Return the code of a rounded normal draw for each person's class."""
    low, high = merged.codes[0::2][classes], merged.codes[1::2][classes]
    start = merged.column.domain.low
    middle, spread = start + (low + high) / 2, (high - low) / 4
    drawn = np.rint(source.generator().normal(middle, spread))
    least, most = _ends_of(merged)
    return np.clip(drawn, least, most).astype(np.int64) - start


def _ends_of(merged: Merged) -> tuple[int, int]:
    """Return the least and the greatest value that a rounded draw may have."""
    domain = merged.column.domain
    return min(max(0, domain.low), domain.high), domain.high


def _count_cells(table: GeneralizedTable, fixed: Cells, drawn: Iterator[Integers]) -> Histogram:
    """Return the counts of cells that come with their people, and of cells that come once for each person."""
    size = math.prod(column.size for column in table.schema)
    if size <= MOST_CELLS:
        counts = np.zeros(size, np.int64)
        np.add.at(counts, *fixed)
        for cells in drawn:
            np.add.at(counts, cells, 1)
        return Histogram.of(counts, table.schema)
    parts = [fixed, *(np.unique(cells, return_counts=True) for cells in drawn)]
    numbers, people = map(np.concatenate, zip(*parts, strict=True))
    return Histogram.of_stored(sum_by_cell(numbers, people), table.schema)


# --- probabilities ---------------------------------------------------------------------------------


def _list_values(merged: Merged, how: Reconstruction) -> _Listed:
    if not merged.numeric:
        sizes = np.diff(merged.ends, prepend=0)
        return _Listed(merged.codes.copy(), sizes, np.repeat(1 / sizes, sizes))
    low, high = merged.codes[0::2], merged.codes[1::2]
    if how == "uniform":
        sizes = high - low + 1
        return _Listed(_ranges(low, sizes), sizes, np.repeat(1 / sizes, sizes))
    return _normal_list(merged, low, high)


def _normal_list(merged: Merged, low: Integers, high: Integers) -> _Listed:
    """List the values that a rounded normal draw can have, what is cut off added to the ends."""
    from scipy.special import ndtr  # noqa: PLC0415 - slow to import

    start, (least, most) = merged.column.domain.low, _ends_of(merged)
    middle, spread = start + (low + high) / 2, (high - low) / 4
    first = np.clip(np.floor(middle - _REACH * spread), least, most).astype(np.int64)
    final = np.clip(np.ceil(middle + _REACH * spread), least, most).astype(np.int64)
    sizes = final - first + 1
    values, centre = _ranges(first, sizes), np.repeat(middle, sizes)
    width = np.repeat(np.maximum(spread, np.finfo(np.float64).tiny), sizes)
    at_first = values == np.repeat(first, sizes)
    at_final = values == np.repeat(final, sizes)
    above = np.where(at_final, 1.0, ndtr(np.clip((values + 0.5 - centre) / width, -40, 40)))
    below = np.where(at_first, 0.0, ndtr(np.clip((values - 0.5 - centre) / width, -40, 40)))
    return _Listed(values - start, sizes, above - below)


def _ranges(starts: Integers, sizes: Integers) -> Integers:
    """Return the numbers from each start on, as many as its size says, one after the other."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) - np.repeat(ends - sizes, sizes) + np.repeat(starts, sizes)
