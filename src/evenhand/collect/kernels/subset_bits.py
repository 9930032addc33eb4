"""Integer kernel of subset selection with large sets; imported only when reports are made.

**Drawing.** A report is drawn as a *map*, one bit for each of the k - 1 other values. `choose` sets every bit
with the same probability, of a few binary digits and near the share of the values that are wanted: one random
word for each digit makes 64 bits at once. Then the number is mended: while bits are missing a place is drawn
and its bit set, which changes nothing where it was set before. Where too many are set, the same is done with
the map turned over. No place is treated unlike another, so every set of the wanted size is equally likely.

**Places.** They have as many bits as it takes to tell the other values apart, and a word gives as many of
them as fit. Bits past the last of the other values, *pads*, are set while the map is mended, so that a place
there changes nothing either: a place among the others is uniform.

**The true value.** The bit at its place stands for the last value, k - 1, before it is exchanged for whether
the true value is named, which a word of its own decides. So the map needs no shifting.

**Writing.** The values are written in ascending order, which is a function of the set and tells no more than
the set does. For each byte of the map eight numbers are written, of which as many are right as bits are set;
the others are overwritten by what comes next. That is done in a room with space for eight numbers more, since
a row has somebody else's memory behind it.

**Running out.** A report that the words do not suffice for is begun again by the next call; nothing is kept
from one report to the next but the pads, which never change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Word = np.uint64
    Words = npt.NDArray[np.uint64]
    Values = npt.NDArray[np.uint16]

__all__ = ["choose"]

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ZERO, _ONE, _2, _4 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4)
_6, _8, _11, _16, _24 = np.uint64(6), np.uint64(8), np.uint64(11), np.uint64(16), np.uint64(24)
_32, _40, _48, _56 = np.uint64(32), np.uint64(40), np.uint64(48), np.uint64(56)
_63, _64, _255 = np.uint64(63), np.uint64(64), np.uint64(255)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)

# For each byte the places of its set bits, lowest first, then zeros: eight numbers a byte.
_SET = [[place for place in range(8) if byte >> place & 1] for byte in range(256)]
_SPELLED = np.array([places + [0] * (8 - len(places)) for places in _SET], dtype=np.uint16).ravel()


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba sets it from the environment

    def _write_eight(flat: Values, at: Any, spelled: Values, byte: Any, first: Any) -> None:
        """Write the eight numbers of a byte, each plus `first`, from `at` on."""
        flat[at : at + _8] = spelled[_8 * byte : _8 * byte + _8] + np.uint16(first)

else:
    from llvmlite import ir  # type: ignore[import-untyped]  # numba's compiler has no types
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic
    def _write_eight(
        _: Any, flat: Any, at: Any, spelled: Any, byte: Any, first: Any
    ) -> tuple[Any, Any] | None:
        """Write the eight numbers of a byte, each plus `first`, from `at` on: as one vector.

        The compiler would not make one of eight assignments by itself.
        """

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            eight, places = ir.VectorType(ir.IntType(16), 8), ir.VectorType(ir.IntType(32), 8)
            target, source = (
                context.make_array(signature.args[i])(context, builder, values[i]).data for i in (0, 2)
            )
            start = builder.mul(values[3], ir.Constant(ir.IntType(64), 8))
            read = builder.bitcast(builder.gep(source, [start]), eight.as_pointer())
            written = builder.bitcast(builder.gep(target, [values[1]]), eight.as_pointer())
            lowest, nothing = ir.Constant(ir.IntType(32), 0), ir.Constant(eight, ir.Undefined)
            added = builder.insert_element(nothing, builder.trunc(values[4], ir.IntType(16)), lowest)
            added = builder.shuffle_vector(added, nothing, ir.Constant(places, [0] * 8))
            builder.store(builder.add(builder.load(read, align=2), added), written, align=2)
            return context.get_dummy_value()

        fits = flat.dtype == spelled.dtype == types.uint16 and {at, byte, first} == {types.uint64}
        return (types.void(flat, at, spelled, byte, first), generate) if fits else None  # which is refused


@_inlined
def _running_ones(word: Word) -> Word:
    """Return a word whose byte i says how many bits are set in the bytes 0 to i of `word`."""
    word -= (word >> _ONE) & _PAIRS
    word = (word & _FOURS) + ((word >> _2) & _FOURS)
    word = (word + (word >> _4)) & _EIGHTS
    word += word << _8
    word += word << _16
    return word + (word << _32)


@_inlined
def _place(word: Word, before: Word, digit: Word) -> Word:
    """Put one more digit of 64 lanes before those looked at already; `digit` is all ones or zero."""
    return (before & word) | (digit & (before | word))


@_compiled
def _compare(drawn: Words, given: Words, digit: Word) -> None:
    for index in range(drawn.size):
        drawn[index] = _place(given[index], drawn[index], digit)


@_compiled
def _compare_last(drawn: Words, given: Words, digit: Word, pads: Words) -> Word:
    """Compare once more and set the pads; return how many other bits are set."""
    ones = _ZERO
    for index in range(drawn.size):
        word = _place(given[index], drawn[index], digit)
        ones += _running_ones(word & ~pads[index]) >> _56
        drawn[index] = word | pads[index]
    return ones


@_inlined
def _spread(units: Words, digits: Words, drawn: Words, pads: Words) -> Word:
    """Set every bit with the probability whose binary digits are `digits`, the last one first; and the pads.

    A bit is a lane: a uniform number, whose digits are the opposites of the bits that are given, is compared
    with the probability, and the bit is set if the number is below. That is decided by the first digit that
    differs, which is the last one to be looked at here. Returns how many other bits than pads are set.
    """
    words, last = drawn.size, digits.size - 1
    drawn[:] = _ZERO
    for digit in range(last):
        _compare(drawn, units[digit * words : (digit + 1) * words], digits[digit])
    return np.uint64(_compare_last(drawn, units[last * words :], digits[last], pads))


@_compiled
def _turn_over(drawn: Words, pads: Words) -> None:
    for index in range(drawn.size):
        drawn[index] = ~drawn[index] | pads[index]


@_compiled
def _fill(units: Words, position: int, field: Words, missing: Word, wide: Word) -> int:
    """Set bits at random places of `wide` bits until `missing` more are set; return the first unit left.

    If the units are too few it is past their end.
    """
    inside, fit = (_ONE << wide) - _ONE, _64 // wide
    while missing > _ZERO:
        if position == units.size:
            return position + 1
        unit = units[position]
        position += 1
        for _ in range(fit):
            place = unit & inside
            unit >>= wide
            word = field[place >> _6]
            field[place >> _6] = word | (_ONE << (place & _63))
            missing -= (~word >> (place & _63)) & _ONE
            if missing == _ZERO:
                break
    return position


@_inlined
def _mend(
    units: Words, position: int, field: Words, pads: Words, ones: Word, wanted: Word, wide: Word
) -> int:
    """Make `wanted` of `ones` set bits, at random, and clear the pads; return what `_fill` does."""
    drawn = field[: pads.size]
    if ones > wanted:
        _turn_over(drawn, pads)
        position = _fill(units, position, field, ones - wanted, wide)
        _turn_over(drawn, pads)
    else:
        position = _fill(units, position, field, wanted - ones, wide)
    drawn[pads.size - 1] &= ~pads[pads.size - 1]
    return position


@_inlined
def _hold(drawn: Words, code: Word, last: Word, named: Word) -> None:
    """Move the bit at the place of the true value to the last value, and put `named` there."""
    word, place = code >> _6, code & _63
    drawn[last >> _6] |= ((drawn[word] >> place) & _ONE) << (last & _63)
    drawn[word] = (drawn[word] & ~(_ONE << place)) | (named << place)


@_inlined
def _spell_byte(room: Values, at: Word, word: Word, before: Word, first: Word, shift: Word) -> None:
    start = at + ((before >> shift) & _255)
    _write_eight(room, start, _SPELLED, (word >> shift) & _255, first + shift)


@_compiled
def _spell(drawn: Words, room: Values, row: Values) -> None:
    """Write the places of the set bits, ascending."""
    first, at = _ZERO, _ZERO
    for index in range(drawn.size):
        word = drawn[index]
        ones = _running_ones(word)
        before = ones << _8
        _spell_byte(room, at, word, before, first, _ZERO)
        _spell_byte(room, at, word, before, first, _8)
        _spell_byte(room, at, word, before, first, _16)
        _spell_byte(room, at, word, before, first, _24)
        _spell_byte(room, at, word, before, first, _32)
        _spell_byte(room, at, word, before, first, _40)
        _spell_byte(room, at, word, before, first, _48)
        _spell_byte(room, at, word, before, first, _56)
        at += ones >> _56
        first += _64
    for column in range(row.size):
        row[column] = room[column]


@_compiled
def choose(
    units: Words,
    out: Values,
    done: int,
    codes: Values,
    field: Words,
    pads: Words,
    digits: Words,
    others: Word,
    chance: Word,
    room: Values,
) -> tuple[int, int]:
    """Fill rows of `out` with reports of the true values `codes`.

    `others` is k - 1. `field` is the map: its first words, as many as `pads` has, take k bits and are drawn;
    then come ones, up to the last place of as many bits as it takes to number the others. `pads` is one
    from place k - 1 on. `digits` are those of the probability of a bit, the last one first, each all ones or
    zero. `chance` / 2**53 is the probability that the true value is named. `room` has space for a report
    and eight numbers.
    """
    position, words, size = 0, pads.size, np.uint64(out.shape[1])
    drawn = field[:words]
    wide = _ZERO
    while _ONE << wide < others:
        wide += _ONE
    for row in range(done, out.shape[0]):
        start = position + 1 + digits.size * words
        if start > units.size:
            return row, position
        named = np.uint64(units[position] >> _11 < chance)
        ones = _spread(units[position + 1 : start], digits, drawn, pads)
        after = _mend(units, start, field, pads, ones, size - named, wide)
        if after > units.size:
            return row, position
        position = after
        _hold(drawn, np.uint64(codes[row]), others, named)
        _spell(drawn, room, out[row])
    return out.shape[0], position
