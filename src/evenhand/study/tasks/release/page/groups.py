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
from evenhand.report.words import epsilon_words
from evenhand.study.page.reading import BASELINE
from evenhand.study.page.wording import change, counted, mark, outcome_name, percent
from evenhand.study.tasks.release.answers import gained_groups, lost_groups
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
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading

__all__ = ["accuracy_section", "groups_section"]

_MOST_PANELS = 8


def groups_section(reading: ReleaseReading) -> Section:
    """Return dumbbells of every group: people there are, and people published."""
    shown = _first(reading)
    panels = [(_axis(reading, setting), _moved(reading, setting)) for setting in shown]
    heading = _heading(reading)
    numbers = "; ".join(
        f"{reading.named(group)} {share_text(reading.lost(group))}" for group in reading.groups[:8]
    )
    left = len(reading.beside) - len(shown)
    at = "" if reading.epsilon is None else f" {epsilon_words(reading.epsilon)} where there is one."
    chart = moved_chart(
        panels,
        name="people-by-group",
        alt=f"{heading}. {release_name(reading.chosen)}: {numbers}.",
        caption=(
            f"**In brackets: 95% interval over {reading.repeats_words}, widened "
            f"to hold for all groups at once; none where the difference is exact.** People "
            f"published of a group, in percent of those there are."
            f"{at} {blanks_text(shown)} Each panel has its own scale."
            + (f" {counted(left, 'further mechanism')} in the table below." if left else "")
        ),
        words=("people there are", "people published"),
        most_columns=3,
    )
    return Section(
        heading=heading,
        lead="A group whose mark is left of its bar is published smaller than it is. "
        f"{mechanism_name(reading.chosen)} comes first.",
        charts=(chart,),
        notes=tuple(_notes(reading)),
        anchor="groups",
    )


def _first(reading: ReleaseReading) -> list[Setting]:
    """Return the settings of the panels, the chosen one first."""
    rest = [setting for setting in reading.beside if setting != reading.chosen]
    return [reading.chosen, *rest][:_MOST_PANELS]


def _axis(reading: ReleaseReading, setting: Setting) -> Axis:
    delta = reading.delta(setting)
    said = promise(delta, people=reading.people) if tone_of(delta, people=reading.people) != "ok" else ""
    return Axis(mechanism_name(setting), f"percent{f'; {said}' if said else ''}", 100.0)


def _moved(reading: ReleaseReading, setting: Setting) -> list[Moved]:
    rows = []
    for place, group in enumerate(reading.groups):
        found = reading.lost(group, setting)
        if math.isfinite(found.value):
            found = replace(found, low=None, high=None) if found.low == found.high else found
            whole = Estimate(1.0)
            rows.append(Moved(place, reading.named(group), whole, _plus(found), mark(found)))
    return rows


def _plus(found: Estimated) -> Estimate:
    low = None if found.low is None else 1 + found.low
    high = None if found.high is None else 1 + found.high
    return Estimate(1 + found.value, low, high)


def _heading(reading: ReleaseReading) -> str:
    lost, gained = lost_groups(reading), gained_groups(reading)
    how, names = mechanism_name(reading.chosen), partial(reading.names, rest="others")
    if lost and gained:
        return f"{how} loses people of {names(lost)} and adds people to {names(gained)}"
    if lost:
        return f"{how} loses people of {names(lost)}"
    if gained:
        return f"{how} adds people to {names(gained)}"
    worst = _worst(reading)
    if worst is None:
        return f"{how} neither adds nor loses people of any group, as far as can be told"
    setting, group = worst
    return (
        f"{how} neither adds nor loses people of any group clearly; {mechanism_name(setting)} is "
        f"{share_value(reading.lost(group, setting))} off for {reading.named(group)}"
    )


def _worst(reading: ReleaseReading) -> tuple[Setting, str] | None:
    """Return the mechanism and the group that are furthest off, if that is clear among all of both."""
    found = [
        (abs(each.value), setting, group)
        for setting in reading.beside
        for group in reading.groups
        if (each := reading.lost(group, setting, settings=len(reading.beside))).is_clear
    ]
    if not found:
        return None
    _, setting, group = max(found, key=lambda each: each[0])
    return setting, group


def _notes(reading: ReleaseReading) -> list[Note]:
    steps: tuple[str, ...] = reading.task.post
    noisy = any(MECHANISMS[setting.mechanism].may_be_negative for setting in reading.protected)
    if not noisy or "nonnegative" not in steps or any("sum_to" in step for step in steps):
        return []
    return [
        Note(
            "plain",
            "**Setting negative counts to 0 adds people.** Noise is as often below as above, but only what "
            "is above stays: empty and small cells gain, and groups with many of them gain most.",
        )
    ]


# --- accuracy -------------------------------------------------------------------------------------


def accuracy_section(reading: ReleaseReading) -> Section | None:
    """Return bars of the accuracy of a model that learnt from each table; None if none was trained."""
    if not reading.classifies:
        return None
    before = reading.value("acc", BASELINE)
    bars = [Bar("True table", mark(before))]
    bars += [
        Bar(mechanism_name(setting), mark(reading.value("acc", setting)), strong=setting == reading.chosen)
        for setting in reading.beside
    ]
    heading = _accuracy_heading(reading)
    target = outcome_name(reading.results.facts.schema)
    numbers = "; ".join(f"{bar.label} {percent(bar.estimate.value)}" for bar in bars)
    chart = bars_chart(
        Axis("accuracy on true rows", "%", 100.0),
        bars,
        name="accuracy",
        alt=f"{heading}. Accuracy: {numbers}.",
        caption=(
            f"**Thin lines: 95% interval over {reading.repeats_words}.** "
            "Logistic regression, trained on the people that the published counts stand for (negative ones "
            f"as 0) and tested on held-out rows as they are. Predicted: {target}."
        ),
    )
    gap = reading.change("sp_gap")
    said = f"The selection gap between groups changes by {change(gap, unit=' points')}"
    clear = "" if gap.is_clear else ", which includes no change"
    return Section(
        heading=heading,
        lead=f"{said}{clear}, under {release_name(reading.chosen)}. Paired by repeat against a model that "
        "learnt from the true table.",
        charts=(chart,),
        anchor="accuracy",
    )


def _accuracy_heading(reading: ReleaseReading) -> str:
    moved = reading.change("acc")
    how = mechanism_name(reading.chosen)
    if not math.isfinite(moved.value):
        return f"No model could be trained on {how}"
    if not moved.is_clear:
        return f"What a model learns from {how} does not differ clearly from the true table"
    way = "less" if moved.value < 0 else "more"
    return f"A model learns {way} from {how} than from the true table: {change(moved, unit=' points')}"
