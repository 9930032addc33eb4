"""What single releases do: payments below zero, the worst of 20 releases, and how sure sampled sums are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.study.tasks.decide.measures import sizes_of
from evenhand.study.tasks.decide.names import ENTITY_SIZES, entity_size_of

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """What single releases of an allotment pay, and the standard errors of sums of sampled figures.

    `columns` has, of each entity, the chance of a payment below zero (``billed``) and what it is paid in the
    worst 1 of 20 releases (``worst``), as shares. `data` has the chance that any entity is paid below zero
    (``billed_any``) and how many releases these chances were counted in (``billed_draws``, 0 where they are
    exact); of each class by size it has ``worst``, in money, and where figures were sampled ``gain_error``,
    or for a rule ``refused_error`` and ``granted_error``. `groups` has the same of each group of people.
    """

    columns: dict[str, NDArray[np.floating[Any]]]
    data: dict[str, float]
    groups: dict[str, dict[str, float]]


def risks_of(decided: Decided, *, money: float, source: SeededSource) -> Risks:
    """Return what single releases do; nothing where that is not known or, for a right, exact."""
    people = {name: np.asarray(column, dtype=np.float64) for name, column in decided.populations.items()}
    sizes = sizes_of(decided)
    classes = entity_size_of(sizes)
    places = sorted(set(classes.tolist()))
    members = np.array([classes == place for place in places], dtype=np.float64)
    columns: dict[str, NDArray[np.floating[Any]]] = {}
    data: dict[str, float] = {}
    if decided.kind == "rule":
        numbers = _rule_errors(decided, np.array([*people.values(), *(members * sizes)]))
    elif decided.payments is None:
        numbers = []
    else:
        paid, sums = _draw(decided, decided.payments, np.array([*_parts(people), *members]), source)
        exact = decided.payments.below_zero()
        below = paid < 0
        columns = {"billed": (below.mean(axis=1) if exact is None else exact), "worst": _lowest(paid)}
        columns = {name: values.astype(np.float32) for name, values in columns.items()}
        anybody = below.any(axis=0).mean() if exact is None else -np.expm1(np.log1p(-exact).sum())
        data = {"billed_any": float(anybody), "billed_draws": 0.0 if exact is not None else paid.shape[1]}
        numbers = _of_sums(decided, sums * money)
    for place, of_class in zip(places, numbers[len(people) :], strict=False):
        data |= {f"{name}_{ENTITY_SIZES[place].key}": value for name, value in of_class.items()}
    return Risks(columns, data, dict(zip(people, numbers, strict=False)))


def _draw(
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


def _rule_errors(decided: Decided, people: Values) -> list[dict[str, float]]:
    """Return the standard errors of the people refused and granted in each row; none where it is exact."""
    if decided.standard_error is None:
        return []
    truth = np.asarray(decided.truth)
    errors = people * np.asarray(decided.standard_error)
    found = []
    for row in errors:
        parts = {"refused_error": row[truth], "granted_error": row[~truth]}
        found.append(
            {
                name: float(own.sum() if decided.coupled else np.sqrt((own**2).sum()))
                for name, own in parts.items()
            }
        )
    return found


def _parts(people: Mapping[str, Values]) -> list[Values]:
    """Return the part of each entity's money that each group of people has."""
    total = sum(people.values(), np.zeros(()))
    return [np.divide(own, total, out=np.zeros_like(own), where=total > 0) for own in people.values()]


def _lowest(paid: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the least amount of each row that at least one release of 20 does not exceed."""
    at = math.ceil(_WORST * paid.shape[1]) - 1
    return np.partition(paid, at, axis=1)[:, at]


def _of_sums(decided: Decided, sums: Values) -> list[dict[str, float]]:
    """Return the worst of each sum, and the standard error of its mean where biases were sampled.

    Biases come from pairs of draws, whose mean varies at most as one draw does.
    """
    found = [{"worst": float(worst)} for worst in _lowest(sums)]
    if decided.draws is not None:
        errors = sums.std(axis=1, ddof=1) / math.sqrt(decided.draws / 2)
        found = [{**each, "gain_error": float(error)} for each, error in zip(found, errors, strict=True)]
    return found
