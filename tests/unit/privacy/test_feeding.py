"""Feeding kernels from memory that is written over: what is not used yet must be kept."""

import numpy as np
import pytest

from evenhand.privacy import feeding
from evenhand.privacy.randomness import SeededSource, Source
from unit.privacy._slow_sampling import SAMPLERS


class Overwriting(Source):
    """The words of a seed, each refill over the one before."""

    kind = "seeded"

    def __init__(self, seed):
        self._source = SeededSource(seed)

    def words(self, count):
        return self._source.words(count)

    def refills(self):
        room = np.empty(1 << 17, dtype=np.uint64)

        def refill(count):
            room[:] = 0
            room[:count] = self.words(count)
            return room[:count]

        return refill


@pytest.mark.parametrize(("most", "seam"), [(3, 1 << 10), (50, 1), (50, 1 << 10), (1 << 16, 1 << 10)])
@pytest.mark.parametrize("name", SAMPLERS)
def test_words_that_are_left_over_outlive_the_next_refill(name, most, seam, monkeypatch):
    """Otherwise a draw would begin with one person's random words and end with another's."""
    whole = SAMPLERS[name](size=2_000, source=SeededSource(7))
    monkeypatch.setattr(feeding, "MOST_WORDS", most)
    monkeypatch.setattr(feeding, "SEAM", seam)

    assert np.array_equal(SAMPLERS[name](size=2_000, source=Overwriting(7)), whole)


def test_the_test_of_refills_can_see(monkeypatch):
    """The broken copy of the feeder keeps what is left where it will be written over."""

    def careless(kernel, out, done, parameters, left, fresh):
        units = np.concatenate((left, fresh))
        done, used = kernel(units, out, done, *parameters)
        return done, fresh[used - left.size :]

    whole = SAMPLERS["discrete_laplace"](size=2_000, source=SeededSource(7))
    monkeypatch.setattr(feeding, "MOST_WORDS", 50)
    monkeypatch.setattr(feeding, "_use", careless)

    assert np.array_equal(SAMPLERS["discrete_laplace"](size=2_000, source=SeededSource(7)), whole)
    assert not np.array_equal(SAMPLERS["discrete_laplace"](size=2_000, source=Overwriting(7)), whole)
