"""A key is used only if nobody else can have it and it is what it should be; nothing of it is shown."""

import copy
import os
import pickle
import stat
import subprocess
import sys
from contextlib import suppress

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed448, rsa

from evenhand.errors import InvalidParameterError, UnreadableFileError, UnwritableFileError
from evenhand.privacy.randomness import SecureSource
from evenhand.privacy.signing import PublicKey, SigningKey, find_key, keys

PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
PASSPHRASE = "correct horse"


@pytest.fixture
def place(tmp_path):
    SigningKey.new().write(tmp_path / "office.key")
    return tmp_path / "office.key"


def refuse_key(path, match, **options):
    with pytest.raises(UnreadableFileError, match=match) as caught:
        SigningKey.load(path, **options)
    assert str(path.parent) not in str(caught.value)


def test_a_key_signs_and_its_public_half_checks(place):
    key, public = SigningKey.load(place), PublicKey.load(f"{place}.pub")
    signature = key.sign(b"text")

    assert key.public == public
    assert public.fits(b"text", signature)
    assert not public.fits(b"texT", signature)
    assert not public.fits(b"text", signature[:-1])
    assert not SigningKey.new().public.fits(b"text", signature)
    assert repr(key) == f"<SigningKey {public.fingerprint}>"
    assert repr(public) == f"<PublicKey {public.fingerprint}>"
    assert {public: 1}[key.public] == 1
    assert public != "a key"


@pytest.mark.skipif(sys.platform == "win32", reason="no permissions of this kind")
def test_only_its_owner_may_read_a_private_key_from_its_first_moment(place, tmp_path):
    before = os.umask(0)
    try:
        SigningKey.new().write(tmp_path / "open.key")
    finally:
        os.umask(before)

    assert [stat.S_IMODE(file.stat().st_mode) for file in (place, tmp_path / "open.key")] == [0o600, 0o600]


@pytest.mark.parametrize("there", ["new.key", "new.key.pub"])
@pytest.mark.parametrize("link", [False, True])
def test_a_file_that_is_there_is_never_replaced(tmp_path, there, link):
    """A key that is lost cannot be made again, and what it signed cannot be signed again."""
    if link:
        (tmp_path / there).symlink_to("nowhere")
    else:
        (tmp_path / there).write_bytes(b"old")
    with pytest.raises(UnwritableFileError, match=f"^{there} was not written: there is a file of that name"):
        SigningKey.new().write(tmp_path / "new.key")

    assert [file.name for file in tmp_path.iterdir()] == [there]


def test_an_interrupt_while_a_key_is_written_leaves_nothing(tmp_path, monkeypatch):
    """Half a key would be in the way of the next attempt."""

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(keys.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        SigningKey.new().write(tmp_path / "new.key")

    assert list(tmp_path.iterdir()) == []


def test_a_key_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(UnwritableFileError, match="its folder is not there"):
        SigningKey.new().write(tmp_path / "missing" / "new.key")

    def full(_):
        raise OSError

    monkeypatch.setattr(keys.os, "fsync", full)
    with pytest.raises(UnwritableFileError, match=r"^new.key was not written: the disk is full"):
        SigningKey.new().write(tmp_path / "new.key")
    monkeypatch.undo()
    write, calls = keys._write_new, []

    def fail_second(place, written, *, mode):
        calls.append(place)
        if len(calls) == 2:
            raise OSError
        write(place, written, mode=mode)

    monkeypatch.setattr(keys, "_write_new", fail_second)
    with pytest.raises(OSError):  # noqa: PT011 - of the disk
        SigningKey.new().write(tmp_path / "new.key")

    assert list(tmp_path.iterdir()) == []


# --- passphrases ------------------------------------------------------------------------------------


def test_an_encrypted_key_needs_its_passphrase(tmp_path, monkeypatch):
    monkeypatch.delenv(keys.VARIABLE, raising=False)
    path, key = tmp_path / "office.key", SigningKey.new()
    key.write(path, passphrase=PASSPHRASE)

    assert SigningKey.is_encrypted(path)
    refuse_key(path, "it is encrypted and the passphrase is missing. Hint: set EVENHAND_KEY_PASSPHRASE")
    refuse_key(path, "the passphrase is wrong, or it is damaged", passphrase="another one")
    assert SigningKey.load(path, passphrase=PASSPHRASE).public == key.public
    monkeypatch.setenv(keys.VARIABLE, PASSPHRASE)
    assert SigningKey.load(path).public == key.public
    monkeypatch.setenv(keys.VARIABLE, "another one")
    refuse_key(path, "the passphrase is wrong")


def test_a_key_without_a_passphrase_is_read_whatever_the_environment_says(place, monkeypatch):
    monkeypatch.setenv(keys.VARIABLE, PASSPHRASE)

    assert not SigningKey.is_encrypted(place)
    assert SigningKey.load(place).public == PublicKey.load(f"{place}.pub")


def test_a_short_passphrase_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match=r"at least 8 characters\. Got a shorter one"):
        SigningKey.new().write(tmp_path / "new.key", passphrase="1234567")

    assert list(tmp_path.iterdir()) == []


# --- what is no key ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="no permissions of this kind")
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644, 0o602, 0o666])
def test_a_key_that_others_may_read_is_refused(place, mode):
    place.chmod(mode)

    refuse_key(place, "others than its owner may read or write it. Hint: chmod 600")


def write_private(path, written):
    path.write_bytes(written)
    path.chmod(0o600)
    return path


def test_a_key_of_another_kind_is_refused(tmp_path):
    for private in (ed448.Ed448PrivateKey.generate(), rsa.generate_private_key(65537, 2048)):
        written = private.private_bytes(PEM, PKCS8, serialization.NoEncryption())
        path = write_private(tmp_path / "other.key", written)
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        (tmp_path / "other.pub").write_bytes(private.public_key().public_bytes(PEM, form))

        refuse_key(path, "it is not a key of Ed25519")
        with pytest.raises(UnreadableFileError, match="it is not a key of Ed25519"):
            PublicKey.load(tmp_path / "other.pub")


@pytest.mark.parametrize("written", [b"", b"text", b"\x00" * 64, b"-----BEGIN PRIVATE KEY-----\nAAAA\n"])
def test_what_is_no_key_is_refused(tmp_path, written):
    refuse_key(write_private(tmp_path / "no.key", written), "it is no private key in PEM form, or is damaged")
    with pytest.raises(UnreadableFileError, match=r"no\.key cannot be used as a key: it "):
        PublicKey.load(tmp_path / "no.key")


def test_the_two_halves_are_not_taken_for_each_other(place):
    refuse_key(
        write_private(place.with_name("half"), place.with_name("office.key.pub").read_bytes()), "no private"
    )
    with pytest.raises(UnreadableFileError, match="it holds a private key, which nobody else may see"):
        PublicKey.load(place)


def test_what_cannot_be_read_is_refused(tmp_path, place):
    refuse_key(tmp_path / "missing.key", "there is no such file")
    refuse_key(tmp_path, "it is not a regular file")
    refuse_key(write_private(tmp_path / "long.key", b"x" * 10_001), "longer than 10,000 bytes")
    with pytest.raises(InvalidParameterError, match=r"'path' parameter of Key\.load"):
        SigningKey.load(3)
    with pytest.raises(UnreadableFileError, match="you may not read it"):
        SigningKey.load(f"{place}\0")


def test_a_public_key_is_read_byte_for_byte(place):
    """Else a changed file could pass for the one that was handed over."""
    written = place.with_name("office.key.pub").read_bytes()
    crlf = place.with_name("crlf.pub")
    crlf.write_bytes(written.replace(b"\n", b"\r\n"))

    assert PublicKey.load(crlf) == SigningKey.load(place).public
    for more in (
        b"a comment\n" + written,
        written + b"\n",
        written.replace(b"\n", b"\n\n", 1),
        b"\xef\xbb\xbf" + written,
    ):
        crlf.write_bytes(more)
        with pytest.raises(UnreadableFileError, match=r"crlf\.pub cannot be used as a key"):
            PublicKey.load(crlf)


def test_a_changed_byte_of_a_public_key_gives_another_key_or_none(place):
    public = place.with_name("office.key.pub")
    written, key = public.read_bytes(), SigningKey.load(place).public
    for position in range(len(written)):
        for bit in (1, 32):
            changed = bytearray(written)
            changed[position] ^= bit
            public.write_bytes(changed)
            with suppress(UnreadableFileError):
                assert PublicKey.load(public) != key, position


# --- what is said of a key --------------------------------------------------------------------------


def test_a_note_names_a_key_in_one_way_only():
    said = SigningKey.new().public.to_dict()

    assert PublicKey.from_dict(said).to_dict() == said
    odd = [
        None, [], "text", {}, said | {"more": 1}, said | {"public_key": said["public_key"].upper() + "A"},
        said | {"fingerprint": "0" * 64}, said | {"algorithm": "RSA"}, said | {"public_key": "00"},
        said | {"public_key": " " + said["public_key"]}, said | {"public_key": 3},
    ]  # fmt: skip
    for record in odd:
        with pytest.raises(ValueError):  # noqa: PT011 - its words are shown nowhere
            PublicKey.from_dict(record)


def test_a_key_comes_through_the_one_door_of_randomness(monkeypatch):
    """What is drawn elsewhere cannot be checked with the rest."""
    drawn = []

    class Counted(SecureSource):
        def words(self, size):
            drawn.append(size)
            return super().words(size)

    monkeypatch.setattr(keys, "SecureSource", Counted)

    assert SigningKey.new().public != SigningKey.new().public
    assert drawn == [4, 4]


def test_a_private_key_is_not_copied_or_shown(place):
    key = SigningKey.load(place)
    for copier in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not copied"):
            copier(key)

    assert place.read_text().splitlines()[1] not in repr(key) + str(vars(key))


def test_a_key_is_given_as_itself_or_by_its_file(place):
    key = SigningKey.load(place)

    assert find_key(None, owner="x") is None
    assert find_key(key, owner="x") is key
    assert find_key(place, owner="x").public == find_key(str(place), owner="x").public == key.public
    with pytest.raises(InvalidParameterError, match="'sign' parameter of x must be a SigningKey"):
        find_key(3, owner="x")


def test_openssl_reads_the_keys_and_checks_the_signature(place, tmp_path):
    """Whoever does not trust this package can check a signature without it."""
    (tmp_path / "note").write_bytes(b"text")
    (tmp_path / "note.sig").write_bytes(SigningKey.load(place).sign(b"text"))
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", f"{place}.pub", "-rawin"]
    words += ["-in", tmp_path / "note", "-sigfile", tmp_path / "note.sig"]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no openssl")

    assert b"Signature Verified Successfully" in done.stdout, done.stderr
