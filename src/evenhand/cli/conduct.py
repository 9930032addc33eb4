"""Run a study for a person: say how long, show how it goes, write the files, say what came of it."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evenhand._validate import integer
from evenhand.cli.tasks.collect_summary import shown_groups, shown_settings, summary_rows, summary_table
from evenhand.cli.tasks.decide_summary import decision_rows
from evenhand.cli.tasks.learn_summary import learning_rows, learning_table, learning_title
from evenhand.cli.tasks.release_summary import release_rows, release_table, release_title
from evenhand.cli.terminal.console import FAILED, wrong_use
from evenhand.cli.terminal.ending import stop_code
from evenhand.cli.terminal.progress import followed, spell_seconds
from evenhand.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results

__all__ = ["checked", "conduct", "finish", "forecast", "free_folder", "shown_path", "written"]

LONG = 15 * 60
_TARGET = 10 * 60
_MANY = 50_000
_MOST_WORKERS = 1_024


def free_folder(given: Path | None, *, name: str = "study", resume: bool = False) -> Path:
    """Return the folder that was asked for, or the first of study, study-2, ... that holds no study."""
    if given is not None:
        return given
    folder, number = Path(name), 1
    while not resume and os.path.lexists(folder / "study.db"):
        number += 1
        folder = Path(f"{name}-{number}")
    return folder


def checked(folder: Path, *, workers: int | None, resume: bool = False, again: str = "--resume") -> Path:
    """Return the folder if a study can be run there, or say at once why not: the rest may take minutes.

    What is typed to go on with a study that is there is `again`.
    """
    if workers is not None:
        integer("workers", workers, owner="run", low=1, high=_MOST_WORKERS)
    there = (folder / "study.db").exists()
    if resume and not there and not (folder / "plan.toml").is_file():
        said = f"There is no study in {folder} to go on with."
        wrong_use(f"{said} Hint: name its folder with --out, or leave --resume out.")
    if there and not resume:
        said = f"There is a study in {folder} already."
        wrong_use(f"{said} Hint: go on with it ({again}), or name another folder with --out.")
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        wrong_use(f"The folder {folder} cannot be made. Hint: name another one with --out.")
    finally:
        for each in missing:
            with suppress(OSError):
                each.rmdir()
    return folder


def shown_path(path: Path) -> str:
    """Return a path as short as it can be said from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def forecast(terminal: Terminal, plan: Plan, *, frame: Any, workers: int | None, ask: bool) -> Plan:
    """Say what will be run and for how long; where that is long, offer fewer rows. Return the plan to run."""
    if plan.task.kind == "decide":
        terminal.say("Plan", f"{_several(len(plan.cells()), 'cell')}, most of which take a moment")
        return plan
    from evenhand.study.run.duration import duration  # noqa: PLC0415 - starts scikit-learn
    from evenhand.study.run.prepare import prepare  # noqa: PLC0415 - starts pyarrow

    prepared = prepare(plan, frame=frame)
    if plan.task.kind == "learn" and prepared.facts.rows <= _MANY:
        on = f"on {prepared.facts.rows:,} rows and {len(prepared.facts.schema)} columns"
        grid = f"{_several(len(plan.settings()), 'setting')} x {_several(plan.repeats, 'repeat')}"
        terminal.say("Plan", f"{grid} = {_several(len(plan.cells()), 'cell')}, {on}, about a second each")
        return plan
    if prepared.facts.rows > _MANY:
        terminal.say("Timing", "a few cells on a part of the rows, to say how long all of them take")
    expected = duration(plan, prepared, workers=workers)
    facts, settings = prepared.facts, len(plan.settings())
    grid = f"{_several(settings, 'setting')} x {_several(plan.repeats, 'repeat')}"
    size = f"{_several(len(plan.cells()), 'cell')}, on {facts.rows:,} rows and {len(facts.schema)} columns"
    long = f"about {spell_seconds(expected.seconds())} with {_several(expected.workers, 'worker')}"
    terminal.say("Plan", f"{grid} = {size}; {long}")
    rows = expected.rows_within(_TARGET)
    if expected.seconds() <= LONG or rows is None or rows >= facts.rows:
        return plan
    offer = f"--rows {rows} would take about {spell_seconds(expected.seconds(rows))}"
    if ask and terminal.is_interactive:
        terminal.say("Long", f"{offer}, with wider intervals.")
        if terminal.ask(f"Use {rows:,} rows instead of all?") and plan.data is not None:
            return plan.with_(data=replace(plan.data, rows=rows))
        return plan
    terminal.say("Long", f"{offer}, with wider intervals; going on with all rows. Ctrl-C stops.")
    return plan


def _several(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def conduct(
    terminal: Terminal,
    plan: Plan,
    *,
    frame: Any,
    out: Path,
    workers: int | None,
    resume: bool,
    command: str = "audit",
    besides: str = "",
) -> Results:
    """Run the cells and follow them; Ctrl-C ends with how to go on: the command and what to type besides."""
    from evenhand.study.run.whole import run  # noqa: PLC0415 - starts what it needs

    try:
        with followed(terminal) as follow:
            return run(plan, frame=frame, out=out, workers=workers, resume=resume, progress=follow)
    except KeyboardInterrupt:
        again = f"evenhand {command} --resume --out {shlex.quote(shown_path(out))}{besides}"
        terminal.say("Stopped", f"finished cells are kept. Go on with: {again}")
        terminal.object({"stopped": True, "resume": again, "exit": stop_code()})
        sys.exit(stop_code())


def finish(
    terminal: Terminal,
    results: Results,
    *,
    command: str,
    out: Path,
    open_page: bool,
    more: Mapping[str, Path] | None = None,
) -> None:
    """Write report and table, show the summary, name more files, and end with the exit code."""
    from evenhand.study.page.page import answers  # noqa: PLC0415 - starts what it needs

    files = {**written(terminal, results, out), **(more or {})}
    sentences = [str(each) for each in answers(results)]
    failed = Counter((each.failure.kind, each.failure.message) for each in results.failures if each.failure)
    code = FAILED if failed else 0
    _shown(terminal, results, sentences)
    for (kind, message), count in failed.most_common(3):
        terminal.warn(f"{count:,} of {len(results):,} cells failed: {kind}. {message}")
    terminal.files({word: shown_path(path) for word, path in files.items()})
    if terminal.as_json:
        terminal.object(
            {
                "command": command,
                "data": results.facts.label,
                "entities" if results.plan.task.kind == "decide" else "people": results.facts.rows,
                "groups": list(results.facts.groups),
                "cells": len(results),
                "failed": sum(failed.values()),
                "answers": [each.replace("**", "") for each in sentences],
                "summary": _summary(results),
                "files": {word.lower(): str(path.resolve()) for word, path in files.items()},
                "exit": code,
            }
        )
    if open_page and "Report" in files:
        typer.launch(files["Report"].resolve().as_uri())
    raise typer.Exit(code)


def _summary(results: Results) -> list[dict[str, Any]]:
    kind = results.plan.task.kind
    made = {"release": release_rows, "decide": decision_rows, "learn": learning_rows}
    rows = made.get(kind, summary_rows)
    return rows(results)


def _shown(terminal: Terminal, results: Results, sentences: list[str]) -> None:
    if not terminal.shows:
        return
    if results.plan.task.kind == "release":
        _shown_release(terminal, results, sentences)
        return
    if results.plan.task.kind == "decide":
        _shown_sentences(terminal, sentences)
        return
    if results.plan.task.kind == "learn":
        terminal.show()
        terminal.sentence(learning_title(results))
        terminal.show(learning_table(terminal, results))
        _shown_sentences(terminal, sentences)
        return
    _, left_out = shown_settings(results)
    repeats = results.plan.repeats
    interval = f"95% interval, {repeats} seeds" if repeats > 1 else "one repeat, so no interval"
    title = f"Change against no protection, in points ({interval})"
    terminal.show()
    terminal.sentence(f"{title}; {left_out}" if left_out else title)
    schema = results.facts.schema
    if shown_groups(terminal, results):
        terminal.sentence(
            f"Last, for each group: the share that is predicted {schema.target} = {schema.positive}"
        )
    terminal.show(summary_table(terminal, results))
    terminal.show()
    for each in sentences:
        terminal.sentence(each)
    terminal.show()


def _shown_release(terminal: Terminal, results: Results, sentences: list[str]) -> None:
    terminal.show()
    terminal.sentence(release_title(terminal, results))
    terminal.show(release_table(terminal, results))
    _shown_sentences(terminal, sentences)


def _shown_sentences(terminal: Terminal, sentences: list[str]) -> None:
    terminal.show()
    for each in sentences:
        terminal.sentence(each)
    terminal.show()


def written(terminal: Terminal, results: Results, out: Path) -> dict[str, Path]:
    """Write what goes beside the store, and return the path of each file by its word."""
    report, cells = out / "report.html", out / "cells.csv"
    results.to_csv(cells)
    made = {"Report": report, "Plan": out / "plan.toml", "Cells": cells, "Store": out / "study.db"}
    try:
        results.report(report)
    except MissingExtraError as error:
        terminal.warn(f"No report was written. {error}")
        del made["Report"]
    return made
