"""The kernel of randomized response draws the law it claims, unit for unit.

The slow version below computes with Python integers. It follows the kernel in the order of the units alone;
what a unit means it decides from the law, and it checks that a unit which the kernel settles leaves no doubt.
"""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.kernels import response as _kernels_response
from evenhand.collect.protocols.grr import GRR, _thresholds, respond
from evenhand.collect.protocols.probabilities import GRID
from evenhand.errors import RandomSourceError
from evenhand.privacy import feeding
from evenhand.privacy.randomness import SeededSource
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.privacy._slow_sampling import ScriptedSource, Tape, slow_below, words_of

LAWS = {
    "k 2": (2, GRR(2, 1).p_exact),
    "k 5": (5, GRR(5, 1).p_exact),
    "k 74": (74, GRR(74, "1/2").p_exact),
    "k 1000": (1_000, GRR(1_000, 3).p_exact),
    "many values": (70_000, GRR(70_000, 2).p_exact),
    "most values": (2**31 - 1, GRR(2**31 - 1, 1).p_exact),
    "large epsilon": (5, GRR(5, 20).p_exact),
    "larger epsilon": (5, GRR(5, 50).p_exact),
    "no even cells": (7, Fraction(GRID // 3, GRID)),
    "no cells": (100, 1 - Fraction(50, GRID)),
    "always false": (4, Fraction(0)),
    "always true": (4, Fraction(1)),
    "a half": (2, Fraction(1, 2)),
}


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_response)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    return compiled_or_plain(request, monkeypatch, _kernels_response)


@pytest.fixture(autouse=True)
def no_wrap():
    with np.errstate(all="raise", under="ignore"):
        yield


def _meaning(whole, flip, cell, others):
    """What a uniform number below 2**53 says: nothing (keep the code), a false value's number, or "draw"."""
    if whole >= flip:
        return "keep"
    return whole // cell if whole < cell * others else "draw"


def _is_settled(unit, flip, cell, others, reciprocal, shift, limit):
    product = unit * reciprocal
    near = product % 2**shift >= limit or product >> shift >= others
    return unit > flip >> 21 or not near


def _slow_group(tape, codes, thresholds):
    flip, cell, others, *_ = thresholds
    units, reports = [tape.next() for _ in codes], []
    for unit, code in zip(units, codes, strict=True):
        whole = unit << 21
        if _is_settled(unit, *thresholds):
            assert (
                _meaning(whole, flip, cell, others)
                == _meaning(whole + 2**21 - 1, flip, cell, others)
                != "draw"
            )
        else:
            whole += tape.next() >> 11
        said = _meaning(whole, flip, cell, others)
        said = slow_below(tape, others) if said == "draw" else said
        reports.append(code if said == "keep" else said + (said >= code))
    return reports


def slow_respond(tape, codes, k, keep):
    thresholds, reports = _thresholds(k, keep), []
    for start in range(0, len(codes), _kernels_response.GROUP):
        reports += _slow_group(tape, codes[start : start + _kernels_response.GROUP], thresholds)
    return reports


# --- the same tape gives the same reports -------------------------------------------------------


@pytest.mark.parametrize(("k", "keep"), [*LAWS.values()], ids=LAWS)
def test_the_reports_are_those_of_the_slow_version(kernels, k, keep):
    codes = [i * 12_345 % k for i in range(600)]
    fast = respond(np.array(codes), k, keep, SeededSource(1)).tolist()

    assert fast == slow_respond(Tape(SeededSource(1).words(2_000)), codes, k, keep)


@pytest.mark.parametrize(("k", "keep"), [*LAWS.values()], ids=LAWS)
def test_a_unit_at_the_edge_of_a_cell_is_never_settled_wrongly(kernels, k, keep):
    """Units around every kind of edge: the slow version stops if one that is settled leaves a doubt."""
    flip, cell, others, *_ = _thresholds(k, keep)
    edges = [flip >> 21, 0, 2**32 - 1]
    edges += [(j * cell) >> 21 for j in {*range(min(others, 60)), others - 1, others // 2, others}]
    units = sorted({min(max(edge + step, 0), 2**32 - 1) for edge in edges for step in range(-6, 7)})
    units += units[-1:] * (len(units) % 2)
    tail = SeededSource(2).words(1_000).tolist()
    group = _kernels_response.GROUP
    for start in range(0, len(units), group):
        script = words_of(units[start : start + group]) + tail
        codes = [i * 7 % k for i in range(len(units[start : start + group]))]
        fast = respond(np.array(codes), k, keep, ScriptedSource(script, then=SeededSource(3))).tolist()

        assert fast == slow_respond(Tape(script), codes, k, keep)


@pytest.mark.parametrize("name", ["k 5", "k 74", "k 1000", "many values"])
def test_one_unit_settles_nearly_all(name):
    """If not, the fast way is not fast."""
    k, keep = LAWS[name]
    thresholds = _thresholds(k, keep)
    units = Tape(SeededSource(4).words(5_000)).units
    open_ = sum(not _is_settled(unit, *thresholds) for unit in units)

    assert open_ / len(units) < 0.001


@pytest.mark.parametrize(("k", "keep"), [*LAWS.values()], ids=LAWS)
def test_the_numbers_stay_below_their_bounds(k, keep):
    flip, cell, others, reciprocal, shift, limit = _thresholds(k, keep)

    assert reciprocal < 2**32
    assert 32 <= shift < 64
    assert 0 <= limit < 2**64
    assert cell * others <= flip <= GRID
    assert flip - cell * others < others


# --- rare branches, by script -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("halves", "expected"),
    [
        ([0, 5 << 11], 3),  # U = 5: cell 2 of size 2, and code 0 is passed over
        ([0, 7 << 11], 0),  # U = 7 = flip: kept
        ([0, 6 << 11, 2**31], 2),  # U = 6 belongs to no cell: drawn afresh, 1, and code 0 is passed over
        ([0, 6 << 11, 0, 2**31], 2),  # the first unit would be biased
        ([0, 6 << 11, 0, 0, 2**32 - 1], 3),
        ([1], 0),  # beyond flip: kept without a second unit
    ],
)
def test_the_slow_way_in_its_branches(kernels, halves, expected):
    source = ScriptedSource(words_of(halves), then=SeededSource(5))
    found = respond(np.array([0]), 4, 1 - Fraction(7, GRID), source)

    assert found.tolist() == [expected]


@pytest.mark.parametrize("halves", [[0], [0, 6 << 11], [0, 6 << 11, 0]])
def test_running_out_in_the_slow_way_leaves_the_code_alone(plain, halves):
    out, room = np.array([2], dtype=np.uint8), np.empty(plain.SPAN, dtype=np.uint32)
    law = np.array(_thresholds(4, 1 - Fraction(7, GRID)), dtype=np.uint64)
    for module in (plain, _kernels_response):
        assert module.respond(np.array(halves, dtype=np.uint32), out, 0, out, law, room) == (0, 0)
        assert out.tolist() == [2]


@pytest.mark.parametrize(("k", "keep"), [*LAWS.values()], ids=LAWS)
def test_no_unit_that_is_open_passes_a_group_by(plain, k, keep):
    """A group is looked at again only if two bounds say so: they must say so for every unit that is open."""
    thresholds = flip, cell, others, reciprocal, shift, limit = _thresholds(k, keep)
    edge = min(flip >> 21, 2**32 - 1)
    brink = -(-(others << shift) // reciprocal) if reciprocal else edge  # the least unit of no cell
    edges = [edge, brink, *(((j * cell) >> 21) for j in {*range(min(others, 60)), others - 1, others})]
    units = {min(max(each + step, 0), 2**32 - 1) for each in edges for step in range(-6, 7)}
    room = np.empty(plain.SPAN, dtype=np.uint32)
    given = np.uint32(edge), np.uint64(reciprocal), np.uint32(shift - 32)
    for unit in units | {int(each) for each in SeededSource(9).words(200) >> np.uint64(32)}:
        first, codes = np.array([unit], dtype=np.uint32), np.array([k - 1], dtype=np.uint32)
        largest, farthest = plain._answer(first, codes, room, *given)
        looked_at = int(largest) >= limit >> 32 or int(farthest) > others

        assert looked_at or _is_settled(unit, *thresholds)
        assert looked_at or unit > edge or unit < brink


@pytest.mark.parametrize("name", ["k 5", "k 1000", "many values", "most values", "no even cells"])
@pytest.mark.parametrize("size", [1_023, 1_024, 1_025, 3_000])
def test_groups_answered_together_say_what_each_says_alone(kernels, name, size):
    """Several groups share their loops: one with an open unit must not shift the units of the next."""
    k, keep = LAWS[name]
    codes = np.arange(size) * 11 % k
    together = respond(codes, k, keep, SeededSource(6)).tolist()

    assert together == slow_respond(Tape(SeededSource(6).words(2 * size)), codes.tolist(), k, keep)


@pytest.mark.parametrize("place", [0, 255, 256, 1_023, 1_024, 2_047])
def test_a_span_with_one_open_unit_is_answered_group_by_group(kernels, place):
    """The unit at the edge alone is open: two further units stand after its group, or are left over."""
    k, keep = LAWS["k 5"]
    units = [2**32 - 1] * 2_048
    units[place] = _thresholds(k, keep)[0] >> 21
    end = (place // _kernels_response.GROUP + 1) * _kernels_response.GROUP
    script = words_of([*units[:end], 1 << 31, 1 << 31, *units[end:], *[1 << 31] * 64])
    codes = [i % k for i in range(2_048)]
    fast = respond(np.array(codes), k, keep, ScriptedSource(script, then=SeededSource(3))).tolist()

    assert fast == slow_respond(Tape(script), codes, k, keep)


@pytest.mark.parametrize("dtype", ["u1", "i8", ">u2"])
@pytest.mark.parametrize("step", [1, 2])
def test_the_codes_given_stay_as_they_are(kernels, dtype, step):
    """Codes of the reports' own type are read where they stand, and may be locked."""
    codes = (np.arange(1_200) % 5).astype(dtype)[::step]
    before = codes.copy()
    open_ = respond(codes, 5, GRR(5, 1).p_exact, SeededSource(8))
    codes.flags.writeable = False
    locked = respond(codes, 5, GRR(5, 1).p_exact, SeededSource(8))

    assert np.array_equal(codes, before)
    assert np.array_equal(open_, locked)
    assert not np.shares_memory(open_, codes)
    assert open_.flags.writeable
    tape = Tape(SeededSource(8).words(2_000))
    assert open_.tolist() == slow_respond(tape, codes.tolist(), 5, GRR(5, 1).p_exact)


@pytest.mark.parametrize("name", ["k 5", "most values", "no cells", "no even cells", "larger epsilon"])
@pytest.mark.parametrize("size", [1, 255, 256, 257, 700])
def test_the_reports_do_not_depend_on_how_words_are_cut(kernels, name, size, monkeypatch):
    k, keep = LAWS[name]
    codes = np.arange(size) * 11 % k
    whole = respond(codes, k, keep, SeededSource(6))
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)
    for most, seam in ((1, 1 << 10), (3, 1), (64, 5), (129, 300), (130, 64)):
        monkeypatch.setattr(feeding, "MOST_WORDS", most)
        monkeypatch.setattr(feeding, "SEAM", seam)

        assert np.array_equal(respond(codes, k, keep, SeededSource(6)), whole)


def test_a_stuck_source_is_refused():
    """It always asks for a draw afresh and always gives the unit that would be biased."""

    class Stuck(ScriptedSource):
        def words(self, count):
            return np.full(count, 0, dtype=np.uint64)

    with pytest.raises(RandomSourceError, match="not random"):
        respond(np.array([0]), 4, 1 - Fraction(2, GRID), Stuck([]))


# --- counting -----------------------------------------------------------------------------------


def _slow_counts(values, size):
    return [sum(value == each for value in values.tolist()) for each in range(size)]


@pytest.mark.parametrize("size", [2, 5, 16, 17, 40])
@pytest.mark.parametrize("n", [0, 1, 6, 7, 8, 31])
@pytest.mark.parametrize("tables", [1, 4])
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4"])
def test_counts_are_those_of_the_slow_version(plain, size, n, tables, dtype, monkeypatch):
    """Few values are compared and many looked up; parts and turns have every remainder."""
    monkeypatch.setattr(plain, "_PART", 7)
    values = (np.arange(n) * 13 % size).astype(dtype)
    for module in (plain, _kernels_response):
        found = np.ones((tables, size), dtype=np.int64)

        assert module.add_counts(values, found)
        assert (found.sum(axis=0) - tables).tolist() == _slow_counts(values, size)


@pytest.mark.parametrize("size", [2, 16, 17])
@pytest.mark.parametrize("tables", [1, 4])
@pytest.mark.parametrize("place", [0, 5, 7, 11])
def test_a_value_without_a_place_is_reported_and_never_written(plain, size, tables, place, monkeypatch):
    monkeypatch.setattr(plain, "_PART", 6)
    for value in (size, 255):
        values = np.zeros(12, dtype=np.uint8)
        values[place] = value
        for module in (plain, _kernels_response):
            beyond = np.zeros((tables + 1, size), dtype=np.int64)

            assert not module.add_counts(values, beyond[:tables])
            assert not beyond[tables:].any()


def test_a_count_of_a_whole_part_does_not_wrap():
    """The counts of a part have 16 bits."""
    values = np.ones(3 * _kernels_response._PART + 5, dtype=np.uint8)
    found = np.zeros((4, 2), dtype=np.int64)

    assert _kernels_response._PART < 2**16
    assert _kernels_response.add_counts(values, found)
    assert found.sum(axis=0).tolist() == [0, values.size]


def test_places_are_marked_or_said_to_be_missing(plain):
    for module in (plain, _kernels_response):
        found = np.zeros((3, 2), dtype=np.uint8)

        assert not module.mark(np.array([1, 2, 0], dtype=np.uint8), found)
        assert found.tolist() == [[0, 1], [0, 0], [1, 0]]
        assert module.mark(np.array([1, 0, 0], dtype=np.uint8), found)
