"""The page on collecting under local privacy: its question, its answers, and a finding for each part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.words import epsilon_words, plain
from evenhand.study.page.crossed import crossed_section
from evenhand.study.page.reading import ACCURACY, GAP
from evenhand.study.page.wording import odds_factor, outcome_name
from evenhand.study.tasks.collect.answers import cost_answer, what_to_do
from evenhand.study.tasks.collect.choice import recommended
from evenhand.study.tasks.collect.page.frontier import frontier_section, measures_section
from evenhand.study.tasks.collect.page.groups import data_section, groups_section
from evenhand.study.tasks.collect.page.guarantee import guarantee_section, protected_columns
from evenhand.study.tasks.collect.page.settings import protocols_section, table_section
from evenhand.study.tasks.collect.reading import CollectReading
from evenhand.study.tasks.shared.classifier_answers import gap_answer
from evenhand.study.tasks.shared.classifier_page import baselines_section, classifier_numbers, fairer_section
from evenhand.study.tasks.shared.optimal_setting import NAME, why_not_optimal

if TYPE_CHECKING:
    from evenhand.report.page import Answer, KeyNumber, Section
    from evenhand.study.plan.cells import Setting


class CollectPage(CollectReading):
    """The report of a study in which people randomise their answers before a model is trained."""

    def question(self) -> str:
        """Return the question that the page answers."""
        columns = [plain(name) for name in protected_columns(self)]
        target = plain(self.results.facts.schema.target)
        return self.sentences.say("head.question", columns=columns, target=target)

    def answers(self) -> tuple[Answer, Answer, Answer]:
        """Return what protection costs, what happens to the gap, and what to choose."""
        return cost_answer(self), gap_answer(self), what_to_do(self)

    def sections(self) -> tuple[Section | None, ...]:
        """Return a finding for each part of the evidence."""
        return (
            guarantee_section(self),
            frontier_section(self),
            measures_section(self),
            crossed_section(self),
            groups_section(self),
            baselines_section(self, self.setting_name),
            protocols_section(self),
            fairer_section(self, self.beside, self.setting_name, untried=self.untried()),
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
        schema = self.results.facts.schema
        protocols = ",".join(dict.fromkeys([each.name for each in self.task.protocols] + [NAME]))
        return self.sentences.say(
            f"untried.{why_not_optimal(schema) or 'not_asked'}",
            protected=plain(schema.protected_name),
            groups=len(self.groups),
            command=f"evenhand audit collect --plan plan.toml --protocol {protocols}",
        )

    def large_epsilon_words(self, epsilon: float) -> str:
        """Return what the largest epsilon allows."""
        slots = {"at": epsilon_words(epsilon), "factor": odds_factor(epsilon)}
        return self.sentences.say("head.large_epsilon_odds", **slots)

    def method(self) -> list[str]:
        """Return how the study was done."""
        task, facts = self.task, self.results.facts
        say = self.sentences.under("method.collect")
        gap = say("gap_largest")
        if facts.privileged is not None:
            gap = say("gap", privileged=self.named(self.groups[facts.privileged]))
        parameters = ", ".join(f"{name} = {value}" for name, value in task.parameters.items())
        model = f"{plain(task.model_name)}{f', {plain(parameters, longest=200)}' if parameters else ''}"
        return [
            self.rows_line(),
            say("model", model=model, outcome=outcome_name(facts.schema), validation=self._validation()),
            say("features", features=say(task.encoder)),
            self.repeats_line(say("repeats")),
            gap,
            say("chosen"),
        ]

    def _validation(self) -> str:
        """Return how rows are split."""
        test, folds = self.task.test, self.task.folds
        if folds is not None:
            return self.sentences.say("method.collect.folds", folds=folds)
        return self.sentences.say("method.collect.split", train=1 - test, test=test)

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        say = self.sentences.under("limits.collect")
        said = self.intervals_lines(say("covered"), say("alone"))
        said += [*self.group_rates_lines(), self.scope_line(say("scope")), self.UNCLEAR]
        if any(self.change(measure).left_out for measure in (ACCURACY, GAP)):
            said.append(say("left_out"))
        if min(self.results.facts.sizes, default=0) < 100:
            said.append(say("small_group"))
        return said
