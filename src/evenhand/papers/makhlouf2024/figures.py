"""Figures 3 to 5, 7 and 8 of makhlouf2024, redrawn: rates of both groups and disparities by epsilon."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.papers.figures import draw_measures, epsilon_line, published_line
from evenhand.papers.makhlouf2024.comparisons import chosen
from evenhand.papers.makhlouf2024.plans import DATA, FIGURE_3, FIGURE_4, STRATEGIES
from evenhand.papers.stored import read_toml
from evenhand.report.marks import Axis, Estimate, Panel
from evenhand.report.page import LegendKey
from evenhand.study.page.wording import mark
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, group_estimate

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.papers.published import Published
    from evenhand.report.marks import Line
    from evenhand.report.page import Chart
    from evenhand.study.results.results import Results


_GROUP_0, _INDEPENDENT = ("g2", "square"), ("g1", "diamond")


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
            [
                line
                for group in (0, 1)
                for line in _group_lines(name, results, strategy, rate, group=group, known=known)
            ],
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
    chart = draw_measures(words, panels, f"fig{number}-{name}", columns=len(measures), **values)
    legend = [
        LegendKey(f"group 1: {second}", "line", "ink"),
        LegendKey(f"group 0: {first}", _GROUP_0[1], _GROUP_0[0]),
        *(key for key in chart.legend if key.hollow),
        LegendKey("band: between the groups, unprotected", "dashed", "ink2"),
    ]
    return replace(chart, legend=tuple(legend))


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
            label, is_lit = stored["strategies"][strategy], strategy == "combined"
            line = epsilon_line(label, settings, found, spotlight=is_lit)
            look = ("ink", "circle") if is_lit else _INDEPENDENT
            lines.append(line if is_lit else replace(line, colour=look[0], shape=look[1]))
            lines += _authors_means(name, settings, measure, look, known)
        base = mark(estimate(results, Setting(), measure, kind="student"))
        panels.append(Panel("", Axis(title), lines, base))
    letter = "abc"[FIGURE_4.index(name)]
    values = {"letter": letter, "title": DATA[name].title, "repeats": results.plan.repeats}
    return draw_measures(words, panels, f"fig4-{name}", columns=len(measures), **values)


def _group_lines(
    name: str, results: Results, strategy: str, rate: str, *, group: int, known: Published | None
) -> list[Line]:
    """Return a rate of a group against epsilon, and the authors' means where they published them."""
    settings = chosen(results, [strategy], "all")
    label, is_lit = results.facts.groups[group], group == 1
    found = [group_estimate(results, each, label, rate, kind="student") for each in settings]
    line = epsilon_line(label, settings, found, spotlight=is_lit)
    look = ("ink", "circle") if is_lit else _GROUP_0
    own = line if is_lit else replace(line, colour=look[0], shape=look[1])
    return [own, *_authors_means(name, settings, f"{rate}_{group}", look, known)]


def _authors_means(
    name: str, settings: list[Setting], measure: str, look: tuple[str, str], known: Published | None
) -> list[Line]:
    means = [None if known is None else known.mean(name, setting, measure) for setting in settings]
    line = published_line(settings, means, *look)
    return [] if line is None else [line]


def _between(results: Results, rate: str) -> Estimate:
    """Return the unprotected rates of the two groups as the ends of a band."""
    ends = sorted(
        group_estimate(results, Setting(), label, rate, kind="student").value
        for label in results.facts.groups
    )
    return Estimate(sum(ends) / 2, ends[0], ends[1])
