"""What a report on classifiers reads from results: the setting that it is about, and what stands beside it.

Unless it is told, the setting is found by a rule that chance does not drive:

1. Epsilon is the one nearest to 1 among those tested, by ratio; of two as near, the smaller.
2. Among the private ways at this epsilon, or among all if none is private, the first of the plan is taken. A
   later one takes its place if its gap is clearly smaller, or if its gap is not clearly larger and its
   accuracy clearly higher. A way that gives everybody the same answer has no gap whatever the groups are
   like, and is taken only if there is no other.

*Clearly* means that the paired interval leaves out no difference, at a level that is raised for how many ways
are compared. Where the plan has no way but the plain one, the page is about that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from evenhand.report.words import epsilon_of
from evenhand.study.page.wording import group_name
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, estimated, group_change, group_estimate, paired_change
from evenhand.study.tasks.collect.page.reading import LEVEL, strict
from evenhand.study.tasks.learn.methods import METHODS, PLAIN, method_title

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.learn.methods import Method
    from evenhand.study.tasks.learn.task import LearnTask

__all__ = ["ACCURACY", "GAP", "PLAIN_SETTING", "LearnReading", "read_learning"]

PLAIN_SETTING = Setting()
"""The setting of the plain classifier, which every other is compared with."""

ACCURACY, GAP = "acc", "sp_gap"

_ROUNDING = 1e-9  # far below the share of one row


@dataclass(frozen=True)
class LearnReading:
    """Results of a study of classifiers with the setting that a page is about.

    Parameters
    ----------
    results : Results
    chosen : Setting
    epsilon : Fraction or None
        At which ways are set side by side.
    """

    results: Results
    chosen: Setting
    epsilon: Fraction | None

    # --- settings ---------------------------------------------------------------------------------

    @property
    def task(self) -> LearnTask:
        """The task of the plan."""
        return cast("LearnTask", self.results.plan.task)

    @cached_property
    def others(self) -> tuple[Setting, ...]:
        """Every setting but the plain one, in the plan's order."""
        return tuple(each for each in self.results.settings if each.is_protected)

    @cached_property
    def beside(self) -> tuple[Setting, ...]:
        """The settings that are set side by side: those at the epsilon, and those without one."""
        return _beside(self.others, self.epsilon)

    @cached_property
    def private(self) -> tuple[Setting, ...]:
        """Those of them that promise something."""
        return tuple(each for each in self.beside if self.is_private(each))

    @cached_property
    def ways(self) -> dict[str, list[Setting]]:
        """The settings of each way, by epsilon; the plain one is not among them."""
        found: dict[str, list[Setting]] = {}
        for each in self.others:
            found.setdefault(each.mechanism, []).append(each)
        return {name: sorted(each, key=lambda one: one.epsilon or 0) for name, each in found.items()}

    def way(self, setting: Setting | None = None) -> Method:
        """Return the way of a setting, of the chosen one unless another is named."""
        asked = self.chosen if setting is None else setting
        return METHODS[asked.mechanism if asked.is_protected else PLAIN]

    def name(self, setting: Setting | None = None) -> str:
        """Return a setting as in a sentence.

        Its title, and its epsilon if it has one; that it is not private in spite of it.
        """
        asked = self.chosen if setting is None else setting
        title = method_title(asked.mechanism)
        if asked.epsilon is None:
            return title
        epsilon = f"ε = {epsilon_of(asked.epsilon)}"
        if self.way(asked).voids:
            return f"{title} (not private, trained with {epsilon})"
        return f"{title} at {epsilon}"

    # --- estimates --------------------------------------------------------------------------------

    def value(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a measure, of the chosen setting unless another is named."""
        return estimate(self.results, self.chosen if setting is None else setting, measure, level=LEVEL)

    def change(
        self, measure: str, setting: Setting | None = None, *, against: Setting = PLAIN_SETTING, many: int = 1
    ) -> Estimated:
        """Return the change of a measure within repeats, against the plain classifier unless told."""
        asked = self.chosen if setting is None else setting
        found = paired_change(self.results, asked, measure, against=against, level=strict(many))
        if measure not in {ACCURACY, GAP}:
            return found
        people = [self.rate(group, "people", PLAIN_SETTING).value for group in self.groups]
        return _of_shares(found, row=1 / (sum(people) if measure == ACCURACY else max(min(people), 1.0)))

    def bound(self, name: str, setting: Setting | None = None) -> float:
        """Return a bound, ``"bound"`` or ``"bound_95"``; NaN where there is none or any gap is within it."""
        found = self.value(name, setting).value
        return found if found < 1 else math.nan

    def beyond_equal(self, setting: Setting | None = None) -> Estimated:
        """Return the gap minus that which equal rates would show on so many test rows, within repeats."""
        asked = self.chosen if setting is None else setting
        return self.tested(self.runs(asked, GAP) - self.runs(asked, "fair_gap"))

    def rate(self, group: str, name: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a rate or a share of a group."""
        asked = self.chosen if setting is None else setting
        return group_estimate(self.results, asked, group, name, level=LEVEL)

    def moved(self, group: str, name: str, setting: Setting | None = None) -> Estimated:
        """Return how far a rate of a group is from the plain classifier's; all groups hold together."""
        asked = self.chosen if setting is None else setting
        found = group_change(self.results, asked, group, name, level=strict(len(self.groups)))
        return _of_shares(found, row=1 / max(self.rate(group, "people", PLAIN_SETTING).value, 1.0))

    def worst(self, measure: str, setting: Setting | None = None) -> float:
        """Return the largest value of a measure in any repeat; NaN if there is none."""
        runs = self.runs(self.chosen if setting is None else setting, measure)
        known = runs[np.isfinite(runs)]
        return float(known.max()) if known.size else math.nan

    def is_private(self, setting: Setting) -> bool:
        """Return whether something is promised in every repeat that is done."""
        runs = self.runs(setting, "delta")
        known = runs[np.isfinite(runs)]
        return bool(known.size) and bool((known < 1).all())

    def constant(self, setting: Setting | None = None) -> str:
        """Return whom a setting selects if it is the same answer for all in every repeat, else nothing."""
        rates = {self.rate(group, "selection", setting).value for group in self.groups}
        known = {rate for rate in rates if math.isfinite(rate)}
        return {0.0: "nobody", 1.0: "everybody"}.get(known.pop(), "") if len(known) == 1 else ""

    def tested(self, runs: NDArray[np.float64], *, level: float = LEVEL) -> Estimated:
        """Return the estimate from one number per repeat."""
        return estimated(self.results, runs, level=level, kind="seeds", owner="page_of")

    def runs(self, setting: Setting, measure: str) -> NDArray[np.float64]:
        """Return a measure in each repeat."""
        arrays = self.results.arrays
        found: NDArray[np.float64] = arrays.of_measures[
            self.results.place(setting), :, arrays.measures.index(measure)
        ]
        return found

    def outcome(self, setting: Setting | None = None) -> Outcome | None:
        """Return the first finished outcome of a setting."""
        asked = self.chosen if setting is None else setting
        done = (each for each in self.results.outcomes if each.cell.setting == asked and each.failure is None)
        return next(done, None)

    # --- groups -----------------------------------------------------------------------------------

    @property
    def groups(self) -> tuple[str, ...]:
        """The labels of the groups."""
        return self.results.facts.groups

    def named(self, group: str) -> str:
        """Return a group as in a sentence."""
        return group_name(self.results.facts, group)


def read_learning(results: Results, *, chosen: object = None) -> LearnReading:
    """Return the reading of results: of the setting that is asked for, or that the rule finds."""
    others = tuple(each for each in results.settings if each.is_protected)
    epsilon = _nearest(others)
    if chosen is not None:
        asked = results.setting(chosen)
        return LearnReading(results, asked, asked.epsilon if asked.epsilon is not None else epsilon)
    draft = LearnReading(results, PLAIN_SETTING, epsilon)
    field = draft.private or draft.beside
    if not field:
        return draft
    field = tuple(each for each in field if not draft.constant(each)) or field
    best = field[0]
    for later in field[1:]:
        best = later if _better(draft, later, best, many=2 * (len(field) - 1)) else best
    return LearnReading(results, best, epsilon)


def _of_shares(found: Estimated, *, row: float) -> Estimated:
    """Return a change of a share with limits that are possible and no nearer than a count can tell.

    Limits beyond what is possible are cut, which leaves out no true mean. Where all repeats gave the same
    change, their spread is taken to be that of one row of a test: shares move in steps of this size, so that
    a few that agree do not prove the change to the last digit.
    """
    if found.low is None or found.high is None:
        return found
    reach = 0.0
    if (found.standard_error or 0.0) < _ROUNDING < abs(found.value) and math.isfinite(row):
        from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

        reach = float(stdtrit(found.runs - 1.0, 0.5 + found.level / 2)) * row / math.sqrt(found.runs)
    return replace(found, low=max(found.low - reach, -1.0), high=min(found.high + reach, 1.0))


def _better(reading: LearnReading, setting: Setting, other: Setting, *, many: int) -> bool:
    gap = reading.change(GAP, setting, against=other, many=many)
    accuracy = reading.change(ACCURACY, setting, against=other, many=many)
    if gap.is_clear:
        return gap.value < 0
    return accuracy.is_clear and accuracy.value > 0


def _nearest(settings: tuple[Setting, ...]) -> Fraction | None:
    tested = sorted({each.epsilon for each in settings if each.epsilon is not None})
    return min(tested, key=lambda each: (abs(math.log(each)), each), default=None)


def _beside(settings: tuple[Setting, ...], epsilon: Fraction | None) -> tuple[Setting, ...]:
    return tuple(each for each in settings if each.epsilon in {None, epsilon})
