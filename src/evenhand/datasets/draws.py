"""Draws for the data that evenhand makes itself: the same on every machine and with every numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._lazy import lazy
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

special = lazy("scipy.special")


class Draws:
    """Uniform and normal draws of one data set, from a seed.

    The uniform draws are made from the source's words, whose stream numpy has frozen, and everything
    else from the uniform draws, so that a seed always gives the same rows.

    Parameters
    ----------
    dataset : str
        Name of the data set. Two data sets with one seed have unrelated streams.
    seed : int
        The seed.

    Examples
    --------
    >>> Draws("example", 0).uniform(3).round(3)
    array([...])
    """

    def __init__(self, dataset: str, seed: int) -> None:
        self._source = SeededSource(seed, cell=f"datasets/{dataset}")

    def uniform(self, size: int) -> NDArray[np.float64]:
        """Return numbers strictly between 0 and 1."""
        words = self._source.words(size) >> np.uint64(11)
        return np.asarray((words.astype(np.float64) + 0.5) * 2.0**-53)

    def normal(self, size: int) -> NDArray[np.float64]:
        """Return standard normal numbers, by the inverse of the distribution function."""
        return np.asarray(special.ndtri(self.uniform(size)))

    def binomial(self, trials: NDArray[np.int64], chance: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return one binomial number for each pair, by the inverse of the distribution function."""
        place = self.uniform(len(trials))
        some = trials > 0
        n, u, p = trials[some], place[some], chance[some]

        def is_reached(count: NDArray[np.float64]) -> NDArray[np.bool_]:
            # bdtr is off by 1e-5 for millions of trials; the incomplete beta function is not.
            return np.asarray(
                (count >= n) | (special.betainc(np.maximum(n - count, 1), count + 1, 1 - p) >= u)
            )

        counted = np.clip(np.ceil(np.nan_to_num(special.bdtrik(u, n, p))), 0, n)
        counted = np.where(is_reached(np.maximum(counted - 1, 0)), np.maximum(counted - 1, 0), counted)
        counted = np.where(is_reached(counted), counted, counted + 1)
        counts = np.zeros(len(trials), dtype=np.int64)
        counts[some] = counted
        return counts
