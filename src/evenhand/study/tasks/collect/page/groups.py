"""Who moved, and where the gap comes from: each group before and after, and the gap in labels and reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar
from evenhand.report.page import Note, Section
from evenhand.study.page.comparing import ENOUGH_REPEATS
from evenhand.study.page.parts import caption, few_people, people_in_a_test, rates_chart, shown_groups
from evenhand.study.page.reading import BASELINE, CHANGE
from evenhand.study.page.wording import amount, change, counted, listed, mark, outcome_name, points
from evenhand.study.tasks.collect.wording import setting_name
from evenhand.study.tasks.shared.optimal_setting import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading

__all__ = [
    "Sources",
    "data_heading",
    "data_section",
    "gap_sources",
    "groups_section",
    "moved_heading",
    "paid_apart",
]

_FEW = 3
_WIDEST = " The selection gap, which is the widest between any two groups, hangs on them too."


def groups_section(reading: CollectReading) -> Section:
    """Return the dumbbells with their heading."""
    shown = shown_groups(reading, first={reading.high, reading.low})
    heading = moved_heading(reading)
    rest = f"{people_in_a_test(reading, shown)} {paid_apart(reading)}".strip()
    chart = rates_chart(
        reading,
        shown,
        name="who-moved",
        heading=heading,
        caption=caption(reading, "In brackets, paired by repeat", rest, together=len(reading.groups)),
    )
    return Section(
        heading=heading,
        lead=f"From the unprotected model (bar) to {setting_name(reading.chosen)} (filled mark).",
        charts=(chart,),
        notes=few_people(reading, _WIDEST if len(reading.groups) > 2 else ""),
        anchor="moved",
    )


# --- who moved ------------------------------------------------------------------------------------


def moved_heading(reading: CollectReading) -> str:
    """Return who is selected more or less often, and who loses accuracy, as a heading."""
    groups = reading.groups
    if not any(reading.moved(group, "selection").has_interval for group in groups):
        if reading.few_repeats_words:
            return f"Fewer than {ENOUGH_REPEATS} repeats cannot tell who moved"
        return "Who moved cannot be told without intervals"
    up, down = reading.gaining("selection"), reading.losing("selection")
    if not up and not down:
        first = "no group clearly moves"
    else:
        parts = [f"{_who(reading, names)} {way}" for names, way in ((up, "up"), (down, "down")) if names]
        first = ", ".join(parts)
    return f"Who moved: {first}, and {_accuracy(reading)}"


def _accuracy(reading: CollectReading) -> str:
    losers, winners = reading.losing(), reading.gaining()
    if not losers and not winners:
        return "no group's accuracy clearly changes"
    if len(losers) == len(reading.groups):
        return "both lose accuracy" if len(losers) == 2 else "all lose accuracy"
    parts = []
    if losers:
        clearly = "" if winners else " clearly"
        parts.append(f"{_who(reading, losers)}{clearly} {'loses' if len(losers) == 1 else 'lose'} accuracy")
    if winners:
        clearly = "" if losers else " clearly"
        parts.append(f"{_who(reading, winners)}{clearly} {'gains' if len(winners) == 1 else 'gain'} accuracy")
    return listed(parts)


def _who(reading: CollectReading, groups: Sequence[str]) -> str:
    if len(groups) == len(reading.groups):
        return "both" if len(groups) == 2 else "all"
    if len(groups) > _FEW:
        return f"{len(groups)} of {counted(len(reading.groups), 'group')}"
    return listed([reading.named(group) for group in groups])


def paid_apart(reading: CollectReading) -> str:
    """Return whether the two groups of the gap lose different amounts of accuracy."""
    apart = reading.moved_apart("accuracy")
    if not apart.has_interval:
        return ""
    low, high = reading.named(reading.low), reading.named(reading.high)
    if not apart.is_clear:
        return f"In the change of accuracy {low} and {high} do not differ clearly: {change(apart)}."
    way = "better" if apart.value > 0 else "worse"
    return f"The change of accuracy is {way} for {low} than for {high}, by {amount(apart)}."


# --- where the gap comes from ---------------------------------------------------------------------


@dataclass(frozen=True)
class Sources:
    """How far apart the privileged group and everybody else are, turned so that the labels' gap is positive.

    Parameters
    ----------
    model, protection : Estimated
        What the predictions add to the gap of the labels, and what protection adds to that.
    plain, protected : Estimated
        The gaps of the predictions.
    """

    model: Estimated
    protection: Estimated
    plain: Estimated
    protected: Estimated


def gap_sources(reading: CollectReading) -> Sources | None:
    """Return the tests of where the gap comes from, or None if a part of it has no interval."""
    truth = reading.data_runs(BASELINE, "tested")
    plain, protected = (reading.runs(setting, "spd") for setting in (BASELINE, reading.chosen))
    mean = reading.tested(truth, within=CHANGE).value
    if not math.isfinite(mean):
        return None
    sign = math.copysign(1.0, mean)
    parts = (plain - truth, protected - plain, plain, protected)
    found = [reading.tested(sign * runs, within=(-2.0, 2.0)) for runs in parts]
    return Sources(*found) if all(part.has_interval for part in found) else None


def data_heading(reading: CollectReading) -> str:
    """Return what the model and protection do to the gap in the labels, as a heading."""
    found = gap_sources(reading)
    if found is None:
        return "Where the gap comes from cannot be told without intervals"
    return f"{_model_words(found)}; {_protection_words(found)}"


def _model_words(found: Sources) -> str:
    if not found.model.is_clear:
        return "The model's gap does not differ clearly from that of the labels"
    if found.plain.is_clear and found.plain.value < 0:
        return "The model turns the gap of the labels round"
    return (
        "The model widens the gap of the labels"
        if found.model.value > 0
        else "The model narrows the gap of the labels"
    )


def _protection_words(found: Sources) -> str:
    before, after = found.plain, found.protected
    if not found.protection.is_clear:
        return "protection does not clearly change it"
    if before.is_clear and after.is_clear and before.value * after.value < 0:
        return "protection turns it round"
    if not before.is_clear:
        return "protection moves it"
    wider = found.protection.value * before.value > 0
    return "protection widens it" if wider else "protection narrows it"


def data_section(reading: CollectReading) -> Section:
    """Return the four bars with their heading."""
    results = reading.results
    schema = results.facts.schema
    privileged = reading.named(reading.groups[results.facts.privileged])
    others = "everybody else"
    if len(reading.groups) == 2:
        others = reading.named(reading.groups[1 - results.facts.privileged])
    estimates = {
        "Among the true labels": reading.tested(reading.data_runs(reading.chosen, "tested"), within=CHANGE),
        "As the reports tell it": reading.tested(
            reading.data_runs(reading.chosen, "reported"), within=CHANGE
        ),
        "Predictions, unprotected": reading.before("spd"),
        "Predictions, protected": reading.value("spd"),
    }
    numbers = "; ".join(f"{label.lower()} {points(found.value)}" for label, found in estimates.items())
    heading = data_heading(reading)
    chart = bars_chart(
        Axis(f"{privileged} minus {others}", f"points, {outcome_name(schema)}", 100.0),
        [
            Bar(label, mark(found), strong=label == "Predictions, protected")
            for label, found in estimates.items()
        ],
        name="where-the-gap-comes-from",
        alt=f"{heading}. {privileged} minus {others}, in points: {numbers}.",
        caption=caption(
            reading,
            "Thin lines",
            "Labels and predictions are those of the test rows, reports those of the training rows. "
            f"{setting_name(reading.chosen)}.",
        ),
    )
    truth, reported = estimates["Among the true labels"], estimates["As the reports tell it"]
    return Section(
        heading=heading,
        lead=(
            f"How much more often {privileged} has, or is predicted, {outcome_name(schema)} than {others}; "
            f"below 0, less often. Among the labels it is {points(truth.value)} points; if reports are taken "
            f"at their word, {points(reported.value)}."
        ),
        charts=(chart,),
        notes=(
            *_about_reports(reading),
            Note(
                "plain",
                "**A smaller gap is not by itself a fairer model.** The true labels differ too, by the "
                f"first bar. Read the gap beside who is found among true {outcome_name(schema)}, above.",
            ),
        ),
        anchor="data",
    )


def _about_reports(reading: CollectReading) -> tuple[Note, ...]:
    """Return what the second bar does not say, where reports are made to make it small."""
    if reading.chosen.mechanism != NAME:
        return ()
    return (
        Note(
            "plain",
            "**The second bar is small by design.** Optimal reports go together with the label as little as "
            "they can. The true groups, their labels in the first bar and what they are predicted do not "
            "change by that: read the last two bars.",
        ),
    )
