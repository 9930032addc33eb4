"""Figures 5.1 to 5.10 of ghoukasian2024, redrawn, and data unfairness against the gaps after training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import number_text
from evenhand.papers.comparisons import mean_of
from evenhand.papers.figures import count_repeats, draw_measures
from evenhand.papers.ghoukasian2024_local import comparisons
from evenhand.papers.ghoukasian2024_local.comparisons import NONE, PREDICTED, predictions
from evenhand.papers.ghoukasian2024_local.plans import DATA, GRR, LABELS, SS
from evenhand.papers.panels import Figure
from evenhand.papers.stored import read_toml
from evenhand.report.charts._panels import PHONE, panel_width, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis, Line, Panel
from evenhand.report.scales import Linear
from evenhand.study.page.wording import mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from evenhand.papers.claims import Evidence
    from evenhand.papers.ghoukasian2024_local.comparisons import Predicted
    from evenhand.report.page import Chart
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

_PLOT = 190.0


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of the studies that were run."""
    studies = evidence.studies.items()
    drawn = [measures_figure(name, results, place) for name, results in studies for place in (0, 1)]
    drawn.sort(key=lambda chart: int(chart.name.rpartition(".")[2]))
    records = {name: (results, comparisons.record_of(evidence, name)) for name, results in studies}
    known = {name: (results, record) for name, (results, record) in records.items() if record is not None}
    return [*drawn, *(unfairness_figure(known, measure) for measure in PREDICTED if known)]


def measures_figure(name: str, results: Results, place: int) -> Chart:
    """Return two measures against epsilon, the thesis's mechanism above and our default below."""
    stored = read_toml(__package__, "figures.toml")
    rows, words, number = stored["rows"], stored[("utility", "fairness")[place]], DATA[name].figures[place]
    panels = [
        Panel(row, Axis(title), _lines(results, measure, way), mark(_mean(results, NONE, None, measure)))
        for way, row in rows.items()
        for measure, title in words["measures"].items()
    ]
    values = {"number": number, "title": DATA[name].title, "repeats": count_repeats(results)}
    return draw_measures(words, panels, f"fig{number}", **values)


def _lines(results: Results, measure: str, spotlight: str) -> list[Line]:
    amounts = comparisons.epsilons(results)
    return [
        Line(
            LABELS[way],
            [float(each) for each in amounts],
            [mark(_mean(results, way, each, measure)) for each in amounts],
            spotlight=way == spotlight,
        )
        for way in (GRR, SS, spotlight)
    ]


def _mean(results: Results, way: str, epsilon: Any, measure: str) -> Estimated:
    setting = comparisons.at(results, way, epsilon)
    return mean_of(results, comparisons.values(results, setting, measure), within=comparisons.SHARE)


def unfairness_figure(known: Mapping[str, tuple[Results, Mapping[str, Any]]], measure: str) -> Chart:
    """Return the gap of every setting against the data unfairness of its reports, a panel per experiment."""
    columns = min(3, len(known))
    title = PREDICTED[measure]
    listed = {name: predictions(*both, measure) for name, both in known.items()}
    pictures = []
    for width in (min(panel_width(columns), 520.0), PHONE):
        drawn = [
            _scatter(name, listed[name], comparisons.correlation(*known[name], measure), width)
            for name in known
        ]
        pictures.append("".join(drawn))
    rows = [(name, each) for name, points in listed.items() for each in points]
    data: dict[str, list[Any]] = {
        "experiment": [name for name, _ in rows],
        "mechanism": [each.way for _, each in rows],
        "epsilon": [each.epsilon for _, each in rows],
        "data_unfairness": [each.unfairness for _, each in rows],
        "gap": [float(np.mean(each.runs)) for _, each in rows],
    }
    stem = f"unfairness-{measure.replace('_', '-')}"
    return Figure(__package__, "unfairness").chart_of(pictures, data, name=stem, columns=columns, title=title)


def _scatter(name: str, listed: Sequence[Predicted], found: Estimated, width: float) -> str:
    margins = Margins(44, 52, 22, 46)
    across = Linear.over(
        [each.unfairness for each in listed], pixels=width - 66, most_ticks=5, from_zero=True, within=(0, 1e9)
    )
    means = [(each, float(np.nanmean(each.runs))) for each in listed if np.isfinite(each.runs).any()]
    up = Linear.over([mean for _, mean in means], pixels=_PLOT, most_ticks=6, within=(0, 1))
    drawing = Drawing(width, _PLOT + margins.top + margins.bottom, margins, x=across, y=up)
    said = f"\N{GREEK SMALL LETTER RHO} = {number_text(found.value)}"
    if found.low is not None and found.high is not None:
        said += f" ({number_text(found.low)} to {number_text(found.high)})"
    drawing.words(*title_words(drawing, Axis(DATA[name].title, said), cut=up.cut))
    plot_width, plot_height = drawing.plot
    drawing.words(
        Word(plot_width, plot_height + 38, "data unfairness of reports", "right", "ink2", halo=False)
    )
    drawing.rules([Segment(across.low, up.low, across.high, up.low)], stroke="ghost", width=1)
    for way, look in Figure(__package__, "unfairness").looks.items():
        dots = [
            Dot(each.unfairness, gap, f"{each.words}: data unfairness {each.unfairness:.3f}, gap {gap:.3f}")
            for each, gap in means
            if each.way == way
        ]
        stroke = look.edge or None
        drawing.dots(
            dots, shape=look.shape, size=look.size, fill=look.colour, stroke=stroke, stroke_width=1.5
        )
    return drawing.svg()
