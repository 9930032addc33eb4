"""What is promised, all numbers, and the foot of a report on classifiers: how it was done, and its limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.page import Fact, Note, Section, Table
from evenhand.report.words import epsilon_of, number
from evenhand.study.page.method import is_warning
from evenhand.study.page.wording import counted, listed, outcome_name, plain
from evenhand.study.results.frames import cell_columns
from evenhand.study.tasks.collect.page.reading import LEVEL
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.reading import PLAIN_SETTING
from evenhand.study.tasks.release.wording import delta_text

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["learning_limits", "learning_method", "numbers_section", "promise_section"]

_FOLD = 14
_LONGEST = 420
_WORTH_SAYING = 20  # epsilon, from which on the factor says nothing
_SIGNED = "The true-positive difference is that of the privileged group less the others."
_UNITS = {
    "add or remove one": "one row is added or removed",
    "replace one": "one row is replaced by another",
    "one report": "one person's report becomes another",
}


# --- what is promised -----------------------------------------------------------------------------


def promise_section(reading: LearnReading) -> Section:
    """Return what the chosen way promises to one person, and what it rests on."""
    epsilon, delta = reading.worst("claimed_epsilon"), reading.worst("delta")
    if not reading.is_private(reading.chosen):
        why = (
            "Its projection looks at the private rows again without paying for it, which voids what training "
            "promised."
            if reading.way().voids
            else "It is trained on the rows as they are."
        )
        heading = f"{reading.way().title} promises nothing to anybody"
        return Section(heading=heading, lead=why, facts=tuple(_facts(reading)), anchor="promise")
    said = f"ε = {epsilon_of(epsilon)}" + (f" and δ = {delta_text(delta)}" if delta else "")
    large = epsilon >= _WORTH_SAYING
    factor = (
        "by a factor too large to be a promise"
        if large
        else f"by at most a factor of {math.exp(epsilon):,.3g}"
    )
    chance = f" plus {delta_text(delta)}" if delta else ""
    lead = (
        f"{_neighbours(reading)} changes the chance of anything that can be seen of the classifier, and of "
        f"every decision by it, {factor}{chance}. This one is a simulation with a seed and not for use."
    )
    return Section(
        heading=f"{reading.way().title} promises one person {said}",
        lead=lead,
        facts=tuple(_facts(reading)),
        notes=_promise_notes(reading),
        anchor="promise",
    )


def _neighbours(reading: LearnReading) -> str:
    if reading.way().base == "local":
        return "Another answer in one person's report"
    if reading.task.unit == "replace one":
        return "Another row in the place of one person's"
    return "Whether one person's row is among the rows"


def _facts(reading: LearnReading) -> list[Fact]:
    task, way = reading.task, reading.way()
    found = reading.outcome()
    notes = () if found is None else found.notes
    told = dict(note.split(": ", 1) for note in notes[:2] if ": " in note)
    facts = []
    if told:
        unit = told.get("unit", task.unit)
        facts.append(Fact("Neighbouring data", f"{unit}: {_UNITS.get(unit, unit)}; one row per person"))
        facts.append(Fact("Trust", _trust(told.get("trust", ""))))
    rows = reading.value("trained_on").value
    if math.isfinite(rows) and way.needs_accounting:
        noise = reading.value("noise").value
        multiplier = f", with a noise multiplier of {number(noise, 3)}" if math.isfinite(noise) else ""
        facts.append(Fact("Rows in the accounting", f"{rows:,.0f}, taken as public{multiplier}"))
    if told and way.needs_accounting:
        facts.append(Fact("Taken as public", _public(reading)))
    if way.then == "parity":
        facts.append(Fact("Rates for parity", _rates(reading)))
    assumed = [plain(note, longest=_LONGEST) for note in notes[2:]]
    if assumed:
        facts.append(Fact("Rests on", "; ".join(each.rstrip(".") for each in assumed)))
    if told:
        said = "exact: whole numbers on a public grid, covered by the proof" * way.needs_accounting
        facts.append(Fact("Noise", f"{said or 'exact'}; drawn with a seed here, so it is a simulation"))
    facts.append(Fact("At decision time", _decided(reading)))
    return facts


def _public(reading: LearnReading) -> str:
    groups = f"the {len(reading.groups)} groups" if reading.way().name != "dp" else ""
    listed_ones = ["the columns with their lists of values and ranges", "the two classes", groups]
    return f"{', '.join(filter(None, listed_ones))} and how many rows are expected to train"


def _trust(word: str) -> str:
    return {
        "central": "central: whoever trains sees the rows",
        "local": "local: nobody but the person sees the reported columns; the label is in the clear",
    }.get(word, word)


def _rates(reading: LearnReading) -> str:
    share = 100 * reading.task.holdout
    held = f"from {share:.0f}% of the training rows, chosen by chance, which training does not see"
    if not reading.way().takes_epsilon:
        return f"{held}; no noise"
    return f"{held}; each of the two has the whole ε, as one person is in one of them"


def _decided(reading: LearnReading) -> str:
    if reading.way().needs_group:
        how = " Parity draws: decisions of one person vary unless a key is kept." * (
            reading.way().then == "parity"
        )
        return f"everybody's group must be known.{how}"
    if reading.task.group_as_input:
        return "everybody's group must be known, as it is a feature"
    if reading.way().base == "local":
        return "nobody's group need be known; true features are needed of whoever is decided on"
    return "nobody's group need be known"


def _promise_notes(reading: LearnReading) -> tuple[Note, ...]:
    delta, people = reading.worst("delta"), reading.results.facts.rows
    said = []
    if people and delta >= 1 / people:
        text = f"**δ is at least one in the {people:,} rows.** That allows one person's row to be given away."
        said.append(Note("warn", text))
    if any(is_warning(note) for note in reading.results.facts.notes):
        text = (
            "**The promise does not cover how the columns were declared.** Lists of values and ranges were "
            "read from the rows; it holds for what is learnt with them, if they are public."
        )
        said.append(Note("warn", text))
    return tuple(said)


# --- all numbers ----------------------------------------------------------------------------------


def numbers_section(reading: LearnReading) -> Section:
    """Return the table of every setting with what it promises, and the CSV of every cell."""
    order = [PLAIN_SETTING, *reading.beside, *(each for each in reading.others if each not in reading.beside)]
    header = [
        "Method", "Promise", "Accuracy\n%", "Selection gap\npoints", "Equal rates show\npoints",
        "Bound on the mean\npoints", "Bound with 95%\npoints", "True-positive difference\npoints",
        "Error-rate gap\npoints", "Group needed",
    ]  # fmt: skip
    tags = {(place, 1): "bad" for place, each in enumerate(order) if _is_void(reading, each)}
    table = Table(
        header=header,
        rows=[_row(reading, each) for each in order],
        numeric=[False, False, *[True] * 7, False],
        caption=_caption(reading),
        sunk=0,
        chosen=order.index(reading.chosen) if reading.chosen.is_protected else None,
        fold=_FOLD if len(order) > _FOLD + 2 else None,
        tags=tags,  # type: ignore[arg-type]
        name="all-cells",
        data={name: list(values) for name, values in _cells(reading).items()},
    )
    at = f", those at ε = {epsilon_of(reading.epsilon)} first" if reading.epsilon is not None else ""
    return Section(
        heading=_numbers_heading(reading, order),
        lead=f"One row per way and ε{at}. The CSV holds all {counted(len(reading.results), 'cell')}.",
        tables=(table,),
        notes=(*_void_notes(order), *_constant_notes(reading, order)),
        anchor="numbers",
    )


def _numbers_heading(reading: LearnReading, order: list[Setting]) -> str:
    private = sum(reading.is_private(each) for each in order)
    return f"Of {counted(len(order), 'setting')}, {private} {'is' if private == 1 else 'are'} private"


def _is_void(reading: LearnReading, setting: Setting) -> bool:
    """Return whether a setting has an epsilon in its name and promises nothing."""
    return setting.epsilon is not None and not reading.is_private(setting)


def _void_notes(order: list[Setting]) -> tuple[Note, ...]:
    void = {
        METHODS[each.mechanism].title for each in order if each.is_protected and METHODS[each.mechanism].voids
    }
    if not void:
        return ()
    return (
        Note(
            "warn",
            f"**{listed(sorted(void))} is not private.** Projection reads the private rows once more and is "
            "not paid for, which voids the promise of training. It would hold for rows that are public.",
        ),
    )


def _constant_notes(reading: LearnReading, order: list[Setting]) -> tuple[Note, ...]:
    """Return that a way gives everybody the same answer, which is why it has no gap."""
    said = []
    for whom in ("nobody", "everybody"):
        ways = dict.fromkeys(reading.way(each).title for each in order if reading.constant(each) == whom)
        if ways:
            verb = "selects" if len(ways) == 1 else "select"
            who = f"**{listed(list(ways))} {verb} {whom}** in some settings."
            said.append(Note("warn", f"{who} The same answer for all has no gap."))
    return tuple(said)


def _row(reading: LearnReading, setting: Setting) -> list[str]:
    promise = "nothing"
    if setting.is_protected and reading.outcome(setting) is None:
        promise = "unknown"
    elif reading.is_private(setting):
        epsilon, delta = reading.worst("claimed_epsilon", setting), reading.worst("delta", setting)
        covers = f"δ\u00a0=\u00a0{delta_text(delta)}"
        covers = "reported columns only" if reading.way(setting).base == "local" else covers
        promise = f"ε = {epsilon_of(epsilon)}\n{covers}"
    elif setting.epsilon is not None:
        promise = f"not private\ntrained with ε = {epsilon_of(setting.epsilon)}"
    row = [reading.way(setting).title, promise]
    row += [_cell(reading, name, setting, bold=True) for name in ("acc", "sp_gap")]
    row.append(_number(reading.value("fair_gap", setting).value, "unknown"))
    row += [_number(reading.bound(name, setting), "none") for name in ("bound", "bound_95")]
    row += [_cell(reading, name, setting, bold=True) for name in ("eod", "eo_gap")]
    row.append("yes" if reading.way(setting).needs_group or reading.task.group_as_input else "no")
    return row


def _number(share: float, otherwise: str) -> str:
    return number(100 * share) if math.isfinite(share) else otherwise


def _cell(reading: LearnReading, measure: str, setting: Setting, *, bold: bool) -> str:
    """Return a value with its interval below, bold where its change from the plain way is clear."""
    found = reading.value(measure, setting)
    if not math.isfinite(found.value):
        return "undefined"
    shown = number(100 * found.value)
    shown = f"**{shown}**" if bold and reading.change(measure, setting).is_clear else shown
    if found.low is None or found.high is None:
        return shown
    return f"{shown}\n{number(100 * found.low)} to {number(100 * found.high)}"


def _caption(reading: LearnReading) -> str:
    if reading.results.plan.repeats == 1:
        return f"**One repeat, so there are no intervals** and nothing is bold. {_SIGNED}"
    repeats = counted(reading.results.plan.repeats, "repeat")
    return (
        f"**Small print: {LEVEL:.0%} interval over {repeats}.** Bold: the change from the plain "
        "classifier, paired by repeat, leaves out none, each on its own. Bold does not mean better. Bounds "
        f"are proved and need no repeats; they are means over them. {_SIGNED}"
    )


def _cells(reading: LearnReading) -> dict[str, list[object]]:
    columns = dict(cell_columns(reading.results))
    columns["way"] = ["plain" if name == "none" else name for name in columns.pop("mechanism")]
    return {name: list(columns[name]) for name in ("way", *columns)}


# --- the foot -------------------------------------------------------------------------------------


def learning_method(reading: LearnReading) -> tuple[str, ...]:
    """Return how the study was done."""
    results, task = reading.results, reading.task
    plan, facts = results.plan, results.facts
    sizes = listed(
        [f"{reading.named(group)}: {size:,}" for group, size in zip(facts.groups, facts.sizes, strict=True)]
    )
    dropped = f" {counted(facts.dropped, 'row')} left out by the schema's rules." if facts.dropped else ""
    seeds = f"{plan.seed}" if plan.repeats == 1 else f"{plan.seed} to {plan.seed + plan.repeats - 1}"
    group = "one of the features" if task.group_as_input else "not a feature"
    said = [
        f"{plain(facts.label)}: {counted(facts.rows, 'person', 'people')} ({sizes}).{dropped}",
        (
            f"Every way learns {outcome_name(facts.schema)} from the same features, whose lists of values "
            f"and scaling constants come from the schema; {plain(facts.schema.protected)} is {group}. "
            f"{task.validation.replace(' %', '%').capitalize()}."
        ),
        (
            f"{counted(plan.repeats, 'repeat').capitalize()}, with seeds {seeds} for which rows train; noise "
            "and coins depend on the seed, the setting and the repeat. Settings of one repeat share rows, so "
            "they are compared in pairs."
        ),
        "Selection gap: the largest difference between groups in the share predicted to have the outcome.",
        *_ways(reading),
        (
            "The page is about the setting named in it. Unless one is asked for, it has the ε nearest to 1 "
            "and is the first private way of the plan that no other clearly beats in the gap, or equals "
            "there and beats in accuracy."
        ),
    ]
    said += [plain(note, longest=600) for note in facts.notes if not is_warning(note)]
    return tuple(said)


def _ways(reading: LearnReading) -> list[str]:
    names = {each.mechanism for each in reading.others}
    bases, thens = {METHODS[name].base for name in names}, {METHODS[name].then for name in names}
    task = reading.task
    said = []
    if bases & {"dp", "fermi"}:
        said.append(
            "Private training clips what each row adds to a step, adds exact discrete noise, and is counted "
            "by the privacy loss of the Poisson-sampled Gaussian."
        )
    if "fermi" in bases:
        weight = "" if task.strength is None else f", of strength {task.strength:g}"
        said.append(f"Fermi adds a penalty on dependence between decision and group{weight}.")
    if "parity" in thens:
        said.append(
            f"Parity flips as few decisions as bring the rates of groups within {100 * task.gap:g} points of "
            "each other, by chance."
        )
    if "projection" in thens:
        said.append("Projection moves scores as little as gives all groups the same mean score.")
    if "local" in bases:
        said.append("Local: sensitive features are reported by randomized response, with equal parts of ε.")
    return said


def learning_limits(reading: LearnReading) -> tuple[str, ...]:
    """Return what the numbers do not cover."""
    tested = sorted({float(each.epsilon) for each in reading.others if each.epsilon is not None})
    at = f", ε of {listed([epsilon_of(each) for each in tested], most=10)}" if tested else ""
    if reading.results.plan.repeats == 1:
        first = "There is one repeat, so nothing is known of how much the numbers vary."
    else:
        first = (
            f"Intervals are for the mean over repeats on these rows, {LEVEL:.0%} each, longer where repeats "
            "have a tail. They cover which rows train and test, noise and coins, and not which people are in "
            "the data; repeats share rows."
        )
    return (
        first,
        f"One data set, one family of classifiers{at}. Nothing is said about others.",
        "That a difference is not clear does not mean that there is none.",
        "Equal selection rates say nothing about equal error rates, nor about whether labels are just.",
        (
            "Choosing a way, an ε or a strength by this page uses the true data, which no promise of a "
            "classifier covers: use public or older data where you can."
        ),
    )
