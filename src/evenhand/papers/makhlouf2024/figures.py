"""Figures 3 to 5, 7 and 8 of makhlouf2024, redrawn: rates of both groups and disparities by epsilon."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.papers.makhlouf2024.checks import chosen
from evenhand.papers.makhlouf2024.claims import FIGURE_3, FIGURE_4
from evenhand.papers.makhlouf2024.plans import DATA, STRATEGIES
from evenhand.report.charts import measures_chart
from evenhand.report.marks import Axis, Estimate, Line, Panel
from evenhand.report.page import LegendKey
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, group_estimate

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.report.page import Chart
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

__all__ = ["disparities_figure", "draw_figures", "groups_figure"]

_NAMES = {"single": "sLDP", "combined": "combLDP", "independent": "indLDP"}
_RATES = {
    "selection": "Predicted positive",
    "tpr": "True positive rate",
    "fpr": "False positive rate",
    "accuracy": "Accuracy",
    "precision": "Precision",
}
_DISPARITIES = {"spd": "SD", "eod": "EOD", "ped": "PED", "oad": "OAD", "prd": "PRD"}
_FIGURES = {"synthetic": "7", "compas": "8", "adult": "5"}
_INTERVALS = "95 % t intervals of the mean over repeats"


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of the studies that were run."""
    drawn = [groups_figure(name, results) for name, results in evidence.studies.items()]
    drawn += [
        disparities_figure(name, evidence.studies[name]) for name in FIGURE_4 if name in evidence.studies
    ]
    return drawn


def groups_figure(name: str, results: Results) -> Chart:
    """Return five rates of both groups against epsilon, a row for each way to protect."""
    panels = [
        Panel(
            _NAMES[strategy],
            Axis(title),
            [_group_line(results, strategy, rate, group) for group in (0, 1)],
            _between(results, rate),
        )
        for strategy in STRATEGIES
        for rate, title in _RATES.items()
    ]
    first, second = results.facts.groups
    title, kind = DATA[name].title, name.partition("-")[0]
    also = f" and 3{'abc'[FIGURE_3.index(name)]}" if name in FIGURE_3 else ""
    chart = measures_chart(
        panels,
        chosen_epsilon=None,
        name=f"fig{_FIGURES[kind]}-{name}",
        alt=f"Rates of groups {first} and {second} on {title} against epsilon, for three ways to protect",
        caption=(
            f"As in figure{'s' if also else ''} {_FIGURES[kind]}{also} of the paper: {title}, "
            f"{results.plan.repeats} repeats. The band lies between the two groups without protection, its "
            f"height is their disparity; the dashed line is its middle. Bars: {_INTERVALS}."
        ),
    )
    legend = (
        LegendKey(f"group 1: {second}", "line", "ink"),
        LegendKey(f"group 0: {first}", "line", "grey"),
        LegendKey("band: between the groups, unprotected", "dashed", "ink2"),
    )
    return replace(chart, legend=legend, columns=len(_RATES))


def disparities_figure(name: str, results: Results) -> Chart:
    """Return five disparities against epsilon under combLDP and indLDP."""
    strategies = ("combined", "independent")
    panels = [
        Panel(
            "",
            Axis(title),
            [_line(results, strategy, measure) for strategy in strategies],
            _shown(estimate(results, Setting(), measure, kind="student")),
        )
        for measure, title in _DISPARITIES.items()
    ]
    chart = measures_chart(
        panels,
        chosen_epsilon=None,
        name=f"fig4-{name}",
        alt=f"Five disparities on {DATA[name].title} against epsilon, combined and independent",
        caption=(
            f"As in figure 4{'abc'[FIGURE_4.index(name)]} of the paper: {DATA[name].title}, "
            f"{results.plan.repeats} repeats, group 1 minus group 0. Bars and band: {_INTERVALS}."
        ),
    )
    return replace(chart, columns=len(_DISPARITIES))


def _group_line(results: Results, strategy: str, rate: str, group: int) -> Line:
    settings = chosen(results, [strategy])
    label = results.facts.groups[group]
    found = [_shown(group_estimate(results, each, label, rate, kind="student")) for each in settings]
    return Line(label, [float(each.epsilon or 0) for each in settings], found, spotlight=group == 1)


def _line(results: Results, strategy: str, measure: str) -> Line:
    settings = chosen(results, [strategy])
    found = [_shown(estimate(results, each, measure, kind="student")) for each in settings]
    epsilons = [float(each.epsilon or 0) for each in settings]
    return Line(_NAMES[strategy], epsilons, found, spotlight=strategy == "combined")


def _between(results: Results, rate: str) -> Estimate:
    """Return the unprotected rates of the two groups as the ends of a band."""
    ends = sorted(
        group_estimate(results, Setting(), label, rate, kind="student").value
        for label in results.facts.groups
    )
    return Estimate(sum(ends) / 2, ends[0], ends[1])


def _shown(each: Estimated) -> Estimate:
    return Estimate(each.value, each.low, each.high)
