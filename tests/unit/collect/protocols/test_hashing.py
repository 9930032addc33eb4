"""Local hashing: figures, laws and limits, and kernels that do what the slow version does."""

import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.collect.kernels import hashing as _kernels_hashing
from evenhand.collect.protocols import hashing
from evenhand.collect.protocols.hashing import BLH, OLH
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy import feeding
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import exp_bounds
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.collect._hash_and_subset_twins import slow_bucket, slow_hashed, slow_supports
from unit.privacy._slow_sampling import ScriptedSource

EPSILONS = ["1/1000", "1/20", "1/2", "1", "2", "6", "11", "50"]
SHAPES = [
    BLH(k=2, epsilon=1),
    BLH(k=74, epsilon="1/4"),
    OLH(k=5, epsilon=1),
    OLH(k=9, epsilon="1/2"),
    OLH(k=23, epsilon=3),
    OLH(k=6, epsilon=6),  # buckets of two bytes
    OLH(k=40, epsilon=9),  # more buckets than the table of starts has, words of 64 bits
    OLH(k=3, epsilon=10),  # the same with words of 32 bits
    OLH(k=2**18 + 1, epsilon=1),  # words of 64 bits, few buckets
    OLH(k=30, epsilon=20),  # the most buckets, four bytes each
]
IDS = [repr(each) for each in SHAPES]


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_hashing)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    chosen = compiled_or_plain(request, monkeypatch, _kernels_hashing)
    with np.errstate(over="ignore"):  # words wrap at their width, and are meant to
        yield chosen


def _codes(protocol, n, seed=1):
    words = SeededSource(seed).words(n)
    return (words % np.uint64(protocol.k)).astype(np.int64)


def _least(protocol):
    """The values near both ends, for domains too large to try every one."""
    return sorted({*range(min(protocol.k, 50)), *range(max(0, protocol.k - 3), protocol.k)})


# --- figures -----------------------------------------------------------------------------------


def test_blh_has_the_figures_of_the_formula_sheet():
    blh = BLH(k=10, epsilon=1)

    assert blh.g == 2
    assert blh.p == pytest.approx(0.73105857863, abs=1e-11)
    assert blh.q == 0.5
    assert blh.variance() == pytest.approx(4.6826943768312, rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "g", "variance"),
    [(1, 4, 3.6916546174567), (0.5, 3, 15.817400276842), (2, 8, 0.72459138906815)],
)
def test_olh_has_the_figures_of_the_formula_sheet(epsilon, g, variance):
    olh = OLH(k=10, epsilon=epsilon)

    assert olh.g == g
    assert olh.variance() == pytest.approx(variance, rel=1e-9)  # q exceeds 1/g by a hair where g is odd


def test_olh_says_the_truth_with_the_probability_of_the_formula_sheet():
    assert OLH(k=10, epsilon=1).p == pytest.approx(0.47536688641867, rel=1e-13)
    assert OLH(k=10, epsilon=1).q_exact == Fraction(1, 4)


def test_as_printed_rounds_the_number_of_buckets_down():
    """What the literature prints costs variance; the default must not."""
    printed, ours = OLH(k=10, epsilon=1, as_printed=True), OLH(k=10, epsilon=1)

    assert (printed.g, ours.g) == (3, 4)
    assert printed.variance() == pytest.approx((np.e + 2) ** 2 / ((np.e - 1) ** 2 * 2), rel=1e-9)
    assert printed.variance() > ours.variance()
    assert repr(printed) == "OLH(k=10, epsilon=1, as_printed=True)"


def test_q_is_the_collision_probability_seen_through_the_noise():
    olh = OLH(k=10, epsilon="1/2")  # three buckets, which do not divide a power of two
    p, flip, collision = olh.p_exact, olh.flip_exact, olh.collision_exact

    assert collision > Fraction(1, 3)
    assert float(collision - Fraction(1, 3)) < 2**-50
    assert olh.q_exact == p * collision + flip * (1 - collision)


def test_the_number_of_buckets_is_the_best_of_all():
    for epsilon in np.round(np.arange(0.05, 6.001, 0.05), 2).tolist():
        raised, g = np.exp(epsilon), np.arange(2, 1_000)
        variances = (raised - 1 + g) ** 2 / ((raised - 1) ** 2 * (g - 1))
        chosen = OLH(k=10, epsilon=epsilon).g

        assert variances[chosen - 2] <= variances.min() * (1 + 1e-12)


def test_bits_are_those_of_the_hash_function_and_the_bucket():
    assert BLH(k=10, epsilon=1).bits_per_report == 65
    assert OLH(k=10, epsilon=1).bits_per_report == 66
    assert OLH(k=2**20, epsilon=1).bits_per_report == 130


# --- the law -----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [2, 5, 74, 1_000, 100_000])
@pytest.mark.parametrize("kind", [BLH, OLH])
def test_the_worst_ratio_is_at_most_e_to_the_epsilon(kind, k, epsilon):
    """If this is false the report is less private than it says."""
    protocol = kind(k=k, epsilon=epsilon)

    assert 1 < protocol.worst_ratio <= exp_bounds(Fraction(epsilon), digits=200)[0]


@pytest.mark.parametrize("epsilon", ["1/10", "1/4", "1/2", "1", "2", "4", "8"])
@pytest.mark.parametrize("k", [2, 3, 4, 8])
@pytest.mark.parametrize("kind", [BLH, OLH])
def test_the_matrix_of_a_hash_function_meets_epsilon(kind, k, epsilon):
    """Exact rows, 200 digits: never above epsilon, and at it where two values have different buckets."""
    protocol = kind(k=k, epsilon=epsilon)
    functions = [(0, 0), (2654435769, 305419896), (2**31 + 1, 7)]
    with mpmath.workdps(200):
        limit = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        for multiplier, offset in functions:
            law = protocol.matrix_given(multiplier, offset, exact=True)
            ratios = {max(column) / min(column) for column in set(map(tuple, law.T))}
            worst = max(mpmath.log(mpmath.mpf(r.numerator) / r.denominator) for r in ratios)
            buckets = {slow_bucket(protocol.family, multiplier, offset, value) for value in range(k)}

            assert (law.sum(axis=1) == 1).all()
            assert worst <= limit
            if len(buckets) == 1:
                assert worst == 0
            else:
                assert (limit - worst <= 1e-12) == protocol.tight
                assert limit - worst <= 2e-12


@pytest.mark.parametrize("kind", [BLH, OLH])
def test_reports_are_called_tight_where_epsilon_is_met_to_twelve_digits(kind):
    """Above 4, one unit of the grid of 2**-53 is a larger share of a small probability."""
    told = {epsilon: kind(k=5, epsilon=epsilon).tight for epsilon in ("1/10", "1", "4")}

    assert told == {"1/10": True, "1": True, "4": True}


def test_the_matrix_of_a_hash_function_has_the_truth_in_the_true_bucket():
    olh = OLH(k=6, epsilon=1)
    law = olh.matrix_given(2654435769, 305419896)
    true = [slow_bucket(olh.family, 2654435769, 305419896, value) for value in range(6)]

    assert law.dtype == float
    assert law.argmax(axis=1).tolist() == true
    assert sorted(set(law.ravel().tolist())) == [float(olh.flip_exact), olh.p]


@pytest.mark.parametrize("protocol", SHAPES, ids=IDS)
def test_the_table_of_steps_says_only_what_every_number_with_that_byte_says(protocol):
    flip, g = int(protocol.flip_exact * 2**53), protocol.g
    step_of = [
        [step if (step := number // flip + 1) < g else 0 for number in (byte << 45, ((byte + 1) << 45) - 1)]
        for byte in range(256)
    ]

    assert protocol._steps.tolist() == [low if low == high else g for low, high in step_of]


# --- kernels against the slow version ----------------------------------------------------------


@pytest.mark.parametrize("protocol", SHAPES, ids=IDS)
def test_reports_are_those_of_the_slow_version(kernels, protocol):
    codes = _codes(protocol, 40)
    fast = protocol.privatize(codes, rng=SeededSource(3)).values

    assert fast.dtype == protocol.layout.dtype
    assert fast.tolist() == slow_hashed(protocol, codes, SeededSource(3).words(400))


@pytest.mark.parametrize("first", range(0, 256, 15))
def test_a_byte_that_settles_nothing_is_followed_by_six_more(kernels, first):
    """The rare branch, for every kind of first byte, with the rest all zeros, all ones and in between."""
    for rest in (0, 2**48 - 1, 2**45 - 1, 0x1234_5678_9ABC):
        number = bytes([first]) + rest.to_bytes(6, "little")
        tape = (number * 48)[: 48 * 7]
        words = [int.from_bytes(tape[at : at + 8], "little") for at in range(0, 336, 8)]
        for protocol in (OLH(k=7, epsilon=5), OLH(k=5, epsilon=1), BLH(k=4, epsilon=3)):
            codes = _codes(protocol, 6)
            script = [*SeededSource(4).words(6).tolist(), *words]
            fast = protocol.privatize(codes, rng=ScriptedSource(script, then=SeededSource(5))).values

            assert fast.tolist() == slow_hashed(protocol, codes, [*script, *SeededSource(5).words(100)])


@pytest.mark.parametrize("protocol", [each for each in SHAPES if each.k < 1_000], ids=repr)
def test_counts_and_indicators_are_those_of_the_slow_version(kernels, protocol):
    reports, values = protocol.privatize(_codes(protocol, 25), rng=6), range(protocol.k)
    slow = np.array([[slow_supports(protocol, report, v) for v in values] for report in reports.values])

    assert (protocol.indicators(reports)[:, values] == slow).all()
    assert (protocol.counts(reports)[values] == slow.sum(axis=0)).all()
    assert protocol.counts(reports).dtype == np.int64


def test_counts_and_indicators_of_a_large_domain_are_those_of_the_slow_version():
    protocol = OLH(k=2**18 + 1, epsilon=1)
    reports, values = protocol.privatize(_codes(protocol, 9), rng=6), _least(protocol)
    slow = np.array([[slow_supports(protocol, report, v) for v in values] for report in reports.values])

    assert (protocol.indicators(reports)[:, values] == slow).all()
    assert (protocol.counts(reports)[values] == slow.sum(axis=0)).all()


@pytest.mark.parametrize("n", [0, 1, 2_047, 2_048, 2_049])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 77])
def test_counts_are_sums_of_indicators_at_every_remainder(n, k):
    """Values are tested four at a time and reports in blocks: no remainder may be lost."""
    olh = OLH(k=k, epsilon=1)
    reports = olh.privatize(_codes(olh, n), rng=7)

    assert (olh.counts(reports) == olh.indicators(reports).sum(axis=0)).all()


@pytest.mark.parametrize("protocol", SHAPES, ids=IDS)
def test_the_table_of_ranges_is_that_of_the_family(protocol):
    """A word is in the range of a bucket if and only if the family puts it there."""
    family, ranges = protocol.family, protocol._ranges
    shift, last = family.width - family.top, 2**family.width - 1
    if protocol.g > 2**12:
        assert ranges.tolist() == [[0], [0]]
        return
    assert ranges.dtype == family.word
    assert ranges.shape == (2, protocol.g + 1)
    assert ranges[:, -1].tolist() == [0, 0]
    for bucket, (least, many) in enumerate(ranges.T[:-1].tolist()):
        for word in (least, least + many - 1):
            assert slow_bucket(family, 0, word, 0) == bucket
        assert least == 0 or slow_bucket(family, 0, least - 1, 0) == bucket - 1
        assert least + many - 1 == last or slow_bucket(family, 0, least + many, 0) == bucket + 1
        assert least % 2**shift == many % 2**shift == 0


@pytest.mark.parametrize("protocol", [OLH(k=74, epsilon=1), OLH(k=500, epsilon=9)], ids=repr)
def test_support_is_one_comparison_at_the_ends_of_every_range(protocol):
    """Reports whose words lie exactly on, before and after the ends of a bucket."""
    family, word = protocol.family, protocol.family.word
    shift = family.width - family.top
    for bucket in {0, 1, protocol.g // 2, protocol.g - 1}:
        start, end = (int(each) << shift for each in family.starts([bucket, bucket + 1]))
        offsets = [(each + move) % 2**family.width for each in (start, end) for move in (-1, 0, 1)]
        reports = np.zeros(len(offsets), dtype=protocol.layout.dtype)
        reports["offset"], reports["value"] = np.array(offsets, dtype=word), bucket

        supported = protocol.indicators(reports)[:, 0].tolist()
        assert supported == [start <= offset < end for offset in offsets]


def test_a_true_bucket_without_noise_supports_the_value_held():
    """At a large epsilon nobody is flipped, so every report supports what its sender holds."""
    olh = OLH(k=1_000, epsilon=20)
    codes = _codes(olh, 500)
    inside = olh.indicators(olh.privatize(codes, rng=8))[np.arange(500), codes]

    assert np.count_nonzero(inside) > 400


# --- how the work is cut -----------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [OLH(k=9, epsilon=3), OLH(k=500, epsilon=9)], ids=repr)
def test_reports_do_not_depend_on_how_the_work_is_cut(protocol, monkeypatch):
    codes = _codes(protocol, 1_000)
    whole = protocol.privatize(codes, rng=9).values
    counts = protocol.counts(whole)
    monkeypatch.setattr(hashing, "_BLOCK", 7)
    monkeypatch.setattr(hashing, "_NEAR", 3)
    monkeypatch.setattr(hashing, "_SERVED", 11)
    monkeypatch.setattr(feeding, "MOST_WORDS", 1)
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)

    assert (protocol.privatize(codes, rng=9).values == whole).all()
    assert (protocol.counts(whole) == counts).all()
    assert (protocol.indicators(whole).sum(axis=0) == counts).all()


@pytest.mark.parametrize("protocol", [OLH(k=9, epsilon=3), OLH(k=40, epsilon=9)], ids=repr)
def test_reports_do_not_depend_on_where_the_bytes_run_out(kernels, protocol, monkeypatch):
    codes = _codes(protocol, 60)
    whole = protocol.privatize(codes, rng=9).values
    monkeypatch.setattr(feeding, "MOST_WORDS", 1)
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)

    assert (protocol.privatize(codes, rng=9).values == whole).all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", "u4", "i8", ">u8", "?"])
def test_codes_of_every_integer_type_give_the_same_reports(dtype):
    olh = OLH(k=2, epsilon=1)
    codes = _codes(olh, 100)

    assert (olh.privatize(codes.astype(dtype), rng=1) == olh.privatize(codes, rng=1).values).all()


def test_reports_with_gaps_are_counted_as_they_are():
    olh = OLH(k=12, epsilon=1)
    reports = olh.privatize(_codes(olh, 100), rng=1)

    assert (olh.counts(reports[::3]) == olh.indicators(reports)[::3].sum(axis=0)).all()
    assert (olh.counts(reports[::-1]) == olh.counts(reports)).all()


def test_memory_is_the_output_and_a_constant():
    olh = OLH(k=74, epsilon=1)
    codes = _codes(olh, 500_000).astype(np.uint8)
    olh.counts(olh.privatize(codes[:10], rng=1))
    tracemalloc.start()
    reports = olh.privatize(codes, rng=1)
    made = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    olh.counts(reports)
    counted = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()

    assert made < reports.values.nbytes + 2_000_000
    assert counted < 200_000


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2**25 + 1, 2.0, True])
@pytest.mark.parametrize("kind", [BLH, OLH])
def test_domains_beyond_the_family_are_refused(kind, k):
    with pytest.raises(InvalidParameterError, match=f"The 'k' parameter of {kind.__name__} must be"):
        kind(k=k, epsilon=1)


def test_an_epsilon_too_small_for_the_grid_is_refused():
    with pytest.raises(InvalidParameterError, match="epsilon"):
        _ = BLH(k=5, epsilon="1e-20").p_exact


def test_a_matrix_over_all_hash_functions_is_refused_with_the_one_that_exists():
    for ask in (OLH(k=5, epsilon=1).matrix, OLH(k=5, epsilon=1).outputs):
        with pytest.raises(LimitExceededError, match=r"2\*\*64 hash functions.*matrix_given") as caught:
            ask()

        assert caught.value.limit == "cells"


@pytest.mark.parametrize(("multiplier", "offset"), [(-1, 0), (0, 2**32), (1.5, 0), (0, None)])
def test_a_hash_function_outside_the_family_is_refused(multiplier, offset):
    with pytest.raises(InvalidParameterError, match=r"of OLH.matrix_given must be a whole number from 0 to"):
        OLH(k=5, epsilon=1).matrix_given(multiplier, offset)


def test_a_matrix_of_too_many_cells_is_refused():
    with pytest.raises(LimitExceededError):
        OLH(k=2**20, epsilon=2).matrix_given(1, 1)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "protocol",
    [BLH(k=2, epsilon=1), OLH(k=5, epsilon=1), OLH(k=6, epsilon=6), OLH(k=3, epsilon=10)],
    ids=repr,
)
def test_a_bucket_that_does_not_exist_is_refused_even_behind_the_checks(kernels, protocol, place):
    """The kernels index a table with it."""
    values = protocol.privatize([1, 0, 1], rng=1).values.copy()
    for bucket in (protocol.g, np.iinfo(values["value"].dtype).max):
        values["value"][place] = bucket
        forged = Reports._drawn(values, protocol, simulated=True)
        for ask in (protocol.counts, protocol.indicators):
            with pytest.raises(
                InvalidParameterError, match=r"The 'reports' parameter of .LH must be reports of"
            ):
                ask(forged)


def test_records_of_another_width_are_refused_even_behind_the_checks():
    olh = OLH(k=5, epsilon=1)
    forged = Reports._drawn(OLH(k=2**20, epsilon=1).privatize([1], rng=1).values, olh, simulated=True)

    with pytest.raises(InvalidParameterError):
        olh.counts(forged)


def test_codes_outside_the_domain_are_refused_without_telling_them():
    with pytest.raises(InvalidParameterError, match="from 0 to 4") as caught:
        OLH(k=5, epsilon=1).privatize([0, 7])

    assert "7" not in str(caught.value)
