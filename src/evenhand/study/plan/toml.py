"""Plan files: TOML that a person can read, write and check. Every fault names its field."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import tomli_w

from evenhand._notes import Note
from evenhand.errors import EvenhandError, PlanError, SchemaError, UnknownNameError
from evenhand.schema import Schema
from evenhand.schema.text import brief
from evenhand.schema.toml import MAX_BYTES, parse_toml, read_text
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.base import StudyPlan
from evenhand.study.tasks.registry import DEFAULT_KIND, KINDS, task_of_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from os import PathLike

    from evenhand.study.tasks.base import Task

__all__ = ["FORMAT", "plan_from", "read_plan", "written"]

P = TypeVar("P")

FORMAT = 1
_PLAIN = ("name", "seed", "repeats", "measures", "notes")
_TABLES = ("data", "task", "schema")
_DATA = ("path", "dataset", "options", "rows")
_OLD_KIND = "classify"


class WrittenPlan(StudyPlan, Protocol):
    """A plan with the measures that it shows."""

    @property
    def measures(self) -> tuple[str, ...]:
        """What reports and tables show."""


def written(plan: WrittenPlan) -> str:
    """Return the one text that stands for `plan`."""
    document: dict[str, Any] = {"format": FORMAT}
    document |= {"name": plan.name} if plan.name else {}
    document |= {"seed": plan.seed, "repeats": plan.repeats, "measures": list(plan.measures)}
    document |= {"notes": [Note.of(note).plain for note in plan.notes]} if plan.notes else {}
    if plan.data is not None:
        document["data"] = {key: value for key, value in vars(plan.data).items() if value not in (None, {})}
    document["task"] = plan.task.to_toml()
    if plan.schema is not None:
        document["schema"] = tomllib.loads(plan.schema.to_toml())
    return tomli_w.dumps(document)


def read_plan(path: str | PathLike[str], *, build: Callable[..., P]) -> P:
    """Return the plan in a file; paths in it are taken from the file's folder."""
    try:
        text = read_text(path, max_bytes=MAX_BYTES, what="plan")
    except SchemaError as error:
        raise PlanError(str(error), field="file") from None
    return plan_from(text, build=build, folder=Path(path).parent)


def plan_from(text: str, *, build: Callable[..., P], folder: Path | None = None) -> P:
    """Return the plan that a text describes.

    Parameters
    ----------
    text : str
    build : callable
        From the parts of a plan, by keyword, to the plan: :class:`evenhand.study.Plan`.
    folder : path, optional
        From where relative paths are taken.
    """
    try:
        document = parse_toml(text, max_bytes=MAX_BYTES, what="plan")
    except SchemaError as error:
        raise PlanError(str(error), field="file") from None
    _refuse_old_form(document)
    _refuse_unknown_fields(document, ("format", *_PLAIN, *_TABLES), prefix="")
    if "format" not in document:
        _refuse("format", "is missing.")
    if type(document["format"]) is not int or document["format"] != FORMAT:
        _refuse("format", f"must be {FORMAT}, the only format there is.")
    parts: dict[str, Any] = {key: document[key] for key in _PLAIN if key in document}
    if "data" in document:
        parts["data"] = _read_data(_table(document, "data"), folder)
    if "task" in document:
        parts["task"] = _read_task(_table(document, "task"))
    if "schema" in document:
        parts["schema"] = _read_schema(document["schema"], folder)
    _check_plain(parts, build)
    return build(**parts)


def _read_data(table: dict[str, Any], folder: Path | None) -> DataSource:
    _refuse_unknown_fields(table, _DATA, prefix="data.")
    path = table.get("path")
    if folder is not None and isinstance(path, str):
        table = {**table, "path": str(folder / path)}
    made: DataSource = _build_part("data", DataSource, table)
    return made


def _read_task(table: dict[str, Any]) -> Task:
    kind = table.get("kind", DEFAULT_KIND)
    if not isinstance(kind, str) or kind not in KINDS:
        _refuse("task.kind", f"must be one of {', '.join(KINDS)}.")
    task = task_of_kind(kind)
    _refuse_unknown_fields(table, ("kind", *task.toml_fields()), prefix="task.")
    given = {key: value for key, value in table.items() if key != "kind"}
    made: Task = _build_part("task", task.from_toml, given, field_of=task.field_of)
    return made


def _refuse_old_form(document: dict[str, Any]) -> None:
    """Refuse a plan of the form that had a [collect] table beside its task, and show the form of today."""
    task = document.get("task")
    is_old = isinstance(task, dict) and task.get("kind") == _OLD_KIND
    if "collect" not in document and not is_old:
        return
    grid = document.get("collect")
    table = {**(grid if isinstance(grid, dict) else {}), **(task if isinstance(task, dict) else {})}
    kind = table.pop("kind", _OLD_KIND)
    if kind != _OLD_KIND:
        _refuse("collect", f"does not go with the task '{kind}', which names its mechanisms itself.")
    new = tomli_w.dumps({"task": {"kind": DEFAULT_KIND, **table}})
    why = "is of an older form: everything of a task stands in one [task] table now."
    _refuse("collect" if "collect" in document else "task.kind", f"{why} Hint: write instead\n{new}")


def _read_schema(given: object, folder: Path | None) -> Schema:
    """Return the schema that stands in the plan, or in the file that it names."""
    if not isinstance(given, str | dict):
        _refuse("schema", "must be a table, or the path of a schema file.")
    try:
        if isinstance(given, str):
            return Schema.load(given if folder is None else folder / given)
        return Schema.from_toml(tomli_w.dumps(given))
    except EvenhandError as error:
        field = getattr(error, "field", "")
        _refuse(f"schema.{field}" if field else "schema", f"is not valid. {error}")


def _check_plain(parts: dict[str, Any], build: Callable[..., Any]) -> None:
    """Refuse plain fields that a plan cannot have, by name."""
    for key in _PLAIN:
        if key in parts:
            if key == "measures" and not isinstance(parts[key], list):
                _refuse(key, "must be a list of names.")
            beside = {"task": parts["task"]} if key == "measures" and "task" in parts else {}
            _build_part("", build, {key: parts[key], **beside})


def _build_part(
    prefix: str,
    maker: Callable[..., Any],
    given: dict[str, Any],
    *,
    field_of: Callable[[Exception], str] = lambda error: getattr(error, "parameter", ""),
) -> Any:
    """Call `maker`; what it refuses is a fault of the field that it names."""
    try:
        return maker(given) if prefix == "task" else maker(**given)
    except PlanError:
        raise
    except EvenhandError as error:
        parameter = field_of(error)
        owner = f"The '{parameter}' parameter of {getattr(error, 'owner', '')} must be"
        said = str(error)
        why = said.replace(owner, "must be", 1) if said.startswith(owner) else f"is not valid. {said}"
        _refuse(".".join(part for part in (prefix, parameter) if part), why)


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(document[key], dict):
        _refuse(key, f"must be a [{key}] table.")
    table: dict[str, Any] = document[key]
    return table


def _refuse_unknown_fields(table: dict[str, Any], known: Collection[str], *, prefix: str) -> None:
    """Refuse a table with a field that a plan does not have, and name the nearest one."""
    for key in table:
        if key not in known:
            name = brief(key) or '""'
            place = "a field of a plan"
            _refuse(f"{prefix}{name}", f"is not known. {UnknownNameError('Field', name, known, place=place)}")


def _refuse(field: str, why: str) -> NoReturn:
    raise PlanError(f"The plan field '{field}' {why}", field=field) from None
