"""Public shares and outcome rates of groups, as they are typed or stand in a file."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any

from evenhand.cli import options as given
from evenhand.cli.terminal.console import wrong_use

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evenhand.cli.terminal.console import Terminal
    from evenhand.collect.fairest.group_outcomes import GroupOutcomes

__all__ = ["outcomes_of", "solving_told"]

_OPTIMAL = "optimal"
_MANY_GROUPS = 30  # from which on the linear programs take seconds
_PAUSE = 2.0  # seconds between two lines about them
_TYPED = "as given on the command line"
_NEEDED = (
    "--protocol optimal needs the share and the outcome rate of each group, and they must be public: these "
    "rows are private. Hint: --outcomes FILE with weights, rates and source; or --weights 0.7,0.3 --rates "
    "0.2,0.6; in the order of the schema's values. In Python, GroupOutcomes also takes a pilot's reports or "
    "a budget."
)


def outcomes_of(
    path: Path | None, weights: list[str] | None, rates: list[str] | None, protocol: str
) -> GroupOutcomes | None:
    """Return what the optimal channel is made from; None where another protocol is asked for."""
    typed = [name for name, each in (("--weights", weights), ("--rates", rates)) if each]
    options = [*(["--outcomes"] if path is not None else []), *typed]
    if protocol.lower() != _OPTIMAL:
        if options:
            wrong_use(f"{' and '.join(options)}: only --protocol optimal takes them.")
        return None
    if path is not None and typed:
        wrong_use("--outcomes and --weights or --rates contradict each other.")
    if path is None and len(typed) != 2:
        wrong_use(_NEEDED)
    from evenhand.collect.fairest.group_outcomes import GroupOutcomes  # noqa: PLC0415 - starts numpy

    if path is not None:
        return GroupOutcomes.from_table(_table(path), source=path.name)
    table = {"weights": _numbers("--weights", weights), "rates": _numbers("--rates", rates)}
    return GroupOutcomes.from_table(table, source=_TYPED)


def _numbers(option: str, words: list[str] | None) -> list[float]:
    try:
        return [float(word) for word in given.listed(words)]
    except ValueError:
        wrong_use(f"{option} must be numbers with commas between them.")


def _table(path: Path) -> Any:
    """Return what a TOML or JSON file holds."""
    from evenhand.schema.toml import MAX_BYTES, parse_toml, read_text  # noqa: PLC0415 - starts numpy

    text = read_text(path, max_bytes=MAX_BYTES, what="table of outcomes")
    if path.suffix.lower() != ".json":
        return parse_toml(text, max_bytes=MAX_BYTES, what="table of outcomes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        wrong_use(f"{path.name} is not valid JSON.")


def solving_told(terminal: Terminal, *, groups: int) -> Callable[[int, int], None] | None:
    """Return what says now and then how far the programs are; None for few groups, or if nobody watches."""
    if groups < _MANY_GROUPS or terminal.quiet or terminal.as_json or not terminal.notices.is_terminal:
        return None
    said = -math.inf

    def tell(done: int, about: int) -> None:
        nonlocal said
        if time.monotonic() - said >= _PAUSE:
            said = time.monotonic()
            terminal.say("Solving", f"{groups} groups: {done} of about {max(done, about)} linear programs")

    return tell
