"""Integer kernels of local hashing; imported only when reports are made or counted.

A report is a row of bytes, low byte first: multiplier, offset, bucket. The bytes are read and written one
by one, which the compiler turns into whole words; so there is one kernel for every layout, and a report is
the same on every machine. Words have the type of the array that brings them (``seeds``, ``scratch``,
``ranges``), 32 or 64 bits wide: sums and products of that type wrap at its width, and are meant to.

**Support as one comparison.** Bucket y holds the high parts from start(y) to start(y + 1) - 1, so a report
(a, b, y) supports v if and only if ``(a v + b - (start(y) << s)) mod 2**w < (start(y + 1) - start(y)) << s``
with s = w - l bits below the high part. No range is as long as 2**w, because there are two buckets or more.

Indices are unsigned where speed counts: numba adds a test for negative ones otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Words = npt.NDArray[Any]

__all__ = ["add_noise", "count", "indicate", "seed"]

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ONE, _TWO, _FF = np.uint64(1), np.uint64(2), np.uint64(255)
_8, _16, _24, _32, _40, _48, _56 = (np.uint64(8 * count) for count in range(1, 8))
_LOW_45, _45 = np.uint64((1 << 45) - 1), np.uint64(45)
_ALL = np.uint64((1 << 64) - 1)
_FURTHER = np.uint64(6)  # further bytes of a number whose first byte does not settle it


@_inlined
def _bytes_of(word: np.unsignedinteger[Any]) -> int:
    """Return how many bytes the word has, 4 or 8; unlike an array's item size the compiler knows it."""
    return 8 if np.uint64(type(word)(_ALL)) == _ALL else 4


@_inlined
def _write(rows: Bytes, index: int, place: int, size: int, word: np.uint64) -> None:
    """Write the low 1, 2, 4 or 8 bytes of a word; no loop, so that the compiler sees one store."""
    rows[index, place] = np.uint8(word & _FF)
    if size > 1:
        rows[index, place + 1] = np.uint8((word >> _8) & _FF)
    if size > 2:
        rows[index, place + 2] = np.uint8((word >> _16) & _FF)
        rows[index, place + 3] = np.uint8((word >> _24) & _FF)
    if size > 4:
        rows[index, place + 4] = np.uint8((word >> _32) & _FF)
        rows[index, place + 5] = np.uint8((word >> _40) & _FF)
        rows[index, place + 6] = np.uint8((word >> _48) & _FF)
        rows[index, place + 7] = np.uint8(word >> _56)


@_inlined
def _half(rows: Bytes, index: int, place: int) -> np.uint64:
    low = np.uint64(rows[index, place]) | (np.uint64(rows[index, place + 1]) << _8)
    return low | (np.uint64(rows[index, place + 2]) << _16) | (np.uint64(rows[index, place + 3]) << _24)


@_inlined
def _read(rows: Bytes, index: int, place: int, size: int) -> np.uint64:
    """Read what `_write` wrote."""
    if size == 1:
        return np.uint64(rows[index, place])
    if size == 2:
        return np.uint64(rows[index, place]) | (np.uint64(rows[index, place + 1]) << _8)
    word: np.uint64 = _half(rows, index, place)
    if size == 8:
        word |= _half(rows, index, place + 4) << _32
    return word


@_compiled
def seed(seeds: Words, codes: npt.NDArray[Any], rows: Bytes, top: np.uint64, g: np.uint64) -> None:
    """Write multiplier and offset, two words of `seeds` for each report, and the true bucket."""
    word = type(seeds[0])
    size = _bytes_of(seeds[0])
    shift = np.uint64(8 * size) - top
    for index in range(np.uint64(codes.size)):
        multiplier, offset = seeds[_TWO * index], seeds[_TWO * index + _ONE]
        high = np.uint64(word(multiplier * word(codes[index]) + offset)) >> shift
        if size == 4:  # one store for both
            _write(rows, index, 0, 8, np.uint64(multiplier) | (np.uint64(offset) << _32))
        else:
            _write(rows, index, 0, 8, np.uint64(multiplier))
            _write(rows, index, 8, 8, np.uint64(offset))
        _write(rows, index, 2 * size, rows.shape[1] - 2 * size, (high * g) >> top)


@_compiled
def _settle(units: Bytes, position: np.uint64, flip: np.uint64, g: np.uint64) -> np.uint64:
    rest = np.uint64(0)
    for index in range(_FURTHER):
        rest |= np.uint64(units[position + _ONE + index]) << (_8 * index)
    number = (np.uint64(units[position]) << _45) | (rest & _LOW_45)
    step = number // flip + _ONE
    return step if step < g else np.uint64(0)


@_compiled
def add_noise(
    units: Bytes,
    buckets: npt.NDArray[Any],
    done: int,
    steps: npt.NDArray[np.uint64],
    flip: np.uint64,
    g: np.uint64,
) -> tuple[int | np.int64, int | np.int64]:
    """Move each bucket by a random step modulo `g`.

    The step comes from a uniform number of 53 bits: step j > 0 if it is from (j - 1) `flip` to j `flip` - 1,
    else 0. `steps` says the step where the first eight bits settle it, and `g` where they do not; then six
    more bytes are read, low end first, and their low 45 bits make the number whole.
    """
    position, end = np.uint64(0), np.uint64(units.size)
    index, last = np.uint64(done), np.uint64(buckets.size)
    while index < last and position < end:
        sure = (end - position) // (_ONE + _FURTHER)  # reports that cannot run out of units
        if sure == 0:
            if steps[units[position]] == g:
                break
            sure = _ONE
        stop = min(last, index + sure)
        for place in range(index, stop):
            step = steps[units[position]]
            position += _ONE
            if step == g:
                step = _settle(units, position - _ONE, flip, g)
                position += _FURTHER
            moved = np.uint64(buckets[place]) + step
            buckets[place] = moved - g if moved >= g else moved
        index = stop
    return np.int64(index), np.int64(position)


@_inlined
def _start(bucket: np.uint64, share: np.uint64, rest: np.uint64, g: np.uint64) -> np.uint64:
    """Return the least high part of a bucket, as `HashFamily.starts` does."""
    return bucket * share + (bucket * rest + (g - _ONE)) // g


@_inlined
def _range_of(bucket: np.uint64, ranges: Words, top: np.uint64, g: np.uint64) -> tuple[Any, Any]:
    """Return where the words of a bucket start and how many there are, from the table if there is one.

    Any bucket may be asked for; what is said of one that is not below `g` means nothing.
    """
    word = type(ranges[0, 0])
    if ranges.shape[1] > 1:
        place = min(bucket, g)
        return ranges[0, place], ranges[1, place]
    shift = np.uint64(8 * _bytes_of(ranges[0, 0])) - top
    share, rest = (_ONE << top) // g, (_ONE << top) % g
    least = _start(bucket, share, rest, g)
    return word(least << shift), word((_start(bucket + _ONE, share, rest, g) - least) << shift)


@_inlined
def _unpack(
    rows: Bytes, ranges: Words, scratch: Words, top: np.uint64, g: np.uint64, extra: int
) -> np.uint64:
    """Fill `scratch` with multipliers, offsets less the start, and lengths; return the largest bucket.

    A bucket has `extra` bytes. One that does not exist does not end the loop, which would be slower.
    """
    word = type(scratch[0, 0])
    size = _bytes_of(scratch[0, 0])
    largest = np.uint64(0)
    for index in range(np.uint64(rows.shape[0])):
        bucket = _read(rows, index, 2 * size, extra)
        largest = max(largest, bucket)
        least, many = _range_of(bucket, ranges, top, g)
        scratch[0, index] = _read(rows, index, 0, size)
        scratch[1, index] = word(word(_read(rows, index, size, size)) - least)
        scratch[2, index] = many
    return largest


@_inlined
def _count_block(multipliers: Words, offsets: Words, lengths: Words, counts: npt.NDArray[np.int64]) -> None:
    """Add the supports of one block of reports to `counts`, four values at a time."""
    word = type(multipliers[0])
    whole = counts.size - counts.size % 4
    for value in range(0, whole, 4):
        zeroth, first, second, third = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for index in range(multipliers.size):
            multiplier, length = multipliers[index], lengths[index]
            mixed = word(multiplier * word(value) + offsets[index])
            zeroth = np.int32(zeroth + np.int32(mixed < length))
            mixed = word(mixed + multiplier)
            first = np.int32(first + np.int32(mixed < length))
            mixed = word(mixed + multiplier)
            second = np.int32(second + np.int32(mixed < length))
            mixed = word(mixed + multiplier)
            third = np.int32(third + np.int32(mixed < length))
        counts[value] += zeroth
        counts[value + 1] += first
        counts[value + 2] += second
        counts[value + 3] += third
    for value in range(whole, counts.size):
        total = np.int32(0)
        for index in range(multipliers.size):
            mixed = word(multipliers[index] * word(value) + offsets[index])
            total = np.int32(total + np.int32(mixed < lengths[index]))
        counts[value] += total


@_compiled
def count(
    rows: Bytes, counts: npt.NDArray[np.int64], ranges: Words, scratch: Words, top: np.uint64, g: np.uint64
) -> bool:
    """Add to `counts` how many reports support each value; False if a bucket is not below `g`.

    `scratch` has three rows of the family's type; a block of reports is as many as a row is long, and stays
    in the nearest cache while every value is tested against it.
    """
    block, extra = scratch.shape[1], rows.shape[1] - 2 * _bytes_of(scratch[0, 0])
    for begin in range(0, rows.shape[0], block):
        part = rows[begin : begin + block]
        length = part.shape[0]
        if extra == 1:  # the same, but a number that the compiler knows makes the loop quicker
            largest = _unpack(part, ranges, scratch, top, g, 1)
        else:
            largest = _unpack(part, ranges, scratch, top, g, extra)
        if largest >= g:
            return False
        _count_block(scratch[0, :length], scratch[1, :length], scratch[2, :length], counts)
    return True


@_compiled
def indicate(rows: Bytes, out: Bytes, ranges: Words, top: np.uint64, g: np.uint64) -> bool:
    """Fill `out` with 1 where a report (row) supports a value (column); False as for `count`."""
    word = type(ranges[0, 0])
    size = _bytes_of(ranges[0, 0])
    for index in range(rows.shape[0]):
        bucket = _read(rows, index, 2 * size, rows.shape[1] - 2 * size)
        if bucket >= g:
            return False
        least, length = _range_of(bucket, ranges, top, g)
        multiplier = word(_read(rows, index, 0, size))
        offset = word(word(_read(rows, index, size, size)) - least)
        for value in range(out.shape[1]):
            out[index, value] = word(multiplier * word(value) + offset) < length
    return True
