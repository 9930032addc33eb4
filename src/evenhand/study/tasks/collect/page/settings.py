"""Whether the mechanism matters at the chosen epsilon, and all numbers: one row for each setting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.report.charts import changes_chart
from evenhand.report.marks import Axis, Change
from evenhand.report.page import Section, Table
from evenhand.report.words import epsilon_of
from evenhand.study.page.comparing import LEVEL
from evenhand.study.page.parts import all_cells, caption, cell_text, fold_rows, small_print
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.page.wording import mark
from evenhand.study.results.estimates import group_change
from evenhand.study.tasks.collect.choice import shortest_reports
from evenhand.study.tasks.collect.page.frontier import table_heading
from evenhand.study.tasks.collect.wording import way_name, way_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading


def protocols_section(reading: CollectReading) -> Section | None:
    """Return the interval plot with its heading, or None if there is one setting at this epsilon."""
    if not reading.rivals:
        return None
    say, panels = reading.sentences.under("protocols"), []
    for measure, name in ((ACCURACY, "accuracy"), (GAP, "gap")):
        rows = [
            Change(
                label=reading.protocol_name(setting),
                shape=way_name(setting),
                estimate=mark(reading.change(measure, setting)),
                spotlight=reading.protocol_name(setting) == reading.protocol_name(reading.chosen),
            )
            for setting in reading.beside
        ]
        panels.append((Axis(say(name), say(f"{name}_unit"), 100.0), rows))
    heading, widest = protocols_heading(reading), widest_rival(reading)
    chart = changes_chart(
        panels,
        name="protocols",
        alt=f"{heading}. {widest}".strip(),
        caption=caption(reading, say("bars"), say("caption", count=len(reading.beside), at=reading.at)),
    )
    shortest = shortest_reports(reading)
    if shortest and all(rival.verdict == "same" for rival in reading.rivals):
        shortest = say("by_size", shortest=shortest)
    lead = " ".join(part for part in (widest, shortest) if part)
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="protocols")


# --- protocols ------------------------------------------------------------------------------------


def protocols_heading(reading: CollectReading) -> str:
    """Return whether other settings at the chosen epsilon differ, as a heading."""
    slots = {"at": reading.at, "chosen": reading.setting_name(reading.chosen, epsilon=False)}
    say = reading.sentences.under("protocols")
    if not any(rival.accuracy.has_interval or rival.gap.has_interval for rival in reading.rivals):
        return say("no_intervals", **slots)
    some, every = sum(rival.verdict != "same" for rival in reading.rivals), len(reading.rivals)
    if not some:
        return say("none", **slots)
    key = f"{'every' if some == every else 'some'}_{'one' if some == 1 else 'many'}"
    return say(key, some=some, count=every, **slots)


def widest_rival(reading: CollectReading) -> str:
    """Return the largest difference in the gap from the chosen setting, with what its interval says."""
    known = [rival for rival in reading.rivals if rival.gap.has_interval]
    if not known:
        return ""
    most = max(known, key=lambda each: abs(each.gap.value))
    key = f"furthest_{'clear' if most.gap.is_clear else 'unclear'}"
    other = reading.setting_name(most.setting, epsilon=False)
    return reading.sentences.say(f"protocols.{key}", other=other, gap=_turned(most.gap))


def _turned(found: Estimated) -> Estimated:
    low = None if found.high is None else -found.high
    high = None if found.low is None else -found.low
    return replace(found, value=-found.value, low=low, high=high)


def _measures(reading: CollectReading) -> tuple[str, ...]:
    """Return what the table shows; without a privileged group no gap has a sign."""
    signed = () if reading.results.facts.privileged is None else ("eod",)
    return ("acc", "sp_gap", *signed)


def table_section(reading: CollectReading) -> Section:
    """Return the table of settings, those at the chosen epsilon first."""
    chosen = reading.chosen
    ahead = [
        chosen,
        *(
            setting
            for setting in reading.protected
            if setting.epsilon == chosen.epsilon and setting != chosen
        ),
    ]
    order = [
        BASELINE,
        *ahead,
        *(setting for setting in reading.protected if setting.epsilon != chosen.epsilon),
    ]
    say, pair = reading.sentences.under("table"), (reading.low, reading.high)
    ways = way_words(reading.protected) or reading.sentences.say("setting.differ_split")
    header = [
        say("protocol"), f"{ways[0].upper()}{ways[1:]}", "ε", *(say(name) for name in _measures(reading)),
        *(say("selected", group=reading.shorten_name(group, 24)) for group in pair),
    ]  # fmt: skip
    table = Table(
        header=header,
        rows=[_row(reading, setting, pair) for setting in order],
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=small_print(reading, say("bold", few=reading.few_repeats_words).rstrip()),
        sunk=0,
        chosen=1,
        fold=fold_rows(len(order)),
        name="all-cells",
        data=all_cells(reading),
    )
    return Section(
        heading=table_heading(reading),
        lead=say("lead", at=reading.at, runs=len(reading.results)),
        tables=(table,),
        anchor="numbers",
    )


def _row(reading: CollectReading, setting: Setting, pair: Sequence[str]) -> list[str]:
    row = [reading.protocol_name(setting), way_name(setting, word=False), epsilon_of(setting.epsilon)]
    if not setting.is_protected:
        row = [reading.sentences.say("table.unprotected"), reading.sentences.say("table.nothing"), "∞"]
    for measure in _measures(reading):
        row.append(cell_text(reading.value(measure, setting), bold=reading.change(measure, setting).is_clear))
    for group in pair:
        moved = group_change(reading.results, setting, group, "selection", level=LEVEL)
        row.append(cell_text(reading.rate(group, "selection", setting), bold=moved.is_clear))
    return row
