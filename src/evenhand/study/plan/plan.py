"""Plans: a whole study in one frozen object, and in one small file.

A plan file is TOML that a person can read, write and check. Every fault names its field.
"""

from __future__ import annotations

import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from evenhand._formats import version_fault
from evenhand._notebook import figures_html
from evenhand._notes import KINDS, Note
from evenhand._validate import boolean, integer, kind_of, one_of, refuse
from evenhand.answer.effects import read_matters
from evenhand.errors import EvenhandError, InvalidParameterError, PlanError, SchemaError, UnknownNameError
from evenhand.schema import Schema
from evenhand.schema.text import brief
from evenhand.schema.toml import MAX_BYTES, parse_toml, read_text
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.base import Task, refuse_field
from evenhand.study.tasks.registry import DEFAULT_KIND, task_of_kind
from evenhand.study.tasks.registry import KINDS as TASK_KINDS
from evenhand.table.file_format import FileFormat
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from os import PathLike

_OWNER = "Plan"
_FORMAT = 1
_PLAIN = ("name", "seed", "repeats", "measures", "matters", "confirm", "notes")
_TABLES = ("data", "task", "schema", "remedies")
_SHOWN = 20
_OLD_KIND = "classify"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Declare what a study does: data, roles, mechanisms, task, measures, repeats and seed.

    Parameters
    ----------
    data : DataSource
        A file or a data set. Without one the study is given its frame when it is run.
    schema : Schema, optional
        Domains and roles. A data set brings its own; a file needs one.
    task : CollectTask, ReleaseTask, LearnTask or DecideTask
        What is compared: reports that people randomise, tables that are published, classifiers that are
        trained, or decisions from counts.
    measures : tuple of str, optional
        Of the task's own: what reports and tables show. By default all, and all of them are stored.
    repeats : int, optional
        How many times each setting is run, with other splits, models and draws. By default 10; 1 where
        something is decided, since those results are exact; and 5 where private classifiers are trained.
    seed : int
        Everything that is drawn derives from it. The split of repeat r has the random state ``seed + r``.
    name : str
        What the study is called in its report.
    matters : text, number or list of them, default ()
        From which amount on an effect counts: ``50`` for all rates, in people of 1,000, and ``"short=2%"``
        for one effect, as a share of what is due to the group. It changes how results are read, not what is
        run; see :mod:`evenhand.answer.effects`.
    remedies : tuple of Setting
        What is tried besides, at the epsilon of the page, to lessen what people pay; see
        :func:`evenhand.study.add_remedies`. They are run after what was asked for.
    confirm : bool, default False
        Whether the remedy that does best is run again with as many fresh repeats, beside the page's setting:
        the best of many looks better than it is.
    notes : tuple of Note
        What a reader of the report should know about how the plan came about; sentences alone are about the
        data.

    Examples
    --------
    >>> from evenhand.study import CollectTask
    >>> plan = Plan(
    ...     data=DataSource(dataset="causal", options={"n": 2000}),
    ...     task=CollectTask(["grr", "oue"], [1, 4]),
    ...     repeats=3,
    ... )
    >>> len(plan.cells())
    15
    >>> Plan.from_toml(plan.to_toml()) == plan
    True
    """

    data: DataSource | None = None
    schema: Schema | None = None
    task: Task = field(default_factory=lambda: task_of_kind(DEFAULT_KIND)())  # noqa: PLW0108 - loaded late
    measures: tuple[str, ...] = ()
    repeats: int = None  # type: ignore[assignment]  # the task's own number
    seed: int = 0
    name: str = ""
    matters: tuple[str, ...] = ()
    remedies: tuple[Setting, ...] = ()
    confirm: bool = False
    notes: tuple[str, ...] = ()  # each a Note

    def __post_init__(self) -> None:
        kinds = {"data": DataSource | None, "schema": Schema | None, "task": Task}
        for parameter, kind in kinds.items():
            given = getattr(self, parameter)
            if not isinstance(given, kind):
                refuse(parameter, _OWNER, f"a {getattr(kind, '__name__', kind)}", kind_of(given))
        asked: object = self.repeats
        repeats = self.task.default_repeats if asked is None else asked
        checked = {
            "measures": self._measures(),
            "matters": self._matters(),
            "repeats": integer("repeats", repeats, owner=_OWNER, low=1, high=100_000),
            "seed": integer("seed", self.seed, owner=_OWNER, low=0, high=2**31),
            "remedies": self._remedies(),
            "confirm": boolean("confirm", self.confirm, owner=_OWNER),
            "notes": self._notes(),
        }
        for parameter, value in checked.items():
            object.__setattr__(self, parameter, value)
        if not _is_text(self.name):
            refuse("name", _OWNER, "a text", ascii(self.name))

    def _notes(self) -> tuple[Note, ...]:
        notes: object = self.notes
        if not isinstance(notes, tuple | list) or not all(map(_is_note, notes)):
            must_be = "a list of sentences, or of tables with 'kind' and 'text'"
            refuse("notes", _OWNER, must_be, ascii(notes))
        return tuple(map(Note.of, notes))

    def _measures(self) -> tuple[str, ...]:
        """Return the measures that are asked for, or all of the task's."""
        named: object = self.measures
        listed = [named] if isinstance(named, str) else list(self.measures)
        known = tuple(self.task.measures)
        return tuple(one_of("measures", name, known, owner=_OWNER) for name in listed) or known

    def _matters(self) -> tuple[str, ...]:
        """Return what matters as texts that can be read."""
        given: object = self.matters
        listed = list(given) if isinstance(given, tuple | list) else [given]
        for each in listed:
            if isinstance(each, bool) or not isinstance(each, str | Real):
                refuse("matters", _OWNER, "amounts above 0, such as 50 or short=2%", kind_of(each))
        words = tuple(map(str, listed))
        read_matters(words, owner=_OWNER, names=self.task.effect_names)
        return words

    def _remedies(self) -> tuple[Setting, ...]:
        """Return the remedies; refuse what the task tries already."""
        given: object = self.remedies
        if not isinstance(given, tuple | list) or not all(isinstance(each, Setting) for each in given):
            refuse("remedies", _OWNER, "a list of settings", kind_of(given))
        found = tuple(given)
        if len({*found, Setting()} - {*self.task.settings()}) <= len(found):
            refuse("remedies", _OWNER, "settings that the task does not try, once each", "others")
        return found

    def settings(self) -> tuple[Setting, ...]:
        """Return every setting: the unprotected one, those that were asked for, and remedies."""
        return (Setting(), *self.task.settings(), *self.remedies)

    def cells(self) -> tuple[Cell, ...]:
        """Return every cell that is known before any is run, those of remedies last.

        They go repeat by repeat, so that a study that is stopped has whole repeats.
        """
        asked = (Setting(), *self.task.settings())
        return tuple(
            Cell(setting, repeat)
            for settings in (asked, self.remedies)
            for repeat in range(self.repeats)
            for setting in settings
        )

    def confirming_cells(self, settings: Iterable[Setting]) -> tuple[Cell, ...]:
        """Return the cells that run some settings again, with as many fresh repeats."""
        fresh = range(self.repeats, 2 * self.repeats)
        chosen = tuple(settings)
        return tuple(Cell(setting, repeat) for repeat in fresh for setting in chosen)

    def possible_cells(self) -> tuple[Cell, ...]:
        """Return every cell that may have a result: those to confirm a remedy too, whichever it will be."""
        return self.cells() + (self.confirming_cells(self.settings()) if self.confirm else ())

    def with_(self, **changes: Any) -> Plan:
        """Return the plan with some of its parts replaced.

        >>> Plan().with_(repeats=2).repeats
        2
        """
        if "task" in changes and self.measures == tuple(self.task.measures):
            changes = {"measures": (), **changes}  # all of the other task's, as all of this one's
        if isinstance(changes.get("task"), Task):
            asked = {*changes["task"].settings()}
            changes = {"remedies": tuple(each for each in self.remedies if each not in asked), **changes}
        return replace(self, **changes)

    def _repr_html_(self) -> str:
        data = "given when it is run" if self.data is None else self.data.label
        figures = [("data", data), ("kind of study", self.task.kind)]
        figures += [("settings", "; ".join(str(setting) for setting in self.settings()[:_SHOWN]))]
        figures += [("", f"… {more:,} more")] if (more := len(self.settings()) - _SHOWN) > 0 else []
        figures += [("repeats", str(self.repeats)), ("seed", str(self.seed))]
        shown = figures_html(f"Plan {self.name}".strip(), figures)
        return shown if self.schema is None else f"{shown}{self.schema._repr_html_()}"

    # --- files ------------------------------------------------------------------------------------

    def to_toml(self) -> str:
        """Return the plan as TOML; equal plans give equal text."""
        document: dict[str, Any] = {"format": _FORMAT}
        document |= {"name": self.name} if self.name else {}
        document |= {"seed": self.seed, "repeats": self.repeats, "measures": list(self.measures)}
        document |= {"matters": list(self.matters)} if self.matters else {}
        document |= {"confirm": True} if self.confirm else {}
        document |= {"notes": [Note.of(note).plain for note in self.notes]} if self.notes else {}
        if self.data is not None:
            written = self.data.file_format
            given = {**vars(self.data), "file_format": None if written is None else written.parts}
            document["data"] = {key: value for key, value in given.items() if value not in (None, {})}
        document["task"] = self.task.to_toml()
        if self.remedies:
            document["remedies"] = [_write_setting(each) for each in self.remedies]
        if self.schema is not None:
            document["schema"] = tomllib.loads(self.schema.to_toml())
        return tomli_w.dumps(document)

    @classmethod
    def from_toml(cls, text: str, *, folder: Path | None = None) -> Plan:
        """Return the plan that a TOML text describes, see :meth:`load`; its paths are taken from `folder`."""
        try:
            document = parse_toml(text, max_bytes=MAX_BYTES, what="plan")
        except SchemaError as error:
            raise PlanError(str(error), field="file") from None
        parts = _read_parts(document, folder)
        with _name_field():
            return cls(**parts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan to a TOML file; an old file stays whole until the new one is."""
        with replacing(path) as file:
            file.write(self.to_toml().encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Plan:
        """Return the plan in a TOML file.

        A relative path of data or schema in it is taken from the plan's own folder.

        Raises
        ------
        PlanError
            If a field is missing, unknown or has a value it cannot have; the message names the field.
        UnreadableFileError
            If the file cannot be read.
        """
        try:
            text = read_text(path, max_bytes=MAX_BYTES, what="plan")
        except SchemaError as error:
            raise PlanError(str(error), field="file") from None
        return cls.from_toml(text, folder=Path(path).parent)


def _write_setting(setting: Setting) -> dict[str, Any]:
    """Return a setting as a table of a plan file."""
    table = {"label": setting.label, **setting.key}
    return {name: value for name, value in table.items() if value not in (None, {}, "")}


def _is_note(given: object) -> bool:
    """Return whether it is a sentence, or a table with a known kind and a sentence."""
    if isinstance(given, dict):
        return given.keys() == {"kind", "text"} and given["kind"] in KINDS and _is_text(given["text"])
    return _is_text(given)


def _is_text(given: object) -> bool:
    """Return whether it is a text that can be written; half a surrogate pair cannot."""
    try:
        return isinstance(given, str) and given.encode() is not None
    except UnicodeEncodeError:
        return False


# --- plan files ------------------------------------------------------------------------------------


def _read_parts(document: dict[str, Any], folder: Path | None) -> dict[str, Any]:
    """Return the parts of the plan that a document describes; relative paths are taken from the folder."""
    version = document.get("format", _FORMAT)
    fault = version_fault(version, newest=_FORMAT) if type(version) is int else ""
    if fault:  # before its fields, of which a newer form may have others
        refuse_field("format", f"says that the file {fault}")
    _refuse_old_form(document)
    _refuse_unknown_fields(document, ("format", *_PLAIN, *_TABLES), prefix="")
    if "format" not in document:
        refuse_field("format", f"is missing. Hint: begin the file with format = {_FORMAT}.")
    if type(version) is not int:
        refuse_field("format", f"must be {_FORMAT}, the only format there is.")
    for key in ("data", "task"):
        if not isinstance(document.get(key, {}), dict):
            refuse_field(key, f"must be a [{key}] table.")
    if not isinstance(document.get("measures", []), list):
        refuse_field("measures", "must be a list of names.")
    readers: dict[str, Callable[[Any], Any]] = {
        "data": lambda table: _read_data(table, folder),
        "task": _read_task,
        "remedies": _read_remedies,
        "schema": lambda given: _read_schema(given, folder),
    }
    tables = {key: read(document[key]) for key, read in readers.items() if key in document}
    return {**{key: document[key] for key in _PLAIN if key in document}, **tables}


def _read_remedies(tables: object) -> list[Setting]:
    """Return the settings of tables as a plan writes them."""
    kinds = {"label": str, "mechanism": str, "epsilon": str, "options": dict}
    must_be = "must be tables as a plan writes them. Hint: leave the remedies out."
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        refuse_field("remedies", must_be)
    for table in tables:
        _refuse_unknown_fields(table, kinds, prefix="remedies.")
        if any(not isinstance(value, kinds[name]) for name, value in table.items()):
            refuse_field("remedies", must_be)
    try:
        return [
            Setting(**{**table, "epsilon": Fraction(table["epsilon"]) if "epsilon" in table else None})
            for table in tables
        ]
    except (ValueError, ZeroDivisionError):
        refuse_field("remedies.epsilon", "must be a number above 0.")


def _read_data(table: dict[str, Any], folder: Path | None) -> DataSource:
    _refuse_unknown_fields(table, [part.name for part in fields(DataSource)], prefix="data.")
    path = table.get("path")
    if folder is not None and isinstance(path, str):
        table = {**table, "path": str(folder / path)}
    if "file_format" in table:
        parts = table["file_format"]
        if not isinstance(parts, dict):
            refuse_field("data.file_format", "must be a [data.file_format] table.")
        _refuse_unknown_fields(parts, [part.name for part in fields(FileFormat)], prefix="data.file_format.")
        with _name_field("data.file_format"):
            table = {**table, "file_format": FileFormat(**parts)}
    with _name_field("data"):
        return DataSource(**table)


def _read_task(table: dict[str, Any]) -> Task:
    kind = table.get("kind", DEFAULT_KIND)
    if not isinstance(kind, str) or kind not in TASK_KINDS:
        refuse_field("task.kind", f"must be one of {', '.join(TASK_KINDS)}.")
    known = task_of_kind(kind)
    _refuse_unknown_fields(table, ("kind", *known.toml_fields()), prefix="task.")
    with _name_field("task", known.field_of):
        return known.from_toml({key: value for key, value in table.items() if key != "kind"})


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
        refuse_field("collect", f"does not go with the task '{kind}', which names its mechanisms itself.")
    new = tomli_w.dumps({"task": {"kind": DEFAULT_KIND, **table}})
    why = "is of an older form: everything of a task stands in one [task] table now."
    refuse_field("collect" if "collect" in document else "task.kind", f"{why} Hint: write instead\n{new}")


def _read_schema(given: object, folder: Path | None) -> Schema:
    """Return the schema that stands in the plan, or in the file that it names."""
    if not isinstance(given, str | dict):
        refuse_field("schema", "must be a table, or the path of a schema file.")
    with _name_field("schema", lambda error: getattr(error, "field", "")):
        if isinstance(given, str):
            return Schema.load(given if folder is None else folder / given)
        return Schema.from_toml(tomli_w.dumps(given))


@contextmanager
def _name_field(
    table: str = "", field_of: Callable[[Exception], str] = lambda error: getattr(error, "parameter", "")
) -> Iterator[None]:
    """Make what is refused within a fault of the field of a table that it is about."""
    try:
        yield
    except PlanError:
        raise
    except EvenhandError as error:
        name = field_of(error)
        why = f"is not valid. {error}"
        if isinstance(error, InvalidParameterError) and error.parameter == name:
            why = error.complaint
        refuse_field(".".join(part for part in (table, name) if part), why)


def _refuse_unknown_fields(table: dict[str, Any], known: Collection[str], *, prefix: str) -> None:
    """Refuse a table with a field that a plan does not have, and name the nearest one."""
    for key in table:
        if key not in known:
            name = brief(key) or '""'
            nearest = UnknownNameError("Field", name, known, place="a field of a plan")
            refuse_field(f"{prefix}{name}", f"is not known. {nearest}")
