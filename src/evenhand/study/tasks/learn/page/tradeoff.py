"""The sections on what can be had and on what each epsilon buys, of a report on classifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import measures_chart, tradeoff_chart
from evenhand.report.marks import Axis, Line, Panel, Traded
from evenhand.report.page import Section
from evenhand.report.words import epsilon_of, epsilon_words
from evenhand.study.page.parts import caption, marks_caption
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.page.wording import amount, listed, mark, percent, plain, points
from evenhand.study.tasks.learn.answers import gap_heading
from evenhand.study.tasks.learn.methods import METHODS, method_title

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["epsilon_section", "tradeoff_section"]


# --- what can be had ------------------------------------------------------------------------------


def tradeoff_section(reading: LearnReading) -> Section | None:
    """Return accuracy against gap with bounds as whiskers; None where there is the plain way only."""
    if not reading.protected:
        return None
    marks = {setting: _traded(reading, setting) for setting in reading.protected}
    fair = reading.value("fair_gap").value
    heading = tradeoff_heading(reading)
    chart = tradeoff_chart(
        list(marks.values()),
        baseline=_traded(reading, BASELINE),
        chosen=marks.get(reading.chosen),
        floor=fair if math.isfinite(fair) else None,
        x=Axis("accuracy", "%", 100.0),
        y=Axis("selection gap", "points", 100.0),
        name="trade-off",
        alt=_alt(reading, heading),
        caption=_caption(reading),
    )
    bounded = any(mark.bound is not None for mark in marks.values())
    lines = (
        " The thin line above a mark is no interval of what was measured: it leads to a bound that is "
        "proved, and holds for people like those of the rows rather than for one test."
        if bounded
        else ""
    )
    if any(mark.bound is not None and mark.y.value > mark.bound for mark in marks.values()):
        lines += " A mark may lie above its bound where tests have few people of a group, whose rates jump."
    return Section(
        heading=heading,
        lead=(
            "Each mark is one way with one ε. Down and to the right is better; the stronger the tone, the "
            f"more private.{lines} A smaller gap is not by itself a fairer classifier: read it beside who "
            "changes, below."
        ),
        charts=(chart,),
        anchor="trade-off",
    )


def tradeoff_heading(reading: LearnReading) -> str:
    """Return the finding: where the chosen way comes to lie."""
    if not reading.chosen.is_protected and not reading.constant():
        return "The plain classifier is what the others are compared with"
    return gap_heading(reading)


def _traded(reading: LearnReading, setting: Setting) -> Traded:
    bounds = [reading.bound(name, setting) for name in ("bound", "bound_95")]
    known = [bound if math.isfinite(bound) else None for bound in bounds]
    return Traded(
        label=method_title(setting.mechanism),
        epsilon=None if setting.epsilon is None else float(setting.epsilon),
        x=mark(reading.value(ACCURACY, setting)),
        y=mark(reading.value(GAP, setting)),
        bound=known[0],
        far_bound=known[1],
        is_private=reading.is_private(setting),
    )


def _alt(reading: LearnReading, heading: str) -> str:
    told = [
        f"{reading.name(setting)}: {percent(reading.value(ACCURACY, setting).value)} and "
        f"{points(reading.value(GAP, setting).value)} points"
        for setting in (BASELINE, *reading.beside)
    ]
    return f"Accuracy against selection gap. {heading}. {'. '.join(told)}."


def _caption(reading: LearnReading) -> str:
    fair = reading.value("fair_gap").value
    floor = (
        f" Dotted: {points(fair)} points, the gap that equal rates would show on average on as many rows."
        if math.isfinite(fair)
        else ""
    )
    return (
        f"{marks_caption(reading)}{floor} Bounds are means over repeats. Heights go by the square "
        "root of the gap, so that small gaps can be read."
    )


# --- what each epsilon buys -----------------------------------------------------------------------

_MEASURES = (
    (ACCURACY, Axis("accuracy", "%; higher is better", 100.0)),
    (GAP, Axis("selection gap", "points; 0 = no gap", 100.0)),
    ("eo_gap", Axis("error-rate gap", "points; 0 = no gap", 100.0)),
    ("changed", Axis("unlike the plain classifier", "% of predictions", 100.0)),
)


def epsilon_section(reading: LearnReading) -> Section | None:
    """Return measures against epsilon, one line for each way; None where fewer than two were tested."""
    if len(reading.epsilons) < 2:
        return None
    panels = [
        Panel(
            row="",
            axis=axis,
            lines=[
                Line(
                    method_title(name),
                    [float(setting.epsilon) for setting in settings if setting.epsilon is not None],
                    [mark(reading.value(measure, setting)) for setting in settings],
                    spotlight=name == reading.chosen.mechanism,
                )
                for name, settings in reading.ways.items()
                if METHODS[name].takes_epsilon
            ],
            baseline=None if measure == "changed" else mark(reading.value(measure, BASELINE)),
        )
        for measure, axis in _MEASURES
    ]
    heading = epsilon_heading(reading)
    chart = measures_chart(
        panels,
        chosen_epsilon=None if reading.chosen.epsilon is None else float(reading.chosen.epsilon),
        name="epsilons",
        alt=f"Accuracy, selection gap, error-rate gap and changed predictions against ε. {heading}.",
        caption=caption(
            reading,
            "Bars and band",
            "A tick stands at every tested ε. Predictions of "
            f"{plain(reading.results.facts.schema.target)} are compared with those of the plain classifier "
            "of the same repeat.",
        ),
        base="plain",
    )
    lit = reading.chosen.mechanism in METHODS and METHODS[reading.chosen.mechanism].takes_epsilon
    ink = f" {method_title(reading.chosen.mechanism)} is drawn in ink, the others are grey." if lit else ""
    void = [method_title(name) for name in reading.ways if METHODS[name].voids]
    not_private = f" {listed(void)} is private at no ε." if void else ""
    return Section(
        heading=heading,
        lead=f"One panel per measure, one line per way.{ink}{not_private} The error-rate gap is the larger "
        "of the gaps in true and in false positive rates.",
        charts=(chart,),
        anchor="epsilons",
    )


def epsilon_heading(reading: LearnReading) -> str:
    """Return what the largest epsilon has over the smallest, for the chosen way, as far as it is clear."""
    settings = [
        setting for setting in reading.ways.get(reading.chosen.mechanism, []) if setting.epsilon is not None
    ]
    if len(settings) < 2:
        return "What each ε buys"
    first, last = settings[0], settings[-1]
    more = reading.change(ACCURACY, last, against=first, comparisons=len(reading.ways))
    name = method_title(reading.chosen.mechanism)
    ends = f"from {epsilon_words(first.epsilon)} to {epsilon_of(last.epsilon)}"
    if not more.has_interval:
        return f"One repeat cannot tell what a larger ε buys {name}"
    if not more.is_clear:
        return f"{name} is not clearly more accurate {ends}"
    return f"{name} {'gains' if more.value > 0 else 'loses'} {amount(more)} of accuracy {ends}"
