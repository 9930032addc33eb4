"""Run a study for a person: open its plan, say how long it takes, show how it goes, write the files."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand._validate import integer
from evenhand.cli.options import is_typed
from evenhand.cli.roles import report_reading
from evenhand.cli.terminal.console import Terminal, wrong_use
from evenhand.cli.terminal.ending import stop_code
from evenhand.cli.terminal.progress import follow_study, spell_seconds
from evenhand.errors import MissingExtraError
from evenhand.study.intake.opening import Opened, open_data
from evenhand.study.page.wording import counted
from evenhand.study.plan.plan import Plan
from evenhand.study.run.duration import duration
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run as run_cells

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.intake.setup import Setup
    from evenhand.study.results.results import Results

MANY_ROWS = 50_000
"""From this many rows on a study takes long enough that a person is told how long."""

_LONG, _TARGET = 15 * 60, 10 * 60
_MOST_WORKERS = 1_024


@dataclass(frozen=True)
class StudyRun:
    """One run of a study: where it speaks, what was typed, its folder, its plan and its rows."""

    terminal: Terminal
    typed: dict[str, Any]
    folder: Path
    plan: Plan
    frame: Any
    workers: int | None


# --- the folder -----------------------------------------------------------------------------------


def choose_folder(given: Path | None, *, name: str = "study", resume: bool = False) -> Path:
    """Return the folder that was asked for, or the first of study, study-2, ... that holds no study."""
    if given is not None:
        return given
    folder, number = Path(name), 1
    while not resume and os.path.lexists(folder / "study.db"):
        number += 1
        folder = Path(f"{name}-{number}")
    return folder


def check_folder(folder: Path, *, workers: int | None, resume: bool = False) -> Path:
    """Return the folder if a study can be run there, or say at once why not: the rest may take minutes."""
    if workers is not None:
        integer("workers", workers, owner="run", low=1, high=_MOST_WORKERS)
    there = (folder / "study.db").exists()
    if resume and not there and not (folder / "plan.toml").is_file():
        message = f"There is no study in {folder} to go on with."
        wrong_use(f"{message} Hint: name its folder with --out, or leave --resume out.")
    if there and not resume:
        message = f"There is a study in {folder} already."
        wrong_use(f"{message} Hint: go on with it (--resume), or name another folder with --out.")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        wrong_use(f"The folder {folder} cannot be made. Hint: name another one with --out.")
    finally:
        for path in missing:
            with suppress(OSError):
                path.rmdir()
    return folder


def shorten_path(path: Path) -> str:
    """Return a path as short as it can be written from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


# --- the plan -------------------------------------------------------------------------------------


def load_plan(
    terminal: Terminal, typed: Mapping[str, Any], path: Path, *, kind: str, fixed: Mapping[str, str]
) -> tuple[Plan, Any]:
    """Return the plan of a file and its rows, with the data, rows, repeats and seed that were typed.

    Options that the plan says already and that cannot be changed are refused: `fixed` has how each is typed.
    """
    refused = [flag for name, flag in fixed.items() if is_typed(typed[name])]
    if refused:
        message = f"{', '.join(refused)} cannot be given with a plan, which says it already."
        wrong_use(f"{message} Hint: edit {path.name}.")
    plan = Plan.load(path)
    if plan.task.kind != kind:
        message = f"{path.name} is a plan of the kind {plan.task.kind}, and not {kind}."
        wrong_use(f"{message} Hint: evenhand audit {plan.task.kind} --plan {path.name}")
    source = plan.data
    if typed["data"] is None and source is None:
        wrong_use(f"{path.name} names no data. Hint: name a file before the options.")
    name = typed["data"] or (source and (source.dataset or source.path)) or ""
    opened = open_data(name, schema=plan.schema, options=source.options if source else None)
    report_reading(terminal, opened)
    rows = typed.get("rows")
    if rows is None and source is not None:
        rows = source.rows
    schema = plan.schema or opened.schema
    changed = plan.with_(data=replace(opened.source, rows=rows), schema=schema, **typed_design(typed))
    return changed, opened.frame


def build_plan(opened: Opened, task: Any, typed: Mapping[str, Any], setup: Setup | None = None) -> Plan:
    """Return the plan of a task for data that was opened, with the rows, repeats and seed that were typed."""
    own: dict[str, Any] = {"notes": (opened.note,) if opened.note else ()}
    if setup is not None:
        own = {"schema": setup.schema, "notes": setup.sentences}
    source = replace(opened.source, rows=typed.get("rows"))
    return Plan(data=source, task=task, **own, **typed_design(typed))


def typed_design(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return repeats and seed if they were typed; a plan has its own for its task."""
    return {name: typed[name] for name in ("repeats", "seed") if is_typed(typed.get(name))}


# --- the run --------------------------------------------------------------------------------------


def forecast_duration(run: StudyRun, *, prepared: Any = None) -> Plan:
    """Say what will be run and for how long; where that is long, offer fewer rows. Return the plan to run."""
    terminal, plan = run.terminal, run.plan
    prepared = prepared or prepare(plan, frame=run.frame)
    facts = prepared.facts
    for note in facts.notes:
        if note not in plan.notes:
            terminal.say("Warning" if Note.of(note).kind == "privacy" else "Note", note)
    if facts.rows > MANY_ROWS:
        terminal.say("Timing", "a few runs on a part of the rows, to say how long all of them take")
    expected = duration(plan, prepared, workers=run.workers)
    size = f"{grid_size(plan)}, on {facts.rows:,} rows and {len(facts.schema)} columns"
    long = f"about {spell_seconds(expected.seconds())} with {counted(expected.workers, 'worker')}"
    terminal.say("Plan", f"{size}; {long}")
    rows = expected.rows_within(_TARGET)
    if expected.seconds() <= _LONG or rows is None or rows >= facts.rows:
        return plan
    offer = f"--rows {rows} would take about {spell_seconds(expected.seconds(rows))}"
    if not run.typed["yes"] and terminal.is_interactive:
        terminal.say("Long", f"{offer}, with wider intervals.")
        if terminal.ask(f"Use {rows:,} rows instead of all?") and plan.data is not None:
            return plan.with_(data=replace(plan.data, rows=rows))
        return plan
    terminal.say("Long", f"{offer}, with wider intervals; going on with all rows. Ctrl-C stops.")
    return plan


def grid_size(plan: Plan) -> str:
    """Return how many settings, repeats and runs a plan has, in words; settings are those that protect."""
    protected = [setting for setting in plan.settings() if setting.is_protected]
    settings, repeats = counted(len(protected), "setting"), counted(plan.repeats, "repeat")
    baseline = " and the unprotected one" if len(protected) < len(plan.settings()) else ""
    return f"{settings}{baseline}, {repeats} each: {counted(len(plan.cells()), 'run')}"


def follow_run(
    terminal: Terminal, plan: Plan, *, out: Path, again: str = "audit --resume", **options: Any
) -> Results:
    """Run the cells and follow them; Ctrl-C ends with what is typed to go on, the folder apart."""
    try:
        with follow_study(terminal) as follow:
            return run_cells(plan, out=out, progress=follow, **options)
    except KeyboardInterrupt:
        command, _, besides = again.partition(" --resume")
        again = f"evenhand {command} --resume --out {shlex.quote(shorten_path(out))}{besides}"
        terminal.say("Stopped", f"finished runs are kept. Go on with: {again}")
        terminal.object({"stopped": True, "resume": again, "exit": stop_code()})
        sys.exit(stop_code())


def write_results(
    terminal: Terminal, results: Results, out: Path, *, language: str = "en"
) -> dict[str, Path]:
    """Write what goes beside the store, and return the path of each file by its word."""
    report, cells = out / "report.html", out / "cells.csv"
    results.to_csv(cells)
    files = {"Report": report, "Plan": out / "plan.toml", "Cells": cells, "Store": out / "study.db"}
    try:
        results.report(report, language=language)
    except MissingExtraError as error:
        terminal.warn(f"No report was written. {error}")
        del files["Report"]
    return files
