"""zhu2023: what disclosure avoidance costs in bias and disparity, and what it promises."""

from __future__ import annotations

from evenhand.papers.stored import read_paper, read_toml
from evenhand.papers.zhu2023 import checks, theory_checks
from evenhand.papers.zhu2023.experiments import paper_trials
from evenhand.papers.zhu2023.figures import draw_figures
from evenhand.papers.zhu2023.tables import build_tables

__all__ = ["PAPER"]

_SIZES = read_toml(__name__, "paper.toml")["sizes"]

PAPER = read_paper(
    __name__,
    checks,
    theory_checks,
    tables=build_tables,
    figures=draw_figures,
    trials=lambda design: paper_trials(_SIZES[design]),
)
"""The paper, ready to run."""
