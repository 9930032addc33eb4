"""Figures 3, 4, 5 and 7 of fioretto2021, redrawn: the language rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.fioretto2021.allotment import inverse_excess
from evenhand.papers.fioretto2021.checks import (
    area_errors,
    by_truth,
    county_draws,
    language,
    margins,
    of_proxies,
)
from evenhand.papers.fioretto2021.language import MODELS, ORIGINAL, WHOLE
from evenhand.papers.fioretto2021.panels import Look, Plot, Series, chart_of
from evenhand.papers.fioretto2021.printed import COUNTIES, LANGUAGE_EPSILONS
from evenhand.papers.fioretto2021.trials import COUNTY_DRAWS, LANGUAGE, PROXIES
from evenhand.report.page import LegendKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence
    from evenhand.report.page import Chart

__all__ = ["rule_figures"]

_NEAR = 0.5
_SELECTED = 12
_MIDDLE = "0.1"
_TRUTHS = {(True, True): "TT", (True, False): "TF", (False, True): "FT", (False, False): "FF"}
_COLOURS = {"TT": "g2", "TF": "g3", "FT": "g4", "FF": "g1"}


def rule_figures(evidence: Evidence) -> Iterator[Chart]:
    """Yield the figures of what was run."""
    if LANGUAGE in evidence.trials:
        yield _entitled(evidence)
        if COUNTY_DRAWS in evidence.trials:
            yield _ratios(evidence)
        yield _truths(evidence)
    if PROXIES in evidence.trials:
        yield _proxies(evidence)


def _epsilon(text: str) -> str:
    return f"at \N{GREEK SMALL LETTER EPSILON} = {text}"


# --- figure 3 -------------------------------------------------------------------------------------


def _entitled(evidence: Evidence) -> Chart:
    record = language(evidence)
    inside = np.flatnonzero(record["covered"])
    order = inside[np.argsort(np.asarray(record["s"])[inside], kind="stable")]
    near = margins(record)[order] < _NEAR
    looks = {"far": Look("ghost", "circle", line=False), "near": Look("g1", "diamond", line=False)}
    names = np.asarray(record["names"], dtype=object)[order]
    plots = []
    for text in LANGUAGE_EPSILONS:
        errors = area_errors(evidence, text, WHOLE)[order]
        series = []
        for word, chosen in (("far", ~near), ("near", near)):
            places = np.flatnonzero(chosen)
            tips = [f"{names[place]}: {errors[place]:.3f}" for place in places]
            series.append(
                Series(word, (places + 1).tolist(), errors[places].round(6).tolist(), looks[word], tips)
            )
        plots.append(
            Plot(
                _epsilon(text),
                "probability of a wrong refusal",
                "covered counties by citizens",
                series,
                from_zero=True,
            )
        )
    return chart_of(
        plots,
        name="fig3",
        alt="Probability that a covered county is refused, by its number of voting-age citizens",
        caption=(
            "As figure 3 of the paper: how often noise of scale 1 / epsilon refuses a county that the "
            "rule covers, by voting-age citizens, smallest first. These are published counts of "
            "determined counties. Near: less than half above the threshold that decides. All exact."
        ),
        legend=[
            LegendKey("near the threshold", "diamond", "g1"),
            LegendKey("far from it", "circle", "ghost"),
        ],
    )


# --- figure 4 -------------------------------------------------------------------------------------


def _ratios(evidence: Evidence) -> Chart:
    places = [1.0, 2.0, 3.0]
    true = [each.ratio for each in COUNTIES]
    expected = [each.ratio * (1 + inverse_excess(1 / (float(_MIDDLE) * each.s))) for each in COUNTIES]
    tips = [f"{each.name}: {each.sp}/{each.s}" for each in COUNTIES]
    mean = [f"{each.name}: {value:.6f}" for each, value in zip(COUNTIES, expected, strict=True)]
    circles = Series("true", places, true, Look("g2", "circle", line=False), tips)
    crosses = Series("expected", places, expected, Look("g1", "diamond", line=False), mean)
    spread = np.sqrt(np.median(county_draws(evidence, _MIDDLE, "variance"), axis=0))
    reach = [(x, value - sd, value + sd) for x, value, sd in zip(places, true, spread, strict=True)]
    moved = list(zip(places, true, expected, strict=True))
    ticks = (1.0, 2.0, 3.0)
    axis = "Loving, Terrell, Union"
    units = "true, and as a principal value", "one standard deviation of 10,000 draws"
    plots = [
        Plot("Ratios", units[0], axis, [circles, crosses], (0.05,), ticks=ticks, bars=moved),
        Plot("Ratios", units[1], axis, [circles], (0.05,), ticks=ticks, bars=reach),
        _selected(evidence),
    ]
    return chart_of(
        plots,
        name="fig4",
        alt="Ratios of three counties with bias and spread, and errors of two predicates joined by or",
        caption=(
            f"As figure 4 of the paper, at epsilon = {_MIDDLE} for the ratios. The mean of a noisy ratio "
            "does not exist; the diamond is its principal value. Right: twelve determined counties with an "
            f"error between 0.01 and 0.1 at epsilon = {LANGUAGE_EPSILONS[0]}; the disjunction errs as "
            "often as the schooling predicate, which alone makes it true."
        ),
        legend=[
            LegendKey("true", "circle", "g2"),
            LegendKey("expected", "diamond", "g1"),
            LegendKey("sp > 10,000", "square", "g1"),
            LegendKey("spe/sp > 0.0131", "circle", "g2"),
            LegendKey("either", "diamond", "g3"),
        ],
    )


def _selected(evidence: Evidence) -> Plot:
    text = LANGUAGE_EPSILONS[0]
    parts = {
        "number": Look("g1", "square", line=False),
        "schooling": Look("g2", "circle", line=False, hollow=True),
        "number or schooling": Look("g3", "diamond", line=False),
    }
    errors = {part: area_errors(evidence, text, part) for part in parts}
    most = np.maximum(errors["number"], errors["schooling"])
    inside = np.flatnonzero((most > 0.01) & (most < 0.1))
    chosen = inside[np.linspace(0, len(inside) - 1, min(_SELECTED, len(inside))).astype(int)]
    places = [float(place) for place in range(1, len(chosen) + 1)]
    series = [
        Series(part, [place + aside for place in places], errors[part][chosen].round(6).tolist(), look)
        for aside, (part, look) in zip((-0.25, 0.0, 0.25), parts.items(), strict=True)
    ]
    return Plot("Errors", _epsilon(text), "counties", series, from_zero=True)


# --- figure 5 -------------------------------------------------------------------------------------


def _truths(evidence: Evidence) -> Chart:
    last = "simulated" if len(evidence.trials[LANGUAGE]) > 1 else "determined"
    across = [math.log10(float(text)) for text in LANGUAGE_EPSILONS]
    plots = []
    for title, part, pair in (
        ("P1 or P2", "share or number", ("share", "number")),
        ("P1 and P3", "share and schooling", ("share", "schooling")),
    ):
        found = [
            by_truth(language(evidence, last), area_errors(evidence, text, part, name=last), *pair)
            for text in LANGUAGE_EPSILONS
        ]
        series = [
            Series(
                f"{word}, {found[0][truth][1]:,} counties",
                across,
                [each[truth][0] for each in found],
                Look(_COLOURS[word], "circle"),
            )
            for truth, word in _TRUTHS.items()
            if truth in found[0]
        ]
        plots.append(
            Plot(
                title,
                "mean probability of a wrong decision",
                "\N{GREEK SMALL LETTER EPSILON}, power of ten",
                series,
                from_zero=True,
                ticks=tuple(across),
            )
        )
    labelled = "simulated beyond 187 counties" if last == "simulated" else "187 determined counties"
    return chart_of(
        plots,
        name="fig5",
        alt="Mean error of counties by the true answers of two predicates, joined by or and by and",
        caption=(
            "As figure 5 of the paper: mean errors of counties by the true answers of the two predicates; "
            f"P1 is sp/s > 0.05, P2 sp > 10,000, P3 spe/sp > 0.0131. The table is {labelled}. All exact."
        ),
        legend=[LegendKey(word, "circle", colour) for word, colour in _COLOURS.items()],
    )


# --- figure 7 -------------------------------------------------------------------------------------


def _proxies(evidence: Evidence) -> Chart:
    looks = {
        ORIGINAL: Look("ink", "circle"),
        "regression": Look("g1", "square"),
        "svm": Look("g2", "diamond"),
    }
    words = {ORIGINAL: "the rule", "regression": "linear regression", "svm": "linear SVM"}
    plots = []
    for measure, unit in (("alpha", "against the rule"), ("own alpha", "against its own answers")):
        for text in LANGUAGE_EPSILONS:
            series = []
            for model in (*MODELS, ORIGINAL):
                means = of_proxies(evidence, text, model, measure).mean(axis=0)
                groups = [float(group) for group in range(1, len(means) + 1)]
                series.append(Series(words[model], groups, means.round(6).tolist(), looks[model]))
            plots.append(
                Plot(
                    f"Alpha {_epsilon(text)}",
                    unit,
                    "groups by noisy sp",
                    series,
                    from_zero=True,
                    most=1.0,
                    ticks=(1.0, 3.0, 5.0, 7.0, 9.0),
                )
            )
    return chart_of(
        plots,
        name="fig7",
        alt="Alpha of the rule and of two piecewise linear proxies in nine groups of counties",
        caption=(
            "As figure 7 of the paper: alpha within nine groups of counties by noisy sp, smallest first, "
            "of the rule and of linear proxies; means over groupings, exact within each. Above an error "
            "is a decision that is not the rule's on true counts, as the text says; below, one that is "
            "not the proxy's own. The table is simulated beyond 187 counties."
        ),
        legend=[LegendKey(words[model], look.shape, look.colour) for model, look in looks.items()],
        columns=len(LANGUAGE_EPSILONS),
    )
