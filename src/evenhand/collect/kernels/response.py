"""Integer kernels of randomized response; imported only when reports are made or counted.

`respond` reads `units` of 32 random bits as ``privacy/feeding.py`` describes, in *groups*: first one unit for
each code of the group, then further units for the few codes that one unit does not settle, in their order.
A group whose units do not suffice is left alone for the next call,
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

**Several groups at once.** `_answer` makes every report of up to `SPAN` codes as if its unit settled it, and
says two largest numbers of 32 bits: of the remainders of u M, without their low half, and of the reports.
A unit below the edge that may belong to no cell makes a report beyond the domain. Only where one of the two
leaves a doubt are the groups answered one by one, and a group in doubt is looked at unit by unit.

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

__all__ = ["GROUP", "SPAN", "add_counts", "mark", "respond"]

GROUP = 256  # codes; the order of the units depends on it
SPAN = 4 * GROUP  # codes answered together where no unit is open: fewer, longer loops take a tenth less time
_PART = 1 << 14  # values counted together: they stay in the nearest cache
_FEWEST = 16  # values that are quicker compared one by one than looked up

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

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


@_inlined
def _answer(
    first: Units,
    codes: npt.NDArray[Any],
    settled: Units,
    edge: np.uint32,
    factor: np.uint64,
    spare: np.uint32,
) -> tuple[np.uint32, np.uint32]:
    """Fill `settled` with the reports of the codes as if one unit settled every one.

    Returns the largest of the low parts and the largest report, both of 32 bits.
    There is no branch in here and nothing but 32 bits in the second loop: the compiler makes vectors of it.
    """
    low = np.uint32((_ONE << np.uint64(spare)) - _ONE)
    largest, farthest = np.uint32(0), np.uint32(0)
    for i in range(codes.size):
        settled[i] = np.uint32((np.uint64(first[i]) * factor) >> _32)
    for i in range(codes.size):
        code, high = np.uint32(codes[i]), settled[i]
        other = np.right_shift(high, spare)  # the operator would make 64 bits of it
        answer = np.uint32(other + np.uint32(other >= code))
        report = code if first[i] > edge else answer
        settled[i] = report
        largest = max(largest, np.uint32(high & low))
        farthest = max(farthest, report)
    return largest, farthest


@_compiled
def respond(
    units: Units,
    out: npt.NDArray[Any],
    done: int,
    codes: npt.NDArray[Any],
    law: npt.NDArray[np.uint64],
    settled: Units,
) -> tuple[int, int]:
    """Write the reports of `codes`, which may be `out` itself; `settled` is room for `SPAN` of them.

    `law` holds flip, cell, others, reciprocal (M), shift (32 + s) and limit; a limit of zero sends every
    code that may be flipped to the slow way.
    """
    flip, cell, others, reciprocal, shift, limit = law[0], law[1], law[2], law[3], law[4], law[5]
    edge, low = min(flip >> _21, _LOW_32), (_ONE << shift) - _ONE
    factor = np.uint64(np.uint32(reciprocal))  # tells the compiler that 32 bits suffice
    position, start = 0, done
    apart = done  # up to here the groups are answered one by one
    while start < out.size:
        together = SPAN if start >= apart else GROUP
        group = codes[start : start + together]
        after = position + group.size
        if after > units.size:
            if together == GROUP:
                return start, position
            apart = out.size
            continue
        first = units[position:after]
        largest, farthest = _answer(first, group, settled, np.uint32(edge), factor, np.uint32(shift - _32))
        if np.uint64(largest) >= limit >> _32 or np.uint64(farthest) > others:  # some may be open
            if together == SPAN:
                apart = start + SPAN
                continue
            for i in range(group.size):
                unit, code = np.uint64(first[i]), np.uint64(group[i])
                product = unit * factor
                if unit <= edge and ((product & low) >= limit or product >> shift >= others):
                    settled[i], after = _settle(units, after, unit, code, flip, cell, others)
            if after > units.size:
                return start, position
        reports = out[start : start + group.size]
        for i in range(group.size):
            reports[i] = settled[i]
        position = after
        start += group.size
    return out.size, position


@_inlined
def _sweep(values: npt.NDArray[Any], tables: npt.NDArray[np.int64]) -> bool:
    """Compare the values with each of the few there may be; 16 bits hold a count of one part."""
    kind, counted = type(values[0]), np.int64(0)
    for begin in range(0, values.size, _PART):
        part = values[begin : begin + _PART]
        for value in range(tables.shape[1]):
            total = np.uint16(0)
            for i in range(part.size):
                total = np.uint16(total + np.uint16(part[i] == kind(value)))
            tables[0, value] += np.int64(total)
            counted += np.int64(total)
    return bool(counted == values.size)


@_compiled
def add_counts(values: npt.NDArray[Any], tables: npt.NDArray[np.int64]) -> bool:
    """Add to the tables, one or four, how often each value occurs; False if one has no place in them.

    The values have no sign. Four tables take turns: in a single one, equal neighbours wait for one another.
    """
    if tables.shape[1] <= _FEWEST:
        return values.size == 0 or _sweep(values, tables)
    size, four = np.uint64(tables.shape[1]), np.uint64(0 if tables.shape[0] == 1 else 4)
    for begin in range(0, values.size, _PART):
        part = values[begin : begin + _PART]
        largest = part[0]
        for i in range(part.size):
            largest = max(largest, part[i])
        if np.uint64(largest) >= size:
            return False
        whole = np.uint64(part.size) // np.uint64(4) * four
        for i in range(_ZERO, whole, np.uint64(4)):
            tables[0, np.uint64(part[i])] += 1
            tables[1, np.uint64(part[i + _ONE])] += 1
            tables[2, np.uint64(part[i + np.uint64(2)])] += 1
            tables[3, np.uint64(part[i + np.uint64(3)])] += 1
        for i in range(whole, np.uint64(part.size)):
            tables[0, np.uint64(part[i])] += 1
    return True


@_compiled
def mark(values: npt.NDArray[Any], out: npt.NDArray[np.uint8]) -> bool:
    """Set the place of each value in its row of `out`; False if one has no place."""
    size = np.uint64(out.shape[1])
    right = True
    for i in range(values.size):
        value = np.uint64(values[i])
        if value < size:
            out[i, np.int64(value)] = 1
        else:
            right = False
    return right
