"""Declare a kind of study: which settings it compares, how it prepares rows, runs cells and reads results.

Everything else in :mod:`evenhand.study` works for any kind. A further kind is a subclass of :class:`Task` and
one line in :mod:`evenhand.study.tasks.registry`.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, Self

import numpy as np

from evenhand._validate import one_of
from evenhand.answer.case import Case
from evenhand.answer.effects import EffectTable, Option
from evenhand.errors import InvalidParameterError, PlanError
from evenhand.report.language import LANGUAGES
from evenhand.report.words import number
from evenhand.study.page.words import words_in
from evenhand.study.plan.cells import page_setting
from evenhand.study.plan.script import ScriptCell, script_cells
from evenhand.study.tasks.measure import Measure, count_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Cell, Setting
    from evenhand.study.plan.facts import Facts
    from evenhand.study.plan.source import DataSource
    from evenhand.study.store.outcome import Outcome

    Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """The rows of a study as integer codes, which every cell reads and none changes.

    `codes` are those of the columns that the task reads, in the schema's order. `target` is 1 where a person
    has the positive outcome. `group` is each person's place in ``facts.groups``, beyond them where it is not
    stated, and `places` that of each code of the schema's group column, for tables that are counted by code.
    `people` tells whose row each is, where several rows of one person may count.
    """

    facts: Facts
    codes: Mapping[str, Codes]
    target: NDArray[np.uint8]
    group: Codes
    survey_weights: NDArray[np.float64] | None = field(default=None, kw_only=True)
    people: NDArray[np.intp] | None = field(default=None, kw_only=True)
    places: tuple[int, ...] = field(default=(), kw_only=True)

    def weights_of(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Return the survey weights of some rows; None where there are none."""
        return None if self.survey_weights is None else self.survey_weights[rows]

    def __repr__(self) -> str:
        return f"Prepared rows of {self.facts.label}: {', '.join(self.codes)}"

    def stated(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of the rows whose people are in a group that is compared."""
        return rows[self.group[rows] < len(self.facts.groups)]

    def subset(self, rows: int) -> Prepared:
        """Return evenly spaced rows of each outcome, at most so many in all; all of them if these are few."""
        people = self.facts.rows
        if rows >= people:
            return self
        order = np.argsort(self.target, kind="stable")
        chosen = np.sort(order[np.linspace(0, people - 1, rows).astype(np.intp)])
        arrays = {each.name: getattr(self, each.name) for each in fields(self)}
        changes: dict[str, Any] = {
            name: value[chosen] for name, value in arrays.items() if isinstance(value, np.ndarray)
        }
        changes["codes"] = {name: codes[chosen] for name, codes in self.codes.items()}
        return replace(self, facts=replace(self.facts, rows=rows), **changes)


class StudyPlan(Protocol):
    """Hold what a task reads of :class:`evenhand.study.Plan`, which imports tasks."""

    @property
    def data(self) -> DataSource | None:
        """Where the rows come from."""

    @property
    def seed(self) -> int:
        """Everything that is drawn derives from it."""

    @property
    def name(self) -> str:
        """Return what the study is called."""

    def to_toml(self) -> str:
        """Return the plan as TOML."""


class Task(ABC):
    """One kind of study. Every task is frozen, and equal to another with the same fields.

    A subclass has its constructor's parameters as fields, in a plan file too.
    """

    kind: ClassVar[str]
    """Its name in plan files and on the command line."""

    default_repeats: ClassVar[int] = 10
    """How often each setting is run unless a plan says otherwise."""

    audit_epsilons: ClassVar[tuple[str, ...]] = ()
    audit_mechanisms: ClassVar[tuple[str, ...]] = ()
    """What ``evenhand audit`` compares where no option says otherwise; a plan in Python names its own."""

    is_exact: ClassVar[bool] = False
    """Whether results are computed and not drawn, so that a single repeat has nothing to vary."""

    key_measures: ClassVar[tuple[str, ...]] = ()
    """The measures that a short table shows first."""

    effect_names: ClassVar[tuple[str, ...]] = ()
    """The effects of its table from whose size on somebody may choose what matters; by default any."""

    checks: ClassVar[tuple[str, ...]] = ()
    """What is looked at before it runs: people, groups, outcomes, secrets, proxies or counts."""

    keeps_schema: ClassVar[bool] = False
    """Whether the schema is saved in the folder of a study, where the command that follows reads it."""

    unweighted: ClassVar[str] = ""
    """Which of its numbers survey weights leave as they are, as the end of a sentence."""

    packages: ClassVar[tuple[str, ...]] = ()
    """Optional packages on which the results of every such study depend."""

    # --- what is compared and measured ------------------------------------------------------------

    @property
    @abstractmethod
    def measures(self) -> Mapping[str, Measure]:
        """Return what every cell measures, by name and in order."""

    @property
    def group_numbers(self) -> Mapping[str, Measure]:
        """Return what every cell tells of each group, by name and in order."""
        return {}

    @property
    def data_numbers(self) -> tuple[str, ...]:
        """Return what every cell tells besides, by name and in order."""
        return ()

    def measure(self, name: str) -> Measure:
        """Return what is known of a measure; one of another study may have any value."""
        found = self.measures.get(name)
        return found or Measure(name, low=-math.inf, better="higher")

    def group_number(self, name: str) -> Measure:
        """Return what is known of a number of each group."""
        return self.group_numbers.get(name) or count_of(name)

    def amount_text(self, value: float) -> str:
        """Return an amount of what the task deals with, as its report writes it."""
        return number(value, 2)

    @abstractmethod
    def settings(self) -> Iterator[Setting]:
        """Yield every protected setting once."""

    def name_setting(self, setting: Setting) -> str:
        """Return a setting in words, as lists to choose from and tables have it."""
        return str(setting)

    def is_first_step(self, setting: Setting) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether a protected setting is without a remedy, so that a page may be about it."""
        return True

    def find_page(self, settings: Iterable[Setting]) -> Setting:
        """Return the setting that a page is about: the nearest to epsilon 1 that is without a remedy.

        It is fixed before results are seen.
        """
        protected = [each for each in settings if each.is_protected]
        return page_setting([each for each in protected if self.is_first_step(each)] or protected)

    @property
    def overlap(self) -> float:
        """Test rows per training row of one repeat; 0 where rows are not split."""
        return 0.0

    @property
    def used_packages(self) -> tuple[str, ...]:
        """The optional packages on which the results of this study depend."""
        return self.packages

    def with_(self, **changes: Any) -> Self:
        """Return the task with some of its fields replaced."""
        return replace(self, **changes)  # type: ignore[type-var]

    # --- running ----------------------------------------------------------------------------------

    def prepare(self, plan: StudyPlan, *, frame: Any = None) -> Prepared:
        """Load and encode the rows of a plan; refuse what cannot be run before anything runs.

        It is the function ``prepare(task, plan, frame=...)`` of the module ``prepare`` in the task's folder,
        which is imported when it is called for.
        """
        prepared: Prepared = _beside(self, "prepare")(self, plan, frame=frame)
        return prepared

    def execute(self, cell: Cell, *, plan: StudyPlan, prepared: Any) -> Outcome:
        """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

        It is the function ``execute(task, cell, seed=..., prepared=...)`` of the module ``execute`` in the
        task's folder, which is imported when it is called for.
        """
        outcome: Outcome = _beside(self, "execute")(self, cell, seed=plan.seed, prepared=prepared)
        return outcome

    def remedies(self, page: Setting, facts: Facts) -> tuple[Setting, ...]:
        """Return what may make a page's setting fairer at its epsilon, the simplest first.

        None of them is among :meth:`settings`. It is the function ``remedies(task, page, facts)`` of the
        module ``remedies`` in the task's folder; a kind without it knows none.
        """
        make = _beside(self, "remedies")
        return () if make is None else tuple(make(self, page, facts))

    # --- reading ----------------------------------------------------------------------------------

    def effects(self, results: Any, *, page: Setting | None = None) -> EffectTable:
        """Return what happens to each group under each setting; `page` is the setting that a page is about.

        It is the function ``effects(task, results, page=...)`` of the module ``effects`` in the task's
        folder, which is imported when it is called for. A kind without it stores nothing of groups.
        """
        make = _beside(self, "effects")
        if make is None:
            protected = [each for each in results.settings if each.is_protected]
            options = [Option(str(each), "unprotected", method=each.label) for each in protected]
            return EffectTable((Option("unprotected"), *options), (), str(page or protected[0]))
        table: EffectTable = make(self, results, page=page)
        return replace(table, fresh=self._confirm(results, table))

    def case(self, results: Any, *, page: Setting | None = None, language: str = "en") -> Case:
        """Return what a page on the results needs beside its table of effects.

        It is the function ``case(task, results, page=..., language=...)`` of the module ``case`` in the
        task's folder. A kind without it gets a page with the names of its settings.
        """
        one_of("language", language, LANGUAGES, owner="Results.report")
        if page is not None and not page.is_protected:
            raise InvalidParameterError(
                "chosen", owner="Results.report", must_be="a protected setting", got=str(page)
            )
        make = _beside(self, "case")
        if make is None:
            say = words_in(language).say
            return Case(
                self.effects(results, page=page),
                kind=say("default.kind"),
                question=say("default.question"),
                repeats=results.plan.repeats,
                language=language,
            )
        case: Case = make(self, results, page=page, language=language)
        fresh = self._confirm(results, case.table)
        return replace(case, table=replace(case.table, fresh=fresh))

    def _confirm(self, results: Any, table: EffectTable) -> EffectTable | None:
        """Return the table of the fresh repeats in which a remedy was run again, if there are such."""
        if results.fresh is None:
            return None
        page = next(each for each in results.settings if str(each) == table.page)
        return self.effects(results.fresh, page=page)

    def advised(self, *, owner: str, parameter: str) -> Any:
        """Return the task itself where its protocols can be recommended; refuse it elsewhere."""
        must_be = "of a collection, for protocols are recommended"
        got = f"one of the task '{self.kind}'"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=got)

    def command(self, plan: StudyPlan, *, file: str = "plan.toml") -> str:  # noqa: ARG002 - a task may say more
        """Return the command line that repeats a plan which stands in a file."""
        return f"evenhand audit --plan {file}"

    def script(self, plan: StudyPlan, *, name: str, language: str = "en") -> tuple[ScriptCell, ...]:
        """Return the cells of Python that repeat a plan; the files that they write begin with `name`."""
        data = "" if plan.data is None else f" of {plan.data.label}"
        title = plan.name or f"evenhand audit {self.kind}{data}"
        return script_cells(plan.to_toml(), title=title, name=name, language=language)

    def write_more(self, results: Any, folder: Path, *, frame: Any = None) -> dict[str, Path]:  # noqa: ARG002 - as above
        """Write files that this kind alone has into the folder of a study; return their paths by their words.

        It is given the results, and the rows if they are in memory.
        """
        return {}

    def next_command(self, setting: Setting, schema: Schema, *, data: str, file: str) -> str:  # noqa: ARG002 - as above
        """Return the command line that does what a setting tested; an empty text if there is none."""
        return ""

    # --- files ------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def fixed(self) -> dict[str, Any]:
        """Return what all cells share, in JSON's types: everything but the grid."""

    @abstractmethod
    def to_toml(self) -> dict[str, Any]:
        """Return the task as the ``[task]`` table of a plan file, ``kind`` first."""

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> Task:
        """Return the task of a ``[task]`` table without its kind."""
        return cls(**table)

    @classmethod
    def toml_fields(cls) -> tuple[str, ...]:
        """Return the fields that the table may have besides its kind."""
        return tuple(inspect.signature(cls).parameters)

    @classmethod
    def field_of(cls, error: Exception) -> str:
        """Return the field that an error of the constructor is about."""
        return getattr(error, "parameter", "")


def _beside(task: Task, name: str) -> Any:
    """Return the function that the module of its name in the task's folder has; None without the module."""
    folder = type(task).__module__.rpartition(".")[0]
    if not folder or find_spec(f"{folder}.{name}") is None:
        return None
    return getattr(import_module(f"{folder}.{name}"), name)


def refuse_field(field: str, why: str) -> NoReturn:
    """Refuse a plan by the field that is wrong with it."""
    raise PlanError(f"The plan field '{field}' {why}", field=field) from None
