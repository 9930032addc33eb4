"""Reading the runs of tables 3.1 to 3.4 of ghoukasian2024: every printed number beside ours.

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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.papers.claims import AGREES, METHOD_UNKNOWN, NOT_SHOWN, UNCHECKED, Checked, cannot_check
from evenhand.papers.ghoukasian2024_central.settings import TABLES
from evenhand.papers.ghoukasian2024_central.training import FILES, FIRST, RANDOM, training_name
from evenhand.papers.rules import ERRORS_IN_TABLE, Control, quoted, share
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.papers.claims import Evidence
    from evenhand.papers.comparisons import Runs
    from evenhand.papers.ghoukasian2024_central.settings import Printed, Table

MEASURES = ("acc", "gap")
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
) -> Runs:
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
    same = Control(_first_record(evidence, reading)["majority"] if measure == "acc" else 0.0)
    found = quoted(ours, paper, decimals=4, control=same, trials=TRIALS, errors=ERRORS_IN_TABLE)
    return replace(found, paper_value=paper)


def _first_record(evidence: Evidence, reading: Reading) -> Mapping[str, Any]:
    return next(iter(evidence.trials[training_name(reading.file)].values()))


def by_chance(evidence: Evidence, name: str, reading: Reading) -> float:
    r"""Return the gap that a perfectly fair classifier would show on the test rows, on average.

    Its positive rate is that of Algorithm 2; :math:`\sqrt{2/\pi}` times the standard deviation of the
    difference of two rates.
    """
    sizes = np.asarray(_first_record(evidence, reading)["test"], dtype=float)
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


def number_of(evidence: Evidence, name: str, measure: str, strength: str = "") -> Checked:
    """Return a printed number of a table beside ours, in all readings; of Algorithm 2 unless told."""
    table = TABLES[name]
    line = table.line(strength)
    every = list_readings(evidence, table)
    return combine_readings({each: of_reading(evidence, name, each, line, measure) for each in every})


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
