"""The page on publishing a table of counts: its question, its answers, and a finding for each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber
from evenhand.report.words import interval_of
from evenhand.study.page.reading import ACCURACY
from evenhand.study.page.wording import delta_text, digits_of, listed, outcome_name, plain
from evenhand.study.tasks.release.answers import error_answer, lost_answer, promise_answer
from evenhand.study.tasks.release.names import STATED
from evenhand.study.tasks.release.page.errors import alpha_section, sizes_section
from evenhand.study.tasks.release.page.groups import accuracy_section, groups_section
from evenhand.study.tasks.release.page.tables import numbers_section, promise_section
from evenhand.study.tasks.release.reading import ReleaseReading
from evenhand.study.tasks.release.wording import blanks_text, error_text, promise, share_interval, share_value

if TYPE_CHECKING:
    from evenhand.report.page import Section

__all__ = ["ReleasePage"]


class ReleasePage(ReleaseReading):
    """The report of a study that compares published tables with the true one."""

    kicker = "Publish a table of counts"
    not_private = (
        "**Computed from the true data, not for publication.** It compares published tables with the true "
        "one and helps to choose a mechanism; nothing protects the page itself."
    )

    def question(self) -> str:
        """Return the question that the page answers."""
        columns = [plain(name) for name in self.results.facts.schema.names]
        shown = " × ".join(columns) if len(columns) <= 4 else listed(columns, most=5, rest="other columns")
        return f"If we publish a protected table of {shown}, who loses people?"

    def answers(self) -> tuple[str, str, str]:
        """Return who is lost, where the error falls, and what is promised."""
        return lost_answer(self), error_answer(self), promise_answer(self)

    def sections(self) -> tuple[Section | None, ...]:
        """Return a finding for each part of the evidence."""
        return (
            promise_section(self),
            sizes_section(self),
            alpha_section(self),
            groups_section(self),
            accuracy_section(self),
            numbers_section(self),
        )

    def key_numbers(self) -> list[KeyNumber]:
        """Return delta, error, the model's accuracy, and who is lost most."""
        error, delta = self.cell_error(), self.delta(self.chosen)
        promised = promise(delta, people=self.people)
        promised += "" if self.chosen.epsilon is None else f", at {self.at}"
        interval = "exact" if self.is_exact(self.chosen, "error") else "no interval"
        if error.low is not None and error.high is not None and error.low < error.high:
            interval = interval_of(error.low, error.high, digits_of(error.high))
        numbers = [
            KeyNumber("δ, chance that the promise fails", delta_text(delta), detail=promised),
            KeyNumber("Error of a cell, people", error_text(self, self.chosen, error), "0", interval),
        ]
        if self.classifies:
            pair = self.before(ACCURACY), self.value(ACCURACY)
            numbers.append(self.changed_number("Accuracy, %", pair, self.change(ACCURACY)))
        losses = {group: loss for group, loss in self.losses().items() if math.isfinite(loss.value)}
        most = sorted(losses, key=lambda group: -abs(losses[group].value))[: 4 - len(numbers)]
        for group in sorted(most, key=self.groups.index):
            label, loss = f"{self.named(group)}, people published", losses[group]
            numbers.append(KeyNumber(label, share_value(loss), "", share_interval(loss), self.colour(group)))
        return numbers

    def method(self) -> list[str]:
        """Return how the study was done."""
        task, schema = self.task, self.results.facts.schema
        columns = listed([plain(name) for name in schema.names], most=8)
        known = schema.quasi_identifiers
        quasi = f" Quasi-identifiers: {listed([plain(name) for name in known])}." if known else ""
        bound = f" Counts are bounded by {task.bound:,}, a public number." if task.bound else ""
        post = listed([plain(step) for step in task.post]) if task.post else "none"
        model = "Every row is counted in the table; no model was trained."
        if task.classify:
            model = (
                f"{task.validation[:1].upper()}{task.validation[1:]}, stratified by the outcome. The model, "
                f"logistic regression with one feature for each value, learns {outcome_name(schema)} from "
                "the people that a table stands for; counts below 0 stand for nobody."
            )
        said = [
            self.rows_line(),
            f"The table: {columns}, every declared cell, empty ones too.{quasi}{bound}",
            f"Unit of privacy: {task.unit}, where a mechanism has a choice. Post-processing: {post}.",
            model,
            self.repeats_line(
                ". What is drawn depends on the seed, the setting and the repeat; these draws are simulated "
                "and publish nothing."
            ),
            (
                "δ is claimed, by the mechanism's proof at the setting's ε; where a mechanism has no ε, at "
                f"ε = {STATED}. Where nothing is promised δ is 1. The largest over repeats is shown."
            ),
        ]
        if any(setting.mechanism == "generalized-sampling" for setting in self.protected):
            said.append("Counts of a sample are divided by its rate, as whoever reads them would do.")
        said += [blanks] if (blanks := blanks_text(self.protected)) else []
        said.append(
            "Bias and α are exact where the "
            f"mechanism has a formula, otherwise means of {task.draws:,} releases of the same table. "
            "Errors of cells are expected ones, exact, where the law of a cell's error is known, otherwise "
            "those of the tables that were drawn."
        )
        return said

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        cover = "which rows are counted and what is drawn" if self.classifies else "what is drawn"
        said = self.intervals_lines(
            f"They cover {cover}; they do not cover which people are in the data.",
            "Each interval holds on its own, except that groups and comparisons between mechanisms are "
            "widened for how many there are.",
        )
        said += [
            self.scope_line("one table"),
            self.UNCLEAR,
            (
                "Choosing a mechanism by this page uses the true data, which the guarantee of the release "
                "does not cover: use public or pilot data where you can."
            ),
        ]
        if min(self.results.facts.sizes, default=0) < 100:
            said.append("A group has fewer than 100 people, so that its shares vary much.")
        return said
