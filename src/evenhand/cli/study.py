"""Run a study for a person: open its plan, say how long it takes, show how it goes, write the files."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from evenhand._notes import Note
from evenhand._validate import integer
from evenhand.cli.compiled import announce_compiling
from evenhand.cli.files import report_format, typed_format
from evenhand.cli.options import is_typed, split_list
from evenhand.cli.retyping import retype
from evenhand.cli.roles import report_reading
from evenhand.cli.terminal.console import Terminal, wrong_use
from evenhand.cli.terminal.ending import WRONG, stop_code
from evenhand.cli.terminal.progress import follow_study
from evenhand.errors import MissingExtraError, StudyStoreError
from evenhand.study.intake.opening import open_plan
from evenhand.study.intake.setup import plan_of, without_columns
from evenhand.study.page.wording import counted
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.script import ENDINGS
from evenhand.study.preflight import LOOKED_AT, preflight
from evenhand.study.results.results import Results, files_in, write_results
from evenhand.study.run.cluster import ENGINES, DaskCluster, cluster_of
from evenhand.study.run.duration import duration, grid_size, spell_expected, spell_remedies
from evenhand.study.run.events import StageDone, Started, Timed
from evenhand.study.run.prepare import prepare
from evenhand.study.run.stages import add_remedies
from evenhand.study.run.whole import run as run_cells
from evenhand.study.store.store import Store
from evenhand.study.tasks.shared.rows import load_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.answer.view import View
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.setup import Setup
    from evenhand.study.plan.facts import Facts

MANY_ROWS = 50_000
"""From this many rows on a study takes long enough that a person is told how long."""

_LONG, _TARGET = 15 * 60, 10 * 60
_REPORT_SECONDS = 2.0  # loading what draws, the pages after stages and the last one
_MOST_WORKERS = 1_024
_TLS = {"ca_file": "ca", "cert_file": "cert", "key_file": "key"}
_MOST_WARNINGS = 5
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def when_command_began() -> float:
    """Return when this command was started, by the monotonic clock: loading it took CPU time alone."""
    return time.monotonic() - time.process_time()


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
    """Return the folder that was asked for, or the first of study, study-2, ... that holds no results."""
    if given is not None:
        return given
    folder, number = Path(name), 1
    while not resume and _holds_results(folder):
        number += 1
        folder = Path(f"{name}-{number}")
    return folder


def _holds_results(folder: Path) -> bool:
    """Whether a folder has finished runs, or a store of which that cannot be told.

    A study that failed or was stopped before its first result keeps no other one out.
    """
    try:
        return Store.count_results(folder) > 0
    except StudyStoreError:
        return True


def check_folder(folder: Path, *, workers: int | None, resume: bool = False) -> Path:
    """Return the folder if a study can be run there, or say at once why not: the rest may take minutes."""
    if workers is not None:
        integer("workers", workers, owner="run", low=1, high=_MOST_WORKERS)
    there = (folder / "study.db").exists()
    if resume and not there and not (folder / "plan.toml").is_file():
        message = f"There is no study in {folder} to go on with."
        wrong_use(f"{message} Hint: name its folder with --out, or leave --resume out.")
    if there and not resume and _holds_results(folder):
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


# --- where runs are computed ----------------------------------------------------------------------


def choose_engine(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a run on a cluster that was typed, nothing for this machine."""
    engine, scheduler = typed["engine"] or ENGINES[0], typed["scheduler"]
    files = {name: typed[f"tls_{word}"] for name, word in _TLS.items()}
    if any(files.values()):
        scheduler = DaskCluster(scheduler, **files)
    if cluster_of(engine, scheduler) is None:
        return {}
    if typed["workers"] is not None:
        wrong_use("--workers does not go with --engine dask: the cluster has its own workers.")
    return {"engine": engine, "scheduler": scheduler}


def spell_engine(typed: Mapping[str, Any]) -> str:
    """Return what has to be typed again to go on with the same cluster, with a blank before it."""
    flags = ("engine", "scheduler", "tls_ca", "tls_cert", "tls_key")
    given = {f"--{flag.replace('_', '-')}": typed[flag] for flag in flags if typed[flag] is not None}
    return "".join(f" {flag} {shlex.quote(str(value))}" for flag, value in given.items())


def warn_of_open_network(terminal: Terminal, typed: Mapping[str, Any]) -> None:
    """Say so where the rows travel unencrypted to another machine."""
    address = urlsplit(typed["scheduler"] or "")
    if typed["scheduler"] and address.scheme != "tls" and address.hostname not in _THIS_MACHINE:
        terminal.say("Warning", "The rows travel to the cluster unencrypted. A tls:// address encrypts them.")


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
        is_named = typed.get("plan") is not None
        again = ["--plan", str(path)] if is_named else ["--resume", "--out", str(path.parent)]
        wrong_use(f"{message} Hint: {shlex.join(['evenhand', 'audit', plan.task.kind, *again])}")
    if typed["data"] is None and plan.data is None:
        wrong_use(f"{path.name} names no data. Hint: name a file before the options.")
    changed, opened = open_plan(
        plan,
        data=typed["data"],
        file_format=typed_format(typed),
        rows=typed.get("rows"),
        may_draw="rows" in typed,  # a kind without the option takes all rows
        seed=typed["seed"] if is_typed(typed.get("seed")) else None,
        on_format=partial(report_format, terminal),
    )
    report_reading(terminal, opened)
    return changed.with_(**typed_design(typed)), opened.frame


def change_schema(plan: Plan, typed: Mapping[str, Any]) -> Plan:
    """Return a plan without the columns to leave out, and with small groups joined, as was typed."""
    drop, below = typed.get("drop"), typed.get("pool_below")
    if not drop and below is None:
        return plan
    schema = plan.schema or load_rows(plan, None).schema  # a data set brings its own
    schema = without_columns(schema, split_list(drop, schema.names)) if drop else schema
    return plan.with_(schema=schema if below is None else schema.with_roles(pool_below=below))


def build_plan(opened: Opened, task: Any, typed: Mapping[str, Any], setup: Setup | None = None) -> Plan:
    """Return the plan of a task for data that was opened, with the rows, repeats and seed that were typed."""
    return plan_of(opened, task, setup, rows=typed.get("rows"), **typed_design(typed))


def typed_design(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return repeats, seed and what matters if they were typed; a plan has its own for its task."""
    return {name: typed[name] for name in ("repeats", "seed", "matters") if is_typed(typed.get(name))}


# --- the run --------------------------------------------------------------------------------------


def announce_plan(run: StudyRun) -> Plan:
    """Say what will be run; where it would be long, offer fewer rows. Return the plan to run."""
    terminal = run.terminal
    prepared = prepare(run.plan, frame=run.frame)
    plan, facts = plan_remedies(run, prepared.facts), prepared.facts
    for note in facts.notes:
        if note not in plan.notes and Note.of(note).kind not in LOOKED_AT:
            terminal.say("Note", note)
    look_first(run, prepared)
    terminal.say("Plan", f"{grid_size(plan)}, on {facts.rows:,} rows and {len(facts.schema)} columns")
    announce_remedies(run, plan, facts)
    return offer_fewer_rows(replace(run, plan=plan), prepared) if facts.rows > MANY_ROWS else plan


def plan_remedies(run: StudyRun, facts: Facts) -> Plan:
    """Return the plan with remedies, unless they are not wanted; a plan from a file says whether they are."""
    if run.typed.get("no_remedies", True):
        return run.plan.with_(remedies=(), confirm=False)
    is_wanted = run.typed.get("plan") is None or run.plan.confirm
    return add_remedies(run.plan, facts) if is_wanted else run.plan


def keep_remedies(run: StudyRun) -> Plan:
    """Return the plan of a study that goes on, with the remedies that it tries, and those of new settings."""
    plan, database = run.plan, run.folder / "study.db"
    if (
        run.typed.get("no_remedies", True)
        or not os.path.lexists(database)
        or not Store.count_results(run.folder)
    ):
        return plan
    with Store.open(run.folder) as store:
        earlier, facts = store.plan, store.facts
    if plan.task.kind != earlier.task.kind:
        return plan
    asked = {*plan.task.settings()}
    kept = tuple(each for each in earlier.remedies if each not in asked)
    plan = plan.with_(remedies=kept, confirm=earlier.confirm)
    is_same = asked == {*earlier.task.settings()}
    return plan if is_same or not plan.confirm else add_remedies(plan, facts)


def announce_remedies(run: StudyRun, plan: Plan, facts: Facts) -> None:
    """Say what is tried besides, and that the best is run again."""
    names = plan.task.case(Results(plan, facts, ())).options if plan.remedies else {}
    words = spell_remedies(plan, {name: each.words for name, each in names.items()})
    if words:
        run.terminal.say("Remedies", words)


def look_first(run: StudyRun, prepared: Any = None) -> None:
    """Say what a first look at the rows finds; end where that says stop, unless the person goes on anyway.

    A plan that was written before is not stopped: its options cannot be typed besides it.
    """
    terminal, found = run.terminal, preflight(run.plan, run.frame, prepared)
    is_new = run.typed.get("plan") is None
    stopping = [each for each in found if each.stops and is_new and not run.typed["anyway"]]
    if not stopping:
        for each in found[:_MOST_WARNINGS]:
            terminal.warn(f"{each.text} {each.todo}".rstrip())
            if is_new and (each.options or each.renamed):
                terminal.command(retype(each.options, each.renamed), "Type")
        return
    for each in stopping:
        terminal.error(f"{each.text} {each.todo}".rstrip())
    options = {flag: value for each in stopping for flag, value in each.options.items()}
    renamed = {name: new for each in stopping for name, new in each.renamed.items()}
    again = retype(options, renamed) if options or renamed else ""
    if again:
        terminal.command(again, "Instead")
    names = [each.name for each in stopping]
    if "fraction" not in names:  # which no run takes
        if terminal.is_interactive and not run.typed["yes"] and terminal.ask("Go on anyway?"):
            return
        terminal.say("Stopped", "nothing was run. Add --anyway to go on as typed.")
    terminal.object({"stopped": names, "next": [again] if again else [], "exit": WRONG})
    sys.exit(WRONG)


def offer_fewer_rows(run: StudyRun, prepared: Any) -> Plan:
    """Time a few runs on parts of many rows; if all take long, offer fewer. Return the plan to run."""
    terminal, plan = run.terminal, run.plan
    terminal.say("Timing", "a few runs on a part of the rows, to see whether all of them take long")
    expected = duration(plan, prepared, workers=run.workers)
    rows = expected.rows_within(_TARGET)
    if expected.seconds() <= _LONG or rows is None or rows >= prepared.facts.rows:
        return plan
    whole = f"All rows take {spell_expected(expected.seconds())}"
    offer = f"{whole}; --rows {rows} would take {spell_expected(expected.seconds(rows))}"
    if not run.typed["yes"] and terminal.is_interactive:
        terminal.say("Long", f"{offer}, with wider intervals.")
        if terminal.ask(f"Use {rows:,} rows instead of all?") and plan.data is not None:
            return plan.with_(data=replace(plan.data, rows=rows))
        return plan
    terminal.say("Long", f"{offer}, with wider intervals; going on with all rows. Ctrl-C stops.")
    return plan


def follow_run(
    terminal: Terminal,
    plan: Plan,
    *,
    out: Path,
    again: str = "audit --resume",
    began: float | None = None,
    resume: bool = False,
    language: str = "en",
    **options: Any,
) -> Results:
    """Run the cells and follow them; Ctrl-C ends with what is typed to go on, the folder apart.

    Parameters
    ----------
    terminal : Terminal
    plan : Plan
    out : path
    again : str
        What is typed after ``evenhand`` to go on.
    began : float, optional
        When the command began, by the monotonic clock; by default now.
    resume : bool
        Whether to go on with the study in the folder; runs that failed are then tried again.
    language : str
        Of the page that is written after each stage.
    **options
        Of :func:`evenhand.study.run`.
    """
    began = when_command_began() if began is None else began
    changes = explain_resume(plan, out) if resume else ""
    said = ""
    try:
        with follow_study(terminal) as follow:

            def tell(event: Any) -> None:
                nonlocal said
                if isinstance(event, Started) and event.total > event.done:
                    announce_compiling(terminal)
                if resume and isinstance(event, Started):
                    terminal.say("Resume", f"{_describe_kept_runs(event)}{changes}")
                follow(event)
                if isinstance(event, StageDone):
                    view, before = event.results.view(language=language), said
                    said = f"{view.verdict} {view.how_much.text}"
                    terminal.say("So far", said if said != before else "Nothing new.")
                    write_files(terminal, event.results, out, language=language)
                if isinstance(event, Timed):
                    total = time.monotonic() - began + event.seconds_left + _REPORT_SECONDS
                    workers = counted(event.workers, "worker")
                    words = f"{spell_expected(total)} in all with {workers}, from start to report"
                    terminal.say("Time", words)

            return run_cells(plan, out=out, progress=tell, resume=resume, retry_failed=resume, **options)
    except KeyboardInterrupt:
        command, _, besides = again.partition(" --resume")
        again = f"evenhand {command} --resume --out {shlex.quote(shorten_path(out))}{besides}"
        is_kept = (out / "study.db").exists()
        kept = f"finished runs are kept. Go on with: {again}"
        terminal.say("Stopped", kept if is_kept else "no run was finished, and nothing is kept.")
        terminal.object({"stopped": True, "resume": again if is_kept else None, "exit": stop_code()})
        sys.exit(stop_code())


def check_script(path: Path | None) -> None:
    """Refuse a script that cannot be written, or would replace a file, before anything is run."""
    if path is None:
        return
    if path.suffix.lower() not in ENDINGS:
        wrong_use(f"--save-script must end with {' or '.join(ENDINGS)}. Got {path.name!r} instead.")
    if os.path.lexists(path):
        wrong_use(f"There is a file {path.name} already. Hint: choose another name for --save-script.")
    if not path.absolute().parent.is_dir():
        wrong_use(f"The folder {path.parent} is not there. Hint: make it, or name another for --save-script.")


def _describe_kept_runs(event: Started) -> str:
    """Return what a study that goes on keeps and what it runs."""
    left = event.total - event.done
    kept = f"{counted(event.done, 'finished run')} {'is' if event.done == 1 else 'are'} kept"
    if not left:
        return f"{kept}, none is missing; the report is written again"
    return f"{kept}, {left:,} of {event.total:,} {'is' if left == 1 else 'are'} run now"


def explain_resume(plan: Plan, folder: Path) -> str:
    """Return how a plan differs from that of the folder, in words; refuse one that leaves out finished runs.

    What else may not differ, the store itself refuses: data, schema, task and seed.
    """
    if not os.path.lexists(folder / "study.db") or not Store.count_results(folder):
        return ""
    with Store.open(folder) as store:
        earlier = store.plan
        finished = {outcome.cell.id: outcome.cell for outcome in store.outcomes() if outcome.failure is None}
    wanted = {cell.id for cell in plan.possible_cells()}
    lost = [cell for name, cell in finished.items() if name not in wanted]
    changes = []
    if plan.repeats != earlier.repeats:
        changes.append(f"repeats {earlier.repeats} become {plan.repeats}")
    before, now = set(earlier.settings()), set(plan.settings())
    changes += [f"{counted(len(now - before), 'setting')} more"] if now - before else []
    changes += [f"{counted(len(before - now), 'setting')} less"] if before - now else []
    words = "; ".join(changes)
    if lost:
        runs = counted(len(lost), "finished run")
        message = f"{folder} has {runs} that would be left out of the report: {words}."
        hint = f"go on with all of them by --resume --out {shlex.quote(shorten_path(folder))} alone"
        wrong_use(f"{message} Hint: {hint}, or name another folder with --out.")
    return f" ({words})" if words else ""


def write_files(
    terminal: Terminal, results: Results, out: Path, *, view: View | None = None, language: str = "en"
) -> dict[str, Path]:
    """Write what goes beside the store, and return the path of each file by its word.

    The report says what the view does, if there is one. Where it needs a package that is missing, the
    terminal says so.
    """
    try:
        return write_results(results, out, view=view, language=language)
    except MissingExtraError as error:
        terminal.warn(f"No report was written. {error}")
        return {word: path for word, path in files_in(out).items() if word != "Report"}
