"""Mechanisms with a planted bug each; beside every one stands what it should have been."""

import numpy as np

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.unary import OUE
from evenhand.collect.reports.memo import Memo
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.sampling import bernoulli, uniform_below


class LastBitKept(OUE):
    """Planted bug 1: the last bit is sent as it is."""

    def _privatize(self, codes, source):
        packed = super()._privatize(codes, source)
        byte, mask = divmod(self.k - 1, 8)
        last = np.uint8(1 << mask)
        packed[:, byte] &= np.invert(last)
        packed[codes == self.k - 1, byte] |= last
        return packed


class OneTooMany(GRR):
    """Planted bug 2: the false value is drawn among all k, the true one included, so q = (1 - p)/k."""

    def _privatize(self, codes, source):
        kept = bernoulli(self.p_exact, size=codes.size, source=source)
        other = uniform_below(self.k, size=codes.size, source=source)
        return np.where(kept, codes, other).astype(self.layout.dtype)


def tuples(sizes, epsilons):
    """Return a mechanism that reports several attributes, each with its own epsilon.

    Planted bug 4: each has all of it.
    """

    def report(values, size, rng):
        protocols = [GRR(k=k, epsilon=epsilon) for k, epsilon in zip(sizes, epsilons, strict=True)]
        columns = [
            np.asarray(protocol.privatize(np.full(size, value), rng=rng))
            for protocol, value in zip(protocols, values, strict=True)
        ]
        return np.stack(columns, axis=1)

    return report


def neighbours(epsilon, *, shared):
    """Return a person's report beside that of a neighbour whose value is known to be 0.

    Planted bug 5: both have the same random stream.
    """

    def report(value, size, rng):
        seeds = [int(word) for word in rng.words(2)]
        sources = [SeededSource(seeds[0 if shared else person]) for person in (0, 1)]
        protocol = GRR(k=4, epsilon=epsilon)
        columns = [
            protocol.privatize(np.full(size, held), rng=source)
            for held, source in zip((value, 0), sources, strict=True)
        ]
        return np.stack([np.asarray(each) for each in columns], axis=1)

    return report


class Forgetful(Memo):
    """Planted bug 11: every round has a fresh draw."""

    def answer(self, people, codes, *, rng=None):
        return self.protocol.privatize(codes, rng=rng)


def rounds(kind, protocol, *, count=10):
    """Return the answers of one person in so many rounds."""

    def report(value, size, rng):
        memo = kind(protocol)
        people, codes = np.arange(size), np.full(size, value)
        answers = [np.asarray(memo.answer(people, codes, rng=rng)) for _ in range(count)]
        return np.stack(answers, axis=1)

    return report
