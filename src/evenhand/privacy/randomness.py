"""Where randomness comes from: the operating system for releases, a seed for studies.

This module and ``sampling.py`` are the only places in evenhand that may touch a generator; a test of
the source keeps it so. Everything that draws takes a :class:`Source` chosen by its caller.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import struct
from abc import ABC, abstractmethod
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import integer
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    Words = npt.NDArray[np.uint64]

__all__ = ["RunKey", "SecureSource", "SeededSource", "Source", "source_from"]

ciphers = lazy("cryptography.hazmat.primitives.ciphers")

_ZEROS = np.zeros(1 << 18, dtype=np.uint8)  # what is encrypted at a time: 256 KiB stay in the cache
_KEY_BYTES = 32
_SPARE = 2  # words: the cipher asks for room for a block more than it writes


class Source(ABC):
    """Something that gives independent, uniform 64-bit words.

    Attributes
    ----------
    kind : {"secure", "seeded"}
        What records and artefacts say about the randomness.
    simulated : bool
        True if what is drawn may be used in simulations only, never in a release.
    """

    kind: ClassVar[Literal["secure", "seeded"]]
    simulated: ClassVar[bool] = True

    @abstractmethod
    def words(self, count: int) -> Words:
        """Return `count` fresh words."""

    def refills(self) -> Callable[[int], Words]:
        """Return a function that gives fresh words as `words` does, but may write them over its last ones.

        It is for one loop, which is done with its words, or has copied them, when it asks for more.
        """
        return self.words

    @property
    def place(self) -> tuple[int, ...] | None:
        """Where a stream stands that can be drawn again: equal for sources that give the same words next."""
        return None


class SecureSource(Source):
    r"""Words from the operating system's secure generator, fit for a release.

    Each call takes a fresh 128-bit key and a fresh 128-bit counter from the operating system and
    returns the AES-CTR key stream. Nothing is kept between calls: a forked process, a thread or a copy
    cannot repeat a stream, and an old stream cannot be recomputed from the state of the program.

    **Guarantee.** Words are uniform and independent as far as anybody can tell who cannot tell AES-128
    from a random permutation; telling :math:`b` blocks of one call from uniform ones by repeated blocks
    succeeds with probability below :math:`b^2 / 2^{129}`.

    Examples
    --------
    >>> source = SecureSource()
    >>> source.kind, source.simulated
    ('secure', False)
    >>> source.words(3).shape
    (3,)
    """

    kind = "secure"
    simulated = False

    def words(self, count: int) -> Words:
        """Return `count` words from a stream of their own."""
        count = integer("count", count, owner="SecureSource.words", low=0)
        return _stream(np.empty(count + _SPARE, dtype=np.uint64))

    def refills(self) -> Callable[[int], Words]:
        """Return a function that writes words from a stream of their own over the last ones it gave."""
        room = np.empty(0, dtype=np.uint64)

        def refill(count: int) -> Words:
            nonlocal room
            if room.size < count + _SPARE:
                room = np.empty(count + _SPARE, dtype=np.uint64)
            return _stream(room[: count + _SPARE])

        return refill

    def __repr__(self) -> str:
        return "SecureSource()"


class AuditSource(SecureSource):
    """Words from the secure generator for inputs that are nobody's: what is drawn is no release.

    An audit draws what a release would draw. No ledger is charged with it, and it cannot be written.

    >>> source = AuditSource()
    >>> source, source.kind, source.simulated
    (AuditSource(), 'secure', True)
    """

    simulated = True

    def __repr__(self) -> str:
        return "AuditSource()"


class RunKey:
    r"""A secret of one run, from which each piece of the run has a stream of its own.

    A piece of work may be done twice: a run was interrupted and is taken up again, a worker of a cluster
    failed, or was slow. With :class:`SecureSource` the second try would draw anew, and whoever sees both has
    two reports of each person. With a key the second try gets the words of the first, and results do not
    depend on who draws which piece when.

    The stream of a piece is the AES-CTR key stream whose key and counter, 128 bits each, are a hash of the
    piece under the secret: the HMAC-SHA256 of a position on a cluster (:meth:`stream`), the keyed BLAKE2b of
    the name of a unit of rows in a file (:meth:`unit`). Positions are written so that two of them never have
    the same bytes; no two units of a key may have the same name.

    **Guarantee.** The words of all pieces are uniform and independent as far as anybody can tell who has not
    got the secret, cannot tell HMAC-SHA256 or keyed BLAKE2b from a random function, and cannot tell AES-128
    from a random permutation. Whoever has the secret can draw everything again and take the noise off: it is
    kept where nobody else can read it, and no longer than the run.

    Parameters
    ----------
    secret : bytes
        32 bytes that nobody else has. :meth:`draw` takes them from the operating system.

    Examples
    --------
    >>> key = RunKey.draw()
    >>> key
    RunKey(secret)
    >>> first, again, other = (key.stream(position, 0).words(4).tolist() for position in (3, 3, 4))
    >>> first == again, first == other
    (True, False)
    """

    __slots__ = ("secret",)

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != _KEY_BYTES:
            got = "something else"
            raise InvalidParameterError("secret", owner="RunKey", must_be=f"{_KEY_BYTES} bytes", got=got)
        self.secret = secret

    @classmethod
    def draw(cls) -> RunKey:
        """Return a new key from the operating system's secure generator."""
        return cls(os.urandom(_KEY_BYTES))

    def stream(self, *position: int | str | bytes) -> Source:
        """Return the source of one position, which starts at its first word every time."""
        return _KeyedSource(self._derive(b"stream", position), "stream(...)")

    def unit(self, name: str) -> Source:
        """Return the source of a unit of rows by its name, which starts at its first word every time."""
        secret = hashlib.blake2b(name.encode("utf-8"), key=self.secret, digest_size=32).digest()
        return _KeyedSource(secret, f"unit({name!r})")

    def digest(self, *position: int | str | bytes) -> hmac.HMAC:
        """Return an HMAC-SHA256 to feed: what it says of private rows means nothing without the key."""
        return hmac.new(self._derive(b"digest", position), digestmod="sha256")

    def _derive(self, use: bytes, position: tuple[int | str | bytes, ...]) -> bytes:
        return hmac.digest(self.secret, b"".join(map(_position_bytes, (use, *position))), "sha256")

    def __repr__(self) -> str:
        return "RunKey(secret)"


class _KeyedSource(Source):
    """The stream of one piece of a run; a release, since its key came from the secure generator."""

    kind = "secure"
    simulated = False

    def __init__(self, secret: bytes, origin: str) -> None:
        self._stream, self._origin = _cipher_stream(secret), origin

    def words(self, count: int) -> Words:
        count = integer("count", count, owner="RunKey.stream", low=0)
        return _fill(np.empty(count + _SPARE, dtype=np.uint64), self._stream)

    def __reduce__(self) -> Any:
        raise TypeError("A source of a RunKey is not copied or stored: two copies would draw the same words.")

    def __repr__(self) -> str:
        return f"RunKey(secret).{self._origin}"


class SeededSource(Source):
    r"""Words that anybody with the seed can draw again, for studies and tests.

    Whatever is drawn from it is *simulated*: writing it as a release or charging a ledger with it is
    refused. The words are the raw output of numpy's PCG64DXSM, seeded by a
    :class:`~numpy.random.SeedSequence`; both are frozen by numpy's compatibility policy, so a seed gives
    the same words with every version of numpy, on every platform and in every process.

    A source moves on as it is used. Two workers, cells or people must never share one: give each a
    source of its own with :meth:`for_cell` (by name) or :meth:`spawn` (by order).

    Parameters
    ----------
    seed : int, SeedSequence or Generator
        A whole number of at least 0. A generator is asked for 256 bits, which become the seed, so that
        using the same generator twice gives two streams.
    cell : str, optional
        ``SeededSource(seed, cell=name)`` is ``SeededSource(seed).for_cell(name)``.

    Examples
    --------
    >>> SeededSource(7).words(2)
    array([...], dtype=uint64)
    >>> first, again = SeededSource(7, cell="adult/grr/1"), SeededSource(7).for_cell("adult/grr/1")
    >>> bool((first.words(4) == again.words(4)).all())
    True
    """

    kind = "seeded"
    simulated = True

    def __init__(
        self, seed: int | np.random.SeedSequence | np.random.Generator, *, cell: str | None = None
    ) -> None:
        self._sequence = _sequence_of(seed)
        self._origin = f"SeededSource({self._sequence.entropy!r})"
        if self._sequence.spawn_key:
            keyed = f"SeedSequence({self._sequence.entropy!r}, spawn_key={self._sequence.spawn_key!r})"
            self._origin = f"SeededSource({keyed})"
        if cell is not None:
            self._sequence = _sequence_of_cell(self._sequence, cell)
            self._origin += f".for_cell({cell!r})"
        self._bits = np.random.PCG64DXSM(self._sequence)

    @property
    def seed(self) -> int | tuple[int, ...]:
        """The entropy of the seed sequence, for the record."""
        entropy: Any = self._sequence.entropy
        return int(entropy) if isinstance(entropy, Integral) else tuple(int(word) for word in entropy)

    @property
    def key(self) -> tuple[int, ...]:
        """The spawn key of the seed sequence, for the record; empty for a plain seed."""
        return tuple(int(word) for word in self._sequence.spawn_key)

    @property
    def place(self) -> tuple[int, ...]:
        """Where the stream stands.

        >>> SeededSource(7).place == SeededSource(7).place != SeededSource(8).place
        True
        """
        now: Any = self._bits.state["state"]
        return int(now["state"]), int(now["inc"])

    def words(self, count: int) -> Words:
        """Return the next `count` words of the stream."""
        count = integer("count", count, owner="SeededSource.words", low=0)
        return self._bits.random_raw(count)

    def for_cell(self, cell: str) -> SeededSource:
        r"""Return the source of one cell, which depends on the seed and the cell's name alone.

        The spawn key is extended by the eight 32-bit words, high byte first, of the SHA-256 of the name
        in UTF-8. How much of this source was used does not matter, nor do other cells.

        Parameters
        ----------
        cell : str
            The canonical name of the cell. Two names that differ at all give unrelated streams.

        Examples
        --------
        >>> SeededSource(7).for_cell("adult/grr/1")
        SeededSource(7).for_cell('adult/grr/1')
        """
        return self._child(_sequence_of_cell(self._sequence, cell), f".for_cell({cell!r})")

    def spawn(self, count: int) -> list[SeededSource]:
        """Return `count` new sources; later calls return others, as with numpy's generators."""
        count = integer("count", count, owner="SeededSource.spawn", low=0)
        born = self._sequence.spawn(count)
        return [self._child(sequence, f" child {sequence.spawn_key[-1]}") for sequence in born]

    def generator(self) -> np.random.Generator:
        """Return the same stream as a numpy generator, for simulations.

        What the generator draws is not drawn again by :meth:`words`, nor the other way round.
        Numpy may change how its distributions use the stream from one version to the next.
        """
        return np.random.Generator(self._bits)

    def _child(self, sequence: np.random.SeedSequence, origin: str) -> SeededSource:
        child = SeededSource(sequence)
        child._origin = self._origin + origin
        return child

    def __repr__(self) -> str:
        return self._origin


def secret_text(size: int = 16) -> str:
    """Return so many random bytes of the operating system in hexadecimal digits: a name nobody can guess.

    >>> len(secret_text(8))
    16
    """
    return os.urandom(size).hex()


def _stream(room: Words) -> Words:
    """Fill the room, but for the words to spare, with the key stream of a fresh key and a fresh counter."""
    return _fill(room, _cipher_stream(os.urandom(_KEY_BYTES)))


def _cipher_stream(secret: bytes) -> Any:
    """Return the AES-CTR stream whose key is the first half of the secret and whose counter is the second."""
    return ciphers.Cipher(ciphers.algorithms.AES(secret[:16]), ciphers.modes.CTR(secret[16:])).encryptor()


def _fill(room: Words, stream: Any) -> Words:
    """Fill the room, but for the words to spare, with the next words of a stream."""
    words = room[:-_SPARE]
    into = room.view(np.uint8).data
    for start in range(0, words.nbytes, _ZEROS.size):
        stream.update_into(_ZEROS.data[: words.nbytes - start], into[start:])
    return words


def _position_bytes(part: int | str | bytes) -> bytes:
    """Return a part of a position with its kind and length before it, so that no two read alike."""
    if isinstance(part, str):
        kind, content = b"s", part.encode("utf-8", "surrogatepass")
    elif isinstance(part, bytes):
        kind, content = b"b", part
    else:
        number = integer("position", part, owner="RunKey", low=0)
        kind, content = b"i", number.to_bytes((number.bit_length() + 7) // 8, "big")
    return kind + len(content).to_bytes(8, "big") + content


def source_from(rng: Source | int | np.random.SeedSequence | np.random.Generator | None) -> Source:
    """Return the source that an ``rng`` argument stands for.

    Nothing means the secure source. A whole number, a seed sequence or a numpy generator means a
    seeded source, whose draws are simulated. A source means itself.

    Examples
    --------
    >>> source_from(None)
    SecureSource()
    >>> source_from(7)
    SeededSource(7)
    """
    if rng is None:
        return SecureSource()
    return rng if isinstance(rng, Source) else SeededSource(rng)


def forest_samples(seed: int, *, trees: int, rows: int) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield the seed and the bootstrap sample of each tree, as scikit-learn's random forests draw them.

    For models that must be the same as scikit-learn's, bit for bit; for studies only.

    Examples
    --------
    >>> [seed for seed, sample in forest_samples(0, trees=2, rows=3)]
    [209652396, 398764591]
    """
    draws = np.random.RandomState(seed)
    for _ in range(trees):
        tree = int(draws.randint(np.iinfo(np.int32).max))
        yield tree, np.random.RandomState(tree).randint(0, rows, rows)


def tree_state(seed: int) -> np.random.RandomState:
    """Return numpy's old generator, from which scikit-learn's trees draw the features that they try.

    For models that must be the same as scikit-learn's, bit for bit; for studies only.

    Examples
    --------
    >>> int(tree_state(0).randint(100))
    44
    """
    return np.random.RandomState(seed)


def _sequence_of(seed: object) -> np.random.SeedSequence:
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, np.random.Generator):
        raw = seed.bit_generator.random_raw(8).astype(np.uint64) & np.uint64(0xFFFFFFFF)
        return np.random.SeedSequence(int.from_bytes(raw.astype(">u4").tobytes(), "big"))
    if not isinstance(seed, bool) and isinstance(seed, Integral) and int(seed) >= 0:
        return np.random.SeedSequence(int(seed))
    raise InvalidParameterError(
        "rng",
        owner="evenhand",
        must_be="None, a whole number of at least 0, a numpy SeedSequence or Generator, or a Source",
        got=seed,
        hint="give no rng for a release; give a whole number for a study that can be repeated.",
    )


def _sequence_of_cell(sequence: np.random.SeedSequence, cell: object) -> np.random.SeedSequence:
    if not isinstance(cell, str):
        raise InvalidParameterError("cell", owner="SeededSource.for_cell", must_be="a text", got=cell)
    digest = hashlib.sha256(cell.encode("utf-8", "surrogatepass")).digest()
    key = (*sequence.spawn_key, *struct.unpack(">8I", digest))
    return np.random.SeedSequence(sequence.entropy, spawn_key=key, pool_size=sequence.pool_size)
