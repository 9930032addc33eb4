"""A chart as one SVG file that needs no style sheet."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from evenhand.report.svg import rebuilt_each
from evenhand.report.theme import LIGHT, SANS, css_tokens

if TYPE_CHECKING:
    from evenhand.report.page import Chart

_GAP, _EDGE, _HEADING, _ROW = 24.0, 16.0, 22.0, 26.0
_SIZE = re.compile(r'<svg width="([0-9.]+)" height="([0-9.]+)"')
_SAMPLES = {
    "line": "━", "dashed": "┄", "circle": "●", "square": "■", "triangle-up": "▲", "diamond": "◆",
    "triangle-down": "▼", "triangle-right": "▶", "cross": "✚",
}  # fmt: skip
_HOLLOW = {"circle": "○", "square": "□", "triangle-up": "△", "diamond": "◇"}  # letters that look like marks


def svg_file(chart: Chart) -> str:
    """Return all panels of a chart as one SVG with its legend, its own colours and its words.

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
    samples = [(_HOLLOW if key.hollow else _SAMPLES).get(key.mark, "") for key in chart.legend]
    keys = "".join(
        f'<tspan dx="{14 if place else 0}" fill="var(--{key.colour})">{samples[place]}</tspan> '
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
