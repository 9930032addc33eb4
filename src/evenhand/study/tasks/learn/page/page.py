"""The page on training a classifier with privacy and parity: its question, its answers, and its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber
from evenhand.report.words import epsilon_words
from evenhand.study.page.wording import delta_text, outcome_name, plain
from evenhand.study.tasks.learn.answers import choice_answer, cost_answer, gap_answer
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.page.groups import groups_section
from evenhand.study.tasks.learn.page.promise import numbers_section, promise_section
from evenhand.study.tasks.learn.page.tradeoff import epsilon_section, tradeoff_section
from evenhand.study.tasks.learn.reading import LearnReading
from evenhand.study.tasks.shared.classifier_page import baselines_section, classifier_numbers, fairer_section

if TYPE_CHECKING:
    from evenhand.report.page import Answer, Section

__all__ = ["LearnPage"]


class LearnPage(LearnReading):
    """The report of a study of classifiers."""

    kicker = "Train a classifier with privacy and parity"
    not_private = (
        "**Not private, not for publication.** This page is computed from the true data of the people in it. "
        "It helps to choose how to train; nothing protects the page itself."
    )

    def question(self) -> str:
        """Return the question that the page answers."""
        schema = self.results.facts.schema
        return (
            f"If a classifier of {outcome_name(schema)} is trained with privacy, what becomes of accuracy "
            f"and of the gap by {plain(schema.protected)}?"
        )

    def answers(self) -> tuple[Answer, Answer, Answer]:
        """Return what privacy costs, what becomes of the gap, and what to choose."""
        return cost_answer(self), gap_answer(self), choice_answer(self)

    def sections(self) -> tuple[Section | None, ...]:
        """Return a finding for each part of the evidence."""
        return (
            promise_section(self),
            tradeoff_section(self),
            epsilon_section(self),
            groups_section(self),
            baselines_section(self, self.name),
            fairer_section(self, self.beside, self.name),
            numbers_section(self),
        )

    def key_numbers(self) -> list[KeyNumber]:
        """Return the promise, accuracy, the gap, and the groups that lose most."""
        promised = KeyNumber("Promised to one person", *self._promise())
        return [promised, *classifier_numbers(self)]

    def _promise(self) -> tuple[str, str, str]:
        title = self.way().title
        if not self.is_private(self.chosen):
            return "nothing", "", title
        covers = f"δ = {delta_text(self.largest('delta'))}"
        covers = "for one report" if self.way().base == "local" else covers
        return epsilon_words(self.largest("claimed_epsilon")), "", f"{covers}, {title}"

    def method(self) -> list[str]:
        """Return how the study was done."""
        task, schema = self.task, self.results.facts.schema
        group = "one of the features" if task.group_as_input else "not a feature"
        return [
            self.rows_line(),
            (
                f"Every way learns {outcome_name(schema)} from the same features, whose lists of values and "
                f"scaling constants come from the schema; {plain(schema.protected)} is {group}. "
                f"{task.validation.replace(' %', '%').capitalize()}."
            ),
            self.repeats_line(
                " for which rows train; noise and coins depend on the seed, the setting and the repeat. "
                "Settings of one repeat share rows, so they are compared in pairs."
            ),
            (
                "Selection gap: the largest difference between groups in the share predicted to have the "
                "outcome."
            ),
            *self._ways_in_words(),
            (
                "The page is about the setting named in it. Unless one is asked for, it has the ε nearest to "
                "1 and is the first private way of the plan that no other clearly beats in the gap, or "
                "equals there and beats in accuracy."
            ),
        ]

    def _ways_in_words(self) -> list[str]:
        ways = [METHODS[setting.mechanism] for setting in self.protected]
        bases, thens = {way.base for way in ways}, {way.then for way in ways}
        said = []
        if bases & {"dp", "fermi"}:
            said.append(
                "Private training clips what each row adds to a step, adds exact discrete noise, and is "
                "counted by the privacy loss of the Poisson-sampled Gaussian."
            )
        if "fermi" in bases:
            weight = "" if self.task.strength is None else f", of strength {self.task.strength:g}"
            said.append(f"Fermi adds a penalty on dependence between decision and group{weight}.")
        if "parity" in thens:
            said.append(
                "Parity flips as few decisions as bring the rates of groups within "
                f"{100 * self.task.gap:g} points of each other, by chance."
            )
        if "projection" in thens:
            said.append("Projection moves scores as little as gives all groups the same mean score.")
        if "local" in bases:
            said.append(
                "Local: sensitive features are reported by randomized response, with equal parts of ε."
            )
        return said

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        return [
            *self.intervals_lines(
                "They cover which rows train and test, noise and coins, and not which people are in the "
                "data; repeats share rows."
            ),
            *self.group_rates_lines(),
            self.scope_line("one family of classifiers"),
            self.UNCLEAR,
            "Equal selection rates say nothing about equal error rates, nor about whether labels are just.",
            (
                "Choosing a way, an ε or a strength by this page uses the true data, which no promise of a "
                "classifier covers: use public or older data where you can."
            ),
        ]
