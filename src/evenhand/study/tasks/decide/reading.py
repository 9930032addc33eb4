"""What a report on decisions reads from results: the setting that it is about, and what stands beside it.

Unless it is told, the setting is found by a rule: the first mechanism of the plan, the epsilon nearest to 1
by ratio (of two as near, the smaller), and the steps of post-processing if the plan has any, for they are
what would be done.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.study.page.reading import Reading, mean_of
from evenhand.study.page.wording import plain
from evenhand.study.tasks.decide.methods import noise_parameters, way_of
from evenhand.study.tasks.decide.names import ENTITY_SIZES
from evenhand.study.tasks.decide.wording import Amounts, chance_text, few_text, noun_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.wording import Noun
    from evenhand.study.tasks.shared.sizes import Size

__all__ = ["DecideReading", "Entity"]

EXPECTED = ("expected_wrong", "expected_refused", "expected_granted")
"""Measures of a rule that are expected numbers; the others are chances."""


@dataclass(frozen=True)
class Entity:
    """An entity that was kept: its name, and its numbers by name."""

    name: str
    numbers: Mapping[str, float]

    def __getitem__(self, number: str) -> float:
        return self.numbers.get(number, math.nan)


class DecideReading(Reading):
    """Results of decisions with the setting that a page is about; the baseline decides by true counts."""

    package = "evenhand.study.tasks.decide"

    must_be = "a setting that decides from counts with noise"
    needs_repeats = False

    def by_rule(self) -> Setting:
        """Return the setting that the rule at the head of the module finds."""
        field = [
            setting for setting in self.protected if _mechanism(setting) == _mechanism(self.protected[0])
        ]
        tested = {setting.epsilon for setting in field if setting.epsilon is not None}
        epsilon = min(tested, key=lambda each: (abs(math.log(each)), each), default=None)
        beside = [setting for setting in field if setting.epsilon == epsilon]
        return next((setting for setting in beside if way_of(setting)[0]), beside[0])

    # --- what was asked ---------------------------------------------------------------------------

    @property
    def is_rule(self) -> bool:
        """Whether a right follows, and not money."""
        return bool(self.task.is_rule)

    @cached_property
    def noun(self) -> Noun:
        """What the entities are called."""
        return noun_of(self.task.name)

    @cached_property
    def amounts(self) -> Amounts:
        """How amounts are worded."""
        return Amounts.of(self.task.currency, self.task.budget)

    @property
    def entities_in_all(self) -> int:
        """How many entities there are."""
        return self.results.facts.rows

    @property
    def money(self) -> float:
        """The budget; 1 where shares are compared."""
        return 1.0 if self.task.budget is None else self.task.budget

    # --- settings ---------------------------------------------------------------------------------

    @cached_property
    def ways(self) -> tuple[Setting, ...]:
        """The same mechanism and epsilon with everything that is done besides, the plain release first."""
        return tuple(setting for setting in self._of_the_mechanism if setting.epsilon == self.chosen.epsilon)

    @cached_property
    def by_epsilon(self) -> tuple[Setting, ...]:
        """The same mechanism and way at every epsilon, the most private first."""
        same = [setting for setting in self._of_the_mechanism if way_of(setting) == way_of(self.chosen)]
        return tuple(sorted(same, key=lambda setting: setting.epsilon or math.inf))

    @cached_property
    def _of_the_mechanism(self) -> list[Setting]:
        return [setting for setting in self.protected if _mechanism(setting) == _mechanism(self.chosen)]

    # --- numbers ----------------------------------------------------------------------------------

    def is_exact(self, setting: Setting | None = None) -> bool:
        """Return whether nothing was sampled."""
        return self.mean("exact", setting) == 1.0

    def of_group(self, group: str, name: str, setting: Setting | None = None) -> float:
        """Return a number of a group of people."""
        return mean_of(self.group_runs(setting or self.chosen, group, name))

    def of_size(self, part: str, size: Size, setting: Setting | None = None) -> float:
        """Return a number of a class of entities."""
        return mean_of(self.data_runs(setting or self.chosen, f"{part}_{size.key}"))

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """The classes of entities that occur, by size."""
        return tuple(size for size in ENTITY_SIZES if self.of_size("entities", size) > 0)

    def needed(self, setting: Setting | None = None) -> float:
        """Return what it takes besides the budget that nobody gets less on average than is due."""
        return self.mean("cost_of_privacy", setting) + max(0.0, self.beyond(setting))

    def beyond(self, setting: Setting | None = None) -> float:
        """Return what is expected to be paid beyond the budget; 0 where it is rounding alone."""
        over = self.mean("overspent", setting)
        return over if abs(over) > 1e-9 * max(self.mean("moved", setting), 1e-12 * self.money) else 0.0

    def value_text(self, value: float) -> str:
        """Return an expected number of decisions, or an amount."""
        return few_text(value) if self.is_rule else self.amounts.text(value)

    def measure_text(self, name: str, setting: Setting) -> str:
        """Return a measure of a setting as a table has it."""
        value = self.beyond(setting) if name == "overspent" else self.mean(name, setting)
        if not math.isfinite(value):
            return "unknown"
        if self.is_rule and name not in EXPECTED:
            return chance_text(value)
        return self.value_text(value)

    def notes_of(self, setting: Setting | None = None) -> tuple[Note, ...]:
        """Return how a setting was computed and what has to be known of it; none if no cell is done."""
        outcome = self.outcome(setting)
        return () if outcome is None else tuple(Note.of(note) for note in outcome.notes)

    def total_notes(self) -> dict[Setting, Note]:
        """Return, by setting, how likely a noisy total of 0 or less is, where that was worth a note."""
        notes = {
            setting: next((note for note in self.notes_of(setting) if note.kind == "total"), None)
            for setting in self.protected
        }
        return {setting: note for setting, note in notes.items() if note is not None}

    @property
    def exactness(self) -> str:
        """Whether the numbers of the chosen setting are exact, in a sentence."""
        if self.is_exact():
            return "Exact values, no sampling."
        return f"Drawn, not exact: means of {self.task.draws:,} simulated releases."

    # --- entities ---------------------------------------------------------------------------------

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """The entities that were kept, the most affected first; those of one name with their rows."""
        outcome = self.outcome()
        kept = () if outcome is None else outcome.entities
        times = Counter(name for name, _ in kept)
        before = f"{self.noun.one} " if self.task.name is None else ""  # a number alone says nothing
        return tuple(
            Entity(
                f"{before}{plain(name)}"
                if times[name] == 1
                else f"{plain(name)} (row {int(numbers['place']) + 1})",
                numbers,
            )
            for name, numbers in kept
        )

    @property
    def all_kept(self) -> bool:
        """Whether every entity was kept one by one."""
        return len(self.entities) == self.entities_in_all


def _mechanism(setting: Setting) -> tuple[str, dict[str, Any]]:
    return setting.mechanism, noise_parameters(setting)
