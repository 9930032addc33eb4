"""Tell what single releases of an allotment pay: payments below zero, and the worst 1 of 20 releases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.result.decided import Decided
    from evenhand.decide.result.payments import Payments
    from evenhand.privacy.randomness import SeededSource

    Values = NDArray[np.float64]

_CELLS, _MOST_CELLS = 4_000_000, 20_000_000  # payments that are drawn, and at most are
_FEWEST, _FEW, _MOST = 60, 400, 2_000  # releases: at least, unless there are very many entities, and at most
_AT_ONCE = 1 << 20
_WORST = 0.05


class Risks(NamedTuple):
    """Hold what single releases pay to each entity, as shares, and to sums of entities, in money."""

    billed: NDArray[np.float32]
    """The chance of each entity to be paid below zero."""
    worst: NDArray[np.float32]
    """What each entity is paid in the worst 1 of 20 releases."""
    billed_any: float
    """The chance that any entity is paid below zero."""
    draws: float
    """How many releases the chances were counted in; 0 where they are exact."""
    sums_worst: Values
    """What each sum comes to in the worst 1 of 20 releases."""
    sums_error: Values | None
    """The standard error of the expected sums, where biases were sampled; else None."""


def draw_risks(
    decided: Decided, payments: Payments, parts: Values, *, money: float = 1.0, source: SeededSource
) -> Risks:
    """Return what single releases pay.

    Parameters
    ----------
    decided : Decided
        Of an allotment.
    payments : Payments
        The law of its releases.
    parts : array
        The part of each entity in each sum, sums by entities: of a group of people in each entity, or 1 for
        the entities of a class.
    money : float
        What is divided, by which the sums are multiplied.
    source : SeededSource
        What releases are drawn from.

    Notes
    -----
    Biases come from pairs of draws, whose mean varies at most as one draw does.
    """
    paid, sums = _draw_payments(decided, payments, parts, source)
    exact = payments.below_zero()
    below = paid < 0
    billed = below.mean(axis=1) if exact is None else exact
    anybody = below.any(axis=0).mean() if exact is None else -np.expm1(np.log1p(-exact).sum())
    sums = sums * money
    return Risks(
        billed.astype(np.float32),
        _lowest(paid),
        float(anybody),
        paid.shape[1] if exact is None else 0.0,
        _lowest(sums),
        None if decided.draws is None else sums.std(axis=1, ddof=1) / math.sqrt(decided.draws / 2),
    )


def _draw_payments(
    decided: Decided, payments: Payments, parts: Values, source: SeededSource
) -> tuple[NDArray[np.float32], Values]:
    """Return the shares of drawn releases by entity, and their sums with the parts given."""
    size = len(decided)
    number = max(_FEWEST, min(_MOST, max(_FEW, _CELLS // size), _MOST_CELLS // size))
    paid, sums = np.empty((size, number), dtype=np.float32), np.empty((len(parts), number))
    rows = max(1, _AT_ONCE // max(1, size))
    for first in range(0, number, rows):
        shares = payments.draw(min(rows, number - first), source)
        shares = np.where(np.isfinite(shares), shares, decided.truth)  # no shares count as no error
        paid[:, first : first + rows] = shares.T
        sums[:, first : first + rows] = parts @ shares.T
    return paid, sums


def _lowest(paid: NDArray[Any]) -> NDArray[Any]:
    """Return the least amount of each row that at least one release of 20 does not exceed."""
    at = math.ceil(_WORST * paid.shape[1]) - 1
    return np.partition(paid, at, axis=1)[:, at]
