"""Reading groups: the labels of one column, or the combinations of the labels of several."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from evenhand._validate import refuse
from evenhand.measure.columns import encode_groups, read_column, same_length
from evenhand.schema.crossing import MOST_COMBINATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Groups(NamedTuple):
    """The group of each row: a code per row, what each code stands for, and where it came from.

    A code stands for a label of the only column or, with a crossing, for a combination of labels; `crossed`
    then has the labels of each of its columns in order.
    """

    codes: NDArray[Any]
    labels: list[Any]
    columns: tuple[Any, ...]
    crossed: dict[str, tuple[Any, ...]]


def read_groups(group: Any, *, owner: str) -> Groups:
    """Return the groups of a column, or of the columns of a mapping or a data frame that are crossed.

    >>> read_groups({"sex": ["f", "m", "m"], "race": [0, 0, 1]}, owner="group_report").labels
    [('f', 0), ('f', 1), ('m', 0), ('m', 1)]
    """
    columns = crossed_columns(group)
    if columns is None:
        codes, labels = encode_groups(read_column(group, name="group", owner=owner), owner=owner)
        return Groups(codes, labels, (group,), {})
    return _cross(columns, owner=owner)


def crossed_columns(group: Any) -> dict[str, Any] | None:
    """Return the columns of a mapping or a data frame by name; None for a single column.

    >>> crossed_columns({"sex": ["f", "m"], "race": [0, 1]})
    {'sex': ['f', 'm'], 'race': [0, 1]}
    >>> crossed_columns(["f", "m"]) is None
    True
    """
    if isinstance(group, Mapping):
        return {str(name): column for name, column in group.items()}
    frame = nw.from_native(group, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return {name: frame.get_column(name).to_native() for name in frame.columns}


def _cross(columns: Mapping[str, Any], *, owner: str) -> Groups:
    if not columns:
        refuse("group", owner, "at least one column", "none")
    read = {name: read_column(column, name="group", owner=owner) for name, column in columns.items()}
    same_length([("group", column) for column in read.values()], owner=owner)
    encoded = [_used_labels(*encode_groups(column, owner=owner)) for column in read.values()]
    number = math.prod(len(labels) for _, labels in encoded)
    if number > MOST_COMBINATIONS:
        hint = "cross fewer columns, or put their values into fewer classes first."
        must_be = f"columns of at most {MOST_COMBINATIONS:,} combinations"
        refuse("group", owner, must_be, f"{number:,} of them", hint=hint)
    codes: NDArray[Any] = np.zeros(len(next(iter(read.values()))), np.uint8 if number <= 256 else np.uint16)
    for column, labels in encoded:
        codes *= len(labels)
        codes += column.astype(codes.dtype, copy=False)
    crossed = {name: tuple(labels) for name, (_, labels) in zip(read, encoded, strict=True)}
    return Groups(codes, list(product(*crossed.values())), tuple(columns.values()), crossed)


def _used_labels(codes: NDArray[Any], labels: list[Any]) -> tuple[NDArray[Any], list[Any]]:
    """Return codes without those that stand for nobody, so that a gap between numbers makes no group."""
    counts = np.bincount(codes, minlength=len(labels))
    if counts.all():
        return codes, labels
    places = np.cumsum(counts > 0) - 1
    kept = [label for label, count in zip(labels, counts.tolist(), strict=True) if count]
    return places[codes], kept
