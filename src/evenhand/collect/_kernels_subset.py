"""Integer kernels of subset selection; imported only when reports are made or counted.

**Drawing.** `select` reads 32-bit units. A report takes, in this order: one unit that decides whether it
names the true value (and a second one in the one case of 2**32 in which the first is a tie), one unit for
the place of the true value, and the units of a partial Fisher-Yates shuffle of a deck of the other values.
The deck is never put back in order: whatever its order, the swaps bring a uniform ordered sample to the
front. Units that would make some outcomes likelier than others are read and thrown away.

**Two swaps from one unit.** With bounds b and c, b c <= 2**32, the product of a unit and b has the first
choice in its high half; its low half times c has the second choice in the high half. Together they are
Lemire's uniform integer below b c: floor(unit b c / 2**32) = first c + second, and the low half of the last
product is unit b c mod 2**32, which must not be below 2**32 mod b c. Where the values are too many for two,
c is 1 and the second choice is no choice.

**Running out.** A report touches the deck only when all its units are at hand. Reading past the end gives
"all ones", which is never thrown away (the low half is then 2**32 - b c), and moves the position past the
end, so that the report is left for the next call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Units = npt.NDArray[np.uint32]
    Integers = npt.NDArray[np.uint64]
    Rows = npt.NDArray[Any]

__all__ = ["indicate", "select"]

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ONE, _11, _21, _32 = np.uint64(1), np.uint64(11), np.uint64(21), np.uint64(32)
_LOW_21, _LOW_32 = np.uint64((1 << 21) - 1), np.uint64((1 << 32) - 1)


@_inlined
def _take(units: Units, position: np.uint64) -> np.uint64:
    return np.uint64(units[position]) if position < np.uint64(units.size) else _LOW_32


@_inlined
def _decide(units: Units, position: np.uint64, chance: np.uint64) -> tuple[bool, np.uint64]:
    """Return True with probability `chance` / 2**53."""
    unit, high = _take(units, position), chance >> _21
    position += _ONE
    answer = unit < high
    if unit == high:
        answer = (_take(units, position) >> _11) < (chance & _LOW_21)
        position += _ONE
    return answer, position


@_inlined
def _place(
    units: Units, position: np.uint64, size: np.uint64, redrawn: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return a uniform integer below `size`; `redrawn` is 2**32 mod `size`."""
    product = _take(units, position) * size
    position += _ONE
    while (product & _LOW_32) < redrawn:
        product = _take(units, position) * size
        position += _ONE
    return product >> _32, position


@_inlined
def _pair(unit: np.uint64, table: Units, index: np.uint64, column: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the partners of `column` (low half) and the next one (high half), and 1 to throw them away."""
    product = unit * np.uint64(table[0, index])
    first = column + (product >> _32)
    product = (product & _LOW_32) * np.uint64(table[1, index])
    second = column + _ONE + (product >> _32)
    return first | (second << _32), np.uint64((product & _LOW_32) < np.uint64(table[2, index]))


@_inlined
def _choose(units: Units, position: np.uint64, choices: Integers, table: Units, doubled: np.uint64) -> bool:
    """Choose the partners of every swap, if no unit has to be thrown away; else return False.

    The columns of `table` are units, its rows their bounds b and c and 2**32 mod b c; a unit makes
    2**`doubled` swaps. This loop has no branch and is run on many units at once.
    """
    thrown = np.uint64(0)
    for index in range(np.uint64(choices.size)):
        unit = np.uint64(units[position + index])
        choices[index], away = _pair(unit, table, index, np.uint64(index) << doubled)
        thrown |= away
    return bool(thrown == np.uint64(0))


@_compiled
def _choose_carefully(
    units: Units, position: np.uint64, choices: Integers, table: Units, doubled: np.uint64
) -> np.uint64:
    """Do as `_choose`, throw units away where needed, and return the position after the last."""
    for index in range(np.uint64(choices.size)):
        away = _ONE
        while away == _ONE:
            choices[index], away = _pair(_take(units, position), table, index, np.uint64(index) << doubled)
            position += _ONE
    return position


@_compiled
def select(
    units: Units,
    out: Rows,
    done: int,
    deck: Units,
    choices: Integers,
    table: Units,
    doubled: np.uint64,
    chance: np.uint64,
    redrawn: np.uint64,
) -> tuple[int | np.int64, int | np.int64]:
    """Fill rows of `out`, whose first column holds the true values, with reports.

    `deck` has one number for each other value and one more at the end, which stays where it is;
    `choices` is scratch, one word for each column of `table`; `chance` / 2**53 is the probability that the
    true value is named; `redrawn` is 2**32 mod the size of a report.
    """
    position, size, swaps = np.uint64(0), np.uint64(out.shape[1]), np.uint64(choices.size)
    for row in range(done, out.shape[0]):
        named, after = _decide(units, position, chance)
        place, after = _place(units, after, size, redrawn)
        enough = after + swaps <= np.uint64(units.size)
        if enough and _choose(units, after, choices, table, doubled):
            after += swaps
        else:
            after = _choose_carefully(units, after, choices, table, doubled)
            if after > np.uint64(units.size):
                return row, np.int64(position)
        position = after
        for index in range(swaps):  # spelled out: quicker than exchanging pairs, and the same
            both, column = choices[index], np.uint64(index) << doubled
            first, second = both & _LOW_32, both >> _32
            chosen = deck[first]
            deck[first] = deck[column]
            deck[column] = chosen
            chosen = deck[second]
            deck[second] = deck[column + _ONE]
            deck[column + _ONE] = chosen
        held = np.uint32(out[row, 0])
        for index in range(size):
            out[row, index] = deck[index] + (deck[index] >= held)
        out[row, place] = held if named else out[row, place]
    return out.shape[0], np.int64(position)


@_compiled
def indicate(values: Rows, out: npt.NDArray[np.uint8]) -> bool:
    """Set `out`, all noughts, to 1 where a report (row) names a value (column); False if one is outside."""
    bound = np.uint64(out.shape[1])
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            value = np.uint64(values[row, column])
            if value >= bound:
                return False
            out[row, value] = 1
    return True
