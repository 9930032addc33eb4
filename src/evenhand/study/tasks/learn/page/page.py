"""The page on training a classifier with privacy and parity: its question, its answers, and its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber
from evenhand.report.words import epsilon_words, plain
from evenhand.study.page.crossed import crossed_section
from evenhand.study.page.wording import delta_text, outcome_name
from evenhand.study.tasks.learn.answers import choice_answer, cost_answer, gap_answer
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.page.groups import groups_section
from evenhand.study.tasks.learn.page.promise import promise_section, promised_to
from evenhand.study.tasks.learn.page.table import numbers_section
from evenhand.study.tasks.learn.page.tradeoff import epsilon_section, tradeoff_section
from evenhand.study.tasks.learn.reading import LearnReading
from evenhand.study.tasks.learn.untried import untried_methods, with_methods
from evenhand.study.tasks.shared.classifier_page import baselines_section, classifier_numbers, fairer_section

if TYPE_CHECKING:
    from evenhand.report.page import Answer, Section


class LearnPage(LearnReading):
    """The report of a study of classifiers."""

    def question(self) -> str:
        """Return the question that the page answers."""
        schema = self.results.facts.schema
        slots = {"outcome": outcome_name(schema), "protected": plain(schema.protected_name)}
        return self.sentences.say("head.question", **slots)

    def answers(self) -> tuple[Answer, Answer, Answer]:
        """Return what privacy costs, what becomes of the gap, and what to choose."""
        return cost_answer(self), gap_answer(self), choice_answer(self)

    def sections(self) -> tuple[Section | None, ...]:
        """Return a finding for each part of the evidence."""
        return (
            promise_section(self),
            tradeoff_section(self),
            epsilon_section(self),
            crossed_section(self),
            groups_section(self),
            baselines_section(self, self.name),
            fairer_section(self, self.beside, self.name, untried=self.untried(), usable=self.private),
            numbers_section(self),
        )

    def untried(self) -> str:
        """Return which remedies exist that the study does not have."""
        names = [name for name in untried_methods(self) if name != "dp"]
        slots = {"methods": [METHODS[name].title for name in names], "command": with_methods(self, names)}
        return self.sentences.say("fairer.untried", **slots) if names else ""

    def key_numbers(self) -> list[KeyNumber]:
        """Return the promise, accuracy, the gap, and the groups that lose most."""
        promised = KeyNumber(self.sentences.say("numbers.promised", to=promised_to(self)), *self._promise())
        return [promised, *classifier_numbers(self)]

    def _promise(self) -> tuple[str, str, str]:
        say, title = self.sentences.say, self.way().title
        if not self.is_private(self.chosen):
            return say("numbers.nothing"), "", title
        key = "report" if self.way().base == "local" else "delta"
        detail = say(f"numbers.{key}", delta=delta_text(self.largest("delta")), title=title)
        return epsilon_words(self.largest("claimed_epsilon")), "", detail

    def method(self) -> list[str]:
        """Return how the study was done."""
        say, task, schema = self.sentences.say, self.task, self.results.facts.schema
        features = say(
            f"method.features{'_group' * task.group_as_input}",
            outcome=outcome_name(schema),
            protected=plain(schema.protected_name),
            validation=task.validation.replace(" %", "%").capitalize(),
        )
        return [
            self.rows_line(),
            features,
            self.repeats_line(say("method.drawn")),
            say("method.gap"),
            *self._methods_in_words(),
            say("method.rule"),
        ]

    def _methods_in_words(self) -> list[str]:
        methods = [METHODS[setting.mechanism] for setting in self.protected]
        bases, thens = {method.base for method in methods}, {method.then for method in methods}
        weighed = self.task.strength is not None
        keys = {
            "private": bool(bases & {"dp", "fermi"}),
            "fermi": "fermi" in bases and not weighed,
            "fermi_strength": "fermi" in bases and weighed,
            "parity": "parity" in thens,
            "projection": "projection" in thens,
            "local": "local" in bases,
        }
        strength = f"{self.task.strength:g}" if weighed else ""
        slots = {"strength": strength, "gap": f"{100 * self.task.gap:g}"}
        return [self.sentences.say(f"method.{key}", **slots) for key, holds in keys.items() if holds]

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        say = self.sentences.say
        return [
            *self.intervals_lines(say("limits.cover")),
            *self.group_rates_lines(),
            self.scope_line(say("limits.what")),
            self.UNCLEAR,
            say("limits.rates"),
            say("limits.choosing"),
        ]
