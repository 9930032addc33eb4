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


VECTORS = [  # taken when units and positions had a class each
    (("unit", "a.parquet unit 0"), [0xE3F2B3E53058212D, 0x263529AE13359A19, 0xAAE11BA0CCDA6FFF]),
    (("unit", "a.parquet order"), [0xEF005D69016AF039, 0xB28FA77A1878BCB8, 0xDD647B23AEA1038C]),
    (("unit", ""), [0x95372F4811B4D7EA, 0xF16F29AE0F5A71CF, 0x8D68F0609DCF00C4]),
    (("unit", "größe unit 1"), [0xA41277A21589B3A7, 0xBA40156451896EB7, 0x415EEA661383B647]),
    (("stream",), [0xB43ABE31241192A3, 0x5798C9DD4874A6D3, 0x7DF9B475ADCDBF98]),
    (("stream", 256), [0xB269EEEFC3E83701, 0xB631F756C80086D3, 0x32737344601BF290]),
    (("stream", "reports", 3, 0), [0x9661C327A799B657, 0x55AF90EAED7CCA02, 0xC35E6B15CA8E9097]),
    (("stream", b"x", "é"), [0xCBDD5A7ACCDB47D, 0x72230D6CD41E4E02, 0x83A0177C7676666C]),
]


@pytest.mark.parametrize(("piece", "words"), VECTORS)
def test_the_words_of_a_piece_never_change(piece, words):
    """If this is false, a run that is taken up again draws a second report of each person."""
    way, *position = piece

    assert getattr(KEY, way)(*position).words(3).tolist() == words


def test_the_digest_of_rows_never_changes():
    digest = KEY.digest("rows", 1)
    digest.update(b"x")

    assert digest.hexdigest() == "d5a7de41a308bbc08cf164f383712a20a97c4e92608224cc286c8c8457249d9a"


def test_each_unit_has_a_stream_of_its_own():
    """If this is false, two units share their noise, or a unit that is drawn again gets other reports."""
    first = KEY.unit("unit 0").words(1_000)

    assert (first == KEY.unit("unit 0").words(1_000)).all()
    for source in (KEY.unit("unit 1"), RunKey.draw().unit("unit 0"), KEY.stream("unit 0")):
        assert not np.isin(source.words(1_000), first).any()


def test_the_stream_of_a_unit_does_not_depend_on_how_it_is_asked_for():
    whole, source = KEY.unit("a").words(70_001), KEY.unit("a")
    parts = [source.words(count) for count in (1, 0, 2, 5, 33_000, 36_993)]

    assert (np.concatenate(parts) == whole).all()
    assert (KEY.unit("a").refills()(3) == whole[:3]).all()


@pytest.mark.parametrize("source", [KEY.unit("unit 3"), KEY.stream(3)])
def test_a_source_is_not_copied(source):
    """If this is false, two workers may draw the same words for other people."""
    with pytest.raises(TypeError, match="not copied"):
        pickle.dumps(source)


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


@pytest.mark.parametrize("source", [KEY.stream(0), KEY.unit("unit 0")])
def test_what_is_drawn_is_a_release(source):
    assert (source.kind, source.simulated) == ("secure", False)


def test_neither_the_key_nor_a_source_shows_the_secret():
    assert repr(KEY) == "RunKey(secret)"
    assert repr(KEY.stream(0)) == "RunKey(secret).stream(...)"
    assert repr(KEY.unit("unit 3")) == "RunKey(secret).unit('unit 3')"


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
