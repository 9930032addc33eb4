"""The section on whose predictions change, of a report on classifiers: rates of groups, shares changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import moved_chart
from evenhand.report.marks import Axis, Moved
from evenhand.report.page import Note, Section, Table
from evenhand.report.words import number
from evenhand.study.page.wording import change, counted, listed, mark, outcome_name, percent, plain
from evenhand.study.results.frames import group_columns
from evenhand.study.tasks.collect.page.reading import LEVEL
from evenhand.study.tasks.learn.reading import PLAIN_SETTING

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["changes_heading", "groups_section", "shown_groups"]

_MOST_DRAWN, _MOST_LISTED = 12, 4
_FEW_PEOPLE = 30


def groups_section(reading: LearnReading) -> Section | None:
    """Return rates of groups before and after, and the table of changes; None for the plain way."""
    if not reading.chosen.is_protected:
        return None
    outcome = outcome_name(reading.results.facts.schema)
    rates = (
        ("selection", Axis(f"predicted {outcome}", "% of the group", 100.0)),
        ("tpr", Axis(f"found among true {outcome}", "% of these in the group", 100.0)),
        ("accuracy", Axis("predicted correctly", "% of the group", 100.0)),
    )
    shown = shown_groups(reading, _MOST_DRAWN)
    heading = changes_heading(reading)
    chart = moved_chart(
        [(axis, [_moved(reading, group, rate) for group in shown]) for rate, axis in rates],
        name="who-changes",
        alt=f"{heading}. {_alt(reading, shown)}",
        caption=_caption(reading, shown),
        words=("plain classifier", reading.name()),
    )
    return Section(
        heading=heading,
        lead=f"From the plain classifier (bar) to {reading.name()} (filled mark); the table has every way.",
        charts=(chart,),
        tables=(_table(reading),),
        notes=_small(reading),
        anchor="changes",
    )


def changes_heading(reading: LearnReading) -> str:
    """Return who is predicted positive more or less often, as far as it is clear."""
    found = {group: reading.moved(group, "selection") for group in reading.groups}
    if not any(each.has_interval for each in found.values()):
        return f"One repeat cannot tell whose predictions {reading.name()} changes"
    up = [group for group, each in found.items() if each.is_clear and each.value > 0]
    down = [group for group, each in found.items() if each.is_clear and each.value < 0]
    parts = [
        f"selected {word} often: {_names(reading, groups)}"
        for groups, word in ((up, "more"), (down, "less"))
        if groups
    ]
    if not parts:
        return f"No group's selection rate clearly changes with {reading.name()}"
    return f"With {reading.name()}, {'; '.join(parts)}"


def _names(reading: LearnReading, groups: list[str]) -> str:
    return listed([reading.named(group) for group in groups], most=3, rest="other groups")


def shown_groups(reading: LearnReading, most: int) -> tuple[str, ...]:
    """Return all groups, or the largest of them, in the schema's order."""
    groups, sizes = reading.groups, reading.results.facts.sizes
    if len(groups) <= most:
        return groups
    largest = sorted(range(len(groups)), key=lambda place: -sizes[place])[:most]
    return tuple(groups[place] for place in sorted(largest))


def _moved(reading: LearnReading, group: str, rate: str) -> Moved:
    return Moved(
        group=reading.groups.index(group),
        label=reading.named(group),
        before=mark(reading.rate(group, rate, PLAIN_SETTING)),
        after=mark(reading.rate(group, rate)),
        change=mark(reading.moved(group, rate)),
    )


def _caption(reading: LearnReading, shown: tuple[str, ...]) -> str:
    start = "**One repeat, so there are no intervals.**"
    if reading.results.plan.repeats > 1:
        together = "both groups" if len(reading.groups) == 2 else f"all {len(reading.groups)} groups"
        repeats = counted(reading.results.plan.repeats, "repeat")
        start = (
            f"**In brackets, paired by repeat: {LEVEL:.0%} interval over {repeats}, widened to hold for "
            f"{together} at once.**"
        )
    tested = [f"{reading.named(group)}: {reading.rate(group, 'people').value:,.0f}" for group in shown]
    hidden = len(reading.groups) - len(shown)
    more = f" Not drawn: {counted(hidden, 'smaller group')}." if hidden else ""
    return f"{start} Changes are in points; the scales differ. People in a test: {listed(tested)}.{more}"


def _alt(reading: LearnReading, shown: tuple[str, ...]) -> str:
    told = []
    for group in shown[:5]:
        before, after = (reading.rate(group, "selection", each) for each in (PLAIN_SETTING, reading.chosen))
        moved = change(reading.moved(group, "selection"))
        told.append(f"{reading.named(group)} from {percent(before.value)} to {percent(after.value)}, {moved}")
    return f"Selected: {'; '.join(told)}."


def _small(reading: LearnReading) -> tuple[Note, ...]:
    """Return a warning of groups of which a test has few people."""
    tested = {group: reading.rate(group, "people").value for group in reading.groups}
    few = {group: count for group, count in tested.items() if count < _FEW_PEOPLE}
    if not few:
        return ()
    who = listed([f"{count:,.0f} of {reading.named(group)}" for group, count in few.items()])
    return (Note("warn", f"**Few people: on average a test has {who}.** Rates of so few jump by chance."),)


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
    interval = (
        f"**Small print: {LEVEL:.0%} interval over {counted(reading.results.plan.repeats, 'repeat')}.** "
        if reading.results.plan.repeats > 1
        else "**One repeat, so there are no intervals.** "
    )
    return Table(
        header=header,
        rows=[_row(reading, each, shown) for each in reading.beside],
        numeric=[False, *[True] * (len(header) - 1)],
        caption=(
            f"{interval}Shares of a group's test rows that the plain classifier of the same repeat decides "
            "otherwise. Last: decisions that parity changes at random or that projection turns, against the "
            f"same classifier before that.{more}"
        ),
        chosen=reading.beside.index(reading.chosen) if reading.chosen in reading.beside else None,
        name="changes",
        data={name: list(values) for name, values in group_columns(reading.results).items()},
    )


def _row(reading: LearnReading, setting: Setting, shown: tuple[str, ...]) -> list[str]:
    way = reading.way(setting)
    row = [f"{way.title}\nnot private" if way.voids else way.title]
    for group in shown:
        row += [_cell(reading.rate(group, name, setting)) for name in ("promoted", "refused")]
    flipped = reading.value("flipped", setting)
    row.append(_cell(flipped) if math.isfinite(flipped.value) else "none")
    return row


def _cell(found: Estimated) -> str:
    if not math.isfinite(found.value):
        return "undefined"
    shown = number(100 * found.value)
    if found.low is None or found.high is None:
        return shown
    return f"{shown}\n{number(100 * found.low)} to {number(100 * found.high)}"
