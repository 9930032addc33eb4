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
from evenhand.study.page.reading import BASELINE
from evenhand.study.results.frames import group_columns

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

_MOST_LISTED = 4


def groups_section(reading: LearnReading) -> Section | None:
    """Return rates of groups before and after, and the table of changes; None for the plain way."""
    if not reading.chosen.is_protected:
        return None
    say, shown = reading.sentences.say, shown_groups(reading)
    heading, rest = changes_heading(reading), people_in_a_test(reading, shown)
    chart = rates_chart(
        reading,
        shown,
        name="who-changes",
        heading=heading,
        caption=caption(reading, say("changes.bars"), rest, together=len(reading.groups)),
        words=(say("changes.before"), reading.name()),
    )
    return Section(
        heading=heading,
        lead=say("changes.lead", name=reading.name(), labels=_labels(reading)),
        charts=(chart,),
        tables=(_table(reading),),
        notes=few_people(reading),
        anchor="changes",
    )


def changes_heading(reading: LearnReading) -> str:
    """Return who is predicted positive more or less often, as far as it is clear."""
    say = reading.sentences.say
    moves = {group: reading.moved(group, "selection") for group in reading.judged or reading.groups}
    slots = {"name": reading.name(), "enough": ENOUGH_REPEATS}
    if not any(moved.has_interval for moved in moves.values()):
        key = "few" if reading.few_repeats_words else "one_repeat" if reading.repeats == 1 else "equal"
        return say(f"changes.heading_{key}", **slots)
    up, down = groups_by_sign(moves)
    slots |= {"up": reading.names(up), "down": reading.names(down)}
    key = "both" if up and down else "up" if up else "down" if down else "none"
    return say(f"changes.heading_{key}", **slots)


def _labels(reading: LearnReading) -> str:
    """Return how often the labels of the rows that are predicted have the outcome, by group."""
    say, shown = reading.sentences.say, shown_groups(reading, _MOST_LISTED)
    shares = {group: reading.rate(group, "base_rate", BASELINE).value for group in shown}
    if not all(map(math.isfinite, shares.values())):
        return ""
    groups = [say("changes.label", share=shares[group], group=reading.named(group)) for group in shown]
    return say("changes.labels", groups=groups)


# --- the table of changes -------------------------------------------------------------------------


def _table(reading: LearnReading) -> Table:
    """Return how many of each group are predicted otherwise than by the plain classifier, in every way."""
    say, shown = reading.sentences.say, shown_groups(reading, _MOST_LISTED)
    header = [say("changes.column_method")]
    for group in shown:
        name = reading.shorten_name(group, 18)
        header += [say(f"changes.column_{column}", group=name) for column in ("promoted", "refused")]
    header.append(say("changes.column_flipped"))
    hidden = len(reading.groups) - len(shown)
    more = say("changes.more", hidden=hidden) if hidden else ""
    return Table(
        header=header,
        rows=[_row(reading, setting, shown) for setting in reading.beside],
        numeric=[False, *[True] * (len(header) - 1)],
        caption=caption(reading, say("changes.small"), say("changes.caption", more=more)),
        chosen=reading.beside.index(reading.chosen) if reading.chosen in reading.beside else None,
        name="changes",
        data={name: list(values) for name, values in group_columns(reading.results).items()},
    )


def _row(reading: LearnReading, setting: Setting, shown: tuple[str, ...]) -> list[str]:
    say, way = reading.sentences.say, reading.way(setting)
    row = [say("changes.void", title=way.title) if way.voids else way.title]
    for group in shown:
        row += [cell_text(reading.rate(group, name, setting)) for name in ("promoted", "refused")]
    flipped = reading.value("flipped", setting)
    row.append(cell_text(flipped) if math.isfinite(flipped.value) else say("changes.none"))
    return row
