"""Strategies with one bug each, planted to see whether the checks of the suite notice."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.protocols.registry import protocol_from
from evenhand.collect.reports.reports import Reports
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.randomness import SeededSource


@dataclass(frozen=True, init=False, repr=False)
class FullEpsilonEach(Independent):
    """Bug 4: every column is reported with the whole epsilon, and the whole is stated once."""

    def __init__(self, sizes, epsilon, protocol):
        super().__init__({column: protocol(k, epsilon) for column, k in sizes.items()})

    @property
    def epsilon(self):
        return next(iter(self.protocols.values())).epsilon

    def guarantee_for(self, *, in_clear=()):
        return Guarantee(
            epsilon=self.epsilon, unit="one report", trust="local", protects=self.columns, in_clear=in_clear
        )


@dataclass(frozen=True, init=False, repr=False)
class DrawnWithAll(Independent):
    """Bug 4, in what is drawn alone: a share of epsilon is stated, the whole is spent on each column."""

    def _privatize(self, codes, source):
        whole = sum((way.epsilon for way in self.protocols.values()), Fraction(0))
        sent = []
        for column, way in self.protocols.items():
            louder = protocol_from(way.to_dict() | {"epsilon": str(whole)})
            drawn = louder.privatize(codes[column], rng=source)
            sent.append(Reports(drawn.values, protocol=way, simulated=True))
        return sent, None


@dataclass(frozen=True, init=False, repr=False)
class OneStream(Independent):
    """Bug 5, between columns: all columns of a person are drawn from one and the same stream."""

    def _privatize(self, codes, source):
        seed = int(source.words(1)[0])
        return [way.privatize(codes[column], rng=SeededSource(seed)) for column, way in self.pairs], None


@dataclass(frozen=True, init=False, repr=False)
class AskedByValue(Sampled):
    """Who is asked what depends on the first column's value, which being asked then tells."""

    def _privatize(self, codes, source):
        first = next(iter(codes.values()))
        asked = (first > 0).astype(np.uint8)
        sent = [
            way.privatize(codes[column][asked == position], rng=SeededSource(position))
            for position, (column, way) in enumerate(self.pairs)
        ]
        return sent, asked
