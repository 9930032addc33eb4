"""makhlouf2024: one attribute, all combined, or each on its own, and what that does to the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.papers.makhlouf2024.claims import CLAIMS
from evenhand.papers.makhlouf2024.figures import draw_figures
from evenhand.papers.makhlouf2024.notes import DEPARTURES, DESIGN_NOTES
from evenhand.papers.makhlouf2024.plans import studies
from evenhand.papers.makhlouf2024.published import means, published
from evenhand.papers.paper import Paper

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence

__all__ = ["PAPER"]


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, those of Compas beside the published ones."""
    return {name: means(results, name, evidence.published) for name, results in evidence.studies.items()}


PAPER = Paper(
    name="makhlouf2024",
    title="On the Impact of Multi-dimensional Local Differential Privacy on Fairness",
    citation=(
        "Makhlouf, Arcolezi, Zhioua, Ben Brahim, Palamidessi (2024), Data Mining and Knowledge Discovery, "
        "doi:10.1007/s10618-024-01031-0"
    ),
    studies=studies,
    claims=CLAIMS,
    tables=build_tables,
    figures=draw_figures,
    published=published,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The paper, ready to run."""
