"""What a page on collection reads from results: the setting that it is about, and the groups of the gap.

Which setting a page is about, unless it is told, is found by a rule that chance does not drive:

1. Epsilon is the one nearest to 1 among those tested with a result, by ratio; of two as near, the smaller.
2. Among its settings the first of the plan is taken. A later one takes its place only if it is clearly better
   in accuracy or in the gap and not clearly worse in the other.

*Clearly* means that the paired interval leaves out no difference; its level is raised for how many settings
are compared (Bonferroni), so that trying many protocols does not by itself name a winner.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evenhand.study.page.comparing import Rival, strict
from evenhand.study.page.reading import ACCURACY, BASELINE, CHANGE, GAP
from evenhand.study.results.estimates import group_estimate
from evenhand.study.tasks.shared.classifier import ClassifierReading

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated

__all__ = ["CollectReading"]


class CollectReading(ClassifierReading):
    """Results of a collection with the setting and the groups that a page is about."""

    package = "evenhand.study.tasks.collect"

    def by_rule(self) -> Setting:
        """Return the setting that the rule at the head of the module finds."""
        epsilons = {setting.epsilon for setting in self.protected if setting.epsilon is not None}
        for epsilon in sorted(epsilons, key=lambda each: (abs(math.log(each)), each)):
            candidates = self.with_values(epsilon)
            if candidates:
                best = candidates[0]
                for later in candidates[1:]:
                    compared = self.rival(best, later, comparisons=2 * (len(candidates) - 1))
                    best = later if compared.verdict == "better" else best
                return best
        return self.protected[0]

    def with_values(self, epsilon: Fraction | None) -> tuple[Setting, ...]:
        """Return the settings at an epsilon of which any run has accuracy or gap."""
        return tuple(
            setting
            for setting in self.at_epsilon(epsilon)
            if any(np.isfinite(self.runs(setting, measure)).any() for measure in (ACCURACY, GAP))
        )

    @cached_property
    def beside(self) -> tuple[Setting, ...]:
        """The settings at the chosen epsilon that have values, the chosen one among them."""
        return self.with_values(self.chosen.epsilon)

    @cached_property
    def rivals(self) -> tuple[Rival, ...]:
        """The chosen setting against each other one at its epsilon."""
        others = [setting for setting in self.beside if setting != self.chosen]
        return tuple(self.rival(self.chosen, other, comparisons=2 * len(others)) for other in others)

    def rival(self, setting: Setting, other: Setting, *, comparisons: int) -> Rival:
        """Return how far a setting is ahead of another."""
        claims, hints = (
            [self.change(name, setting, against=other, comparisons=many) for name in (ACCURACY, GAP)]
            for many in (comparisons, 1)
        )
        return Rival(other, claims[0], claims[1], tuple(hints))

    # --- the two groups of the gap ----------------------------------------------------------------

    @property
    def high(self) -> str:
        """The group that is selected most often without protection."""
        return self._extremes[0]

    @property
    def low(self) -> str:
        """The group that is selected least often without protection."""
        return self._extremes[1]

    @cached_property
    def _extremes(self) -> tuple[str, str]:
        """The groups selected most and least often: without protection, or failing that with it."""
        groups, privileged = self.groups, self.results.facts.privileged
        allowed = self.judged if len(self.judged) > 1 else groups
        for setting in (BASELINE, self.chosen):
            rates = [group_estimate(self.results, setting, group, "selection").value for group in groups]
            known = [
                place
                for place, value in enumerate(rates)
                if math.isfinite(value) and groups[place] in allowed
            ]
            if len(known) > 1:
                order = sorted(known, key=lambda place: (-rates[place], place != privileged, place))
                return groups[order[0]], groups[order[-1]]
        others = [place for place in range(len(groups)) if place != privileged]
        return groups[privileged], groups[others[0]]

    def apart(self, setting: Setting, rate: str = "selection") -> Estimated:
        """Return how much higher a rate is in the group `high` than in `low`, with its sign.

        The two are picked for being far apart, so that the level is raised for how many pairs there are.
        """
        runs = self.group_runs(setting, self.high, rate) - self.group_runs(setting, self.low, rate)
        return self.tested(runs, within=CHANGE, level=strict(math.comb(len(self.groups), 2)))

    def moved_apart(self, rate: str) -> Estimated:
        """Return how much more a rate of `low` moves than that of `high`."""
        moves = [
            self.group_runs(self.chosen, group, rate) - self.group_runs(BASELINE, group, rate)
            for group in (self.low, self.high)
        ]
        return self.tested(moves[0] - moves[1], within=(-2.0, 2.0))

    @property
    def has_intervals(self) -> bool:
        """Whether the chosen setting can be told from the unprotected one at all."""
        return self.change(ACCURACY).has_interval or self.change(GAP).has_interval
