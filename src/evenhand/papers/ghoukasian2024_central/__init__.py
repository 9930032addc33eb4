"""ghoukasian2024, chapter 3: a classifier with central privacy whose decisions are flipped for parity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.ghoukasian2024_central import checks, readings, theory_checks
from evenhand.papers.ghoukasian2024_central.accounting import accounting_trials
from evenhand.papers.ghoukasian2024_central.bounds import bound_trials
from evenhand.papers.ghoukasian2024_central.tables import build_tables
from evenhand.papers.ghoukasian2024_central.training import training_trials
from evenhand.papers.stored import read_paper, read_toml

if TYPE_CHECKING:
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]


def _trials(design: str) -> tuple[Trials, ...]:
    """Return the accounting, the simulations of the bounds, and the runs of a design."""
    sizes = read_toml(__name__, "paper.toml")["sizes"][design]
    return (accounting_trials(), bound_trials(), *training_trials(**sizes))


PAPER = read_paper(__name__, checks, readings, theory_checks, tables=build_tables, trials=_trials)
"""The chapter, ready to run."""
