"""Draw marks, axes and words with altair, and turn them into a static picture.

A :class:`Drawing` is a plot of a fixed size with margins around it. Marks are placed by value where the
drawing has a scale and by pixel where it has none; words, which must not depend on a browser's fonts, are
placed by pixel. Text that came from data is only ever a data value of the specification: never a field name,
an expression or a title.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import MissingExtraError
from evenhand.report.language import fixed_word
from evenhand.report.scales import Linear, Log
from evenhand.report.svg import rebuilt
from evenhand.report.theme import colour
from evenhand.report.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Align", "Dot", "Drawing", "Margins", "Segment", "Word"]

Align = Literal["left", "center", "right"]
"""Where a word stands, seen from its place."""

_PLACES: tuple[Literal["x", "y"], ...] = ("x", "y")
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_CONFIG = {
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "labelColor": colour("ink3"),
        "gridColor": colour("grid"),
        "title": None,
        "tickColor": colour("ghost"),
        "domainColor": colour("ghost"),
        "labelOverlap": False,
    },
    "axisX": {"tickSize": 4, "labelPadding": 5, "labelFlush": False},
    "axisY": {"domain": False, "ticks": False, "labelPadding": 8, "labelFlush": False},
}


@dataclass(frozen=True)
class Dot:
    """A symbol at a place, with what it says when one rests on it."""

    x: float
    y: float
    tip: str = ""


@dataclass(frozen=True)
class Segment:
    """A straight line, or a rectangle by two corners."""

    x: float
    y: float
    x2: float
    y2: float
    tip: str = ""


@dataclass(frozen=True)
class Word:
    """Text at a pixel; a halo in the colour of the card keeps it legible over marks."""

    x: float
    y: float
    text: str
    align: Align = "left"
    colour: str = "ink3"
    weight: int = 400
    size: float = 12
    halo: bool = True


@dataclass(frozen=True)
class Margins:
    """Pixels around the plot."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass
class Drawing:
    """A plot of one panel.

    Parameters
    ----------
    width, height : float
        Of the whole picture, in pixels.
    margins : Margins
    x : Linear or Log, optional
        Without one, marks are placed by pixel.
    y : Linear, optional
    x_labels : bool
        Whether the axis below writes its own labels.
    grid : {"x", "y"}
        Which axis has grid lines.
    """

    width: float
    height: float
    margins: Margins
    x: Linear | Log | None = None
    y: Linear | None = None
    x_labels: bool = True
    grid: Literal["x", "y"] = "y"
    _layers: list[dict[str, Any]] = field(default_factory=list)
    _words: list[Word] = field(default_factory=list)
    _rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def dots(
        self,
        dots: Iterable[Dot],
        *,
        shape: str = "circle",
        size: float = 60,
        fill: str = "ink",
        stroke: str | None = None,
        stroke_width: float = 1,
    ) -> None:
        """Draw symbols of one look."""
        alt = altair()
        mark = {
            "shape": shape,
            "size": size,
            "filled": True,
            "fill": colour(fill),
            "opacity": 1,
            "stroke": colour(stroke) if stroke else None,
            "strokeWidth": stroke_width if stroke else 0,
        }
        rows = [{"x": dot.x, "y": dot.y, "tip": clean(dot.tip)} for dot in dots]
        self._add(alt, rows, lambda chart: chart.mark_point(**mark), tips=True)

    def rules(
        self,
        segments: Iterable[Segment],
        *,
        stroke: str = "ink",
        width: float = 1.4,
        dash: Sequence[float] = (),
        pixels: bool = False,
        opacity: float = 1,
    ) -> None:
        """Draw straight lines of one look, by value or by pixel."""
        alt = altair()
        mark: dict[str, Any] = {
            "color": colour(stroke), "strokeWidth": width, "opacity": opacity, "aria": False
        }  # fmt: skip
        if dash:
            mark["strokeDash"] = list(dash)
        rows = [_corners(segment) for segment in segments]
        self._add(alt, rows, lambda chart: chart.mark_rule(**mark), corners=True, pixels=pixels)

    def blocks(
        self,
        segments: Iterable[Segment],
        *,
        fill: str,
        opacity: float = 1,
        radius: float = 0,
        pixels: bool = False,
    ) -> None:
        """Draw rectangles of one look."""
        alt = altair()
        mark = {"fill": colour(fill), "opacity": opacity, "cornerRadius": radius}
        rows = [_corners(segment) for segment in segments]
        self._add(alt, rows, lambda chart: chart.mark_rect(**mark), corners=True, pixels=pixels, tips=True)

    def lines(self, lines: Iterable[Sequence[Dot]], *, stroke: str, width: float, opacity: float = 1) -> None:
        """Draw lines through dots, all of one look; a line says what its first dot says."""
        alt = altair()
        mark = {"color": colour(stroke), "strokeWidth": width, "opacity": opacity, "strokeJoin": "round"}
        rows = [
            {"x": dot.x, "y": dot.y, "line": number, "order": order, "tip": clean(dot.tip)}
            for number, line in enumerate(lines)
            for order, dot in enumerate(line)
        ]
        self._add(
            alt,
            rows,
            lambda chart: chart.mark_line(**mark).encode(detail="line:N", order=alt.Order("order:Q")),
            tips=True,
        )

    def words(self, *words: Word) -> None:
        """Write text; it lies above all marks."""
        self._words.extend(words)

    def svg(self) -> str:
        """Return the picture as rebuilt, static SVG.

        Raises
        ------
        MissingExtraError
            If altair or vl-convert is not installed.
        """
        layers = [*self._layers, self._written(altair())]
        plot_width, plot_height = self.plot
        margins = self.margins
        specification = {
            "$schema": _SCHEMA,
            "width": plot_width,
            "height": plot_height,
            "autosize": {"type": "none"},
            "padding": {
                "left": margins.left,
                "top": margins.top,
                "right": margins.right,
                "bottom": margins.bottom,
            },
            "config": {**_CONFIG, "locale": {"number": _number_locale()}},
            "datasets": self._rows,
            "layer": layers,
        }
        return rebuilt(
            _converter().vegalite_to_svg(json.dumps(specification), allowed_base_urls=[]), prefix="c"
        )

    @property
    def plot(self) -> tuple[float, float]:
        """Width and height inside the margins."""
        margins = self.margins
        return self.width - margins.left - margins.right, self.height - margins.top - margins.bottom

    def _add(
        self,
        alt: Any,
        rows: list[dict[str, Any]],
        draw: Any,
        *,
        tips: bool = False,
        corners: bool = False,
        pixels: bool = False,
    ) -> None:
        if not rows:
            return
        with alt.utils.schemapi.debug_mode(
            arg=False
        ):  # our own layers, and checking each costs a second a page
            chart = draw(alt.Chart(self._named(alt, rows)))
            channels: dict[str, Any] = {name: self._channel(alt, name, pixels=pixels) for name in _PLACES}
            if corners:
                channels |= {"x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q")}
            if tips:
                channels["description"] = alt.Description("tip:N")
            self._layers.append(_plain(chart.encode(**channels)))

    def _named(self, alt: Any, rows: list[dict[str, Any]]) -> Any:
        """Keep rows until the end and return their name: altair copies what is inside a chart."""
        name = f"rows-{len(self._rows)}"
        self._rows[name] = rows
        return alt.NamedData(name=name)

    def _written(self, alt: Any) -> Any:
        """Return the words as one layer; how each looks is a value of its row."""
        look = {
            "align": "align",
            "fontSize": "size",
            "fontWeight": "weight",
            "fill": "fill",
            "stroke": "halo",
        }
        rows = self._named(alt, [_word_row(word) for word in self._words])
        with alt.utils.schemapi.debug_mode(arg=False):  # as above
            mark = {part: alt.ExprRef(f"datum.{column}") for part, column in look.items()}
            channels = {name: self._channel(alt, name, pixels=True) for name in _PLACES}
            chart = alt.Chart(rows).mark_text(baseline="alphabetic", strokeWidth=4, aria=False, **mark)
            return _plain(chart.encode(text=alt.Text("text:N"), **channels))

    def _channel(self, alt: Any, name: Literal["x", "y"], *, pixels: bool) -> Any:
        channel = alt.X if name == "x" else alt.Y
        scale = self.x if name == "x" else self.y
        if pixels or scale is None:
            return channel(f"{name}:Q", scale=None, axis=None)
        if isinstance(scale, Log):
            return channel(
                f"{name}:Q",
                scale=alt.Scale(type="log", domain=list(scale.domain), nice=False),
                axis=alt.Axis(values=list(scale.ticks), labels=False, grid=False),
            )
        axis = alt.Axis(
            values=list(scale.ticks),
            grid=self.grid == name,
            labels=self.x_labels if name == "x" else True,
            format=f",.{scale.tick_digits}f",
            **({"domain": False, "ticks": False} if self.grid == "x" and name == "x" else {}),
        )
        return channel(
            f"{name}:Q", scale=alt.Scale(domain=[scale.low, scale.high], nice=False, zero=False), axis=axis
        )


def altair() -> Any:
    """Return altair, or say how to get it."""
    try:
        import altair as alt  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise MissingExtraError("altair", feature="A chart", extra="report") from None
    return alt


def _converter() -> Any:
    try:
        import vl_convert  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("vl-convert-python", feature="A chart", extra="report") from None
    return vl_convert


def _number_locale() -> dict[str, Any]:
    """Return how the ticks of axes are written."""
    marks = {name: fixed_word(f"form.{name}") for name in ("decimal", "thousands")}
    return {**marks, "grouping": [3], "currency": ["", ""]}


def _corners(segment: Segment) -> dict[str, Any]:
    return {"x": segment.x, "y": segment.y, "x2": segment.x2, "y2": segment.y2, "tip": clean(segment.tip)}


def _plain(chart: Any) -> dict[str, Any]:
    """Return one layer as plain values, without the settings that the caller's altair may have."""
    layer: dict[str, Any] = chart.to_dict(validate=False, context={"top_level": False})
    return layer


def _word_row(word: Word) -> dict[str, Any]:
    return {
        "x": word.x,
        "y": word.y,
        "text": clean(word.text),
        "align": word.align,
        "size": word.size,
        "weight": word.weight,
        "fill": colour(word.colour),
        "halo": colour("card") if word.halo else None,
    }
