"""Pieces that the sections of several kinds of study share: captions, cells of tables, rates of groups."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.report.charts import moved_chart
from evenhand.report.language import fixed_word
from evenhand.report.marks import Axis, Moved
from evenhand.report.page import Note
from evenhand.report.words import limits_of, number
from evenhand.study.page.comparing import FEWEST_PEOPLE, LEVEL
from evenhand.study.page.wording import delta_text, digits_of, mark, outcome_name
from evenhand.study.results.frames import cell_columns, data_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evenhand.report.page import Chart
    from evenhand.study.page.reading import Reading
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.base import Task
    from evenhand.study.tasks.measure import Measure

_MOST_IN_WORDS = 5


# --- captions -------------------------------------------------------------------------------------


def caption(reading: Reading, bars: str, rest: str = "", *, together: int = 1) -> str:
    """Return a caption that begins in bold with what the bars are, and with how many they hold together."""
    say = reading.sentences.say
    if reading.repeats == 1:
        return say("caption.no_intervals", rest=rest).strip()
    key = "two" if together == 2 else "many"
    joint = say(f"caption.together_{key}", count=together) if together > 1 else ""
    slots = {"bars": bars, "repeats": reading.repeats_words, "together": joint, "rest": rest}
    return say("caption.bars", level=LEVEL, **slots).strip()


def marks_caption(reading: Reading) -> str:
    """Return what marks and cross are, where settings are marks in the plane."""
    if reading.repeats == 1:
        return reading.sentences.say("caption.marks_one_repeat")
    return reading.sentences.say("caption.marks", repeats=reading.repeats_words, level=LEVEL)


def small_print(reading: Reading, rest: str, always: str = "") -> str:
    """Return the caption of a table whose cells have an interval below their value."""
    key = f"caption.small_print{'_one_repeat' * (reading.repeats == 1)}"
    slots = {"repeats": reading.repeats_words, "level": LEVEL, "rest": rest, "always": always}
    return reading.sentences.say(key, **slots).strip().replace("  ", " ")


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
        return fixed_word("form.undefined")
    shown = number(times * found.value, digits, sign=sign)
    shown = f"**{shown}**" if bold else shown
    if found.low is None or found.high is None:
        return shown
    return f"{shown}\n{limits_of(times * found.low, times * found.high, digits, sign=sign)}"


def measure_title(known: Measure, *, change: bool = False) -> str:
    r"""Return what stands above the values of a measure, with the unit below; or above their changes.

    >>> from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
    >>> measure_title(CLASSIFIER_MEASURES["sp_gap"]), measure_title(CLASSIFIER_MEASURES["acc"], change=True)
    ('Gap in selection rates\npoints', 'Change\npoints')
    """
    words = "Change" if change else f"{known.words[:1].upper()}{known.words[1:]}"
    unit = {"percent": "points" if change else "%", "points": "points"}.get(known.form, "")
    return f"{words}\n{unit}".rstrip()


def measure_text(task: Task, known: Measure, found: Estimated, *, sign: bool = False) -> str:
    """Return a value of a measure as a report writes it, with its interval below."""
    if not math.isfinite(found.value):
        return fixed_word("form.undefined")
    if known.form == "amount":
        return task.amount_text(found.value, sign=sign)
    if known.form == "delta" and not sign:
        return delta_text(found.value)
    is_share = known.form in {"percent", "points"}
    digits = 1 if is_share else digits_of(found.value)
    return cell_text(found, times=100.0 if is_share else 1.0, digits=digits, sign=sign)


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
    say, outcome = reading.sentences.say, outcome_name(reading.results.facts.schema)
    rates = [
        (rate, Axis(say(f"rates.{rate}", outcome=outcome), say(f"rates.{unit}"), 100.0))
        for rate, unit in (("selection", "of_group"), ("tpr", "of_these"), ("accuracy", "of_group"))
    ]
    words = []
    for group in shown[:_MOST_IN_WORDS]:
        before, after = reading.rate_pair(group, "selection")
        slots = {"before": before, "after": after, "change": reading.moved(group, "selection")}
        words.append(say("rates.moved", group=reading.named(group), **slots))
    chart = moved_chart(
        [(axis, [_moved(reading, group, rate) for group in shown]) for rate, axis in rates],
        name=name,
        alt=say("rates.alt", heading=heading, moves="; ".join(words)),
        caption=caption,
        among=len(reading.groups),
        **options,
    )
    known = {"name": name, "heading": heading, "caption": caption, **options}
    return replace(chart, draw_group=partial(_rates_of_group, reading, known))


def _rates_of_group(reading: Reading, known: dict[str, Any], group: str) -> Chart:
    return rates_chart(reading, (group,), **known)


def _moved(reading: Reading, group: str, rate: str) -> Moved:
    before, after = (mark(found) for found in reading.rate_pair(group, rate))
    moved = mark(reading.moved(group, rate))
    return Moved(reading.groups.index(group), reading.named(group), before, after, moved)


def people_in_a_test(reading: Reading, shown: Sequence[str]) -> str:
    """Return how many people of each group a test has, and how many groups are not drawn."""
    say = reading.sentences.say
    people = [
        say("method.size", group=reading.named(group), size=reading.rate(group, "people").value)
        for group in reading.groups
    ]
    hidden = len(reading.groups) - len(shown)
    more = say("rates.hidden", count=hidden) if hidden else ""
    few = f" {reading.few_repeats_words}" if reading.few_repeats_words else ""
    return say("rates.people", people=people, hidden=more, few=few)


def few_people(reading: Reading, rest: str = "") -> tuple[Note, ...]:
    """Return a warning of groups of which a test has few people."""
    say = reading.sentences.say
    tested = {group: reading.rate(group, "people").value for group in reading.groups}
    few = [
        say("rates.few_people_group", people=count, group=reading.named(group))
        for group, count in tested.items()
        if count < FEWEST_PEOPLE
    ]
    return (Note("warn", say("rates.few_people", people=few, rest=rest)),) if few else ()
