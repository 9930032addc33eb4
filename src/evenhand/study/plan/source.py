"""Where the data of a study comes from: a file, or a data set by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer, kind_of, refuse
from evenhand.schema.values import plain_mapping
from evenhand.table.file_format import FileFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

_OWNER = "DataSource"
ROWS_CELL = "rows"
"""The cell of the study's seed from which it is drawn which rows are used."""


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """A file or a data set, and how many of its rows a study uses.

    Parameters
    ----------
    path : str or path, optional
        A CSV, Excel or Parquet file.
    dataset : str, optional
        The name of a data set of :mod:`evenhand.datasets`; exactly one of the two is given.
    options : mapping, default {}
        Options of the data set.
    rows : int, optional
        Use so many rows, drawn at random with the study's seed; by default all.
    file_format : FileFormat, optional
        How the file is written; by default that is found out from its beginning.

    Examples
    --------
    >>> DataSource(dataset="causal", options={"n": 2000})
    DataSource(path=None, dataset='causal', options={'n': 2000}, rows=None, file_format=None)
    """

    path: str | None = None
    dataset: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    file_format: FileFormat | None = None

    def __post_init__(self) -> None:
        given: object = self.path
        if given is not None and not isinstance(given, str | PathLike):
            refuse("path", _OWNER, "a path", given)
        if self.dataset is not None and not isinstance(self.dataset, str):
            refuse("dataset", _OWNER, "a name", self.dataset)
        if (self.path is None) == (self.dataset is None):
            got = "neither" if self.path is None else "both"
            refuse("path", _OWNER, "given, or 'dataset', but not both", got)
        object.__setattr__(self, "options", plain_mapping("options", self.options, owner=_OWNER))
        if self.path is not None:
            object.__setattr__(self, "path", fspath(self.path))
            if self.options:
                refuse("options", _OWNER, "empty for a file; options belong to data sets", self.options)
        if self.rows is not None:
            object.__setattr__(self, "rows", integer("rows", self.rows, owner=_OWNER, low=1))
        written: object = self.file_format
        if written is not None and (self.path is None or not isinstance(written, FileFormat)):
            refuse("file_format", _OWNER, "a FileFormat, and only of a file", kind_of(written))

    @property
    def format_options(self) -> list[str]:
        """Return how the file is written, as that is typed on the command line."""
        return [] if self.file_format is None else self.file_format.options

    @property
    def label(self) -> str:
        """The name of the file without its folder, or of the data set."""
        return str(self.dataset) if self.path is None else PurePath(self.path).name

    def __hash__(self) -> int:
        return hash((self.path, self.dataset, self.rows, self.file_format))
