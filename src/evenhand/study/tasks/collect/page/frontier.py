"""What can be had, and what each epsilon buys: accuracy against the gap, and measures against epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.report.charts import frontier_chart, measures_chart
from evenhand.report.marks import Axis, Line, Panel, Point
from evenhand.report.page import Section
from evenhand.report.words import epsilon_words
from evenhand.study.page.comparing import LEVEL, strict
from evenhand.study.page.parts import caption, marks_caption
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.page.wording import change, counted, listed, mark, percent, plain, points
from evenhand.study.results.estimates import paired_change
from evenhand.study.tasks.collect.wording import protocol_name, setting_name, the_way, way_name, way_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading

__all__ = [
    "Trend",
    "best_reached",
    "frontier_heading",
    "frontier_section",
    "measures_heading",
    "measures_section",
    "table_heading",
    "trend_words",
    "trends",
]


def frontier_section(reading: CollectReading) -> Section:
    """Return the frontier with its heading."""
    best = best_reached(reading)
    marks = {setting: _point(reading, setting, undominated=setting in best) for setting in reading.protected}
    before = [reading.before(measure) for measure in (ACCURACY, GAP)]
    after = [reading.value(measure) for measure in (ACCURACY, GAP)]
    alt = (
        f"Accuracy against selection gap for {counted(len(marks), 'setting')}. Unprotected: "
        f"{percent(before[0].value)} and {points(before[1].value)} points. "
        f"{setting_name(reading.chosen)}: {percent(after[0].value)} and {points(after[1].value)} points. "
        f"{frontier_heading(reading)}."
    )
    chart = frontier_chart(
        list(marks.values()),
        baseline=_point(reading, BASELINE),
        chosen=marks[reading.chosen],
        x=Axis("accuracy", "%", 100.0),
        y=Axis("selection gap", "points", 100.0),
        name="frontier",
        alt=alt,
        caption=_caption(reading, drawn=len(best) > 1),
    )
    ways = way_words(reading.protected)
    kinds = f"protocol, {ways} and ε" if ways else "protocol and ε"
    judged = (
        f" What costs accuracy is judged by intervals widened for {len(marks)} settings."
        if len(marks) > 1 and reading.has_intervals
        else ""
    )
    return Section(
        heading=frontier_heading(reading),
        lead=(
            f"Each mark is one {kinds}. Down and to the right is better. The stronger the tone, the more "
            "private. A smaller gap is not by itself a fairer model: read it beside who moved, below."
            f"{judged}"
        ),
        charts=(chart,),
        anchor="frontier",
    )


def best_reached(reading: CollectReading) -> tuple[Setting, ...]:
    """Return the protected settings that no other beats in accuracy and gap, without steps of chance.

    From the most accurate on, a setting is kept if no more accurate one has as small a gap, by the means, and
    if its gap is clearly smaller than that of the last one kept, by the paired interval.
    """
    means = {
        setting: (reading.value(ACCURACY, setting).value, reading.value(GAP, setting).value)
        for setting in reading.protected
    }
    known = [
        setting for setting in reading.protected if all(math.isfinite(value) for value in means[setting])
    ]
    order = sorted(known, key=lambda each: (-means[each][0], means[each][1]))
    kept: list[Setting] = []
    least = math.inf
    for setting in order:
        if not kept:
            kept.append(setting)
            least = means[setting][1]
            continue
        if means[setting][1] >= least:
            continue
        least = means[setting][1]
        smaller = paired_change(reading.results, setting, GAP, against=kept[-1], level=LEVEL)
        if smaller.is_clear and smaller.value < 0:
            kept.append(setting)
    return tuple(kept)


def _point(reading: CollectReading, setting: Setting, *, undominated: bool = False) -> Point:
    return Point(
        label=protocol_name(setting),
        epsilon=None if setting.epsilon is None else float(setting.epsilon),
        shape=way_name(setting, word=False) if setting.is_protected else "",
        x=mark(reading.value(ACCURACY, setting)),
        y=mark(reading.value(GAP, setting)),
        undominated=undominated,
    )


def _caption(reading: CollectReading, *, drawn: bool) -> str:
    line = (
        " The line joins settings that no other beats in both directions; steps whose paired interval "
        "includes no difference are left out."
        if drawn
        else ""
    )
    return f"{marks_caption(reading)}{line} Dashed lines: the unprotected model."


_BY_CHANCE = "beyond what chance among so many allows"
"""Said where a setting alone has a clear change, and not among all that were tried."""


# --- the frontier ---------------------------------------------------------------------------------


def frontier_heading(reading: CollectReading) -> str:
    """Return which settings cost accuracy, as a heading.

    A setting costs accuracy if the interval of its paired change lies below zero. All of them do if each
    interval does on its own; where only some do, the level is raised for how many there are, so that trying
    many does not by itself find one that costs something.
    """
    every = _signs(reading, ACCURACY, LEVEL)
    if not every:
        return "What each setting gives, without intervals to tell them apart"
    if all(sign < 0 for sign in every.values()):
        return "Every setting costs accuracy" if len(every) > 1 else "The setting tested costs accuracy"
    costs = {setting: sign < 0 for setting, sign in _signs(reading, ACCURACY, strict(len(every))).items()}
    if not any(costs.values()):
        return _none_costs(len(costs), alone=any(sign < 0 for sign in every.values()))
    free = min(setting.epsilon for setting, cost in costs.items() if not cost and setting.epsilon is not None)
    above = [
        cost for setting, cost in costs.items() if setting.epsilon is not None and setting.epsilon >= free
    ]
    if len(above) < len(costs):
        rest = f"{sum(above)} of {len(above)} clearly do" if any(above) else "none clearly does"
        return f"Every setting below {epsilon_words(free)} costs accuracy; from there on {rest}"
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


def table_heading(reading: CollectReading) -> str:
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


def _signs(reading: CollectReading, measure: str, level: float) -> dict[Setting, int]:
    """Return which way a measure clearly changes under each setting that has an interval: -1, 0 or 1."""
    found = {
        setting: paired_change(reading.results, setting, measure, level=level)
        for setting in reading.protected
    }
    return {
        setting: int(math.copysign(1, moved.value)) if moved.is_clear else 0
        for setting, moved in found.items()
        if moved.has_interval
    }


# --- measures against epsilon ---------------------------------------------------------------------


@dataclass(frozen=True)
class Trend:
    """How the gap goes with epsilon under one way to report: points for each doubling of epsilon.

    Parameters
    ----------
    setting : Setting
        One of those that report so.
    slope : Estimated
    """

    setting: Setting
    slope: Estimated

    @property
    def sign(self) -> int:
        """1 if the gap clearly grows with epsilon, -1 if it clearly shrinks, else 0."""
        return int(math.copysign(1, self.slope.value)) if self.slope.is_clear else 0


def trends(reading: CollectReading, measure: str = GAP) -> tuple[Trend, ...]:
    """Return the slope of a measure on the logarithm of epsilon, for each way.

    In each repeat a straight line is fitted by least squares to the mean over the protocols; the interval is
    that of the slopes over repeats, its level raised for how many ways there are.
    """
    ways: dict[str, list[Setting]] = {}
    for setting in reading.protected:
        ways.setdefault(way_name(setting), []).append(setting)
    found = []
    for settings in ways.values():
        slopes = _slopes(reading, settings, measure)
        if slopes is not None:
            slope = reading.tested(
                slopes[0],
                within=slopes[1],
                level=strict(len(ways)),
                spread=reading.task.measure(measure).spread,
            )
            found.append(Trend(settings[0], slope))
    return tuple(found)


def _slopes(
    reading: CollectReading, settings: list[Setting], measure: str
) -> tuple[NDArray[np.float64], tuple[float, float]] | None:
    """Return the slope in each repeat, and what slopes are possible; None with a single epsilon.

    A slope is NaN in a repeat that lacks a value.
    """
    epsilons = sorted({setting.epsilon for setting in settings if setting.epsilon is not None})
    protocols = list(dict.fromkeys(protocol_name(setting) for setting in settings))
    if len(epsilons) < 2:
        return None
    at = {(protocol_name(setting), setting.epsilon): reading.runs(setting, measure) for setting in settings}
    values = np.mean([[at[name, epsilon] for epsilon in epsilons] for name in protocols], axis=0)
    doublings = np.log2([float(epsilon) for epsilon in epsilons])
    weights = (doublings - doublings.mean()) / ((doublings - doublings.mean()) ** 2).sum()
    slopes: NDArray[np.float64] = weights @ values
    low, high = reading.task.measure(measure).limits
    steepest = float(np.abs(weights).sum()) * (high - low) / 2
    return slopes, (-steepest, steepest)


def measures_heading(reading: CollectReading) -> str:
    """Return how the gap goes with epsilon, as a heading."""
    found = trends(reading)
    if not found:
        return "One ε was tested, so nothing is known of another"
    if not any(trend.slope.has_interval for trend in found):
        return "No trend with ε can be told without intervals"
    return _trend_heading(found)


def _trend_heading(found: tuple[Trend, ...]) -> str:
    up = [trend.setting for trend in found if trend.sign > 0]
    down = [trend.setting for trend in found if trend.sign < 0]
    if not up and not down:
        return "No clear change of the gap with ε"
    if up and down:
        return f"The gap grows with ε under {_ways(up)} and shrinks under {_ways(down)}"
    moving, verb = (up, "grows") if up else (down, "shrinks")
    if len(found) == 1:
        return f"The gap {verb} as ε grows"
    if len(moving) == len(found):
        return f"The gap {verb} as ε grows, however the columns are reported"
    rest = [trend.setting for trend in found if trend.setting not in moving]
    return f"The gap {verb} as ε grows under {_ways(moving)}; under {_ways(rest)} that is not clear"


def trend_words(reading: CollectReading) -> str:
    """Return the slopes behind the heading, as a sentence."""
    told = [
        f"{way_name(trend.setting)} {change(trend.slope)}"
        for trend in trends(reading)
        if trend.slope.has_interval
    ]
    if not told:
        return ""
    return f"Points of gap for each doubling of ε, over all protocols: {listed(told)}."


def _ways(settings: list[Setting]) -> str:
    return listed([the_way(setting) for setting in settings])


def measures_section(reading: CollectReading) -> Section:
    """Return the small multiples with their heading."""
    ways: dict[str, list[Setting]] = {}
    for setting in reading.protected:
        ways.setdefault(way_name(setting), []).append(setting)
    shown = _shown_measures(reading)
    panels = [
        _panel(reading, way if len(ways) > 1 else "", settings, measure, axis)
        for way, settings in ways.items()
        for measure, axis in shown
    ]
    heading, slopes = measures_heading(reading), trend_words(reading)
    name = protocol_name(reading.chosen)
    chart = measures_chart(
        panels,
        chosen_epsilon=None if reading.chosen.epsilon is None else float(reading.chosen.epsilon),
        name="measures",
        alt=f"Accuracy, selection gap and two other gaps against ε. {heading}. {slopes}".strip(),
        caption=caption(
            reading,
            "Bars and band",
            "A tick stands at every tested ε; labels that would touch are left out. Gaps with a sign are "
            "the privileged group minus the others.",
        ),
    )
    protocols = len({protocol_name(setting) for setting in reading.protected})
    others = f" {name} is drawn in ink, the others are grey." if protocols > 1 else ""
    rows = ", one row per split or strategy, the same scale down each column" if len(ways) > 1 else ""
    return Section(
        heading=heading,
        lead=f"One panel per measure{rows}.{others} {slopes}".strip(),
        charts=(chart,),
        anchor="measures",
    )


def _panel(reading: CollectReading, row: str, settings: list[Setting], measure: str, axis: Axis) -> Panel:
    lines: dict[str, list[Setting]] = {}
    for setting in settings:
        lines.setdefault(protocol_name(setting), []).append(setting)
    return Panel(
        row=row,
        axis=axis,
        lines=[
            Line(
                label,
                [float(setting.epsilon) for setting in line if setting.epsilon is not None],
                [mark(reading.value(measure, setting)) for setting in line],
                spotlight=label == protocol_name(reading.chosen),
            )
            for label, line in lines.items()
        ],
        baseline=mark(reading.before(measure)),
    )


def _shown_measures(reading: CollectReading) -> tuple[tuple[str, Axis], ...]:
    """Return the measures of the small multiples: accuracy, and the gaps that may be undefined."""
    groups, privileged = reading.groups, reading.results.facts.privileged
    names = [plain(reading.named(group), longest=14) for group in groups]
    others = "the others" if len(groups) > 2 else names[1 - privileged]
    signed = f"points, {names[privileged]} − {others}"
    return (
        ("acc", Axis("accuracy", "%; higher is better", 100.0)),
        ("sp_gap", Axis("selection gap", "points; 0 = no gap", 100.0)),
        ("eod", Axis("true-positive gap", signed, 100.0)),
        ("oad", Axis("accuracy gap", signed, 100.0)),
    )
