"""The page on collecting under local privacy: its question, its answers, and a finding for each part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.words import epsilon_words
from evenhand.study.page.reading import ACCURACY, GAP
from evenhand.study.page.wording import listed, outcome_name, plain
from evenhand.study.tasks.collect.choice import choice_answer, recommended
from evenhand.study.tasks.collect.page.frontier import frontier_section, measures_section
from evenhand.study.tasks.collect.page.groups import data_section, groups_section
from evenhand.study.tasks.collect.page.guarantee import guarantee_section, odds_factor, protected_columns
from evenhand.study.tasks.collect.page.settings import protocols_section, table_section
from evenhand.study.tasks.collect.reading import CollectReading
from evenhand.study.tasks.collect.wording import setting_name
from evenhand.study.tasks.shared.classifier_answers import cost_answer, gap_answer
from evenhand.study.tasks.shared.classifier_page import baselines_section, classifier_numbers, fairer_section
from evenhand.study.tasks.shared.optimal_setting import NAME

if TYPE_CHECKING:
    from evenhand.report.page import Answer, KeyNumber, Section
    from evenhand.study.plan.cells import Setting

__all__ = ["CollectPage"]

_ENCODERS = {
    "narrow": "reported columns as indicators, ordered columns in the clear as their code, others one-hot",
    "one-hot": "every column with one feature per value",
    "codes": "every column as its code",
}


class CollectPage(CollectReading):
    """The report of a study in which people randomise their answers before a model is trained."""

    kicker = "Collect under local privacy, then train"
    not_private = (
        "**Not private, not for publication.** This page is computed from the true data of the people in it. "
        "It helps to choose a protection; nothing protects the page itself."
    )

    def question(self) -> str:
        """Return the question that the page answers."""
        columns = listed([plain(name) for name in protected_columns(self)], most=5, rest="other columns")
        target = plain(self.results.facts.schema.target)
        return f"If people randomise {columns} before we train a model of {target}, who pays?"

    def answers(self) -> tuple[Answer, Answer, Answer]:
        """Return what protection costs, what happens to the gap, and what to choose."""
        return cost_answer(self), gap_answer(self), choice_answer(self)

    def sections(self) -> tuple[Section | None, ...]:
        """Return a finding for each part of the evidence."""
        return (
            guarantee_section(self),
            frontier_section(self),
            measures_section(self),
            groups_section(self),
            baselines_section(self, setting_name),
            protocols_section(self),
            fairer_section(self, self.beside, setting_name, untried=self.untried()),
            data_section(self),
            table_section(self),
        )

    def key_numbers(self) -> list[KeyNumber]:
        """Return accuracy, how well people are told apart, the gap, and the groups that lose most."""
        return classifier_numbers(self)

    @property
    def recommended(self) -> Setting | None:
        """The setting that the third answer recommends, if it does."""
        return recommended(self)

    def untried(self) -> str:
        """Return that a protocol exists which keeps the gap small, if it was not among those tested."""
        if any(setting.mechanism == NAME for setting in self.protected):
            return ""
        return self.sentences.say("choice.parts.optimal").strip()

    def large_epsilon_words(self, epsilon: float) -> str:
        """Return what the largest epsilon allows."""
        return (
            f"{epsilon_words(epsilon)} was tested; it lets one report change the odds by a factor of "
            f"{odds_factor(epsilon)}, which is hardly a promise."
        )

    def method(self) -> list[str]:
        """Return how the study was done."""
        task, facts = self.task, self.results.facts
        privileged = self.named(self.groups[facts.privileged])
        parameters = ", ".join(f"{name} = {value}" for name, value in task.parameters.items())
        model = f"{plain(task.model_name)}{f', {plain(parameters, longest=200)}' if parameters else ''}"
        return [
            self.rows_line(),
            (
                f"The model ({model}) learns {outcome_name(facts.schema)} from protected rows and predicts "
                f"for clean ones: {task.validation.replace(' %', '%')}."
            ),
            f"Features: {_ENCODERS.get(task.encoder, task.encoder)}.",
            self.repeats_line(
                " for rows and model; what is drawn to protect depends on the seed, the setting and the "
                "repeat. Settings of one repeat share rows, so they are compared in pairs."
            ),
            (
                "Selection gap: the largest difference between two groups in the share predicted to have the "
                f"outcome. Gaps with a sign: {privileged} minus everybody else."
            ),
            (
                "The page is about the setting named in it. Unless one is asked for, it has the ε nearest to "
                "1 and is the first of the plan that no other clearly beats."
            ),
        ]

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        said = self.intervals_lines(
            "They cover which rows train and test, the model's own draws and those of protection. They do "
            "not cover which people are in the data; repeats share rows, so that for other people they are "
            "too short.",
            "Each interval holds on its own, except that changes of groups and comparisons between settings "
            "are widened for how many there are. Among the many numbers of the table some are bold by "
            "chance.",
        )
        said += [*self.group_rates_lines(), self.scope_line("one model"), self.UNCLEAR]
        if any(self.change(measure).left_out for measure in (ACCURACY, GAP)):
            said.append("Some repeats of the setting have no value and are left out of its means.")
        if min(self.results.facts.sizes, default=0) < 100:
            said.append("A group has fewer than 100 people, so that its rates vary much between repeats.")
        return said
