"""Rebuild SVG from a short list of what a static picture needs, and drop everything else.

A picture is our own output, yet it holds labels that came from data. It is parsed as XML and written anew
from elements, attributes and values on a list: no script, no style, no link, no reference to anything outside
the picture. Descriptions of marks become ``<title>``, which browsers show as a tooltip, and identifiers get a
prefix, so that several pictures can stand on one page.

This is written by hand because cleaners of HTML and SVG work the other way round: they take away what is
known to be dangerous and keep the rest, or know no SVG. Here only what is on the list is written at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape

from evenhand.errors import InvalidParameterError

_ELEMENTS = frozenset(
    {"svg", "g", "path", "line", "rect", "circle", "text", "tspan", "title", "defs", "clipPath"}
)
_DRAWN = frozenset({"path", "line", "rect", "circle", "text"})

_NUMBER = re.compile(r"-?[0-9.]+(?:e-?[0-9]+)?(?:px)?")
_NUMBERS = re.compile(r"[-0-9.,e ]+")
_COLOUR = re.compile(r"none|transparent|currentColor|#[0-9A-Fa-f]{3,8}|var\(--[a-z0-9-]+\)")
_OUTLINE = re.compile(r"[-+0-9.,eMmLlHhVvCcSsQqTtAaZz ]+")
_MOVES = re.compile(r"(?:(?:translate|scale|rotate)\([-0-9.,e ]+\) ?)+")
_OWN_CLIP = re.compile(r"url\(#([A-Za-z0-9_-]+)\)")
_LONG_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]{3,}(?:e-?[0-9]+)?")

_VALUES = {
    **dict.fromkeys(("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "width", "height"), _NUMBER),
    **dict.fromkeys(("stroke-width", "font-size", "font-weight", "opacity"), _NUMBER),
    **dict.fromkeys(("fill-opacity", "stroke-opacity", "stroke-miterlimit", "dx", "dy"), _NUMBER),
    **dict.fromkeys(("viewBox", "stroke-dasharray"), _NUMBERS),
    **dict.fromkeys(("fill", "stroke"), _COLOUR),
    "d": _OUTLINE,
    "transform": _MOVES,
    "text-anchor": re.compile(r"start|middle|end"),
    "stroke-linecap": re.compile(r"butt|round|square"),
    "stroke-linejoin": re.compile(r"miter|round|bevel"),
    "paint-order": re.compile(r"stroke"),
}
_USELESS = {("opacity", "1"), ("stroke-miterlimit", "10"), ("text-anchor", "start")}


@dataclass
class _Node:
    """An element as it is read: its name, what it may keep, and what it holds."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    parts: list[_Node | str] = field(default_factory=list)
    tip: str = ""


def rebuilt(text: str, *, prefix: str) -> str:
    """Return the pictures of `text`, one after the other, rebuilt as one string."""
    return "".join(rebuilt_each(text, prefix=prefix))


def rebuilt_each(text: str, *, prefix: str) -> tuple[str, ...]:
    """Return every picture of `text` on its own, rebuilt.

    Parameters
    ----------
    text : str
        One or more SVG elements.
    prefix : str
        What the identifiers inside start with.

    Raises
    ------
    InvalidParameterError
        If the text is not well-formed, such as by a document type of its own, or is not SVG.

    Examples
    --------
    >>> rebuilt_each('<svg onload="x()"><script>x()</script><rect width="5" fill="red"/></svg>', prefix="a")
    ('<svg><rect width="5"/></svg>',)
    """
    root = _read(text)
    pictures = [part for part in root.parts if isinstance(part, _Node) and part.name == "svg"]
    if not pictures:
        raise _unfit("text without a picture")
    names: dict[str, str] = {}
    return tuple(_written(_pruned(picture), names, prefix) for picture in pictures)


def _read(text: str) -> _Node:
    reader = _Reader()
    try:
        reader.parser.Parse(f"<g>{text}</g>".encode(), True)  # noqa: FBT003 - expat takes it by place
    except (expat.ExpatError, UnicodeEncodeError):
        raise _unfit("text that is not well-formed") from None
    return reader.root


class _Reader:
    """Builds the tree of what is on the list; what is not on it is dropped with all it holds."""

    def __init__(self) -> None:
        self.root = _Node("root")
        self._open = [self.root]
        self._dropped = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._letters

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) == 1 and self._open[0] is self.root and not self.root.name.endswith("!"):
            self.root.name = "root!"  # our own wrapper
            return
        if self._dropped or name not in _ELEMENTS or attributes.get("display") == "none":
            self._dropped += 1
            return
        node = _Node(name, _keep_safe_attributes(attributes, of=name))
        if name in _DRAWN and attributes.get("role") == "graphics-symbol":
            node.tip = attributes.get("aria-label", "")
        self._open[-1].parts.append(node)
        self._open.append(node)

    def _end(self, _name: str) -> None:
        if self._dropped:
            self._dropped -= 1
        elif len(self._open) > 1:
            self._open.pop()

    def _letters(self, letters: str) -> None:
        if not self._dropped and self._open[-1].name in {"text", "tspan", "title"}:
            self._open[-1].parts.append(letters)


def _keep_safe_attributes(attributes: dict[str, str], *, of: str) -> dict[str, str]:
    """Return the attributes that are on the list with a value that is on it too."""
    kept = {}
    for name, value in attributes.items():
        allowed = _VALUES.get(name)
        if allowed is not None and allowed.fullmatch(value) and (name, value) not in _USELESS:
            kept[name] = _LONG_DECIMAL.sub(_rounded, value).strip()
    if of == "clipPath" and re.fullmatch(r"[A-Za-z0-9_-]+", attributes.get("id", "")):
        kept["id"] = attributes["id"]
    clip = _OWN_CLIP.fullmatch(attributes.get("clip-path", ""))
    if clip:
        kept["clip-path"] = clip[1]
    if "stroke" not in kept:
        kept.pop("stroke-width", None)
    elif of == "text":  # a halo lies below the letters
        kept |= {"paint-order": "stroke", "stroke-linejoin": "round"}
    return kept


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found[0]), 2):g}" if abs(float(found[0])) < 1e4 else f"{float(found[0]):.0f}"


def _pruned(node: _Node) -> _Node:
    """Drop what draws nothing, and groups that only hold others."""
    parts: list[_Node | str] = []
    for part in node.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        inner = _pruned(part)
        if _blank(inner):
            continue
        if inner.name == "g" and not inner.attributes:
            parts.extend(inner.parts)
        else:
            parts.append(inner)
    return _Node(node.name, node.attributes, parts, node.tip)


def _blank(node: _Node) -> bool:
    if node.name in {"g", "defs", "text", "tspan"}:
        return not node.parts
    unpainted = {"fill", "stroke"}.isdisjoint(node.attributes)
    return node.name == "path" and (unpainted or "d" not in node.attributes)


def _written(node: _Node, names: dict[str, str], prefix: str) -> str:
    out = [f"<{node.name}"]
    for name, value in node.attributes.items():
        shown = value
        if name in {"id", "clip-path"}:
            own = names.setdefault(value, f"{prefix}-{len(names) + 1}")
            shown = own if name == "id" else f"url(#{own})"
        out.append(f' {name}="{shown}"')
    inside = [f"<title>{escape(node.tip)}</title>"] if node.tip else []
    inside += [
        escape(part) if isinstance(part, str) else _written(part, names, prefix) for part in node.parts
    ]
    out.append(f">{''.join(inside)}</{node.name}>" if inside else "/>")
    return "".join(out)


def _unfit(got: str) -> InvalidParameterError:
    return InvalidParameterError("text", owner="rebuilt", must_be="SVG made by a chart of evenhand", got=got)
