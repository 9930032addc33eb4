"""The table at the end of a study of classifiers: one row per setting, with what it promises."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.cli.terminal.console import WIDEST, fit

if TYPE_CHECKING:
    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["learning_rows", "learning_table", "learning_title"]

_MOST_ROWS = 24
_NARROW = 84


def learning_title(results: Results) -> str:
    """Return what the table shows, in a line or two."""
    repeats = results.plan.repeats
    interval = f"95% interval, {repeats} repeats" if repeats > 1 else "one repeat, so no interval"
    return (
        f"Accuracy in %, gap in selection rates in points ({interval}). Equal: the gap that equal rates "
        "would show by chance. Bound: on the mean gap"
    )


def learning_rows(results: Results) -> list[dict[str, Any]]:
    """Return one object for each setting, for machines."""
    from evenhand.study.results.estimates import estimate, group_estimate, paired_change  # noqa: PLC0415 - starts numpy
    from evenhand.study.tasks.learn.reading import LearnReading  # noqa: PLC0415 - as above

    reading = LearnReading.of(results)
    rows = []
    for setting in results.settings:
        row: dict[str, Any] = {"setting": str(setting), **setting.key, "way": reading.way(setting).name}
        row["private"] = reading.is_private(setting)
        for measure in results.plan.measures:
            value, change = estimate(results, setting, measure), paired_change(results, setting, measure)
            row[measure] = {**_numbers(value), "change": _numbers(change)}
        row["groups"] = {
            label: {
                name: _numbers(group_estimate(results, setting, label, name))
                for name in ("selection", "changed", "promoted", "refused", "flipped")
            }
            for label in results.facts.groups
        }
        found = reading.outcome(setting)
        row["assumptions"] = [] if found is None else [_assumption(note) for note in found.notes]
        rows.append(row)
    return rows


def _assumption(note: Any) -> str:
    return f"{note.kind}: {note}" if note.kind in {"unit", "trust"} else str(note)


def _numbers(estimated: Estimated) -> dict[str, Any]:
    return {"value": estimated.value, "low": estimated.low, "high": estimated.high, "runs": estimated.runs}


def learning_table(terminal: Terminal, results: Results) -> Any:
    """Return the table, as wide as the terminal lets it be."""
    from rich.table import Table  # noqa: PLC0415 - rich loads when a command speaks
    from rich.text import Text  # noqa: PLC0415 - as above

    from evenhand.study.tasks.learn.reading import LearnReading  # noqa: PLC0415 - starts numpy

    reading = LearnReading.of(results)
    beside = min(terminal.results.width, WIDEST) >= _NARROW
    encoding = terminal.results.encoding
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for head, numeric in _heads(beside=beside):
        table.add_column(fit(head, encoding), justify="right" if numeric else "left", no_wrap=head != "Way")
    for setting in _shown(reading):
        cells = _cells(reading, setting, beside=beside)
        table.add_row(*(Text(fit(text, encoding), style) for text, style in cells))
    return table


def _heads(*, beside: bool) -> list[tuple[str, bool]]:
    heads = [("Way", False), ("Promise", False)]
    for title in ("Accuracy", "Gap"):
        heads += [(title, True), ("", False)] if beside else [(title, True)]
    return [*heads, ("Equal", True), ("Bound", True)]


def _shown(reading: LearnReading) -> list[Setting]:
    """Return the plain way and the others, those at the epsilon of the report if all would be too many."""
    every = list(reading.results.settings)
    return every if len(every) <= _MOST_ROWS else [every[0], *reading.beside][:_MOST_ROWS]


def _cells(reading: LearnReading, setting: Setting, *, beside: bool) -> list[tuple[str, str]]:
    cells = [(reading.way(setting).title, ""), _promise(reading, setting)]
    for measure in ("acc", "sp_gap"):
        found = reading.value(measure, setting)
        style = "bold" if reading.change(measure, setting).is_clear else ""
        value, between = _hundred(found.value), _between(found)
        cells += [(value, style), (between, "dim")] if beside else [(f"{value}\n{between}".rstrip(), style)]
    cells.append((_hundred(reading.value("fair_gap", setting).value), ""))
    bound = reading.bound("bound", setting)
    cells.append((_hundred(bound) if math.isfinite(bound) else "none", ""))
    return cells


def _promise(reading: LearnReading, setting: Setting) -> tuple[str, str]:
    from evenhand.report.words import epsilon_words  # noqa: PLC0415 - used here alone
    from evenhand.study.page.wording import delta_text  # noqa: PLC0415 - as above

    if reading.is_private(setting):
        epsilon, delta = reading.largest("claimed_epsilon", setting), reading.largest("delta", setting)
        local = reading.way(setting).base == "local"
        return f"{epsilon_words(epsilon)}, {'reported columns' if local else f'δ = {delta_text(delta)}'}", ""
    if setting.epsilon is None:
        return "nothing", "dim"
    if reading.outcome(setting) is None:
        return f"unknown ({epsilon_words(setting.epsilon)})", "dim"
    return f"not private ({epsilon_words(setting.epsilon)})", "bold red"


def _hundred(share: float) -> str:
    return f"{100 * share:.1f}" if math.isfinite(share) else "undefined"


def _between(found: Estimated) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"{_hundred(found.low)} to {_hundred(found.high)}"
