"""Pictures of mechanisms: how likely a report is, what becomes of a small table, what a training costs."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.report.drawing import Drawing, Margins, Segment, Word
from evenhand.report.scales import Linear
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

Picture = tuple[str, str, str]
"""The drawing as SVG, what it says to those who do not see it, and its caption."""

_WIDTH, _ROW, _LEFT, _RIGHT = 320, 44, 118, 54
_ANSWERS = ("the true answer", "another answer", "a third answer", "a fourth answer")
_DISTRICTS, _AGES = ("north", "east", "south", "west"), ("under 40", "40 and over")
_PEOPLE = (34, 28, 21, 9, 55, 47, 12, 3)
_DOWN = 4  # from the middle of a figure to the line that it stands on
_SEED = 7
_METHODS = Path(__file__).with_name("words") / "methods.csv"
_MEASURES = ("accuracy", "gap")


def draw_protocol(kind: type[Any]) -> Picture:
    """Return how likely a report supports the true answer and each other one, of four and at epsilon 1."""
    true, other = _probabilities(kind)
    values = [true, other, other, other]
    texts = [f"{100 * value:.1f}%" for value in values]
    picture = draw_bars(_ANSWERS, [values], [texts], fills=("ink",), most=1.0)
    said = (
        f"A report supports the true answer with probability {texts[0]}, and each of three other answers "
        f"with {texts[1]}."
    )
    return picture, said, f"**Exact values, no sampling:** four possible answers, ε = 1. {said}"


def _probabilities(kind: type[Any]) -> tuple[float, float]:
    """Return how likely a report supports the true one of four answers, and another one."""
    try:
        protocol = kind(k=4, epsilon=1)
    except TypeError:  # one that is made for groups: four groups of one size
        matrix = kind([0.25] * 4, [0.5, 0.4, 0.3, 0.2], epsilon=1).matrix()
        return float(matrix[0][0]), float(matrix[0][1])
    return float(protocol.p_exact), float(protocol.q_exact)


def draw_mechanism(kind: type[Any]) -> Picture:
    """Return a table of eight made-up counts before and after a mechanism, with its example's parameters."""
    histogram, names = small_table()
    mechanism = kind.example()
    released = mechanism.release(histogram, rng=_SEED)
    before = [float(count) for count in _PEOPLE]
    after = [float(value) for value in released.values.reshape(-1)]
    left_out = released.suppressed.reshape(-1) if released.suppressed is not None else [False] * len(after)
    pairs = zip(after, left_out, strict=True)
    texts = ["left out" if is_left_out else f"{value:,.0f}" for value, is_left_out in pairs]
    picture = draw_bars(
        names,
        [before, after],
        [[f"{count:,.0f}" for count in before], texts],
        fills=("ghost", "ink"),
        most=max(*before, *after),
    )
    rows = zip(names, before, texts, strict=True)
    said = "; ".join(f"{name}: {count:,.0f} becomes {text}" for name, count, text in rows)
    finding = "Grey is the true count, the stronger bar what is published."
    caption = f"**{finding}** Made-up people, one draw with a seed."
    return picture, f"{said}.", caption


def small_table() -> tuple[Any, list[str]]:
    """Return a table of eight made-up counts, and what its cells are called."""
    from evenhand.release import Histogram  # noqa: PLC0415 - it takes time to import

    cells = [(district, age) for district in _DISTRICTS for age in _AGES]
    columns = [Column("district", Domain.categorical(_DISTRICTS)), Column("age", Domain.categorical(_AGES))]
    schema = Schema(columns, quasi_identifiers=("district", "age"))
    people = [cell for cell, count in zip(cells, _PEOPLE, strict=True) for _ in range(count)]
    rows = pa.table({"district": [cell[0] for cell in people], "age": [cell[1] for cell in people]})
    histogram = Histogram.count(rows, schema, ["district", "age"], bound=1000)
    return histogram, [f"{district}, {age}" for district, age in cells]


def draw_method(name: str) -> Picture:
    """Return accuracy and gap of a method of training beside those of plain logistic regression.

    The numbers are those of a small study, whose command stands at the head of their file.
    """
    runs, (plain,) = _studied()[name], _studied()["plain"]
    own = [(measure, run) for measure in _MEASURES for run in runs]
    names = [f"{measure}, ε = {run['epsilon']}" if run["epsilon"] else measure for measure, run in own]
    after = [float(run[measure]) for measure, run in own]
    before = [float(plain[measure]) for measure, _ in own]
    is_plain = runs == [plain]
    series = [after] if is_plain else [before, after]
    texts = [[f"{100 * value:.1f}%" for value in values] for values in series]
    fills = ("ink",) if is_plain else ("ghost", "ink")
    reach = max(float(run[f"{measure}_reach"]) for measure, run in own)
    rows = zip(names, *texts, strict=True)
    said = "; ".join(f"{row[0]}: {' becomes '.join(row[1:])}" for row in rows)
    finding = (
        "Without privacy" if is_plain else "Grey is plain logistic regression, the stronger bar this method"
    )
    caption = (
        f"**{finding}.** The gap is that of the groups' rates. Means of {runs[0]['runs']} runs on 8,000 rows "
        "of the synthetic data set causal; "
        f"95% t-intervals reach up to {100 * reach:.1f} points to either side. Other data differ."
    )
    return draw_bars(names, series, texts, fills=fills, most=max(before)), f"{said}.", caption


@cache
def _studied() -> dict[str, list[dict[str, str]]]:
    """Return the rows of the small study by method."""
    methods: dict[str, list[dict[str, str]]] = {}
    with _METHODS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            methods.setdefault(row["method"], []).append(row)
    return methods


def draw_bars(
    names: Sequence[str],
    series: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    *,
    fills: Sequence[str],
    most: float,
) -> str:
    """Return level bars from zero, one row for each name and one bar for each series."""
    height = _ROW * len(names)
    scale = Linear.over([0.0, most], pixels=_WIDTH - _LEFT - _RIGHT, from_zero=True)
    drawing = Drawing(_WIDTH, height + 8, Margins(_LEFT, 4, _RIGHT, 4))
    thick = (_ROW - 14) / len(series)
    words = []
    for place, (fill, values, said) in enumerate(zip(fills, series, texts, strict=True)):
        blocks = []
        for row, (name, value, text) in enumerate(zip(names, values, said, strict=True)):
            top = row * _ROW + 7 + place * thick
            end = max(scale.pixels * max(value, 0.0) / scale.high, 1.5)
            blocks.append(Segment(0, top, end, top + thick - 1, f"{name}: {text}"))
            words.append(Word(end + 6, top + thick / 2 + _DOWN, text, colour="ink2", halo=False))
        drawing.blocks(blocks, fill=fill, pixels=True)
    labels = [
        Word(-10, row * _ROW + _ROW / 2 + _DOWN, name, align="right", colour="ink2")
        for row, name in enumerate(names)
    ]
    drawing.words(*labels, *words)
    return drawing.svg()
