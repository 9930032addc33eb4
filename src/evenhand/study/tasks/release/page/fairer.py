"""The section on how to make it fairer: what each mechanism costs whom, on the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.page import Section, Table
from evenhand.study.page.parts import small_print
from evenhand.study.tasks.release.choice import miscounts_nobody
from evenhand.study.tasks.release.page.tables import (
    concerned_groups,
    error_cell,
    guarantee_tags,
    with_interval,
)
from evenhand.study.tasks.release.wording import promise, share_value, short_name
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.release.reading import ReleaseReading

_MOST_GROUPS = 4


def fairer_section(reading: ReleaseReading) -> Section | None:
    """Return guarantee, error and each group's miscount of every mechanism; None if there is one only."""
    if len(reading.beside) < 2:
        return None
    say, groups = reading.sentences.say, concerned_groups(reading, most=_MOST_GROUPS)
    header = [say(f"fairer.column_{name}") for name in ("mechanism", "guarantee", "error")]
    header += [say("fairer.column_group", group=reading.shorten_name(group, 24)) for group in groups]
    rows = []
    for setting in reading.beside:
        losses = [reading.lost(group, setting) for group in groups]
        shown = [with_interval(loss, times=100.0, bold=loss.is_clear, sign=True) for loss in losses]
        name, said = mechanism_name(setting), promise(reading, setting)
        rows.append([name, said, error_cell(reading, setting), *shown])
    table = Table(
        header=header,
        rows=rows,
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=small_print(reading, say("fairer.caption")),
        chosen=reading.beside.index(reading.chosen),
        name="fairer",
        data={
            "mechanism": [row[0] for row in rows],
            "guarantee": [row[1] for row in rows],
            "error": [reading.cell_error(setting).value for setting in reading.beside],
            **{
                f"off {group}": [reading.lost(group, setting).value for setting in reading.beside]
                for group in reading.groups
            },
        },
        tags=guarantee_tags(reading),
    )
    return Section(heading=_heading(reading), lead=say("fairer.lead"), tables=(table,), anchor="fairer")


def _heading(reading: ReleaseReading) -> str:
    """Return which mechanism with a guarantee miscounts no group, and which is furthest off."""
    say, worst = reading.sentences.say, reading.worst(reading.beside)
    if not reading.promising:
        return say("fairer.heading_empty")
    if worst is None:
        return say("fairer.heading_all")
    fair = [setting for setting in reading.promising if miscounts_nobody(reading, setting)]
    if fair:
        return say("fairer.heading_fair", fair=short_name(reading, fair[0]), **_off(reading, *worst))
    off = [each for setting in reading.promising if (each := reading.worst([setting]))]
    least = min(off, key=lambda each: abs(reading.lost(each[1], each[0]).value), default=worst)
    return say("fairer.heading_none", **_off(reading, *least))


def _off(reading: ReleaseReading, setting: Setting, group: str) -> dict[str, str]:
    change = share_value(reading.lost(group, setting))
    return {"name": short_name(reading, setting), "change": change, "group": reading.named(group)}
