"""Figures of a reproduction as files: every panel of a chart in one SVG that needs no style sheet."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.papers.stored import fill
from evenhand.report.charts import measures_chart
from evenhand.report.marks import Axis, Estimate, Line, Panel
from evenhand.report.svg import rebuilt_each
from evenhand.report.theme import LIGHT, SANS, css_tokens
from evenhand.study.page.wording import mark
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.report.page import Chart, LegendKey
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

_GAP, _EDGE, _HEADING, _ROW = 24.0, 16.0, 22.0, 26.0
_SIZE = re.compile(r'<svg width="([0-9.]+)" height="([0-9.]+)"')


LOOKS = {
    "grr": ("ink", "circle"), "blh": ("g5", "cross"), "olh": ("g3", "triangle-up"),
    "rappor": ("g2", "square"), "oue": ("g1", "diamond"), "ss": ("g4", "triangle-down"),
    "the": ("bad", "triangle-right"),
}  # fmt: skip
"""The colour and the marks of each protocol in figures of papers; in reports only groups have hues."""

PUBLISHED = "the authors' means"
"""What hollow marks are called."""


def measures_figure(
    results: Results,
    stored: Mapping[str, Any],
    name: str,
    *,
    published: Callable[[Setting, str], float | None] = lambda *_: None,
    **values: Any,
) -> Chart:
    """Return measures against epsilon, a row for each split and a line for each protocol.

    Parameters
    ----------
    results : Results
    stored : mapping
        Measures with their titles, alt and caption, as in ``figures.toml``.
    name : str
        As in :class:`evenhand.report.Chart`.
    published : callable
        From a setting and a measure to the mean that the authors published, or None; they are hollow marks.
    **values
        What alt and caption are filled with.
    """
    panels = []
    for split in ("uniform", "k-based"):
        settings = [each for each in results.settings if each.option("split") == split]
        protocols = list(dict.fromkeys(each.mechanism for each in settings))
        for measure, title in stored["measures"].items():
            lines = []
            for protocol in protocols:
                own = [each for each in settings if each.mechanism == protocol]
                colour, shape = LOOKS.get(protocol, ("grey", "circle"))
                means = [published(setting, measure) for setting in own]
                lines += [published_line(own, means, colour, shape), _line(results, own, measure)]
            base = mark(estimate(results, Setting(), measure, kind="student"))
            panels.append(Panel(f"{split} split", Axis(title), [line for line in lines if line], base))
    return draw_measures(stored, panels, name, **values)


def draw_measures(
    stored: Mapping[str, Any],
    panels: Sequence[Panel],
    name: str,
    *,
    columns: int | None = None,
    **values: Any,
) -> Chart:
    """Return panels of measures against epsilon as a chart, its stored words filled."""
    alt, caption = (fill(stored[key], **values) for key in ("alt", "caption"))
    chart = measures_chart(panels, chosen_epsilon=None, name=name, alt=alt, caption=caption)
    return chart if columns is None else replace(chart, columns=columns)


def epsilon_line(
    label: str, settings: Sequence[Setting], found: Sequence[Estimated], *, spotlight: bool
) -> Line:
    """Return estimates of settings against their epsilons as a line."""
    epsilons = [float(setting.epsilon or 0) for setting in settings]
    return Line(label, epsilons, [mark(each) for each in found], spotlight=spotlight)


def _line(results: Results, settings: Sequence[Setting], measure: str) -> Line:
    found = [estimate(results, setting, measure, kind="student") for setting in settings]
    mechanism = settings[0].mechanism
    line = epsilon_line(mechanism.upper(), settings, found, spotlight=mechanism == "grr")
    if line.spotlight:
        return line
    colour, shape = LOOKS.get(mechanism, ("grey", "circle"))
    return replace(line, colour=colour, shape=shape)


def published_line(
    settings: Sequence[Setting], means: Sequence[float | None], colour: str, shape: str
) -> Line | None:
    """Return the authors' means of settings as hollow marks, or None where they published none."""
    known = [(setting, mean) for setting, mean in zip(settings, means, strict=True) if mean is not None]
    epsilons = [float(setting.epsilon or 0) for setting, _ in known]
    marks = [Estimate(mean) for _, mean in known]
    return Line(PUBLISHED, epsilons, marks, colour=colour, shape=shape, hollow=True) if known else None


def svg_file(chart: Chart) -> str:
    """Return all panels of a chart as one SVG with its legend, its own colours and its words.

    Parameters
    ----------
    chart : Chart
        Panels stand side by side, ``chart.columns`` in a row; ``chart.rows`` name the rows.
    """
    panels = rebuilt_each(chart.wide, prefix=re.sub(r"[^a-z0-9]+", "-", chart.name.lower()))
    sizes = [_SIZE.match(panel) for panel in panels]
    wide = max(float(size[1]) for size in sizes if size)
    high = max(float(size[2]) for size in sizes if size)
    named = bool(chart.rows)
    step = high + (_ROW if named else 8)
    rows = -(-len(panels) // chart.columns)
    width = 2 * _EDGE + chart.columns * wide + (chart.columns - 1) * _GAP
    height = 2 * _EDGE + _HEADING + rows * step
    keys = "".join(
        f'<tspan dx="{14 if place else 0}" fill="var(--{key.colour})">{_sample(key)}</tspan> '
        f"{escape(key.label)}"
        for place, key in enumerate(chart.legend)
    )
    whole = f'width="{width:g}" height="{height:g}"'
    fonts = SANS.replace('"', "'")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {whole} viewBox="0 0 {width:g} {height:g}">',
        f"<title>{escape(chart.alt)}</title>",
        f"<style>svg{{{css_tokens(LIGHT)}font-family:{fonts}}}</style>",
        f'<rect {whole} fill="var(--card)"/>',
        f'<text x="{_EDGE:g}" y="{_EDGE + 8:g}" font-size="12px" fill="var(--ink2)">{keys}</text>',
    ]
    for place, panel in enumerate(panels):
        row, column = divmod(place, chart.columns)
        x, y = _EDGE + column * (wide + _GAP), _EDGE + _HEADING + row * step
        if named and not column:
            words = escape(chart.rows[row]) if row < len(chart.rows) else ""
            out.append(
                f'<text x="{x:g}" y="{y + 12:g}" font-size="13px" font-weight="600" '
                f'fill="var(--ink)">{words}</text>'
            )
        out.append(panel.replace("<svg ", f'<svg x="{x:g}" y="{y + (_ROW if named else 0) - 6:g}" ', 1))
    return "".join([*out, "</svg>\n"])


def _sample(key: LegendKey) -> str:
    """Return a letter that looks like the mark."""
    return (_HOLLOW if key.hollow else _SAMPLES).get(key.mark, "")


_SAMPLES = {
    "line": "\N{BOX DRAWINGS HEAVY HORIZONTAL}",
    "dashed": "\N{BOX DRAWINGS LIGHT TRIPLE DASH HORIZONTAL}",
    "circle": "\N{BLACK CIRCLE}",
    "square": "\N{BLACK SQUARE}",
    "triangle-up": "\N{BLACK UP-POINTING TRIANGLE}",
    "diamond": "\N{BLACK DIAMOND}",
    "triangle-down": "\N{BLACK DOWN-POINTING TRIANGLE}",
    "triangle-right": "\N{BLACK RIGHT-POINTING TRIANGLE}",
    "cross": "\N{HEAVY GREEK CROSS}",
}
_HOLLOW = {
    "circle": "\N{WHITE CIRCLE}",
    "square": "\N{WHITE SQUARE}",
    "triangle-up": "\N{WHITE UP-POINTING TRIANGLE}",
    "diamond": "\N{WHITE DIAMOND}",
    "triangle-down": "\N{WHITE DOWN-POINTING TRIANGLE}",
    "triangle-right": "\N{WHITE RIGHT-POINTING TRIANGLE}",
    "cross": "\N{OPEN CENTRE CROSS}",
}
