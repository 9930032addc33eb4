"""Files in TOML, damaged in ways drawn from a seed, and what reading each must come to."""

import datetime as dt
import random
import string
import time
import tomllib
from contextlib import suppress
from dataclasses import dataclass

import tomli_w

SEED = 20_261_115

TOKENS = [
    "nan", "inf", "-0.0", "true", "1e400", "9" * 25, "0x" + "f" * 40, "1979-05-27", "07:32:00", "[]", "{}",
    "[[1]]", '""', '"\\u0000"', "'''", '"""', "\x00", "\\", "#", "=", "[[columns]]", "[roles]", "format = 1",
    "[columns.levels.groups]", 'name = "age"', "\r", "\ud7ff", "😀", "\u202e", "a.b.c = 1",
    "{a = {b = [1, {c = 2}]}}", "[" * 2_000, "a." * 40,
]  # fmt: skip

VALUES = [
    None, True, False, 0, 1, -1, 2**63, -(2**70), 10**4000, 0.0, 0.5, float("nan"), float("inf"), 1e308, "",
    "x", "age", "Male", "other", "x" * 3_000, "\x00", "\u202e", [], [[]], ["x"], [1, "x"], [1.5], {},
    {"x": 1}, {"name": "x"}, dt.date(1979, 5, 27), dt.time(7, 32), ["gender", "age"], [True], "categorical",
    "integers", "binned", "drop",
]  # fmt: skip


def damage_text(text, rng):
    """Cut, copy, swap or overwrite a part of the text."""
    place, length = rng.randrange(len(text)), rng.choice([1, 1, 2, 5, 40])
    lines = text.split("\n")
    line, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(8)
    if how == 0:
        return text[:place] + text[place + length :]
    if how == 1:
        return text[:place] + rng.choice(TOKENS) + text[place:]
    if how == 2:
        return text[:place] + rng.choice(TOKENS) + text[place + length :]
    if how == 3:
        return text[:place] + rng.choice(string.printable) + text[place + 1 :]
    if how == 4:
        return text[:place]
    if how == 5:
        lines[line], lines[other] = lines[other], lines[line]
    elif how == 6:
        lines.insert(other, lines[line])
    else:
        key, _, _ = lines[line].partition("=")
        lines[line] = f"{key}= {rng.choice(TOKENS)}"
    return "\n".join(lines)


def nodes(node, path=()):
    yield path
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, each in inside:
        yield from nodes(each, (*path, key))


@dataclass(frozen=True)
class Damage:
    """How whole files become damaged ones, and what reading a damaged one may come to.

    `read` gives what a file holds or raises `error`, which names the field at fault in a message of fewer
    than `longest` letters. `write` gives the text of what was read, and `compared` what must come back.
    """

    wholes: list
    values: list
    keys: list
    read: object
    write: object
    compared: object
    error: type
    longest: int
    inside: float = 0.5
    added: float = 0.2

    def damaged(self, rng):
        """Return a whole file with something else in its document, then in its text; one, both or neither."""
        text = rng.choice(self.wholes)
        with suppress(ValueError):  # a number of more digits than Python writes
            text = self._document(text, rng) if rng.random() < self.inside else text
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            text = damage_text(text or " ", rng)
        return text

    def _document(self, text, rng):
        """Put something else, or nothing, where a value or a table stands."""
        document = tomllib.loads(text)
        *parents, last = rng.choice([path for path in nodes(document) if path])
        owner = document
        for key in parents:
            owner = owner[key]
        value = rng.choice(self.values)
        if value is None:
            del owner[last]
        elif isinstance(owner, dict) and rng.random() < self.added:
            owner[rng.choice(self.keys)] = value
        else:
            owner[last] = value
        return tomli_w.dumps(document)

    def outcome(self, text):
        """Read `text`; return what it holds, or the field at fault; anything else is a failure."""
        try:
            found = self.read(text)
        except self.error as caught:
            field, message = caught.field, str(caught)
        else:
            assert self.compared(self.read(self.write(found))) == self.compared(found)
            return found
        assert isinstance(field, str)
        assert field
        assert len(message) < self.longest
        return field

    def try_many(self, count):
        """Damage so many files and read each, in less than two seconds."""
        rng = random.Random(SEED)
        outcomes = []
        for _ in range(count):
            text = self.damaged(rng)
            start = time.perf_counter()
            outcomes.append(self.outcome(text))
            assert time.perf_counter() - start < 2
        fields = [each for each in outcomes if isinstance(each, str)]

        assert len(outcomes) - len(fields) > count / 50  # some damage is harmless,
        assert len(fields) > count / 2  # most is not,
        assert len(set(fields)) > 30  # and the field at fault is told, not just that there is one
