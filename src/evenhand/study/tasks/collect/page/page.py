"""From results to a page: the question, the answers, and a finding for each part of the evidence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber, Note, Page
from evenhand.report.words import epsilon_of
from evenhand.study.page.guarantee import guarantee_section, odds_factor, protected_columns
from evenhand.study.page.method import is_warning, limits, method, sources, study_line
from evenhand.study.page.wording import change, listed, plain, points
from evenhand.study.tasks.collect.page.accuracy import accuracy_answer, missing_words
from evenhand.study.tasks.collect.page.choice import choice_answer
from evenhand.study.tasks.collect.page.data import data_section
from evenhand.study.tasks.collect.page.frontier import frontier_section
from evenhand.study.tasks.collect.page.gap import gap_answer
from evenhand.study.tasks.collect.page.groups import groups_section
from evenhand.study.tasks.collect.page.measures import measures_section
from evenhand.study.tasks.collect.page.protocols import protocols_section
from evenhand.study.tasks.collect.page.reading import ACCURACY, GAP, read
from evenhand.study.tasks.collect.page.table import table_section

if TYPE_CHECKING:
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["collect_answers", "collect_page"]

_LARGE_EPSILON = 10
_MOST_COLOURS = 5


def collect_answers(results: Results, *, chosen: object = None) -> tuple[str, str, str]:
    """Return the three sentences: what protection costs, what happens to the gap, and what to choose.

    Each number is computed from the results and each comparative word rests on an interval: where it leaves
    room for no difference, the sentence is another one. Which setting the sentences are about, and how rivals
    are compared, stands in :mod:`evenhand.study.tasks.collect.page.reading`.
    """
    reading = read(results, chosen=chosen)
    return accuracy_answer(reading), gap_answer(reading), choice_answer(reading)


def collect_page(results: Results, *, chosen: object = None, command: str = "") -> Page:
    """Return the report of a collection as a page."""
    reading = read(results, chosen=chosen)
    found = (
        guarantee_section(reading),
        frontier_section(reading),
        measures_section(reading),
        groups_section(reading),
        protocols_section(reading),
        data_section(reading),
        table_section(reading),
    )
    return Page(
        question=question(reading),
        answers=(accuracy_answer(reading), gap_answer(reading), choice_answer(reading)),
        kicker="Collect under local privacy, then train",
        meta=study_line(results),
        numbers=key_numbers(reading),
        notes=tuple(notes(reading)),
        sections=tuple(
            replace(section, heading=_unbroken(section.heading)) for section in found if section is not None
        ),
        method=method(reading),
        limits=limits(reading),
        sources=sources(reading),
        command=command,
    )


def question(reading: Reading) -> str:
    """Return the question that the page answers."""
    columns = listed([plain(each) for each in protected_columns(reading)], most=5, rest="other columns")
    target = plain(reading.results.facts.schema.target)
    return f"If people randomise {columns} before we train a model of {target}, who pays?"


def key_numbers(reading: Reading) -> tuple[KeyNumber, ...]:
    """Return the four numbers of the head: accuracy, gap, and how often the two groups are selected."""
    coloured = len(reading.groups) <= _MOST_COLOURS
    numbers = [
        _number("Accuracy, %", *reading.pair(ACCURACY), reading.change(ACCURACY)),
        _number("Selection gap, points", *reading.pair(GAP), reading.change(GAP)),
    ]
    for group in sorted((reading.low, reading.high), key=reading.groups.index):
        before, after = reading.rate_pair(group, "selection")
        place = reading.groups.index(group) if coloured else None
        label = f"{reading.named(group)} selected, %"
        numbers.append(_number(label, before, after, reading.moved(group, "selection"), group=place))
    return tuple(numbers)


def _number(
    label: str, before: Estimated, after: Estimated, moved: Estimated, group: int | None = None
) -> KeyNumber:
    detail = change(moved)
    if math.isfinite(moved.value) and not moved.has_interval:
        detail = f"{detail}, no interval"
    return KeyNumber(label, points(after.value), points(before.value), detail, group)


def notes(reading: Reading) -> list[Note]:
    """Return what stands above everything: that the page is not private, then what could be misjudged."""
    results = reading.results
    said = [
        Note(
            "warn",
            "**Not private, not for publication.** This page is computed from the true data of the people "
            "in it. It helps to choose a protection; nothing protects the page itself.",
        )
    ]
    said += [Note("warn", plain(note, longest=900)) for note in results.facts.notes if is_warning(note)]
    largest = max(
        (float(each.epsilon) for each in reading.protected if each.epsilon is not None), default=0.0
    )
    if largest > _LARGE_EPSILON:
        said.append(
            Note(
                "warn",
                f"**ε above {_LARGE_EPSILON} is for comparison only.** ε = {epsilon_of(largest)} was "
                f"tested; it lets one report change the odds by a factor of {odds_factor(largest)}, which "
                "is hardly a promise.",
            )
        )
    missing = missing_words(reading)
    if missing:
        kinds = sorted({each.failure.kind for each in results.failures if each.failure is not None})
        why = f" Kinds of error: {listed([plain(kind) for kind in kinds])}." if kinds else ""
        said.append(Note("bad", f"**{missing.partition(',')[0]}.** They are missing from every number.{why}"))
    if results.plan.repeats == 1:
        said.append(
            Note(
                "warn",
                "**A single repeat has no intervals.** Nothing on this page can be told from chance; "
                "repeat the study, ten times or more, before using it.",
            )
        )
    return said


def _unbroken(heading: str) -> str:
    """Return a heading in which no line ends inside ``ε = 1`` or ``k-based``."""
    return heading.replace("ε = ", "ε\u00a0=\u00a0").replace("k-based", "k\u2011based")
