"""Whether a released table, or a file of reports, is what was written.

Files, note, plan, schema, signature and ledger entry are compared. What can be checked without trusting
anybody is checked; what cannot is said.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.engine import record as reports
from evenhand.engine.verification.checks import Failed, NoteChecks, Verification, compare_listed, name_few
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.ledger import read_entries
from evenhand.privacy.signing.notes import MOST_BYTES, hash_file, hash_plan, published_entry
from evenhand.release.table import released as tables
from evenhand.schema import Schema
from evenhand.table.side_files import (
    classes_path,
    note_path,
    rates_path,
    record_path,
    schema_path,
    side_files,
    signature_path,
)
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_DRAWN = "That it was drawn as the note says, and so that the guarantee holds: only whoever made it knows."


@dataclass
class ReleaseChecks(NoteChecks):
    """The checks of one table or file of reports.

    Parameters
    ----------
    table : path
    schema : Schema or None
        The schema that the columns should have.
    known : mapping of path to str
        The SHA-256 of files that were looked at already.
    """

    table: Path
    schema: Schema | None = None
    known: Mapping[Path, str] = field(default_factory=dict)
    is_reports: bool = False

    @property
    def note(self) -> Path:
        """Where the note stands."""
        return record_path(self.table) if self.is_reports else note_path(self.table)

    def verification(self) -> Verification:
        """Run all checks."""
        if self.check("note", self._read_note):
            self.check("files", self._compare_files)
            self.check("plan", self._compare_plan)
            self.check("guarantee", self._compare_guarantee)
            self.check("schema", self._compare_schema)
            self.check("signature", self.check_signature)
            self.check("ledger", self._find_entry)
            self.not_checked.append(_DRAWN)
        else:
            self.not_checked.append(
                "Everything else: without a note in order there is nothing to compare with."
            )
        found = tuple(self.checks), tuple(self.not_checked)
        return Verification(own_name(self.table), *found, self.fingerprint)

    # --- the note ----------------------------------------------------------------------------------

    def _read_note(self) -> str:
        there = [is_reports for is_reports in (False, True) if os.path.lexists(self._note_of(is_reports))]
        if len(there) != 1:
            names = f"{own_name(note_path(self.table))} and {own_name(record_path(self.table))}"
            raise Failed(
                f"{names} are both there, and only one can describe the table."
                if there
                else f"There is no note: neither {names.replace(' and ', ' nor ')} is there."
            )
        self.is_reports = there[0]
        kind = reports if self.is_reports else tables
        form: Any = {"format_name": kind.FORMAT_NAME, "newest": kind.FORMAT_NUMBER}
        oldest = reports.SEALED if self.is_reports else None
        return self.read_note(**form, oldest=oldest, most_bytes=MOST_BYTES)

    def _note_of(self, is_reports: bool) -> Path:  # noqa: FBT001 - one of two
        return record_path(self.table) if is_reports else note_path(self.table)

    # --- what it describes -------------------------------------------------------------------------

    def _compare_files(self) -> str:
        files = self.fields["files"]
        names = [place.relative_to(self.table.parent).as_posix() for place in self._described()]
        if self.table.is_dir() and not set(files).isdisjoint(names):
            self.known = compare_listed(self.table.parent, files, names)
        elif sorted(files) != sorted(names):
            raise Failed(f"The note describes {name_few(list(files))}, and not {name_few(names)}.")
        self._refuse_unlisted_files(names)
        for name, digest in files.items():
            place = self.table.parent / name
            if (self.known.get(place) or hash_file(place)) != digest:
                raise Failed(f"{own_name(name)} was changed: its SHA-256 is not the one in the note.")
        return f"{name_few(names)}: as described by the note."

    def _described(self) -> tuple[Path, ...]:
        """Return the files that the note must describe."""
        if self.is_reports:  # of a cluster, a folder of them
            own = sorted(self.table.iterdir()) if self.table.is_dir() else [self.table]
            return *own, schema_path(self.table)
        classes = classes_path(self.table)
        return (self.table, classes) if classes.name in self.fields["files"] else (self.table,)

    def _refuse_unlisted_files(self, names: list[str]) -> None:
        """Refuse files that a reader would take for a part of the release, and its note does not know."""
        ours = {*names, self.note.name, signature_path(self.note).name}
        for place in side_files(self.table):
            if place.name in ours or not os.path.lexists(place):
                continue
            alone = place in (classes_path(self.table), rates_path(self.table))
            if alone and any(map(os.path.lexists, (note_path(place), record_path(place)))):
                self.not_checked.append(
                    f"{own_name(place)}: it has a note of its own and is no part of this release."
                )
                continue
            raise Failed(f"{own_name(place)} stands beside the table, and its note does not know it.")

    def _plan(self) -> str:
        return hash_plan((reports if self.is_reports else tables).plan_of(self.fields))

    def _compare_plan(self) -> str:
        if self._plan() != self.fields["plan_sha256"]:
            raise Failed("The plan in the note was changed: its SHA-256 is another.")
        return "The plan fits its SHA-256: mechanism, parameters, schema, steps after it, unit."

    def _compare_guarantee(self) -> str:
        """Compare the promise with its words; of reports, with what their protocols keep."""
        if self.is_reports:
            made = reports.Record.from_fields(self.fields, own_name(self.note))
            if made.simulated:
                return "The reports are simulated: no guarantee holds for them."
            promise, words = made.guarantee, self.fields["statement"]
        else:
            promise, words = self._promise(), self.fields.get("guarantee_in_words")
            if self.fields["rng"] != "secure":
                raise Failed("The table was not drawn from the secure source, so no guarantee holds for it.")
        if str(promise) != words:
            raise Failed("The guarantee and its statement in words differ.")
        return f"The guarantee and its words agree. {promise}"

    def _promise(self) -> Guarantee:
        return Guarantee.from_dict(self.fields["guarantee"])

    # --- schema, signature, ledger -----------------------------------------------------------------

    def _compare_schema(self) -> str:
        fingerprint = self.fields["schema" if self.is_reports else "schema_sha256"]
        if self.is_reports:
            beside = Schema.load(schema_path(self.table))
            if beside.fingerprint != fingerprint:
                raise Failed(f"{own_name(schema_path(self.table))} is not the schema in the note.")
        if self.schema is None:
            self.not_checked.append("Whether the schema is yours: no schema was named to compare it with.")
            return "The schema beside the reports is that of the note." if self.is_reports else ""
        names = beside.names if self.is_reports else self.fields["columns"]
        roles = vars(beside.roles) if self.is_reports else self.fields["roles"]
        labels = {} if self.is_reports else self.fields.get("value_labels", {})
        same = Schema(self.schema.select(names).with_labels(labels).columns, **roles)
        if same.fingerprint != fingerprint:
            raise Failed("The schema that was named declares these columns otherwise than the note's.")
        return "The schema that was named declares these columns as the note's does."

    def _find_entry(self) -> str:
        reference = self.fields["ledger_entry"]
        if self.ledger is None:
            self.not_checked.append(
                "The budget: the note names no entry of a ledger."
                if reference is None
                else "The ledger: none was named, so nobody looked for the entry that the note names."
            )
            return ""
        if reference is None:
            raise Failed("The note names no entry of a ledger.")
        entries = read_entries(self.ledger)
        name, number = own_name(self.ledger), reference.get("number")
        if reference.get("ledger") != entries[0].terms.get("ledger"):
            raise Failed(f"{name} is another ledger than the one that was charged.")
        if type(number) is not int or not 1 <= number <= len(entries):
            raise Failed(f"{name} has no entry of the number that the note names.")
        entry = entries[number - 1]
        if published_entry(entry) != reference:
            raise Failed(f"Entry {number} of {name} is another than the note names.")
        charged = entry.guarantee
        if charged is None or _amounts(charged) != _amounts(self._promise()):
            raise Failed(f"Entry {number} of {name} was charged with another guarantee than the note's.")
        self.not_checked.append("Whether another release names the same entry of the ledger.")
        return f"Entry {number} of {name} was charged for it: {entry}."


def _amounts(guarantee: Guarantee) -> tuple[Any, ...]:
    """Return what a guarantee costs; what stands in the clear is known only after the draw."""
    return (
        guarantee.epsilon,
        guarantee.delta,
        guarantee.rho,
        guarantee.unit,
        guarantee.trust,
        guarantee.group_size,
    )
