"""Roles that are missing, asked for on a terminal: its owner sees the values of a column of the file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.cli.options import split_list
from evenhand.cli.terminal.console import quote_names
from evenhand.errors import ColumnNotFoundError
from evenhand.schema.infer import FEW
from evenhand.schema.typed_values import value_of
from evenhand.study.intake.guess import guess, read_rows
from evenhand.study.intake.setup import ROLES, RoleOptions, column_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.intake.guess import Rows
    from evenhand.study.intake.opening import Opened

AMOUNT = ">= AMOUNT"
"""What stands for a threshold that nobody but a person can choose."""

_OWNERS = {"positive": "target", "privileged": "protected"}


def ask_roles(
    terminal: Terminal,
    opened: Opened,
    words: RoleOptions,
    missing: Sequence[str],
    *,
    optional: bool = False,
    person: bool = False,
) -> RoleOptions:
    """Return the words with the roles that a person answered; only where the terminal is interactive.

    Enter takes what is proposed. Where roles are `optional`, Enter without a proposal leaves one out, and so
    does the end of input anywhere.
    """
    rows = read_rows(opened, words)
    terminal.say("Columns", quote_names(opened.names, most=60))
    for role in missing:
        owner = _OWNERS.get(role)
        if owner is not None and getattr(words, owner) is None and not _declared(opened, owner):
            continue
        if role == "privileged" and isinstance(words.protected, tuple):
            continue
        answer = _ask(terminal, opened, words, role, rows=rows, optional=optional)
        if answer is None:
            break
        change: dict[str, Any] = {role: answer}
        words = replace(words, **change) if answer else words
    found = guess(opened, words, person=person)
    for role, question in (("person", "Is a person's row known by it?"), ("drop", "Leave out?")):
        if role in found.by_role and terminal.ask(f"{found.by_role[role]} {question}"):
            change = {role: getattr(found.words, role)}
            words = replace(words, **change)
    return words


def _declared(opened: Opened, role: str) -> Any:
    return getattr(opened.schema, role, None)


def _ask(
    terminal: Terminal, opened: Opened, words: RoleOptions, role: str, *, rows: Rows, optional: bool
) -> Any:
    """Return the answer for one role, asked for until it fits; None at the end of input."""
    guessed = guess(opened, words, rows=rows)
    proposed = getattr(guessed.words, role) or ""
    default = ", ".join(proposed) if isinstance(proposed, tuple) else proposed
    if role in guessed.by_role:
        terminal.say("Guess", str(guessed.by_role[role]))
    column = getattr(words, _OWNERS.get(role, ""), None) or _declared(opened, _OWNERS.get(role, ""))
    question = f"{role}, {ROLES[role]}"
    if column is not None and rows.is_amount(column):
        question = f"{role}: '{column}' holds numbers. Which of them are positive, such as {AMOUNT}?"
    elif column in rows.domains and rows.domains[column].kind == "categorical":
        values = rows.domains[column].labels
        if len(values) <= FEW:
            terminal.say("Values", f"of {quote_names([column])}: {quote_names(values, most=FEW)}")
    while True:
        typed = terminal.ask_text(question, default=default)
        if typed is None or (not typed and optional):
            return typed
        problem = _problem(opened, rows, role, column, typed)
        if not problem:
            known = opened.names if opened.schema is None else opened.schema.names
            if role in {"sensitive", "protected"}:
                names = split_list([typed], known)
                return names if role == "sensitive" or len(names) > 1 else typed
            return typed
        terminal.say("", problem)


def _problem(opened: Opened, rows: Rows, role: str, column: str | None, typed: str) -> str:
    """Return what is wrong with an answer; empty if it fits."""
    if not typed:
        return "An answer is needed here; Ctrl-C stops, and nothing is written."
    if column is None:
        known = opened.names if opened.schema is None else opened.schema.names
        try:
            for name in split_list([typed], known) if role in {"sensitive", "protected"} else [typed]:
                column_named(name, known, opened.undeclared)
        except ColumnNotFoundError as error:
            return str(error)
        return ""
    domain = rows.domains.get(column)
    is_label = (
        opened.schema is not None
        and column in opened.schema
        and opened.schema[column].find(typed) is not None
    )
    if domain is None or rows.is_amount(column) or value_of(domain, typed) is not None or is_label:
        return ""
    return f"'{column}' has no such value. Hint: write it as it stands in the data."
