"""The kernel of a matrix of probabilities draws the law it claims, unit for unit.

The slow version below computes with Python integers: 53 random bits, and the number of edges not above them.
"""

from bisect import bisect_right
from itertools import accumulate

import numpy as np
import pytest

from evenhand.collect.kernels import channel as _kernels_channel
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.probabilities import GRID
from evenhand.privacy import feeding
from evenhand.privacy.randomness import SeededSource
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.privacy._slow_sampling import ScriptedSource, Tape, words_of


def _protocol(rows):
    """Return a protocol that draws by these whole numbers; a law of any ratio."""
    found = Optimal.example(k=len(rows), epsilon=40)
    found._set(law=tuple(map(tuple, rows)))
    return found


def _rows(k, seed):
    parts = np.random.default_rng(seed).integers(1, 1 << 40, size=(k, k)).tolist()
    return [[*row[:-1], GRID - sum(row[:-1])] for row in parts]


EVEN = [[GRID // 4] * 4] * 4
LAWS = {
    "two": [[GRID // 3, GRID - GRID // 3], [1, GRID - 1]],
    "even": EVEN,  # every edge has its low bits empty
    "five": _rows(5, 1),
    "nine": _rows(9, 2),
    "many": _rows(40, 3),
    "small ones": [[1] * 11 + [GRID - 11]] * 12,  # several edges share their high part
    "small ones last": [[GRID - 11] + [1] * 11] * 12,
}


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_channel)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    return compiled_or_plain(request, monkeypatch, _kernels_channel)


@pytest.fixture(autouse=True)
def no_wrap():
    with np.errstate(all="raise", under="ignore"):
        yield


def _slow(words, codes, rows):
    tape, edges, reports = Tape(words), [list(accumulate(row)) for row in rows], []
    for start in range(0, len(codes), _kernels_channel.GROUP):
        group = codes[start : start + _kernels_channel.GROUP]
        for unit, code in zip([tape.next() for _ in group], group, strict=True):
            inner = edges[code][:-1]
            low, high = (bisect_right(inner, (unit << 21) + rest) for rest in (0, 2**21 - 1))
            if any(edge >> 21 == unit for edge in inner):
                low = bisect_right(inner, (unit << 21) + (tape.next() >> 11))
            else:
                assert low == high  # one unit leaves no doubt
            reports.append(low)
    return reports


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("law", LAWS)
def test_reports_are_those_of_the_slow_version(law):
    """Units on an edge come up in one draw of four thousand million; here they do at once."""
    rows = LAWS[law]
    generator = np.random.default_rng(5)
    codes = generator.integers(len(rows), size=600)
    units = generator.integers(1 << 32, size=2_000)
    edges = np.array([edge >> 21 for code in codes for edge in accumulate(rows[code])])
    near = np.clip(generator.choice(edges, size=1_000) + generator.integers(-1, 2, size=1_000), 0, 2**32 - 1)
    units[::2] = near
    words = words_of(units.tolist())
    found = _protocol(rows).privatize(codes, rng=ScriptedSource(words, then=SeededSource(1)))

    assert found.values.tolist() == _slow(words, codes.tolist(), rows)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("law", ["two", "many"])
def test_without_a_unit_on_an_edge_one_unit_is_used_for_each(law):
    rows, words = LAWS[law], SeededSource(9).words(150).tolist()
    codes = np.arange(300) % len(rows)
    found = _protocol(rows).privatize(codes, rng=ScriptedSource(words, then=SeededSource(1)))

    assert found.values.tolist() == _slow(words, codes.tolist(), rows)


@pytest.mark.parametrize("law", ["two", "many"])
@pytest.mark.parametrize("most", [64, 100, 1_000])
def test_reports_do_not_depend_on_the_buffers(law, most, monkeypatch):
    """How many words are asked for at a time is a matter of speed, never of what a seed means."""
    protocol, codes = _protocol(LAWS[law]), np.arange(20_000) % len(LAWS[law])
    whole = protocol.privatize(codes, rng=SeededSource(3))
    monkeypatch.setattr(feeding, "MOST_WORDS", most)

    assert np.array_equal(protocol.privatize(codes, rng=SeededSource(3)), whole)


@pytest.mark.usefixtures("kernels")
def test_a_group_without_enough_units_is_left_for_the_next_call():
    """A unit that was looked at and dropped would make the draws depend on the buffers."""
    protocol = _protocol(LAWS["two"])
    tables, room = protocol._tables, np.empty(_kernels_channel.GROUP, dtype=np.uint32)
    codes, out = np.zeros(3, dtype=np.uint8), np.full(3, 9, dtype=np.uint8)
    on_edge = np.uint32(GRID // 3 >> 21)
    too_few = np.array([1, 2], dtype=np.uint32)
    none_after = np.array([1, on_edge, 2], dtype=np.uint32)
    enough = np.array([1, on_edge, 2, 0], dtype=np.uint32)
    made = _kernels_channel.choose

    assert made(too_few, out, 0, codes, *tables, room) == (0, 0)
    assert made(none_after, out, 0, codes, *tables, room) == (0, 0)
    assert out.tolist() == [9, 9, 9]
    assert made(enough, out, 0, codes, *tables, room) == (3, 4)
    assert out.tolist() == [0, 0, 0]
