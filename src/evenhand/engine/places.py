"""Where the file of reports, its schema and its guarantee go, and what they must not replace."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._part_files import resolve_folder
from evenhand.engine.record import plan_of
from evenhand.errors import InvalidParameterError, UnwritableFileError
from evenhand.privacy.signing.notes import hash_file, seal_note
from evenhand.table.read import ENDINGS, WRITTEN_ENDINGS
from evenhand.table.side_files import (
    folder_note_path,
    record_path,
    refuse_tables_beside,
    schema_path,
    side_files,
    signature_path,
)
from evenhand.table.source import own_name
from evenhand.table.write import replacing_together

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from evenhand.engine.record import Record
    from evenhand.privacy.ledger import Entry
    from evenhand.privacy.signing.keys import SigningKey
    from evenhand.table.parts import Parts

FOLDER_FORMAT_NAME, FOLDER_FORMAT_NUMBER = "evenhand folder", 1
"""The form of the note of a folder; another number means another form."""

MOST_FOLDER_BYTES = 128_000_000
"""How long such a note may be: as many files as a folder may have, with names of a hundred letters."""

_OWNER = "privatize_file"


@dataclass(frozen=True)
class Places:
    """The file of reports, its schema and its guarantee."""

    out: Path
    schema: Path
    record: Path

    @classmethod
    def named(cls, out: str | os.PathLike[str]) -> Places:
        """Return the three files by the name of the first, whatever is there."""
        return cls(Path(out), schema_path(out), record_path(out))

    @classmethod
    def of(cls, out: str | os.PathLike[str], *, taken_by: Any, overwrite: bool) -> Places:
        """Return where the files go, or refuse to write over the input or, unless told, over anything.

        What another writer of ours left beside the output counts like a file that is written: it is replaced
        or removed.

        Raises
        ------
        InvalidParameterError
            If one of the files is the input.
        UnwritableFileError
            If one is there already, or its folder is not.
        """
        places = cls.named(out)
        written = (places.out, places.schema, places.record)
        read = taken_by if isinstance(taken_by, tuple) else (taken_by,)
        for place in dict.fromkeys((*written, *side_files(out))):
            if any(_is_one_file(place, file) for file in read):
                must_be, got = "another file than the input", own_name(place)
                raise InvalidParameterError("out", owner=_OWNER, must_be=must_be, got=got)
            if place.is_dir():
                raise UnwritableFileError(f"{own_name(place)} was not written: it is a folder.")
            if not overwrite and os.path.lexists(place):  # a link that leads nowhere too
                why = "there is a file of that name"
                if place not in written:
                    why = f"{own_name(place)} is there and belongs to another table"
                raise UnwritableFileError(
                    f"{own_name(place if place in written else out)} was not written: {why}. "
                    "Hint: choose another name, or allow it with overwrite=True (--overwrite)."
                )
        refuse_tables_beside(out)
        if not places.out.parent.is_dir():
            raise UnwritableFileError(f"{own_name(out)} was not written: its folder is not there.")
        return places

    @property
    def packed(self) -> bool:
        """Whether the file of reports is to be gzipped."""
        return self.out.name.lower().endswith(".gz")

    @property
    def table_names(self) -> tuple[str, str]:
        """The names of the two files whose hashes the guarantee has."""
        return self.out.name, self.schema.name

    @property
    def signature(self) -> Path:
        """The file of the signature, if there is one."""
        return signature_path(self.record)

    def open_files(self, *, signed: bool = False) -> AbstractContextManager[tuple[Any, ...]]:
        """Open new files for the reports, the schema, the guarantee and, if it is `signed`, its signature.

        They take their places together; see :func:`evenhand.table.write.replacing_together` for the order.
        """
        names = (self.out, self.schema, self.record, *((self.signature,) if signed else ()))
        return replacing_together(*names, remove=side_files(self.out))


def _is_one_file(place: Path, other: str | os.PathLike[str]) -> bool:
    if os.path.realpath(place) == os.path.realpath(other):
        return True
    try:
        return place.samefile(other)
    except (OSError, ValueError):
        return False


def goes_into_folder(parts: Parts, out: str | os.PathLike[str]) -> bool:
    """Whether an output is a folder: several files are read, and its name has no ending of a file of ours."""
    given: object = out
    is_named = isinstance(given, str | os.PathLike) and bool(own_name(out))
    return not parts.is_alone and is_named and not own_name(out).lower().endswith(tuple(WRITTEN_ENDINGS))


@dataclass(frozen=True)
class FolderPlaces:
    """A folder that is written, and what its files are called, one for each that is read."""

    out: Path
    names: tuple[str, ...]
    overwrite: bool

    @classmethod
    def of(
        cls, out: str | os.PathLike[str], parts: Parts, *, overwrite: bool, is_placing: bool = False
    ) -> FolderPlaces:
        """Return where the files go, or refuse names that clash and a folder that is there.

        A run that was interrupted while it put its folder in place, `is_placing`, goes on with it.

        Raises
        ------
        InvalidParameterError
            If the folder is one that is read, or two files would have one name.
        UnwritableFileError
            If it is there already, or holds other files than reports, or its own folder is not there.
        """
        overwrite = overwrite or is_placing
        place, real = resolve_folder(out), os.path.realpath(out)
        if any(Path(os.path.realpath(file)).is_relative_to(real) for file in parts.files) or (
            os.path.realpath(place.parent) in {os.path.realpath(file.parent) for file in parts.files}
        ):
            must_be = "a folder apart from those that are read"
            raise InvalidParameterError("out", owner=_OWNER, must_be=must_be, got=own_name(out))
        names = tuple(_written_name(file) for file in parts.files)
        if len(set(names)) < len(names):
            must_be = "files with names of their own, where each has one in the folder that is written"
            hint = "write one file: give 'out' an ending such as .parquet."
            raise InvalidParameterError(
                "path", owner=_OWNER, must_be=must_be, got="the same name twice", hint=hint
            )
        if os.path.lexists(place) and not (overwrite and place.is_dir()):
            why = "there is something of that name" if not overwrite else "there is a file of that name"
            hint = "choose another name, or allow it with overwrite=True (--overwrite)."
            raise UnwritableFileError(f"{own_name(out)} was not written: {why}. Hint: {hint}")
        if place.is_dir() and not is_placing and not _holds_tables_alone(place):
            why = "it is a folder that holds other files than reports"
            raise UnwritableFileError(f"{own_name(out)} was not written: {why}. Hint: choose another name.")
        if not place.parent.is_dir():
            raise UnwritableFileError(f"{own_name(out)} was not written: its folder is not there.")
        return cls(place, names, overwrite)

    @property
    def first(self) -> Places:
        """What stands in the folder for the first file."""
        return Places.named(self.out / self.names[0])

    def write_note(
        self, complete: Path, record: Record, charge: Entry | None, key: SigningKey | None
    ) -> None:
        """Write the note of a complete folder, which lists its files, and sign it if there is a key.

        Parameters
        ----------
        complete : path
            The folder, which has all files but this note.
        record : Record
            That of any file: their plans are the same.
        charge : Entry or None
            The entry of the ledger that was charged.
        key : SigningKey or None
            Who signs it.
        """
        note = folder_note_path(complete)
        listed: list[Path] = []
        for name in self.names:
            places = Places.named(complete / name)
            listed += [places.out, places.schema, places.record, *([places.signature] if key else [])]
        fields = {
            "format": f"{FOLDER_FORMAT_NAME} {FOLDER_FORMAT_NUMBER}",
            "evenhand": import_module("evenhand").__version__,  # it stands above all layers
            "parts": len(self.names),
            "sizes": {place.name: place.stat().st_size for place in listed},
        }
        files, plan = {place.name: hash_file(place) for place in listed}, plan_of(record.to_dict())
        text = seal_note(fields, files=files, plan=plan, charge=charge, key=key)
        with replacing_together(note, *((signature_path(note),) if key is not None else ())) as (file, *more):
            file.write(text)
            if key is not None:
                more[0].write(key.sign(text))

    def put_in_place(self, complete: Path) -> None:
        """Give a complete folder its place; one that is replaced is removed first."""
        try:
            if self.overwrite and self.out.is_dir():
                shutil.rmtree(self.out)
            complete.chmod(0o777 & ~_mask())
            complete.rename(self.out)
        except OSError:
            raise UnwritableFileError(
                f"{own_name(self.out)} was not written: the system refused it."
            ) from None


def _holds_tables_alone(folder: Path) -> bool:
    """Whether everything in a folder is a file of reports with its guarantee, or stands beside one."""
    note = folder_note_path(folder)
    paths = set(folder.iterdir()) - {note, signature_path(note)}
    tables = [path for path in paths if Places.named(path).record in paths]
    return paths <= {*tables, *(side for table in tables for side in side_files(table))}


def _mask() -> int:
    """Return which permissions new files of this process do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _written_name(file: Path) -> str:
    """Return what the reports of a file are called.

    >>> _written_name(Path("a.tsv.gz")), _written_name(Path("b.parquet"))
    ('a.csv', 'b.parquet')
    """
    name = file.name
    ending = max((ending for ending in ENDINGS if name.lower().endswith(ending)), key=len)
    return name[: -len(ending)] + (".parquet" if ENDINGS[ending] == "parquet" else ".csv")
