"""One number for each person, the same at every call, that nobody without the key can foresee."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from evenhand._part_files import AS_BYTES, FOLLOW_NO_LINK
from evenhand._validate import refuse
from evenhand.errors import UnreadableFileError, UnwritableFileError
from evenhand.measure.columns import read_column
from evenhand.privacy.randomness import SecureSource
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS = 53
"""Numbers of a person are whole, from 0 to 2**53 - 1."""

_FIRST_LINE = b"evenhand person key 1"
_PURPOSE = b"evenhand person 1\0"
_LENGTH = 32  # bytes
_LONGEST_FILE = 256
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class PersonKey:
    """A secret from which every person has a number of their own.

    The number of a person is the HMAC-SHA256 of their identifier under the key. It is the same at every call,
    on every machine and with every model, and looks uniform and independent to whoever has no key.

    Make one key for each deployment with :meth:`generate`, write it with :meth:`save` to a place apart from
    the model, and read it with :meth:`load`. Whoever knows the key can foresee every answer, and can look for
    an identifier that is let through. Two systems with the same key refuse the same people. A person whose
    identifier changes gets another number.

    A key shows itself nowhere: not in its text, and not in a pickle.

    Examples
    --------
    >>> key = PersonKey.generate()
    >>> numbers = key.numbers(["ada", "ben", "ada"])
    >>> bool(numbers[0] == numbers[2]), bool(numbers[0] == numbers[1])
    (True, False)
    """

    __slots__ = ("__secret",)

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != _LENGTH:
            refuse(
                "secret",
                "PersonKey",
                "32 secret bytes",
                f"a value of type {type(secret).__name__}, or another length",
                hint="PersonKey.generate() makes a key; PersonKey.load(path) reads one.",
            )
        self.__secret = secret

    @classmethod
    def generate(cls) -> Self:
        """Return a new key from the operating system's secure source."""
        return cls(SecureSource().words(_LENGTH // 8).tobytes())

    @property
    def fingerprint(self) -> str:
        """Eight letters that tell two keys apart and say nothing about either."""
        return hmac.digest(self.__secret, b"evenhand fingerprint 1", "sha256").hex()[:8]

    def numbers(self, person: Any) -> NDArray[np.uint64]:
        """Return the number of each person, from 0 to 2**53 - 1.

        Parameters
        ----------
        person : sequence of str or of int
            A stable identifier of each person, such as a case number. Texts are taken letter by letter:
            nothing is trimmed, folded or normalised, and ``"7"`` is not ``7``.
        """
        if not isinstance(person, list | tuple):  # as an array, texts and numbers would become all texts
            person = read_column(person, name="person", owner="ParityPostProcessor.predict").tolist()
        encoded = [_PURPOSE + encode_person(identifier) for identifier in person]
        digests = b"".join(hmac.digest(self.__secret, text, "sha256")[:8] for text in encoded)
        return np.frombuffer(digests, dtype=">u8").astype(np.uint64) >> np.uint64(64 - BITS)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that only its owner may read.

        Raises
        ------
        UnwritableFileError
            If there is a file already. A key is never overwritten: every answer would change with it.
        """
        text = _FIRST_LINE + b"\n" + self.__secret.hex().encode() + b"\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FOLLOW_NO_LINK | AS_BYTES
        try:
            descriptor = os.open(path, flags, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
            except BaseException:
                Path(path).unlink()
                raise
        except FileExistsError:
            message = f"{own_name(path)} was not written: there is a file of that name. Hint: choose another."
            raise UnwritableFileError(message) from None
        except OSError as error:
            message = f"{own_name(path)} was not written: {error.strerror or 'the system refused'}."
            raise UnwritableFileError(message) from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a key that :meth:`save` wrote.

        Raises
        ------
        UnreadableFileError
            If the file is no key, or others than its owner may read or write it.
        """
        name = own_name(path)
        try:
            with Path(path).open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                text = file.read(_LONGEST_FILE + 1)
        except OSError as error:
            message = f"{name} was not read: {error.strerror or 'the system refused'}."
            raise UnreadableFileError(message) from None
        if os.name == "posix" and mode & _OTHERS:
            message = f"{name} was not read: others may read or change it. Hint: chmod 600, and a new key."
            raise UnreadableFileError(message)
        first, _, rest = text.partition(b"\n")
        secret = b""
        with contextlib.suppress(ValueError):
            secret = bytes.fromhex(rest.decode("ascii").removesuffix("\n"))
        if first != _FIRST_LINE or len(secret) != _LENGTH:
            message = f"{name} was not read: it is not a key that PersonKey.save wrote."
            raise UnreadableFileError(message)
        return cls(secret)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PersonKey):
            return NotImplemented
        return hmac.compare_digest(self.__secret, other.__secret)

    def __hash__(self) -> int:
        return int.from_bytes(hashlib.sha256(_PURPOSE + self.__secret).digest()[:7], "big")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # it never changes, and scikit-learn's clone copies every parameter

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        refuse(
            "key",
            "pickle",
            "kept apart from whatever is stored",
            self,
            hint="key.save(path) writes it, and PersonKey.load(path) reads it again.",
        )

    def __repr__(self) -> str:
        return f"PersonKey(<secret>, fingerprint={self.fingerprint!r})"


def encode_person(person: object) -> bytes:
    r"""Return the bytes that stand for one identifier, different for any two that differ.

    A text is ``s`` and its UTF-8 bytes; a whole number is ``i`` and its decimal digits. Nothing else is an
    identifier: a float may print in several ways, and a missing one is nobody.

    >>> encode_person("Zoë"), encode_person(-12)
    (b'sZo\xc3\xab', b'i-12')
    """
    if isinstance(person, str) and person:
        return b"s" + str(person).encode("utf-8", "surrogatepass")
    if isinstance(person, int | np.integer) and not isinstance(person, bool):
        return b"i%d" % int(person)
    return refuse(
        "person",
        "ParityPostProcessor.predict",
        "a text or a whole number for each row",
        "something else, such as a missing value, an empty text or a decimal number",
        hint="use an identifier that stays with the person, such as a case number, not the row's place.",
    )
