"""fioretto2021: who gains and who loses when decisions are made from differentially private counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.papers.fioretto2021.allotment_claims import ALLOTMENT_CLAIMS
from evenhand.papers.fioretto2021.figures import draw_figures
from evenhand.papers.fioretto2021.language_claims import LANGUAGE_CLAIMS
from evenhand.papers.fioretto2021.logic import LOGIC
from evenhand.papers.fioretto2021.number_claims import NUMBER_CLAIMS
from evenhand.papers.fioretto2021.tables import build_tables
from evenhand.papers.fioretto2021.theory import THEORY
from evenhand.papers.fioretto2021.trials import (
    ALLOTMENT,
    COUNTY_DRAWS,
    DRAWS,
    LANGUAGE,
    LANGUAGE_DRAWS,
    PROXIES,
    paper_trials,
)
from evenhand.papers.paper import Paper

if TYPE_CHECKING:
    from evenhand.papers.trials import Trials

__all__ = ["PAPER"]

SIZES = {
    "quick": {ALLOTMENT: 3, LANGUAGE: 2, LANGUAGE_DRAWS: 1, COUNTY_DRAWS: 5},
    "reduced": {ALLOTMENT: 3, LANGUAGE: 2, DRAWS: 2, LANGUAGE_DRAWS: 5, COUNTY_DRAWS: 10, PROXIES: 5},
    "full": {ALLOTMENT: 3, LANGUAGE: 2, DRAWS: 10, LANGUAGE_DRAWS: 10, COUNTY_DRAWS: 20, PROXIES: 20},
}
"""Of each design, how many trials there are of each kind."""

DESIGN_NOTES = {
    "quick": (
        "Every exact number about the allotments and the rule, and 1,000 repetitions of the rule; 11 trials, "
        "about 15 seconds of one core."
    ),
    "reduced": (
        "Every exact number, 2,000 repetitions of the allotment and 5,000 of the rule, 5 groupings; 27 "
        "trials, about 35 seconds of one core."
    ),
    "full": (
        "Every exact number, the paper's 10,000 repetitions of the allotment and of the rule, 20 groupings; "
        "65 trials, about 2 minutes of one core."
    ),
}
"""What each design runs and how long that takes."""

DEPARTURES = (
    (
        "The districts are very probably the paper's: its own steps give 16,641 where it reports 16,441. "
        "They count students, not children in poverty; the poverty counts of 2015 are in the tables "
        "beside them."
    ),
    "The weights are not printed. They are the state's expenditure per pupil, which the table brings.",
    (
        "The county table with 2,774 rows is not to be had. The 187 determined counties are real; the full "
        "table is simulated around them, and every number from it is labelled so."
    ),
    (
        "The epsilons of the figures are not in the text. The allotment has those of Example 1 and 0.05, "
        "which its third numbers fit; the rule has 0.01, 0.1 and 1."
    ),
    (
        "Biases are exact, or proved to nine digits; the paper's 10,000 draws are done besides, to see what "
        "they could show."
    ),
    (
        "The temperatures of figures 8 and 9 are not in the text: ours are the two that depend on the noise "
        "alone, and eight parts of its squared scale."
    ),
    (
        "Figure 7 is on the simulated table. Features are standardised before a linear model is fitted, "
        "and a regression says yes above one half."
    ),
    "Noise has the scale 1 / epsilon, as if a person were in one count; the rule has 3 / epsilon beside it.",
)
"""Where this reproduction departs from the paper, and what was inferred."""


def _trials(design: str) -> tuple[Trials, ...]:
    """Return the experiments of a design."""
    return paper_trials(SIZES[design])


PAPER = Paper(
    name="fioretto2021",
    title="Decision Making with Differential Privacy under a Fairness Lens",
    citation="Fioretto, Tran, Van Hentenryck (2021)",
    claims=(*NUMBER_CLAIMS, *ALLOTMENT_CLAIMS, *LANGUAGE_CLAIMS, *THEORY, *LOGIC),
    tables=build_tables,
    figures=draw_figures,
    trials=_trials,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The paper, ready to run."""
