"""The privacy of DP-SGD in tables 3.1 to 3.4 of ghoukasian2024: as accounted there, and for the real rows.

The accounting of the published code has a share of rows in a batch and a number of steps of its own. Whether
these are the ones of the training depends on how many rows the file had. Everything here is exact accounting
of Poisson-sampled batches with Gaussian noise; the thesis used another accountant of the same kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.papers.paper import read_printed, read_toml
from evenhand.papers.trials import Trials
from evenhand.privacy.accounting import SampledGaussian, noise_for

if TYPE_CHECKING:
    from collections.abc import Callable

DELTA = 1e-5
CLIP, RATE, BATCH = 1.5, 0.01, 1024  # DP-SGD: the clipping constant, the learning rate and the expected batch
# DP-FERMI: both learning rates, the radius of W, and the Lipschitz bound that its noise assumes
FERMI_RATE, MATRIX_RATE, RADIUS, LIPSCHITZ = 0.005, 0.01, 5.0, 5.0


class Printed(NamedTuple):
    """One line of a table, of the lambda of DP-FERMI or of Algorithm 2, which has none."""

    strength: str
    acc: float
    gap: float

    @property
    def method(self) -> str:
        """As the table calls it."""
        return f"DP-FERMI, lambda {self.strength}" if self.strength else "Algorithm 2"


@dataclass(frozen=True)
class Table:
    """One of the four tables: its settings, which ``paper.toml`` explains, and its lines."""

    dataset: str
    epsilon: str
    rate_epsilon: str
    noise: float
    epochs: int
    sampling: str
    steps: int
    matched: str
    lines: tuple[Printed, ...]

    @property
    def multiplier(self) -> float:
        """The noise in units of the clipping constant."""
        return self.noise / CLIP

    @property
    def training_epsilon(self) -> float:
        """What is left for training.

        >>> round(TABLES["table-3.1"].training_epsilon, 12)
        2.9
        """
        return float(self.epsilon) - 2 * float(self.rate_epsilon)

    @property
    def strengths(self) -> tuple[str, ...]:
        """The lambdas of DP-FERMI."""
        return tuple(each.strength for each in self.lines if each.strength)

    def line(self, strength: str) -> Printed:
        """Return the line of a lambda, or of Algorithm 2."""
        return next(each for each in self.lines if each.strength == strength)


def _read_tables() -> dict[str, Table]:
    lines: dict[str, list[Printed]] = {}
    for row in read_printed(__package__, "tables"):
        line = Printed(row["lambda"], float(row["acc"]), float(row["gap"]))
        lines.setdefault(row["table"], []).append(line)
    stored = read_toml(__package__, "paper.toml")["tables"]
    return {name: Table(**stored[name], lines=tuple(lines[name])) for name in stored}


TABLES = _read_tables()  # the four tables by name, Algorithm 2 first in each


ACCOUNTING = "accounting"  # the name of the trials, and of their table

AS_PRINTED = "as accounted in the thesis"
CLEAN, TWICE, THIRDS = "45,222 rows", "60,324 rows", "two thirds of 45,222 rows"
REAL = "30,000 rows"
LOADER = "one batch in as many as an epoch has"  # readings: whose rows the batches are drawn from, and how

_FITTING = {CLEAN: 22_611, TWICE: 30_162, THIRDS: 30_148, REAL: 15_000}
_ADD, _REPLACE = "add or remove one", "replace one"
_HALVINGS, _STRIDE = 10, 1.0


class Reading(NamedTuple):
    """What the accounting needs besides the noise: the share of rows in a batch, and how many steps."""

    name: str
    sampling: Fraction
    steps: int


def readings(table: Table) -> tuple[Reading, ...]:
    """Return what may have been run, the thesis's own accounting first.

    Batches have 1,024 rows in expectation, as many in an epoch as it takes to see all rows.

    >>> for each in readings(TABLES["table-3.1"]):
    ...     print(f"{each.name}: {float(each.sampling):.5f}, {each.steps}")
    as accounted in the thesis: 0.03400, 1500
    45,222 rows: 0.04529, 1150
    45,222 rows, one batch in as many as an epoch has: 0.04348, 1150
    60,324 rows: 0.03395, 1500
    two thirds of 45,222 rows: 0.03397, 1500
    """
    first = Reading(AS_PRINTED, Fraction(table.sampling), table.steps)
    names = (CLEAN, TWICE, THIRDS) if table.dataset == "adult" else (REAL,)
    sizes = {name: _FITTING[name] for name in names}
    clean, *others = (
        Reading(name, Fraction(BATCH, rows), table.epochs * -(-rows // BATCH)) for name, rows in sizes.items()
    )
    loader = Reading(f"{clean.name}, {LOADER}", Fraction(table.epochs, clean.steps), clean.steps)
    return (first, clean, loader, *others)


def person_epsilon(delta: Callable[[float], float], *, rows: int = 2, most: float = 15.0) -> float:
    r"""Return an epsilon at :data:`DELTA` of somebody with several rows, by group privacy.

    A mechanism that is :math:`(\varepsilon, \delta')`-private for a row is
    :math:`(g \varepsilon, \delta' \sum_{i<g} e^{i\varepsilon})`-private for :math:`g` of them.

    `delta` takes the epsilon of a row, of which `most` is the largest that is tried. The result is infinite
    if no epsilon does it; deltas that double precision cannot tell from 0 are to blame.

    >>> round(person_epsilon(lambda epsilon: 0.0 if epsilon >= 1 else 1.0), 2)
    2.0
    """

    def enough(epsilon: float) -> bool:
        return delta(epsilon) * sum(math.exp(i * epsilon) for i in range(rows)) <= DELTA

    tried = (each * _STRIDE for each in range(1, math.ceil(most / _STRIDE) + 1))
    high = next((each for each in tried if enough(each)), math.inf)
    low = high - _STRIDE
    for _ in range(_HALVINGS if math.isfinite(high) else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return rows * high


def _account_reading(table: Table, reading: Reading) -> dict[str, Any]:
    mechanism = SampledGaussian(table.multiplier, reading.sampling, reading.steps)
    found: dict[str, Any] = {
        "sampling": float(reading.sampling),
        "steps": reading.steps,
        "epsilon": float(mechanism.epsilon(DELTA, unit=_ADD)),
    }
    if reading.name == TWICE:
        person = person_epsilon(lambda epsilon: float(mechanism.delta(epsilon, unit=_ADD)))
        found["person"] = person if math.isfinite(person) else None
    if reading.name in {AS_PRINTED, CLEAN, REAL}:
        found["replaced"] = float(mechanism.epsilon(DELTA, unit=_REPLACE))
    return found


def _trial(number: int) -> dict[str, Any]:
    name = list(TABLES)[number]
    table = TABLES[name]
    every = readings(table)
    claimed = table.training_epsilon
    needed = {
        name: float(noise_for(claimed, DELTA, sampling=sampling, steps=steps, unit=_ADD))
        for name, sampling, steps in every[:2]
    }
    return {
        "table": name,
        "noise": table.multiplier,
        "target": claimed,
        "readings": {each.name: _account_reading(table, each) for each in every},
        "needed": needed,
    }


def accounting_trials() -> Trials:
    """Return the accounting of each table as a trial."""
    return Trials(ACCOUNTING, len(TABLES), _trial)
