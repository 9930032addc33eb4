"""Every kernel of a protocol draws with exactly the probabilities that the protocol states.

A uniform number below 2**53 decides a report. The tests say which numbers must give which report, from the
stated probabilities alone, and look at the last number on one side of each edge and the first on the other:
an edge that is off by one in 2**53 is seen. The numbers on each side, counted, make up the stated law.
"""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from evenhand.collect import BLH, GRR, OLH, OUE, RAPPOR, SS, THE
from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Sampled
from evenhand.collect.kernels import bits
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.probabilities import GRID
from unit.collect._scripted_words import Scripts, bytes_of, halves, secure_with

LOW_21, LOW_45 = (1 << 21) - 1, (1 << 45) - 1
WAYS = ["seeded", "secure"]


@pytest.fixture(params=WAYS)
def drawn(request, monkeypatch):
    """Return a function that makes a report of one value from scripts, by the seeded or the secure way."""

    def draw(protocol, code, *scripts, n=1):
        played = Scripts(*scripts)
        source = played if request.param == "seeded" else secure_with(monkeypatch, played)
        reports = protocol.privatize(np.full(n, code), rng=source)
        assert played.begun == len(scripts)
        assert reports.simulated is (request.param == "seeded")
        return reports.values

    return draw


def whole_number(stated):
    """A stated probability in units of 2**-53, of which it must be a multiple."""
    units = Fraction(stated) * GRID
    assert units.denominator == 1
    return units.numerator


def as_units(number, *further):
    """A number of 53 bits as a kernel of 32-bit units reads it, and units after it."""
    return halves(number >> 21, (number & LOW_21) << 11, *further)


# --- randomized response --------------------------------------------------------------------------

RESPONSES = [GRR(2, 1), GRR(5, 1), GRR(74, "1/2"), GRR(1_000, 3), GRR(5, 20), GRR(3, "1/100"), GRR(70_000, 2)]


@pytest.mark.parametrize("protocol", RESPONSES, ids=repr)
def test_randomized_response_keeps_the_truth_from_the_edge_on(drawn, protocol):
    flip = whole_number(1 - protocol.p_exact)
    for code in {0, 1, protocol.k // 2, protocol.k - 1}:
        assert drawn(protocol, code, as_units(flip))[0] == code
        assert drawn(protocol, code, as_units(GRID - 1))[0] == code
        assert drawn(protocol, code, as_units(flip - 1))[0] != code
        assert drawn(protocol, code, as_units(0))[0] != code


@pytest.mark.parametrize("protocol", RESPONSES, ids=repr)
def test_every_false_value_has_equally_many_numbers_and_the_rest_is_drawn_uniformly(drawn, protocol):
    flip, others = whole_number(1 - protocol.p_exact), protocol.k - 1
    cell, rest = divmod(flip, others)

    assert Fraction(cell, GRID) + Fraction(rest, GRID) / others == protocol.q_exact
    code = others // 2
    for place in {0, 1, 2, others // 3, others - 1} & set(range(others)):
        value = place + (place >= code)
        assert drawn(protocol, code, as_units(place * cell))[0] == value
        assert drawn(protocol, code, as_units((place + 1) * cell - 1))[0] == value
    if rest:  # numbers that belong to no cell take a uniform place from further units
        for number in (cell * others, flip - 1):
            for place in {0, others // 2, others - 1}:
                first = -(-(place << 32) // others)  # the least unit of this place
                last = -(-((place + 1) << 32) // others) - 1
                redrawn = (first * others) % 2**32 < 2**32 % others
                value = place + (place >= code)
                assert drawn(protocol, code, as_units(number, last))[0] == value
                if not redrawn:
                    assert drawn(protocol, code, as_units(number, first))[0] == value
                else:  # thrown away: the next unit decides
                    assert drawn(protocol, code, as_units(number, first, last))[0] == value


def test_a_long_batch_keeps_the_same_edge_at_every_place(drawn):
    """Codes are answered in spans, groups and one by one; the edge is the same in all of them."""
    protocol, n = GRR(7, 1), 1_500
    flip = whole_number(1 - protocol.p_exact)
    for number, kept in ((flip, True), (flip - 1, False)):
        script = []  # the unit is on the edge, so every code asks for a further one
        for start in range(0, n, 256):
            group = min(256, n - start)
            script += [number >> 21] * group + [(number & LOW_21) << 11] * group
        values = drawn(protocol, 3, halves(*script), n=n)
        assert ((values == 3) == kept).all()


# --- bits -----------------------------------------------------------------------------------------

BITS = [OUE(3, 1), OUE(8, "1/2"), OUE(20, 2), OUE(64, 1), RAPPOR(5, 1), RAPPOR(16, 3), THE(9, 1), THE(24, 2)]


def lanes(number, probability):
    """Words in which the uniform number of every lane is `number`, for one group of words of bits."""
    units = whole_number(probability)
    script = []
    for digit in range(8):
        script += [(2**64 - 1) * (number >> (52 - digit) & 1)] * bits.GROUP
    if number >> 45 == units >> 45 and units & LOW_45:  # every lane is open and asks for its other digits
        script += [(number & LOW_45) << 19] * (64 * bits.GROUP)
    return script


@pytest.mark.parametrize("protocol", BITS, ids=repr)
def test_a_bit_is_set_below_its_stated_probability_and_not_from_it_on(drawn, protocol):
    p, q = whole_number(protocol.p_exact), whole_number(protocol.q_exact)
    padded = 8 * (-protocol.k % 8) <= protocol.k
    for code in {0, protocol.k // 2, protocol.k - 1}:
        for true_number, true_bit in ((p - 1, 1), (p, 0), (0, 1), (GRID - 1, 0)):
            for false_number, false_bit in ((q - 1, 1), (q, 0), (0, 1), (GRID - 1, 0)):
                true = lanes(true_number, protocol.p_exact)
                false = lanes(false_number, protocol.q_exact)
                scripts = (true, false) if padded else (false, true)
                values = drawn(protocol, code, *scripts)
                found = np.unpackbits(values, axis=1, bitorder="little")[0]

                expected = np.where(np.arange(protocol.k) == code, true_bit, false_bit)
                assert found[: protocol.k].tolist() == expected.tolist()
                assert not found[protocol.k :].any()


def test_one_lane_alone_is_settled_by_its_own_digits(drawn):
    """The lanes of a word share nothing: one below the edge among others from it on."""
    protocol = OUE(64, 1)
    q = whole_number(protocol.q_exact)
    true = lanes(GRID - 1, protocol.p_exact)
    for lane in (0, 1, 31, 63):
        false = lanes(q, protocol.q_exact)
        false[8 * bits.GROUP + lane] = ((q - 1) & LOW_45) << 19
        found = np.unpackbits(drawn(protocol, 5, true, false), axis=1, bitorder="little")[0]

        assert found.sum() == (lane != 5)
        assert found[lane] == (lane != 5)


# --- local hashing --------------------------------------------------------------------------------

HASHES = [BLH(10, 1), BLH(2, "1/10"), OLH(10, 1), OLH(100, 3), OLH(1_000, "7/2"), OLH(40_000, 5)]


@pytest.mark.parametrize("protocol", HASHES, ids=repr)
def test_the_noise_on_a_bucket_has_the_stated_steps(drawn, protocol):
    flip, g = whole_number(protocol.flip_exact), protocol.g

    assert protocol.p_exact == 1 - (g - 1) * protocol.flip_exact
    width, code = protocol.family.width, protocol.k - 1
    multiplier, offset = 0x9E3779B1 % 2**width, 0x7F4A7C15 % 2**width
    seeds = [multiplier | offset << 32] if width == 32 else [multiplier, offset]
    true = int(protocol.family.bucket(multiplier, offset, np.array([code]))[0])

    def step_of(number):
        noise = bytes_of(number >> 45, *((number & LOW_45).to_bytes(6, "little")))
        record = drawn(protocol, code, seeds, noise)[0]
        assert (int(record["multiplier"]), int(record["offset"])) == (multiplier, offset)
        return (int(record["value"]) - true) % g

    for step in {1, 2, g // 2, g - 1} & set(range(1, g)):
        assert step_of((step - 1) * flip) == step
        assert step_of(step * flip - 1) == step
    assert step_of((g - 1) * flip) == 0
    assert step_of(GRID - 1) == 0


@pytest.mark.parametrize("protocol", HASHES, ids=repr)
def test_buckets_have_the_sizes_that_the_collision_probability_states(protocol):
    family, g = protocol.family, protocol.g
    shift = family.width - family.top
    starts = [-(-(bucket << family.top) // g) for bucket in range(g)] + [1 << family.top]
    sizes = np.diff(starts)
    for bucket in {0, 1, g // 2, g - 1}:
        ends = np.array([starts[bucket] << shift, (starts[bucket + 1] << shift) - 1], dtype=object)
        found = [int(family.bucket(0, int(end), np.array([0]))[0]) for end in ends]

        assert found == [bucket, bucket]
    squares = sum(int(size) ** 2 for size in sizes)
    assert protocol.collision_exact == Fraction(squares, 1 << 2 * family.top)
    keep, flip = protocol.p_exact, protocol.flip_exact
    assert protocol.q_exact == flip + (keep - flip) * protocol.collision_exact


# --- subsets --------------------------------------------------------------------------------------

SUBSETS = [SS(10, 1), SS(5, "1/3"), SS(41, 2), SS(100, "1/2"), SS(20_000, 9)]
MAPS = [SS(300, "1/10"), SS(400, "1/3")]


@pytest.mark.parametrize("protocol", SUBSETS, ids=repr)
def test_a_set_names_the_true_value_below_the_stated_probability(drawn, protocol):
    chance, code = whole_number(protocol.p_exact), protocol.k // 2
    each = protocol._bounds[0]
    for number, named in ((chance - 1, True), (chance, False), (0, True), (GRID - 1, False)):
        units = [number >> 21, *[0x55555555] * (each - 1), (number & LOW_21) << 11]
        values = drawn(protocol, code, halves(*units))[0]

        assert (code in values.tolist()) == named
        assert len(set(values.tolist())) == protocol.size
    p, k, size = protocol.p_exact, protocol.k, protocol.size
    assert protocol.q_exact == (p * (size - 1) + (1 - p) * size) / (k - 1)


@pytest.mark.parametrize("protocol", MAPS, ids=repr)
def test_a_map_names_the_true_value_below_the_stated_probability(drawn, protocol):
    assert protocol._mapped
    chance, code = whole_number(protocol.p_exact), protocol.k // 2
    many = [int(word) for word in np.random.default_rng(4).integers(0, 2**64, 400, dtype=np.uint64)]
    for number, named in ((chance - 1, True), (chance, False), (0, True), (GRID - 1, False)):
        values = drawn(protocol, code, [number << 11, *many])[0]

        assert (code in values.tolist()) == named
        assert len(set(values.tolist())) == protocol.size


@pytest.mark.parametrize("protocol", [SS(6, "1/2"), SS(7, "1/5")], ids=repr)
def test_the_rest_of_a_set_is_every_subset_equally_often(drawn, protocol):
    """All choices of all units, each at its first and last number: every ordered sample comes out once."""
    each, bounds, redrawn = protocol._bounds
    pairs = [(int(bounds[0, unit]), int(bounds[1, unit])) for unit in range(1, each)]

    assert [bound for pair in pairs for bound in pair if bound > 1] == [
        bound
        for bound in (protocol.size, *range(protocol.k - 1, protocol.k - 1 - protocol.size, -1))
        if bound > 1
    ]
    for unit, (first, second) in enumerate(pairs, 1):
        both = first * second
        assert int(redrawn[unit]) == 2**32 % both  # so each outcome has floor(2**32 / both) numbers
    choices = [[]]
    for first, second in pairs:
        both = first * second
        choices = [[*so_far, outcome] for so_far in choices for outcome in range(both)]
    seen = {}
    for chosen in choices:
        units = [2**32 - 1]  # the true value is not named
        for outcome, (first, second) in zip(chosen, pairs, strict=True):
            units.append(-(-((outcome + 1) << 32) // (first * second)) - 1)
        values = tuple(sorted(drawn(protocol, 2, halves(*units))[0].tolist()))
        seen[values] = seen.get(values, 0) + 1

    assert len(set(seen.values())) == 1
    assert all(2 not in values for values in seen)


# --- matrices, combinations and samples -----------------------------------------------------------


@pytest.mark.parametrize(
    "protocol", [Optimal.example(2, 1), Optimal.example(5, 1), Optimal.example(4, "1/2")], ids=repr
)
def test_a_matrix_is_drawn_with_exactly_its_entries(drawn, protocol):
    law = protocol.matrix(exact=True)
    for code in range(protocol.k):
        edges = list(accumulate(whole_number(entry) for entry in law[code]))

        assert edges[-1] == GRID
        for value, (low, high) in enumerate(zip([0, *edges[:-1]], edges, strict=True)):
            if low < high:
                assert drawn(protocol, code, as_units(low))[0] == value
                assert drawn(protocol, code, as_units(high - 1))[0] == value


def test_a_combination_is_drawn_as_one_value_of_the_product():
    strategy = Combined({"a": 2, "b": 3}, 1)
    (sender,) = strategy.senders
    flip = whole_number(1 - sender.p_exact)

    assert sender.k == 6
    assert (sender.p_exact, sender.q_exact) == (GRR(6, 1).p_exact, GRR(6, 1).q_exact)
    for number, kept in ((flip, True), (flip - 1, False)):
        values = sender.privatize([4], rng=Scripts(as_units(number))).values
        assert (int(values[0]) == 4) == kept


@pytest.mark.parametrize("shares", [{"a": "1/4", "b": "3/4"}, {"a": 0.3, "b": 0.7}, None])
def test_who_is_asked_which_column_has_the_stated_chance(shares):
    strategy = Sampled({"a": GRR(2, 1), "b": GRR(3, 1)}, shares)
    edge = whole_number(strategy.probabilities["a"])

    assert sum(strategy.probabilities.values()) == 1
    for number, asked in ((0, 0), (edge - 1, 0), (edge, 1), (GRID - 1, 1)):

        class Streams(Scripts):
            simulated = False  # so that one source serves all columns, as the secure one does

        word = number << 11  # the high 53 bits of a word are the uniform number
        sent = strategy.privatize({"a": [0], "b": [0]}, rng=Streams([word], *[[]] * 2))
        assert sent.asked.tolist() == [asked]
