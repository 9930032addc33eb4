"""A ledger as a JSON file, with its hashes, and a ledger that is made again from one."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._formats import format_number, parse_json, version_fault
from evenhand._part_files import put_in_place
from evenhand.errors import LedgerError
from evenhand.privacy.ledger.anchor import Anchor, prepare_anchor, refuse_existing, refuse_link
from evenhand.privacy.ledger.chain import RESTORE, Chain
from evenhand.privacy.ledger.clock import Clock
from evenhand.privacy.ledger.database import add_entry, create_tables, open_database, transaction
from evenhand.privacy.ledger.ledger import ANCHOR, Ledger, anchor_beside

if TYPE_CHECKING:
    import os

    from evenhand.privacy.ledger.chain import Entry

NAME, FORMAT = "evenhand ledger", 1
"""The form of the file; a later evenhand may write a later one."""

_MOST_BYTES = 1 << 30
_SQLITE = b"SQLite format 3\0"


def export_ledger(ledger: Ledger, path: str | os.PathLike[str]) -> None:
    """Write all entries of a ledger, with their hashes, to a new JSON file."""
    target = Path(path).absolute()
    refuse_existing(target)
    written = {
        "format": f"{NAME} {FORMAT}",
        "entries": [[entry.number, entry.text, entry.hash] for entry in ledger.history()],
    }
    try:
        with put_in_place(target) as file:
            file.write(f"{json.dumps(written, indent=1)}\n".encode("ascii"))
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise LedgerError(f"The file '{target.name}' cannot be written ({reason}).") from None


def import_ledger(
    export: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    anchor: str | os.PathLike[str] | None = None,
) -> Ledger:
    """Make a ledger again from an export, as far as its anchor agrees.

    Without the anchor nobody knows what was spent after the export. The ledger then gets one entry more that
    is unbounded and says so. An export that is older than the anchor is refused.

    Parameters
    ----------
    export : str or path
        What :func:`export_ledger` wrote.
    path : str or path
        The file of the ledger, which must not be there.
    anchor : str or path, optional
        Where its anchor stands, if not beside it.
    """
    source, target = Path(export).absolute(), Path(path).absolute()
    refuse_existing(target)
    place = anchor_beside(target) if anchor is None else Path(anchor).absolute()
    chain = Chain(_add_unknown(_read_export(source), place, name=source.name))
    places = {} if anchor is None else {ANCHOR: str(place)}
    with (
        prepare_anchor(place, Anchor.of(chain)) as put,
        open_database(target, write=True, new=True) as connection,
    ):
        with transaction(connection):
            create_tables(connection, places)
            for entry in chain.entries:
                add_entry(connection, entry)
        put(Anchor.of(chain))
    return Ledger(target, anchor=anchor)


def read_entries(
    path: str | os.PathLike[str], *, anchor: str | os.PathLike[str] | None = None
) -> tuple[Entry, ...]:
    """Return all entries of a ledger or of an export of one, each checked against the one before it.

    Raises
    ------
    LedgerError
        If anything was changed or is missing. An export has no anchor, so a shorter one is not noticed.
    """
    place = Path(path).absolute()
    refuse_link(place)
    with suppress(OSError), place.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return _read_export(place).entries
    ledger = Ledger(place, anchor=anchor)
    ledger.verify()
    return ledger.history()


def _add_unknown(chain: Chain, place: Path, *, name: str) -> tuple[Entry, ...]:
    """Return the entries, and one that says what is not known if there is no anchor to tell."""
    anchor = Anchor.load(place)
    if anchor is not None and anchor.entries:
        anchor.check(chain, name=name)
        return chain.entries
    purpose = f"made again from an export of {len(chain)} entries; what was spent after it is not known"
    time = Clock().stamp(chain.entries[-1].time, name=name)
    return (*chain.entries, chain.next_entry({"kind": RESTORE, "purpose": purpose, "time": time}))


def _read_export(path: Path) -> Chain:
    """Return the entries of an export, each checked against the one before it."""
    refuse_link(path)
    try:
        with path.open("rb") as file:
            written = parse_json(file.read(_MOST_BYTES))
        number = format_number(written["format"], NAME)
        fault = "is no export of a ledger." if number is None else version_fault(number, newest=FORMAT)
        if fault:
            raise LedgerError(f"The file '{path.name}' {fault}")
        rows = [(number, text, digest) for number, text, digest in written["entries"]]
    except (OSError, ValueError, TypeError, KeyError):
        raise LedgerError(
            f"The file '{path.name}' cannot be read, or is no export of a ledger. Hint: make one with "
            "'evenhand ledger export'."
        ) from None
    chain = Chain().extended(rows, name=path.name)
    if not chain.entries:
        raise LedgerError(f"The file '{path.name}' has no entries. Hint: take a whole export.")
    return chain
