"""Checks of section 3.5 of ghoukasian2024, its accounting and findings, and tables 3.1 to 3.4 beside ours.

Two things that the thesis does not say change its numbers: which Adult file it had, and which group is coded
first there, as 0. The code is an input of DP-SGD, and DP-FERMI's program penalises the first group alone.
Each combination is a *reading*. A statement has a verdict if every reading gives it that one; where some
readings agree and others do not, what the thesis leaves out decides, and the method is unknown.

Doing nothing, for a classifier that is to be accurate and fair, is to say the same of everybody: its accuracy
is the share of the more common label, and its gap is zero.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.papers.claims import (
    AGREES,
    CONTRADICTED,
    METHOD_UNKNOWN,
    NOT_SHOWN,
    UNCHECKED,
    Checked,
    agree_if,
    cannot_check,
)
from evenhand.papers.ghoukasian2024_central import accounting
from evenhand.papers.ghoukasian2024_central.accounting import (
    ACCOUNTING,
    AS_PRINTED,
    CLEAN,
    CLIP,
    LIPSCHITZ,
    TABLES,
    TWICE,
)
from evenhand.papers.ghoukasian2024_central.theory_checks import BOUNDS, ETA
from evenhand.papers.ghoukasian2024_central.training import FILES, FIRST, RANDOM, ZERO, training_name
from evenhand.papers.rules import ERRORS_IN_TABLE, MARGIN, Control, alike, fact, mostly, quoted, share
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.ghoukasian2024_central.accounting import Printed, Table
    from evenhand.papers.tables import TableRow
    from evenhand.papers.trials import Values

TRIALS = 10  # the trials that the printed numbers are means of
UNDECIDED = "Cannot be decided without the file."  # what is said where readings disagree

_ROWS = {"adult": "45,222 rows", "adult-twice": "60,324 rows", "credit": "30,000 rows"}


class Reading(NamedTuple):
    """A file, and which group has the code 0 in it."""

    file: str
    first: str

    @property
    def words(self) -> str:
        """What it is, for tables and reasons.

        >>> Reading("adult", "men").words
        '45,222 rows, men first'
        """
        return f"{_ROWS[self.file]}, {self.first} first"


def files_of(table: Table) -> tuple[str, ...]:
    """Return the files that a table may be of."""
    return tuple(name for name, file in FILES.items() if file.dataset == table.dataset)


def list_readings(evidence: Evidence, table: Table) -> tuple[Reading, ...]:
    """Return the readings of a table that were run."""
    files = [name for name in files_of(table) if training_name(name) in evidence.trials]
    return tuple(Reading(name, first) for name in files for first in FIRST)


def runs_of(
    evidence: Evidence,
    name: str,
    reading: Reading,
    strength: str,
    measure: str,
    *,
    stage: str = "after",
    start: str = RANDOM,
) -> Values:
    """Return a measure of a table, a value per run.

    `strength` is the lambda of DP-FERMI; without it, the value is before or after Algorithm 2, with DP-SGD
    from that start.
    """
    found = []
    for record in evidence.trials[training_name(reading.file)].values():
        methods: Mapping[str, Any] = record["tables"][name][reading.first]
        numbers = methods["fermi"]["lambdas"][strength] if strength else methods[start][stage]
        found.append(numbers[measure])
    return np.asarray(found, dtype=float)


def of_reading(evidence: Evidence, name: str, reading: Reading, line: Printed, measure: str) -> Checked:
    """Return a printed number beside ours in one reading."""
    ours = estimate_mean(runs_of(evidence, name, reading, line.strength, measure))
    paper: float = getattr(line, measure)
    same = Control(_first_record(evidence, reading.file)["majority"] if measure == "acc" else 0.0)
    found = quoted(ours, paper, decimals=4, control=same, trials=TRIALS, errors=ERRORS_IN_TABLE)
    return replace(found, paper_value=paper)


def _first_record(evidence: Evidence, file: str) -> Mapping[str, Any]:
    return next(iter(evidence.trials[training_name(file)].values()))


def by_chance(evidence: Evidence, name: str, reading: Reading) -> float:
    r"""Return the gap that a perfectly fair classifier would show on the test rows, on average.

    Its positive rate is that of Algorithm 2; :math:`\sqrt{2/\pi}` times the standard deviation of the
    difference of two rates.
    """
    sizes = np.asarray(_first_record(evidence, reading.file)["test"], dtype=float)
    rates = [runs_of(evidence, name, reading, "", group).mean() for group in FIRST]
    rate = float(sizes @ rates / sizes.sum())
    return math.sqrt(2 / math.pi * rate * (1 - rate) * float((1 / sizes).sum()))


def combine_readings(found: Mapping[Reading, Checked]) -> Checked:
    """Return one verdict for a statement that was checked in several readings.

    The value shown is that of the first.

    >>> good, bad = Checked("agrees", "Off by 0."), Checked("contradicted", "Off by 1.")
    >>> both = combine_readings({Reading("adult", "men"): bad, Reading("adult-twice", "men"): good})
    >>> both.verdict
    'method unknown'
    >>> both.why
    'Cannot be decided without the file. 45,222 rows, men first: contradicted. Off by 1. 60,324 rows, ...'
    """
    first = next(iter(found.values()))
    if len(found) == 1:
        return first
    verdicts = {each.verdict for each in found.values()}
    why = " ".join(f"{reading.words}: {each.verdict}. {each.why}" for reading, each in found.items())
    if len(verdicts) == 1:
        return replace(first, why=why)
    if AGREES not in verdicts and NOT_SHOWN in verdicts:
        return replace(first, verdict=NOT_SHOWN, why=why)
    return replace(first, verdict=METHOD_UNKNOWN, why=f"{UNDECIDED} {why}")


def number_of(evidence: Evidence, name: str, measure: str) -> Checked:
    """Return a printed number of Algorithm 2 beside ours, in all readings."""
    line = TABLES[name].line("")
    return _in_readings(evidence, name, lambda each: of_reading(evidence, name, each, line, measure))


def table_of(evidence: Evidence, name: str, measure: str) -> Checked:
    """Return the verdict on a column of a table's DP-FERMI, in all readings."""
    table = TABLES[name]
    found = {}
    for reading in list_readings(evidence, table):
        parts = [of_reading(evidence, name, reading, table.line(each), measure) for each in table.strengths]
        if all(each.verdict == UNCHECKED for each in parts):
            return cannot_check(parts[0].why)
        told = ", ".join(f"{each.ours.value:.4f}" for each in parts if each.ours)
        checked = share(parts, most_alike=0.6)
        found[reading] = replace(checked, why=f"{checked.why} Ours: {told}.")
    printed = [f"{getattr(line, measure):.4f}" for line in table.lines if line.strength]
    return replace(combine_readings(found), paper=", ".join(printed))


_NAMES = {"acc": "acc", "gap": "sp_gap"}
_ALONE = "no printed number"
_FERMI = "published formula, relies on an assumed bound"
_STAGES = (
    (RANDOM, ("DP-SGD, before Algorithm 2", "before")),
    (ZERO, ("DP-SGD from 0, before Algorithm 2", "before")),
    (ZERO, ("Algorithm 2, DP-SGD from 0", "after")),
)


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return tables 3.1 to 3.4 in every reading, the accounting, and the bounds beside simulations."""
    found: dict[str, list[TableRow]] = {}
    for name, table in TABLES.items():
        if any(training_name(file) in evidence.trials for file in files_of(table)):
            found[name] = list(_table(evidence, name))
    found[ACCOUNTING] = [
        row for record in evidence.trials.get(ACCOUNTING, {}).values() for row in _accounting(record)
    ]
    found[BOUNDS] = [
        row
        for record in evidence.trials.get(BOUNDS, {}).values()
        for case in record["cases"]
        for row in _bounds(case)
    ]
    return {name: columns_of(rows) for name, rows in found.items() if rows}


def _table(evidence: Evidence, name: str) -> Iterator[TableRow]:
    table = TABLES[name]
    for line, reading in product(table.lines, list_readings(evidence, table)):
        row = _row_of(name, reading, mechanism=line.method)
        for measure, word in _NAMES.items():
            found = of_reading(evidence, name, reading, line, measure)
            why = f"{found.why} Epsilon: {_FERMI}." if line.strength else found.why
            yield row(word, found.ours, paper=found.paper_value, verdict=found.verdict, note=why)
        for group in FIRST:
            runs = runs_of(evidence, name, reading, line.strength, group)
            yield row(f"positive rate, {group}", estimate_mean(runs), note=_ALONE)
    yield from _beside(evidence, name)


def _row_of(name: str, reading: Reading, **cells: Any) -> Callable[..., TableRow]:
    """Return what makes the rows of a table in one reading."""
    table = TABLES[name]
    return partial(
        table_row, name, table.dataset, strategy=reading.words, epsilon=float(table.epsilon), **cells
    )


def _beside(evidence: Evidence, name: str) -> Iterator[TableRow]:
    """Yield DP-SGD before its post-processing, and the accuracy of refusing everybody."""
    for reading in list_readings(evidence, TABLES[name]):
        row = _row_of(name, reading)
        for (start, (mechanism, stage)), (measure, word) in product(_STAGES, _NAMES.items()):
            runs = runs_of(evidence, name, reading, "", measure, stage=stage, start=start)
            yield row(word, estimate_mean(runs), mechanism=mechanism, note=f"DP-SGD {start}; {_ALONE}")
        refused = float(_first_record(evidence, reading.file)["majority"])
        yield row("acc", refused, mechanism="refuse everybody", note=_ALONE)
        note = "expected by chance on the test rows at the positive rate of Algorithm 2"
        yield row("sp_gap", by_chance(evidence, name, reading), mechanism="no gap", note=note)


def _limited(row: Callable[..., TableRow], measure: str, ours: float, most: float, **cells: Any) -> TableRow:
    """Return a row that agrees if our number is at most what the thesis has."""
    verdict = AGREES if ours <= most else CONTRADICTED
    return row(measure, float(ours), paper=most, verdict=verdict, **cells)


def _accounting(record: Mapping[str, Any]) -> Iterator[TableRow]:
    table = TABLES[record["table"]]
    row = partial(table_row, ACCOUNTING, table.dataset, mechanism="DP-SGD", epsilon=float(table.epsilon))
    for reading, found in record["readings"].items():
        inputs = f"q = {found['sampling']:.5f}, {found['steps']:,} steps, noise {record['noise']:.4f}"
        units = {
            "epsilon": ("epsilon", "adding or removing a row"),
            "replaced": ("epsilon, replacing", "replacing a row"),
            "person": ("epsilon, two rows", "adding or removing two rows, by group privacy"),
        }
        for key, (measure, words) in units.items():
            if found.get(key) is not None:
                note = f"{words}; {inputs}; agrees if at most what is claimed for training"
                yield _limited(row, measure, found[key], record["target"], strategy=reading, note=note)
    for reading, needed in record["needed"].items():
        note = f"standard deviation for epsilon {record['target']:g}; agrees if at most the printed one"
        yield _limited(row, "noise needed", needed * CLIP, table.noise, strategy=reading, note=note)


def _bounds(case: Mapping[str, Any]) -> Iterator[TableRow]:
    people = f"{case['first']:,} and {case['second']:,} people"
    rates = f"rates {case['alpha']:g} and {case['beta']:g}"
    place = {"mechanism": "Algorithm 2", "strategy": rates, "epsilon": case["epsilon"]}
    row = partial(table_row, BOUNDS, people, **place)
    numbers = (
        ("sp_gap, mean", "mean gap", case["expected bound"], "Proposition 9"),
        (f"sp_gap, {1 - ETA:.0%} quantile", "high gap", case["bound"], "Theorem 8, corrected"),
        (f"sp_gap, {1 - ETA:.0%} quantile", "high gap", case["printed bound"], "Theorem 8, as printed"),
        ("changes beyond the fewest, mean", "mean extra", 2.5 * case["expected bound"], "Proposition 9"),
        ("sp_gap, mean, other size", "mean gap, other size", case["expected bound"], "rates as printed"),
    )
    for measure, key, limit, words in numbers:
        found = _limited(row, measure.replace("%", " %"), case[key], limit, note=f"bound: {words}")
        yield {**found, "paper": round(limit, 6)}


_DATA = {"adult": "Adult", "credit": "Credit Card"}


def _title(name: str) -> str:
    return name.capitalize().replace("-", " ")


def _named(dataset: str) -> tuple[str, ...]:
    return tuple(name for name, table in TABLES.items() if table.dataset == dataset)


def _accounts(evidence: Evidence, name: str) -> dict[str, Any] | None:
    records = evidence.trials[ACCOUNTING].values()
    return next((dict(record) for record in records if record["table"] == name), None)


def accounted(evidence: Evidence, name: str) -> Checked:
    record = _accounts(evidence, name)
    if not record:
        return cannot_check(case="open")
    table = TABLES[name]
    found, most = record["readings"][AS_PRINTED]["epsilon"], table.training_epsilon
    least = record["needed"][AS_PRINTED] * CLIP
    checked = agree_if(found <= most, paper=f"{most:.1f}", found=found, table=table, least=least)
    return replace(checked, paper_value=most)


def private(evidence: Evidence, name: str) -> Checked:
    record = _accounts(evidence, name)
    if not record:
        return cannot_check(case="open")
    table, found = TABLES[name], record["readings"]
    whole = 2 * float(table.rate_epsilon)

    told = {
        reading: f"q = {each['sampling']:.4f}, {each['steps']:,} steps: {each['epsilon']:.2f}, in all "
        f"{each['epsilon'] + whole:.2f}"
        for reading, each in found.items()
    }
    if table.dataset == "credit":
        holds = found[accounting.REAL]["epsilon"] <= table.training_epsilon
        return agree_if(holds, paper=table.epsilon, case="credit", real=told[accounting.REAL])
    person = found[TWICE]["person"]
    values = {
        "undecided": UNDECIDED,
        "clean": told[CLEAN],
        "loader": found[f"{CLEAN}, {accounting.LOADER}"]["epsilon"],
        "noise": record["needed"][CLEAN] * CLIP,
        "twice": told[TWICE],
        "copies": "more than double precision can tell" if person is None else f"at most {person:.2f}",
        "thirds": told[accounting.THIRDS],
    }
    within = [found[each]["epsilon"] <= table.training_epsilon for each in (CLEAN, TWICE, accounting.THIRDS)]
    values["sides"] = ["within" if each else "above" for each in within]
    checked = agree_if(all(within), paper=table.epsilon, **values)
    return checked if len(set(within)) == 1 else replace(checked, verdict=METHOD_UNKNOWN)


def one_record(evidence: Evidence) -> Checked:
    found = {
        _title(record["table"]): (record["readings"][AS_PRINTED]["replaced"], record["target"])
        for record in evidence.trials[ACCOUNTING].values()
    }
    wrong = any(replaced > target for replaced, target in found.values())
    return agree_if(not wrong, told=[f"{title} {replaced:.2f}" for title, (replaced, _) in found.items()])


def fermi_private(evidence: Evidence) -> Checked:
    told, beyond = [], False
    for dataset, title in _DATA.items():
        every = [
            line
            for record in evidence.trials[training_name(dataset)].values()
            for name in _named(dataset)
            for first in record["tables"][name].values()
            for line in first["fermi"]["lambdas"].values()
        ]
        longest = max(line["longest"] for line in every)
        shares = [line["beyond"] for line in every]
        beyond = beyond or longest > LIPSCHITZ
        told.append(f"{title} up to {longest:.1f}, {min(shares):.2%} to {max(shares):.2%} of the rows beyond")
    found = agree_if(not beyond, most=LIPSCHITZ, told="; ".join(told).replace("%", " %"))
    return replace(found, verdict=UNCHECKED) if beyond else found


def inputs(evidence: Evidence, dataset: str, paper: int) -> Checked:
    return fact(_first_record(evidence, dataset)["inputs"], paper)


def two_models(evidence: Evidence) -> dict[str, Any]:
    """Return how many inputs the one classifier of the published code has."""
    return {"inputs": _first_record(evidence, "adult")["inputs"]}


def _in_readings(evidence: Evidence, name: str, check: Callable[[Reading], Checked]) -> Checked:
    every = list_readings(evidence, TABLES[name])
    return combine_readings({reading: check(reading) for reading in every})


def comparable(evidence: Evidence, name: str) -> Checked:
    def check(reading: Reading) -> Checked:
        own, other = _runs(evidence, name, reading, "acc", "", TABLES[name].matched)
        return alike([estimate_mean(own - other)])

    return _in_readings(evidence, name, check)


def _runs(evidence: Evidence, name: str, reading: Reading, measure: str, *strengths: str) -> list[Any]:
    return [runs_of(evidence, name, reading, strength, measure) for strength in strengths]


def smaller(evidence: Evidence, name: str, own_times: float = 1.0, other_times: float = 1.0) -> Checked:
    """Check that the gap of Algorithm 2, so many times, is below DP-FERMI's, so many times."""

    def check(reading: Reading) -> Checked:
        own, other = _runs(evidence, name, reading, "gap", "", TABLES[name].matched)
        found = mostly([estimate_mean(other_times * other - own_times * own)])
        chance = by_chance(evidence, name, reading)
        gaps = f"Gaps {own.mean():.4f} and {other.mean():.4f}; with none at all, {chance:.4f} by chance."
        return replace(found, why=f"{found.why} {gaps}")

    return _in_readings(evidence, name, check)


def _nearest(evidence: Evidence, name: str, reading: Reading) -> tuple[str, Estimated] | None:
    """Return the lambda of the accuracy nearest to Algorithm 2's, and how much larger its gap is."""
    strengths = TABLES[name].strengths
    own, *others = (runs.mean() for runs in _runs(evidence, name, reading, "acc", "", *strengths))
    apart, place = min((abs(float(each - own)), place) for place, each in enumerate(others))
    if apart > MARGIN:
        return None
    other, gap = _runs(evidence, name, reading, "gap", strengths[place], "")
    return strengths[place], estimate_mean(other - gap)


def fairer(evidence: Evidence, dataset: str) -> Checked:
    names = _named(dataset)

    def check(reading: Reading) -> Checked:
        found = {name: _nearest(evidence, name, reading) for name in names}
        known = {name: each for name, each in found.items() if each is not None}
        told = ", ".join(f"{_title(name)} lambda {each[0]}" for name, each in known.items())
        checked = mostly([each for _, each in known.values()])
        return replace(checked, why=f"{checked.why} Compared: {told or 'none'}.")

    return _in_readings(evidence, names[0], check)


def trend(evidence: Evidence, dataset: str, measure: str) -> Checked:
    names = _named(dataset)

    def check(reading: Reading) -> Checked:
        falls = [
            estimate_mean(one - two)
            for name in names
            for one, two in pairwise(_runs(evidence, name, reading, measure, *TABLES[name].strengths))
        ]
        return mostly(falls, what="steps to a larger lambda")

    return _in_readings(evidence, names[0], check)
