"""Integer kernels that turn random words into draws; imported only when a draw is made.

Every kernel reads `units`, an array of independent uniform integers (32 bits each; 8 bits for the
Bernoulli), and no other randomness. There are no floats and no tables of rounded probabilities, so a
draw has exactly the law it claims if the units are uniform.

**Running out.** Reading past the end gives "all ones" and moves the position past the end. "All ones"
ends every inner loop below (each comment says why), the outer loop sees the position, and the caller's
loop throws the unfinished draw away and returns ``(draws done, units used by them)``. The driver in
``feeding.py`` then calls again with the unused units in front of fresh ones, so the draws do not
depend on how the units were cut into buffers.

**No wrap.** The driver never passes more than 2**26 units, so a draw counts at most 2**26 of anything.
With numerator and denominator of a scale below 2**31, the bound beside each product is below 2**64.
The tests run this file without the compiler, where numpy reports any overflow.

All kernels stand in one file because numba's cache notices changes in that file only. ``_nrt=False``
switches off reference counting, which took half of the time; nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Units = npt.NDArray[np.uint32]
    Integers = npt.NDArray[np.int64]

__all__ = [
    "MOST_UNITS",
    "bernoulli",
    "discrete_gaussian",
    "discrete_laplace",
    "subsets",
    "uniform",
    "uniform_wide",
]

MOST_UNITS = 1 << 26

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)

# numba turns uint64 (+) int64 into a float: every constant below is a uint64.
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_31, _32, _63 = np.uint64(31), np.uint64(32), np.uint64(63)
_TWO_31, _TWO_32 = np.uint64(1 << 31), np.uint64(1 << 32)
_LOW_31, _LOW_32 = np.uint64((1 << 31) - 1), np.uint64((1 << 32) - 1)
_LOW_64 = np.uint64((1 << 64) - 1)

# Bernoulli(1/e) is "the first failure among Bernoulli(1/2), Bernoulli(1/3), ... is at an odd place".
# One uniform integer below 8! settles the places 2 to 8: 14832 outcomes say yes
# (8!/2! - 8!/3! + 8!/4! - 8!/5! + 8!/6! - 8!/7!), one leaves it open, 25487 say no.
# A unit is cut into 2**32 mod 8! outcomes to be redrawn, then 8! blocks of equal size.
_BLOCK = (1 << 32) // 40320
_REDRAWN = np.uint64((1 << 32) % 40320)
_YES_ENDS = np.uint64((1 << 32) % 40320 + 14832 * _BLOCK)
_OPEN_ENDS = np.uint64((1 << 32) % 40320 + 14833 * _BLOCK)


@_inlined
def _take(units: Units, position: int) -> np.uint64:
    return np.uint64(units[position]) if position < units.size else _LOW_32


# --- uniform integers --------------------------------------------------------------------------


@_compiled
def _redraw_below(units: Units, position: int, bound: np.uint64, product: np.uint64) -> tuple[np.uint64, int]:
    threshold = (_TWO_32 - bound) % bound
    while (product & _LOW_32) < threshold:  # all ones: the low part is 2**32 - bound, never below it
        product = _take(units, position) * bound
        position += 1
    return product >> _32, position


@_inlined
def _below(units: Units, position: int, bound: np.uint64) -> tuple[np.uint64, int]:
    """Lemire's uniform integer below `bound` <= 2**32; all ones give ``bound - 1``."""
    product = _take(units, position) * bound  # < 2**64
    position += 1
    value = product >> _32
    if (product & _LOW_32) < bound:
        value, position = _redraw_below(units, position, bound, product)
    return value, position


@_inlined
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
def _below_wide(units: Units, position: int, bound: np.uint64, threshold: np.uint64) -> tuple[np.uint64, int]:
    """Lemire's uniform integer below `bound` < 2**64, where `threshold` is 2**64 mod `bound`.

    All ones give ``bound - 1``: the low part is 2**64 - bound, never below the threshold.
    """
    high, low = _ZERO, _ZERO
    again = True
    while again:
        word = (_take(units, position + 1) << _32) | _take(units, position)
        position += 2
        high, low = _multiply(word, bound)
        again = low < threshold
    return high, position


@_compiled
def uniform(
    units: Units, out: Integers, done: int, bound: np.uint64, threshold: np.uint64
) -> tuple[int, int]:
    """Fill `out` with uniform integers below `bound` <= 2**32; `threshold` is 2**32 mod `bound`."""
    position = 0
    for index in range(done, out.size):
        after = position + 1
        product = _take(units, position) * bound
        while (product & _LOW_32) < threshold:  # as in `_redraw_below`
            product = _take(units, after) * bound
            after += 1
        if after > units.size:
            return index, position
        out[index] = product >> _32
        position = after
    return out.size, position


@_compiled
def uniform_wide(
    units: Units, out: Integers, done: int, bound: np.uint64, threshold: np.uint64
) -> tuple[int, int]:
    """Fill `out` with uniform integers below `bound` in (2**32, 2**63]."""
    position = 0
    for index in range(done, out.size):
        value, after = _below_wide(units, position, bound, threshold)
        if after > units.size:
            return index, position
        out[index] = value
        position = after
    return out.size, position


@_compiled
def subsets(
    units: Units, out: npt.NDArray[np.int32], done: int, deck: npt.NDArray[np.int32], take: int
) -> tuple[int, int]:
    """Fill rows of `take` distinct members of `deck` by partial Fisher-Yates shuffles.

    The deck is never put back in order: whatever its order, the next `take` swaps bring a uniform
    ordered sample to the front. One swap is one draw, so running out never undoes or repeats a swap.
    """
    position = 0
    for index in range(done, out.size):
        column = index % take
        value, after = _below(units, position, np.uint64(deck.size - column))
        if after > units.size:
            return index, position
        chosen = column + np.int64(value)
        out[index] = deck[chosen]
        deck[chosen] = deck[column]
        deck[column] = out[index]
        position = after
    return out.size, position


# --- Bernoulli ---------------------------------------------------------------------------------


@_compiled
def _settle_digits(
    units: npt.NDArray[np.uint8], position: int, digits: npt.NDArray[np.uint8]
) -> tuple[bool, int]:
    for place in range(1, digits.size):
        if position >= units.size:
            return False, units.size + 1
        unit = units[position]
        position += 1
        if unit != digits[place]:
            return unit < digits[place], position
    return False, position


@_compiled
def bernoulli(
    units: npt.NDArray[np.uint8], out: npt.NDArray[np.bool_], done: int, digits: npt.NDArray[np.uint8]
) -> tuple[int, int]:
    """Compare a uniform number with a probability, both to base 256, until a digit differs.

    `digits` are all the digits of the probability, so equality to the end means "not below".
    """
    position = 0
    for index in range(done, out.size):
        if position >= units.size:
            return index, position
        unit = units[position]
        after = position + 1
        answer = unit < digits[0]
        if unit == digits[0]:
            answer, after = _settle_digits(units, after, digits)
            if after > units.size:
                return index, position
        out[index] = answer
        position = after
    return out.size, position


@_compiled
def _settle_inverse_e(units: Units, position: int, unit: np.uint64) -> tuple[bool, int]:
    while unit < _REDRAWN:  # all ones: not below
        unit = _take(units, position)
        position += 1
    if unit < _YES_ENDS or unit >= _OPEN_ENDS:
        return bool(unit < _YES_ENDS), position
    place = np.uint64(9)
    value, position = _below(units, position, place)
    while value == _ZERO:  # all ones give place - 1
        place += _ONE
        value, position = _below(units, position, place)
    return (place & _ONE) == _ONE, position


@_inlined
def _inverse_e(units: Units, position: int) -> tuple[bool, int]:
    """Bernoulli(1/e); all ones give False."""
    unit = _take(units, position)
    position += 1
    answer = unit < _OPEN_ENDS
    if answer and (unit < _REDRAWN or unit >= _YES_ENDS):
        answer, position = _settle_inverse_e(units, position, unit)
    return answer, position


# --- discrete Laplace --------------------------------------------------------------------------


@_compiled
def _late_place(
    units: Units, position: int, value: np.uint64, bound: np.uint64, place: np.uint64
) -> tuple[np.uint64, int]:
    """Continue the trials Bernoulli(value / (bound * place)) where the product passes 2**32."""
    going = True
    while going:  # all ones give place - 1, which is not 0
        digit, position = _below(units, position, place)
        going = digit == _ZERO
        if going:
            other, position = _below(units, position, bound)
            going = other < value
        if going:
            place += _ONE
    return place, position


@_inlined
def _first_failure(
    units: Units, position: int, value: np.uint64, bound: np.uint64, last_place: np.uint64
) -> tuple[np.uint64, int]:
    """Return the first k at which Bernoulli(value / (bound * k)) fails; value < bound < 2**31.

    It is odd with probability exp(-value / bound) (Algorithm 1 of Canonne, Kamath and Steinke).
    `last_place` is (2**32 - 1) // bound, so that ``product`` stays below 2**32.
    """
    place, product = _ONE, bound
    drawn, position = _below(units, position, product)
    while drawn < value and place < last_place:  # all ones give product - 1 >= value
        place += _ONE
        product += bound
        drawn, position = _below(units, position, product)
    if drawn < value:
        place, position = _late_place(units, position, value, bound, place + _ONE)
    return place, position


@_inlined
def _laplace(
    units: Units,
    position: int,
    numerator: np.uint64,
    denominator: np.uint64,
    threshold: np.uint64,
    last_place: np.uint64,
) -> tuple[np.int64, int]:
    """Draw one discrete Laplace with scale numerator / denominator.

    Algorithm 2 of Canonne, Kamath and Steinke, with the sign drawn first: a unit gives the sign and
    31 bits for the remainder. The size is below numerator * 2**27 < 2**58.
    `threshold` is 2**31 mod `numerator`, `last_place` as in `_first_failure`.
    """
    size, sign = _ZERO, _ZERO
    while position <= units.size:
        unit = _take(units, position)
        position += 1
        sign = unit & _ONE
        remainder = _ZERO
        if numerator > _ONE:
            product = (unit >> _ONE) * numerator  # < 2**62
            if (product & _LOW_31) < threshold:
                continue
            remainder = product >> _31
            place, position = _first_failure(units, position, remainder, numerator, last_place)
            if (place & _ONE) == _ZERO:
                continue
        quotient = _ZERO
        more, position = _inverse_e(units, position)
        while more:
            quotient += _ONE
            more, position = _inverse_e(units, position)
        size = remainder + numerator * quotient
        if denominator > _ONE:
            size //= denominator
        if size != _ZERO or sign == _ZERO:
            break
    value = np.int64(size)
    return (-value if sign == _ONE else value), position


@_compiled
def discrete_laplace(
    units: Units, out: Integers, done: int, numerator: np.uint64, denominator: np.uint64
) -> tuple[int, int]:
    """Fill `out` with discrete Laplace draws of scale numerator / denominator."""
    threshold, last_place = _TWO_31 % numerator, _LOW_32 // numerator
    position = 0
    for index in range(done, out.size):
        value, after = _laplace(units, position, numerator, denominator, threshold, last_place)
        if after > units.size:
            return index, position
        out[index] = value
        position = after
    return out.size, position


# --- discrete Gaussian -------------------------------------------------------------------------


@_inlined
def _coin(
    units: Units, position: int, half: np.uint64, odd: np.uint64, bound: np.uint64, threshold: np.uint64
) -> tuple[bool, int]:
    """Bernoulli((2 * half + odd) / (2 * bound)); half < bound. All ones give False."""
    if bound < _TWO_32:
        drawn, position = _below(units, position, bound)
    else:
        drawn, position = _below_wide(units, position, bound, threshold)
    answer = drawn < half
    if drawn == half and odd == _ONE:
        answer = _take(units, position) < _TWO_31
        position += 1
    return answer, position


@_inlined
def _accepted(
    units: Units, position: int, distance: np.uint64, bound: np.uint64, threshold: np.uint64
) -> tuple[bool, int]:
    """Bernoulli(exp(-distance**2 / (2 * bound))), Algorithm 1 of Canonne, Kamath and Steinke.

    Whole units of the exponent are taken off one by one, each with a Bernoulli(1/e): no division.
    """
    high, low = _multiply(distance, distance)
    unit_high, unit_low = bound >> _63, bound << _ONE  # 2 * bound, which may pass 2**64
    while high > unit_high or (high == unit_high and low >= unit_low):
        more, position = _inverse_e(units, position)
        if not more:
            return False, position
        if low >= unit_low:
            low -= unit_low
        else:
            low += _LOW_64 - unit_low + _ONE
            high -= _ONE
        high -= unit_high
    half, odd = (high << _63) | (low >> _ONE), low & _ONE
    place = _ONE
    more, position = _coin(units, position, half, odd, bound, threshold)
    while more:
        place += _ONE
        digit, position = _below(units, position, place)
        more = digit == _ZERO
        if more:
            more, position = _coin(units, position, half, odd, bound, threshold)
    return (place & _ONE) == _ONE, position


@_compiled
def discrete_gaussian(
    units: Units,
    out: Integers,
    done: int,
    numerator: np.uint64,
    step: np.uint64,
    scale: np.uint64,
    bound: np.uint64,
    threshold: np.uint64,
) -> tuple[int, int]:
    r"""Fill `out` with discrete Gaussian draws of variance p / q (p is `numerator`).

    Algorithm 3 of Canonne, Kamath and Steinke: a discrete Laplace y of scale t = floor(sqrt(p/q)) + 1
    is kept with probability exp(-(|y| - p/(q t))**2 q/(2 p)) = exp(-(|y| q t - p)**2 / (2 p q t**2)).
    `step` is q t, `scale` is t, `bound` is p q t**2 and `threshold` is 2**64 mod `bound`.

    Since t <= sqrt(p/q) + 1: q t <= sqrt(p q) + q < 2**32, and q t**2 <= (sqrt(p) + sqrt(q))**2 < 2**33,
    and p q t**2 <= (p + sqrt(p q))**2 <= 4 (2**31 - 1)**2 < 2**64.
    With at most 2**26 units |y| < t * 2**27, so |y| q t < 2**60.
    """
    redraw, last_place = _TWO_31 % scale, _LOW_32 // scale
    position = 0
    for index in range(done, out.size):
        value = np.int64(0)
        after = position
        kept = False
        while not kept and after <= units.size:
            value, after = _laplace(units, after, scale, _ONE, redraw, last_place)
            product = np.uint64(abs(value)) * step
            distance = product - numerator if product >= numerator else numerator - product
            kept, after = _accepted(units, after, distance, bound, threshold)
        if after > units.size:
            return index, position
        out[index] = value
        position = after
    return out.size, position
