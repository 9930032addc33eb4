"""Labels, limits and frames, as tables of estimates show them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand._lazy import lazy
from evenhand._notebook import aligned, html_table
from evenhand.errors import InvalidParameterError
from evenhand.measure.columns import is_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.table.frames import Backend

frames = lazy("evenhand.table.frames")

SHOWN = 30
"""Most rows of a table that is printed."""


class TableView(ABC):
    """What is printed as a title, a small table and notes, and in notebooks as HTML."""

    @abstractmethod
    def _make_table(self) -> tuple[str, list[list[str]], list[str]]:
        """Return the title, the rows of the table with its heads first, and the notes."""

    def __repr__(self) -> str:
        title, rows, notes = self._make_table()
        return "\n".join([title, *aligned(rows), *notes])

    def _repr_html_(self) -> str:
        title, rows, notes = self._make_table()
        lines = "".join(f"<p>{escape(line)}</p>" for line in notes)
        return f"<div><p>{escape(title)}</p>{html_table(rows)}{lines}</div>"


def more_rows(rows: int) -> list[str]:
    """Return the note that a table has more rows than are shown, if it has."""
    return [f"and {rows - SHOWN:,} more; to_frame() has them all"] if rows > SHOWN else []


def limits_text(low: float, high: float) -> str:
    """Return two limits in three decimals, or that there are none."""
    return "undefined" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def as_labels(labels: Any, k: int, *, owner: str) -> tuple[Any, ...]:
    """Return `labels` if they are `k` different ones, or the codes 0 to ``k - 1`` if there are none."""
    if labels is None:
        return tuple(range(k))
    try:
        given = () if isinstance(labels, str | bytes | dict | set | frozenset) else tuple(labels)
    except TypeError:
        given = ()
    if len(given) != k or not all(map(is_label, given)) or len(set(given)) != k:
        raise InvalidParameterError(
            "labels", owner=owner, must_be=f"a sequence of {k:,} different labels", got="something else"
        )
    return given


def label_column(labels: Sequence[Any]) -> list[Any]:
    """Return labels as one column of a frame: as they are if they are of one kind, and else as text.

    >>> label_column([1, 2]), label_column(["a", 1])
    ([1, 2], ['a', '1'])
    """
    kinds = {type(label) for label in labels if label is not None}
    return list(labels) if len(kinds) <= 1 and tuple not in kinds else list(map(str, labels))


def estimates_frame(columns: Mapping[str, Sequence[Any]], backend: Backend | None) -> Any:
    """Return columns as a frame of the library that is asked for."""
    return frames.make_frame(columns, backend=backend)
