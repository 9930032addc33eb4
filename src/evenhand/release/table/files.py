"""Published tables as frames and files, with a note beside each file that says what it is."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.errors import InvalidParameterError
from evenhand.release.table.frames import cell_values, framed
from evenhand.table.side_files import classes_path, note_path, refuse_tables_beside, side_files
from evenhand.table.write import replacing_together, write_csv_into, write_parquet_into

if TYPE_CHECKING:
    import os

    from evenhand.release.table.released import Release

__all__ = ["FORMAT", "note_of", "release_frame", "write_release"]

FORMAT = "evenhand release 1"
"""The form of the note; another number means another form."""

_WRITERS = {".csv": write_csv_into, ".parquet": write_parquet_into}
_COUNT = "count"


def release_frame(release: Release, backend: Any) -> Any:
    """Return one row per published cell: its values, and its count, which is null where it has none."""
    histogram = release.histogram
    if _COUNT in histogram.schema:
        must_be, got = f"a table without a column of the name '{_COUNT}'", f"one with a column '{_COUNT}'"
        raise InvalidParameterError("histogram", owner="Release.to_frame", must_be=must_be, got=got)
    arrays = cell_values(histogram.schema, histogram.cells, histogram.size)
    hidden = release.unpublished
    counts = pa.array(release.values.reshape(-1), mask=None if hidden is None else hidden.reshape(-1))
    return framed({**arrays, _COUNT: counts}, backend=backend)


def write_release(release: Release, path: str | os.PathLike[str], *, warnings: tuple[str, ...] = ()) -> None:
    """Write the table and what it is; the caller has seen to it that the release is no simulation."""
    target = Path(path)
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        owner, must_be = "Release.write", "a name that ends with .csv or .parquet"
        raise InvalidParameterError("path", owner=owner, must_be=must_be, got=f"the ending {target.suffix!r}")
    refuse_tables_beside(target)
    frame, note = release_frame(release, "pyarrow"), note_of(release)
    note |= {"warnings": list(warnings), "file": target.name}
    classes = [] if release.classes is None else [classes_path(target)]
    names, old = (target, *classes, note_path(target)), side_files(target)
    with replacing_together(*names, remove=old) as (table, *between, terms):
        write(frame, table)
        note |= {"sha256": _digest(table)}
        if release.classes is not None:
            write(release.classes.to_frame("pyarrow"), between[0])
            note |= {"classes_file": classes[0].name, "classes_sha256": _digest(between[0])}
        terms.write(f"{json.dumps(note, indent=2, ensure_ascii=False)}\n".encode())


def _digest(file: Any) -> str:
    """Return the SHA-256 of a file that was just written and is still open."""
    file.flush()
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def note_of(release: Release) -> dict[str, Any]:
    """Return what the note beside a file says: public parameters only, nothing of the rows, no time."""
    histogram = release.histogram
    return {
        "format": FORMAT,
        "guarantee": release.guarantee.to_dict(),
        "guarantee_in_words": str(release.guarantee),
        "mechanism": release.mechanism.to_dict(),
        "columns": list(histogram.columns),
        "cells": histogram.size,
        "schema_sha256": histogram.schema.fingerprint,
        "cells_without_a_row": release.mechanism.unlisted if histogram.is_sparse else "none",
        "cells_without_a_count": "none" if release.unpublished is None else "suppressed",
        "fill": release.fill,
        "postprocessing": list(release.postprocessing),
        "rng": "seeded" if release.simulated else "secure",
        "versions": {
            "evenhand": import_module("evenhand").__version__,  # it stands above all layers
            "numpy": version("numpy"),
            "pyarrow": version("pyarrow"),
        },
    }
