"""What the mechanisms of release promise, against all neighbours of a small universe, written once more.

The tables are those of rows: they are made from people, and lowered to the bound as `Histogram` lowers them.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import LimitExceededError
from evenhand.privacy.guarantees.units import Trust, Unit
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import exp_bounds
from evenhand.release.delta.sampling import rate_for, sampled_delta
from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling, draw_sample
from evenhand.release.mechanisms.noise import Laplace
from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
from evenhand.release.table.histogram import Histogram
from evenhand.release.table.released import note_of
from evenhand.schema import Column, Domain, Schema

pytestmark = pytest.mark.figures

PLACE = Column("place", Domain.categorical(["x", "y"]))
GROUP = Column("group", Domain.categorical(["a", "b"]))
SWAPPED = Schema([PLACE, GROUP], quasi_identifiers="group")


def moved_law(row, keep, other, *, whole):
    """Return the law of one row of a table whose cells, or whose people, take a random combination."""
    movers = [(cell, count) for cell, count in enumerate(row) if count]
    if not whole:
        movers = [(cell, 1) for cell, count in movers for _ in range(count)]
    law = {(0,) * len(row): Fraction(1)}
    for cell, amount in movers:
        after = {}
        for made, chance in law.items():
            for place in range(len(row)):
                landed = (*made[:place], made[place] + amount, *made[place + 1 :])
                after[landed] = after.get(landed, 0) + chance * (keep if place == cell else other)
        law = after
    return law


def furthest(first, second, grown):
    one = sum(max(chance - grown * second.get(made, 0), 0) for made, chance in first.items())
    two = sum(max(chance - grown * first.get(made, 0), 0) for made, chance in second.items())
    return max(one, two)


@pytest.mark.parametrize("made", [RandomSwapping, RecordSwapping])
@pytest.mark.parametrize("epsilon", ["1/1000", 1, 20])
@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_swapping_keeps_its_promise_where_every_count_is_within_the_bound(made, epsilon):
    table = Histogram.of(np.zeros((2, 2), int), SWAPPED, bound=3)
    mechanism = made(epsilon)
    law = mechanism.response(table)
    worst = dict.fromkeys([0, Fraction(1, 2), 1, 20], Fraction(0))
    for first in itertools.product(range(4), repeat=2):
        second = (first[0] - 1, first[1] + 1)
        if second[0] < 0 or second[1] > table.bound:
            continue
        laws = [moved_law(row, law.keep, law.other, whole=made is RandomSwapping) for row in (first, second)]
        for at in worst:
            worst[at] = max(worst[at], furthest(*laws, exp_bounds(Fraction(at))[1] if at else 1))

    for at, delta in worst.items():
        assert mechanism.guarantee_for(table, epsilon=at).delta >= delta


@pytest.mark.parametrize("made", [RandomSwapping, RecordSwapping])
@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_swapping_says_that_it_relies_on_the_bound(made):
    """Where somebody leaves a cell above the bound, the number of people published changes for certain.

    The rows (4, 0) and (3, 1) differ by one person's group; lowered to 3 they are (3, 0) and (3, 1), and
    swapping publishes 3 people or 4. So the promise holds only if the bound does, and has to say so.
    """
    lowered = [Histogram.of([row, [0, 0]], SWAPPED, bound=3) for row in ([4, 0], [3, 1])]
    published = [made(1).release(table, rng=1).histogram.people for table in lowered]

    assert published == [3, 4]
    assert "no count is above 3, which is public" in made(1).guarantee_for(lowered[0]).assumptions
    free = made(1).guarantee_for(Histogram.of([[4, 0], [0, 0]], SWAPPED))
    assert not [each for each in free.assumptions if "above" in each]


@pytest.mark.parametrize("made", MECHANISMS.values(), ids=list(MECHANISMS))
def test_a_promise_says_that_the_cells_are_public_and_a_person_is_in_one(made):
    """With cells read off the rows, or with several rows of one person, none of them holds."""
    guarantee = made.example().guarantee_for(Histogram.of([[4, 0], [0, 0]], SWAPPED, bound=9))
    if guarantee.trust is Trust.NONE:
        return

    assert "each person is counted in one cell" in guarantee.assumptions
    assert [
        each
        for each in guarantee.assumptions
        if "the values they may have are public" in each or "cells and groups are fixed" in each
    ]


def test_a_note_says_what_a_cell_without_a_row_holds():
    """Of a swapped table too large to be held, the cells left out are empty, and nothing is suppressed."""
    wide = Schema([Column(name, Domain.integers(0, 9_999)) for name in "ab"], quasi_identifiers="a")
    sparse = Histogram.of_cells([7, 8], [3, 900], wide)
    words = {
        mechanism: note_of(mechanism.release(sparse, rng=1))["cells_without_a_row"]
        for mechanism in (
            RecordSwapping(5),
            RandomSwapping(5),
            ThresholdedLaplace(1, 40),
            GeneralizedSampling(k=2, epsilon=1, delta="1/20"),
        )
    }

    assert list(words.values()) == ["zero", "zero", "suppressed", "suppressed"]


# --- sampling at high rates, where suppressed counts have chances that floats do not hold -----------


def sampled_pair(people, rate, k):
    """Return the law of a sampled count with those below k as one, in exact numbers."""
    chances = [
        math.comb(people, taken) * rate**taken * (1 - rate) ** (people - taken) for taken in range(people + 1)
    ]
    return [sum(chances[:k]), *chances[k:]]


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("missed", ["1e-6", "1e-12", "1e-15", "1e-18"])
def test_a_rate_near_one_has_a_delta_that_no_pair_of_tables_exceeds(missed, k):
    """A ratio of two chances that are zero in floats is no number, and compares as if it were small."""
    rate = 1 - Fraction(missed)
    for epsilon in (Fraction(0), Fraction(5), Fraction(60)):
        found = sampled_delta(epsilon, rate=rate, k=k, unit="replace one").delta
        grown = exp_bounds(epsilon)[1] if epsilon else 1
        for loses, gains in itertools.product(range(1, 5), range(4)):
            first = [sampled_pair(people, rate, k) for people in (loses, gains)]
            second = [sampled_pair(people, rate, k) for people in (loses - 1, gains + 1)]
            pairs = itertools.zip_longest(*(_joint(*laws) for laws in (first, second)), fillvalue=0)

            assert found >= sum(max(one - grown * other, 0) for one, other in pairs)


def _joint(one, other, length=6):
    """Return the chances of all pairs of outcomes, laid out alike whatever the lengths are."""
    wide = [each + [0] * (length - len(each)) for each in (one, other)]
    return [a * b for a, b in itertools.product(*wide)]


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["0.9", "0.95"])
def test_the_largest_threshold_has_a_delta_at_a_high_rate(rate):
    """With k = 1,000 pairs of cells are bounded and not compared; the bound must be one."""
    one, both = (
        sampled_delta(1, rate=rate, k=1000, unit=unit) for unit in ("add or remove one", "replace one")
    )

    assert one.delta <= both.delta < Fraction(1, 100)


@pytest.mark.nightly
def test_a_rate_is_found_for_the_largest_threshold():
    rate = rate_for(Fraction(1), Fraction(1, 10**9), k=1000, unit=Unit.REPLACE_ONE)

    assert sampled_delta(1, rate=rate, k=1000, unit="replace one").delta <= Fraction(1, 10**9)
    assert rate > Fraction(1, 2)


# --- numbers at the ends of their range -------------------------------------------------------------


@pytest.mark.parametrize("bound", [2**62, 2**63 - 1, 2**63, 10**30])
def test_any_whole_number_is_a_bound(bound):
    table = Histogram.of([[5, 0], [2**62, 1]], SWAPPED, bound=bound)

    assert table.bound == bound
    assert table.counts[1, 0] == 2**62
    assert table.margin("place").bound == 2 * bound
    assert table.margin("place").counts.tolist() == [5, 2**62 + 1]


@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_hardly_any_noise_has_its_delta_at_once():
    """The exponential of minus half a million takes seconds, and nobody sees that far."""
    table = Histogram.of([[5, 0], [3, 1]], SWAPPED)

    assert Laplace(1_000_000, unit="replace one").guarantee_for(table, epsilon=5).delta == 1


@pytest.mark.parametrize("sparse", [False, True])
def test_counts_that_do_not_fit_together_are_refused_and_do_not_wrap(sparse):
    """Four counts of 2**62 in one group would come out as nobody."""
    schema = Schema([Column("age", Domain.integers(1, 4))])
    counts = np.full(4, 2**62)
    table = Histogram.of_cells(np.arange(4), counts, schema) if sparse else Histogram.of(counts, schema)
    sampling = GeneralizedSampling(
        k=2, epsilon=1, delta="1/20", generalization={"age": {"all": [1, 2, 3, 4]}}
    )
    with pytest.raises(LimitExceededError, match="64 bits"):
        sampling.release(table, rng=1)


def test_more_people_than_can_be_sampled_are_counted_without_wrapping():
    counts = np.broadcast_to(np.int64(2**40), 2**24)  # 2**64 people, which wraps to nobody
    with pytest.raises(LimitExceededError, match="person by person"):
        draw_sample(counts, Fraction(1, 2), source=SeededSource(1))
