"""The page on deciding from protected counts: its question, its answers, and a finding for each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import KeyNumber, Note
from evenhand.study.page.wording import listed, plain, with_article
from evenhand.study.tasks.decide.answers import helps_answer, sides, who_answer, who_pays_answer
from evenhand.study.tasks.decide.page.entities import (
    classes_section,
    entities_section,
    flips_section,
    sizes_section,
)
from evenhand.study.tasks.decide.page.groups import groups_section
from evenhand.study.tasks.decide.page.promise import numbers_section, promise_section
from evenhand.study.tasks.decide.page.ways import cost_section, ways_section
from evenhand.study.tasks.decide.reading import DecideReading
from evenhand.study.tasks.decide.wording import chance_text, few_text, setting_words

if TYPE_CHECKING:
    from evenhand.report.page import Section
    from evenhand.study.tasks.decide.reading import Entity

__all__ = ["DecidePage"]

_MOST_LETTERS = 90


class DecidePage(DecideReading):
    """The report of a study of decisions: rights by a rule, or money by a formula."""

    kicker = "Decide from protected counts"
    not_private = (
        "**Computed from the true data, not for publication.** It compares decisions from protected counts "
        "with those from the true ones, entity by entity; nothing protects the page itself."
    )

    def question(self) -> str:
        """Return the question that the page answers."""
        if self.is_rule:
            rule = plain(self.task.rule, longest=_MOST_LETTERS)
            return f"If {self.noun.many} have a right by protected counts ({rule}), who loses it?"
        money = self.amounts.text(self.money) if self.task.budget is not None else "money"
        count = plain(self.task.count)
        return f"If {money} is shared out by protected counts of {count}, who gains and who loses?"

    def answers(self) -> tuple[str, str, str]:
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
            ways_section(self),
            cost_section(self),
            numbers_section(self),
        )

    # --- numbers and notes of the head ------------------------------------------------------------

    def key_numbers(self) -> tuple[KeyNumber, ...]:
        """Return the four numbers of the head."""
        at = "" if self.chosen.epsilon is None else f"at {self.at}"
        return self._rule_numbers(at) if self.is_rule else self._money_numbers(at)

    def _money_numbers(self, at: str) -> tuple[KeyNumber, ...]:
        gains, losses = sides(self)
        mean = self.mean("mean_error")
        detail = f"mean over {self.noun.many}" if math.isfinite(mean) else ""
        return (
            KeyNumber("Expected to move", self.value_text(self.mean("moved")), detail=at),
            self._extreme("Largest expected loss", losses),
            self._extreme("Largest expected gain", gains),
            KeyNumber("Typical error of one release", self.value_text(mean), detail=detail),
        )

    def _extreme(self, label: str, entities: list[Entity]) -> KeyNumber:
        if not entities:
            return KeyNumber(label, "none")
        most = max(entities, key=lambda entity: abs(entity["bias"]))
        return KeyNumber(label, self.amounts.text(most["bias"] * self.money, sign=True), detail=most.name)

    def _rule_numbers(self, at: str) -> tuple[KeyNumber, ...]:
        wrong, refused, granted = (
            few_text(self.mean(f"expected_{name}")) for name in ("wrong", "refused", "granted")
        )
        every = f"of {self.noun.count(self.entities_in_all)}, {at}"
        worst = self.entities[0].name if self.entities else ""
        largest = chance_text(self.mean("largest_flip"))
        return (
            KeyNumber("Wrong decisions expected", wrong, detail=every),
            KeyNumber("Rights refused", refused, detail="expected"),
            KeyNumber("Rights granted by error", granted, detail="expected"),
            KeyNumber("Largest chance of a wrong decision", largest, detail=worst),
        )

    def further_notes(self) -> list[Note]:
        """Return that a total may be one that nothing can be divided by, and that values were drawn."""
        said, totals = [], self.total_notes()
        if totals:
            most_private = min(totals, key=lambda setting: setting.epsilon or math.inf)
            why = f"{setting_words(most_private)}: {plain(totals[most_private], longest=400)}"
            said.append(Note("warn", f"**The noisy total may be 0 or less.** {why}"))
        if self.outcome() is not None and not self.is_exact():
            how = plain(next(iter(self.notes_of()), "sampled"), longest=300)
            rest = "Each expected value has a standard error; small gains and losses may be chance."
            said.append(Note("warn", f"**Drawn, not exact.** {how}. {rest}"))
        return said

    # --- the foot ---------------------------------------------------------------------------------

    def method(self) -> list[str]:
        """Return how the study was done."""
        facts, task = self.results.facts, self.task
        said = [f"{plain(facts.label)}: {self.noun.count(facts.rows)}, one row each."]
        if self.is_rule:
            said.append(f"The rule: {plain(task.rule, longest=600)}.")
            said.append(
                "A ratio whose denominator is published as 0 or below does not hold, unless it is signed."
            )
        else:
            of = f" of {self.amounts.text(self.money)}" if task.budget is not None else " of the whole"
            said.append(
                f"The allotment: each {self.noun.one} has the share{of} that its "
                f"{plain(task.formula, longest=300)} has in the sum over all."
            )
        said += self._how_computed()
        said.append(
            "Bias is expected minus true. A typical error is the root of the mean square error of one "
            "release."
        )
        if task.groups:
            said.append(
                f"Groups of people: {listed([plain(group) for group in task.groups], most=8)}. They should "
                f"cover everybody who has a part in what {with_article(self.noun.one)} gets, and not overlap."
            )
        return said

    def _how_computed(self) -> list[str]:
        said, notes = [], self.notes_of()
        if self.outcome() is not None:
            told = "; ".join(plain(note, longest=500).rstrip(".") for note in notes)
            said.append(f"How it was computed: {told}.")
        error = self.mean("error_bound")
        if self.is_exact() and math.isfinite(error) and error:
            shown = f"{error:.1g}" if self.is_rule else self.amounts.at_most(error)
            guessed = any(note.kind == "estimated error" for note in notes)
            by = "as the method estimates" if guessed else "by the bound of the method"
            said.append(f"Expected values above are off by less than {shown}, {by}.")
        if not self.is_exact():
            said.append(
                f"Where no exact method applies, {self.task.draws:,} releases are drawn with seed "
                f"{self.results.plan.seed}; they are simulated and publish nothing."
            )
        return said

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        said = [
            (
                "The counts are taken as true. Errors that they have before any noise, from surveys or "
                "estimates, are not in these numbers and may be larger."
            ),
            self.scope_line(f"one {'rule' if self.is_rule else 'formula'}"),
            (
                "Averages are over what may be published. What is published once is one draw, and its errors "
                "are those of one release."
            ),
            (
                "Choosing a mechanism by this page uses the true data, which the guarantee of the release "
                "does not cover: use public or older data where you can."
            ),
        ]
        if not self.is_rule:
            said.append(
                "Shares by a noisy total have no mean in the strict sense where that total may be 0; what is "
                "shown is the principal value, or the mean where it is not."
            )
        return said
