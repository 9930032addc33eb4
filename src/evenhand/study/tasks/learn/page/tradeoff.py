"""The sections on what can be had and on what each epsilon buys, of a report on classifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import measures_chart, tradeoff_chart
from evenhand.report.marks import Axis, Line, Panel, Traded
from evenhand.report.page import Section
from evenhand.report.words import epsilon_of, plain
from evenhand.study.page.parts import caption, marks_caption
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.page.wording import mark
from evenhand.study.tasks.learn.methods import METHODS, method_title

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

# --- what can be had ------------------------------------------------------------------------------


def tradeoff_section(reading: LearnReading) -> Section | None:
    """Return accuracy against gap with bounds as whiskers; None where there is the plain way only."""
    if not reading.protected:
        return None
    say = reading.sentences.say
    marks = {setting: _traded(reading, setting) for setting in reading.protected}
    fair = reading.value("fair_gap").value
    heading = tradeoff_heading(reading)
    chart = tradeoff_chart(
        list(marks.values()),
        baseline=_traded(reading, BASELINE),
        chosen=marks.get(reading.chosen),
        floor=fair if math.isfinite(fair) else None,
        x=Axis(say("axes.acc"), say("axes.percent"), 100.0),
        y=Axis(say("axes.sp_gap"), say("axes.points"), 100.0),
        name="trade-off",
        alt=_alt(reading, heading),
        caption=_caption(reading),
    )
    ends = [(each.y.value, each.bound or each.far_bound) for each in marks.values()]
    bounded = [(gap, end) for gap, end in ends if end is not None]
    lead = say(
        "trade.lead",
        bounds=say("trade.bounds") if bounded else "",
        above=say("trade.above") if any(gap > end for gap, end in bounded) else "",
    )
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="trade-off")


def tradeoff_heading(reading: LearnReading) -> str:
    """Return which way the gap goes, as far as it is clear and the classifier is of use."""
    moved = reading.change(GAP)
    if reading.constant():
        key = reading.constant()
    elif not reading.chosen.is_protected:
        key = "plain"
    elif reading.outcome() is None:
        key = "unknown"
    elif not reading.is_useful():
        key = "useless"
    elif not moved.has_interval:
        key = "one_repeat" if moved.runs == 1 else "equal"
    elif not moved.is_clear:
        key = "unclear"
    else:
        key = "narrows" if moved.value < 0 else "widens"
    return reading.sentences.say(f"trade.heading_{key}", name=reading.name(), change=moved)


def _traded(reading: LearnReading, setting: Setting) -> Traded:
    name, bound = reading.bound(setting)
    known = bound if math.isfinite(bound) else None
    return Traded(
        label=method_title(setting.mechanism),
        epsilon=None if setting.epsilon is None else float(setting.epsilon),
        x=mark(reading.value(ACCURACY, setting)),
        y=mark(reading.value(GAP, setting)),
        bound=known if name == "bound" else None,
        far_bound=known if name == "bound_95" else None,
        is_private=reading.is_private(setting),
    )


def _alt(reading: LearnReading, heading: str) -> str:
    say = reading.sentences.say
    marks = [
        say(
            "trade.alt_mark",
            name=reading.name(setting),
            accuracy=reading.mean(ACCURACY, setting),
            gap=reading.mean(GAP, setting),
        )
        for setting in (BASELINE, *reading.beside)
    ]
    return say("trade.alt", heading=heading, marks=". ".join(marks))


def _caption(reading: LearnReading) -> str:
    say, fair = reading.sentences.say, reading.value("fair_gap").value
    floor = say("trade.floor", fair=fair) if math.isfinite(fair) else ""
    return say("trade.caption", marks=marks_caption(reading), floor=floor)


# --- what each epsilon buys -----------------------------------------------------------------------

_MEASURES = {ACCURACY: "acc_unit", GAP: "gap_unit", "eo_gap": "gap_unit", "changed": "changed_unit"}


def epsilon_section(reading: LearnReading) -> Section | None:
    """Return measures against epsilon, one line for each way; None where fewer than two were tested."""
    if len(reading.epsilons) < 2:
        return None
    say, chosen = reading.sentences.say, reading.chosen
    panels = [
        Panel(
            row="",
            axis=Axis(say(f"axes.{measure}"), say(f"axes.{unit}"), 100.0),
            lines=_lines(reading, measure),
            baseline=None if measure == "changed" else mark(reading.value(measure, BASELINE)),
        )
        for measure, unit in _MEASURES.items()
    ]
    heading = epsilon_heading(reading)
    target = plain(reading.results.facts.schema.target)
    chart = measures_chart(
        panels,
        chosen_epsilon=None if chosen.epsilon is None else float(chosen.epsilon),
        name="epsilons",
        alt=say("epsilons.alt", heading=heading),
        caption=caption(reading, say("epsilons.bars"), say("epsilons.caption", target=target)),
        base=say("epsilons.plain"),
    )
    lit = chosen.mechanism in METHODS and METHODS[chosen.mechanism].takes_epsilon
    void = [method_title(name) for name in reading.ways if METHODS[name].voids]
    lead = say(
        "epsilons.lead",
        ink=say("epsilons.ink", title=method_title(chosen.mechanism)) if lit else "",
        void=say("epsilons.void", titles=void) if void else "",
    )
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="epsilons")


def _lines(reading: LearnReading, measure: str) -> list[Line]:
    return [
        Line(
            method_title(name),
            [float(setting.epsilon) for setting in settings if setting.epsilon is not None],
            [mark(reading.value(measure, setting)) for setting in settings],
            spotlight=name == reading.chosen.mechanism,
        )
        for name, settings in reading.ways.items()
        if METHODS[name].takes_epsilon
    ]


def epsilon_heading(reading: LearnReading) -> str:
    """Return what the largest epsilon has over the smallest, for the chosen way, as far as it is clear."""
    say = reading.sentences.say
    settings = [
        setting for setting in reading.ways.get(reading.chosen.mechanism, []) if setting.epsilon is not None
    ]
    if len(settings) < 2:
        return say("epsilons.heading")
    first, last = settings[0], settings[-1]
    more = reading.change(ACCURACY, last, against=first, comparisons=len(reading.ways))
    bare = "one_repeat" if more.runs == 1 else "equal"
    key = bare if not more.has_interval else "unclear" if not more.is_clear else ""
    key = key or ("gains" if more.value > 0 else "loses")
    slots = {"title": method_title(reading.chosen.mechanism), "more": more}
    ends = {"first": first.epsilon, "last": epsilon_of(last.epsilon)}
    return say(f"epsilons.heading_{key}", **slots, **ends)
