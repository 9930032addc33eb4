"""Plans: a whole study in one frozen object and one small file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand._notes import KINDS, Note
from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.schema import Schema
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.source import DataSource
from evenhand.study.plan.toml import plan_from, read_plan, written
from evenhand.study.tasks.base import Task
from evenhand.study.tasks.registry import DEFAULT_KIND, task_of_kind
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

__all__ = ["Plan"]

_OWNER = "Plan"


def _default_task() -> Task:
    return task_of_kind(DEFAULT_KIND)()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a study does: data, roles, mechanisms, task, measures, repeats and seed.

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
    task: Task = field(default_factory=_default_task)
    measures: tuple[str, ...] = ()
    repeats: int = None  # type: ignore[assignment]  # the task's own number
    seed: int = 0
    name: str = ""
    notes: tuple[str, ...] = ()  # each a Note

    def __post_init__(self) -> None:
        kinds = {
            "data": DataSource | None,
            "schema": Schema | None,
            "task": Task,
        }
        for parameter, kind in kinds.items():
            given = getattr(self, parameter)
            if not isinstance(given, kind):
                must_be = f"a {getattr(kind, '__name__', kind)}"
                got = f"a value of type {type(given).__name__}"
                raise InvalidParameterError(parameter, owner=_OWNER, must_be=must_be, got=got)
        object.__setattr__(self, "measures", self._measures())
        asked: object = self.repeats
        repeats = self.task.default_repeats if asked is None else self.repeats
        repeats = integer("repeats", repeats, owner=_OWNER, low=1, high=100_000)
        object.__setattr__(self, "repeats", repeats)
        object.__setattr__(self, "seed", integer("seed", self.seed, owner=_OWNER, low=0, high=2**31))
        if not _is_text(self.name):
            raise InvalidParameterError("name", owner=_OWNER, must_be="a text", got=ascii(self.name))
        said: object = self.notes
        if not isinstance(said, tuple | list) or not all(_is_note(each) for each in said):
            must_be = "a list of sentences, or of tables with 'kind' and 'text'"
            raise InvalidParameterError("notes", owner=_OWNER, must_be=must_be, got=ascii(said))
        object.__setattr__(self, "notes", tuple(Note.of(each) for each in said))

    def _measures(self) -> tuple[str, ...]:
        """Return the measures that are asked for, or all of the task's."""
        named: object = self.measures
        listed = [named] if isinstance(named, str) else list(self.measures)
        known = tuple(self.task.measures)
        return tuple(one_of("measures", name, known, owner=_OWNER) for name in listed) or known

    def settings(self) -> tuple[Setting, ...]:
        """Return every setting, the unprotected one first."""
        return (Setting(), *self.task.settings())

    def cells(self) -> tuple[Cell, ...]:
        """Return every cell, repeat by repeat, so that a study that is stopped has whole repeats."""
        settings = self.settings()
        return tuple(Cell(setting, repeat) for repeat in range(self.repeats) for setting in settings)

    def with_(self, **changes: Any) -> Plan:
        """Return the plan with some of its parts replaced.

        >>> Plan().with_(repeats=2).repeats
        2
        """
        if "task" in changes and self.measures == tuple(self.task.measures):
            changes = {"measures": (), **changes}  # all of the other task's, as all of this one's
        return replace(self, **changes)

    # --- files ------------------------------------------------------------------------------------

    def to_toml(self) -> str:
        """Return the plan as TOML; equal plans give equal text."""
        return written(self)

    @classmethod
    def from_toml(cls, text: str, *, folder: Path | None = None) -> Plan:
        """Return the plan that a TOML text describes, see :meth:`load`; its paths are taken from `folder`."""
        return plan_from(text, build=cls, folder=folder)

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
        return read_plan(path, build=cls)


def _is_note(given: object) -> bool:
    """Whether it is a sentence, or a table with a known kind and a sentence."""
    if isinstance(given, dict):
        return given.keys() == {"kind", "text"} and given["kind"] in KINDS and _is_text(given["text"])
    return _is_text(given)


def _is_text(given: object) -> bool:
    """Whether it is a text that can be written; half a surrogate pair cannot."""
    try:
        return isinstance(given, str) and given.encode() is not None
    except UnicodeEncodeError:
        return False
