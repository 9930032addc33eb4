"""The exact law of what a person answers over many rounds, counted over every way the dice can fall.

A three-sided die decides each answer of `ThirdsResponse`. Person number i throws the i-th of all sequences of
throws, so the people together are every possible world once, and shares of people are probabilities.
"""

import collections
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from evenhand.collect.protocols.grr import GRR
from evenhand.privacy.randomness import Source

ROUNDS = 10
WORLDS = 3**ROUNDS


@dataclass(frozen=True, init=False, repr=False)
class ThirdsResponse(GRR):
    """Randomized response on two values: the truth with probability 2/3, so a ratio of 2."""

    def _probabilities(self):
        return Fraction(2, 3), Fraction(1, 3)

    def _privatize(self, codes, source):
        lie = source.words(codes.size) == 0
        return np.where(lie, 1 - codes.astype(np.int64), codes).astype(np.uint8)


class EveryWorld(Source):
    """The n-th call gives each world the n-th throw of its sequence."""

    kind = "seeded"

    def __init__(self):
        self.calls = 0

    def words(self, count):
        if count != WORLDS:
            raise AssertionError("each world must throw once")
        throws = np.arange(WORLDS) // 3**self.calls % 3
        self.calls += 1
        return throws.astype(np.uint64)


def transcript_law(memo, history):
    """Return the probability of every sequence of answers of a person with this history, as Fractions."""
    source, people = EveryWorld(), np.arange(WORLDS)
    rounds = [memo.answer(people, np.full(WORLDS, value), rng=source).values for value in history]
    keys = sum(answer.astype(np.int64) << place for place, answer in enumerate(rounds))
    return {
        int(key): Fraction(int(count), WORLDS) for key, count in collections.Counter(keys.tolist()).items()
    }


def worst_ratio(law, other):
    """Return the largest ratio of the probabilities of one transcript; None if it has no bound."""
    if set(law) - set(other):
        return None
    return max(share / other[transcript] for transcript, share in law.items())
