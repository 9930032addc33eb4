"""Random words that a test writes: one script for each draw, whatever source the draw believes to have."""

import numpy as np

from evenhand.privacy import randomness
from evenhand.privacy.randomness import SecureSource, Source


class Scripts(Source):
    """Plays one script of words after the other; each draw that begins takes the next one.

    Past the end of its script a draw reads the filler.
    """

    kind = "seeded"

    def __init__(self, *scripts, filler=0x5555_5555_5555_5555):
        self.scripts = [[int(word) for word in script] for script in scripts]
        self.filler = filler
        self.begun = 0

    def refills(self):
        script = iter(self.scripts[self.begun])
        self.begun += 1

        def refill(count):
            return np.array([next(script, self.filler) for _ in range(count)], dtype=np.uint64)

        return refill

    def words(self, count):
        return self.refills()(count)


def secure_with(monkeypatch, scripts):
    """Return a secure source whose words are scripted: the way of a release, with known words."""

    class Played(SecureSource):
        def refills(self):
            return scripts.refills()

        def words(self, count):
            return scripts.words(count)

    monkeypatch.setattr(randomness, "SecureSource", Played)
    return Played()


def halves(*units):
    """Pack units of 32 bits into words, low end first."""
    units = [*units, *[0x5555_5555] * (len(units) % 2)]
    return [low | high << 32 for low, high in zip(units[::2], units[1::2], strict=True)]


def bytes_of(*units):
    """Pack bytes into words, low end first."""
    units = [*units, *[0x55] * (-len(units) % 8)]
    return [int.from_bytes(bytes(units[at : at + 8]), "little") for at in range(0, len(units), 8)]
