"""makhlouf2024: one attribute, all combined, or each on its own, and what that does to the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.study.papers.makhlouf2024_claims import CLAIMS
from evenhand.study.papers.makhlouf2024_notes import DEPARTURES, DESIGN_NOTES
from evenhand.study.papers.makhlouf2024_plans import studies
from evenhand.study.papers.makhlouf2024_published import means, published
from evenhand.study.papers.paper import Paper

if TYPE_CHECKING:
    from evenhand.report.page import Chart
    from evenhand.study.papers.claims import Evidence

__all__ = ["PAPER"]


def tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, those of Compas beside the published ones."""
    return {name: means(results, name, evidence.published) for name, results in evidence.studies.items()}


def _figures(evidence: Evidence) -> list[Chart]:
    from evenhand.study.papers.makhlouf2024_figures import figures  # noqa: PLC0415 - needs the extra report

    return figures(evidence)


PAPER = Paper(
    name="makhlouf2024",
    title="On the Impact of Multi-dimensional Local Differential Privacy on Fairness",
    citation=(
        "Makhlouf, Arcolezi, Zhioua, Ben Brahim, Palamidessi (2024), Data Mining and Knowledge Discovery, "
        "doi:10.1007/s10618-024-01031-0"
    ),
    studies=studies,
    claims=CLAIMS,
    tables=tables,
    figures=_figures,
    published=published,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The paper, ready to run."""
