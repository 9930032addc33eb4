"""The sections on people: whom each table loses or gains of every group, and what can be learnt from it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.report.charts import bars_chart, moved_chart
from evenhand.report.marks import Axis, Bar, Estimate, Moved
from evenhand.report.page import Note, Section
from evenhand.study.page.parts import caption
from evenhand.study.page.reading import BASELINE
from evenhand.study.page.wording import change, mark, outcome_name
from evenhand.study.tasks.release.wording import (
    blanks_text,
    promise,
    release_name,
    share_text,
    share_value,
    tone_of,
)
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.page import Chart
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading

_MOST_PANELS = 8


def groups_section(reading: ReleaseReading) -> Section:
    """Return dumbbells of every group: people there are, and people counted in the published table."""
    heading = _heading(reading)
    chart = _chart(reading, heading, reading.groups)
    lead = reading.sentences.say("groups.lead", name=mechanism_name(reading.chosen))
    notes = tuple(_notes(reading))
    return Section(heading=heading, lead=lead, charts=(chart,), notes=notes, anchor="groups")


def _chart(reading: ReleaseReading, heading: str, groups: Sequence[str]) -> Chart:
    """Return the dumbbells of some groups, a panel for each setting."""
    say, shown = reading.sentences.say, _first(reading)
    numbers = "; ".join(
        say("groups.number", group=reading.named(group), change=share_text(reading.lost(group)))
        for group in groups[:_MOST_PANELS]
    )
    left = len(reading.beside) - len(shown)
    rest = say(
        "groups.caption",
        at="" if reading.epsilon is None else say("groups.at", epsilon=reading.epsilon),
        blanks=blanks_text(reading, shown),
        left=say("groups.left", left=left) if left else "",
    )
    chart = moved_chart(
        [(_axis(reading, setting), _moved(reading, setting, groups)) for setting in shown],
        name="people-by-group",
        alt=say("groups.alt", heading=heading, how=release_name(reading, reading.chosen), numbers=numbers),
        caption=caption(reading, say("groups.bars"), rest, together=len(reading.groups)),
        words=(say("groups.words_before"), say("groups.words_after")),
        most_columns=3,
        among=len(reading.groups),
    )
    return replace(chart, draw_group=partial(_chart_of_group, reading, heading))


def _chart_of_group(reading: ReleaseReading, heading: str, group: str) -> Chart:
    return _chart(reading, heading, (group,))


def _first(reading: ReleaseReading) -> list[Setting]:
    """Return the settings of the panels, the chosen one first."""
    rest = [setting for setting in reading.beside if setting != reading.chosen]
    return [reading.chosen, *rest][:_MOST_PANELS]


def _axis(reading: ReleaseReading, setting: Setting) -> Axis:
    said = "" if tone_of(reading.delta(setting), people=reading.people) == "ok" else "_said"
    unit = reading.sentences.say(f"groups.axis_unit{said}", promise=promise(reading, setting))
    return Axis(mechanism_name(setting), unit, 100.0)


def _moved(reading: ReleaseReading, setting: Setting, groups: Sequence[str]) -> list[Moved]:
    rows = []
    for group in groups:
        found = reading.lost(group, setting)
        if math.isfinite(found.value):
            found = replace(found, low=None, high=None) if found.low == found.high else found
            whole = Estimate(1.0)
            place = reading.groups.index(group)
            rows.append(Moved(place, reading.named(group), whole, _plus(found), mark(found)))
    return rows


def _plus(found: Estimated) -> Estimate:
    low = None if found.low is None else 1 + found.low
    high = None if found.high is None else 1 + found.high
    return Estimate(1 + found.value, low, high)


def _heading(reading: ReleaseReading) -> str:
    say, (low, high) = reading.sentences.say, (reading.miscounted(sign=sign) for sign in (-1, 1))
    lost, gained = (reading.names(groups, rest=say("groups.others")) for groups in (low, high))
    slots = {"name": mechanism_name(reading.chosen), "lost": lost, "gained": gained}
    if low or high:
        return say(f"groups.heading_{'both' if low and high else 'lost' if low else 'gained'}", **slots)
    worst = reading.worst(reading.beside)
    if worst is None:
        return say("groups.heading_unclear", **slots)
    setting, group = worst
    slots |= {"other": mechanism_name(setting), "group": reading.named(group)}
    return say("groups.heading_other", change=share_value(reading.lost(group, setting)), **slots)


def _notes(reading: ReleaseReading) -> list[Note]:
    steps: tuple[str, ...] = reading.task.post_of(reading.chosen)
    noisy = any(MECHANISMS[setting.mechanism].may_be_negative for setting in reading.protected)
    if not noisy or "nonnegative" not in steps or any("sum_to" in step for step in steps):
        return []
    return [Note("plain", reading.sentences.say("groups.note_clipping"))]


# --- accuracy -------------------------------------------------------------------------------------


def accuracy_section(reading: ReleaseReading) -> Section | None:
    """Return bars of the accuracy of a model that learnt from each table; None if none was trained."""
    if not reading.classifies:
        return None
    say, heading = reading.sentences.say, _accuracy_heading(reading)
    bars = [Bar(say("accuracy.true_table"), mark(reading.value("acc", BASELINE)))]
    bars += [
        Bar(mechanism_name(setting), mark(reading.value("acc", setting)), strong=setting == reading.chosen)
        for setting in reading.beside
    ]
    numbers = "; ".join(say("accuracy.number", name=bar.label, accuracy=bar.estimate.value) for bar in bars)
    target = outcome_name(reading.results.facts.schema)
    chart = bars_chart(
        Axis(say("accuracy.axis"), "%", 100.0),
        bars,
        name="accuracy",
        alt=say("accuracy.alt", heading=heading, numbers=numbers),
        caption=caption(reading, say("accuracy.bars"), say("accuracy.caption", target=target)),
    )
    gap = reading.change("sp_gap")
    lead = say(
        "accuracy.lead",
        change=change(gap, unit=say("accuracy.points")),
        clear="" if gap.is_clear else say("accuracy.includes_none"),
        how=release_name(reading, reading.chosen),
    )
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="accuracy")


def _accuracy_heading(reading: ReleaseReading) -> str:
    moved, say = reading.change("acc"), reading.sentences.say
    key = "unclear" if not moved.is_clear else "less" if moved.value < 0 else "more"
    key = key if math.isfinite(moved.value) else "unknown"
    slots = {"name": mechanism_name(reading.chosen), "change": change(moved, unit=say("accuracy.points"))}
    return say(f"accuracy.heading_{key}", **slots)
