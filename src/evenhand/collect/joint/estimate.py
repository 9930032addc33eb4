r"""Shares of people estimated for every combination of values.

When the attributes of a person are reported independently, each report supports some values of its own
attribute, and the share of the people with the combination :math:`a` is estimated without bias by the mean
over people of

.. math:: \prod_j \frac{1\{\text{report } j \text{ supports } a_j\} - q_j}{p_j - q_j}

Given the true values, a factor has mean 1 and second moment :math:`M_j` where the person's value is
:math:`a_j`, and mean 0 and second moment :math:`N_j` elsewhere. Where reports follow a matrix, the factor is
the score of the report, and its second moment depends on which value the person has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.errors import InvalidParameterError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.base import Protocol
    from evenhand.collect.reports.reports import Reports

    Floats = npt.NDArray[np.float64]

MOST_CELLS = 50_000_000
"""Most combinations of values, unless more are allowed."""

_BYTES_PER_CELL = 24  # a count, an estimate and a standard error
_BLOCK_BYTES = 1 << 25


@dataclass(frozen=True, eq=False, repr=False)
class JointFrequencies:
    """The estimated share of people with each combination of values.

    Attributes
    ----------
    values : array of float
        The estimates, one axis for each column; without bias, and so sometimes below 0 or above 1. NaN
        without reports.
    standard_error : array of float
        The standard error of each estimate: what the privacy noise does, about the people who reported.
    n : int
        How many people reported.
    columns : tuple of str
        The column of each axis.
    """

    values: Floats
    standard_error: Floats
    n: int
    columns: tuple[str, ...]

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.values.shape))
        return f"<shares of {shape} combinations of {', '.join(self.columns)} from {self.n:,} reports>"


def check_cells(sizes: Mapping[str, int], most_cells: int, *, subject: str) -> int:
    """Return how many combinations there are if they are few enough, else refuse them."""
    cells = math.prod(sizes.values())
    if cells > most_cells:
        shown = " x ".join(f"{column} ({k:,})" for column, k in list(sizes.items())[:20])
        more = "" if len(sizes) <= 20 else f" x {len(sizes) - 20} more"
        many = f"{cells:,}" if cells < 10**30 else f"about 10**{math.log10(cells):.0f}"
        size = f"{_BYTES_PER_CELL * cells:,} bytes, " if cells < 10**30 else ""
        raise LimitExceededError(
            f"{subject} of {shown}{more} has {many} combinations; their estimates would take {size}more than "
            f"the {_BYTES_PER_CELL * most_cells:,} bytes of {most_cells:,} combinations. "
            "Hint: report fewer columns together, or each on its own; most_cells=... allows more.",
            limit="most_cells",
        )
    return cells


def checked_shares(shares: npt.ArrayLike, shape: tuple[int, ...], *, owner: str) -> Floats:
    """Return an array of shares with one axis for each column, else refuse it."""
    array = np.asarray(shares, dtype=float)
    if array.shape != shape or not bool((array >= 0).all()) or not math.isclose(array.sum(), 1, abs_tol=1e-9):
        must_be = f"shares that sum to 1 in an array of shape {shape}"
        got = f"an array of shape {array.shape}" if array.shape != shape else "other numbers"
        raise InvalidParameterError("shares", owner=owner, must_be=must_be, got=got)
    return array


def as_shares(values: Floats) -> Floats:
    """Return estimates as shares: none below zero, one in all."""
    clipped = np.maximum(values, 0.0)
    total = clipped.sum()
    return np.asarray(clipped / total) if total > 0 else np.full_like(values, 1 / values.size)


def product_variance(shares: Floats, protocols: Sequence[Protocol]) -> Floats:
    """Return the variance of each estimate times the number of people, for the true shares given.

    The second moment of a product is averaged over the people: an axis contributes N for everybody, and
    M - N more for those who have the value.
    """
    moment = shares
    for axis, protocol in enumerate(protocols):
        moment = protocol.channel.square_axis(moment, axis)
    return np.maximum(0.0, moment - shares)


def product_shares(parts: Sequence[Reports], protocols: Sequence[Protocol]) -> Floats:
    """Return the estimated share of each combination; there must be reports."""
    n, shape = len(parts[0]), tuple(protocol.k for protocol in protocols)
    if all(isinstance(protocol.layout, IntegerLayout) for protocol in protocols):
        return _from_table(parts, protocols, shape)
    cuts = [(math.prod(shape[:cut]), math.prod(shape[cut:]), cut) for cut in range(1, len(shape) + 1)]
    left, right, half = min(cuts, key=lambda cut: cut[0] + cut[1])  # the halves with the fewest cells
    step = max(1, _BLOCK_BYTES // (8 * (left + right)))
    total = np.zeros((left, right))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        factors = [
            protocol.channel.factors(protocol.indicators(part[rows]))
            for part, protocol in zip(parts, protocols, strict=True)
        ]
        alone = np.ones((len(factors[0]), 1))
        total += _outer_rows(factors[:half]).T @ _outer_rows([alone, *factors[half:]])
    return (total / n).reshape(shape)


def _from_table(parts: Sequence[Reports], protocols: Sequence[Protocol], shape: tuple[int, ...]) -> Floats:
    """Return the estimates from a table of combinations, where each report names one value."""
    codes = np.ravel_multi_index([part.values.astype(np.int64) for part in parts], shape)
    return shares_from_table(np.bincount(codes, minlength=math.prod(shape)).reshape(shape), protocols)


def shares_from_table(table: npt.NDArray[Any], protocols: Sequence[Protocol]) -> Floats:
    """Return the estimated share of each combination from how many people reported it; somebody must have."""
    shares = table / int(table.sum())
    for axis, protocol in enumerate(protocols):
        shares = protocol.channel.undo_axis(shares, axis)
    return np.asarray(shares)


def _outer_rows(factors: Sequence[Floats]) -> Floats:
    """Return, row by row, the products of one entry of each factor, in row-major order."""
    rows = factors[0]
    for factor in factors[1:]:
        rows = (rows[:, :, None] * factor[:, None, :]).reshape(len(factor), -1)
    return rows
