"""Say what stands around the answer in all kinds of study: warnings, method, limits and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.answer.case import Warned
from evenhand.report.language import written_in
from evenhand.report.page import Fact
from evenhand.report.words import epsilon_of, listed, plain
from evenhand.study.page.naming import name_groups
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.answer.words import Words
    from evenhand.study.results.base import ResultData

_LARGE_EPSILON = 10
_LEVEL = 0.95  # of all limits of a page
_WARNED = {"privacy": "study.weaker", "target": "study.target", "sample": "study.sample"}
"""Kinds of notes on the data that are warnings, and the template of each."""


def say_around(
    results: ResultData,
    *,
    warnings: Sequence[Warned] = (),
    method: Sequence[str] = (),
    limits: Sequence[str] = (),
    counted: str = "",
    is_exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:
    """Return the fields of a case that all kinds fill alike, with what a kind says itself among them.

    `counted` are the rows in words where they are no people, such as "3,140 counties". Nothing varies over
    repeats where the numbers are exact.
    """
    facts, plan, say = results.facts, results.plan, words_in(language).say
    people = counted or say("study.people", people=sum(facts.persons) or facts.rows)
    repeats = [] if is_exact else [say("study.repeats", repeats=plan.repeats)]
    looks = [say("study.so_far")] if results.missing else []
    seeds = [say("study.seeds", repeats=each, first=plan.seed) for each in repeats]
    notes = [plain(note, longest=600) for note in map(Note.of, facts.notes) if note.kind not in _WARNED]
    bounds = [] if is_exact else [say("study.limits", level=_LEVEL)]
    with written_in(language):
        tested = [epsilon_of(epsilon) for epsilon in _epsilons_of(results)]
        scope = say("study.scope", epsilons=f", ε = {listed(tested, most=10)}" if tested else "")
    versions = ", ".join(f"{name} {number}" for name, number in facts.versions.items()) or "–"
    slots = {"rows": facts.fingerprint[:16], "results": results.digest[:16]}
    return {
        "meta": f"{plain(plan.name or facts.label)}: {', '.join([people, *repeats, *looks])}",
        "warnings": tuple(_warnings(results, warnings, is_exact=is_exact, language=language)),
        "method": (_rows_line(results, people, language), *method, *seeds, *notes),
        "limits": (*limits, say("study.chosen"), *bounds, scope),
        "sources": (say("study.sources", **slots, versions=plain(versions, longest=400)),),
        "language": language,
    }


def warned(language: str, key: str, /, **slots: Any) -> Warned:
    """Return a template as a warning; it begins with a few words in bold."""
    head, _, text = words_in(language).say(key, **slots).removeprefix("**").partition("** ")
    return Warned(head, text)


def state_facts(words: Words, guarantee: str, *, unit: str, mechanism: str, assumes: str) -> tuple[Fact, ...]:
    """Return the technical statement of a promise under its terms, without what is empty."""
    terms = words.say("study.facts").split("|")
    said = (guarantee, unit, mechanism, assumes)
    return tuple(Fact(term, text) for term, text in zip(terms, said, strict=True) if text)


def _warnings(
    results: ResultData, own: Sequence[Warned], *, is_exact: bool, language: str
) -> Iterator[Warned]:
    """Yield the warnings of a page, the most important first.

    That the page is not private comes first, then leaks, runs without a result, what a kind says itself
    (`own`), and limits of the data. A single repeat is enough where the numbers are exact.
    """
    notes = [Note.of(note) for note in results.facts.notes]
    data = {
        kind: [warned(language, key, note=plain(note, longest=900)) for note in notes if note.kind == kind]
        for kind, key in _WARNED.items()
    }
    yield warned(language, "study.not_private")
    yield from (*data["privacy"], *data["target"])
    failed, missing = len(results.failures), len(results.missing)
    if missing and not failed:
        yield warned(language, "study.first_look", missing=missing, total=len(results.outcomes) + missing)
    elif failed:
        kinds = sorted({plain(cell.failure.kind) for cell in results.failures if cell.failure})
        why = f" ({', '.join(kinds)})" if kinds else ""
        counts = {"failed": failed, "missing": missing, "total": len(results.outcomes) + missing}
        yield warned(language, "study.missing", count=failed + missing, kinds=why, **counts)
    yield from (*own, *data["sample"])
    largest = max(_epsilons_of(results), default=0.0)
    if largest > _LARGE_EPSILON:
        yield warned(language, "study.large_epsilon", epsilon=largest, most=_LARGE_EPSILON)
    if results.plan.repeats == 1 and not is_exact:
        yield warned(language, "study.one_repeat")


def _epsilons_of(results: ResultData) -> list[float]:
    """Return the values of epsilon that were tested, the most private first."""
    return sorted({float(each.epsilon) for each in results.settings if each.epsilon is not None})


def _rows_line(results: ResultData, people: str, language: str) -> str:
    """Return how many people there are, by group, and how many rows were left out."""
    facts, say = results.facts, words_in(language).say
    names = name_groups(facts, language)
    sizes = [(names[group].label, size) for group, size in zip(facts.groups, facts.people, strict=True)]
    sizes += [(say("study.not_stated"), facts.not_stated)] if facts.not_stated else []
    line = say(
        "study.rows",
        label=plain(facts.label),
        people=people,
        sizes=[say("study.size", group=group, size=size) for group, size in sizes],
        dropped=say("study.dropped", dropped=facts.dropped) if facts.dropped else "",
    )
    return line if sizes else line.replace(" ()", "", 1)
