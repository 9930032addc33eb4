"""zhu2023: what disclosure avoidance costs in bias and disparity, and what it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.stored import read_paper, read_toml
from evenhand.papers.zhu2023 import checks, theory_checks
from evenhand.papers.zhu2023.classification import classification_trials
from evenhand.papers.zhu2023.experiments import experiment_trials
from evenhand.papers.zhu2023.figures import draw_figures
from evenhand.papers.zhu2023.tables import build_tables

if TYPE_CHECKING:
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]


def _trials(design: str) -> tuple[Trials, ...]:
    """Return the experiments of a design."""
    sizes = read_toml(__name__, "paper.toml")["sizes"][design]
    return (
        *experiment_trials({name: numbers[:2] for name, numbers in sizes.items()}),
        *classification_trials({name: numbers[2] for name, numbers in sizes.items()}),
    )


PAPER = read_paper(__name__, checks, theory_checks, tables=build_tables, figures=draw_figures, trials=_trials)
"""The paper, ready to run."""
