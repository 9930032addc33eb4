"""The tables of the reproduction of zhu2023: printed, drawn again and exact, and what the figures show."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import AGREES, CONTRADICTED, METHOD_UNKNOWN, OTHER_DATA
from evenhand.papers.figures import Figure
from evenhand.papers.paper import fill_caption, read_toml
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023 import experiments
from evenhand.papers.zhu2023.data import (
    ANONYMITY,
    DATA,
    EPSILONS,
    EXACT,
    EXTRA,
    MECHANISMS,
    READINGS,
    SHARES,
    SWAPPING,
    THRESHOLDS,
    exact_record,
    number_of,
    of_table,
    printed_number,
    runs,
)
from evenhand.report.charts._panels import PHONE, panel_width, title_words
from evenhand.report.charts.plots import Plot, Series
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis
from evenhand.report.page import Chart
from evenhand.report.scales import Linear

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.tables import TableRow
    from evenhand.report.charts.plots import Look

AS_PRINTED, EXACTLY, AS_SHIPPED = "as in the paper", "exact", "as shipped"
AS_IPUMS = "race coded as in IPUMS"
"""What a row's strategy is: the paper's method on our data and with its coding of race, without randomness,
and evenhand's own mechanism."""

_MEASURES = {"l1": "l1_bias", "alpha": "alpha"}
_DELTAS = {
    SWAPPING: "at every epsilon, if only the quasi-identifier may change; else 1",
    ANONYMITY: "at every epsilon, for the sample itself",
}

_row = partial(table_row, strategy=AS_PRINTED, shorten=lambda value: round(value, 10))


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return tables 1 to 3, the numbers behind the figures, and the accuracies."""
    found: dict[str, list[TableRow]] = {}
    for name, source in DATA.items():
        if {f"tables-{name}", EXACT} <= evidence.trials.keys():
            table = source.table.lower().replace(" ", "-")
            found[table] = [
                row
                for text, mechanism in product(EPSILONS, (*MECHANISMS, *EXTRA))
                for row in _block(evidence, name, mechanism, text, partial(_row, table, name))
            ]
        for kind, make in (("figures", _figures), ("classification", _accuracies)):
            table = f"{kind}-{name}"
            if table in evidence.trials:
                found[table] = list(make(evidence, table, partial(_row, table, name)))
    return {name: columns_of(rows) for name, rows in found.items()}


def _block(evidence: Evidence, name: str, mechanism: str, text: str, row: Any) -> Iterator[TableRow]:
    """Yield every number of a mechanism at an epsilon."""
    row = partial(row, mechanism=mechanism, epsilon=float(text))
    record = exact_record(evidence, name)
    exact = record["numbers"].get(mechanism, {}).get(text, {})
    number = partial(number_of, evidence, name, mechanism, text)
    if mechanism in MECHANISMS:
        yield row("delta", exact["delta"], **_verdict(number("delta")))
    if "exact delta" in exact:
        note = _DELTAS.get(mechanism, "exact at this epsilon, when one person is replaced")
        yield row("delta", exact["exact delta"], strategy=EXACTLY, note=note)
    coded = mechanism in MECHANISMS and mechanism != ANONYMITY and f"ipums-{name}" in evidence.trials
    for measure, word in _MEASURES.items():
        if mechanism in EXTRA:
            mean = estimate_mean(of_table(evidence, name, mechanism, text, measure))
            yield row(word, mean, note=EXTRA[mechanism])
        else:
            own, other = number(measure), number(measure, kind="ipums") if coded else None
            cells = _verdict(own) | {"paper": printed_number(name, mechanism, text, measure)[1]}
            if mechanism == ANONYMITY:
                cells["verdict"] = METHOD_UNKNOWN
            elif own.verdict == CONTRADICTED and other and other.verdict == AGREES:
                cells["verdict"] = OTHER_DATA
            yield row(word, own.ours, **cells)
            if other:
                yield row(word, other.ours, strategy=AS_IPUMS, **_verdict(other))
        if measure in exact:
            yield row(word, exact[measure], strategy=EXACTLY, note="without any randomness")
    for measure, value in record.get("shipped", {}).get(mechanism, {}).get(text, {}).items():
        word = _MEASURES.get(measure, measure)
        yield row(word, value, strategy=AS_SHIPPED, note="evenhand.release, exact")


def _verdict(checked: Any) -> TableRow:
    return {"paper": checked.paper_value, "verdict": checked.verdict, "note": checked.why}


def _figures(evidence: Evidence, trials: str, row: Any) -> Iterator[TableRow]:
    first = next(iter(evidence.trials[trials].values()))
    for method, lines in first.items():
        for at, found in lines.items():
            for line, measure in product(found, ("error", "alpha")):
                mean = estimate_mean(runs(evidence, trials, method, at, line, measure))
                yield row(measure, mean, **_place(method, at, line))


def _place(method: str, at: str, line: str) -> TableRow:
    """Return the mechanism, the epsilon and the note of a line of a figure at a place."""
    epsilon, _, against = line.partition(", ")
    if method == "swapping" and at != "epsilon":
        return {"mechanism": method, "note": f"{line} % swapped; {at}"}
    note = "" if method == "swapping" else f"k = {at}"
    if epsilon not in EPSILONS:
        return {"mechanism": method, "note": note}
    more = f"{note}; against {against}" if against else note
    return {"mechanism": f"DP {method}", "epsilon": float(epsilon), "note": more}


def _accuracies(evidence: Evidence, trials: str, row: Any) -> Iterator[TableRow]:
    first = next(iter(evidence.trials[trials].values()))
    for setting in experiments.SETTINGS:
        note = "with the area as a feature" if setting == "areas" else ""
        for mechanism, found in first[setting].items():
            for text in found:
                mean = estimate_mean(runs(evidence, trials, setting, mechanism, text))
                epsilon = float(text) if text else None
                yield row("acc", mean, mechanism=mechanism, epsilon=epsilon, note=note)


_ROW, _APART = 34.0, 6.0
_ROWS = [
    *((each, EPSILONS) for each in MECHANISMS),
    *((each, ("",)) for each in experiments.ORIGINALS.values()),
]


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of what was run, in the order of the paper."""
    drawn = []
    for name in DATA:
        if f"figures-{name}" in evidence.trials:
            drawn += [curves_figure(evidence, name, measure) for measure in ("error", "alpha")]
        if f"classification-{name}" in evidence.trials:
            drawn.append(accuracy_figure(evidence, name))
    return sorted(drawn, key=lambda chart: chart.name)


def _columns(names: tuple[str, ...], rows: list[Any]) -> dict[str, list[Any]]:
    return {column: [row[place] for row in rows] for place, column in enumerate(names)}


def curves_figure(evidence: Evidence, name: str, measure: str) -> Chart:
    """Return errors or alphas of the three methods, originals dashed and counterparts by epsilon."""
    figure, source = Figure(__package__, "curves"), DATA[name]
    number = source.errors if measure == "error" else source.alphas
    words = read_toml(__package__, "figures.toml")["measures"][measure]
    plots, rows = [], []
    for (title, axis), method in zip(figure.panels, ("suppression", "swapping", "k-anonymity"), strict=True):
        across = SHARES if method == "swapping" else THRESHOLDS
        lines = []
        for key, values in _curves(evidence, name, method, measure).items():
            look, y = figure.looks[key], [each.value for each in values]
            tips = [f"{look.label}, {x:g}: {value:,.1f}" for x, value in zip(across, y, strict=True)]
            lines.append(Series(look, across, y, tips, says=tips[0]))
            rows += [
                (title, axis, key, x, each.value, each.low, each.high)
                for x, each in zip(across, values, strict=True)
            ]
        lines.sort(key=lambda series: series.look.dash)  # dashed lines are on top
        said, ticks = (title, words["title"].lower(), axis), tuple(map(float, across))
        plots.append(Plot(said, lines, from_zero=True, ticks=ticks, margins=(52, 52, 10, 46)))
    data = _columns(("method", "axis", "line", "at", measure, "low", "high"), rows)
    return figure.chart(plots, name=f"fig{number}", data=data, number=number, data_set=source.title, **words)


def _curves(evidence: Evidence, name: str, method: str, measure: str) -> dict[str, list[Estimated]]:
    """Return the means of each line; the counterpart of swapping has no share, and so is level."""

    def mean(at: str, line: str) -> Estimated:
        return estimate_mean(runs(evidence, f"figures-{name}", method, at, line, measure))

    if method != "swapping":
        return {line: [mean(str(k), line) for k in THRESHOLDS] for line in (experiments.ORIGINAL, *EPSILONS)}
    originals = {reading: [mean(reading, str(share)) for share in SHARES] for reading in READINGS}
    return originals | {text: [mean("epsilon", text)] * len(SHARES) for text in EPSILONS}


def accuracy_figure(evidence: Evidence, name: str) -> Chart:
    """Return the accuracies of classifiers, a row for each mechanism and a mark for each epsilon."""
    figure, source = Figure(__package__, "accuracy"), DATA[name]
    settings = figure.stored["titles"]
    pictures = [
        "".join(
            _draw_accuracies(evidence, name, setting, title, width) for setting, title in settings.items()
        )
        for width in (panel_width(len(settings)), PHONE)
    ]
    rows = [
        (setting, mechanism, float(text) if text else None, mean.value, mean.low, mean.high)
        for setting in settings
        for (mechanism, text), mean in _means(evidence, name, setting).items()
    ]
    data = _columns(("setting", "mechanism", "epsilon", "acc", "low", "high"), rows)
    alt, caption = fill_caption(figure.stored, number=source.accuracy, data_set=source.title)
    wide, narrow = pictures
    file = f"fig{source.accuracy.replace(', ', '-')}"
    return Chart(file, wide, narrow, alt, caption, data, figure.legend, columns=len(settings))


def _means(evidence: Evidence, name: str, setting: str) -> dict[tuple[str, str], Estimated]:
    of_setting = partial(runs, evidence, f"classification-{name}", setting)
    return {
        (mechanism, text): estimate_mean(of_setting(mechanism, text))
        for mechanism, texts in _ROWS
        for text in texts
    }


def _draw_accuracies(evidence: Evidence, name: str, setting: str, title: str, width: float) -> str:
    margins = Margins(132, 58, 14, 28)
    drawing = Drawing(width, margins.top + margins.bottom + len(_ROWS) * _ROW, margins, grid="x")
    found, looks = _means(evidence, name, setting), Figure(__package__, "accuracy").looks
    base, most = (
        runs(evidence, f"classification-{name}", setting, each, "").mean()
        for each in (experiments.BASELINE, experiments.MAJORITY)
    )
    values = [base, most, *(each.value for each in found.values())]
    drawing.x = Linear.over(values, pixels=drawing.plot[0], most_ticks=6, within=(0, 1))
    drawing.words(*title_words(drawing, Axis(title, "on the true people"), cut=drawing.x.cut))
    height = drawing.plot[1]
    drawing.rules([Segment(base, 0, base, height)], stroke="ink2", width=1.3, dash=(5, 4))
    drawing.rules([Segment(most, 0, most, height)], stroke="grey", width=1.2, dash=(1, 3))
    for place, (mechanism, texts) in enumerate(_ROWS):
        label, middle = MECHANISMS.get(mechanism, mechanism), (place + 0.5) * _ROW
        drawing.words(Word(-10, middle + 4, label, "right", "ink2", halo=False))
        for step, text in enumerate(texts):
            lower = (step - (len(texts) - 1) / 2) * _APART
            tip = f"{label}{f', epsilon = {text}' if text else ''}"
            _mark(drawing, found[mechanism, text], tip, looks[text], middle + lower)
    return drawing.svg()


def _mark(drawing: Drawing, each: Estimated, label: str, look: Look, y: float) -> None:
    scale: Any = drawing.x
    if each.low is not None and each.high is not None:
        ends = Segment(max(each.low, scale.low), y, min(each.high, scale.high), y)
        drawing.rules([ends], stroke=look.edge, width=1.2)
    dot = Dot(each.value, y, f"{label}: {each.value:.4f}")
    drawing.dots([dot], shape=look.shape, size=44, fill=look.colour, stroke=look.edge, stroke_width=1.3)
