"""The files of a finished study that can be taken along: a fixed list, no path from outside."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from evenhand._formats import parse_json
from evenhand.app.flow.views import Applied
from evenhand.app.state.workspace import APPLIED

if TYPE_CHECKING:
    from pathlib import Path


APPLIED_NOTE = "applied.json"
"""Says in the folder of a study what was promised and charged when it was done for real."""


class Download(NamedTuple):
    """Where a download stands in the folder of a study, its media type, and what it is."""

    file: str
    media_type: str
    sentence: str


_TOML = "text/plain; charset=utf-8"
_PYTHON = "text/x-python; charset=utf-8"

DOWNLOADS: dict[str, Download] = {
    "report.html": Download("study/report.html", "text/html; charset=utf-8", "The whole report in one page."),
    "effects.csv": Download(
        "study/effects.csv", "text/csv; charset=utf-8", "Who pays: every row behind the answer."
    ),
    "cells.csv": Download("study/cells.csv", "text/csv; charset=utf-8", "Every number of every run."),
    "entities.csv": Download("study/entities.csv", "text/csv; charset=utf-8", "Every entity, by name."),
    "plan.toml": Download("study/plan.toml", _TOML, "The study itself: evenhand audit --plan plan.toml."),
    "schema.toml": Download("schema.toml", _TOML, "What the columns hold, and their roles."),
    "study.py": Download("study/study.py", _PYTHON, "The study as a Python script."),
    "study.ipynb": Download("study/study.ipynb", "application/x-ipynb+json", "The study as a notebook."),
    "all.zip": Download("", "application/zip", "All of these in one file."),
}
"""Each download by its name. What is not listed here cannot be asked for."""

ALL = "all.zip"


def find_downloads(folder: Path, *, is_output: bool = False) -> dict[str, Path]:
    """Return the files that a study has of those that can be taken along, by the names of the downloads.

    Parameters
    ----------
    folder : path
        Of the study in the workspace.
    is_output : bool
        Whether it is a folder that ``evenhand audit`` wrote, in which all files stand side by side.
    """
    places = {name: PurePosixPath(download.file) for name, download in DOWNLOADS.items() if name != ALL}
    files = {name: folder / (place.name if is_output else place) for name, place in places.items()}
    whole = folder.resolve()
    return {
        name: file
        for name, file in files.items()
        if file.is_file() and file.resolve().is_relative_to(whole)  # a link may lead out of it
    }


def find_applied(folder: Path) -> dict[str, Path]:
    """Return the files that were made for real on the last page of a study, by their names."""
    place = folder / APPLIED
    files = sorted(place.iterdir()) if place.is_dir() and not place.is_symlink() else ()
    return {file.name: file for file in files if file.is_file() and not file.is_symlink()}


def read_applied(folder: Path) -> Applied | None:
    """Return what was done for real on the last page of a study; None if nothing was."""
    files = tuple(find_applied(folder))
    if not files:
        return None
    try:
        said = parse_json((folder / APPLIED_NOTE).read_bytes())
    except (OSError, ValueError):
        said = None
    known = said if isinstance(said, dict) else {}
    return Applied(
        ok=True,
        files=files,
        promise=str(known.get("promise", "")),
        charged=str(known.get("charged", "")),
        links=str(known["links"]) if "links" in known else None,
        is_for_publication=bool(known.get("is_for_publication", True)),
    )


def downloads_of(folder: Path, *, is_output: bool = False) -> tuple[str, ...]:
    """Return the downloads that a study has; see :func:`find_downloads`."""
    there = find_downloads(folder, is_output=is_output)
    return (*there, ALL) if there else ()


def pack_downloads(folder: Path, *, is_output: bool = False) -> bytes:
    """Return all downloads that a study has in one file; equal studies give equal bytes."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in find_downloads(folder, is_output=is_output).items():
            entry = zipfile.ZipInfo(name)  # with no time
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, file.read_bytes())
    return packed.getvalue()
