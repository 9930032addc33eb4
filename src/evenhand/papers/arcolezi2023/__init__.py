"""arcolezi2023: seven protocols, two splits, and what they do to accuracy and fairness."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.papers.arcolezi2023 import checks
from evenhand.papers.arcolezi2023.plans import DATA, MEASURES, PROTOCOLS, studies
from evenhand.papers.figures import measures_figure
from evenhand.papers.published import Published, load_runs
from evenhand.papers.stored import read_paper, read_toml
from evenhand.papers.tables import means_table
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.tasks.shared.report_settings import report_setting

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.report.page import Chart
    from evenhand.study.results.results import Results


__all__ = ["PAPER", "load_published"]

_NAMES = {
    "acc": "acc", "f1": "f1", "balanced_accuracy": "auc", "recall": "recall",
    "spd": "SPD", "di": "DI", "eod": "EOD", "oad": "OAD",
}  # fmt: skip
_NOTES = {
    "balanced_accuracy": "the paper's auc, which comes from hard predictions",
    "auc": "area under the ranking, which the paper does not have",
}


def load_published() -> Published | None:
    """Return the runs on Adult that the authors published, or None if the file is not on this machine."""
    parameters = {each.name.upper(): each.parameters for each in PROTOCOLS}
    names = {**{name: name.lower() for name in parameters}, "SUE": "rappor", "NonDP": UNPROTECTED}

    def place(mechanism: str, split: str, epsilon: float) -> tuple[str, Setting]:
        protocol = names[mechanism]
        if protocol == UNPROTECTED:
            return "adult", Setting()
        own = parameters.get(protocol.upper(), {})
        spelled, amount = split.replace("_", "-"), Fraction(str(epsilon))
        return "adult", report_setting(protocol, amount, spelled, "independent", own)

    return load_runs(
        "results_arcolezi2023_adult",
        ("mechanism", "budget_split", "epsilon", "seed"),
        _NAMES,
        place,
        texts=("mechanism", "budget_split"),
        same_seeds=True,
        source="the authors' runs on Adult",
    )


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
        title = DATA[name.removesuffix("-subsets")].title
        among = ", random subsets of sensitive attributes" if name.endswith("-subsets") else ""
        for words in read_toml(__name__, "figures.toml").values():
            number = words["numbers"][name]
            values = {"title": title, "among": among, "number": number, "repeats": _repeats(results)}
            values |= {"study": name, "published": evidence.published}
            drawn.append(measures_figure(results, words, f"fig{number}", **values))
    return drawn


def _repeats(results: Results) -> str:
    """Return how many repeats are finished, of the settings with the fewest and with the most."""
    done = results.arrays.done.sum(axis=1)
    fewest, most = int(done.min()), int(done.max())
    return f"{most} repeats" if fewest == most else f"{fewest} to {most} repeats"


PAPER = read_paper(
    __name__,
    checks,
    studies=studies,
    tables=build_tables,
    figures=draw_figures,
    published=load_published,
)
"""The paper, ready to run."""
