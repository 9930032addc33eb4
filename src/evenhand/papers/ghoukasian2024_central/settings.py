"""Tables 3.1 to 3.4 of ghoukasian2024: the numbers as printed, and the settings behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from evenhand.papers.stored import read_printed, read_toml

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
