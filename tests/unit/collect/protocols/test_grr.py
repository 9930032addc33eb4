"""Generalized randomized response: figures, privacy of the rounded probabilities, counting."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.collect.protocols import grr as module
from evenhand.collect.protocols.grr import GRR, flip_probability, respond
from evenhand.collect.protocols.probabilities import GRID
from evenhand.errors import InvalidParameterError, LimitExceededError, PrivacyWarning
from evenhand.privacy.randomness import SeededSource
from unit.privacy._slow_sampling import ScriptedSource

EPSILONS = ["0.001", "0.01", "0.1", "0.5", "1", "2", "5", "10", "20", "36", "40", "50"]
SIZES = [2, 3, 5, 10, 74, 1_000, 100_000]


def close(found, expected):
    return math.isclose(found, expected, rel_tol=1e-12)


# --- figures ------------------------------------------------------------------------------------


def test_known_figures():
    grr = GRR(k=10, epsilon=1)

    assert close(grr.p, 0.23196931668407)
    assert close(grr.q, 0.085336742590658)
    assert close(grr.variance(), 3.6302486929155)
    assert close(grr.variance(0.2), 4.5614114239064)
    assert close(grr.variance(0.2, 100), 0.045614114239064)
    grr = GRR(k=5, epsilon=0.5)

    assert close(grr.p, 0.29187513274058)
    assert close(grr.q, 0.17703121681486)
    assert close(grr.variance(), 11.046310108521)


@pytest.mark.parametrize(("k", "epsilon"), [*itertools.product([2, 5, 74], [0.1, 1, 4])])
def test_the_variance_has_a_closed_form(k, epsilon):
    raised = math.exp(epsilon)

    assert math.isclose(GRR(k, epsilon).variance(), (k - 2 + raised) / (raised - 1) ** 2, rel_tol=1e-9)


def test_the_probabilities_are_rounded_as_derived():
    """The false values get at least their share; the truth gets what is left."""
    assert GRR(10, 1).q_exact * GRID == 768645044264603
    assert math.isclose(GRR(10, 1).realised_epsilon, 0.999999999999998, abs_tol=1e-15)
    assert GRR(10, 50).q_exact * GRID == 1
    assert math.isclose(GRR(10, 50).realised_epsilon, 36.7368005697, abs_tol=1e-10)


def test_a_coarse_grid_is_told_in_the_guarantee():
    with pytest.warns(PrivacyWarning):
        promised = GRR(10, 50).guarantee

    assert math.isclose(promised.epsilon, 36.7368005697, abs_tol=1e-10)
    assert promised.tight


@pytest.mark.parametrize(("k", "bits"), [(2, 1), (3, 2), (4, 2), (5, 3), (256, 8), (257, 9)])
def test_a_report_takes_as_many_bits_as_a_code(k, bits):
    assert GRR(k, 1).bits_per_report == bits


# --- privacy of the rounded probabilities -------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "k"), [*itertools.product(EPSILONS, SIZES)])
def test_the_worst_ratio_never_passes_e_to_the_epsilon(epsilon, k):
    """Decided in rationals against 200 digits: one step of the grid too far would break the promise."""
    grr = GRR(k, epsilon)
    ratio = grr.worst_ratio
    with mpmath.workdps(200):
        limit = mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)

        assert mpmath.mpf(ratio.numerator) / ratio.denominator <= limit
    assert grr.p_exact > grr.q_exact > 0
    assert grr.p_exact + (k - 1) * grr.q_exact == 1
    assert grr.realised_epsilon <= Fraction(epsilon)


@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "1/2", "1", "2", "4", "8"])
@pytest.mark.parametrize("k", [2, 3, 4, 8])
def test_the_whole_law_keeps_epsilon(epsilon, k):
    grr = GRR(k, epsilon)
    law = grr.matrix(exact=True)
    worst = max(column.max() / column.min() for column in law.T)

    assert all(sum(row) == 1 for row in law)
    assert worst == grr.worst_ratio
    with mpmath.workdps(200):
        exact = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        gap = exact - mpmath.log(mpmath.mpf(worst.numerator) / worst.denominator)

        assert gap >= 0
        assert not grr.guarantee.tight or gap <= 1e-12
    assert grr.guarantee.tight or k * 2.0**-53 > 1e-13 * float(Fraction(epsilon))


def test_the_matrix_in_floats_is_the_exact_one():
    law = GRR(3, 1).matrix()

    assert np.allclose(law, [[GRR(3, 1).p if y == v else GRR(3, 1).q for y in range(3)] for v in range(3)])
    assert GRR(3, 1).outputs().values.tolist() == [0, 1, 2]


def test_a_matrix_that_is_too_large_is_refused():
    with pytest.raises(LimitExceededError, match="100,000 rows"):
        GRR(100_000, 1).matrix()
    with pytest.raises(LimitExceededError, match="100,000 rows"):
        GRR(100_000, 1).outputs()


@pytest.mark.parametrize(("k", "epsilon"), [(2**31 - 1, "1e-9"), (2, "1e-17")])
def test_values_that_53_bits_cannot_tell_apart_are_refused_before_a_draw(k, epsilon):
    source = ScriptedSource([])
    with pytest.raises(InvalidParameterError, match="large enough that") as caught:
        GRR(k, epsilon).privatize([0, 1], rng=source)

    assert source.asked == []
    assert "use OUE or SS" in str(caught.value)


def test_the_probability_of_a_false_value_names_its_owner():
    with pytest.raises(InvalidParameterError, match="parameter of OLH"):
        flip_probability(2, Fraction(1, 10**17), owner="OLH")


# --- drawing ------------------------------------------------------------------------------------


def test_the_reports_do_not_depend_on_the_type_of_the_codes():
    codes = np.arange(5_000) % 7
    reports = [GRR(7, 1).privatize(codes.astype(dtype), rng=3).values for dtype in ("u1", "i2", ">i4", "i8")]

    assert all(np.array_equal(reports[0], each) for each in reports)
    assert reports[0].dtype == np.uint8


@pytest.mark.parametrize(
    ("k", "dtype"), [(2, "u1"), (256, "u1"), (257, "u2"), (70_000, "u4"), (2**31 - 1, "u4")]
)
def test_reports_have_the_smallest_type_and_stay_in_the_domain(k, dtype):
    reports = GRR(k, 1).privatize(np.full(3_000, k - 1), rng=4).values

    assert reports.dtype == dtype
    assert reports.max() < k


def test_drawing_a_million_reports_takes_the_memory_of_the_reports():
    import tracemalloc

    codes = np.zeros(2_000_000, dtype=np.int64)
    GRR(5, 1).privatize(codes[:10], rng=1)
    tracemalloc.start()
    GRR(5, 1).privatize(codes, rng=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2_000_000 + 2_000_000  # the reports, and a constant


@pytest.mark.parametrize("keep", [Fraction(1, 3), Fraction(-1, 2), Fraction(3, 2), Fraction(1, 2**54)])
def test_a_probability_off_the_grid_is_refused(keep):
    with pytest.raises(InvalidParameterError, match="a multiple of"):
        respond(np.array([0, 1]), 2, keep, ScriptedSource([]))


def test_certain_answers_are_certain():
    codes = np.arange(1_000) % 5

    assert np.array_equal(respond(codes, 5, Fraction(1), SeededSource(1)), codes)
    assert (respond(codes, 5, Fraction(0), SeededSource(1)) != codes).all()
    assert np.array_equal(respond(codes % 2, 2, Fraction(0), SeededSource(1)), 1 - codes % 2)


# --- counting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 74, 256, 1_000, 70_000])
@pytest.mark.parametrize(
    "which", [slice(None), slice(1, None), slice(None, None, 3), slice(0, 1), slice(0, 0)]
)
def test_counts_are_those_of_bincount(k, which, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 1_000)
    grr = GRR(k, 1)
    reports = grr.privatize(np.arange(5_003) % k, rng=5)[which]

    assert np.array_equal(grr.counts(reports), np.bincount(reports.values, minlength=k))
    assert grr.counts(reports).dtype == np.int64


@pytest.mark.parametrize("k", [2, 7, 300])
def test_indicators_mark_what_a_report_says(k, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 100)
    grr = GRR(k, 1)
    reports = grr.privatize(np.arange(503) % k, rng=6)[::2]
    found = grr.indicators(reports)

    assert found.dtype == np.uint8
    assert np.array_equal(found, reports.values[:, None] == np.arange(k))


def test_bare_arrays_are_counted():
    assert GRR(3, 1).counts([2, 2, 0]).tolist() == [1, 0, 2]


@pytest.mark.parametrize("forged", [np.array([0, 200], dtype=np.uint8), np.array([0, 3]), np.array([0, -1])])
def test_a_report_outside_the_domain_is_refused_and_never_written_past_a_table(forged):
    """Reports are checked before they come here; the kernels do not rely on it."""
    for read in (GRR(3, 1)._counts, GRR(3, 1)._indicators):
        with pytest.raises(InvalidParameterError, match="whole numbers from 0 to 2"):
            read(forged)


def test_the_estimator_is_not_clamped():
    """A clamped estimate is biased. 350 of 1000 reports say a value."""
    grr = GRR(10, 1)
    reports = np.repeat(np.arange(10), [350, *[72] * 8, 74])

    assert close(grr.estimate(reports).values[0], 1.8049417671733)
    assert grr.estimate(reports).values[1] < 0
