"""The tables of ghoukasian2024, chapter 5: ours of the studies, and ours beside the printed 5.1 to 5.4."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.papers.claims import CONTRADICTED, UNCHECKED, Checked
from evenhand.papers.comparisons import mean_of
from evenhand.papers.ghoukasian2024_local import comparisons, projection
from evenhand.papers.ghoukasian2024_local.mechanisms import MECHANISMS
from evenhand.papers.ghoukasian2024_local.plans import LABELS, MEASURES, way_of
from evenhand.papers.ghoukasian2024_local.projection import DIVERGENCES, EPSILONS, KINDS, SETS, TRIALS
from evenhand.papers.rules import ERRORS_IN_TABLE, FEWEST, Control, quoted
from evenhand.papers.stored import read_printed
from evenhand.papers.tables import NO_PUBLISHED, columns_of, setting_cells, table_row
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.papers.claims import Evidence
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

    Records = Mapping[int, Mapping[str, Any]]
    TableRow = dict[str, Any]

_SAME = 1e-6
_METHODS = {"none": "none", "opt": "OPT", "kl": "Fair Projection, KL", "ce": "Fair Projection, CE"}
_UNFAIR = {
    "ratio": "data unfairness, ratio",
    "difference": "data unfairness, difference",
    "error": "P(Z != A)",
}


class Printed(NamedTuple):
    """One line of a table, of the method none, opt, kl or ce.

    The epsilon of a projection is that of the line of OPT whose gap it was matched with.
    """

    method: str
    epsilon: str
    acc: float
    gap: float


class Row(NamedTuple):
    """A printed number beside ours."""

    table: str
    trials: str
    printed: Printed
    measure: str
    checked: Checked


def _read_tables() -> dict[str, tuple[str, str, tuple[Printed, ...]]]:
    found: dict[str, tuple[str, str, tuple[Printed, ...]]] = {}
    for row in read_printed(__package__, "tables"):
        line = Printed(row["method"], row["epsilon"], float(row["acc"]), float(row["gap"]))
        before = found.get(row["table"], ("", "", ()))[2]
        found[row["table"]] = (row["trials"], row["kind"], (*before, line))
    return found


TABLES = _read_tables()
"""Each table's trials, kind of gap and lines.

Tables 5.3 and 5.4 have two pairs of projections for three lines of OPT: they are taken to belong to the first
and the last.
"""


def compare_table(table: str, records: Records) -> list[Row]:
    """Return every number of a table beside ours.

    A projection's accuracy is that at the printed gap: its tolerance is such that the mean gap of the test
    rows is the printed one, so the gap itself is no number to check. A curve that does not reach it has no
    accuracy to compare; a few splits may be to blame. The control is what no intervention gives.
    """
    trials, kind, lines = TABLES[table]
    none = next(line for line in lines if line.method == "none")
    found = []
    for line in lines:
        for measure in ("acc", kind) if line.method in {"none", "opt"} else ("acc",):
            ours = _ours(records, kind, line, measure)
            printed, nothing = ((each.acc if measure == "acc" else each.gap) for each in (line, none))
            why = "Our curve does not reach the printed gap."
            checked = Checked(UNCHECKED if len(records) < FEWEST else CONTRADICTED, why)
            if ours is not None:
                before = float(projection.of_none(records, measure).mean())
                control = None if line is none else Control(before, nothing)
                checked = quoted(
                    ours, printed, decimals=4, control=control, trials=TRIALS, errors=ERRORS_IN_TABLE
                )
            found.append(Row(table, trials, line, measure, replace(checked, paper_value=printed)))
    return found


def _ours(records: Records, kind: str, line: Printed, measure: str) -> Estimated | None:
    """Return our number; nothing if our curve has no point at the printed gap."""
    if line.method == "none":
        return estimate_mean(projection.of_none(records, measure))
    if line.method == "opt":
        return estimate_mean(projection.of_opt(records, line.epsilon, measure))
    point = projection.matched_on_test(records, kind, line.method, line.gap)
    return estimate_mean(point.acc) if abs(point.gap.mean() - line.gap) < _SAME else None


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
    return {name: columns_of(rows) for name, rows in found.items() if rows}


def _means(name: str, results: Results) -> Iterator[TableRow]:
    for setting in results.settings:
        cells = setting_cells(setting) | {"split": "none", "note": NO_PUBLISHED}
        cells["mechanism"] = LABELS[way_of(setting)] if setting.is_protected else "none"
        for measure in (*MEASURES, comparisons.EO, "eo_gap"):
            mean = mean_of(results, comparisons.values(results, setting, measure), within=comparisons.SHARE)
            if mean.runs:
                yield table_row(
                    name, name, "tpr_gap" if measure == comparisons.EO else measure, mean, **cells
                )


def _unfairness(record: Mapping[str, Any]) -> Iterator[TableRow]:
    note = "exact, from the frequencies of all rows"
    for key in ("ratio", "difference"):
        yield table_row(MECHANISMS, record["name"], _UNFAIR[key], record["true"][key], note=note)
    for way, found in record["ways"].items():
        for epsilon, told in found.items():
            for key, measure in _UNFAIR.items():
                if told[key] is not None:
                    yield table_row(
                        MECHANISMS, record["name"], measure, told[key],
                        mechanism=LABELS[way], strategy="single", epsilon=float(epsilon), note=note,
                    )  # fmt: skip


def _prediction(evidence: Evidence) -> Iterator[TableRow]:
    for name, results in evidence.studies.items():
        record = comparisons.record_of(evidence, name)
        for measure in comparisons.PREDICTED if record is not None else ():
            found = comparisons.correlation(results, record or {}, measure)
            cells: TableRow = {"mechanism": "all"}
            cells["note"] = f"rank correlation of data unfairness and {measure}, mean over repeats"
            if found.runs:
                yield table_row("prediction", name, f"correlation with {measure}", found, **cells)


def _printed(table: str, records: Mapping[int, Mapping[str, Any]]) -> Iterator[TableRow]:
    for row in compare_table(table, records):
        line, checked = row.printed, row.checked
        at = f"at a gap of {line.gap:.4f}; " if line.method in DIVERGENCES else ""
        yield table_row(
            table, row.trials, row.measure, checked.ours,
            mechanism=_METHODS[line.method], epsilon=float(line.epsilon) if line.method == "opt" else None,
            paper=checked.paper_value, verdict=checked.verdict, note=f"{at}{checked.why}",
        )  # fmt: skip


def _matched(name: str, records: Mapping[int, Mapping[str, Any]]) -> Iterator[TableRow]:
    """Yield both projections at OPT's gap: chosen on test rows as in the thesis and on training rows."""
    for kind in KINDS:
        for epsilon in EPSILONS:
            own = projection.of_opt(records, epsilon, "acc")
            target = float(projection.of_opt(records, epsilon, kind).mean())
            for divergence in DIVERGENCES:
                points = {
                    "mean test gap": projection.matched_on_test(records, kind, divergence, target),
                    "training rows": projection.matched_on_training(records, kind, divergence, epsilon),
                }
                for how, point in points.items():
                    numbers = {
                        "acc": point.acc, kind: point.gap, "acc of OPT minus this": own - point.acc,
                        "tolerance": point.tolerance, "CPU seconds": point.seconds,
                    }  # fmt: skip
                    for measure, runs in numbers.items():
                        yield table_row(
                            "matched", name, measure, estimate_mean(runs),
                            mechanism=_METHODS[divergence], epsilon=float(epsilon),
                            note=f"{kind} of OPT at this epsilon, matched on the {how}",
                        )  # fmt: skip
