"""An answer in words and numbers, before it becomes a page, a terminal's 80 columns or JSON.

Every text here is as people read it, in one language; nothing is markup. A number that is drawn stands beside
the words that tell it, so that no drawer computes or words anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from evenhand.answer.case import Command, Promise, Warned
    from evenhand.answer.choice import Tag
    from evenhand.answer.harm import State
    from evenhand.answer.status import Effect
    from evenhand.report.page import Section

LineState = Literal["harm", "calm", "few"]
CurveRole = Literal["page", "recommended", "other"]
Scale = Literal["of 1,000", "people", "dollars", "percent", "of 100 releases"]


class Sentence(NamedTuple):
    """A sentence of at most 20 words, and what stands behind "Details"."""

    text: str
    details: tuple[str, ...] = ()


class Mark(NamedTuple):
    """A value of the main picture with its limits, all on the axis; NaN limits where there are none.

    `words` tell its change, such as "121 fewer hired"; `shown` is the value, `limits` are those of the
    change, as the table writes them.
    """

    value: float
    low: float
    high: float
    is_harm: bool
    words: str
    shown: str
    change: str
    limits: str


class Line(NamedTuple):
    """A row of the main picture: a group before (the upright bar), after (the dot), with the remedy.

    `state` is "few" where the group cannot be judged: it is drawn hollow and without numbers.
    """

    group: str
    label: str
    note: str
    due: float
    due_shown: str
    after: Mark
    remedy: Mark | None
    state: LineState


class Panel(NamedTuple):
    """One effect of the main picture: its groups, the most harmed first.

    `names` are those of bar, dot and diamond; the last is empty without a remedy. `matters` is the least
    amount that matters (0 where it differs between groups); `is_more_harm` is None where either way hurts.
    `rest` tells of the groups that are not drawn.
    """

    effect: str
    title: str
    unit: str
    scale: Scale
    names: tuple[str, str, str]
    lines: tuple[Line, ...]
    matters: float = 0.0
    is_more_harm: bool | None = None
    rest: str = ""
    currency: str = "$"


class RemedyLine(NamedTuple):
    """A row of "Which remedy?": what the worst-off still lack with it, and its price."""

    name: str
    tag: Tag | Literal["as planned"]
    tag_words: str
    left: str
    limits: str
    price: str


class CurveLine(NamedTuple):
    """What the worst-off lack at each epsilon; limits at the page's epsilon, NaN where there are none."""

    name: str
    role: CurveRole
    epsilons: tuple[float, ...]
    lacks: tuple[float, ...]
    low: float
    high: float


class Curve(NamedTuple):
    """The trade-off over epsilon; `chosen` is the page's epsilon."""

    title: str
    unit: str
    lines: tuple[CurveLine, ...]
    chosen: float
    matters: float
    matters_words: str
    alt: str


@dataclass(frozen=True)
class View:
    """One page.

    Parameters
    ----------
    language, kind, question, meta : str
    state : {"stop", "pays", "nobody", "unsure"}
    verdict : str
    who, how_much, what_to_do : Sentence
    warnings : tuple of Warned
        The most important first.
    heading : str
        The finding above the main picture.
    panels : tuple of Panel
        Two at most: the headline effect, then the one that explains or pays for it.
    caption : str
        What the bars are.
    choice_heading, epsilon_heading, remedy_heading : str
        Empty where there is nothing to choose from.
    curve : Curve or None
    remedies : tuple of RemedyLine
        The page's option first.
    remedy_caption : str
    commands : tuple of Command
    promise : Promise or None
    evidence : tuple of Section
    method, limits, sources : tuple of str
    rows : tuple of Effect
        The rows behind every word: those of ``effects.csv``.
    page, recommended : str
        Names of the option that the page is about, and of the recommended one; empty if none is.
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
    panels: tuple[Panel, ...]
    caption: str
    choice_heading: str
    epsilon_heading: str
    remedy_heading: str
    curve: Curve | None
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
