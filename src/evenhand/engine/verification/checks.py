"""What a verification says, and the checks that every note goes through: whole, signed, of a known form."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand._formats import format_number, version_fault
from evenhand.errors import EvenhandError
from evenhand.privacy.signing.keys import PublicKey
from evenhand.privacy.signing.notes import hash_file, is_whole, parse_note, read_small_file
from evenhand.table.side_files import signature_path
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_SIGNATURE_BYTES = 64
_ODD = (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)
"""What a note that was made to harm may cause where it is read."""

_MOST_NAMED = 3
_SHOWN = 80  # letters of a name that a note says
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
        ``"note"``, ``"files"``, ``"plan"``, ``"guarantee"``, ``"schema"``, ``"signature"`` or ``"ledger"``;
        of a folder also ``"parts"``.
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


class Failed(Exception):  # noqa: N818 - nobody sees it
    """A check failed, and says why."""


@dataclass(kw_only=True)
class NoteChecks:
    """The checks of one note, one after the other."""

    key: PublicKey | None
    ledger: Path | None
    checks: list[Check] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    written: bytes = b""

    @property
    def note(self) -> Path:
        """Where the note stands."""
        raise NotImplementedError

    def check(self, name: str, act: Callable[[], str]) -> bool:
        """Run one check; an empty sentence means that there was nothing to check."""
        try:
            text, passed = act(), True
        except (Failed, EvenhandError) as error:
            text, passed = str(error), False
        except _ODD:
            text, passed = f"{own_name(self.note)} has a value that it cannot have.", False
        if text:
            self.checks.append(Check(name, passed, text))
        return passed

    def read_note(self, *, format_name: str, newest: int, most_bytes: int, oldest: int | None = None) -> str:
        """Read the note, or refuse one of another form or that is not byte for byte what was written."""
        name = own_name(self.note)
        self.written = read_small_file(self.note, most_bytes=most_bytes)
        fields = parse_note(self.written, name)
        _refuse_other_version(fields, name, format_name, newest=newest, oldest=oldest)
        if not is_whole(fields, self.written):
            raise Failed(f"{name} was changed: it is not byte for byte what was written.")
        _refuse_odd_fields(fields, name)
        self.fields = fields
        return f"{name} is whole: it fits the SHA-256 over itself."

    def check_signature(self) -> str:
        """Compare the signature with the note and, if one is named, the key."""
        place, signer = signature_path(self.note), self.fields["signed_by"]
        if signer is None:
            if os.path.lexists(place):
                raise Failed(f"There is a signature {own_name(place)}, but the note names no key.")
            if self.key is not None:
                raise Failed("The note is not signed, and a key was named that should have signed it.")
            self.not_checked.append(_UNSIGNED)
            return ""
        named = PublicKey.from_dict(signer)
        if self.key is not None and named != self.key:
            raise Failed(f"The note is signed with another key, of the fingerprint {named.fingerprint}.")
        signature = read_small_file(place, most_bytes=_SIGNATURE_BYTES)
        if not named.fits(self.written, signature):
            raise Failed(f"{own_name(place)} is not a signature of this note by the key that it names.")
        if self.key is not None:
            return f"Signed with the key that was named, of the fingerprint {named.fingerprint}."
        self.not_checked.append(
            "Who signed it: whoever has the key did. Anybody can make a key, so get the public key from its "
            "owner and name it."
        )
        return f"Signed by whoever has the key with the fingerprint {named.fingerprint}."

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the key that the note names."""
        signer = self.fields.get("signed_by")
        return None if signer is None else str(signer["fingerprint"])


def _refuse_other_version(
    fields: Mapping[str, Any], name: str, format_name: str, *, newest: int, oldest: int | None
) -> None:
    number = format_number(fields.get("format"), format_name)
    if number is None:
        raise Failed(f"{name} is not the note of a release or of reports, or is of something else.")
    versions = fields.get("versions")
    older = versions.get("evenhand") if isinstance(versions, dict) else None
    fault = version_fault(number, newest=newest, oldest=oldest, writer=fields.get("evenhand", older))
    if fault:
        raise Failed(f"{name} {fault}")


def _refuse_odd_fields(fields: Mapping[str, Any], name: str) -> None:
    """Refuse a note that was made by hand: its evidence, or what is read from it, has another form."""
    files, signer, entry = (fields[part] for part in ("files", "signed_by", "ledger_entry"))
    hashes = isinstance(files, dict) and all(isinstance(value, str) for value in files.values())
    if signer is not None:
        PublicKey.from_dict(signer)
    if not hashes or not (entry is None or isinstance(entry, dict)):
        raise Failed(f"{name} has a value that it cannot have.")


def name_few(names: Sequence[str]) -> str:
    """Return the first names of files, and how many more there are."""
    shown = [own_name(name[:_SHOWN]) for name in names[:_MOST_NAMED]]
    more = [f"{len(names) - _MOST_NAMED:,} more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*shown, *more]) or "no file"


def compare_listed(
    root: Path, listed: Mapping[str, str], there: Sequence[str], *, sizes: Mapping[str, int] | None = None
) -> dict[Path, str]:
    """Return the SHA-256 of each file in a folder, or say which are not as the note lists them.

    Parameters
    ----------
    root : path
        Where the names are of.
    listed : mapping of str to str
        The SHA-256 of each file by its name, as the note says.
    there : sequence of str
        The files that are there. No other is opened, whatever the note says.
    sizes : mapping of str to int, optional
        How many bytes each had.

    Raises
    ------
    Failed
        If a file is missing, renamed, swapped, cut short or changed, or there is one more.
    """
    is_plain = [name for name in there if name in listed or stat.S_ISREG((root / name).lstat().st_mode)]
    found = {name: hash_file(root / name) for name in is_plain}
    extra = {digest: name for name, digest in found.items() if name not in listed}
    renamed = {name: extra[listed[name]] for name in listed if name not in there and listed[name] in extra}
    faults = [f"{own_name(name)} was renamed: it is there as {own_name(renamed[name])}." for name in renamed]
    missing = sorted(set(listed) - set(there) - set(renamed))
    faults += [f"{own_name(name[:_SHOWN])} is missing." for name in missing]
    unknown = sorted(set(there) - set(listed) - set(renamed.values()))
    faults += [f"{own_name(name)} is there, and the note does not list it." for name in unknown]
    names = {digest: name for name, digest in listed.items()}
    for name in sorted(set(listed) & set(there)):
        if found[name] == listed[name]:
            continue
        if found[name] in names:
            faults.append(f"{own_name(name)} has the content of {own_name(names[found[name]])}.")
            continue
        is_cut = sizes is not None and (root / name).stat().st_size < sizes[name]
        how = "was cut short" if is_cut else "was changed"
        faults.append(f"{own_name(name)} {how}: its SHA-256 is not the one in the note.")
    if faults:
        more = [f"There are {len(faults) - _MOST_NAMED:,} more such files."] if faults[_MOST_NAMED:] else []
        raise Failed(" ".join([*faults[:_MOST_NAMED], *more]))
    return {root / name: digest for name, digest in found.items()}
