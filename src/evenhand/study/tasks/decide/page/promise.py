"""What is promised, and all numbers of a report on decisions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import Fact, Section, Table
from evenhand.report.words import epsilon_of, epsilon_words
from evenhand.study.page.parts import all_cells, fold_rows
from evenhand.study.page.wording import counted, delta_text, listed, plain
from evenhand.study.tasks.decide.methods import way_title
from evenhand.study.tasks.decide.wording import mechanism_name, setting_words

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading

__all__ = ["numbers_section", "promise_section"]

_MOVED = {"replace one": 2, "add or remove one": 1}


# --- what is promised -----------------------------------------------------------------------------


def promise_section(reading: DecideReading) -> Section:
    """Return what one person is promised, and what it rests on."""
    task, chosen = reading.task, reading.chosen
    epsilon, delta = reading.mean("claimed_epsilon"), reading.mean("delta")
    inputs = listed([plain(name) for name in task.inputs])
    counts = counted(len(task.inputs), "count")
    odds = math.exp(epsilon) if epsilon < 50 else math.inf
    facts = [
        Fact("Counts with noise", f"{inputs} of every {reading.noun.one}; who they are stays public"),
        Fact("One person is in", _touched(reading)),
        Fact("Unit", f"{task.unit}, which moves up to {_MOVED[task.unit] * task.counts_touched} counts by 1"),
        Fact("Not protected", _in_clear(reading)),
    ]
    if math.isfinite(epsilon):
        said = epsilon_words(epsilon) + (f" and δ = {delta_text(delta)}" if delta else "")
        factor = "" if math.isinf(odds) else f" by at most a factor of {odds:,.3g}"
        together = f", for {counts} together" if len(task.inputs) > 1 else ""
        heading = f"One person is promised {said}{together}"
        lead = (
            f"Seeing what is published changes the odds between any two answers about one person{factor}. "
            f"{setting_words(chosen)}; what is decided from it costs nothing more."
        )
    elif reading.outcome() is None:
        heading, lead = "What is promised is not known", "No cell of the setting is done."
    else:
        heading, lead = "Nothing is promised to anybody", "What is published follows from the true counts."
    return Section(heading=heading, lead=lead, facts=tuple(facts), anchor="promise")


def _touched(reading: DecideReading) -> str:
    task = reading.task
    if len(task.inputs) == 1:
        return "this one count, in one place"
    if task.touches == "every input":
        return f"all {len(task.inputs)} counts at most, as where they are nested; they share ε"
    return "one of the counts at most, which is what the plan says: each has the whole ε"


def _in_clear(reading: DecideReading) -> str:
    task = reading.task
    parts = [f"names of {reading.noun.many}"]
    parts += [f"the weights ({plain(task.weight)})"] if task.weight is not None else []
    parts += ["people by group"] if task.groups else []
    return f"{listed(parts)}, which are taken to be public"


# --- all numbers ----------------------------------------------------------------------------------


def numbers_section(reading: DecideReading) -> Section:
    """Return the table of every setting, with the CSV of every cell."""
    header = ["Mechanism", "Then", "ε", "α"]
    names: tuple[str, ...]
    if reading.is_rule:
        header += ["Wrong decisions\nexpected", "Rights refused\nexpected", "Largest chance"]
        names = ("alpha", "expected_wrong", "expected_refused", "largest_flip")
    else:
        header += [
            "Misallocated\nexpected",
            "Gain or loss\nlargest",
            "Typical error\nmean",
            "Cost of privacy\nto make up",
        ]
        names = ("alpha", "moved", "largest_misallocation", "mean_error", "cost_of_privacy")
    order = [*reading.ways, *(setting for setting in reading.protected if setting not in reading.ways)]
    table = Table(
        header=header,
        rows=[_row(reading, setting, names) for setting in order],
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=_caption(reading),
        chosen=order.index(reading.chosen),
        fold=fold_rows(len(order)),
        name="all-cells",
        data=all_cells(reading, data=True),
    )
    cells = counted(len(reading.results), "cell")
    return Section(
        heading=f"All {counted(len(order), 'setting')}"
        if len(order) > 1
        else "The one setting that was tried",
        lead=f"One row for each mechanism, way and ε. The CSV holds all {cells}, with the means of each "
        f"class of {reading.noun.many} by size.",
        tables=(table,),
        anchor="numbers",
    )


def _row(reading: DecideReading, setting: Setting, names: tuple[str, ...]) -> list[str]:
    epsilon = epsilon_of(setting.epsilon) if setting.epsilon is not None else "none"
    drawn = (
        "" if reading.is_exact(setting) or not math.isfinite(reading.mean("alpha", setting)) else "\ndrawn"
    )
    row = [mechanism_name(setting), f"{way_title(setting)}{drawn}", epsilon]
    return [*row, *(reading.measure_text(name, setting) for name in names)]


def _caption(reading: DecideReading) -> str:
    if all(reading.is_exact(setting) for setting in reading.protected):
        return "**Exact values, no sampling.**"
    return "**Exact values, but for those marked as drawn.**"
