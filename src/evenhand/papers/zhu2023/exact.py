r"""What the tables of zhu2023 would show without randomness: exact biases, and the deltas that are true.

Cells with the count :math:`x`, noise of scale :math:`b = 2 / \varepsilon`, threshold :math:`k`:

- Laplace noise, rounded and clipped: :math:`\tfrac12 e^{-(x + 1/2) / b} / (1 - e^{-1/b})`;
- integer noise, clipped: :math:`\sum_{j \ge x} \Pr[\eta > j]`;
- suppression by equation (2): :math:`(\lfloor k/2 \rfloor - x) \Pr[x + \eta < k]`;
- swapping of cells: Proposition 1, :math:`(\sum_{j \in I} x_j - n_Q x) / (e^\varepsilon + n_Q - 1)`.

The bounds on bias and alpha, Theorems 2, 4 and 7 to 9, are those of :mod:`evenhand.release.alpha_bounds`.
They hold for equation (2) with the fill :math:`k/2`, for swapping of cells, and for continuous Laplace noise
of scale :math:`2/\varepsilon` that is clipped at zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.zhu2023.data import GAUSSIAN, LAPLACE, SUPPRESSION, SWAPPING
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace
from evenhand.release import alpha_bounds
from evenhand.release.delta.noise import exact_delta

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.release.table.histogram import Histogram

    Values = NDArray[np.float64]

_WIDE = 60.0


def variance(epsilon: Fraction, *, printed: bool = False) -> Fraction:
    """Return the variance of the discrete Gaussian noise: that which fits the tables, or that of the text.

    >>> variance(0.5), variance(0.5, printed=True)
    (40.0, 16.0)
    """
    return 4 / epsilon**2 if printed else 20 / epsilon


# --- biases ---------------------------------------------------------------------------------------


def rounded_bias(counts: Any, epsilon: Fraction) -> Values:
    """Return the bias of rounded Laplace noise, clipped at zero.

    >>> float(rounded_bias(np.array([0]), 4).round(4)[0])
    0.2127
    """
    rate = float(epsilon) / 2
    found: Values = 0.5 * np.exp(-(np.asarray(counts) + 0.5) * rate) / -math.expm1(-rate)
    return found


def clipped_bias(counts: Any, law: DiscreteGaussian | DiscreteLaplace) -> Values:
    """Return the bias of integer noise, clipped at zero.

    >>> float(clipped_bias(np.array([3]), DiscreteLaplace(2)).round(6)[0])
    0.214097
    """
    flat = np.asarray(counts)
    last = int(flat.max()) + math.ceil(_WIDE * law.standard_deviation) + 1
    tails = np.asarray(law.sf(np.arange(last)))
    found: Values = np.cumsum(tails[::-1])[::-1][flat]
    return found


def suppression_bias(counts: Any, epsilon: Fraction, threshold: int, *, fill: float | None = None) -> Values:
    """Return the bias of equation (2), with half of the threshold rounded down as the fill unless told.

    >>> float(suppression_bias(np.array([4]), 1, 6).round(6)[0])
    -0.81606
    """
    flat = np.asarray(counts)
    below = np.asarray(Laplace(2 / epsilon).cdf(threshold - flat))
    found: Values = ((threshold // 2 if fill is None else fill) - flat) * below
    return found


def biases(histogram: Histogram, epsilon: Fraction, threshold: int) -> dict[str, Values]:
    """Return the exact bias of every mechanism that has a formula, as the paper drew it."""
    counts: Any = np.asarray(histogram.counts).ravel()
    return {
        LAPLACE: rounded_bias(counts, epsilon),
        GAUSSIAN: clipped_bias(counts, DiscreteGaussian(variance(epsilon))),
        SUPPRESSION: suppression_bias(counts, epsilon, threshold),
        SWAPPING: alpha_bounds.swapping_bias(histogram.as_matrix(), epsilon=float(epsilon)).ravel(),
    }


def compare_bounds(matrix: Any, epsilon: Fraction, threshold: int) -> dict[str, tuple[float, float]]:
    """Return what each theorem is about, and what it says that is at most; Theorem 4 is an equation.

    The matrix of counts has a row for each combination of the other columns.
    """
    counts, level = np.ravel(matrix), float(epsilon)
    suppressed = suppression_bias(counts, epsilon, threshold, fill=threshold / 2)
    swapped = alpha_bounds.swapping_bias(matrix, epsilon=level)
    at: Any = {"threshold": threshold, "epsilon": level}
    return {
        "theorem 2": (float(np.abs(suppressed).sum()), alpha_bounds.suppression_l1_bound(counts, **at)),
        "theorem 4": (float(np.abs(swapped).sum()), alpha_bounds.swapping_l1(matrix, epsilon=level)),
        "theorem 7": (float(np.ptp(suppressed)), alpha_bounds.suppression_alpha_bound(counts, **at)),
        "theorem 8": (float(np.ptp(swapped)), alpha_bounds.swapping_alpha_bound(matrix, epsilon=level)),
        "theorem 9": (
            alpha_bounds.laplace_alpha(counts, epsilon=level),
            alpha_bounds.laplace_alpha_bound(counts, epsilon=level),
        ),
    }


# --- delta ----------------------------------------------------------------------------------------


def printed_gaussian(epsilon: Fraction) -> float:
    """Return delta as in the tables: that of zero-concentrated privacy with rho = epsilon / 10.

    >>> round(printed_gaussian(1), 6)
    0.131994
    """
    rho = float(epsilon) / 10
    return math.exp(-((float(epsilon) - rho) ** 2) / (4 * rho))


def gaussian_delta(noise: Fraction, epsilon: Fraction | float) -> float:
    """Return the exact delta of the discrete Gaussian of this variance when one person is replaced."""
    return float(exact_delta(noise, epsilon, cells=2))


def suppression_theorem(epsilon: Fraction, threshold: int, bound: int) -> float:
    """Return the delta of Theorem 1.

    >>> round(suppression_theorem(1, 5, 8), 6)
    0.987553
    """
    return 1 - math.exp(-float(epsilon) * (bound - threshold)) / 4


def suppression_delta(epsilon: Fraction, threshold: int, bound: int) -> float:
    """Return the exact delta of equation (2), at every epsilon from half of its own on.

    >>> round(suppression_delta(1, 5, 8), 6)
    0.979479
    """
    below = Laplace(2 / epsilon).cdf(np.array([threshold - bound, threshold - bound + 1]))
    return float(1 - np.prod(below))


def keep_probability(epsilon: Fraction, size: int) -> float:
    """Return gamma, the probability that a cell stays."""
    return 1 / (1 + (size - 1) * math.exp(-float(epsilon)))


def swapping_theorem(epsilon: Fraction, size: int) -> float:
    """Return the delta of Theorem 3 as printed.

    >>> round(swapping_theorem(1, 9), 4)
    0.8743
    """
    stay = keep_probability(epsilon, size)
    return 1 - (1 - stay**2) / (size - 1) - ((1 - stay) / (size - 1)) ** 2


def swapping_delta(epsilon: Fraction, size: int) -> float:
    """Return delta with the sign put right: exact where only quasi-identifiers may change, at any epsilon.

    >>> round(swapping_delta(1, 9), 6)
    0.891744
    """
    stay = keep_probability(epsilon, size)
    return 1 - (1 - stay**2) / (size - 1) + ((1 - stay) / (size - 1)) ** 2


def anonymity_delta(epsilon: Fraction) -> float:
    """Return the exact delta of publishing a sample with the share 1 - exp(-epsilon), at any epsilon."""
    return -math.expm1(-float(epsilon))
