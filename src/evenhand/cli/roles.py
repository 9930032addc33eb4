"""From a file and role options to a schema, with errors that show the person what to type."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.cli.options import listed
from evenhand.cli.terminal.console import spelled, wrong_use
from evenhand.cli.terminal.refusals import refuse_other_marks
from evenhand.errors import SchemaError
from evenhand.study.intake.setup import ROLES, Words, choices_of, column_named, missing_roles, set_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.intake.draft import Part
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.setup import Setup

__all__ = ["INFERRED", "arranged", "told_reading", "with_choices", "words_of"]

INFERRED = "domains were learnt from the rows, and that is a leak; give --schema with public code lists"


def words_of(opened: Opened, given: dict[str, Any]) -> Words:
    """Return the roles as they were typed."""
    return Words(
        target=given.get("target"),
        positive=given.get("positive"),
        protected=given.get("protected"),
        privileged=given.get("privileged"),
        sensitive=listed(given.get("sensitive"), opened.names),
        drop=listed(given.get("drop"), (*opened.names, *opened.unread)),
    )


def told_reading(terminal: Terminal, opened: Opened) -> None:
    """Say what was read."""
    label = opened.source.label
    with_nulls = sum(1 for column in opened.frame.columns if column.null_count)
    missing = "none missing" if not with_nulls else f"missing values in {with_nulls}"
    columns = f"{len(opened.names)} column{'' if len(opened.names) == 1 else 's'}"
    terminal.say("Reading", f"{label}, {opened.rows:,} rows, {columns}, {missing}")
    if opened.note:
        terminal.say("Note", opened.note)


def arranged(
    terminal: Terminal,
    opened: Opened,
    words: Words,
    *,
    command: str,
    data: str,
    guess: bool,
    bins_only: bool = False,
    needed: Sequence[str] = tuple(ROLES),
) -> Setup:
    """Return the schema with its roles, and say how it came about; others than those needed may lack."""
    _refuse_what_is_no_table(opened)
    guesses: tuple[str, ...] = ()
    if guess:
        words, guesses = _guessed(terminal, opened, words)
    missing = [role for role in missing_roles(words, opened) if role in needed]
    if missing:
        asked = f"{command} {shlex.quote(data)}"
        wrong_use(_ask_for(opened, words, missing, command=asked, guessed=guess, needed=needed))
    try:
        made = set_up(opened, words, bins_only=bins_only)
    except SchemaError as error:
        wrong_use(with_choices(opened, words, error))
    if made.inferred:
        terminal.warn(INFERRED)
    if made.left_out:
        reasons = [f"{spelled([name])} ({why})" for name, why in list(made.left_out.items())[:6]]
        more = [f"and {len(made.left_out) - 6} more"] if len(made.left_out) > 6 else []
        terminal.say("Left out", "; ".join(reasons + more))
    for note in made.notes:
        terminal.say("Note", note)
    schema = made.schema
    reported = f"; sensitive {spelled(schema.sensitive)}" if "sensitive" in needed else ""
    terminal.say(
        "Roles",
        f"target {schema.target} = {schema.positive}; protected {schema.protected}, privileged "
        f"{schema.privileged}{reported}",
    )
    return replace(made, notes=(*made.notes, *guesses))


def _refuse_what_is_no_table(opened: Opened) -> None:
    name = opened.source.label
    if not opened.rows:
        wrong_use(f"{name} has column names and no rows. Hint: name a file with people in it.")
    refuse_other_marks(name, opened.names)


def _guessed(terminal: Terminal, opened: Opened, words: Words) -> tuple[Words, tuple[str, ...]]:
    from evenhand.study.intake.guess import guess  # noqa: PLC0415 - only if somebody asks

    found = guess(opened, words)
    for reason in found.reasons:
        terminal.say("Guess", reason)
    if found.reasons:
        terminal.say("", "A guess may be wrong: give the option to overrule it.")
    return found.words, tuple(f"Guessed: {reason}" for reason in found.reasons)


def _ask_for(
    opened: Opened,
    words: Words,
    missing: Sequence[str],
    *,
    command: str,
    guessed: bool,
    needed: Sequence[str],
) -> str:
    """Say which roles are missing, which columns there are, and show a whole command."""
    from evenhand.study.intake.guess import guess  # noqa: PLC0415 - as above

    wanted = [f"--{role} ({ROLES[role]})" for role in missing]
    say = "could not be guessed" if guessed else "must be given"
    draft = guess(opened, words).words
    stand_in = replace(
        draft,
        target=draft.target or "COLUMN",
        positive=draft.positive or "VALUE",
        protected=draft.protected or "COLUMN",
        privileged=draft.privileged or "GROUP",
        sensitive=draft.sensitive or ("COLUMN", "COLUMN"),
    )
    typed = {role: shlex.quote(str(getattr(stand_in, role))) for role in ROLES if role != "sensitive"}
    example = " \\\n    ".join(
        [
            f"evenhand {command}",
            f"--target {typed['target']} --positive {typed['positive']}",
            f"--protected {typed['protected']} --privileged {typed['privileged']}",
            *([f"--sensitive {shlex.quote(_joined(stand_in.sensitive))}"] if "sensitive" in needed else []),
        ]
    )
    asked = f"{'; '.join(wanted)} {say}."
    return (
        f"{asked}\nColumns: {spelled(opened.names, most=60)}.\nFor example, with what the names suggest "
        f"(check it):\n{example}"
    )


def _joined(names: Sequence[str]) -> str:
    return ",".join(f'"{name}"' if "," in name else name for name in names)


def with_choices(opened: Opened, words: Words, error: SchemaError) -> str:
    """Add the values that a column of the person's own file holds."""
    owner = {"roles.positive": "target", "roles.privileged": "protected"}.get(error.field)
    if owner is None:
        return str(error)
    name = getattr(words, owner) or getattr(opened.schema, owner)
    part: Part = "target" if owner == "target" else "protected"
    found = choices_of(opened, column_named(name, opened.names), part)
    return f"{error}\nValues of {spelled([name])}: {spelled(found)}." if found else str(error)
