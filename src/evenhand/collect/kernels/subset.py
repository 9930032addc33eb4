"""Integer kernels of subset selection; imported only when reports are made or counted.

**Drawing.** `select` reads 32-bit units. A report takes one unit that decides whether it names the true
value, and units for the place of the true value and for the swaps of a partial Fisher-Yates shuffle of a deck
of the other values. The deck is never put back in order: whatever its order, the swaps bring a uniform
ordered sample to the front.

**Two choices from one unit.** With bounds b and c, b c <= 2**32, the product of a unit and b has the first
choice in its high half; its low half times c has the second choice in the high half. Together they are
Lemire's uniform integer below b c: floor(unit b c / 2**32) = first c + second, and the low half of the last
product is unit b c mod 2**32, which must not be below 2**32 mod b c: such units would make some outcomes
likelier than others and are thrown away. Where the values are too many for two, a unit makes one choice.

**Groups.** As many reports as there are bounds for are drawn at a time, counted from the first report on.
The units of all of them come first; a loop without a branch, which is run on many units at once, makes
choices of them. Then come units that settle ties of first units, in the order of the reports, and then units
in place of those thrown away, in their order. Both are rare.

**Four decks.** Every four reports of a group are drawn from four decks and shuffled at once: a swap may have
to wait for what the last ones wrote to its deck, and the others go on meanwhile. What is left of a group, and
every report where one deck is large enough, is drawn from the first deck.

**Running out.** A group touches the decks only when all its units are at hand. Reading past the end gives
"all ones", which is never thrown away (the low half is then 2**32 - b c), and moves the position past the
end, so that the group is left for the next call.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Units = npt.NDArray[np.uint32]
    Rows = npt.NDArray[Any]

__all__ = ["indicate", "select"]

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64, or a uint32 where it says so.
_ZERO, _ONE, _11, _21, _32 = np.uint64(0), np.uint64(1), np.uint64(11), np.uint64(21), np.uint64(32)
_LOW_21, _LOW_32 = np.uint64((1 << 21) - 1), np.uint64((1 << 32) - 1)
_TWO, _THREE = np.uint64(2), np.uint64(3)
_HALF = np.uint32(16)
_THROWN = np.uint32((1 << 32) - 1)  # the only choices with a top bit
_TURN = np.uint64(sys.byteorder != "little")  # to find the half of a number by how low it is


@_inlined
def _take(units: Units, position: np.uint64) -> np.uint64:
    return np.uint64(units[position]) if position < np.uint64(units.size) else _LOW_32


@_inlined
def _pair(unit: np.uint64, bound: np.uint64, other: np.uint64) -> tuple[np.uint32, np.uint32]:
    """Return the first choice, or-ed with the second one 16 bits higher, and the low half of the product."""
    product = unit * bound
    last = (product & _LOW_32) * other
    second = np.uint32(np.uint32(last >> _32) << _HALF)
    return np.uint32(np.uint32(product >> _32) | second), np.uint32(last & _LOW_32)


@_compiled
def _choose(units: Units, bounds: Rows, redrawn: Units, choices: Units) -> bool:
    """Make choices of all units; return whether one has to be thrown away."""
    firsts, seconds = bounds[0], bounds[1]
    seen = np.uint32(0)
    for index in range(units.size):
        both, low = _pair(np.uint64(units[index]), np.uint64(firsts[index]), np.uint64(seconds[index]))
        both = both if low >= redrawn[index] else _THROWN
        choices[index] = both
        seen = max(seen, both)
    return bool(seen == _THROWN)


@_compiled
def _replace(
    units: Units, position: np.uint64, bounds: Rows, redrawn: Units, choices: Units, count: np.uint64
) -> np.uint64:
    """Draw the choices of units thrown away again; return the position after the last unit."""
    for index in range(count):
        while choices[index] == _THROWN:
            unit = _take(units, position)
            position += _ONE
            both, low = _pair(unit, np.uint64(bounds[0, index]), np.uint64(bounds[1, index]))
            choices[index] = both if low >= redrawn[index] else _THROWN
    return position


@_compiled
def _draw(
    units: Units,
    position: np.uint64,
    bounds: Rows,
    redrawn: Units,
    choices: Units,
    count: np.uint64,
    per_report: np.uint64,
    chance: np.uint64,
) -> np.uint64:
    """Make the choices of a group of `count` units, `per_report` each; return the position after them.

    The first choice of a report becomes 1 if the true value is named, with probability `chance` / 2**53.
    """
    after = position + count
    if after > np.uint64(units.size):
        return after
    given = units[position:after]
    thrown, high = _choose(given, bounds, redrawn, choices), chance >> _21
    for index in range(_ZERO, count, per_report):
        unit = np.uint64(given[index])
        choices[index] = unit < high
        if unit == high:
            choices[index] = (_take(units, after) >> _11) < (chance & _LOW_21)
            after += _ONE
    return _replace(units, after, bounds, redrawn, choices, count) if thrown else after


@_inlined
def _swap(deck: Units, column: np.uint64, choice: np.uint64) -> None:
    chosen = deck[column + choice]
    deck[column + choice] = deck[column]
    deck[column] = chosen


@_inlined
def _slot(slots: Rows, index: np.uint64) -> np.uint64:
    return np.uint64(slots[index ^ _TURN] if slots.itemsize == 2 else slots[index])  # known to the compiler


@_inlined
def _write(deck: Units, code: int, named: np.uint64, place: np.uint64, row: Rows) -> None:
    """Write a report: the front of the deck, and the true value at its place if it is named."""
    own = np.uint32(code)
    for index in range(np.uint64(row.size)):
        row[index] = np.uint32(deck[index] + np.uint32(deck[index] >= own))
    other = np.uint64(row[place])
    row[place] = (_ONE - named) * other + named * np.uint64(own)  # a branch would be foreseen wrongly


@_inlined
def _shuffle_four(decks: Units, slots: Rows, start: np.uint64, step: np.uint64, size: np.uint64) -> None:
    """Swap in four decks, with the choices of four reports; those of the first begin at `start`."""
    a, b, c, d = decks[0], decks[1], decks[2], decks[3]
    second, third, fourth = start + step, start + _TWO * step, start + _THREE * step
    for column in range(size):
        _swap(a, column, _slot(slots, start + column))
        _swap(b, column, _slot(slots, second + column))
        _swap(c, column, _slot(slots, third + column))
        _swap(d, column, _slot(slots, fourth + column))


@_compiled
def _report(decks: Units, slots: Rows, step: np.uint64, codes: Rows, rows: Rows) -> None:
    """Make reports of choices, which are `slots`, `step` of a report.

    They are: whether the true value is named, nothing (if a unit makes two), the place, and the swaps.
    """
    size, place = np.uint64(rows.shape[1]), np.uint64(4 // slots.itemsize)
    fours = rows.shape[0] & ~3 if decks.shape[0] == 4 else 0
    for four in range(0, fours, 4):
        _shuffle_four(decks, slots, np.uint64(four) * step + place + _ONE, step, size)
        for deck in range(4):
            row = four + deck
            start = np.uint64(row) * step
            _write(decks[deck], codes[row], _slot(slots, start), _slot(slots, start + place), rows[row])
    first = decks[0]
    for row in range(fours, rows.shape[0]):
        start = np.uint64(row) * step
        for column in range(size):
            _swap(first, column, _slot(slots, start + place + _ONE + column))
        _write(first, codes[row], _slot(slots, start), _slot(slots, start + place), rows[row])


@_compiled
def select(
    units: Units,
    out: Rows,
    done: int,
    codes: Rows,
    decks: Units,
    bounds: Rows,
    redrawn: Units,
    choices: Units,
    per_report: int,
    chance: np.uint64,
) -> tuple[int | np.int64, int | np.int64]:
    """Fill rows of `out` with reports of the true values `codes`.

    `decks` are four or one, with a number for each other value. `bounds`, b and c, and `redrawn`, 2**32 mod
    b c, are those of each unit of a group, `per_report` of a report; where a unit makes one choice c is 1.
    `choices` is scratch, one number for each unit; its type of slots, one for each choice, is that of bounds.
    `chance` / 2**53 is the probability that the true value is named.
    """
    position, group = _ZERO, redrawn.size // per_report
    slots = choices.view(bounds.dtype)
    step = np.uint64(per_report * slots.size // choices.size)
    for row in range(done, out.shape[0], group):
        rows = out[row : row + group]
        count = np.uint64(rows.shape[0] * per_report)
        after = _draw(units, position, bounds, redrawn, choices, count, np.uint64(per_report), chance)
        if after > np.uint64(units.size):
            return row, np.int64(position)
        position = after
        _report(decks, slots, step, codes[row : row + group], rows)
    return out.shape[0], np.int64(position)


@_compiled
def indicate(values: Rows, out: npt.NDArray[np.uint8]) -> bool:
    """Set `out`, all zeros, to 1 where a report (row) names a value (column); False if one is outside."""
    bound = np.uint64(out.shape[1])
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            value = np.uint64(values[row, column])
            if value >= bound:
                return False
            out[row, value] = 1
    return True
