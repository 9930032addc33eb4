r"""What a protocol would do with probabilities of unlimited precision, for many epsilons at once.

The protocols themselves draw with multiples of :math:`2^{-53}` and know their exact variance. Comparing
protocols and splitting a budget needs the variance of thousands of epsilons, in floats; each protocol writes
it in terms of :math:`e^{-\varepsilon}`, so that nothing overflows and nothing cancels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["Ideal", "least_variance", "response_log_gain"]


class Ideal(NamedTuple):
    """What a protocol would do with probabilities of unlimited precision.

    Attributes
    ----------
    p, q : array of float
        Probability that a report supports the true value, and a given other value.
    variance : array of float
        Variance of the estimated share of a value that nobody has, times the number of people.
    """

    p: Any
    q: Any
    variance: Any


def least_variance(*candidates: Ideal) -> Ideal:
    """Return, entry by entry, the candidate of least variance; the first in a tie."""
    best = candidates[0]
    for other in candidates[1:]:
        less = other.variance < best.variance
        best = Ideal(*(np.where(less, new, old) for new, old in zip(other, best, strict=True)))
    return best


def response_log_gain(k: Floats, epsilon: Floats) -> Floats:
    """Return the logarithm of minus the derivative of the variance of randomized response over `k` values."""
    return np.asarray(-epsilon + np.log1p((2 * k - 3) * np.exp(-epsilon)) - 3 * np.log(-np.expm1(-epsilon)))
