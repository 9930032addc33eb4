"""Results: what came of every cell of a study, and what can be read from it."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from evenhand._notebook import aligned, html_table
from evenhand._validate import one_of
from evenhand.answer.case import Command
from evenhand.answer.compose import compose
from evenhand.answer.gaps import judge_gaps
from evenhand.answer.page import build_page
from evenhand.answer.status import EFFECT_COLUMNS
from evenhand.errors import EvenhandError, PluginError
from evenhand.measure.repeat_means import kind_words
from evenhand.report.html import render, write
from evenhand.study.advise.advice import advise
from evenhand.study.page.settling import commands_to_settle
from evenhand.study.page.wording import counted
from evenhand.study.page.words import words_in
from evenhand.study.plan.plan import Plan
from evenhand.study.results.base import ResultData
from evenhand.study.results.estimates import Comparison, estimate
from evenhand.study.results.frames import (
    cell_columns,
    data_columns,
    entity_columns,
    group_columns,
    long_columns,
    short_rows,
    wide_columns,
)
from evenhand.study.results.frontier import frontier_columns
from evenhand.study.results.lookup import measure_named, setting_of
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.store import Store
from evenhand.table.frames import make_frame
from evenhand.table.write import write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from evenhand.answer.case import Case
    from evenhand.answer.effects import EffectTable
    from evenhand.answer.view import View
    from evenhand.measure.repeat_means import Kind
    from evenhand.privacy.rational import Number
    from evenhand.study.advise.advice import Advice
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.base import Task
    from evenhand.table.frames import Backend

PLAN_FILE, SCHEMA_FILE = "plan.toml", "schema.toml"
"""The names of the plan and of the schema in the folder of a study."""

_SHOWN_TEXT = 12
_SHOWN_HTML = 30
_NOT_PRIVATE = "Computed from the true data: these numbers are not private."

TableName = Literal["cells", "effects", "groups", "data", "summary", "frontier"]


class Results(ResultData):
    """The outcomes of a study, in the plan's order whatever order they came in.

    Parameters
    ----------
    plan : Plan
    facts : Facts
    outcomes : iterable of Outcome
        At most one per cell of the plan. Cells without one were not run, as after a cancel.

    Notes
    -----
    Intervals are about the mean over all repeats that could be run on these rows. They cover what repeats
    vary: the rows for training and test, and what the model and the mechanism draw. They do not cover which
    people are in the data, and repeats share rows, so that as statements about new data they are too short.
    ``kind="corrected"`` widens them for that; see :mod:`evenhand.measure.repeat_means`.

    The numbers come from the true data. They are not private.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> from evenhand.study.run.whole import run
    >>> data = DataSource(dataset="causal", options={"n": 300})
    >>> plan = Plan(data=data, task=CollectTask("grr", [1, 4], model="logistic"), repeats=2)
    >>> results = run(plan, workers=1, progress=False)
    >>> len(results), len(results.failures)
    (6, 0)
    >>> results.summary("acc", backend="pyarrow").column_names[4:8]
    ['acc', 'acc_low', 'acc_high', 'acc_runs']
    >>> results.compare("grr 4", "grr 1").pairs
    2
    """

    # --- tables -----------------------------------------------------------------------------------

    def frame(self, backend: Backend | None = None) -> Any:
        """Return one row per cell: the setting, the repeat, its state and every measure.

        Rows are in the plan's order. Epsilon is NaN where nothing is protected, and a measure is NaN where it
        is undefined and in a cell that failed.
        """
        return make_frame(cell_columns(self), backend=backend)

    def groups(self, backend: Backend | None = None) -> Any:
        """Return one row per finished cell and group: every rate, and how many test rows it has."""
        return make_frame(group_columns(self), backend=backend)

    def data(self, backend: Backend | None = None) -> Any:
        """Return one row per finished cell: the disparity of the training labels, true and as reported."""
        return make_frame(data_columns(self), backend=backend)

    def entities(self, backend: Backend | None = None) -> Any:
        """Return one row per finished cell and entity that it kept; only where something is decided.

        Those are the most affected, and some of every size; all of them where there are few.
        """
        return make_frame(entity_columns(self), backend=backend)

    def effects(self, backend: Backend | None = None) -> Any:
        """Return one row per setting, group and effect: what happens to people, and how sure that is.

        Rates are people per 1,000 of the group. ``due`` is what the group has without protection, ``before``
        what it has under the ``reference``; ``harm`` says which direction hurts it, ``bound`` how much it may
        lack at most; ``status`` is ``clear``, ``none``, ``open``, ``unjudged`` or ``not stored``, see
        :mod:`evenhand.answer.status`. Rows whose ``group`` is two groups, as "women and men", are the gap
        between them: the first minus the second, see :mod:`evenhand.answer.gaps`. ``worst`` is what a payment
        comes to in the worst 1 of 20 releases. Of very many places those have rows that lack most, or that a
        remedy makes lack more.
        """
        case, view = self._answer(None, "en")
        rows = (*view.rows, *judge_gaps(case.table))
        columns = {name: [getattr(row, name) for row in rows] for name in EFFECT_COLUMNS}
        return make_frame(columns, backend=backend)

    def summary(
        self,
        measures: str | Iterable[str] | None = None,
        *,
        level: float = 0.95,
        kind: Kind = "seeds",
        shape: Literal["wide", "long"] = "wide",
        backend: Backend | None = None,
    ) -> Any:
        """Return one row per setting: means, intervals, and changes against the unprotected setting.

        Parameters
        ----------
        measures : str or list of str, optional
            By default those of the plan.
        level : float
            Of every interval.
        kind : {"seeds", "corrected", "student"}
            What intervals cover: the seeds of repeats on these rows, or that with a correction for the
            overlap of repeats; see :mod:`evenhand.measure.repeat_means`. None covers by construction which
            people are in the data. ``"student"`` is as ``"seeds"`` without the correction for skewed repeats.
        shape : {"wide", "long"}
            ``"wide"``: for a measure ``acc`` the columns ``acc``, ``acc_low``, ``acc_high``, ``acc_runs``,
            ``acc_change``, ``acc_change_low``, ``acc_change_high`` and ``acc_pairs``. ``"long"``: one row per
            setting and measure, with standard errors and a note.
        backend : {"pandas", "polars", "pyarrow"}, optional

        Notes
        -----
        Values that are undefined, and cells that failed or were not run, are left out and counted: ``runs``
        are the repeats in a mean, ``pairs`` those in a change. With fewer than two, limits are NaN, and so
        are those of ``di``, for which no interval held what it says.
        """
        owner = "Results.summary"
        is_wide = one_of("shape", shape, ("wide", "long"), owner=owner) == "wide"
        summarize = wide_columns if is_wide else long_columns
        columns = summarize(self, measures=measures, level=level, kind=kind, owner=owner)
        return make_frame(columns, backend=backend)

    def frontier(
        self,
        x: str = "accuracy",
        y: str = "sp_gap",
        *,
        level: float = 0.95,
        kind: Kind = "seeds",
        backend: Backend | None = None,
    ) -> Any:
        """Return every setting with whether another is better in `x`, `y` and epsilon at once.

        The column ``undominated`` is the Pareto set. ``clearly`` says whether the verdict, either way, does
        not hang on a difference within its paired interval, and ``dominated_by`` names a better setting. The
        rules are in :mod:`evenhand.study.results.frontier`.

        Parameters
        ----------
        x, y : str
            Measures; ``"accuracy"`` is ``acc`` and ``"gap"`` is ``sp_gap``.
        level, kind, backend
            As in :meth:`summary`.
        """
        return make_frame(frontier_columns(self, x=x, y=y, level=level, kind=kind), backend=backend)

    def compare(
        self,
        a: object,
        b: object = "unprotected",
        *,
        measure: str = "sp_gap",
        level: float = 0.95,
        kind: Kind = "seeds",
    ) -> Comparison:
        """Return how far `a` is from `b` in a measure, within the same repeats.

        Parameters
        ----------
        a, b : Setting, mapping or str
            As in :meth:`setting`.
        measure : str
        level, kind
            As in :meth:`summary`.

        Returns
        -------
        Comparison
            `a` minus `b`, with interval, how many pairs, and a sentence.
        """
        first, second = (
            setting_of(given, self.settings, owner="compare", parameter=name, remedies=self.plan.remedies)
            for name, given in (("a", a), ("b", b))
        )
        name = measure_named(measure, self.arrays.measures, parameter="measure", owner="compare")
        change = estimate(self, first, name, against=second, level=level, kind=kind)
        task = self.plan.task
        return Comparison(first, second, name, change, task.measure(name).words, task.is_exact)

    # --- files ------------------------------------------------------------------------------------

    def to_csv(self, path: str | PathLike[str], *, table: TableName = "cells") -> None:
        """Write a table to a CSV file in which no text is a formula.

        Parameters
        ----------
        path : str or path
        table : {"cells", "effects", "groups", "data", "summary", "frontier"}
        """
        write_csv(self._table(table, owner="to_csv"), path)

    def to_parquet(self, path: str | PathLike[str], *, table: TableName = "cells") -> None:
        """Write a table to a Parquet file; see :meth:`to_csv`."""
        write_parquet(self._table(table, owner="to_parquet"), path)

    def _table(self, table: TableName, *, owner: str) -> Any:
        name = one_of("table", table, get_args(TableName), owner=owner)
        return getattr(self, "frame" if name == "cells" else name)(backend="pyarrow")

    def canonical(self) -> bytes:
        """Return the outcomes as bytes that are the same for every run of the plan on the same data."""
        return canonical_table(self.outcomes)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Results:
        """Return the results in the folder of a study, finished or not."""
        with Store.open(folder) as store:
            return cls(store.plan, store.facts, store.outcomes())

    # --- what to make of it -----------------------------------------------------------------------

    def view(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        chosen: object = None,
        language: str = "en",
        data: str | None = None,
        schema: str = SCHEMA_FILE,
    ) -> View:
        """Return the answer in words and numbers, from which page, terminal and JSON are drawn.

        Parameters
        ----------
        folder : str or path, optional
            Where the plan of the study stands; commands are written for it.
        chosen : Setting, mapping or str, optional
            The setting that the page is about, as in :meth:`setting`; by default the plan fixes it.
        language : str
        data, schema : str
            The files of rows and schema as they are typed; by default as seen from the folder.
        """
        _, view = self._answer(chosen, language)
        say = words_in(language).say
        again = "" if folder is None else self.command(folder)
        again = f"{again} --language {language}" if again and language != "en" else again
        data = data or (None if folder is None else self._data_seen_from(folder))
        name = view.recommended or view.page
        setting = self._named(name)
        todo = "" if view.state == "stop" else self._command_for(setting, data, file=schema)
        commands = [Command(say("default.do"), "", todo)] if todo else []
        commands += commands_to_settle(self, view)
        commands += [Command(say("default.again"), "", again)] if again else []
        return replace(view, commands=(*view.commands, *commands))

    def _answer(self, chosen: object, language: str) -> tuple[Case, View]:
        """Return the case of a page and its view without commands; what was asked before is kept."""
        page = None if chosen is None else self.setting(chosen)
        key = "" if page is None else page.id, language
        if key not in self._answers:
            case = self.plan.task.case(self, page=page, language=language)
            _refuse_empty(case.table, self.plan.task)
            self._answers[key] = case, compose(case)
        return self._answers[key]

    @cached_property
    def _answers(self) -> dict[tuple[str, str], tuple[Case, View]]:
        return {}

    def report(
        self, path: str | PathLike[str] | None = None, *, chosen: object = None, language: str = "en"
    ) -> str | Path:
        """Return the report as one HTML text, or write it to a file; its numbers are inside it.

        Parameters
        ----------
        path : str or path, optional
            Where to write it; then the path is returned.
        chosen : Setting, mapping or str, optional
            The setting that the page is about, as in :meth:`setting`; by default it is found by rule.
        language : str
            One that the kind of study has sentences in.
        """
        page = build_page(
            self.view(None if path is None else Path(path).parent, chosen=chosen, language=language)
        )
        if path is None:
            return str(render(page))
        write(page, path)
        return Path(path)

    def next_command(self, data: str | None = None, *, file: str = SCHEMA_FILE, chosen: object = None) -> str:
        """Return the command that does for everybody what a setting tested; an empty text if there is none.

        Parameters
        ----------
        data : str, optional
            The file of the rows as it is typed; without one there is no command.
        file : str
            The file of the schema, which stands in the folder of a study.
        chosen : Setting, mapping or str, optional
            The setting, as in :meth:`report`.
        """
        _, view = self._answer(chosen, "en")
        name = view.page if chosen is not None else view.recommended or view.page
        return self._command_for(self._named(name), data, file=file)

    def _named(self, name: str) -> Setting | None:
        """Return the setting of a name in the table of effects."""
        return next((setting for setting in self.settings if str(setting) == name), None)

    def _command_for(self, setting: Setting | None, data: str | None, *, file: str) -> str:
        """Return the command that does what a setting tested, with the options of how its file is read."""
        if data is None or setting is None or not setting.is_protected:
            return ""
        command = self.plan.task.next_command(setting, self.facts.schema, data=data, file=file)
        options = [] if self.plan.data is None else self.plan.data.format_options
        return shlex.join([*shlex.split(command), *options]) if command and options else command

    def command(self, folder: str | PathLike[str]) -> str:
        """Return the command that runs the study again; an empty text if its plan is not in the folder."""
        return "" if self._plan_in(folder) is None else self.plan.task.command(self.plan, file=PLAN_FILE)

    def _data_seen_from(self, folder: str | PathLike[str]) -> str | None:
        """Return the path of the rows from a folder, where the plan that stands there names a file."""
        kept = self._plan_in(folder)
        data = None if kept is None or kept.data is None else kept.data.path
        if data is not None:
            with suppress(ValueError):  # on another drive it stays as it is
                data = os.path.relpath(data, folder)
        return data

    def _plan_in(self, folder: str | PathLike[str]) -> Plan | None:
        """Return the plan in a folder if it is that of these results."""
        try:
            plan = Plan.load(Path(folder) / PLAN_FILE)
        except EvenhandError:
            return None
        same = plan.seed == self.plan.seed and tuple(plan.cells()) == tuple(self.plan.cells())
        return plan if same else None

    def advise(
        self,
        *,
        max_gap: float | None = None,
        max_accuracy_loss: float | None = None,
        epsilon: Number | None = None,
        language: str = "en",
        data: str | None = None,
        schema: str = SCHEMA_FILE,
    ) -> Advice:
        """Return the setting with the smallest epsilon that keeps limits; see :mod:`evenhand.study.advise`.

        `data` and `schema` are the files of rows and schema as they are typed in its command.
        """
        advice = advise(
            self, max_gap=max_gap, max_accuracy_loss=max_accuracy_loss, epsilon=epsilon, language=language
        )
        todo = self._command_for(advice.recommendation, data, file=schema)
        commands = (Command(words_in(language).say("default.do"), "", todo),) if todo else ()
        return replace(advice, view=replace(advice.view, commands=(*advice.view.commands, *commands)))

    def __repr__(self) -> str:
        shown = _SHOWN_TEXT
        return "\n".join([_title(self), *aligned(short_rows(self, shown)), *_notes(self, shown)])

    def _repr_html_(self) -> str:
        """Return title, table and notes; every text is escaped."""
        notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(self, _SHOWN_HTML))
        table = html_table(short_rows(self, _SHOWN_HTML))
        return f"<div><p>{escape(_title(self))}</p>{table}{notes}</div>"


# --- the files of a finished study: the same ones, to the byte, from the command line and the workbench ---


def files_in(folder: Path) -> dict[str, Path]:
    """Return the path of each file that every study has in its folder, by its word."""
    names = {
        "Report": "report.html",
        "Plan": PLAN_FILE,
        "Effects": "effects.csv",
        "Cells": "cells.csv",
        "Store": "study.db",
    }
    return {word: folder / name for word, name in names.items()}


def write_results(
    results: Results, folder: Path, *, view: View | None = None, language: str = "en"
) -> dict[str, Path]:
    """Write what goes beside the store, and return the path of each file by its word.

    The report says what the view does, such as that of advice; by default the answer of the results. If a
    package is missing that it needs, MissingExtraError is raised once everything else is written.
    """
    files = files_in(folder)
    results.to_csv(files["Cells"])
    results.to_csv(files["Effects"], table="effects")
    if view is None:
        results.report(files["Report"], language=language)
    else:
        write(build_page(view), files["Report"])
    return files


# --- each setting with a few measures and their intervals, as text and as HTML --------------------------


def _title(results: ResultData) -> str:
    name = f"{results.plan.name} on " if results.plan.name else ""
    counts = [f"{len(results.settings):,} settings x {counted(results.plan.repeats, 'repeat')}"]
    counts += [f"{counted(len(results.failures), 'run')} failed"] if results.failures else []
    counts += [f"{counted(len(results.missing), 'run')} not run"] if results.missing else []
    return f"Results of {name}{results.facts.label}: {', '.join(counts)}"


def _notes(results: ResultData, shown: int) -> list[str]:
    more = len(results.settings) - shown
    notes = [f"and {counted(more, 'more setting')}; summary() has them all"] if more > 0 else []
    if results.plan.repeats > 1:
        notes.append(f"In brackets: {kind_words('seeds', 0.95)}.")
    elif not results.plan.task.is_exact:
        notes.append("A single repeat has no interval.")
    return [*notes, _NOT_PRIVATE]


def _refuse_empty(table: EffectTable, task: Task) -> None:
    """Refuse effects of another package's kind that hold no number at all under the page's setting."""
    package, seen = type(task).__module__.partition(".")[0], table.by_option[table.page]
    if package != "evenhand" and seen and not any(each.is_stored for each in seen):
        message = (
            f"The kind of study '{task.kind}' of the package {package} gives no finite number of what "
            "happens to any group. Hint: look at the numbers that its 'effects' returns."
        )
        raise PluginError(message, package=package, plugin=task.kind)
