r"""The bounds of zhu2023 on bias and alpha, Theorems 2, 4 and 7 to 9, beside what they bound.

They hold for equation (2) with the fill :math:`k/2`, for swapping of cells, and for continuous Laplace
noise of scale :math:`2/\varepsilon` that is clipped at nought, on counts :math:`x_1 \le \dots \le x_n`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.zhu2023 import exact
from evenhand.privacy.laws import Laplace

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["BOUNDS", "bounded", "laplace_alpha", "theorem_7", "theorem_8", "theorem_9"]

BOUNDS = ("theorem 2", "theorem 4", "theorem 7", "theorem 8", "theorem 9")


def theorem_7(counts: Any, epsilon: Fraction, threshold: int) -> float:
    """Return the bound on alpha of suppression."""
    least, most = float(np.min(counts)), float(np.max(counts))
    first, last = (float(each) for each in _below(np.array([least, most]), epsilon, threshold))
    half = threshold / 2
    return (most - least) * first + max(abs(half - least), abs(half - most)) * (first - last)


def theorem_8(counts: Any, epsilon: Fraction, size: int) -> float:
    """Return the bound on alpha of swapping."""
    return 2 * size * float(np.ptp(counts)) / (math.exp(epsilon) + size - 1)


def theorem_9(counts: Any, epsilon: Fraction) -> float:
    """Return the bound on alpha of Laplace noise.

    >>> from fractions import Fraction
    >>> round(theorem_9([2, 50], Fraction(1, 2)), 4)
    14.5567
    """
    return math.exp(-float(epsilon) * float(np.min(counts)) / 2) / 2 * float(np.ptp(counts))


def laplace_alpha(counts: Any, epsilon: Fraction) -> float:
    """Return alpha of Laplace noise exactly.

    >>> from fractions import Fraction
    >>> round(laplace_alpha([2, 50], Fraction(1, 2)), 6)
    1.213054
    """
    rate = float(epsilon)
    return (math.exp(-rate * float(np.min(counts)) / 2) - math.exp(-rate * float(np.max(counts)) / 2)) / rate


def bounded(matrix: Any, epsilon: Fraction, threshold: int) -> dict[str, tuple[float, float]]:
    """Return what each theorem is about, and what it says that is at most; Theorem 4 is an equation.

    Parameters
    ----------
    matrix : array
        Counts with a row for each combination of the other columns.
    epsilon : Fraction
    threshold : int
    """
    rows = np.asarray(matrix)
    counts = rows.ravel()
    size = rows.shape[1]
    suppressed = exact.suppression_bias(counts, epsilon, threshold, fill=threshold / 2)
    swapped = exact.swapping_bias(rows, epsilon)
    below = _below(counts, epsilon, threshold)
    cauchy = float(np.linalg.norm(threshold / 2 - counts) * np.linalg.norm(below))
    deviation = np.abs(rows - rows.mean(axis=1, keepdims=True)).mean(axis=1)
    fourth = size / (math.exp(epsilon) + size - 1) * size * float(deviation.sum())
    return {
        "theorem 2": (float(np.abs(suppressed).sum()), cauchy),
        "theorem 4": (float(np.abs(swapped).sum()), fourth),
        "theorem 7": (float(np.ptp(suppressed)), theorem_7(counts, epsilon, threshold)),
        "theorem 8": (float(np.ptp(swapped)), theorem_8(counts, epsilon, size)),
        "theorem 9": (laplace_alpha(counts, epsilon), theorem_9(counts, epsilon)),
    }


def _below(counts: Values, epsilon: Fraction, threshold: int) -> Values:
    return np.asarray(Laplace(2 / epsilon).cdf(threshold - np.asarray(counts)))
