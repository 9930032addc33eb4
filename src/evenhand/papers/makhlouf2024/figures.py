"""Figures 3 to 5, 7 and 8 of makhlouf2024, redrawn: rates of both groups and disparities by epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.figures import count_repeats, draw_measures, mark_unprotected, measure_line
from evenhand.papers.makhlouf2024.comparisons import chosen
from evenhand.papers.makhlouf2024.plans import DATA, FIGURE_3, FIGURE_4, STRATEGIES
from evenhand.papers.stored import read_toml
from evenhand.report.marks import Axis, Estimate, Panel

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.papers.published import Published
    from evenhand.report.page import Chart
    from evenhand.study.results.results import Results


_STORED = read_toml(__package__, "figures.toml")


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of the studies that were run."""
    known = evidence.studies.items()
    drawn = [groups_figure(name, results, evidence.published) for name, results in known]
    order = sorted((pair for pair in known if pair[0] in FIGURE_4), key=lambda pair: FIGURE_4.index(pair[0]))
    return [*drawn, *(disparities_figure(*pair, evidence.published) for pair in order)]


def groups_figure(name: str, results: Results, known: Published | None = None) -> Chart:
    """Return five rates of both groups against epsilon, a row for each way to protect."""
    words, measures = _STORED["groups"], _STORED["groups"]["measures"]
    panels = []
    for strategy in STRATEGIES:
        settings = chosen(results, [strategy], "all")
        for rate, title in measures.items():
            lines = [
                measure_line(label, results, settings, f"{rate}_{group}", study=name, published=known)
                for group, label in enumerate(results.facts.groups)
            ]
            panels.append(Panel(_STORED["strategies"][strategy], Axis(title), lines, _between(results, rate)))
    first, second = results.facts.groups
    number = words["numbers"][name.partition("-")[0]]
    also = f" and 3{'abc'[FIGURE_3.index(name)]}" if name in FIGURE_3 else ""
    values = {"first": first, "second": second, "plural": "s" if also else "", "number": number, "also": also}
    values |= {"title": DATA[name].title, "repeats": count_repeats(results)}
    return draw_measures(words, panels, f"fig{number}-{name}", columns=len(measures), **values)


def disparities_figure(name: str, results: Results, known: Published | None = None) -> Chart:
    """Return five disparities against epsilon under combLDP and indLDP."""
    words, measures = _STORED["disparities"], _STORED["disparities"]["measures"]
    settings = {each: chosen(results, [each], "all") for each in ("combined", "independent")}
    panels = []
    for measure, title in measures.items():
        lines = [
            measure_line(_STORED["strategies"][each], results, own, measure, study=name, published=known)
            for each, own in settings.items()
        ]
        panels.append(Panel("", Axis(title), lines, mark_unprotected(results, measure)))
    letter = "abc"[FIGURE_4.index(name)]
    values = {"letter": letter, "title": DATA[name].title, "repeats": count_repeats(results)}
    return draw_measures(words, panels, f"fig4-{name}", columns=len(measures), **values)


def _between(results: Results, rate: str) -> Estimate:
    """Return the unprotected rates of the two groups as the ends of a band."""
    low, high = sorted(mark_unprotected(results, f"{rate}_{group}").value for group in (0, 1))
    return Estimate((low + high) / 2, low, high)
