"""The entries of a ledger, and the chain of hashes that holds them together.

The first entry opens the ledger and states its budget; the others spend, or retire what was spent without a
bound. The hash of an entry is over its number, its text and the hash of the entry before it, so no entry can
be changed, removed from the middle or put elsewhere without a trace.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evenhand._formats import version_fault
from evenhand.errors import LedgerError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import decimal_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Row = tuple[Any, Any, Any]

FORMAT = 1
"""The form of the entries, which the first one says."""

OPEN, SPEND, RETIRE, RESTORE = "open", "spend", "retire", "restore"
"""The kinds of entry."""

_KINDS = {OPEN, SPEND, RETIRE, RESTORE}
_BEFORE_THE_FIRST = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One line of a ledger.

    Attributes
    ----------
    number : int
        From 1 on.
    text : str
        What it says, as JSON; the terms below are read from it.
    hash : str
        SHA-256 over the number, the text and the hash of the entry before, in hexadecimal.
    """

    number: int
    text: str
    hash: str

    @property
    def terms(self) -> Mapping[str, Any]:
        """Everything that the entry says. It cannot be changed, for sums are made of it."""
        return MappingProxyType(self._terms)

    @cached_property
    def _terms(self) -> dict[str, Any]:
        terms: dict[str, Any] = json.loads(self.text)
        return terms

    @property
    def kind(self) -> str:
        """``"open"``, ``"spend"``, ``"retire"`` or ``"restore"``."""
        return str(self.terms["kind"])

    @property
    def time(self) -> str:
        """When it was made, in UTC, such as ``"2026-01-31T12:00:00Z"``."""
        return str(self.terms["time"])

    @property
    def purpose(self) -> str:
        """What was spent for, or why something was retired."""
        return str(self.terms.get("purpose", ""))

    @property
    def people(self) -> str:
        """Whom it covers, in the curator's words."""
        return str(self.terms.get("people", ""))

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing limits what was told about a person."""
        return self.kind == RESTORE or (self.kind == SPEND and self.terms["epsilon"] is None)

    @cached_property
    def epsilon(self) -> Fraction:
        """What was charged; 0 where the entry is unbounded or no charge."""
        return Fraction(self.terms.get("epsilon") or 0) if self.kind == SPEND else Fraction(0)

    @cached_property
    def delta(self) -> Fraction:
        """What was charged; 0 where the entry is unbounded or no charge."""
        return Fraction(self.terms.get("delta") or 0) if self.kind == SPEND else Fraction(0)

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """The guarantee that was charged, with its unit, trust, columns and people; None of other entries."""
        return Guarantee.from_dict(self.terms["guarantee"]) if self.kind == SPEND else None

    def __str__(self) -> str:
        if self.kind != SPEND:
            return f"entry {self.number}, {self.kind}"
        delta = f", delta = {decimal_text(self.delta)}" if self.delta else ""
        amount = "unbounded" if self.is_unbounded else f"epsilon = {decimal_text(self.epsilon)}{delta}"
        return f"entry {self.number}, {amount}: {self.purpose}"

    def reference(self) -> dict[str, Any]:
        """Return what a file says of the entry that was charged with it.

        An unbounded entry, and one that is no charge, has no amounts.
        """
        names = ("ledger", "epsilon", "delta")
        amounts = {name: self.terms.get(name) for name in names}
        return {"number": self.number, "sha256": self.hash, **amounts, "purpose": self.purpose}

    def to_dict(self) -> dict[str, Any]:
        """Return the entry for a JSON file: its number and hash beside all that it says.

        >>> Chain().next_entry({"kind": "open", "time": "2026-01-31T12:00:00Z"}).to_dict()["number"]
        1
        """
        return {"number": self.number, **json.loads(self.text), "hash": self.hash}


@dataclass(frozen=True)
class Chain:
    """Entries in order, each checked against the one before it.

    >>> first = Chain().next_entry({"kind": "open", "time": "2026-01-31T12:00:00Z", "format": 1})
    >>> len(Chain().extended([(first.number, first.text, first.hash)], name="ledger.db"))
    1
    """

    entries: tuple[Entry, ...] = ()

    @property
    def head(self) -> str:
        """The hash of the last entry."""
        return self.entries[-1].hash if self.entries else _BEFORE_THE_FIRST

    def __len__(self) -> int:
        return len(self.entries)

    def next_entry(self, terms: Mapping[str, Any]) -> Entry:
        """Return the entry that says this and would come next."""
        text, number = canonical_text(terms), len(self) + 1
        return Entry(number, text, entry_hash(self.head, number, text))

    def extended(self, rows: Iterable[Row], *, name: str) -> Chain:
        """Return the chain with more rows of the ledger called `name`, or refuse those that do not fit."""
        entries, head = list(self.entries), self.head
        for row in rows:
            number = len(entries) + 1
            if not _fits(row, number, head):
                raise LedgerError(
                    f"Ledger '{name}' was changed or is damaged at entry {number}: its hash does not fit. "
                    "Nothing was spent. Hint: put back the newest copy of the file that was not changed."
                )
            entries.append(Entry(*row))
            head = row[2]
            if number == 1:
                _refuse_other_version(entries[0], name)
        return Chain(tuple(entries))


def canonical_text(terms: Mapping[str, Any]) -> str:
    """Return the one text that stands for some terms.

    >>> canonical_text({"b": 1, "a": "x"})
    '{"a":"x","b":1}'
    """
    return json.dumps(terms, sort_keys=True, separators=(",", ":"), allow_nan=False)


def entry_hash(before: str, number: int, text: str) -> str:
    """Return the hash of an entry that comes after one with the hash `before`.

    >>> entry_hash("0" * 64, 1, "{}") == entry_hash("0" * 64, 2, "{}")
    False
    """
    return hashlib.sha256(f"{before}\n{number}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _refuse_other_version(first: Entry, name: str) -> None:
    fault = version_fault(first.terms.get("format"), newest=FORMAT)
    if fault:
        raise LedgerError(f"Ledger '{name}' {fault}")


def _fits(row: Row, number: int, head: str) -> bool:
    stored, text, digest = row
    if stored != number or not isinstance(text, str) or digest != entry_hash(head, number, text):
        return False
    try:
        kind = json.loads(text)["kind"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    return isinstance(kind, str) and kind in _KINDS and (kind == OPEN) == (number == 1)
