"""Pieces that the sections of several kinds of study share: captions, cells of tables, rates of groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.charts import moved_chart
from evenhand.report.marks import Axis, Moved
from evenhand.report.page import Note
from evenhand.report.words import number
from evenhand.study.page.comparing import LEVEL
from evenhand.study.page.wording import change, counted, listed, mark, outcome_name, percent
from evenhand.study.results.frames import cell_columns, data_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evenhand.report.page import Chart
    from evenhand.study.page.reading import Reading
    from evenhand.study.results.estimates import Estimated

__all__ = [
    "all_cells",
    "caption",
    "cell_text",
    "few_people",
    "fold_rows",
    "marks_caption",
    "people_in_a_test",
    "rates_chart",
    "shown_groups",
    "small_print",
]

_NO_INTERVALS = "**One repeat, so there are no intervals.**"
_FEW_PEOPLE = 30
_MOST_IN_WORDS = 5


# --- captions -------------------------------------------------------------------------------------


def caption(reading: Reading, bars: str, rest: str = "", *, together: int = 1) -> str:
    """Return a caption that begins in bold with what the bars are, and with how many they hold together."""
    if reading.repeats == 1:
        return f"{_NO_INTERVALS} {rest}".strip()
    joint = f", widened to hold for all {together} groups at once" if together > 2 else ""
    joint = ", widened to hold for both groups at once" if together == 2 else joint
    return f"**{bars}: {LEVEL:.0%} interval over {reading.repeats_words}{joint}.** {rest}".strip()


def marks_caption(reading: Reading) -> str:
    """Return what marks and cross are, where settings are marks in the plane."""
    if reading.repeats == 1:
        return "**Marks: values of one repeat, so there are no intervals.**"
    return (
        f"**Marks: means of {reading.repeats_words}. Cross: {LEVEL:.0%} interval** of the ringed setting; "
        "those of the others are not drawn and are in the CSV."
    )


def small_print(reading: Reading, rest: str, always: str = "") -> str:
    """Return the caption of a table whose cells have an interval below their value."""
    if reading.repeats == 1:
        return f"**One repeat, so there are no intervals** and nothing is bold. {always}".strip()
    return f"**Small print: {LEVEL:.0%} interval over {reading.repeats_words}.** {rest} {always}".strip()


# --- tables ---------------------------------------------------------------------------------------


def cell_text(
    found: Estimated, *, times: float = 100.0, digits: int = 1, bold: bool = False, sign: bool = False
) -> str:
    r"""Return a value with its interval below.

    >>> from evenhand.study.results.estimates import Estimated
    >>> cell_text(Estimated(0.806, 0.801, 0.811), bold=True)
    '**80.6**\n80.1 to 81.1'
    """
    if not math.isfinite(found.value):
        return "undefined"
    shown = number(times * found.value, digits, sign=sign)
    shown = f"**{shown}**" if bold else shown
    if found.low is None or found.high is None:
        return shown
    low, high = (number(times * limit, digits, sign=sign) for limit in (found.low, found.high))
    return f"{shown}\n{low} to {high}"


def fold_rows(count: int, *, at: int = 12) -> int | None:
    """Return from which row on a long table is folded; None if it is short."""
    return at if count > at + 2 else None


def all_cells(reading: Reading, *, data: bool = False) -> dict[str, Any]:
    """Return every cell of the study as columns; with `data`, the numbers of the data of each too."""
    columns: dict[str, Any] = dict(cell_columns(reading.results))
    if data:
        done = [row for row, state in enumerate(columns["state"]) if state == "done"]
        numbers = data_columns(reading.results)
        for name in reading.results.arrays.data:
            column: list[object] = [math.nan] * len(columns["state"])
            for row, value in zip(done, numbers[name], strict=True):
                column[row] = value
            columns[name] = column
    return {name: list(values) for name, values in columns.items()}


# --- rates of groups ------------------------------------------------------------------------------


def shown_groups(reading: Reading, most: int = 12, *, first: Collection[str] = ()) -> tuple[str, ...]:
    """Return all groups, or those named and then the largest, in the schema's order."""
    groups, sizes = reading.groups, reading.results.facts.sizes
    order = sorted(range(len(groups)), key=lambda place: (groups[place] not in first, -sizes[place]))
    return tuple(groups[place] for place in sorted(order[:most]))


def rates_chart(
    reading: Reading, shown: Sequence[str], *, name: str, heading: str, caption: str, **options: Any
) -> Chart:
    """Return what becomes of the rates of each group: how often it is selected, found and predicted right."""
    outcome = outcome_name(reading.results.facts.schema)
    rates = (
        ("selection", Axis(f"predicted {outcome}", "% of the group", 100.0)),
        ("tpr", Axis(f"found among true {outcome}", "% of these in the group", 100.0)),
        ("accuracy", Axis("predicted correctly", "% of the group", 100.0)),
    )
    words = []
    for group in shown[:_MOST_IN_WORDS]:
        before, after = reading.rate_pair(group, "selection")
        moved = change(reading.moved(group, "selection"))
        words.append(
            f"{reading.named(group)} from {percent(before.value)} to {percent(after.value)}, {moved}"
        )
    return moved_chart(
        [(axis, [_moved(reading, group, rate) for group in shown]) for rate, axis in rates],
        name=name,
        alt=f"{heading}. Selected: {'; '.join(words)}.",
        caption=caption,
        **options,
    )


def _moved(reading: Reading, group: str, rate: str) -> Moved:
    before, after = (mark(found) for found in reading.rate_pair(group, rate))
    moved = mark(reading.moved(group, rate))
    return Moved(reading.groups.index(group), reading.named(group), before, after, moved)


def people_in_a_test(reading: Reading, shown: Sequence[str]) -> str:
    """Return how many people of each group a test has, and how many groups are not drawn."""
    people = [
        f"{reading.named(group)}: {reading.rate(group, 'people').value:,.0f}" for group in reading.groups
    ]
    hidden = len(reading.groups) - len(shown)
    more = f" Not drawn: {counted(hidden, 'smaller group')}." if hidden else ""
    few = f" {reading.few_repeats_words}" if reading.few_repeats_words else ""
    tested = f"People in a test, on average: {listed(people)}."
    return f"Changes are in points; the scales differ. {tested}{more}{few}"


def few_people(reading: Reading, rest: str = "") -> tuple[Note, ...]:
    """Return a warning of groups of which a test has few people."""
    tested = {group: reading.rate(group, "people").value for group in reading.groups}
    few = [
        f"{count:,.0f} of {reading.named(group)}" for group, count in tested.items() if count < _FEW_PEOPLE
    ]
    if not few:
        return ()
    text = f"**Few people: on average a test has {listed(few)}.** Rates of so few jump from repeat to repeat."
    return (Note("warn", f"{text}{rest}"),)
