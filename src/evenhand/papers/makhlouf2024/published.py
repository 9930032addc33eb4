"""The runs on Compas that the authors of makhlouf2024 published, and our means beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import UNCHECKED, Checked
from evenhand.papers.makhlouf2024.checks import setting_of
from evenhand.papers.makhlouf2024.plans import MEASURES
from evenhand.papers.published import Published, read_published_columns
from evenhand.papers.rules import published_mean
from evenhand.papers.tables import COLUMNS, NO_PUBLISHED
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, group_estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

__all__ = ["NAMES", "PRECISION", "load_published", "means", "published_checks"]

_STEM = "results_makhlouf2024_compas"
_STRATEGIES = {"sLDP": "single", "combsLDP": "combined", "indsLDP": "independent"}
_RUNS = 20
_DIGITS = 6

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
    columns = read_published_columns(_STEM, numbers=("threshold", "epsilon", "Seed_num", *NAMES.values()))
    if columns is None:
        return None
    runs: dict[tuple[str, str, str], Any] = {}
    keys = zip(
        *(columns[name].tolist() for name in ("threshold", "setting", "epsilon", "Seed_num")), strict=True
    )
    for row, (threshold, way, epsilon, seed) in enumerate(keys):
        setting = setting_of(_STRATEGIES[way], f"{epsilon:g}") if way in _STRATEGIES else Setting()
        for measure, column in NAMES.items():
            key = (f"compas-{threshold:g}", setting.id, measure)
            runs.setdefault(key, np.full(_RUNS, np.nan))[int(seed)] = columns[column][row]
    return Published(runs, same_seeds=False, source="the authors' runs on Compas")


def _ours(results: Results, setting: Setting, measure: str) -> Estimated:
    if measure in MEASURES:
        return estimate(results, setting, measure, kind="student")
    rate, _, group = measure.partition("_")
    return group_estimate(results, setting, results.facts.groups[int(group)], rate, kind="student")


def _checked(results: Results, study: str, known: Published | None) -> Iterator[tuple[Setting, str, Checked]]:
    for setting in results.settings:
        for measure in NAMES:
            ours = _ours(results, setting, measure)
            theirs = None if known is None else known.runs(study, setting, measure)
            if theirs is None:
                yield setting, measure, Checked(UNCHECKED, NO_PUBLISHED, ours)
            else:
                yield setting, measure, published_mean(ours, theirs, same_seeds=False)


def published_checks(
    results: Results, study: str, known: Published | None, *, precision: bool
) -> list[Checked]:
    """Return every mean of a study checked against the published runs: those of precision, or all others."""
    return [
        found for _, measure, found in _checked(results, study, known) if (measure in PRECISION) == precision
    ]


def means(results: Results, study: str, known: Published | None) -> dict[str, list[Any]]:
    """Return one row for each setting and each measure or group rate, beside the published mean."""
    columns: dict[str, list[Any]] = {column: [] for column in COLUMNS}
    for setting, measure, found in _checked(results, study, known):
        ours = found.ours
        if ours is None or not ours.runs:
            continue
        row = (
            study, study, setting.mechanism, setting.option("split"), setting.option("strategy"),
            None if setting.epsilon is None else float(setting.epsilon), measure,
            round(ours.value, _DIGITS),
            None if ours.standard_error is None else round(ours.standard_error, _DIGITS),
            ours.runs,
            None if found.paper_value is None else round(found.paper_value, _DIGITS),
            found.verdict,
            "; ".join(filter(None, (_NOTES.get(measure, "") if known else "", found.why))),
        )  # fmt: skip
        for column, cell in zip(COLUMNS, row, strict=True):
            columns[column].append(cell)
    return columns
