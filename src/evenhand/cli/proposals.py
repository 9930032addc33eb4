"""Options that are missing, proposed from the file: taken with --guess, asked for, or shown as a command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NoReturn

from evenhand.cli.options import is_typed, option_flag, split_list
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.errors import ColumnNotFoundError
from evenhand.study.intake.setup import column_named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evenhand.study.intake.guess import Reason

EXAMPLE = "type, for example (and check it):"
"""The words before a command that is proposed."""
_OF_COLUMNS = frozenset({"columns", "protected", "person", "count", "weight", "name", "groups"})
_MANY = frozenset({"columns", "groups", "protected"})


def spell_options(
    options: Mapping[str, Any], typed: Mapping[str, Any], *, without: Collection[str] = ()
) -> list[str]:
    """Return options as they were typed, but for some, and for the data, which is no option."""
    words: list[str] = []
    for name, annotation in options.items():
        value = typed.get(name)
        if name == "data" or name in without or not is_typed(value):
            continue
        flag = option_flag(name, annotation)
        values = value if isinstance(value, list) else [value]
        words += [flag] if value is True else [word for each in values for word in (flag, str(each))]
    return words


def lay_out(lines: Iterable[Sequence[str]]) -> str:
    """Return a command on several lines, each of these words, as it is typed."""
    return " \\\n    ".join(shlex.join(words) for words in lines if words)


def settle_options(
    terminal: Terminal,
    typed: dict[str, Any],
    proposed: Mapping[str, Reason],
    *,
    needed: Mapping[str, str],
    command: Sequence[str],
    names: Sequence[str],
    problem: str = "",
) -> dict[str, Any]:
    """Return what was typed, with what is proposed.

    With --guess proposals are taken, and the whole command is shown; on a terminal each is asked for. Else
    the command is shown and nothing runs, as where there is a `problem` with the rows. `needed` says what
    each option is that a study cannot do without.
    """
    missing = {option: what for option, what in needed.items() if not is_typed(typed.get(option))}
    if terminal.is_interactive and not typed["yes"] and not typed["guess"]:
        if problem:
            terminal.warn(problem)
        return {**typed, **_ask(terminal, proposed, missing, names)}
    for reason in proposed.values():
        terminal.say("Guess", str(reason))
    lacking = {option: what for option, what in missing.items() if option not in proposed}
    shown = [[f"--{option}", reason.value] for option, reason in proposed.items()]
    whole = lay_out([command, *shown, *([f"--{option}", "COLUMN"] for option in lacking)])
    if lacking or problem or not typed["guess"]:
        _refuse(lacking if typed["guess"] else missing, whole, names, problem, typed)
    terminal.say("Command", whole)
    return {**typed, **_as_typed(proposed)}


def _refuse(
    missing: Mapping[str, str], whole: str, names: Sequence[str], problem: str, typed: Mapping[str, Any]
) -> NoReturn:
    """Say what is missing, and show the whole command."""
    flags = " and ".join(f"--{option} ({what})" for option, what in missing.items())
    verb = "could not be guessed" if typed["guess"] else "must be given"
    lines = [problem, f"{flags} {verb}; {EXAMPLE}" if flags else f"Then {EXAMPLE}", whole]
    lines += [f"Columns: {quote_names(names, most=60)}."] if "COLUMN" in whole else []
    wrong_use("\n".join(line for line in lines if line))


def _as_typed(proposed: Mapping[str, Reason]) -> dict[str, Any]:
    """Return proposals as the options have them: those with several columns are lists."""
    return {
        option: [reason.value] if option in {"columns", "groups"} else reason.value
        for option, reason in proposed.items()
    }


def _ask(
    terminal: Terminal, proposed: Mapping[str, Reason], needed: Mapping[str, str], names: Sequence[str]
) -> dict[str, Any]:
    """Return the answers; Enter takes a proposal, and one that is not needed may be left out with -."""
    terminal.say("Columns", quote_names(names, most=60))
    answers: dict[str, Any] = {}
    for option in dict.fromkeys((*needed, *proposed)):
        reason = proposed.get(option)
        if reason is not None:
            terminal.say("Guess", str(reason))
        what = f", {needed[option]}" if option in needed else "" if reason is None else ", or - for none"
        while True:
            typed = terminal.ask_text(f"{option}{what}", default="" if reason is None else reason.value)
            if typed is None:
                wrong_use(f"--{option} has no answer. Hint: type it, or say --guess.")
            if typed == "-" and option not in needed:
                break
            said = _problem(option, typed, names)
            if not said:
                answers[option] = [typed] if option in {"columns", "groups"} else typed
                break
            terminal.say("", said)
    return answers


def _problem(option: str, typed: str, names: Sequence[str]) -> str:
    """Return what is wrong with an answer; empty if it fits."""
    if not typed:
        return "An answer is needed here; Ctrl-C stops, and nothing is written."
    try:
        for name in (
            split_list([typed], names) if option in _MANY else [typed] if option in _OF_COLUMNS else []
        ):
            column_named(name, names)
    except ColumnNotFoundError as error:
        return str(error)
    return ""
