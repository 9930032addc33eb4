"""From the results of a release to a page: the question, the answers, and a finding for each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber, Note, Page
from evenhand.report.words import epsilon_of, number
from evenhand.study.page.method import is_warning, sources_of, study_line
from evenhand.study.page.wording import change, listed, plain, points
from evenhand.study.tasks.release.answers import error_answer, lost_answer, promise_answer
from evenhand.study.tasks.release.page.errors import alpha_section, sizes_section
from evenhand.study.tasks.release.page.groups import accuracy_section, groups_section
from evenhand.study.tasks.release.page.method import release_limits, release_method
from evenhand.study.tasks.release.page.tables import numbers_section, promise_section
from evenhand.study.tasks.release.reading import TRUE_TABLE, read_release
from evenhand.study.tasks.release.wording import delta_text, digits_of, promise, share_text

if TYPE_CHECKING:
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.release.reading import ReleaseReading

__all__ = ["release_page"]

_LARGE_EPSILON = 10
_MOST_COLOURS = 5


def release_page(results: Results, *, chosen: object = None, command: str = "") -> Page:
    """Return the report of a study of releases as a page.

    Parameters
    ----------
    results : Results
        Of a plan whose task is a release.
    chosen : Setting, mapping or str, optional
        The setting that the page is about, as in :meth:`Results.setting`; by default the one that a rule
        finds (:mod:`evenhand.study.tasks.release.reading`).
    command : str
        What makes the page again.

    Returns
    -------
    Page
    """
    reading = read_release(results, chosen=chosen)
    sections = (
        promise_section(reading),
        sizes_section(reading),
        alpha_section(reading),
        groups_section(reading),
        accuracy_section(reading),
        numbers_section(reading),
    )
    return Page(
        question=question(reading),
        answers=(lost_answer(reading), error_answer(reading), promise_answer(reading)),
        kicker="Publish a table of counts",
        meta=study_line(results),
        numbers=key_numbers(reading),
        notes=tuple(notes(reading)),
        sections=tuple(each for each in sections if each is not None),
        method=release_method(reading),
        limits=release_limits(reading),
        sources=sources_of(results),
        command=command,
    )


def question(reading: ReleaseReading) -> str:
    """Return the question that the page answers."""
    columns = [plain(each) for each in reading.results.facts.schema.names]
    shown = " × ".join(columns) if len(columns) <= 4 else listed(columns, most=5, rest="other columns")
    return f"If we publish a protected table of {shown}, who loses people?"


def key_numbers(reading: ReleaseReading) -> tuple[KeyNumber, ...]:
    """Return the four numbers of the head: delta, error, the model's accuracy, and who is lost most."""
    delta, error = reading.delta(reading.chosen), reading.cell_error()
    numbers = [
        KeyNumber("δ, chance that the promise fails", delta_text(delta), detail=_promised(reading)),
        KeyNumber(
            "Error of a cell, people",
            number(error.value, digits_of(error.value)),
            "0",
            _between(error.low, error.high),
        ),
    ]
    if reading.classifies:
        before, after = reading.value("acc", TRUE_TABLE), reading.value("acc")
        moved = change(reading.change("acc"))
        numbers.append(KeyNumber("Accuracy, %", points(after.value), points(before.value), moved))
    found = {group: reading.lost(group) for group in reading.groups}
    known = [group for group in reading.groups if math.isfinite(found[group].value)]
    order = sorted(known, key=lambda group: -abs(found[group].value))
    for group in sorted(order[: 4 - len(numbers)], key=reading.groups.index):
        place = reading.groups.index(group) if len(reading.groups) <= _MOST_COLOURS else None
        value, _, interval = share_text(found[group]).partition(" ")
        label = f"{reading.named(group)}, people published"
        numbers.append(KeyNumber(label, value, "", interval, place))
    return tuple(numbers)


def _promised(reading: ReleaseReading) -> str:
    said = promise(reading.delta(reading.chosen), people=reading.people)
    epsilon = reading.chosen.epsilon
    return said if epsilon is None else f"{said}, at ε = {epsilon_of(epsilon)}"


def _between(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "no interval"
    digits = digits_of(high)
    return f"({number(low, digits)} to {number(high, digits)})"


def notes(reading: ReleaseReading) -> list[Note]:
    """Return what stands above everything: that the page is not private, then what could be misjudged."""
    results = reading.results
    said = [
        Note(
            "warn",
            "**Computed from the true data, not for publication.** It compares published tables with the "
            "true one and helps to choose a mechanism; nothing protects the page itself.",
        )
    ]
    said += [Note("warn", plain(note, longest=900)) for note in results.facts.notes if is_warning(note)]
    largest = max((float(each.epsilon) for each in reading.protected if each.epsilon), default=0.0)
    if largest > _LARGE_EPSILON:
        text = f"**ε above {_LARGE_EPSILON} is for comparison only.** ε = {epsilon_of(largest)} was tested."
        said.append(Note("warn", text))
    if results.failures or results.missing:
        kinds = sorted({each.failure.kind for each in results.failures if each.failure is not None})
        why = f" Kinds of error: {listed([plain(kind) for kind in kinds])}." if kinds else ""
        counts = f"{len(results.failures):,} failed, {len(results.missing):,} not run"
        said.append(Note("bad", f"**Cells are missing: {counts}.** They are in no number.{why}"))
    if results.plan.repeats == 1:
        said.append(
            Note(
                "warn",
                "**A single repeat has no intervals.** What is drawn cannot be told from chance; repeat the "
                "study, ten times or more, before using it.",
            )
        )
    return said
