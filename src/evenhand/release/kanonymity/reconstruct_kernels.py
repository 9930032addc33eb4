"""Kernels that turn classes back into cells; imported only when a generalised table is taken apart.

`draw` reads `units` of 32 random bits as ``privacy/feeding.py`` describes. There are no floats in it, so
every value of a class is drawn with exactly the same probability.

**Uniform integers.** Up to 2**32 values, the high half of a unit times the number of values is taken, and
the few units that would make some values likelier are drawn again (Lemire's method). For more, 64 bits are
cut to as many as are needed and drawn again until they are small enough. A class with one value draws
nothing.

All products stay below 2**64, and cell numbers below 2**63, the size of the table.
As in ``privacy/_kernels.py``, ``_nrt=False`` switches off reference counting, and nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Units = npt.NDArray[np.uint32]
    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

__all__ = ["draw", "expect"]

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ONE, _32 = np.uint64(1), np.uint64(32)
_TWO_32, _LOW_32 = np.uint64(1 << 32), np.uint64((1 << 32) - 1)


@_compiled
def _below(units: Units, position: int, bound: np.uint64) -> tuple[np.uint64, int]:
    """Return a uniform integer below `bound`, and the position after its units: past the end if too few."""
    if bound <= _TWO_32:
        threshold = (_TWO_32 - bound) % bound
        while position < units.size:
            product = np.uint64(units[position]) * bound
            position += 1
            if (product & _LOW_32) >= threshold:
                return product >> _32, position
        return bound, units.size + 1
    mask = bound - _ONE
    shift = _ONE
    while shift <= _32:
        mask |= mask >> shift
        shift <<= _ONE
    while position + 1 < units.size:
        value = ((np.uint64(units[position + 1]) << _32) | np.uint64(units[position])) & mask
        position += 2
        if value < bound:
            return value, position
    return bound, units.size + 1


@_compiled
def draw(  # noqa: PLR0913, PLR0917 - a kernel takes arrays, not objects
    units: Units,
    out: Integers,
    done: int,
    begin: int,
    ends: Integers,
    classes: Integers,
    bases: Integers,
    firsts: Integers,
    sizes: Integers,
    pool: Integers,
    numeric: npt.NDArray[np.bool_],
    strides: Integers,
) -> tuple[int, int]:
    """Fill `out` with the cells of people, one uniform value for each column and person.

    Parameters
    ----------
    units, out, done
        As for every kernel that is fed. The first entry of `out` is person number `begin`.
    ends, classes, bases : array of int64
        Of each row of the generalised table, the number of people up to its end, its class, and the number
        of the cell that has its other columns and code 0 in each quasi-identifier.
    firsts, sizes : array of int64, of shape (classes, columns)
        How many values a class has in a column, and where they begin: in the pool, or as a number.
    pool : array of int64
        The codes of the sets.
    numeric : array of bool
        Of each column, whether classes have intervals in it.
    strides : array of int64
        How many cells lie between two codes of a column.
    """
    low, high = 0, ends.size - 1  # the row of the first person
    while low < high:
        middle = (low + high) // 2
        if ends[middle] > begin + done:
            high = middle
        else:
            low = middle + 1
    row, position = low, 0
    for index in range(done, out.size):
        while ends[row] <= begin + index:
            row += 1
        one, after, cell = classes[row], position, bases[row]
        for column in range(strides.size):
            code = firsts[one, column]
            if sizes[one, column] > 1:
                value, after = _below(units, after, np.uint64(sizes[one, column]))
                if after > units.size:
                    return index, position
                code += np.int64(value)
            cell += (code if numeric[column] else pool[code]) * strides[column]
        out[index] = cell
        position = after
    return out.size, position


@_compiled
def expect(  # noqa: PLR0913, PLR0917 - a kernel takes arrays, not objects
    mean: Floats,
    variance: Floats,
    counts: Integers,
    classes: Integers,
    bases: Integers,
    firsts: Integers,
    sizes: Integers,
    pool: Integers,
    chances: Floats,
    strides: Integers,
    places: Integers,
    cells: Integers,
    masses: Floats,
) -> None:
    """Add the mean and the variance of every cell when people are drawn one by one.

    Rows are drawn apart from each other, so variances add; within a row a cell's count is binomial.

    Parameters
    ----------
    mean, variance : array of float
        One entry for each cell, added to.
    counts, classes, bases : array of int64
        Of each row of the generalised table, its people, its class and the cell of its other columns.
    firsts, sizes, pool, strides : array of int64
        As in :func:`draw`; intervals are listed in the pool too.
    chances : array of float
        The probability of each value in the pool.
    places, cells, masses
        Room for one number per column.
    """
    last = strides.size - 1
    for row in range(counts.size):
        one, people, level = classes[row], np.float64(counts[row]), 0
        places[0], cells[0], masses[0] = 0, bases[row], 1.0
        while level >= 0:
            if places[level] == sizes[one, level]:
                level -= 1
                continue
            place = firsts[one, level] + places[level]
            places[level] += 1
            cell = cells[level] + pool[place] * strides[level]
            mass = masses[level] * chances[place]
            if level == last:
                mean[cell] += people * mass
                variance[cell] += people * mass * (1.0 - mass)
            else:
                level += 1
                places[level], cells[level], masses[level] = 0, cell, mass
