"""The folder of all studies of one person, and what is kept of each.

Of a study there are ``study.json`` (the record), ``data/`` (an upload), ``schema.toml`` and ``plan.toml``,
``study/`` (what a run writes, the same as on the command line), ``progress.json`` and ``applied/``.
Nobody else can open the folder.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from platformdirs import user_data_path

from evenhand._locks import Lock
from evenhand.app.state.files import make_private_folder, write_private
from evenhand.app.state.record import StudyRecord, check_id, tidy_name
from evenhand.errors import EvenhandError, UnknownNameError, UnreadableFileError, WorkbenchError
from evenhand.privacy.randomness import secret_text

if TYPE_CHECKING:
    from pathlib import Path

RECORD, PROGRESS, RUN_LOCK = "study.json", "progress.json", "run.lock"
"""Names in the folder of a study: its record, how its run goes, and what a run holds while it lives."""

DATA, OUTPUT, APPLIED = "data", "study", "applied"
"""Folders in the folder of a study: its upload, what its run wrote, and what was done for real."""

_LOCK, _SECRET, _TRASH = "workbench.lock", "secret", ".deleted-"
_LARGEST_RECORD = 20_000_000
_SECRET_BYTES = 32


class Workspace:
    """The folder of all studies.

    One process at a time has it: a second one is refused, for two queues would run studies over each other.

    Parameters
    ----------
    folder : path, optional
        By default that of the person's data; made if it is not there.

    Raises
    ------
    WorkbenchError
        If another process has it, or if it cannot be made.

    Attributes
    ----------
    damaged : dict of str to str
        After :meth:`studies`: of each study that could not be read its id and the reason.
    in_use : set of str
        Studies that wait or run, which are not deleted.
    """

    def __init__(self, folder: Path | None = None) -> None:
        path = folder or user_data_path("evenhand", appauthor=False) / "workbench"
        try:
            self.path = make_private_folder(path).resolve()
            (self.path / _LOCK).touch(mode=0o600)
            self._lock = Lock(self.path / _LOCK)
            is_ours = self._lock.take()
        except (OSError, sqlite3.Error):
            raise WorkbenchError(
                "The folder for studies cannot be made or written. Hint: name another one with --folder."
            ) from None
        if not is_ours:
            raise WorkbenchError(
                "Another workbench has this folder of studies open. Hint: use that one, end it, or name "
                "another folder with --folder."
            )
        self.damaged: dict[str, str] = {}
        self.in_use: set[str] = set()

    def close(self) -> None:
        """Give the folder back, so that another process can have it."""
        self._lock.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- studies ----------------------------------------------------------------------------------

    def studies(self) -> list[StudyRecord]:
        """Return all studies, the newest first; those that cannot be read are in :attr:`damaged`."""
        records, damaged = [], {}
        for study in self._ids():
            try:
                records.append(self.load(study))
            except UnknownNameError:
                continue  # it was deleted meanwhile
            except EvenhandError as error:
                damaged[study] = str(error)
        self.damaged = damaged
        return sorted(records, key=lambda record: (-record.created, record.id))

    def create(self, name: str = "", **fields: object) -> StudyRecord:
        """Make a study, and return its record.

        Parameters
        ----------
        name : str
            By default one that no study has, such as "Study 3".
        **fields
            Of the record, such as ``tutorial``.
        """
        study = secret_text(8)
        make_private_folder(self.path / study / DATA)
        (self.path / study).chmod(0o700)
        title = tidy_name(name) or self._free_name()
        record = StudyRecord(id=study, name=title, created=time.time()).with_(**fields)
        self.save(record)
        return record

    def load(self, study: str) -> StudyRecord:
        """Return the record of a study.

        Raises
        ------
        UnknownNameError
            If there is no such study.
        UnreadableFileError
            If its record is damaged.
        """
        file = self.folder(study) / RECORD
        try:
            with file.open("rb") as opened:
                text = opened.read(_LARGEST_RECORD + 1)
        except OSError:
            raise UnreadableFileError(
                "The record of the study cannot be read. Hint: delete the study, or put a copy of its file "
                f"'{RECORD}' back."
            ) from None
        if len(text) > _LARGEST_RECORD:
            raise UnreadableFileError("The record of the study is too large. Hint: delete the study.")
        record = StudyRecord.from_json(text)
        if record.id != study:
            raise UnreadableFileError("The record is that of another study. Hint: delete one of the two.")
        return record

    def save(self, record: StudyRecord) -> None:
        """Write the record of a study; the old one stays whole until the new one is."""
        write_private(self.folder(record.id) / RECORD, record.to_json())

    def rename(self, study: str, name: str) -> StudyRecord:
        """Give a study another name, and return its record; an empty name changes nothing."""
        record = self.load(study)
        changed = record.with_(name=tidy_name(name) or record.name)
        self.save(changed)
        return changed

    def folder(self, study: str) -> Path:
        """Return the folder of a study.

        Raises
        ------
        UnknownNameError
            If there is no such study. The id is checked, so that no name leads out of the workspace.
        """
        folder = self.path / check_id(study)
        if not folder.is_dir() or folder.is_symlink():
            raise UnknownNameError("Study", study, (), place="in this workspace")
        return folder

    def last_change(self, study: str) -> float:
        """Return when the folder of a study was last changed, in seconds since 1970."""
        return self.folder(study).stat().st_mtime

    # --- deleting ---------------------------------------------------------------------------------

    def deletion(self, study: str) -> list[str]:
        """Return what deleting a study deletes, in sentences."""
        folder = self.folder(study)
        sentences = ["The description of the study: its data, its columns and its question."]
        if _holds(folder / DATA):
            sentences.append("The copy of the file that was uploaded. The original file is not touched.")
        if _holds(folder / OUTPUT):
            sentences.append("The results: every finished run, the report, the tables and the scripts.")
        if _holds(folder / APPLIED):
            sentences.append(
                "The files that were made on the last page. What was charged to a ledger stays charged."
            )
        return sentences

    def delete(self, study: str) -> None:
        """Delete a study and everything in its folder.

        Raises
        ------
        WorkbenchError
            If it waits or runs, or if a file of it cannot be removed.
        """
        folder = self.folder(study)
        if study in self.in_use or not self._is_idle(folder):
            raise WorkbenchError("This study is running or waiting to run. Hint: stop it first.")
        trash = self.path / f"{_TRASH}{study}"
        try:
            folder.rename(trash)  # from here on the study is gone, whatever happens
        except OSError:
            raise WorkbenchError(
                "The study cannot be deleted, one of its files is in use. Hint: close what has it open."
            ) from None
        _remove_tree(trash)

    def _is_idle(self, folder: Path) -> bool:
        """Whether no process runs the study, be it one that another workbench started."""
        file = folder / RUN_LOCK
        if not file.exists():
            return True
        lock = Lock(file)
        with suppress(sqlite3.Error):
            if not lock.take():
                return False
            lock.free()
        return True

    def remove_strays(self) -> None:
        """Remove what belongs to no study: uploads of a session that crashed, and half-deleted folders.

        Called once, before anybody can upload.
        """
        for name in os.listdir(self.path):  # noqa: PTH208 - names alone
            if name.startswith(_TRASH):
                _remove_tree(self.path / name)
        for study in self._ids():
            folder = self.path / study
            for part in folder.glob(".*.part"):
                part.unlink(missing_ok=True)
            if not (folder / RECORD).exists():
                if self._is_idle(folder):
                    _remove_tree(folder)  # it was killed while the study was made
                continue
            with suppress(EvenhandError):  # of a damaged record it is not known what belongs to it
                record = self.load(study)
                kept = record.data.file if record.data is not None else ""
                for file in _entries(folder / DATA):
                    if file.name != kept:
                        _remove_tree(file)

    # --- the rest ---------------------------------------------------------------------------------

    def secret(self) -> str:
        """Return a secret that stays the same after a restart, made at the first call."""
        file = self.path / _SECRET
        with suppress(OSError, UnicodeDecodeError):
            text = file.read_text("ascii")
            is_private = os.name != "posix" or not stat.S_IMODE(file.stat().st_mode) & 0o077
            if is_private and len(text) == 2 * _SECRET_BYTES:
                return text
        text = secret_text(_SECRET_BYTES)
        write_private(file, text)
        return text

    def _ids(self) -> list[str]:
        """Return the ids of the folders that are there."""
        ids = []
        for name in os.listdir(self.path):  # noqa: PTH208 - names alone
            with suppress(UnknownNameError):
                self.folder(name)
                ids.append(name)
        return sorted(ids)

    def _free_name(self) -> str:
        """Return the first of "Study 1", "Study 2", ... that no study has."""
        names = {record.name for record in self.studies()}
        number = 1
        while f"Study {number}" in names:
            number += 1
        return f"Study {number}"


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _holds(folder: Path) -> bool:
    """Whether there is anything in a folder."""
    return bool(_entries(folder))


def _remove_tree(path: Path) -> None:
    """Remove a file, or a folder with all that is in it; a link is removed, not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
