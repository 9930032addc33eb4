"""The section with all numbers of a report on classifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import Note, Section, Table
from evenhand.report.words import number
from evenhand.study.page.parts import all_cells, cell_text, fold_rows, small_print
from evenhand.study.page.reading import BASELINE
from evenhand.study.page.wording import delta_text
from evenhand.study.tasks.learn.methods import METHODS

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

_COLUMNS = ("method", "promise", "acc", "sp_gap", "fair_gap", "bound", "eod", "eo_gap", "group")


def numbers_section(reading: LearnReading) -> Section:
    """Return the table of every setting with what it promises, and the CSV of every run."""
    say = reading.sentences.say
    order = [
        BASELINE,
        *reading.beside,
        *(setting for setting in reading.protected if setting not in reading.beside),
    ]
    tags = {(place, 1): "bad" for place, setting in enumerate(order) if _is_void(reading, setting)}
    signed = reading.results.facts.privileged is not None
    kept = [place for place, column in enumerate(_COLUMNS) if signed or column != "eod"]
    table = Table(
        header=[say(f"table.column_{_COLUMNS[place]}") for place in kept],
        rows=[[cells[place] for place in kept] for cells in (_row(reading, setting) for setting in order)],
        numeric=[False, False, *[True] * (len(kept) - 3), False],
        caption=small_print(reading, say("table.caption"), say("table.signed") if signed else ""),
        sunk=0,
        chosen=order.index(reading.chosen) if reading.chosen.is_protected else None,
        fold=fold_rows(len(order), at=14),
        tags=tags,  # type: ignore[arg-type]
        name="all-cells",
        data=_cells(reading),
    )
    private = sum(reading.is_private(setting) for setting in order)
    at = say("table.at", epsilon=reading.epsilon) if reading.epsilon is not None else ""
    return Section(
        heading=say(f"table.heading{'_one' if private == 1 else ''}", settings=len(order), private=private),
        lead=say("table.lead", at=at, runs=len(reading.results)),
        tables=(table,),
        notes=tuple(Note("warn", text) for text in _notes(reading, order)),
        anchor="numbers",
    )


def _is_void(reading: LearnReading, setting: Setting) -> bool:
    """Return whether a setting has an epsilon in its name and promises nothing."""
    return setting.epsilon is not None and not reading.is_private(setting)


def _notes(reading: LearnReading, order: list[Setting]) -> list[str]:
    """Return which methods are not private, which give everybody the same answer, and which are of no use."""
    say, protected = reading.sentences.say, [setting for setting in order if setting.is_protected]
    void = {reading.way(setting).title for setting in protected if METHODS[setting.mechanism].voids}
    notes = [say("table.void", titles=sorted(void))] if void else []
    for whom in ("nobody", "everybody"):
        settings = [setting for setting in order if reading.constant(setting) == whom]
        titles = dict.fromkeys(reading.way(setting).title for setting in settings)
        notes += [say(f"table.select_{whom}", titles=list(titles))] if titles else []
    useless = [
        reading.name(setting)
        for setting in order
        if not reading.is_useful(setting) and not reading.constant(setting)
    ]
    return notes + ([say("table.useless", names=useless, count=len(useless))] if useless else [])


def _row(reading: LearnReading, setting: Setting) -> list[str]:
    say, way = reading.sentences.say, reading.way(setting)

    def changed(name: str) -> str:
        return cell_text(reading.value(name, setting), bold=reading.change(name, setting).is_clear)

    fair, (name, bound) = reading.value("fair_gap", setting).value, reading.bound(setting)
    return [
        way.title,
        _promise(reading, setting),
        changed("acc"),
        changed("sp_gap"),
        number(100 * fair) if math.isfinite(fair) else say("table.unknown"),
        say(f"table.{name}", bound=bound) if math.isfinite(bound) else say("table.none"),
        changed("eod"),
        changed("eo_gap"),
        say(f"table.{'yes' if way.needs_group or reading.task.group_as_input else 'no'}"),
    ]


def _promise(reading: LearnReading, setting: Setting) -> str:
    say = reading.sentences.say
    if setting.is_protected and reading.outcome(setting) is None:
        return say("table.unknown")
    if reading.is_private(setting):
        epsilon, delta = reading.largest("claimed_epsilon", setting), reading.largest("delta", setting)
        key = "promise_local" if reading.way(setting).base == "local" else "promise"
        return say(f"table.{key}", epsilon=epsilon, delta=delta_text(delta))
    if setting.epsilon is not None:
        return say("table.promise_void", epsilon=setting.epsilon)
    return say("table.nothing")


def _cells(reading: LearnReading) -> dict[str, list[object]]:
    columns = all_cells(reading)
    columns["method"] = ["plain" if name == "none" else name for name in columns.pop("mechanism")]
    return {name: columns[name] for name in ("method", *columns)}
