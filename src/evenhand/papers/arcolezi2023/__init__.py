"""arcolezi2023: seven protocols, two splits, and what they do to accuracy and fairness."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.papers.arcolezi2023 import checks
from evenhand.papers.arcolezi2023.plans import DATA, MEASURES, PROTOCOLS, studies
from evenhand.papers.figures import count_repeats, measures_figure
from evenhand.papers.paper import read_paper, read_toml
from evenhand.papers.published import Published, load_runs
from evenhand.papers.tables import means_table
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.tasks.shared.report_settings import report_setting

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.report.page import Chart


__all__ = ["PAPER", "load_published"]

_STORED = read_toml(__name__, "paper.toml")["published"]
_HOLLOW = " Hollow marks: means of the runs that the authors published."


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
        _STORED["columns"],
        place,
        texts=("mechanism", "budget_split"),
        same_seeds=True,
    )


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, those of Adult beside the published ones."""
    beside = {"published": evidence.published, "notes": _STORED["notes"]}
    return {name: means_table(name, own, MEASURES, **beside) for name, own in evidence.studies.items()}


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the paper's figures of the studies that were run, redrawn."""
    drawn = []
    for study, results in evidence.studies.items():
        name = study.removesuffix("-searched")
        subsets = name.endswith("-subsets")
        values: dict[str, Any] = {
            "study": name,
            "published": evidence.published,
            "title": DATA[name.removesuffix("-subsets")].title,
            "among": ", random subsets of sensitive attributes" if subsets else "",
            "repeats": count_repeats(results),
            "hollow": _HOLLOW if evidence.published and evidence.published.has(name) else "",
        }
        for words in read_toml(__name__, "figures.toml").values():
            number = words["numbers"][name]
            drawn.append(measures_figure(results, words, f"fig{number}", number=number, **values))
    return drawn


PAPER = read_paper(
    __name__, checks, studies=studies, tables=build_tables, figures=draw_figures, published=load_published
)
"""The paper, ready to run."""
