"""Open what a person names: a CSV, Excel or Parquet file of theirs, or a data set by name."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand import datasets
from evenhand._validate import integer
from evenhand.errors import PlanError, UnknownNameError
from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.source import ROWS_CELL, DataSource
from evenhand.study.tasks.shared.rows import sampled_sentence
from evenhand.table.limits import STREAM_LIMITS, own_file_limits
from evenhand.table.parts import names_several
from evenhand.table.read import ENDINGS, ENDINGS_TEXT, detect_file_format, file_columns
from evenhand.table.sample import LARGE_FILE_ROWS, read_or_sample
from evenhand.table.source import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.schema import Schema
    from evenhand.study.plan.plan import Plan
    from evenhand.table import FileFormat


@dataclass(frozen=True, repr=False, eq=False)
class Opened:
    """Data in memory and what is known about it.

    Parameters
    ----------
    source : DataSource
        Where it comes from; the path of a file is absolute, so that a plan finds it from anywhere.
    frame : Arrow table
    schema : Schema, optional
        As declared: by a data set of evenhand, or in a schema file. None if nothing is declared.
    note : str
        What a reader of results should know about a data set.
    unread : tuple of str
        The columns of a file that its schema does not declare, and that were not read. A message names none
        of them that nobody asked for: they may be private where a file has no header.
    assumed : FileFormat, optional
        How a file was found to be written, where nobody said so and it is not plain CSV.
    drawn : int, optional
        How many rows were drawn at random from a file that does not fit; None if all were read.
    """

    source: DataSource
    frame: Any
    schema: Schema | None = None
    note: str = ""
    unread: tuple[str, ...] = ()
    assumed: FileFormat | None = None
    drawn: int | None = None

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return int(self.frame.num_rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.column_names)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The columns of the data that the schema does not declare; none if there is no schema."""
        if self.schema is None:
            return ()
        return tuple(name for name in (*self.names, *self.unread) if name not in self.schema)

    def __repr__(self) -> str:
        return f"Opened({self.source.label}: {', '.join(self.names)})"


def open_data(
    data: str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    options: Mapping[str, Any] | None = None,
    file_format: FileFormat | None = None,
    on_format: Callable[[str, FileFormat], None] | None = None,
    rows: int | None = None,
    seed: int = 0,
) -> Opened:
    """Open a file by its path, or a data set by its name.

    A name without an ending that is the name of a data set is one, unless there is a file of that name.

    Parameters
    ----------
    data : str or path
    schema : Schema, optional
        The declared schema of a file: only its columns are read, with the types that they need.
    options : mapping, optional
        Of a data set.
    file_format : FileFormat, optional
        What is known of how a file is written; the rest is found out.
    on_format : callable, optional
        Called before rows are read with what the file is called and how it was found to be written, where
        nobody said so and it is not plain CSV: so a reason for which reading fails later is understood.
    rows : int, optional
        How many rows to draw at random, in one pass, from a file that does not fit :func:`own_file_limits`;
        by default such a file is refused. A folder or a pattern of files is read as one.
    seed : int
        Of the study, with which these rows are drawn.

    Examples
    --------
    >>> opened = open_data("causal", options={"n": 1000})
    >>> opened.rows, opened.names, opened.schema.protected
    (1000, ('C', 'A', 'M', 'Y'), 'A')
    """
    name = os.fspath(data)
    if name in datasets.DATASETS and not Path(name).is_file():
        source = DataSource(dataset=name, options=dict(options or {}), file_format=file_format)
        dataset = datasets.load(name, backend="pyarrow", **source.options)
        return Opened(source, dataset.frame, schema or dataset.schema, dataset.note)
    several = names_several(name)
    is_name = not name.lower().endswith(tuple(ENDINGS)) and not Path(name).exists() and not several
    if is_name and (not _close_file(name) or get_close_matches(name, datasets.DATASETS)):
        place = f"a data set, nor a file (whose name would end with {ENDINGS_TEXT})"
        raise UnknownNameError("Data", name, [*_close_file(name), *datasets.DATASETS], place=place)
    if not several:
        _refuse_what_is_no_file(name)
    limits = own_file_limits()
    streamed = limits if rows is None else STREAM_LIMITS
    written = detect_file_format(name, file_format, limits=streamed)
    assumed = written.assumed_beside(file_format)
    kept = written if file_format is not None or assumed is not None else None
    source = DataSource(path=str(Path(name).absolute()), file_format=kept)
    if on_format is not None and assumed is not None:
        on_format(source.label, assumed)
    draws = SeededSource(integer("seed", seed, owner="Plan", low=0)).for_cell(ROWS_CELL)
    frame, drawn = read_or_sample(
        name, rows=rows, source=draws, schema=schema, limits=limits, file_format=written
    )
    there = () if schema is None else file_columns(name, limits=streamed, file_format=written)
    unread = tuple(column for column in there if column not in frame.column_names)
    return Opened(source, frame, schema, unread=unread, assumed=assumed, drawn=drawn)


def open_plan(
    plan: Plan,
    *,
    data: str | None = None,
    file_format: FileFormat | None = None,
    rows: int | None = None,
    seed: int | None = None,
    may_draw: bool = False,
    on_format: Callable[[str, FileFormat], None] | None = None,
) -> tuple[Plan, Opened]:
    """Return a plan that says all that was found out about its data, and the data.

    A file or a data set, `rows` and a `seed` may be given instead of those of the plan; what is known of how
    the file is written goes before what the plan says of it. From a file that does not fit, where nobody said
    how many, rows are drawn if that `may_draw`; else it is refused, as is a plan that names no data.
    """
    source = plan.data
    name = data or (source and (source.dataset or source.path)) or ""
    if not name:
        raise PlanError("The plan field 'data' is missing. Hint: name a file or a data set.", field="data")
    if data is None and source is not None and source.file_format is not None:
        file_format = source.file_format if file_format is None else file_format.fill_in(source.file_format)
    options = source.options if source is not None and name == source.dataset else None
    if rows is None and source is not None:
        rows = source.rows
    most = LARGE_FILE_ROWS if rows is None and may_draw else rows
    opened = open_data(
        name,
        file_format=file_format,
        on_format=on_format,
        schema=plan.schema,
        options=options,
        rows=most,
        seed=plan.seed if seed is None else seed,
    )
    said = () if opened.drawn is None else (sampled_sentence(opened.drawn),)
    notes = (*plan.notes, *(note for note in said if note not in plan.notes))
    found = replace(opened.source, rows=opened.drawn if rows is None else rows)
    return plan.with_(data=found, schema=plan.schema or opened.schema, notes=notes), opened


def _close_file(name: str) -> list[str]:
    """Return the file beside the one that was named whose name is closest to its own, if one is close."""
    folder = Path(name).parent
    files = [path.name for path in folder.glob("*") if path.name.lower().endswith(tuple(ENDINGS))]
    return [str(folder / file) for file in get_close_matches(Path(name).name, files, n=1)]


def _refuse_what_is_no_file(name: str) -> None:
    path = Path(name)
    if not path.exists() and (close := _close_file(name)):
        refuse(path.name, f"there is no such file. Hint: did you mean '{close[0]}'?")
    if not name.lower().endswith(tuple(ENDINGS)):
        refuse(path.name, f"its name must end with {ENDINGS_TEXT}. Hint: export it as CSV.")
