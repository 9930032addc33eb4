"""Integer kernels of randomized response; imported only when reports are made or counted.

`respond` changes codes where they stand. It reads `units` of 32 random bits as ``privacy/feeding.py``
describes, in *groups*: first one unit for each code of the group, then further units for the few codes that
one unit does not settle, in their order. A group whose units do not suffice is left alone for the next call,
so the reports do not depend on how the units were cut into buffers.

**The law.** A unit is the high part of a uniform U below 2**53. With `others` = k - 1 false values,
`flip` = 2**53 (1 - keep) and `cell` = floor(flip / others), the code is kept where U >= flip, and becomes
false value number floor(U / cell) where U < `cell` * `others`. The few U between mean a false value that is
drawn afresh, exactly uniform. Both bounds are compared as integers, so the law is exact.

**One unit settles nearly all.** Let u be the unit and M = floor(2**(53 + s) / cell), with the largest s that
leaves M below 2**32. All U that begin with u lie within one cell if the low 32 + s bits of u M stay below
2**(32 + s) - M - 2**32 (`limit`), because u 2**21 / cell is at least u M / 2**(32 + s) and
(u + 1) 2**21 / cell is below (u + 1) (M + 1) / 2**(32 + s). The cell is then u M >> (32 + s). Where the test
fails, or u may belong to no cell, 21 further bits give U itself.

All products stay below 2**64: u, M, cell count and k are below 2**32. As in ``privacy/_kernels.py``,
``_nrt=False`` switches off reference counting, and nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Units = npt.NDArray[np.uint32]

__all__ = ["GROUP", "add_counts", "mark", "respond"]

GROUP = 256

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_11, _21, _32 = np.uint64(11), np.uint64(21), np.uint64(32)
_LOW_32 = np.uint64((1 << 32) - 1)


@_compiled
def _settle(
    units: Units,
    position: int,
    unit: np.uint64,
    code: np.uint64,
    flip: np.uint64,
    cell: np.uint64,
    others: np.uint64,
) -> tuple[np.uint64, int]:
    """Return the report of a code whose first unit leaves it open, and the position after its units."""
    if position >= units.size:
        return code, units.size + 1
    whole = (unit << _21) | (np.uint64(units[position]) >> _11)
    position += 1
    if whole >= flip:
        return code, position
    if whole < cell * others:
        other = whole // cell
    else:
        threshold = (_LOW_32 - others + _ONE) % others  # 2**32 mod others
        while True:
            if position >= units.size:
                return code, units.size + 1
            product = np.uint64(units[position]) * others
            position += 1
            if (product & _LOW_32) >= threshold:
                break
        other = product >> _32
    return (other + _ONE if other >= code else other), position


@_compiled
def respond(
    units: Units,
    out: npt.NDArray[Any],
    done: int,
    flip: np.uint64,
    cell: np.uint64,
    others: np.uint64,
    reciprocal: np.uint64,
    shift: np.uint64,
    limit: np.uint64,
    settled: npt.NDArray[np.uint32],
) -> tuple[int, int]:
    """Replace codes by reports; `settled` is room for one group.

    `shift` is 32 + s and `reciprocal` is M; a `limit` of nought sends every code that may be flipped to
    the slow way.
    """
    edge, low = flip >> _21, (_ONE << shift) - _ONE
    factor = np.uint64(np.uint32(reciprocal))  # tells the compiler that 32 bits suffice
    position = 0
    start = done
    while start < out.size:
        group = out[start : start + GROUP]
        if position + group.size > units.size:
            return start, position
        first = units[position : position + group.size]
        doubt = _ZERO
        for i in range(group.size):  # no branch in here: the compiler makes vectors of it
            unit, code = np.uint64(first[i]), np.uint64(group[i])
            product = unit * factor
            other = product >> shift
            told = other + np.uint64(other >= code)
            settled[i] = np.uint32(code if unit > edge else told)
            near = np.uint64((product & low) >= limit) | np.uint64(other >= others)
            doubt |= near & np.uint64(unit <= edge)
        after = position + group.size
        if doubt != _ZERO:
            for i in range(group.size):
                unit, code = np.uint64(first[i]), np.uint64(group[i])
                product = unit * factor
                if unit <= edge and ((product & low) >= limit or product >> shift >= others):
                    settled[i], after = _settle(units, after, unit, code, flip, cell, others)
            if after > units.size:
                return start, position
        for i in range(group.size):
            group[i] = settled[i]
        position = after
        start += group.size
    return out.size, position


@_compiled
def add_counts(values: npt.NDArray[Any], tables: npt.NDArray[np.int64]) -> int:
    """Count values into tables that take turns; return how many values have no place in a table.

    There are 1, 2 or 4 tables: in a single one, equal neighbours wait for one another.
    """
    turns, size = tables.shape[0] - 1, np.uint64(tables.shape[1])
    outside = 0
    for i in range(values.size):
        value = np.uint64(values[i])
        if value < size:
            tables[i & turns, np.int64(value)] += 1
        else:
            outside += 1
    return outside


@_compiled
def mark(values: npt.NDArray[Any], out: npt.NDArray[np.uint8]) -> int:
    """Set the place of each value in its row of `out`; return how many values have no place."""
    size = np.uint64(out.shape[1])
    outside = 0
    for i in range(values.size):
        value = np.uint64(values[i])
        if value < size:
            out[i, np.int64(value)] = 1
        else:
            outside += 1
    return outside
