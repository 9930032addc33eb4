"""Unary encodings: figures, privacy of the rounded probabilities, packed reports, counting."""

import itertools
import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.collect.kernels import bits as _kernels_bits
from evenhand.collect.protocols import unary as module
from evenhand.collect.protocols.probabilities import GRID
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.errors import InvalidParameterError, LimitExceededError, PrivacyWarning
from evenhand.privacy.randomness import SeededSource
from unit.privacy._slow_sampling import ScriptedSource

EPSILONS = ["0.001", "0.01", "0.1", "0.5", "1", "2", "5", "10", "20", "36", "40", "50"]


def close(found, expected):
    return math.isclose(found, expected, rel_tol=1e-11)


def _recalibrated(k, epsilon):
    return THE(k, epsilon, recalibrated=True)


MAKERS = [RAPPOR, OUE, THE, _recalibrated]


# --- figures ------------------------------------------------------------------------------------


def test_known_figures():
    assert close(RAPPOR(7, 1).p, 0.62245933120185)
    assert close(RAPPOR(7, 1).variance(), 3.9176980890328)
    assert OUE(7, 1).p_exact == Fraction(1, 2)
    assert close(OUE(7, 1).q, 0.26894142137)
    assert close(OUE(7, 1).variance(), 3.6826943768312)


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_the_variances_have_closed_forms(epsilon):
    raised, root = math.exp(epsilon), math.exp(epsilon / 2)

    assert math.isclose(RAPPOR(9, epsilon).variance(), root / (root - 1) ** 2, rel_tol=1e-9)
    assert math.isclose(OUE(9, epsilon).variance(), 4 * raised / (raised - 1) ** 2, rel_tol=1e-9)


@pytest.mark.parametrize("make", MAKERS)
def test_a_report_has_a_bit_for_each_value(make):
    assert make(74, 1).bits_per_report == 74
    assert make(74, 1).privatize([3, 5], rng=1).values.shape == (2, 10)


# --- privacy of the rounded probabilities -------------------------------------------------------


@pytest.mark.parametrize(("make", "epsilon"), [*itertools.product(MAKERS, EPSILONS)])
@pytest.mark.parametrize("k", [2, 100_000])
def test_the_worst_ratio_never_passes_e_to_the_epsilon(make, epsilon, k):
    """Two bits differ between two values, so the ratio is the product of two; decided in 200 digits."""
    protocol = make(k, epsilon)
    p, q, ratio = protocol.p_exact, protocol.q_exact, protocol.worst_ratio

    assert ratio == p / q * ((1 - q) / (1 - p))
    assert 1 > p > q > 0
    assert (p * GRID).denominator == (q * GRID).denominator == 1
    with mpmath.workdps(200):
        limit = mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)

        assert mpmath.mpf(ratio.numerator) / ratio.denominator <= limit
    assert protocol.realised_epsilon <= Fraction(epsilon)


@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "1/2", "1", "2", "4", "8"])
@pytest.mark.parametrize("k", [2, 3, 4, 8])
@pytest.mark.parametrize("make", MAKERS)
def test_the_whole_law_keeps_what_is_claimed(make, k, epsilon):
    protocol = make(k, epsilon)
    law = protocol.matrix(exact=True)
    worst = max(column.max() / column.min() for column in law.T)

    assert law.shape == (k, 2**k)
    assert all(sum(row) == 1 for row in law)
    assert worst == protocol.worst_ratio
    with mpmath.workdps(200):
        claimed = protocol.guarantee.epsilon
        claim = mpmath.mpf(claimed.numerator) / claimed.denominator
        gap = claim - mpmath.log(mpmath.mpf(worst.numerator) / worst.denominator)

        assert gap >= 0
        assert claimed <= Fraction(epsilon)
        assert protocol.guarantee.tight
        assert gap <= 1e-12


def test_the_law_is_the_product_of_the_bits():
    oue = OUE(3, 1)
    law, outputs = oue.matrix(exact=True), oue.indicators(oue.outputs())
    for value, column in itertools.product(range(3), range(8)):
        expected = Fraction(1)
        for place, bit in enumerate(outputs[column]):
            one = oue.p_exact if place == value else oue.q_exact
            expected *= one if bit else 1 - one

        assert law[value, column] == expected


@pytest.mark.parametrize("make", MAKERS)
def test_a_matrix_that_is_too_large_is_refused(make):
    with pytest.raises(LimitExceededError, match="cells"):
        make(74, 1).matrix()


@pytest.mark.parametrize("make", MAKERS)
def test_a_coarse_grid_is_told_in_the_guarantee(make):
    """At epsilon 80, 53 bits cannot make a bit as rare as asked: the report is more private than that."""
    with pytest.warns(PrivacyWarning):
        promised = make(5, 80).guarantee

    assert 36 < promised.epsilon < 74
    assert promised.tight


@pytest.mark.parametrize("make", MAKERS)
def test_bits_that_53_digits_cannot_tell_apart_are_refused_before_a_draw(make):
    source = ScriptedSource([])
    with pytest.raises(InvalidParameterError, match="large enough that a bit can tell two values apart"):
        make(5, "1e-17").privatize([0, 1], rng=source)

    assert source.asked == []


# --- packed reports -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5, 7, 8, 9, 13, 74])
def test_bits_past_the_last_value_are_zero(k):
    values = RAPPOR(k, "1/2").privatize(np.arange(2_000) % k, rng=1).values

    assert values.shape == (2_000, -(-k // 8))
    if k % 8:
        assert not (values[:, -1] >> (k % 8)).any()


@pytest.mark.parametrize("codes", [[5], [-1], [2**31]])
def test_codes_that_nobody_checked_never_write_past_a_row(codes):
    with pytest.raises(InvalidParameterError, match="codes outside"):
        OUE(5, 1)._privatize(np.array(codes), ScriptedSource([]))


def test_the_reports_do_not_depend_on_the_type_of_the_codes():
    codes = np.arange(5_000) % 7
    reports = [OUE(7, 1).privatize(codes.astype(dtype), rng=3).values for dtype in ("u1", "i2", ">i4", "i8")]

    assert all(np.array_equal(reports[0], each) for each in reports)


@pytest.mark.parametrize("k", [3, 40, 74])
def test_reports_of_several_blocks_are_each_drawn_afresh(k, monkeypatch):
    """Blocks that shared their words would give people the same noise."""
    monkeypatch.setattr(module, "_REPORTS", 256)
    monkeypatch.setattr(module, "_BITS", 256 * k)
    values = OUE(k, 1).privatize(np.zeros(2_610, dtype=int), rng=SeededSource(2)).values
    blocks = [values[start : start + 256] for start in range(0, 2_560, 256)]

    assert len({block.tobytes() for block in blocks}) == 10
    assert values[2_560:].any()


@pytest.mark.parametrize("k", [16, 74, 130])
def test_the_blocks_of_padded_reports_lie_one_after_the_other(k, monkeypatch):
    """A block that began in the middle of a group of words would write over the one before."""
    monkeypatch.setattr(module, "_REPORTS", 256)
    codes, source = np.arange(700) % k, SeededSource(3)
    whole = OUE(k, 1).privatize(codes, rng=SeededSource(3)).values
    parts = [OUE(k, 1).privatize(codes[start : start + 256], rng=source).values for start in (0, 256, 512)]

    assert np.array_equal(whole, np.concatenate(parts))
    assert module._REPORTS * -(-k // 8) % (8 * _kernels_bits.GROUP) == 0


def test_values_wider_than_a_block_are_drawn_row_by_row(monkeypatch):
    monkeypatch.setattr(module, "_BITS", 30)
    oue = OUE(49, 2)
    reports = oue.privatize(np.arange(400) % 49, rng=4)
    share = oue.counts(reports).sum() / 400

    assert abs(share - (oue.p + 48 * oue.q)) < 6 * math.sqrt(49 * oue.q / 400)


@pytest.mark.parametrize(("k", "n"), [(20, 1_500_000), (74, 600_000)])
def test_drawing_takes_the_memory_of_the_reports_and_a_constant(k, n):
    codes = np.zeros(n, dtype=np.uint8)
    oue = OUE(k, 1)
    oue.privatize(codes[:10], rng=1)
    tracemalloc.start()
    oue.privatize(codes, rng=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < oue.layout.width * n + 4_000_000


# --- counting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 5, 8, 9, 74, 300])
@pytest.mark.parametrize(
    "which", [slice(None), slice(1, None), slice(None, None, 3), slice(4, 5), slice(0, 0)]
)
def test_counts_are_the_sums_of_the_indicators(k, which):
    protocol = OUE(k, 1)
    reports = protocol.privatize(np.arange(1_001) % k, rng=5)[which]
    indicators = protocol.indicators(reports)

    assert indicators.shape == (len(reports), k)
    assert protocol.counts(reports).tolist() == indicators.sum(axis=0, dtype=int).tolist()
    assert protocol.counts(reports).dtype == np.int64


def test_indicators_are_the_bits():
    oue = OUE(10, 1)

    assert oue.indicators(np.array([[0b00000101, 0b10]], dtype=np.uint8)).tolist() == [[1, 0, 1, *[0] * 6, 1]]


def test_wide_reports_are_counted_in_strips(monkeypatch):
    monkeypatch.setattr(module, "_STRIP", 5)
    monkeypatch.setattr(module, "_CHUNK", 1_000)
    oue = OUE(100, 1)
    reports = oue.privatize(np.arange(700) % 100, rng=6)

    assert oue.counts(reports).tolist() == oue.indicators(reports).sum(axis=0, dtype=int).tolist()


def test_counts_do_not_stop_at_255_or_65535():
    """Counters of eight bits carry the sums inside; all must be passed on."""
    oue = OUE(4, 1)

    assert oue.counts(np.full((200_000, 1), 0b1011, dtype=np.uint8)).tolist() == [
        200_000,
        200_000,
        0,
        200_000,
    ]


@pytest.mark.parametrize("make", MAKERS)
def test_estimates_come_back_to_the_shares(make):
    protocol = make(5, 2)
    codes = np.repeat(np.arange(5), [40_000, 30_000, 20_000, 10_000, 0])
    estimate = protocol.estimate(protocol.privatize(codes, rng=7))

    assert (
        np.abs(estimate.values - [0.4, 0.3, 0.2, 0.1, 0]) < 6.5 * protocol.variance(0.5, 100_000) ** 0.5
    ).all()
