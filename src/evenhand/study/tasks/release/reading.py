"""What a report on releases reads from results: the mechanism that it is about, and what stands beside it.

Unless it is told, the mechanism is found by a rule that chance does not drive:

1. Epsilon is the one nearest to 1 among those tested, by ratio; of two as near, the smaller. Mechanisms
   without an epsilon stand beside those at this epsilon.
2. Among those whose delta is below 0.01, or among all if there is none, the first of the plan is taken. A
   later one takes its place only if the error of its table is clearly smaller.

*Clearly* means that the paired interval leaves out no difference, at a level that is raised for how many
mechanisms are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.study.page.wording import group_name
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, estimated, group_estimate, paired_change
from evenhand.study.tasks.collect.page.reading import LEVEL, strict
from evenhand.study.tasks.release.names import SIZES
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.shared.sizes import Size

__all__ = ["TRUE_TABLE", "ReleaseReading", "read_release"]

TRUE_TABLE = Setting()
"""The setting in which the true table is published."""


@dataclass(frozen=True)
class ReleaseReading:
    """Results of a release with the setting that a page is about.

    Parameters
    ----------
    results : Results
    chosen : Setting
        A protected one.
    epsilon : Fraction or None
        At which mechanisms are set side by side.
    """

    results: Results
    chosen: Setting
    epsilon: Fraction | None

    # --- settings ---------------------------------------------------------------------------------

    @cached_property
    def protected(self) -> tuple[Setting, ...]:
        """Every protected setting of the plan."""
        return tuple(each for each in self.results.settings if each.is_protected)

    @cached_property
    def beside(self) -> tuple[Setting, ...]:
        """The settings that are set side by side, by delta and then as in the plan."""
        return tuple(sorted(_beside(self.protected, self.epsilon), key=self.delta))

    @cached_property
    def promising(self) -> tuple[Setting, ...]:
        """Those of them whose delta is below 0.01."""
        return tuple(each for each in self.beside if self.delta(each) < NO_GUARANTEE)

    @property
    def groups(self) -> tuple[str, ...]:
        """The labels of the groups."""
        return self.results.facts.groups

    def named(self, group: str) -> str:
        """Return a group as in a sentence."""
        return group_name(self.results.facts, group)

    @cached_property
    def classifies(self) -> bool:
        """Whether a model was trained."""
        task: Any = self.results.plan.task
        return bool(task.classify)

    @cached_property
    def cells(self) -> int:
        """How many cells the table has."""
        return math.prod(self.results.facts.schema.sizes.values())

    @property
    def people(self) -> int:
        """How many people are in a table."""
        runs = self._groups(TRUE_TABLE, "counted").sum(axis=-1)
        known = runs[np.isfinite(runs)]
        return round(float(known.mean())) if known.size else self.results.facts.rows

    # --- estimates --------------------------------------------------------------------------------

    def delta(self, setting: Setting) -> float:
        """Return the largest delta that was claimed in a repeat; 1 if no cell of the setting is done."""
        runs = self._runs(setting, "delta")
        known = runs[np.isfinite(runs)]
        return float(known.max()) if known.size else 1.0

    def is_exact(self, setting: Setting) -> bool:
        """Return whether the bias of a setting comes from a formula."""
        runs = self._runs(setting, "bias_exact")
        return bool(np.nanmin(runs, initial=1.0) == 1.0)

    def value(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a measure, of the chosen setting unless another is named."""
        return estimate(self.results, setting or self.chosen, measure, level=LEVEL)

    def change(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the change of a measure against the true table, within repeats."""
        return paired_change(self.results, setting or self.chosen, measure, level=LEVEL)

    def cell_error(self, setting: Setting | None = None) -> Estimated:
        """Return the mean absolute error of a cell."""
        return self.tested(self._runs(setting or self.chosen, "l1_error") / self.cells)

    def less_error(self, setting: Setting, than: Setting, *, comparisons: int) -> Estimated:
        """Return the error of one setting minus that of another, within repeats."""
        runs = self._runs(setting, "l1_error") - self._runs(than, "l1_error")
        return self.tested(runs / self.cells, level=strict(comparisons))

    def rate(self, group: str, name: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a number of a group."""
        return group_estimate(self.results, setting or self.chosen, group, name, level=LEVEL)

    def lost(self, group: str, setting: Setting | None = None, *, settings: int = 1) -> Estimated:
        """Return the people whom a table gains or loses of a group, as a share of those there are.

        The intervals of all groups hold together; those of so many settings too, if they are compared.
        """
        where = setting or self.chosen
        place = self.groups.index(group)
        net, counted = (self._groups(where, name)[:, place] for name in ("net", "counted"))
        with np.errstate(divide="ignore", invalid="ignore"):
            runs = np.where(counted > 0, net / counted, np.nan)
        return self.tested(runs, level=strict(len(self.groups) * settings))

    def person_error(self, group: str, setting: Setting | None = None) -> NDArray[np.float64]:
        """Return the absolute errors per person of a group in each repeat."""
        runs = self._groups(setting or self.chosen, "person_error")[:, self.groups.index(group)]
        return np.asarray(runs)

    def of_size(self, part: str, size: Size, setting: Setting | None = None) -> Estimated:
        """Return the mean of ``"error"``, ``"bias"``, ``"size"`` or ``"cells"`` of a class of cells."""
        return self.tested(self.size_runs(part, size, setting))

    def size_runs(self, part: str, size: Size, setting: Setting | None = None) -> NDArray[np.float64]:
        """Return the same in each repeat."""
        arrays = self.results.arrays
        place = arrays.data.index(f"{part}_{size.key}")
        runs: NDArray[np.float64] = arrays.of_data[self.results.place(setting or self.chosen), :, place]
        return runs

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """The classes of cells that occur, without that of empty cells."""
        return tuple(size for size in SIZES[1:] if self.of_size("cells", size, TRUE_TABLE).value > 0)

    def tested(self, runs: NDArray[np.float64], *, level: float = LEVEL) -> Estimated:
        """Return the estimate from one number per repeat."""
        return estimated(self.results, runs, level=level, kind="seeds", owner="page_of")

    def _runs(self, setting: Setting, measure: str) -> NDArray[np.float64]:
        return _runs(self.results, setting, measure)

    def _groups(self, setting: Setting, name: str) -> NDArray[np.float64]:
        arrays = self.results.arrays
        found: NDArray[np.float64] = arrays.of_groups[
            self.results.place(setting), :, : len(self.groups), arrays.rates.index(name)
        ]
        return found


def read_release(results: Results, *, chosen: object = None) -> ReleaseReading:
    """Return the reading of results: of the setting that is asked for, or that the rule finds.

    Raises
    ------
    InvalidParameterError
        If `chosen` is not a protected setting of the study, or there is none.
    """
    protected = tuple(each for each in results.settings if each.is_protected)
    if chosen is not None:
        asked = results.setting(chosen)
        if not asked.is_protected:
            must_be = "a setting that publishes something else than the true table"
            raise InvalidParameterError("chosen", owner="page_of", must_be=must_be, got=str(asked))
        epsilon = asked.epsilon if asked.epsilon is not None else _nearest(protected)
        return ReleaseReading(results, asked, epsilon)
    epsilon = _nearest(protected)
    draft = ReleaseReading(results, protected[0], epsilon)
    beside = _beside(protected, epsilon)
    field = [each for each in beside if draft.delta(each) < NO_GUARANTEE] or list(beside)
    best = field[0]
    for each in field[1:]:
        less = draft.less_error(each, best, comparisons=len(field) - 1)
        if less.is_clear and less.value < 0:
            best = each
    return ReleaseReading(results, best, epsilon)


def _nearest(settings: tuple[Setting, ...]) -> Fraction | None:
    tested = sorted({each.epsilon for each in settings if each.epsilon is not None})
    return min(tested, key=lambda each: (abs(math.log(each)), each), default=None)


def _beside(settings: tuple[Setting, ...], epsilon: Fraction | None) -> tuple[Setting, ...]:
    return tuple(each for each in settings if each.epsilon in {None, epsilon})


def _runs(results: Results, setting: Setting, measure: str) -> NDArray[np.float64]:
    arrays = results.arrays
    found: NDArray[np.float64] = arrays.of_measures[results.place(setting), :, arrays.measures.index(measure)]
    return found
