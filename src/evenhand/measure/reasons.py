"""Why a measure has no value: a sentence for every NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evenhand.measure.gaps import COMPARED, DIFFERENCES, OVERALL, WORST_PAIR
from evenhand.measure.rates import PLACE, RATES, GroupRates, why_undefined

if TYPE_CHECKING:
    from evenhand.measure.counts import CountTable
    from evenhand.measure.rates import Shares, Tables

__all__ = ["Measured", "gap_reason", "group_rates", "measure_reason", "rate_reasons"]

_NO_ROWS = "There are no rows."
_NAMED_AT_MOST = 3


class Measured(float):
    """A float that says why it is NaN.

    Examples
    --------
    >>> undefined = Measured(float("nan"), "There are no rows.")
    >>> undefined, undefined.reason
    (nan, 'There are no rows.')
    >>> Measured(0.25) + 1
    1.25
    """

    reason: str

    def __new__(cls, value: float, reason: str = "") -> Self:
        """Return `value` with its `reason`."""
        measured = super().__new__(cls, value)
        measured.reason = reason
        return measured


def measure_reason(name: str, table: CountTable, tables: Tables, privileged: object) -> str:
    """Return why a measure of the count table is undefined, or nothing if it is defined."""
    if not table.groups:
        return _NO_ROWS
    if name in WORST_PAIR:
        return gap_reason(name, table, tables)
    if name in COMPARED:
        return _compared_reason(name, table, tables, privileged)
    for rate in OVERALL[name]:
        sentence = _why("There are", rate, tables.overall, table)
        if sentence:
            return sentence
    return ""


def gap_reason(name: str, table: CountTable, tables: Tables) -> str:
    """Return why a worst-pair gap is undefined, naming the groups at fault."""
    if not table.groups:
        return _NO_ROWS
    if not table.labelled and name != "sp_gap":
        return "No true labels were given."
    if len(table.groups) < 2:
        return "There is only one group, so there is no pair to compare."
    for rate in WORST_PAIR[name]:
        empty = np.flatnonzero(tables.groups.trials[:, PLACE[rate]] <= 0).tolist()
        if empty:
            named = [_why_group(place, rate, table, tables) for place in empty[:_NAMED_AT_MOST]]
            more = len(empty) - len(named)
            return " ".join(named) + (f" So it is with {more} more." if more else "")
    return ""


def group_rates(table: CountTable, tables: Tables, limit: int | None = None) -> dict[Any, GroupRates]:
    """Return the rates of each group by its label, or of the first `limit` groups."""
    labels = table.groups[:limit]
    sizes, rates = table.sizes[:limit].tolist(), tables.groups.values[:limit, : len(RATES)]
    undefined = set(np.flatnonzero(np.isnan(rates).any(axis=1)).tolist())
    rows = {}
    for place, (label, size, values) in enumerate(zip(labels, sizes, rates.tolist(), strict=True)):
        reasons = rate_reasons(place, table, tables) if place in undefined else {}
        selection, tpr, fpr, accuracy, precision, base_rate = values
        rows[label] = GroupRates(size, selection, tpr, fpr, accuracy, precision, base_rate, reasons)
    return rows


def rate_reasons(place: int, table: CountTable, tables: Tables) -> dict[str, str]:
    """Return the rates of one group that are undefined, each with its sentence."""
    found = {rate: _why_group(place, rate, table, tables) for rate in RATES}
    return {rate: sentence for rate, sentence in found.items() if sentence}


def _compared_reason(name: str, table: CountTable, tables: Tables, privileged: object) -> str:
    if privileged is None:
        return "No privileged group was named."
    rate = DIFFERENCES.get(name, "selection")
    first = f"The privileged group {privileged!r} has"
    for subject, shares in (
        (first, tables.privileged_side),
        ("The unprivileged side has", tables.other_side),
    ):
        sentence = _why(subject, rate, shares, table)
        if sentence:
            return sentence
    if name == "di" and tables.privileged_side.rate("selection") <= 0:
        return f"{first} a selection rate of 0, and the ratio divides by it."
    return ""


def _why_group(place: int, rate: str, table: CountTable, tables: Tables) -> str:
    shares = tables.groups
    row = type(shares)(shares.successes[place], shares.trials[place], shares.effective[place])
    return _why(f"Group {table.groups[place]!r} has", rate, row, table)


def _why(subject: str, rate: str, shares: Shares, table: CountTable) -> str:
    return why_undefined(subject, rate, shares, labelled=table.labelled, weighted=table.weighted)
