"""Which features a declared column becomes, and how its codes are written into them.

Numbers become features between -1 and 1, by their declared bounds alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from evenhand._validate import refuse
from evenhand.errors import LimitExceededError, SchemaError
from evenhand.schema.values import interval_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from evenhand.schema import Column, Domain, Schema

Numbers = Literal["auto", "linear", "log", "bins"]
"""How declared numbers become features."""

NUMBERS: tuple[Numbers, ...] = get_args(Numbers)

FEW = 20
"""Under ``"auto"`` a number of at most so many declared values has one feature for each of them."""

WIDE = 1_000
"""A declared range is wide if its largest magnitude is more than so many times its smallest: three orders."""

_BINS = 10
_MOST_STEPS = 40
_LARGEST = 1e300


@dataclass(frozen=True)
class Scale:
    """The public constants of one declared number.

    Parameters
    ----------
    low, high : int or float
        The declared bounds; whole ones are kept as such, so that their distance is exact.
    unit : float
        The step of the declaration: 1 for whole numbers, else the narrowest distance between two values.
    """

    low: float
    high: float
    unit: float = 1

    @property
    def is_wide(self) -> bool:
        """Whether the declared range spans more than three orders of magnitude."""
        smallest = 0.0 if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))
        return max(abs(self.low), abs(self.high)) > WIDE * max(smallest, self.unit)

    def linear(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return -1 at the low bound and 1 at the high one; `places` are distances from the low bound."""
        span = self.high - self.low
        if not span:
            return np.zeros_like(places)
        return np.clip(2.0 * (places / span) - 1.0, -1.0, 1.0)

    def proportional(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value over the largest declared magnitude, so that 0 stays 0."""
        return np.clip((self.low + places) / max(abs(self.low), abs(self.high)), -1.0, 1.0)

    def logarithmic(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the same for the signed logarithm, ``sign(v) ln(1 + |v| / unit)``."""
        low, high = (
            float(_signed_log(np.asarray(end, np.float64), self.unit)) for end in (self.low, self.high)
        )
        if not high > low:  # too narrow for its distance from 0
            return self.linear(places)
        values = _signed_log(self.low + places, self.unit)
        return np.clip(2.0 * (values - low) / (high - low) - 1.0, -1.0, 1.0)


def is_number(domain: Domain) -> bool:
    """Say whether the values are numbers with an order: a range, bins or an ordered list of numbers."""
    return (
        domain.ordered
        and not domain.rule
        and (domain.kind != "categorical" or domain.value_type in (int, float))
    )


def scale_of(domain: Domain) -> Scale:
    """Return the constants of a number, from its declaration alone.

    Examples
    --------
    >>> from evenhand.schema import Domain
    >>> scale_of(Domain.integers(17, 90))
    Scale(low=17, high=90, unit=1)
    >>> scale_of(Domain.integers(0, 99_999)).is_wide, scale_of(Domain.integers(1_900, 2_100)).is_wide
    (True, False)
    """
    if domain.kind == "integers":
        return Scale(domain.low, domain.high)
    ends = np.sort(np.asarray(domain.edges if domain.kind == "binned" else domain.values, np.float64))
    unit = float(np.diff(ends).min()) if len(ends) > 1 else 1.0
    scale = Scale(float(ends[0]), float(ends[-1]), unit)
    largest = max(abs(scale.low), abs(scale.high))
    if largest > _LARGEST or largest > _LARGEST * unit:
        refuse(
            "schema",
            "PublicEncoder",
            "one whose numbers, and whose numbers over their narrowest step, are at most 1e300",
            f"a domain of {domain.describe()}",
        )
    return scale


def places_of(domain: Domain, codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far above the low bound the value of each code is; that of a bin is its middle."""
    if domain.kind == "integers":
        return codes.astype(np.float64)
    if domain.kind == "binned":
        edges = np.asarray(domain.edges)
        table = edges[:-1] / 2 + edges[1:] / 2 - edges[0]
    else:
        values = np.asarray(cast("tuple[float, ...]", domain.values), np.float64)
        table = values - values.min()
    return cast("NDArray[np.float64]", table[codes])


def bin_cuts(scale: Scale) -> NDArray[np.float64]:
    r"""Return the inner edges of the bins of ``numbers="bins"``, as distances from the low bound.

    A wide range is cut at :math:`\pm u 10^{j/2}` where :math:`u` is the unit, another one into ten
    equal parts.

    Examples
    --------
    >>> [int(cut) for cut in bin_cuts(Scale(0.0, 20_000.0, 1.0))]
    [1, 3, 10, 31, 100, 316, 1000, 3162, 10000]
    """
    if not scale.is_wide:
        return np.linspace(0, scale.high - scale.low, _BINS + 1)[1:-1]
    largest = max(abs(scale.low), abs(scale.high))
    count = min(_MOST_STEPS, 2 * math.ceil(math.log10(largest / scale.unit)))
    steps = scale.unit * 10.0 ** (np.arange(count) / 2)
    cuts = np.concatenate([-steps[::-1], steps])
    return cuts[(cuts > scale.low) & (cuts < scale.high)] - scale.low


def _signed_log(values: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    return np.copysign(np.log1p(np.abs(values) / unit), values)


Method = Literal["one-hot", "linear", "log", "log and linear", "bins"]

_MOST_FEATURES = 1 << 16


@dataclass(frozen=True)
class Block:
    """The features of one column.

    Parameters
    ----------
    column : Column
        The declaration, from which everything here follows.
    method : {"one-hot", "linear", "log", "log and linear", "bins"}
        What its codes become.
    """

    column: Column
    method: Method

    @cached_property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        if self.method == "one-hot":
            return tuple(f"_{label}" for label in self.column.labels)
        if self.method == "bins":
            suffixes = tuple(f"_{label}" for label in interval_labels(self._bin_edges))
        else:
            suffixes = {"linear": ("",), "log": ("_log",), "log and linear": ("_log", "")}[self.method]
        return (*suffixes, "_other") if self.column.has_other else suffixes

    @property
    def width(self) -> int:
        """How many features there are."""
        if self.method == "one-hot":
            return self.column.size
        return len(self.suffixes)

    def write(self, codes: NDArray[Any], view: NDArray[np.floating[Any]]) -> None:
        """Write the features of some rows into `view`, which holds zeros."""
        rows = np.arange(len(codes))
        if self.method == "one-hot":
            view[rows, codes] = 1
            return
        if self.column.has_other:
            other = codes == self.column.other_code
            view[other, -1] = 1
            rows, codes = rows[~other], codes[~other]
        places = places_of(self.column.domain, codes)
        if self.method == "bins":
            view[rows, np.searchsorted(bin_cuts(self._scale), places, side="right")] = 1
            return
        scaled = self._scale.linear if self.method == "linear" else self._scale.logarithmic
        view[rows, 0] = scaled(places)
        if self.method == "log and linear":
            view[rows, 1] = self._scale.proportional(places)

    def describe(self) -> str:
        """Say what is taken from the declaration, as the end of a sentence about the column."""
        bounds = f"{self._scale.low:g} to {self._scale.high:g}" if self.method != "one-hot" else ""
        return {
            "one-hot": f"{self.column.size:,} declared values",
            "linear": f"scaled by the declared range {bounds}",
            "log": f"signed logarithm scaled by the declared range {bounds}",
            "log and linear": f"signed logarithm and value, scaled by the declared range {bounds}",
            "bins": f"bins of the declared range {bounds}",
        }[self.method]

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
    blocks = tuple(Block(schema[name], _choose_method(schema[name], numbers)) for name in names)
    if not blocks:
        refuse("columns", owner, "such that a column is left", "none")
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


def write_features(
    blocks: tuple[Block, ...], codes: Mapping[str, NDArray[Any]], dtype: type[np.floating[Any]] = np.float64
) -> NDArray[np.floating[Any]]:
    """Return one row of features for each row of codes."""
    rows = len(codes[blocks[0].column.name])
    features = np.zeros((rows, sum(block.width for block in blocks)), dtype)
    start = 0
    for block in blocks:
        block.write(np.asarray(codes[block.column.name]), features[:, start : start + block.width])
        start += block.width
    return features


def _choose_method(column: Column, numbers: Numbers) -> Method:
    domain = column.domain
    if not is_number(domain) or (numbers in {"auto", "bins"} and domain.size <= FEW):
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
                refuse("schema", owner, must_be, got, hint=hint)
            owners[feature] = block.column.name
