"""What a report on decisions reads from results: the setting that it is about, and what stands beside it.

Unless it is told, the setting is found by a rule: the first mechanism of the plan, the epsilon nearest to 1
by ratio (of two as near, the smaller), and the steps of post-processing if the plan has any, for they are
what would be done. A plan without steps that names one mitigation and nothing else is about that one.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.report.page import Answer
from evenhand.report.words import plain
from evenhand.study.page.reading import Reading, mean_of
from evenhand.study.page.wording import with_article
from evenhand.study.tasks.decide.command import audit_command
from evenhand.study.tasks.decide.methods import method_of, noise_parameters
from evenhand.study.tasks.decide.names import ENTITY_SIZES
from evenhand.study.tasks.decide.wording import (
    PACKAGE,
    Amounts,
    chance_text,
    few_text,
    noun_of,
    odds_text,
    people_text,
    setting_words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.wording import Noun
    from evenhand.study.tasks.shared.sizes import Size

METHOD_KINDS = frozenset({"method", "estimated error", "uncertified"})
"""The kinds of notes that say how a result was computed."""

_RARE = 0.01
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

    package = PACKAGE
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
        besides = [setting for setting in beside if method_of(setting) != ((), None)]
        if len(besides) == 1:
            return besides[0]
        return next((setting for setting in besides if method_of(setting)[0]), beside[0])

    def next_command(self, setting: Setting) -> str:
        """Return the command that studies a setting alone, so that the page is about it."""
        steps, mitigation = method_of(setting)
        return audit_command(
            self.results.plan,
            epsilons=[] if setting.epsilon is None else [setting.epsilon],
            mitigations=[] if mitigation is None else [mitigation],
            post=steps,
        )

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
        return Amounts.of(self.task, language=self.language)

    @cached_property
    def _common_slots(self) -> dict[str, Any]:
        noun, article = self.noun, with_article(self.noun.one)
        return {
            "noun": noun.one,
            "Noun": noun.one.capitalize(),
            "nouns": noun.many,
            "Nouns": noun.many.capitalize(),
            "a_noun": article,
            "A_noun": article[:1].upper() + article[1:],
            "total": self.entities_in_all,
            "people": plain(self.task.count or "people"),
            "setting": setting_words(self.chosen),
        }

    def say(self, key: str, /, **slots: Any) -> str:
        """Return a sentence of the catalogue, with what the entities and the setting are called."""
        return self.sentences.say(key, **{**self._common_slots, **slots})

    def answer(self, key: str, /, *, action: str = "", **slots: Any) -> Answer:
        """Return a finding of the catalogue with its evidence."""
        answer = self.sentences.answer(key, **{**self._common_slots, **slots})
        return Answer(answer.finding, answer.evidence.strip(), action)

    def say_kind(self, key: str, /, **slots: Any) -> str:
        """Return a sentence that is another one for a right than for money."""
        return self.say(f"{key}.{'rule' if self.is_rule else 'money'}", **slots)

    def chance(self, value: float) -> str:
        """Return a chance in percent."""
        return chance_text(value, self.sentences)

    def few(self, value: float) -> str:
        """Return an expected number of entities."""
        return few_text(value, self.sentences)

    def number_of_people(self, value: float) -> str:
        """Return an expected number of people."""
        return people_text(value, self.sentences)

    def odds(self, value: float, *, base: int = 100) -> str:
        """Return a share below 1 as so many of a hundred, or of more."""
        return odds_text(value, self.sentences, base=base)

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
    def methods(self) -> tuple[Setting, ...]:
        """The same mechanism and epsilon with everything that is done besides, the plain release first."""
        return tuple(setting for setting in self._of_the_mechanism if setting.epsilon == self.chosen.epsilon)

    @cached_property
    def by_epsilon(self) -> tuple[Setting, ...]:
        """The same mechanism and method at every epsilon, the most private first."""
        same = [setting for setting in self._of_the_mechanism if method_of(setting) == method_of(self.chosen)]
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
        return self.few(value) if self.is_rule else self.amounts.text(value)

    def value_texts(self, *values: float) -> list[str]:
        """Return expected numbers or amounts that stand side by side in a sentence.

        Where one number is counted in many releases, the others say that they are of one release.
        """
        texts = [self.value_text(value) for value in values]
        if not self.is_rule or not any(value > 0 and round(value, 2) < 1 for value in values):
            return texts
        pairs = zip(values, texts, strict=True)
        return [
            self.say("number.each", count=text) if round(value, 2) >= 1 else text for value, text in pairs
        ]

    def measure_text(self, name: str, setting: Setting) -> str:
        """Return a measure of a setting as a table has it."""
        value = self.beyond(setting) if name == "overspent" else self.mean(name, setting)
        if not math.isfinite(value):
            return self.say("number.unknown")
        if self.is_rule and name not in EXPECTED:
            return self.chance(value)
        return self.value_text(value)

    def nobody_loses(self, setting: Setting | None = None) -> bool:
        """Return whether no entity loses on average as much as anybody can be paid.

        Of a right: whether fewer than 1 of 100 releases decide wrongly on any entity.
        """
        if self.is_rule:
            return self.mean("expected_wrong", setting) < _RARE
        return self.amounts.is_none(self.mean("cost_of_privacy", setting)) or self.loser(setting) is None

    def nobody_gains_or_loses(self, setting: Setting | None = None) -> bool:
        """Return whether no entity gains or loses on average as much as anybody can be paid."""
        return self.amounts.is_none(self.mean("largest_misallocation", setting))

    def chance_of_any(self, *, right: bool) -> float:
        """Return how likely a release is to be wrong on any entity that has the right, or that has it not.

        Noise is drawn for each entity on its own. The entities that were not kept are added by their sum.
        """
        expected = self.mean("expected_refused" if right else "expected_granted")
        flips = [entity["flip"] for entity in self.entities if (entity["truth"] >= 0.5) == right]
        none = math.prod(1 - flip for flip in flips) * math.exp(min(0.0, sum(flips) - expected))
        return min(1 - none, expected)

    def loser(self, setting: Setting | None = None) -> Entity | None:
        """Return the entity that loses most on average, or that loses its right most often."""
        if self.is_rule:
            entitled = [entity for entity in self.entities_under(setting) if entity["truth"] >= 0.5]
            most = max(entitled, key=lambda entity: entity["flip"], default=None)
            return most if most is not None and most["flip"] > 0 else None
        lowest = min(self.entities_under(setting), key=lambda entity: entity["bias"], default=None)
        if lowest is None or lowest["bias"] >= 0 or self.amounts.is_none(lowest["bias"] * self.money):
            return None
        return lowest

    def notes_of(self, setting: Setting | None = None) -> tuple[Note, ...]:
        """Return how a setting was computed and what has to be known of it; none if no run is done."""
        outcome = self.outcome(setting)
        return () if outcome is None else tuple(Note.of(note) for note in outcome.notes)

    def computed_by(self, setting: Setting | None = None) -> Note | None:
        """Return how a setting was computed, by the kind of the note; None if no run is done."""
        return next((note for note in self.notes_of(setting) if note.kind in METHOD_KINDS), None)

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
        return self.say("exactness.exact" if self.is_exact() else "exactness.drawn", draws=self.task.draws)

    # --- entities ---------------------------------------------------------------------------------

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """The entities that were kept, the most affected first; those of one name with their rows."""
        return self.entities_under()

    def entities_under(self, setting: Setting | None = None) -> tuple[Entity, ...]:
        """Return the entities that were kept of a setting, of the chosen one unless another is named."""
        outcome = self.outcome(setting)
        kept = () if outcome is None else outcome.entities
        times = Counter(name for name, _ in kept)
        return tuple(Entity(self._entity_name(name, numbers, times[name]), numbers) for name, numbers in kept)

    def _entity_name(self, name: str, numbers: Mapping[str, float], times: int) -> str:
        if times > 1:
            return self.say("entities.row", name=plain(name), row=int(numbers["place"]) + 1)
        return plain(name) if self.task.name is not None else f"{self.noun.one} {plain(name)}"

    @property
    def all_kept(self) -> bool:
        """Whether every entity was kept one by one."""
        return len(self.entities) == self.entities_in_all


def _mechanism(setting: Setting) -> tuple[str, dict[str, Any]]:
    return setting.mechanism, noise_parameters(setting)
