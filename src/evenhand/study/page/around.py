"""What pages of all kinds of study say around the answer: warnings, method, limits and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.answer.case import Warned
from evenhand.report.language import written_in
from evenhand.report.words import epsilon_of, listed, plain
from evenhand.study.page.naming import name_groups
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.results.base import ResultData

_LARGE_EPSILON = 10
_WARNED = {"privacy": "study.weaker", "target": "study.target", "sample": "study.sample"}
"""Kinds of notes on the data that are warnings, and the template of each."""


def warned(language: str, key: str, /, **slots: Any) -> Warned:
    """Return a template as a warning; it begins with a few words in bold."""
    head, _, text = words_in(language).say(key, **slots).removeprefix("**").partition("** ")
    return Warned(head, text)


def warnings_of(
    results: ResultData, *, own: Sequence[Warned] = (), is_exact: bool = False, language: str = "en"
) -> tuple[Warned, ...]:
    """Return the warnings of a page, the most important first.

    That the page is not private comes first, then leaks, runs without a result, what a kind says itself
    (`own`), and limits of the data. A single repeat is enough where the numbers are exact.
    """
    notes = [Note.of(note) for note in results.facts.notes]
    data = {
        kind: [warned(language, key, note=plain(note, longest=900)) for note in notes if note.kind == kind]
        for kind, key in _WARNED.items()
    }
    found = [warned(language, "study.not_private"), *data["privacy"], *data["target"]]
    found += [*_missing(results, language), *own, *data["sample"]]
    largest = max(_epsilons_of(results), default=0.0)
    if largest > _LARGE_EPSILON:
        found.append(warned(language, "study.large_epsilon", epsilon=largest, most=_LARGE_EPSILON))
    if results.plan.repeats == 1 and not is_exact:
        found.append(warned(language, "study.one_repeat"))
    return tuple(found)


def _epsilons_of(results: ResultData) -> tuple[float, ...]:
    """Return the values of epsilon that were tested, the most private first."""
    return tuple(sorted({float(each.epsilon) for each in results.settings if each.epsilon is not None}))


def meta_of(results: ResultData, *, counted: str = "", is_exact: bool = False, language: str = "en") -> str:
    """Return the few words in the corner: which study, how many people, how many repeats if any vary.

    `counted` are the rows in words where they are no people, such as "3,140 counties".
    """
    say = words_in(language).say
    name = plain(results.plan.name or results.facts.label)
    parts = [counted or say("study.people", people=results.facts.rows)]
    parts += [] if is_exact else [say("study.repeats", repeats=results.plan.repeats)]
    return f"{name}: {', '.join(parts)}"


def rows_line(results: ResultData, *, counted: str = "", language: str = "en") -> str:
    """Return how many people there are, by group, and how many rows were left out."""
    facts, say = results.facts, words_in(language).say
    names = name_groups(facts, language)
    sizes = [(names[group].label, size) for group, size in zip(facts.groups, facts.sizes, strict=True)]
    sizes += [(say("study.not_stated"), facts.not_stated)] if facts.not_stated else []
    line = say(
        "study.rows",
        label=plain(facts.label),
        people=counted or say("study.people", people=facts.rows),
        sizes=[say("study.size", group=group, size=size) for group, size in sizes],
        dropped=say("study.dropped", dropped=facts.dropped) if facts.dropped else "",
    )
    return line if sizes else line.replace(" ()", "", 1)


def method_of(
    results: ResultData, *own: str, counted: str = "", is_exact: bool = False, language: str = "en"
) -> tuple[str, ...]:
    """Return how a study was done: its rows, what a kind says itself, repeats, and notes on the data."""
    say = words_in(language).say
    lines = [rows_line(results, counted=counted, language=language), *own]
    if not is_exact:
        repeats = say("study.repeats", repeats=results.plan.repeats)
        lines.append(say("study.seeds", repeats=repeats, first=results.plan.seed))
    notes = [Note.of(note) for note in results.facts.notes]
    return *lines, *(plain(note, longest=600) for note in notes if note.kind not in _WARNED)


def limits_of(
    results: ResultData, *own: str, is_exact: bool = False, level: float = 0.95, language: str = "en"
) -> tuple[str, ...]:
    """Return what the numbers do not cover: what a kind says itself, what limits are, and other data."""
    say = words_in(language).say
    with written_in(language):
        tested = [epsilon_of(epsilon) for epsilon in _epsilons_of(results)]
        scope = say("study.scope", epsilons=f", ε = {listed(tested, most=10)}" if tested else "")
    limits = [] if is_exact else [say("study.limits", level=level)]
    return (*own, *limits, scope)


def sources_of(results: ResultData, *, language: str = "en") -> tuple[str, ...]:
    """Return from which rows, outcomes and versions the page was made."""
    facts = results.facts
    versions = ", ".join(f"{name} {number}" for name, number in facts.versions.items()) or "–"
    slots = {"rows": facts.fingerprint[:16], "results": results.digest[:16]}
    return (words_in(language).say("study.sources", **slots, versions=plain(versions, longest=400)),)


def _missing(results: ResultData, language: str) -> list[Warned]:
    failed, missing = len(results.failures), len(results.missing)
    if not failed + missing:
        return []
    kinds = sorted({plain(cell.failure.kind) for cell in results.failures if cell.failure})
    why = f" ({', '.join(kinds)})" if kinds else ""
    counts = {"failed": failed, "missing": missing, "total": len(results.outcomes) + missing}
    return [warned(language, "study.missing", count=failed + missing, kinds=why, **counts)]
