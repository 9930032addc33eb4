"""The picture of the optimal protocol: its matrix beside that of GRR, and what the reports then show."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["EXAMPLE", "optimal_html"]

EXAMPLE: dict[str, Any] = {"weights": (0.5, 0.3, 0.2), "rates": (0.7, 0.4, 0.2), "epsilon": 1, "error": 0.5}
NAMES = ("north", "middle", "south")
WIDTH, HEIGHT = 316, 250
LEFT, TOP, CELL, GAP = 76, 44, 60, 3
PLOT = (64, 30, 196)  # left end, top and foot of the chart of rates
PLACES = (78, 158, 238)


def optimal_html() -> str:
    """Return three figures: the matrix of GRR, the optimal one, and the rates that each of them shows."""
    ours = Optimal(**EXAMPLE)
    grr = GRR(k=ours.k, epsilon=ours.epsilon)
    figures = [
        _figure(
            f"GRR: every group says the truth with probability {grr.p:.2f}",
            _heat_svg(grr.matrix(), "GRR"),
        ),
        _figure(
            f"Optimal: {ours.truthfulness.min():.2f} to {ours.truthfulness.max():.2f}; the others say "
            f"{NAMES[0]} as often as their own",
            _heat_svg(ours.matrix(), "the optimal matrix"),
        ),
        _figure(*_rates(ours, grr)),
    ]
    return '<div class="eh-picture">\n' + "\n".join(figures) + "\n</div>"


def _figure(finding: str, svg: str) -> str:
    return f"<figure>\n<figcaption>{escape(finding)}</figcaption>\n{svg}\n</figure>"


def _svg(spoken: str, parts: list[str]) -> str:
    body = "\n".join(parts)
    label = escape(spoken, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{body}\n</svg>'


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(words)}</text>'


def _heat_svg(matrix: npt.NDArray[np.float64], whose: str) -> str:
    parts = [_text(LEFT, 12, "report", "name"), _text(0, 12, "true group", "name")]
    for place, name in enumerate(NAMES):
        middle = place * (CELL + GAP) + CELL / 2
        parts.append(_text(LEFT + middle, TOP - 8, name, "tick"))
        parts.append(_text(0, TOP + middle + 4, name, "name"))
    for row, column in np.ndindex(*matrix.shape):
        x, y = LEFT + column * (CELL + GAP), TOP + row * (CELL + GAP)
        chance = matrix[row, column]
        tip = escape(f"{NAMES[row]} reports {NAMES[column]}: {chance:.3f}")
        parts.append(
            f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" rx="6" class="tone1" '
            f'fill-opacity="{chance:.3f}"><title>{tip}</title></rect>'
        )
        parts.append(f'<text x="{x + CELL / 2}" y="{y + CELL / 2 + 4}" class="tick ours">{chance:.2f}</text>')
    listed = "; ".join(
        f"{NAMES[row]} reports "
        + ", ".join(f"{name}: {matrix[row, at]:.2f}" for at, name in enumerate(NAMES))
        for row in range(len(NAMES))
    )
    return _svg(f"Probabilities of {whose} at ε = {EXAMPLE['epsilon']}: {listed}.", parts)


def _rates(ours: Optimal, grr: GRR) -> tuple[str, str]:
    weights, rates = np.array(ours.weights), np.array(ours.rates)
    shown = {
        "true groups": rates,
        "GRR reports": (weights * rates) @ grr.matrix() / (weights @ grr.matrix()),
        "optimal": (weights * rates) @ ours.matrix() / (weights @ ours.matrix()),
    }
    left, top, foot = PLOT
    parts = [_text(0, 12, "rate of outcome 1", "name")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = foot - tick * (foot - top)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{PLACES[-1] + 14}" y2="{y:.1f}" class="grid"/>')
        parts.append(_text(left - 6, y + 4, f"{tick:g}", "tick up"))
    for group, name in enumerate(NAMES):
        heights = [foot - each[group] * (foot - top) for each in shown.values()]
        points = " ".join(f"{x},{y:.1f}" for x, y in zip(PLACES, heights, strict=True))
        parts.append(f'<polyline points="{points}" class="own{" dashed" if group else ""}"/>')
        for (what, each), x, y in zip(shown.items(), PLACES, heights, strict=True):
            tip = escape(f"{name}, {what}: {each[group]:.3f}")
            parts.append(f'<circle cx="{x}" cy="{y:.1f}" r="3" class="mark"><title>{tip}</title></circle>')
        above = -7 if group < len(NAMES) - 1 else 16
        parts.append(_text(PLACES[0], heights[0] + above, name, "tick"))
    parts += [_text(x, foot + 21, what, "tick") for x, what in zip(PLACES, shown, strict=True)]
    spread = {what: float(np.ptp(each)) for what, each in shown.items()}
    finding = "Between the highest and the lowest rate lie " + ", ".join(
        f"{100 * width:.0f} points ({what})" for what, width in spread.items()
    )
    listed = "; ".join(
        f"{what}: " + ", ".join(f"{name} {rate:.2f}" for name, rate in zip(NAMES, each, strict=True))
        for what, each in shown.items()
    )
    return finding, _svg(f"Rates of outcome 1: {listed}.", parts)
