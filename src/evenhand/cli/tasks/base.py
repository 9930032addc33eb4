"""What every kind of study has on the command line: options, plan, run, table and summary."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from inspect import Parameter, Signature
from numbers import Rational
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import typer

from evenhand._validate import one_of
from evenhand.answer.effects import read_matters
from evenhand.answer.view import to_json
from evenhand.cli import options as shared
from evenhand.cli.help import PanelCommand, build_command
from evenhand.cli.options import is_typed, option_flag
from evenhand.cli.proposals import spell_options
from evenhand.cli.study import (
    StudyRun,
    announce_plan,
    change_schema,
    check_folder,
    check_script,
    choose_engine,
    choose_folder,
    follow_run,
    keep_remedies,
    load_plan,
    shorten_path,
    spell_engine,
    warn_of_open_network,
    when_command_began,
    write_files,
)
from evenhand.cli.terminal.console import Terminal, wrong_use
from evenhand.cli.terminal.ending import FAILED
from evenhand.cli.terminal.refusals import refuse_empty
from evenhand.report.language import LANGUAGES, written_in
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.script import write_script
from evenhand.study.results.estimates import estimate
from evenhand.study.tasks.registry import DEFAULT_KIND, task_of_kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from evenhand.measure.repeat_means import Estimated
    from evenhand.study.results.results import Results

_COMMON = frozenset({*shared.RUN_OPTIONS, "rows", "repeats", "drop", "pool_below"})


class TaskCommand:
    """Run a plan that was written before.

    One kind of study is a subclass of this, and its docstring is the help of ``evenhand audit KIND``. A kind
    without one runs its plans, and ends with the three sentences of its report.

    Attributes
    ----------
    kind : str
        As a plan and the command line have it.
    name : str
        Of a command of its own; empty for a kind of audit.
    folder : str
        Where results go unless a folder is named.
    example : str
        Command lines for the end of help.
    run_options, options : mapping of str to an annotated type
        Those that every kind has, and its own, by the name of their parameter, which is that of the task's
        field where there is one.
    applied : tuple of str
        The options that change a plan that was written before; its other own options are refused beside one.
    workers : int, optional
        Cells at a time unless typed; None means one per processor.
    units_studied : str
        What the number of rows counts, as JSON calls it.
    """

    kind: str
    name: ClassVar[str] = ""
    folder: ClassVar[str] = "study"
    example: ClassVar[str] = ""
    run_options: ClassVar[Mapping[str, Any]] = shared.RUN_OPTIONS
    options: ClassVar[Mapping[str, Any]] = {}
    applied: ClassVar[tuple[str, ...]] = ()
    workers: ClassVar[int | None] = None
    units_studied: ClassVar[str] = "people"

    def __init__(self, kind: str = "") -> None:
        self.kind = kind or self.kind

    # --- what a kind says -------------------------------------------------------------------------

    def defaults(self) -> dict[str, str]:
        """Return what is done without an option, by the name of its parameter, for help."""
        return {}

    def check(self, typed: dict[str, Any]) -> None:
        """Refuse what can be refused before any file is opened."""

    def repeat_options(self, typed: dict[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return what has to be typed again to go on with a study, with a blank before it."""
        return ""

    def new_plan(self, terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:  # noqa: ARG002 - for subclasses
        """Return the plan for the data and options that were typed, and its rows."""
        wrong_use(f"A study of the kind {self.kind} takes a plan. Hint: name its file with --plan.")

    def change_plan(self, plan: Plan, typed: dict[str, Any]) -> Plan:  # noqa: ARG002 - for subclasses
        """Return a plan that was written before, with the options in :attr:`applied` that were typed."""
        return plan

    def announce(self, run: StudyRun) -> Plan:
        """Say what will be run, and offer fewer rows where it is long; return the plan to run."""
        return announce_plan(run)

    def write_more(self, run: StudyRun, results: Results) -> dict[str, Path]:
        """Write files that this kind alone has, and return the path of each by its word."""
        return run.plan.task.write_more(results, run.folder, frame=run.frame)

    def summarize(self, results: Results) -> list[dict[str, Any]]:
        """Return one object for each setting, for machines: its measures, and numbers of its groups."""
        return [
            {
                "setting": str(setting),
                **setting.key,
                **measures_of(results, setting),
                "groups": self.summarize_groups(results, setting),
            }
            for setting in results.settings
        ]

    def summarize_groups(self, results: Results, setting: Setting) -> dict[str, dict[str, Any]]:  # noqa: ARG002 - as above
        """Return the numbers of each group in a setting, by its label."""
        return {}

    def spell(self, typed: Mapping[str, Any], *, without: Collection[str] = ("guess",)) -> list[str]:
        """Return the words of the command as it was typed, but for some of its options."""
        audit = ["audit"] if self.kind == DEFAULT_KIND else ["audit", self.kind]
        words = spell_options({**self.run_options, **self.options}, typed, without=without)
        return ["evenhand", *([self.name] if self.name else audit), typed["data"], *words]

    # --- how it runs ------------------------------------------------------------------------------

    def build(self) -> PanelCommand:
        """Return the sub-command itself."""
        options = {**self.run_options, **self.options}

        def audit(**typed: Any) -> None:
            self.run(typed)

        parameters = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=False if get_args(annotation)[0] is bool else None,
                annotation=annotation,
            )
            for name, annotation in options.items()
        ]
        audit.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # what typer reads
        audit.__annotations__ = dict(options)
        audit.__doc__ = self.__doc__
        command = build_command(audit, name=self.name or self.kind, example=self.example)
        command.defaults = self.defaults
        return command

    def choose_language(self, typed: Mapping[str, Any]) -> str:
        """Return the language that was typed, or English; refuse one in which there are no sentences."""
        owner = f"a study of {self.kind}"
        return one_of("language", typed.get("language") or LANGUAGES[0], LANGUAGES, owner=owner)

    def run(self, typed: dict[str, Any]) -> None:
        """Run the study that the options describe, from its plan to its report, in the language asked for."""
        with written_in(self.choose_language(typed)):
            self._run(typed)

    def _run(self, typed: dict[str, Any]) -> None:
        began = when_command_began()
        terminal = Terminal(as_json=typed["as_json"], quiet=typed["quiet"])
        lists = {name: kind for name, kind in self.options.items() if get_args(kind)[0] == list[str] | None}
        refuse_empty({option_flag(name, kind): typed[name] for name, kind in lists.items()})
        if typed.get("called") == "":
            wrong_use("--called is empty. Hint: leave it out, or say the word, such as hired.")
        names = task_of_kind(self.kind).effect_names
        read_matters(tuple(typed["matters"] or ()), owner="Plan", names=names)
        self.check(typed)
        check_script(typed.get("save_script"))
        resume, plan_file = typed["resume"], typed.get("plan")
        folder = choose_folder(typed["out"], name=self.folder, resume=resume)
        check_folder(folder, workers=typed["workers"], resume=resume)
        where = choose_engine(typed)
        workers = self.workers if typed["workers"] is None else typed["workers"]
        if plan_file is not None or (resume and typed["data"] is None):
            plan, frame = self._changed_plan(terminal, typed, plan_file or folder / "plan.toml")
        elif typed["data"] is None:
            wrong_use(
                "DATA is missing: a CSV, Excel or Parquet file, or a data set (evenhand datasets lists them)."
            )
        else:
            plan, frame = self.new_plan(terminal, typed)
        if typed["out"] is None and not resume and folder != Path(self.folder):
            terminal.say("Note", f"{self.folder} holds results already: these go to {folder}.")
        run = StudyRun(terminal, typed, folder, plan, frame, workers)
        run = replace(run, plan=keep_remedies(run) if resume else self.announce(run))
        spoken = f" --language {typed['language']}" if typed["language"] else ""
        again = f"{self.name or 'audit'} --resume{self.repeat_options(typed)}{spell_engine(typed)}{spoken}"
        warn_of_open_network(terminal, typed)
        options = {"frame": frame, "out": folder, "resume": resume, **(where or {"workers": workers})}
        options |= {"language": self.choose_language(typed), "quick": bool(typed.get("quick"))}
        results = follow_run(terminal, run.plan, again=again, began=began, **options)
        if results.missing and typed.get("quick"):
            terminal.say("Quick", f"Run the rest with: evenhand {again} --out {shlex.quote(str(folder))}")
        self.conclude(run, results)

    def conclude(self, run: StudyRun, results: Results) -> None:
        """Write what came of the study, show it, and end with the exit code."""
        language = self.choose_language(run.typed)
        more = self.write_more(run, results)
        if (script := run.typed.get("save_script")) is not None:
            cells = run.plan.task.script(run.plan, name=script.stem, language=language)
            more = {**more, "Script": write_script(script, cells)}
        asked = {"open_page": run.typed["open_page"], "language": language}
        self.finish(run.terminal, results, out=run.folder, more=more, **asked)

    def _changed_plan(self, terminal: Terminal, typed: dict[str, Any], path: Path) -> tuple[Plan, Any]:
        fixed = {
            name: option_flag(name, kind)
            for name, kind in self.options.items()
            if name not in _COMMON and name not in self.applied
        }
        plan, frame = load_plan(terminal, typed, path, kind=self.kind, fixed=fixed)
        if any(is_typed(typed[name]) for name in self.applied):
            plan = self.change_plan(plan, typed)
            plan = plan if typed["resume"] else plan.with_(remedies=())  # which were those of other settings
        return change_schema(plan, typed), frame

    def finish(
        self,
        terminal: Terminal,
        results: Results,
        *,
        out: Path,
        open_page: bool,
        command: str = "audit",
        more: Mapping[str, Path] | None = None,
        language: str = "en",
    ) -> None:
        """Write report and table, show what came of the study, and end with the exit code."""
        files = {**write_files(terminal, results, out, language=language), **(more or {})}
        code = FAILED if results.failures else 0
        path = results.plan.data and results.plan.data.path
        data = shorten_path(Path(path)) if path else None
        # A report stands beside its plan, people do not.
        plan = f"--plan {shlex.quote(shorten_path(files['Plan']))}"
        tell = self._tell
        told = tell(terminal, results, out=out, data=data, plan=plan, language=language)
        warn_of_failures(terminal, results)
        terminal.files({word: shorten_path(path) for word, path in files.items()})
        if terminal.as_json:
            terminal.object(
                {
                    "command": command,
                    "task": self.kind,
                    "data": results.facts.label,
                    self.units_studied: results.facts.rows,
                    "groups": list(results.facts.groups),
                    "cells": len(results),
                    "failed": len(results.failures),
                    **told,
                    "summary": self.summarize(results),
                    "files": {word.lower(): str(path.resolve()) for word, path in files.items()},
                    "exit": code,
                }
            )
        if open_page and "Report" in files:
            typer.launch(files["Report"].resolve().as_uri())
        raise typer.Exit(code)

    def _tell(
        self, terminal: Terminal, results: Results, *, out: Path, data: str | None, plan: str, language: str
    ) -> dict[str, Any]:
        """Show the answer, and return it for machines."""
        view = results.view(data=data, schema=shorten_path(out / "schema.toml"), language=language)
        commands = tuple(
            command._replace(line=command.line.replace("--plan plan.toml", plan)) for command in view.commands
        )
        view = replace(view, commands=commands)
        terminal.answer(view)
        return {
            "answers": [sentence.text for sentence in (view.who, view.how_much, view.what_to_do)],
            "answer": to_json(view) if terminal.as_json else {},
            "next": [command.line for command in commands],
        }


# --- what several kinds share ---------------------------------------------------------------------


def warn_of_failures(terminal: Terminal, results: Results) -> None:
    """Say how many runs failed and why, the most frequent reasons first."""
    failed = Counter((cell.failure.kind, cell.failure.message) for cell in results.failures if cell.failure)
    for (kind, message), count in failed.most_common(3):
        terminal.warn(f"{count:,} of {len(results):,} runs failed: {kind}. {message}")


def defaults_of(task: Any, names: Iterable[str]) -> dict[str, str]:
    """Return the fields of a task by name, written as they are typed, and its number of repeats."""
    fields = {name: _written(getattr(task, name)) for name in names if hasattr(task, name)}
    return {**fields, "repeats": str(Plan(task=task).repeats)}


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_written, value))
    return f"{float(value):g}" if isinstance(value, Rational | float) else str(getattr(value, "name", value))


def numbers_of(estimated: Estimated) -> dict[str, Any]:
    """Return an estimate for machines."""
    return {"value": estimated.value, "low": estimated.low, "high": estimated.high, "runs": estimated.runs}


def measures_of(results: Results, setting: Setting) -> dict[str, Any]:
    """Return every measure of a setting with its change against no protection, for machines."""
    return {
        measure: {
            **numbers_of(estimate(results, setting, measure)),
            "change": numbers_of(estimate(results, setting, measure, against=Setting())),
        }
        for measure in results.plan.measures
    }
