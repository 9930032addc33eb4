"""The folder of a run that is not finished: its key, what it was told, and what has been drawn so far.

It stands beside the output as ``<out>.unfinished`` and nobody but its owner may look into it. The key is in
a file of mode 0600 as long as the run may have to be resumed, and goes with its completion: whoever has the
key and the reports can take the noise off.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from evenhand._part_files import AS_BYTES, FOLLOW_NO_LINK, lock_file, resolve_folder
from evenhand.engine.cluster.notes import Note
from evenhand.engine.promise import Linkability
from evenhand.errors import UnwritableFileError
from evenhand.privacy.randomness import RunKey
from evenhand.privacy.signing.notes import hash_open_file
from evenhand.table.side_files import (
    record_path,
    refuse_tables_beside,
    schema_path,
    side_files,
    signature_path,
)
from evenhand.table.source import own_name
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FORMAT = "evenhand unfinished 3"
_FOLDERS = ("input", "drawn", "parts")
_KEY, _STATE, _LOCK, _PLACING = "key", "run.json", "lock", "placing"


@dataclass(frozen=True)
class State:
    """What a run that was checked goes on with.

    Parameters
    ----------
    terms : str
        The plan, the choices of the output, the ledger and the key that signs.
    run : str
        The name of the run, under which a ledger is charged.
    stored : bool
        Whether the rows are kept in the folder.
    notes : tuple of Note
        What the check said of each partition that has rows.
    linkability : Linkability, optional
        How many rows link by the columns in the clear, if there are any.
    """

    terms: str
    run: str
    stored: bool
    notes: tuple[Note, ...]
    linkability: Linkability | None = None


class Unfinished:
    """The folder of a run, from its start to its completion.

    Parameters
    ----------
    out : str or path
        The output, a folder of Parquet files.
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        self.out = resolve_folder(out)
        self.folder = self.out.with_name(f"{self.out.name}.unfinished")
        self._lock: int | None = None

    def __enter__(self) -> Self:
        """Make the folder, or take over one that a run of ours left."""
        try:
            with suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
            self._refuse_foreign()
            for name in _FOLDERS:
                (self.folder / name).mkdir(mode=0o700, exist_ok=True)
            self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | FOLLOW_NO_LINK, 0o600)
            lock_file(self._lock, wait=False)
        except FileNotFoundError:
            raise self._refusal("its folder is not there") from None
        except BlockingIOError:
            self._close()
            raise self._refusal("another run is writing it") from None
        except OSError as error:
            self._close()
            if isinstance(error, UnwritableFileError):
                raise
            raise self._refusal("you may not write there") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _refuse_foreign(self) -> None:
        """Refuse a folder that somebody else made or can look into: they might know the key."""
        status = self.folder.lstat()
        own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
        if not stat.S_ISDIR(status.st_mode) or not own:
            raise self._refusal(
                f"{self.folder.name} beside it belongs to somebody else, or others may look into it"
            )

    def _refusal(self, why: str) -> UnwritableFileError:
        return UnwritableFileError(f"{own_name(self.out)} was not written: {why}.")

    # --- the key and the state ------------------------------------------------------------------------------

    def resume(self, terms: str) -> tuple[RunKey, State] | None:
        """Return the key and the state of the run to go on with; None if there is none.

        What is left of a run that had not been checked yet is removed: nothing was drawn in it.

        Raises
        ------
        UnwritableFileError
            If it was a run with other choices.
        """
        try:
            fields: dict[str, Any] = json.loads((self.folder / _STATE).read_text(encoding="utf-8"))
            key = RunKey((self.folder / _KEY).read_bytes())
            if fields["format"] != _FORMAT:
                raise self._other_run()
        except FileNotFoundError:
            self._remove_content()
            return None
        except (ValueError, KeyError, TypeError):
            raise self._other_run() from None
        if fields["terms"] != terms:
            raise self._other_run()
        notes = tuple(Note.from_json(line) for line in fields["notes"])
        links = None if fields["links"] is None else Linkability(**fields["links"])
        return key, State(terms, fields["run"], fields["stored"], notes, links)

    def _other_run(self) -> UnwritableFileError:
        return UnwritableFileError(
            f"{own_name(self.out)} was not written: {self.folder.name} beside it holds a run with other "
            "data, columns or options, another ledger or key, that was not finished. Hint: make that call "
            "again to finish it; or remove the folder, whose charge of the ledger stays."
        )

    def save(self, key: RunKey, state: State) -> None:
        """Write down what a later call needs to go on; the state goes last, and counts only with the key."""
        self._write_private(_KEY, key.secret)
        fields = {
            "format": _FORMAT,
            "terms": state.terms,
            "run": state.run,
            "stored": state.stored,
            "notes": [note.to_json() for note in state.notes],
            "links": None if state.linkability is None else asdict(state.linkability),
        }
        self._write_private(_STATE, json.dumps(fields).encode("utf-8"))

    def _write_private(self, name: str, content: bytes) -> None:
        hidden = self.folder / f"{name}.new"
        with os.fdopen(
            os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | FOLLOW_NO_LINK | AS_BYTES, 0o600), "wb"
        ) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(self.folder / name)

    # --- the end --------------------------------------------------------------------------------------------

    def discard(self) -> None:
        """Remove everything: the key first, and the lock with the folder."""
        self._remove_content()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _remove_content(self) -> None:
        for name in (_KEY, f"{_KEY}.new", _STATE, f"{_STATE}.new", _PLACING):
            (self.folder / name).unlink(missing_ok=True)
        for name in _FOLDERS:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            with suppress(OSError):
                (self.folder / name).mkdir(mode=0o700, exist_ok=True)

    def hash_files(self, names: Sequence[str], schema: bytes) -> dict[str, str]:
        """Return the SHA-256 of every finished part and of the schema, by the name that each will have."""
        hashes = {}
        for name in names:
            with (self.folder / "parts" / name).open("rb") as file:
                hashes[f"{self.out.name}/{name}"] = hash_open_file(file)
        return hashes | {schema_path(self.out).name: hashlib.sha256(schema).hexdigest()}

    def publish(
        self, names: Sequence[str], schema: bytes, record: bytes, signature: bytes | None, *, overwrite: bool
    ) -> None:
        """Put the finished parts under the name of the output, with their schema and guarantee beside it.

        An old output goes first, its guarantee before it, so that no guarantee ever stands beside reports
        that it does not speak of. The key goes as soon as the output is there.
        """
        finished = self.folder / "finished"
        shutil.rmtree(finished, ignore_errors=True)
        finished.mkdir()
        for name in names:  # one by one: a slow second try may still write beside them
            (self.folder / "parts" / name).replace(finished / name)
        if overwrite:
            self._remove_old()
        elif os.path.lexists(self.out):
            raise self._refusal("there is something of that name by now")
        (self.folder / _PLACING).touch(mode=0o600)
        place = record_path(self.out)
        beside = {schema_path(self.out): schema, place: record, signature_path(place): signature}
        for path, text in beside.items():
            if text is not None:
                with replacing(path) as file:
                    file.write(text)
        finished.replace(self.out)
        self.discard()

    def _remove_old(self) -> None:
        for path in side_files(self.out):
            path.unlink(missing_ok=True)
        if self.out.is_dir() and not self.out.is_symlink():
            self.out.replace(self.folder / "replaced")
        else:
            self.out.unlink(missing_ok=True)


def clear_placed(out: Path) -> bool:
    """Return whether a run was killed as it published; if its output has its place, remove all that is left.

    The key is among what is left, and nobody may find it beside complete reports.
    """
    left = Unfinished(out)
    if not (left.folder / _PLACING).exists():
        return False
    if os.path.lexists(left.out):
        with left:
            left.discard()
    return True


def refuse_taken(out: Path, *, overwrite: bool) -> None:
    """Refuse an output whose name is taken, or which would replace what is not ours.

    What a run wrote beside its output before it was killed is its own, and is replaced when it goes on.

    Raises
    ------
    UnwritableFileError
        If something is there and may not be replaced.
    """
    written = (out, schema_path(out), record_path(out))
    is_placing = clear_placed(out)
    for place in dict.fromkeys((*written, *side_files(out))):
        if not os.path.lexists(place) or (is_placing and not os.path.lexists(out)):
            continue
        if not overwrite:
            raise UnwritableFileError(
                f"{own_name(out)} was not written: {own_name(place)} is there already. Hint: choose another "
                "name, or allow it with overwrite=True."
            )
        if place.is_dir() and not place.is_symlink() and (place != out or not _holds_parts_alone(out)):
            raise UnwritableFileError(
                f"{own_name(out)} was not written: {own_name(place)} is a folder that holds other files than "
                "reports. Hint: choose another name."
            )
    refuse_tables_beside(out)
    if not out.parent.is_dir():
        raise UnwritableFileError(f"{own_name(out)} was not written: its folder is not there.")


def _holds_parts_alone(folder: Path) -> bool:
    names = [path.name for path in folder.iterdir()]
    return all(name.startswith("part-") and name.endswith(".parquet") for name in names)
