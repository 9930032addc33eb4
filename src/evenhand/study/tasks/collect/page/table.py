"""The section with all numbers: one row for each setting, and the CSV of every cell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import Section, Table
from evenhand.report.words import number
from evenhand.study.page.parts import repeats_words, way_words
from evenhand.study.page.wording import counted, epsilon_text, plain, protocol_name, way_name
from evenhand.study.results.estimates import group_change
from evenhand.study.results.frames import cell_columns
from evenhand.study.tasks.collect.page.reading import LEVEL, UNPROTECTED_SETTING
from evenhand.study.tasks.collect.page.trends import table_heading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["table_section"]

_FOLD = 12
_MEASURES = (
    ("acc", "Accuracy\n%"),
    ("sp_gap", "Selection gap\npoints"),
    ("eod", "True-positive gap\npoints"),
)


def table_section(reading: Reading) -> Section:
    """Return the table of settings, those at the chosen epsilon first."""
    chosen = reading.chosen
    ahead = [
        chosen,
        *(each for each in reading.protected if each.epsilon == chosen.epsilon and each != chosen),
    ]
    order = [
        UNPROTECTED_SETTING,
        *ahead,
        *(each for each in reading.protected if each.epsilon != chosen.epsilon),
    ]
    pair = (reading.low, reading.high)
    header = [
        "Protocol", (way_words(reading) or "split").capitalize(), "ε", *(name for _, name in _MEASURES),
        *(f"{plain(reading.named(group), longest=24)} selected\n%" for group in pair),
    ]  # fmt: skip
    columns = cell_columns(reading.results)
    table = Table(
        header=header,
        rows=[_row(reading, each, pair) for each in order],
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=_caption(reading),
        sunk=0,
        chosen=1,
        fold=_FOLD if len(order) > _FOLD + 2 else None,
        name="all-cells",
        data={name: list(values) for name, values in columns.items()},
    )
    cells = counted(len(reading.results), "cell")
    return Section(
        heading=table_heading(reading),
        lead=f"One row per setting, those at ε = {epsilon_text(chosen)} first. The CSV holds all {cells}."
        " What is clear in the heading is judged by intervals widened for how many settings there are.",
        tables=(table,),
        anchor="numbers",
    )


def _row(reading: Reading, setting: Setting, pair: Sequence[str]) -> list[str]:
    row = [protocol_name(setting), way_name(setting, word=False), epsilon_text(setting)]
    if not setting.is_protected:
        row = ["Unprotected", "none", "∞"]
    for measure, _ in _MEASURES:
        row.append(_cell(reading.value(measure, setting), reading.change(measure, setting)))
    for group in pair:
        moved = group_change(reading.results, setting, group, "selection", level=LEVEL)
        row.append(_cell(reading.rate(group, "selection", setting), moved))
    return row


def _cell(found: Estimated, moved: Estimated) -> str:
    """Return a value with its interval below, bold where its change from the unprotected one is clear."""
    if not math.isfinite(found.value):
        return "undefined"
    shown = number(100 * found.value)
    shown = f"**{shown}**" if moved.is_clear else shown
    if found.low is None or found.high is None:
        return shown
    return f"{shown}\n{number(100 * found.low)} to {number(100 * found.high)}"


def _caption(reading: Reading) -> str:
    if reading.results.plan.repeats == 1:
        return "**One repeat, so there are no intervals** and nothing is bold."
    return (
        f"**Small print: {LEVEL:.0%} interval over {repeats_words(reading)}.** Bold: the change from the "
        "unprotected model, paired by repeat, leaves out none, each on its own: of twenty numbers that do "
        "not change about one is bold. Bold does not mean better."
    )
