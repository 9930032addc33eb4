"""Figures 2 to 10 of fioretto2021, redrawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.fioretto2021.allotment import BEST, EVENEST, OUTPUT, STRENGTHS
from evenhand.papers.fioretto2021.checks import allotment, biases, drawn_errors, of_allotment
from evenhand.papers.fioretto2021.draws import CLAMP, PLAIN, PROXY
from evenhand.papers.fioretto2021.figures_rule import rule_figures
from evenhand.papers.fioretto2021.panels import Look, Plot, Series, chart_of
from evenhand.papers.fioretto2021.printed import BUDGET, EPSILONS
from evenhand.papers.fioretto2021.trials import ALLOTMENT, DRAWS
from evenhand.report.page import LegendKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.papers.claims import Evidence
    from evenhand.report.page import Chart

__all__ = ["draw_figures"]

_SHOWN = ("0.001", "0.01", "0.1")
_RANKS = (0.0, 250.0, 500.0, 750.0, 1000.0)
_LOOKS = {
    CLAMP: Look("g1"),
    PLAIN: Look("ink"),
    EVENEST: Look("g3"),
    BEST: Look("g2"),
    PROXY: Look("g4"),
}
_WORDS = {
    CLAMP: "clamped at 0",
    PLAIN: "noisy counts as they are",
    EVENEST: "T with the smallest alpha of counts",
    BEST: "T*",
    PROXY: "linear proxy",
}
_SHAPES = {"0.001": "circle", "0.01": "square", "0.05": "triangle-up", "0.1": "diamond"}
_SHADES = {"0.001": "p1", "0.01": "p2", "0.05": "p3", "0.1": "g2"}


def draw_figures(evidence: Evidence) -> list[Chart]:
    """Return the figures of what was run, in the order of the paper."""
    drawn = list(rule_figures(evidence))
    if ALLOTMENT in evidence.trials:
        drawn += [_districts(evidence), _temperatures(evidence), _cost(evidence)]
        if DRAWS in evidence.trials:
            drawn += [_remedies(evidence), _modified(evidence)]
    return sorted(drawn, key=lambda chart: int(chart.name.removeprefix("fig")))


def _epsilon(text: str) -> str:
    return f"\N{GREEK SMALL LETTER EPSILON} = {text}"


def _at(text: str) -> str:
    return f"At {_epsilon(text)}"


def _keys(ways: Sequence[str]) -> list[LegendKey]:
    return [LegendKey(_WORDS[way], "line", _LOOKS[way].colour) for way in ways]


def _by_size(evidence: Evidence, epsilon: str, way: str, *, absolute: bool = False) -> Series:
    """Return the dollars of New York's districts in the order of their size, which is what they depend on."""
    sizes = np.asarray(allotment(evidence)["sizes"])
    order = np.argsort(sizes, kind="stable")
    dollars = BUDGET * biases(evidence, epsilon, way)[order]
    values = np.abs(dollars) if absolute else dollars
    kept = np.unique(
        np.r_[np.arange(0, len(order), 4), len(order) - 40 + np.arange(40)].clip(0, len(order) - 1)
    )
    return Series(_WORDS[way], (kept + 1).tolist(), np.round(values[kept], 6).tolist(), _LOOKS[way])


# --- figures 2 and 8 ------------------------------------------------------------------------------


def _districts(evidence: Evidence) -> Chart:
    plots = [
        Plot(
            _at(text),
            f"{_WORDS[way]}, USD",
            "districts of New York by size",
            [_by_size(evidence, text, way)],
            levels=(0.0,),
            ticks=_RANKS,
        )
        for way in (CLAMP, PLAIN)
        for text in _SHOWN
    ]
    return chart_of(
        plots,
        name="fig2",
        alt="Bias of the allotment for school districts of New York, by their size, at three epsilons",
        caption=(
            "As figure 2 of the paper: what each of the 972 districts of New York gains or loses in "
            "expectation, of 6.5 billion dollars for all districts, smallest first. Above counts are "
            "clamped at 0, as in the paper; below they are not, and small districts lose where they "
            "gained. All exact."
        ),
        legend=_keys((CLAMP, PLAIN)),
        columns=len(_SHOWN),
    )


def _temperatures(evidence: Evidence) -> Chart:
    ways = (CLAMP, EVENEST, BEST)
    plots = [
        Plot(
            _at(text),
            "absolute bias, USD",
            "districts of New York by size",
            [_by_size(evidence, text, way, absolute=True) for way in ways],
            from_zero=True,
            ticks=_RANKS,
        )
        for text in _SHOWN
    ]
    return chart_of(
        plots,
        name="fig8",
        alt="Absolute bias for school districts of New York with clamping and with two temperatures",
        caption=(
            "As figure 8 of the paper: absolute bias of the districts of New York, smallest first, with "
            "clamping and with modified post-processing at two temperatures that need no data. T* of "
            "equation (32) is best for counts, and at epsilon 0.01 and 0.1 worse than clamping for the "
            "allotment. All exact."
        ),
        legend=_keys(ways),
    )


# --- figures 6, 9 and 10 --------------------------------------------------------------------------


def _places() -> tuple[list[float], tuple[float, ...]]:
    """Return the epsilons on an axis of powers of ten, and its ticks."""
    return [math.log10(float(text)) for text in EPSILONS], (-3.0, -2.0, -1.0)


_REMEDIES = {PLAIN: Look("ink", "circle"), CLAMP: Look("g1", "square"), PROXY: Look("g4", "diamond")}
_ELSE = Look("g2", "triangle-up")


def _errors_of(evidence: Evidence, place: str) -> list[Series]:
    """Return the mean absolute errors of every way, as powers of ten."""
    across, _ = _places()
    found = [
        Series(
            _WORDS[way],
            across,
            [math.log10(drawn_errors(evidence, text, way, place=place).mean()) for text in EPSILONS],
            look,
        )
        for way, look in _REMEDIES.items()
    ]
    known = allotment(evidence)["epsilons"]
    output = [math.log10(known[text]["error"][OUTPUT][place]) for text in EPSILONS]
    return [*found, Series("output perturbation", across, output, _ELSE)]


def _remedies(evidence: Evidence) -> Chart:
    across, ticks = _places()
    alphas = [
        Series(
            _WORDS[way],
            across,
            [math.log10(of_allotment(evidence, text, way, "alpha")) for text in EPSILONS],
            look,
        )
        for way, look in _REMEDIES.items()
    ]
    errors = [_errors_of(evidence, place) for place in ("all", "New York")]
    axis = "\N{GREEK SMALL LETTER EPSILON}, power of ten"
    plots = [
        Plot("Alpha", "all districts, power of ten", axis, alphas, ticks=ticks),
        Plot("Mean absolute error", "all districts, power of ten", axis, errors[0], ticks=ticks),
        Plot("Mean absolute error", "New York, power of ten", axis, errors[1], ticks=ticks),
    ]
    return chart_of(
        plots,
        name="fig6",
        alt="Alpha and mean absolute error of noisy counts, clamped counts and two remedies",
        caption=(
            "As figure 6 of the paper: alpha, exact, and the mean absolute error of a share. Output "
            "perturbation has an alpha of 0 and is not on the left. The linear proxy errs twice as much "
            "as noisy counts, since half of epsilon goes to the sum; output perturbation, with the "
            "paper's bound that is not public, is close to it in New York."
        ),
        legend=[
            *(LegendKey(_WORDS[way], look.shape, look.colour) for way, look in _REMEDIES.items()),
            LegendKey("output perturbation", _ELSE.shape, _ELSE.colour),
        ],
    )


def _alphas_by_temperature(evidence: Evidence) -> list[Series]:
    """Return alphas by temperature, relative to the clamp."""
    parts = [math.log10(each) for each in STRENGTHS]
    return [
        Series(
            _epsilon(text),
            parts,
            [
                of_allotment(evidence, text, f"T = {each:g} b^2", "alpha")
                / of_allotment(evidence, text, CLAMP, "alpha")
                for each in STRENGTHS
            ],
            Look(_SHADES[text], _SHAPES[text]),
        )
        for text in EPSILONS
    ]


def _modified(evidence: Evidence) -> Chart:
    alphas = _alphas_by_temperature(evidence)
    across, epsilons = _places()
    errors = [
        Series(
            _WORDS[way],
            across,
            [
                float((drawn_errors(evidence, text, way) / drawn_errors(evidence, text, CLAMP)).mean())
                for text in EPSILONS
            ],
            Look(_LOOKS[way].colour, shape),
        )
        for way, shape in ((EVENEST, "circle"), (BEST, "square"))
    ]
    closer = [Series(each.label, each.x[:6], each.y[:6], each.look) for each in alphas]
    unit, axis = "times that of the clamp", "T / b², power of ten"
    below = "\N{GREEK SMALL LETTER EPSILON}, power of ten"
    plots = [
        Plot("Alpha", unit, axis, alphas, (1.0,), from_zero=True),
        Plot("Alpha, T up to 0.3 b²", unit, axis, closer, (1.0,), from_zero=True),
        Plot("Mean absolute error", unit, below, errors, (1.0,), ticks=epsilons),
    ]
    return chart_of(
        plots,
        name="fig9",
        alt="Alpha against the temperature, and the mean absolute error at two temperatures",
        caption=(
            "As figure 9 of the paper: alpha of the allotment with modified post-processing, relative to "
            "clamping, by temperature as a part of the squared scale of the noise (exact), and the mean "
            "absolute error (drawn). T* is about 0.75 b², where alpha is larger than with clamping unless "
            "epsilon is 0.001."
        ),
        legend=[
            *(LegendKey(_epsilon(text), _SHAPES[text], _SHADES[text]) for text in EPSILONS),
            LegendKey(_WORDS[EVENEST], "circle", _LOOKS[EVENEST].colour),
            LegendKey(_WORDS[BEST], "square", _LOOKS[BEST].colour),
        ],
    )


def _cost(evidence: Evidence) -> Chart:
    across, ticks = _places()
    looks = {CLAMP: Look("g1", "square"), PLAIN: Look("ink", "circle")}
    plots = [
        Plot(
            place,
            "USD, power of ten",
            "\N{GREEK SMALL LETTER EPSILON}, power of ten",
            [
                Series(
                    _WORDS[way],
                    across,
                    [math.log10(of_allotment(evidence, text, way, measure)) for text in EPSILONS],
                    look,
                )
                for way, look in looks.items()
            ],
            ticks=ticks,
        )
        for place, measure in (("New York", "cost, New York"), ("All districts", "cost"))
    ]
    return chart_of(
        plots,
        name="fig10",
        alt="Cost of privacy with clamped counts and with noisy counts as they are",
        caption=(
            "As figure 10 of the paper: by how much the budget must grow so that no district loses in "
            "expectation. The linear proxy costs nothing, as its small biases are all upwards, and is not "
            "shown. All exact."
        ),
        legend=[LegendKey(_WORDS[way], look.shape, look.colour) for way, look in looks.items()],
    )
