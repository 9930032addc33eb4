"""What is promised, and all numbers of a report on classifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand._notes import Note as Remark
from evenhand.report.page import Fact, Note, Section, Table
from evenhand.report.words import epsilon_words, number
from evenhand.study.page.parts import all_cells, cell_text, fold_rows, small_print
from evenhand.study.page.reading import BASELINE
from evenhand.study.page.wording import counted, delta_text, listed, plain
from evenhand.study.tasks.learn.methods import METHODS

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["numbers_section", "promise_section"]

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
    epsilon, delta = reading.largest("claimed_epsilon"), reading.largest("delta")
    if not reading.is_private(reading.chosen):
        why = (
            "Its projection looks at the private rows again without paying for it, which voids what training "
            "promised."
            if reading.way().voids
            else "It is trained on the rows as they are."
        )
        heading = f"{reading.way().title} promises nothing to anybody"
        return Section(heading=heading, lead=why, facts=tuple(_facts(reading)), anchor="promise")
    said = epsilon_words(epsilon) + (f" and δ = {delta_text(delta)}" if delta else "")
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
    notes = [] if found is None else [Remark.of(note) for note in found.notes]
    told = {note.kind: str(note) for note in notes if note.kind in {"unit", "trust"}}
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
    assumed = [plain(note, longest=_LONGEST) for note in notes if note.kind == "assumption"]
    if assumed:
        facts.append(Fact("Rests on", "; ".join(assumption.rstrip(".") for assumption in assumed)))
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
    delta, people = reading.largest("delta"), reading.results.facts.rows
    said = []
    if people and delta >= 1 / people:
        text = f"**δ is at least one in the {people:,} rows.** That allows one person's row to be given away."
        said.append(Note("warn", text))
    if any(note.kind == "privacy" for note in reading.data_notes):
        text = (
            "**The promise does not cover how the columns were declared.** Lists of values and ranges were "
            "read from the rows; it holds for what is learnt with them, if they are public."
        )
        said.append(Note("warn", text))
    return tuple(said)


# --- all numbers ----------------------------------------------------------------------------------


def numbers_section(reading: LearnReading) -> Section:
    """Return the table of every setting with what it promises, and the CSV of every cell."""
    order = [
        BASELINE,
        *reading.beside,
        *(setting for setting in reading.protected if setting not in reading.beside),
    ]
    header = [
        "Method", "Promise", "Accuracy\n%", "Selection gap\npoints", "Equal rates show\npoints",
        "Bound on the mean\npoints", "Bound with 95%\npoints", "True-positive difference\npoints",
        "Error-rate gap\npoints", "Group needed",
    ]  # fmt: skip
    tags = {(place, 1): "bad" for place, each in enumerate(order) if _is_void(reading, each)}
    table = Table(
        header=header,
        rows=[_row(reading, setting) for setting in order],
        numeric=[False, False, *[True] * 7, False],
        caption=small_print(
            reading,
            "Bold: the change from the plain classifier, paired by repeat, leaves out none, each on its own. "
            "Bold does not mean better. Bounds are proved and need no repeats; they are means over them.",
            _SIGNED,
        ),
        sunk=0,
        chosen=order.index(reading.chosen) if reading.chosen.is_protected else None,
        fold=fold_rows(len(order), at=14),
        tags=tags,  # type: ignore[arg-type]
        name="all-cells",
        data=_cells(reading),
    )
    at = f", those at {epsilon_words(reading.epsilon)} first" if reading.epsilon is not None else ""
    return Section(
        heading=_numbers_heading(reading, order),
        lead=f"One row per way and ε{at}. The CSV holds all {counted(len(reading.results), 'cell')}.",
        tables=(table,),
        notes=(*_void_notes(order), *_constant_notes(reading, order)),
        anchor="numbers",
    )


def _numbers_heading(reading: LearnReading, order: list[Setting]) -> str:
    private = sum(reading.is_private(setting) for setting in order)
    return f"Of {counted(len(order), 'setting')}, {private} {'is' if private == 1 else 'are'} private"


def _is_void(reading: LearnReading, setting: Setting) -> bool:
    """Return whether a setting has an epsilon in its name and promises nothing."""
    return setting.epsilon is not None and not reading.is_private(setting)


def _void_notes(order: list[Setting]) -> tuple[Note, ...]:
    void = {
        METHODS[setting.mechanism].title
        for setting in order
        if setting.is_protected and METHODS[setting.mechanism].voids
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
        ways = dict.fromkeys(
            reading.way(setting).title for setting in order if reading.constant(setting) == whom
        )
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
        epsilon, delta = reading.largest("claimed_epsilon", setting), reading.largest("delta", setting)
        covers = f"δ\u00a0=\u00a0{delta_text(delta)}"
        covers = "reported columns only" if reading.way(setting).base == "local" else covers
        promise = f"{epsilon_words(epsilon)}\n{covers}"
    elif setting.epsilon is not None:
        promise = f"not private\ntrained with {epsilon_words(setting.epsilon)}"

    def changed(name: str) -> str:
        return cell_text(reading.value(name, setting), bold=reading.change(name, setting).is_clear)

    row = [reading.way(setting).title, promise]
    row += [changed(name) for name in ("acc", "sp_gap")]
    row.append(_number(reading.value("fair_gap", setting).value, "unknown"))
    row += [_number(reading.bound(name, setting), "none") for name in ("bound", "bound_95")]
    row += [changed(name) for name in ("eod", "eo_gap")]
    row.append("yes" if reading.way(setting).needs_group or reading.task.group_as_input else "no")
    return row


def _number(share: float, otherwise: str) -> str:
    return number(100 * share) if math.isfinite(share) else otherwise


def _cells(reading: LearnReading) -> dict[str, list[object]]:
    columns = all_cells(reading)
    columns["way"] = ["plain" if name == "none" else name for name in columns.pop("mechanism")]
    return {name: columns[name] for name in ("way", *columns)}
