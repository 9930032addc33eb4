"""Which features a declared column becomes, and how its codes are written into them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.errors import InvalidParameterError, LimitExceededError, SchemaError
from evenhand.learn.encoding.numbers import FEW, Scale, bin_cuts, is_number, places_of, scale_of
from evenhand.schema.values import interval_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from evenhand.learn.encoding.numbers import Numbers
    from evenhand.schema import Column, Schema

__all__ = ["Block", "blocks_of"]

Way = Literal["one-hot", "linear", "log", "log and linear", "bins"]

_MOST_FEATURES = 1 << 16


@dataclass(frozen=True)
class Block:
    """The features of one column.

    Parameters
    ----------
    column : Column
        The declaration, from which everything here follows.
    way : {"one-hot", "linear", "log", "log and linear", "bins"}
        What its codes become.
    """

    column: Column
    way: Way

    @cached_property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        if self.way == "one-hot":
            return tuple(f"_{label}" for label in self.column.labels)
        if self.way == "bins":
            made = tuple(f"_{label}" for label in interval_labels(self._bin_edges))
        else:
            made = {"linear": ("",), "log": ("_log",), "log and linear": ("_log", "")}[self.way]
        return (*made, "_other") if self.column.has_other else made

    @property
    def width(self) -> int:
        """How many features there are."""
        if self.way == "one-hot":
            return self.column.size
        return len(self.suffixes)

    def write(self, codes: NDArray[Any], view: NDArray[np.floating[Any]]) -> None:
        """Write the features of some rows into `view`, which holds noughts."""
        rows = np.arange(len(codes))
        if self.way == "one-hot":
            view[rows, codes] = 1
            return
        if self.column.has_other:
            other = codes == self.column.other_code
            view[other, -1] = 1
            rows, codes = rows[~other], codes[~other]
        places = places_of(self.column.domain, codes)
        if self.way == "bins":
            view[rows, np.searchsorted(bin_cuts(self._scale), places, side="right")] = 1
            return
        if self.way != "linear":
            view[rows, 0] = self._scale.logarithmic(places)
        if self.way == "linear":
            view[rows, 0] = self._scale.linear(places)
        elif self.way == "log and linear":
            view[rows, 1] = self._scale.proportional(places)

    def describe(self) -> str:
        """Say what is taken from the declaration, as the end of a sentence about the column."""
        bounds = f"{self._scale.low:g} to {self._scale.high:g}" if self.way != "one-hot" else ""
        return {
            "one-hot": f"{self.column.size:,} declared values",
            "linear": f"scaled by the declared range {bounds}",
            "log": f"signed logarithm scaled by the declared range {bounds}",
            "log and linear": f"signed logarithm and value, scaled by the declared range {bounds}",
            "bins": f"bins of the declared range {bounds}",
        }[self.way]

    @cached_property
    def _scale(self) -> Scale:
        return scale_of(self.column.domain)

    @property
    def _bin_edges(self) -> tuple[float, ...]:
        low, high = self._scale.low, self._scale.high
        return (low, *(low + float(cut) for cut in bin_cuts(self._scale)), high)


def blocks_of(schema: Schema, names: Iterable[str], numbers: Numbers, *, owner: str) -> tuple[Block, ...]:
    """Return the features of these columns, or refuse what cannot be laid out.

    Raises
    ------
    SchemaError
        If a rule would drop rows.
    InvalidParameterError
        If there is no column, or two features would have one name.
    LimitExceededError
        If there would be more than 65,536 features.
    """
    blocks = tuple(Block(schema[name], _way(schema[name], numbers)) for name in names)
    if not blocks:
        must_be, got = "such that a column is left", "none"
        raise InvalidParameterError("columns", owner=owner, must_be=must_be, got=got)
    for block in blocks:
        _refuse_dropping(block.column)
    width = sum(block.width for block in blocks)
    if width > _MOST_FEATURES:
        widest = max(blocks, key=lambda block: block.width).column.name
        raise LimitExceededError(
            f"There would be {width:,} features, more than {_MOST_FEATURES:,}; the most come from column "
            f"'{widest}'. Hint: declare a coarser domain, or leave the column out.",
            limit="features",
        )
    _refuse_twins(blocks, owner)
    return blocks


def written(
    blocks: tuple[Block, ...], codes: Mapping[str, NDArray[Any]], dtype: type[np.floating[Any]] = np.float64
) -> NDArray[np.floating[Any]]:
    """Return one row of features for each row of codes."""
    rows = len(codes[blocks[0].column.name])
    made = np.zeros((rows, sum(block.width for block in blocks)), dtype)
    start = 0
    for block in blocks:
        block.write(np.asarray(codes[block.column.name]), made[:, start : start + block.width])
        start += block.width
    return made


def _way(column: Column, numbers: Numbers) -> Way:
    domain = column.domain
    if not is_number(domain) or (numbers == "auto" and domain.size <= FEW):
        return "one-hot"
    if numbers == "bins" and domain.size <= FEW:
        return "one-hot"
    scale = scale_of(domain)  # refuses numbers that are too large
    if numbers == "auto":
        return "log and linear" if scale.is_wide else "linear"
    return numbers


def _refuse_dropping(column: Column) -> None:
    for rule in ("outside", "nulls"):
        if getattr(column, rule) == "drop":
            raise SchemaError(
                f"Column '{column.name}' is declared with {rule}='drop', and a transformer of scikit-learn "
                f"may not change the number of rows. Hint: declare {rule}='other', or leave the rows out "
                "first: Table.encode(frame, schema).to_frame() is a frame without them.",
                field=f"columns.{column.name}.{rule}",
            )


def _refuse_twins(blocks: tuple[Block, ...], owner: str) -> None:
    owners: dict[str, str] = {}
    for block in blocks:
        for suffix in block.suffixes:
            feature = block.column.name + suffix
            if feature in owners:
                got = f"two, one from '{owners[feature]}' and one from '{block.column.name}'"
                must_be = "such that no two features have one name"
                hint = "rename one of the two columns."
                raise InvalidParameterError("schema", owner=owner, must_be=must_be, got=got, hint=hint)
            owners[feature] = block.column.name
