"""Integer kernels that choose pairs of records to swap; imported only when a table is swapped.

Records that are alike are one *tuple* with a number of people who are not swapped yet. A kernel fills rows of
`out` with two tuples each and takes one person off either. It reads `units` of 64 random bits as
``privacy/feeding.py`` describes: a pair is chosen when all the units it needs are there, and only then are
people taken off, so the pairs do not depend on how the units were cut into buffers.

**Uniform numbers.** `_below` masks a unit to as many bits as the bound has and draws again while the number
is too large: exactly uniform, two units at most on average.

**Ranks.** A Fenwick tree over the people of each tuple finds the tuple of the r-th person in a logarithmic
number of steps, and is updated as quickly.

**The nearest.** The tuples are the leaves of a tree whose levels are the columns, children in order of their
codes; each node knows how many people it still has. A search goes down the branch that matches, then
outwards on both sides, and leaves a node as soon as the nearest of the branches left is farther than the best
found. On either side of a code the cost of a step never falls, so nothing nearer is missed, and everything as
near as the best is found: the ties. It looks as far as the search before it had to, and farther if need be.
Where a node has few tuples they are compared one by one.

**No wrap.** The caller sees to it that there are fewer than 2**31 people and that the largest distance is
below 2**62. All numbers are int64 but the units and what is drawn from them. Nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Units = npt.NDArray[np.uint64]
    Numbers = npt.NDArray[np.int64]

__all__ = ["FEW", "apart", "nearest"]

FEW = 8
"""A node of so few tuples is looked through without going down."""

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

_FAR = np.int64((1 << 63) - 1)


@_inlined
def _below(units: Units, position: int, bound: np.int64) -> tuple[np.int64, int]:
    """Return a uniform number below `bound`, and the position after it: past the end if units run out."""
    mask = np.uint64(bound - 1)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    while position < units.size:
        drawn = np.int64(units[position] & mask)
        position += 1
        if drawn < bound:
            return drawn, position
    return np.int64(0), units.size + 1


# --- people by rank -------------------------------------------------------------------------------


@_inlined
def _find(ranks: Numbers, rank: int, top: int) -> int:
    """Return the tuple of the person of this rank; `top` is the largest power of two up to the tuples."""
    place = 0
    step = top
    while step > 0:
        after = place + step
        if after < ranks.size and ranks[after] <= rank:
            rank -= ranks[after]
            place = after
        step >>= 1
    return place


@_inlined
def _find_apart(ranks: Numbers, squares: Numbers, people: int, rank: int, top: int) -> int:
    """Return the tuple of a rank among persons weighted by how many people are not like them."""
    place = 0
    step = top
    while step > 0:
        after = place + step
        if after < ranks.size:
            weight = people * ranks[after] - squares[after]
            if weight <= rank:
                rank -= weight
                place = after
        step >>= 1
    return place


@_inlined
def _add(ranks: Numbers, tuple_: int, amount: int) -> None:
    place = tuple_ + 1
    while place < ranks.size:
        ranks[place] += amount
        place += place & -place


@_inlined
def _ahead(ranks: Numbers, tuple_: int) -> np.int64:
    """Return how many people stand in the tuples before this one."""
    total = np.int64(0)
    place = tuple_
    while place > 0:
        total += ranks[place]
        place -= place & -place
    return total


# --- distances ------------------------------------------------------------------------------------


@_inlined
def _cost(one: np.int64, two: np.int64, step: np.int64, other: np.int64, whole: np.int64) -> np.int64:
    """Return how far two codes of a column are apart; `step` is 0 if its values have no order."""
    if one == two:
        return np.int64(0)
    if step == 0 or other in (one, two):
        return whole
    return abs(one - two) * step


@_inlined
def _open(first: Numbers, code: Numbers, node: int, wanted: np.int64, level: Numbers) -> None:
    """Put the cursors of a level beside the first child whose code is not below the one wanted."""
    low, high = first[node], first[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if code[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    level[2], level[3] = low - 1, low


@_inlined
def _scan(
    places: tuple[int, int, int, int],
    so_far: np.int64,
    best: np.int64,
    found: tuple[int, np.int64],
    codes: Numbers,
    people: Numbers,
    costs: Numbers,
    ties: Numbers,
) -> tuple[np.int64, tuple[int, np.int64]]:
    """Compare with the tuples from `low` to `high`, which agree in the columns before `depth` or are costed.

    `places` are own, low, high and depth; `found` is how many ties there are and how many people they have.
    """
    own, low, high, depth = places
    many, total = found
    for place in range(low, high):
        if people[place] == 0 or place == own:
            continue
        distance = so_far
        for column in range(depth, codes.shape[1]):
            distance += _cost(
                codes[place, column], codes[own, column], costs[column, 0], costs[column, 1], costs[column, 2]
            )
            if distance > best:
                break
        if distance > best:
            continue
        if distance < best:
            best, many, total = distance, 0, np.int64(0)
        ties[many] = place
        many += 1
        total += people[place]
    return best, (many, total)


@_compiled
def _search(
    own: int,
    limit: np.int64,
    first: Numbers,
    tree: Numbers,
    codes: Numbers,
    costs: Numbers,
    levels: Numbers,
    ties: Numbers,
) -> tuple[np.int64, np.int64]:
    """Fill `ties` with the tuples nearest to the tuple `own`; return how many people they have, and how far.

    There are none if nobody is within `limit`. `costs` has the step, the code of "other" and the cost of a
    mismatch of each column; `levels` is room for the node above, the distance so far and the cursors on both
    sides.
    """
    code, live = tree[0], tree[2]
    people = live[live.size - codes.shape[0] :]
    best, found = limit, (0, np.int64(0))
    levels[0, 0], levels[0, 1] = 0, 0
    _open(first, code, 0, codes[own, 0], levels[0])
    depth = 0
    while depth >= 0:
        node, so_far, left, right = levels[depth]
        step, other, whole = costs[depth]
        before = after = _FAR
        if left >= first[node]:
            before = _cost(code[left], codes[own, depth], step, other, whole)
        if right < first[node + 1]:
            after = _cost(code[right], codes[own, depth], step, other, whole)
        nearer = min(before, after)
        if nearer == _FAR or so_far + nearer > best:
            depth -= 1
            continue
        if after <= before:
            child = right
            levels[depth, 3] += 1
        else:
            child = left
            levels[depth, 2] -= 1
        if live[child] == 0:
            continue
        distance, low, many = so_far + nearer, tree[3, child], tree[4, child]
        if many <= FEW:
            places = (own, low, low + many, depth + 1)
            best, found = _scan(places, distance, best, found, codes, people, costs, ties)
            continue
        depth += 1
        levels[depth, 0], levels[depth, 1] = child, distance
        _open(first, code, child, codes[own, depth], levels[depth])
    return found[1], best


@_inlined
def _take(leaf: int, leaves: int, tree: Numbers, ranks: Numbers) -> None:
    """Take one person off a leaf and off everything above it."""
    _add(ranks, leaf - leaves, -1)
    node = leaf
    while node > 0:
        tree[2, node] -= 1
        node = tree[1, node]
    tree[2, 0] -= 1


@_compiled
def nearest(
    units: Units,
    out: Numbers,
    done: int,
    first: Numbers,
    tree: Numbers,
    codes: Numbers,
    ranks: Numbers,
    costs: Numbers,
    levels: Numbers,
    ties: Numbers,
) -> tuple[int, int]:
    """Fill rows of `out` with a random person's tuple and that of a random one of those nearest to them.

    `tree` has the code, the parent, the people left, the first tuple and the number of tuples of each node;
    `first` the first child of each node that has any, and the number of nodes. Tuples are the last nodes.
    """
    leaves = tree.shape[1] - codes.shape[0]
    people = tree[2, leaves:]
    top = 1
    while 2 * top < ranks.size:
        top *= 2
    limit = costs[0, 2]
    position = 0
    for index in range(done, out.shape[0]):
        rank, after = _below(units, position, tree[2, 0])
        if after > units.size:
            return index, position
        one = two = _find(ranks, rank, top)
        if people[one] == 1:  # nobody else is alike
            nearby, best = _search(one, limit, first, tree, codes, costs, levels, ties)
            while nearby == 0:  # nobody is left who is nearer
                limit += costs[0, 2]
                nearby, best = _search(one, limit, first, tree, codes, costs, levels, ties)
            limit = max(best, costs[0, 2])
            rank, after = _below(units, after, nearby)
            if after > units.size:
                return index, position
            place = 0
            while rank >= people[ties[place]]:
                rank -= people[ties[place]]
                place += 1
            two = ties[place]
        out[index, 0], out[index, 1] = one, two
        _take(leaves + one, leaves, tree, ranks)
        _take(leaves + two, leaves, tree, ranks)
        position = after
    return out.shape[0], position


@_compiled
def apart(
    units: Units,
    out: Numbers,
    done: int,
    codes: Numbers,
    live: Numbers,
    ranks: Numbers,
    squares: Numbers,
    costs: Numbers,
    totals: Numbers,
) -> tuple[int, int]:
    """Fill rows of `out` with pairs of tuples, each pair of people as likely as the two are apart.

    A pair of people who are not alike is drawn uniformly and kept with probability distance / `totals[2]`.
    `totals` has the people left, the sum of the squares of the tuples' people, and a bound of the distances.
    Rows of -1 say that all the people left are alike.
    """
    top = 1
    while 2 * top < ranks.size:
        top *= 2
    position = 0
    index = done
    while index < out.shape[0]:
        people, pairs = totals[0], totals[0] * totals[0] - totals[1]
        if pairs == 0:
            out[index:, :] = -1
            return out.shape[0], position
        rank, after = _below(units, position, pairs)
        if after > units.size:
            return index, position
        one = _find_apart(ranks, squares, people, rank, top)
        rank, after = _below(units, after, people - live[one])
        if after > units.size:
            return index, position
        two = _find(ranks, rank if rank < _ahead(ranks, one) else rank + live[one], top)
        drawn, after = _below(units, after, totals[2])
        if after > units.size:
            return index, position
        position = after  # a pair that is not kept has used its units
        distance = np.int64(0)
        for column in range(codes.shape[1]):
            distance += _cost(
                codes[one, column], codes[two, column], costs[column, 0], costs[column, 1], costs[column, 2]
            )
        if drawn >= distance:
            continue
        for each in (one, two):
            _add(squares, each, 1 - 2 * live[each])
            _add(ranks, each, -1)
            totals[1] += 1 - 2 * live[each]
            live[each] -= 1
        totals[0] -= 2
        out[index, 0], out[index, 1] = one, two
        index += 1
    return out.shape[0], position
