"""Tables 3.1 to 3.4 of ghoukasian2024: the numbers as printed, and the settings behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "BATCH",
    "CLIP",
    "DELTA",
    "FERMI_RATE",
    "LIPSCHITZ",
    "MATRIX_RATE",
    "RADIUS",
    "RATE",
    "RUNS",
    "TABLES",
    "Printed",
    "Table",
]

DELTA = 1e-5
CLIP, RATE, BATCH = 1.5, 0.01, 1024
"""DP-SGD: the clipping constant, the learning rate and the expected batch."""

FERMI_RATE, MATRIX_RATE, RADIUS, LIPSCHITZ = 0.005, 0.01, 5.0, 5.0
"""DP-FERMI: both learning rates, the radius of W, and the Lipschitz bound that its noise assumes."""

RUNS = 10
"""Of how many trials a printed number is the mean."""


class Printed(NamedTuple):
    """One line of a table.

    Parameters
    ----------
    strength : str
        The lambda of DP-FERMI; nothing for Algorithm 2.
    acc, gap : float
    """

    strength: str
    acc: float
    gap: float

    @property
    def method(self) -> str:
        """As the table calls it."""
        return f"DP-FERMI, lambda {self.strength}" if self.strength else "Algorithm 2"


@dataclass(frozen=True)
class Table:
    """One of the four tables.

    Parameters
    ----------
    dataset : {"adult", "credit"}
    epsilon : str
        The whole budget, as printed.
    rate_epsilon : str
        What each of the two rates gets of it.
    noise : float
        Standard deviation of the noise in DP-SGD.
    epochs : int
    sampling : str
        The share of rows in a batch that the accounting of the published code has.
    steps : int
        And its number of steps.
    matched : str
        The lambda that the text compares with Algorithm 2.
    lines : tuple of Printed
    """

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


def _lines(text: str) -> tuple[Printed, ...]:
    """Return the lines of a table: the lambda, the accuracy and the gap of each, Algorithm 2 first."""
    words = (line.split() for line in text.strip().splitlines())
    return tuple(Printed(first.strip("-"), float(acc), float(gap)) for first, acc, gap in words)


TABLES = {
    "table-3.1": Table(
        "adult", "3", "0.05", 3.13, 50, "0.034", 1500, "1.8",
        _lines("""
            -   0.7763 0.0074
            0.5 0.7998 0.1020
            1   0.7859 0.0462
            1.5 0.7822 0.0267
            1.8 0.7770 0.0182
            2.5 0.7673 0.0099
        """),
    ),
    "table-3.2": Table(
        "adult", "9", "0.05", 1.5, 50, "0.034", 1500, "1.7",
        _lines("""
            -   0.7790 0.0091
            0.5 0.8091 0.0944
            1   0.7923 0.0413
            1.5 0.7810 0.0152
            1.7 0.7782 0.0121
            2.5 0.7693 0.0030
        """),
    ),
    "table-3.3": Table(
        "credit", "3", "0.1", 4.44, 50, "0.0683", 750, "0.2",
        _lines("""
            -   0.7844 0.0086
            0.1 0.7899 0.0212
            0.2 0.7846 0.0193
            0.5 0.7777 0.0185
            1   0.7759 0.0105
            2.5 0.7669 0.0110
        """),
    ),
    "table-3.4": Table(
        "credit", "9", "0.1", 2.49, 100, "0.0683", 1500, "1",
        _lines("""
            -    0.7900 0.0056
            0.25 0.7996 0.0188
            0.3  0.7971 0.0182
            0.5  0.7912 0.0172
            1    0.7895 0.0105
            2.5  0.7884 0.0066
        """),
    ),
}  # fmt: skip
"""The four tables by name."""
