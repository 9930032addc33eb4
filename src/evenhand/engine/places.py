"""Where the three files of a collection go, and how they appear together or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError, UnwritableFileError
from evenhand.table.source import own_name
from evenhand.table.write import replacing_together

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Opened", "Places", "record_path", "schema_path"]


def schema_path(path: str | os.PathLike[str]) -> Path:
    """Return where the schema of a file of reports stands.

    >>> schema_path("reports.csv").name
    'reports.csv.schema.toml'
    """
    return Path(f"{os.fspath(path)}.schema.toml")


def record_path(path: str | os.PathLike[str]) -> Path:
    """Return where the guarantee of a file of reports stands.

    >>> record_path("reports.csv").name
    'reports.csv.guarantee.json'
    """
    return Path(f"{os.fspath(path)}.guarantee.json")


@dataclass(frozen=True)
class Places:
    """The file of reports, its schema and its guarantee."""

    out: Path
    schema: Path
    record: Path

    @classmethod
    def of(cls, out: str | os.PathLike[str], *, taken_by: str | os.PathLike[str], overwrite: bool) -> Places:
        """Return where the files go, or refuse to write over the input or, unless told, over anything.

        Raises
        ------
        InvalidParameterError
            If one of the files is the input.
        UnwritableFileError
            If one is there already, or its folder is not.
        """
        found = cls(Path(out), schema_path(out), record_path(out))
        for place in (found.out, found.schema, found.record):
            if os.path.realpath(place) == os.path.realpath(taken_by) or _is_one_file(place, taken_by):
                must_be, got = "another file than the input", own_name(place)
                raise InvalidParameterError("out", owner="privatize_file", must_be=must_be, got=got)
            if place.is_dir():
                raise UnwritableFileError(f"{own_name(place)} was not written: it is a folder.")
            if not overwrite and os.path.lexists(place):  # a link that leads nowhere too
                raise UnwritableFileError(
                    f"{own_name(place)} was not written: there is a file of that name. "
                    "Hint: choose another name, or allow it with overwrite=True (--overwrite)."
                )
        if not found.out.parent.is_dir():
            raise UnwritableFileError(f"{own_name(out)} was not written: its folder is not there.")
        return found

    @property
    def packed(self) -> bool:
        """Whether the file of reports is to be gzipped."""
        return self.out.name.lower().endswith(".gz")

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """Open a new file for the reports; all three take their places when it is left without an error.

        See :func:`evenhand.table.write.replacing_together` for the order.
        """
        with replacing_together(self.out, self.schema, self.record) as (file, schema, record):
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
