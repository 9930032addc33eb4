"""From the results of a study of classifiers to a page: question, answers, and a finding for each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber, Note, Page
from evenhand.report.words import epsilon_of
from evenhand.study.page.method import is_warning, sources_of, study_line
from evenhand.study.page.wording import change, listed, outcome_name, plain, points
from evenhand.study.tasks.learn.answers import choice_answer, cost_answer, gap_answer
from evenhand.study.tasks.learn.page.groups import groups_section
from evenhand.study.tasks.learn.page.method import (
    learning_limits,
    learning_method,
    numbers_section,
    promise_section,
)
from evenhand.study.tasks.learn.page.tradeoff import epsilon_section, tradeoff_section
from evenhand.study.tasks.learn.reading import ACCURACY, GAP, PLAIN_SETTING, read_learning
from evenhand.study.tasks.release.wording import delta_text

if TYPE_CHECKING:
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["learning_page"]

_LARGE_EPSILON = 10


def learning_page(results: Results, *, chosen: object = None, command: str = "") -> Page:
    """Return the report of a study of classifiers as a page.

    Parameters
    ----------
    results : Results
        Of a plan whose task is to learn.
    chosen : Setting, mapping or str, optional
        The setting that the page is about, as in :meth:`Results.setting`; by default the one that a rule
        finds (:mod:`evenhand.study.tasks.learn.reading`).
    command : str
        What makes the page again.

    Returns
    -------
    Page
    """
    reading = read_learning(results, chosen=chosen)
    sections = (
        promise_section(reading),
        tradeoff_section(reading),
        epsilon_section(reading),
        groups_section(reading),
        numbers_section(reading),
    )
    return Page(
        question=question(reading),
        answers=(cost_answer(reading), gap_answer(reading), choice_answer(reading)),
        kicker="Train a classifier with privacy and parity",
        meta=study_line(results),
        numbers=key_numbers(reading),
        notes=tuple(notes(reading)),
        sections=tuple(each for each in sections if each is not None),
        method=learning_method(reading),
        limits=learning_limits(reading),
        sources=sources_of(results),
        command=command,
    )


def question(reading: LearnReading) -> str:
    """Return the question that the page answers."""
    schema = reading.results.facts.schema
    return (
        f"If a classifier of {outcome_name(schema)} is trained with privacy, what becomes of accuracy and of "
        f"the gap by {plain(schema.protected)}?"
    )


def key_numbers(reading: LearnReading) -> tuple[KeyNumber, ...]:
    """Return the four numbers of the head: promise, accuracy, gap, and the gap of equal rates."""
    numbers = [KeyNumber("Promised to one person", *_promise(reading))]
    for label, measure in (("Accuracy, %", ACCURACY), ("Selection gap, points", GAP)):
        after = points(reading.value(measure).value)
        if not reading.chosen.is_protected:
            numbers.append(KeyNumber(label, after))
            continue
        moved = reading.change(measure)
        detail = change(moved)
        if math.isfinite(moved.value) and not moved.has_interval:
            detail = f"{detail}, no interval"
        before = points(reading.value(measure, PLAIN_SETTING).value)
        numbers.append(KeyNumber(label, after, before, detail))
    bound, given = reading.bound("bound"), math.isfinite(reading.value("bound").value)
    detail = "no useful bound on the gap" if given else "no bound on the gap"
    detail = f"bound on the mean gap {points(bound)}" if math.isfinite(bound) else detail
    numbers.append(
        KeyNumber("Gap of equal rates, points", points(reading.value("fair_gap").value), "", detail)
    )
    return tuple(numbers)


def _promise(reading: LearnReading) -> tuple[str, str, str]:
    if not reading.is_private(reading.chosen):
        return "nothing", "", reading.way().title
    epsilon, delta = reading.worst("claimed_epsilon"), reading.worst("delta")
    if reading.way().base == "local":
        return f"ε = {epsilon_of(epsilon)}", "", f"for one report, {reading.way().title}"
    return f"ε = {epsilon_of(epsilon)}", "", f"δ = {delta_text(delta)}, {reading.way().title}"


def notes(reading: LearnReading) -> list[Note]:
    """Return what stands above everything: that the page is not private, then what could be misjudged."""
    results = reading.results
    said = [
        Note(
            "warn",
            "**Not private, not for publication.** This page is computed from the true data of the people "
            "in it. It helps to choose how to train; nothing protects the page itself.",
        )
    ]
    said += [Note("warn", plain(note, longest=900)) for note in results.facts.notes if is_warning(note)]
    largest = max((float(each.epsilon) for each in reading.others if each.epsilon is not None), default=0.0)
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
                "**A single repeat has no intervals.** Nothing on this page can be told from chance; repeat "
                "the study, five times or more, before using it.",
            )
        )
    return said
