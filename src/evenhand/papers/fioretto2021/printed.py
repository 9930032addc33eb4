"""What fioretto2021 prints: the numbers of its text, and the settings that its text gives."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "AVERAGE",
    "BOUNDS",
    "BUDGET",
    "CHANCES",
    "COUNTIES",
    "DISTRICTS",
    "EPSILONS",
    "GROUPS",
    "INFERRED",
    "LANGUAGE_COUNTIES",
    "LANGUAGE_EPSILONS",
    "LEAST",
    "MOST_LOST",
    "REPETITIONS",
    "County",
]

EPSILONS = ("0.001", "0.01", "0.05", "0.1")
"""The epsilons of the allotment, as exact texts: those of Example 1, and the one that its numbers fit."""

INFERRED = "0.05"
"""The epsilon that the third numbers of Example 1 fit; the text says 0.1."""

LANGUAGE_EPSILONS = ("0.01", "0.1", "1")
"""The epsilons of the rule, which the text does not give."""

BUDGET = 6_500_000_000
"""Dollars that are allotted: 'about $6.5 billion'."""

DISTRICTS = 16_441
"""School districts, as printed."""

LANGUAGE_COUNTIES = 2_774
"""Counties with at least one Hispanic person, as printed."""

MOST_LOST = 42_000
"""Dollars that some school districts receive less than warranted, at most."""

BOUNDS = {"0.001": "0.003", "0.01": "0.00003", "0.1": "0.0000012"}
"""The fairness bounds of Example 1, by the epsilon they are printed for."""

AVERAGE = {"0.001": "43281", "0.01": "4328", "0.1": "865.6"}
"""The average misallocations of Example 1 in dollars, by the epsilon they are printed for."""

REPETITIONS = 10_000
"""Draws behind the empirical errors of figures 6 and 9."""

GROUPS = 9
"""Groups of about equal size in figure 7."""

CHANCES = (0.05, 10_000, 0.0131)
"""The thresholds of the language rule: share, number, and share with little schooling."""

LEAST = 0.9
"""The lower bound on the normalising sum in Theorem 11, as a share of the sum itself."""


class County(NamedTuple):
    """One of the three counties of figure 4: sp and s as printed."""

    name: str
    sp: int
    s: int

    @property
    def ratio(self) -> float:
        """The share as it is."""
        return self.sp / self.s


COUNTIES = (
    County("Loving, TX", 4, 80),
    County("Terrell, TX", 30, 600),
    County("Union, NM", 160, 3_305),
)
"""The counties of figure 4, left and middle."""
