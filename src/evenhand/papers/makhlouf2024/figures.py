"""Figures 3 to 5, 7 and 8 of makhlouf2024, redrawn: rates of both groups and disparities by epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.figures import draw_measures, epsilon_line, published_value
from evenhand.papers.makhlouf2024.comparisons import chosen
from evenhand.papers.makhlouf2024.plans import DATA, FIGURE_3, FIGURE_4, STRATEGIES
from evenhand.papers.stored import read_toml
from evenhand.report.marks import Axis, Estimate, Panel
from evenhand.study.page.wording import mark
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, group_estimate

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.papers.published import Published
    from evenhand.report.marks import Line
    from evenhand.report.page import Chart
    from evenhand.study.results.results import Results


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of the studies that were run."""
    known = evidence.published
    drawn = [groups_figure(name, results, known) for name, results in evidence.studies.items()]
    drawn += [
        disparities_figure(name, evidence.studies[name], known)
        for name in FIGURE_4
        if name in evidence.studies
    ]
    return drawn


def groups_figure(name: str, results: Results, known: Published | None = None) -> Chart:
    """Return five rates of both groups against epsilon, a row for each way to protect."""
    stored = read_toml(__package__, "figures.toml")
    words, measures = stored["groups"], stored["groups"]["measures"]
    panels = [
        Panel(
            stored["strategies"][strategy],
            Axis(title),
            [_group_line(name, results, strategy, rate, group=group, known=known) for group in (0, 1)],
            _between(results, rate),
        )
        for strategy in STRATEGIES
        for rate, title in measures.items()
    ]
    first, second = results.facts.groups
    number = words["numbers"][name.partition("-")[0]]
    also = f" and 3{'abc'[FIGURE_3.index(name)]}" if name in FIGURE_3 else ""
    values = {"first": first, "second": second, "plural": "s" if also else "", "number": number, "also": also}
    values |= {"title": DATA[name].title, "repeats": results.plan.repeats}
    return draw_measures(words, panels, f"fig{number}-{name}", columns=len(measures), **values)


def disparities_figure(name: str, results: Results, known: Published | None = None) -> Chart:
    """Return five disparities against epsilon under combLDP and indLDP."""
    stored = read_toml(__package__, "figures.toml")
    words, measures = stored["disparities"], stored["disparities"]["measures"]
    panels = []
    for measure, title in measures.items():
        lines = []
        for strategy in ("combined", "independent"):
            settings = chosen(results, [strategy], "all")
            found = [estimate(results, each, measure, kind="student") for each in settings]
            label = stored["strategies"][strategy]
            means = [published_value(known, name, each, measure) for each in settings]
            lines.append(epsilon_line(label, settings, found, published=means))
        base = mark(estimate(results, Setting(), measure, kind="student"))
        panels.append(Panel("", Axis(title), lines, base))
    letter = "abc"[FIGURE_4.index(name)]
    values = {"letter": letter, "title": DATA[name].title, "repeats": results.plan.repeats}
    return draw_measures(words, panels, f"fig4-{name}", columns=len(measures), **values)


def _group_line(
    name: str, results: Results, strategy: str, rate: str, *, group: int, known: Published | None
) -> Line:
    settings = chosen(results, [strategy], "all")
    label = results.facts.groups[group]
    found = [group_estimate(results, each, label, rate, kind="student") for each in settings]
    means = [published_value(known, name, each, f"{rate}_{group}") for each in settings]
    return epsilon_line(label, settings, found, published=means)


def _between(results: Results, rate: str) -> Estimate:
    """Return the unprotected rates of the two groups as the ends of a band."""
    ends = sorted(
        group_estimate(results, Setting(), label, rate, kind="student").value
        for label in results.facts.groups
    )
    return Estimate(sum(ends) / 2, ends[0], ends[1])
