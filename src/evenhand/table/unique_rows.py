r"""The share of rows that no other row equals, measured in one pass and in bounded memory.

A row whose values no other row has can be found by whoever knows them: it links to one person. Each row
becomes a key of 64 bits, a hash of its values in the columns that are looked at, and each key is kept at most
twice: once means unique so far. Where too many different keys would be kept, only those below a limit are,
and the limit is halved as often as needed. Which keys are below it does not depend on how often they occur,
so the unique ones below a limit of :math:`2^{64-h}`, times :math:`2^h`, are an unbiased estimate of all.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Keys = npt.NDArray[np.uint64]

MOST_KEYS = 1 << 21
"""Keys that are kept; while there are fewer, the share is exact."""


class UniqueRows:
    """Count the rows that are alone with their values in some columns.

    Parameters
    ----------
    columns : sequence of str
        The columns that are looked at.
    secret : bytes
        What keys are made with. Measures that are merged have the same one; of keys that others may see it is
        one that they have not got.
    most_keys : int
        Keys that are kept; memory is in proportion to it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> unique = UniqueRows(["age", "county"])
    >>> unique.add(pa.record_batch({"age": [30, 30, 41, 30], "county": ["a", "a", "a", "b"]}))
    >>> unique.share, unique.is_sampled
    (0.5, False)
    """

    def __init__(self, columns: Sequence[str], *, secret: bytes = b"", most_keys: int = MOST_KEYS) -> None:
        self._columns, self._secret, self._most_keys = tuple(columns), secret, most_keys
        self._rows = self._halvings = self._waiting_rows = 0
        self._keys: Keys = np.zeros(0, np.uint64)
        self._waiting: list[Keys] = []

    def add(self, rows: pa.RecordBatch, *, part: int = 0) -> None:
        """Add rows; those of different parts never equal each other."""
        keys = np.full(rows.num_rows, self._seed("row", part), np.uint64)
        for name in self._columns:
            keys = _mix(keys ^ self._value_keys(rows.column(name)))
        self._rows += rows.num_rows
        self._keep(keys)

    def add_packed(self, packed: bytes) -> None:
        """Add what another measure of the same columns and secret packed."""
        rows, halvings = (int.from_bytes(packed[start : start + 8], "little") for start in (0, 8))
        self._rows += rows
        self._halvings = max(self._halvings, halvings)
        self._keep(np.frombuffer(packed, "<u8", offset=16).astype(np.uint64))

    def pack(self) -> bytes:
        """Return what was counted, for :meth:`add_packed`; without the secret it says nothing of values."""
        self._settle()
        head = self._rows.to_bytes(8, "little") + self._halvings.to_bytes(8, "little")
        return head + self._keys.astype("<u8").tobytes()

    @property
    def share(self) -> float:
        """The share of all rows that no other row equals."""
        self._settle()
        keys = self._keys
        differs = np.concatenate([[True], keys[1:] != keys[:-1], [True]])
        unique = int(np.count_nonzero(differs[1:] & differs[:-1])) if len(keys) else 0
        return min(1.0, (unique << self._halvings) / self._rows) if self._rows else 0.0

    @property
    def is_sampled(self) -> bool:
        """Whether the share is an estimate from a part of the keys."""
        self._settle()
        return self._halvings > 0

    def _keep(self, keys: Keys) -> None:
        self._waiting.append(self._below_limit(keys))
        self._waiting_rows += len(self._waiting[-1])
        if self._waiting_rows > self._most_keys:
            self._settle()

    def _below_limit(self, keys: Keys) -> Keys:
        return keys[keys >> np.uint64(64 - self._halvings) == 0] if self._halvings else keys

    def _settle(self) -> None:
        """Keep each key at most twice, and no more keys than allowed."""
        if not self._waiting:
            return
        keys = np.concatenate([self._keys, *self._waiting])
        keys = self._below_limit(keys)
        keys.sort()
        keys = np.concatenate([keys[:2], keys[2:][keys[2:] != keys[:-2]]])
        while len(keys) > self._most_keys:
            self._halvings += 1
            keys = self._below_limit(keys)
        self._keys, self._waiting, self._waiting_rows = keys, [], 0

    def _seed(self, *use: object) -> int:
        digest = hashlib.blake2b(repr(use).encode(), key=self._secret[:64], digest_size=8)
        return int.from_bytes(digest.digest(), "little")

    def _value_keys(self, column: Any) -> Keys:
        """Return a key for each value of a column; equal values have equal keys, and so have missing ones."""
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        kind = column.type
        if pa.types.is_dictionary(kind):
            return self._keys_at(column.dictionary, column.indices)
        if pa.types.is_floating(kind):
            numbers = column.cast(pa.float64())
            missing = pc.is_null(numbers, nan_is_null=True)
            values = pc.if_else(missing, 0.0, numbers).to_numpy(zero_copy_only=False) + 0.0  # no minus zero
            return self._number_keys(values.view(np.uint64), missing)
        if pa.types.is_temporal(kind) and kind.bit_width in {32, 64}:  # of any year, as its number
            return self._value_keys(column.view(pa.int32() if kind.bit_width == 32 else pa.int64()))
        if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
            numbers = column.cast(pa.uint8()) if pa.types.is_boolean(kind) else column
            values = numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
            return self._number_keys(values, column.is_null())
        if _is_text(kind):
            encoded = column.cast(pa.large_binary()).dictionary_encode()
            return self._keys_at(encoded.dictionary, encoded.indices)
        return self._hash_each(None if value is None else str(value).encode() for value in column.to_pylist())

    def _number_keys(self, values: Keys, missing: Any) -> Keys:
        keys = _mix(values ^ np.uint64(self._seed("number")))
        keys[missing.to_numpy(zero_copy_only=False)] = self._seed("missing")
        return keys

    def _keys_at(self, listed: Any, places: Any) -> Keys:
        """Return the keys of values that are places in a list."""
        own = self._hash_each(listed.to_pylist()) if _is_bytes(listed.type) else self._value_keys(listed)
        keys = np.append(own, np.uint64(self._seed("missing")))
        found: Keys = keys[places.cast(pa.int64()).fill_null(len(own)).to_numpy(zero_copy_only=False)]
        return found

    def _hash_each(self, values: Any) -> Keys:
        first = hashlib.blake2b(key=self._secret[:64], digest_size=8)
        missing, keys = self._seed("missing"), []
        for value in values:
            if value is None:
                keys.append(missing)
                continue
            digest = first.copy()
            digest.update(value)
            keys.append(int.from_bytes(digest.digest(), "little"))
        return np.array(keys, np.uint64)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_text(kind: pa.DataType) -> bool:
    is_view = getattr(pa.types, "is_string_view", lambda _: False)(kind)
    return bool(is_view or pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_bytes(kind))


def _mix(keys: Keys) -> Keys:
    """Return keys of which each bit depends on all bits, one for each that is given (SplitMix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    keys ^= keys >> np.uint64(31)
    return keys
