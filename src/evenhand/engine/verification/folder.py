"""Whether a folder of reports is what was written: every file is there, under its name, and no other is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.engine.places import FOLDER_FORMAT_NAME, FOLDER_FORMAT_NUMBER, MOST_FOLDER_BYTES
from evenhand.engine.verification.checks import Failed, NoteChecks, Verification, compare_listed, name_few
from evenhand.engine.verification.release import ReleaseChecks
from evenhand.table.side_files import folder_note_path, record_path, signature_path
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.schema import Schema

_SAME = ("plan_sha256", "ledger_entry", "signed_by")
"""What the notes of all files must have in common with that of the folder."""


@dataclass
class FolderChecks(NoteChecks):
    """The checks of a folder that ``privatize`` wrote.

    Parameters
    ----------
    folder : path
    schema : Schema or None
        The schema that the columns should have.
    """

    folder: Path
    schema: Schema | None = None
    digests: dict[Path, str] = field(default_factory=dict)

    @property
    def note(self) -> Path:
        """Where the note stands."""
        return folder_note_path(self.folder)

    def verification(self) -> Verification:
        """Run all checks: those of the folder, and those of each file of reports in it."""
        if self.check("note", self._read_note):
            if self.check("files", self._compare_files):
                self.check("parts", self._verify_parts)
            self.check("signature", self.check_signature)
        else:
            self.not_checked.append(
                "Everything else: without a note of the folder nobody can say what is missing."
            )
        unknown = tuple(dict.fromkeys(self.not_checked))
        return Verification(own_name(self.folder), tuple(self.checks), unknown, self.fingerprint)

    def _read_note(self) -> str:
        if not self.note.exists():
            raise Failed(
                f"There is no note: {own_name(self.note)} is not there, which lists the files of the folder. "
                "Hint: without it each file can be verified by itself, and a missing one is not noticed."
            )
        form: Any = {"format_name": FOLDER_FORMAT_NAME, "newest": FOLDER_FORMAT_NUMBER}
        return self.read_note(**form, most_bytes=MOST_FOLDER_BYTES)

    def _compare_files(self) -> str:
        listed, sizes = self.fields["files"], self.fields["sizes"]
        own = {self.note.name, signature_path(self.note).name}
        there = [place.name for place in self.folder.iterdir() if place.name not in own]
        self.digests = compare_listed(self.folder, listed, there, sizes=sizes)
        return f"{name_few(sorted(listed))}: all are there, as listed by the note, and no others."

    def _verify_parts(self) -> str:
        """Check each file of reports by its own note, which must be of the same run."""
        tables = [
            self.folder / name
            for name in self.fields["files"]
            if record_path(name).name in self.fields["files"]
        ]
        if len(tables) != self.fields["parts"]:
            raise Failed(f"{own_name(self.note)} has a value that it cannot have.")
        said: dict[str, str] = {}
        for table in tables:
            part = ReleaseChecks(table, self.schema, self.digests, key=self.key, ledger=self.ledger)
            result = part.verification()
            self.not_checked += result.not_checked
            said |= {check.name: check.text for check in result.checks}
            failed = [check.text for check in result.checks if not check.passed]
            if failed:
                raise Failed(f"{own_name(table)} does not pass by itself: {failed[0]}")
            if any(part.fields[name] != self.fields[name] for name in _SAME):
                raise Failed(
                    f"{own_name(table)} is of another run than the folder: its plan, entry or key differs."
                )
        return f"{len(tables):,} files of reports pass by their own notes. {said['guarantee']}"
