"""When a difference is clear: at which level it is judged, which groups it names, which settings it ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evenhand.measure.repeat_means import FEWEST_REPEATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated

LEVEL = 0.95
"""Of every interval on a page that stands alone."""

ENOUGH_REPEATS = max(FEWEST_REPEATS.values())
"""From how many repeats on the change of one group's selection or accuracy has an interval."""

FEWEST_PEOPLE = 30
"""So many people of a group must be in a test, on average, for the group to be judged."""

ALMOST_ALL = 0.98
"""From this share on, everybody is said to get the same answer."""

MOST_REPEATS = 200
"""More repeats than this nobody is told to run."""

TIGHTER = 0.9
"""How much of the way to a limit an interval may reach, so that the next one does not end on it again."""

_MOST_PEOPLE = 50  # times as many; beyond that the number says nothing


def strict(comparisons: int) -> float:
    """Return the level of each of so many intervals that together hold with :data:`LEVEL`.

    >>> round(strict(5), 6)
    0.99
    """
    return 1 - (1 - LEVEL) / max(1, comparisons)


def clearly(found: Estimated, sign: int) -> bool:
    """Return whether a change is clear and has this sign."""
    return found.is_clear and found.value * sign > 0


def groups_by_sign(changes: Mapping[str, Estimated]) -> tuple[list[str], list[str]]:
    """Return the groups whose change is clearly positive, and those for which it is clearly negative."""
    up, down = ([group for group, found in changes.items() if clearly(found, sign)] for sign in (1, -1))
    return up, down


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
    def stated_estimates(self) -> tuple[Estimated, Estimated]:
        """Accuracy and gap as a trade is told: with the interval of a claim, or else of a hint."""
        hinted = self.hints or (self.accuracy, self.gap)
        found = [
            claim if claim.is_clear else hint
            for claim, hint in zip((self.accuracy, self.gap), hinted, strict=True)
        ]
        return found[0], found[1]

    @staticmethod
    def _leads(sign: int, accuracy: Estimated, gap: Estimated) -> bool:
        return clearly(accuracy, sign) or clearly(gap, -sign)


# --- what would tell ------------------------------------------------------------------------------


def repeats_for(reaches: Iterable[tuple[float, Estimated]]) -> int | None:
    """Return how many repeats bring each interval within its reach; None if more than anybody would run.

    Nor is a number known where several repeats have no interval.

    >>> from evenhand.study.results.estimates import Estimated
    >>> repeats_for([(0.02, Estimated(0.1, 0.06, 0.14, runs=8, standard_error=0.01))])
    25
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    needed = 2
    for reach, found in reaches:
        if found.runs < 2 or (found.has_interval and not found.standard_error):
            continue
        if found.low is None or found.high is None or not found.standard_error:
            return None
        half = max(found.high - found.value, found.value - found.low)
        quantile = float(stdtrit(found.runs - 1, 0.5 + found.level / 2))
        stretch = half / (quantile * found.standard_error)
        deviation = found.standard_error * math.sqrt(found.runs) * stretch
        while needed <= MOST_REPEATS:
            if float(stdtrit(needed - 1, 0.5 + found.level / 2)) * deviation / math.sqrt(needed) <= reach:
                break
            needed += 1
    return None if needed > MOST_REPEATS else max(needed, 2)


def people_for(reaches: Iterable[tuple[float, Estimated]]) -> float | None:
    """Return how many times as many people bring each interval within its reach; None if far too many.

    >>> from evenhand.study.results.estimates import Estimated
    >>> round(people_for([(0.02, Estimated(0.1, 0.06, 0.14, runs=8, standard_error=0.01))]), 6)
    4.0
    """
    factor = 1.0
    for reach, found in reaches:
        half = max((found.high or 0.0) - found.value, found.value - (found.low or 0.0))
        factor = max(factor, (half / reach) ** 2 if reach > 0 else math.inf)
    return factor if factor <= _MOST_PEOPLE else None
