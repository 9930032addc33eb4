"""What was published: counts, what stands behind them, and the files they are written to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from evenhand._notebook import figures_html
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.signing.keys import find_key
from evenhand.privacy.signing.notes import hash_open_file, seal_note
from evenhand.release.table.frames import cells_frame
from evenhand.table.side_files import (
    classes_path,
    note_path,
    refuse_tables_beside,
    side_files,
    signature_path,
)
from evenhand.table.write import replacing_together, write_csv_into, write_parquet_into

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import Entry
    from evenhand.privacy.randomness import Source
    from evenhand.privacy.signing.keys import AnyKey, SigningKey
    from evenhand.release.table.histogram import Histogram

FORMAT_NAME, FORMAT_NUMBER = "evenhand release", 2
FORMAT = f"{FORMAT_NAME} {FORMAT_NUMBER}"
"""The form of the note beside a file; another number means another form."""

COUNT = "count"
"""How the column of counts is called."""

SUPPRESSED = "suppressed"
"""How the column is called that marks suppressed cells; a table in which none can be has no such column."""

_WRITERS = {".csv": write_csv_into, ".parquet": write_parquet_into}


class Publisher(Protocol):
    """What a release keeps of the mechanism that published it."""

    @property
    def name(self) -> str:
        """The mechanism's name."""

    @property
    def unlisted(self) -> str:
        """What a cell is that a sparse table does not list."""

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism's name and public parameters, for a JSON file."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release:
    """A published table, with the guarantee it was published under.

    Attributes
    ----------
    histogram : Histogram
        The published counts. A suppressed cell has what was published in its place, or 0 where nothing was.
    guarantee : Guarantee
        What is promised to one person.
    mechanism : ReleaseMechanism
        What published it, with its public parameters.
    simulated : bool
        Whether it was drawn with a seed. No guarantee holds then, and :meth:`write` refuses it.
    suppressed : array of bool or None
        The suppressed cells. None where none can be; in a sparse table, the cells that are not listed are,
        unless the mechanism's ``unlisted`` is ``"zero"``.
    fill : number or None
        What was published in suppressed cells; None where nothing was.
    postprocessing : tuple of str
        What was done to the counts afterwards, in words.
    classes : optional
        The generalised table of a k-anonymous release.
    charge : Entry or None
        The entry of the ledger that was charged with it.
    """

    histogram: Histogram
    guarantee: Guarantee
    mechanism: Publisher
    simulated: bool
    suppressed: npt.NDArray[np.bool_] | None = None
    fill: float | None = None
    postprocessing: tuple[str, ...] = ()
    classes: Any = None
    charge: Entry | None = None

    def __post_init__(self) -> None:
        if self.suppressed is None:
            return
        marks = np.array(self.suppressed, dtype=np.bool_)
        if marks.shape != self.values.shape:
            must_be, got = "an array of the shape of the table", "another shape"
            raise InvalidParameterError("suppressed", owner="Release", must_be=must_be, got=got)
        marks.setflags(write=False)
        object.__setattr__(self, "suppressed", marks)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The published counts as an array: of every cell, or of those that a sparse table lists."""
        counts = self.histogram.filled if self.histogram.is_sparse else self.histogram.counts
        return cast("npt.NDArray[Any]", counts)

    @property
    def unpublished(self) -> npt.NDArray[np.bool_] | None:
        """The cells of which nothing was published; None if there can be none."""
        return self.suppressed if self.fill is None else None

    def processed(self, steps: Sequence[Any], *, source: Source) -> Release:
        """Return the release after further steps of post-processing; cells without a value are left out.

        A step has ``apply(values, source=source)``, which returns as many numbers, and its ``words``.
        """
        made = self
        for step in steps:
            made = made._apply_step(step, source)
        return made

    def _apply_step(self, step: Any, source: Source) -> Release:
        values, hidden = self.values, self.unpublished
        if hidden is None or not hidden.any():
            made = np.asarray(step.apply(values, source=source))
        else:
            seen = np.asarray(step.apply(values[~hidden], source=source))
            made = values.astype(np.result_type(values.dtype, seen.dtype))
            made[~hidden] = seen
        words = (*self.postprocessing, str(step.words))
        return replace(
            self,
            histogram=self.histogram.with_counts(made),
            postprocessing=words,
            simulated=self.simulated or source.simulated,
        )

    def to_frame(self, backend: Any = None) -> Any:
        """Return what is published as a frame: the labels of each cell, and its count.

        Where cells can be suppressed, a column ``suppressed`` is true for those that are. Without a fill they
        have no count: it is null.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame, as in ``Histogram.to_frame``.
        """
        table = self.histogram
        marks = {} if self.suppressed is None else {SUPPRESSED: self.suppressed}
        for name in (COUNT, *marks):
            if name in table.schema:
                must_be, got = f"a table without a column of the name '{name}'", f"one with a column '{name}'"
                raise InvalidParameterError("histogram", owner="Release.to_frame", must_be=must_be, got=got)
        hidden = self.unpublished
        return cells_frame(
            table.schema, table.cells, self.values, backend=backend, hidden=hidden, marks=marks
        )

    def write(
        self, path: str | os.PathLike[str], *, warnings: Sequence[str] = (), sign: AnyKey | None = None
    ) -> None:
        """Write the table to a CSV or Parquet file, and what it is to a file of the same name with ``.json``.

        The classes of a k-anonymous release go to a third file, such as ``table.classes.csv``. The note has
        the hashes of all of them; :func:`evenhand.engine.verify` finds what was changed.

        Parameters
        ----------
        path : str or path
            A name that ends with ``.csv`` or ``.parquet``. Old files stay until the new ones are complete;
            then those that stood beside an old table or reports of this name are replaced or removed.
        warnings : sequence of str
            What whoever reads the table should know besides, in sentences.
        sign : SigningKey, str or path, optional
            The private key that signs the note, or its file. The signature goes to ``table.csv.json.sig``.

        Raises
        ------
        GuaranteeError
            If the release is simulated. Nothing is written then.
        InvalidParameterError
            If the name has another ending.
        UnreadableFileError
            If the key cannot be used. Nothing is written then.
        UnwritableFileError
            If a file cannot be written, or one that would be replaced or removed with the table, such as
            ``table.classes.csv``, has a guarantee, a note or a schema of its own.
        """
        if self.simulated:
            raise GuaranteeError(
                "A simulated release was not written: it was drawn with a seed, and whoever has it can take "
                "the noise off, so no guarantee holds for it. Hint: give release() no rng to publish; "
                "to_frame() gives these numbers for a study."
            )
        key = find_key(sign, owner="Release.write")
        _write(self, Path(path), warnings=tuple(warnings), key=key)

    def _repr_html_(self) -> str:
        figures = [("table", f"{self.histogram.size:,} cells of {', '.join(self.histogram.schema.names)}")]
        figures += [("mechanism", repr(self.mechanism))]
        figures += [("afterwards", ", ".join(self.postprocessing))] if self.postprocessing else []
        promise = "simulated, so no guarantee holds" if self.simulated else str(self.guarantee)
        return figures_html("Release", [*figures, ("promise", promise)])

    def __repr__(self) -> str:
        size = f"{self.histogram.size:,} cells"
        told = ", simulated" if self.simulated else ""
        after = f", then {', '.join(self.postprocessing)}" if self.postprocessing else ""
        return f"<Release of {size} by {self.mechanism!r}{after}{told}>"


def _write(release: Release, target: Path, *, warnings: tuple[str, ...], key: SigningKey | None) -> None:
    """Write the table and what it is; the caller has seen to it that the release is no simulation."""
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        owner, must_be = "Release.write", "a name that ends with .csv or .parquet"
        raise InvalidParameterError("path", owner=owner, must_be=must_be, got=f"the ending {target.suffix!r}")
    refuse_tables_beside(target)
    frame, note = release.to_frame("pyarrow"), note_of(release) | {"warnings": list(warnings)}
    tables = {target: frame}
    if release.classes is not None:
        tables[classes_path(target)] = release.classes.to_frame("pyarrow")
    place = note_path(target)
    names = (*tables, place, *(() if key is None else (signature_path(place),)))
    with replacing_together(*names, remove=side_files(target)) as opened:
        for each, file in zip(tables.values(), opened, strict=False):
            write(each, file)
        files = {path.name: hash_open_file(file) for path, file in zip(tables, opened, strict=False)}
        text = seal_note(note, files=files, plan=plan_of(note), charge=release.charge, key=key)
        opened[len(tables)].write(text)
        if key is not None:
            opened[-1].write(key.sign(text))


def plan_of(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a note says of the plan: what was to be published, how, and for which change."""
    planned = ("mechanism", "columns", "schema_sha256", "fill", "postprocessing")
    return {**{name: note[name] for name in planned}, "unit": note["guarantee"]["unit"]}


def note_of(release: Release) -> dict[str, Any]:
    """Return what the note beside a file says: public parameters only, nothing of the rows, no time."""
    histogram = release.histogram
    named = {column.name: column.named_values for column in histogram.schema if column.value_labels}
    roles = {
        role: value
        for role, value in vars(histogram.schema.roles).items()
        if value is not None and value is not False and value != ()
    }
    return {
        "format": FORMAT,
        "guarantee": release.guarantee.to_dict(),
        "guarantee_in_words": str(release.guarantee),
        "mechanism": release.mechanism.to_dict(),
        "columns": list(histogram.columns),
        "cells": histogram.size,
        "schema_sha256": histogram.schema.fingerprint,
        "roles": roles,
        **({"value_labels": named} if named else {}),
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
