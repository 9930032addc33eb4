"""ghoukasian2024, chapter 3: a classifier with central privacy whose decisions are flipped for parity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.papers.ghoukasian2024_central import checks, theory_checks
from evenhand.papers.ghoukasian2024_central.accounting import accounting_trials
from evenhand.papers.ghoukasian2024_central.checks import build_tables
from evenhand.papers.ghoukasian2024_central.theory_checks import bound_trials
from evenhand.papers.ghoukasian2024_central.training import training_trials
from evenhand.papers.paper import read_paper

if TYPE_CHECKING:
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]


def _trials(sizes: dict[str, Any]) -> tuple[Trials, ...]:
    """Return the accounting, the simulations of the bounds, and the runs of a design."""
    return (accounting_trials(), bound_trials(), *training_trials(**sizes))


PAPER = read_paper(__name__, checks, theory_checks, tables=build_tables, trials=_trials)
"""The chapter, ready to run."""
