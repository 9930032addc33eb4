"""The tables of the reproduction of fioretto2021: the paper's method and exact numbers, in separate rows."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.figures import Figure
from evenhand.papers.fioretto2021 import data
from evenhand.papers.fioretto2021.allotment import (
    AS_PRINTED,
    BEST,
    EVENEST,
    OUTPUT,
    SHOWN,
    SHRUNK,
    inverse_excess,
)
from evenhand.papers.fioretto2021.data import (
    ALLOTMENT,
    AVERAGE,
    BOUNDS,
    CLAMP,
    COUNTIES,
    COUNTY_DRAWS,
    DRAWS,
    EPSILONS,
    LANGUAGE,
    LANGUAGE_EPSILONS,
    PLAIN,
    PROXIES,
    PROXY,
)
from evenhand.papers.fioretto2021.trials import INDEPENDENT, MODELS, ORIGINAL, PARTS, WHOLE
from evenhand.papers.paper import read_toml
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean
from evenhand.report.charts.plots import Plot, Series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence
    from evenhand.papers.tables import TableRow
    from evenhand.report.charts.plots import Look
    from evenhand.report.page import Chart

METHOD, EXACTLY = "as in the paper", "exact"
"""What a row's strategy is: the paper's method, or without randomness and with its constants put right."""

_MOST_LOST = 42_000
_WORDS = read_toml(__package__, "paper.toml")


def _row(dataset: str, measure: str, ours: Any, epsilon: str, **cells: Any) -> TableRow:
    told = {"mechanism": PLAIN, "strategy": EXACTLY, "epsilon": float(epsilon), **cells}
    return table_row("", dataset, measure, ours, shorten=lambda value: float(f"{value:.8g}"), **told)


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return Example 1, the numbers behind the figures, and those of the counties."""
    makers = {
        "example-1": (_example, {ALLOTMENT}),
        "allotment": (_allotment, {ALLOTMENT}),
        "draws": (_draws, {ALLOTMENT, DRAWS}),
        "language": (_language, {LANGUAGE}),
        "counties": (_counties, {COUNTY_DRAWS}),
        "proxies": (_proxies, {PROXIES}),
    }
    return {
        name: columns_of([{**row, "table": name} for row in make(evidence)])
        for name, (make, needs) in makers.items()
        if needs <= evidence.trials.keys()
    }


def _example(evidence: Evidence) -> Iterator[TableRow]:
    """Yield the numbers of Example 1 and section 4: printed, by the paper's formula, and exact."""
    bounds = {text: partial(data.check_number, paper=printed) for text, printed in BOUNDS.items()}
    amounts = {text: partial(data.check_amount, paper=float(printed)) for text, printed in AVERAGE.items()}
    dollars = "average misallocation, USD"
    formula, clamped = (
        "(4g) with its factor n; no 1/2 is lost",
        "mean absolute bias times the budget, clamped at 0",
    )
    for word, measure, way, mechanism, checks, note in (
        ("alpha", "alpha", AS_PRINTED, PLAIN, bounds, formula),
        (dollars, "average", CLAMP, CLAMP, amounts, clamped),
    ):
        for text in EPSILONS:
            ours = data.of_allotment(evidence, text, way, measure)
            cells: TableRow = {"mechanism": mechanism, "strategy": METHOD, "note": note}
            if text in checks:
                checked = checks[text](ours)
                cells |= {"paper": checked.paper_value, "verdict": checked.verdict}
            yield _row("students", word, ours, text, **cells)
            yield _row("students", word, data.of_allotment(evidence, text, PLAIN, measure), text)
    for text, (way, strategy) in product(EPSILONS, ((CLAMP, METHOD), (PLAIN, EXACTLY))):
        lost = data.of_allotment(evidence, text, way, "most lost")
        cells = {"mechanism": way, "strategy": strategy, "paper": float(_MOST_LOST) if way == CLAMP else None}
        note = "the epsilon of the printed number is not given"
        yield _row("students", "most lost, USD", lost, text, note=note, **cells)


def _allotment(evidence: Evidence) -> Iterator[TableRow]:
    """Yield every exact number about every way to allot."""
    for name, text in product(data.TABLES[: len(evidence.trials[ALLOTMENT])], EPSILONS):
        for way in data.allotment(evidence, name)["epsilons"][text]["summary"]:
            strategy = METHOD if way == AS_PRINTED else EXACTLY
            cells = {"mechanism": way, "strategy": strategy, "note": _WORDS["notes"].get(way, "")}
            for measure, word in _WORDS["measures"].items():
                yield _row(
                    name, word, data.of_allotment(evidence, text, way, measure, name=name), text, **cells
                )


def _draws(evidence: Evidence) -> Iterator[TableRow]:
    """Yield what the paper's simulation gives, beside what is exact."""
    lost, alpha = (_WORDS["measures"][measure] for measure in ("most lost", "alpha, New York"))
    for text in EPSILONS:
        for way in SHOWN:
            found, exact = data.drawn_biases(evidence, text, way), partial(_row, "students", epsilon=text)
            drawn = partial(exact, mechanism=way, strategy=METHOD)
            yield drawn(alpha, float(np.ptp(found)))
            yield exact(alpha, data.of_allotment(evidence, text, way, "alpha, New York"), mechanism=way)
            yield drawn(lost, -data.BUDGET * float(found.min()))
            for place in ("all", "New York"):
                mean = estimate_mean(data.drawn_errors(evidence, text, way, place=place))
                yield drawn(f"mean absolute error, {place}", mean)
        for way, places in data.allotment(evidence)["epsilons"][text]["error"].items():
            for place, value in places.items():
                yield _row("students", f"mean absolute error, {place}", value, text, mechanism=way)


def _language(evidence: Evidence) -> Iterator[TableRow]:
    for name in data.AREAS[: len(evidence.trials[LANGUAGE])]:
        inside = np.asarray(data.language(evidence, name)["covered"], dtype=bool)
        source = "simulated beyond the 187 determined counties" if name == "simulated" else "published counts"
        noises = (("1", METHOD), ("3", EXACTLY))
        places = product(noises, LANGUAGE_EPSILONS, (WHOLE, INDEPENDENT, *PARTS))
        for (touches, strategy), text, part in places:
            errors = data.area_errors(evidence, text, part, name=name, touches=touches)
            numbers = {
                "mean error": errors.mean(),
                "largest error": errors.max(),
                "alpha": np.ptp(errors),
                "mean error of the covered": errors[inside].mean(),
                "alpha of the covered": np.ptp(errors[inside]),
            }
            note = f"noise of scale {touches} / epsilon; {source}"
            for measure, value in numbers.items():
                yield _row(name, measure, float(value), text, mechanism=part, strategy=strategy, note=note)


def _counties(evidence: Evidence) -> Iterator[TableRow]:
    for text in LANGUAGE_EPSILONS:
        means, variances = (data.of_draws(evidence, COUNTY_DRAWS, text, key) for key in ("mean", "variance"))
        for place, county in enumerate(data.COUNTIES):
            row = partial(_row, county.name, epsilon=text, mechanism="ratio")
            principal = county.ratio * inverse_excess(1 / (float(text) * county.s))
            yield row("ratio", county.ratio)
            yield row("bias", estimate_mean(means[:, place] - county.ratio), strategy=METHOD)
            yield row("bias", principal, note="principal value; the mean is infinite")
            yield row("variance", estimate_mean(variances[:, place]), strategy=METHOD)


def _proxies(evidence: Evidence) -> Iterator[TableRow]:
    words = _WORDS["proxy_measures"].items()
    for text, model, (measure, word) in product(LANGUAGE_EPSILONS, (ORIGINAL, *MODELS), words):
        for group, runs in enumerate(data.of_proxies(evidence, text, model, measure).T, 1):
            cells = {"mechanism": model, "split": f"group {group}", "note": "exact in each grouping"}
            yield _row("simulated", word, estimate_mean(runs), text, strategy=METHOD, **cells)


_figure = partial(Figure, __package__)
_SHOWN = ("0.001", "0.01", "0.1")
_POWERS = [math.log10(float(text)) for text in EPSILONS]
_TENS = (-3.0, -2.0, -1.0)
_NEAR = 0.5
_SELECTED = 12
_MIDDLE = "0.1"


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of what was run, in the order of the paper."""
    figures = {
        _districts: {ALLOTMENT},
        _entitled: {LANGUAGE},
        _ratios: {LANGUAGE, COUNTY_DRAWS},
        _truths: {LANGUAGE},
        _remedies: {ALLOTMENT, DRAWS},
        _proxy_groups: {PROXIES},
        _temperatures: {ALLOTMENT},
        _modified: {ALLOTMENT, DRAWS},
        _cost: {ALLOTMENT},
    }
    return [draw(evidence) for draw, needs in figures.items() if needs <= evidence.trials.keys()]


def _at(text: str, words: str = "At") -> str:
    return f"{words} \N{GREEK SMALL LETTER EPSILON} = {text}"


def _by_size(evidence: Evidence, epsilon: str, way: str, look: Look, *, absolute: bool = False) -> Series:
    """Return the dollars of New York's districts in the order of their size, which is what they depend on.

    Every fourth is drawn, and the largest forty.
    """
    order = np.argsort(data.allotment(evidence)["sizes"], kind="stable")
    dollars = data.BUDGET * data.biases(evidence, epsilon, way)[order]
    many = len(order)
    kept = np.unique(np.r_[np.arange(0, many, 4), np.arange(many - 40, many)].clip(0, many - 1))
    values = (np.abs(dollars) if absolute else dollars)[kept]
    return Series(look, (kept + 1).tolist(), np.round(values, 6).tolist())


_plot_by_size = partial(Plot, ticks=(0.0, 250.0, 500.0, 750.0, 1000.0))
_BY_SIZE = "districts of New York by size"


def _districts(evidence: Evidence) -> Chart:
    figure, plots = _figure("fig2"), []
    for (way, look), text in product(figure.looks.items(), _SHOWN):
        words = (_at(text), f"{look.label}, USD", _BY_SIZE)
        plots.append(_plot_by_size(words, [_by_size(evidence, text, way, look)], levels=(0.0,)))
    return figure.chart(plots, columns=len(_SHOWN))


def _temperatures(evidence: Evidence) -> Chart:
    figure, plots = _figure("fig8"), []
    for text in _SHOWN:
        lines = [_by_size(evidence, text, way, look, absolute=True) for way, look in figure.looks.items()]
        plots.append(_plot_by_size((_at(text), "absolute bias, USD", _BY_SIZE), lines, from_zero=True))
    return figure.chart(plots)


def _powers(evidence: Evidence, way: str, measure: str) -> list[float]:
    """Return a number about a way to allot at every epsilon, as a power of ten."""
    return [math.log10(data.of_allotment(evidence, text, way, measure)) for text in EPSILONS]


def _remedies(evidence: Evidence) -> Chart:
    figure = _figure("fig6")
    known = data.allotment(evidence)["epsilons"]

    def errors(way: str, place: str) -> list[float]:
        if way == OUTPUT:
            return [math.log10(known[text]["error"][OUTPUT][place]) for text in EPSILONS]
        return [math.log10(data.drawn_errors(evidence, text, way, place=place).mean()) for text in EPSILONS]

    ways = list(figure.looks)
    lines = [
        figure.series((PLAIN, CLAMP, PROXY), lambda way: _powers(evidence, way, "alpha"), _POWERS),
        *(figure.series(ways, partial(errors, place=place), _POWERS) for place in ("all", "New York")),
    ]
    return figure.chart(
        [Plot(words, each, ticks=_TENS) for words, each in zip(figure.panels, lines, strict=True)]
    )


def _modified(evidence: Evidence) -> Chart:
    figure = _figure("fig9")
    parts = [math.log10(part) for part in SHRUNK.values()]

    def alphas(text: str, number: int) -> list[float]:
        """Return alphas by temperature, relative to the clamp."""
        clamp, *found = (data.of_allotment(evidence, text, way, "alpha") for way in (CLAMP, *SHRUNK))
        return [alpha / clamp for alpha in found[:number]]

    def errors(way: str) -> list[float]:
        pairs = [[data.drawn_errors(evidence, text, each) for each in (way, CLAMP)] for text in EPSILONS]
        return [float((own / clamp).mean()) for own, clamp in pairs]

    first, second, third = figure.panels
    plots = []
    for words, number in ((first, len(parts)), (second, 6)):
        lines = figure.series(EPSILONS, partial(alphas, number=number), parts[:number])
        plots.append(Plot(words, lines, (1.0,), from_zero=True))
    drawn = figure.series((EVENEST, BEST), errors, _POWERS)
    return figure.chart([*plots, Plot(third, drawn, (1.0,), ticks=_TENS)])


def _cost(evidence: Evidence) -> Chart:
    figure, plots = _figure("fig10"), []
    for words, measure in zip(figure.panels, ("cost, New York", "cost"), strict=True):
        costs = {way: _powers(evidence, way, measure) for way in (CLAMP, PLAIN)}
        plots.append(Plot(words, figure.series(list(costs), costs.__getitem__, _POWERS), ticks=_TENS))
    return figure.chart(plots)


def _entitled(evidence: Evidence) -> Chart:
    figure = _figure("fig3")
    record = data.language(evidence)
    inside = np.flatnonzero(record["covered"])
    order = inside[np.argsort(np.asarray(record["s"])[inside], kind="stable")]
    near = data.margins(record)[order] < _NEAR
    names = np.asarray(record["names"], dtype=object)[order]
    plots = []
    for text in LANGUAGE_EPSILONS:
        errors = data.area_errors(evidence, text, WHOLE)[order]
        series = []
        for word, chosen in (("far", ~near), ("near", near)):
            places = np.flatnonzero(chosen)
            tips = [f"{names[place]}: {errors[place]:.3f}" for place in places]
            values = errors[places].round(6).tolist()
            series.append(Series(figure.looks[word], (places + 1).tolist(), values, tips))
        words = (_at(text, "at"), "probability of a wrong refusal", "covered counties by citizens")
        plots.append(Plot(words, series, from_zero=True))
    return figure.chart(plots)


def _ratios(evidence: Evidence) -> Chart:
    figure = _figure("fig4")
    places = (1.0, 2.0, 3.0)
    true = [county.ratio for county in COUNTIES]
    expected = [county.ratio * (1 + inverse_excess(1 / (float(_MIDDLE) * county.s))) for county in COUNTIES]
    tips = [f"{county.name}: {county.sp}/{county.s}" for county in COUNTIES]
    means = [f"{county.name}: {value:.6f}" for county, value in zip(COUNTIES, expected, strict=True)]
    circles = Series(figure.looks["true"], places, true, tips)
    crosses = Series(figure.looks["expected"], places, expected, means)
    spread = np.sqrt(np.median(data.of_draws(evidence, COUNTY_DRAWS, _MIDDLE, "variance"), axis=0))
    reach = [(x, value - sd, value + sd) for x, value, sd in zip(places, true, spread, strict=True)]
    moved = list(zip(places, true, expected, strict=True))
    first, second, third = figure.panels
    plots = [
        Plot(first, [circles, crosses], (0.05,), ticks=places, bars=moved),
        Plot(second, [circles], (0.05,), ticks=places, bars=reach),
        Plot(third, _selected(evidence, figure), from_zero=True),
    ]
    return figure.chart(plots, middle=_MIDDLE, first=LANGUAGE_EPSILONS[0])


def _selected(evidence: Evidence, figure: Figure) -> list[Series]:
    asides = {"number": -0.25, "schooling": 0.0, "number or schooling": 0.25}
    errors = {part: data.area_errors(evidence, LANGUAGE_EPSILONS[0], part) for part in asides}
    most = np.maximum(errors["number"], errors["schooling"])
    inside = np.flatnonzero((most > 0.01) & (most < 0.1))
    chosen = inside[np.linspace(0, len(inside) - 1, min(_SELECTED, len(inside))).astype(int)]
    places = np.arange(1, len(chosen) + 1)
    return [
        Series(figure.looks[part], (places + aside).tolist(), errors[part][chosen].round(6).tolist())
        for part, aside in asides.items()
    ]


def _truths(evidence: Evidence) -> Chart:
    figure = _figure("fig5")
    last = "simulated" if len(evidence.trials[LANGUAGE]) > 1 else "determined"
    across = [math.log10(float(text)) for text in LANGUAGE_EPSILONS]
    joined = (("share or number", ("share", "number")), ("share and schooling", ("share", "schooling")))
    plots = []
    for words, (part, pair) in zip(figure.panels, joined, strict=True):
        found = [
            data.by_truth(
                data.language(evidence, last), data.area_errors(evidence, text, part, name=last), *pair
            )
            for text in LANGUAGE_EPSILONS
        ]
        series = []
        for word, look in figure.looks.items():
            truth = (word[0] == "T", word[1] == "T")
            if truth in found[0]:
                label = f"{word}, {found[0][truth][1]:,} counties"
                series.append(Series(look, across, [means[truth][0] for means in found], label=label))
        plots.append(Plot(words, series, from_zero=True, ticks=tuple(across)))
    table = "simulated beyond 187 counties" if last == "simulated" else "187 determined counties"
    return figure.chart(plots, table=table)


def _proxy_groups(evidence: Evidence) -> Chart:
    figure = _figure("fig7")
    plots, units = [], {"alpha": "against the rule", "own alpha": "against its own answers"}
    for (measure, unit), text in product(units.items(), LANGUAGE_EPSILONS):
        found = {
            model: data.of_proxies(evidence, text, model, measure).mean(axis=0).round(6).tolist()
            for model in (*MODELS, ORIGINAL)
        }
        groups = [float(group) for group in range(1, len(found[ORIGINAL]) + 1)]
        words = (_at(text, "Alpha at"), unit, "groups by noisy sp")
        series = figure.series(list(found), found.__getitem__, groups)
        plots.append(Plot(words, series, from_zero=True, most=1.0, ticks=(1.0, 3.0, 5.0, 7.0, 9.0)))
    return figure.chart(plots, columns=len(LANGUAGE_EPSILONS))
