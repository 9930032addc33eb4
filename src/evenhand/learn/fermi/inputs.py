"""Groups and settings of DPFermi, read and checked. No message holds a label or a number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.learn.columns import places_among, refuse, require_length
from evenhand.measure.columns import encode_labels, read_column
from evenhand.privacy.sampling import discrete_laplace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import Source

__all__ = ["MOST_GROUPS", "noisy_shares", "public_groups", "read_groups"]

MOST_GROUPS = 1_000


def public_groups(groups: Sequence[Any] | None, *, owner: str) -> list[Any] | None:
    """Return the declared groups in the order given, at least two; None if none are declared."""
    if groups is None:
        return None
    must_be = "a list of two groups or more, each once and all of one type"
    try:
        column = read_column(groups, name="groups", owner=owner)
        seen = encode_labels(column, name="groups", owner=owner)[1]
    except InvalidParameterError:
        refuse("groups", owner, must_be, f"a value of type {type(groups).__name__}")
    if not 2 <= len(seen) <= MOST_GROUPS or len(seen) != len(column):
        refuse("groups", owner, must_be, "others")
    return list(column.tolist())


def read_groups(
    group: Any, rows: int, *, owner: str, groups: list[Any] | None
) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the place of each row's group among the groups, and the groups.

    Parameters
    ----------
    group : array or column
        One label for each row.
    rows : int
        How many there must be.
    owner : str
        Who asks, for messages.
    groups : list, optional
        The public groups. Without them they are read from the rows, where two at least must occur.
    """
    if group is None:
        refuse("group", owner, "given: the group of each row", "nothing")
    column = read_column(group, name="group", owner=owner)
    require_length("group", len(column), rows, owner=owner)
    if groups is None:
        codes, seen = encode_labels(column, name="group", owner=owner)
        if not 2 <= len(seen) <= MOST_GROUPS:
            hint = (
                "name the groups with groups=[...] if one of them may have no rows; cut numbers into classes."
            )
            must_be = f"labels of at least two groups, and of at most {MOST_GROUPS:,}"
            refuse("group", owner, must_be, "one group" if len(seen) < 2 else "more groups", hint=hint)
        return codes.astype(np.int64), seen
    must_be = "labels that are among 'groups'"
    return places_among(column, groups, name="group", owner=owner, must_be=must_be).astype(np.int64), groups


def noisy_shares(
    groups: NDArray[np.int64],
    kinds: NDArray[np.int16],
    shape: tuple[int, int],
    *,
    scale: Fraction,
    source: Source,
) -> NDArray[np.float64]:
    """Return the share of each group, within each kind of row, from counts with discrete Laplace noise.

    A row is in one cell of the table, so adding or removing a row moves one count by 1. Counts below 1 are
    set to 1: no share is 0.
    """
    counts = np.bincount(kinds.astype(np.int64) * shape[1] + groups, minlength=shape[0] * shape[1]).reshape(
        shape
    )
    noisy = np.maximum(counts + discrete_laplace(scale, size=shape, source=source), 1)
    return np.asarray(noisy / noisy.sum(axis=1, keepdims=True))
