"""The rows of a study of the workbench, opened where they are kept and called what the person calls them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from evenhand.app.state.files import write_private
from evenhand.app.state.record import StudyRecord
from evenhand.app.state.workspace import DATA, OUTPUT, RECORD
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.schema import Schema
from evenhand.study.intake.opening import open_data, open_plan
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.store.file import FILE
from evenhand.table.file_format import FileFormat
from evenhand.table.sample import LARGE_FILE_ROWS

if TYPE_CHECKING:
    from evenhand.app.state.record import DataChoice
    from evenhand.study.intake.opening import Opened

PLAN_FILE, SCHEMA_FILE = "plan.toml", "schema.toml"
"""What is written into the folder of a study before it is run."""

_RAN_ON = ".data"


def open_rows(
    folder: Path, record: StudyRecord, *, schema: Schema | None = None, draws: bool = True
) -> Opened:
    """Return the rows of a study, read as the command line reads them.

    The path that the plan, the report and the script name is that of the person's own file, as if it stood
    beside the results; nothing is there.

    Parameters
    ----------
    folder : path
        Of the study.
    record : StudyRecord
    schema : Schema, optional
        Only its columns are read, with the types that they need.
    draws : bool
        Whether rows may be drawn from a file that does not fit; otherwise such a file is refused.

    Raises
    ------
    EvenhandError
        What reading raises, in which the file has the name that the person knows.
    """
    choice = _chosen(record)
    given = record.form.get(record.kind, {})
    seed, rows = _whole(given.get("seed")) or 0, _whole(given.get("rows"))
    if choice.source == "dataset":
        return open_data(choice.dataset, schema=schema, options=choice.options)
    path = folder / DATA / choice.file
    label = file_label(choice)
    text = "" if schema is None else schema.to_toml()
    drawn = (rows or LARGE_FILE_ROWS) if draws else None
    written = tuple(sorted(choice.file_format.items()))
    try:
        state = path.stat()
        opened = _open(str(path), text, written, drawn, seed, (state.st_mtime_ns, state.st_size))
    except FileNotFoundError:
        raise InvalidParameterError(
            "data", owner="the study", must_be="a file that is still here", got="one that is gone"
        ) from None
    except EvenhandError as error:
        raise rename_file(error, choice.file, label) from None
    return replace(opened, source=replace(opened.source, path=str(folder / OUTPUT / label)))


@lru_cache(maxsize=2)
def _open(
    path: str, schema: str, written: tuple[Any, ...], rows: int | None, seed: int, state: tuple[int, int]
) -> Opened:
    """Return the rows of a file, which several pages ask for; its state says when it was changed."""
    del state
    declared = Schema.from_toml(schema) if schema else None
    file_format = FileFormat(**dict(written)) if written else None
    return open_data(path, schema=declared, file_format=file_format, rows=rows, seed=seed)


def open_written_plan(folder: Path) -> tuple[Plan, Opened]:
    """Return the plan in the folder of a study and its rows, to be run.

    An upload is read where it is kept. The plan's path is that of the person's own file, as if it stood in
    the folder of the results, where nothing is: so files and reports name it, and never the random name.

    Raises
    ------
    EvenhandError
        What reading a plan and its data raises, in which the file has the name that the person knows.
    """
    plan = Plan.load(folder / PLAN_FILE)
    kept = folder / RECORD
    choice = StudyRecord.from_json(kept.read_bytes()).data if kept.is_file() else None
    if choice is None or not choice.file or plan.data is None:
        return open_plan(plan)
    label = file_label(choice)
    try:
        found, opened = open_plan(
            plan, data=str(folder / DATA / choice.file), file_format=plan.data.file_format
        )
    except EvenhandError as error:
        raise rename_file(error, choice.file, label) from None
    source = DataSource(
        path=str(folder / OUTPUT / label), rows=plan.data.rows, file_format=plan.data.file_format
    )
    return found.with_(data=source), opened


def note_data(folder: Path) -> None:
    """Note beside the results of a study which file they are of; nothing for those of a data set."""
    kept = folder / RECORD
    choice = StudyRecord.from_json(kept.read_bytes()).data if kept.is_file() else None
    if choice is not None and choice.file:
        write_private(folder / OUTPUT / _RAN_ON, _mark_of(folder / DATA / choice.file), durable=False)


def is_of_other_data(folder: Path, data: Path) -> bool:
    """Whether a file is not the one that the results of a study are of.

    No clock is asked, which may have been moved meanwhile, but for results of a version that noted nothing.
    """
    try:
        return (folder / OUTPUT / _RAN_ON).read_text() != _mark_of(data)
    except FileNotFoundError:
        results = folder / OUTPUT / FILE
        return data.exists() and results.exists() and data.stat().st_mtime_ns > results.stat().st_mtime_ns


def _mark_of(data: Path) -> str:
    state = data.stat()
    return f"{data.name} {state.st_size} {state.st_mtime_ns}"


def portable_plan(plan: Plan) -> Plan:
    """Return a plan that names its file without a folder, to be run where the file is."""
    if plan.data is None or plan.data.path is None:
        return plan
    return plan.with_(data=replace(plan.data, path=PurePath(plan.data.path).name))


def rename_file(error: EvenhandError, file: str, label: str) -> EvenhandError:
    """Return an error about a file with the name that the person knows, and without any folder."""
    words = [part if not isinstance(part, str) else part.replace(file, label) for part in error.args]
    error.args = tuple(words)
    return error


def file_label(choice: DataChoice) -> str:
    """Return what the person calls the file: one name without a folder.

    >>> from evenhand.app.state.record import DataChoice
    >>> file_label(DataChoice(source="upload", label="../people.csv", file="ab12.csv"))
    'people.csv'
    """
    name = PurePath(choice.label.replace("\\", "/")).name
    return name if name.strip(". ") else choice.file


def source_of(record: StudyRecord) -> DataSource:
    """Return where the data comes from as a person types it: the name of the file or of the data set."""
    choice = _chosen(record)
    if choice.source == "dataset":
        return DataSource(dataset=choice.dataset, options=dict(choice.options))
    return DataSource(path=file_label(choice))


def _chosen(record: StudyRecord) -> DataChoice:
    if record.data is None:
        raise InvalidParameterError("data", owner="the study", must_be="chosen first", got="none")
    return record.data


def _whole(given: object) -> int | None:
    """Return a whole number as a form has it; None for what is none, which the plan refuses."""
    text = str(given if given is not None else "").strip().replace(",", "")
    return int(text) if text.isdecimal() else None
