"""ghoukasian2024, chapter 5: a local mechanism whose reports tell least about the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.ghoukasian2024_local import checks, theory_checks
from evenhand.papers.ghoukasian2024_local.plans import mechanism_trials, studies
from evenhand.papers.ghoukasian2024_local.projection import projection_trials
from evenhand.papers.ghoukasian2024_local.tables import build_tables, draw_figures
from evenhand.papers.paper import read_paper

if TYPE_CHECKING:
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]


def _trials(sizes: dict[str, int]) -> tuple[Trials, ...]:
    """Return what is computed besides the studies: data unfairness, tables 5.1 to 5.4, and GRR there."""
    return (mechanism_trials(), *projection_trials(sizes))


PAPER = read_paper(
    __name__,
    checks,
    theory_checks,
    studies=studies,
    tables=build_tables,
    figures=draw_figures,
    trials=_trials,
)
"""The chapter, ready to run."""
