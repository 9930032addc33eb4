"""A picture drawn by pixel: lines, marks and words as SVG, rebuilt from the list of what may stand.

It needs no other package and takes a millisecond. Charts whose marks follow a scale of altair use
:mod:`evenhand.report.drawing`.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Literal, NamedTuple

from evenhand.report.svg import rebuilt
from evenhand.report.theme import colour
from evenhand.report.words import clean, shortened, wrap_words

if TYPE_CHECKING:
    from collections.abc import Sequence

Anchor = Literal["start", "middle", "end"]


class Letters(NamedTuple):
    """How a word looks: the token of its colour, its size, and whether it is bold."""

    fill: str = "ink3"
    size: float = 12
    is_bold: bool = False


SMALL = Letters()


def fit_lines(text: str, width: float, letters: Letters) -> list[str]:
    """Return text in one or two lines of at most `width` pixels; what is left of it is an ellipsis.

    >>> fit_lines("a very long name of a group of people", 80, Letters())
    ['a very long', 'name of a gr…']
    """
    first, *rest = wrap_words(text, width, letters.size, bold=letters.is_bold)
    return [first, shortened(" ".join(rest), width, letters.size, bold=letters.is_bold)] if rest else [first]


class Sketch:
    """A picture of a fixed size.

    Parameters
    ----------
    width, height : float
        In pixels.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []

    def line(
        self, *points: tuple[float, float], stroke: str, width: float = 1.0, dash: Sequence[float] = ()
    ) -> None:
        """Draw a line through points."""
        outline = "L".join(f"{x:.2f} {y:.2f}" for x, y in points)
        dashes = f' stroke-dasharray="{" ".join(map(str, dash))}"' if dash else ""
        self._parts.append(
            f'<path d="M{outline}" fill="none" stroke="{colour(stroke)}" stroke-width="{width:g}"'
            f' stroke-linejoin="round"{dashes}/>'
        )

    def block(self, left: float, top: float, right: float, bottom: float, *, fill: str) -> None:
        """Draw a pale rectangle."""
        self._parts.append(
            f'<rect x="{left:.2f}" y="{top:.2f}" width="{max(right - left, 0):.2f}"'
            f' height="{max(bottom - top, 0):.2f}" rx="2" fill="{colour(fill)}" opacity="0.12"/>'
        )

    def mark(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        shape: Literal["circle", "diamond"] = "circle",
        fill: str,
        stroke: str = "card",
        width: float = 1.5,
        tip: str = "",
    ) -> None:
        """Draw a dot or a diamond, which says `tip` when one rests on it."""
        look = f'fill="{colour(fill) if fill else "none"}" stroke="{colour(stroke)}" stroke-width="{width:g}"'
        if shape == "circle":
            name, place = "circle", f'cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}"'
        else:
            corners = ((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))
            name, place = "path", f'd="M{"L".join(f"{a:.2f} {b:.2f}" for a, b in corners)}Z"'
        title = f"<title>{escape(clean(tip))}</title>" if tip else ""
        self._parts.append(f"<{name} {place} {look}>{title}</{name}>")

    def word(
        self,
        x: float,
        y: float,
        text: str,
        letters: Letters = SMALL,
        *,
        anchor: Anchor = "start",
        halo: bool = False,
    ) -> None:
        """Write text; a halo in the colour of the card keeps it legible over lines."""
        if not text:
            return
        look = f'fill="{colour(letters.fill)}" font-size="{letters.size:g}px"'
        if letters.is_bold:
            look += ' font-weight="600"'
        if halo:
            look += f' stroke="{colour("card")}" stroke-width="4"'
        self._parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" {look}>{escape(clean(text))}</text>'
        )

    def svg(self) -> str:
        """Return the picture as static SVG."""
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        return rebuilt(f"<svg {size}>{''.join(self._parts)}</svg>", prefix="c")
