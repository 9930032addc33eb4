"""The section on what a classifier promises, of a report on classifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand._notes import Note as Remark
from evenhand.report.page import Fact, Note, Section
from evenhand.report.words import plain
from evenhand.study.page.wording import delta_text, odds_factor
from evenhand.study.tasks.shared.claims import asks_whose_rows

if TYPE_CHECKING:
    from evenhand.study.tasks.learn.reading import LearnReading

_LONGEST = 420
_WORTH_SAYING = 20  # epsilon, from which on the factor says nothing
_UNITS = {"add or remove one": "unit_row", "replace one": "unit_replace", "one report": "unit_report"}


def promise_section(reading: LearnReading) -> Section:
    """Return what the chosen way promises to one person, and what it rests on."""
    say, title = reading.sentences.say, reading.way().title
    facts = tuple(_facts(reading))
    if not reading.is_private(reading.chosen):
        lead = say(f"promise.lead_{'void' if reading.way().voids else 'plain'}")
        heading = say("promise.heading_void", title=title)
        return Section(heading=heading, lead=lead, facts=facts, anchor="promise")
    epsilon, delta = reading.largest("claimed_epsilon"), reading.largest("delta")
    slots = {"title": title, "epsilon": epsilon, "delta": delta_text(delta)}
    factor = "_large" if epsilon >= _WORTH_SAYING else ""
    lead = say(
        "promise.lead",
        neighbours=say(f"promise.neighbours_{_neighbours(reading)}{_many(reading)}"),
        factor=say(f"promise.factor{factor}", factor="" if factor else odds_factor(epsilon)),
        chance=say("promise.chance", **slots) if delta else "",
    )
    return Section(
        heading=say(f"promise.heading{'_delta' if delta else ''}", to=promised_to(reading), **slots),
        lead=lead,
        facts=facts,
        notes=_promise_notes(reading),
        anchor="promise",
    )


def promised_to(reading: LearnReading) -> str:
    """Return to what it is promised: one person, or one row where one person may have several."""
    return reading.sentences.say(f"promise.to_{'row' if asks_whose_rows(reading.data_notes) else 'person'}")


def _neighbours(reading: LearnReading) -> str:
    if reading.way().base == "local":
        return "report"
    return "replace" if reading.task.unit == "replace one" else "row"


def _many(reading: LearnReading) -> str:
    """Return the ending of sentences on people of whom several rows may count, or who may have several."""
    if asks_whose_rows(reading.data_notes):
        return "_each"
    return "_many" if (reading.results.facts.schema.rows_per_person or 1) > 1 else ""


def _facts(reading: LearnReading) -> list[Fact]:
    say, way = reading.sentences.say, reading.way()
    found = reading.outcome()
    notes = [] if found is None else [Remark.of(note) for note in found.notes]
    told = {note.kind: str(note) for note in notes if note.kind in {"unit", "trust"}}
    facts: dict[str, str] = {}
    if told:
        unit = told.get("unit", reading.task.unit)
        many, most = _many(reading), reading.results.facts.schema.rows_per_person
        unit = say(f"promise.facts.{_UNITS[unit]}{many}") if unit in _UNITS else unit
        trust = told.get("trust", "")
        facts["neighbours"] = say(f"promise.facts.neighbours{many}", unit=unit, rows=most)
        facts["trust"] = say(f"promise.facts.{trust}") if trust in {"central", "local"} else trust
    weight = reading.results.facts.schema.weight
    if weight is not None:
        facts["clear"] = say("promise.facts.clear", column=plain(weight))
    rows, noise = reading.value("trained_on").value, reading.value("noise").value
    if math.isfinite(rows) and way.needs_accounting:
        key = "rows_noise" if math.isfinite(noise) else "rows"
        facts["rows"] = say(f"promise.facts.{key}", rows=rows, noise=noise)
    if told and way.needs_accounting:
        key = "public" if way.name == "dp" else "public_groups"
        facts["public"] = say(f"promise.facts.{key}", groups=len(reading.groups))
    if way.then == "parity":
        key = "rates" if way.takes_epsilon else "rates_plain"
        facts["rates"] = say(f"promise.facts.{key}", share=reading.task.holdout, to=promised_to(reading))
    assumed = [plain(note, longest=_LONGEST) for note in notes if note.kind == "assumption"]
    if assumed:
        facts["assumed"] = "; ".join(assumption.rstrip(".") for assumption in assumed)
    if told:
        facts["noise"] = say(f"promise.facts.noise{'_trained' if way.needs_accounting else ''}")
    facts["decided"] = say(f"promise.facts.group_{_decided(reading)}")
    return [Fact(say(f"promise.terms.{term}"), text) for term, text in facts.items()]


def _decided(reading: LearnReading) -> str:
    """Return what must be known when a decision is made."""
    if reading.way().needs_group:
        return "parity" if reading.way().then == "parity" else "known"
    if reading.task.group_as_input:
        return "input"
    return "local" if reading.way().base == "local" else "unknown"


def _promise_notes(reading: LearnReading) -> tuple[Note, ...]:
    delta, people = reading.largest("delta"), reading.results.facts.rows
    keys = {
        "many_delta": bool(people) and delta >= 1 / people,
        "domains": any(note.kind == "privacy" for note in reading.data_notes),
    }
    say = reading.sentences.say
    return tuple(Note("warn", say(f"promise.{key}", people=people)) for key, holds in keys.items() if holds)
