"""Notes that stand beside what is published: the hashes in them, their one text, and their signature.

A note is JSON in one fixed layout. It holds the SHA-256 of every file that belongs to it, of the plan, and of
itself without that last line. A signature is over the bytes of the file, so that nothing has to be parsed
before it is believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any

from evenhand._formats import canonical_json, parse_json
from evenhand.table.source import own_name, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evenhand.privacy.ledger import Entry
    from evenhand.privacy.signing.keys import SigningKey

EVIDENCE = ("files", "plan_sha256", "ledger_entry", "signed_by", "note_sha256")
"""The fields by which changes are found; the others say what was published."""

MOST_BYTES = 4_000_000
"""How long a note may be."""


def seal_note(
    fields: Mapping[str, Any],
    *,
    files: Mapping[str, str],
    plan: Mapping[str, Any],
    charge: Entry | None = None,
    key: SigningKey | None = None,
) -> bytes:
    """Return the bytes of a note with its evidence.

    Parameters
    ----------
    fields : mapping
        What was published, in plain values.
    files : mapping of str to str
        The SHA-256 of each file that belongs to it, by its name; the table comes first.
    plan : mapping
        What was planned, which :func:`hash_plan` takes.
    charge : Entry, optional
        The entry of the ledger that was charged.
    key : SigningKey, optional
        Who will sign it.
    """
    note = {
        **fields,
        "files": dict(files),
        "plan_sha256": hash_plan(plan),
        "ledger_entry": None if charge is None else published_entry(charge),
        "signed_by": None if key is None else key.public.to_dict(),
    }
    return render_note({**note, "note_sha256": hashlib.sha256(render_note(note)).hexdigest()})


def published_entry(charge: Entry) -> dict[str, Any]:
    """Return what a note says of an entry: not its purpose, which was written for the ledger alone."""
    return {name: value for name, value in charge.reference().items() if name != "purpose"}


def hash_plan(plan: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a plan in its canonical form.

    >>> hash_plan({"a": 1, "b": 2}) == hash_plan({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical_json(plan)).hexdigest()


def hash_terms(fields: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a note without its evidence, which a file that the note describes can hold."""
    terms = {name: value for name, value in fields.items() if name not in EVIDENCE}
    return hashlib.sha256(canonical_json(terms)).hexdigest()


def hash_open_file(file: Any) -> str:
    """Return the SHA-256 of a file that was just written and is still open."""
    file.flush()
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def render_note(fields: Mapping[str, Any]) -> bytes:
    """Return the one text of a note; a name that is no Unicode is written by its escapes."""
    try:
        return f"{json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(fields, indent=2, allow_nan=False)}\n".encode("ascii")


def is_whole(fields: Mapping[str, Any], written: bytes) -> bool:
    """Whether the bytes of a note are those that were written: its layout, and its hash over all the rest."""
    rest = {name: value for name, value in fields.items() if name != "note_sha256"}
    return (
        hashlib.sha256(render_note(rest)).hexdigest() == fields.get("note_sha256")
        and render_note(fields) == written
    )


def parse_note(written: bytes, name: str) -> dict[str, Any]:
    """Return the fields of a note, or refuse what is none.

    Raises
    ------
    UnreadableFileError
        If it is no JSON object, or says something twice.
    """
    try:
        fields = parse_json(written.decode("utf-8"))
    except ValueError:
        refuse(name, "it is not JSON, or says something twice.")
    if not isinstance(fields, dict):
        refuse(name, "it is not a JSON object.")
    return fields


def read_small_file(path: Path, *, most_bytes: int) -> bytes:
    """Return the bytes of a plain file, or refuse a link, a folder, a device, and what is too long."""
    name = own_name(path)
    refuse_odd_file(path)
    try:
        with path.open("rb") as file:
            written = file.read(most_bytes + 1)
    except OSError:
        refuse(name, "you may not read it.")
    if len(written) > most_bytes:
        refuse(name, f"it is longer than {most_bytes:,} bytes.")
    return written


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a plain file of any length."""
    refuse_odd_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        refuse(own_name(path), "you may not read it.")


def refuse_odd_file(path: Path) -> None:
    """Refuse what is no plain file of its own: what a link leads to can change without it."""
    name = own_name(path)
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        refuse(name, "there is no such file.")
    except (OSError, ValueError):
        refuse(name, "the system does not accept its path.")
    if stat.S_ISLNK(mode):
        refuse(name, "it is a symbolic link. Hint: name the file itself.")
    if stat.S_ISDIR(mode):
        refuse(name, "it is a folder.")
    if not stat.S_ISREG(mode):
        refuse(name, "it is not a regular file.")
