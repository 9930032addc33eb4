"""Discrete Laplace and Gaussian noise have exactly the stated law.

It is shown in two steps. All decisions of the kernels are walked through with their probabilities in
Fractions, and what comes out is compared with the stated law. Then the compiled kernels are given the words
on both sides of every edge of those decisions: the probabilities are those of the words that are read.
"""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from evenhand.privacy import _kernels
from evenhand.privacy.sampling import discrete_gaussian, discrete_laplace
from unit._plain_kernels import plain_copy
from unit.collect._scripted_words import Scripts, halves
from unit.privacy._decision_tree import (
    INVERSE_E,
    Tree,
    first_number,
    last_number,
    let_kernels_ask,
    let_rounds_begin_once,
)

EDGE = 2**31 - 1
TWO_32, TWO_64 = 2**32, 2**64
ONES = TWO_32 - 1
YES = TWO_32 % math.factorial(8)  # the first unit for which Bernoulli(1/e) is true
SMALL = Fraction(1, 2**36)


@pytest.fixture
def plain():
    return plain_copy(_kernels)


def exponential(exponent):
    """exp(-exponent) as a Fraction, wrong by less than 2**-190."""
    with mpmath.workdps(80):
        power = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
        return Fraction(int(mpmath.floor(power * 2**200)), 2**200)


def assert_is(found, stated, lost):
    """A probability found by a walk lies below the true one, by no more than what was given up."""
    assert lost < SMALL
    assert -Fraction(1, 2**180) < stated - found <= lost + Fraction(1, 2**180)


# --- the law of the decisions -----------------------------------------------------------------------


def test_the_coin_of_noise_has_probability_one_over_e(monkeypatch, plain):
    tree = Tree()
    units = let_kernels_ask(monkeypatch, plain, tree, inverse_e=False)
    found, restarted, lost = tree.law(lambda: bool(plain._inverse_e(units, 0)[0]))

    assert not restarted
    assert_is(found[True], INVERSE_E, lost)
    assert_is(found[False], 1 - INVERSE_E, lost)


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        (0, 1),
        (1, 2),
        (3, 7),
        (6, 7),
        (999, 1_000),
        (1, EDGE),
        (2**30, EDGE),
        (EDGE - 1, EDGE),
        (9, 2**30 + 1),
    ],
)
def test_the_first_failure_is_at_each_place_as_often_as_stated(monkeypatch, plain, value, bound):
    """Bernoulli(value / (bound k)) for k = 1, 2, ...: exact, place by place, and odd as often as exp says."""
    tree = Tree()
    units = let_kernels_ask(monkeypatch, plain, tree)
    given = (np.uint64(value), np.uint64(bound), np.uint64(ONES // bound))
    found, _, lost = tree.law(lambda: int(plain._first_failure(units, 0, *given)[0]))
    reached = Fraction(1)
    for place in range(1, max(found) + 1):
        success = Fraction(value, bound * place)
        missing = reached * (1 - success) - found.get(place, 0)
        assert missing == 0 if place <= 3 else 0 <= missing <= lost
        reached *= success
    assert_is(
        sum(share for place, share in found.items() if place % 2),
        exponential(Fraction(value, bound)),
        lost,
    )


@pytest.mark.parametrize(
    "scale",
    ["1", "3/2", *(pytest.param(s, marks=pytest.mark.figures) for s in ("1/2", "2", "3", "2/3", "5/3", "7"))],
)
def test_laplace_noise_has_the_stated_law_at_every_number(monkeypatch, plain, scale):
    """The whole kernel for one proposal: what is kept has the stated law."""
    scale, tree = Fraction(scale), Tree(Fraction(1, 2**50))
    units = let_kernels_ask(monkeypatch, plain, tree)
    rounds = let_rounds_begin_once(monkeypatch, plain, tree, units, scale.numerator)
    out = np.empty(1, np.int64)

    def draw():
        rounds.clear()
        units.begins = False
        plain.discrete_laplace(units, out, 0, np.uint64(scale.numerator), np.uint64(scale.denominator))
        return int(out[0])

    found, restarted, lost = tree.law(draw)
    kept = sum(found.values())
    ratio = exponential(1 / scale)

    assert lost < SMALL
    assert kept + restarted + lost == 1
    assert {-2, -1, 0, 1, 2} <= set(found)
    for number, share in found.items():
        assert abs(share - kept * (1 - ratio) / (1 + ratio) * ratio ** abs(number)) <= lost


@pytest.mark.parametrize("scale", [Fraction(EDGE), Fraction(EDGE, 5), Fraction(65_537, EDGE), Fraction(1, 9)])
@pytest.mark.parametrize("quotient", [0, 1, 5])
def test_a_wide_scale_gives_each_remainder_and_quotient_its_number(monkeypatch, plain, scale, quotient):
    """Remainder r and quotient q have the weight exp(-r/n) exp(-q) and give (r + n q) // s for scale n/s."""
    n, s = scale.numerator, scale.denominator
    for remainder in {0, 1 % n, n // 3, n - 1}:
        asked, tosses = [], [True] * quotient + [False]

        def fail_first(units, position, value, bound, last_place, asked=asked):
            asked.append((int(value), int(bound), int(last_place)))
            return np.uint64(1), position

        monkeypatch.setattr(plain, "_first_failure", fail_first)
        monkeypatch.setattr(
            plain, "_inverse_e", lambda units, position, tosses=tosses: (tosses.pop(0), position)
        )
        size = (remainder + n * quotient) // s
        sign = 1 if size else 0
        units = np.array([last_number(remainder, n) << 1 | sign], dtype=np.uint32)
        out = np.empty(1, np.int64)
        plain.discrete_laplace(units, out, 0, np.uint64(n), np.uint64(s))

        assert asked == ([(remainder, n, ONES // n)] if n > 1 else [])
        assert tosses == []
        assert out[0] == -size


@pytest.mark.parametrize(
    ("distance", "bound"),
    [
        (0, 1),
        (1, 1),
        (1, 3),
        (5, 12),
        (7, 11),
        (9, 10),
        (2**16 - 1, 2**31),
        (2**32 - 1, 2**63 - 1),
        (2**32 + 1, 2**62 + 5),
        (2**33 - 1, TWO_64 - 59),
    ],
)
def test_a_proposal_is_accepted_as_often_as_stated(monkeypatch, plain, distance, bound):
    tree = Tree()
    units = let_kernels_ask(monkeypatch, plain, tree)
    given = (np.uint64(distance), np.uint64(bound), np.uint64(TWO_64 % bound))
    found, _, lost = tree.law(lambda: bool(plain._accepted(units, 0, *given)[0]))
    stated = exponential(Fraction(distance**2, 2 * bound))

    assert_is(found.get(True, Fraction(0)), stated, lost)
    assert_is(found.get(False, Fraction(0)), 1 - stated, lost)


def _gaussian_parameters(variance):
    p, q = variance.numerator, variance.denominator
    t = math.isqrt(p // q) + 1
    return tuple(np.uint64(number) for number in (p, q * t, t, p * q * t**2, TWO_64 % (p * q * t**2)))


VARIANCES = [
    *map(Fraction, ["1", "1/3", "2", "25/7", "100"]),
    Fraction(EDGE),
    Fraction(EDGE, 2),
]


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(1, EDGE)], ids=str)
def test_what_is_proposed_and_accepted_makes_up_the_gaussian_law(monkeypatch, plain, variance):
    """exp(-|y|/t) times the acceptance is exp(-y**2 / (2 variance)) times a constant: exponents are exact."""
    parameters = _gaussian_parameters(variance)
    t = int(parameters[2])
    constants = set()
    for proposed in (0, 1, -1, 2, -7, t, -3 * t - 1, 1_000 * t):
        asked = []

        def propose(units, position, *given, asked=asked, proposed=proposed):
            asked.append(tuple(map(int, given)))
            return np.int64(proposed), position

        def accept(units, position, *given, asked=asked):
            asked.append(tuple(map(int, given)))
            return True, position

        monkeypatch.setattr(plain, "_laplace", propose)
        monkeypatch.setattr(plain, "_accepted", accept)
        out = np.empty(1, np.int64)
        plain.discrete_gaussian(np.zeros(1, np.uint32), out, 0, *parameters)
        (scale, denominator, *rest), (distance, bound, threshold) = asked

        assert out[0] == proposed
        assert (scale, denominator, *rest) == (t, 1, 2**31 % t, ONES // t)
        assert threshold == TWO_64 % bound
        exponent = Fraction(abs(proposed), scale) + Fraction(distance**2, 2 * bound)
        constants.add(exponent - Fraction(proposed**2) / (2 * variance))
    assert len(constants) == 1


# --- the words of the uniform numbers that decisions compare ------------------------------------------


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    "bound", [2, 3, 7, 2**31 - 1, 2**31 + 1, TWO_32 - 1, 2**40 + 3, 2**62 + 5, TWO_64 - 59]
)
def test_uniform_numbers_of_noise_have_equally_many_words(plain, bits, bound):
    """The first and the last word of a number, and the one that is thrown away so that all have as many."""
    if bound >= 2**bits:
        return
    for kernels, value in product((_kernels, plain), {0, 1, bound // 2, bound - 1}):
        first, thrown = first_number(value, bound, bits)
        last = last_number(value, bound, bits)

        assert last - first + 1 - thrown == 2**bits // bound
        for word in {first + thrown, last} if first + thrown <= last else ():
            assert _uniform(kernels, bits, bound, word) == (value, bits // 32)
        if thrown:
            assert _uniform(kernels, bits, bound, first, 2**bits - 1) == (bound - 1, 2 * bits // 32)


def _uniform(kernels, bits, bound, *words):
    """Return the number that words stand for, and how many units of 32 bits were read."""
    units = [word >> place & ONES for word in words for place in range(0, bits, 32)]
    given = (np.array(units, dtype=np.uint32), 0, np.uint64(bound))
    drawn = kernels._below(*given) if bits == 32 else kernels._below_wide(*given, np.uint64(TWO_64 % bound))
    return tuple(map(int, drawn))


# --- the words of the decisions: Laplace ------------------------------------------------------------


def _drawn(draw, parameter, *units):
    """Draw one number from units of 32 bits; the units after them end any further draw."""
    source = Scripts(halves(*units), filler=ONES << 32 | (ONES - 1))
    return draw(parameter, size=1, source=source).tolist()[0]


SCALES = [2, 3, 7, 1_000, 65_537, 2**30 + 1, EDGE]


@pytest.mark.parametrize("scale", SCALES)
def test_every_remainder_of_laplace_noise_has_equally_many_words(scale):
    for remainder in {0, 1, scale // 2, scale - 1}:
        first, thrown = first_number(remainder, scale)
        last = last_number(remainder, scale)

        assert last - first + 1 - thrown == 2**31 // scale
        for number in {first + thrown, last}:
            assert _drawn(discrete_laplace, scale, number << 1, ONES, ONES) == remainder
            if remainder:
                assert _drawn(discrete_laplace, scale, number << 1 | 1, ONES, ONES) == -remainder
        if thrown:  # the next unit decides
            other = last_number(scale - 1, scale)
            assert _drawn(discrete_laplace, scale, first << 1, other << 1, ONES, ONES) == scale - 1


def _trial(value, bound, place):
    """Units with which Bernoulli(value / (bound place)) just succeeds, and lists of units that just fail."""
    if bound * place < TWO_32:
        return [last_number(value - 1, bound * place, 32)], [_just_above(value, bound * place)]
    zero = last_number(0, place, 32)
    fails = [_just_above(1, place), [zero, *_just_above(value, bound)]]
    return [zero, last_number(value - 1, bound, 32)], fails


def _just_above(value, bound):
    """The least unit that stands for `value` below a bound, and one that fails if that is thrown away."""
    unit, thrown = first_number(value, bound, 32)
    assert unit == last_number(value - 1, bound, 32) + 1
    return [unit, ONES] if thrown else [unit]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("places", range(1, 8))
def test_trials_of_a_remainder_succeed_below_the_stated_edge(scale, places):
    """The last units of success at the places before, and the first of failure, which keeps it if odd."""
    remainder, other = max(1, scale // 3), scale - 1
    walk = [last_number(remainder, scale) << 1]
    for place in range(1, places):
        walk += _trial(remainder, scale, place)[0]
    again = [last_number(other, scale) << 1 | 1, ONES, ONES]
    for fails in _trial(remainder, scale, places)[1]:
        if places % 2:
            assert _drawn(discrete_laplace, scale, *walk, *fails, ONES) == remainder
            assert _drawn(discrete_laplace, scale, *walk, *fails, YES, YES, ONES) == remainder + 2 * scale
        else:
            assert _drawn(discrete_laplace, scale, *walk, *fails, *again) == -other


# --- the words of the decisions: Gaussian -----------------------------------------------------------


def _propose(variance, size):
    """Units with which Laplace noise proposes a number that is not negative."""
    t = math.isqrt(math.floor(variance)) + 1
    quotient, remainder = divmod(size, t)
    first = [last_number(remainder, t) << 1, ONES] if t > 1 else [0]
    return [*first, *[YES] * quotient, ONES]


def _exponent(variance, size):
    """What the acceptance of a number falls off by, and how many parts of it a uniform number tells apart."""
    t = math.isqrt(math.floor(variance)) + 1
    return (size - variance / t) ** 2 / (2 * variance), variance.numerator * variance.denominator * t**2


def _half_cell(cell, bound):
    """Units of the first and last word of one of 2 * bound equal cells; the last unit chooses the half."""
    drawn, upper = divmod(cell, 2)
    bits = 32 if bound < TWO_32 else 64
    first, thrown = first_number(drawn, bound, bits)
    halves_of = [2**31, ONES] if upper else [0, 2**31 - 1]
    words = [first + thrown, last_number(drawn, bound, bits)]
    return [
        [*([word] if bits == 32 else [word & ONES, word >> 32]), half]
        for word, half in zip(words, halves_of, strict=True)
    ]


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(1, 7)], ids=str)
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_number_is_accepted_below_the_stated_edge(variance, size):
    """Whole units of the exponent by coins of 1/e, the rest by one uniform number: both sides of its edge."""
    exponent, bound = _exponent(variance, size)
    whole, rest = divmod(exponent, 1)
    edge = 2 * bound * rest

    assert edge.denominator == 1
    edge = int(edge)
    odd = edge % 2  # only then is the half read
    walk = [*_propose(variance, size), *[YES] * int(whole)]
    again = [*_propose(variance, size + 1), *[YES] * int(_exponent(variance, size + 1)[0]), *[ONES] * 4]
    for units in _half_cell(edge, bound) if edge < 2 * bound else []:
        read = units if odd else units[:-1]  # fails at place 1, which is odd
        assert _drawn(discrete_gaussian, variance, *walk, *read, ONES) == size
    for units in _half_cell(edge - 1, bound) if edge else []:
        read = units if odd else units[:-1]  # succeeds at place 1
        below = [last_number(0, 2, 32)]  # the last unit of 0 among 0 and 1: the trial goes on to place 2
        assert _drawn(discrete_gaussian, variance, *walk, *read, below[0] + 1, *again) == size + 1
        fails = _half_cell(2 * bound - 1, bound)[1][: (1 if bound < TWO_32 else 2)]
        assert _drawn(discrete_gaussian, variance, *walk, *read, *below, *fails, *again) == size + 1
        third = [*read, *below, *read, last_number(0, 3, 32) + 1]  # fails at place 3, which is odd
        assert _drawn(discrete_gaussian, variance, *walk, *third, ONES) == size
    if whole:  # one coin that says no, and a new number is proposed
        refused = [*_propose(variance, size), *[YES] * (int(whole) - 1), ONES]
        assert _drawn(discrete_gaussian, variance, *refused, *again) == size + 1
