"""Figures 2 to 9 of zhu2023, redrawn: errors and alphas of originals and counterparts, and accuracies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023.checks import accuracies, anonymity_at, suppression_at, swapping_at
from evenhand.papers.zhu2023.classification import BASELINE, MAJORITY, ORIGINALS, classification_name
from evenhand.papers.zhu2023.data import DATA
from evenhand.papers.zhu2023.experiments import ORIGINAL, READINGS, SHARES, THRESHOLDS, figures_name
from evenhand.papers.zhu2023.printed import EPSILONS, MECHANISMS
from evenhand.report.charts._panels import PHONE, panel_width, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.papers.claims import Evidence
    from evenhand.study.results.estimates import Estimated

__all__ = ["accuracy_figure", "curves_figure", "draw_figures"]

_LOOKS = {"0.5": ("p1", "circle"), "1": ("p2", "square"), "2": ("p3", "triangle-up"), "4": ("p4", "diamond")}
_EDGE = "p-line"
_TITLES = {"error": "Error", "alpha": "Alpha"}
_WORDS = {
    "error": "total error of the published table, the mean over repetitions",
    "alpha": "largest minus smallest bias of a cell",
}
_HEIGHT = 190.0
_ROW, _APART = 34.0, 6.0


@dataclass(frozen=True)
class _Curve:
    """A line: where it is, and its values there."""

    label: str
    epsilon: str | None
    across: Sequence[float]
    values: Sequence[Estimated]
    faint: bool = False


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of what was run, in the order of the paper."""
    drawn = []
    for name in DATA:
        if figures_name(name) in evidence.trials:
            drawn += [curves_figure(evidence, name, measure) for measure in _TITLES]
        if classification_name(name) in evidence.trials:
            drawn.append(accuracy_figure(evidence, name))
    return sorted(drawn, key=lambda chart: chart.name)


# --- errors and alphas ----------------------------------------------------------------------------


def curves_figure(evidence: Evidence, name: str, measure: str) -> Chart:
    """Return errors or alphas of the three methods, originals dashed and counterparts by epsilon."""
    source = DATA[name]
    number = source.errors if measure == "error" else source.alphas
    panels = {
        "Suppression": (_thresholds(evidence, name, measure, suppression_at), "threshold k"),
        "Swapping": (_shares(evidence, name, measure), "per cent of rows or people swapped"),
        "k-anonymity": (_thresholds(evidence, name, measure, anonymity_at), "k"),
    }
    pictures = [
        "".join(_curves(title, curves, axis, measure, width) for title, (curves, axis) in panels.items())
        for width in (panel_width(len(panels)), PHONE)
    ]
    words = _WORDS[measure]
    return Chart(
        name=f"fig{number}",
        wide=pictures[0],
        narrow=pictures[1],
        alt=f"{_TITLES[measure]} of suppression, swapping and k-anonymity and their variants, {source.title}",
        caption=(
            f"As figure {number} of the paper, {source.title}: {words}. Swapping is dashed with rows of "
            "the histogram as its records, and grey with people: nearest pairs, which change next to "
            "nothing, and discrepant pairs. The counterpart of swapping has no share. k-anonymity of a "
            "sample is against the table of the sample. Marks are means over experiments."
        ),
        data=_data(panels, measure),
        legend=(
            *(LegendKey(f"\N{GREEK SMALL LETTER EPSILON} = {text}", shape, "p-line" if fill == "p4" else fill,
                        hollow=fill == "p4") for text, (fill, shape) in _LOOKS.items()),
            LegendKey("original", "dashed", "ink"),
            LegendKey("swapping of people", "line", "grey"),
        ),
        columns=len(panels),
    )  # fmt: skip


def _thresholds(evidence: Evidence, name: str, measure: str, read: Any) -> list[_Curve]:
    return [
        _Curve(
            line, None if line == ORIGINAL else line, THRESHOLDS,
            [estimate_mean(read(evidence, name, k, line, measure)) for k in THRESHOLDS],
        )
        for line in (ORIGINAL, *EPSILONS)
    ]  # fmt: skip


def _shares(evidence: Evidence, name: str, measure: str) -> list[_Curve]:
    originals = [
        _Curve(
            reading, None, SHARES,
            [estimate_mean(swapping_at(evidence, name, reading, str(each), measure)) for each in SHARES],
            faint=place > 0,
        )
        for place, reading in enumerate(READINGS)
    ]  # fmt: skip
    level = [estimate_mean(swapping_at(evidence, name, "epsilon", text, measure)) for text in EPSILONS]
    counterparts = [
        _Curve(text, text, SHARES, [each] * len(SHARES)) for text, each in zip(EPSILONS, level, strict=True)
    ]
    return [*originals, *counterparts]


def _curves(title: str, curves: Sequence[_Curve], axis: str, measure: str, width: float) -> str:
    margins = Margins(52, 52, 10, 46)
    plot_width = width - margins.left - margins.right
    ends = curves[0].across
    room = 0.06 * (ends[-1] - ends[0])
    across = Linear(ends[0] - room, ends[-1] + room, tuple(map(float, ends)), plot_width)
    up = Linear.over(
        [each.value for curve in curves for each in curve.values], pixels=_HEIGHT, from_zero=True, margin=0.06
    )
    drawing = Drawing(width, _HEIGHT + margins.top + margins.bottom, margins, x=across, y=up)
    drawing.words(*title_words(drawing, Axis(title, _TITLES[measure].lower()), cut=False))
    drawing.words(Word(plot_width, _HEIGHT + 38, axis, "right", "ink3", halo=False))
    for curve in sorted(curves, key=lambda each: each.epsilon is None and not each.faint):
        _curve(drawing, curve)
    return drawing.svg()


def _curve(drawing: Drawing, curve: _Curve) -> None:
    dots = [
        Dot(x, each.value, f"{curve.label}, {x:g}: {each.value:,.1f}")
        for x, each in zip(curve.across, curve.values, strict=True)
    ]
    if curve.epsilon is None and not curve.faint:
        drawing.rules(
            [Segment(a.x, a.y, b.x, b.y) for a, b in pairwise(dots)], stroke="ink", width=1.8, dash=(5, 4)
        )
        return
    if curve.epsilon is None:
        drawing.lines([dots], stroke="grey", width=1.2)
        return
    fill, shape = _LOOKS[curve.epsilon]
    drawing.lines([dots], stroke=_EDGE if fill == "p4" else fill, width=1.4, opacity=0.8)
    drawing.dots(
        dots, shape=shape, size=46, fill="card" if fill == "p4" else fill, stroke=_EDGE, stroke_width=1.2
    )


def _data(panels: dict[str, tuple[list[_Curve], str]], measure: str) -> dict[str, list[Any]]:
    rows = [
        (title, axis, curve.label, x, each)
        for title, (curves, axis) in panels.items()
        for curve in curves
        for x, each in zip(curve.across, curve.values, strict=True)
    ]
    return {
        "method": [row[0] for row in rows],
        "axis": [row[1] for row in rows],
        "line": [row[2] for row in rows],
        "at": [row[3] for row in rows],
        measure: [row[4].value for row in rows],
        "low": [row[4].low for row in rows],
        "high": [row[4].high for row in rows],
    }


# --- accuracies -----------------------------------------------------------------------------------


def accuracy_figure(evidence: Evidence, name: str) -> Chart:
    """Return the accuracies of classifiers, a row for each mechanism and a mark for each epsilon."""
    source = DATA[name]
    number = source.accuracy.replace(", ", "-")
    settings = {"plain": "Accuracy", "areas": "Accuracy, with the area as a feature"}
    pictures = [
        "".join(_accuracies(evidence, name, setting, title, width) for setting, title in settings.items())
        for width in (panel_width(len(settings)), PHONE)
    ]
    rows = [
        (
            setting,
            mechanism,
            text,
            estimate_mean(accuracies(evidence, name, mechanism, text, setting=setting)),
        )
        for setting in settings
        for mechanism, texts in _accuracy_rows()
        for text in texts
    ]
    return Chart(
        name=f"fig{number}",
        wide=pictures[0],
        narrow=pictures[1],
        alt=f"Accuracy of logistic regressions trained on released tables, {source.title}",
        caption=(
            f"As figure {source.accuracy} of the paper, {source.title}: accuracy on the true people of a "
            "logistic regression that is trained on a released table. Dashed: trained on the true table. "
            "Dotted: the most frequent outcome for everybody. Bars are 95 % t intervals of the mean over "
            "experiments."
        ),
        data={
            "setting": [row[0] for row in rows],
            "mechanism": [row[1] for row in rows],
            "epsilon": [float(row[2]) if row[2] else None for row in rows],
            "acc": [row[3].value for row in rows],
            "low": [row[3].low for row in rows],
            "high": [row[3].high for row in rows],
        },
        legend=(
            *(LegendKey(f"\N{GREEK SMALL LETTER EPSILON} = {text}", shape, "p-line" if fill == "p4" else fill,
                        hollow=fill == "p4") for text, (fill, shape) in _LOOKS.items()),
            LegendKey("original", "diamond", "ink"),
            LegendKey("trained on the true table", "dashed", "ink2"),
        ),
        columns=len(settings),
    )  # fmt: skip


def _accuracy_rows() -> list[tuple[str, tuple[str, ...]]]:
    """Return the mechanisms in the order of the rows, each with its epsilons."""
    return [*((each, EPSILONS) for each in MECHANISMS), *((each, ("",)) for each in ORIGINALS.values())]


def _accuracies(evidence: Evidence, name: str, setting: str, title: str, width: float) -> str:
    rows = _accuracy_rows()
    margins = Margins(132, 58, 14, 28)
    drawing = Drawing(width, margins.top + margins.bottom + len(rows) * _ROW, margins, grid="x")
    found = {
        (mechanism, text): estimate_mean(accuracies(evidence, name, mechanism, text, setting=setting))
        for mechanism, texts in rows
        for text in texts
    }
    base, most = (
        accuracies(evidence, name, each, "", setting=setting).mean() for each in (BASELINE, MAJORITY)
    )
    drawing.x = Linear.over(
        [base, most, *(each.value for each in found.values())],
        pixels=drawing.plot[0],
        most_ticks=6,
        within=(0, 1),
    )
    drawing.words(*title_words(drawing, Axis(title, "on the true people"), cut=drawing.x.cut))
    height = drawing.plot[1]
    drawing.rules([Segment(base, 0, base, height)], stroke="ink2", width=1.3, dash=(5, 4))
    drawing.rules([Segment(most, 0, most, height)], stroke="grey", width=1.2, dash=(1, 3))
    for place, (mechanism, texts) in enumerate(rows):
        label = MECHANISMS.get(mechanism, mechanism)
        drawing.words(Word(-10, (place + 0.5) * _ROW + 4, label, "right", "ink2", halo=False))
        for step, text in enumerate(texts):
            lower = (step - (len(texts) - 1) / 2) * _APART
            _mark(drawing, found[mechanism, text], label, text, (place + 0.5) * _ROW + lower)
    return drawing.svg()


def _mark(drawing: Drawing, each: Estimated, label: str, text: str, y: float) -> None:
    fill, shape = _LOOKS.get(text, ("ink", "diamond"))
    scale = drawing.x
    if isinstance(scale, Linear) and each.low is not None and each.high is not None:
        ends = Segment(max(each.low, scale.low), y, min(each.high, scale.high), y)
        drawing.rules([ends], stroke=_EDGE if text else "ink", width=1.2)
    tip = f"{label}{f', epsilon = {text}' if text else ''}: {each.value:.4f}"
    drawing.dots(
        [Dot(each.value, y, tip)], shape=shape, size=44, fill="card" if fill == "p4" else fill,
        stroke=_EDGE if text else "ink", stroke_width=1.3,
    )  # fmt: skip
