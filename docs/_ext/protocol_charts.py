"""What the pictures of the protocols show, computed from the library.

Every number in a heading or a spoken description comes from the protocol objects.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from drawing import Axis, Line, Panel, number, panel_svg
from optimal_chart import EXAMPLE as OPTIMAL_EXAMPLE
from optimal_chart import optimal_html

from evenhand.collect.protocols.registry import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OPTIMAL_EXAMPLE", "overview_html", "picture_html"]

COMPARED = tuple(name for name in PROTOCOLS if name != "optimal")
"""The protocols whose variance depends on nothing but the number of values and epsilon."""
EPSILONS = (0.25, 0.5, 1, 2, 4, 8)
"""The tested values, with a tick each."""
DOMAINS = (2, 10, 74, 1000)
STEPS = 6  # points of a curve from one tested value to the next
MANY_STEPS = 32  # where the curve may jump

_EPSILON = Axis("ε (log)", EPSILONS, private_end=True)
_VALUES = Axis("number of values k (log)", DOMAINS)
_SHARE = Axis("probability", (0, 0.25, 0.5, 0.75, 1), logarithmic=False)
_VARIANCE = Axis("n × variance of an estimated share (log)", (0.0001, 0.001, 0.01, 0.1, 1, 10, 100))
_WIDE = Axis(_VARIANCE.name, (0.1, 1, 10, 100, 1000))
_NARROW = Axis(_VARIANCE.name, (0.5, 1, 2, 4, 8))


@cache
def _law(name: str, k: int, epsilon: Fraction) -> tuple[float, float, float]:
    """Return p, q and n times the variance at share 0."""
    protocol = PROTOCOLS[name](k=k, epsilon=epsilon)
    return protocol.p, protocol.q, protocol.variance()


def _epsilons(steps: int = STEPS) -> list[Fraction]:
    """Return the tested values and points between them, evenly on a logarithmic scale."""
    found = []
    for low, high in pairwise(EPSILONS):
        found += [_four_digits(low * (high / low) ** (step / steps)) for step in range(steps)]
    return [*found, _four_digits(EPSILONS[-1])]


def _four_digits(value: float) -> Fraction:
    return Fraction(round(value * 10_000), 10_000)


def _domains() -> list[int]:
    grid = {round(2 * 500 ** (step / 36)) for step in range(37)}
    return sorted(grid | set(DOMAINS))


def _variance(name: str, k: int, epsilon: Fraction | int) -> float:
    return _law(name, k, Fraction(epsilon))[2]


def _against_epsilon(k: int, own: str | None) -> list[Line]:
    return [
        Line(
            name.upper(),
            [(float(e), _variance(name, k, e)) for e in _epsilons()],
            own=name == (own or "ss"),
        )
        for name in COMPARED
    ]


def _against_k(epsilon: int, own: str) -> list[Line]:
    return [
        Line(name.upper(), [(k, _variance(name, k, epsilon)) for k in _domains()], own=name == own)
        for name in COMPARED
    ]


def _best(k: int, epsilon: int) -> float:
    return min(_variance(name, k, epsilon) for name in COMPARED)


def _times(ratio: float) -> str:
    if ratio < 1.0005:
        return "no other is lower"
    return "within 1 % of the lowest" if ratio < 1.01 else f"{number(ratio)} times the lowest"


def _spoken(name: str, pairs: Sequence[tuple[str, float]]) -> str:
    listed = "; ".join(f"{where}: {number(value)}" for where, value in pairs)
    return f"{name.upper()}: {listed}."


def _probabilities(name: str, k: int) -> Panel:
    laws = [(float(e), _law(name, k, e)) for e in _epsilons(MANY_STEPS)]
    p, q, _ = _law(name, k, Fraction(1))
    told = [(e, law) for e, law in laws if e in EPSILONS]
    return Panel(
        finding=f"At ε = 1 a report supports the true value with probability {p:.3f}, another with {q:.3f}",
        spoken=f"Probability that a report of {name.upper()} supports the true value and another given value "
        f"of {k}: " + "; ".join(f"ε = {number(e)}: {law[0]:.3f} and {law[1]:.3f}" for e, law in told) + ".",
        across=_EPSILON,
        up=Axis(f"probability of support, k = {k}", _SHARE.ticks, logarithmic=False),
        lines=[
            Line("true value", [(e, law[0]) for e, law in laws], own=True),
            Line("another", [(e, law[1]) for e, law in laws], own=True, dashed=True),
        ],
    )


def _variance_panel(k: int, own: str) -> Panel:
    mine = _variance(own, k, 1)
    return Panel(
        finding=f"k = {k:,}: at ε = 1 the variance is {number(mine)} / n, {_times(mine / _best(k, 1))}",
        spoken=f"n times the variance of an estimated share against ε, {k} values. "
        + _spoken(own, [(f"ε = {number(e)}", _variance(own, k, _four_digits(e))) for e in EPSILONS]),
        across=_EPSILON,
        up=_VARIANCE,
        lines=_against_epsilon(k, own),
    )


def _growth_panel(own: str) -> Panel:
    found = [_variance(own, k, 1) for k in _domains()]
    if math.isclose(min(found), max(found), rel_tol=1e-6):
        finding = "ε = 1: the number of values does not change the variance"
    elif all(_variance(own, k, 1) <= _best(k, 1) * (1 + 1e-9) for k in _domains()):
        finding = "ε = 1: for no number of values is another protocol lower"
    else:
        last = max(k for k in range(2, 1000) if _variance(own, k, 1) <= _variance("oue", k, 1))
        finding = f"ε = 1: lower than OUE up to k = {last}, and growing with k from there"
    return Panel(
        finding=finding,
        spoken="n times the variance of an estimated share against the number of values, ε = 1. "
        + _spoken(own, [(f"k = {k}", _variance(own, k, 1)) for k in DOMAINS]),
        across=_VALUES,
        up=_WIDE if max(found) > _NARROW.ticks[-1] else _NARROW,
        lines=_against_k(1, own),
    )


def _overview_panel(k: int) -> Panel:
    ranked = sorted(COMPARED, key=lambda name: _variance(name, k, 1))
    lowest = [name.upper() for name in ranked if _variance(name, k, 1) <= _best(k, 1) * 1.01]
    worst = ranked[-1]
    if len(lowest) == 1:
        leader = f"{lowest[0]} is lowest"
    else:
        leader = f"{', '.join(lowest[:-1])} and {lowest[-1]} are lowest"
    times = _variance(worst, k, 1) / _best(k, 1)
    return Panel(
        finding=f"k = {k:,}: at ε = 1 {leader}; {worst.upper()} has {number(times)} times that variance",
        spoken=f"n times the variance of an estimated share against ε, {k} values. At ε = 1: "
        + "; ".join(f"{name.upper()} {number(_variance(name, k, 1))}" for name in ranked)
        + ".",
        across=_EPSILON,
        up=_VARIANCE,
        lines=_against_epsilon(k, None),
    )


def _html(panels: Sequence[Panel]) -> str:
    figures = "\n".join(
        f"<figure>\n<figcaption>{escape(each.finding)}</figcaption>\n{panel_svg(each)}\n</figure>"
        for each in panels
    )
    return f'<div class="eh-picture">\n{figures}\n</div>'


def picture_html(name: str) -> str:
    """Return the picture of one protocol."""
    if name == "optimal":
        return optimal_html()
    panels = [
        _probabilities(name, 12),
        _growth_panel(name),
        _variance_panel(10, name),
        _variance_panel(1000, name),
    ]
    return _html(panels)


def overview_html() -> str:
    """Return the picture of all protocols."""
    return _html([_overview_panel(k) for k in DOMAINS])
