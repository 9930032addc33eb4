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
from evenhand.study.page.wording import change, counted, mark, plain
from evenhand.study.results.estimates import group_change
from evenhand.study.tasks.collect.choice import shortest_reports
from evenhand.study.tasks.collect.page.frontier import table_heading
from evenhand.study.tasks.collect.wording import protocol_name, setting_name, way_name, way_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading

__all__ = ["protocols_heading", "protocols_section", "table_section", "widest_rival"]


def protocols_section(reading: CollectReading) -> Section | None:
    """Return the interval plot with its heading, or None if there is one setting at this epsilon."""
    if not reading.rivals:
        return None
    panels = []
    for measure, axis in (
        (ACCURACY, Axis("change in accuracy", "points against unprotected", 100.0)),
        (GAP, Axis("change in selection gap", "points against unprotected; below 0 = narrower", 100.0)),
    ):
        rows = [
            Change(
                label=protocol_name(setting),
                shape=way_name(setting),
                estimate=mark(reading.change(measure, setting)),
                spotlight=protocol_name(setting) == protocol_name(reading.chosen),
            )
            for setting in reading.beside
        ]
        panels.append((axis, rows))
    heading, widest = protocols_heading(reading), widest_rival(reading)
    chart = changes_chart(
        panels,
        name="protocols",
        alt=f"{heading}. {widest}".strip(),
        caption=caption(
            reading,
            "Change against unprotected, paired by repeat",
            f"{counted(len(reading.beside), 'setting')} at {reading.at}. That two "
            "intervals overlap is no test; the words above rest on paired differences between settings, with "
            "intervals widened for how many there are.",
        ),
    )
    shortest = shortest_reports(reading)
    if shortest and all(rival.verdict == "same" for rival in reading.rivals):
        shortest = f"Choose by message size: {shortest}"
    lead = " ".join(part for part in (widest, shortest) if part)
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="protocols")


# --- protocols ------------------------------------------------------------------------------------


def protocols_heading(reading: CollectReading) -> str:
    """Return whether other settings at the chosen epsilon differ, as a heading."""
    at = f"At {reading.at},"
    name = setting_name(reading.chosen, epsilon=False)
    if not any(rival.accuracy.has_interval or rival.gap.has_interval for rival in reading.rivals):
        return f"{at} settings cannot be told apart without intervals"
    differing = [rival for rival in reading.rivals if rival.verdict != "same"]
    if not differing:
        return f"{at} no other setting differs clearly from {name}"
    every = len(reading.rivals)
    if len(differing) == every:
        return (
            f"{at} {'the other setting differs' if every == 1 else 'every other setting differs'} from {name}"
        )
    verb = "differs" if len(differing) == 1 else "differ"
    return f"{at} {len(differing)} of {every} other settings {verb} clearly from {name}"


def widest_rival(reading: CollectReading) -> str:
    """Return the largest difference in the gap from the chosen setting, with what its interval says."""
    known = [rival for rival in reading.rivals if rival.gap.has_interval]
    if not known:
        return ""
    most = max(known, key=lambda each: abs(each.gap.value))
    inside = "which leaves out no difference" if most.gap.is_clear else "which includes no difference"
    return (
        f"Furthest away in the gap is {setting_name(most.setting, epsilon=False)}: "
        f"{change(_turned(most.gap), unit=' points')}, {inside}."
    )


def _turned(found: Estimated) -> Estimated:
    low = None if found.high is None else -found.high
    high = None if found.low is None else -found.low
    return replace(found, value=-found.value, low=low, high=high)


_BOLD = (
    "Bold: the change from the unprotected model, paired by repeat, leaves out none, each on its own: of "
    "twenty numbers that do not change about one is bold. Bold does not mean better."
)
_MEASURES = (
    ("acc", "Accuracy\n%"),
    ("sp_gap", "Selection gap\npoints"),
    ("eod", "True-positive gap\npoints"),
)


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
    pair, ways = (reading.low, reading.high), way_words(reading.protected) or "split"
    header = [
        "Protocol", ways.capitalize(), "ε", *(name for _, name in _MEASURES),
        *(f"{plain(reading.named(group), longest=24)} selected\n%" for group in pair),
    ]  # fmt: skip
    table = Table(
        header=header,
        rows=[_row(reading, setting, pair) for setting in order],
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=small_print(reading, f"{_BOLD} {reading.few_repeats_words}".rstrip()),
        sunk=0,
        chosen=1,
        fold=fold_rows(len(order)),
        name="all-cells",
        data=all_cells(reading),
    )
    cells = counted(len(reading.results), "cell")
    return Section(
        heading=table_heading(reading),
        lead=f"One row per setting, those at {reading.at} first. The CSV holds all {cells}."
        " What is clear in the heading is judged by intervals widened for how many settings there are.",
        tables=(table,),
        anchor="numbers",
    )


def _row(reading: CollectReading, setting: Setting, pair: Sequence[str]) -> list[str]:
    row = [protocol_name(setting), way_name(setting, word=False), epsilon_of(setting.epsilon)]
    if not setting.is_protected:
        row = ["Unprotected", "none", "∞"]
    for measure, _ in _MEASURES:
        row.append(cell_text(reading.value(measure, setting), bold=reading.change(measure, setting).is_clear))
    for group in pair:
        moved = group_change(reading.results, setting, group, "selection", level=LEVEL)
        row.append(cell_text(reading.rate(group, "selection", setting), bold=moved.is_clear))
    return row
