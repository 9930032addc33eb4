"""The samplers once more: slow, obvious, in Python integers and Fractions, straight from the papers.

They read a tape of units in the order in which the kernels do, so that the same tape must give the same
draws. `ScriptedSource` plays words chosen by a test.
"""

import math
from fractions import Fraction

import numpy as np

from evenhand.privacy.randomness import Source
from evenhand.privacy.sampling import bernoulli, discrete_gaussian, discrete_laplace, subsets, uniform_below

SAMPLERS = {
    "bernoulli": lambda **where: bernoulli(Fraction(77, 2**9), **where),
    "uniform_below": lambda **where: uniform_below(1_000, **where),
    "uniform_below, wide": lambda **where: uniform_below(2**62 + 5, **where),
    "subsets": lambda **where: subsets(9, 4, **where),
    "discrete_laplace": lambda **where: discrete_laplace("7/3", **where),
    "discrete_gaussian": lambda **where: discrete_gaussian("25/7", **where),
}


class ScriptedSource(Source):
    """Plays the given words, then those of a seeded stream, or fails when they run out."""

    kind = "seeded"

    def __init__(self, words, *, then=None):
        self.script = [int(word) for word in words]
        self.then = then
        self.asked = []

    def words(self, count):
        self.asked.append(count)
        played, self.script = self.script[:count], self.script[count:]
        if len(played) < count:
            played += self.then.words(count - len(played)).tolist()
        return np.array(played, dtype=np.uint64)


class Tape:
    """The units of an array of words, the low end of each word first."""

    def __init__(self, words, bits=32):
        mask = 2**bits - 1
        self.units = [(int(word) >> shift) & mask for word in words for shift in range(0, 64, bits)]
        self.position = 0

    def next(self, units=1):
        taken = self.units[self.position : self.position + units]
        if len(taken) < units:
            raise EOFError
        self.position += units
        return sum(unit << (32 * place) for place, unit in enumerate(taken))


def words_of(halves):
    """Pack 32-bit units into words, padding with one zero if their number is odd."""
    halves = [int(half) for half in halves]
    halves += [0] * (len(halves) % 2)
    return [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]


def slow_below(tape, n):
    bits = 32 if n <= 2**32 else 64
    while True:
        product = tape.next(bits // 32) * n
        if product % 2**bits >= 2**bits % n:
            return product >> bits


def slow_subset(tape, deck, k):
    for place in range(k):
        other = place + slow_below(tape, len(deck) - place)
        deck[place], deck[other] = deck[other], deck[place]
    return deck[:k]


def slow_bernoulli(tape, probability):
    while True:
        probability *= 256
        digit = math.floor(probability)
        unit = tape.next()
        if unit != digit:
            return unit < digit
        probability -= digit
        if probability == 0:
            return False


def slow_inverse_e(tape):
    """Trials with probability 1/2, 1/3, ...; one unit settles the first seven."""
    block = 2**32 // math.factorial(8)
    unit = tape.next()
    while unit < 2**32 % math.factorial(8):
        unit = tape.next()
    outcome = (unit - 2**32 % math.factorial(8)) // block
    yes = sum((-1) ** k * math.factorial(8) // math.factorial(k) for k in range(2, 8))
    if outcome != yes:
        return outcome < yes
    place = 9
    while slow_below(tape, place) == 0:
        place += 1
    return place % 2 == 1


def slow_laplace(tape, scale):
    """Canonne, Kamath and Steinke, Algorithm 2, for scale t / s."""
    t, s = scale.numerator, scale.denominator
    while True:
        unit = tape.next()
        negative, product = unit % 2, (unit // 2) * t
        remainder = 0
        if t > 1:
            if product % 2**31 < 2**31 % t:
                continue
            remainder = product >> 31
            if not _slow_exp_of_remainder(tape, remainder, t):
                continue
        quotient = 0
        while slow_inverse_e(tape):
            quotient += 1
        size = (remainder + t * quotient) // s
        if not (negative and size == 0):
            return -size if negative else size


def _slow_exp_of_remainder(tape, remainder, t):
    """Algorithm 1: Bernoulli(exp(-remainder / t))."""
    place = 1
    while True:
        if t * place < 2**32:
            success = slow_below(tape, t * place) < remainder
        else:
            success = slow_below(tape, place) == 0 and slow_below(tape, t) < remainder
        if not success:
            return place % 2 == 1
        place += 1


def slow_gaussian(tape, variance):
    """Canonne, Kamath and Steinke, Algorithm 3."""
    t = math.isqrt(math.floor(variance)) + 1
    while True:
        y = slow_laplace(tape, Fraction(t))
        exponent = (abs(y) - variance / t) ** 2 / (2 * variance)
        if _slow_exp(tape, exponent, variance.numerator * variance.denominator * t**2):
            return y


def _slow_exp(tape, exponent, bound):
    """Algorithm 1: Bernoulli(exp(-exponent)), the exponent being a multiple of 1 / (2 bound)."""
    while exponent >= 1:
        if not slow_inverse_e(tape):
            return False
        exponent -= 1
    place = 1
    while True:
        if place > 1 and slow_below(tape, place) != 0:
            return place % 2 == 1
        drawn = slow_below(tape, bound)
        cell = Fraction(drawn, bound), Fraction(drawn + 1, bound)
        success = cell[1] <= exponent
        if cell[0] < exponent < cell[1]:
            success = tape.next() < 2**31
        if not success:
            return place % 2 == 1
        place += 1


def slow_draws(draw, tape, size):
    return [draw(tape) for _ in range(size)]
