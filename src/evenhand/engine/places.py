"""Where the three files of a collection go, and how they appear together or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError, UnwritableFileError
from evenhand.table.side_files import record_path, refuse_tables_beside, schema_path, side_files
from evenhand.table.source import own_name
from evenhand.table.write import replacing_together

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Opened", "Places"]


@dataclass(frozen=True)
class Places:
    """The file of reports, its schema and its guarantee."""

    out: Path
    schema: Path
    record: Path

    @classmethod
    def of(cls, out: str | os.PathLike[str], *, taken_by: str | os.PathLike[str], overwrite: bool) -> Places:
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
        places = cls(Path(out), schema_path(out), record_path(out))
        written = (places.out, places.schema, places.record)
        for place in dict.fromkeys((*written, *side_files(out))):
            if os.path.realpath(place) == os.path.realpath(taken_by) or _is_one_file(place, taken_by):
                must_be, got = "another file than the input", own_name(place)
                raise InvalidParameterError("out", owner="privatize_file", must_be=must_be, got=got)
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

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """Open a new file for the reports; all three take their places when it is left without an error.

        See :func:`evenhand.table.write.replacing_together` for the order.
        """
        names, old = (self.out, self.schema, self.record), side_files(self.out)
        with replacing_together(*names, remove=old) as (file, schema, record):
            opened = Opened(file)
            yield opened
            schema.write(opened.schema)
            record.write(opened.record)


@dataclass
class Opened:
    """A file that is being written, and the texts that will stand beside it."""

    file: Any
    schema: bytes = b""
    record: bytes = b""


def _is_one_file(place: Path, other: str | os.PathLike[str]) -> bool:
    try:
        return place.samefile(other)
    except (OSError, ValueError):
        return False
