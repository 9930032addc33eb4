"""What is promised, and all numbers of a report on decisions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import Fact, Section, Table
from evenhand.report.words import epsilon_of, listed, plain
from evenhand.study.page.parts import all_cells, fold_rows
from evenhand.study.page.wording import delta_text, odds_factor
from evenhand.study.tasks.decide.methods import method_title
from evenhand.study.tasks.decide.page.methods import MONEY_COLUMNS, RULE_COLUMNS
from evenhand.study.tasks.decide.wording import mechanism_name

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading

_MOVED = {"replace one": 2, "add or remove one": 1}


# --- what is promised -----------------------------------------------------------------------------


def promise_section(reading: DecideReading) -> Section:
    """Return what one person is promised, and what it rests on."""
    task, say = reading.task, reading.say
    inputs = listed([plain(name) for name in task.inputs])
    moved = _MOVED[task.unit] * task.counts_touched
    facts = (
        Fact(say("promise.counts"), say("promise.counts_text", inputs=inputs)),
        Fact(say("promise.touched"), _touched(reading)),
        Fact(say("promise.unit"), say("promise.unit_text", unit=task.unit, moved=moved)),
        Fact(say("promise.clear"), _in_clear(reading)),
    )
    heading, lead = _claim(reading)
    return Section(heading=heading, lead=lead, facts=facts, anchor="promise")


def _claim(reading: DecideReading) -> tuple[str, str]:
    """Return what is promised as a heading, and what that means."""
    say, inputs = reading.say, len(reading.task.inputs)
    epsilon, delta = reading.mean("claimed_epsilon"), reading.mean("delta")
    if not math.isfinite(epsilon):
        key = "unknown" if reading.outcome() is None else "none"
        return say(f"promise.heading_{key}"), say(f"promise.lead_{key}")
    key = "claim_delta" if delta else "claim"
    claim = say(f"promise.{key}", epsilon=epsilon_of(epsilon), delta=delta_text(delta))
    together = say("promise.together", inputs=inputs) if inputs > 1 else ""
    factor = say("promise.factor", odds=odds_factor(epsilon)) if epsilon < 50 else ""
    return say("promise.heading", claim=claim, together=together), say("promise.lead", factor=factor)


def _touched(reading: DecideReading) -> str:
    task = reading.task
    if len(task.inputs) == 1:
        return reading.say("promise.touched_one")
    key = "every" if task.touches == "every input" else "any"
    return reading.say(f"promise.touched_{key}", inputs=len(task.inputs))


def _in_clear(reading: DecideReading) -> str:
    task = reading.task
    parts = [reading.say("promise.names")]
    parts += [reading.say("promise.weights", weight=plain(task.weight))] if task.weight is not None else []
    parts += [reading.say("promise.groups")] if task.groups else []
    return reading.say("promise.clear_text", parts=parts)


# --- all numbers ----------------------------------------------------------------------------------


def numbers_section(reading: DecideReading) -> Section:
    """Return the table of every setting, with the CSV of every run."""
    say = reading.say
    columns = RULE_COLUMNS[:-1] if reading.is_rule else (*MONEY_COLUMNS[:3], "cost_of_privacy")
    names = ("alpha", *columns)
    order = [*reading.methods, *(setting for setting in reading.protected if setting not in reading.methods)]
    exact = all(reading.is_exact(setting) for setting in reading.protected)
    header = [say("numbers.mechanism"), say("numbers.then"), "ε"]
    header += [say(f"methods.header.{name}") for name in names]
    table = Table(
        header=header,
        rows=[_row(reading, setting, names) for setting in order],
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=f"**{say('exactness.exact' if exact else 'exactness.marked')}**",
        chosen=order.index(reading.chosen),
        fold=fold_rows(len(order)),
        name="all-cells",
        data=all_cells(reading, data=True),
    )
    return Section(
        heading=say("numbers.heading" if len(order) > 1 else "numbers.heading_one", settings=len(order)),
        lead=say("numbers.lead", runs=len(reading.results)),
        tables=(table,),
        anchor="numbers",
    )


def _row(reading: DecideReading, setting: Setting, names: tuple[str, ...]) -> list[str]:
    epsilon = (
        epsilon_of(setting.epsilon) if setting.epsilon is not None else reading.say("numbers.no_epsilon")
    )
    drawn = math.isfinite(reading.mean("alpha", setting)) and not reading.is_exact(setting)
    mark = f"\n{reading.say('numbers.drawn')}" if drawn else ""
    row = [mechanism_name(setting), f"{method_title(setting)}{mark}", epsilon]
    return [*row, *(reading.measure_text(name, setting) for name in names)]
