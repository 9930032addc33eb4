"""The section on people: what each group gains or loses per head, or how many are refused a right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import Section, Table
from evenhand.report.words import number
from evenhand.study.page.wording import plain, with_article
from evenhand.study.tasks.decide.answers import group_heading, per_thousand
from evenhand.study.tasks.decide.wording import few_text, setting_words

if TYPE_CHECKING:
    from evenhand.study.tasks.decide.reading import DecideReading

__all__ = ["groups_section"]


def groups_section(reading: DecideReading) -> Section | None:
    """Return bars of what each group of people pays per head, and a table; None without groups."""
    if not reading.groups:
        return None
    values = {group: _value(reading, group) for group in reading.groups}
    heading = group_heading(reading)
    if reading.is_rule:
        axis = Axis("wrongly refused", "of 1,000 people entitled")
        said = "; ".join(f"{plain(group)} {few_text(value)}" for group, value in values.items())
    else:
        axis = reading.amounts.axis("expected gain or loss per head", values.values())
        said = "; ".join(
            f"{plain(group)} {reading.amounts.text(value, sign=True)}" for group, value in values.items()
        )
    dark = "" if reading.is_rule else " Losses are dark."
    bars = [
        Bar(plain(group), Estimate(value), strong=value < 0 or reading.is_rule)
        for group, value in values.items()
    ]
    chart = bars_chart(
        axis,
        bars,
        name="who-pays",
        alt=f"{heading}. {said}.",
        caption=f"**{reading.exactness}** {setting_words(reading.chosen)}.{dark}",
    )
    return Section(
        heading=heading,
        lead=_lead(reading),
        charts=(chart,),
        tables=(_table(reading),),
        anchor="groups",
    )


def _value(reading: DecideReading, group: str) -> float:
    if reading.is_rule:
        return per_thousand(reading, group, "refused")
    return reading.of_group(group, "gain_per_head")


def _lead(reading: DecideReading) -> str:
    noun = reading.noun
    if reading.is_rule:
        return (
            f"Noise is added to {noun.many}, but people lose rights. A group loses more where its people "
            f"live in {noun.many} near the line. Every person of {with_article(noun.one)} counts alike."
        )
    return (
        f"Noise is added to {noun.many}, but people pay. What {with_article(noun.one)} gains or loses is "
        "divided among all people of these groups in it, so that a group pays more where its people live in "
        "those that lose."
    )


def _table(reading: DecideReading) -> Table:
    if reading.is_rule:
        header = ["Group", "People", "Entitled", "Wrongly refused\npeople", "Wrongly granted\npeople"]
        names = ("people", "due", "refused", "granted")
        rows = [
            [plain(group), *(few_text(reading.of_group(group, name)) for name in names)]
            for group in reading.groups
        ]
    else:
        amounts = reading.amounts
        header = ["Group", "People", "Due\nper head", "Gain or loss\nper head", "Gain or loss\nin all"]
        names = ("people", "due", "gain", "gain_per_head")
        rows = []
        for group in reading.groups:
            people, due, gain, each = (reading.of_group(group, name) for name in names)
            rows.append(
                [
                    plain(group),
                    number(people, 0),
                    amounts.text(due / people if people > 0 else math.nan),
                    f"**{amounts.text(each, sign=True)}**",
                    amounts.text(gain, sign=True),
                ]
            )
    data: dict[str, list[object]] = {"group": [plain(group) for group in reading.groups]}
    data |= {name: [reading.of_group(group, name) for group in reading.groups] for name in names}
    return Table(
        header=header,
        rows=rows,
        numeric=[False, True, True, True, True],
        caption=f"**{reading.exactness}** {setting_words(reading.chosen)}.",
        name="groups",
        data=data,
    )
