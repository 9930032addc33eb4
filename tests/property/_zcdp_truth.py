"""The conversions once more, in 200-digit arithmetic and by another road than the package takes.

The package works with decimals and rationals; here it is mpmath. The best order is found as the stationary
point of the *printed* bound: a float bisection, then Newton's steps up to 40 right digits, which make 80 of
the bound, since that is flat there; the bound itself is evaluated with 200. Any error in the order
makes the value here larger, so its agreement with a search that knows no derivative is tested beside it.
"""

import functools
import math
import random
from fractions import Fraction

import mpmath

DIGITS = 200
TOLERANCE = 1e-9


def precise(value):
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


def delta_at(rho, epsilon, alpha):
    """Evaluate the bound as it is printed."""
    return mpmath.exp((alpha - 1) * (alpha * rho - epsilon)) * (1 - 1 / alpha) ** alpha / (alpha - 1)


def epsilon_at(rho, delta, alpha):
    """Solve the printed bound for epsilon."""
    return alpha * rho + mpmath.log(1 / (alpha * delta)) / (alpha - 1) + mpmath.log(1 - 1 / alpha)


@functools.cache
def true_delta(rho, epsilon):
    with mpmath.workdps(DIGITS):
        rho, epsilon = precise(rho), precise(epsilon)
        slack, twice = float(rho - epsilon), float(2 * rho)
        start = _bisect(lambda u: twice * u + slack - math.log1p(1 / u))
        u = _polish(
            start,
            lambda u: (2 * u + 1) * rho - epsilon - mpmath.log1p(1 / u),
            lambda u: 2 * rho + 1 / (u * (u + 1)),
        )
        return delta_at(rho, epsilon, 1 + u)


@functools.cache
def true_epsilon(rho, delta):
    with mpmath.workdps(DIGITS):
        rho, delta = precise(rho), precise(delta)
        aim = mpmath.log(1 / delta)
        rough_rho, rough_aim = float(rho), float(aim)
        start = _bisect(lambda u: rough_rho * u * u + math.log1p(u) - rough_aim)
        u = _polish(
            start,
            lambda u: rho * u * u + mpmath.log1p(u) - aim,
            lambda u: 2 * rho * u + 1 / (1 + u),
        )
        return max(mpmath.mpf(0), epsilon_at(rho, delta, 1 + u))


def true_group_delta(epsilon, delta, size):
    with mpmath.workdps(DIGITS):
        ratio = mpmath.exp(precise(epsilon))
        terms, power = mpmath.mpf(0), mpmath.mpf(1)
        for _ in range(size):
            terms, power = terms + power, power * ratio
        return min(mpmath.mpf(1), precise(delta) * terms)


def excess(stated, truth):
    """How far the stated value is above the truth, relative; negative means a claim that is false."""
    with mpmath.workdps(DIGITS):
        return float((precise(stated) - truth) / truth) if truth else float(stated)


def assert_rounded_against_us(convert, truth, inputs):
    """The figure to reach: never below the truth, at most one part in a thousand million above it."""
    found = [excess(convert(*each), truth(*each)) for each in inputs]

    assert min(found) >= 0, f"below the truth by {-min(found)}"
    assert max(found) <= TOLERANCE, f"above the truth by {max(found)}"


def _bisect(increasing):
    low, high = -750.0, 700.0
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(math.exp(middle)) < 0 else (low, middle)
    return mpmath.exp((low + high) / 2)


def _polish(start, value, slope):
    u = start  # ten right digits or more; each step doubles them, and the bound errs by their square
    for digits in (40, 90):
        with mpmath.workdps(digits):
            u -= value(u) / slope(u)
    return u


def random_conversions(seed, how_many):
    """Draw (rho, epsilon), (rho, delta) and (epsilon, delta, size), spread over many sizes."""
    draw = random.Random(seed)

    def power(low, high):
        return Fraction(f"{10 ** draw.uniform(low, high):.6e}")

    to_delta, to_epsilon, to_group = [], [], []
    while len(to_delta) < how_many[0]:
        rho, epsilon = power(-8, 2), power(-4, 2)
        if float(epsilon - rho) ** 2 / float(4 * rho) < 880:  # above the smallest delta that is stated
            to_delta.append((rho, epsilon))
    while len(to_epsilon) < how_many[1]:
        to_epsilon.append((power(-8, 3), power(-300, -0.01)))
    while len(to_group) < how_many[2]:
        to_group.append((power(-8, 1.2), power(-60, -0.01), draw.choice([2, 2, 2, 3, 5, 17])))
    return to_delta, to_epsilon, to_group
