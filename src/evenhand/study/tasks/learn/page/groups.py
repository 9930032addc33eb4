"""The section on whose predictions change, of a report on classifiers: rates of groups, shares changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import Section, Table
from evenhand.study.page.comparing import ENOUGH_REPEATS, groups_by_sign
from evenhand.study.page.parts import (
    caption,
    cell_text,
    few_people,
    people_in_a_test,
    rates_chart,
    shown_groups,
)
from evenhand.study.page.wording import counted, plain
from evenhand.study.results.frames import group_columns

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["changes_heading", "groups_section"]

_MOST_LISTED = 4


def groups_section(reading: LearnReading) -> Section | None:
    """Return rates of groups before and after, and the table of changes; None for the plain way."""
    if not reading.chosen.is_protected:
        return None
    shown = shown_groups(reading)
    heading, rest = changes_heading(reading), people_in_a_test(reading, shown)
    chart = rates_chart(
        reading,
        shown,
        name="who-changes",
        heading=heading,
        caption=caption(reading, "In brackets, paired by repeat", rest, together=len(reading.groups)),
        words=("plain classifier", reading.name()),
    )
    return Section(
        heading=heading,
        lead=f"From the plain classifier (bar) to {reading.name()} (filled mark); the table has every way.",
        charts=(chart,),
        tables=(_table(reading),),
        notes=few_people(reading),
        anchor="changes",
    )


def changes_heading(reading: LearnReading) -> str:
    """Return who is predicted positive more or less often, as far as it is clear."""
    found = {group: reading.moved(group, "selection") for group in reading.groups}
    if not any(value.has_interval for value in found.values()):
        few = f"Fewer than {ENOUGH_REPEATS} repeats" if reading.few_repeats_words else "One repeat"
        return f"{few} cannot tell whose predictions {reading.name()} changes"
    up, down = groups_by_sign(found)
    parts = [
        f"selected {word} often: {reading.names(groups)}"
        for groups, word in ((up, "more"), (down, "less"))
        if groups
    ]
    if not parts:
        return f"No group's selection rate clearly changes with {reading.name()}"
    return f"With {reading.name()}, {'; '.join(parts)}"


# --- the table of changes -------------------------------------------------------------------------


def _table(reading: LearnReading) -> Table:
    """Return how many of each group are predicted otherwise than by the plain classifier, in every way."""
    shown = shown_groups(reading, _MOST_LISTED)
    header = ["Method"]
    for group in shown:
        name = plain(reading.named(group), longest=18)
        header += [f"{name}\nnow selected, %", f"{name}\nno longer selected, %"]
    header.append("Flipped afterwards\nof all predictions, %")
    hidden = len(reading.groups) - len(shown)
    more = f" {counted(hidden, 'smaller group')} in the CSV." if hidden else ""
    return Table(
        header=header,
        rows=[_row(reading, setting, shown) for setting in reading.beside],
        numeric=[False, *[True] * (len(header) - 1)],
        caption=caption(
            reading,
            "Small print",
            "Shares of a group's test rows that the plain classifier of the same repeat decides otherwise. "
            "Last: decisions that parity changes at random or that projection turns, against the same "
            f"classifier before that.{more}",
        ),
        chosen=reading.beside.index(reading.chosen) if reading.chosen in reading.beside else None,
        name="changes",
        data={name: list(values) for name, values in group_columns(reading.results).items()},
    )


def _row(reading: LearnReading, setting: Setting, shown: tuple[str, ...]) -> list[str]:
    way = reading.way(setting)
    row = [f"{way.title}\nnot private" if way.voids else way.title]
    for group in shown:
        row += [cell_text(reading.rate(group, name, setting)) for name in ("promoted", "refused")]
    flipped = reading.value("flipped", setting)
    row.append(cell_text(flipped) if math.isfinite(flipped.value) else "none")
    return row
