"""How many people of each group were predicted what, counted once and with exact noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.sampling import discrete_laplace
from evenhand.privacy.scales import laplace_noise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

    Counts = NDArray[np.int64]

__all__ = ["PredictionTable", "count_predictions", "noisy_table", "printed_table", "true_table"]

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
    counts: Counts, *, epsilon: Number, unit: Unit, source: Source, assumptions: Sequence[str] = ()
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
        assumptions=(_ONE_CELL, *assumptions),
    )
    noisy = counts + discrete_laplace(noise.scale, size=counts.shape, source=source)
    return PredictionTable(noisy, noise.scale, counts.size, guarantee)


def printed_table(
    counts: Counts, *, epsilon: Number, source: Source, assumptions: Sequence[str] = ()
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
        assumptions=(_GROUPS_FIXED, *assumptions),
    )
    sizes = counts.sum(axis=1)
    positive = counts[:, 1] + discrete_laplace(noise.scale, size=len(counts), source=source)
    positive = np.clip(positive, 0, sizes)
    return PredictionTable(
        np.stack([sizes - positive, positive], axis=1), noise.scale, len(counts), guarantee
    )
