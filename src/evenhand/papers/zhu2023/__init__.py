"""zhu2023: what disclosure avoidance costs in bias and disparity, and what it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.paper import Paper
from evenhand.papers.zhu2023.classification import classification_trials
from evenhand.papers.zhu2023.experiments import experiment_trials
from evenhand.papers.zhu2023.fairness import FAIRNESS
from evenhand.papers.zhu2023.figure_claims import FIGURE_CLAIMS
from evenhand.papers.zhu2023.figures import draw_figures
from evenhand.papers.zhu2023.notes import DEPARTURES, DESIGN_NOTES, SIZES
from evenhand.papers.zhu2023.table_claims import TABLE_CLAIMS
from evenhand.papers.zhu2023.tables import build_tables
from evenhand.papers.zhu2023.theory import PRIVACY

if TYPE_CHECKING:
    from evenhand.papers.paper import Study
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]


def studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:  # noqa: ARG001 - there are none
    """Return no studies: everything is trials."""
    return ()


def trials(design: str) -> tuple[Trials, ...]:
    """Return the experiments of a design."""
    sizes = SIZES[design]
    return (
        *experiment_trials({name: numbers[:2] for name, numbers in sizes.items()}),
        *classification_trials({name: numbers[2] for name, numbers in sizes.items()}),
    )


PAPER = Paper(
    name="zhu2023",
    title="Privacy and Bias Analysis of Disclosure Avoidance Systems",
    citation="Zhu, Fioretto, Van Hentenryck, Das, Task (2023)",
    studies=studies,
    claims=(*PRIVACY, *FAIRNESS, *TABLE_CLAIMS, *FIGURE_CLAIMS),
    tables=build_tables,
    figures=draw_figures,
    trials=trials,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The paper, ready to run."""
