"""Tones for epsilon and shapes for kinds, the same in every chart of a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.language import fixed_word
from evenhand.report.page import LegendKey
from evenhand.report.words import epsilon_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SHAPE_ORDER", "shapes_by", "tier_keys", "tones_by"]

SHAPE_ORDER = ("circle", "square", "triangle-up", "triangle-down", "cross")
"""Shapes in the order in which kinds appear; the diamond is kept for the unprotected result."""

_RAMPS = {1: ("p2",), 2: ("p1", "p3"), 3: ("p1", "p2", "p3"), 4: ("p1", "p2", "p3", "p4")}


def tones_by(epsilons: Iterable[float | None]) -> dict[float, str]:
    """Return a tone for every epsilon: at most four tiers, the strongest tone for the most private.

    >>> tones_by([0.5, 4.0, 1.0])
    {0.5: 'p1', 1.0: 'p2', 4.0: 'p3'}
    """
    tested = sorted({each for each in epsilons if each is not None and each > 0 and not math.isnan(each)})
    tiers = min(4, len(tested))
    tones = {}
    for tier in range(tiers):
        size, longer = divmod(len(tested), tiers)
        start = tier * size + min(tier, longer)
        for epsilon in tested[start : start + size + (tier < longer)]:
            tones[epsilon] = _RAMPS[tiers][tier]
    return tones


def tier_keys(tones: dict[float, str]) -> list[LegendKey]:
    """Return what each tone stands for, in words."""
    tiers: dict[str, list[float]] = {}
    for epsilon, tone in tones.items():
        tiers.setdefault(tone, []).append(epsilon)
    keys = []
    for place, (tone, inside) in enumerate(tiers.items()):
        low, high = epsilon_of(inside[0]), epsilon_of(inside[-1])
        values = low if len(inside) == 1 else fixed_word("form.interval", low=low, high=high)
        start = ("ε = " if len(inside) == 1 else "ε ") if place == 0 else ""
        end = fixed_word("chart.most_private") if place == 0 and len(tiers) > 1 else ""
        keys.append(LegendKey(f"{start}{values}{end}", "circle", tone))
    return keys


def shapes_by(kinds: Iterable[str]) -> dict[str, str]:
    """Return a shape for every kind, in order of appearance; from the fifth on they share one.

    >>> shapes_by(["uniform", "k-based", "uniform"])
    {'uniform': 'circle', 'k-based': 'square'}
    """
    last = len(SHAPE_ORDER) - 1
    return {kind: SHAPE_ORDER[min(place, last)] for place, kind in enumerate(dict.fromkeys(kinds))}
