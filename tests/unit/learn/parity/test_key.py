"""The key of a deployment: same person same number, kept apart, and never shown."""

import copy
import errno
import hashlib
import hmac
import os
import pickle
import stat

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from evenhand.errors import InvalidParameterError, UnreadableFileError, UnwritableFileError
from evenhand.learn.parity.key import PersonKey, encode_person

SECRET = bytes(range(32))
KEY = PersonKey(SECRET)


def test_a_number_is_the_hmac_of_the_identifier():
    """Written down, so that another program can give the same answers to the same people."""
    digest = hmac.new(SECRET, b"evenhand person 1\0" + "sZoë".encode(), hashlib.sha256).digest()
    expected = int.from_bytes(digest[:8], "big") >> 11

    assert KEY.numbers(["Zoë"]).tolist() == [expected]
    assert KEY.numbers([]).tolist() == []


@pytest.mark.parametrize(
    "people",
    [["7", "8", "7"], ("7", "8", "7"), np.array(["7", "8", "7"]), pd.Series(["7", "8", "7"]),
     pl.Series(["7", "8", "7"]), np.array(["7", "8", "7"], dtype=object)],
)  # fmt: skip
def test_the_container_changes_nothing(people):
    """A person must not get another answer because the file was read by another program."""
    assert KEY.numbers(people).tolist() == KEY.numbers(["7", "8", "7"]).tolist()


@pytest.mark.parametrize(
    "people", [[7, 8], (7, 8), np.array([7, 8]), np.array([7, 8], dtype=np.uint16), pl.Series([7, 8])]
)
def test_whole_numbers_of_any_width_are_the_same_person(people):
    assert KEY.numbers(people).tolist() == KEY.numbers([7, 8]).tolist()


def test_a_text_is_not_the_number_it_looks_like():
    """Two people with identifiers 7 and '7' share nothing."""
    assert KEY.numbers([7, "7"]).tolist() == [KEY.numbers([7])[0], KEY.numbers(["7"])[0]]
    assert KEY.numbers([7])[0] != KEY.numbers(["7"])[0]


@pytest.mark.parametrize("wrong", [None, "", 1.0, True, b"x", float("nan"), ("a",)])
def test_what_identifies_nobody_is_refused_and_not_shown(wrong):
    with pytest.raises(InvalidParameterError, match="'person' parameter") as caught:
        encode_person(wrong)

    assert "Got something else" in str(caught.value)
    with pytest.raises(InvalidParameterError):
        KEY.numbers([wrong, "a"])


def test_two_keys_have_nothing_to_do_with_each_other():
    """A shared key would refuse the same people everywhere; fresh ones must not."""
    one, other = PersonKey.generate(), PersonKey.generate()
    people = [f"person {i}" for i in range(2_000)]
    agree = (one.numbers(people) >= 2**52) == (other.numbers(people) >= 2**52)

    assert one != other
    assert one.fingerprint != other.fingerprint
    assert abs(agree.mean() - 0.5) < 0.15  # 13 standard deviations
    assert abs((one.numbers(people) >= 2**52).mean() - 0.5) < 0.15


def test_a_key_is_written_for_its_owner_only_and_read_back(tmp_path):
    path = tmp_path / "deployment.key"
    KEY.save(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PersonKey.load(path) == KEY
    assert hash(PersonKey.load(path)) == hash(KEY)


def test_a_key_is_never_overwritten(tmp_path):
    """Everybody's answer would change, and nobody could say why."""
    path = tmp_path / "deployment.key"
    KEY.save(path)
    with pytest.raises(UnwritableFileError, match=r"^deployment\.key was not written: there is a file"):
        PersonKey.generate().save(path)

    assert PersonKey.load(path) == KEY
    with pytest.raises(UnwritableFileError, match="was not written"):
        KEY.save(tmp_path / "nowhere" / "a.key")


def test_a_full_disk_leaves_no_half_of_a_key(tmp_path, monkeypatch):
    """It would be in the way of the next attempt, since a key is never overwritten."""

    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(UnwritableFileError, match="No space left"):
            KEY.save(tmp_path / "new.key")
    KEY.save(tmp_path / "new.key")

    assert PersonKey.load(tmp_path / "new.key") == KEY


def test_a_link_is_not_followed(tmp_path):
    """Somebody else's link must not say where a secret goes."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnwritableFileError):
        KEY.save(tmp_path / "link")

    assert not (tmp_path / "elsewhere").exists()


def test_a_key_that_others_may_read_is_refused(tmp_path):
    """Whoever read it can foresee every answer."""
    path = tmp_path / "open.key"
    KEY.save(path)
    path.chmod(0o640)
    with pytest.raises(UnreadableFileError, match="others may read or change it"):
        PersonKey.load(path)


@pytest.mark.parametrize(
    "text",
    [b"", b"evenhand person key 1\n", b"evenhand person key 1\nzz\n", b"evenhand person key 2\n" + b"00" * 32,
     b"evenhand person key 1\n" + b"00" * 33, b"evenhand person key 1\n" + b"\xff" * 64, b"x" * 5_000],
)  # fmt: skip
def test_what_is_no_key_is_refused(tmp_path, text):
    path = tmp_path / "a.key"
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(UnreadableFileError, match="not a key that"):
        PersonKey.load(path)


def test_a_missing_file_is_told_by_its_name(tmp_path):
    with pytest.raises(UnreadableFileError, match=r"^gone\.key was not read") as caught:
        PersonKey.load(tmp_path / "gone.key")

    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("wrong", [b"short", "0" * 32, None])
def test_what_are_no_secret_bytes_is_refused_and_not_shown(wrong):
    with pytest.raises(InvalidParameterError) as caught:
        PersonKey(wrong)

    assert "short" not in str(caught.value)


def test_a_key_shows_itself_nowhere():
    """A secret in a log or in a stored model is no secret."""
    shown = [repr(KEY), str(KEY), KEY.fingerprint, f"{KEY}", repr(vars(type(KEY)))]

    assert not any(SECRET.hex()[:16] in text or repr(SECRET)[2:20] in text for text in shown)
    assert not hasattr(KEY, "__dict__")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(InvalidParameterError, match="kept apart"):
            pickle.dumps(KEY, protocol)


def test_a_copy_is_the_key_itself():
    """Cloning an estimator copies its parameters; the key must survive that."""
    assert copy.copy(KEY) is KEY
    assert copy.deepcopy(KEY) is KEY
    assert clone(KEY, safe=False) is KEY
    assert KEY != "key"
