"""Empty cells that survive a threshold, drawn without visiting them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import RandomSourceError
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource, Source
from evenhand.release.mechanisms import thresholded as module
from evenhand.release.mechanisms.thresholded import geometric, survival_bounds, survivors
from statistical._exact import ALPHA, exact_events_pvalue

pytestmark = pytest.mark.statistical

CASES = [(Fraction(2), 1), (Fraction(2), 3), (Fraction(1, 3), 1), (Fraction(20), 5)]


class _Geometric:
    """Pr[G >= g] = exp(-g / scale), as the tests of laws want it."""

    def __init__(self, scale):
        self.scale = float(scale)

    def sf(self, x):
        return np.exp(-(np.maximum(np.floor(x), -1) + 1) / self.scale)

    def cdf(self, x):
        return 1 - self.sf(x)


class _Scripted(Source):
    """A source that gives the words it was told to, then the same one for ever."""

    kind = "seeded"

    def __init__(self, *words):
        self._words = list(words)

    def words(self, count):
        given = [self._words.pop(0) if len(self._words) > 1 else self._words[0] for _ in range(count)]
        return np.array(given, dtype=np.uint64)


def _patterns(cells, scale, threshold, *, seed, made=survivors):
    """Return for each run of three cells which of them survived, as a number from 0 to 7."""
    places = made(3 * cells, scale, threshold, source=SeededSource(seed))
    marks = np.zeros(3 * cells, dtype=int)
    marks[places] = 1
    return marks.reshape(-1, 3) @ [4, 2, 1]


def _pattern_law(scale, threshold):
    chance = float(survival_bounds(scale, threshold)[0])
    return [
        math.prod(chance if bit else 1 - chance for bit in bits)
        for bits in itertools.product((0, 1), repeat=3)
    ]


@pytest.mark.parametrize(("scale", "threshold"), CASES)
def test_each_cell_survives_by_itself_with_its_probability(scale, threshold):
    """All patterns of three neighbouring cells: the number of survivors, their places, their independence."""
    law = _pattern_law(scale, threshold)
    patterns = _patterns(60_000, scale, threshold, seed=5)

    assert exact_events_pvalue(patterns, law) > ALPHA


def test_a_wrong_probability_or_a_gap_too_many_is_seen():
    """The twins: a threshold one higher, a scale that is off, and survivors that are never neighbours."""
    law = _pattern_law(Fraction(2), 1)

    def never_neighbours(*given, source):
        places = survivors(*given, source=source)
        return places[np.diff(places, prepend=-2) > 1]

    for twin in (
        _patterns(60_000, Fraction(2), 2, seed=5),
        _patterns(60_000, Fraction("2.3"), 1, seed=5),
        _patterns(60_000, Fraction("1.75"), 1, seed=5),
        _patterns(60_000, Fraction(2), 1, seed=5, made=never_neighbours),
    ):
        assert exact_events_pvalue(twin, law) < ALPHA


def test_the_bounds_are_those_of_the_law():
    for scale, threshold in CASES:
        low, high = survival_bounds(scale, threshold)

        assert low < high < low * (1 + Fraction(1, 10**50))
        assert float(low) == pytest.approx(float(DiscreteLaplace(scale).sf(threshold - 1)), rel=1e-12)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7), Fraction(1000, 3)])
def test_a_tail_without_memory_is_drawn_exactly(scale):
    drawn = geometric(scale, 50_000, source=SeededSource(3))

    assert drawn.size == 50_000
    assert exact_events_pvalue(drawn, _Geometric(scale)) > ALPHA
    assert exact_events_pvalue(drawn, _Geometric(scale * Fraction("1.06"))) < ALPHA


@pytest.mark.parametrize("jump", [module._Jump(3, Fraction(7)), module._Jump(6, Fraction(40))], ids=str)
def test_long_jumps_are_geometric_too(jump):
    """Two draws make one: a place below 2**shift, taken with its own probability, and so many times that."""
    gaps = module._gaps(jump, 20_000, SeededSource(7))

    assert exact_events_pvalue(gaps, _Geometric(jump.scale)) > ALPHA
    assert exact_events_pvalue(gaps, _Geometric(jump.scale * Fraction("1.1"))) < ALPHA
    assert exact_events_pvalue(gaps % 8, [1 / 8] * 8) > ALPHA or jump.shift == 3


def test_a_place_of_a_long_jump_is_refused_as_often_as_it_should():
    """Were every place taken, low ones would be as likely as high ones."""
    jump = module._Jump(4, Fraction(2))
    inside = module._gaps(jump, 6_000, SeededSource(7)) % 16
    chances = np.exp(-np.arange(16) / 32)

    assert exact_events_pvalue(inside, list(chances / chances.sum())) > ALPHA
    assert exact_events_pvalue(inside, [1 / 16] * 16) < ALPHA


@pytest.mark.parametrize("threshold", [1, 5, 40, 200, 10**6, 2**50])
def test_candidates_are_at_least_as_likely_as_survivors(threshold):
    """Else the chance that a candidate survives would be above 1, and too few would."""
    for scale in (Fraction(1, 100), Fraction(2), Fraction(2**31 - 1), Fraction(1000, 7)):
        jump = module._jump(scale, threshold)
        low, high = module._chance(jump, scale, threshold, 60)

        assert 0 <= low <= high <= 1
        assert jump.part.numerator < 2**31
        assert jump.scale <= 2**62
        if survival_bounds(scale, threshold)[0] > Fraction(1, 2**60):
            assert low > Fraction(1, 4)


@pytest.mark.parametrize("cells", [0, 1, 2, 2**40, 2**63 - 1])
def test_any_number_of_cells_has_its_survivors_inside(cells):
    places = survivors(cells, Fraction(2), 60 if cells < 2**60 else 80, source=SeededSource(1))

    assert (np.diff(places) > 0).all()
    assert not places.size or 0 <= places[0] <= places[-1] < cells


def test_the_number_of_survivors_of_very_many_cells():
    """Binomial with 1e15 cells: the mean, and no more spread than six standard deviations."""
    found = [survivors(10**15, Fraction(2), 52, source=SeededSource(seed)).size for seed in range(5)]
    mean = 1e15 * float(survival_bounds(Fraction(2), 52)[0])

    assert all(abs(each - mean) < 6.5 * math.sqrt(mean) for each in found)
    assert len(set(found)) > 1


def test_places_that_leave_the_table_end_the_walk():
    inside, last = module._walk(-1, np.array([0, 3, 2**62, 5]), 10)
    all_in, at = module._walk(4, np.array([0, 1]), 10)

    assert (inside.tolist(), last) == ([0, 4], 9)
    assert (all_in.tolist(), at) == ([5, 7], 7)


def test_close_calls_are_decided_by_more_bits():
    """A word that agrees with all 64 bits of the number says nothing yet."""
    third = Fraction(1, 3)
    first = (1 << 64) // 3

    def bounds(digits):
        return third - Fraction(1, 10**digits), third + Fraction(1, 10**digits)

    assert module._is_below(first, bounds, _Scripted(0))
    assert not module._is_below(first, bounds, _Scripted((1 << 64) - 1))
    assert module._draw_events(bounds, 1, _Scripted(first, 0)).tolist() == [True]
    assert module._draw_events(bounds, 1, _Scripted(first, (1 << 64) - 1)).tolist() == [False]


def test_a_source_that_never_decides_is_refused():
    with pytest.raises(RandomSourceError, match="it is not random"):
        module._is_below(0, lambda digits: (Fraction(0), Fraction(1, 10**2_000)), _Scripted(0))
