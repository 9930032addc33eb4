"""ghoukasian2024, chapter 5: a local mechanism whose reports tell least about the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import UNCHECKED
from evenhand.papers.ghoukasian2024_local import checks, matched
from evenhand.papers.ghoukasian2024_local.against import AGAINST
from evenhand.papers.ghoukasian2024_local.claims import FIGURE_CLAIMS
from evenhand.papers.ghoukasian2024_local.figures import draw_figures
from evenhand.papers.ghoukasian2024_local.mechanisms import MECHANISMS, mechanism_trials
from evenhand.papers.ghoukasian2024_local.notes import DEPARTURES, DESIGN_NOTES
from evenhand.papers.ghoukasian2024_local.plans import LABELS, MEASURES, studies, way_of
from evenhand.papers.ghoukasian2024_local.prediction import PREDICTED, correlation, record_of
from evenhand.papers.ghoukasian2024_local.projection import (
    DIVERGENCES,
    EPSILONS,
    KINDS,
    SETS,
    projection_trials,
)
from evenhand.papers.ghoukasian2024_local.tables import TABLES, compared
from evenhand.papers.ghoukasian2024_local.theory import THEORY
from evenhand.papers.paper import Paper
from evenhand.papers.tables import COLUMNS, NO_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Trials
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

    Row = dict[str, Any]

__all__ = ["PAPER"]

_DIGITS = 6
_METHODS = {"none": "none", "opt": "OPT", "kl": "Fair Projection, KL", "ce": "Fair Projection, CE"}
_UNFAIR = {
    "ratio": "data unfairness, ratio",
    "difference": "data unfairness, difference",
    "error": "P(Z != A)",
}


def trials(design: str) -> tuple[Trials, ...]:
    """Return what is computed besides the studies: data unfairness, and tables 5.1 to 5.4."""
    return (mechanism_trials(design), *projection_trials(design))


# --- tables ---------------------------------------------------------------------------------------


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return the means of every study, the data unfairness of reports, and tables 5.1 to 5.4 beside ours."""
    found = {name: list(_means(name, results)) for name, results in evidence.studies.items()}
    found[MECHANISMS] = [
        row for record in evidence.trials.get(MECHANISMS, {}).values() for row in _unfairness(record)
    ]
    found["prediction"] = list(_prediction(evidence))
    for table, (name, _, _) in TABLES.items():
        found[table] = list(_printed(table, evidence.trials[name])) if name in evidence.trials else []
    found["matched"] = [
        row for name in SETS if name in evidence.trials for row in _matched(name, evidence.trials[name])
    ]
    return {name: _columns(rows) for name, rows in found.items() if rows}


def _columns(rows: list[Row]) -> dict[str, list[Any]]:
    return {
        column: [row.get(column, "" if column not in _BLANK else None) for row in rows] for column in COLUMNS
    }


_BLANK = {"epsilon", "ours", "standard_error", "runs", "paper"}


def _row(table: str, dataset: str, measure: str, ours: Estimated | float | None, **more: Any) -> Row:
    found: Row = {
        "table": table, "dataset": dataset, "mechanism": "none", "split": "none", "strategy": "none",
        "measure": measure, "verdict": UNCHECKED, **more,
    }  # fmt: skip
    if ours is None or isinstance(ours, float):
        return {**found, "ours": None if ours is None else round(ours, _DIGITS)}
    error = ours.standard_error
    numbers = {"ours": round(ours.value, _DIGITS), "runs": ours.runs}
    return {**found, **numbers, "standard_error": None if error is None else round(error, _DIGITS)}


def _means(name: str, results: Results) -> Iterator[Row]:
    for setting in results.settings:
        way = way_of(setting) if setting.is_protected else ""
        for measure in (*MEASURES, checks.EO, "eo_gap"):
            mean = checks.mean_of(results, checks.values(results, setting, measure), within=checks.SHARE)
            if mean.runs:
                yield _row(
                    name, name, "tpr_gap" if measure == checks.EO else measure, mean,
                    mechanism=LABELS.get(way, "none"), strategy=setting.option("strategy"),
                    epsilon=None if setting.epsilon is None else float(setting.epsilon), note=NO_PUBLISHED,
                )  # fmt: skip


def _unfairness(record: Mapping[str, Any]) -> Iterator[Row]:
    note = "exact, from the frequencies of all rows"
    for key in ("ratio", "difference"):
        yield _row(MECHANISMS, record["name"], _UNFAIR[key], record["true"][key], note=note)
    for way, found in record["ways"].items():
        for epsilon, told in found.items():
            for key, measure in _UNFAIR.items():
                if told[key] is not None:
                    yield _row(
                        MECHANISMS, record["name"], measure, told[key],
                        mechanism=LABELS[way], strategy="single", epsilon=float(epsilon), note=note,
                    )  # fmt: skip


def _prediction(evidence: Evidence) -> Iterator[Row]:
    for name, results in evidence.studies.items():
        record = record_of(evidence, name)
        for measure in PREDICTED if record is not None else ():
            found = correlation(results, record or {}, measure)
            note = f"rank correlation of data unfairness and {measure}, mean over repeats"
            if found.runs:
                yield _row(
                    "prediction", name, f"correlation with {measure}", found, mechanism="all", note=note
                )


def _printed(table: str, records: Mapping[int, Mapping[str, Any]]) -> Iterator[Row]:
    for row in compared(table, records):
        line, checked = row.printed, row.checked
        at = f"at a gap of {line.gap:.4f}; " if line.method in DIVERGENCES else ""
        yield _row(
            table, row.trials, row.measure, checked.ours,
            mechanism=_METHODS[line.method], epsilon=float(line.epsilon) if line.method == "opt" else None,
            paper=checked.paper_value, verdict=checked.verdict, note=f"{at}{checked.why}",
        )  # fmt: skip


def _matched(name: str, records: Mapping[int, Mapping[str, Any]]) -> Iterator[Row]:
    """Yield both projections at OPT's gap: chosen on test rows as in the thesis and on training rows."""
    for kind in KINDS:
        for epsilon in EPSILONS:
            own = matched.of_opt(records, epsilon, "acc")
            target = float(matched.of_opt(records, epsilon, kind).mean())
            for divergence in DIVERGENCES:
                points = {
                    "mean test gap": matched.matched_on_test(records, kind, divergence, target),
                    "training rows": matched.matched_on_training(records, kind, divergence, epsilon),
                }
                for how, point in points.items():
                    numbers = {
                        "acc": point.acc, kind: point.gap, "acc of OPT minus this": own - point.acc,
                        "tolerance": point.tolerance, "CPU seconds": point.seconds,
                    }  # fmt: skip
                    for measure, runs in numbers.items():
                        yield _row(
                            "matched", name, measure, matched.estimated(runs),
                            mechanism=_METHODS[divergence], epsilon=float(epsilon),
                            note=f"{kind} of OPT at this epsilon, matched on the {how}",
                        )  # fmt: skip


PAPER = Paper(
    name="ghoukasian2024-local",
    title="Local DP as a Pre-processing Technique for Fairness in Classification",
    citation=(
        "Ghoukasian (2024), Classification Algorithms with Differential Privacy and Fairness Guarantees, "
        "chapter 5, thesis, McMaster University"
    ),
    studies=studies,
    claims=(*THEORY, *FIGURE_CLAIMS, *AGAINST),
    tables=build_tables,
    figures=draw_figures,
    trials=trials,
    designs=DESIGN_NOTES,
    departures=DEPARTURES,
)
"""The chapter, ready to run."""
