"""Whether what was published is what was written: a table, a file of reports, or a folder of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._validate import kind_of, refuse
from evenhand.engine.verification.folder import FolderChecks
from evenhand.engine.verification.release import ReleaseChecks
from evenhand.privacy.signing.keys import PublicKey
from evenhand.schema import Schema
from evenhand.table.side_files import folder_note_path, note_path, record_path

if TYPE_CHECKING:
    from evenhand.engine.verification.checks import Verification

_OWNER = "verify"
_NOTE_ENDINGS = (".guarantee.json", ".json")


def verify(
    path: str | os.PathLike[str],
    *,
    key: PublicKey | str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    schema: Schema | str | os.PathLike[str] | None = None,
) -> Verification:
    r"""Check that a release, or a file or folder of reports, is what was written.

    Parameters
    ----------
    path : str or path
        The table, or the note beside it; or a folder of reports, or the note in it. Of a folder every file
        must be there under its name, and no other.
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
    table = _table_of(_place("path", path))
    if table.is_dir() and not any(map(os.path.lexists, (note_path(table), record_path(table)))):
        return FolderChecks(table, declared, key=public, ledger=place).verification()
    return ReleaseChecks(table, declared, key=public, ledger=place).verification()


def _place(name: str, given: object) -> Path:
    if not isinstance(given, str | os.PathLike) or "\0" in os.fsdecode(given):
        refuse(name, _OWNER, "the path of a file", kind_of(given))
    return Path(os.fsdecode(given))


def _table_of(path: Path) -> Path:
    """Return the table or folder that a note belongs to; the table itself may be named too."""
    if path.name == folder_note_path("").name:
        return path.absolute().parent
    for ending in _NOTE_ENDINGS:
        bare = path.name.removesuffix(ending)
        if bare != path.name and Path(bare).suffix:  # a table's name has an ending of its own
            return path.with_name(bare)
    return path
