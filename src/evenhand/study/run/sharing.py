"""Prepared rows in files for a while, so that every worker maps the same bytes instead of copying them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._shared_folders import SharedFolder, shared_places
from evenhand.errors import StudyStoreError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Shared", "open_arrays"]


@dataclass(frozen=True)
class Mapped:
    """An array in a file."""

    path: str

    def open(self) -> Any:
        """Return the array, mapped, which nobody can write into."""
        return np.asarray(np.load(self.path, mmap_mode="r", allow_pickle=False))


class Shared:
    """The arrays of prepared rows in a folder of their own, which only this person may read.

    The folder is in the memory where there is room, else in the folder for temporary files. It is removed
    when it is closed. If this process is killed, any later command or study removes it, see
    :func:`evenhand._shared_folders.remove_left_folders`.

    Parameters
    ----------
    prepared : dataclass
        Its fields that are arrays, or mappings of arrays, are written; the others stay as they are.
    """

    def __init__(self, prepared: Any) -> None:
        with suppress(OSError):
            for place in shared_places(_size_of(prepared)):
                with suppress(OSError):
                    self._write(prepared, place)
                    return
        raise StudyStoreError(
            "The rows cannot be shared with worker processes: the folder for temporary files is full or "
            "may not be written. Hint: make room there, name another one in TMPDIR, or use workers=1."
        )

    def _write(self, prepared: Any, place: Path) -> None:
        self._folder = SharedFolder(place)
        self._files = 0
        try:
            changes = {
                field.name: self._write_value(getattr(prepared, field.name)) for field in fields(prepared)
            }
            self.prepared = replace(prepared, **changes)
        except BaseException:
            self.close()
            raise

    def _write_value(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.size:
            name = f"{self._files}.npy"
            self._files += 1
            with self._folder.create(name) as file:
                np.save(file, value, allow_pickle=False)
            return Mapped(str(self._folder.path / name))
        if isinstance(value, Mapping) and any(isinstance(inner, np.ndarray) for inner in value.values()):
            return {name: self._write_value(inner) for name, inner in value.items()}
        return value

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()


def _size_of(prepared: Any) -> int:
    """Return how many bytes the arrays of prepared rows take."""
    values = [getattr(prepared, field.name) for field in fields(prepared)]
    values += [inner for value in values if isinstance(value, Mapping) for inner in value.values()]
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def open_arrays(prepared: Any) -> Any:
    """Return prepared rows with their arrays mapped from the files."""
    return replace(
        prepared, **{field.name: _open_value(getattr(prepared, field.name)) for field in fields(prepared)}
    )


def _open_value(value: Any) -> Any:
    if isinstance(value, Mapped):
        return value.open()
    if isinstance(value, Mapping) and any(isinstance(inner, Mapped) for inner in value.values()):
        return {name: _open_value(inner) for name, inner in value.items()}
    return value
