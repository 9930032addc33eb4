"""arcolezi2023: seven protocols, two splits, and what they do to accuracy and fairness."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.arcolezi2023.claims import CLAIMS, TITLES
from evenhand.papers.arcolezi2023.notes import DEPARTURES, DESIGN_NOTES
from evenhand.papers.arcolezi2023.plans import MEASURES, PROTOCOLS, studies
from evenhand.papers.figures import measures_figure
from evenhand.papers.paper import Paper
from evenhand.papers.published import Published, published_columns
from evenhand.papers.tables import means_table
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.tasks.shared.report_settings import report_setting

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.report.page import Chart
    from evenhand.study.results.results import Results

__all__ = ["PAPER", "published"]

_STEM = "results_arcolezi2023_adult"
_NAMES = {
    "acc": "acc", "f1": "f1", "balanced_accuracy": "auc", "recall": "recall",
    "spd": "SPD", "di": "DI", "eod": "EOD", "oad": "OAD",
}  # fmt: skip
_NOTES = {
    "balanced_accuracy": "the paper's auc, which comes from hard predictions",
    "auc": "area under the ranking, which the paper does not have",
}
_FAIR = (("di", "DI"), ("spd", "SPD"), ("eod", "EOD"), ("oad", "OAD"))
_USE = (
    ("acc", "Accuracy"),
    ("f1", "F1"),
    ("balanced_accuracy", "Balanced accuracy"),
    ("recall", "Recall"),
)
_FIGURES = {
    "adult": ("fig2", "fig5"), "acs_coverage": ("fig3", "fig6"), "lsac": ("fig4", "fig7"),
    "adult-subsets": ("fig8", "fig11"), "acs_coverage-subsets": ("fig9", "fig12"),
    "lsac-subsets": ("fig10", "fig13"),
}  # fmt: skip


def published() -> Published | None:
    """Return the runs on Adult that the authors published, or None if the file is not on this machine."""
    columns = published_columns(_STEM, numbers=("epsilon", "seed", *_NAMES.values()))
    if columns is None:
        return None
    parameters = {each.name.upper(): each.parameters for each in PROTOCOLS}
    names = {**{name: name.lower() for name in parameters}, "SUE": "rappor", "NonDP": UNPROTECTED}
    runs: dict[tuple[str, str, str], Any] = {}
    keys = list(
        zip(
            *(columns[name].tolist() for name in ("mechanism", "budget_split", "epsilon", "seed")),
            strict=True,
        )
    )
    for row, (mechanism, split, epsilon, seed) in enumerate(keys):
        protocol = names[mechanism]
        setting = Setting()
        if protocol != UNPROTECTED:
            spelled, amount = split.replace("_", "-"), Fraction(str(epsilon))
            own = parameters.get(protocol.upper(), {})
            setting = report_setting(protocol, amount, spelled, "independent", own)
        for measure, column in _NAMES.items():
            found = runs.setdefault(("adult", setting.id, measure), np.full(20, np.nan))
            found[int(seed)] = columns[column][row]
    return Published(runs, same_seeds=True, source="the authors' runs on Adult")


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, those of Adult beside the published ones."""
    return {
        name: means_table(name, results, MEASURES, study=name, published=evidence.published, notes=_NOTES)
        for name, results in evidence.studies.items()
    }


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the paper's figures of the studies that were run, redrawn."""
    drawn = []
    for study, results in evidence.studies.items():
        name = study.removesuffix("-searched")
        title = TITLES[name.removesuffix("-subsets")]
        among = ", random subsets of sensitive attributes" if name.endswith("-subsets") else ""
        for stem, measures, words in zip(_FIGURES[name], (_FAIR, _USE), ("Fairness", "Utility"), strict=True):
            number = stem.removeprefix("fig")
            drawn.append(
                measures_figure(
                    results,
                    measures,
                    name=stem,
                    alt=f"{words} on {title}{among} against epsilon, for seven protocols and two splits",
                    caption=(
                        f"As figure {number} of the paper: {title}{among}, {_repeats(results)}. "
                        "Bars and band: 95 % t intervals of the mean over repeats."
                    ),
                )
            )
    return drawn


def _repeats(results: Results) -> str:
    """Return how many repeats are finished, of the settings with the fewest and with the most."""
    done = results.arrays.done.sum(axis=1)
    fewest, most = int(done.min()), int(done.max())
    return f"{most} repeats" if fewest == most else f"{fewest} to {most} repeats"


PAPER = Paper(
    name="arcolezi2023",
    title="(Local) Differential Privacy has NO Disparate Impact on Fairness",
    citation=(
        "Arcolezi, Makhlouf, Palamidessi (2023), Data and Applications Security and Privacy XXXVII, "
        "doi:10.1007/978-3-031-37586-6_1"
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
