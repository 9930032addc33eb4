"""What a page reads from results: the setting that it is about, the two groups that make the gap, and tests.

Which setting a page is about, unless it is told, is found by a rule that chance does not drive:

1. Epsilon is the one nearest to 1 among those tested with a result, by ratio; of two as near, the smaller.
2. Among its settings the first of the plan is taken. A later one takes its place only if it is clearly better
   in accuracy or in the gap and not clearly worse in the other.

*Clearly* means that the paired interval leaves out no difference; its level is raised for how many settings
are compared (Bonferroni), so that trying many protocols does not by itself name a winner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.study.page.wording import group_name
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, estimated, group_change, group_estimate, paired_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.measure import Spread

__all__ = ["LEVEL", "Reading", "Rival", "read", "rival", "strict"]

LEVEL = 0.95
"""Of every interval on a page that stands alone."""

UNPROTECTED_SETTING = Setting()
ACCURACY, GAP = "acc", "sp_gap"


def strict(comparisons: int) -> float:
    """Return the level of each of so many intervals that together hold with :data:`LEVEL`.

    >>> round(strict(5), 6)
    0.99
    """
    return 1 - (1 - LEVEL) / max(1, comparisons)


@dataclass(frozen=True)
class Rival:
    """How far a setting is ahead of another: in accuracy, and in the gap, each with its interval.

    Parameters
    ----------
    setting : Setting
        The other one.
    accuracy, gap : Estimated
        Of the first minus the other, at the level of a claim.
    hints : tuple of Estimated
        The same two at :data:`LEVEL`. Nothing is claimed from them, but a setting is not called worse while
        one of them says that it is better in the other measure.
    """

    setting: Setting
    accuracy: Estimated
    gap: Estimated
    hints: tuple[Estimated, ...] = ()

    @property
    def verdict(self) -> Literal["worse", "better", "trade", "same"]:
        """What the other is: clearly worse or better, both at once in different measures, or neither."""
        ahead, behind = (self._leads(sign, self.accuracy, self.gap) for sign in (1, -1))
        hinted = self.hints or (self.accuracy, self.gap)
        if (ahead and self._leads(-1, *hinted)) or (behind and self._leads(1, *hinted)):
            return "trade"
        return "worse" if ahead else "better" if behind else "same"

    @property
    def shown(self) -> tuple[Estimated, Estimated]:
        """Accuracy and gap as a trade is told: with the interval of a claim, or else of a hint."""
        hinted = self.hints or (self.accuracy, self.gap)
        found = [
            each if each.is_clear else hint
            for each, hint in zip((self.accuracy, self.gap), hinted, strict=True)
        ]
        return found[0], found[1]

    @staticmethod
    def _leads(sign: int, accuracy: Estimated, gap: Estimated) -> bool:
        return _clearly(accuracy, sign) or _clearly(gap, -sign)


@dataclass(frozen=True)
class Reading:
    """Results with the setting and the groups that a page is about.

    Parameters
    ----------
    results : Results
    chosen : Setting
        A protected one.
    high, low : str
        Labels of the groups that are selected most and least often without protection.
    """

    results: Results
    chosen: Setting
    high: str
    low: str

    # --- estimates --------------------------------------------------------------------------------

    def value(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a measure, of the chosen setting unless another is named."""
        return estimate(self.results, self.chosen if setting is None else setting, measure, level=LEVEL)

    def before(self, measure: str) -> Estimated:
        """Return the unprotected mean of a measure."""
        return self.value(measure, UNPROTECTED_SETTING)

    def change(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the change of a measure against the unprotected setting, within repeats."""
        return paired_change(self.results, self.chosen if setting is None else setting, measure, level=LEVEL)

    def rate(self, group: str, rate: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a rate of a group."""
        where = self.chosen if setting is None else setting
        return group_estimate(self.results, where, group, rate, level=LEVEL)

    def pair(self, measure: str) -> tuple[Estimated, Estimated]:
        """Return the unprotected and the chosen mean of a measure, over the repeats that both have.

        Their difference is the change; means over other repeats could even contradict its sign.
        """
        runs = [self.runs(each, measure) for each in (UNPROTECTED_SETTING, self.chosen)]
        described = self.results.plan.task.measure(measure)
        return self._pair(*runs, within=described.limits, spreads=(described.spread,) * 2)

    def rate_pair(self, group: str, rate: str) -> tuple[Estimated, Estimated]:
        """Return the same for a rate of a group."""
        runs = [self._rates(each, group, rate) for each in (UNPROTECTED_SETTING, self.chosen)]
        described = self.results.plan.task.group_number(rate)
        spreads = [described.spread_of(protected=protected) for protected in (False, True)]
        return self._pair(*runs, within=described.limits, spreads=spreads)

    def _pair(
        self,
        before: NDArray[np.float64],
        after: NDArray[np.float64],
        *,
        within: tuple[float, float],
        spreads: Sequence[Spread],
    ) -> tuple[Estimated, Estimated]:
        both = np.isfinite(before) & np.isfinite(after)
        if both.any():
            before, after = np.where(both, before, np.nan), np.where(both, after, np.nan)
        first, second = (
            self.tested(runs, within=within, spread=spread)
            for runs, spread in zip((before, after), spreads, strict=True)
        )
        return first, second

    def moved(self, group: str, rate: str) -> Estimated:
        """Return how far a rate of a group moves from the unprotected to the chosen setting.

        The intervals of all groups hold together with :data:`LEVEL`.
        """
        return group_change(self.results, self.chosen, group, rate, level=self.group_level)

    @property
    def group_level(self) -> float:
        """The level at which groups are named: raised for how many there are."""
        return strict(len(self.groups))

    def apart(self, setting: Setting, rate: str = "selection") -> Estimated:
        """Return how much higher a rate is in the group `high` than in `low`, with its sign.

        The two are picked for being far apart, so that the level is raised for how many pairs there are.
        """
        runs = self._rates(setting, self.high, rate) - self._rates(setting, self.low, rate)
        return self.tested(runs, level=strict(math.comb(len(self.groups), 2)))

    def moved_apart(self, rate: str) -> Estimated:
        """Return how much more a rate of `low` moves than that of `high`."""
        moves = [
            self._rates(self.chosen, group, rate) - self._rates(UNPROTECTED_SETTING, group, rate)
            for group in (self.low, self.high)
        ]
        return self.tested(moves[0] - moves[1])

    def tested(
        self,
        runs: NDArray[np.float64],
        *,
        level: float = LEVEL,
        within: tuple[float, float] = (-math.inf, math.inf),
        spread: Spread = "even",
    ) -> Estimated:
        """Return the estimate from one number per repeat."""
        return estimated(
            self.results, runs, level=level, kind="seeds", owner="page_of", within=within, spread=spread
        )

    def runs(self, setting: Setting, measure: str) -> NDArray[np.float64]:
        """Return a measure in each repeat."""
        arrays = self.results.arrays
        found: NDArray[np.float64] = arrays.of_measures[
            self.results.place(setting), :, arrays.measures.index(measure)
        ]
        return found

    def _rates(self, setting: Setting, group: str, rate: str) -> NDArray[np.float64]:
        arrays = self.results.arrays
        at = arrays.groups.index(group), arrays.rates.index(rate)
        found: NDArray[np.float64] = arrays.of_groups[self.results.place(setting), :, at[0], at[1]]
        return found

    # --- settings and groups ----------------------------------------------------------------------

    @cached_property
    def protected(self) -> tuple[Setting, ...]:
        """Every protected setting of the plan."""
        return tuple(each for each in self.results.settings if each.is_protected)

    @cached_property
    def beside(self) -> tuple[Setting, ...]:
        """The settings at the chosen epsilon, the chosen one among them, that have values."""
        return _with_values(self.results, self.chosen.epsilon)

    @cached_property
    def rivals(self) -> tuple[Rival, ...]:
        """The chosen setting against each other one at its epsilon."""
        others = [each for each in self.beside if each != self.chosen]
        level = strict(2 * len(others))
        return tuple(rival(self.results, self.chosen, each, level=level) for each in others)

    @property
    def groups(self) -> tuple[str, ...]:
        """Labels of the groups, in the schema's order."""
        return self.results.facts.groups

    def named(self, group: str) -> str:
        """Return a group as in a sentence."""
        return group_name(self.results.facts, group)

    @property
    def has_intervals(self) -> bool:
        """Whether the chosen setting can be told from the unprotected one at all."""
        return self.change(ACCURACY).has_interval or self.change(GAP).has_interval


def read(results: Results, *, chosen: object = None) -> Reading:
    """Return the reading of results, about `chosen` or about the setting that the rule finds.

    Raises
    ------
    InvalidParameterError
        If `chosen` is not a protected setting of the study.
    """
    setting = _by_rule(results) if chosen is None else results.setting(chosen)
    if not setting.is_protected:
        must_be = "a protected setting"
        raise InvalidParameterError("chosen", owner="page_of", must_be=must_be, got=str(setting))
    high, low = _pair(results, setting)
    return Reading(results, setting, high, low)


def rival(results: Results, setting: Setting, other: Setting, *, level: float) -> Rival:
    """Return how far a setting is ahead of another."""
    found, hints = (
        [paired_change(results, setting, measure, against=other, level=each) for measure in (ACCURACY, GAP)]
        for each in (level, LEVEL)
    )
    return Rival(other, found[0], found[1], tuple(hints))


def _by_rule(results: Results) -> Setting:
    """Return the setting that a page is about unless told; the rule stands at the head of the module."""
    protected = [each for each in results.settings if each.is_protected]
    epsilons = {each.epsilon for each in protected if each.epsilon is not None}
    for epsilon in sorted(epsilons, key=lambda each: (abs(math.log(each)), each)):
        candidates = _with_values(results, epsilon)
        if candidates:
            level = strict(2 * (len(candidates) - 1))
            best = candidates[0]
            for later in candidates[1:]:
                best = later if rival(results, best, later, level=level).verdict == "better" else best
            return best
    return protected[0]


def _with_values(results: Results, epsilon: object) -> tuple[Setting, ...]:
    """Return the settings at an epsilon of which any run has accuracy or gap."""
    arrays = results.arrays
    columns = [arrays.measures.index(name) for name in (ACCURACY, GAP)]
    return tuple(
        each
        for each in results.settings
        if each.is_protected
        and each.epsilon == epsilon
        and np.isfinite(arrays.of_measures[results.place(each)][:, columns]).any()
    )


def _pair(results: Results, setting: Setting) -> tuple[str, str]:
    """Return the groups selected most and least often: without protection, or failing that with it."""
    groups = results.facts.groups
    for where in (UNPROTECTED_SETTING, setting):
        rates = [group_estimate(results, where, group, "selection").value for group in groups]
        known = [place for place, value in enumerate(rates) if math.isfinite(value)]
        if len(known) > 1:
            privileged = results.facts.privileged
            order = sorted(known, key=lambda place: (-rates[place], place != privileged, place))
            return groups[order[0]], groups[order[-1]]
    privileged = results.facts.privileged
    others = [place for place in range(len(groups)) if place != privileged]
    return groups[privileged], groups[others[0]]


def _clearly(found: Estimated, sign: int) -> bool:
    return found.is_clear and found.value * sign > 0
