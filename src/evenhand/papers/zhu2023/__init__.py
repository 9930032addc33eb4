"""zhu2023: what disclosure avoidance costs in bias and disparity, and what it promises."""

from __future__ import annotations

from evenhand.papers.paper import read_paper
from evenhand.papers.zhu2023 import checks, theory_checks
from evenhand.papers.zhu2023.experiments import paper_trials
from evenhand.papers.zhu2023.tables import build_tables, draw_figures

__all__ = ["PAPER"]

PAPER = read_paper(
    __name__, checks, theory_checks, tables=build_tables, figures=draw_figures, trials=paper_trials
)
"""The paper, ready to run."""
