"""Figures 2 to 9 of zhu2023, redrawn: errors and alphas of originals and counterparts, and accuracies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.papers.panels import Figure, Plot, Series
from evenhand.papers.stored import read_toml
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023.classification import BASELINE, MAJORITY, ORIGINALS, classification_name
from evenhand.papers.zhu2023.data import DATA, EPSILONS, MECHANISMS
from evenhand.papers.zhu2023.experiments import ORIGINAL, READINGS, SHARES, THRESHOLDS, figures_name
from evenhand.papers.zhu2023.records import accuracies, of_figure
from evenhand.report.charts._panels import PHONE, panel_width, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis
from evenhand.report.scales import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.papers.claims import Evidence
    from evenhand.papers.panels import Look
    from evenhand.report.page import Chart
    from evenhand.study.results.estimates import Estimated

    Curves = dict[str, list[Estimated]]

_ROW, _APART = 34.0, 6.0


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of what was run, in the order of the paper."""
    drawn = []
    for name in DATA:
        if figures_name(name) in evidence.trials:
            drawn += [curves_figure(evidence, name, measure) for measure in ("error", "alpha")]
        if classification_name(name) in evidence.trials:
            drawn.append(accuracy_figure(evidence, name))
    return sorted(drawn, key=lambda chart: chart.name)


# --- errors and alphas ----------------------------------------------------------------------------


def curves_figure(evidence: Evidence, name: str, measure: str) -> Chart:
    """Return errors or alphas of the three methods, originals dashed and counterparts by epsilon."""
    figure, source = Figure(__package__, "curves"), DATA[name]
    number = source.errors if measure == "error" else source.alphas
    words = read_toml(__package__, "figures.toml")["measures"][measure]
    methods: list[tuple[Curves, Sequence[int]]] = [
        (_thresholds(evidence, name, measure, "suppression"), THRESHOLDS),
        (_shares(evidence, name, measure), SHARES),
        (_thresholds(evidence, name, measure, "k-anonymity"), THRESHOLDS),
    ]
    plots, rows = [], []
    for (title, axis), (curves, across) in zip(figure.panels, methods, strict=True):
        lines = [_series(figure.looks[key], across, values) for key, values in curves.items()]
        lines.sort(key=lambda series: series.look.dash)  # dashed lines are on top
        said = (title, words["title"].lower(), axis)
        ticks = tuple(map(float, across))
        plots.append(Plot(said, lines, from_zero=True, ticks=ticks, margins=(52, 52, 10, 46)))
        for key, values in curves.items():
            rows += [
                (title, axis, key, x, each.value, each.low, each.high)
                for x, each in zip(across, values, strict=True)
            ]
    names = ("method", "axis", "line", "at", measure, "low", "high")
    data = {column: [row[place] for row in rows] for place, column in enumerate(names)}
    return figure.chart(plots, name=f"fig{number}", data=data, number=number, data_set=source.title, **words)


def _thresholds(evidence: Evidence, name: str, measure: str, method: str) -> Curves:
    return {
        line: [estimate_mean(of_figure(evidence, name, method, str(k), line, measure)) for k in THRESHOLDS]
        for line in (ORIGINAL, *EPSILONS)
    }


def _shares(evidence: Evidence, name: str, measure: str) -> Curves:
    def mean(reading: str, line: str) -> Estimated:
        return estimate_mean(of_figure(evidence, name, "swapping", reading, line, measure))

    originals = {reading: [mean(reading, str(share)) for share in SHARES] for reading in READINGS}
    return originals | {text: [mean("epsilon", text)] * len(SHARES) for text in EPSILONS}


def _series(look: Look, across: Sequence[int], values: Sequence[Estimated]) -> Series:
    y = [each.value for each in values]
    tips = [f"{look.label}, {x:g}: {value:,.1f}" for x, value in zip(across, y, strict=True)]
    return Series(look, across, y, tips, says=tips[0])


# --- accuracies -----------------------------------------------------------------------------------


def accuracy_figure(evidence: Evidence, name: str) -> Chart:
    """Return the accuracies of classifiers, a row for each mechanism and a mark for each epsilon."""
    figure, source = Figure(__package__, "accuracy"), DATA[name]
    settings = figure.stored["titles"]
    pictures = [
        "".join(_accuracies(evidence, name, setting, title, width) for setting, title in settings.items())
        for width in (panel_width(len(settings)), PHONE)
    ]
    rows = [
        (setting, mechanism, float(text) if text else None, mean.value, mean.low, mean.high)
        for setting in settings
        for (mechanism, text), mean in _means(evidence, name, setting).items()
    ]
    names = ("setting", "mechanism", "epsilon", "acc", "low", "high")
    return figure.chart_of(
        pictures,
        {column: [row[place] for row in rows] for place, column in enumerate(names)},
        name=f"fig{source.accuracy.replace(', ', '-')}",
        columns=len(settings),
        number=source.accuracy,
        data_set=source.title,
    )


def _accuracy_rows() -> list[tuple[str, tuple[str, ...]]]:
    """Return the mechanisms in the order of the rows, each with its epsilons."""
    return [*((each, EPSILONS) for each in MECHANISMS), *((each, ("",)) for each in ORIGINALS.values())]


def _means(evidence: Evidence, name: str, setting: str) -> dict[tuple[str, str], Estimated]:
    return {
        (mechanism, text): estimate_mean(accuracies(evidence, name, mechanism, text, setting=setting))
        for mechanism, texts in _accuracy_rows()
        for text in texts
    }


def _accuracies(evidence: Evidence, name: str, setting: str, title: str, width: float) -> str:
    rows, looks = _accuracy_rows(), Figure(__package__, "accuracy").looks
    margins = Margins(132, 58, 14, 28)
    drawing = Drawing(width, margins.top + margins.bottom + len(rows) * _ROW, margins, grid="x")
    found = _means(evidence, name, setting)
    base, most = (
        accuracies(evidence, name, each, "", setting=setting).mean() for each in (BASELINE, MAJORITY)
    )
    values = [base, most, *(each.value for each in found.values())]
    drawing.x = Linear.over(values, pixels=drawing.plot[0], most_ticks=6, within=(0, 1))
    drawing.words(*title_words(drawing, Axis(title, "on the true people"), cut=drawing.x.cut))
    height = drawing.plot[1]
    drawing.rules([Segment(base, 0, base, height)], stroke="ink2", width=1.3, dash=(5, 4))
    drawing.rules([Segment(most, 0, most, height)], stroke="grey", width=1.2, dash=(1, 3))
    for place, (mechanism, texts) in enumerate(rows):
        label = MECHANISMS.get(mechanism, mechanism)
        drawing.words(Word(-10, (place + 0.5) * _ROW + 4, label, "right", "ink2", halo=False))
        for step, text in enumerate(texts):
            lower = (step - (len(texts) - 1) / 2) * _APART
            tip = f"{label}{f', epsilon = {text}' if text else ''}"
            _mark(drawing, found[mechanism, text], tip, looks[text], (place + 0.5) * _ROW + lower)
    return drawing.svg()


def _mark(drawing: Drawing, each: Estimated, label: str, look: Look, y: float) -> None:
    scale: Any = drawing.x
    if each.low is not None and each.high is not None:
        ends = Segment(max(each.low, scale.low), y, min(each.high, scale.high), y)
        drawing.rules([ends], stroke=look.edge, width=1.2)
    dot = Dot(each.value, y, f"{label}: {each.value:.4f}")
    drawing.dots([dot], shape=look.shape, size=44, fill=look.colour, stroke=look.edge, stroke_width=1.3)
