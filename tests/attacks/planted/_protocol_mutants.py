"""Protocols with one bug each, planted to see whether the checks of the suite notice.

They are made of the right protocols from outside, so that they stay wrong however those draw.
"""

from fractions import Fraction

import numpy as np

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.privacy.randomness import SeededSource


def _truth(codes, k):
    return np.asarray(codes)[:, None] == np.arange(k)


class _LastBitKept:
    """Bug 1: the last bit of a unary report is never flipped; it says whether the value is the last."""

    def _privatize(self, codes, source):
        values = super()._privatize(codes, source)
        bits = np.unpackbits(values, axis=1, count=self.k, bitorder="little")
        bits[:, -1] = _truth(codes, self.k)[:, -1]
        return np.packbits(bits, axis=1, bitorder="little")


class LastBitKeptOUE(_LastBitKept, OUE):
    pass


class LastBitKeptRAPPOR(_LastBitKept, RAPPOR):
    pass


class OtherOverAll(GRR):
    """Bug 2, in what is stated: q = (1 - p) / k in place of (1 - p) / (k - 1)."""

    def _probabilities(self):
        p, _ = super()._probabilities()
        return p, (1 - p) / self.k


class DrawnOverAll(GRR):
    """Bug 2, in what is drawn: who does not tell the truth names one of all k values, the true one too."""

    def _privatize(self, codes, source):
        held = np.asarray(codes).astype(np.int64)
        seeds = SeededSource(int(source.words(1)[0] >> np.uint64(1))).generator()
        keep = seeds.random(held.size) < float(self.p_exact)
        return np.where(keep, held, seeds.integers(self.k, size=held.size)).astype(self.layout.dtype)


class NeighboursShare(GRR):
    """Bug 5: every second person is given the stream of the person before."""

    def _privatize(self, codes, source):
        codes = np.asarray(codes)
        stream = int(source.words(1)[0])
        first = super()._privatize(codes[::2], SeededSource(stream))
        second = super()._privatize(codes[1::2], SeededSource(stream))
        out = np.empty(codes.size, dtype=first.dtype)
        out[::2], out[1::2] = first, second
        return out


class BatchesShare(OUE):
    """Bug 5: every batch of people starts the stream anew."""

    batch = 30_000

    def _privatize(self, codes, source):
        codes = np.asarray(codes)
        stream = int(source.words(1)[0])
        starts = range(0, codes.size, self.batch)
        parts = [
            super(BatchesShare, self)._privatize(codes[s : s + self.batch], SeededSource(stream))
            for s in starts
        ]
        return np.concatenate(parts)


class TruthFirst(SS):
    """A set with the right law whose order tells: the true value stands first if it is there at all."""

    def _privatize(self, codes, source):
        values = np.array(super()._privatize(codes, source))
        rows, places = np.nonzero(values == np.asarray(codes)[:, None])
        values[rows, places] = values[rows, 0]
        values[rows, 0] = np.asarray(codes)[rows]
        return values


class MultiplierTells(OLH):
    """A hash function that is not drawn without regard to the value: its lowest bit is the value's."""

    def _privatize(self, codes, source):
        values = np.array(super()._privatize(codes, source))
        kept = values["multiplier"] & ~values["multiplier"].dtype.type(1)
        values["multiplier"] = kept | (np.asarray(codes) & 1).astype(kept.dtype)
        return values


class TooLikely(GRR):
    """The truth a hair too likely: one step of the grid too much of it."""

    def _probabilities(self):
        p, q = super()._probabilities()
        step = Fraction(1, 1 << 53)
        return p + (self.k - 1) * step, q - step
