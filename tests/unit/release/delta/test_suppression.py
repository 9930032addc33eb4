"""The delta of suppression: the printed numbers, the exact ones, and all tables of a small universe."""

from fractions import Fraction

import mpmath as mp
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.release.delta.suppression import (
    count_noise_delta,
    diagnostic_delta,
    printed_delta,
    threshold_noise_delta,
)
from unit.release._slow_suppression import (
    ADD,
    DIGITS,
    REPLACE,
    count_noise_law,
    noise_below,
    tables,
    threshold_noise_law,
    worst,
)

EPSILONS = [0, "0.3", 1, 8]  # at which delta is read: it must be the same


def _grown(epsilon):
    return mp.exp(mp.mpf(str(epsilon)))


def test_the_printed_and_the_idealized_numbers_are_those_of_the_formulas():
    """If these moved, the column "as printed" would misquote the paper."""
    assert float(printed_delta(5, 8, epsilon=1)) == pytest.approx(0.98755323290803, rel=1e-13)
    tight = count_noise_delta(5, 8, scale=2, unit=REPLACE, idealized=True)
    assert float(tight) == pytest.approx(0.97947875034403, rel=1e-13)
    once = threshold_noise_delta(5, 8, scale=2, idealized=True)
    assert float(once) == pytest.approx(0.88843491992579, rel=1e-13)


def test_idealized_numbers_hold_below_the_threshold_too():
    with mp.workdps(DIGITS):
        inside = 1 - mp.exp(-mp.mpf(2) / 3) / 2  # Pr[noise < 2], scale 3

        assert float(threshold_noise_delta(5, 3, scale=3, idealized=True)) == pytest.approx(
            float(1 - inside), rel=1e-13
        )


@pytest.mark.parametrize("unit", [REPLACE, ADD])
@pytest.mark.parametrize(("threshold", "scale", "most"), [(2, 2, 3), (0, 1, 2), (1, "1/3", 2), (5, 4, 3)])
def test_delta_is_the_worst_over_all_tables_with_noise_on_counts(threshold, scale, most, unit):
    """If some pair of tables were told apart more often, the stated delta would be false."""
    with mp.workdps(DIGITS):
        size = mp.mpf(Fraction(scale).numerator) / Fraction(scale).denominator
        laws = {
            counts: count_noise_law(counts, threshold, size, "fill")
            for counts in tables(2 if unit == REPLACE else 1, most)
        }
        stated = count_noise_delta(threshold, most, scale=scale, unit=unit)
        for epsilon in EPSILONS:
            found = worst(laws, unit, most, _grown(epsilon))

            assert mp.mpf(stated.numerator) / stated.denominator - found >= -(mp.mpf(10) ** -40)
            assert abs(float(found) - float(stated)) < 1e-12


@pytest.mark.parametrize("unit", [REPLACE, ADD])
@pytest.mark.parametrize(("threshold", "scale", "most"), [(2, 2, 3), (0, 1, 2), (1, "1/3", 2), (5, 4, 3)])
def test_delta_is_the_worst_over_all_tables_with_a_noisy_threshold(threshold, scale, most, unit):
    """The fill tells the threshold, so the law has an outcome for each; none may exceed delta."""
    with mp.workdps(DIGITS):
        size = mp.mpf(Fraction(scale).numerator) / Fraction(scale).denominator
        laws = {
            counts: threshold_noise_law(counts, threshold, size, reach=most + 6)
            for counts in tables(3 if unit == REPLACE else 2, most)
        }
        stated = threshold_noise_delta(threshold, most, scale=scale)
        for epsilon in EPSILONS:
            found = worst(laws, unit, most, _grown(epsilon))

            assert mp.mpf(stated.numerator) / stated.denominator - found >= -(mp.mpf(10) ** -40)
            assert abs(float(found) - float(stated)) < 1e-12


def test_the_printed_delta_is_too_small_for_the_noise_that_is_drawn():
    """A reader of the printed column must be told; if it held, the warning would be false."""
    for bound in (6, 8, 20):
        exact = count_noise_delta(5, bound, scale=2, unit=REPLACE)
        idealized = count_noise_delta(5, bound, scale=2, unit=REPLACE, idealized=True)

        assert idealized <= printed_delta(5, bound, epsilon=1) < exact


def test_delta_is_never_below_the_truth():
    """Rounding down by one unit would claim more than there is."""
    with mp.workdps(200):
        for bound, scale in [(3, 2), (8, "7/3"), (40, "1/7"), (300, 5)]:
            size = mp.mpf(Fraction(scale).numerator) / Fraction(scale).denominator
            truth = 1 - noise_below(5 - bound, size) * noise_below(6 - bound, size)
            stated = count_noise_delta(5, bound, scale=scale, unit=REPLACE)

            assert mp.mpf(stated.numerator) / stated.denominator >= truth
            assert float(stated) == pytest.approx(float(truth), rel=1e-12)


def test_a_huge_bound_gives_no_protection_and_no_overflow():
    assert count_noise_delta(5, 2**40, scale=2, unit=ADD) == 1
    assert threshold_noise_delta(5, 2**40, scale=2) == 1


def test_the_diagnostic_takes_the_largest_counts_of_the_table():
    both = 1 - float(noise_below(5 - 8, 2) * noise_below(5 - 7, 2))

    assert diagnostic_delta([[2, 8], [7, 0]], threshold=5, scale=2, noise="count") == pytest.approx(both)
    once = float(threshold_noise_delta(5, 8, scale=2))
    assert diagnostic_delta([2, 8, 7], threshold=5, scale=2, noise="threshold") == pytest.approx(once)
    assert diagnostic_delta([], threshold=5, scale=2, noise="count") == 0


def test_what_cannot_be_is_refused():
    with pytest.raises(GuaranteeError, match="needs a bound above the threshold"):
        printed_delta(5, 5, epsilon=1)
    with pytest.raises(InvalidParameterError, match="'unit' parameter of count_noise_delta"):
        count_noise_delta(5, 8, scale=2, unit="one report")
    with pytest.raises(InvalidParameterError, match="'bound' parameter"):
        threshold_noise_delta(5, -1, scale=2)
    with pytest.raises(InvalidParameterError, match="'noise' parameter of diagnostic_delta"):
        diagnostic_delta([1], threshold=5, scale=2, noise="both")
