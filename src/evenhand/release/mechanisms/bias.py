"""The bias and the variance of a release, cell by cell: exact where a formula is known, else sampled."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.measure.alpha import alpha_fairness, l1_bias

if TYPE_CHECKING:
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]


class WithIntervals:
    """Figures of cells with standard errors: normal intervals, and the values where an array is wanted."""

    values: Values
    standard_error: Values | None

    def interval(self, confidence: float = 0.95) -> tuple[Values, Values]:
        """Return the low and the high end of an interval for each cell; both are `values` where exact.

        The intervals are normal: for each cell alone, not for all of them together.

        Parameters
        ----------
        confidence : float
            Above 0 and below 1.
        """
        sure = isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 < confidence < 1
        if not sure:
            owner, must_be = f"{type(self).__name__}.interval", "a number above 0 and below 1"
            raise InvalidParameterError("confidence", owner=owner, must_be=must_be, got=confidence)
        if self.standard_error is None:
            return self.values, self.values
        reach = NormalDist().inv_cdf(0.5 + confidence / 2) * self.standard_error
        return self.values - reach, self.values + reach

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


@dataclass(frozen=True, eq=False)
class _Figures(WithIntervals):
    """One figure for each cell, with its standard error where it was sampled."""

    values: Values
    standard_error: Values | None = None
    exact: bool = True
    method: str = "formula"
    draws: int | None = None

    def __post_init__(self) -> None:
        values = read_only_copy(self.values)
        error = None if self.standard_error is None else read_only_copy(self.standard_error)
        if self.exact != (error is None) or self.exact != (self.draws is None):
            raise InvalidParameterError(
                "exact",
                owner=type(self).__name__,
                must_be="True without standard errors and draws, or False with both",
                got=self.exact,
            )
        if error is not None and error.shape != values.shape:
            owner, must_be = type(self).__name__, "an array of the shape of 'values'"
            raise InvalidParameterError("standard_error", owner=owner, must_be=must_be, got="another shape")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "standard_error", error)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table."""
        return self.values.shape

    def __repr__(self) -> str:
        how = self.method if self.exact else f"{self.method}, {self.draws:,} draws"
        size = " x ".join(f"{length:,}" for length in self.shape)
        return f"<{type(self).__name__} of {size} cells: {how}>"


@dataclass(frozen=True, eq=False, repr=False)
class Bias(_Figures):
    r"""Expected published count minus true count, one entry for each cell.

    It is computed from the true counts, so it is as private as they are.

    Parameters
    ----------
    values : array
        The bias of each cell, in the shape of the table.
    standard_error : array, optional
        The standard error of each entry; none where `exact`.
    exact : bool
        Whether the values come from a formula and not from draws.
    method : str
        Where the values come from, in words.
    draws : int, optional
        How many releases were averaged.
    absolute_error : array, optional
        The mean size of the error of each cell in them.

    Examples
    --------
    >>> import numpy as np
    >>> bias = Bias(np.array([0.5, -0.25, 0.0]))
    >>> bias.l1, bias.alpha
    (0.75, 0.75)
    >>> bias
    <Bias of 3 cells: formula>
    """

    absolute_error: Values | None = None

    @property
    def l1(self) -> float:
        """The sum of the absolute entries; see :func:`~evenhand.measure.l1_bias`."""
        return l1_bias(self.values.reshape(-1))

    @property
    def alpha(self) -> float:
        """The largest entry minus the smallest; see :func:`~evenhand.measure.alpha_fairness`."""
        return alpha_fairness(self.values.reshape(-1))

    @classmethod
    def sampled(cls, total: Values, squares: Values, *, draws: int, method: str) -> Self:
        """Return the bias from the sum and the sum of squares of the errors of `draws` releases."""
        mean = total / draws
        spread = np.maximum(squares / draws - mean**2, 0.0) * draws / max(1, draws - 1)
        return cls(mean, np.sqrt(spread / draws), exact=False, method=method, draws=draws)


@dataclass(frozen=True, eq=False, repr=False)
class Variance(_Figures):
    """The variance of the published count, one entry for each cell; fields as in :class:`Bias`.

    Examples
    --------
    >>> import numpy as np
    >>> Variance(np.full((2, 3), 7.8))
    <Variance of 2 x 3 cells: formula>
    """

    @property
    def standard_deviation(self) -> Values:
        """The square root of each entry."""
        return np.sqrt(self.values)


def read_only_copy(values: Any) -> Values:
    """Return the values as an array of floats that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
