"""The section on what each epsilon buys: every measure against epsilon, one row for each split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.charts import measures_chart
from evenhand.report.marks import Line, Panel
from evenhand.report.page import Section
from evenhand.study.page.parts import caption, shown_measures
from evenhand.study.page.wording import mark, protocol_name, way_name
from evenhand.study.tasks.collect.page.trends import measures_heading, trend_words

if TYPE_CHECKING:
    from evenhand.study.page.parts import Shown
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["measures_section"]


def measures_section(reading: Reading) -> Section:
    """Return the small multiples with their heading."""
    ways: dict[str, list[Setting]] = {}
    for each in reading.protected:
        ways.setdefault(way_name(each), []).append(each)
    shown = shown_measures(reading)
    panels = [
        _panel(reading, way if len(ways) > 1 else "", settings, measure)
        for way, settings in ways.items()
        for measure in shown
    ]
    heading, slopes = measures_heading(reading), trend_words(reading)
    name = protocol_name(reading.chosen)
    chart = measures_chart(
        panels,
        chosen_epsilon=None if reading.chosen.epsilon is None else float(reading.chosen.epsilon),
        name="measures",
        alt=f"Accuracy, selection gap and two other gaps against ε. {heading}. {slopes}".strip(),
        caption=caption(
            reading,
            "Bars and band",
            "A tick stands at every tested ε; labels that would touch are left out. Gaps with a sign are "
            "the privileged group minus the others.",
        ),
    )
    protocols = len({protocol_name(each) for each in reading.protected})
    others = f" {name} is drawn in ink, the others are grey." if protocols > 1 else ""
    rows = ", one row per split or strategy, the same scale down each column" if len(ways) > 1 else ""
    return Section(
        heading=heading,
        lead=f"One panel per measure{rows}.{others} {slopes}".strip(),
        charts=(chart,),
        anchor="measures",
    )


def _panel(reading: Reading, row: str, settings: list[Setting], shown: Shown) -> Panel:
    lines: dict[str, list[Setting]] = {}
    for each in settings:
        lines.setdefault(protocol_name(each), []).append(each)
    return Panel(
        row=row,
        axis=shown.axis,
        lines=[
            Line(
                label,
                [float(each.epsilon) for each in line if each.epsilon is not None],
                [mark(reading.value(shown.measure, each)) for each in line],
                spotlight=label == protocol_name(reading.chosen),
            )
            for label, line in lines.items()
        ],
        baseline=mark(reading.before(shown.measure)),
    )
