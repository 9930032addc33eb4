"""From a table of predictions to probabilities of keeping and promoting, bounds and what is changed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity.bounds import Bounds, Released, gap_bounds
from evenhand.learn.parity.inputs import OWNER
from evenhand.learn.parity.odds import closest_odds
from evenhand.learn.parity.rates import closest_rates
from evenhand.measure.text_tables import aligned, html_table, number_text
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.learn.parity.inputs import Settings
    from evenhand.learn.parity.odds import OddsRates
    from evenhand.learn.parity.rates import Rates
    from evenhand.learn.parity.table import PredictionTable

__all__ = ["PARTS", "Changes", "bounds_from", "changes_from", "rates_from", "refuse_empty"]

PARTS = {"parity": ("positive rate",), "odds": ("false positive rate", "true positive rate")}
"""Which gaps are bounded and measured, by kind."""

_HALF = Fraction(1, 2)


@dataclass(frozen=True, eq=False, repr=False)
class Changes:
    """Which share of people is given another answer than the classifier's, on average.

    Attributes
    ----------
    groups : tuple
        The labels of the groups.
    up, down : array
        The share of each group that goes from negative to positive, and from positive to negative.
    shares : array
        The share of all people that each group is. All of them come from the released table.
    """

    groups: tuple[object, ...]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def overall(self) -> float:
        """The share of all people that is given another answer."""
        return float(((self.up + self.down) * self.shares).sum())

    def _rows(self) -> list[list[str]]:
        all_up, all_down = float((self.up * self.shares).sum()), float((self.down * self.shares).sum())
        numbers = zip(self.groups, self.up, self.down, strict=True)
        rows = [
            [visible(str(group)), number_text(up), number_text(down), number_text(up + down)]
            for group, up, down in numbers
        ]
        return [
            ["Group", "up", "down", "changed"],
            *rows,
            ["all people", number_text(all_up), number_text(all_down), number_text(self.overall)],
        ]

    def __repr__(self) -> str:
        return "\n".join(["Share of people whose answer is changed, on average", *aligned(self._rows())])

    def _repr_html_(self) -> str:
        return (
            f"<div><p>Share of people whose answer is changed, on average</p>{html_table(self._rows())}</div>"
        )


def refuse_empty(counts: NDArray[np.int64], *, labelled: bool) -> None:
    """Refuse true counts in which a group has no rate. Never called where the counts are private."""
    seen = counts.sum(axis=-1)
    if not (seen if labelled else seen.reshape(len(counts), -1).sum(axis=1)).all():
        rows = "rows of both classes" if labelled else "rows"
        raise InvalidParameterError(
            "group",
            owner=f"{OWNER}.fit",
            must_be=f"such that every group has {rows} among those that the rates are counted in",
            got="a group without",
            hint="leave the group out of 'groups', or keep more rows back.",
        )


def rates_from(table: PredictionTable, settings: Settings) -> Rates | OddsRates:
    """Return the cheapest rates whose gap is the target; a group that seems empty has the rate of all."""
    sizes = [int(size) for size in table.sizes]
    total = sum(sizes)
    weights = [Fraction(size, total) if total else Fraction(1) for size in sizes]
    if not settings.by_people:
        weights = [Fraction(1)] * len(sizes)
    if settings.kind == "odds":
        numbers = np.array([float(weight) for weight in weights])
        return closest_odds(table.at_least_0, gap=float(settings.gap), weights=numbers, aim=settings.aim)
    positive = [int(count) for count in table.by_prediction[:, 1]]
    everyone = Fraction(sum(positive), total) if total else _HALF
    rates: Any = [Fraction(n, size) if size else everyone for n, size in zip(positive, sizes, strict=True)]
    if settings.aim == "changes":
        return closest_rates(rates, gap=settings.gap, weights=weights)
    return closest_rates(rates, gap=settings.gap, costs=_error_costs(table.at_least_0, weights))


def _error_costs(counts: NDArray[np.int64], weights: list[Fraction]) -> Any:
    """Return how many more answers are wrong if a rate is lowered by one, and if it is raised by one."""
    pairs = []
    for place in (1, 0):  # of predictions: lowering changes positive ones, raising negative ones
        right, wrong = counts[:, place, place].tolist(), counts[:, 1 - place, place].tolist()
        pairs.append(
            [
                weight * (Fraction(yes - no, yes + no) if yes + no else 1)
                for yes, no, weight in zip(right, wrong, weights, strict=True)
            ]
        )
    return tuple(pairs)


def changes_from(table: PredictionTable, rates: Any, groups: tuple[Any, ...]) -> Changes:
    """Return what is changed on average, by group, as far as the table tells."""
    sizes = table.sizes
    everyone = table.by_prediction.sum(axis=0)
    counts = np.where(sizes[:, None] > 0, table.by_prediction, np.maximum(everyone, 1e-300))
    positive = counts[:, 1] / counts.sum(axis=1)
    shares = sizes / sizes.sum() if sizes.sum() else np.full(len(sizes), 1 / len(sizes))
    return Changes(groups, (1 - positive) * rates.promote, positive * (1 - rates.keep), shares)


def bounds_from(
    table: PredictionTable, rates: Any, settings: Settings, *, groups: tuple[Any, ...], confidence: float
) -> Bounds:
    """Return the bounds of every gap, from what was released alone."""
    public = settings.as_printed or table.scale is None
    sizes: Any = "true" if table.scale is None else "public" if settings.as_printed else "noisy"
    odds, k = settings.kind == "odds", len(groups)
    counted = [table.at_least_0[:, label] for label in (0, 1)] if odds else [table.by_prediction]
    per_count = 2 if table.counts.ndim == 3 and not odds else 1
    parts = tuple(
        gap_bounds(
            Released(counts, table.scale, table.draws, per_count, public),
            rates.keep,
            rates.promote,
            name=name,
            gap=float(settings.gap),
            confidence=confidence,
            intervals=2 * k if odds else k,
            epsilon=settings.epsilon if not odds else None,
        )
        for name, counts in zip(PARTS[settings.kind], counted, strict=True)
    )
    return Bounds(float(settings.gap), float(confidence), parts, groups, sizes)
