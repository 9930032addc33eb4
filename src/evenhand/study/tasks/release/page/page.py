"""The page on publishing a table of counts: its question, its answers, and a finding for each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber
from evenhand.report.words import interval_of, listed, plain
from evenhand.study.page.reading import ACCURACY
from evenhand.study.page.wording import delta_text, digits_of, outcome_name
from evenhand.study.tasks.release.answers import error_answer, lost_answer
from evenhand.study.tasks.release.choice import choice_answer, recommended
from evenhand.study.tasks.release.names import STATED
from evenhand.study.tasks.release.page.budget import budget_section
from evenhand.study.tasks.release.page.crossed import crossed_section
from evenhand.study.tasks.release.page.errors import alpha_section, sizes_section
from evenhand.study.tasks.release.page.fairer import fairer_section
from evenhand.study.tasks.release.page.groups import accuracy_section, groups_section
from evenhand.study.tasks.release.page.tables import concerned_groups, numbers_section, promise_section
from evenhand.study.tasks.release.reading import ReleaseReading
from evenhand.study.tasks.release.wording import blanks_text, error_text, promise, share_interval, share_value

if TYPE_CHECKING:
    from evenhand.report.page import Section
    from evenhand.study.plan.cells import Setting


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
        return self.sentences.say("question", columns=shown)

    def answers(self) -> tuple[str, str, str]:
        """Return which cells suffer, who is miscounted, and what to publish with.

        Where the page's mechanism gives no guarantee, what to publish with comes first.
        """
        errors, lost, choice = error_answer(self), lost_answer(self), choice_answer(self)
        return (errors, lost, choice) if self.chosen in self.promising else (choice, errors, lost)

    def setting_to_use(self, *, asked: bool) -> Setting | None:  # noqa: ARG002 - what is advised is typed
        """Return the setting that the third answer recommends, where all rows of a file were counted."""
        data = self.results.plan.data
        return None if data is None or data.rows is not None else recommended(self)

    def sections(self) -> tuple[Section | None, ...]:
        """Return a finding for each part of the evidence."""
        return (
            promise_section(self),
            budget_section(self),
            fairer_section(self),
            sizes_section(self),
            alpha_section(self),
            crossed_section(self),
            groups_section(self),
            accuracy_section(self),
            numbers_section(self),
        )

    def key_numbers(self) -> list[KeyNumber]:
        """Return delta, error, the model's accuracy, and who is lost most."""
        say, error, delta = self.sentences.say, self.cell_error(), self.delta(self.chosen)
        promised = promise(self, self.chosen)
        if self.chosen.epsilon is not None:
            promised = say("numbers.promised", promise=promised, epsilon=self.chosen.epsilon)
        interval = say(f"numbers.{'exact' if self.is_exact(self.chosen, 'error') else 'no_interval'}")
        if error.low is not None and error.high is not None and error.low < error.high:
            interval = interval_of(error.low, error.high, digits_of(error.high))
        numbers = [
            KeyNumber(say("numbers.delta"), delta_text(delta), detail=promised),
            KeyNumber(say("numbers.error"), error_text(self, self.chosen, error), "0", interval),
        ]
        if self.classifies:
            pair = self.before(ACCURACY), self.value(ACCURACY)
            numbers.append(self.changed_number(say("numbers.accuracy"), pair, self.change(ACCURACY)))
        for group in concerned_groups(self, most=4 - len(numbers)):
            label, loss = say("numbers.group", group=self.named(group)), self.lost(group)
            detail, spread = share_interval(loss), self.varies(group)
            if not loss.value and math.isfinite(spread):
                detail = say("numbers.varies", spread=spread)
            numbers.append(KeyNumber(label, share_value(loss), "", detail, self.colour(group)))
        return numbers

    def method(self) -> list[str]:
        """Return how the study was done."""
        task, schema, say = self.task, self.results.facts.schema, self.sentences.say
        columns, known = ([plain(name) for name in each] for each in (schema.names, schema.quasi_identifiers))
        steps = [plain(step) for step in task.post]
        said = [
            self.rows_line(),
            say(
                "done.table",
                columns=columns,
                quasi=say("done.quasi", columns=known) if known else "",
                bound=say("done.bound", bound=task.bound) if task.bound else "",
            ),
            say(
                "done.unit",
                unit=task.unit,
                post=say("done.post", steps=steps) if steps else say("done.no_post"),
            ),
            self._model_line(),
            self.repeats_line(say("done.draws")),
            say("done.delta", stated=STATED),
        ]
        if any(setting.mechanism == "generalized-sampling" for setting in self.protected):
            said.append(say("done.sampling"))
        said += [blanks] if (blanks := blanks_text(self, self.protected)) else []
        return [*said, say("done.bias", draws=task.draws), say("done.choice")]

    def _model_line(self) -> str:
        if not self.task.classify:
            return self.sentences.say("done.no_model")
        validation = self.task.validation
        return self.sentences.say(
            "done.model",
            validation=f"{validation[:1].upper()}{validation[1:]}",
            target=outcome_name(self.results.facts.schema),
        )

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        say = self.sentences.say
        cover = say(f"covered.cover_{'rows' if self.classifies else 'drawn'}")
        said = self.intervals_lines(cover, say("covered.together"))
        said += [self.scope_line(say("covered.scope")), self.UNCLEAR, say("covered.choice")]
        return [*said, say("covered.small")] if min(self.results.facts.sizes, default=0) < 100 else said
