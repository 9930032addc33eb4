"""From codes and reports to the numbers that a model reads, laid out alike for every setting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.schema import Schema


_LARGEST_KEY = 2**63 - 1


class Block(NamedTuple):
    """The features of one column from `start` on: one for each value, or a single one that holds the code."""

    column: str
    start: int
    width: int

    @property
    def features(self) -> slice:
        """Its columns of the matrix."""
        return slice(self.start, self.start + self.width)


def layout(schema: Schema, encoder: str) -> tuple[Block, ...]:
    """Return the features of every column but the target, in the schema's order.

    The layout does not depend on the setting: under ``"narrow"`` a sensitive column has one feature for each
    value also where nothing is reported, so that settings differ in what is protected and in nothing else.

    >>> from evenhand.schema import Column, Domain, Schema
    >>> age, sex = Column("age", Domain.integers(18, 99)), Column("sex", Domain.categorical(["f", "m"]))
    >>> [block.width for block in layout(Schema([age, sex], sensitive="sex"), "narrow")]
    [1, 2]
    >>> [block.width for block in layout(Schema([age, sex], sensitive="age"), "narrow")]
    [82, 2]
    """
    blocks, start = [], 0
    for column in schema:
        if column.name == schema.target:
            continue
        ordered = column.domain.kind != "categorical" or column.domain.ordered
        one = encoder == "codes" or (encoder == "narrow" and column.name not in schema.sensitive and ordered)
        blocks.append(Block(column.name, start, 1 if one else column.size))
        start += blocks[-1].width
    return tuple(blocks)


def feature_matrix(
    codes: Mapping[str, NDArray[Any]],
    *,
    blocks: tuple[Block, ...],
    reported: Mapping[str, NDArray[Any]] | None = None,
    dtype: type[np.floating[Any]] = np.float64,
) -> NDArray[np.floating[Any]]:
    """Return one row of features for each person, from true codes and what some columns report instead.

    Reports are indicators, one column for each value, or codes. Single precision holds every code below
    2**24 exactly.

    >>> blocks = (Block("age", 0, 1), Block("sex", 1, 2))
    >>> feature_matrix({"age": np.array([3, 7]), "sex": np.array([1, 0])}, blocks=blocks)
    array([[3., 0., 1.],
           [7., 1., 0.]])
    """
    reported = {} if reported is None else reported
    people = len(codes[blocks[0].column])
    width = blocks[-1].start + blocks[-1].width
    matrix = np.zeros((people, width), dtype=dtype)
    rows = np.arange(people) * width
    for block in blocks:
        given = reported.get(block.column, codes[block.column])
        if block.width == 1 and given.ndim == 1:
            matrix[:, block.start] = given
        elif given.ndim == 1:
            matrix.reshape(-1)[rows + given + block.start] = 1
        else:
            matrix[:, block.features] = given
    return matrix


def distinct_rows(
    codes: Mapping[str, NDArray[Any]], *, sizes: Mapping[str, int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the places of rows that are all different, and for each row which of them it equals.

    `sizes` says how many codes each column has. None where there are more combinations than 64 bits number.

    >>> distinct_rows({"a": np.array([1, 0, 1]), "b": np.array([2, 2, 2])}, sizes={"a": 2, "b": 3})
    (array([1, 0]), array([1, 0, 1]))
    """
    if math.prod(sizes[name] for name in codes) > _LARGEST_KEY:
        return None
    key: Any = np.int64(0)
    for name, column in codes.items():
        key = key * sizes[name] + column.astype(np.int64)
    _, places, same = np.unique(key, return_index=True, return_inverse=True)
    return places, same
