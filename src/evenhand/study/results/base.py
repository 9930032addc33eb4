"""The outcomes of a study in the order of its plan: what every table, sentence and page reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from evenhand._validate import kind_of, refuse
from evenhand.answer.telling import Telling
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.stages import split_cells
from evenhand.study.results.lookup import setting_of
from evenhand.study.store.canonical import table_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.store.outcome import Outcome

_OWNER = "Results"


@dataclass(frozen=True, eq=False, repr=False)
class ResultData:
    """The outcomes of a study, without the tables that are made of them: see ``Results``."""

    plan: Plan
    facts: Facts
    outcomes: tuple[Outcome, ...]

    def __init__(self, plan: Plan, facts: Facts, outcomes: Iterable[Outcome]) -> None:
        kinds: tuple[tuple[str, object, type], ...] = (("plan", plan, Plan), ("facts", facts, Facts))
        for parameter, given, kind in kinds:
            if not isinstance(given, kind):
                refuse(parameter, _OWNER, f"a {kind.__name__}", kind_of(given))
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "facts", facts)
        object.__setattr__(self, "outcomes", _in_order(plan, tuple(outcomes)))

    # --- what there is ----------------------------------------------------------------------------

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting of the plan, the unprotected one first."""
        return self.plan.settings()

    @cached_property
    def missing(self) -> tuple[Cell, ...]:
        """The cells that were not run; those that confirm a remedy are known once all remedies were tried."""
        run = {outcome.cell.id for outcome in self.outcomes}
        first, remedies, _ = split_cells(self.plan)
        is_tried = all(cell.id in run for cell in (*first, *remedies))
        cells = (*self.plan.cells(), *(self.confirming if is_tried else ()))
        return tuple(cell for cell in cells if cell.id not in run)

    @cached_property
    def confirming(self) -> tuple[Cell, ...]:
        """The cells that run the remedy that does best again, with what it is compared with.

        There are none where no remedy helps, and where its effects are exact.
        """
        if not self.plan.confirm:
            return ()
        first = [outcome for outcome in self.outcomes if outcome.cell.repeat < self.plan.repeats]
        chosen = type(self)(self.plan.with_(confirm=False), self.facts, first)  # as it was chosen at first
        telling = Telling(self.plan.task.case(chosen))
        choice, table = telling.choice, telling.table
        picked = choice.first or choice.find_least("trade-off")
        if picked is None or all(seen.basis == "exact" for seen in table.by_option[picked.option.name]):
            return ()
        names, step = {table.unprotected, table.page}, picked.option.name
        while step not in names:
            names.add(step)
            step = table.by_name[step].reference
        return self.plan.confirming_cells(each for each in self.settings if str(each) in names)

    @cached_property
    def fresh(self) -> Self | None:
        """The results of the fresh repeats in which a remedy was confirmed; None before all are run."""
        first = self.plan.repeats
        again = [
            replace(outcome, cell=Cell(outcome.cell.setting, outcome.cell.repeat - first))
            for outcome in self.outcomes
            if outcome.cell.repeat >= first
        ]
        is_whole = set(Counter(outcome.cell.setting for outcome in again).values()) == {first}
        return type(self)(self.plan.with_(confirm=False), self.facts, again) if is_whole else None

    @cached_property
    def failures(self) -> tuple[Outcome, ...]:
        """The outcomes that are failures."""
        return tuple(outcome for outcome in self.outcomes if outcome.failure is not None)

    @cached_property
    def arrays(self) -> ResultArrays:
        """Every number, by setting and repeat; without the fresh repeats in which a remedy was confirmed."""
        every, repeats = self.all_arrays, self.plan.repeats
        names = ("of_measures", "of_groups", "of_data", "done")
        return replace(every, **{name: getattr(every, name)[:, :repeats] for name in names})

    @cached_property
    def all_arrays(self) -> ResultArrays:
        """Every number, by setting and repeat; fresh repeats last."""
        return _gather_arrays(self)

    def __len__(self) -> int:
        return len(self.outcomes)

    def setting(self, given: object) -> Setting:
        """Return the setting of this study that `given` stands for.

        Parameters
        ----------
        given : Setting, mapping or str
            A mapping of some fields, such as ``{"mechanism": "grr", "epsilon": 1}``, or a short text, such as
            ``"grr uniform 1"`` or ``"unprotected"``. It must fit one setting and no other.
        """
        remedies = self.plan.remedies
        return setting_of(given, self.settings, owner="Results.setting", remedies=remedies)

    def place(self, setting: Setting) -> int:
        """Return the place of a setting among :attr:`settings`."""
        place = self.arrays.places.get(setting.id)
        if place is None:
            refuse("setting", _OWNER, "one of the study", str(setting))
        return place

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical table of outcomes."""
        return table_hash(self.outcomes)


def _in_order(plan: Plan, outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Return the outcomes in the plan's order, those that confirm a remedy last.

    A cell twice is refused, and one that is not in the plan.
    """
    known = {outcome.cell.id: outcome for outcome in outcomes}
    if len(known) < len(outcomes):
        refuse("outcomes", _OWNER, "at most one per cell", "two of one cell")
    kept = tuple(known[id_] for id_ in (cell.id for cell in plan.possible_cells()) if id_ in known)
    if len(kept) < len(outcomes):
        refuse("outcomes", _OWNER, "of cells of the plan", "one of a cell that is not in it")
    return kept


# --- numbers as arrays ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResultArrays:
    """Every number of a study; NaN where a cell has none, or was not run, or failed."""

    places: Mapping[str, int]
    """The place of each setting along the first axis, by its canonical name."""
    measures: tuple[str, ...]
    groups: tuple[str, ...]
    rates: tuple[str, ...]
    data: tuple[str, ...]
    of_measures: NDArray[np.float64]
    """Settings x repeats x measures."""
    of_groups: NDArray[np.float64]
    """Settings x repeats x groups x rates."""
    of_data: NDArray[np.float64]
    """Settings x repeats x data."""
    done: NDArray[np.bool_]
    """Which cells, settings x repeats, have a result."""


def _gather_arrays(results: ResultData) -> ResultArrays:
    outcomes, task = results.outcomes, results.plan.task
    places = {setting.id: place for place, setting in enumerate(results.settings)}
    measures = _names(task.measures, (outcome.measures for outcome in outcomes))
    groups = _names(results.facts.groups, (outcome.groups for outcome in outcomes))
    rates = _names(task.group_numbers, (row for outcome in outcomes for row in outcome.groups.values()))
    data = _names(task.data_numbers, (outcome.data for outcome in outcomes))
    last = max((outcome.cell.repeat for outcome in outcomes), default=0)
    shape = (len(places), max(results.plan.repeats, last + 1))
    of_measures = np.full((*shape, len(measures)), np.nan)
    of_groups = np.full((*shape, len(groups), len(rates)), np.nan)
    of_data = np.full((*shape, len(data)), np.nan)
    done = np.zeros(shape, dtype=np.bool_)
    for outcome in outcomes:
        place = places[outcome.cell.setting.id], outcome.cell.repeat
        done[place] = outcome.failure is None
        of_measures[place] = [outcome.measures.get(name, np.nan) for name in measures]
        of_data[place] = [outcome.data.get(name, np.nan) for name in data]
        for at_group, group in enumerate(groups):
            of_groups[place][at_group] = [outcome.groups.get(group, {}).get(rate, np.nan) for rate in rates]
    for array in (of_measures, of_groups, of_data, done):
        array.flags.writeable = False
    return ResultArrays(places, measures, groups, rates, data, of_measures, of_groups, of_data, done)


def _names(first: Iterable[str], mappings: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """Return the names that are always there, then others in alphabetical order."""
    known = tuple(first)
    others = set().union(*mappings).difference(known)
    return (*known, *sorted(others))
