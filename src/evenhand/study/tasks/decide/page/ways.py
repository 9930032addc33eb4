"""The sections on what could be done: other ways beside the plain release, and other values of epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from evenhand.decide.mitigate.registry import mitigation_kinds
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import Note, Section, Table
from evenhand.report.words import epsilon_of, epsilon_words
from evenhand.study.page.wording import delta_text, with_article
from evenhand.study.tasks.decide.methods import way_of, way_title
from evenhand.study.tasks.decide.wording import mechanism_name

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading

__all__ = ["cost_section", "ways_section"]


def ways_section(reading: DecideReading) -> Section | None:
    """Return bars of what each way costs, and its error and promise; None if there is one only."""
    if len(reading.ways) < 2:
        return None
    values = {setting: _cost(reading, setting) for setting in reading.ways}
    bars = [
        Bar(way_title(setting), Estimate(value), strong=setting == reading.chosen)
        for setting, value in values.items()
    ]
    heading = _heading(reading, values)
    said = "; ".join(f"{way_title(setting)} {reading.value_text(value)}" for setting, value in values.items())
    axis = (
        Axis("wrong decisions expected", reading.noun.many)
        if reading.is_rule
        else reading.amounts.axis("misallocated on average", values.values())
    )
    chart = bars_chart(
        axis,
        bars,
        name="mitigations",
        alt=f"{heading}. {said}.",
        caption=f"**{_exactness(reading)}** {_where(reading)}.{_meaning(reading)} "
        "Dark: what this page is about.",
    )
    return Section(
        heading=heading,
        lead="A way that lowers the bias may raise the error of one release, or promise less. Both are in "
        "the table, so that nobody is called best by one of them.",
        charts=(chart,),
        tables=(_table(reading),),
        notes=tuple(_notes(reading)),
        anchor="mitigations",
    )


def _cost(reading: DecideReading, setting: Setting) -> float:
    return reading.mean("expected_wrong" if reading.is_rule else "moved", setting)


def _heading(reading: DecideReading, values: dict[Setting, float]) -> str:
    known = {setting: value for setting, value in values.items() if math.isfinite(value)}
    if not known:
        return "None of the ways gave a result"
    best, worst = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    what = "wrong decisions" if reading.is_rule else "money misallocated"
    if known[best] == known[worst]:
        return f"All ways come to the same: {what} {reading.value_text(known[best])}"
    return (
        f"Least {what} with '{way_title(best)}': {reading.value_text(known[best])}; most with "
        f"'{way_title(worst)}': "
        f"{reading.value_text(known[worst])}"
    )


def _meaning(reading: DecideReading) -> str:
    return "" if reading.is_rule else " Misallocated: half of all expected gains and losses."


def _exactness(reading: DecideReading) -> str:
    drawn = [
        setting
        for setting in reading.ways
        if not reading.is_exact(setting) and math.isfinite(_cost(reading, setting))
    ]
    if not drawn:
        return "Exact values, no sampling."
    names = ", ".join(f"'{way_title(setting)}'" for setting in drawn)
    return f"Exact, but for {names}, which were drawn."


def _where(reading: DecideReading) -> str:
    epsilon = reading.chosen.epsilon
    return mechanism_name(reading.chosen) + ("" if epsilon is None else f" at {epsilon_words(epsilon)}")


def _table(reading: DecideReading) -> Table:
    noun = reading.noun
    bias = "chance of a wrong decision" if reading.is_rule else "expected gain"
    names: tuple[str, ...]
    if reading.is_rule:
        header = [
            "Way",
            "ε, δ\nclaimed",
            "Wrong decisions\nexpected",
            "Rights refused\nexpected",
            "Largest chance",
            "α",
        ]
        names = ("expected_wrong", "expected_refused", "largest_flip", "alpha")
    else:
        header = [
            "Way", "ε, δ\nclaimed", "Misallocated\nexpected", "Gain or loss\nlargest",
            f"Typical error\nmean {noun.one}", "α", "Cost of privacy\nto make up",
            "Overspent\nbeyond the budget",
        ]  # fmt: skip
        names = ("moved", "largest_misallocation", "mean_error", "alpha", "cost_of_privacy", "overspent")
    rows = [
        [
            way_title(setting),
            _claim(reading, setting),
            *(reading.measure_text(name, setting) for name in names),
        ]
        for setting in reading.ways
    ]
    columns = ("claimed_epsilon", "delta", "exact", *names)
    data: dict[str, list[object]] = {"way": [way_title(setting) for setting in reading.ways]}
    data |= {name: [reading.mean(name, setting) for setting in reading.ways] for name in columns}
    return Table(
        header=header,
        rows=rows,
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=f"**{_exactness(reading)}** {_where(reading)}. α: largest minus smallest {bias} of "
        f"{with_article(noun.one)}.",
        chosen=reading.ways.index(reading.chosen),
        name="ways",
        data=data,
    )


def _claim(reading: DecideReading, setting: Setting) -> str:
    epsilon, delta = reading.mean("claimed_epsilon", setting), reading.mean("delta", setting)
    if not math.isfinite(epsilon):
        return "unknown" if reading.outcome(setting) is None else "nothing"
    return f"{epsilon_of(epsilon)}, {delta_text(delta)}" if delta else epsilon_of(epsilon)


def _notes(reading: DecideReading) -> list[Note]:
    said = []
    names = {way.name for setting in reading.ways if (way := way_of(setting)[1]) is not None}
    if any("nonnegative" in step for setting in reading.ways for step in way_of(setting)[0]):
        said.append(
            Note(
                "plain",
                "**Setting negative counts to 0 favours the small.** Noise is as often below as above, but "
                "only what is above stays: where few people are counted, more are published.",
            )
        )
    problem: Literal["rule", "allotment"] = "rule" if reading.is_rule else "allotment"
    cautions = [kind.cautions.get(problem) for kind in mitigation_kinds(problem) if kind.name in names]
    return said + [Note("warn", caution) for caution in cautions if caution is not None]


# --- epsilon --------------------------------------------------------------------------------------


def cost_section(reading: DecideReading) -> Section | None:
    """Return what privacy costs at each epsilon, in money or wrong decisions; None if there is one only."""
    settings = [setting for setting in reading.by_epsilon if setting.epsilon is not None]
    if len(settings) < 2:
        return None
    measure = "expected_wrong" if reading.is_rule else "cost_of_privacy"
    values = {setting: reading.mean(measure, setting) for setting in settings}
    bars = [
        Bar(epsilon_words(setting.epsilon), Estimate(value), strong=setting == reading.chosen)
        for setting, value in values.items()
    ]
    first, last = settings[0], settings[-1]
    ends = [
        f"{reading.value_text(values[setting])} at {epsilon_words(setting.epsilon)}"
        for setting in (first, last)
    ]
    what = "Wrong decisions" if reading.is_rule else "The cost of privacy"
    verb = "are" if reading.is_rule else "is"
    heading = f"{what} {verb} {ends[0]} and {ends[1]}"
    axis = (
        Axis("wrong decisions expected", reading.noun.many)
        if reading.is_rule
        else reading.amounts.axis("cost of privacy", values.values())
    )
    chart = bars_chart(
        axis,
        bars,
        name="cost-of-privacy",
        alt=f"{heading}.",
        caption=(
            f"**{_exact_or_drawn(reading, settings)}** {mechanism_name(reading.chosen)}, "
            f"'{way_title(reading.chosen)}'. Bars are linear and start at 0. Dark: what this page is about."
        ),
    )
    lead = (
        "How many decisions are expected to differ from those by true counts."
        if reading.is_rule
        else "What has to be paid on top of the budget so that nobody gets less on average than is due."
    )
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="cost")


def _exact_or_drawn(reading: DecideReading, settings: list[Setting]) -> str:
    if all(reading.is_exact(setting) for setting in settings):
        return "Exact values, no sampling."
    return "Some of these values were drawn, and are not exact."
