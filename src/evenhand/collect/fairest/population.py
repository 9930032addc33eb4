r"""Who reports: how many of each group there are, how often the outcome is 1, and the privacy asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    import numpy.typing as npt

    Vector = npt.NDArray[np.float64]
    Matrix = npt.NDArray[np.float64]

__all__ = ["Population", "check_matrix", "population", "read_only"]

_SUM_TOLERANCE = 1e-6
_ROW_TOLERANCE = 1e-9
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Population:
    r"""Public facts about the groups, and numbers that everything about a channel needs.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        Share of each group; they sum to one.
    rates : ndarray of shape (k,)
        Share with outcome 1 in each group.
    epsilon : float
        Privacy parameter.
    """

    weights: Vector
    rates: Vector
    epsilon: float

    @property
    def k(self) -> int:
        """How many groups there are."""
        return len(self.weights)

    @property
    def mean(self) -> float:
        """Share of outcome 1 among everybody."""
        return float(self.weights @ self.rates)

    @property
    def away(self) -> Vector:
        """How far the rate of each group is from the mean; zero for a group that nobody is in.

        All digits count even where nearly everybody is in one group.
        """
        apart: Vector = (self.rates[:, None] - self.rates[None, :]) @ self.weights
        return np.where(self.weights > 0, apart, 0.0)

    @property
    def floor(self) -> float:
        r"""The least that an entry may be of the largest in its column, :math:`e^{-\varepsilon}`."""
        return math.exp(-self.epsilon)

    @property
    def width(self) -> float:
        r""":math:`1 - e^{-\varepsilon}`, without loss of digits at a small epsilon."""
        return -math.expm1(-self.epsilon)

    @property
    def grr_error(self) -> float:
        r"""Probability that generalized randomized response says another group than the true one."""
        others = (self.k - 1) * self.floor
        return others / (1 + others)

    @property
    def key(self) -> tuple[object, ...]:
        """The numbers themselves: what a kept answer is found by."""
        return tuple(self.weights.tolist()), tuple(self.rates.tolist()), self.epsilon

    @property
    def rounded(self) -> Population:
        """These people with weights and rates of 12 significant digits; epsilon keeps all its digits.

        Whoever keeps answers asks for these, so that no answer depends on what was asked before.
        """
        weights, rates = (
            np.array([float(f"{value:.{_DIGITS}g}") for value in values])
            for values in (self.weights, self.rates)
        )
        return Population(read_only(weights / weights.sum()), read_only(rates), self.epsilon)


def population(weights: npt.ArrayLike, rates: npt.ArrayLike, epsilon: object, *, owner: str) -> Population:
    """Return the checked `Population`; weights that sum to one but for rounding are scaled to do so."""
    shares = _numbers("weights", weights, owner=owner)
    if len(shares) < 2:
        raise InvalidParameterError("weights", owner=owner, must_be="of at least two groups", got="fewer")
    total = float(shares.sum())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InvalidParameterError(
            "weights",
            owner=owner,
            must_be="shares that sum to one",
            got=f"a sum of {total:.6g}",
            hint="divide the counts of the groups by their sum.",
        )
    chances = _numbers("rates", rates, owner=owner)
    if len(chances) != len(shares):
        raise InvalidParameterError(
            "rates",
            owner=owner,
            must_be=f"one number for each of the {len(shares)} groups",
            got=f"{len(chances)} numbers",
        )
    privacy = exact(epsilon, name="epsilon", owner=owner, above=0)
    return Population(read_only(shares / total), read_only(chances), float(privacy))


def check_matrix(matrix: npt.ArrayLike, *, k: int | None = None, owner: str) -> Matrix:
    """Return `matrix` as floats if it is square and its rows are probabilities."""
    array = np.asarray(matrix, dtype=np.float64)
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.shape[0] >= 2
    if not square or (k is not None and len(array) != k):
        size = "of k rows and k columns, k >= 2" if k is None else f"of {k} rows and {k} columns"
        raise InvalidParameterError("matrix", owner=owner, must_be=size, got=f"a shape of {array.shape}")
    if not ((array >= 0).all() and (np.abs(array.sum(axis=1) - 1) <= _ROW_TOLERANCE).all()):
        raise InvalidParameterError(
            "matrix", owner=owner, must_be="of probabilities, each row with the sum one", got="something else"
        )
    return array


def read_only(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the same array, which nobody can write to any more."""
    values.flags.writeable = False
    return values


def _numbers(name: str, values: npt.ArrayLike, *, owner: str) -> Vector:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or not ((numbers >= 0) & (numbers <= 1)).all():
        raise InvalidParameterError(
            name, owner=owner, must_be="a list of numbers from 0 to 1, one for each group", got=values
        )
    return numbers
