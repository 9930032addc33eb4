r"""What the tables of zhu2023 would show without randomness: exact biases, and the deltas that are true.

Cells with the count :math:`x`, noise of scale :math:`b = 2 / \varepsilon`, threshold :math:`k`:

- Laplace noise, rounded and clipped: :math:`\tfrac12 e^{-(x + 1/2) / b} / (1 - e^{-1/b})`;
- integer noise, clipped: :math:`\sum_{j \ge x} \Pr[\eta > j]`;
- suppression by equation (2): :math:`(\lfloor k/2 \rfloor - x) \Pr[x + \eta < k]`;
- swapping of cells: Proposition 1, :math:`(\sum_{j \in I} x_j - n_Q x) / (e^\varepsilon + n_Q - 1)`.

The bounds on bias and alpha, Theorems 2, 4 and 7 to 9, stand beside what they bound. They hold for equation
(2) with the fill :math:`k/2`, for swapping of cells, and for continuous Laplace noise of scale
:math:`2/\varepsilon` that is clipped at zero, on counts :math:`x_1 \le \dots \le x_n`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.zhu2023.data import GAUSSIAN, LAPLACE, SUPPRESSION, SWAPPING
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.release.table.histogram import Histogram

    Values = NDArray[np.float64]

_WIDE = 60.0


def variance(epsilon: Fraction, *, printed: bool = False) -> Fraction:
    """Return the variance of the discrete Gaussian noise: that which fits the tables, or that of the text.

    >>> from fractions import Fraction
    >>> variance(Fraction(1, 2)), variance(Fraction(1, 2), printed=True)
    (Fraction(40, 1), Fraction(16, 1))
    """
    return 4 / epsilon**2 if printed else 20 / epsilon


# --- biases ---------------------------------------------------------------------------------------


def rounded_bias(counts: Any, epsilon: Fraction) -> Values:
    """Return the bias of rounded Laplace noise, clipped at zero.

    >>> from fractions import Fraction
    >>> float(rounded_bias(np.array([0]), Fraction(4)).round(4)[0])
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

    >>> from fractions import Fraction
    >>> float(suppression_bias(np.array([4]), Fraction(1), 6).round(6)[0])
    -0.81606
    """
    flat = np.asarray(counts)
    below = Laplace(2 / epsilon).cdf(threshold - flat)
    found: Values = ((threshold // 2 if fill is None else fill) - flat) * np.asarray(below)
    return found


def swapping_bias(matrix: Any, epsilon: Fraction) -> Values:
    """Return Proposition 1 of a table with a row for each combination of the other columns.

    >>> from fractions import Fraction
    >>> swapping_bias(np.array([[5, 1, 0]]), Fraction(1)).round(6).tolist()
    [[-1.907474, 0.635825, 1.271649]]
    """
    rows = np.asarray(matrix)
    size = rows.shape[1]
    found: Values = (rows.sum(axis=1, keepdims=True) - size * rows) / (math.exp(epsilon) + size - 1)
    return found


def biases(histogram: Histogram, epsilon: Fraction, threshold: int) -> dict[str, Values]:
    """Return the exact bias of every mechanism that has a formula, as the paper drew it."""
    counts: Any = np.asarray(histogram.counts).ravel()
    return {
        LAPLACE: rounded_bias(counts, epsilon),
        GAUSSIAN: clipped_bias(counts, DiscreteGaussian(variance(epsilon))),
        SUPPRESSION: suppression_bias(counts, epsilon, threshold),
        SWAPPING: swapping_bias(histogram.as_matrix(), epsilon).ravel(),
    }


# --- delta ----------------------------------------------------------------------------------------


def printed_gaussian(epsilon: Fraction) -> float:
    """Return delta as in the tables: that of zero-concentrated privacy with rho = epsilon / 10.

    >>> from fractions import Fraction
    >>> round(printed_gaussian(Fraction(1)), 6)
    0.131994
    """
    rho = float(epsilon) / 10
    return math.exp(-((float(epsilon) - rho) ** 2) / (4 * rho))


def gaussian_delta(noise: Fraction, epsilon: Fraction | float) -> float:
    """Return the exact delta of the discrete Gaussian of this variance when one person is replaced.

    The loss of the two cells that change is (S + 1) / variance, where S is the sum of their noise.

    >>> from fractions import Fraction
    >>> f"{gaussian_delta(Fraction(25), 1):.10e}"
    '2.2867086696e-05'
    """
    law = DiscreteGaussian(noise)
    reach = math.ceil(_WIDE / 1.5 * law.standard_deviation) + 2
    mass = np.asarray(law.pmf(np.arange(-reach, reach + 1)))
    sums = np.convolve(mass, mass)
    loss = (np.arange(-2 * reach, 2 * reach + 1) + 1) / float(noise)
    parts = np.where(loss > float(epsilon), -np.expm1(np.minimum(float(epsilon) - loss, 0.0)), 0.0)
    return math.fsum(sums * parts)


def suppression_theorem(epsilon: Fraction, threshold: int, bound: int) -> float:
    """Return the delta of Theorem 1.

    >>> from fractions import Fraction
    >>> round(suppression_theorem(Fraction(1), 5, 8), 6)
    0.987553
    """
    return 1 - math.exp(-float(epsilon) * (bound - threshold)) / 4


def suppression_delta(epsilon: Fraction, threshold: int, bound: int) -> float:
    """Return the exact delta of equation (2), at every epsilon from half of its own on.

    >>> from fractions import Fraction
    >>> round(suppression_delta(Fraction(1), 5, 8), 6)
    0.979479
    """
    below = Laplace(2 / epsilon).cdf(np.array([threshold - bound, threshold - bound + 1]))
    return float(1 - np.prod(below))


def keep_probability(epsilon: Fraction, size: int) -> float:
    """Return gamma, the probability that a cell stays.

    >>> from fractions import Fraction
    >>> round(keep_probability(Fraction(1), 9), 4)
    0.2536
    """
    return 1 / (1 + (size - 1) * math.exp(-float(epsilon)))


def swapping_theorem(epsilon: Fraction, size: int) -> float:
    """Return the delta of Theorem 3 as printed.

    >>> from fractions import Fraction
    >>> round(swapping_theorem(Fraction(1), 9), 4)
    0.8743
    """
    stay = keep_probability(epsilon, size)
    return 1 - (1 - stay**2) / (size - 1) - ((1 - stay) / (size - 1)) ** 2


def swapping_delta(epsilon: Fraction, size: int) -> float:
    """Return delta with the sign put right: exact where only quasi-identifiers may change, at any epsilon.

    >>> from fractions import Fraction
    >>> round(swapping_delta(Fraction(1), 9), 6)
    0.891744
    """
    stay = keep_probability(epsilon, size)
    return 1 - (1 - stay**2) / (size - 1) + ((1 - stay) / (size - 1)) ** 2


def anonymity_theorem(epsilon: Fraction, *, most: int = 200) -> tuple[float, int]:
    """Return the delta of Theorem 5 with its sampling share 1 - exp(-epsilon), and the count it is met at.

    >>> from fractions import Fraction
    >>> found = anonymity_theorem(Fraction(1))
    >>> from fractions import Fraction
    >>> round(found[0], 4), found[1]
    (0.9061, 3)
    """
    share = -math.expm1(-float(epsilon))
    best = (1.0, 0)
    for count in range(1, most + 1):
        kept = range(math.floor(share * count) + 1)
        below = math.fsum(
            math.comb(count, each) * share**each * (1 - share) ** (count - each) for each in kept
        )
        best = min(best, (below, count))
    return 1 - best[0] ** 2, best[1]


def anonymity_delta(epsilon: Fraction) -> float:
    """Return the exact delta of publishing a sample with the share 1 - exp(-epsilon), at any epsilon.

    >>> from fractions import Fraction
    >>> round(anonymity_delta(Fraction(1)), 4)
    0.6321
    """
    return -math.expm1(-float(epsilon))


# --- bounds ---------------------------------------------------------------------------------------


BOUNDS = ("theorem 2", "theorem 4", "theorem 7", "theorem 8", "theorem 9")


def theorem_7(counts: Any, epsilon: Fraction, threshold: int) -> float:
    """Return the bound on alpha of suppression."""
    least, most = float(np.min(counts)), float(np.max(counts))
    first, last = (float(each) for each in hidden_probability(np.array([least, most]), epsilon, threshold))
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


def compare_bounds(matrix: Any, epsilon: Fraction, threshold: int) -> dict[str, tuple[float, float]]:
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
    suppressed = suppression_bias(counts, epsilon, threshold, fill=threshold / 2)
    swapped = swapping_bias(rows, epsilon)
    below = hidden_probability(counts, epsilon, threshold)
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


def hidden_probability(counts: Any, epsilon: Fraction, threshold: int) -> Values:
    """Return the probability that a count is below the threshold once it has noise: equation (3)."""
    return np.asarray(Laplace(2 / epsilon).cdf(threshold - np.asarray(counts)))
