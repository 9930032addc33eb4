"""From a plan that was written before to the study that is run: its rows, and what was typed besides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.cli.terminal.console import wrong_use

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.plan.plan import Plan

__all__ = ["planned"]

_SAID_BY_A_PLAN = ("target", "positive", "protected", "privileged", "sensitive", "drop", "schema", "guess")


def planned(terminal: Terminal, typed: dict[str, Any], path: Path) -> tuple[Plan, Any]:
    """Return a plan file's study and its rows; data, rows, repeats and seed that were typed come first."""
    from evenhand.cli.roles import told_reading  # noqa: PLC0415 - starts numpy
    from evenhand.study.intake.opening import open_data  # noqa: PLC0415 - as above
    from evenhand.study.plan.plan import Plan  # noqa: PLC0415 - as above

    extra = [f"--{name}" for name in _SAID_BY_A_PLAN if typed[name]]
    if extra:
        said = f"{', '.join(extra)} cannot be given with a plan, which says it already."
        wrong_use(f"{said} Hint: edit {path.name}.")
    plan = Plan.load(path)
    if typed["data"] is None and plan.data is None:
        wrong_use(f"{path.name} names no data. Hint: name a file before the options.")
    source = plan.data
    named = typed["data"] or (source and (source.dataset or source.path)) or ""
    opened = open_data(named, schema=plan.schema, options=source.options if source else None)
    told_reading(terminal, opened)
    rows = typed["rows"] or (source.rows if source else None)
    changes = {name: typed[name] for name in ("repeats", "seed") if typed[name] is not None}
    changed = plan.with_(
        data=replace(opened.source, rows=rows), schema=plan.schema or opened.schema, **changes
    )
    return changed, opened.frame
