"""What a study of releases calls things: mechanisms, measures, size classes and the numbers of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.release.mechanisms.registry import MECHANISMS

__all__ = [
    "GROUP_NUMBERS",
    "MEASURES_OF_A_RELEASE",
    "NO_GUARANTEE",
    "SIGNED",
    "SIZES",
    "SIZE_NUMBERS",
    "WORDS_OF_A_RELEASE",
    "Size",
    "size_of",
    "title_of",
]

NO_GUARANTEE = 0.01
"""From this delta on a release has no meaningful guarantee, whatever its epsilon."""


def title_of(name: str) -> str:
    """Return how a mechanism is called in a sentence.

    >>> title_of("k-anonymity"), title_of("grr")
    ('k-anonymity', 'GRR')
    """
    return MECHANISMS[name].label if name in MECHANISMS else name.upper()


# --- measures -------------------------------------------------------------------------------------

WORDS_OF_A_RELEASE = {
    "l1_error": "error of all cells together",
    "l1_bias": "bias of all cells together",
    "alpha": "largest minus smallest bias of a cell",
    "largest_bias": "largest bias of a cell",
    "delta": "delta",
    "claimed_epsilon": "epsilon of the claim",
    "suppressed": "share of cells not published",
    "net_people": "people published minus people there are",
    "bias_exact": "whether the bias is exact",
    "delta_tight": "whether delta is attained",
}
"""Each measure of a release in a few words, as inside a sentence."""

MEASURES_OF_A_RELEASE = tuple(WORDS_OF_A_RELEASE)
"""What every cell of a study of releases measures."""

GROUP_NUMBERS = ("counted", "published", "net", "expected_net", "cell_error", "person_error")
"""Of each group: true and published people, their difference, what is expected of it, and mean errors."""

SIGNED = ("net_people", "net", "expected_net")
"""Measures of a release and numbers of a group that may be below nought."""


# --- sizes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """A class of cells by how many people are in them.

    Parameters
    ----------
    least, most : int
        Both belong to the class; the last class has no end.
    """

    least: int
    most: int | None

    @property
    def label(self) -> str:
        """As an axis and a sentence say it.

        >>> Size(3, 9).label, Size(10_000, None).label, Size(0, 0).label
        ('3 to 9', '10,000 or more', 'none')
        """
        if self.most is None:
            return f"{self.least:,} or more"
        return "none" if not self.most else f"{self.least:,} to {self.most:,}"

    @property
    def key(self) -> str:
        """As names of columns have it, such as ``"3_9"``."""
        return str(self.least) if self.most in {None, self.least} else f"{self.least}_{self.most}"


SIZES = tuple(
    Size(least, most)
    for least, most in (
        (0, 0), (1, 2), (3, 9), (10, 29), (30, 99), (100, 299), (300, 999), (1_000, 2_999), (3_000, 9_999),
        (10_000, None),
    )
)  # fmt: skip
"""Classes of cells by size: empty ones, then about two for each power of ten."""

SIZE_NUMBERS = ("cells", "size", "error", "bias")
"""Of each class of cells: how many there are, and the means of true counts, absolute errors and biases."""

_STARTS = np.array([size.least for size in SIZES])


def size_of(counts: Any) -> Any:
    """Return the place among :data:`SIZES` of each count.

    >>> size_of(np.array([0, 2, 3, 250_000])).tolist()
    [0, 1, 2, 9]
    """
    return np.searchsorted(_STARTS, counts, side="right") - 1
