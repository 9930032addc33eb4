"""Integer kernel of reports by a matrix of probabilities; imported only when reports are made.

`choose` reads `units` of 32 random bits as ``privacy/feeding.py`` describes, in groups as the kernel of
randomized response does: first one unit for each code of the group, then one further unit for each of the few
codes that one does not settle, in their order. A group whose units do not suffice is left alone for the next
call, so the reports do not depend on how the units were cut into buffers.

**The law.** A unit is the high part of a uniform U below 2**53. Row a of `edges` holds the sums of the first,
the first two, ... entries of row a of the matrix, in units of 2**-53, so the last is 2**53. The report is the
number of edges that are not above U. Everything is compared as integers, so the law is exact.

**One unit settles nearly all.** `highs` holds the edges without their low 21 bits. Where the unit is none of
them, U is on the same side of every edge as the unit is of its high part, whatever the 21 bits are that
follow. Where it is one of them (a chance of at most (k - 1) / 2**32), 21 further bits give U itself.

Few values are compared with all edges, without a branch. For more, `guide` says for each row and each value
of a unit's high 8 bits how many edges lie below all such units, and the search goes on from there.

As in ``privacy/_kernels.py``, ``_nrt=False`` switches off reference counting, and nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Units = npt.NDArray[np.uint32]

__all__ = ["FEWEST", "GROUP", "GUIDES", "choose"]

GROUP = 256
GUIDES = 256
FEWEST = 3
"""Up to so many values the guide is not used."""

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

_11, _21, _24 = np.uint64(11), np.uint64(21), np.uint64(24)


@_inlined
def _compare(first: Units, codes: npt.NDArray[Any], settled: Units, highs: Units) -> bool:
    """Fill `settled` with how many edges lie below each unit; return whether a unit is on one of them."""
    few = highs.shape[1] - 1
    on_edge = False
    for i in range(codes.size):
        unit, code = first[i], np.intp(codes[i])
        below = np.uint32(0)
        for place in range(few):
            high = highs[code, place]
            below = np.uint32(below + np.uint32(unit > high))
            on_edge |= unit == high
        settled[i] = below
    return on_edge


@_inlined
def _search(
    first: Units, codes: npt.NDArray[Any], settled: Units, highs: Units, guide: npt.NDArray[np.uint32]
) -> bool:
    """Do the same for many values, from where the guide says."""
    on_edge = False
    for i in range(codes.size):
        unit, code = first[i], np.intp(codes[i])
        below = np.intp(guide[code, np.intp(np.uint64(unit) >> _24)])
        while unit > highs[code, below]:  # the last one is above every unit
            below += 1
        on_edge |= unit == highs[code, below]
        settled[i] = np.uint32(below)
    return on_edge


@_compiled
def choose(
    units: Units,
    out: npt.NDArray[Any],
    done: int,
    codes: npt.NDArray[Any],
    edges: npt.NDArray[np.uint64],
    highs: Units,
    guide: npt.NDArray[np.uint32],
    settled: Units,
) -> tuple[int, int]:
    """Write the reports of `codes`, which may be `out` itself; `settled` is room for one group.

    The last of `highs` in a row is 2**32 - 1, which no unit is above of; a unit that equals it is settled by
    the edge itself.
    """
    position, start = 0, done
    while start < out.size:
        group = codes[start : start + GROUP]
        if position + group.size > units.size:
            return start, position
        first = units[position : position + group.size]
        after = position + group.size
        if highs.shape[1] <= FEWEST:
            on_edge = _compare(first, group, settled, highs)
        else:
            on_edge = _search(first, group, settled, highs, guide)
        if on_edge:
            for i in range(group.size):
                code, below = np.intp(group[i]), np.intp(settled[i])
                if first[i] == highs[code, below] and below < edges.shape[1] - 1:
                    if after >= units.size:
                        return start, position
                    whole = (np.uint64(first[i]) << _21) | (np.uint64(units[after]) >> _11)
                    after += 1
                    while whole >= edges[code, below]:
                        below += 1
                    settled[i] = np.uint32(below)
        reports = out[start : start + GROUP]
        for i in range(group.size):
            reports[i] = settled[i]
        position = after
        start += group.size
    return out.size, position
