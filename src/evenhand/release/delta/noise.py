r"""The exact delta of discrete Gaussian and discrete Laplace noise on a table, rounded up.

**Gaussian noise.** One person who is added or removed moves one count by 1. With :math:`Y` the noise on it,

.. math:: \delta(\varepsilon) = \sum_y \Pr[Y = y] \left(1 - e^{\varepsilon - \ell(y)}\right)_+,
          \quad \ell(y) = \frac{2y + 1}{2\sigma^2}

A person whose record is replaced moves two counts, one up and one down. The loss depends on the sum
:math:`S` of the two noises (one of them with its sign turned), :math:`\ell(s) = (s + 1) / \sigma^2`, and

.. math:: \Pr[S = s] = e^{-s^2 / 4\sigma^2} \, \Theta_{s \bmod 2} / Z^2, \quad
          \Theta_r = \sum_n e^{-(n + r/2)^2 / \sigma^2}, \quad Z = \sum_n e^{-n^2 / 2\sigma^2}

because :math:`y^2 + (s - y)^2 = s^2/2 + 2(y - s/2)^2`: no convolution is needed.

In both cases the sum runs over :math:`s \ge m`, all terms are positive, and one term follows from the one
before by two products. They are added in whole numbers of so many bits, each product rounded the way that
makes the sum larger, and what is left of the tail is bounded by a geometric series and added. So the result
is never below the truth, and less than one part in :math:`10^{12}` above it.

**Laplace noise**, at an epsilon below its own. With scale :math:`b` on counts of which one person moves
:math:`c` by 1, and :math:`a = e^{-1/b}`, each count that is moved shifts the odds by :math:`e^{1/b}` with
probability :math:`1/(1 + a)`, else by :math:`e^{-1/b}`. Only where all of them shift the same way is there a
loss above zero:

.. math:: \delta(\varepsilon) = \frac{1 - e^{\varepsilon - c/b}}{(1 + a)^c}, \quad c \in \{1, 2\}
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, decimal_context, exact, exp_bounds, round_up
from evenhand.privacy.scales import LARGEST, representable

STATED_DIGITS = 15
"""Significant digits of a delta as it is stated; the last is rounded up."""

SMALLEST_DELTA = Fraction(1, 10**400)
"""A delta below this is stated as this."""

_DIGITS = 50
_BITS, _MOST_BITS = 192, 1 << 14
_RELATIVE = 50  # bits to which the tail, and the rounding, must be small beside the sum
_CHECKED_EVERY = 32
_SMALLEST_LOG = -1_000  # e to this is below the smallest delta; decimals are slow far below it
_LARGEST_EPSILON = 1_000_000
_SMALLEST_TARGET = Fraction(1, 10**100)
_LEAST_BELOW, _MOST_BELOW = 1e-8, 3e-7  # how far below its target the logarithm of delta shall come
_ROUNDS = 200
_PI_BELOW = Fraction(31415926535897932384626433832795028841971693993751058209749445923078164, 10**70)
_PI_ABOVE = _PI_BELOW + Fraction(1, 10**70)


class _Sum(NamedTuple):
    """A sum of w(s) exp(-c s**2) (1 - exp(-(loss + j step))) over s = first + j, j = 0, 1, ..."""

    first: int
    decay: Fraction
    loss: Fraction
    step: Fraction


def exact_delta(variance: Number, epsilon: Number, *, cells: int) -> Fraction:
    r"""Return delta at `epsilon` of discrete Gaussian noise on counts; one person moves `cells` of them by 1.

    Parameters
    ----------
    variance : int, float, str, Fraction or Decimal
        The parameter :math:`\sigma^2` of the noise, > 0.
    epsilon : int, float, str, Fraction or Decimal
        At least 0 and at most 1,000,000.
    cells : {1, 2}
        1 when a person is added or removed, 2 when one is replaced by another.

    Returns
    -------
    Fraction
        Of 15 digits, never below the truth.

    Examples
    --------
    >>> f"{float(exact_delta(25, 1, cells=2)):.12e}"
    '2.286708669556e-05'
    >>> f"{float(exact_delta(25, 1, cells=1)):.12e}"
    '1.829336024873e-08'
    """
    squared = exact(variance, name="variance", owner="exact_delta", above=0)
    asked = exact(epsilon, name="epsilon", owner="exact_delta", least=0, most=_LARGEST_EPSILON)
    return _exact_delta(squared, asked, integer("cells", cells, owner="exact_delta", low=1, high=2))


@lru_cache(maxsize=256)
def _exact_delta(squared: Fraction, epsilon: Fraction, cells: int) -> Fraction:
    terms, weights = _terms(squared, epsilon, cells), _weights(squared, cells)
    bits = _BITS
    while True:
        even, odd, error = _add_terms(terms, weights, bits)
        total = even * weights[0] + odd * weights[1]
        if total >= (error << _RELATIVE) * max(weights) or bits >= _MOST_BITS:
            break
        bits *= 2
    above = total / (1 << bits) * _exp(-terms.decay * terms.first**2, up=True)
    return min(Fraction(1), max(SMALLEST_DELTA, round_up(above, digits=STATED_DIGITS)))


def calibrated_variance(epsilon: Number, delta: Number, *, cells: int) -> Fraction:
    r"""Return a variance of noise whose exact delta at `epsilon` is at most `delta`, and hardly less.

    The result has numerator and denominator below 2**31, so that it can be drawn exactly. Its exact delta is
    from :math:`(1 - 10^{-6})` times `delta` to `delta`.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Above 0 and at most 1,000,000.
    delta : int, float, str, Fraction or Decimal
        From 1e-100 to below 1.
    cells : {1, 2}
        1 when a person is added or removed, 2 when one is replaced by another.

    Raises
    ------
    InvalidParameterError
        If no variance below 2**31 is enough.

    Examples
    --------
    >>> variance = calibrated_variance(1, "1e-6", cells=2)
    >>> f"{math.sqrt(variance):.4f}", f"{float(exact_delta(variance, 1, cells=2)):.6e}"
    ('5.9766', '9.999999e-07')
    """
    asked = exact(epsilon, name="epsilon", owner="calibrated_variance", above=0, most=_LARGEST_EPSILON)
    target = exact(delta, name="delta", owner="calibrated_variance", above=0)
    if not _SMALLEST_TARGET <= target < 1:
        owner, must_be = "calibrated_variance", "a number from 1e-100 to below 1"
        raise InvalidParameterError("delta", owner=owner, must_be=must_be, got=delta)
    near = Fraction(math.exp(_root(asked, _log(target), cells)))
    for finer in range(48, 0, -1):
        if near > LARGEST:
            break
        variance = representable(near)
        if exact_delta(variance, asked, cells=cells) <= target:
            return variance
        near *= 1 + Fraction(1, 1 << finer)
    raise InvalidParameterError(
        "delta",
        owner="calibrated_variance",
        must_be="large enough, with this epsilon, for noise of a variance below 2**31",
        got=delta,
    )


def printed_delta(rho: Number, epsilon: Number) -> Fraction:
    r"""Return :math:`e^{-(\varepsilon - \rho)^2 / 4\rho}`, the simple bound that papers print, rounded up.

    Examples
    --------
    >>> f"{float(printed_delta('1/10', 1)):.12f}"
    '0.131993843188'
    """
    spent = exact(rho, name="rho", owner="printed_delta", above=0)
    asked = exact(epsilon, name="epsilon", owner="printed_delta", least=0, most=_LARGEST_EPSILON)
    if asked <= spent:
        return Fraction(1)
    above = _exp(-((asked - spent) ** 2) / (4 * spent), up=True)
    return min(Fraction(1), max(SMALLEST_DELTA, round_up(above, digits=STATED_DIGITS)))


# --- the sum, in whole numbers ----------------------------------------------------------------------


def _terms(squared: Fraction, epsilon: Fraction, cells: int) -> _Sum:
    """Return the sum for one cell or two; its first term is the first with a loss above epsilon."""
    if cells == 1:
        first = math.floor(epsilon * squared - Fraction(1, 2)) + 1
        return _Sum(first, 1 / (2 * squared), (2 * first + 1) / (2 * squared) - epsilon, 1 / squared)
    first = math.floor(epsilon * squared)
    return _Sum(first, 1 / (4 * squared), (first + 1) / squared - epsilon, 1 / squared)


def _add_terms(terms: _Sum, weights: tuple[Fraction, Fraction], bits: int) -> tuple[int, int, int]:
    """Return the sums of the even and of the odd terms from above, in units of 2**-bits, and their error.

    The term at the start counts as exp(0) = 1. Of n terms, a factor is off by at most 3 n + 2 units, a
    product of n factors by 2 n**2 + 4 n, and the sum of the products by 10 n**3.
    """
    one = 1 << bits
    digits = math.ceil(bits * 0.302) + 4
    size, falling = one, _above(-terms.decay * (2 * terms.first + 1), one, digits)
    slower, kept = _above(-2 * terms.decay, one, digits), _below(-terms.loss, one, digits)
    faster = _below(-terms.step, one, digits)
    heaviest = max(weights)
    scaled = [int(weight / heaviest * (1 << 64)) for weight in weights]
    sums, done = [0, 0], 0
    while True:
        sums[(terms.first + done) & 1] += -((-size * (one - kept)) >> bits)
        size = -((-size * falling) >> bits)
        falling = -((-falling * slower) >> bits)
        kept = (kept * faster) >> bits
        done += 1
        if done % _CHECKED_EVERY == 0:
            rest = -(-size * one // (one - falling)) if falling < one else one * one
            weighted = sums[0] * scaled[0] + sums[1] * scaled[1]
            small = rest <= weighted >> (64 + _RELATIVE)
            if small or size <= 1:
                return sums[0] + rest, sums[1] + rest, 10 * done**3 + (0 if small else rest)


def _above(exponent: Fraction, one: int, digits: int) -> int:
    return 1 if exponent < -one.bit_length() else math.ceil(exp_bounds(exponent, digits=digits)[1] * one)


def _below(exponent: Fraction, one: int, digits: int) -> int:
    return 0 if exponent < -one.bit_length() else math.floor(exp_bounds(exponent, digits=digits)[0] * one)


# --- the weights: 1 / Z, or Theta / Z**2 for even and odd sums --------------------------------------


@lru_cache(maxsize=64)
def _weights(squared: Fraction, cells: int) -> tuple[Fraction, Fraction]:
    """Return upper bounds of the factor before exp(-c s**2) for even and for odd s."""
    whole = _normaliser_below(squared)
    if cells == 1:
        return 1 / whole, 1 / whole
    even, odd = (_theta_above(squared, shift) for shift in (Fraction(0), Fraction(1, 2)))
    return even / whole**2, odd / whole**2


def _normaliser_below(squared: Fraction) -> Fraction:
    r"""Bound :math:`\sum_n e^{-n^2/2\sigma^2}` from below, by itself or by its dual."""
    if squared < 1:  # the 13th term is below e**-84
        return 1 + 2 * _total([-(Fraction(n) ** 2) / (2 * squared) for n in range(1, 13)], up=False)
    dual = _total([-2 * _PI_ABOVE**2 * squared * n**2 for n in (1, 2)], up=False)
    return _root_of(2 * _PI_BELOW * squared, up=False) * (1 + 2 * dual)


def _theta_above(squared: Fraction, shift: Fraction) -> Fraction:
    r"""Bound :math:`\sum_n e^{-(n + r)^2/\sigma^2}` from above, by itself or by its dual."""
    if squared < 1:  # what is left out on either side is below twice its first term
        places = [Fraction(n) + shift for n in range(-12, 12)]
        rest = 4 * _total([-(Fraction(12) ** 2) / squared], up=True)
        return _total([-(place**2) / squared for place in places], up=True) + rest
    first, second, third = (_total([-(_PI_BELOW**2) * squared * n**2], up=True) for n in (1, 2, 3))
    if shift:  # the signs alternate
        lower = _total([-(_PI_ABOVE**2) * squared], up=False)
        series = 1 - 2 * lower + 2 * second
    else:
        series = 1 + 2 * (first + second + 2 * third)
    return _root_of(_PI_ABOVE * squared, up=True) * series


def _total(exponents: list[Fraction], *, up: bool) -> Fraction:
    return sum((_exp(exponent, up=up) for exponent in exponents), Fraction(0))


def _exp(exponent: Fraction, *, up: bool) -> Fraction:
    """Return a bound of an exponential; one below e**-1000 is bounded by that, or by 0."""
    if exponent < _SMALLEST_LOG:
        return exp_bounds(Fraction(_SMALLEST_LOG), digits=_DIGITS)[1] if up else Fraction(0)
    return exp_bounds(exponent, digits=_DIGITS)[up]


def _root_of(value: Fraction, *, up: bool) -> Fraction:
    context = decimal_context(_DIGITS, ROUND_CEILING if up else ROUND_FLOOR)
    outward = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    root = context.sqrt(outward)  # rounded to the nearest whatever the context says
    return Fraction(context.next_plus(root) if up else context.next_minus(root))


# --- the search for a variance, in floats: any result of it is checked -----------------------------


def _log(value: Fraction) -> float:
    return (
        math.log(value.numerator) - math.log(value.denominator) if value < Fraction(1, 2) else math.log(value)
    )


def _log_delta(log_squared: float, epsilon: Fraction, cells: int) -> float:
    """Return the logarithm of delta, to about ten digits."""
    squared = Fraction(math.exp(log_squared))
    terms = _terms(squared, epsilon, cells)
    decay, first, loss = float(terms.decay), float(terms.first), float(terms.loss)
    reach = math.sqrt(first**2 + 50 / decay) - first
    places = np.arange(min(math.ceil(reach) + 2, 10**7), dtype=np.float64)
    sizes = np.exp(-decay * places * (2 * first + places)) * -np.expm1(-loss - places * float(terms.step))
    weights = [float(weight) for weight in _rough_weights(float(squared), cells)]
    even = terms.first & 1
    total = weights[even] * sizes[::2].sum() + weights[1 - even] * sizes[1::2].sum()
    return math.log(total) - decay * first * first


def _rough_weights(squared: float, cells: int) -> tuple[float, float]:
    places = np.arange(-13, 14)
    if squared < 1:
        whole = np.exp(-(places**2) / (2 * squared)).sum()
        even, odd = (np.exp(-((places + shift) ** 2) / squared).sum() for shift in (0, 0.5))
    else:
        whole = math.sqrt(2 * math.pi * squared) * np.exp(-2 * (math.pi * places) ** 2 * squared).sum()
        waves = np.exp(-((math.pi * places) ** 2) * squared)
        even, odd = (math.sqrt(math.pi * squared) * (waves * sign).sum() for sign in (1, (-1.0) ** places))
    return (1 / whole, 1 / whole) if cells == 1 else (even / whole**2, odd / whole**2)


def _root(epsilon: Fraction, wanted: float, cells: int) -> float:
    """Return the logarithm of a variance at which that of delta is a little below `wanted`.

    The ends of a bracket are moved by the secant, and an end that stays twice counts half (Illinois).
    """
    aim = wanted - (_LEAST_BELOW + _MOST_BELOW) / 2

    def excess(place: float) -> float:
        return _log_delta(place, epsilon, cells) - aim

    low = high = math.log(2 * cells * max(1.0, -wanted)) - 2 * math.log(epsilon)
    low = high = min(low, math.log(LARGEST))
    at_low = at_high = excess(low)
    while at_low < 0:
        low, high, at_high = low - 1, low, at_low
        at_low = excess(low)
    while at_high > 0 and high < math.log(LARGEST) + 1:
        low, high, at_low = high, high + 1, at_high
        at_high = excess(high)
    if at_high > 0:
        return high
    for _ in range(_ROUNDS):
        middle = high - at_high * (high - low) / (at_high - at_low)
        at_middle = excess(middle)
        if abs(at_middle) < (_MOST_BELOW - _LEAST_BELOW) / 2 or not low < middle < high:
            return middle
        if at_middle < 0:
            high, at_high, at_low = middle, at_middle, at_low / 2
        else:
            low, at_low, at_high = middle, at_middle, at_high / 2
    return high


def laplace_delta(scale: Fraction, epsilon: Fraction, *, cells: int) -> Fraction:
    """Return delta at `epsilon`, never below the truth; 0 from the noise's own epsilon on.

    Examples
    --------
    >>> f"{float(laplace_delta(Fraction(2), Fraction(1, 2), cells=2)):.6f}"
    '0.152452'
    >>> laplace_delta(Fraction(2), Fraction(1), cells=2)
    Fraction(0, 1)
    """
    left = cells / scale - epsilon
    if left <= 0:
        return Fraction(0)
    chance = 1 / (1 + _exp(-1 / scale, up=False)) ** cells
    return round_up(chance * (1 - _exp(-left, up=False)), digits=STATED_DIGITS)
