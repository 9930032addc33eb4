"""fioretto2021: who gains and who loses when decisions are made from differentially private counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.fioretto2021.allotment_claims import ALLOTMENT_CLAIMS
from evenhand.papers.fioretto2021.figures import draw_figures
from evenhand.papers.fioretto2021.language_claims import LANGUAGE_CLAIMS
from evenhand.papers.fioretto2021.logic import LOGIC
from evenhand.papers.fioretto2021.notes import DEPARTURES, DESIGN_NOTES, SIZES
from evenhand.papers.fioretto2021.number_claims import NUMBER_CLAIMS
from evenhand.papers.fioretto2021.tables import build_tables
from evenhand.papers.fioretto2021.theory import THEORY
from evenhand.papers.fioretto2021.trials import paper_trials
from evenhand.papers.paper import Paper

if TYPE_CHECKING:
    from evenhand.papers.paper import Study
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]


def _studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:  # noqa: ARG001 - there are none
    """Return no studies: everything is trials."""
    return ()


def _trials(design: str) -> tuple[Trials, ...]:
    """Return the experiments of a design."""
    return paper_trials(SIZES[design])


PAPER = Paper(
    name="fioretto2021",
    title="Decision Making with Differential Privacy under a Fairness Lens",
    citation="Fioretto, Tran, Van Hentenryck (2021)",
    studies=_studies,
    claims=(*NUMBER_CLAIMS, *ALLOTMENT_CLAIMS, *LANGUAGE_CLAIMS, *THEORY, *LOGIC),
    tables=build_tables,
    figures=draw_figures,
    trials=_trials,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The paper, ready to run."""
