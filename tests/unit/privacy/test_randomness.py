"""Secure words are fresh in every call, thread and process; seeded words are the same everywhere."""

import copy
import hashlib
import os
import pickle
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy import randomness
from evenhand.privacy.randomness import SecureSource, SeededSource, Source, source_from

# NIST SP 800-38A, F.5.1, CTR-AES128: key, first counter, and plaintext XOR ciphertext of two blocks.
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
STREAM = bytes.fromhex("ec8cdf7398607cb0f2d21675ea9ea1e4362b7c3c6773516318a077d7fc5073ae")

FIRST_WORDS = {  # the raw output of PCG64DXSM; a change here changes every stored study
    (7, None): [1791289110853690569, 15195811958582366061, 4353573261847909477],
    (7, "adult/grr/1"): [5102723383058880069, 17920935040843710383, 2914376233638927428],
    (0, "città ☂"): [11490608205284659514, 884880423121575898, 18269029934629735289],
    (2**130 + 1, ""): [10920437599700474683, 10122553862137693177, 16519773849872996869],
}


def _run(code, **environment):
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return done.stdout.split()


# --- the secure source -------------------------------------------------------------------------


def test_the_secure_stream_is_aes_in_counter_mode(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: (KEY + COUNTER)[:count])

    assert SecureSource().words(4).tobytes() == STREAM


def test_a_long_secure_stream_is_one_stream(monkeypatch):
    """It is encrypted in pieces; a piece must go on where the one before ended."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    monkeypatch.setattr(os, "urandom", lambda count: (KEY + COUNTER)[:count])
    whole = Cipher(algorithms.AES(KEY), modes.CTR(COUNTER)).encryptor().update(bytes(8 * 100_001))

    assert SecureSource().words(100_001).tobytes() == whole


def test_every_call_takes_a_new_key_from_the_operating_system(monkeypatch):
    asked = []
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(count) or real(count))
    source = SecureSource()
    source.words(5)
    source.words(100_000)

    assert asked == [32, 32]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 40_000])
def test_refills_are_the_stream_of_the_secure_source(count, monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: (KEY + COUNTER)[:count])
    refill = SecureSource().refills()
    refill(7)

    assert np.array_equal(refill(count), SecureSource().words(count))


def test_every_refill_takes_a_new_key_from_the_operating_system(monkeypatch):
    asked = []
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(count) or real(count))
    refill = SecureSource().refills()
    given = [refill(count).copy() for count in (1_000, 1_000, 500, 3_000)]

    assert asked == [32] * 4
    assert np.unique(np.concatenate(given)).size == 5_500


def test_only_refills_of_one_loop_share_memory():
    """Words handed out by the source itself, or to another loop or thread, must never change."""
    source = SecureSource()
    one, other = source.refills(), source.refills()
    words, first, second = source.words(500), one(500), other(500)
    kept = words.copy(), second.copy()
    again = one(400)

    assert np.shares_memory(first, again)
    assert not np.shares_memory(first, second)
    assert np.array_equal(words, kept[0])
    assert np.array_equal(second, kept[1])


def test_a_source_of_ones_own_refills_from_its_words():
    source, again = SeededSource(7), SeededSource(7)
    refill = source.refills()

    assert [*refill(3), *refill(2)] == again.words(5).tolist()


def test_the_secure_source_keeps_nothing_between_calls():
    source = SecureSource()
    source.words(1_000)

    assert vars(source) == {}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_of_the_secure_source_draws_other_words(copied):
    source = SecureSource()

    assert not set(source.words(100).tolist()) & set(copied(source).words(100).tolist())


def test_a_hundred_thousand_secure_words_are_all_different():
    """A repeated 64-bit word among them has probability 3e-10."""
    assert np.unique(SecureSource().words(100_000)).size == 100_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_processes_draw_different_words():
    """A generator that lives through a fork gives parent and children the same noise."""
    code = """
import os
from evenhand.privacy.randomness import SecureSource
source = SecureSource()
source.words(10)
for _ in range(8):
    if os.fork() == 0:
        print(*source.words(100), flush=True)
        os._exit(0)
    os.wait()
print(*source.words(100))
"""
    words = _run(code)

    assert len(words) == len(set(words)) == 900


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_the_test_of_forks_can_see():
    """The broken copy: one numpy generator carried through forks."""
    code = """
import os
import numpy
generator = numpy.random.default_rng()
for _ in range(4):
    if os.fork() == 0:
        print(*generator.integers(0, 2**63, 100), flush=True)
        os._exit(0)
    os.wait()
"""
    words = _run(code)

    assert len(words) == 400
    assert len(set(words)) == 100


def test_threads_draw_different_words():
    source = SecureSource()
    with ThreadPoolExecutor(8) as pool:
        drawn = [
            word for words in pool.map(lambda _: source.words(500), range(64)) for word in words.tolist()
        ]

    assert len(drawn) == len(set(drawn)) == 32_000


def test_seeding_numpy_does_not_seed_the_secure_source():
    np.random.seed(1)  # noqa: NPY002 - the old interface is what is tested
    first = SecureSource().words(4).tolist()
    np.random.seed(1)  # noqa: NPY002 - the old interface is what is tested

    assert SecureSource().words(4).tolist() != first


# --- the seeded source -------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "cell"), FIRST_WORDS)
def test_seeded_words_are_frozen(seed, cell):
    assert SeededSource(seed, cell=cell).words(3).tolist() == FIRST_WORDS[seed, cell]


@pytest.mark.parametrize("hash_seed", ["0", "1", "random"])
def test_a_cell_draws_the_same_words_in_every_process(hash_seed):
    """The builtin hash changes from run to run; a stream made from it could not be drawn again."""
    code = "from evenhand.privacy.randomness import *\nprint(*SeededSource(7, cell='adult/grr/1').words(3))"

    assert [int(word) for word in _run(code, PYTHONHASHSEED=hash_seed)] == FIRST_WORDS[7, "adult/grr/1"]


def test_the_test_of_processes_can_see():
    code = "print(hash('adult/grr/1'))"

    assert _run(code, PYTHONHASHSEED="1") != _run(code, PYTHONHASHSEED="2")


def test_another_person_can_draw_the_stream_of_a_cell_with_numpy_alone():
    words = struct.unpack(">8I", hashlib.sha256(b"adult/grr/1").digest())
    sequence = np.random.SeedSequence(7, spawn_key=words)
    expected = np.random.PCG64DXSM(sequence).random_raw(100)

    assert np.array_equal(SeededSource(7).for_cell("adult/grr/1").words(100), expected)


def test_a_cell_depends_on_its_name_and_the_seed_alone():
    study = SeededSource(7)
    before = study.for_cell("b").words(20)
    study.words(12_345)
    study.for_cell("a").words(5)
    study.spawn(3)

    assert np.array_equal(study.for_cell("b").words(20), before)


def test_ten_thousand_cells_have_ten_thousand_streams():
    study = SeededSource(7)
    firsts = {int(study.for_cell(f"cell {number}").words(1)[0]) for number in range(10_000)}

    assert len(firsts) == 10_000


def test_a_cell_of_a_cell_is_another_stream():
    study = SeededSource(7)
    streams = [
        study,
        study.for_cell("a"),
        study.for_cell("ab"),
        study.for_cell("a").for_cell("b"),
        *study.spawn(2),
    ]
    words = [word for each in streams for word in each.words(50).tolist()]

    assert len(set(words)) == 300
    assert len(study.for_cell("a").for_cell("b").key) == 16


def test_words_come_in_one_order_however_they_are_asked_for():
    parts, whole = SeededSource(7), SeededSource(7)
    joined = np.concatenate([parts.words(count) for count in (0, 1, 5, 94)])

    assert np.array_equal(joined, whole.words(100))


def test_spawned_sources_differ_and_can_be_drawn_again():
    first, second = SeededSource(7), SeededSource(7)
    children, more = first.spawn(2), first.spawn(1)
    again = second.spawn(3)

    assert [child.key for child in [*children, *more]] == [(0,), (1,), (2,)]
    for child, twin in zip([*children, *more], again, strict=True):
        assert np.array_equal(child.words(10), twin.words(10))


def test_the_generator_and_the_words_share_one_stream():
    """If the generator started the stream anew, simulated data and its noise would be the same numbers."""
    source, words = SeededSource(7), SeededSource(7).words(20)
    first = source.words(5)
    drawn = source.generator().integers(0, 2**64, size=5, dtype=np.uint64)

    assert np.array_equal(np.concatenate([first, drawn, source.words(10)]), words)


def test_a_generator_given_as_a_seed_moves_on():
    """Two mechanisms that are given the same generator must not get the same noise."""
    generator = np.random.default_rng(1)
    first, second = SeededSource(generator), SeededSource(generator)

    assert not set(first.words(50).tolist()) & set(second.words(50).tolist())
    assert np.array_equal(SeededSource(np.random.default_rng(1)).words(9), SeededSource(first.seed).words(9))


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64])
def test_any_generator_of_numpy_gives_256_bits_of_seed(bits):
    """The Mersenne twister's raw output has 32 bits, the others' 64."""
    source = SeededSource(np.random.Generator(bits(5)))
    raw = bits(5).random_raw(8)

    assert source.seed == sum((int(word) % 2**32) << (32 * (7 - place)) for place, word in enumerate(raw))


def test_a_seed_sequence_is_used_as_it_is():
    sequence = np.random.SeedSequence([1, 2, 3], spawn_key=(4,))
    source = SeededSource(sequence)
    child = source.spawn(1)[0]

    assert np.array_equal(source.words(9), np.random.PCG64DXSM(sequence).random_raw(9))
    assert (source.seed, source.key, child.key) == ((1, 2, 3), (4,), (4, 0))
    assert sequence.spawn(1)[0].spawn_key == (4, 1)  # its own children do not meet ours


# --- which is which ----------------------------------------------------------------------------


def test_a_source_says_whether_its_draws_are_simulated():
    assert (SecureSource().kind, SecureSource().simulated) == ("secure", False)
    assert (SeededSource(7).kind, SeededSource(7).simulated) == ("seeded", True)


def test_a_source_of_ones_own_counts_as_simulated():
    class Own(Source):
        kind = "seeded"

        def words(self, count):
            return np.zeros(count, dtype=np.uint64)

    assert Own().simulated


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (SecureSource(), "SecureSource()"),
        (SeededSource(7), "SeededSource(7)"),
        (SeededSource(np.int32(7)), "SeededSource(7)"),
        (SeededSource(7, cell="a"), "SeededSource(7).for_cell('a')"),
        (SeededSource(7).for_cell("a").for_cell("b"), "SeededSource(7).for_cell('a').for_cell('b')"),
        (SeededSource(7).spawn(2)[1], "SeededSource(7) child 1"),
        (
            SeededSource(np.random.SeedSequence(7, spawn_key=(1,))),
            "SeededSource(SeedSequence(7, spawn_key=(1,)))",
        ),
    ],
)
def test_a_source_is_shown_as_what_it_is(source, shown):
    assert repr(source) == shown
    assert ("Secure" in repr(source)) == (source.kind == "secure")


def test_an_rng_argument_stands_for_one_source():
    own = SeededSource(3)

    assert isinstance(source_from(None), SecureSource)
    assert source_from(own) is own
    assert np.array_equal(source_from(7).words(5), SeededSource(7).words(5))
    assert isinstance(source_from(np.random.default_rng(7)), SeededSource)
    assert isinstance(source_from(np.random.SeedSequence(7)), SeededSource)


@pytest.mark.parametrize(
    "rng", [True, 1.0, "7", -1, np.float64(3), [1, 2], np.random.RandomState(1), SecureSource]
)
def test_anything_else_is_refused_with_the_way_out(rng):
    """Passing a seed must never quietly replace the secure source, nor the other way round."""
    for refuse in (source_from, SeededSource):
        with pytest.raises(
            InvalidParameterError,
            match=r"The 'rng' parameter .* must be None, a whole number .*Hint: give no rng for a release",
        ):
            refuse(rng)


@pytest.mark.parametrize("cell", [1, b"a", ("a",)])
def test_a_cell_is_named_by_a_text(cell):
    with pytest.raises(
        InvalidParameterError, match=r"The 'cell' parameter of SeededSource.for_cell must be a text"
    ):
        SeededSource(7).for_cell(cell)


def test_a_text_that_is_no_unicode_still_names_a_cell():
    assert SeededSource(7).for_cell("\ud800").words(1).size == 1


@pytest.mark.parametrize("count", [-1, 1.5, True, None])
def test_a_count_of_words_is_a_whole_number(count):
    for ask in (SecureSource().words, SeededSource(7).words, SeededSource(7).spawn):
        with pytest.raises(InvalidParameterError, match="The 'count' parameter of"):
            ask(count)


@pytest.mark.parametrize("source", [SecureSource(), SeededSource(7)])
@pytest.mark.parametrize("count", [0, 1, 7, 32_767, 32_768, 32_769])
def test_as_many_words_come_as_are_asked_for(source, count):
    words = source.words(count)

    assert words.shape == (count,)
    assert words.dtype == np.uint64
    assert words.flags.writeable


def test_the_names_are_the_public_ones():
    assert randomness.__all__ == [
        "RunKey",
        "SecureSource",
        "SeededSource",
        "Source",
        "source_from",
    ]
