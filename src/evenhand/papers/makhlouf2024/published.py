"""The runs on Compas that the authors of makhlouf2024 published, and our means beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.papers.makhlouf2024.comparisons import setting_of
from evenhand.papers.published import Published, load_runs
from evenhand.papers.tables import checked_mean, means_table
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from evenhand.papers.claims import Checked, Evidence
    from evenhand.study.results.results import Results

_STRATEGIES = {"sLDP": "single", "combsLDP": "combined", "indsLDP": "independent"}
_RATES = {"selection": "SP", "tpr": "EO", "fpr": "PE", "accuracy": "OA", "precision": "PRP"}

NAMES = {
    "acc": "Acc", "spd": "SPD", "eod": "EOD", "ped": "PED", "oad": "OAD", "prd": "PRPD",
    **{
        f"{rate}_{group}": f"{column}_{'maj' if group else 'min'}"
        for rate, column in _RATES.items()
        for group in (0, 1)
    },
}  # fmt: skip
"""Our measures, and rates of group 0 and 1, with the published columns."""

PRECISION = ("prd", "precision_0", "precision_1")
"""What is undefined where nobody is predicted positive; the published runs have 0 there."""

_NOTES = {
    **dict.fromkeys(
        ("eod", "ped", "tpr_0", "tpr_1", "fpr_0", "fpr_1"), "published runs have the last fold only"
    ),
    **dict.fromkeys(
        PRECISION, "a fold without positive predictions is left out; published runs count it as 0"
    ),
}


def load_published() -> Published | None:
    """Return the runs on Compas that the authors published, or None if the file is not on this machine."""

    def place(threshold: float, way: str, epsilon: float) -> tuple[str, Setting]:
        setting = setting_of(_STRATEGIES[way], f"{epsilon:g}") if way in _STRATEGIES else Setting()
        return f"compas-{threshold:g}", setting

    return load_runs(
        "results_makhlouf2024_compas",
        ("threshold", "setting", "epsilon", "Seed_num"),
        NAMES,
        place,
        texts=("setting",),
        same_seeds=False,
        source="the authors' runs on Compas",
    )


def published_checks(
    results: Results, study: str, known: Published | None, *, precision: bool
) -> list[Checked]:
    """Return every mean of a study checked against the published runs: those of precision, or all others."""
    measures = [measure for measure in NAMES if (measure in PRECISION) == precision]
    return [
        checked_mean(results, setting, measure, study=study, published=known)
        for setting in results.settings
        for measure in measures
    ]


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, those of Compas beside the published ones."""
    known = evidence.published
    notes = _NOTES if known else {}
    return {
        name: means_table(name, results, NAMES, study=name, published=known, notes=notes)
        for name, results in evidence.studies.items()
    }
