"""What is promised, all numbers, and the foot of a report on decisions: how it was done, and its limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.page import Fact, Section, Table
from evenhand.report.words import epsilon_of
from evenhand.study.page.method import is_warning
from evenhand.study.page.wording import counted, epsilon_text, listed, plain
from evenhand.study.results.frames import cell_columns, data_columns
from evenhand.study.tasks.decide.methods import way_title
from evenhand.study.tasks.decide.wording import chance_text, few_text, mechanism_name, setting_words
from evenhand.study.tasks.release.wording import delta_text

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading

__all__ = ["decision_limits", "decision_method", "numbers_section", "promise_section"]

_FOLD = 12
_MOVED = {"replace one": 2, "add or remove one": 1}


# --- what is promised -----------------------------------------------------------------------------


def promise_section(reading: DecideReading) -> Section:
    """Return what one person is promised, and what it rests on."""
    task, chosen = reading.task, reading.chosen
    epsilon, delta = reading.value("claimed_epsilon"), reading.value("delta")
    inputs = listed([plain(each) for each in task.inputs])
    counts = counted(len(task.inputs), "count")
    odds = math.exp(epsilon) if epsilon < 50 else math.inf
    facts = [
        Fact("Counts with noise", f"{inputs} of every {reading.noun.one}; who they are stays public"),
        Fact("One person is in", _touched(reading)),
        Fact("Unit", f"{task.unit}, which moves up to {_MOVED[task.unit] * task.counts_touched} counts by 1"),
        Fact("Not protected", _in_clear(reading)),
    ]
    if math.isfinite(epsilon):
        said = f"ε = {epsilon_of(epsilon)}" + (f" and δ = {delta_text(delta)}" if delta else "")
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
    order = [*reading.ways, *(each for each in reading.protected if each not in reading.ways)]
    table = Table(
        header=header,
        rows=[_row(reading, each, names) for each in order],
        numeric=[False, False, *[True] * (len(header) - 2)],
        caption=_caption(reading),
        chosen=order.index(reading.chosen),
        fold=_FOLD if len(order) > _FOLD + 2 else None,
        name="all-cells",
        data=_all_cells(reading),
    )
    return Section(
        heading=f"All {counted(len(order), 'setting')}"
        if len(order) > 1
        else "The one setting that was tried",
        lead=f"One row for each mechanism, way and ε. The CSV holds all "
        f"{counted(len(reading.results), 'cell')}, "
        f"with the means of each class of {reading.noun.many} by size.",
        tables=(table,),
        anchor="numbers",
    )


def _row(reading: DecideReading, setting: Setting, names: tuple[str, ...]) -> list[str]:
    epsilon = epsilon_text(setting) if setting.epsilon is not None else "none"
    drawn = (
        "" if reading.is_exact(setting) or not math.isfinite(reading.value("alpha", setting)) else "\ndrawn"
    )
    row = [mechanism_name(setting), f"{way_title(setting)}{drawn}", epsilon]
    for name in names:
        value = reading.value(name, setting)
        if not math.isfinite(value):
            row.append("unknown")
        elif not reading.is_rule:
            row.append(reading.amounts.text(value))
        else:
            row.append(few_text(value) if name.startswith("expected") else chance_text(value))
    return row


def _caption(reading: DecideReading) -> str:
    if all(reading.is_exact(each) for each in reading.protected):
        return "**Exact values, no sampling.**"
    return "**Exact values, but for those marked as drawn.**"


def _all_cells(reading: DecideReading) -> dict[str, list[object]]:
    columns: dict[str, Any] = dict(cell_columns(reading.results))
    done = [row for row, state in enumerate(columns["state"]) if state == "done"]
    sizes = data_columns(reading.results)
    for name in reading.results.arrays.data:
        column: list[object] = [math.nan] * len(columns["state"])
        for row, value in zip(done, sizes[name], strict=True):
            column[row] = value
        columns[name] = column
    return {name: list(values) for name, values in columns.items()}


# --- the foot -------------------------------------------------------------------------------------


def decision_method(reading: DecideReading) -> tuple[str, ...]:
    """Return how the study was done."""
    plan, facts, task = reading.results.plan, reading.results.facts, reading.task
    said = [f"{plain(facts.label)}: {reading.noun.count(facts.rows)}, one row each."]
    if task.is_rule:
        said.append(f"The rule: {plain(task.rule, longest=600)}.")
        said.append(
            "A ratio whose denominator is published as 0 or below does not hold, unless it is signed."
        )
    else:
        of = f" of {reading.amounts.text(reading.money)}" if task.budget is not None else " of the whole"
        said.append(
            f"The allotment: each {reading.noun.one} has the share{of} that its "
            f"{plain(task.formula, longest=300)} has in the sum over all."
        )
    found = reading.outcome()
    if found is not None:
        told = "; ".join(plain(note, longest=500).rstrip(".") for note in found.notes)
        said.append(f"How it was computed: {told}.")
    error = reading.value("error_bound")
    if reading.is_exact() and math.isfinite(error) and error:
        shown = f"{error:.1g}" if task.is_rule else reading.amounts.text(error).removeprefix("less than ")
        guessed = found is not None and any("error estimated" in note for note in found.notes)
        by = "as the method estimates" if guessed else "by the bound of the method"
        said.append(f"Expected values above are off by less than {shown}, {by}.")
    if not reading.is_exact():
        said.append(
            f"Where no exact method applies, {task.draws:,} releases are drawn with seed {plan.seed}; they "
            f"are "
            "simulated and publish nothing."
        )
    said.append(
        "Bias is expected minus true. A typical error is the root of the mean square error of one release."
    )
    if task.groups:
        said.append(
            f"Groups of people: {listed([plain(each) for each in task.groups], most=8)}. They should cover "
            f"everybody who has a part in what {'an' if reading.noun.one[0] in 'aeiou' else 'a'} "
            f"{reading.noun.one} gets, and not overlap."
        )
    said += [plain(note, longest=600) for note in facts.notes if not is_warning(note)]
    return tuple(said)


def decision_limits(reading: DecideReading) -> tuple[str, ...]:
    """Return what the numbers do not cover."""
    tested = sorted({float(each.epsilon) for each in reading.protected if each.epsilon is not None})
    at = f", ε of {listed([epsilon_of(each) for each in tested], most=10)}" if tested else ""
    said = [
        (
            "The counts are taken as true. Errors that they have before any noise, from surveys or "
            "estimates, "
            "are not in these numbers and may be larger."
        ),
        f"One data set, one {'rule' if reading.is_rule else 'formula'}{at}. Nothing is said about others.",
        (
            "Averages are over what may be published. What is published once is one draw, and its errors are "
            "those of one release."
        ),
        (
            "Choosing a mechanism by this page uses the true data, which the guarantee of the release does "
            "not "
            "cover: use public or older data where you can."
        ),
    ]
    if not reading.is_rule:
        said.append(
            "Shares by a noisy total have no mean in the strict sense where that total may be 0; what is "
            "shown "
            "is the principal value, or the mean where it is not."
        )
    return tuple(said)
