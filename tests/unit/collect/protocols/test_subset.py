"""Subset selection: figures, laws and limits, and kernels that do what the slow version does."""

import itertools
import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.collect.joint.independent import Independent
from evenhand.collect.kernels import subset as _kernels_subset
from evenhand.collect.protocols import grr, subset
from evenhand.collect.protocols.subset import SS
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy import feeding
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import exp_bounds
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.collect._hash_and_subset_twins import GRID, slow_subsets
from unit.privacy._slow_sampling import ScriptedSource

EPSILONS = ["1/1000", "1/20", "1/2", "1", "2", "6", "11", "50"]
SHAPES = [
    SS(k=2, epsilon=1),
    SS(k=3, epsilon="1/100"),
    SS(k=5, epsilon=1),
    SS(k=10, epsilon=1),
    SS(k=41, epsilon="1/2"),
    SS(k=74, epsilon=1),
    SS(k=300, epsilon=3),  # values of two bytes
    SS(k=2**14, epsilon=8),  # the most values that are drawn in pairs
    SS(k=2**14 + 1, epsilon=8),
    SS(k=70_000, epsilon=9),  # values of four bytes
]
IDS = [repr(each) for each in SHAPES]


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_subset)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler, where no product may wrap."""
    chosen = compiled_or_plain(request, monkeypatch, _kernels_subset)
    with np.errstate(all="raise", under="ignore"):
        yield chosen


def _codes(protocol, n, seed=1):
    words = SeededSource(seed).words(n)
    return (words % np.uint64(protocol.k)).astype(np.int64)


def _best_size(k, epsilon):
    """Try every size: the least variance, and the size that has it."""
    size = np.arange(1, k)
    p = size * np.exp(epsilon) / (size * np.exp(epsilon) + k - size)
    q = (size - p) / (k - 1)
    variances = q * (1 - q) / (p - q) ** 2
    return variances, int(variances.argmin()) + 1


# --- figures -----------------------------------------------------------------------------------


def test_ss_has_the_figures_of_the_formula_sheet():
    ss = SS(k=10, epsilon=1)

    assert ss.size == 2
    assert ss.p == pytest.approx(0.40460967519169, rel=1e-13)
    assert ss.q == pytest.approx(0.17726559164537, rel=1e-13)
    assert ss.variance() == pytest.approx(2.821738684993, rel=1e-12)


def test_ss_as_printed_has_the_figures_of_the_formula_sheet():
    ss = SS(k=10, epsilon=1, as_printed=True)

    assert ss.size == 3
    assert ss.p == pytest.approx(0.53810152622445, rel=1e-13)
    assert ss.q == pytest.approx(0.27354427486395, rel=1e-13)
    assert ss.variance() == pytest.approx(2.8392095087398, rel=1e-12)
    assert repr(ss) == "SS(k=10, epsilon=1, as_printed=True)"


@pytest.mark.parametrize(
    ("epsilon", "k", "size", "variance"), [(0.5, 41, 15, 14.871947554195), (2, 74, 8, 0.67790804625054)]
)
def test_ss_has_the_further_figures_of_the_formula_sheet(epsilon, k, size, variance):
    ss = SS(k=k, epsilon=epsilon)

    assert ss.size == size
    assert ss.variance() == pytest.approx(variance, rel=1e-12)


def test_as_printed_takes_the_nearest_size():
    assert SS(k=74, epsilon=2, as_printed=True).size == 9
    assert SS(k=5, epsilon=8, as_printed=True).size == 1  # never none


def test_the_size_is_the_best_of_all():
    for k in [*range(2, 40), 41, 74, 100, 128, 250, 333, 499, 500]:
        for epsilon in np.round(np.linspace(0.05, 6, 40), 3).tolist():
            variances, _ = _best_size(k, epsilon)
            chosen = SS(k=k, epsilon=epsilon).size

            assert variances[chosen - 1] <= variances.min() * (1 + 1e-12)


def test_bits_are_the_fewer_of_a_list_and_a_number_of_the_set():
    assert SS(k=10, epsilon=1).bits_per_report == 6  # 45 sets; a list would take 8
    assert SS(k=5, epsilon=3).bits_per_report == 3
    assert SS(k=1_000, epsilon=1).bits_per_report == (math.comb(1_000, 269) - 1).bit_length()


def test_bits_of_many_values_come_from_logarithms_and_suffice(monkeypatch):
    """The number of sets of a million values has hundreds of thousands of digits."""
    exact = {k: SS(k=k, epsilon=1).bits_per_report for k in (50, 74, 999, 1_000, 5_000)}
    monkeypatch.setattr(subset, "_LARGEST_COUNTED", 0)

    assert {k: SS(k=k, epsilon=1).bits_per_report for k in exact} == exact
    assert SS(k=2**30, epsilon=1).bits_per_report < 2**30
    assert SS(k=2**30, epsilon=30).bits_per_report == 30


# --- the law -----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [2, 3, 5, 74, 1_000, 100_000])
def test_the_worst_ratio_is_at_most_e_to_the_epsilon(k, epsilon):
    """If this is false the report is less private than it says."""
    for as_printed in (False, True):
        ratio = SS(k=k, epsilon=epsilon, as_printed=as_printed).worst_ratio

        assert 1 < ratio <= exp_bounds(Fraction(epsilon), digits=200)[0]


@pytest.mark.parametrize("epsilon", ["1/10", "1/4", "1/2", "1", "2", "4", "8"])
@pytest.mark.parametrize("k", [2, 3, 4, 8])
def test_the_matrix_meets_epsilon(k, epsilon):
    """Exact rows, 200 digits: never above epsilon, and at it to twelve digits."""
    ss = SS(k=k, epsilon=epsilon)
    law = ss.matrix(exact=True)
    worst = max(max(column) / min(column) for column in law.T)
    with mpmath.workdps(200):
        limit = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        gap = limit - mpmath.log(mpmath.mpf(worst.numerator) / worst.denominator)

        assert 0 <= gap <= 1e-12
    assert law.shape == (k, math.comb(k, ss.size))
    assert (law.sum(axis=1) == 1).all()
    assert worst == ss.worst_ratio
    assert ss.tight


@pytest.mark.parametrize("k", [2, 3, 4, 8])
def test_p_and_q_are_those_of_the_matrix(k):
    ss = SS(k=k, epsilon="1/2")
    supports = ss.indicators(ss.outputs())
    found = ss.matrix(exact=True) @ supports.astype(object)

    assert (found == np.where(np.eye(k, dtype=bool), ss.p_exact, ss.q_exact)).all()
    assert ss.matrix().dtype == float


# --- kernels against the slow version ----------------------------------------------------------


@pytest.mark.parametrize("protocol", SHAPES, ids=IDS)
def test_reports_are_those_of_the_slow_version(kernels, protocol):
    codes = _codes(protocol, 30)
    fast = protocol.privatize(codes, rng=SeededSource(2)).values

    assert fast.dtype == protocol.layout.dtype
    assert fast.tolist() == slow_subsets(protocol, codes, SeededSource(2).words(3_000))


@pytest.mark.parametrize("unit", [0, 1, 2**32 - 1, 2**31, 2**32 // 3])
@pytest.mark.parametrize("protocol", SHAPES[:5], ids=IDS[:5])
def test_units_that_would_favour_an_outcome_are_thrown_away(kernels, protocol, unit):
    """Zero is thrown away by every bound that is no power of two; the script says so for many units."""
    script = [unit | unit << 32] * 40
    codes = _codes(protocol, 12)
    fast = protocol.privatize(codes, rng=ScriptedSource(script, then=SeededSource(3))).values

    assert fast.tolist() == slow_subsets(protocol, codes, [*script, *SeededSource(3).words(1_000)])


@pytest.mark.parametrize("move", [-1, 0, 1])
@pytest.mark.parametrize("second", [-1, 0])
def test_a_tie_in_the_first_unit_is_settled_by_another(kernels, move, second):
    """The case of one in 2**32, on both sides of it. The other unit comes after the three of the report."""
    ss = SS(k=10, epsilon=1)
    chance = int(ss.p_exact * GRID)
    script = [
        (chance >> 21) + move | 2**31 << 32,
        2**31 | (chance % 2**21 + second) << 11 << 32,
    ]
    fast = ss.privatize([4], rng=ScriptedSource(script, then=SeededSource(4))).values

    assert fast.tolist() == slow_subsets(ss, [4], [*script, *SeededSource(4).words(100)])
    assert (4 in fast[0]) == (move < 0 or (move == 0 and second < 0))


@pytest.mark.parametrize("n", [1, 3, 4, 6, 340, 345])
def test_groups_of_every_length_are_drawn_as_the_slow_version_draws_them(n):
    """A group has at most 340 reports, of which four are shuffled at a time; what is left uses one deck."""
    ss = SS(k=10, epsilon=1)
    codes = _codes(ss, n)

    assert ss.privatize(codes, rng=8).values.tolist() == slow_subsets(ss, codes, SeededSource(8).words(2 * n))


def test_every_report_names_different_values_of_the_domain():
    for protocol in SHAPES:
        rows = np.sort(protocol.privatize(_codes(protocol, 200), rng=5).values.astype(np.int64), axis=1)

        assert (np.diff(rows, axis=1) > 0).all()
        assert rows.min() >= 0
        assert rows.max() < protocol.k


@pytest.mark.parametrize(
    "protocol", [SS(k=2, epsilon=1), SS(k=74, epsilon=1), SS(k=300, epsilon=2)], ids=repr
)
def test_counts_and_indicators_are_those_of_the_slow_version(kernels, protocol):
    values = protocol.privatize(_codes(protocol, 20), rng=6).values
    slow = np.array([[value in row for value in range(protocol.k)] for row in values.tolist()])

    assert (protocol.indicators(values) == slow).all()
    assert (protocol.counts(values) == slow.sum(axis=0)).all()
    assert protocol.counts(values).dtype == np.int64


def test_both_choices_of_a_unit_are_uniform_and_independent():
    """The rule of two swaps from one unit, enumerated over every unit of eight bits."""
    for first, second in [(7, 6), (9, 8), (3, 2), (11, 1), (16, 15)]:
        threshold = 2**8 % (first * second)
        pairs = []
        for unit in range(2**8):
            product = unit * first
            last = product % 2**8 * second
            if last % 2**8 >= threshold:
                pairs.append((product >> 8, last >> 8))
        counts = [pairs.count(each) for each in itertools.product(range(first), range(second))]

        assert set(counts) == {2**8 // (first * second)}


def test_bounds_fit_a_unit_and_thresholds_are_remainders():
    for protocol in [*SHAPES, SS(k=2**31 - 1, epsilon=20)]:
        each, bounds, redrawn = protocol._bounds
        first, *rest = bounds.T.tolist()[:each]
        drawn = [bound for pair in rest for bound in pair if bound > 1]
        products = [a * b for a, b in bounds.T.tolist()]
        wanted = [protocol.size, *range(protocol.k - 1, protocol.k - 1 - protocol.size, -1)]

        assert first == [1, 1]
        assert bounds.dtype == (np.uint16 if protocol.k <= 2**14 else np.uint32)
        assert each == 1 + (-(-len(wanted) // 2) if protocol.k <= 2**14 else len(wanted))
        assert drawn == [bound for bound in wanted if bound > 1]
        assert max(products) <= 2**32
        assert redrawn.tolist() == [2**32 % product for product in products]


def test_groups_fit_the_seam_of_two_buffers():
    """More units than are joined there would copy a whole buffer each time."""
    for protocol in SHAPES:
        each, bounds, redrawn = protocol._bounds
        group = redrawn.size // each

        assert redrawn.size == group * each == bounds.shape[1]
        assert group == 1 or (group % 4 == 0 and redrawn.size <= feeding.SEAM)
        assert (bounds == np.tile(bounds[:, :each], group)).all()


# --- how the work is cut -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "protocol", [SS(k=2, epsilon=1), SS(k=41, epsilon=1), SS(k=300, epsilon=1)], ids=repr
)
def test_reports_do_not_depend_on_how_the_work_is_cut(kernels, protocol, monkeypatch):
    """A report that runs out of units halfway must leave the deck as it was."""
    n = 30 if kernels == "plain" else 500
    codes = _codes(protocol, n)
    whole = protocol.privatize(codes, rng=7).values
    counts = protocol.counts(whole)
    monkeypatch.setattr(grr, "_BLOCK", 7)
    monkeypatch.setattr(feeding, "MOST_WORDS", 1)
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)

    assert (protocol.privatize(codes, rng=7).values == whole).all()
    assert (protocol.counts(whole) == counts).all()
    assert (protocol.indicators(whole).sum(axis=0) == counts).all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", "u4", "i8", ">u8"])
def test_codes_of_every_integer_type_give_the_same_reports(dtype):
    ss = SS(k=20, epsilon=1)
    codes = _codes(ss, 100)

    assert (ss.privatize(codes.astype(dtype), rng=1) == ss.privatize(codes, rng=1).values).all()


def test_no_people_no_reports():
    ss = SS(k=20, epsilon=1)
    reports = ss.privatize([], rng=1)

    assert reports.shape == (0, ss.size)
    assert ss.counts(reports).tolist() == [0] * 20


def test_reports_with_gaps_are_counted_as_they_are():
    ss = SS(k=12, epsilon=1)
    reports = ss.privatize(_codes(ss, 100), rng=1)

    assert (ss.counts(reports[::3]) == ss.indicators(reports)[::3].sum(axis=0)).all()
    assert (ss.counts(np.asfortranarray(reports.values)) == ss.counts(reports)).all()


def test_memory_is_the_output_and_a_constant():
    ss = SS(k=74, epsilon=1)
    codes = _codes(ss, 300_000).astype(np.uint8)
    ss.counts(ss.privatize(codes[:10], rng=1))
    tracemalloc.start()
    reports = ss.privatize(codes, rng=1)
    made = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    ss.counts(reports)
    counted = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()

    assert made < reports.values.nbytes + 2_000_000
    assert counted < 200_000


# --- refusals ----------------------------------------------------------------------------------


def test_an_epsilon_too_small_for_the_grid_is_refused():
    """Rounded down, the true value would be named less often than another."""
    for epsilon in ("1e-16", "1e-20", "1e-400"):
        with pytest.raises(InvalidParameterError, match="The 'epsilon' parameter of SS must be large enough"):
            _ = SS(k=10, epsilon=epsilon).p_exact


def test_reports_too_long_for_a_buffer_are_refused_before_anything_is_drawn():
    source = ScriptedSource([])
    with pytest.raises(LimitExceededError, match="would name 1,443,868 values") as caught:
        SS(k=2**22 * 32 // 25, epsilon=1).privatize([3], rng=source)

    assert caught.value.limit == "k"
    assert source.asked == []


def test_a_matrix_of_too_many_cells_is_refused():
    with pytest.raises(LimitExceededError):
        SS(k=74, epsilon=1).matrix()


@pytest.mark.parametrize("ask", ["matrix", "outputs"])
def test_a_matrix_of_a_huge_domain_is_refused_at_once(ask, monkeypatch):
    """The number of its sets has hundreds of millions of digits: computing it for the message is a hang."""
    monkeypatch.setattr(math, "comb", None)
    with pytest.raises(LimitExceededError, match=r"2,147,483,647 rows and about 2\*\*1803\d+ columns"):
        getattr(SS(k=2**31 - 1, epsilon=1), ask)()


@pytest.mark.parametrize("as_strategy", [False, True])
def test_a_report_that_cannot_be_drawn_is_refused_before_a_ledger_is_charged(as_strategy, tmp_path):
    ledger, huge = Ledger(tmp_path / "ledger.db", epsilon=20), SS(k=2**31 - 1, epsilon=15)
    maker, codes = (Independent({"town": huge}), {"town": [0]}) if as_strategy else (huge, [0])
    with pytest.raises(LimitExceededError):
        maker.privatize(codes, ledger=ledger)

    assert [entry.kind for entry in ledger.history()] == ["open"]


def test_a_deck_of_a_huge_domain_is_refused_before_anything_is_drawn():
    """It takes four bytes for each value: eight gigabytes, for however few people."""
    source = ScriptedSource([])
    with pytest.raises(LimitExceededError, match="a deck of 8,589,934,588 bytes, more than 268,435,456"):
        SS(k=2**31 - 1, epsilon=25).privatize([3], rng=source)

    assert source.asked == []


@pytest.mark.parametrize("value", [74, 255])
def test_a_value_outside_the_domain_is_refused_even_behind_the_checks(kernels, value):
    """The kernels index the counts with it."""
    ss = SS(k=74, epsilon=1)
    values = ss.privatize([1, 2, 3], rng=1).values.copy()
    values[1, 3] = value
    forged = Reports._drawn(values, ss, simulated=True)

    for ask in (ss.counts, ss.indicators):
        with pytest.raises(InvalidParameterError, match="The 'reports' parameter of SS must be reports of"):
            ask(forged)


def test_reports_of_another_type_are_checked_even_behind_the_checks():
    ss = SS(k=10, epsilon=1)
    wide = Reports._drawn(np.array([[1, 2], [3, 4]]), ss, simulated=True)
    forged = Reports._drawn(np.array([[1, 2], [3, -4]]), ss, simulated=True)

    assert ss.counts(wide).tolist() == [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    with pytest.raises(InvalidParameterError):
        ss.counts(forged)


def test_codes_outside_the_domain_are_refused_without_telling_them():
    with pytest.raises(InvalidParameterError, match="from 0 to 4") as caught:
        SS(k=5, epsilon=1).privatize([0, 7])

    assert "7" not in str(caught.value)
