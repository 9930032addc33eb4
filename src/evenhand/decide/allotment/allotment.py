"""Allotments: a budget that is shared out in proportion to weighted counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.language.formula import Formula
from evenhand.decide.language.numerals import checked_name, numeral, quoted
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["Allotment", "Formula", "checked_weights", "read_only"]

_LARGEST_WEIGHT, _SMALLEST_WEIGHT = 1e50, 1e-50


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Allotment:
    r"""Share out a budget in proportion to weighted counts.

    .. math:: P_i = \frac{a_i x_i}{Z}, \quad Z = \sum_j a_j x_j

    where :math:`a_i` is the weight of entity :math:`i` and :math:`x_i` its count.

    Parameters
    ----------
    weights : array of numbers
        One for each entity: 0, or from 1e-50 to 1e50. At least one is above 0.
    budget : int, float, str, Fraction or Decimal, optional
        The money that is shared out, > 0.
    count : str
        The name of the column with the counts.

    Examples
    --------
    >>> allotment = Allotment([1, 2, 1.5], budget=1000)
    >>> allotment.shares([30, 50, 80]).round(3).tolist()
    [0.12, 0.4, 0.48]
    >>> allotment
    weight*x/sum(weight*x) of 1000 among 3 entities
    """

    weights: Values
    budget: Fraction | None
    count: str

    def __init__(self, weights: npt.ArrayLike, budget: Number | None = None, count: str = "x") -> None:
        money = None if budget is None else exact(budget, name="budget", owner="Allotment", above=0)
        object.__setattr__(self, "weights", checked_weights(weights, owner="Allotment"))
        object.__setattr__(self, "budget", money)
        object.__setattr__(self, "count", checked_name(count, parameter="count", owner="Allotment"))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The name of the one column that it looks at."""
        return (self.count,)

    @property
    def size(self) -> int:
        """How many entities share."""
        return int(self.weights.size)

    @property
    def formula(self) -> str:
        """The formula as a text."""
        name = quoted(self.count)
        return f"weight*{name}/sum(weight*{name})"

    def total(self, counts: npt.ArrayLike) -> Values:
        """Return the weighted total, :math:`Z`."""
        total: Values = np.asarray(self._counts(counts) @ self.weights)
        return total[()]

    def shares(self, counts: npt.ArrayLike) -> Values:
        """Return each entity's share of the budget.

        Parameters
        ----------
        counts : array
            One count for each entity, or rows of them, one for each draw. Counts with noise may be negative:
            the formula is computed as it stands. Where the weighted total is 0 there are no shares: NaN.
        """
        values = self._counts(counts) * self.weights
        totals = values.sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(totals == 0, np.nan, values / totals)

    def _counts(self, counts: npt.ArrayLike) -> Values:
        array = np.asarray(counts)
        numeric = array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
        if not numeric or array.ndim == 0 or array.shape[-1] != self.size:
            must_be = "finite numbers, one for each weight"
            raise InvalidParameterError("counts", owner="Allotment.shares", must_be=must_be, got="others")
        return array.astype(np.float64)

    def __reduce__(self) -> tuple[Any, ...]:  # so that the weights cannot be written to afterwards either
        return Allotment, (self.weights, self.budget, self.count)

    def __repr__(self) -> str:
        money = "" if self.budget is None else f" of {numeral(self.budget)}"
        return f"{self.formula}{money} among {self.size} {'entity' if self.size == 1 else 'entities'}"


def checked_weights(weights: npt.ArrayLike, *, owner: str) -> Values:
    """Return weights that cannot be written to: 0 or from 1e-50 to 1e50, and one of them above 0."""
    given: Any = np.asarray(weights)
    right = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iuf"
    array = given.astype(np.float64) if right else np.zeros(1)
    fine = (array == 0) | ((array >= _SMALLEST_WEIGHT) & (array <= _LARGEST_WEIGHT))
    if not (right and fine.all() and (array > 0).any()):
        must_be = "a row of numbers, each 0 or from 1e-50 to 1e50, and one of them above 0"
        raise InvalidParameterError("weights", owner=owner, must_be=must_be, got="others")
    return read_only(array)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy that cannot be written to."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy
