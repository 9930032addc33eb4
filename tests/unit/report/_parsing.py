"""Read a page as a browser would, with nothing but the standard library."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from evenhand.report.words import width_of

VOID = frozenset({"meta", "br", "img", "input", "link", "hr"})


class Parsed(HTMLParser):
    """Every element of a page with its attributes, its text, and whether all were closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.faults, self._open = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{name}> is never closed" for name in self._open]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        self.words.append(data)

    def handle_comment(self, data):
        self.faults.append("a comment")

    @property
    def kinds(self):
        """Every pair of element and attribute name, and every element."""
        pairs = {(tag, name) for tag, attributes in self.elements for name in attributes}
        return pairs | {(tag, None) for tag, _ in self.elements}

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@dataclass(frozen=True)
class WordBox:
    """A word of a picture and the pixels that it takes."""

    text: str
    left: float
    right: float
    top: float
    bottom: float

    def touches(self, other):
        return (
            min(self.right, other.right) - max(self.left, other.left) > 0.5
            and min(self.bottom, other.bottom) - max(self.top, other.top) > 0.5
        )


def word_boxes(svg):
    """Return the words of each panel with their boxes, and the width and height of the panel."""
    for panel in ET.fromstring(f"<all>{svg}</all>"):
        boxes = list(_boxes(panel, 0.0, 0.0))
        yield boxes, (float(panel.get("width")), float(panel.get("height")))


def _boxes(element, x, y):
    for across, down in re.findall(r"translate\(([-0-9.e]+)[ ,]+([-0-9.e]+)\)", element.get("transform", "")):
        x, y = x + float(across), y + float(down)
    tag = element.tag.rpartition("}")[2]
    text = "".join(element.itertext())
    if tag == "text" and text.strip():
        size = float(re.sub("[a-z]", "", element.get("font-size", "12")))
        wide = width_of(text, size, bold=element.get("font-weight", "400") in {"600", "700", "bold"})
        anchor = element.get("text-anchor", "start")
        left = x + float(element.get("x", 0)) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        line = y + float(element.get("y", 0))
        yield WordBox(text, left, left + wide, line - 0.72 * size, line + 0.15 * size)
        return
    for child in element:
        yield from _boxes(child, x, y)
