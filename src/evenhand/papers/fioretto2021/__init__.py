"""fioretto2021: who gains and who loses when decisions are made from differentially private counts."""

from __future__ import annotations

from evenhand.papers.fioretto2021 import allotment_checks, language_checks, theory_checks
from evenhand.papers.fioretto2021.tables import build_tables, draw_figures
from evenhand.papers.fioretto2021.trials import paper_trials
from evenhand.papers.paper import read_paper

__all__ = ["PAPER"]

PAPER = read_paper(
    __name__,
    allotment_checks,
    language_checks,
    theory_checks,
    tables=build_tables,
    figures=draw_figures,
    trials=paper_trials,
)
"""The paper, ready to run."""
