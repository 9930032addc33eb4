"""The section on where the gap comes from: labels, reports, predictions without and with protection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar
from evenhand.report.page import Note, Section
from evenhand.study.page.parts import caption
from evenhand.study.page.wording import mark, outcome_name, points, setting_name
from evenhand.study.results.estimates import data_estimate
from evenhand.study.tasks.collect.page.group_tests import data_heading
from evenhand.study.tasks.collect.page.reading import LEVEL
from evenhand.study.tasks.shared.optimal_setting import NAME

if TYPE_CHECKING:
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["data_section"]


def data_section(reading: Reading) -> Section:
    """Return the four bars with their heading."""
    results = reading.results
    schema = results.facts.schema
    privileged = reading.named(reading.groups[results.facts.privileged])
    others = "everybody else"
    if len(reading.groups) == 2:
        others = reading.named(reading.groups[1 - results.facts.privileged])
    estimates = {
        "Among the true labels": data_estimate(results, reading.chosen, "true", level=LEVEL),
        "As the reports tell it": data_estimate(results, reading.chosen, "reported", level=LEVEL),
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
            "Labels and reports are those of the training rows, predictions those of the test rows. "
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


def _about_reports(reading: Reading) -> tuple[Note, ...]:
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
