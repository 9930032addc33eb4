"""The chart of calibration: mean scores against the shares who have the outcome, one panel for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import PHONE, columns_for, estimate_columns, panel_width, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Linear
from evenhand.report.theme import group_look
from evenhand.report.words import number, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Estimate

_TICKS = (0.0, 25.0, 50.0, 75.0, 100.0)
_TALLEST = 300.0

ScorePanel = tuple[int, str, "Sequence[tuple[float, Estimate]]"]
"""The place of a group, its name, and mean scores with shares."""


def calibration_chart(
    panels: Sequence[ScorePanel],
    *,
    among: int,
    up: str,
    across: str,
    diagonal: str,
    name: str,
    alt: str,
    caption: str,
) -> Chart:
    """Draw shares with their intervals against mean scores, from 0 to 100 percent both ways.

    Parameters
    ----------
    panels : sequence of (int, str, sequence of (float, Estimate))
        The place of each group, its name, and its bins: mean score and share with the outcome.
    among : int
        How many groups there are, for their colours.
    up, across, diagonal : str
        What the axes and the dashed line are.
    name, alt, caption : str
        As in :class:`evenhand.report.Chart`.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    columns = max(2, min(columns_for(len(panels)), 4))
    wide, narrow = (
        "".join(_draw(panel, width, among, up, across) for panel in panels)
        for width in (min(panel_width(columns), _TALLEST + 60), PHONE)
    )
    rows = [(label, score, share) for _, label, bins in panels for score, share in bins]
    data: dict[str, list[Any]] = {
        "group": [label for label, _, _ in rows],
        "mean_score": [score for _, score, _ in rows],
        **estimate_columns("observed", [share for _, _, share in rows], times=1.0),
    }
    legend = (LegendKey(diagonal, "dashed", "ink2"),)
    return Chart(name, wide, narrow, alt, caption, data, legend, columns=columns)


def _draw(panel: ScorePanel, width: float, among: int, up: str, across: str) -> str:
    place, label, bins = panel
    margins = Margins(38, 46, 14, 40)
    side = min(width - margins.left - margins.right, _TALLEST)
    drawing = Drawing(width, side + margins.top + margins.bottom, margins)
    scale = Linear(0.0, 100.0, _TICKS, drawing.plot[0])
    drawing.x, drawing.y = scale, Linear(0.0, 100.0, _TICKS, side)
    drawing.words(*title_words(drawing, Axis(label, up), cut=False))
    drawing.words(Word(drawing.plot[0], side + 34, across, "right", "ink3", halo=False))
    drawing.rules([Segment(0, 0, 100, 100)], stroke="ink2", width=1.3, dash=(5, 4))
    look = group_look(place, among=among)
    spans = [(100 * score, share.span(100.0)) for score, share in bins]
    drawing.rules([Segment(x, ends[0], x, ends[1]) for x, ends in spans if ends], stroke=look.fill, width=1.6)
    dots = [
        Dot(100 * score, 100 * share.value, f"{label}, {number(100 * score)}: {value_of(share, times=100)}")
        for score, share in bins
        if share.is_finite
    ]
    drawing.dots(dots, shape=look.shape, size=56, fill=look.fill, stroke="card")
    return drawing.svg()
