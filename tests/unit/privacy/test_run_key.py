"""The key of a run: each position has a stream of its own, which starts anew every time."""

import hmac
import pickle

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import RunKey
from evenhand.privacy.sampling import uniform_below
from statistical._exact import CORRELATION, worst_correlation

KEY = RunKey(bytes(range(32)))


def test_a_stream_is_aes_in_counter_mode_under_the_hmac_of_its_position():
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    parts = [b"b" + (6).to_bytes(8, "big") + b"stream", b"i" + (2).to_bytes(8, "big") + b"\x01\x00"]
    secret = hmac.digest(bytes(range(32)), b"".join(parts), "sha256")
    expected = Cipher(algorithms.AES(secret[:16]), modes.CTR(secret[16:])).encryptor().update(bytes(800))

    assert KEY.stream(256).words(100).tobytes() == expected


def test_a_position_starts_at_its_first_word_every_time_and_goes_on():
    source = KEY.stream(3, "a")
    whole = KEY.stream(3, "a").words(100)

    assert np.array_equal(np.concatenate([source.words(7), source.refills()(93)]), whole)
    assert KEY.stream(3, "a").words(0).size == 0


POSITIONS = [
    (),
    (0,),
    (1,),
    (0, 0),
    (256,),
    ("0",),
    (b"0",),
    ("", "0"),
    ("0", ""),
    (1, 2),
    (12,),
    ("ab", "c"),
    ("a", "bc"),
]


def test_no_two_positions_share_a_stream():
    streams = {KEY.stream(*position).words(2).tobytes() for position in POSITIONS}
    digests = {KEY.digest(*position).hexdigest() for position in POSITIONS}

    assert len(streams) == len(digests) == len(POSITIONS)


@pytest.mark.statistical
def test_streams_of_neighbouring_positions_are_not_correlated():
    draws = [uniform_below(1_000, size=20_000, source=KEY.stream("reports", place, 0)) for place in range(6)]

    assert worst_correlation(np.transpose(draws)) < CORRELATION
    assert worst_correlation(np.transpose([draws[0], draws[0]])) > CORRELATION  # a shared stream is seen


def test_two_keys_have_nothing_in_common():
    assert RunKey.draw().secret != RunKey.draw().secret
    assert not np.array_equal(RunKey.draw().stream(0).words(4), RunKey.draw().stream(0).words(4))


def test_what_is_drawn_is_a_release():
    source = KEY.stream(0)

    assert (source.kind, source.simulated) == ("secure", False)


def test_neither_the_key_nor_a_source_shows_the_secret():
    assert repr(KEY) == "RunKey(secret)"
    assert repr(KEY.stream(0)) == "RunKey(secret).stream(...)"


def test_a_key_travels_to_a_worker():
    assert pickle.loads(pickle.dumps(KEY)).secret == KEY.secret


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(33), "x" * 32, None])
def test_other_secrets_are_refused_without_showing_them(secret):
    with pytest.raises(InvalidParameterError, match="'secret' parameter of RunKey must be 32 bytes"):
        RunKey(secret)


@pytest.mark.parametrize("part", [-1, 1.5, None, True])
def test_other_positions_are_refused(part):
    with pytest.raises(InvalidParameterError, match="'position' parameter of RunKey"):
        KEY.stream(part)
