"""Integer kernels of packed bits; imported only when reports are made or counted.

**Drawing.** `bernoulli_words` fills 64-bit words whose bits are independent and 1 with a probability of 53
binary digits. Each bit is a *lane*: a uniform number, digit by digit, is compared with the probability until
a digit differs. The first digits of 64 lanes are compared at once, one random word for each digit; a lane
that is still open then (one in 256) compares all its further digits with one more random word. So every lane
has exactly its probability and no lane shares a random bit with another. Random words are read as
``privacy/feeding.py`` describes, in groups of `GROUP` words of lanes: first the words of the first digits,
then one for each open lane in order. A group whose words do not suffice is begun again by the next call.

**Rows.** `fill_rows` cuts a stream of such bits into reports of k bits without gaps, so that few values do
not waste random words, and then sets the bit of the true value. `padded_rows` draws rows of whole bytes where
they lie, which is quicker; there bit i of the report in row r is bit ``8 * width * r + i`` of the words, from
the low end.

**Counting.** `add_columns` adds rows of bytes into one counter for each bit, eight bytes at a time. Sixteen
rows are added to a counter of four bits, whose digits are bits of four words (planes), and what is carried
out of it, at most one, to a counter of eight bits. That is passed on after 255 times.

As in ``privacy/_kernels.py``, ``_nrt=False`` switches off reference counting, and nothing here allocates.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Word = np.uint64
    Words = npt.NDArray[np.uint64]
    Bytes = npt.NDArray[np.uint8]

__all__ = ["GROUP", "ROWS", "add_columns", "bernoulli_words", "fill_rows", "padded_rows"]

GROUP = 32
ROWS = 16

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_3, _7 = np.uint64(3), np.uint64(7)
_19, _27, _31 = np.uint64(19), np.uint64(27), np.uint64(31)
_63, _255 = np.uint64(63), np.uint64(255)
_ALL = np.uint64((1 << 64) - 1)
_LOWEST = np.uint64(0x0101010101010101)
_TURN = np.uint64(0 if sys.byteorder == "little" else 7)  # to find a byte of a word by how low it is
# A sequence of de Bruijn: the five bits at its top, after it is shifted by a place below 32, tell the place.
_SEQUENCE = np.uint64(0x077CB531)
_PLACES = np.argsort([(0x077CB531 << place >> 27) & 31 for place in range(32)])


@_inlined
def _place(word: Word, digit: Word, below: Word, equal: Word) -> tuple[Word, Word]:
    """Put one more digit of 64 lanes before those compared already; `digit` is all ones or zero.

    A lane is below by this digit where `digit` and ``~word`` are one, not below where both are zero, and
    what it was where they differ: the majority of the three.
    """
    return (below & (digit | ~word)) | (digit & ~word), equal & ~(word ^ digit)


@_inlined
def _compare(units: Words, digits: Words, yes: Words, open_: Words) -> None:
    """Compare the first eight digits of every lane of one group. The compiler makes vectors of it."""
    a, b, c, d = digits[0], digits[1], digits[2], digits[3]
    e, f, g, h = digits[4], digits[5], digits[6], digits[7]
    for lane in range(GROUP):
        below, equal = _place(units[7 * GROUP + lane], h, _ZERO, _ALL)
        below, equal = _place(units[6 * GROUP + lane], g, below, equal)
        below, equal = _place(units[5 * GROUP + lane], f, below, equal)
        below, equal = _place(units[4 * GROUP + lane], e, below, equal)
        below, equal = _place(units[3 * GROUP + lane], d, below, equal)
        below, equal = _place(units[2 * GROUP + lane], c, below, equal)
        below, equal = _place(units[GROUP + lane], b, below, equal)
        below, equal = _place(units[lane], a, below, equal)
        yes[lane], open_[lane] = below, equal


@_inlined
def _draw_group(units: Words, start: int, digits: Words, tail: np.uint64, yes: Words, open_: Words) -> int:
    """Fill `yes` with one group from unit `start` on; return the first unit left, or -1 if they are too few.

    Most words have no open lane. Which have is first put into the bits of one number, without a branch that
    could be foreseen wrongly.
    """
    after = start + 8 * GROUP
    if after > units.size:
        return -1
    _compare(units[start:after], digits, yes, open_)
    if tail == _ZERO:  # nothing is below it
        return after
    some = _ZERO
    for lane in range(GROUP):
        some |= np.uint64(open_[lane] != _ZERO) << np.uint64(lane)
    while some != _ZERO:
        others = some & (some - _ONE)
        lane = _PLACES[((some ^ others) * _SEQUENCE >> _27) & _31]
        some = others
        left = open_[lane]
        while left != _ZERO:
            if after == units.size:
                return -1
            rest = left & (left - _ONE)
            yes[lane] |= (left ^ rest) * np.uint64(units[after] >> _19 < tail)
            after += 1
            left = rest
    return after


@_compiled
def bernoulli_words(
    units: Words, out: Words, done: int, digits: Words, tail: np.uint64, open_: Words
) -> tuple[int, int]:
    """Fill `out`, whose size is a multiple of `GROUP`, with words of independent bits.

    `digits` are the first eight digits of the probability, each all ones or zero; `tail` are the other 45.
    `open_` is room for one group.
    """
    position = 0
    for start in range(done, out.size, GROUP):
        after = _draw_group(units, position, digits, tail, out[start : start + GROUP], open_)
        if after < 0:
            return start, position
        position = after
    return out.size, position


@_inlined
def _window(stream: Words, bit: int) -> np.uint64:
    """Return 64 bits of the stream, from `bit` on."""
    word, down = bit >> 6, np.uint64(bit & 63)
    return np.uint64((stream[word] >> down) | ((stream[word + 1] << _ONE) << (_63 - down)))


@_inlined
def _byte(word: np.uint64, place: int) -> np.uint8:
    return np.uint8((word >> np.uint64(8 * place)) & _255)


@_inlined
def _bit(words: Words, index: int) -> np.uint64:
    return np.uint64((words[index >> 6] >> np.uint64(index & 63)) & _ONE)


@_compiled
def fill_rows(stream: Words, truths: Words, codes: npt.NDArray[Any], k: int, out: Bytes) -> None:
    """Cut `stream` into rows of `k` bits and set bit ``codes[i]`` of row i to bit i of `truths`.

    `stream` has a word to spare at its end.
    """
    if k <= 8:
        _fill_bytes(stream, truths, codes, k, out)
        return
    width = out.shape[1]
    eights = width >> 3
    last = np.uint8(255 >> (8 * width - k))
    for i in range(codes.size):
        row = out[i]
        for eight in range(eights):  # the compiler makes one write of the eight
            word = _window(stream, i * k + 64 * eight)
            j = 8 * eight
            row[j], row[j + 1] = _byte(word, 0), _byte(word, 1)
            row[j + 2], row[j + 3] = _byte(word, 2), _byte(word, 3)
            row[j + 4], row[j + 5] = _byte(word, 4), _byte(word, 5)
            row[j + 6], row[j + 7] = _byte(word, 6), _byte(word, 7)
        if width & 7:
            word = _window(stream, i * k + 64 * eights)
            for j in range(8 * eights, width):
                row[j] = _byte(word, j - 8 * eights)
        row[width - 1] &= last
        place, bit = np.int64(codes[i]) >> 3, np.uint8(1 << (np.int64(codes[i]) & 7))
        row[place] = (row[place] & ~bit) | (np.uint8(_bit(truths, i)) * bit)


@_compiled
def _fill_bytes(stream: Words, truths: Words, codes: npt.NDArray[Any], k: int, out: Bytes) -> None:
    """Do the same for rows of one byte."""
    inside = np.uint64((1 << k) - 1)
    for i in range(codes.size):
        bit = _ONE << np.uint64(codes[i])
        others = _window(stream, i * k) & inside & ~bit
        out[i, 0] = np.uint8(others | (_bit(truths, i) * bit))


@_compiled
def padded_rows(
    units: Words,
    out: Words,
    done: int,
    digits: Words,
    tail: np.uint64,
    open_: Words,
    truths: Words,
    codes: npt.NDArray[Any],
    k: int,
) -> tuple[int, int]:
    """Fill `out` as `bernoulli_words` does, and settle the rows of whole bytes that are complete."""
    reached, used = bernoulli_words(units, out, done, digits, tail, open_)
    bits = (k + 7) // 8 * 8
    _settle(out.view(np.uint8), truths, codes, k, 64 * done // bits, min(codes.size, 64 * reached // bits))
    return reached, used


@_compiled
def _settle(bytes_: Bytes, truths: Words, codes: npt.NDArray[Any], k: int, first: int, last: int) -> None:
    """Clear the bits past the last value and set the bit of the true value, from row `first` to `last`.

    Bytes are written, not words: two rows share a word, and each would wait for the one before it.
    """
    width = np.uint64((k + 7) // 8)
    kept = np.uint8(255 >> ((k + 7) // 8 * 8 - k))
    row = np.uint64(first) * width
    for i in range(first, last):
        bytes_[(row + width - _ONE) ^ _TURN] &= kept
        code = np.uint64(codes[i])
        place, bit = (row + (code >> _3)) ^ _TURN, np.uint8(_ONE << (code & _7))
        bytes_[place] = (bytes_[place] & ~bit) | (np.uint8(_bit(truths, i)) * bit)
        row += width


@_inlined
def _full_add(a: Word, b: Word, c: Word) -> tuple[Word, Word]:
    """Add three bits of 64 lanes: the sum and what is carried."""
    return a ^ b ^ c, (a & b) | (c & (a | b))


@_compiled
def add_columns(rows: Words, planes: Words, counters: Words, totals: npt.NDArray[np.int64]) -> None:
    """Add the bits of every column of `rows`, (a multiple of `ROWS`, words), to `totals`, (bits, 8 words).

    `planes`, (5, words), and `counters`, (bits, words), are room to work in. Only the lowest `bits` bits of
    each byte are counted.
    """
    planes[:] = _ZERO
    counters[:] = _ZERO
    added = 0
    for row in range(0, rows.shape[0], ROWS):
        _add_sixteen(rows[row : row + ROWS], planes)
        for bit in range(counters.shape[0]):
            for w in range(rows.shape[1]):
                counters[bit, w] += (planes[4, w] >> np.uint64(bit)) & _LOWEST
        added += 1
        if added == 255:
            _pass_on(counters, ROWS, totals)
            added = 0
    _pass_on(counters, ROWS, totals)
    for bit in range(counters.shape[0]):
        for w in range(rows.shape[1]):
            for plane in range(4):
                counters[bit, w] |= ((planes[plane, w] >> np.uint64(bit)) & _LOWEST) << np.uint64(plane)
    _pass_on(counters, 1, totals)


@_compiled
def _pass_on(counters: Words, times: int, totals: npt.NDArray[np.int64]) -> None:
    bytes_ = counters.view(np.uint8)
    for bit in range(bytes_.shape[0]):
        for byte in range(bytes_.shape[1]):
            totals[bit, byte] += times * np.int64(bytes_[bit, byte])
    counters[:] = _ZERO


@_compiled
def _add_sixteen(rows: Words, planes: Words) -> None:
    """Add sixteen rows to counters of four bits, one in each of the first planes; the last has the carry."""
    for w in range(rows.shape[1]):
        one, two, four, eight = planes[0, w], planes[1, w], planes[2, w], planes[3, w]
        one, a = _full_add(one, rows[0, w], rows[1, w])
        one, b = _full_add(one, rows[2, w], rows[3, w])
        two, c = _full_add(two, a, b)
        one, a = _full_add(one, rows[4, w], rows[5, w])
        one, b = _full_add(one, rows[6, w], rows[7, w])
        two, d = _full_add(two, a, b)
        four, e = _full_add(four, c, d)
        one, a = _full_add(one, rows[8, w], rows[9, w])
        one, b = _full_add(one, rows[10, w], rows[11, w])
        two, c = _full_add(two, a, b)
        one, a = _full_add(one, rows[12, w], rows[13, w])
        one, b = _full_add(one, rows[14, w], rows[15, w])
        two, d = _full_add(two, a, b)
        four, f = _full_add(four, c, d)
        eight, carried = _full_add(eight, e, f)
        planes[0, w], planes[1, w], planes[2, w], planes[3, w] = one, two, four, eight
        planes[4, w] = carried
