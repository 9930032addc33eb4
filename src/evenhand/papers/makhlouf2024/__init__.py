"""makhlouf2024: one attribute, all combined, or each on its own, and what that does to the groups.

Figures 3 to 5, 7 and 8 are redrawn: rates of both groups and disparities by epsilon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.papers.figures import count_repeats, draw_measures, mark_unprotected, measure_line
from evenhand.papers.makhlouf2024 import checks
from evenhand.papers.makhlouf2024.checks import chosen, setting_of
from evenhand.papers.makhlouf2024.plans import DATA, FIGURE_3, FIGURE_4, NAMES, STRATEGIES, studies
from evenhand.papers.paper import read_paper, read_toml
from evenhand.papers.published import Published, load_runs
from evenhand.papers.tables import means_table
from evenhand.report.marks import Axis, Estimate, Panel
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.report.page import Chart
    from evenhand.study.results.results import Results

__all__ = ["PAPER", "build_tables", "draw_figures", "load_published"]

_STORED = read_toml(__name__, "paper.toml")["published"]
_FIGURES = read_toml(__name__, "figures.toml")


def load_published() -> Published | None:
    """Return the runs on Compas that the authors published, or None if the file is not on this machine."""

    def place(threshold: float, way: str, epsilon: float) -> tuple[str, Setting]:
        strategy = _STORED["strategies"].get(way)
        return f"compas-{threshold:g}", setting_of(strategy, f"{epsilon:g}") if strategy else Setting()

    return load_runs(
        "results_makhlouf2024_compas",
        ("threshold", "setting", "epsilon", "Seed_num"),
        NAMES,
        place,
        texts=("setting",),
        same_seeds=False,
    )


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, those of Compas beside the published ones."""
    known = evidence.published
    notes = {each: note["text"] for note in _STORED["notes"] if known for each in note["of"]}
    return {
        name: means_table(name, results, NAMES, published=known, notes=notes)
        for name, results in evidence.studies.items()
    }


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of the studies that were run."""
    known = evidence.studies.items()
    drawn = [groups_figure(name, results, evidence.published) for name, results in known]
    order = sorted((pair for pair in known if pair[0] in FIGURE_4), key=lambda pair: FIGURE_4.index(pair[0]))
    return [*drawn, *(disparities_figure(*pair, evidence.published) for pair in order)]


def groups_figure(name: str, results: Results, known: Published | None = None) -> Chart:
    """Return five rates of both groups against epsilon, a row for each way to protect."""
    words, measures = _FIGURES["groups"], _FIGURES["groups"]["measures"]
    panels = []
    for strategy in STRATEGIES:
        settings = chosen(results, [strategy], "all")
        for rate, title in measures.items():
            lines = [
                measure_line(label, results, settings, f"{rate}_{group}", study=name, published=known)
                for group, label in enumerate(results.facts.groups)
            ]
            panels.append(
                Panel(_FIGURES["strategies"][strategy], Axis(title), lines, _between(results, rate))
            )
    first, second = results.facts.groups
    number = words["numbers"][name.partition("-")[0]]
    also = f" and 3{'abc'[FIGURE_3.index(name)]}" if name in FIGURE_3 else ""
    values = {"first": first, "second": second, "plural": "s" if also else "", "number": number, "also": also}
    values |= {"title": DATA[name].title, "repeats": count_repeats(results)}
    return draw_measures(words, panels, f"fig{number}-{name}", columns=len(measures), **values)


def disparities_figure(name: str, results: Results, known: Published | None = None) -> Chart:
    """Return five disparities against epsilon under combLDP and indLDP."""
    words, measures = _FIGURES["disparities"], _FIGURES["disparities"]["measures"]
    settings = {each: chosen(results, [each], "all") for each in ("combined", "independent")}
    panels = []
    for measure, title in measures.items():
        lines = [
            measure_line(_FIGURES["strategies"][each], results, own, measure, study=name, published=known)
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


PAPER = read_paper(
    __name__, checks, studies=studies, tables=build_tables, figures=draw_figures, published=load_published
)
"""The paper, ready to run."""
