"""What a release draws has exactly the probabilities that its guarantee and its bias are computed from.

Random words are written by the tests: those on both sides of every edge, or all of them where there are few,
with the law that comes out in Fractions. The kernel that generalises reads no random words.
"""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from evenhand.privacy.randomness import Source
from evenhand.release.kanonymity import reconstruct_kernels as _kernels_reconstruct
from evenhand.release.kanonymity.generalized import generalize
from evenhand.release.kanonymity.mechanisms import SampledKAnonymity
from evenhand.release.kanonymity.reconstruct import expected_counts, reconstruct
from evenhand.release.mechanisms import swap_kernels as _kernels_swapping
from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling
from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping
from evenhand.release.mechanisms.swapping import discrepancy_pairs, nearest_pairs, swap_costs
from evenhand.release.postprocess.rounding import stochastic_round
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit.collect._scripted_words import Scripts, bytes_of, halves, secure_with
from unit.privacy._decision_tree import first_number, last_number
from unit.release._slow_swapping import discrepancy_steps, nearest_steps, slow_distance, small_table

TWO_32, TWO_64 = 2**32, 2**64


@pytest.fixture(params=["seeded", "secure"])
def source(request, monkeypatch):
    def make(*scripts):
        played = Scripts(*scripts)
        return played if request.param == "seeded" else secure_with(monkeypatch, played)

    return make


def compared(number):
    """The bytes in which a number of 64 bits is compared with a probability."""
    return bytes_of(*int(number).to_bytes(8, "big"))


# --- samples of people ------------------------------------------------------------------------------

SAMPLES = [
    SampledKAnonymity(k=1, epsilon=1),
    SampledKAnonymity(k=1, epsilon="1/1000"),
    SampledKAnonymity(k=1, beta="1/3"),
    GeneralizedSampling(1, 1, "1/20"),
    GeneralizedSampling(1, "1/10", "1/1000", unit="add or remove one"),
]


@pytest.mark.parametrize("mechanism", SAMPLES, ids=repr)
def test_a_person_is_sampled_below_the_stated_rate(source, mechanism):
    edge = mechanism.rate * TWO_64
    table = small_table([0, 1, 0])

    assert edge.denominator == 1
    for number, taken in ((edge - 1, 1), (edge, 0), (0, 1), (TWO_64 - 1, 0)):
        released = mechanism.release(table, rng=source(compared(number), []))
        assert released.histogram.counts.tolist() == [0, taken, 0]


@pytest.mark.parametrize("mechanism", SAMPLES[:3], ids=repr)
def test_the_delta_of_a_sample_is_the_rate_that_is_drawn_with(mechanism):
    assert mechanism.guarantee_for(small_table([0, 1, 0])).delta == mechanism.rate


# --- randomised response on quasi-identifiers -------------------------------------------------------


@pytest.mark.parametrize("mechanism", [RandomSwapping(1), RecordSwapping(1), RecordSwapping("1/7")], ids=repr)
@pytest.mark.parametrize("size", [2, 3, 8])
def test_a_combination_moves_below_the_stated_probability_and_to_each_other_alike(source, mechanism, size):
    law = mechanism.response(small_table([0] * size))
    edge = (1 - law.keep) * TWO_64

    assert edge.denominator == 1
    assert law.keep + (size - 1) * law.other == 1
    for own in {0, size // 2, size - 1}:
        counts = [int(place == own) for place in range(size)]
        places = range(size) if isinstance(mechanism, RandomSwapping) else [own]  # empty cells move too
        for number, moves in ((edge - 1, True), (edge, False)):
            flips = [int(number) if place == own else TWO_64 - 1 for place in places]
            digits = bytes_of(*(byte for flip in flips for byte in _read(flip, int(edge))))
            for other in range(size - 1):
                unit = last_number(other, size - 1, 32)
                released = mechanism.release(small_table(counts), rng=source(digits, halves(unit)))
                at = released.histogram.counts.tolist().index(1)
                assert at == (other + (other >= own) if moves else own)


def _read(number, edge):
    """The bytes of a number that are read until one differs from those of an edge."""
    mine, theirs = int(number).to_bytes(8, "big"), edge.to_bytes(8, "big")
    theirs = theirs.rstrip(b"\0")
    same = next((place for place, digit in enumerate(theirs) if mine[place] != digit), len(theirs) - 1)
    return mine[: same + 1]


# --- rounding at random -----------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.5, 0.3, -0.3, 7.1, -1e6 - 1 / 3, 2.0**-62, 3 * 2.0**-70, 1e-40, 5e-324])
def test_a_value_is_rounded_away_below_the_part_after_its_point(source, value):
    """The uniform number with the digits of that part is the first that does not; the one before it does."""
    part = abs(Fraction(value)) % 1
    inward, away = int(value), int(value) + (1 if value > 0 else -1)
    stages = -(-(part.denominator.bit_length() - 1) // 63)
    edge = part * 2 ** (63 * stages)

    assert edge.denominator == 1
    for number, expected in ((edge - 1, away), (edge, inward)):
        digits = [int(number) >> 63 * stage & 2**63 - 1 for stage in reversed(range(stages))]
        for low_bit in (0, 1):  # of 64 bits, 63 are used
            scripts = [[digit << 1 | low_bit] for digit in digits]
            assert stochastic_round(np.array([value]), source=source(*scripts)).tolist() == [expected]


# --- values of a class ------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [2, 3, 7, 1_000, 2**31, 2**31 + 1, TWO_32 - 1, TWO_32])
def test_values_of_a_class_have_equally_many_units(bound):
    for value in {0, 1, bound // 2, bound - 1}:
        first, thrown = first_number(value, bound, 32)
        last = last_number(value, bound, 32)

        assert last - first + 1 - thrown == TWO_32 // bound
        for unit in {first + thrown, last}:
            units = np.array([unit], dtype=np.uint32)
            assert tuple(map(int, _kernels_reconstruct._below(units, 0, np.uint64(bound)))) == (value, 1)
        if thrown:
            units = np.array([first, TWO_32 - 1], dtype=np.uint32)
            assert tuple(map(int, _kernels_reconstruct._below(units, 0, np.uint64(bound)))) == (bound - 1, 2)


@pytest.mark.parametrize("bound", [TWO_32 + 1, 2**33, 2**40 + 3, 2**53, 2**62 + 1])
def test_values_of_a_wide_class_have_equally_many_words(bound):
    """Words are cut to the bits of the largest value, and what is too large is drawn again."""
    bits = (bound - 1).bit_length()
    for high in {0, 2 ** (64 - bits) - 1}:
        for value in {0, bound - 1, bound % 2**bits, 2**bits - 1}:
            word = high << bits | value
            units = np.array([word & TWO_32 - 1, word >> 32, 5, 0], dtype=np.uint32)
            expected = (value, 2) if value < bound else (5, 4)  # too large: the next word decides
            assert tuple(map(int, _kernels_reconstruct._below(units, 0, np.uint64(bound)))) == expected


def test_a_person_gets_every_combination_of_values_of_the_class_equally_often(source):
    """All choices of one person of twelve; the others stay at the first values."""
    schema = Schema(
        [Column("year", Domain.integers(0, 3)), Column("race", Domain.categorical(["a", "b", "c"]))]
    )
    classes = generalize(Histogram.of(np.ones((4, 3), int), schema), 12)
    rest = [last_number(0, size, 32) for size in (4, 3)] * 11
    law = Counter()
    for year, race in product(range(4), range(3)):
        units = [last_number(year, 4, 32), last_number(race, 3, 32), *rest]
        counts = reconstruct(classes, source=source(halves(*units))).counts.copy()
        counts[0, 0] -= 11
        assert counts.sum() == 1
        law[tuple(np.argwhere(counts)[0].tolist())] += Fraction(1, 12)

    assert law == dict.fromkeys(product(range(4), range(3)), Fraction(1, 12))
    mean, variance = expected_counts(classes)
    assert np.abs(mean - 1).max() < 1e-14
    assert np.abs(variance - 12 * (1 / 12) * (11 / 12)).max() < 1e-14


# --- pairs to be swapped ----------------------------------------------------------------------------


class RunsOutError(Exception):
    """More words were asked for than there are."""


class FewWords(Source):
    """Gives these words and no more."""

    kind = "seeded"

    def __init__(self, *words):
        self.left = [int(word) for word in words]

    def words(self, count):
        if not self.left:
            raise RunsOutError
        played, self.left = self.left[:count], self.left[count:]
        return np.array(played, dtype=np.uint64)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8, 1_000, 2**31 - 1, 2**40 + 1, 2**62])
def test_ranks_of_people_have_equally_many_words(bound):
    bits = (bound - 1).bit_length()
    for high in {0, 2 ** (64 - bits) - 1}:
        for value in {0, bound // 2, bound - 1}:
            units = np.array([high << bits | value], dtype=np.uint64)
            assert tuple(map(int, _kernels_swapping._below(units, 0, np.int64(bound)))) == (value, 1)
        for value in (bound, 2**bits - 1) if bound < 2**bits else ():  # too large: the next word decides
            units = np.array([high << bits | value, bound - 1], dtype=np.uint64)
            assert tuple(map(int, _kernels_swapping._below(units, 0, np.int64(bound)))) == (bound - 1, 2)


SCHEMA = Schema(
    [
        Column("race", Domain.categorical(["a", "b"]), outside="other"),
        Column("age", Domain.integers(20, 24)),
        Column("sex", Domain.categorical(["f", "m"])),
    ]
)
SHAPE, REACHES, OTHERS = (3, 5, 2), (None, 4, None), (2, None, None)
TABLES = [
    {(0, 0, 0): 2, (0, 1, 0): 1, (0, 3, 1): 1, (1, 0, 0): 3},
    {(0, 2, 0): 1, (0, 1, 0): 2, (0, 3, 0): 1, (2, 2, 0): 1, (2, 2, 1): 2},
    {(1, 4, 1): 1, (0, 0, 0): 1},
]


def _distance(one, two):
    return slow_distance(one, two, REACHES, OTHERS)


def _pair(draw, live, words, pairs=1):
    """Return the pair that these words choose after those before, or None if they run out or choose none."""
    codes, people = np.array(list(live)), np.array(list(live.values()))
    rest = (SHAPE, swap_costs(SCHEMA)) if draw is nearest_pairs else (swap_costs(SCHEMA),)
    try:
        drawn = np.concatenate(list(draw(codes, people, *rest, pairs=pairs, source=FewWords(*words))))
    except RunsOutError:
        return None
    return tuple(tuple(codes[tuple_].tolist()) for tuple_ in drawn[-1])


def _taken(live, pair):
    left = Counter(live) - Counter(pair)
    return {each: count for each, count in left.items() if count}


def _nearest_law(live, before, pairs):
    """The law of the next pair after words that chose the pairs before: all ranks, and all ranks of ties."""
    people, law = sum(live.values()), Counter()
    for rank in range(people):
        outcomes = [_pair(nearest_pairs, before[1], [*before[0], rank], pairs)]
        if outcomes == [None]:  # a second word chooses among those who are nearest
            tried = [_pair(nearest_pairs, before[1], [*before[0], rank, word], pairs) for word in range(8)]
            outcomes = [pair for pair in tried if pair is not None]
        for pair in outcomes:
            law[pair] += Fraction(1, people * len(outcomes))
    return dict(law)


@pytest.mark.parametrize("live", TABLES, ids=len)
def test_a_random_person_is_paired_with_each_of_the_nearest_alike(live):
    """All words of one pair, and of the next one after it: the law of the definition."""
    stated = Counter()
    for one, two, chance in nearest_steps(live, _distance):
        stated[one, two] += chance

    assert _nearest_law(live, ([], live), 1) == dict(stated)
    words = [0, 0] if _pair(nearest_pairs, live, [0]) is None else [0]
    left = _taken(live, _pair(nearest_pairs, live, words))
    if left:
        stated = Counter()
        for one, two, chance in nearest_steps(left, _distance):
            stated[one, two] += chance
        assert _nearest_law(left, (words, live), 2) == dict(stated)


def _discrepancy_law(live, before, pairs):
    """The law of the next pair: all ranks of both people, and all numbers compared with their distance.

    Words are cut to as many bits as are needed, so 8 and 16 words in a row have every rank and number alike.
    """
    law = Counter()
    for first in range(sum(live.values()) ** 2 - sum(count**2 for count in live.values())):
        chosen = []
        for second in range(8):
            words = [*before[0], first, second]
            if pair := _pair(discrepancy_pairs, before[1], [*words, 0], pairs):
                kept = [_pair(discrepancy_pairs, before[1], [*words, number], pairs) for number in range(16)]
                assert set(kept) <= {pair, None}
                chosen.append((pair, sum(each is not None for each in kept)))
        for pair, kept in chosen:
            law[pair] += Fraction(kept, len(chosen))
    return {pair: weight / sum(law.values()) for pair, weight in law.items()}


@pytest.mark.parametrize("live", TABLES, ids=len)
def test_two_people_are_paired_as_often_as_they_are_far_apart(live):
    """All words of one pair, and of the next one after it: the law of the definition."""
    stated = {(one, two): chance for one, two, chance in discrepancy_steps(live, _distance)}

    assert _discrepancy_law(live, ([], live), 1) == stated
    left = _taken(live, _pair(discrepancy_pairs, live, [0, 0, 0]))
    if left:
        stated = {(one, two): chance for one, two, chance in discrepancy_steps(left, _distance)}
        assert _discrepancy_law(left, ([0, 0, 0], live), 2) == stated
