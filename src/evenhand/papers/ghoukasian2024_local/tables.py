"""The tables of ghoukasian2024, chapter 5: ours of the studies, and ours beside the printed 5.1 to 5.4."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.papers import rules
from evenhand.papers.claims import CONTRADICTED, UNCHECKED, Checked, number_text
from evenhand.papers.figures import Figure, count_repeats, draw_measures
from evenhand.papers.ghoukasian2024_local import projection
from evenhand.papers.ghoukasian2024_local.plans import (
    BUDGETED,
    DATA,
    GRR,
    LABELS,
    MEASURES,
    MECHANISMS,
    OPT,
    SS,
    way_of,
)
from evenhand.papers.ghoukasian2024_local.projection import DIVERGENCES, KINDS, SETS, TRIALS
from evenhand.papers.paper import read_printed, read_toml
from evenhand.papers.rules import (
    ERRORS_IN_TABLE,
    FEWEST,
    Control,
    group_rates,
    mean_of,
    quoted,
    rank_correlation,
)
from evenhand.papers.tables import NO_PUBLISHED, columns_of, setting_cells, table_row
from evenhand.papers.trials import estimate_mean
from evenhand.report.charts.plots import Plot, Series
from evenhand.report.marks import Axis, Line, Panel
from evenhand.study.page.wording import mark
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.tables import TableRow
    from evenhand.papers.trials import Records, Values
    from evenhand.report.page import Chart
    from evenhand.study.results.results import Results

EO = "eo"  # the equal-opportunity gap: the largest difference of true positive rates between two groups

GAPS = ("sp_gap", EO)
UTILITY = ("acc", "f1")

NONE = "none"  # no protection, as a mechanism among the others
SHARE = (0.0, 1.0)  # where accuracies and gaps lie
# Up to and from which epsilon the thesis's words "smaller" and "larger" are taken to go
SMALL, LARGE = Fraction(1, 2), Fraction(4)


def epsilons(
    results: Results, *, least: Fraction = Fraction(0), most: Fraction | float = math.inf
) -> tuple[Fraction, ...]:
    """Return the epsilons of a study between two limits."""
    task: Any = results.plan.task
    return tuple(each for each in sorted(task.epsilons) if least <= each <= most)


def limits(results: Results, which: str) -> dict[str, Any]:
    """Return the limits of all, small, large or only the last epsilons of a study."""
    every = {"small": {"most": SMALL}, "large": {"least": LARGE}, "last": {"least": epsilons(results)[-1]}}
    return every.get(which, {})


def at(results: Results, way: str, epsilon: Fraction | None) -> Setting:
    """Return the setting of a mechanism at an epsilon; the unprotected one for :data:`NONE`."""
    if way == NONE:
        return Setting()
    return next(
        each
        for each in results.settings
        if each.is_protected and each.epsilon == epsilon and way_of(each) == way
    )


def values(results: Results, setting: Setting, measure: str) -> Values:
    """Return a measure of a setting, one value per repeat; :data:`EO` is made of the groups' rates.

    In a repeat where a group has no positive label in the test rows, that gap is undefined.
    """
    if measure == EO:
        rates = group_rates(results, setting, "tpr")
        gap: Values = rates.max(axis=1) - rates.min(axis=1)
        return gap
    return rules.values(results, setting, measure)


def smaller(
    results: Results,
    way: str,
    others: Sequence[str],
    measures: Sequence[str],
    *,
    times: float = 1.0,
    by: float = 0.0,
    **limits: Fraction,
) -> list[Estimated]:
    """Return by how much measures of a mechanism are below `times` those of others, less `by`.

    There is one for each epsilon between the limits, other mechanism and measure.
    """
    return [
        mean_of(results, _lead(results, way, other, epsilon, measure, times=times) - by)
        for epsilon in epsilons(results, **limits)
        for other in others
        for measure in measures
    ]


def _lead(
    results: Results, way: str, other: str, epsilon: Fraction, measure: str, *, times: float = 1.0
) -> Values:
    own, against = (values(results, at(results, each, epsilon), measure) for each in (way, other))
    return times * against - own


def widening(results: Results, way: str, others: Sequence[str], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much a mechanism's lead at each large epsilon is ahead of that at the smallest one."""
    first = epsilons(results)[0]
    lead = partial(_lead, results, way)
    return [
        mean_of(results, lead(other, epsilon, measure) - lead(other, first, measure))
        for epsilon in epsilons(results, least=LARGE)
        for other in others
        for measure in measures
        if first <= SMALL
    ]


# The gaps: of predicted positives, and of true or false positive rates, whichever is larger
PREDICTED = {"sp_gap": "Statistical-parity gap", "eo_gap": "Equalised-odds gap"}

_FEWEST = 4


class Predicted(NamedTuple):
    """One setting: the data unfairness of its reports, and the gaps after training."""

    way: str
    epsilon: float | None
    unfairness: float
    runs: Values

    @property
    def words(self) -> str:
        """What the setting is, for the tip of a mark."""
        if self.epsilon is None:
            return "unprotected"
        return f"{LABELS[self.way]}, \N{GREEK SMALL LETTER EPSILON} = {self.epsilon:g}"


def record_of(evidence: Evidence, name: str) -> Mapping[str, Any] | None:
    """Return the record of an experiment's mechanisms, or None if it was not made."""
    found = evidence.trials.get(MECHANISMS, {}).values()
    return next((record for record in found if record["name"] == name), None)


def predictions(results: Results, record: Mapping[str, Any], measure: str) -> list[Predicted]:
    """Return every setting of a study, the unprotected one first."""
    ways = [(NONE, None), *((way, each) for way in (GRR, SS, OPT, BUDGETED) for each in epsilons(results))]
    found = []
    for way, epsilon in ways:
        amount = None if epsilon is None else float(epsilon)
        told = record["true"] if amount is None else record["ways"][way][f"{amount:g}"]
        runs = values(results, at(results, way, epsilon), measure)
        found.append(Predicted(way, amount, told["ratio"], runs))
    return found


def correlation(results: Results, record: Mapping[str, Any], measure: str) -> Estimated:
    """Return the rank correlation of data unfairness and gap over all settings, averaged over repeats.

    Each repeat has its own correlation, so that the interval covers what repeats vary. NaN where there are
    fewer than four settings.
    """
    listed = predictions(results, record, measure)
    across = [each.unfairness for each in listed]
    gaps = np.array([each.runs for each in listed])
    found = np.full(gaps.shape[1], np.nan)
    for repeat, gap in enumerate(gaps.T):
        if len(listed) >= _FEWEST and np.isfinite(gap).all() and np.ptp(gap) > 0:
            found[repeat] = rank_correlation(across, gap)
    return mean_of(results, found, within=(-1.0, 1.0))


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
    _, kind, lines = TABLES[table]
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
            found.append(Row(line, measure, replace(checked, paper_value=printed)))
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
        for measure in (*MEASURES, EO, "eo_gap"):
            mean = mean_of(results, values(results, setting, measure), within=SHARE)
            if mean.runs:
                yield table_row(name, name, "tpr_gap" if measure == EO else measure, mean, **cells)


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
        record = record_of(evidence, name)
        for measure in PREDICTED if record is not None else ():
            found = correlation(results, record or {}, measure)
            cells: TableRow = {"mechanism": "all"}
            cells["note"] = f"rank correlation of data unfairness and {measure}, mean over repeats"
            if found.runs:
                yield table_row("prediction", name, f"correlation with {measure}", found, **cells)


def _printed(table: str, records: Records) -> Iterator[TableRow]:
    for line, measure, checked in compare_table(table, records):
        at = f"at a gap of {line.gap:.4f}; " if line.method in DIVERGENCES else ""
        yield table_row(
            table, TABLES[table][0], measure, checked.ours,
            mechanism=_METHODS[line.method], epsilon=float(line.epsilon) if line.method == "opt" else None,
            paper=checked.paper_value, verdict=checked.verdict, note=f"{at}{checked.why}",
        )  # fmt: skip


def _matched(name: str, records: Records) -> Iterator[TableRow]:
    """Yield both projections at OPT's gap: chosen on test rows as in the thesis and on training rows."""
    for kind in KINDS:
        for epsilon, divergence, points in projection.at_gaps(records, kind):
            own = projection.of_opt(records, epsilon, "acc")
            place: TableRow = {"mechanism": _METHODS[divergence], "epsilon": float(epsilon)}
            for how, point in points.items():
                numbers = {
                    "acc": point.acc, kind: point.gap, "acc of OPT minus this": own - point.acc,
                    "tolerance": point.tolerance, "CPU seconds": point.seconds,
                }  # fmt: skip
                note = f"{kind} of OPT at this epsilon, matched on the {how}"
                for measure, runs in numbers.items():
                    yield table_row("matched", name, measure, estimate_mean(runs), **place, note=note)


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of the studies that were run."""
    studies = evidence.studies.items()
    drawn = [measures_figure(name, results, place) for name, results in studies for place in (0, 1)]
    drawn.sort(key=lambda chart: int(chart.name.rpartition(".")[2]))
    records = {name: (results, record_of(evidence, name)) for name, results in studies}
    known = {name: (results, record) for name, (results, record) in records.items() if record is not None}
    return [*drawn, *(unfairness_figure(known, measure) for measure in PREDICTED if known)]


def measures_figure(name: str, results: Results, place: int) -> Chart:
    """Return two measures against epsilon, the thesis's mechanism above and our default below."""
    stored = read_toml(__package__, "figures.toml")
    rows, words, number = stored["rows"], stored[("utility", "fairness")[place]], DATA[name].figures[place]
    panels = [
        Panel(row, Axis(title), _lines(results, measure, way), mark(_mean(results, NONE, None, measure)))
        for way, row in rows.items()
        for measure, title in words["measures"].items()
    ]
    values = {"number": number, "title": DATA[name].title, "repeats": count_repeats(results)}
    return draw_measures(words, panels, f"fig{number}", **values)


def _lines(results: Results, measure: str, ours: str) -> list[Line]:
    amounts = epsilons(results)
    return [
        Line(
            LABELS[way],
            [float(each) for each in amounts],
            [mark(_mean(results, way, each, measure)) for each in amounts],
        )
        for way in (GRR, SS, ours)
    ]


def _mean(results: Results, way: str, epsilon: Any, measure: str) -> Estimated:
    setting = at(results, way, epsilon)
    return mean_of(results, values(results, setting, measure), within=SHARE)


def unfairness_figure(known: Mapping[str, tuple[Results, Mapping[str, Any]]], measure: str) -> Chart:
    """Return the gap of every setting against the data unfairness of its reports, a panel per experiment."""
    figure, title = Figure(__package__, "unfairness"), PREDICTED[measure]
    plots = []
    for name, both in known.items():
        listed = predictions(*both, measure)
        series = []
        for way, look in figure.looks.items():
            own = [each for each in listed if each.way == way and np.isfinite(each.runs).any()]
            across, up = [each.unfairness for each in own], [float(np.nanmean(each.runs)) for each in own]
            tips = [
                f"{each.words}: data unfairness {each.unfairness:.3f}, gap {gap:.3f}"
                for each, gap in zip(own, up, strict=True)
            ]
            series.append(Series(look, across, up, tips))
        said = _correlation_words(correlation(*both, measure))
        words = (DATA[name].title, said, "data unfairness of reports")
        plots.append(Plot(words, series, margins=(52, 52, 22, 46)))
    stem = f"unfairness-{measure.replace('_', '-')}"
    return figure.chart(plots, columns=min(3, len(plots)), name=stem, title=title)


def _correlation_words(found: Estimated) -> str:
    said = f"\N{GREEK SMALL LETTER RHO} = {number_text(found.value)}"
    if found.low is None or found.high is None:
        return said
    return f"{said} ({number_text(found.low)} to {number_text(found.high)})"
