"""fioretto2021: who gains and who loses when decisions are made from differentially private counts."""

from __future__ import annotations

from evenhand.papers.fioretto2021 import allotment_checks, language_checks, theory_checks
from evenhand.papers.fioretto2021.figures import draw_figures
from evenhand.papers.fioretto2021.tables import build_tables
from evenhand.papers.fioretto2021.trials import paper_trials
from evenhand.papers.stored import read_paper, read_toml

__all__ = ["PAPER"]

_SIZES = read_toml(__name__, "paper.toml")["sizes"]

PAPER = read_paper(
    __name__,
    allotment_checks,
    language_checks,
    theory_checks,
    tables=build_tables,
    figures=draw_figures,
    trials=lambda design: paper_trials(_SIZES[design]),
)
"""The paper, ready to run."""
