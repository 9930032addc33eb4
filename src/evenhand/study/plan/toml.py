"""Plan files: TOML that a person can read, write and check. Every fault names its field."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import tomli_w

from evenhand.errors import EvenhandError, PlanError, RuleError, SchemaError, UnknownNameError
from evenhand.privacy.rational import as_text
from evenhand.schema import Schema
from evenhand.schema.parsing import MAX_BYTES, parsed, read_text
from evenhand.schema.text import brief
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.grid import Collect
from evenhand.study.tasks.collect.task import OWN, Classify
from evenhand.study.tasks.registry import TASKS, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from os import PathLike

    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.collect.grid import Mechanism

__all__ = ["FORMAT", "plan_from", "read_plan", "written"]

FORMAT = 1
_PLAIN = ("name", "seed", "repeats", "measures", "notes")
_TABLES = ("data", "collect", "task", "schema")
_UNNAMED = {"collect": "protocols", "task": "mechanisms"}
_KEYS = {
    "data": ("path", "dataset", "options", "rows"),
    "collect": ("protocols", "epsilons", "splits", "strategies"),
    "classify": ("kind", "model", "parameters", "encoder", "test", "folds"),
    "release": (
        "kind",
        "columns",
        "mechanisms",
        "epsilons",
        "unit",
        "bound",
        "post",
        "classify",
        "test",
        "draws",
    ),
    "decide": (
        "kind",
        "rule",
        "count",
        "weight",
        "budget",
        "name",
        "groups",
        "mechanisms",
        "epsilons",
        "touches",
        "unit",
        "post",
        "mitigations",
        "draws",
        "currency",
    ),
    "learn": (
        "kind",
        "ways",
        "epsilons",
        "delta",
        "gap",
        "unit",
        "holdout",
        "test",
        "group_as_input",
        "strength",
        "epochs",
    ),
}


def written(plan: Plan) -> str:
    """Return the one text that stands for `plan`."""
    document: dict[str, Any] = {"format": FORMAT}
    document |= {"name": plan.name} if plan.name else {}
    document |= {"seed": plan.seed, "repeats": plan.repeats, "measures": list(plan.measures)}
    document |= {"notes": list(plan.notes)} if plan.notes else {}
    if plan.data is not None:
        document["data"] = {key: value for key, value in vars(plan.data).items() if value not in (None, {})}
    if not isinstance(plan.task, Classify):
        document["task"] = plan.task.plain
    else:
        document["collect"] = {
            "protocols": [_mechanism(each) for each in plan.collect.protocols],
            "epsilons": [as_text(each) for each in plan.collect.epsilons],
            "splits": list(plan.collect.splits),
            "strategies": list(plan.collect.strategies),
        }
        document["task"] = _task(plan.task)
    if plan.schema is not None:
        document["schema"] = tomllib.loads(plan.schema.to_toml())
    return tomli_w.dumps(document)


def _mechanism(mechanism: Mechanism) -> str | dict[str, Any]:
    return {"name": mechanism.name, **mechanism.parameters} if mechanism.parameters else mechanism.name


def _task(task: Classify) -> dict[str, Any]:
    model = task.model if isinstance(task.model, str) else f"{OWN}{task.model_name}"
    rows = {"test": task.test} if task.folds is None else {"folds": task.folds}
    parameters = {"parameters": dict(task.parameters)} if task.parameters else {}
    return {"kind": task.kind, "model": model, "encoder": task.encoder, **rows, **parameters}


def read_plan(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the parts of the plan in a file; paths in it are taken from the file's folder."""
    try:
        text = read_text(path, max_bytes=MAX_BYTES, what="plan")
    except SchemaError as error:
        raise PlanError(str(error), field="file") from None
    return plan_from(text, folder=Path(path).parent)


def plan_from(text: str, *, folder: Path | None = None) -> dict[str, Any]:
    """Return the parts of a plan, as arguments of Plan."""
    try:
        document = parsed(text, max_bytes=MAX_BYTES, what="plan")
    except SchemaError as error:
        raise PlanError(str(error), field="file") from None
    _known(document, ("format", *_PLAIN, *_TABLES), prefix="")
    if "format" not in document:
        _refuse("format", "is missing.")
    if type(document["format"]) is not int or document["format"] != FORMAT:
        _refuse("format", f"must be {FORMAT}, the only format there is.")
    parts: dict[str, Any] = {key: document[key] for key in _PLAIN if key in document}
    if "data" in document:
        parts["data"] = _read_data(_table(document, "data"), folder)
    if "collect" in document:
        table = _table(document, "collect")
        _known(table, _KEYS["collect"], prefix="collect.")
        parts["collect"] = _made("collect", Collect, table)
    if "task" in document:
        parts["task"] = _read_task(_table(document, "task"))
        kind = parts["task"].kind
        if "collect" in document and kind != "classify":
            _refuse("collect", f"does not go with the task '{kind}', which names its mechanisms itself.")
    if "schema" in document:
        parts["schema"] = _read_schema(document["schema"], folder)
    return _checked(parts)


def _read_data(table: dict[str, Any], folder: Path | None) -> DataSource:
    _known(table, _KEYS["data"], prefix="data.")
    path = table.get("path")
    if folder is not None and isinstance(path, str):
        table = {**table, "path": str(folder / path)}
    made: DataSource = _made("data", DataSource, table)
    return made


def _read_task(table: dict[str, Any]) -> Task:
    kind = table.get("kind", "classify")
    if not isinstance(kind, str) or kind not in TASKS:
        _refuse("task.kind", f"must be one of {', '.join(TASKS)}.")
    _known(table, _KEYS[kind], prefix="task.")
    given = {key: value for key, value in table.items() if key != "kind"}
    if kind == "release" and "columns" not in given:
        _refuse("task.columns", "is missing. Hint: name the columns of the table that is published.")
    made: Task = _made("task", TASKS[kind], given)
    return made


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


def _checked(parts: dict[str, Any]) -> dict[str, Any]:
    """Refuse plain fields that a plan cannot have, by name."""
    from evenhand.study.plan.plan import Plan  # noqa: PLC0415 - it is made of this

    for key in _PLAIN:
        if key in parts:
            if key == "measures" and not isinstance(parts[key], list):
                _refuse(key, "must be a list of names.")
            beside = {"task": parts["task"]} if key == "measures" and "task" in parts else {}
            _made("", Plan, {key: parts[key], **beside})
    return parts


def _made(prefix: str, maker: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Call `maker`; what it refuses is a fault of the field that it names."""
    try:
        return maker(**given)
    except EvenhandError as error:
        unnamed = "rule" if isinstance(error, RuleError) else _UNNAMED.get(prefix, "")
        parameter = getattr(error, "parameter", unnamed)
        owner = f"The '{parameter}' parameter of {getattr(error, 'owner', '')} must be"
        said = str(error)
        why = said.replace(owner, "must be", 1) if said.startswith(owner) else f"is not valid. {said}"
        _refuse(".".join(each for each in (prefix, parameter) if each), why)


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(document[key], dict):
        _refuse(key, f"must be a [{key}] table.")
    table: dict[str, Any] = document[key]
    return table


def _known(table: dict[str, Any], known: Collection[str], *, prefix: str) -> None:
    for key in table:
        if key not in known:
            name = brief(key) or '""'
            place = "a field of a plan"
            _refuse(f"{prefix}{name}", f"is not known. {UnknownNameError('Field', name, known, place=place)}")


def _refuse(field: str, why: str) -> NoReturn:
    raise PlanError(f"The plan field '{field}' {why}", field=field) from None
