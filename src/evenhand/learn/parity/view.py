"""Bounds and changes of a post-processing for people to read, as text and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from evenhand.measure.text_tables import aligned, html_table, number_text
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.learn.parity.bounds import Bounds

__all__ = ["Changes", "bounds_html", "bounds_text"]

_SIZES = {
    "noisy": "Computed from the released table: its sizes hold noise, and the bounds allow for it.",
    "public": "Computed from rates with noise and from the sizes of the groups, which are said to be public.",
    "true": "Computed from the true counts, which are not private.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Changes:
    """Which share of people is given another answer than the classifier's, on average.

    Attributes
    ----------
    groups : tuple
        The labels of the groups.
    up, down : array
        The share of each group that goes from negative to positive, and from positive to negative.
    shares : array
        The share of all people that each group is. All of them come from the released table.
    """

    groups: tuple[object, ...]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def overall(self) -> float:
        """The share of all people that is given another answer."""
        return float(((self.up + self.down) * self.shares).sum())

    def _rows(self) -> list[list[str]]:
        all_up, all_down = float((self.up * self.shares).sum()), float((self.down * self.shares).sum())
        numbers = zip(self.groups, self.up, self.down, strict=True)
        rows = [
            [_label(group), number_text(up), number_text(down), number_text(up + down)]
            for group, up, down in numbers
        ]
        return [
            ["Group", "up", "down", "changed"],
            *rows,
            ["all people", number_text(all_up), number_text(all_down), number_text(self.overall)],
        ]

    def __repr__(self) -> str:
        return "\n".join(["Share of people whose answer is changed, on average", *aligned(self._rows())])

    def _repr_html_(self) -> str:
        return (
            f"<div><p>Share of people whose answer is changed, on average</p>{html_table(self._rows())}</div>"
        )


def bounds_text(bounds: Bounds) -> str:
    """Return the bounds of every gap, one line each."""
    return "\n".join([_headline(bounds), *aligned(_table(bounds)), _SIZES[bounds.sizes]])


def bounds_html(bounds: Bounds) -> str:
    """Return the same as a table; every text is escaped."""
    told = _SIZES[bounds.sizes]
    return f"<div><p>{escape(_headline(bounds))}</p>{html_table(_table(bounds))}<p>{escape(told)}</p></div>"


def _headline(bounds: Bounds) -> str:
    return f"Largest gap between {len(bounds.groups)} groups, target {bounds.gap:.3f}"


def _table(bounds: Bounds) -> list[list[str]]:
    sure = f"{100 * bounds.confidence:g} % sure"
    shown = any(part.measured is not None for part in bounds.parts)
    rows = [["Gap of", "expected <=", f"{sure} <=", *(["measured"] if shown else [])]]
    for part in bounds.parts:
        last = [number_text(np.nan if part.measured is None else part.measured)] if shown else []
        rows.append([part.name, number_text(part.expected), number_text(part.likely), *last])
    return rows


def _label(group: object) -> str:
    return visible(str(group))
