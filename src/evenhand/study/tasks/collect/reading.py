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

from evenhand.report.language import written_in
from evenhand.study.page.comparing import Rival
from evenhand.study.page.reading import ACCURACY, GAP
from evenhand.study.tasks.collect.wording import auto_name, protocol_name, setting_name
from evenhand.study.tasks.shared.classifier import ClassifierReading

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.facts import Leak


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

    @property
    def design(self) -> str:
        """The chosen setting and the number of repeats, as in brackets."""
        return f"{self.setting_name(self.chosen)}, {self.repeats_words}"

    @property
    def full_leaks(self) -> tuple[Leak, ...]:
        """The randomised columns that columns in the clear give away nearly fully."""
        return tuple(leak for leak in self.results.facts.leaks if leak.is_full)

    # --- names ------------------------------------------------------------------------------------

    @cached_property
    def _auto(self) -> str:
        """What "auto" is called: with the protocols that it is at any epsilon of the study."""
        with written_in(self.language):
            return auto_name(self.protected, self.results.facts.schema)

    def protocol_name(self, setting: Setting) -> str:
        """Return the protocol of a setting as people read it."""
        return protocol_name(setting, auto=self._auto)

    def setting_name(self, setting: Setting, *, epsilon: bool = True) -> str:
        """Return a setting in words."""
        return setting_name(setting, epsilon=epsilon, auto=self._auto)

    @property
    def has_intervals(self) -> bool:
        """Whether the chosen setting can be told from the unprotected one at all."""
        return self.change(ACCURACY).has_interval or self.change(GAP).has_interval
