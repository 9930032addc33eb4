"""Every way that a kernel can go, with its probability as a Fraction: the law of a draw without drawing.

A kernel without the compiler reads numbers of which no digit is decided yet. Where it compares one with an
edge, the walk splits in two, each part with the share of numbers that it has. What the kernel returns at the
end of each way, with the product of the shares, is its law. Ways that are less likely than a limit are given
up, and their probabilities are added up: the law is wrong by no more than that.
"""

from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np

with mpmath.workdps(80):
    INVERSE_E = Fraction(int(mpmath.floor(mpmath.exp(-1) * 2**200)), 2**200)


class GivenUpError(Exception):
    """The way is too unlikely to be followed."""


class RestartError(Exception):
    """The kernel refuses what it proposed and begins again."""


class Tree:
    """Walks all ways through a function that asks `choose`, by running it again and again."""

    def __init__(self, least=Fraction(1, 2**60)):
        self.least = least
        self.path = []

    def choose(self, shares):
        """Return the number of one of the parts that have these shares."""
        if self.at == len(self.path):
            self.path.append([0, shares])
        index = self.path[self.at][0]
        self.at += 1
        self.weight *= shares[index]
        if self.weight < self.least:
            raise GivenUpError
        return index

    def law(self, run):
        """Return the probability of each result of `run`, of beginning again, and of ways given up."""
        found, restarted, lost = Counter(), Fraction(0), Fraction(0)
        while True:
            self.at, self.weight = 0, Fraction(1)
            try:
                result = run()
                found[result] += self.weight
            except RestartError:
                restarted += self.weight
            except GivenUpError:
                lost += self.weight
            del self.path[self.at :]
            while self.path and self.path[-1][0] + 1 == len(self.path[-1][1]):
                self.path.pop()
            if not self.path:
                return dict(found), restarted, lost
            self.path[-1][0] += 1


class Undecided:
    """A uniform whole number below a bound, of which as much is decided as somebody asked for."""

    __hash__ = None

    def __init__(self, tree, bound):
        self.tree, self.low, self.high = tree, 0, int(bound)

    def __lt__(self, edge):
        place = int(edge)
        if place <= self.low or place >= self.high:
            return place >= self.high
        share = Fraction(place - self.low, self.high - self.low)
        if self.tree.choose((share, 1 - share)) == 0:
            self.high = place
            return True
        self.low = place
        return False

    def __ge__(self, edge):
        return not self < edge

    def __eq__(self, value):
        return self >= value and self < int(value) + 1


class Units:
    """Stands where a kernel expects its units: there are always enough. Asking how many begins a round."""

    def __init__(self):
        self.begins = False

    @property
    def size(self):
        self.begins = True
        return 2**62


def let_kernels_ask(monkeypatch, plain, tree, *, inverse_e=True):
    """Put undecided numbers in place of what the kernels of noise draw; return the units to give them.

    The uniform numbers that are replaced are tied to their words elsewhere, edge by edge.
    """
    units = Units()

    def below(_, position, bound, *__):
        units.begins = False
        return Undecided(tree, bound), position + 1

    def take(_, position):
        return Undecided(tree, 2**32)

    def toss(_, position):
        units.begins = False
        return tree.choose((1 - INVERSE_E, INVERSE_E)) == 1, position + 1

    monkeypatch.setattr(plain, "_below", below)
    monkeypatch.setattr(plain, "_below_wide", below)
    monkeypatch.setattr(plain, "_take", take)
    if inverse_e:
        monkeypatch.setattr(plain, "_inverse_e", toss)
    return units


def let_rounds_begin_once(monkeypatch, plain, tree, units, scale):
    """Let the first unit of a round be each sign with each remainder, and let no second round begin."""
    later = plain._take
    rounds = []

    def take(given, position):
        if not units.begins:
            return later(given, position)
        if rounds:
            raise RestartError
        rounds.append(1)
        units.begins = False
        sign, remainder = divmod(tree.choose([Fraction(1, 2 * scale)] * (2 * scale)), scale)
        return np.uint64(last_number(remainder, scale) << 1 | sign)

    monkeypatch.setattr(plain, "_take", take)
    return rounds


def last_number(value, bound, bits=31):
    """The largest number of so many bits that stands for this value below a bound."""
    return -(-((value + 1) << bits) // bound) - 1


def first_number(value, bound, bits=31):
    """The least number that stands for the value, and whether it is thrown away so that all have as many."""
    number = -(-(value << bits) // bound)
    return number, (number * bound) % 2**bits < 2**bits % bound
