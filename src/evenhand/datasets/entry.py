"""What a file of this package declares about its data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.datasets.download.files import Reader, SourceFile
    from evenhand.datasets.options import Option
    from evenhand.schema import Schema

__all__ = ["Cleaned", "Description", "Entry"]


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """What a data set's `build` gives back.

    Attributes
    ----------
    columns : mapping of str to array
        The cleaned columns, in order.
    schema : Schema
        Their declared domains and roles.
    rows : int
        How many rows there must be. Loading fails if there are not.
    cleaning : tuple of str
        What was done, step by step.
    note : str
        What a reader of results should know.
    synthetic : bool or "partly"
        As in :class:`~evenhand.datasets.dataset.Provenance`.
    """

    columns: Mapping[str, Any]
    schema: Schema
    rows: int
    cleaning: tuple[str, ...]
    note: str = ""
    synthetic: bool | Literal["partly"] = False


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A data set: what it is, its options, its files, and how it is cleaned."""

    about: str
    citation: str
    options: tuple[Option, ...]
    build: Callable[[Reader, Mapping[str, Any]], Cleaned]
    files: tuple[SourceFile, ...] = ()
    departures: tuple[str, ...] = ()
    built_in: bool = False


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is known about a data set without touching a file.

    Attributes
    ----------
    name, title, about : str
        What it is.
    options : tuple of Option
        What `load` takes for it.
    files : tuple of SourceFile
        The files it may need, with source, licence and checksum.
    citation : str
        The study or agency to cite.
    departures : tuple of str
        Where the papers say one thing and their code or data another.
    built_in : bool
        Whether it needs no file at all, with its default options.
    """

    name: str
    title: str
    about: str
    citation: str
    options: tuple[Option, ...]
    files: tuple[SourceFile, ...]
    departures: tuple[str, ...]
    built_in: bool

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title}", self.about, f"Cite: {self.citation}"]
        lines += [f"Option {option}" for option in self.options]
        lines += [f"File {file}" for file in self.files]
        lines += [f"Departure: {each}" for each in self.departures]
        return "\n".join(lines)
