"""Draw marks, axes and words with altair, and turn them into a static picture.

A :class:`Drawing` is a plot of a fixed size with margins around it. Marks are placed by value where the
drawing has a scale and by pixel where it has none; words, which must not depend on a browser's fonts, are
placed by pixel. Text that came from data is only ever a data value of the specification: never a field name,
an expression or a title. Labels find room near their marks.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import MissingExtraError
from evenhand.report.language import fixed_word
from evenhand.report.scales import Linear, Log
from evenhand.report.svg import rebuilt
from evenhand.report.theme import colour
from evenhand.report.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Align = Literal["left", "center", "right"]
"""Where a word stands, seen from its place."""

_ANGLES = (0, 180, 45, 315, 135, 225, 90, 270, 20, 340, 160, 200)
_DISTANCES = (16, 28, 44, 64, 90, 120, 150, 180, 220)
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
    grid : {"x", "y"}
        Which axis has grid lines.
    """

    width: float
    height: float
    margins: Margins
    x: Linear | Log | None = None
    y: Linear | None = None
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
        mark = {
            "shape": shape,
            "size": size,
            "filled": True,
            "fill": colour(fill),
            "opacity": 1,
            "stroke": colour(stroke) if stroke else None,
            "strokeWidth": stroke_width if stroke else 0,
        }
        self._add("point", mark, _rows_of(dots), description="tip:N")

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
        mark = {"color": colour(stroke), "strokeWidth": width, "opacity": opacity, "aria": False}
        mark |= {"strokeDash": list(dash)} if dash else {}
        self._add("rule", mark, _rows_of(segments), pixels=pixels, x2="x2:Q", y2="y2:Q")

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
        mark = {"fill": colour(fill), "opacity": opacity, "cornerRadius": radius}
        self._add("rect", mark, _rows_of(segments), pixels=pixels, x2="x2:Q", y2="y2:Q", description="tip:N")

    def lines(
        self,
        lines: Iterable[Sequence[Dot]],
        *,
        stroke: str,
        width: float,
        opacity: float = 1,
    ) -> None:
        """Draw lines through dots, all of one look; a line says what its first dot says."""
        mark: dict[str, Any] = {"color": colour(stroke), "strokeWidth": width, "opacity": opacity}
        mark["strokeJoin"] = "round"
        rows = [
            {**row, "line": number, "order": order}
            for number, line in enumerate(lines)
            for order, row in enumerate(_rows_of(line))
        ]
        self._add("line", mark, rows, detail="line:N", order="order:Q", description="tip:N")

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
        plot_width, plot_height = self.plot
        specification = {
            "$schema": _SCHEMA,
            "width": plot_width,
            "height": plot_height,
            "autosize": {"type": "none"},
            "padding": vars(self.margins),
            "config": {**_CONFIG, "locale": {"number": _number_locale()}},
            "layer": [*self._layers, self._word_layer()],
            "datasets": self._rows,
        }
        converter = _extra("vl_convert", "vl-convert-python")
        return rebuilt(converter.vegalite_to_svg(json.dumps(specification), allowed_base_urls=[]), prefix="c")

    @property
    def plot(self) -> tuple[float, float]:
        """Width and height inside the margins."""
        margins = self.margins
        return self.width - margins.left - margins.right, self.height - margins.top - margins.bottom

    def _add(
        self,
        kind: str,
        mark: dict[str, Any],
        rows: list[dict[str, Any]],
        *,
        pixels: bool = False,
        **channels: str,
    ) -> None:
        if rows:
            self._layers.append(self._layer(kind, mark, rows, pixels=pixels, **channels))

    def _layer(
        self, kind: str, mark: dict[str, Any], rows: list[dict[str, Any]], *, pixels: bool, **channels: str
    ) -> dict[str, Any]:
        """Return one layer as plain values, without the settings that the caller's altair may have.

        Rows are kept by name until the end: altair copies what is inside a chart.
        """
        alt = _extra("altair", "altair")
        name = f"rows-{len(self._rows)}"
        self._rows[name] = rows
        with alt.utils.schemapi.debug_mode(arg=False):  # our own layers: checking each costs a second a page
            chart = getattr(alt.Chart(alt.NamedData(name=name)), f"mark_{kind}")(**mark)
            places = {place: self._channel(alt, place, pixels=pixels) for place in _PLACES}
            layer: dict[str, Any] = chart.encode(**channels, **places).to_dict(
                validate=False, context={"top_level": False}
            )
        return layer

    def _word_layer(self) -> dict[str, Any]:
        """Return the words as one layer; how each looks is a value of its row."""
        look = {
            "align": "align",
            "fontSize": "size",
            "fontWeight": "weight",
            "fill": "fill",
            "stroke": "halo",
        }
        mark: dict[str, Any] = {"baseline": "alphabetic", "strokeWidth": 4, "aria": False}
        mark |= {part: {"expr": f"datum.{column}"} for part, column in look.items()}
        rows = [
            {
                **vars(word),
                "text": clean(word.text),
                "fill": colour(word.colour),
                "halo": colour("card") if word.halo else None,
            }
            for word in self._words
        ]
        return self._layer("text", mark, rows, pixels=True, text="text:N")

    def _channel(self, alt: Any, name: Literal["x", "y"], *, pixels: bool) -> Any:
        channel = alt.X if name == "x" else alt.Y
        scale = self.x if name == "x" else self.y
        if pixels or scale is None:
            return channel(f"{name}:Q", scale=None, axis=None)
        if isinstance(scale, Log):
            domain = alt.Scale(type="log", domain=list(scale.domain), nice=False)
            axis = alt.Axis(values=list(scale.ticks), labels=False, grid=False)
        else:
            domain = alt.Scale(domain=[scale.low, scale.high], nice=False, zero=False)
            axis = alt.Axis(
                values=list(scale.ticks),
                grid=self.grid == name,
                labels=True,
                format=f",.{scale.tick_digits}f",
                **({"domain": False, "ticks": False} if self.grid == "x" and name == "x" else {}),
            )
        return channel(f"{name}:Q", scale=domain, axis=axis)


def _number_locale() -> dict[str, Any]:
    """Return how the ticks of axes are written."""
    marks = {name: fixed_word(f"form.{name}") for name in ("decimal", "thousands")}
    return {**marks, "grouping": [3], "currency": ["", ""]}


def _rows_of(things: Iterable[Dot | Segment]) -> list[dict[str, Any]]:
    return [{**vars(thing), "tip": clean(thing.tip)} for thing in things]


def _extra(module: str, package: str) -> Any:
    """Return a module of the extra for reports, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, feature="A chart", extra="report") from None


# --- room for a label near its mark, where it hides the fewest other marks ------------------------------


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float

    def overlap(self, other: Box) -> float:
        """Return the area that both cover."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(across, 0.0) * max(down, 0.0)

    def pushed_into(self, width: float, height: float) -> Box:
        """Return the box moved into a plot of this size, as far as it fits."""
        left = min(max(self.left, 0.0), max(width - self.width, 0.0))
        return Box(left, min(max(self.top, 0.0), max(height - self.height, 0.0)), self.width, self.height)


def room_near(
    x: float, y: float, *, width: float, height: float, plot: tuple[float, float], taken: Sequence[Box]
) -> Box:
    """Return where a label of this size fits best near a mark.

    Nearer is better and free is much better. A label never leaves the plot.

    Parameters
    ----------
    x, y : float
        The mark, in pixels.
    width, height : float
        Of the label.
    plot : tuple of float
        Width and height of the plot.
    taken : sequence of Box
        What the label should not hide.
    """
    places = [
        (
            _beside(x, y, width, height, distance, math.radians(angle)).pushed_into(*plot),
            distance * 2.0 + rank,
        )
        for distance in _DISTANCES
        for rank, angle in enumerate(_ANGLES)
    ]
    return min(places, key=lambda place: sum(place[0].overlap(other) for other in taken) * 4 + place[1])[0]


def _beside(x: float, y: float, width: float, height: float, distance: float, angle: float) -> Box:
    """Return the box whose nearest edge is `distance` away in the direction of the angle."""
    across, down = math.cos(angle), -math.sin(angle)
    centre_x = x + across * distance + _lean(across) * width / 2
    centre_y = y + down * distance + _lean(down) * height / 2
    return Box(centre_x - width / 2, centre_y - height / 2, width, height)


def _lean(part: float) -> float:
    return 0.0 if abs(part) < 0.3 else math.copysign(1.0, part)


def box_around(stroke: Segment) -> Box:
    """Return what an upright or level line covers, with a little room."""
    left, top = min(stroke.x, stroke.x2), min(stroke.y, stroke.y2)
    return Box(left - 4, top - 4, abs(stroke.x2 - stroke.x) + 8, abs(stroke.y2 - stroke.y) + 8)


def leader_to(box: Box, x: float, y: float) -> list[Segment]:
    """Return a line from the rim of a mark to the box of its label; none if the box is beside it."""
    end_x = min(max(x, box.left), box.left + box.width)
    end_y = min(max(y, box.top), box.top + box.height)
    length = ((end_x - x) ** 2 + (end_y - y) ** 2) ** 0.5
    if length < 26:
        return []
    start = 10 / length
    return [Segment(x + (end_x - x) * start, y + (end_y - y) * start, end_x, end_y)]
