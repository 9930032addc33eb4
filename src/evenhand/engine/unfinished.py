"""What a run that may be interrupted keeps beside its output until it is complete.

A run that is to be resumed draws each unit of rows from a stream that depends on a secret key and on the
place of the unit. The key is drawn once, from the operating system. It stands in a file that nobody else can
read, in a folder that nobody else can enter. It is overwritten and removed as soon as the last unit is drawn,
before the output has its place. Until then whoever reads it can take the noise off these reports: it is as
secret as the input itself.

So a resumed run never gives a person a second report. A unit that is complete is taken as it is; one that is
not is drawn again with the same bits from the same rows, which gives the same reports. That holds only while
nothing else has changed: the input (the names, times and every byte of its files), how it is read (what
separates its fields, encoding, decimal mark, sheet), the schema, columns, epsilon, protocols, the size of
batches, the ledger and the versions of evenhand and Arrow are the terms of a run. The hash of each is kept,
and a run with another one is refused. A ledger is charged once, under the name of the run, which is kept here
too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import stat
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import pyarrow as pa

from evenhand._locks import Lock
from evenhand._part_files import resolve_folder
from evenhand.errors import EvenhandError, UnreadableFileError, UnwritableFileError
from evenhand.privacy.randomness import RunKey
from evenhand.privacy.signing.notes import hash_open_file
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ENDING, _LOOSE_ENDING = ".evenhand.unfinished", ".evenhand.loose"
_LOOSE = re.compile(r"\..+\.[a-z0-9_]{8}\.evenhand\.loose", re.DOTALL)
_KEY, _ORDER, _STATE, _LOCK = "key", "order", "state.json", "lock"


def describe_input(files: Iterable[Path]) -> list[list[Any]]:
    """Return what tells an input from a changed one: the name, time and hash of each file.

    A file that was changed and changed back while it was read has another time.
    """
    told: list[list[Any]] = []
    for file in files:
        with Path(file).open("rb") as stream:
            time = os.fstat(stream.fileno()).st_mtime_ns
            told.append([os.fspath(Path(file).name), time, hash_open_file(stream)])
    return told


class Unfinished:
    """The hidden folder of a run beside its output, which one process at a time may use.

    Parameters
    ----------
    out : str or path
        The output.
    terms : mapping, optional
        What the run is made of, in plain values, each by the name that a message calls it by. With it the
        folder is kept when the run is interrupted, and taken up by a run of the same terms; without it the
        folder goes with the process.

    Raises
    ------
    UnwritableFileError
        If another process uses the folder, somebody else made it, or the run that it holds has other terms.
    """

    def __init__(self, out: str | os.PathLike[str], terms: Mapping[str, Any] | None = None) -> None:
        self._out = resolve_folder(out)
        self._is_kept = terms is not None
        _sweep(self._out.parent)
        self.folder = self._make_folder()
        self._lock = self._take_lock()
        if terms is not None:
            try:
                self._start(terms)
            except BaseException:
                self._lock.free()
                raise

    def _make_folder(self) -> Path:
        """Return a new folder or, where runs are taken up, the one of this output: ours, and no link."""
        beside, start = self._out.parent, f".{self._out.name}"
        folder = beside / f"{start}{ENDING}"
        try:
            if not self._is_kept:
                return Path(tempfile.mkdtemp(prefix=f"{start}.", suffix=_LOOSE_ENDING, dir=beside))
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            status = folder.lstat()
        except OSError:
            self._refuse("its folder is not there, or you may not write there.")
        own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
        if not stat.S_ISDIR(status.st_mode) or not own:
            self._refuse(
                f"'{own_name(folder)}' beside it belongs to somebody else, or others may look into it: they "
                "might know the key. Hint: remove it to begin anew."
            )
        return folder

    def _take_lock(self) -> Lock:
        lock = Lock(self.folder / _LOCK)
        try:
            is_taken = lock.take()
        except sqlite3.Error:
            self._refuse(f"the folder '{own_name(self.folder)}' beside it cannot be locked.")
        if not is_taken:
            self._refuse("another process is writing it.")
        return lock

    def _start(self, terms: Mapping[str, Any]) -> None:
        """Begin a run, or take up one of the same terms."""
        version = [import_module("evenhand").__version__, pa.__version__]  # the first stands above all layers
        digests = {name: _digest(term) for name, term in {**terms, "version": version}.items()}
        if not (self.folder / _STATE).exists():
            self._write_secret(_KEY, RunKey.draw().secret.hex())
            self._write_secret(_ORDER, RunKey.draw().secret.hex())
            self._save(terms=digests, run=RunKey.draw().secret[:8].hex(), units=None, placing=False)
            return
        kept = self._state.get("terms")
        if kept != digests:
            known = kept if isinstance(kept, dict) else {"version": ""}  # an older one kept one hash of all
            names = [name for name in {**digests, **known} if known.get(name) != digests.get(name)]
            self._refuse(
                f"an unfinished run beside it differs in {', '.join(names)}. Hint: repeat that run "
                f"unchanged; or remove the folder '{own_name(self.folder)}' beside the output to begin anew, "
                "which draws, and charges a ledger, once more."
            )

    # --- what is kept -----------------------------------------------------------------------------

    @property
    def run(self) -> str:
        """The name of the run, under which a ledger is charged."""
        return str(self._state["run"])

    @property
    def keys(self) -> tuple[RunKey | None, RunKey]:
        """The key of the reports, None once all are drawn, and that of the order of rows."""
        drawn = self._read_key(_KEY) if (self.folder / _KEY).exists() else None
        return drawn, self._read_key(_ORDER)

    def _read_key(self, name: str) -> RunKey:
        return RunKey(bytes.fromhex((self.folder / name).read_text("ascii")))

    @staticmethod
    def is_placing_beside(out: str | os.PathLike[str]) -> bool:
        """Whether a run was interrupted when its output was complete and began to take its place."""
        place = resolve_folder(out)
        with suppress(OSError, ValueError, AttributeError):
            state = json.loads((place.parent / f".{place.name}{ENDING}" / _STATE).read_text("utf-8"))
            return state.get("placing") is True
        return False

    def mark_placing(self) -> None:
        """Say that the output is complete; the key is removed first."""
        self._destroy_key()
        if self._is_kept:
            self._save(placing=True)

    def spool(self) -> Spool:
        """Return where the reports of units are kept."""
        return Spool(self)

    @property
    def units(self) -> int | None:
        """How many units there are, once all are drawn."""
        units: int | None = self._state.get("units")
        return units

    def mark_drawn(self, units: int) -> None:
        """Say that all units are drawn, and remove their key."""
        self._save(units=units)
        self._destroy_key()

    def _destroy_key(self) -> None:
        key = self.folder / _KEY
        if key.exists():
            with key.open("r+b") as file:
                file.write(b"0" * 64)
                file.flush()
                os.fsync(file.fileno())
            key.unlink()

    @property
    def _state(self) -> dict[str, Any]:
        try:
            state = json.loads((self.folder / _STATE).read_text("utf-8"))
        except (OSError, ValueError):
            self._refuse(f"the folder '{own_name(self.folder)}' beside it is damaged. Hint: remove it.")
        return dict(state)

    def _save(self, **changes: Any) -> None:
        old = self._state if (self.folder / _STATE).exists() else {}
        self._write_secret(_STATE, json.dumps(old | changes))

    def _write_secret(self, name: str, text: str) -> None:
        """Write a file that nobody else can read, whole or not at all."""
        part = self.folder / f"{name}.new"
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.folder / name)

    def _refuse(self, why: str) -> NoReturn:
        raise UnwritableFileError(f"{own_name(self._out)} was not written: {why}")

    # --- the end ----------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove the folder, unless the run may be taken up: it was interrupted, or the disk was full."""
        interrupted = kind is not None and not (
            issubclass(kind, EvenhandError) and not issubclass(kind, UnwritableFileError)
        )
        if not (self._is_kept and interrupted):
            with suppress(OSError):
                self._destroy_key()
            if sys.platform == "win32":  # where a file that is open cannot be removed
                self._lock.free()
            shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.free()


def _digest(term: Any) -> str:
    text = json.dumps(term, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Spool:
    """The reports of each unit in a file of its own, in the folder of a run."""

    def __init__(self, unfinished: Unfinished) -> None:
        self._unfinished = unfinished
        self._count = unfinished.units

    def _file(self, place: int) -> Path:
        return self._unfinished.folder / f"unit-{place:08d}.arrow"

    def __contains__(self, place: int) -> bool:
        return self._file(place).exists()

    def add(self, place: int, reports: pa.RecordBatch) -> None:
        """Keep the reports of a unit."""
        part = self._unfinished.folder / f"unit-{place:08d}.new"
        with part.open("wb") as file:
            with pa.ipc.new_file(file, reports.schema) as writer:
                writer.write_batch(reports)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._file(place))

    def close(self, count: int) -> None:
        """Say that all units are there; nothing can be drawn from now on."""
        if self._count is not None and self._count != count:
            raise UnreadableFileError("The input was not read: it has another number of rows than before.")
        self._count = count
        self._unfinished.mark_drawn(count)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for place in range(self._count or 0):
            with pa.OSFile(str(self._file(place))) as file:
                yield pa.ipc.open_file(file).get_batch(0)


def _sweep(folder: Path) -> None:
    """Remove the folders that killed processes left and that nobody takes up again."""
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - names alone, for there may be many
            left = folder / name
            if not _LOOSE.fullmatch(name) or left.is_symlink() or not (left / _LOCK).is_file():
                continue
            lock = Lock(left / _LOCK)
            with suppress(sqlite3.Error):
                if lock.take():
                    lock.free()  # nobody takes up such a folder again
                    shutil.rmtree(left, ignore_errors=True)
