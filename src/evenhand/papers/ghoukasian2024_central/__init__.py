"""ghoukasian2024, chapter 3: a classifier with central privacy whose decisions are flipped for parity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.ghoukasian2024_central.accounting import accounting_trials
from evenhand.papers.ghoukasian2024_central.bounds import bound_trials
from evenhand.papers.ghoukasian2024_central.claims import SECTION
from evenhand.papers.ghoukasian2024_central.notes import DEPARTURES, DESIGN_NOTES, SIZES
from evenhand.papers.ghoukasian2024_central.tables import build_tables
from evenhand.papers.ghoukasian2024_central.theory import THEORY
from evenhand.papers.ghoukasian2024_central.training import training_trials
from evenhand.papers.paper import Paper

if TYPE_CHECKING:
    from evenhand.papers.paper import Study
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]


def studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:  # noqa: ARG001 - there are none
    """Return no studies: everything is trials."""
    return ()


def trials(design: str) -> tuple[Trials, ...]:
    """Return the accounting, the simulations of the bounds, and the runs of a design."""
    runs, files = SIZES[design]
    return (accounting_trials(), bound_trials(), *training_trials(runs, files))


PAPER = Paper(
    name="ghoukasian2024-central",
    title="Central DP and Fairness in Classification",
    citation=(
        "Ghoukasian (2024), Classification Algorithms with Differential Privacy and Fairness Guarantees, "
        "chapter 3, thesis, McMaster University"
    ),
    studies=studies,
    claims=(*THEORY, *SECTION),
    tables=build_tables,
    trials=trials,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The chapter, ready to run."""
