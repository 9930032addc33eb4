"""Whether what was published is what was written: files, note, plan, schema, signature and ledger entry.

It works on tables of ``evenhand release`` and on reports of ``evenhand privatize``. What can be checked
without trusting anybody is checked; what cannot is said.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._formats import format_number, version_fault
from evenhand._validate import kind_of, refuse
from evenhand.engine import record as reports
from evenhand.errors import EvenhandError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.ledger import read_entries
from evenhand.privacy.signing.keys import PublicKey
from evenhand.privacy.signing.notes import (
    MOST_BYTES,
    hash_file,
    hash_plan,
    is_whole,
    parse_note,
    published_entry,
    read_small_file,
)
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
    from collections.abc import Callable, Mapping, Sequence

_OWNER = "verify"
_NOTE_ENDINGS = (".guarantee.json", ".json")
_SIGNATURE_BYTES = 64
_ODD = (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)
"""What a note that was made to harm may cause where it is read."""

_MOST_NAMED = 3
_SHOWN = 80  # letters of a name that a note says
_DRAWN = "That it was drawn as the note says, and so that the guarantee holds: only whoever made it knows."
_UNSIGNED = (
    "The note is not signed. Its hashes find damage, but whoever changes the table on purpose can write "
    "another note."
)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        ``"note"``, ``"files"``, ``"plan"``, ``"guarantee"``, ``"schema"``, ``"signature"`` or ``"ledger"``.
    passed : bool
    text : str
        What was found, as a sentence.
    """

    name: str
    passed: bool
    text: str


@dataclass(frozen=True)
class Verification:
    """What came of :func:`verify`.

    Attributes
    ----------
    release : str
        The name of the table or of the reports.
    checks : tuple of Check
        What was checked.
    not_checked : tuple of str
        What was not, as sentences.
    fingerprint : str or None
        Of the key that the note says signed it.
    """

    release: str
    checks: tuple[Check, ...]
    not_checked: tuple[str, ...]
    fingerprint: str | None = None

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def summary(self) -> str:
        """The answer in a sentence."""
        if self.passed:
            return f"{self.release} is what was written, as far as it was checked."
        failed = sum(not check.passed for check in self.checks)
        return f"Do not trust {self.release}: {failed} of {len(self.checks)} checks failed."

    def __str__(self) -> str:
        marks = {True: "passed", False: "FAILED"}
        lines = [f"{check.name}: {marks[check.passed]}. {check.text}" for check in self.checks]
        return "\n".join([self.summary, *lines, *(f"not checked: {text}" for text in self.not_checked)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file."""
        checks = [{"name": check.name, "passed": check.passed, "text": check.text} for check in self.checks]
        return {
            "release": self.release,
            "passed": self.passed,
            "summary": self.summary,
            "checks": checks,
            "not_checked": list(self.not_checked),
            "fingerprint": self.fingerprint,
        }


def verify(
    path: str | os.PathLike[str],
    *,
    key: PublicKey | str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    schema: Schema | str | os.PathLike[str] | None = None,
) -> Verification:
    r"""Check that a release, or a file of reports, is what was written.

    Parameters
    ----------
    path : str or path
        The table, or the note beside it.
    key : PublicKey, str or path, optional
        The public key of whoever should have signed it, or its file. A release that this key did not sign
        does not pass. Without it a signature shows only that whoever has the key that the note names signed.
    ledger : str or path, optional
        The ledger, or an export of it. The entry that the note names must stand in it.
    schema : Schema, str or path, optional
        A schema, or its file. It must declare the columns as they were when the release was made.

    Returns
    -------
    Verification
        ``passed`` is true only if every check passed.

    Raises
    ------
    UnreadableFileError, SchemaError
        If the key or the schema cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from evenhand.release import Histogram, Laplace
    >>> from evenhand.schema import Column, Domain
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> counted = Histogram.of([3, 4], Schema([Column("sex", Domain.categorical(["f", "m"]))]))
    >>> Laplace(epsilon=1, unit="replace one").release(counted).write(folder / "table.csv")
    >>> verify(folder / "table.csv").passed
    True
    >>> _ = (folder / "table.csv").write_text("sex,count\nf,7\nm,0\n")
    >>> print(verify(folder / "table.csv").checks[1].text)
    table.csv was changed: its SHA-256 is not the one in the note.
    """
    public = key if key is None or isinstance(key, PublicKey) else PublicKey.load(_place("key", key))
    given: object = schema
    declared = given if given is None or isinstance(given, Schema) else Schema.load(_place("schema", given))
    place = None if ledger is None else _place("ledger", ledger)
    return _Run(_table_of(_place("path", path)), public, place, declared).verification()


def _place(name: str, given: object) -> Path:
    if not isinstance(given, str | os.PathLike) or "\0" in os.fsdecode(given):
        refuse(name, _OWNER, "the path of a file", kind_of(given))
    return Path(os.fsdecode(given))


def _table_of(path: Path) -> Path:
    """Return the table that a note belongs to; the table itself may be named too."""
    for ending in _NOTE_ENDINGS:
        bare = path.name.removesuffix(ending)
        if bare != path.name and Path(bare).suffix:  # a table's name has an ending of its own
            return path.with_name(bare)
    return path


class _Failed(Exception):  # noqa: N818 - nobody sees it
    """A check failed, and says why."""


@dataclass
class _Run:
    """The checks of one release, one after the other."""

    table: Path
    key: PublicKey | None
    ledger: Path | None
    schema: Schema | None
    checks: list[Check] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    written: bytes = b""
    is_reports: bool = False

    @property
    def note(self) -> Path:
        return record_path(self.table) if self.is_reports else note_path(self.table)

    def verification(self) -> Verification:
        signer = None
        if self._check("note", self._read_note):
            self._check("files", self._compare_files)
            self._check("plan", self._compare_plan)
            self._check("guarantee", self._compare_guarantee)
            self._check("schema", self._compare_schema)
            self._check("signature", self._check_signature)
            self._check("ledger", self._find_entry)
            signer = self.fields["signed_by"]
            self.not_checked.append(_DRAWN)
        else:
            self.not_checked.append(
                "Everything else: without a note in order there is nothing to compare with."
            )
        fingerprint = None if signer is None else str(signer["fingerprint"])
        return Verification(own_name(self.table), tuple(self.checks), tuple(self.not_checked), fingerprint)

    def _check(self, name: str, act: Callable[[], str]) -> bool:
        """Run one check; an empty sentence means that there was nothing to check."""
        try:
            text, passed = act(), True
        except (_Failed, EvenhandError) as error:
            text, passed = str(error), False
        except _ODD:
            text, passed = f"{own_name(self.note)} has a value that it cannot have.", False
        if text:
            self.checks.append(Check(name, passed, text))
        return passed

    # --- the note ----------------------------------------------------------------------------------

    def _read_note(self) -> str:
        there = [is_reports for is_reports in (False, True) if os.path.lexists(self._note_of(is_reports))]
        if len(there) != 1:
            names = f"{own_name(note_path(self.table))} and {own_name(record_path(self.table))}"
            raise _Failed(
                f"{names} are both there, and only one can describe the table."
                if there
                else f"There is no note: neither {names.replace(' and ', ' nor ')} is there."
            )
        self.is_reports = there[0]
        name = own_name(self.note)
        self.written = read_small_file(self.note, most_bytes=MOST_BYTES)
        fields = parse_note(self.written, name)
        self._refuse_other_version(fields, name)
        if not is_whole(fields, self.written):
            raise _Failed(f"{name} was changed: it is not byte for byte what was written.")
        self.fields = fields
        self._refuse_odd_fields(name)
        return f"{name} is whole: it fits the SHA-256 over itself."

    def _note_of(self, is_reports: bool) -> Path:  # noqa: FBT001 - one of two
        return record_path(self.table) if is_reports else note_path(self.table)

    def _refuse_other_version(self, fields: Mapping[str, Any], name: str) -> None:
        kind = reports if self.is_reports else tables
        number = format_number(fields.get("format"), kind.FORMAT_NAME)
        if number is None:
            raise _Failed(f"{name} is not the note of a release or of reports, or is of something else.")
        versions = fields.get("versions")
        older = versions.get("evenhand") if isinstance(versions, dict) else None
        oldest = reports.SEALED if self.is_reports else None
        writer = fields.get("evenhand", older)
        fault = version_fault(number, newest=kind.FORMAT_NUMBER, oldest=oldest, writer=writer)
        if fault:
            raise _Failed(f"{name} {fault}")

    def _refuse_odd_fields(self, name: str) -> None:
        """Refuse a note that was made by hand: its evidence, or what is read from it, has another form."""
        files, signer, entry = (self.fields[part] for part in ("files", "signed_by", "ledger_entry"))
        hashes = isinstance(files, dict) and all(isinstance(value, str) for value in files.values())
        if signer is not None:
            PublicKey.from_dict(signer)
        if not hashes or not (entry is None or isinstance(entry, dict)):
            raise _Failed(f"{name} has a value that it cannot have.")

    # --- what it describes -------------------------------------------------------------------------

    def _compare_files(self) -> str:
        files = self.fields["files"]
        names = [place.relative_to(self.table.parent).as_posix() for place in self._described()]
        if sorted(files) != sorted(names):
            raise _Failed(f"The note describes {_few_names(list(files))}, and not {_few_names(names)}.")
        self._refuse_unlisted_files(names)
        for name, digest in files.items():
            if hash_file(self.table.parent / name) != digest:
                raise _Failed(f"{own_name(name)} was changed: its SHA-256 is not the one in the note.")
        return f"{_few_names(names)}: as described by the note."

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
            raise _Failed(f"{own_name(place)} stands beside the table, and its note does not know it.")

    def _plan(self) -> str:
        return hash_plan((reports if self.is_reports else tables).plan_of(self.fields))

    def _compare_plan(self) -> str:
        if self._plan() != self.fields["plan_sha256"]:
            raise _Failed("The plan in the note was changed: its SHA-256 is another.")
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
                raise _Failed("The table was not drawn from the secure source, so no guarantee holds for it.")
        if str(promise) != words:
            raise _Failed("The guarantee and its statement in words differ.")
        return f"The guarantee and its words agree. {promise}"

    def _promise(self) -> Guarantee:
        return Guarantee.from_dict(self.fields["guarantee"])

    # --- schema, signature, ledger -----------------------------------------------------------------

    def _compare_schema(self) -> str:
        fingerprint = self.fields["schema" if self.is_reports else "schema_sha256"]
        if self.is_reports:
            beside = Schema.load(schema_path(self.table))
            if beside.fingerprint != fingerprint:
                raise _Failed(f"{own_name(schema_path(self.table))} is not the schema in the note.")
        if self.schema is None:
            self.not_checked.append("Whether the schema is yours: no schema was named to compare it with.")
            return "The schema beside the reports is that of the note." if self.is_reports else ""
        names = beside.names if self.is_reports else self.fields["columns"]
        roles = vars(beside.roles) if self.is_reports else self.fields["roles"]
        labels = {} if self.is_reports else self.fields.get("value_labels", {})
        same = Schema(self.schema.select(names).with_labels(labels).columns, **roles)
        if same.fingerprint != fingerprint:
            raise _Failed("The schema that was named declares these columns otherwise than the note's.")
        return "The schema that was named declares these columns as the note's does."

    def _check_signature(self) -> str:
        place, signer = signature_path(self.note), self.fields["signed_by"]
        if signer is None:
            if os.path.lexists(place):
                raise _Failed(f"There is a signature {own_name(place)}, but the note names no key.")
            if self.key is not None:
                raise _Failed("The note is not signed, and a key was named that should have signed it.")
            self.not_checked.append(_UNSIGNED)
            return ""
        named = PublicKey.from_dict(signer)
        if self.key is not None and named != self.key:
            raise _Failed(f"The note is signed with another key, of the fingerprint {named.fingerprint}.")
        signature = read_small_file(place, most_bytes=_SIGNATURE_BYTES)
        if not named.fits(self.written, signature):
            raise _Failed(f"{own_name(place)} is not a signature of this note by the key that it names.")
        if self.key is not None:
            return f"Signed with the key that was named, of the fingerprint {named.fingerprint}."
        self.not_checked.append(
            "Who signed it: whoever has the key did. Anybody can make a key, so get the public key from its "
            "owner and name it."
        )
        return f"Signed by whoever has the key with the fingerprint {named.fingerprint}."

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
            raise _Failed("The note names no entry of a ledger.")
        entries = read_entries(self.ledger)
        name, number = own_name(self.ledger), reference.get("number")
        if reference.get("ledger") != entries[0].terms.get("ledger"):
            raise _Failed(f"{name} is another ledger than the one that was charged.")
        if type(number) is not int or not 1 <= number <= len(entries):
            raise _Failed(f"{name} has no entry of the number that the note names.")
        entry = entries[number - 1]
        if published_entry(entry) != reference:
            raise _Failed(f"Entry {number} of {name} is another than the note names.")
        charged = entry.guarantee
        if charged is None or _amounts(charged) != _amounts(self._promise()):
            raise _Failed(f"Entry {number} of {name} was charged with another guarantee than the note's.")
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


def _few_names(names: Sequence[str]) -> str:
    """Return the first names of files, and how many more there are."""
    shown = [own_name(name[:_SHOWN]) for name in names[:_MOST_NAMED]]
    more = [f"{len(names) - _MOST_NAMED:,} more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*shown, *more]) or "no file"
