"""Labels, limits and frames, as tables of estimates show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.measure.columns import is_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.table.frames import Backend

__all__ = ["as_labels", "estimates_frame", "label_column", "limits_text"]


def limits_text(low: float, high: float) -> str:
    """Return two limits in three decimals, or that there are none."""
    return "undefined" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def as_labels(labels: Sequence[Any] | None, k: int, *, owner: str) -> tuple[Any, ...]:
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
    from evenhand.table.frames import make_frame  # noqa: PLC0415 - pyarrow is slow to import

    return make_frame(columns, backend=backend)
