"""An answer in words and numbers, before it becomes a page, a terminal's 80 columns or JSON.

Every text here is as people read it, in one language; nothing is markup. A number that is drawn stands beside
the words that tell it, so that no drawer computes or words anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evenhand.answer.status import EFFECT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.answer.case import Command, Promise, Warned
    from evenhand.answer.choice import Tag
    from evenhand.answer.harm import State
    from evenhand.answer.status import Effect
    from evenhand.report.marks import EffectPanel, LackCurve
    from evenhand.report.page import Section


class Sentence(NamedTuple):
    """A sentence of at most 20 words, and what stands behind "Details"."""

    text: str
    details: tuple[str, ...] = ()


class RemedyLine(NamedTuple):
    """A row of "Which remedy?": what the worst-off still lack with it, and its price."""

    name: str
    tag: Tag | Literal["as planned"]
    tag_words: str
    left: str
    limits: str
    price: str


@dataclass(frozen=True)
class View:
    """One page.

    `state` is how sure the verdict is; `heading` is the finding above the main picture, `caption` what its
    bars are. There are two panels at most: the headline effect, then the one that explains or pays for it.
    The most important warning and the page's own option come first. What is empty is left out of the page,
    such as the headings where there is nothing to choose from. `rows` are those behind every word, of
    ``effects.csv``; `page` and `recommended` are names of options. `settling` are options
    of a command to type besides, by which the third sentence is done.
    """

    language: str
    kind: str
    question: str
    meta: str
    state: State
    verdict: str
    who: Sentence
    how_much: Sentence
    what_to_do: Sentence
    warnings: tuple[Warned, ...]
    heading: str
    panels: tuple[EffectPanel, ...]
    caption: str
    choice_heading: str
    epsilon_heading: str
    remedy_heading: str
    curve: LackCurve | None
    remedies: tuple[RemedyLine, ...]
    remedy_caption: str
    commands: tuple[Command, ...]
    promise: Promise | None
    evidence: tuple[Section, ...]
    method: tuple[str, ...]
    limits: tuple[str, ...]
    sources: tuple[str, ...]
    rows: tuple[Effect, ...]
    page: str
    recommended: str
    settling: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> dict[str, Sentence]:
        """The three sentences by what they answer."""
        return {"who": self.who, "how_much": self.how_much, "what_to_do": self.what_to_do}


def to_json(view: View) -> dict[str, Any]:
    """Return an answer in JSON's types; a number that is not defined is None."""
    of_view = (
        "language", "kind", "question", "state", "verdict", "warnings", "heading", "panels", "remedies",
        "curve", "page", "recommended", "commands",
    )  # fmt: skip
    answer = {name: getattr(view, name) for name in of_view} | {
        "sentences": view.sentences,
        "promise": view.promise and view.promise.text,
        "effects": [{name: getattr(row, name) for name in EFFECT_COLUMNS} for row in view.rows],
    }
    return {name: _plain(value) for name, value in answer.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, str | bool | int | None):
        return value
    return float(value) if math.isfinite(value) else None
