"""The picture of why: the same protection costs small groups more, in published tables and in surveys.

Every number in it comes from the library.
"""

from __future__ import annotations

from html import escape

from drawing import Axis, Line, Panel, number, panel_svg

from evenhand.collect import GRR
from evenhand.release import Histogram, Laplace
from evenhand.schema import Column, Domain, Schema

__all__ = ["price_html"]

CELLS = (3, 10, 30, 100, 300, 1000)
SHARES = (2, 5, 10, 20, 50)  # percent of all people
SPOKEN_OF = 1  # the epsilon in ink
WITHIN = 0.05  # of a group's rate
QUANTILE = 1.96

_PEOPLE = Axis("people in the cell (log)", CELLS)
_ERROR = Axis("mean error, in % of the cell (log)", (0.1, 1, 10, 100))
_SHARE = Axis("share of the group, % (log)", SHARES)
_NEEDED = Axis("thousands of people who must report (log)", (0.1, 1, 10, 100, 1_000))


def price_html() -> str:
    """Return both charts with their findings."""
    figures = (
        f"<figure><figcaption>{escape(panel.finding)}</figcaption>{panel_svg(panel)}</figure>"
        for panel in (_table_panel(), _survey_panel())
    )
    return f'<div class="eh-picture">{"".join(figures)}</div>'


def _table_panel() -> Panel:
    errors = {epsilon: _mean_error(epsilon) for epsilon in (0.25, 0.5, SPOKEN_OF)}
    few, many = (f"{100 * errors[SPOKEN_OF] / cell:.2g} %" for cell in (CELLS[1], CELLS[-1]))
    finding = f"A published count of {CELLS[1]} people is off by {few}, one of {number(CELLS[-1])} by {many}"
    lines = [
        Line(f"ε = {epsilon}", [(cell, 100 * error / cell) for cell in CELLS], own=epsilon == SPOKEN_OF)
        for epsilon, error in errors.items()
    ]
    return Panel(finding, f"{finding}, with Laplace noise at ε = {SPOKEN_OF}.", _PEOPLE, _ERROR, lines)


def _survey_panel() -> Panel:
    ratio = _needed(SHARES[1] / 100, SPOKEN_OF) / _needed(SHARES[-1] / 100, SPOKEN_OF)
    finding = f"A group of {SHARES[1]} % needs {ratio:.0f} times the people that one of {SHARES[-1]} % needs"
    lines = []
    for epsilon in (0.5, SPOKEN_OF, 2):
        points = [(share, _needed(share / 100, epsilon) / 1_000) for share in SHARES]
        lines.append(Line(f"ε = {epsilon}", points, own=epsilon == SPOKEN_OF))
    clear = [(share, QUANTILE**2 / (4 * share / 100 * WITHIN**2) / 1_000) for share in SHARES]
    spoken = f"{finding}, so that its rate is known to five points from reports at ε = {SPOKEN_OF}."
    return Panel(finding, spoken, _SHARE, _NEEDED, [*lines, Line("in the clear", clear, dashed=True)])


def _mean_error(epsilon: float) -> float:
    """Return by how many people a count is off on average."""
    table = Histogram.of([10], Schema([Column("x", Domain.categorical(["a"]))]))
    errors = Laplace(epsilon=epsilon, unit="replace one").exact_absolute_error(table)
    return float(errors.max())


def _needed(share: float, epsilon: float) -> float:
    """Return how many people must report before the rate of a group of this share is known to five points."""
    protocol = GRR(k=2, epsilon=epsilon)
    p, q = protocol.p, protocol.q
    own = (p * (1 - q) ** 2 + (1 - p) * q**2) / (p - q) ** 2
    other = q * (1 - q) / (p - q) ** 2
    return QUANTILE**2 * (own * share + other * (1 - share)) / (4 * share**2 * WITHIN**2)
