"""The delta of sampled counts is never below the truth, and hardly above it, for any rate, k and epsilon."""

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.release.delta.sampling import sampled_delta
from unit.release._slow_suppression import ADD, REPLACE, hockey_stick, sampled_law

DIGITS = 60
EXAMPLES = 40


@settings(max_examples=EXAMPLES)
@given(
    epsilon=st.fractions(Fraction(1, 4), 5, max_denominator=50),
    rate=st.integers(1, 2**20 - 1).map(lambda top: Fraction(top, 2**20)),
    k=st.integers(1, 8),
    unit=st.sampled_from([ADD, REPLACE]),
    people=st.tuples(st.integers(1, 14), st.integers(0, 14)),
)
def test_no_pair_of_tables_exceeds_delta_and_the_named_one_attains_it(epsilon, rate, k, unit, people):
    """A delta one unit too small in its last place would be a false promise."""
    found = sampled_delta(epsilon, rate=rate, k=k, unit=unit)
    with mp.workdps(DIGITS):
        chance = mp.mpf(rate.numerator) / rate.denominator
        grown = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)
        stated = mp.mpf(found.delta.numerator) / found.delta.denominator

        def apart(loses, gains):
            first = [each for each in (loses, gains) if each is not None]
            second = [loses - 1] if loses is not None else []
            second += [gains + 1] if gains is not None else []
            return hockey_stick(sampled_law(first, chance, k), sampled_law(second, chance, k), grown)

        loses, gains = people
        assert apart(loses, gains if unit == REPLACE else None) <= stated
        if max(found.loses or 0, found.gains or 0) <= 60:
            truth = apart(found.loses, found.gains)

            assert truth <= stated
            assert not found.exact or stated <= truth * (1 + mp.mpf("1e-9")) + mp.mpf("1e-60")


@pytest.mark.slow
@settings(max_examples=100)
@given(rate=st.integers(1, 2**30 - 1).map(lambda top: Fraction(top, 2**30)), k=st.integers(1, 12))
def test_one_cell_by_itself_never_exceeds_two(rate, k):
    """A person who moves changes two cells; that can never cost less than changing one of them."""
    one = sampled_delta(1, rate=rate, k=k, unit=ADD)
    two = sampled_delta(1, rate=rate, k=k, unit=REPLACE)

    assert float(one.delta) <= float(two.delta) * (1 + 1e-9)
