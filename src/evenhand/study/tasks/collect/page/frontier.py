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
from evenhand.study.page.comparing import strict
from evenhand.study.page.parts import caption, marks_caption
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.page.wording import mark
from evenhand.study.tasks.collect.wording import the_way, way_name, way_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading


def frontier_section(reading: CollectReading) -> Section | None:
    """Return the frontier with its heading; None where no setting has a gap to draw."""
    if not has_gap(reading):
        return None
    best = best_reached(reading)
    marks = {setting: _point(reading, setting, undominated=setting in best) for setting in reading.protected}
    say, heading = reading.sentences.say, frontier_heading(reading)
    before = [reading.before(measure) for measure in (ACCURACY, GAP)]
    after = [reading.value(measure) for measure in (ACCURACY, GAP)]
    values = {"accuracy_before": before[0], "gap_before": before[1], "accuracy": after[0], "gap": after[1]}
    chosen = reading.setting_name(reading.chosen)
    alt = say("frontier.alt", count=len(marks), chosen=chosen, heading=heading, **values)
    chart = frontier_chart(
        list(marks.values()),
        baseline=_point(reading, BASELINE),
        chosen=marks[reading.chosen],
        x=Axis(say("frontier.accuracy"), "%", 100.0),
        y=Axis(say("frontier.gap"), say("frontier.points"), 100.0),
        name="frontier",
        alt=alt,
        caption=_caption(reading, drawn=len(best) > 1),
    )
    ways = way_words(reading.protected)
    kinds = say(f"frontier.kinds{'_ways' if ways else ''}", ways=ways)
    widened = say("frontier.widened", count=len(marks)) if len(marks) > 1 and reading.has_intervals else ""
    return Section(
        heading=heading,
        lead=say("frontier.lead", kinds=kinds, widened=widened),
        charts=(chart,),
        anchor="frontier",
    )


def has_gap(reading: CollectReading) -> bool:
    """Whether the gap of any protected setting can be measured: it takes two groups of enough people."""
    return any(math.isfinite(reading.value(GAP, setting).value) for setting in reading.protected)


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
        smaller = reading.change(GAP, setting, against=kept[-1])
        if smaller.is_clear and smaller.value < 0:
            kept.append(setting)
    return tuple(kept)


def _point(reading: CollectReading, setting: Setting, *, undominated: bool = False) -> Point:
    return Point(
        label=reading.protocol_name(setting),
        epsilon=None if setting.epsilon is None else float(setting.epsilon),
        shape=way_name(setting, word=False) if setting.is_protected else "",
        x=mark(reading.value(ACCURACY, setting)),
        y=mark(reading.value(GAP, setting)),
        undominated=undominated,
    )


def _caption(reading: CollectReading, *, drawn: bool) -> str:
    line = reading.sentences.say("frontier.line") if drawn else ""
    return reading.sentences.say("frontier.caption", marks=marks_caption(reading), line=line)


# --- the frontier ---------------------------------------------------------------------------------


def frontier_heading(reading: CollectReading) -> str:
    """Return which settings cost accuracy, as a heading.

    A setting costs accuracy if the interval of its paired change lies below zero. All of them do if each
    interval does on its own; where only some do, the level is raised for how many there are, so that trying
    many does not by itself find one that costs something.
    """
    say, every = reading.sentences.under("frontier"), _signs(reading, ACCURACY)
    if not every:
        return say("no_intervals")
    if all(sign < 0 for sign in every.values()):
        return say("every" if len(every) > 1 else "every_one")
    signs = _signs(reading, ACCURACY, comparisons=len(every))
    costs = {setting: sign < 0 for setting, sign in signs.items()}
    if not any(costs.values()):
        return _none_costs(reading, every)
    free = min(setting.epsilon for setting, cost in costs.items() if not cost and setting.epsilon is not None)
    above = [
        cost for setting, cost in costs.items() if setting.epsilon is not None and setting.epsilon >= free
    ]
    if len(above) < len(costs):
        key = "below_some" if any(above) else "below_none"
        return say(key, at=epsilon_words(free), some=sum(above), count=len(above))
    some = sum(costs.values())
    return say(f"some_{'one' if some == 1 else 'many'}", some=some, count=len(costs))


def _none_costs(reading: CollectReading, every: dict[Setting, int]) -> str:
    """Return that no setting costs accuracy, or that one does alone and not among all that were tried.

    Where the model does no more than one answer for everyone, that is said: it has no accuracy to lose.
    """
    say, count = reading.sentences.under("frontier"), len(every)
    useless = sum(not reading.is_useful(setting) for setting in every)
    one = "_one" if count == 1 else ""
    if useless:
        return say(f"none_useless{one}", useless=useless, count=count)
    by_chance = count > 1 and any(sign < 0 for sign in every.values())
    return say("none_by_chance" if by_chance else f"none{one}", count=count)


def table_heading(reading: CollectReading) -> str:
    """Return how many settings have another gap than the unprotected model, as a heading.

    Settings that do no better than one answer for everyone are not counted: their gap says nothing.
    """
    say, tested = reading.sentences.under("table"), _signs(reading, GAP)
    if not tested:
        return say("no_intervals" if has_gap(reading) else "no_gap")
    every = {setting: sign for setting, sign in tested.items() if reading.is_useful(setting)}
    if not every:
        return say("useless")
    corrected = _signs(reading, GAP, comparisons=len(tested))
    signs = [corrected[setting] for setting in every]
    told, alike = _count_directions(reading, signs), set(every.values())
    if len(every) < len(tested):
        return say("useful", count=len(every), told=told or [say("none_changes")])
    if len(signs) == 1:
        key = {-1: "one_narrows", 1: "one_widens"}.get(signs[0], "one_unclear")
    elif alike in ({-1}, {1}):
        key = "every_narrows" if alike == {-1} else "every_widens"
    else:
        key = "some" if told else "by_chance" if any(every.values()) else "none"
    return say(key, count=len(signs), told=told)


def _count_directions(reading: CollectReading, signs: list[int]) -> list[str]:
    """Return how many settings narrow and how many widen the gap, as far as there are any."""
    counts = ((signs.count(-1), "narrow"), (signs.count(1), "widen"))
    return [
        reading.sentences.say(f"table.{word}_{'one' if count == 1 else 'many'}", some=count)
        for count, word in counts
        if count
    ]


def _signs(reading: CollectReading, measure: str, *, comparisons: int = 1) -> dict[Setting, int]:
    """Return which way a measure clearly changes under each setting that has an interval: -1, 0 or 1."""
    found = {
        setting: reading.change(measure, setting, comparisons=comparisons) for setting in reading.protected
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
    ways, found = _by_way(reading), []
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


def _by_way(reading: CollectReading) -> dict[str, list[Setting]]:
    """Return the protected settings by the way in which columns are reported."""
    ways: dict[str, list[Setting]] = {}
    for setting in reading.protected:
        ways.setdefault(way_name(setting), []).append(setting)
    return ways


def _slopes(
    reading: CollectReading, settings: list[Setting], measure: str
) -> tuple[NDArray[np.float64], tuple[float, float]] | None:
    """Return the slope in each repeat, and what slopes are possible; None with a single epsilon.

    A slope is NaN in a repeat that lacks a value.
    """
    epsilons = sorted({setting.epsilon for setting in settings if setting.epsilon is not None})
    protocols = list(dict.fromkeys(reading.protocol_name(setting) for setting in settings))
    if len(epsilons) < 2:
        return None
    at = {
        (reading.protocol_name(setting), setting.epsilon): reading.runs(setting, measure)
        for setting in settings
    }
    values = np.mean([[at[name, epsilon] for epsilon in epsilons] for name in protocols], axis=0)
    doublings = np.log2([float(epsilon) for epsilon in epsilons])
    weights = (doublings - doublings.mean()) / ((doublings - doublings.mean()) ** 2).sum()
    slopes: NDArray[np.float64] = weights @ values
    low, high = reading.task.measure(measure).limits
    steepest = float(np.abs(weights).sum()) * (high - low) / 2
    return slopes, (-steepest, steepest)


def measures_heading(reading: CollectReading) -> str:
    """Return how the gap goes with epsilon, as a heading."""
    found, say = trends(reading), reading.sentences.under("measures")
    if not found:
        return say("one_epsilon")
    if not any(trend.slope.has_interval for trend in found):
        return say("no_intervals" if has_gap(reading) else "no_gap")
    up, down, rest = (
        [the_way(trend.setting) for trend in found if trend.sign == sign] for sign in (1, -1, 0)
    )
    if not up and not down:
        return say("unclear")
    if up and down:
        return say("both_ways", up=up, down=down)
    verb = "grow" if up else "shrink"
    if len(found) == 1:
        return say(f"{verb}s")
    return say(f"some_{verb}" if rest else f"all_{verb}", moving=up or down, rest=rest)


def trend_words(reading: CollectReading) -> str:
    """Return the slopes behind the heading, as a sentence."""
    say = reading.sentences.under("measures")
    told = [
        say("slope", way=way_name(trend.setting), slope=trend.slope)
        for trend in trends(reading)
        if trend.slope.has_interval
    ]
    return say("slopes", slopes=told) if told else ""


def measures_section(reading: CollectReading) -> Section:
    """Return the small multiples with their heading."""
    ways, shown = _by_way(reading), _shown_measures(reading)
    is_signed = reading.results.facts.privileged is not None
    panels = [
        _panel(reading, way if len(ways) > 1 else "", settings, measure, axis)
        for way, settings in ways.items()
        for measure, axis in shown
    ]
    heading, slopes = measures_heading(reading), trend_words(reading)
    say, name = reading.sentences.under("measures"), reading.protocol_name(reading.chosen)
    chart = measures_chart(
        panels,
        chosen_epsilon=None if reading.chosen.epsilon is None else float(reading.chosen.epsilon),
        name="measures",
        alt=say("alt" if is_signed else "alt_unsigned", heading=heading, slopes=slopes).strip(),
        caption=caption(reading, say("bars"), f"{say('caption')}{say('signed') if is_signed else ''}"),
    )
    protocols = len({reading.protocol_name(setting) for setting in reading.protected})
    ink = say("ink", protocol=name) if protocols > 1 else ""
    rows = say("rows") if len(ways) > 1 else ""
    return Section(
        heading=heading,
        lead=say("lead", rows=rows, ink=ink, slopes=slopes).strip(),
        charts=(chart,),
        anchor="measures",
    )


def _panel(reading: CollectReading, row: str, settings: list[Setting], measure: str, axis: Axis) -> Panel:
    lines: dict[str, list[Setting]] = {}
    for setting in settings:
        lines.setdefault(reading.protocol_name(setting), []).append(setting)
    return Panel(
        row=row,
        axis=axis,
        lines=[
            Line(
                label,
                [float(setting.epsilon) for setting in line if setting.epsilon is not None],
                [mark(reading.value(measure, setting)) for setting in line],
                spotlight=label == reading.protocol_name(reading.chosen),
            )
            for label, line in lines.items()
        ],
        baseline=mark(reading.before(measure)),
    )


def _shown_measures(reading: CollectReading) -> tuple[tuple[str, Axis], ...]:
    """Return the measures of the small multiples: accuracy, and the gaps that may be undefined."""
    groups, privileged = reading.groups, reading.results.facts.privileged
    names = [reading.shorten_name(group, 14) for group in groups]
    say = reading.sentences.under("measures")
    largest = (
        ("acc", Axis(say("accuracy"), say("accuracy_unit"), 100.0)),
        ("sp_gap", Axis(say("gap"), say("gap_unit"), 100.0)),
    )
    if privileged is None:
        return largest
    others = say("others") if len(groups) > 2 else names[1 - privileged]
    signed = say("signed_unit", privileged=names[privileged], others=others)
    return (
        *largest,
        ("eod", Axis(say("true_positive"), signed, 100.0)),
        ("oad", Axis(say("accuracy_gap"), signed, 100.0)),
    )
