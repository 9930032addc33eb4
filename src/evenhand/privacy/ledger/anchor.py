"""The anchor: how many entries a ledger has and the hash of the last, in a file of its own.

It is synced to its disk after an entry is committed and before `spend` returns. A ledger that is shorter than
its anchor, or has another entry where the anchor has one, is an older copy or was changed, and is refused.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from evenhand._formats import parse_json, version_fault
from evenhand._part_files import open_part, sweep
from evenhand.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from evenhand.privacy.ledger.chain import Chain

FORMAT = 1
"""The form of the file; a later evenhand may write a later one."""

_LONGEST = 4096
_BACK = "put back the newest copy of both files"


@dataclass(frozen=True)
class Anchor:
    """What an anchor file says.

    Parameters
    ----------
    ledger : str
        The random name that a ledger was given when it was made.
    entries : int
        How many it has; 0 while it is being made.
    head : str
        The hash of the last one.
    format : int
    """

    ledger: str
    entries: int
    head: str
    format: int = FORMAT

    @classmethod
    def of(cls, chain: Chain) -> Anchor:
        """Return the anchor of a chain."""
        return cls(str(chain.entries[0].terms["ledger"]), len(chain), chain.head)

    @classmethod
    def load(cls, path: Path) -> Anchor | None:
        """Return what the file says; None if there is none."""
        refuse_link(path)
        try:
            with path.open("rb") as file:
                written = parse_json(file.read(_LONGEST))
            number = written["format"]
            fault = version_fault(number, newest=FORMAT) if type(number) is int else ""
            if fault:
                raise LedgerError(f"The anchor '{path.name}' {fault}")
            anchor = cls(**written)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError):
            anchor = None
        if anchor is None or not anchor.is_whole:
            raise LedgerError(f"The anchor '{path.name}' cannot be read or is damaged. Hint: {_BACK}.")
        return anchor

    @property
    def is_whole(self) -> bool:
        """Whether every field is of its type."""
        kinds = {"ledger": str, "entries": int, "head": str, "format": int}
        return all(type(getattr(self, name)) is kind for name, kind in kinds.items()) and self.entries >= 0

    def check(self, chain: Chain, *, name: str) -> None:
        """Refuse a chain that is shorter than this anchor, is another ledger's, or differs where both are."""
        if not self.entries and len(chain) == 1:
            return  # its making was cut short before the first anchor
        if self.ledger != chain.entries[0].terms["ledger"]:
            raise LedgerError(
                f"The anchor beside ledger '{name}' belongs to another ledger. Nothing was spent. "
                "Hint: name the right one with anchor=..., or put it back."
            )
        if self.entries > len(chain):
            raise LedgerError(
                f"Ledger '{name}' has {_count(len(chain))} but its anchor says {self.entries}: an older copy "
                f"was put back, or entries are lost. Nothing was spent. Hint: {_BACK}."
            )
        if self.entries and chain.entries[self.entries - 1].hash != self.head:
            raise LedgerError(
                f"Ledger '{name}' was changed: entry {self.entries} is another than its anchor says. "
                f"Nothing was spent. Hint: {_BACK}."
            )


@contextmanager
def prepare_anchor(path: Path, anchor: Anchor) -> Iterator[Callable[[Anchor], None]]:
    """Write an anchor to a hidden file, and yield what puts it in its place.

    So a full disk or a folder that may not be written is found before anything is charged.
    """
    refuse_link(path)
    try:
        sweep(path.parent)
        with open_part(path) as part:
            part.file.write(_text_of(anchor))
            part.finish()

            def put(newest: Anchor) -> None:
                if newest != anchor:  # another process was quicker, and its entry came after ours
                    part.file.seek(0)
                    part.file.truncate()
                    part.file.write(_text_of(newest))
                    part.finish()
                part.take_place()
                sync_folder(path.parent)

            yield put
    except OSError as error:
        raise LedgerError(
            f"The anchor '{path.name}' cannot be written ({error.strerror or 'the system refused'}). "
            "Nothing may be drawn. Hint: make room, check its permissions, or choose another place."
        ) from None


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def refuse_link(path: Path) -> None:
    """Refuse what is no plain file: behind a link the file beside it would be another's."""
    if path.is_symlink():
        raise LedgerError(f"'{path.name}' is a symbolic link. Nothing was spent. Hint: name the file itself.")
    if path.is_dir():
        raise LedgerError(f"'{path.name}' is a folder. Nothing was spent. Hint: name a file in it.")
    if path.exists() and not path.is_file():
        raise LedgerError(f"'{path.name}' is a device or a pipe. Nothing was spent. Hint: name a file.")


def refuse_existing(target: Path) -> None:
    """Refuse to write over anything."""
    if os.path.lexists(target):
        raise LedgerError(f"There is a file '{target.name}' already. Hint: choose another name.")


def _text_of(anchor: Anchor) -> bytes:
    return f"{json.dumps(asdict(anchor), indent=2)}\n".encode("ascii")


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"
