"""The names of the data sets, and the one door to them.

A data set is what `entries` has under its name and one line here; everything else asks this registry.
"""

from __future__ import annotations

import importlib
import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.dataset import DataSet, FileRecord, Provenance
from evenhand.datasets.download.files import Reader, places
from evenhand.datasets.entry import Description, choose_options
from evenhand.errors import ChecksumError, InvalidParameterError, UnknownNameError
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.fetch import Progress
    from evenhand.datasets.entry import Cleaned, Entry
    from evenhand.table.frames import Backend

_TITLES = {
    "acs_coverage": "Public health coverage, Texas 2018 (American Community Survey)",
    "adult": "Adult income: reconstructed, or the UCI file",
    "causal": "Synthetic people drawn from the causal model of makhlouf2024",
    "compas": "COMPAS risk scores, Broward County 2013-2014",
    "counties": "Synthetic counties for the minority-language rule",
    "credit_default": "Default of credit card clients, Taiwan 2005",
    "lsac": "Law school bar passage (LSAC)",
    "nist_excerpts": "NIST Diverse Community Excerpts 2019",
    "school_districts": "Synthetic school districts for an allotment",
    "section203": "Section 203 minority-language determinations 2016",
    "title1": "School districts for the Title I allotment",
}
DATASETS: Mapping[str, str] = MappingProxyType(_TITLES)
"""Every data set with its title. The files of the same name in `entries` hold the rest."""


def names() -> tuple[str, ...]:
    """Return the names of all data sets.

    Examples
    --------
    >>> names()[:3]
    ('acs_coverage', 'adult', 'causal')
    """
    return tuple(DATASETS)


def describe(name: str) -> Description:
    """Say what a data set is, which options it has and which files it needs.

    No file is touched.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Examples
    --------
    >>> describe("causal").built_in
    True
    >>> print(describe("counties").options[0])
    n = 3000 (10 to 1000000): How many counties.
    """
    entry = _entry(name)
    parts = ("about", "citation", "options", "files", "departures", "built_in", "unwanted", "rule")
    return Description(name=name, title=DATASETS[name], **{part: getattr(entry, part) for part in parts})


def describe_place(name: str) -> str:
    """Say whether the files of a data set are on this machine.

    Examples
    --------
    >>> describe_place("causal")
    'built in'
    """
    description = describe(name)
    if description.built_in:
        return "built in"
    folders = [place.folder for place in places(None)]
    here = [
        any((folder / f"{file.stem}{end}").is_file() for folder in folders for end in (".csv.gz", ".csv"))
        for file in description.files
    ]
    if all(here):
        return "on this machine"
    if any(here):
        return "partly on this machine"
    return (
        "downloaded when asked for"
        if any(file.download for file in description.files)
        else "to be got by hand"
    )


def load(
    name: str,
    *,
    backend: Backend | None = None,
    folder: str | os.PathLike[str] | None = None,
    download: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> DataSet:
    """Load a data set: find its files, check them, clean them, declare their schema.

    A file is looked for in `folder`, then in the folder named by the environment variable
    ``EVENHAND_DATA``, then in the cache (``EVENHAND_CACHE``, or the usual place for caches on this
    system). Then it is downloaded, if its source is public and online. Every file is checked
    against the SHA-256 on record before it is read, and the rows are counted after cleaning.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the frame. By default pandas where it is installed, else pyarrow.
    folder : path, optional
        A folder to look in first. A leading ``~`` is the home folder.
    download : bool, default True
        Whether a file that is not on this machine may be downloaded.
    progress : callable, optional
        Called during a download with the bytes so far and the bytes in all, or None if the
        server does not say. By default a bar is shown if standard error is a terminal.
    **options
        Options of the data set, see :func:`describe`.

    Returns
    -------
    DataSet
        Frame, schema and provenance.

    Raises
    ------
    UnknownNameError
        If there is no such data set, or it has no such option.
    InvalidParameterError
        If an option has a value it cannot have.
    DataSetNotFoundError
        If a file is not here and cannot be had; the message says where to get it.
    ChecksumError
        If a file is not the one on record.

    Examples
    --------
    >>> people = load("causal", n=1000, backend="pyarrow")
    >>> people.frame.column_names
    ['C', 'A', 'M', 'Y']
    >>> people.provenance.synthetic
    True
    """
    entry = _entry(name)
    _check_settings(folder, download)
    chosen = choose_options(name, entry.options, options)
    reader = Reader(name, folder=folder, download=bool(download), progress=progress)
    cleaned = entry.build(reader, chosen)
    frame = make_frame(cleaned.columns, backend=backend)
    if len(frame) != cleaned.rows:
        raise ChecksumError(
            f"Data set '{name}' has {len(frame):,} rows after cleaning; {cleaned.rows:,} are on record. "
            "Hint: this is a fault of evenhand, please report it."
        )
    return DataSet(
        name=name,
        frame=frame,
        schema=cleaned.schema,
        provenance=_provenance(entry, reader, cleaned),
        options=chosen,
        note=cleaned.note,
    )


def _check_settings(folder: object, download: object) -> None:
    if folder is not None and not isinstance(folder, str | os.PathLike):
        got = f"a value of type {type(folder).__name__}"
        raise InvalidParameterError("folder", owner="load", must_be="the path of a folder", got=got)
    if not isinstance(download, bool | np.bool_):
        raise InvalidParameterError("download", owner="load", must_be="True or False", got=download)


def _provenance(entry: Entry, reader: Reader, cleaned: Cleaned) -> Provenance:
    used = reader.used
    return Provenance(
        source=_join_texts(file.source for file in used) or "evenhand, made by a seeded generator",
        licence=_join_texts(file.licence for file in used) or "Apache-2.0, as evenhand",
        url=used[0].page if used else "",
        citation=entry.citation,
        rows=cleaned.rows,
        files=tuple(FileRecord(name=f"{file.stem}.csv", sha256=file.sha256) for file in used),
        cleaning=cleaned.cleaning,
        departures=entry.departures,
        synthetic=cleaned.synthetic,
    )


def _join_texts(texts: Any) -> str:
    return "; ".join(dict.fromkeys(texts))


def _entry(name: str) -> Entry:
    if not isinstance(name, str) or name not in DATASETS:
        raise UnknownNameError("Data set", name, DATASETS)
    # Imported by name so that asking for one data set does not import the others.
    entry: Entry = importlib.import_module(f"evenhand.datasets.entries.{name}").ENTRY
    return entry
