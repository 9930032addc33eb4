"""The section on whether the mechanism matters at the chosen epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.charts import changes_chart
from evenhand.report.marks import Axis, Change
from evenhand.report.page import Section
from evenhand.study.page.parts import caption
from evenhand.study.page.wording import counted, epsilon_text, mark, protocol_name, way_name
from evenhand.study.tasks.collect.page.choice import shortest_reports
from evenhand.study.tasks.collect.page.group_tests import protocols_heading, widest_rival
from evenhand.study.tasks.collect.page.reading import ACCURACY, GAP

if TYPE_CHECKING:
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["protocols_section"]


def protocols_section(reading: Reading) -> Section | None:
    """Return the interval plot with its heading, or None if there is one setting at this epsilon."""
    if not reading.rivals:
        return None
    panels = []
    for measure, axis in (
        (ACCURACY, Axis("change in accuracy", "points against unprotected", 100.0)),
        (GAP, Axis("change in selection gap", "points against unprotected; below 0 = narrower", 100.0)),
    ):
        rows = [
            Change(
                label=protocol_name(each),
                shape=way_name(each),
                estimate=mark(reading.change(measure, each)),
                spotlight=protocol_name(each) == protocol_name(reading.chosen),
            )
            for each in reading.beside
        ]
        panels.append((axis, rows))
    heading, widest = protocols_heading(reading), widest_rival(reading)
    chart = changes_chart(
        panels,
        name="protocols",
        alt=f"{heading}. {widest}".strip(),
        caption=caption(
            reading,
            "Change against unprotected, paired by repeat",
            f"{counted(len(reading.beside), 'setting')} at ε = {epsilon_text(reading.chosen)}. That two "
            "intervals overlap is no test; the words above rest on paired differences between settings, with "
            "intervals widened for how many there are.",
        ),
    )
    shortest = shortest_reports(reading)
    if shortest and all(each.verdict == "same" for each in reading.rivals):
        shortest = f"Choose by message size: {shortest}"
    lead = " ".join(part for part in (widest, shortest) if part)
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="protocols")
