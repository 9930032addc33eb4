"""From probabilities of answers to the answers themselves, and how far apart groups are with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.learn.parity.closest_classes import ClassRates
from evenhand.learn.parity.key import BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]


def answer_chances(rates: Any) -> Values:
    """Return the probability of each answer (last axis) for each group and prediction.

    >>> from evenhand.learn.parity.closest import closest_rates
    >>> answer_chances(closest_rates([0.6, 0.3]))[0].tolist()
    [[1.0, 0.0], [0.25, 0.75]]
    """
    if isinstance(rates, ClassRates):
        return rates.transition
    positive = np.stack([rates.promote, rates.keep], axis=1)
    return np.stack([1 - positive, positive], axis=2)


def choose_answers(
    chances: Values, codes: NDArray[np.intp], predicted: NDArray[np.intp], numbers: NDArray[np.uint64]
) -> NDArray[np.intp]:
    """Return the answer of each row by its uniform number below 2**53: the last class has the lowest ones."""
    reached = np.cumsum(chances[..., :0:-1], axis=-1)[..., ::-1]  # of a class and all after it
    limits = np.rint(reached * 2.0**BITS).astype(np.uint64)[codes, predicted]
    return np.asarray((numbers[:, None] < limits).sum(axis=1))


def spread_of_groups(chances: Values, codes: NDArray[np.intp]) -> float:
    """Return the largest difference of the groups' means; groups without rows have none."""
    seen = np.bincount(codes)
    means = np.bincount(codes, weights=chances)[seen > 0] / seen[seen > 0]
    return float(means.max() - means.min()) if means.size else float("nan")
