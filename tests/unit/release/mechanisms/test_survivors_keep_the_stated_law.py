"""Empty cells survive a threshold with exactly the probability of noise that reaches it.

A cell is a candidate with probability 1 - exp(-1/B), and a candidate survives with what is left to the stated
probability. The words that decide follow the binary digits of those numbers, computed here to 1,000 bits: one
less and one more at each word.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.privacy import laws
from evenhand.release.mechanisms import thresholded
from evenhand.release.mechanisms import thresholded as module
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace, geometric, survivors
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit.collect._scripted_words import Scripts, halves
from unit.privacy._decision_tree import last_number

ONES, TWO_64 = 2**32 - 1, 2**64
ENDS = ONES << 32 | (ONES - 1)  # words that end any draw of noise
CASES = [
    ("2", 1),
    ("2", 3),
    ("1/3", 1),
    ("20", 5),
    ("1000/7", 40),
    ("2", 30),
    ("2", 60),
    ("1/2", 19),
    ("3", 110),
]


def words_of(number, count):
    """The first words of the binary digits of a number below 1."""
    digits = int(mpmath.floor(number * 2 ** (64 * count)))
    return [digits >> 64 * place & TWO_64 - 1 for place in reversed(range(count))]


def fraction(number):
    return mpmath.mpf(number.numerator) / number.denominator


def close_calls(number):
    """Words that begin as the digits of a number and then leave them, with whether they are below it."""
    for count in (1, 2, 3):
        *same, last = words_of(number, count)
        assert 0 < last < TWO_64 - 1
        yield [*same, last - 1], True
        yield [*same, last + 1], False


def noise_of_nought(part):
    """Words with which the first noise of a scale is 0, and all noise after it is drawn too."""
    first = [last_number(0, part.numerator) << 1, ONES] if part.numerator > 1 else [0]
    return halves(*first, ONES)


@pytest.mark.parametrize(("scale", "threshold"), CASES)
def test_a_candidate_survives_with_what_is_left_to_the_stated_probability(scale, threshold):
    scale = Fraction(scale)
    jump = module._jump(scale, threshold)
    with mpmath.workprec(1_000):
        ratio = mpmath.exp(-1 / fraction(scale))
        stated = ratio**threshold / (1 + ratio)
        candidate = -mpmath.expm1(-1 / fraction(jump.scale))

        assert stated < candidate
        calls = list(close_calls(stated / candidate))
    inside = [[0] * 80, [0] * 80] if jump.shift else []  # places inside of long jumps, which are taken
    for words, below in calls:
        source = Scripts(noise_of_nought(jump.part), *inside, *([word] for word in words), filler=ENDS)

        assert survivors(1, scale, threshold, source=source).tolist() == ([0] if below else [])
        assert source.begun == len(source.scripts)


@pytest.mark.parametrize(("scale", "threshold"), CASES)
def test_gaps_between_candidates_are_drawn_with_the_stated_scale(monkeypatch, scale, threshold):
    jump = module._jump(Fraction(scale), threshold)
    given = []

    def draw(scale, *, size, source):
        given.append(scale)
        return np.resize(np.array([-1, 3, -2, 0, 5]), size)

    monkeypatch.setattr(module, "discrete_laplace", draw)
    monkeypatch.setattr(module, "uniform_below", lambda bound, *, size, source: np.full(size, bound - 1))
    gaps = module._gaps(jump, 3, Scripts([0] * 3))
    inside = 2**jump.shift - 1

    assert given == [jump.part]
    assert jump.scale == jump.part * 2**jump.shift
    assert gaps.tolist() == [inside + (steps << jump.shift) for steps in (3, 0, 5)]


def test_noise_that_is_not_negative_is_kept_in_its_order(monkeypatch):
    """Pr[noise = g given noise >= 0] is (1 - a) a**g: what is negative is thrown away and nothing else."""
    noise = iter([np.array([-1, 2, 0, -3, 1]), np.array([-5, -6]), np.array([4, 7])])
    monkeypatch.setattr(module, "discrete_laplace", lambda scale, *, size, source: next(noise))

    assert geometric(Fraction(2), 4, source=None).tolist() == [2, 0, 1, 4]


@pytest.mark.parametrize(("shift", "part"), [(3, 7), (12, 2), (20, 2**30 - 1), (32, 2**29)])
def test_a_place_of_a_long_jump_is_taken_below_its_exponential(shift, part):
    """Also at the last place of all, whose edge is nearest to where words are taken without a look."""
    jump = module._Jump(shift, Fraction(part))
    for inside in (1, 2, 2**jump.shift - 1):
        with mpmath.workprec(1_000):
            calls = list(close_calls(mpmath.exp(-inside / fraction(jump.scale))))
        for words, below in calls:
            source = Scripts(*([word] for word in words))

            assert module._draw_refusals(np.array([inside]), jump, source).tolist() == [not below]
            assert source.begun == len(source.scripts)
    assert not module._draw_refusals(np.array([0]), jump, Scripts([TWO_64 - 1], [TWO_64 - 2])).any()


# --- the release that they belong to ----------------------------------------------------------------

SCHEMA = Schema([Column("place", Domain.integers(0, 9))])


@pytest.mark.parametrize(("unit", "moved"), [("replace one", 2), ("add or remove one", 1)])
@pytest.mark.parametrize("epsilon", ["1", "1/10", "3/7", "1/1000000007"])
def test_a_table_with_empty_cells_draws_all_noise_with_the_stated_scale(monkeypatch, unit, moved, epsilon):
    """Of filled cells, of empty ones that survive, and of what those have above the threshold."""
    mechanism = ThresholdedLaplace(epsilon=epsilon, threshold=2**40, unit=unit)
    table = Histogram.of_cells([2, 3, 7], [10, 20, 30], SCHEMA)
    given = []

    def draw(scale, *, size, source):
        given.append(("filled", scale))
        return np.full(size, 2**40)

    def survive(cells, scale, threshold, *, source):
        given.append(("empty", scale, cells, threshold))
        return np.arange(cells)

    def exceed(scale, size, *, source):
        given.append(("above", scale))
        return np.arange(size)

    monkeypatch.setattr(laws, "discrete_laplace", draw)
    monkeypatch.setattr(thresholded, "survivors", survive)
    monkeypatch.setattr(thresholded, "geometric", exceed)
    published = mechanism._publish(table, Scripts()).histogram
    scale = given[0][1]

    assert given == [("filled", scale), ("empty", scale, 7, 2**40), ("above", scale)]
    assert scale >= moved / Fraction(epsilon)
    assert mechanism.guarantee_for(table).epsilon == Fraction(moved) / scale
    extra = iter(range(7))  # each empty cell stands for one place, in order
    true = {2: 10, 3: 20, 7: 30}
    assert published.cells.tolist() == list(range(10))
    assert published.filled.tolist() == [
        2**40 + (true[cell] if cell in true else next(extra)) for cell in range(10)
    ]
