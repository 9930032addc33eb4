"""What a report on releases reads from results: the mechanism that it is about, and what stands beside it.

Unless it is told, the mechanism is found by a rule that chance does not drive:

1. Epsilon is the one nearest to 1 among those tested, by ratio; of two as near, the smaller. Mechanisms
   without an epsilon stand beside those at this epsilon.
2. Among those whose delta is below 0.01, or among all if there is none, the first of the plan is taken. A
   later one takes its place only if it miscounts no group that the first does not, and the error of its table
   is clearly smaller, and by enough to matter: half a person a cell, and a tenth of the error.

*Clearly* means that the paired interval leaves out no difference, at a level that is raised for how many
mechanisms are compared. A group is miscounted if it is clearly off, by one percent or more. Groups of which
the table has fewer than 30 people are not judged: no sentence at the head rests on them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.study.page.comparing import ENOUGH_REPEATS, FEWEST_PEOPLE, LEVEL, clearly, strict
from evenhand.study.page.reading import BASELINE, COUNT, Reading, mean_of
from evenhand.study.tasks.release.names import SIZES
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.shared.sizes import Size

ANY = (-math.inf, math.inf)
LEAST = 0.5
"""Fewer people than this are nobody: of a group, where what is expected of it is exact, and of a cell."""
TENTH, PERCENT = 0.1, 0.01
"""Errors that differ by a smaller share than the first do not choose a mechanism; a group whose count is off
by less than the second is not called miscounted."""
LOSS = (-1.0, math.inf)
"""Between which limits the people lie whom a table gains or loses, as a share of those there are."""


class ReleaseReading(Reading):
    """Results of a release with the setting that a page is about; the baseline publishes the true table."""

    package = "evenhand.study.tasks.release"

    must_be = "a setting that publishes something else than the true table"

    def by_rule(self) -> Setting:
        """Return the setting that the rule at the head of the module finds."""
        beside = self.at_epsilon(self.nearest_epsilon)
        field = [setting for setting in beside if self.delta(setting) < NO_GUARANTEE] or list(beside)
        return self.preferred(field)

    def preferred(self, field: Sequence[Setting]) -> Setting:
        """Return the first of several settings, or a later one by the second part of the rule."""
        best = field[0]
        for later in field[1:]:
            fair = set(self.miscounted(later)) <= set(self.miscounted(best))
            if fair and self.errs_less(later, best, comparisons=len(field) - 1):
                best = later
        return best

    def errs_less(self, setting: Setting, than: Setting, *, comparisons: int) -> bool:
        """Return whether the error of a setting is clearly smaller than that of another, and matters."""
        less = self.less_error(setting, than, comparisons=comparisons)
        return clearly(less, -1) and self.matters(-less.value, than)

    def matters(self, difference: float, setting: Setting) -> bool:
        """Return whether errors of a cell that are smaller by so much than a setting's are worth a choice."""
        return difference >= max(LEAST, TENTH * self.cell_error(setting).value)

    def next_command(self, setting: Setting) -> str:
        """Return the command that publishes the table of a data set; that of a file needs its folder."""
        return str(
            self.task.data_set_command(setting, self.results.facts.schema, data=self.results.plan.data)
        )

    @cached_property
    def beside(self) -> tuple[Setting, ...]:
        """The settings that are set side by side, by delta and then as in the plan."""
        return tuple(sorted(self.at_epsilon(self.epsilon), key=self.delta))

    @cached_property
    def promising(self) -> tuple[Setting, ...]:
        """Those of them whose delta is below 0.01."""
        return tuple(setting for setting in self.beside if self.delta(setting) < NO_GUARANTEE)

    @cached_property
    def too_few(self) -> tuple[str, ...]:
        """The groups of which the table has too few people to say anything."""
        return tuple(group for group in self.groups if self.group_people(group) < FEWEST_PEOPLE)

    @cached_property
    def judged(self) -> tuple[str, ...]:
        """The groups that are large enough; where no run is done, all."""
        return tuple(group for group in self.groups if group not in self.too_few)

    def group_people(self, group: str) -> float:
        """Return how many people of a group are in a table."""
        return mean_of(self.group_runs(BASELINE, group, "counted"))

    @cached_property
    def classifies(self) -> bool:
        """Whether a model was trained."""
        return bool(self.task.classify)

    @cached_property
    def cells(self) -> int:
        """How many cells the table has."""
        return math.prod(self.results.facts.schema.sizes.values())

    @cached_property
    def people(self) -> int:
        """How many people are in a table, those who do not state their group too."""
        facts = self.results.facts
        counted = mean_of(
            np.asarray(sum(self.group_runs(BASELINE, group, "counted") for group in self.groups))
        )
        known = math.isfinite(counted) and any(facts.sizes)
        return round(counted * (1 + facts.not_stated / sum(facts.sizes))) if known else facts.rows

    # --- estimates --------------------------------------------------------------------------------

    def delta(self, setting: Setting) -> float:
        """Return the largest delta that was claimed in a repeat; 1 if no cell of the setting is done."""
        largest = self.largest("delta", setting)
        return largest if math.isfinite(largest) else 1.0

    def is_exact(self, setting: Setting, what: Literal["bias", "error"] = "bias") -> bool:
        """Return whether the bias or the error of a setting comes from a formula."""
        return bool(np.nanmin(self.runs(setting, f"{what}_exact"), initial=1.0) == 1.0)

    def has_enough_repeats(self, setting: Setting) -> bool:
        """Return whether a setting can be chosen: its numbers are exact, or as many repeats are done."""
        exact = self.is_exact(setting) and self.is_exact(setting, "error") and not self.classifies
        return exact or self.cell_error(setting).runs >= ENOUGH_REPEATS

    def cell_error(self, setting: Setting | None = None) -> Estimated:
        """Return the mean absolute error of a cell."""
        chosen = setting or self.chosen
        runs = self.runs(chosen, "l1_error") / self.cells
        return self._settled(runs, exact=self.is_exact(chosen, "error"), within=COUNT)

    def tested(self, runs: NDArray[np.float64], **asked: Any) -> Estimated:
        """Return the estimate from one number per repeat, in billionths: sums of exact numbers err below."""
        return super().tested(np.round(runs, 9), **asked)

    def compared(self, runs: NDArray[np.float64], *, level: float = LEVEL) -> Estimated:
        """Return a difference of errors of the chosen setting, from one number per repeat."""
        return self._settled(runs, exact=self.is_exact(self.chosen, "error"), within=ANY, level=level)

    def _settled(self, runs: NDArray[np.float64], *, exact: bool, **asked: Any) -> Estimated:
        """Return the estimate from one number per repeat.

        An exact number is its own interval where every repeat is about the same table, or gives the same.
        """
        found = self.tested(runs, is_computed=exact, **asked)
        if not exact or self.classifies:
            return found
        return replace(found, low=found.value, high=found.value)

    def less_error(self, setting: Setting, than: Setting, *, comparisons: int) -> Estimated:
        """Return the error of one setting minus that of another, within repeats."""
        runs = (self.runs(setting, "l1_error") - self.runs(than, "l1_error")) / self.cells
        exact = self.is_exact(setting, "error") and self.is_exact(than, "error")
        return self._settled(runs, exact=exact, within=ANY, level=strict(comparisons))

    def lost(self, group: str, setting: Setting | None = None, *, settings: int = 1) -> Estimated:
        """Return the people whom a table gains or loses of a group, as a share of those there are.

        It is what is expected where the bias is exact, half a person or more, else what the repeats
        published. The intervals of all groups hold together; those of so many settings too, if they are
        compared.
        """
        exact = self.is_exact(setting or self.chosen)
        runs = self._shares_of("expected_net" if exact else "net", group, setting, least=LEAST * exact)
        return self._settled(runs, exact=exact, within=LOSS, level=strict(len(self.groups) * settings))

    def varies(self, group: str, setting: Setting | None = None) -> float:
        """Return the standard deviation of what one release gains or loses of a group, as a share; or NaN."""
        return mean_of(self._shares_of("net_spread", group, setting))

    def _shares_of(
        self, name: str, group: str, setting: Setting | None, *, least: float = 0.0
    ) -> NDArray[np.float64]:
        """Return people in each repeat, fewer than `least` as none, as a share of those of the group."""
        net, counted = (self.group_runs(setting or self.chosen, group, each) for each in (name, "counted"))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(counted > 0, np.where(np.abs(net) < least, 0.0, net) / counted, np.nan)

    def losses(self, setting: Setting | None = None) -> dict[str, Estimated]:
        """Return the same of every group that is judged."""
        return {group: self.lost(group, setting) for group in self.judged}

    def miscounted(self, setting: Setting | None = None, *, sign: int = 0) -> list[str]:
        """Return the judged groups that are clearly off by a percent or more, the worst first.

        With a sign only those that are counted too high (1), or too low (-1).
        """
        off = {
            group: loss
            for group, loss in self.losses(setting).items()
            if loss.is_clear and abs(loss.value) >= PERCENT and loss.value * sign >= 0
        }
        return sorted(off, key=lambda group: -abs(off[group].value))

    def worst(self, settings: Sequence[Setting]) -> tuple[Setting, str] | None:
        """Return the setting and the group it miscounts most, if that is clear among all of both."""
        found = [
            (abs(lost.value), -place, setting, group)
            for place, setting in enumerate(settings)
            for group in self.judged
            if (lost := self.lost(group, setting, settings=len(settings))).is_clear
            and abs(lost.value) >= PERCENT
        ]
        return max(found, key=lambda each: each[:2])[2:] if found else None

    def of_size(self, part: str, size: Size, setting: Setting | None = None) -> Estimated:
        """Return the mean of ``"error"``, ``"bias"``, ``"size"`` or ``"cells"`` of a class of cells."""
        exact = part == "error" and self.is_exact(setting or self.chosen, "error")
        within = ANY if part == "bias" else COUNT
        return self._settled(self.size_runs(part, size, setting), exact=exact, within=within)

    def size_runs(self, part: str, size: Size, setting: Setting | None = None) -> NDArray[np.float64]:
        """Return the same in each repeat."""
        return self.data_runs(setting or self.chosen, f"{part}_{size.key}")

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """The classes of cells that occur, without that of empty cells."""
        return tuple(size for size in SIZES[1:] if self.of_size("cells", size, BASELINE).value > 0)
