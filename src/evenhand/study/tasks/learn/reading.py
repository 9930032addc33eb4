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
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.study.page.comparing import clearly
from evenhand.study.page.reading import ACCURACY, BASELINE, CHANGE, GAP, SHARE
from evenhand.study.tasks.learn.measures import fair_gap
from evenhand.study.tasks.learn.methods import METHODS, PLAIN, method_title
from evenhand.study.tasks.shared.classifier import ClassifierReading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.learn.methods import Method

    Runs = NDArray[np.float64]

EQUAL = "fair_gap"


class LearnReading(ClassifierReading):
    """Results of a study of classifiers with the setting that a page is about; the baseline is plain."""

    package = "evenhand.study.tasks.learn"
    must_be = ""

    def by_rule(self) -> Setting:
        """Return the setting that the rule at the head of the module finds."""
        beside = self.at_epsilon(self.nearest_epsilon)
        field = [setting for setting in beside if self.is_private(setting)] or beside
        if not field:
            return BASELINE
        field = [setting for setting in field if not self.constant(setting)] or field
        best = field[0]
        for later in field[1:]:
            best = later if self._is_better(later, best, comparisons=2 * (len(field) - 1)) else best
        return best

    def _is_better(self, setting: Setting, other: Setting, *, comparisons: int) -> bool:
        gap = self.change(GAP, setting, against=other, comparisons=comparisons)
        if gap.is_clear:
            return gap.value < 0
        return clearly(self.change(ACCURACY, setting, against=other, comparisons=comparisons), 1)

    @cached_property
    def private(self) -> tuple[Setting, ...]:
        """The settings side by side that have a guarantee."""
        return tuple(setting for setting in self.beside if self.is_private(setting))

    @cached_property
    def ways(self) -> dict[str, list[Setting]]:
        """The settings of each way, by epsilon; the plain one is not among them."""
        by_name: dict[str, list[Setting]] = {}
        for setting in self.protected:
            by_name.setdefault(setting.mechanism, []).append(setting)
        return {
            name: sorted(settings, key=lambda each: each.epsilon or 0) for name, settings in by_name.items()
        }

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
        key = "name.void" if self.way(asked).voids else "name.private"
        return self.sentences.say(key, title=title, epsilon=asked.epsilon)

    @property
    def setting_words(self) -> str:
        """The chosen setting as in a sentence."""
        return self.name()

    @property
    def design(self) -> str:
        """The chosen setting and the number of repeats, as in brackets."""
        return f"{self.name()}, {self.repeats_words}"

    # --- estimates --------------------------------------------------------------------------------

    def runs(self, setting: Setting, measure: str) -> Runs:
        """Return a measure in each repeat; what equal rates would show is that of the groups judged."""
        if measure != EQUAL or not self.too_few:
            return super().runs(setting, measure)
        people, selection = (
            np.array([self.group_runs(setting, group, rate) for group in self.judged])
            for rate in ("people", "selection")
        )
        if len(self.judged) < 2:
            return np.full(self.repeats, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = (people * selection).sum(axis=0) / people.sum(axis=0)
        return np.array([fair_gap(sizes, rate) for sizes, rate in zip(people.T, rates, strict=True)])

    def value(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a measure, of the chosen setting unless another is named."""
        if measure != EQUAL or not self.too_few:
            return super().value(measure, setting)
        return self.tested(self.runs(self.chosen if setting is None else setting, EQUAL), within=SHARE)

    def bound(self, setting: Setting | None = None) -> tuple[str, float]:
        """Return the smaller of the two proved bounds, ``"bound"`` on the mean gap or ``"bound_95"``.

        The name is empty where there is none, and the number NaN where any gap is within it.
        """
        bounds = {name: self.value(name, setting).value for name in ("bound", "bound_95")}
        known = [name for name in bounds if math.isfinite(bounds[name])]
        if not known:
            return "", math.nan
        least = min(known, key=lambda name: bounds[name])
        return least, bounds[least] if bounds[least] < 1 else math.nan

    def beyond_equal(self) -> Estimated:
        """Return the gap minus that which equal rates would show on so many test rows, within repeats."""
        return self.tested(self.runs(self.chosen, GAP) - self.runs(self.chosen, EQUAL), within=CHANGE)

    def pays(self) -> bool:
        """Return whether the chosen setting clearly costs accuracy, of all people or of a group."""
        return bool(self.losing()) or clearly(self.change(ACCURACY), -1)

    def is_private(self, setting: Setting) -> bool:
        """Return whether there is a guarantee in every repeat that is done."""
        runs = self.runs(setting, "delta")
        known = runs[np.isfinite(runs)]
        return bool(known.size) and bool((known < 1).all())

    def usefulness(self, setting: Setting | None = None) -> Literal["useful", "unproved", "useless"]:
        """Return whether a setting is right more often than one answer; one that gives it to all is not."""
        return "useless" if self.constant(setting) else super().usefulness(setting)

    def constant(self, setting: Setting | None = None) -> str:
        """Return whom a setting selects if all get the same answer in every repeat, else an empty text."""
        rates = {self.rate(group, "selection", setting).value for group in self.groups}
        known = {rate for rate in rates if math.isfinite(rate)}
        return {0.0: "nobody", 1.0: "everybody"}.get(known.pop(), "") if len(known) == 1 else ""
