"""From the results of decisions to a page: the question, the answers, and a finding for each part."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber, Note, Page
from evenhand.report.words import epsilon_of
from evenhand.study.page.method import is_warning, sources_of, study_line
from evenhand.study.page.wording import listed, plain
from evenhand.study.tasks.decide.answers import helps_answer, sides, who_answer, who_pays_answer
from evenhand.study.tasks.decide.page.entities import (
    classes_section,
    entities_section,
    flips_section,
    sizes_section,
)
from evenhand.study.tasks.decide.page.groups import groups_section
from evenhand.study.tasks.decide.page.method import (
    decision_limits,
    decision_method,
    numbers_section,
    promise_section,
)
from evenhand.study.tasks.decide.page.methods import cost_section, ways_section
from evenhand.study.tasks.decide.reading import read_decision
from evenhand.study.tasks.decide.wording import chance_text, few_text, setting_words

if TYPE_CHECKING:
    from evenhand.report.page import Section
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.decide.reading import DecideReading, Entity

__all__ = ["decision_page"]

_LARGE_EPSILON = 10
_MOST_LETTERS = 90


def decision_page(results: Results, *, chosen: object = None, command: str = "") -> Page:
    """Return the report of a study of decisions as a page.

    Parameters
    ----------
    results : Results
        Of a plan whose task is a decision.
    chosen : Setting, mapping or str, optional
        The setting that the page is about, as in :meth:`Results.setting`; by default the one that a rule
        finds (:mod:`evenhand.study.tasks.decide.reading`).
    command : str
        What makes the page again.

    Returns
    -------
    Page
    """
    reading = read_decision(results, chosen=chosen)
    evidence: tuple[Section | None, ...]
    if reading.is_rule:
        evidence = (flips_section(reading), groups_section(reading))
    else:
        evidence = (classes_section(reading), sizes_section(reading), groups_section(reading))
    sections = (
        promise_section(reading),
        *evidence,
        entities_section(reading),
        ways_section(reading),
        cost_section(reading),
        numbers_section(reading),
    )
    return Page(
        question=question(reading),
        answers=(who_answer(reading), who_pays_answer(reading), helps_answer(reading)),
        kicker="Decide from protected counts",
        meta=study_line(results),
        numbers=key_numbers(reading),
        notes=tuple(notes(reading)),
        sections=tuple(
            replace(each, heading=each.heading.replace("ε = ", "ε\u00a0=\u00a0"))
            for each in sections
            if each is not None
        ),
        method=decision_method(reading),
        limits=decision_limits(reading),
        sources=sources_of(results),
        command=command,
    )


def question(reading: DecideReading) -> str:
    """Return the question that the page answers."""
    task, noun = reading.task, reading.noun
    if task.is_rule:
        rule = plain(task.rule, longest=_MOST_LETTERS)
        return f"If {noun.many} have a right by protected counts ({rule}), who loses it?"
    money = reading.amounts.text(reading.money) if task.budget is not None else "money"
    return f"If {money} is shared out by protected counts of {plain(task.count)}, who gains and who loses?"


def key_numbers(reading: DecideReading) -> tuple[KeyNumber, ...]:
    """Return the four numbers of the head."""
    return _rule_numbers(reading) if reading.is_rule else _money_numbers(reading)


def _money_numbers(reading: DecideReading) -> tuple[KeyNumber, ...]:
    amounts = reading.amounts
    gains, losses = sides(reading)

    def extreme(label: str, found: list[Entity]) -> KeyNumber:
        if not found:
            return KeyNumber(label, "none")
        each = max(found, key=lambda entity: abs(entity["bias"]))
        return KeyNumber(label, amounts.text(each["bias"] * reading.money, sign=True), detail=each.name)

    mean = reading.value("mean_error")
    return (
        KeyNumber("Expected to move", amounts.text(reading.value("moved")), detail=_at(reading)),
        extreme("Largest expected loss", losses),
        extreme("Largest expected gain", gains),
        KeyNumber(
            "Typical error of one release",
            amounts.text(mean),
            detail=f"mean over {reading.noun.many}" if math.isfinite(mean) else "",
        ),
    )


def _rule_numbers(reading: DecideReading) -> tuple[KeyNumber, ...]:
    noun = reading.noun
    worst = reading.entities[0].name if reading.entities else ""
    return (
        KeyNumber(
            "Wrong decisions expected",
            few_text(reading.value("expected_wrong")),
            detail=f"of {noun.count(reading.entities_in_all)}, {_at(reading)}",
        ),
        KeyNumber("Rights refused", few_text(reading.value("expected_refused")), detail="expected"),
        KeyNumber("Rights granted by error", few_text(reading.value("expected_granted")), detail="expected"),
        KeyNumber(
            "Largest chance of a wrong decision", chance_text(reading.value("largest_flip")), detail=worst
        ),
    )


def _at(reading: DecideReading) -> str:
    epsilon = reading.chosen.epsilon
    return "" if epsilon is None else f"at ε = {epsilon_of(epsilon)}"


def notes(reading: DecideReading) -> list[Note]:
    """Return what stands above everything: that the page is not private, then what could be misjudged."""
    results = reading.results
    said = [
        Note(
            "warn",
            "**Computed from the true data, not for publication.** It compares decisions from protected "
            "counts "
            "with those from the true ones, entity by entity; nothing protects the page itself.",
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
    totals = reading.total_notes()
    if totals:
        most_private = min(totals, key=lambda each: each.epsilon or math.inf)
        words = setting_words(most_private)
        text = f"**The noisy total may be 0 or less.** {words}: {plain(totals[most_private], longest=400)}"
        said.append(Note("warn", text))
    found = reading.outcome()
    if found is not None and not reading.is_exact():
        said.append(
            Note(
                "warn",
                f"**Drawn, not exact.** "
                f"{plain(found.notes[0] if found.notes else 'sampled', longest=300)}. Each "
                "expected value has a standard error; small gains and losses may be chance.",
            )
        )
    return said
