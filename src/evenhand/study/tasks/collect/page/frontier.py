"""The section on what can be had: accuracy against the gap, one mark for each setting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import frontier_chart
from evenhand.report.marks import Axis, Point
from evenhand.report.page import Section
from evenhand.study.page.parts import repeats_words, way_words
from evenhand.study.page.wording import counted, mark, percent, points, protocol_name, setting_name, way_name
from evenhand.study.results.estimates import paired_change
from evenhand.study.tasks.collect.page.reading import ACCURACY, GAP, LEVEL, UNPROTECTED_SETTING
from evenhand.study.tasks.collect.page.trends import frontier_heading

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["best_reached", "frontier_section"]


def frontier_section(reading: Reading) -> Section:
    """Return the frontier with its heading."""
    best = best_reached(reading)
    marks = {each: _point(reading, each, undominated=each in best) for each in reading.protected}
    before = [reading.before(measure) for measure in (ACCURACY, GAP)]
    after = [reading.value(measure) for measure in (ACCURACY, GAP)]
    alt = (
        f"Accuracy against selection gap for {counted(len(marks), 'setting')}. Unprotected: "
        f"{percent(before[0].value)} and {points(before[1].value)} points. "
        f"{setting_name(reading.chosen)}: {percent(after[0].value)} and {points(after[1].value)} points. "
        f"{frontier_heading(reading)}."
    )
    chart = frontier_chart(
        list(marks.values()),
        baseline=_point(reading, UNPROTECTED_SETTING),
        chosen=marks[reading.chosen],
        x=Axis("accuracy", "%", 100.0),
        y=Axis("selection gap", "points", 100.0),
        name="frontier",
        alt=alt,
        caption=_caption(reading, drawn=len(best) > 1),
    )
    ways = way_words(reading)
    kinds = f"protocol, {ways} and ε" if ways else "protocol and ε"
    judged = (
        f" What costs accuracy is judged by intervals widened for {len(marks)} settings."
        if len(marks) > 1 and reading.has_intervals
        else ""
    )
    return Section(
        heading=frontier_heading(reading),
        lead=(
            f"Each mark is one {kinds}. Down and to the right is better. The stronger the tone, the more "
            "private. A smaller gap is not by itself a fairer model: read it beside who moved, below."
            f"{judged}"
        ),
        charts=(chart,),
        anchor="frontier",
    )


def best_reached(reading: Reading) -> tuple[Setting, ...]:
    """Return the protected settings that no other beats in accuracy and gap, without steps of chance.

    From the most accurate on, a setting is kept if no more accurate one has as small a gap, by the means, and
    if its gap is clearly smaller than that of the last one kept, by the paired interval.
    """
    means = {
        each: (reading.value(ACCURACY, each).value, reading.value(GAP, each).value)
        for each in reading.protected
    }
    known = [each for each in reading.protected if all(math.isfinite(value) for value in means[each])]
    order = sorted(known, key=lambda each: (-means[each][0], means[each][1]))
    kept: list[Setting] = []
    least = math.inf
    for each in order:
        if not kept:
            kept.append(each)
            least = means[each][1]
            continue
        if means[each][1] >= least:
            continue
        least = means[each][1]
        smaller = paired_change(reading.results, each, GAP, against=kept[-1], level=LEVEL)
        if smaller.is_clear and smaller.value < 0:
            kept.append(each)
    return tuple(kept)


def _point(reading: Reading, setting: Setting, *, undominated: bool = False) -> Point:
    return Point(
        label=protocol_name(setting),
        epsilon=None if setting.epsilon is None else float(setting.epsilon),
        shape=way_name(setting, word=False) if setting.is_protected else "",
        x=mark(reading.value(ACCURACY, setting)),
        y=mark(reading.value(GAP, setting)),
        undominated=undominated,
    )


def _caption(reading: Reading, *, drawn: bool) -> str:
    if reading.results.plan.repeats > 1:
        start = (
            f"**Marks: means of {repeats_words(reading)}. Cross: {LEVEL:.0%} interval** of the ringed "
            "setting; those of the others are not drawn and are in the CSV."
        )
    else:
        start = "**Marks: values of one repeat, so there are no intervals.**"
    line = (
        " The line joins settings that no other beats in both directions; steps whose paired interval "
        "includes no difference are left out."
        if drawn
        else ""
    )
    return f"{start}{line} Dashed lines: the unprotected model."
