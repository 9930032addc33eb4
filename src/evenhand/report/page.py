"""What a page is made of, before it becomes HTML: plain text, numbers and charts.

Everything here is text as people read it. Nothing is markup: the template escapes all of it. ``**bold**`` in
a sentence becomes bold, and nothing else is special.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self

from evenhand._notebook import figures_html

Columns = Mapping[str, Sequence[Any]]
"""A table as named columns of one length."""


class Answer(str):  # noqa: SLOT000 - it has attributes
    """One of the three sentences at the head: the finding in bold, then its evidence.

    Parameters
    ----------
    finding : str
        What was found, with its full stop.
    evidence : str
        Intervals, baselines, how many people.

    Examples
    --------
    >>> Answer("Nobody clearly pays.", "The largest change is 0.3 points.")
    '**Nobody clearly pays.** The largest change is 0.3 points.'
    """

    finding: str
    evidence: str

    def __new__(cls, finding: str, evidence: str = "") -> Self:
        """Return the sentence, which is text as well."""
        text = super().__new__(cls, f"**{finding}** {evidence}".rstrip())
        text.finding, text.evidence = finding, evidence
        return text

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override] # text has one
        """Return what a pickle makes the sentence from again."""
        return self.finding, self.evidence


@dataclass(frozen=True)
class KeyNumber:
    """A number of the head of a page, and what belongs to it.

    Parameters
    ----------
    label : str
    value : str
        As shown, such as ``"80.6"``.
    detail : str
        A few words below it, such as its interval.
    """

    label: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Note:
    """A sentence that stands out.

    Parameters
    ----------
    tone : {"ok", "warn", "bad", "plain"}
    text : str
    """

    tone: Literal["ok", "warn", "bad", "plain"]
    text: str


@dataclass(frozen=True)
class Fact:
    """A term and what holds for it, as in the list of a guarantee or a method."""

    term: str
    text: str


@dataclass(frozen=True)
class Table:
    """Rows of text cells.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
        As shown; a cell may be two lines, value and interval, divided by a line feed.
    numeric : sequence of bool
        Which columns are right-aligned.
    caption : str
    sunk, chosen : int, optional
        Rows that are set apart: the baseline and the setting that the page is about.
    fold : int, optional
        Rows from this one on are behind "show all".
    tags : mapping of (int, int) to str
        Cells, by row and column, that are set as a tag: ``"ok"``, ``"warn"`` or ``"bad"``; or as a number
        that is a ``"harm"``.
    name : str
        Stem of the name under which its numbers are saved, if there are any.
    data : columns
        What the CSV holds.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]
    caption: str = ""
    sunk: int | None = None
    chosen: int | None = None
    fold: int | None = None
    name: str = ""
    data: Columns = field(default_factory=dict)
    tags: Mapping[tuple[int, int], Literal["ok", "warn", "bad", "harm"]] = field(default_factory=dict)


@dataclass(frozen=True)
class LegendKey:
    """An entry above a chart: a sample of the mark, and what it stands for.

    Parameters
    ----------
    label : str
    mark : str
        A shape of :data:`evenhand.report.theme.SHAPES`, ``"line"``, ``"dashed"``, ``"band"``,
        ``"upright"`` or ``"none"`` for words alone.
    colour : str
        A token of :data:`evenhand.report.theme.LIGHT`.
    hollow : bool
        Whether the shape is only an outline.
    """

    label: str
    mark: str = "none"
    colour: str = "ink"
    hollow: bool = False


@dataclass(frozen=True)
class Chart:
    """A picture with what it shows in words and in numbers.

    Parameters
    ----------
    name : str
        Stem of the name under which its numbers are saved as CSV.
    wide, narrow : str
        SVG for the desk and for the phone, made by :mod:`evenhand.report.charts`; one after the other, if
        there are several panels.
    alt : str
        A sentence with the finding and its numbers.
    caption : str
        What the bars are, the setting, the unit, what is cut and what is missing.
    data : columns
        What the CSV holds.
    legend : sequence of LegendKey
    rows : sequence of str
        What each row of panels is, if there are several rows.
    columns : int
        How many panels stand side by side at the desk.
    """

    name: str
    wide: str
    narrow: str
    alt: str
    caption: str
    data: Columns
    legend: Sequence[LegendKey] = ()
    rows: Sequence[str] = ()
    columns: int = 1


class LateCharts(Sequence[Chart]):
    """Charts that are drawn once a page needs them; drawing takes longer than all else of an answer.

    Parameters
    ----------
    draw : callable
        Returns the charts; it is called once at most.
    """

    def __init__(self, draw: Callable[[], Sequence[Chart]]) -> None:
        self._draw = draw

    @cached_property
    def _drawn(self) -> tuple[Chart, ...]:
        return tuple(self._draw())

    def __getitem__(self, place: Any) -> Any:
        return self._drawn[place]

    def __len__(self) -> int:
        return len(self._drawn)


@dataclass(frozen=True)
class Section:
    """A finding with its evidence.

    Parameters
    ----------
    heading : str
        The finding, as a sentence without a full stop.
    lead : str
        One or two sentences below it.
    charts, tables, notes, facts
        The evidence, in this order.
    anchor : str
        The place in the page's address.
    """

    heading: str
    lead: str = ""
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[Note] = ()
    facts: Sequence[Fact] = ()
    anchor: str = ""


@dataclass(frozen=True)
class Said:
    """One of the three sentences of an answer: what it tells ("Who"), and what stands behind "Details"."""

    label: str
    text: str
    details: Sequence[str] = ()


@dataclass(frozen=True)
class CopiedCommand:
    """A command to copy: what it does, what it takes, and the line itself."""

    label: str
    note: str
    line: str


@dataclass(frozen=True)
class Head:
    """An answer: its verdict, its three sentences, the main picture and what there is to choose from.

    Parameters
    ----------
    state : {"stop", "pays", "nobody", "unsure"}
        The colour of the verdict.
    verdict : str
    said : sequence of Said
    warnings : sequence of (str, str)
        A few words and a sentence each, the most important first; all but that are folded.
    picture : Section, optional
        The finding, its panels and the same numbers; from the second table on they are folded.
    choice : Section, optional
        The curve over epsilon and the table of remedies, side by side; its lead stands below the table.
    epsilon_heading, remedy_heading : str
        What the curve and the table answer.
    promise : Section, optional
        Its facts, the technical statement, are folded.
    commands : sequence of CopiedCommand
    """

    state: Literal["stop", "pays", "nobody", "unsure"]
    verdict: str
    said: Sequence[Said] = ()
    warnings: Sequence[tuple[str, str]] = ()
    picture: Section | None = None
    choice: Section | None = None
    epsilon_heading: str = ""
    remedy_heading: str = ""
    promise: Section | None = None
    commands: Sequence[CopiedCommand] = ()


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    question : str
        The title.
    answers : sequence of Answer or str
        Three sentences.
    kicker : str
        A few words above the question, such as "Collect under local privacy, then train".
    meta : str
        A few words in the corner, such as how many cells there are.
    numbers : sequence of KeyNumber
    notes : sequence of Note
        Above everything: that the page is not private comes first.
    sections : sequence of Section
    method, limits, sources : sequence of str
        The foot of the page.
    command : str
        The command that makes this page again.
    language : str
        In which its fixed words are written; the rest is text already.
    head : Head, optional
        An answer, in place of `answers`, `numbers` and commands; sections are then folded.
    """

    question: str
    answers: Sequence[str] = ()
    kicker: str = ""
    meta: str = ""
    numbers: Sequence[KeyNumber] = ()
    notes: Sequence[Note] = ()
    sections: Sequence[Section] = ()
    method: Sequence[str] = ()
    limits: Sequence[str] = ()
    sources: Sequence[str] = ()
    command: str = ""
    language: str = "en"
    head: Head | None = None

    def _repr_html_(self) -> str:
        """Return the question, its three answers and the key numbers, for a notebook."""
        if self.head:
            three = [(said.label, said.text) for said in self.head.said]
            return figures_html(f"{self.question} {self.head.verdict}", three)
        said = [
            (answer.finding, answer.evidence) if isinstance(answer, Answer) else ("", answer)
            for answer in self.answers
        ]
        numbers = [(number.label, f"{number.value} {number.detail}".strip()) for number in self.numbers]
        return figures_html(self.question, [*said, *numbers])
