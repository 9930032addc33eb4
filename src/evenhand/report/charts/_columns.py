"""Columns of the CSV beside a chart, with names made from the titles of its axes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from evenhand.report.language import fixed_word
from evenhand.report.words import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.report.marks import Axis, Estimate

__all__ = ["column_name", "estimate_columns", "left_out"]


def column_name(axis: Axis, *, otherwise: str) -> str:
    """Return a name of small letters, figures and underscores for the values of an axis.

    >>> from evenhand.report.marks import Axis
    >>> column_name(Axis("selection gap", "points", 100), otherwise="y")
    'selection_gap_points'
    >>> column_name(Axis("精度"), otherwise="y")
    'y'
    """
    words = f"{axis.title} {axis.unit}".lower().replace("%", " percent ")
    return "_".join(re.findall(r"[a-z0-9]+", words))[:60] or otherwise


def estimate_columns(
    name: str, estimates: Sequence[Estimate | None], *, times: float
) -> dict[str, list[float | None]]:
    """Return three columns: values, lower and upper ends, in the unit of the axis."""
    return {
        name: [_scaled(estimate.value if estimate else None, times) for estimate in estimates],
        f"{name}_low": [_scaled(estimate.low if estimate else None, times) for estimate in estimates],
        f"{name}_high": [_scaled(estimate.high if estimate else None, times) for estimate in estimates],
    }


def left_out(caption: str, count: int, *, what: str) -> str:
    """Return the caption, which says how many marks have no value and are therefore not drawn.

    >>> left_out("Means.", 2, what="settings")
    'Means. Not drawn for want of a value: 2 settings.'
    """
    if not count:
        return caption
    one = f"{what.removesuffix('ies')}y" if what.endswith("ies") else what.removesuffix("s")
    said = fixed_word("chart.left_out", count=number(count, 0), what=one if count == 1 else what)
    return f"{caption} {said}".strip()


def finite(estimates: Iterable[Estimate]) -> bool:
    """Return whether all values can be drawn."""
    return all(math.isfinite(estimate.value) for estimate in estimates)


def ends(estimate: Estimate) -> tuple[float, ...]:
    """Return the value and the ends of its interval, as far as they can be drawn."""
    known = (estimate.value, estimate.low, estimate.high)
    return tuple(end for end in known if end is not None and math.isfinite(end))


def span(estimate: Estimate, times: float) -> tuple[float, float] | None:
    """Return the interval in the unit of the axis, or None if there is none to draw."""
    low, high = estimate.low, estimate.high
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return low * times, high * times


def _scaled(value: float | None, times: float) -> float | None:
    """Return a value in the unit of the axis, without the last digits that only the product brought."""
    return None if value is None or not math.isfinite(value) else float(f"{value * times:.12g}")
