"""The section on people: what each group gains or loses per head, or how many are refused a right."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import Section, Table
from evenhand.report.words import number, plain
from evenhand.study.tasks.decide.answers import group_value, heading_of, who_pays_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.report.page import Chart
    from evenhand.study.tasks.decide.reading import DecideReading


def groups_section(reading: DecideReading) -> Section | None:
    """Return bars of what each group of people pays per head, and a table; None without groups."""
    if not reading.groups:
        return None
    heading = heading_of(who_pays_answer(reading))
    values = {group: group_value(reading, group) for group in reading.groups}
    if not reading.is_rule:
        values = {group: reading.amounts.round_to_smallest(value) for group, value in values.items()}
    chart = _chart(reading, heading, values) if any(values.values()) else None
    return Section(
        heading=heading,
        lead=reading.say_kind("groups.lead"),
        charts=() if chart is None else (chart,),
        tables=(_table(reading),),
        anchor="groups",
    )


def _chart(reading: DecideReading, heading: str, per_head: Mapping[str, float]) -> Chart:
    """Return the bars of some groups."""
    values = dict(per_head)
    if reading.is_rule:
        values = {group: 1000 * value for group, value in per_head.items()}
        axis = Axis(reading.say("groups.axis_rule"), reading.say("groups.axis_rule_unit"))
        shown = {group: number(value, 1) for group, value in values.items()}
    else:
        amounts = reading.amounts
        axis = amounts.axis(reading.say("groups.axis_money"), values.values())
        shown = {group: amounts.text(value, sign=True) for group, value in values.items()}
    bars = [
        Bar(plain(group), Estimate(value), strong=value < 0 or reading.is_rule)
        for group, value in values.items()
    ]
    listed = "; ".join(f"{plain(group)} {text}" for group, text in shown.items())
    caption = reading.say_kind("groups.caption", exactness=reading.exactness)
    chart = bars_chart(axis, bars, name="who-pays", alt=f"{heading}. {listed}.", caption=caption)
    return replace(chart, draw_group=partial(_chart_of_group, reading, heading, per_head))


def _chart_of_group(reading: DecideReading, heading: str, per_head: Mapping[str, float], group: str) -> Chart:
    return _chart(reading, heading, {group: per_head[group]})


def _table(reading: DecideReading) -> Table:
    if reading.is_rule:
        header = ("group", "people", "entitled", "refused", "granted")
        names = ("people", "due", "refused", "granted")
        rows = [
            [plain(group), *(reading.number_of_people(reading.of_group(group, name)) for name in names)]
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
