"""The page on deciding from protected counts: its question, its answers, and a finding for each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber, Note
from evenhand.report.words import listed, plain
from evenhand.study.page.catalogue import catalogue
from evenhand.study.tasks.decide.answers import sides, who_answer, who_pays_answer
from evenhand.study.tasks.decide.choice import helps_answer
from evenhand.study.tasks.decide.page.entities import (
    classes_section,
    entities_section,
    flips_section,
    sizes_section,
)
from evenhand.study.tasks.decide.page.groups import groups_section
from evenhand.study.tasks.decide.page.methods import cost_section, methods_section
from evenhand.study.tasks.decide.page.promise import numbers_section, promise_section
from evenhand.study.tasks.decide.reading import DecideReading
from evenhand.study.tasks.decide.wording import PACKAGE, setting_words

if TYPE_CHECKING:
    from evenhand.report.page import Answer, Section
    from evenhand.study.tasks.decide.reading import Entity

_MOST_LETTERS = 90


class DecidePage(DecideReading):
    """The report of a study of decisions: rights by a rule, or money by a formula."""

    kicker = catalogue(PACKAGE).say("page.kicker")
    not_private = catalogue(PACKAGE).say("page.not_private")

    def question(self) -> str:
        """Return the question that the page answers."""
        amount = self.amounts.text(self.money) if self.amounts.in_money else self.say("page.money")
        rule = plain(self.task.rule, longest=_MOST_LETTERS)
        return self.say_kind("page.question", amount=amount, rule=rule)

    def answers(self) -> tuple[Answer, Answer, Answer]:
        """Return who gains and who loses, which people pay, and what helps.

        What is exact has no interval; where draws had to be made, a word is only said if it holds beyond
        twice the standard error.
        """
        return who_answer(self), who_pays_answer(self), helps_answer(self)

    def sections(self) -> tuple[Section | None, ...]:
        """Return a finding for each part of the evidence."""
        errors = (flips_section(self),) if self.is_rule else (classes_section(self), sizes_section(self))
        return (
            promise_section(self),
            *errors,
            groups_section(self),
            entities_section(self),
            methods_section(self),
            cost_section(self),
            numbers_section(self),
        )

    # --- numbers and notes of the head ------------------------------------------------------------

    def key_numbers(self) -> tuple[KeyNumber, ...]:
        """Return the four numbers of the head."""
        at = "" if self.chosen.epsilon is None else self.say("key.at", at=self.at)
        return self._rule_numbers(at) if self.is_rule else self._money_numbers(at)

    def _money_numbers(self, at: str) -> tuple[KeyNumber, ...]:
        gains, losses = sides(self)
        mean = self.mean("mean_error")
        detail = self.say("key.error_detail") if math.isfinite(mean) else ""
        moved = self.say("key.none") if self.nobody_gains_or_loses() else self.value_text(self.mean("moved"))
        return (
            KeyNumber(self.say("key.moved"), moved, detail=at),
            self._extreme(self.say("key.loss"), losses),
            self._extreme(self.say("key.gain"), gains),
            KeyNumber(self.say("key.error"), self.value_text(mean), detail=detail),
        )

    def _extreme(self, label: str, entities: list[Entity]) -> KeyNumber:
        if not entities:
            return KeyNumber(label, self.say("key.none"))
        most = max(entities, key=lambda entity: abs(entity["bias"]))
        return KeyNumber(label, self.amounts.text(most["bias"] * self.money, sign=True), detail=most.name)

    def _rule_numbers(self, at: str) -> tuple[KeyNumber, ...]:
        worst = self.entities[0].name if self.entities else ""
        details = {"wrong": self.say("key.wrong_detail", at=f", {at}" if at else "")}
        counts = [
            KeyNumber(
                self.say(f"key.{name}"),
                self.few(self.mean(f"expected_{name}")),
                detail=details.get(name) or self.say("key.average"),
            )
            for name in ("wrong", "refused", "granted")
        ]
        largest = self.chance(self.mean("largest_flip"))
        return (*counts, KeyNumber(self.say("key.largest"), largest, detail=worst))

    def further_notes(self) -> list[Note]:
        """Return that a total may be one that nothing can be divided by, and that values were drawn."""
        notes, totals = [], self.total_notes()
        if totals:
            most_private = min(totals, key=lambda setting: setting.epsilon or math.inf)
            why = plain(totals[most_private], longest=400)
            where = setting_words(most_private)
            notes.append(Note("warn", self.say("page.total_note", where=where, why=why)))
        how = self.computed_by()
        if how is not None and not self.is_exact():
            notes.append(Note("warn", self.say("page.drawn_note", how=plain(how, longest=300))))
        return notes

    # --- the foot ---------------------------------------------------------------------------------

    def method(self) -> list[str]:
        """Return how the study was done."""
        facts, task, say = self.results.facts, self.task, self.say
        lines = [say("method.rows", label=plain(facts.label), entities=self.noun.count(facts.rows))]
        if self.is_rule:
            lines += [say("method.rule", rule=plain(task.rule, longest=600)), say("method.ratio")]
        else:
            in_money = self.amounts.in_money
            budget = self.amounts.text(self.money) if in_money else say("who.parts.whole")
            lines.append(say("method.allotment", budget=budget, formula=plain(task.formula, longest=300)))
        lines += [*self._how_computed(), say("method.terms")]
        if not self.is_rule and self.amounts.in_money:
            lines.append(say("method.smallest", smallest=self.amounts.text(self.amounts.least)))
        if task.groups:
            lines.append(say("method.groups", groups=listed([plain(group) for group in task.groups], most=8)))
        return lines

    def _how_computed(self) -> list[str]:
        lines, how = [], self.computed_by()
        notes = [*([how] if how is not None else []), *(note for note in self.notes_of() if note is not how)]
        if notes:
            shown = "; ".join(plain(note, longest=500).rstrip(".") for note in notes)
            lines.append(self.say("method.computed", how=shown))
        error = self.mean("error_bound")
        if self.is_exact() and math.isfinite(error) and error:
            bound = f"{error:.1g}" if self.is_rule else self.amounts.at_most(error)
            estimated = any(note.kind == "estimated error" for note in notes)
            lines.append(self.say(f"method.bound_{'estimated' if estimated else 'proved'}", bound=bound))
        if not self.is_exact():
            lines.append(self.say("method.draws", draws=self.task.draws, seed=self.results.plan.seed))
        return lines

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        lines = [
            self.say("limits.counts"),
            self.scope_line(self.say_kind("limits.scope")),
            self.say("limits.one_release"),
            self.say("limits.choice"),
        ]
        return lines if self.is_rule else [*lines, self.say("limits.total")]
