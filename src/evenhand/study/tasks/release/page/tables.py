"""The tables of a report on releases: what each mechanism promises, delta first, and all numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.report.page import Note, Section, Table
from evenhand.report.words import epsilon_of, plain
from evenhand.study.page.parts import all_cells, cell_text, fold_rows, small_print
from evenhand.study.page.reading import BASELINE
from evenhand.study.page.wording import delta_text, digits_of
from evenhand.study.tasks.release.names import SIZES, STATED
from evenhand.study.tasks.release.wording import blanks_text, error_text, errors_text, promise, tone_of
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading
    from evenhand.study.tasks.shared.sizes import Size

_MOST_GROUPS = 2


def promise_section(reading: ReleaseReading) -> Section:
    """Return the mechanism table, sorted by delta."""
    say, sizes = reading.sentences.say, _few_and_many(reading)
    stated = say("name.stated", epsilon=STATED if reading.epsilon is None else reading.epsilon)
    header = [say("promises.column_delta", stated=stated)]
    header += [say(f"promises.column_{name}") for name in ("guarantee", "mechanism")]
    header += [say("promises.column_error", size=size.label) for size in sizes]
    header += [say(f"promises.column_{name}") for name in ("bias", "alpha")]
    table = Table(
        header=header,
        rows=[_promise_row(reading, setting, sizes) for setting in reading.beside],
        numeric=[False, False, False, *[True] * (len(header) - 3)],
        caption=_promise_caption(reading),
        chosen=reading.beside.index(reading.chosen) if reading.chosen in reading.beside else None,
        name="mechanisms",
        data=_promise_data(reading),
        tags=guarantee_tags(reading),
    )
    return Section(
        heading=say("promises.heading", count=promise_heading(reading)),
        lead=say("promises.lead"),
        tables=(table,),
        notes=tuple(_promise_notes(reading)),
        anchor="promise",
    )


def promise_heading(reading: ReleaseReading) -> str:
    """Return how many mechanisms promise something."""
    all_of, good, say = len(reading.beside), len(reading.promising), reading.sentences.say
    at = "" if reading.epsilon is None else say("closing.at", epsilon=reading.epsilon)
    key = "all" if good == all_of else "some" if good else "none"
    one = all_of - good == 1 if key == "some" else all_of == 1
    return say(f"promises.{key}{'_one' * one}", all=all_of, bad=all_of - good, at=at)


def guarantee_tags(reading: ReleaseReading) -> dict[tuple[int, int], Literal["ok", "warn", "bad"]]:
    """Return the tone of the second column of a table whose rows are the mechanisms side by side."""
    deltas = [reading.delta(setting) for setting in reading.beside]
    return {(place, 1): tone_of(delta, people=reading.people) for place, delta in enumerate(deltas)}


def _few_and_many(reading: ReleaseReading) -> list[Size]:
    """Return the smallest and the largest class of cells that occur."""
    return list(dict.fromkeys((*reading.sizes[:1], *reading.sizes[-1:])))


def _promise_row(reading: ReleaseReading, setting: Setting, sizes: Sequence[Size]) -> list[str]:
    say, name, alpha = reading.sentences.say, mechanism_name(setting), reading.value("alpha", setting)
    shown = _amount(alpha)
    return [
        f"**{delta_text(reading.delta(setting))}**",
        promise(reading, setting),
        name if setting.epsilon is not None else say("promises.no_epsilon", name=name),
        *(error_text(reading, setting, reading.of_size("error", size, setting)) for size in sizes),
        _amount(reading.value("largest_bias", setting)),
        shown if reading.is_exact(setting) else say("promises.sampled", alpha=shown),
    ]


def _amount(found: Estimated) -> str:
    return cell_text(replace(found, low=None, high=None), times=1.0, digits=digits_of(found.value))


def _promise_caption(reading: ReleaseReading) -> str:
    columns = " × ".join(plain(name, longest=30) for name in reading.results.facts.schema.names[:6])
    return reading.sentences.say(
        "promises.caption",
        repeats=reading.repeats_words,
        columns=columns,
        cells=reading.cells,
        people=reading.people,
        errors=errors_text(reading),
    )


def _promise_notes(reading: ReleaseReading) -> list[Note]:
    say, beside = reading.sentences.say, reading.beside
    bad = [mechanism_name(setting) for setting in beside if setting not in reading.promising]
    sampled = [mechanism_name(setting) for setting in beside if not reading.is_exact(setting)]
    said = [Note("bad", say("promises.note_bad", names=bad))] if bad else []
    if any(setting.mechanism == "record-swapping" for setting in beside):
        said.append(Note("plain", say("promises.note_swapping")))
    if blanks := blanks_text(reading, beside):
        said.append(Note("plain", say("promises.note_blanks", blanks=blanks)))
    if sampled:
        said.append(Note("plain", say("promises.note_sampled", names=sampled, draws=reading.task.draws)))
    return said


def _promise_data(reading: ReleaseReading) -> dict[str, list[object]]:
    rows = reading.beside
    return {
        "delta": [reading.delta(setting) for setting in rows],
        "guarantee": [promise(reading, setting) for setting in rows],
        "mechanism": [mechanism_name(setting) for setting in rows],
        "epsilon": [None if setting.epsilon is None else float(setting.epsilon) for setting in rows],
        **{
            f"{measure}{end}": [getattr(reading.value(measure, setting), part) for setting in rows]
            for measure in ("l1_error", "l1_bias", "largest_bias", "alpha")
            for end, part in (("", "value"), ("_low", "low"), ("_high", "high"))
        },
        "bias_exact": [reading.is_exact(setting) for setting in rows],
        "error_exact": [reading.is_exact(setting, "error") for setting in rows],
        **{
            f"mean_error_{size.key}": [reading.of_size("error", size, setting).value for setting in rows]
            for size in SIZES
        },
    }


# --- all numbers ----------------------------------------------------------------------------------


def numbers_section(reading: ReleaseReading) -> Section:
    """Return the table of every setting, with the CSV of every cell."""
    say, groups = reading.sentences.say, concerned_groups(reading, most=_MOST_GROUPS)
    names = ["mechanism", "epsilon", "delta", "error", "alpha"]
    names += ["accuracy", "gap"] if reading.classifies else []
    header = [say(f"all.column_{name}") for name in names]
    header += [say("all.column_group", group=reading.shorten_name(group, 24)) for group in groups]
    order = [
        BASELINE,
        *reading.beside,
        *(setting for setting in reading.protected if setting not in reading.beside),
    ]
    more = len(reading.groups) - len(groups)
    table = Table(
        header=header,
        rows=[_row(reading, setting, groups) for setting in order],
        numeric=[False, *[True] * (len(header) - 1)],
        caption=small_print(reading, say("all.caption"), say("all.rest", groups=more) if more else ""),
        sunk=0,
        chosen=order.index(reading.chosen) if reading.chosen in order else None,
        fold=fold_rows(len(order)),
        name="all-cells",
        data=all_cells(reading, data=True),
    )
    return Section(
        heading=say("all.heading", settings=len(order)),
        lead=say("all.lead", runs=len(reading.results)),
        tables=(table,),
        anchor="numbers",
    )


def concerned_groups(reading: ReleaseReading, *, most: int) -> list[str]:
    """Return the groups that the page's mechanism is furthest off for, in the schema's order."""
    found = {group: abs(loss.value) for group, loss in reading.losses().items()}
    known = [group for group in reading.judged if math.isfinite(found[group])]
    kept = sorted(known, key=lambda group: (-found[group], -np.nan_to_num(reading.varies(group))))[:most]
    return [group for group in reading.groups if group in kept]


def _row(reading: ReleaseReading, setting: Setting, groups: Sequence[str]) -> list[str]:
    say = reading.sentences.say
    epsilon = say("all.no_epsilon") if setting.epsilon is None else epsilon_of(setting.epsilon)
    row = [
        mechanism_name(setting),
        epsilon if setting.is_protected else say("all.infinite"),
        delta_text(reading.delta(setting)),
        error_cell(reading, setting),
        with_interval(reading.value("alpha", setting)),
    ]
    if reading.classifies:
        for measure in ("acc", "sp_gap"):
            found, moved = reading.value(measure, setting), reading.change(measure, setting)
            row.append(with_interval(found, times=100.0, bold=moved.is_clear))
    for group in groups:
        found = reading.lost(group, setting)
        row.append(with_interval(found, times=100.0, bold=found.is_clear, sign=True))
    return row


def error_cell(reading: ReleaseReading, setting: Setting) -> str:
    """Return the error of a cell, with its interval below if it is not exact."""
    found = reading.cell_error(setting)
    exact = found.low is not None and found.low == found.high
    return error_text(reading, setting, found) if exact else with_interval(found)


def with_interval(found: Estimated, *, times: float = 1.0, bold: bool = False, sign: bool = False) -> str:
    """Return a value with its interval below, if that is no single number."""
    digits = digits_of(found.value * times) if times == 1.0 or abs(found.value) >= 1 else 1
    shown = replace(found, low=None, high=None) if found.low == found.high else found
    return cell_text(shown, times=times, digits=digits, bold=bold, sign=sign)
