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

import numpy as np

from evenhand.decide.result.wording import TOTAL_WORDS
from evenhand.errors import InvalidParameterError
from evenhand.study.page.wording import plain
from evenhand.study.tasks.decide.methods import noise_parameters, way_of
from evenhand.study.tasks.decide.names import ENTITY_SIZES
from evenhand.study.tasks.decide.wording import Amounts, noun_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.results import Results
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.decide.task import DecideTask
    from evenhand.study.tasks.decide.wording import Noun
    from evenhand.study.tasks.shared.sizes import Size

__all__ = ["DecideReading", "Entity", "read_decision"]


@dataclass(frozen=True)
class Entity:
    """An entity that was kept: its name, and its numbers by name."""

    name: str
    numbers: Mapping[str, float]

    def __getitem__(self, number: str) -> float:
        return self.numbers.get(number, math.nan)


@dataclass(frozen=True)
class DecideReading:
    """Results of decisions with the setting that a page is about.

    Parameters
    ----------
    results : Results
    chosen : Setting
        A protected one.
    """

    results: Results
    chosen: Setting

    # --- what was asked ---------------------------------------------------------------------------

    @property
    def task(self) -> DecideTask:
        """The task of the plan."""
        task: Any = self.results.plan.task
        return task  # type: ignore[no-any-return]

    @property
    def is_rule(self) -> bool:
        """Whether a right follows, and not money."""
        return self.task.is_rule

    @cached_property
    def noun(self) -> Noun:
        """What the entities are called."""
        return noun_of(self.task.name)

    @cached_property
    def amounts(self) -> Amounts:
        """How amounts are worded."""
        return Amounts.of(self.task)

    @property
    def entities_in_all(self) -> int:
        """How many entities there are."""
        return self.results.facts.rows

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of people."""
        return self.results.facts.groups

    # --- settings ---------------------------------------------------------------------------------

    @cached_property
    def protected(self) -> tuple[Setting, ...]:
        """Every protected setting of the plan."""
        return tuple(each for each in self.results.settings if each.is_protected)

    @cached_property
    def ways(self) -> tuple[Setting, ...]:
        """The same mechanism and epsilon with everything that is done besides, the plain release first."""
        return tuple(
            each
            for each in self.protected
            if each.epsilon == self.chosen.epsilon and _mechanism(each) == _mechanism(self.chosen)
        )

    @cached_property
    def by_epsilon(self) -> tuple[Setting, ...]:
        """The same mechanism and way at every epsilon, the most private first."""
        found = [
            each
            for each in self.protected
            if _mechanism(each) == _mechanism(self.chosen) and way_of(each) == way_of(self.chosen)
        ]
        return tuple(sorted(found, key=lambda each: each.epsilon or math.inf))

    # --- numbers ----------------------------------------------------------------------------------

    def value(self, measure: str, setting: Setting | None = None) -> float:
        """Return the mean of a measure over repeats; NaN if no cell of the setting is done."""
        arrays = self.results.arrays
        runs = arrays.of_measures[
            self.results.place(setting or self.chosen), :, arrays.measures.index(measure)
        ]
        return _mean(runs)

    def is_exact(self, setting: Setting | None = None) -> bool:
        """Return whether nothing was sampled."""
        return self.value("exact", setting) == 1.0

    def of_group(self, group: str, name: str, setting: Setting | None = None) -> float:
        """Return a number of a group of people."""
        arrays = self.results.arrays
        place = self.results.place(setting or self.chosen)
        return _mean(arrays.of_groups[place, :, arrays.groups.index(group), arrays.rates.index(name)])

    def of_size(self, part: str, size: Size, setting: Setting | None = None) -> float:
        """Return a number of a class of entities."""
        arrays = self.results.arrays
        place = self.results.place(setting or self.chosen)
        return _mean(arrays.of_data[place, :, arrays.data.index(f"{part}_{size.key}")])

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """The classes of entities that occur, by size."""
        return tuple(size for size in ENTITY_SIZES if self.of_size("entities", size) > 0)

    def outcome(self, setting: Setting | None = None) -> Outcome | None:
        """Return the first outcome of a setting that is no failure."""
        wanted = setting or self.chosen
        return next(
            (each for each in self.results.outcomes if each.cell.setting == wanted and each.failure is None),
            None,
        )

    def total_notes(self) -> dict[Setting, str]:
        """Return, by setting, how likely a noisy total of 0 or less is, where that was worth a note."""
        found = {}
        for setting in self.protected:
            outcome = self.outcome(setting)
            said = [note for note in (outcome.notes if outcome else ()) if note.startswith(TOTAL_WORDS)]
            if said:
                found[setting] = said[0]
        return found

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """The entities that were kept, the most affected first; those of one name with their rows."""
        found = self.outcome()
        kept = () if found is None else found.entities
        times = Counter(name for name, _ in kept)
        before = f"{self.noun.one} " if self.task.name is None else ""  # a number alone says nothing
        return tuple(
            Entity(
                f"{before}{plain(name)}"
                if times[name] == 1
                else f"{plain(name)} (row {int(each['place']) + 1})",
                each,
            )
            for name, each in kept
        )

    @property
    def all_kept(self) -> bool:
        """Whether every entity was kept one by one."""
        return len(self.entities) == self.entities_in_all

    def needed(self, setting: Setting | None = None) -> float:
        """Return what it takes besides the budget that nobody gets less on average than is due."""
        return self.value("cost_of_privacy", setting) + max(0.0, self.beyond(setting))

    def beyond(self, setting: Setting | None = None) -> float:
        """Return what is expected to be paid beyond the budget; 0 where it is rounding alone."""
        over = self.value("overspent", setting)
        return over if abs(over) > 1e-9 * max(self.value("moved", setting), 1e-12 * self.money) else 0.0

    @property
    def money(self) -> float:
        """The budget; 1 where shares are compared."""
        return 1.0 if self.task.budget is None else self.task.budget


def read_decision(results: Results, *, chosen: object = None) -> DecideReading:
    """Return the reading of results: of the setting that is asked for, or that the rule finds.

    Raises
    ------
    InvalidParameterError
        If `chosen` is not a protected setting of the study.
    """
    if chosen is not None:
        asked = results.setting(chosen)
        if not asked.is_protected:
            must_be = "a setting that decides from counts with noise"
            raise InvalidParameterError("chosen", owner="page_of", must_be=must_be, got=str(asked))
        return DecideReading(results, asked)
    protected = [each for each in results.settings if each.is_protected]
    field = [each for each in protected if _mechanism(each) == _mechanism(protected[0])]
    epsilon = _nearest(field)
    beside = [each for each in field if each.epsilon == epsilon]
    processed = [each for each in beside if way_of(each)[0]]
    return DecideReading(results, (processed or beside)[0])


def _nearest(settings: list[Setting]) -> Fraction | None:
    tested = sorted({each.epsilon for each in settings if each.epsilon is not None})
    return min(tested, key=lambda each: (abs(math.log(each)), each), default=None)


def _mechanism(setting: Setting) -> tuple[str, dict[str, Any]]:
    return setting.mechanism, noise_parameters(setting)


def _mean(runs: Any) -> float:
    known = runs[np.isfinite(runs)]
    return float(known.mean()) if known.size else math.nan
