"""From the options of a command that decides to a study, its report and what is said at the end."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.cli import options as given
from evenhand.cli.conduct import checked, conduct, finish, free_folder
from evenhand.cli.tasks.decide_options import column_of, columns_of, mechanisms_of, mitigations_of
from evenhand.cli.terminal.console import spelled, wrong_use
from evenhand.cli.terminal.refusals import refuse_empty, refuse_other_marks

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.intake.opening import Opened
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results

__all__ = ["decided", "opened_counts", "shared_parts"]

_MOST_WARNINGS = 3
_LISTS = ("epsilon", "mechanism", "groups", "post", "mitigate")


def opened_counts(terminal: Terminal, typed: dict[str, Any]) -> Opened:
    """Return the rows of a file of counts."""
    from evenhand.study.intake.opening import open_data  # noqa: PLC0415 - starts numpy

    refuse_empty(typed, *_LISTS)
    opened = open_data(typed["data"])
    terminal.say("Reading", f"{opened.source.label}, {spelled(opened.names)}")
    refuse_other_marks(opened.source.label, opened.names)
    if not opened.rows:
        wrong_use(f"{opened.source.label} has column names and no rows.")
    return opened


def shared_parts(typed: dict[str, Any], opened: Opened) -> dict[str, Any]:
    """Return the parts of the task that both commands have."""
    name = typed["name"]
    return {
        "name": None if name is None else column_of("--name", name, opened.names),
        "groups": columns_of("--groups", typed["groups"], opened.names),
        "mechanisms": mechanisms_of(typed),
        "epsilons": given.listed(typed["epsilon"]) or ("0.1", "1"),
        "unit": typed["unit"],
        "post": given.listed(typed["post"]),
        "mitigations": mitigations_of(typed["mitigate"]),
        "draws": typed["draws"],
    }


def decided(terminal: Terminal, typed: dict[str, Any], opened: Opened, task: Any, *, command: str) -> None:
    """Run the study, write its report and every entity, and say what came of it."""
    from evenhand.study.page.wording import counted  # noqa: PLC0415 - as above
    from evenhand.study.plan.plan import Plan  # noqa: PLC0415 - starts numpy

    folder = free_folder(typed["out"])
    again = f"evenhand audit --resume --out {shlex.quote(str(folder))}"
    checked(folder, workers=None, again=again)
    notes = (opened.note,) if opened.note else ()
    plan = Plan(data=replace(opened.source), task=task, seed=typed["seed"] or 0, notes=notes)
    settings = len(plan.settings()) - 1
    entities = counted(opened.rows, "entity", "entities")
    terminal.say("Plan", f"{settings} setting{'' if settings == 1 else 's'} for {entities}")
    results = conduct(terminal, plan, frame=opened.frame, out=folder, workers=1, resume=False)
    files = _entities(results, plan, opened.frame, folder)
    _warn_of_totals(terminal, results)
    finish(terminal, results, command=command, out=folder, open_page=typed["open_page"], more=files)


def _warn_of_totals(terminal: Terminal, results: Results) -> None:
    """Say where the noisy total may be 0 or less, and how likely that is."""
    from evenhand.study.tasks.decide.reading import DecideReading  # noqa: PLC0415 - starts numpy
    from evenhand.study.tasks.decide.wording import setting_words  # noqa: PLC0415 - as above

    found = DecideReading.of(results).total_notes()
    for setting, note in list(found.items())[:_MOST_WARNINGS]:
        terminal.warn(f"{setting_words(setting)}: {note}")
    if len(found) > _MOST_WARNINGS:
        terminal.warn(f"and so in {len(found) - _MOST_WARNINGS:,} other settings.")


def _entities(results: Results, plan: Plan, frame: Any, folder: Path) -> dict[str, Path]:
    """Write every entity under the setting that the report is about, and return the file by its word."""
    from evenhand.study.run.prepare import prepare  # noqa: PLC0415 - as above
    from evenhand.study.tasks.decide.reading import DecideReading  # noqa: PLC0415 - starts numpy
    from evenhand.study.tasks.decide.table import write_entities  # noqa: PLC0415 - as above

    reading = DecideReading.of(results)
    if reading.outcome() is None:
        return {}
    path = folder / "entities.csv"
    write_entities(plan, reading.chosen, path, prepared=prepare(plan, frame=frame))
    return {"Entities": path}
