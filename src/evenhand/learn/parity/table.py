"""From predictions counted once, with exact noise, to probabilities of answers, and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notebook import aligned, html_table, number_text
from evenhand._validate import refuse
from evenhand.learn.parity.bounds import Bounds, Released, gap_bounds
from evenhand.learn.parity.class_bounds import class_gap_bounds
from evenhand.learn.parity.closest import closest_odds, closest_rates
from evenhand.learn.parity.closest_classes import ClassRates, closest_class_rates
from evenhand.learn.parity.inputs import OWNER
from evenhand.measure.report_text import group_text
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
_EACH_ROW = "each row is counted in one cell"
_GROUPS_FIXED = (
    "as in ghoukasian2024, the groups of all people and so their sizes are public, and only what is "
    "predicted for a person may change"
)


@dataclass(frozen=True, eq=False)
class PredictionTable:
    """Counts of groups by prediction, or by label and prediction.

    Attributes
    ----------
    counts : array of (groups, classes) or (groups, classes, classes)
        As they may be shown: with noise, and so perhaps below 0, unless `scale` is None. The last axis is the
        prediction, of two classes the negative one first; the one before it, if there is one, the label.
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
    predicted: NDArray[Any],
    *,
    n_groups: int,
    n_classes: int = 2,
    labels: NDArray[Any] | None = None,
) -> Counts:
    """Return how many rows there are of each group and prediction; with labels, of each label too.

    >>> count_predictions(np.array([0, 0, 1]), np.array([1, 0, 1]), n_groups=2).tolist()
    [[1, 1], [0, 1]]
    """
    columns = [groups, predicted] if labels is None else [groups, labels, predicted]
    shape = (n_groups, *[n_classes] * (len(columns) - 1))
    cells = np.ravel_multi_index([column.astype(np.intp, copy=False) for column in columns], shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def true_table(counts: Counts) -> PredictionTable:
    """Return the table as it is, which promises nothing to anybody."""
    return PredictionTable(counts, None, 0, None)


def noisy_table(
    counts: Counts,
    *,
    epsilon: Number,
    unit: Unit,
    source: Source,
    rows_per_person: int = 1,
    assumptions: Sequence[str] = (),
    before_draw: Callable[[Guarantee], object] | None = None,
) -> PredictionTable:
    r"""Return the table with discrete Laplace noise on every cell.

    The scale is :math:`1/\varepsilon` where one person is added or removed, who changes one count by 1, and
    :math:`2/\varepsilon` where one is replaced by another; so many times that if one person may have several
    rows, each of which changes one count.

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
    noise = laplace_noise(epsilon, sensitivity=rows_per_person * (2 if unit is Unit.REPLACE_ONE else 1))
    guarantee = Guarantee.pure(
        noise.epsilon,
        unit=unit,
        trust="central",
        protects=("features", "group") if counts.ndim == 2 else ("features", "group", "label"),
        in_clear=("people scored later",),
        tight=True,
        proof="the Laplace mechanism on one table of predictions",
        assumptions=(*((ONE_ROW, _ONE_CELL) if rows_per_person == 1 else (_EACH_ROW,)), *assumptions),
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
            [visible(group_text(group)), number_text(up), number_text(down), number_text(up + down)]
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


@dataclass(frozen=True, eq=False, repr=False)
class ClassChanges:
    """Which share of people is given another answer than the classifier's, on average, with several classes.

    Attributes
    ----------
    groups, classes : tuple
        The labels of the groups and of the classes.
    gained, lost : array of (groups, classes)
        The share of each group that is moved to each class, and away from it.
    shares : array
        The share of all people that each group is. All of them come from the released table.
    """

    groups: tuple[object, ...]
    classes: tuple[object, ...]
    gained: NDArray[np.float64]
    lost: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def changed(self) -> NDArray[np.float64]:
        """The share of each group that is given another answer."""
        return np.asarray(self.gained.sum(axis=1))

    @property
    def overall(self) -> float:
        """The share of all people that is given another answer."""
        return float(self.changed @ self.shares)

    def _rows(self) -> list[list[str]]:
        net = self.gained - self.lost
        heads = ["Group", *(f"{visible(str(label))}" for label in self.classes), "changed"]
        rows = [
            [visible(group_text(group)), *map(_signed_text, moved), number_text(changed)]
            for group, moved, changed in zip(self.groups, net, self.changed, strict=True)
        ]
        everybody = ["all people", *map(_signed_text, self.shares @ net), number_text(self.overall)]
        return [heads, *rows, everybody]

    def __repr__(self) -> str:
        return "\n".join([_CLASSES_MOVED, *aligned(self._rows())])

    def _repr_html_(self) -> str:
        return f"<div><p>{_CLASSES_MOVED}</p>{html_table(self._rows())}</div>"


_CLASSES_MOVED = "By how much the share of each class changes, and the share of people whose answer does"


def _signed_text(number: float) -> str:
    return f"{0.0 if abs(number) < 5e-4 else number:+.3f}"


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


def find_rates(table: PredictionTable, settings: Settings) -> Rates | OddsRates | ClassRates:
    """Return the cheapest rates whose gap is the target; a group that seems empty has the rates of all."""
    sizes = [int(size) for size in table.sizes]
    total = sum(sizes)
    weights = [Fraction(size, total) if total else Fraction(1) for size in sizes]
    if not settings.by_people:
        weights = [Fraction(1)] * len(sizes)
    if settings.kind == "odds":
        numbers = np.array([float(weight) for weight in weights])
        return closest_odds(table.at_least_0, gap=float(settings.gap), weights=numbers, aim=settings.aim)
    if table.counts.shape[-1] > 2:
        return _find_class_rates(table, settings, np.array([float(weight) for weight in weights]))
    positive = [int(count) for count in table.by_prediction[:, 1]]
    everyone = Fraction(sum(positive), total) if total else _HALF
    rates: Any = [Fraction(n, size) if size else everyone for n, size in zip(positive, sizes, strict=True)]
    if settings.aim == "changes":
        return closest_rates(rates, gap=settings.gap, weights=weights)
    return closest_rates(rates, gap=settings.gap, costs=_error_costs(table.at_least_0, weights))


def _find_class_rates(table: PredictionTable, settings: Settings, weights: NDArray[np.float64]) -> ClassRates:
    costs = None
    if settings.aim == "accuracy":  # by how much more often an answer is wrong, given group and prediction
        counts = table.at_least_0.astype(np.float64)
        seen = counts.sum(axis=1, keepdims=True)
        right = np.where(seen > 0, counts / np.maximum(seen, 1), np.eye(counts.shape[1])).swapaxes(1, 2)
        costs = np.diagonal(right, axis1=1, axis2=2)[:, :, None] - right
    return closest_class_rates(_filled_shares(table), gap=settings.gap, weights=weights, costs=costs)


def _filled_shares(table: PredictionTable) -> NDArray[np.float64]:
    """Return the share of each prediction in each group; a group that seems empty has those of all."""
    counts = table.by_prediction
    everyone = np.maximum(counts.sum(axis=0), 1e-300)
    filled = np.where(table.sizes[:, None] > 0, counts, everyone)
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


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


def find_changes(
    table: PredictionTable, rates: Any, groups: tuple[Any, ...], classes: tuple[Any, ...] = ()
) -> Changes | ClassChanges:
    """Return what is changed on average, by group, as far as the table tells."""
    sizes, predicted = table.sizes, _filled_shares(table)
    shares = sizes / sizes.sum() if sizes.sum() else np.full(len(sizes), 1 / len(sizes))
    if not isinstance(rates, ClassRates):
        positive = predicted[:, 1]
        return Changes(groups, (1 - positive) * rates.promote, positive * (1 - rates.keep), shares)
    moved = predicted[..., None] * rates.transition * (1 - np.eye(len(classes)))
    return ClassChanges(groups, classes, moved.sum(axis=1), moved.sum(axis=2), shares)


def bound_gaps(
    table: PredictionTable,
    rates: Any,
    settings: Settings,
    *,
    groups: tuple[Any, ...],
    classes: tuple[Any, ...] = (),
    confidence: float,
) -> Bounds:
    """Return the bounds of every gap, from what was released alone."""
    public = settings.as_printed or table.scale is None
    sizes: Any = "true" if table.scale is None else "public" if settings.as_printed else "noisy"
    if isinstance(rates, ClassRates):
        per_count = len(classes) if table.counts.ndim == 3 else 1
        released = Released(table.by_prediction, table.scale, table.draws, per_count, public)
        names = [f"rate of {visible(str(label))}" for label in classes]
        terms: Any = {"names": names, "gap": float(settings.gap), "confidence": confidence}
        return Bounds(
            float(settings.gap),
            float(confidence),
            class_gap_bounds(released, rates.transition, **terms),
            groups,
            sizes,
        )
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
