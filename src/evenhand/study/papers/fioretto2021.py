"""fioretto2021: who gains and who loses when decisions are made from differentially private counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.study.papers.fioretto2021_allotment_claims import ALLOTMENT_CLAIMS
from evenhand.study.papers.fioretto2021_language_claims import LANGUAGE_CLAIMS
from evenhand.study.papers.fioretto2021_logic import LOGIC
from evenhand.study.papers.fioretto2021_notes import DEPARTURES, DESIGN_NOTES, SIZES
from evenhand.study.papers.fioretto2021_number_claims import NUMBER_CLAIMS
from evenhand.study.papers.fioretto2021_tables import tables
from evenhand.study.papers.fioretto2021_theory import THEORY
from evenhand.study.papers.fioretto2021_trials import paper_trials
from evenhand.study.papers.paper import Paper

if TYPE_CHECKING:
    from evenhand.report.page import Chart
    from evenhand.study.papers.claims import Evidence
    from evenhand.study.papers.paper import Study
    from evenhand.study.papers.trials import Trials

__all__ = ["PAPER"]


def studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:  # noqa: ARG001 - there are none
    """Return no studies: everything is trials."""
    return ()


def trials(design: str) -> tuple[Trials, ...]:
    """Return the experiments of a design."""
    return paper_trials(SIZES[design])


def _figures(evidence: Evidence) -> list[Chart]:
    from evenhand.study.papers.fioretto2021_figures import figures  # noqa: PLC0415 - needs the extra report

    return figures(evidence)


PAPER = Paper(
    name="fioretto2021",
    title="Decision Making with Differential Privacy under a Fairness Lens",
    citation="Fioretto, Tran, Van Hentenryck (2021)",
    studies=studies,
    claims=(*NUMBER_CLAIMS, *ALLOTMENT_CLAIMS, *LANGUAGE_CLAIMS, *THEORY, *LOGIC),
    tables=tables,
    figures=_figures,
    trials=trials,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The paper, ready to run."""
