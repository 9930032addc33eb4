"""Figures 2 to 10 of fioretto2021, redrawn; their words and looks are in ``figures.toml``."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.fioretto2021 import data, records
from evenhand.papers.fioretto2021.allotment import BEST, EVENEST, OUTPUT, SHRUNK, inverse_excess
from evenhand.papers.fioretto2021.data import CLAMP, COUNTIES, EPSILONS, LANGUAGE_EPSILONS, PLAIN, PROXY
from evenhand.papers.fioretto2021.language import MODELS, ORIGINAL, WHOLE
from evenhand.papers.fioretto2021.trials import ALLOTMENT, COUNTY_DRAWS, DRAWS, LANGUAGE, PROXIES
from evenhand.papers.panels import Figure, Plot, Series

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence
    from evenhand.papers.panels import Look
    from evenhand.report.page import Chart

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
        _proxies: {PROXIES},
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
    order = np.argsort(records.allotment(evidence)["sizes"], kind="stable")
    dollars = data.BUDGET * records.biases(evidence, epsilon, way)[order]
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
    return [math.log10(records.of_allotment(evidence, text, way, measure)) for text in EPSILONS]


def _remedies(evidence: Evidence) -> Chart:
    figure = _figure("fig6")
    known = records.allotment(evidence)["epsilons"]

    def errors(way: str, place: str) -> list[float]:
        if way == OUTPUT:
            return [math.log10(known[text]["error"][OUTPUT][place]) for text in EPSILONS]
        return [
            math.log10(records.drawn_errors(evidence, text, way, place=place).mean()) for text in EPSILONS
        ]

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
        clamp, *found = (records.of_allotment(evidence, text, way, "alpha") for way in (CLAMP, *SHRUNK))
        return [alpha / clamp for alpha in found[:number]]

    def errors(way: str) -> list[float]:
        pairs = [[records.drawn_errors(evidence, text, each) for each in (way, CLAMP)] for text in EPSILONS]
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
    record = records.language(evidence)
    inside = np.flatnonzero(record["covered"])
    order = inside[np.argsort(np.asarray(record["s"])[inside], kind="stable")]
    near = records.margins(record)[order] < _NEAR
    names = np.asarray(record["names"], dtype=object)[order]
    plots = []
    for text in LANGUAGE_EPSILONS:
        errors = records.area_errors(evidence, text, WHOLE)[order]
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
    spread = np.sqrt(np.median(records.of_draws(evidence, COUNTY_DRAWS, _MIDDLE, "variance"), axis=0))
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
    errors = {part: records.area_errors(evidence, LANGUAGE_EPSILONS[0], part) for part in asides}
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
            records.by_truth(
                records.language(evidence, last), records.area_errors(evidence, text, part, name=last), *pair
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


def _proxies(evidence: Evidence) -> Chart:
    figure = _figure("fig7")
    plots, units = [], {"alpha": "against the rule", "own alpha": "against its own answers"}
    for (measure, unit), text in product(units.items(), LANGUAGE_EPSILONS):
        found = {
            model: records.of_proxies(evidence, text, model, measure).mean(axis=0).round(6).tolist()
            for model in (*MODELS, ORIGINAL)
        }
        groups = [float(group) for group in range(1, len(found[ORIGINAL]) + 1)]
        words = (_at(text, "Alpha at"), unit, "groups by noisy sp")
        series = figure.series(list(found), found.__getitem__, groups)
        plots.append(Plot(words, series, from_zero=True, most=1.0, ticks=(1.0, 3.0, 5.0, 7.0, 9.0)))
    return figure.chart(plots, columns=len(LANGUAGE_EPSILONS))
