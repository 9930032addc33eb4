"""The map of crossed groups of a published table: how far one release may be off for each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.measure.intervals import normal_quantile
from evenhand.report.marks import Estimate, GroupRow
from evenhand.report.page import Note
from evenhand.report.words import plain
from evenhand.study.page.comparing import FEWEST_PEOPLE, LEVEL
from evenhand.study.page.crossed import map_section, order_rows
from evenhand.study.page.wording import mark
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from evenhand.report.page import Section
    from evenhand.study.tasks.release.reading import ReleaseReading


def crossed_section(reading: ReleaseReading) -> Section | None:
    """Return all groups, the one first whose count may be furthest off; None where nothing is crossed."""
    facts, say = reading.results.facts, reading.sentences.under("crossed_table")
    if not facts.margins:
        return None
    rows = _rows(reading, {group: reading.named(group) for group in facts.groups})
    margins = {
        column: _rows(reading, {label: plain(label) for label in labels})
        for column, labels in facts.margins.items()
    }
    judged = [row for row in rows if not row.few]
    alone = [row.rate.value for found in margins.values() for row in found if not row.few]
    slots = {"name": mechanism_name(reading.chosen)}
    heading, note = say("heading_few", **slots), None
    if judged:
        furthest = judged[0].rate.value
        heading = say("heading", group=judged[0].label, reach=furthest, fewest=FEWEST_PEOPLE, **slots)
        hidden = bool(alone) and furthest > max(alone)
        note = Note("warn", say("hidden", reach=furthest, alone=max(alone))) if hidden else None
    return map_section(
        reading.sentences,
        rows,
        margins,
        heading=heading,
        lead=say("lead"),
        unit=say("unit"),
        caption=say("caption", level=LEVEL),
        note=note,
        cut_few=True,
    )


def _rows(reading: ReleaseReading, names: dict[str, str]) -> tuple[GroupRow, ...]:
    """Return by how much the count of each group may be off in one release, as a share of its people."""
    rows = []
    for group, name in names.items():
        lost, spread, people = reading.lost(group), reading.varies(group), reading.group_people(group)
        if not math.isfinite(lost.value) or not people > 0:
            continue
        reach = max(abs(end) for end in mark(lost).ends)
        if math.isfinite(spread):
            reach = abs(lost.value) + normal_quantile(1 - LEVEL) * spread
        rows.append(GroupRow(name, people, Estimate(reach), few=people < FEWEST_PEOPLE, group=group))
    return order_rows(rows, worst_is_high=True)
