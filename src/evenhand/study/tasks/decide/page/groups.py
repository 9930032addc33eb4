"""The section on people: what each group gains or loses per head, or how many are refused a right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import Section, Table
from evenhand.report.words import number
from evenhand.study.page.wording import plain
from evenhand.study.tasks.decide.answers import group_value, heading_of, who_pays_answer

if TYPE_CHECKING:
    from evenhand.report.page import Chart
    from evenhand.study.tasks.decide.reading import DecideReading


def groups_section(reading: DecideReading) -> Section | None:
    """Return bars of what each group of people pays per head, and a table; None without groups."""
    if not reading.groups:
        return None
    heading = heading_of(who_pays_answer(reading))
    chart = _chart(reading, heading)
    return Section(
        heading=heading,
        lead=reading.say_kind("groups.lead"),
        charts=() if chart is None else (chart,),
        tables=(_table(reading),),
        anchor="groups",
    )


def _chart(reading: DecideReading, heading: str) -> Chart | None:
    """Return the bars; None where no group gains or loses as much as anybody can be paid."""
    values = {group: group_value(reading, group) for group in reading.groups}
    if reading.is_rule:
        values = {group: 1000 * value for group, value in values.items()}
        axis = Axis(reading.say("groups.axis_rule"), reading.say("groups.axis_rule_unit"))
        shown = {group: number(value, 1) for group, value in values.items()}
    else:
        amounts = reading.amounts
        values = {group: amounts.round_to_smallest(value) for group, value in values.items()}
        axis = amounts.axis(reading.say("groups.axis_money"), values.values())
        shown = {group: amounts.text(value, sign=True) for group, value in values.items()}
    if not any(values.values()):
        return None
    bars = [
        Bar(plain(group), Estimate(value), strong=value < 0 or reading.is_rule)
        for group, value in values.items()
    ]
    listed = "; ".join(f"{plain(group)} {text}" for group, text in shown.items())
    caption = reading.say_kind("groups.caption", exactness=reading.exactness)
    return bars_chart(axis, bars, name="who-pays", alt=f"{heading}. {listed}.", caption=caption)


def _table(reading: DecideReading) -> Table:
    if reading.is_rule:
        header = ("group", "people", "entitled", "refused", "granted")
        names = ("people", "due", "refused", "granted")
        rows = [
            [plain(group), *(reading.few(reading.of_group(group, name)) for name in names)]
            for group in reading.groups
        ]
    else:
        amounts = reading.amounts
        header = ("group", "people", "due", "per_head", "in_all")
        names = ("people", "due", "gain", "gain_per_head")
        rows = []
        for group in reading.groups:
            people, due, gain, per_head = (reading.of_group(group, name) for name in names)
            rows.append(
                [
                    plain(group),
                    number(people, 0),
                    amounts.text(due / people if people > 0 else math.nan),
                    f"**{amounts.text(per_head, sign=True)}**",
                    amounts.text(gain, sign=True),
                ]
            )
    data: dict[str, list[object]] = {"group": [plain(group) for group in reading.groups]}
    data |= {name: [reading.of_group(group, name) for group in reading.groups] for name in names}
    return Table(
        header=[reading.say(f"groups.{name}") for name in header],
        rows=rows,
        numeric=[False, True, True, True, True],
        caption=reading.say("entities.caption", exactness=reading.exactness),
        name="groups",
        data=data,
    )
