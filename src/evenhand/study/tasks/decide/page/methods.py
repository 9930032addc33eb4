"""The sections on what could be done: other methods beside the plain release, and other values of epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from evenhand.decide.mitigate.registry import MITIGATIONS
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import Note, Section, Table
from evenhand.report.words import epsilon_of, epsilon_words, plain
from evenhand.study.page.wording import delta_text
from evenhand.study.tasks.decide.answers import doubt, group_value
from evenhand.study.tasks.decide.methods import method_of, method_title
from evenhand.study.tasks.decide.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.report.page import Chart
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading

RULE_COLUMNS = ("expected_wrong", "expected_refused", "largest_flip", "alpha")
MONEY_COLUMNS = ("moved", "largest_misallocation", "mean_error", "alpha", "cost_of_privacy", "overspent")


def methods_section(reading: DecideReading) -> Section | None:
    """Return bars of what each method costs, its error, its promise and who loses; None if there is one."""
    if len(reading.methods) < 2:
        return None
    values = {setting: _cost(reading, setting) for setting in reading.methods}
    heading, exactness = _heading(reading, values), _exactness(reading)
    caption = reading.say_kind("methods.caption", exactness=exactness, where=_where(reading))
    labels = {setting: method_title(setting) for setting in values}
    chart = _bars(
        reading, values, labels, section="methods", name="mitigations", heading=heading, caption=caption
    )
    return Section(
        heading=heading,
        lead=reading.say("methods.lead"),
        charts=() if chart is None else (chart,),
        tables=(_table(reading, exactness),),
        notes=tuple(_notes(reading)),
        anchor="mitigations",
    )


def _bars(
    reading: DecideReading,
    values: Mapping[Setting, float],
    labels: Mapping[Setting, str],
    *,
    section: str,
    name: str,
    heading: str,
    caption: str,
) -> Chart | None:
    """Return bars of amounts or wrong decisions; None where all are nothing."""
    shown = {setting: 0.0 if _is_none(reading, setting) else value for setting, value in values.items()}
    if not any(shown.values()):
        return None
    title = reading.say(f"{section}.axis_{'rule' if reading.is_rule else 'money'}")
    unit = Axis(title, reading.noun.many) if reading.is_rule else reading.amounts.axis(title, shown.values())
    bars = [
        Bar(labels[setting], Estimate(value), strong=setting == reading.chosen)
        for setting, value in shown.items()
    ]
    listed = "; ".join(f"{labels[setting]} {reading.value_text(value)}" for setting, value in values.items())
    return bars_chart(unit, bars, name=name, alt=f"{heading}. {listed}.", caption=caption)


def _is_none(reading: DecideReading, setting: Setting) -> bool:
    """Return whether money is allotted, and nobody gains or loses as much as anybody can be paid."""
    return not reading.is_rule and reading.nobody_gains_or_loses(setting)


def _cost(reading: DecideReading, setting: Setting) -> float:
    return reading.mean("expected_wrong" if reading.is_rule else "moved", setting)


def _heading(reading: DecideReading, values: dict[Setting, float]) -> str:
    known = {setting: value for setting, value in values.items() if math.isfinite(value)}
    if not known:
        return reading.say("methods.heading_none")
    best, worst = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    low, high = (reading.value_text(known[setting]) for setting in (best, worst))
    if low == high:
        return reading.say_kind("methods.heading_same", value=low)
    if _is_none(reading, reading.chosen):
        slots = {"chosen": method_title(reading.chosen), "worst": method_title(worst), "high": high}
        return reading.say("methods.heading_nobody", **slots)
    now = known.get(reading.chosen, math.nan)
    if best != reading.chosen and not known[best] + doubt(reading, best) < now:
        value = reading.value_text(now)
        return reading.say_kind("methods.heading_unclear", chosen=method_title(reading.chosen), value=value)
    titles = {"best": method_title(best), "worst": method_title(worst)}
    return reading.say_kind("methods.heading", **titles, low=low, high=high)


def _exactness(reading: DecideReading) -> str:
    drawn = [
        method_title(setting)
        for setting in reading.methods
        if not reading.is_exact(setting) and math.isfinite(_cost(reading, setting))
    ]
    if not drawn:
        return reading.say("exactness.exact")
    return reading.say("exactness.some", names=[f"“{title}”" for title in drawn])


def _where(reading: DecideReading) -> str:
    epsilon = reading.chosen.epsilon
    at = "" if epsilon is None else reading.say("methods.at", at=epsilon_words(epsilon))
    return reading.say("methods.where", mechanism=mechanism_name(reading.chosen), at=at)


def _table(reading: DecideReading, exactness: str) -> Table:
    names = RULE_COLUMNS if reading.is_rule else MONEY_COLUMNS
    whom = ("loser", "group") if reading.groups else ("loser",)
    rows = [
        [
            method_title(setting),
            _claim(reading, setting),
            *(reading.measure_text(name, setting) for name in names),
            _loser(reading, setting),
            *([_losing_group(reading, setting)] if reading.groups else []),
        ]
        for setting in reading.methods
    ]
    columns = ("claimed_epsilon", "delta", "exact", *names)
    data: dict[str, list[object]] = {"method": [method_title(setting) for setting in reading.methods]}
    data |= {name: [reading.mean(name, setting) for setting in reading.methods] for name in columns}
    return Table(
        header=[reading.say(f"methods.header.{name}") for name in ("method", "claim", *names, *whom)],
        rows=rows,
        numeric=[False, False, *[True] * len(names), *[False] * len(whom)],
        caption=reading.say_kind("methods.table", exactness=exactness, where=_where(reading)),
        chosen=reading.methods.index(reading.chosen),
        name="methods",
        data=data,
    )


def _loser(reading: DecideReading, setting: Setting) -> str:
    """Return the entity that loses most with a method, and how much."""
    if reading.outcome(setting) is None:
        return reading.say("number.unknown")
    loser = reading.loser(setting)
    if loser is None:
        return reading.say("methods.nobody")
    if reading.is_rule:
        return f"{loser.name}\n{reading.chance(loser['flip'])}"
    return f"{loser.name}\n{reading.amounts.text(loser['bias'] * reading.money)}"


def _losing_group(reading: DecideReading, setting: Setting) -> str:
    """Return the group that loses most with a method, and how much per head or how often."""
    values = {group: group_value(reading, group, setting) for group in reading.groups}
    known = {group: value for group, value in values.items() if math.isfinite(value)}
    if not known:
        return reading.say("number.unknown")
    if reading.is_rule:
        group = max(known, key=known.__getitem__)
        return (
            f"{plain(group)}\n{reading.odds(known[group], base=1000)}"
            if known[group]
            else reading.say("methods.nobody")
        )
    group = min(known, key=known.__getitem__)
    if known[group] >= 0 or reading.amounts.is_none(known[group]):
        return reading.say("methods.nobody")
    return f"{plain(group)}\n{reading.amounts.text(known[group])}"


def _claim(reading: DecideReading, setting: Setting) -> str:
    epsilon, delta = reading.mean("claimed_epsilon", setting), reading.mean("delta", setting)
    if not math.isfinite(epsilon):
        unknown = reading.outcome(setting) is None
        return reading.say("number.unknown" if unknown else "methods.no_claim")
    return f"{epsilon_of(epsilon)}, {delta_text(delta)}" if delta else epsilon_of(epsilon)


def _notes(reading: DecideReading) -> list[Note]:
    notes = []
    names = {method.name for setting in reading.methods if (method := method_of(setting)[1]) is not None}
    if any("nonnegative" in step for setting in reading.methods for step in method_of(setting)[0]):
        notes.append(Note("plain", reading.say("methods.clamp")))
    problem: Literal["rule", "allotment"] = "rule" if reading.is_rule else "allotment"
    cautions = [MITIGATIONS[name].cautions.get(problem) for name in MITIGATIONS if name in names]
    return notes + [Note("warn", caution) for caution in cautions if caution is not None]


# --- epsilon --------------------------------------------------------------------------------------


def cost_section(reading: DecideReading) -> Section | None:
    """Return what privacy costs at each epsilon, in money or wrong decisions; None if there is one only."""
    settings = [setting for setting in reading.by_epsilon if setting.epsilon is not None]
    if len(settings) < 2:
        return None
    measure = "expected_wrong" if reading.is_rule else "cost_of_privacy"
    values = {setting: reading.mean(measure, setting) for setting in settings}
    labels = {setting: epsilon_words(setting.epsilon) for setting in settings}
    first, last = settings[0], settings[-1]
    texts = dict(zip(("first", "last"), reading.value_texts(values[first], values[last]), strict=True))
    heading = reading.say_kind("cost.heading", **texts, first_at=labels[first], last_at=labels[last])
    caption = reading.say(
        "cost.caption",
        exactness=_exact_or_drawn(reading, settings),
        mechanism=mechanism_name(reading.chosen),
        method=method_title(reading.chosen),
    )
    chart = _bars(
        reading, values, labels, section="cost", name="cost-of-privacy", heading=heading, caption=caption
    )
    if chart is None:
        return None
    return Section(heading=heading, lead=reading.say_kind("cost.lead"), charts=(chart,), anchor="cost")


def _exact_or_drawn(reading: DecideReading, settings: Sequence[Setting]) -> str:
    exact = all(reading.is_exact(setting) for setting in settings)
    return reading.say("exactness.exact" if exact else "exactness.some_drawn")
