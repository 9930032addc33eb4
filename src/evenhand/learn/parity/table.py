"""From predictions counted once, with exact noise, to probabilities of keeping and promoting, and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import refuse
from evenhand.learn.parity.bounds import Bounds, Released, gap_bounds
from evenhand.learn.parity.closest import closest_odds, closest_rates
from evenhand.learn.parity.inputs import OWNER
from evenhand.measure.text_tables import aligned, html_table, number_text
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import ONE_ROW, Unit
from evenhand.privacy.sampling import discrete_laplace
from evenhand.privacy.scales import laplace_noise
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evenhand.learn.parity.closest import OddsRates, Rates
    from evenhand.learn.parity.inputs import Settings
    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

    Counts = NDArray[np.int64]

PRINTED = "ghoukasian2024, Algorithm 2: Laplace noise on the rate of each group, each by its own size"
_ONE_CELL = "each person is counted in one cell"
_GROUPS_FIXED = (
    "as in ghoukasian2024, the groups of all people and so their sizes are public, and only what is "
    "predicted for a person may change"
)


@dataclass(frozen=True, eq=False)
class PredictionTable:
    """Counts of groups by prediction, or by label and prediction.

    Attributes
    ----------
    counts : array of (groups, 2) or (groups, 2, 2)
        As they may be shown: with noise, and so perhaps below 0, unless `scale` is None. The last axis is the
        prediction, negative first; the one before it, if there is one, the label.
    scale : Fraction or None
        The scale of the discrete Laplace noise.
    draws : int
        In how many numbers noise was drawn.
    guarantee : Guarantee or None
        What the people counted are promised; None for a table without noise.
    """

    counts: Counts
    scale: Fraction | None
    draws: int
    guarantee: Guarantee | None

    @property
    def at_least_0(self) -> Counts:
        """The counts with none below 0."""
        return np.maximum(self.counts, 0)

    @property
    def by_prediction(self) -> Counts:
        """The counts, none below 0, of groups by prediction."""
        counts: Counts = self.at_least_0
        return counts if counts.ndim == 2 else counts.sum(axis=1)

    @property
    def sizes(self) -> Counts:
        """The size of each group, as far as the table tells."""
        return self.by_prediction.sum(axis=1)  # type: ignore[no-any-return]


def count_predictions(
    groups: NDArray[np.intp],
    predicted: NDArray[np.bool_],
    *,
    n_groups: int,
    labels: NDArray[np.bool_] | None = None,
) -> Counts:
    """Return how many rows there are of each group and prediction; with labels, of each label too.

    >>> count_predictions(np.array([0, 0, 1]), np.array([True, False, True]), n_groups=2).tolist()
    [[1, 1], [0, 1]]
    """
    if labels is None:
        return np.bincount(2 * groups + predicted, minlength=2 * n_groups).reshape(n_groups, 2)
    cells = 4 * groups + 2 * labels + predicted
    return np.bincount(cells, minlength=4 * n_groups).reshape(n_groups, 2, 2)


def true_table(counts: Counts) -> PredictionTable:
    """Return the table as it is, which promises nothing to anybody."""
    return PredictionTable(counts, None, 0, None)


def noisy_table(
    counts: Counts,
    *,
    epsilon: Number,
    unit: Unit,
    source: Source,
    assumptions: Sequence[str] = (),
    before_draw: Callable[[Guarantee], object] | None = None,
) -> PredictionTable:
    r"""Return the table with discrete Laplace noise on every cell.

    The scale is :math:`1/\varepsilon` where one person is added or removed, who changes one count by 1, and
    :math:`2/\varepsilon` where one is replaced by another.

    **Guarantee.** Pure central differential privacy with `epsilon`; unit: as given; tight. Neither the size
    of a group nor the group of a person need be public. Numerics: exact.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> table = noisy_table(np.array([[70, 30], [5, 5]]), epsilon="1/2", unit=Unit.ADD_OR_REMOVE_ONE,
    ...                     source=SeededSource(7))
    >>> table.scale, table.draws, table.guarantee.epsilon
    (Fraction(2, 1), 4, Fraction(1, 2))
    """
    noise = laplace_noise(epsilon, sensitivity=2 if unit is Unit.REPLACE_ONE else 1)
    guarantee = Guarantee.pure(
        noise.epsilon,
        unit=unit,
        trust="central",
        protects=("features", "group") if counts.ndim == 2 else ("features", "group", "label"),
        in_clear=("people scored later",),
        tight=True,
        proof="the Laplace mechanism on one table of predictions",
        assumptions=(ONE_ROW, _ONE_CELL, *assumptions),
    )
    if before_draw is not None:
        before_draw(guarantee)
    noisy = counts + discrete_laplace(noise.scale, size=counts.shape, source=source)
    return PredictionTable(noisy, noise.scale, counts.size, guarantee)


def printed_table(
    counts: Counts,
    *,
    epsilon: Number,
    source: Source,
    assumptions: Sequence[str] = (),
    before_draw: Callable[[Guarantee], object] | None = None,
) -> PredictionTable:
    r"""Return the table as the thesis does: sizes as they are, noise on the positives of each group.

    The thesis adds Laplace noise of scale :math:`1/(n_a \varepsilon)` to the rate of a group of :math:`n_a`
    people. Here it is discrete noise of scale :math:`1/\varepsilon` on the count, which is then divided.

    **Guarantee.** Pure central differential privacy with `epsilon` where one person's features are replaced
    and everybody's group stays and is public: only one group's rate moves. The thesis adds up the groups'
    epsilons, which is more than is lost. It does not cover secret groups or sizes, and neither does this.
    """
    noise = laplace_noise(epsilon, sensitivity=1)
    guarantee = Guarantee.pure(
        noise.epsilon,
        unit=Unit.REPLACE_ONE,
        trust="central",
        protects=("features",),
        in_clear=("group", "people scored later"),
        tight=True,
        proof=PRINTED,
        assumptions=(ONE_ROW, _GROUPS_FIXED, *assumptions),
    )
    if before_draw is not None:
        before_draw(guarantee)
    sizes = counts.sum(axis=1)
    positive = counts[:, 1] + discrete_laplace(noise.scale, size=len(counts), source=source)
    positive = np.clip(positive, 0, sizes)
    return PredictionTable(
        np.stack([sizes - positive, positive], axis=1), noise.scale, len(counts), guarantee
    )


def spread_of_means(chance: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    """Return the largest difference of the groups' means; groups without rows have none."""
    seen = np.bincount(codes)
    means = np.bincount(codes, weights=chance)[seen > 0] / seen[seen > 0]
    return float(means.max() - means.min()) if means.size else float("nan")


# --- what is made of the table ------------------------------------------------------------------------

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
        refuse(
            "group",
            f"{OWNER}.fit",
            f"such that every group has {rows} among those that the rates are counted in",
            "a group without",
            hint="leave the group out of 'groups', or keep more rows back.",
        )


def find_rates(table: PredictionTable, settings: Settings) -> Rates | OddsRates:
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


def find_changes(table: PredictionTable, rates: Any, groups: tuple[Any, ...]) -> Changes:
    """Return what is changed on average, by group, as far as the table tells."""
    sizes = table.sizes
    everyone = table.by_prediction.sum(axis=0)
    counts = np.where(sizes[:, None] > 0, table.by_prediction, np.maximum(everyone, 1e-300))
    positive = counts[:, 1] / counts.sum(axis=1)
    shares = sizes / sizes.sum() if sizes.sum() else np.full(len(sizes), 1 / len(sizes))
    return Changes(groups, (1 - positive) * rates.promote, positive * (1 - rates.keep), shares)


def bound_gaps(
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
