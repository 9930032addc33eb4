"""The runs on Compas that the authors of makhlouf2024 published, and our means beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.papers.makhlouf2024.comparisons import setting_of
from evenhand.papers.published import Published, load_runs
from evenhand.papers.stored import read_toml
from evenhand.papers.tables import means_table
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence

_STORED = read_toml(__package__, "paper.toml")["published"]

NAMES = _STORED["columns"]  # our measures, and rates of group 0 and 1, with the published columns
# What is undefined where nobody is predicted positive; the published runs have 0 there
PRECISION = ("prd", "precision_0", "precision_1")


def load_published() -> Published | None:
    """Return the runs on Compas that the authors published, or None if the file is not on this machine."""

    def place(threshold: float, way: str, epsilon: float) -> tuple[str, Setting]:
        strategy = _STORED["strategies"].get(way)
        return f"compas-{threshold:g}", setting_of(strategy, f"{epsilon:g}") if strategy else Setting()

    return load_runs(
        "results_makhlouf2024_compas",
        ("threshold", "setting", "epsilon", "Seed_num"),
        NAMES,
        place,
        texts=("setting",),
        same_seeds=False,
        source="the authors' runs on Compas",
    )


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, those of Compas beside the published ones."""
    known = evidence.published
    notes = {each: note["text"] for note in _STORED["notes"] if known for each in note["of"]}
    return {
        name: means_table(name, results, NAMES, published=known, notes=notes)
        for name, results in evidence.studies.items()
    }
