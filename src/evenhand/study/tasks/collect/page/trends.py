"""How measures go with epsilon, and which settings cost accuracy: the tests behind two headings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.report.words import epsilon_of
from evenhand.study.page.wording import change, counted, listed, protocol_name, way_name
from evenhand.study.results.estimates import paired_change
from evenhand.study.tasks.collect.page.reading import ACCURACY, GAP, LEVEL, strict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["Trend", "frontier_heading", "measures_heading", "table_heading", "trend_words", "trends"]

_BY_CHANCE = "beyond what chance among so many allows"
"""Said where a setting alone has a clear change, and not among all that were tried."""


# --- the frontier ---------------------------------------------------------------------------------


def frontier_heading(reading: Reading) -> str:
    """Return which settings cost accuracy, as a heading.

    A setting costs accuracy if the interval of its paired change lies below nought. All of them do if each
    interval does on its own; where only some do, the level is raised for how many there are, so that trying
    many does not by itself find one that costs something.
    """
    every = _signs(reading, ACCURACY, LEVEL)
    if not every:
        return "What each setting gives, without intervals to tell them apart"
    if all(sign < 0 for sign in every.values()):
        return "Every setting costs accuracy" if len(every) > 1 else "The setting tested costs accuracy"
    costs = {each: sign < 0 for each, sign in _signs(reading, ACCURACY, strict(len(every))).items()}
    if not any(costs.values()):
        return _none_costs(len(costs), alone=any(sign < 0 for sign in every.values()))
    free = min(each.epsilon for each, cost in costs.items() if not cost and each.epsilon is not None)
    above = [cost for each, cost in costs.items() if each.epsilon is not None and each.epsilon >= free]
    if len(above) < len(costs):
        rest = f"{sum(above)} of {len(above)} clearly do" if any(above) else "none clearly does"
        return f"Every setting below ε = {epsilon_of(free)} costs accuracy; from there on {rest}"
    return f"{sum(costs.values())} of {counted(len(costs), 'setting')} clearly cost accuracy"


def _none_costs(count: int, *, alone: bool) -> str:
    """Return that no setting costs accuracy, or that one does alone and not among all that were tried."""
    if count == 1:
        return "The setting tested does not clearly cost accuracy"
    return (
        f"Of {count} settings none costs accuracy {_BY_CHANCE}"
        if alone
        else "No setting clearly costs accuracy"
    )


def table_heading(reading: Reading) -> str:
    """Return how many settings have another gap than the unprotected model, as a heading."""
    every = _signs(reading, GAP, LEVEL)
    if not every:
        return "All numbers, without intervals"
    alike = set(every.values())
    if len(every) > 1 and len(alike) == 1 and alike != {0}:
        return f"All numbers: every setting {'narrows' if alike == {-1} else 'widens'} the gap"
    signs = list(_signs(reading, GAP, strict(len(every))).values())
    if len(signs) == 1:
        verb = {-1: "narrows the gap", 1: "widens the gap"}.get(signs[0], "does not clearly change the gap")
        return f"All numbers: the setting tested {verb}"
    counts = ((signs.count(-1), "narrow"), (signs.count(1), "widen"))
    told = [f"{count} clearly {word}{'s' if count == 1 else ''} the gap" for count, word in counts if count]
    if told:
        return f"All numbers: of {len(signs)} settings, {listed(told)}"
    if any(every.values()):
        return f"All numbers: of {len(signs)} settings none changes the gap {_BY_CHANCE}"
    return f"All numbers: none of {len(signs)} settings clearly changes the gap"


def _signs(reading: Reading, measure: str, level: float) -> dict[Setting, int]:
    """Return which way a measure clearly changes under each setting that has an interval: -1, 0 or 1."""
    found = {each: paired_change(reading.results, each, measure, level=level) for each in reading.protected}
    return {
        each: int(math.copysign(1, moved.value)) if moved.is_clear else 0
        for each, moved in found.items()
        if moved.has_interval
    }


# --- measures against epsilon ---------------------------------------------------------------------


@dataclass(frozen=True)
class Trend:
    """How the gap goes with epsilon under one way to report: points for each doubling of epsilon."""

    way: str
    slope: Estimated

    @property
    def way_up(self) -> int:
        """1 if the gap clearly grows with epsilon, -1 if it clearly shrinks, else 0."""
        return int(math.copysign(1, self.slope.value)) if self.slope.is_clear else 0


def trends(reading: Reading, measure: str = GAP) -> tuple[Trend, ...]:
    """Return the slope of a measure on the logarithm of epsilon, for each way.

    In each repeat a straight line is fitted by least squares to the mean over the protocols; the interval is
    that of the slopes over repeats, its level raised for how many ways there are.
    """
    ways: dict[str, list[Setting]] = {}
    for each in reading.protected:
        ways.setdefault(way_name(each), []).append(each)
    found, spread = [], reading.results.plan.task.measure(measure).spread
    for way, settings in ways.items():
        slopes = _slopes(reading, settings, measure)
        if slopes is not None:
            slope = reading.tested(slopes, level=strict(len(ways)), spread=spread)
            found.append(Trend(way, slope))
    return tuple(found)


def _slopes(reading: Reading, settings: list[Setting], measure: str) -> NDArray[np.float64] | None:
    """Return the slope in each repeat, NaN in a repeat that lacks a value; None with a single epsilon."""
    epsilons = sorted({each.epsilon for each in settings if each.epsilon is not None})
    protocols = list(dict.fromkeys(protocol_name(each) for each in settings))
    if len(epsilons) < 2:
        return None
    at = {(protocol_name(each), each.epsilon): reading.runs(each, measure) for each in settings}
    values = np.mean([[at[name, epsilon] for epsilon in epsilons] for name in protocols], axis=0)
    doublings = np.log2([float(each) for each in epsilons])
    weights = (doublings - doublings.mean()) / ((doublings - doublings.mean()) ** 2).sum()
    slopes: NDArray[np.float64] = weights @ values
    return slopes


def measures_heading(reading: Reading) -> str:
    """Return how the gap goes with epsilon, as a heading."""
    found = trends(reading)
    if not found:
        return "One ε was tested, so nothing is known of another"
    if not any(each.slope.has_interval for each in found):
        return "No trend with ε can be told without intervals"
    return _trend_heading(found)


def _trend_heading(found: tuple[Trend, ...]) -> str:
    up = [each.way for each in found if each.way_up > 0]
    down = [each.way for each in found if each.way_up < 0]
    if not up and not down:
        return "No clear change of the gap with ε"
    if up and down:
        return f"The gap grows with ε under {_ways(up)} and shrinks under {_ways(down)}"
    moving, verb = (up, "grows") if up else (down, "shrinks")
    if len(found) == 1:
        return f"The gap {verb} as ε grows"
    if len(moving) == len(found):
        return f"The gap {verb} as ε grows, however the columns are reported"
    rest = [each.way for each in found if each.way not in moving]
    return f"The gap {verb} as ε grows under {_ways(moving)}; under {_ways(rest)} that is not clear"


def trend_words(reading: Reading) -> str:
    """Return the slopes behind the heading, as a sentence."""
    told = [f"{each.way} {change(each.slope)}" for each in trends(reading) if each.slope.has_interval]
    if not told:
        return ""
    return f"Points of gap for each doubling of ε, over all protocols: {listed(told)}."


def _ways(ways: list[str]) -> str:
    return listed([f"the {way}" if way.endswith("split") else f"'{way}'" for way in ways])
