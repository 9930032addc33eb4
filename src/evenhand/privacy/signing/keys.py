"""Keys of Ed25519: made, kept in files that only their owner reads, and refused if anything is wrong.

The randomness of a new key comes through the same door as all noise; the package cryptography signs with it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from evenhand._lazy import lazy
from evenhand._part_files import AS_BYTES
from evenhand._validate import kind_of
from evenhand._validate import refuse as refuse_parameter
from evenhand.errors import UnreadableFileError, UnwritableFileError
from evenhand.privacy.randomness import SecureSource
from evenhand.table.source import own_name

ed25519 = lazy("cryptography.hazmat.primitives.asymmetric.ed25519")
serialization = lazy("cryptography.hazmat.primitives.serialization")
exceptions = lazy("cryptography.exceptions")

ALGORITHM = "Ed25519"
"""How signatures are made."""

VARIABLE = "EVENHAND_KEY_PASSPHRASE"
"""The environment variable with the passphrase of a private key."""

SHORTEST_PASSPHRASE = 8
_MOST_BYTES = 10_000
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class PublicKey:
    """What a signature is checked with.

    Parameters
    ----------
    raw : bytes
        The 32 bytes of an Ed25519 public key.

    Examples
    --------
    >>> key = SigningKey.new()
    >>> key.public.fits(b"text", key.sign(b"text")), key.public.fits(b"other", key.sign(b"text"))
    (True, False)
    """

    def __init__(self, raw: bytes) -> None:
        if not isinstance(raw, bytes) or len(raw) != 32:
            refuse_parameter("raw", "PublicKey", "the 32 bytes of an Ed25519 key", kind_of(raw))
        self.raw = raw

    @property
    def pem(self) -> bytes:
        """The key as the text of a PEM file."""
        encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        written: bytes = self._key.public_bytes(encoding, form)
        return written

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the key in DER form, in hexadecimal."""
        encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        return hashlib.sha256(self._key.public_bytes(encoding, form)).hexdigest()

    @property
    def _key(self) -> Any:
        return ed25519.Ed25519PublicKey.from_public_bytes(self.raw)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PublicKey:
        """Read a public key from a PEM file.

        Raises
        ------
        UnreadableFileError
            If it is no Ed25519 public key, or not byte for byte as one is written.
        """
        written, name = _read(path).replace(b"\r\n", b"\n"), own_name(path)
        if b"PRIVATE KEY" in written:
            _refuse(name, "it holds a private key, which nobody else may see. Hint: name the public key.")
        try:
            key = serialization.load_pem_public_key(written)
        except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
            _refuse(name, "it is no public key in PEM form, or is damaged.")
        if not isinstance(key, ed25519.Ed25519PublicKey):
            _refuse(name, f"it is not a key of {ALGORITHM}.")
        public = cls(key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw))
        if public.pem != written:
            _refuse(name, "it holds more than a public key, or was changed.")
        return public

    def fits(self, message: bytes, signature: bytes) -> bool:
        """Whether whoever has the private key signed this message."""
        try:
            self._key.verify(signature, message)
        except (exceptions.InvalidSignature, ValueError):
            return False
        return True

    def to_dict(self) -> dict[str, str]:
        """Return what a note says of who signed it."""
        return {"algorithm": ALGORITHM, "public_key": self.raw.hex(), "fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, record: object) -> PublicKey:
        """Return the key of which a note says this; ValueError if it is no such record."""
        try:
            key = cls(bytes.fromhex(record["public_key"]))  # type: ignore[index]
            if key.to_dict() == record:
                return key
        except (TypeError, KeyError):
            pass
        raise ValueError("no key")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and other.raw == self.raw

    def __hash__(self) -> int:
        return int.from_bytes(self.raw[:8], "big")

    def __repr__(self) -> str:
        return f"<PublicKey {self.fingerprint}>"


class SigningKey:
    """A private key. Whoever has its file and its passphrase can sign in your name.

    Make one with :meth:`new` and keep it with :meth:`write`, or read one with :meth:`load`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> place = pathlib.Path(tempfile.mkdtemp(), "office.key")
    >>> SigningKey.new().write(place)
    >>> sorted(file.name for file in place.parent.iterdir())
    ['office.key', 'office.key.pub']
    >>> SigningKey.load(place).public == PublicKey.load(f"{place}.pub")
    True
    """

    def __init__(self, private: Any) -> None:
        self._private = private

    @classmethod
    def new(cls) -> SigningKey:
        """Return a new key, drawn from the system's secure source."""
        return cls(ed25519.Ed25519PrivateKey.from_private_bytes(SecureSource().words(4).tobytes()))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, passphrase: str | None = None) -> SigningKey:
        """Read a private key from a PEM file.

        Parameters
        ----------
        path : str or path
        passphrase : str, optional
            Of a key that is encrypted; without one, what ``EVENHAND_KEY_PASSPHRASE`` says.

        Raises
        ------
        UnreadableFileError
            If others than its owner may read the file, it is encrypted and the passphrase is missing or
            wrong, it is no Ed25519 private key, or is damaged.
        """
        written, name = _read(path, secret=True), own_name(path)
        private = _parse(written, None, name)
        if private is None:
            passphrase = os.environ.get(VARIABLE) if passphrase is None else passphrase
            if not passphrase:
                _refuse(name, f"it is encrypted and the passphrase is missing. Hint: set {VARIABLE}.")
            private = _parse(written, passphrase.encode(), name)
        if not isinstance(private, ed25519.Ed25519PrivateKey):
            _refuse(name, f"it is not a key of {ALGORITHM}. Hint: make one with 'evenhand keys new'.")
        return cls(private)

    @staticmethod
    def is_encrypted(path: str | os.PathLike[str]) -> bool:
        """Whether a private key needs a passphrase; what is none is refused as by :meth:`load`."""
        return _parse(_read(path, secret=True), None, own_name(path)) is None

    @property
    def public(self) -> PublicKey:
        """What others check signatures with."""
        encoding, form = serialization.Encoding.Raw, serialization.PublicFormat.Raw
        return PublicKey(self._private.public_key().public_bytes(encoding, form))

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the signature."""
        signature: bytes = self._private.sign(message)
        return signature

    def write(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> None:
        """Write the key to a new file that only its owner may read, and its public key to ``<path>.pub``.

        Parameters
        ----------
        path : str or path
        passphrase : str, optional
            Of at least 8 characters; the key is encrypted with it.

        Raises
        ------
        UnwritableFileError
            If one of the two files is there already, or cannot be written.
        """
        if passphrase is not None and len(passphrase) < SHORTEST_PASSPHRASE:
            must_be = f"a text of at least {SHORTEST_PASSPHRASE} characters"
            refuse_parameter("passphrase", "SigningKey.write", must_be, "a shorter one")
        encryption = (
            serialization.NoEncryption()
            if passphrase is None
            else serialization.BestAvailableEncryption(passphrase.encode())
        )
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        secret, public = Path(path), public_path(path)
        for place in (secret, public):
            if os.path.lexists(place):
                raise UnwritableFileError(
                    f"{own_name(place)} was not written: there is a file of that name, and a key that is "
                    "lost cannot be made again. Hint: choose another name."
                )
        _write_new(secret, self._private.private_bytes(encoding, form, encryption), mode=0o600)
        try:
            _write_new(public, self.public.pem, mode=0o644)
        except BaseException:
            secret.unlink()
            raise

    def __reduce__(self) -> NoReturn:
        raise TypeError("A private key is not copied or sent to another process.")

    def __repr__(self) -> str:
        return f"<SigningKey {self.public.fingerprint}>"


AnyKey = SigningKey | str | os.PathLike[str]
"""What may be given where a private key is wanted: one that was read, or the path of its file."""


def find_key(given: AnyKey | None, *, owner: str) -> SigningKey | None:
    """Return the key to sign with; None where none is given."""
    if given is None or isinstance(given, SigningKey):
        return given
    if not isinstance(given, str | os.PathLike):
        refuse_parameter("sign", owner, "a SigningKey, the path of one, or None", kind_of(given))
    return SigningKey.load(given)


def public_path(path: str | os.PathLike[str]) -> Path:
    """Return where the public key of a private one stands.

    >>> public_path("office.key").name
    'office.key.pub'
    """
    return Path(f"{os.fspath(path)}.pub")


def _parse(written: bytes, passphrase: bytes | None, name: str) -> Any:
    """Return the private key of a PEM text; None if it is encrypted and there is no passphrase."""
    try:
        return serialization.load_pem_private_key(written, passphrase)
    except TypeError:  # how cryptography says that a passphrase is wanted
        return None
    except (ValueError, exceptions.UnsupportedAlgorithm):
        why = "it is no private key in PEM form, or is damaged."
        _refuse(name, why if passphrase is None else "the passphrase is wrong, or it is damaged.")


def _read(path: str | os.PathLike[str], *, secret: bool = False) -> bytes:
    """Return the bytes of a key's file, or refuse what cannot be one."""
    if not isinstance(path, str | os.PathLike):
        refuse_parameter("path", "Key.load", "the path of a key", kind_of(path))
    name = own_name(path)
    try:
        status = os.stat(path)  # noqa: PTH116 - takes any path
        if not stat.S_ISREG(status.st_mode):
            _refuse(name, "it is not a regular file.")
        if secret and sys.platform != "win32" and status.st_mode & _OTHERS:
            _refuse(
                name,
                "others than its owner may read or write it. Hint: chmod 600, and make a new key if anybody "
                "may have copied it.",
            )
        with open(path, "rb") as file:  # noqa: PTH123
            written = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        _refuse(name, "there is no such file.")
    except (OSError, ValueError) as error:
        if isinstance(error, UnreadableFileError):
            raise
        _refuse(name, "you may not read it.")
    if len(written) > _MOST_BYTES:
        _refuse(name, f"it is longer than {_MOST_BYTES:,} bytes, which no key is.")
    return written


def _write_new(place: Path, written: bytes, *, mode: int) -> None:
    """Write a file that is not there yet, with these permissions from its first moment."""
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | AS_BYTES, mode)
    except OSError:
        raise UnwritableFileError(
            f"{own_name(place)} was not written: its folder is not there, you may not write there, or a file "
            "of that name is there."
        ) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with suppress(OSError):
            place.unlink()
        if isinstance(error, OSError):
            why = "the disk is full, or the system could not write it."
            raise UnwritableFileError(f"{own_name(place)} was not written: {why}") from None
        raise


def _refuse(name: str, why: str) -> NoReturn:
    raise UnreadableFileError(f"{name} cannot be used as a key: {why}") from None
