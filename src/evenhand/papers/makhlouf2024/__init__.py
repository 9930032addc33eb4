"""makhlouf2024: one attribute, all combined, or each on its own, and what that does to the groups."""

from __future__ import annotations

from evenhand.papers.makhlouf2024 import checks
from evenhand.papers.makhlouf2024.plans import studies
from evenhand.papers.makhlouf2024.published import build_tables, draw_figures, load_published
from evenhand.papers.stored import read_paper

__all__ = ["PAPER"]

PAPER = read_paper(
    __name__, checks, studies=studies, tables=build_tables, figures=draw_figures, published=load_published
)
"""The paper, ready to run."""
