"""What `load` gives back: a frame, its schema, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.schema import Schema


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """A file that was read, by name and by the SHA-256 of its uncompressed content."""

    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a data set comes from and what was done to it.

    Attributes
    ----------
    source : str
        Who published it, in words.
    licence : str
        Under which terms, or ``"not stated"``.
    url : str
        The public page where a person finds it; empty for data that evenhand makes itself.
    citation : str
        The study or agency to cite.
    rows : int
        Rows after cleaning, checked while loading.
    files : tuple of FileRecord
        The files read, with their checksums; empty for data that evenhand makes itself.
    cleaning : tuple of str
        What was done, step by step.
    departures : tuple of str
        Where the papers say one thing and their code or data another.
    synthetic : bool or "partly"
        True where no row describes a real person or place. ``"partly"`` where figures of real ones
        and drawn figures stand side by side; the data set's note says which are which.
    """

    source: str
    licence: str
    url: str
    citation: str
    rows: int
    files: tuple[FileRecord, ...] = ()
    cleaning: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()
    synthetic: bool | Literal["partly"] = False

    def __str__(self) -> str:
        lines = [f"source: {self.source}", f"licence: {self.licence}", f"cite: {self.citation}"]
        lines += [f"page: {self.url}"] if self.url else []
        lines += [f"file: {file.name} sha256 {file.sha256}" for file in self.files]
        lines += [f"cleaning: {step}" for step in self.cleaning]
        lines += [f"departure: {departure}" for departure in self.departures]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataSet:
    """A frame with its declared schema and its provenance.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    frame : data frame
        pandas where it is installed, else a pyarrow table, or what was asked for.
    schema : Schema
        Domains and roles, declared in code from published code lists, never read from the rows.
        A column of the frame that has no published code list, such as free text, is not in it.
    provenance : Provenance
        Source, licence, files with checksums, cleaning and departures.
    options : mapping
        Every option as it was used, defaults included. Read-only.
    note : str
        What a reader of results should know; may be empty.

    Examples
    --------
    >>> from evenhand.datasets import load
    >>> load("causal", n=1000)
    DataSet 'causal': 1,000 rows, 4 columns, synthetic
      target Y = 1; protected A, privileged 1; sensitive C, A, M
      options: mediator='as_in_data', n=1000, privileged_group=1, quantile=0.5, seed=0, version='generated'
      source: evenhand, made by a seeded generator
    """

    name: str
    frame: Any
    schema: Schema
    provenance: Provenance
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __getstate__(self) -> dict[str, Any]:
        # A read-only view can be neither copied nor sent to another process; what it shows can.
        return self.__dict__ | {"options": dict(self.options)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, options=MappingProxyType(state["options"]))

    def __repr__(self) -> str:
        kind = {False: "", True: ", synthetic", "partly": ", partly synthetic"}[self.provenance.synthetic]
        columns = self.frame.shape[1]
        lines = [f"DataSet '{self.name}': {self.provenance.rows:,} rows, {columns} columns{kind}"]
        roles = self._roles()
        lines += [f"  {roles}"] if roles else []
        shown = ", ".join(f"{name}={value!r}" for name, value in sorted(self.options.items()))
        lines += [f"  options: {shown}"] if shown else []
        return "\n".join([*lines, f"  source: {self.provenance.source}"])

    def _roles(self) -> str:
        schema = self.schema
        parts = []
        if schema.target is not None:
            parts.append(f"target {schema.target} = {schema.positive}")
        if schema.protected is not None:
            parts.append(f"protected {schema.protected_name}, privileged {schema.privileged}")
        if schema.sensitive:
            parts.append(f"sensitive {', '.join(schema.sensitive)}")
        return "; ".join(parts)
