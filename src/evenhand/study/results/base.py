"""The outcomes of a study in the order of its plan: what every table, sentence and page reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from evenhand.errors import InvalidParameterError
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.results.arrays import ResultArrays, gathered
from evenhand.study.results.lookup import setting_of
from evenhand.study.store.canonical import table_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.study.plan.cells import Cell, Setting
    from evenhand.study.store.outcome import Outcome

__all__ = ["ResultData"]

_OWNER = "Results"


@dataclass(frozen=True, eq=False, repr=False)
class ResultData:
    """The outcomes of a study, without the tables that are made of them: see :class:`Results`.

    Parameters
    ----------
    plan : Plan
    facts : Facts
    outcomes : iterable of Outcome
        At most one per cell of the plan. Cells without one were not run, as after a cancel.
    """

    plan: Plan
    facts: Facts
    outcomes: tuple[Outcome, ...]

    def __init__(self, plan: Plan, facts: Facts, outcomes: Iterable[Outcome]) -> None:
        kinds: tuple[tuple[str, object, type], ...] = (("plan", plan, Plan), ("facts", facts, Facts))
        for parameter, given, kind in kinds:
            if not isinstance(given, kind):
                must_be, got = f"a {kind.__name__}", f"a value of type {type(given).__name__}"
                raise InvalidParameterError(parameter, owner=_OWNER, must_be=must_be, got=got)
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
        """The cells that were not run."""
        run = {outcome.cell.id for outcome in self.outcomes}
        return tuple(cell for cell in self.plan.cells() if cell.id not in run)

    @cached_property
    def failures(self) -> tuple[Outcome, ...]:
        """The outcomes that are failures."""
        return tuple(outcome for outcome in self.outcomes if outcome.failure is not None)

    @cached_property
    def arrays(self) -> ResultArrays:
        """Every number, by setting and repeat."""
        return gathered(
            self.settings, self.plan.repeats, self.facts.groups, self.outcomes, task=self.plan.task
        )

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
        return setting_of(given, self.settings, owner="Results.setting")

    def place(self, setting: Setting) -> int:
        """Return the place of a setting among :attr:`settings`."""
        found = self.arrays.places.get(setting.id)
        if found is None:
            got = str(setting)
            raise InvalidParameterError("setting", owner=_OWNER, must_be="one of the study", got=got)
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical table of outcomes."""
        return table_hash(self.outcomes)


def _in_order(plan: Plan, outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Return the outcomes in the plan's order; refuse a cell twice, and one that is not in the plan."""
    found = {outcome.cell.id: outcome for outcome in outcomes}
    if len(found) < len(outcomes):
        raise InvalidParameterError(
            "outcomes", owner=_OWNER, must_be="at most one per cell", got="two of one cell"
        )
    kept = tuple(found[id_] for id_ in (cell.id for cell in plan.cells()) if id_ in found)
    if len(kept) < len(outcomes):
        must_be, got = "of cells of the plan", "one of a cell that is not in it"
        raise InvalidParameterError("outcomes", owner=_OWNER, must_be=must_be, got=got)
    return kept
