"""The page of a ledger: what is spent and left in three sentences, then the pictures and the entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.page import KeyNumber, Note, Page
from evenhand.report.words import plain
from evenhand.study.budget.reading import BudgetReading, figure
from evenhand.study.budget.sections import (
    SYMBOLS,
    entries_section,
    purpose_parts,
    purposes_section,
    share_of,
    tighter_section,
    time_section,
)

if TYPE_CHECKING:
    from evenhand.report.page import Answer

_MOST_NAMED = 6


def build_budget_page(reading: BudgetReading, *, command: str = "") -> Page:
    """Return the page of a ledger; write it with :func:`evenhand.report.write`.

    Parameters
    ----------
    reading : BudgetReading
        What the ledger holds: ``BudgetReading.of(ledger)``.
    command : str
        What makes the page again.

    Returns
    -------
    Page

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import evenhand as eh
    >>> ledger = eh.Ledger(pathlib.Path(tempfile.mkdtemp(), "ledger.db"), epsilon=1)
    >>> table = eh.Guarantee.pure("1/4", unit="replace one", trust="central")
    >>> _ = ledger.spend(table, purpose="county by race")
    >>> print(build_budget_page(BudgetReading.of(ledger)).answers[0].finding)
    ε = 0.25 is spent and ε = 0.75 is left.
    """
    say, unit = reading.sentences.say, reading.budget.unit
    sections = (
        time_section(reading),
        purposes_section(reading),
        tighter_section(reading),
        entries_section(reading),
    )
    return Page(
        question=say("head.question", name=plain(reading.name)),
        answers=budget_answers(reading),
        kicker=say("head.kicker"),
        meta=say("head.meta", charges=_charges(reading), entries=len(reading.entries)),
        numbers=_key_numbers(reading),
        notes=(Note("plain", say("head.private")),),
        sections=[section for section in sections if section is not None],
        method=[say("method.sum"), say("method.unit", unit=unit), say("method.whole")],
        limits=[say("limits.owner"), say("limits.copies"), say("limits.forgotten")],
        command=command,
    )


def _charges(reading: BudgetReading) -> int:
    return sum(entry.kind == "spend" for entry in reading.entries)


def _spent_answer(reading: BudgetReading) -> Answer:
    """Return what is spent and left, and of what."""
    total = reading.total
    slots: dict[str, Any] = {
        "spent": reading.amount(total.spent),
        "left": reading.amount(total.remaining, is_left=True),
        "whole": reading.amount(total.budget),
        "when": reading.when,
        "per": reading.per,
        "unit": reading.budget.unit,
        "people": reading.people,
        "charges": total.charges,
    }
    key = "none" if not any(total.spent) else "spent" if total.remaining.epsilon else "gone"
    return reading.answer(f"answer.{key}", **slots)


def budget_answers(reading: BudgetReading) -> list[Answer]:
    """Return what is spent and left, whether that is a promise (first, where it is none), and what for."""
    if not _charges(reading):
        return [_spent_answer(reading), reading.answer("answer.nothing_yet")]
    answers = [_spent_answer(reading), _bounded_answer(reading)]
    if reading.total.unbounded:
        answers.reverse()
    return [*answers, _purpose_answer(reading)]


def _bounded_answer(reading: BudgetReading) -> Answer:
    """Return whether anything is unbounded, which makes every sum say too little."""
    say, unbounded = reading.sentences.say, reading.total.unbounded
    if unbounded:
        few = len(unbounded) <= _MOST_NAMED
        named = [say("words.entry", number=number) for number in unbounded] if few else []
        told = named or [say("words.entries", count=len(unbounded))]
        return reading.answer("answer.unbounded", entries=told, count=len(unbounded))
    retired = [say("words.entry", number=number) for number in reading.retired]
    if retired:
        return reading.answer("answer.retired", entries=retired, count=len(retired))
    return reading.answer("answer.bounded")


def _purpose_answer(reading: BudgetReading) -> Answer:
    """Return which purpose took most."""
    parts, spent = purpose_parts(reading), reading.total.spent.epsilon
    if not parts or not spent:
        return reading.answer("answer.nothing_yet")
    purpose, amount, charges = parts[0]
    key = "only" if len(parts) == 1 else "largest" if 2 * amount.epsilon >= spent else "spread"
    return reading.answer(
        f"answer.{key}",
        purpose=plain(purpose),
        amount=f"ε = {figure(amount.epsilon)}",
        spent=f"ε = {figure(spent)}",
        charges=charges,
        purposes=len(reading.costs),
    )


def _key_numbers(reading: BudgetReading) -> list[KeyNumber]:
    say, total = reading.sentences.say, reading.total
    numbers = []
    for name, symbol in SYMBOLS.items():
        spent, left, whole = (
            getattr(amount, name) for amount in (total.spent, total.remaining, total.budget)
        )
        if not whole:
            continue
        of = say("head.of", whole=figure(whole), share=share_of(spent, whole))
        rest = say("head.of", whole=figure(whole), share=share_of(left, whole))
        numbers.append(KeyNumber(say("head.spent", symbol=symbol), figure(spent), of))
        numbers.append(KeyNumber(say("head.left", symbol=symbol), figure(left, is_left=True), rest))
    for way in reading.tighter[: 4 - len(numbers)]:
        label, detail = say("head.by", symbol="ε", name=way.name), say("head.if_fixed")
        numbers.append(KeyNumber(label, figure(way.amount.epsilon), detail))
    return numbers
