"""The samplers draw exactly the laws that they state: edges are looked at number by number.

Uniform and Bernoulli draws, and the coin that noise is made of, are looked at on both sides of every edge; of
noise, what its kernels are given.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.privacy import _kernels, sampling
from evenhand.privacy.sampling import bernoulli, discrete_gaussian, discrete_laplace, subsets, uniform_below
from unit._plain_kernels import plain_copy
from unit.collect._scripted_words import Scripts, bytes_of, halves, secure_with

TWO_32 = 2**32


@pytest.fixture(params=["seeded", "secure"])
def source(request, monkeypatch):
    def make(script):
        played = Scripts(script)
        return played if request.param == "seeded" else secure_with(monkeypatch, played)

    return make


# --- edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chance",
    [
        "3/4",
        "1/2",
        "1/256",
        "255/256",
        "77/512",
        Fraction(2**53 - 1, 2**53),
        Fraction(1, 2**64),
        Fraction(2**64 // 3, 2**64),
    ],
)
def test_a_bernoulli_draw_is_true_below_its_probability(source, chance):
    number = Fraction(chance) * 2**64
    assert number.denominator == 1
    for below, answer in ((number - 1, True), (number, False), (0, True), (2**64 - 1, False)):
        digits = int(below).to_bytes(8, "big")

        assert bernoulli(chance, size=1, source=source(bytes_of(*digits))).tolist() == [answer]


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 7, 1_000, 2**31, 2**32 - 1, 2**32])
def test_uniform_numbers_have_equally_many_units_each(source, bound):
    thrown = TWO_32 % bound
    for value in {0, min(1, bound - 1), bound // 2, bound - 1}:
        first = -(-(value << 32) // bound)
        last = -(-((value + 1) << 32) // bound) - 1
        rejected = sum(
            (unit * bound) % TWO_32 < thrown for unit in (first, last) if first != last or unit == first
        )

        assert last - first + 1 - min(rejected, 1 if first == last else rejected) == TWO_32 // bound
        redrawn = [unit for unit in (first, last) if (unit * bound) % TWO_32 < thrown]
        for unit in {first, last} - set(redrawn):
            assert uniform_below(bound, size=1, source=source(halves(unit, 0))).tolist() == [value]
        for unit in redrawn:
            drawn = uniform_below(bound, size=1, source=source(halves(unit, TWO_32 - 1))).tolist()
            assert drawn == [bound - 1]


@pytest.mark.parametrize("bound", [2**32 + 1, 2**40, 10**15, 2**53, 2**63])
def test_wide_uniform_numbers_have_equally_many_words_each(source, bound):
    thrown = 2**64 % bound
    for value in {0, 1, bound // 2, bound - 1}:
        first = -(-(value << 64) // bound)
        last = -(-((value + 1) << 64) // bound) - 1
        rejected = sum((word * bound) % 2**64 < thrown for word in (first, first + 1) if word <= last)

        assert last - first + 1 - rejected == 2**64 // bound
        assert uniform_below(bound, size=1, source=source([last])).tolist() == [value]
        if (first * bound) % 2**64 < thrown:
            assert uniform_below(bound, size=1, source=source([first, 2**64 - 1])).tolist() == [bound - 1]
        else:
            assert uniform_below(bound, size=1, source=source([first])).tolist() == [value]


def test_subsets_are_every_ordered_sample_once(source):
    """All choices of the swaps, at the last unit of each: each sample of two out of five comes once."""
    seen = set()
    for first in range(5):
        for second in range(4):
            units = [-(-((first + 1) << 32) // 5) - 1, -(-((second + 1) << 32) // 4) - 1]
            seen.add(tuple(subsets(5, 2, size=1, source=source(halves(*units)))[0].tolist()))

    assert len(seen) == 20


# --- Bernoulli(1/e) -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels)


def test_the_blocks_of_the_coin_with_probability_one_over_e(plain):
    """First failures at the odd places 3, 5 and 7, in units of 8!, and one outcome that goes on."""
    eight = math.factorial(8)
    odd = sum(Fraction(eight, math.factorial(k - 1)) - Fraction(eight, math.factorial(k)) for k in (3, 5, 7))
    block = TWO_32 // eight

    assert int(plain._REDRAWN) == TWO_32 % eight
    assert int(plain._YES_ENDS) == TWO_32 % eight + odd * block
    assert int(plain._OPEN_ENDS) == int(plain._YES_ENDS) + block
    with mpmath.workdps(40):  # and places from 9 on, where the trials go on one by one
        later = sum(
            mpmath.mpf(1) / math.factorial(k - 1) - mpmath.mpf(1) / math.factorial(k) for k in range(9, 60, 2)
        )
        assert abs(mpmath.mpf(odd.numerator) / eight + later - mpmath.exp(-1)) < mpmath.mpf(10) ** -35


@pytest.mark.parametrize("kernels", ["plain", "compiled"])
def test_the_edges_of_the_coin_with_probability_one_over_e(plain, kernels):
    coin = plain._inverse_e if kernels == "plain" else _kernels._inverse_e.py_func
    redrawn, yes, end = (int(each) for each in (plain._REDRAWN, plain._YES_ENDS, plain._OPEN_ENDS))

    def toss(*units):
        answer, used = coin(np.array(units, dtype=np.uint32), 0)
        return bool(answer), int(used)

    assert toss(redrawn) == (True, 1)
    assert toss(yes - 1) == (True, 1)
    assert toss(end) == (False, 1)
    assert toss(TWO_32 - 1) == (False, 1)
    assert toss(redrawn - 1, yes - 1) == (True, 2)  # thrown away, and the next one decides
    assert toss(redrawn - 1, end) == (False, 2)
    for unit in (yes, end - 1):  # open: Bernoulli(1/9) fails at 9, which is odd; else 1/10 fails at 10
        assert toss(unit, TWO_32 - 1) == (True, 2)
        assert toss(unit, 1, TWO_32 - 1) == (False, 3)


# --- what the kernels of noise are given -----------------------------------------------------------


def _parameters(monkeypatch, draw, value):
    """Return what a sampler hands to its kernel, as whole numbers."""
    seen = []
    monkeypatch.setattr(
        sampling, "feed", lambda kernel, out, parameters, source, **_: seen.append(parameters)
    )
    draw(value, size=1, source=Scripts([]))
    return [int(each) for each in seen[0]]


@pytest.mark.parametrize("scale", ["1", "2", "1/2", "3/2", "20", "1000000007/3", Fraction(2**31 - 1)])
def test_the_kernel_of_laplace_noise_is_given_the_stated_scale(monkeypatch, scale):
    numerator, denominator = _parameters(monkeypatch, discrete_laplace, scale)

    assert Fraction(numerator, denominator) == Fraction(scale)


@pytest.mark.parametrize("variance", ["1", "1/2", "2", "4/3", "25", "1000000007/3", Fraction(2**31 - 1)])
def test_the_kernel_of_gaussian_noise_is_given_the_stated_variance(monkeypatch, variance):
    """p, q t, t, p q t**2 and 2**64 mod that, for the variance p / q and t just above its root."""
    p, step, t, bound, redrawn = _parameters(monkeypatch, discrete_gaussian, variance)

    assert step % t == 0
    q = step // t
    assert Fraction(p, q) == Fraction(variance)
    assert (t - 1) ** 2 <= Fraction(variance) < t**2
    assert (bound, redrawn) == (p * q * t**2, 2**64 % (p * q * t**2))
