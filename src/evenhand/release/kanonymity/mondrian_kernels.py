"""Integer kernel of Mondrian; imported only when classes are made.

`partition` cuts tuples into classes in place: `rows`, `weights` and `order` are moved together, so that every
class is a stretch of them. Work is the number of tuples times the columns for each level of the tree, and
memory is a few numbers for each tuple, all of it given by the caller: nothing here allocates.

**The weighted median without sorting.** The values of a stretch are counted into buckets, first coarse, then
finer within the one bucket that holds the median. There are about as many buckets as tuples, at most 4096, so
that a small stretch does not pay for a large domain.

**No wrap.** The caller gives weights whose sum is below 2**62, and sums are compared after at most one
doubling. Shares of widths are compared as products of 128 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Ranks = npt.NDArray[np.int32]
    Integers = npt.NDArray[np.int64]

__all__ = ["BUCKETS", "partition"]

BUCKETS = 1 << 12
_FEWEST_BITS, _MOST_BITS = 4, 12

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_32, _LOW_32 = np.uint64(32), np.uint64((1 << 32) - 1)


@_compiled
def _measure(
    rows: Ranks,
    start: int,
    end: int,
    values: Integers,
    offsets: Integers,
    numeric: npt.NDArray[np.bool_],
    stamps: Integers,
    stamp: int,
    ranges: Ranks,
    widths: Integers,
) -> None:
    """Write the least and greatest rank of every column, and how wide the stretch is there.

    The width of a column of numbers is the difference of its ends, of the others the number of different
    values less one. A value is counted once for each
    stretch: where it carries another `stamp`, it is new.
    """
    for column in range(rows.shape[1]):
        low, high, different = rows[start, column], rows[start, column], 0
        offset = offsets[column]
        if numeric[column]:
            for row in range(start, end):
                rank = rows[row, column]
                low, high = min(low, rank), max(high, rank)
            widths[column] = values[offset + high] - values[offset + low]
        else:
            for row in range(start, end):
                rank = rows[row, column]
                if stamps[offset + rank] != stamp:
                    stamps[offset + rank] = stamp
                    different += 1
                    low, high = min(low, rank), max(high, rank)
            widths[column] = different - 1
        ranges[0, column], ranges[1, column] = low, high


@_compiled
def _is_wider(width: int, scale: int, other: int, other_scale: int) -> bool:
    """Return whether the first width is a larger share of its scale than the other, in whole numbers.

    Both products have up to 126 bits: they are compared by their high and low 64 bits.
    """
    left_high, left_low = _multiply(np.uint64(width), np.uint64(other_scale))
    right_high, right_low = _multiply(np.uint64(other), np.uint64(scale))
    return bool(left_high > right_high or (left_high == right_high and left_low > right_low))


@_compiled
def _multiply(left: np.uint64, right: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the 128-bit product as its high and low 64 bits."""
    left_low, left_high = left & _LOW_32, left >> _32
    right_low, right_high = right & _LOW_32, right >> _32
    low = left_low * right_low
    cross, other = left_low * right_high, left_high * right_low
    middle = (low >> _32) + (cross & _LOW_32) + (other & _LOW_32)  # < 3 * 2**32
    high = left_high * right_high + (cross >> _32) + (other >> _32) + (middle >> _32)
    return high, ((middle & _LOW_32) << _32) | (low & _LOW_32)


@_compiled
def _middle_cut(
    rows: Ranks,
    weights: Integers,
    start: int,
    end: int,
    column: int,
    ranges: Ranks,
    total: int,
    buckets: Integers,
) -> tuple[int, int]:
    """Return the cut nearest to the middle, as the last rank on the left, and the weight on the left.

    The median is the first rank with half of the weight at or below it. The cut is behind it or before it,
    whichever leaves more on the smaller side; behind it if that is the same.
    """
    bits = _FEWEST_BITS
    while bits < _MOST_BITS and (1 << bits) < end - start:
        bits += 1
    base, span, below = np.int64(ranges[0, column]), np.int64(ranges[1, column]) - ranges[0, column] + 1, 0
    while True:
        shift = 0
        while ((span - 1) >> shift) >= (1 << bits):
            shift += 1
        for bucket in range(((span - 1) >> shift) + 1):
            buckets[bucket] = 0
        for row in range(start, end):
            place = rows[row, column] - base
            if 0 <= place < span:
                buckets[place >> shift] += weights[row]
        bucket = 0
        while 2 * (below + buckets[bucket]) < total:
            below += buckets[bucket]
            bucket += 1
        if shift == 0:
            break
        base += bucket << shift
        span = min(span - (bucket << shift), 1 << shift)
    behind = below + buckets[bucket]
    if total - behind >= below:
        return int(base + bucket), int(behind)
    return int(base + bucket - 1), int(below)


@_compiled
def _divide(
    rows: Ranks, weights: Integers, order: Integers, start: int, end: int, column: int, cut: int
) -> int:
    """Move the tuples at or below the cut to the front of the stretch; return where the others begin."""
    left, right = start, end - 1
    while True:
        while left <= right and rows[left, column] <= cut:
            left += 1
        while left <= right and rows[right, column] > cut:
            right -= 1
        if left > right:
            return left
        for each in range(rows.shape[1]):
            rows[left, each], rows[right, each] = rows[right, each], rows[left, each]
        weights[left], weights[right] = weights[right], weights[left]
        order[left], order[right] = order[right], order[left]


@_compiled
def partition(  # noqa: PLR0913, PLR0917 - a kernel takes arrays, not objects
    rows: Ranks,
    weights: Integers,
    order: Integers,
    k: int,
    values: Integers,
    offsets: Integers,
    numeric: npt.NDArray[np.bool_],
    scales: Integers,
    stamps: Integers,
    buckets: Integers,
    ranges: Ranks,
    widths: Integers,
    stack: Integers,
    ends: Integers,
) -> int:
    """Cut the tuples into classes of weight `k` at least; write their ends, return how many there are.

    Parameters
    ----------
    rows : array of int32, of shape (tuples, columns)
        The rank of each value among those of its column; at least one row.
    weights, order : array of int64
        Of every tuple, the people who have it, in all `k` at least; and its number.
    k : int
        The least weight of a class.
    values, offsets : array of int64
        The value of every rank, one column after the other, and where each column begins.
    numeric : array of bool
        Of every column, whether it holds numbers.
    scales : array of int64
        Of every column, its width in the whole table; above 0.
    stamps, buckets, ranges, widths, stack
        Room to work in: -1 for every value, ``BUCKETS``, (2, columns), columns and (tuples, 3) numbers.
    ends : array of int64
        Room for the end of every class, as many as there are tuples.
    """
    weight = 0
    for row in range(rows.shape[0]):
        weight += weights[row]
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, rows.shape[0], weight
    waiting, classes, stamp = 1, 0, 0
    while waiting:
        waiting -= 1
        start, end, weight = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        middle, left = end, weight
        if weight >= 2 * k and end - start > 1:
            _measure(rows, start, end, values, offsets, numeric, stamps, stamp, ranges, widths)
            stamp += 1
            while middle == end:
                column = 0
                for each in range(1, rows.shape[1]):
                    if _is_wider(widths[each], scales[each], widths[column], scales[column]):
                        column = each
                if widths[column] <= 0:
                    break
                cut, left = _middle_cut(rows, weights, start, end, column, ranges, weight, buckets)
                if left >= k and weight - left >= k:
                    middle = _divide(rows, weights, order, start, end, column, cut)
                widths[column] = 0
        if middle == end:
            ends[classes] = end
            classes += 1
        else:  # the left part is taken next, so that classes come in the order of the tree
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = middle, end, weight - left
            stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = start, middle, left
            waiting += 2
    return classes
