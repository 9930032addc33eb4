"""Integer kernels of packed bits; imported only when reports are made or counted.

**Drawing.** `bernoulli_words` fills 64-bit words whose bits are independent and 1 with a probability of 53
binary digits. Each bit is a *lane*: a uniform number, digit by digit, is compared with the probability until
a digit differs. The first digits of 64 lanes are compared at once, one random word for each digit; a lane
that is still open then (one in 256) compares all its further digits with one more random word. So every lane
has exactly its probability and no lane shares a random bit with another. Random words are read as
``privacy/feeding.py`` describes, in groups of `GROUP` words of lanes: first the words of the first digits,
then one for each open lane in order. A group whose words do not suffice is begun again by the next call.

**Rows.** `fill_rows` cuts a stream of such bits into reports of k bits without gaps, so that few values do
not waste random words, and then sets the bit of the true value.

**Counting.** `add_columns` adds rows of bytes into one counter for each bit: three rows into fields of two
bits, five of those into four bits, seventeen of those into eight bits, always eight bytes at a time. No
field overflows: 3 < 2**2, 15 < 2**4, 255 < 2**8.

As in ``privacy/_kernels.py``, ``_nrt=False`` switches off reference counting, and nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Word = np.uint64
    Words = npt.NDArray[np.uint64]
    Bytes = npt.NDArray[np.uint8]

__all__ = ["GROUP", "ROWS", "add_columns", "bernoulli_words", "fill_rows"]

GROUP = 32
ROWS = 255

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ZERO, _ONE, _TWO, _FOUR = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4)
_19, _63, _255 = np.uint64(19), np.uint64(63), np.uint64(255)
_ALL = np.uint64((1 << 64) - 1)
_PAIRS = np.uint64(0x5555555555555555)
_NIBBLES = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)


@_inlined
def _place(word: Word, digit: Word, below: Word, equal: Word) -> tuple[Word, Word]:
    """Compare one digit of 64 lanes; `digit` is all ones or nought."""
    return below | (equal & digit & ~word), equal & ~(word ^ digit)


@_compiled
def _compare(units: Words, digits: Words, yes: Words, open_: Words) -> None:
    """Compare the first eight digits of every lane of one group. The compiler makes vectors of it."""
    a, b, c, d = digits[0], digits[1], digits[2], digits[3]
    e, f, g, h = digits[4], digits[5], digits[6], digits[7]
    for lane in range(GROUP):
        below, equal = _place(units[lane], a, _ZERO, _ALL)
        below, equal = _place(units[GROUP + lane], b, below, equal)
        below, equal = _place(units[2 * GROUP + lane], c, below, equal)
        below, equal = _place(units[3 * GROUP + lane], d, below, equal)
        below, equal = _place(units[4 * GROUP + lane], e, below, equal)
        below, equal = _place(units[5 * GROUP + lane], f, below, equal)
        below, equal = _place(units[6 * GROUP + lane], g, below, equal)
        below, equal = _place(units[7 * GROUP + lane], h, below, equal)
        yes[lane], open_[lane] = below, equal


@_compiled
def _list_open(open_: Words, listed: npt.NDArray[np.int64]) -> int:
    """List the words with an open lane, without a branch, and return how many there are."""
    count = 0
    for lane in range(GROUP):
        listed[count] = lane
        count += int(open_[lane] != _ZERO)
    return count


@_compiled
def bernoulli_words(
    units: Words,
    out: Words,
    done: int,
    digits: Words,
    tail: np.uint64,
    open_: Words,
    listed: npt.NDArray[np.int64],
) -> tuple[int, int]:
    """Fill `out`, whose size is a multiple of `GROUP`, with words of independent bits.

    `digits` are the first eight digits of the probability, each all ones or nought; `tail` are the other 45.
    `open_` and `listed` are room for one group.
    """
    position = 0
    for start in range(done, out.size, GROUP):
        after = position + 8 * GROUP
        if after > units.size:
            return start, position
        yes = out[start : start + GROUP]
        _compare(units[position:after], digits, yes, open_)
        count = _list_open(open_, listed) if tail > _ZERO else 0  # nothing is below a tail of nought
        for i in range(count):
            lane = listed[i]
            left = open_[lane]
            while left != _ZERO:
                if after >= units.size:
                    return start, position
                rest = left & (left - _ONE)
                yes[lane] |= (left ^ rest) * np.uint64(units[after] >> _19 < tail)
                after += 1
                left = rest
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
def fill_rows(stream: Words, truths: Words, codes: npt.NDArray[np.uint32], k: int, out: Bytes) -> None:
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
def _fill_bytes(stream: Words, truths: Words, codes: npt.NDArray[np.uint32], k: int, out: Bytes) -> None:
    """Do the same for rows of one byte."""
    inside = np.uint64((1 << k) - 1)
    for i in range(codes.size):
        bit = _ONE << np.uint64(codes[i])
        others = _window(stream, i * k) & inside & ~bit
        out[i, 0] = np.uint8(others | (_bit(truths, i) * bit))


@_compiled
def add_columns(blocks: Words, fields: Words, counters: Words, totals: npt.NDArray[np.int64]) -> None:
    """Add the bits of every column of `blocks`, (blocks, `ROWS`, words), to `totals`, (8 words, 8).

    `fields`, (4, words), and `counters`, (8, words), are room to work in.
    """
    bytes_ = counters.view(np.uint8)
    for b in range(blocks.shape[0]):
        counters[:] = _ZERO
        for row in range(0, ROWS, 15):
            _add_fifteen(blocks[b, row : row + 15], fields)
            for field in range(4):
                for w in range(fields.shape[1]):
                    counters[field, w] += fields[field, w] & _BYTES
                    counters[field + 4, w] += (fields[field, w] >> _FOUR) & _BYTES
        for bit in range(8):
            for byte in range(bytes_.shape[1]):
                totals[bit, byte] += bytes_[bit, byte]


@_compiled
def _add_fifteen(rows: Words, fields: Words) -> None:
    """Add fifteen rows into fields of four bits; those of ``fields[b]`` are for bits b and b + 4."""
    fields[:] = _ZERO
    for r in range(0, 15, 3):
        for w in range(rows.shape[1]):
            one, two, three = rows[r, w], rows[r + 1, w], rows[r + 2, w]
            even = (one & _PAIRS) + (two & _PAIRS) + (three & _PAIRS)
            odd = ((one >> _ONE) & _PAIRS) + ((two >> _ONE) & _PAIRS) + ((three >> _ONE) & _PAIRS)
            fields[0, w] += even & _NIBBLES
            fields[1, w] += odd & _NIBBLES
            fields[2, w] += (even >> _TWO) & _NIBBLES
            fields[3, w] += (odd >> _TWO) & _NIBBLES
