"""Large sets of subset selection, drawn as maps of bits: the kernel does what the slow version does."""

import hashlib
import tracemalloc

import numba
import numpy as np
import pytest

from evenhand.collect.kernels import subset_bits as compiled
from evenhand.collect.protocols import subset
from evenhand.collect.protocols.subset import SS
from evenhand.errors import RandomSourceError
from evenhand.privacy import feeding
from evenhand.privacy.randomness import SeededSource, Source
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.collect._hash_and_subset_twins import GRID, slow_maps
from unit.privacy._slow_sampling import ScriptedSource

MAPPED = [
    SS(k=257, epsilon="1/1000"),  # the fewest values
    SS(k=449, epsilon="1/2"),  # no pads in the last word that is drawn
    SS(k=513, epsilon="1/2"),  # as many others as places
    SS(k=514, epsilon="3/10"),  # almost half of the places are pads
    SS(k=1_000, epsilon=1),
    SS(k=1_000, epsilon="1/1000"),
]
LARGEST = SS(k=2**14, epsilon="1/2")
IDS = [repr(each) for each in MAPPED]
ALL_ONES = 2**64 - 1


@pytest.fixture(scope="module")
def plain():
    return plain_copy(compiled)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler, where no sum may wrap."""
    chosen = compiled_or_plain(request, monkeypatch, compiled)
    with np.errstate(all="raise", under="ignore"):
        yield chosen


def _codes(protocol, n, seed=1):
    """Codes of every kind: the first, the last, both sides of a word, and others."""
    words = SeededSource(seed).words(n)
    codes = (words % np.uint64(protocol.k)).astype(np.int64)
    codes[:4] = [0, protocol.k - 1, 63, 64][: codes.size]
    return codes


# --- which sets are drawn as maps --------------------------------------------------------------


def test_large_and_dense_sets_are_drawn_as_maps():
    """What a seed gives depends on it, so the rule may not move."""
    sizes = {each: (each.size, each._mapped) for each in (SS(k=473, epsilon=1), SS(k=477, epsilon=1))}

    assert list(sizes.values()) == [(127, False), (128, True)]
    assert [SS(k=k, epsilon="1/1000")._mapped for k in (256, 257, 2**14, 2**14 + 1)] == [0, 1, 1, 0]
    assert [SS(k=1_000, epsilon=e).size for e in ("109/100", "11/10")] == [251, 249]
    assert [SS(k=1_000, epsilon=e)._mapped for e in ("109/100", "11/10")] == [True, False]
    assert all(each._mapped for each in [*MAPPED, LARGEST])


PINNED = [
    (12, "1", 300_000, "4a57d2e21c755123"),
    (74, "1", 500, "fcaf96d400165976"),
    (256, "1/10", 300, "899114eb7a18f239"),
    (300, "1", 300, "4f5c16be278425ad"),
    (450, "1", 200, "0329319c15e2faaf"),
    (1_000, "2", 200, "ac40d21fce8e2f02"),
    (2**14 + 1, "6", 50, "d2d9f46c1692724d"),
    (300, "1/10", 200, "5f9f30fb6029226b"),  # from here on as maps
    (1_000, "1", 200, "37aa2b9bd236c6f1"),
    (1_025, "1", 100, "3d6085f74c7ede21"),
    (2**14, "1", 20, "5b427d87264b363c"),
]


@pytest.mark.parametrize(("k", "epsilon", "n", "digest"), PINNED)
def test_a_seed_gives_what_it_always_gave(k, epsilon, n, digest):
    """Studies are run again from their seeds, years later and on other machines."""
    codes = (SeededSource(1).words(n) % np.uint64(k)).astype(np.int64)
    values = SS(k=k, epsilon=epsilon).privatize(codes, rng=11).values

    assert hashlib.sha256(values.astype("<u4").tobytes()).hexdigest()[:16] == digest


def test_the_share_of_a_map_is_near_the_share_of_a_set_and_has_few_digits():
    """Any share gives the right law; one far off takes long."""
    found = {each: each._share for each in [*MAPPED, LARGEST]}
    for ss, (numerator, digits) in found.items():
        assert numerator % 2 == 1
        assert digits <= 6
        assert abs(numerator / 2**digits - ss.size / (ss.k - 1)) < 0.05
    assert found[SS(k=1_000, epsilon=1)] == (1, 2)
    assert SS(k=2_000, epsilon="1/2")._share == (3, 3)


# --- the kernel against the slow version -------------------------------------------------------


@pytest.mark.parametrize("protocol", MAPPED, ids=IDS)
def test_reports_are_those_of_the_slow_version(kernels, protocol):
    n = 12 if kernels == "plain" else 60
    codes = _codes(protocol, n)
    fast = protocol.privatize(codes, rng=SeededSource(2)).values

    assert fast.dtype == protocol.layout.dtype == np.uint16
    assert fast.tolist() == slow_maps(protocol, codes, SeededSource(2).words(10_000))


def test_reports_of_the_most_values_are_those_of_the_slow_version():
    codes = _codes(LARGEST, 8)

    assert LARGEST.privatize(codes, rng=2).values.tolist() == slow_maps(
        LARGEST, codes, SeededSource(2).words(30_000)
    )


@pytest.mark.parametrize("script", [[0] * 33, [ALL_ONES] * 33, [0, *[ALL_ONES] * 32]])
def test_maps_that_begin_empty_or_full_are_mended(kernels, script):
    """No random source gives them; every bit has to be set, or all but a few cleared."""
    ss = SS(k=1_000, epsilon=1)
    fast = ss.privatize([999, 5], rng=ScriptedSource(script, then=SeededSource(3))).values

    assert fast.tolist() == slow_maps(ss, [999, 5], [*script, *SeededSource(3).words(1_000)])


@pytest.mark.parametrize("move", [-1, 0])
def test_the_true_value_is_named_by_53_bits_of_the_first_word(kernels, move):
    ss = SS(k=1_000, epsilon=1)
    script = [int(ss.p_exact * GRID) + move << 11]
    fast = ss.privatize([400], rng=ScriptedSource(script, then=SeededSource(4))).values

    assert (400 in fast[0]) == (move < 0)


def test_every_report_names_different_values_in_ascending_order():
    """The order is a function of the set: it cannot tell which of its values is the true one."""
    for protocol in [*MAPPED, LARGEST]:
        rows = protocol.privatize(_codes(protocol, 200), rng=5).values.astype(np.int64)

        assert rows.shape == (200, protocol.size)
        assert (np.diff(rows, axis=1) > 0).all()
        assert rows.min() >= 0
        assert rows.max() < protocol.k


def test_sets_of_few_values_are_drawn_alike(kernels):
    """The kernel takes any size; the laws of small ones can be enumerated."""
    for ss in (SS(k=3, epsilon="1/100"), SS(k=8, epsilon="1/2"), SS(k=70, epsilon=1)):
        codes = (SeededSource(6).words(25) % np.uint64(ss.k)).astype(np.uint16)
        kernel, parameters, units, words = ss._as_map()
        out = np.empty((25, ss.size), dtype=np.uint16)
        feeding.feed(kernel, out, (codes, *parameters), SeededSource(7), units=units, words=words)

        assert out.tolist() == slow_maps(ss, codes, SeededSource(7).words(3_000))


# --- memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7])
def test_nothing_is_written_outside_the_rows(n):
    """Eight numbers are made for every byte; those behind the last report are somebody else's memory."""
    ss = SS(k=1_000, epsilon=1)
    kernel, parameters, units, words = ss._as_map()
    whole = np.full((n + 4, ss.size), 7_777, dtype=np.uint16)
    codes = np.arange(n, dtype=np.uint16)
    feeding.feed(kernel, whole[2:-2], (codes, *parameters), SeededSource(1), units=units, words=words)

    assert (whole[:2] == 7_777).all()
    assert (whole[-2:] == 7_777).all()
    assert whole[2:-2].tolist() == slow_maps(ss, codes, SeededSource(1).words(1_000))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there is no compiler")
def test_the_eight_numbers_of_every_byte_are_written_at_once(plain):
    """Compiled anew, since what numba has stored does not run the code that makes the instruction."""
    write, spelled = compiled._write_eight, compiled._SPELLED

    @numba.njit
    def write_all(flat):
        for byte in range(256):
            write(flat, np.uint64(9 * byte), spelled, np.uint64(byte), np.uint64(60_000))

    fast, slow = np.zeros(9 * 256, dtype=np.uint16), np.zeros(9 * 256, dtype=np.uint16)
    write_all(fast)
    for byte in range(256):
        plain._write_eight(slow, np.uint64(9 * byte), spelled, np.uint64(byte), np.uint64(60_000))

    assert (fast == slow).all()
    assert slow[9 * 0b10110 : 9 * 0b10110 + 9].tolist() == [60_001, 60_002, 60_004, *[60_000] * 5, 0]
    with pytest.raises(numba.TypingError):
        write_all(np.zeros(9 * 256, dtype=np.uint8))


def test_memory_is_the_output_and_a_constant():
    ss = SS(k=1_000, epsilon=1)
    codes = _codes(ss, 20_000).astype(np.uint16)
    ss.privatize(codes[:10], rng=1)
    tracemalloc.start()
    reports = ss.privatize(codes, rng=1)
    made = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert made < reports.values.nbytes + 2_000_000


# --- how the work is cut -----------------------------------------------------------------------


@pytest.mark.parametrize("protocol", MAPPED[2:5], ids=IDS[2:5])
def test_reports_do_not_depend_on_how_the_work_is_cut(kernels, protocol, monkeypatch):
    """A report that runs out of words halfway must be begun again, from a map as good as new."""
    n = 3 if kernels == "plain" else 40
    codes = _codes(protocol, n)
    whole = protocol.privatize(codes, rng=7).values
    monkeypatch.setattr(feeding, "MOST_WORDS", 1)
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)

    assert (protocol.privatize(codes, rng=7).values == whole).all()


def test_the_map_goes_on_from_one_block_of_reports_to_the_next(monkeypatch):
    ss = SS(k=1_000, epsilon=1)
    monkeypatch.setattr(subset, "_REPORTS", 7)
    rows = ss.privatize(np.arange(30), rng=9).values.astype(np.int64)

    assert (np.diff(rows, axis=1) > 0).all()
    assert rows.max() < 1_000


def test_a_source_that_is_not_random_is_told_and_not_waited_for(monkeypatch):
    """The same place over and over never fills a map."""

    class Stuck(Source):
        kind = "seeded"

        def words(self, count):
            return np.zeros(count, dtype=np.uint64)

    monkeypatch.setattr(feeding, "LONGEST_DRAW", 1 << 12)
    with pytest.raises(RandomSourceError, match="it is not random"):
        SS(k=1_000, epsilon=1).privatize([1], rng=Stuck())


def test_a_map_takes_fewer_words_than_a_shuffle():
    """That is half of why it is quicker."""
    ss = SS(k=1_000, epsilon=1)
    source = ScriptedSource([], then=SeededSource(1))
    ss.privatize(np.zeros(5_000, dtype=np.uint16), rng=source)
    per_report = sum(source.asked) / 5_000

    assert 34 < per_report < 46
    assert per_report < ss._bounds[0] / 2
