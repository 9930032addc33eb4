"""True counts estimated from a table whose people were swapped at random."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.release.mechanisms.response_law import ResponseLaw
    from evenhand.release.table.histogram import Histogram

    Values = npt.NDArray[np.float64]

__all__ = ["SwapEstimate"]


@dataclass(frozen=True, eq=False, repr=False)
class SwapEstimate:
    """Unbiased estimates of the true counts, made from what is published and nothing else.

    Parameters
    ----------
    values : array
        The estimate of each cell, in the shape of the table; it may be negative or a fraction.
    standard_error : array
        The standard error of each estimate, estimated from the release too.
    """

    values: Values
    standard_error: Values

    @classmethod
    def of(cls, published: Histogram, law: ResponseLaw) -> SwapEstimate:
        r"""Return the estimates for a published table.

        The variance of a published count is :math:`\tilde x_i (n_Q - 2) h + h\gamma \sum_j \tilde x_j` in
        expectation, and that of its estimate is :math:`(\gamma - h)^{-2}` times as large.
        """
        counts = published.as_matrix().astype(np.float64)
        sums = counts.sum(axis=1, keepdims=True)
        other, gap = float(law.other), float(law.keep - law.other)
        values = (counts - other * sums) / gap
        spread = counts * float((law.values - 2) * law.other) + sums * float(law.keep * law.other)
        error = np.sqrt(spread) / gap
        return cls(_frozen(published, values), _frozen(published, error))

    def interval(self, confidence: float = 0.95) -> tuple[Values, Values]:
        """Return the ends of a normal interval for each cell, for each alone and not for all together.

        Parameters
        ----------
        confidence : float
            Above 0 and below 1.
        """
        number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
        if not (number and 0 < confidence < 1):
            owner, must_be = "SwapEstimate.interval", "a number above 0 and below 1"
            raise InvalidParameterError("confidence", owner=owner, must_be=must_be, got=confidence)
        reach = NormalDist().inv_cdf(0.5 + confidence / 2) * self.standard_error
        return self.values - reach, self.values + reach

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        size = " x ".join(f"{length:,}" for length in self.values.shape)
        return f"<SwapEstimate of {size} cells>"


def _frozen(published: Histogram, matrix: Values) -> Values:
    values: Any = published.from_matrix(matrix).counts
    made: Values = np.array(values, dtype=np.float64)
    made.setflags(write=False)
    return made
