"""Commands that do what a page says would settle it: more repeats, another epsilon, small groups joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.answer.case import Command
from evenhand.study.page.words import words_in
from evenhand.study.preflight import Group, propose_pool, share_seen

if TYPE_CHECKING:
    from evenhand.answer.view import View
    from evenhand.study.results.base import ResultData


def commands_to_settle(results: ResultData, view: View) -> list[Command]:
    """Return the commands that run the study so that more can be said of it; none without its data."""
    plan, say = results.plan, words_in(view.language).say
    if plan.data is None or view.state == "stop":
        return []
    again = plan.task.command(plan)
    commands = [
        Command(say(f"settle.{flag.removeprefix('--')}", n=value), "", f"{again} {flag} {value}")
        for flag, value in view.settling.items()
    ]
    below = _pool_of(results, view)
    if below is not None:
        commands.append(Command(say("settle.pool", n=below), "", f"{again} --pool-below {below}"))
    return commands


def _pool_of(results: ResultData, view: View) -> int | None:
    """Return the number of people below which groups that were too small should be joined."""
    rows = [row for row in view.rows if row.setting == view.page and row.harm in ("less", "more")]
    if not any(row.status == "unjudged" for row in rows):
        return None
    fewest = {row.group: row.people for row in sorted(rows, key=lambda row: -row.people)}
    sizes = zip(results.facts.groups, results.facts.people, strict=True)
    groups = [Group(name, people, fewest.get(name, people)) for name, people in sizes]
    return propose_pool(groups, results.facts, seen=share_seen(results.plan))
