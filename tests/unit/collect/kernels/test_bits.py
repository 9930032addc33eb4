"""The kernels of packed bits: every lane compares its own digits, every bit is counted once."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.kernels import bits as _kernels_bits
from evenhand.collect.protocols.probabilities import GRID
from evenhand.collect.protocols.unary import OUE, RAPPOR, _column_sums, _draw_bits, _words_for
from evenhand.privacy import feeding
from evenhand.privacy.randomness import SeededSource
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.privacy._slow_sampling import ScriptedSource, Tape

GROUP, ROWS = _kernels_bits.GROUP, _kernels_bits.ROWS
PROBABILITIES = {
    "a half": Fraction(1, 2),
    "a quarter": Fraction(1, 4),
    "OUE": OUE(5, 1).q_exact,
    "RAPPOR": RAPPOR(5, "1/2").p_exact,
    "a third": Fraction(GRID // 3, GRID),
    "smallest": Fraction(1, GRID),
    "largest": 1 - Fraction(1, GRID),
    "nine digits": Fraction(341, 512),
    "never": Fraction(0),
}


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_bits)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    return compiled_or_plain(request, monkeypatch, _kernels_bits)


@pytest.fixture(autouse=True)
def no_wrap():
    with np.errstate(all="raise", under="ignore"):
        yield


def _drawn(probability, words, source):
    out = np.zeros(words, dtype=np.uint64)
    _draw_bits(_kernels_bits.bernoulli_words, out, probability, source)
    return out


def _slow_group(tape, probability):
    """One uniform number of 53 digits for each lane: eight from the common words, the rest when needed."""
    places = [[tape.next() for _ in range(GROUP)] for _ in range(8)]
    whole = (probability * GRID).numerator
    words = []
    for word in range(GROUP):
        bits = 0
        for lane in range(64):
            number = sum((places[place][word] >> lane & 1) << (52 - place) for place in range(8))
            if number >> 45 == whole >> 45 and whole % 2**45:
                number += tape.next() >> 19
            bits |= (number < whole) << lane
        words.append(bits)
    return words


# --- drawing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("probability", [*PROBABILITIES.values()], ids=PROBABILITIES)
def test_every_lane_compares_a_number_of_its_own_with_the_probability(kernels, probability):
    found = _drawn(probability, 2 * GROUP, SeededSource(1)).tolist()
    tape = Tape(SeededSource(1).words(2_000), 64)

    assert found == _slow_group(tape, probability) + _slow_group(tape, probability)


@pytest.mark.parametrize(
    ("digits", "tail", "expected"),
    [
        ([0, 1, 1, 1, 1, 1, 1, 1], [], 1),  # the first digit is below
        ([1, 1, 0, 0, 0, 0, 0, 0], [], 0),  # the second is above
        ([1, 0, 0, 1, 1, 1, 1, 1], [], 1),
        ([1, 0, 1, 0, 1, 0, 1, 1], [], 0),  # the last is above
        ([1, 0, 1, 0, 1, 0, 1, 0], [(5 << 19) + 2**19 - 1], 1),  # all equal: 5 is below a tail of 6
        ([1, 0, 1, 0, 1, 0, 1, 0], [6 << 19], 0),  # equal to the end is not below
        ([1, 0, 1, 0, 1, 0, 1, 0], [2**64 - 1], 0),
        ([1, 0, 1, 0, 1, 0, 1, 0], [0], 1),
    ],
)
def test_a_lane_is_settled_by_its_first_digit_that_differs(kernels, digits, tail, expected):
    """Lane 0 of the first word has the digits given; all others begin with 0, below at once."""
    probability = Fraction(0b10101010 * 2**45 + 6, GRID)
    words = [word for digit in digits for word in (digit, *[0] * (GROUP - 1))]
    found = _drawn(probability, GROUP, ScriptedSource(words + tail, then=SeededSource(2)))

    assert int(found[0]) == 2**64 - 2 + expected
    assert (found[1:] == 2**64 - 1).all()


def test_all_lanes_may_be_open_at_once(kernels):
    """One more word for each lane, in the order of the lanes."""
    probability = Fraction(3, GRID)  # eight digits of zero, then a tail of 3
    tails = [(lane % 5) << 19 for lane in range(64 * GROUP)]
    found = _drawn(probability, GROUP, ScriptedSource([0] * 8 * GROUP + tails, then=SeededSource(3)))
    bits = np.unpackbits(found.astype("<u8").view(np.uint8), bitorder="little")

    assert bits.tolist() == [int(lane % 5 < 3) for lane in range(64 * GROUP)]


@pytest.mark.parametrize("name", ["OUE", "a half", "smallest", "nine digits"])
def test_the_bits_do_not_depend_on_how_words_are_cut(kernels, name, monkeypatch):
    whole = _drawn(PROBABILITIES[name], 3 * GROUP, SeededSource(4))
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)
    for most, seam in ((1, 1 << 10), (7, 3), (256, 1 << 10), (257, 64), (258, 300), (600, 1)):
        monkeypatch.setattr(feeding, "MOST_WORDS", most)
        monkeypatch.setattr(feeding, "SEAM", seam)

        assert np.array_equal(_drawn(PROBABILITIES[name], 3 * GROUP, SeededSource(4)), whole)


@pytest.mark.parametrize("bits", [0, 1, 63, 64, 2_047, 2_048, 2_049, 100_000])
def test_bits_are_held_in_whole_groups_and_no_more(bits):
    words = _words_for(bits)

    assert words % GROUP == 0
    assert bits <= 64 * words < bits + 64 * GROUP


def test_a_place_is_found_from_its_bit_alone():
    """The sequence must tell all 32 places apart, or an open lane would be left or settled twice."""
    product = [(1 << place) * int(_kernels_bits._SEQUENCE) for place in range(GROUP)]

    assert [int(_kernels_bits._PLACES[each >> 27 & 31]) for each in product] == [*range(GROUP)]


# --- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 72, 74, 127, 128, 130, 200])
def test_rows_are_cut_from_the_stream_without_gaps(kernels, k):
    n = 70
    stream, truths = SeededSource(5).words(_words_for(n * k + 64)), SeededSource(6).words(_words_for(n))
    codes = (np.arange(n) * 13 % k).astype(np.uint32)
    out = np.full((n, -(-k // 8)), 0xA5, dtype=np.uint8)
    _kernels_bits.fill_rows(stream, truths, codes, k, out)

    lanes = "".join(f"{word:064b}"[::-1] for word in stream.tolist())
    answers = "".join(f"{word:064b}"[::-1] for word in truths.tolist())
    for i in range(n):
        row = list(lanes[i * k : (i + 1) * k])
        row[codes[i]] = answers[i]
        row += "0" * (-k % 8)  # the bits past the last value

        assert "".join(f"{byte:08b}"[::-1] for byte in out[i].tolist()) == "".join(row)


def _padded(k, n, source, codes, truths):
    out = np.full(_words_for(n * 8 * -(-k // 8)), 0xA5, dtype=np.uint64)
    _draw_bits(_kernels_bits.padded_rows, out, PROBABILITIES["OUE"], source, truths, codes, k)
    return out


@pytest.mark.parametrize("k", [7, 8, 15, 64, 65, 74, 200, 1_000])
def test_padded_rows_are_the_bits_drawn_but_for_the_true_one_and_the_padding(kernels, k):
    n, width = 37, -(-k // 8)
    codes = (np.arange(n) * 13 % k).astype(np.uint32)
    truths = SeededSource(6).words(GROUP)
    found = _padded(k, n, SeededSource(5), codes, truths)
    drawn = _drawn(PROBABILITIES["OUE"], found.size, SeededSource(5))

    answers = "".join(f"{word:064b}"[::-1] for word in truths.tolist())
    lanes, rows = ("".join(f"{word:064b}"[::-1] for word in words.tolist()) for words in (drawn, found))
    for i in range(n):
        row = list(lanes[8 * width * i :][:k]) + ["0"] * (-k % 8)
        row[codes[i]] = answers[i]

        assert rows[8 * width * i :][: 8 * width] == "".join(row)
    assert rows[8 * width * n :] == lanes[8 * width * n :]  # nothing is done past the last row


@pytest.mark.parametrize("k", [15, 74, 1_000])
def test_padded_rows_do_not_depend_on_how_words_are_cut(k, monkeypatch):
    """A row may begin in one call and end in another; it is settled once, when all of it is there."""
    n = 150
    codes, truths = (np.arange(n) * 13 % k).astype(np.uint32), SeededSource(6).words(GROUP)
    whole = _padded(k, n, SeededSource(5), codes, truths)
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)
    for most, seam in ((1, 1 << 10), (256, 1 << 10), (258, 300), (600, 1), (5_000, 1 << 10)):
        monkeypatch.setattr(feeding, "MOST_WORDS", most)
        monkeypatch.setattr(feeding, "SEAM", seam)

        assert np.array_equal(_padded(k, n, SeededSource(5), codes, truths), whole)


# --- counting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [2, 8])
@pytest.mark.parametrize(("rows", "words"), [(ROWS, 3), (256 * ROWS, 1), (511 * ROWS, 1)])
@pytest.mark.parametrize("fill", ["random", "ones", "zeros"])
def test_columns_are_added_without_overflow(kernels, rows, words, bits, fill):
    """All ones is the worst case: every counter of every width is full, and passed on in time."""
    seen = SeededSource(7).words(rows * words).reshape(rows, words)
    seen = {"random": seen, "ones": np.full_like(seen, 2**64 - 1), "zeros": np.zeros_like(seen)}[fill]
    totals = np.ones((bits, 8 * words), dtype=np.int64)
    room = np.full((5, words), 7, dtype=np.uint64), np.full((bits, words), 7, dtype=np.uint64)
    _kernels_bits.add_columns(seen, *room, totals)
    unpacked = np.unpackbits(seen.view(np.uint8), axis=1, bitorder="little").reshape(rows, -1, 8)

    assert totals.T.tolist() == (unpacked.sum(axis=0, dtype=int)[:, :bits] + 1).tolist()


@pytest.mark.parametrize(
    ("width", "n"), [*itertools.product([1, 2, 3, 8, 10, 125, 300, 600], [1, 255, 3_000, 8_192])]
)
def test_the_sums_of_columns_are_those_of_unpacked_bits(width, n):
    values = SeededSource(8).words(n * width // 8 + 1).view(np.uint8)[: n * width].reshape(n, width)
    expected = np.unpackbits(values, axis=1, bitorder="little").sum(axis=0, dtype=int)

    assert _column_sums(values, 8 * width).tolist() == expected.tolist()


@pytest.mark.parametrize("width", [1, 3, 10])
@pytest.mark.parametrize("which", [slice(1, None), slice(None, None, 2), slice(None, None, -1), slice(0, 0)])
def test_reports_taken_apart_are_counted_right(width, which):
    """A slice may begin anywhere in memory or have gaps."""
    values = SeededSource(9).words(200_000 * width // 8).view(np.uint8).reshape(-1, width)[which]
    expected = np.unpackbits(values, axis=1, bitorder="little").sum(axis=0)

    assert _column_sums(values, 8 * width).tolist() == expected.tolist()
