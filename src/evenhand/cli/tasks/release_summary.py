"""The table at the end of a study of releases: one row per setting, delta first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.cli.terminal.console import WIDEST, fit

if TYPE_CHECKING:
    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.release.reading import ReleaseReading

__all__ = ["release_rows", "release_table", "release_title"]

_NUMBERS, _GROUP, _LONGEST = 76, 8, 16


def release_title(terminal: Terminal, results: Results) -> str:
    """Return what the table shows, in a line or two."""
    from evenhand.report.words import epsilon_words  # noqa: PLC0415 - used here alone
    from evenhand.study.tasks.release.reading import ReleaseReading  # noqa: PLC0415 - starts numpy

    reading = ReleaseReading.of(results)
    at = "" if reading.epsilon is None else f" at {epsilon_words(reading.epsilon)}"
    said = f"Mechanisms by their δ{at}; error and α in people of a cell"
    said += "; accuracy as its change against the true table, in points" if reading.classifies else ""
    if _shown_groups(terminal, reading):
        said += "; last, for each group: people published minus those there are, in % of these"
    return said


def release_rows(results: Results) -> list[dict[str, Any]]:
    """Return one object for each setting, for machines."""
    from evenhand.study.results.estimates import estimate, paired_change  # noqa: PLC0415 - starts numpy
    from evenhand.study.tasks.release.reading import ReleaseReading  # noqa: PLC0415 - as above

    reading = ReleaseReading.of(results)
    rows = []
    for setting in results.settings:
        row: dict[str, Any] = {"setting": str(setting), **setting.key}
        for measure in results.plan.measures:
            value, change = estimate(results, setting, measure), paired_change(results, setting, measure)
            row[measure] = {**_numbers(value), "change": _numbers(change)}
        row["groups"] = {
            label: {
                "published_change": _numbers(reading.lost(label, setting)),
                "person_error": _numbers(reading.rate(label, "person_error", setting)),
            }
            for label in results.facts.groups
        }
        rows.append(row)
    return rows


def _numbers(estimated: Estimated) -> dict[str, Any]:
    return {"value": estimated.value, "low": estimated.low, "high": estimated.high, "runs": estimated.runs}


def release_table(terminal: Terminal, results: Results) -> Any:
    """Return the table, as wide as the terminal lets it be."""
    from rich.table import Table  # noqa: PLC0415 - rich loads when a command speaks
    from rich.text import Text  # noqa: PLC0415 - as above

    from evenhand.study.tasks.release.reading import ReleaseReading  # noqa: PLC0415 - starts numpy

    reading = ReleaseReading.of(results)
    groups = _shown_groups(terminal, reading)
    encoding = terminal.results.encoding
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    heads = ["δ", "Mechanism", "Error", "α", *(["Accuracy"] if reading.classifies else []), *groups]
    for head in heads:
        named = head == "Mechanism"
        table.add_column(
            fit(head, encoding),
            justify="left" if named else "right",
            no_wrap=not named,
            overflow="fold" if named else "ellipsis",
        )
    for cells in _rows(reading, groups):
        table.add_row(*(Text(fit(text, encoding), style) for text, style in cells))
    return table


def _shown_groups(terminal: Terminal, reading: ReleaseReading) -> list[str]:
    """Return the groups that fit beside the numbers; none if not all do."""
    room = min(terminal.results.width, WIDEST) - _NUMBERS
    widths = [max(len(group), _GROUP) + 2 for group in reading.groups]
    fits = sum(widths) <= room and max(map(len, reading.groups)) <= _LONGEST
    return list(reading.groups) if fits else []


def _rows(reading: ReleaseReading, groups: list[str]) -> list[list[tuple[str, str]]]:
    from evenhand.report.words import number  # noqa: PLC0415 - used here alone
    from evenhand.study.page.wording import delta_text, digits_of  # noqa: PLC0415 - too
    from evenhand.study.tasks.release.wording import tone_of  # noqa: PLC0415 - too
    from evenhand.study.tasks.shared.wording import mechanism_name  # noqa: PLC0415 - too

    rows = []
    for setting in reading.beside:
        delta = reading.delta(setting)
        bad = tone_of(delta, people=reading.people) == "bad"
        cells = [(delta_text(delta), "bold red" if bad else ""), (mechanism_name(setting), "")]
        for found in (reading.cell_error(setting), reading.value("alpha", setting)):
            known = math.isfinite(found.value)
            cells.append((number(found.value, digits_of(found.value)) if known else "undefined", ""))
        if reading.classifies:
            moved = reading.change("acc", setting)
            known = math.isfinite(moved.value)
            text = number(100 * moved.value, sign=True) if known else "undefined"
            cells.append((text, "bold" if moved.is_clear else ""))
        for group in groups:
            lost = reading.lost(group, setting)
            known = math.isfinite(lost.value)
            text = number(100 * lost.value, sign=True) if known else "undefined"
            cells.append((text, "bold" if lost.is_clear else ""))
        rows.append(cells)
    return rows
