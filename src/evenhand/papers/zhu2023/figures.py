"""Figures 2 to 9 of zhu2023, redrawn: errors and alphas of originals and counterparts, and accuracies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.papers.panels import Figure, Plot, Series
from evenhand.papers.stored import read_toml
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023 import experiments
from evenhand.papers.zhu2023.data import DATA, EPSILONS, MECHANISMS, READINGS, SHARES, THRESHOLDS
from evenhand.papers.zhu2023.records import runs
from evenhand.report.charts._panels import PHONE, panel_width, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis
from evenhand.report.scales import Linear

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.papers.panels import Look
    from evenhand.report.page import Chart
    from evenhand.study.results.estimates import Estimated

_ROW, _APART = 34.0, 6.0
_ROWS = [
    *((each, EPSILONS) for each in MECHANISMS),
    *((each, ("",)) for each in experiments.ORIGINALS.values()),
]


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of what was run, in the order of the paper."""
    drawn = []
    for name in DATA:
        if f"figures-{name}" in evidence.trials:
            drawn += [curves_figure(evidence, name, measure) for measure in ("error", "alpha")]
        if f"classification-{name}" in evidence.trials:
            drawn.append(accuracy_figure(evidence, name))
    return sorted(drawn, key=lambda chart: chart.name)


def _columns(names: tuple[str, ...], rows: list[Any]) -> dict[str, list[Any]]:
    return {column: [row[place] for row in rows] for place, column in enumerate(names)}


def curves_figure(evidence: Evidence, name: str, measure: str) -> Chart:
    """Return errors or alphas of the three methods, originals dashed and counterparts by epsilon."""
    figure, source = Figure(__package__, "curves"), DATA[name]
    number = source.errors if measure == "error" else source.alphas
    words = read_toml(__package__, "figures.toml")["measures"][measure]
    plots, rows = [], []
    for (title, axis), method in zip(figure.panels, ("suppression", "swapping", "k-anonymity"), strict=True):
        across = SHARES if method == "swapping" else THRESHOLDS
        lines = []
        for key, values in _curves(evidence, name, method, measure).items():
            look, y = figure.looks[key], [each.value for each in values]
            tips = [f"{look.label}, {x:g}: {value:,.1f}" for x, value in zip(across, y, strict=True)]
            lines.append(Series(look, across, y, tips, says=tips[0]))
            rows += [
                (title, axis, key, x, each.value, each.low, each.high)
                for x, each in zip(across, values, strict=True)
            ]
        lines.sort(key=lambda series: series.look.dash)  # dashed lines are on top
        said, ticks = (title, words["title"].lower(), axis), tuple(map(float, across))
        plots.append(Plot(said, lines, from_zero=True, ticks=ticks, margins=(52, 52, 10, 46)))
    data = _columns(("method", "axis", "line", "at", measure, "low", "high"), rows)
    return figure.chart(plots, name=f"fig{number}", data=data, number=number, data_set=source.title, **words)


def _curves(evidence: Evidence, name: str, method: str, measure: str) -> dict[str, list[Estimated]]:
    """Return the means of each line; the counterpart of swapping has no share, and so is level."""

    def mean(at: str, line: str) -> Estimated:
        return estimate_mean(runs(evidence, f"figures-{name}", method, at, line, measure))

    if method != "swapping":
        return {line: [mean(str(k), line) for k in THRESHOLDS] for line in (experiments.ORIGINAL, *EPSILONS)}
    originals = {reading: [mean(reading, str(share)) for share in SHARES] for reading in READINGS}
    return originals | {text: [mean("epsilon", text)] * len(SHARES) for text in EPSILONS}


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
    data = _columns(("setting", "mechanism", "epsilon", "acc", "low", "high"), rows)
    words = {"number": source.accuracy, "data_set": source.title}
    file = f"fig{source.accuracy.replace(', ', '-')}"
    return figure.chart_of(pictures, data, name=file, columns=len(settings), **words)


def _means(evidence: Evidence, name: str, setting: str) -> dict[tuple[str, str], Estimated]:
    of_setting = partial(runs, evidence, f"classification-{name}", setting)
    return {
        (mechanism, text): estimate_mean(of_setting(mechanism, text))
        for mechanism, texts in _ROWS
        for text in texts
    }


def _accuracies(evidence: Evidence, name: str, setting: str, title: str, width: float) -> str:
    margins = Margins(132, 58, 14, 28)
    drawing = Drawing(width, margins.top + margins.bottom + len(_ROWS) * _ROW, margins, grid="x")
    found, looks = _means(evidence, name, setting), Figure(__package__, "accuracy").looks
    base, most = (
        runs(evidence, f"classification-{name}", setting, each, "").mean()
        for each in (experiments.BASELINE, experiments.MAJORITY)
    )
    values = [base, most, *(each.value for each in found.values())]
    drawing.x = Linear.over(values, pixels=drawing.plot[0], most_ticks=6, within=(0, 1))
    drawing.words(*title_words(drawing, Axis(title, "on the true people"), cut=drawing.x.cut))
    height = drawing.plot[1]
    drawing.rules([Segment(base, 0, base, height)], stroke="ink2", width=1.3, dash=(5, 4))
    drawing.rules([Segment(most, 0, most, height)], stroke="grey", width=1.2, dash=(1, 3))
    for place, (mechanism, texts) in enumerate(_ROWS):
        label, middle = MECHANISMS.get(mechanism, mechanism), (place + 0.5) * _ROW
        drawing.words(Word(-10, middle + 4, label, "right", "ink2", halo=False))
        for step, text in enumerate(texts):
            lower = (step - (len(texts) - 1) / 2) * _APART
            tip = f"{label}{f', epsilon = {text}' if text else ''}"
            _mark(drawing, found[mechanism, text], tip, looks[text], middle + lower)
    return drawing.svg()


def _mark(drawing: Drawing, each: Estimated, label: str, look: Look, y: float) -> None:
    scale: Any = drawing.x
    if each.low is not None and each.high is not None:
        ends = Segment(max(each.low, scale.low), y, min(each.high, scale.high), y)
        drawing.rules([ends], stroke=look.edge, width=1.2)
    dot = Dot(each.value, y, f"{label}: {each.value:.4f}")
    drawing.dots([dot], shape=look.shape, size=44, fill=look.colour, stroke=look.edge, stroke_width=1.3)
