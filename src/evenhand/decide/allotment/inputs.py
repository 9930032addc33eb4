"""What the methods for allotments start from: shares, and noise in units of the weighted total."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from evenhand.decide.exact.cumulants import standard_cumulants
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import Law

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["Noisy", "Weighted", "noisy_shares", "whole_weights"]

_DENOMINATORS = (1, 2, 3, 4, 5, 8, 10, 16, 20, 25, 40, 50, 100, 200, 1000, 10_000)
_LARGEST_WHOLE = 2.0**52


class Weighted(Protocol):
    """Anything with weights, such as an :class:`~evenhand.decide.Allotment`."""

    @property
    def weights(self) -> Any:
        """One weight for each entity."""


@dataclass(frozen=True, eq=False)
class Noisy:
    r"""Shares of a total with noise, :math:`\tilde P_i = (P_i + g_i \hat\eta_i) / (1 + t)`.

    Attributes
    ----------
    counts, weights : array
        The true counts and their weights.
    total : float
        The weighted total, > 0.
    shares : array
        True shares.
    reach : array
        :math:`g_i = a_i \sigma_i / Z`: the standard deviation of the noise in each entity's own part, and, as
        :math:`t = \sum_j g_j \hat\eta_j`, in the total.
    laws : tuple of Law
        The different laws of noise.
    which : array of int
        The place of each entity's law among them.
    """

    counts: Values
    weights: Values
    total: float
    shares: Values
    reach: Values
    laws: tuple[Law, ...]
    which: NDArray[np.int64]

    def cumulants(self, orders: int) -> Values:
        """Return the standardised even cumulants, one row for each law."""
        return np.array([standard_cumulants(law, orders) for law in self.laws])

    def of_total(self, cumulants: Values) -> Values:
        """Return the even cumulants of the noise in the total, in units of the total."""
        squares = self.reach**2
        power = np.ones_like(squares)
        found = np.empty(cumulants.shape[1])
        for order in range(cumulants.shape[1]):
            power = power * squares
            by_law = np.bincount(self.which, weights=power, minlength=len(self.laws))
            found[order] = by_law @ cumulants[:, order]
        return found


def noisy_shares(
    problem: Weighted, counts: ArrayLike, law: Law | Sequence[Law], *, owner: str = "allotment_bias"
) -> Noisy:
    """Check an allotment, its counts and its noise, and put them in units of the total."""
    weights = np.asarray(problem.weights, dtype=np.float64)
    values = _counts(counts, weights.size, owner)
    laws, which = _laws(law, weights.size, owner)
    total = float(weights @ values)
    if not total > 0:
        must_be = "counts with a weighted total above 0, without which there are no shares"
        raise InvalidParameterError("counts", owner=owner, must_be=must_be, got="others")
    deviations = np.array([each.standard_deviation for each in laws])[which]
    return Noisy(
        counts=values,
        weights=weights,
        total=total,
        shares=weights * values / total,
        reach=weights / total * deviations,
        laws=laws,
        which=which,
    )


def whole_weights(noisy: Noisy) -> tuple[NDArray[np.int64], int] | None:
    """Return weights and total as whole numbers without a common factor; None where noise or weights are not.

    A weight of 0.1 counts as one tenth.
    """
    integers = all(law.support == "integers" for law in noisy.laws)
    if not integers or (noisy.counts % 1 != 0).any():
        return None
    for below in _DENOMINATORS:
        scaled = np.rint(noisy.weights * below)
        if scaled.max() < _LARGEST_WHOLE and (scaled / below == noisy.weights).all():
            whole = scaled.astype(np.int64)
            whole //= int(np.gcd.reduce(whole))
            total = sum(map(operator.mul, whole.tolist(), map(int, noisy.counts.tolist())))
            return (whole, total) if total < _LARGEST_WHOLE else None
    return None


def _counts(counts: ArrayLike, size: int, owner: str) -> Values:
    array = np.asarray(counts)
    right = array.shape == (size,) and array.dtype.kind in "iuf"
    values = array.astype(np.float64) if right else np.zeros(1)
    if not right or not np.isfinite(values).all() or (values < 0).any():
        must_be = "finite numbers of at least 0, one for each weight"
        raise InvalidParameterError("counts", owner=owner, must_be=must_be, got="others")
    return values


def _laws(law: Law | Sequence[Law], size: int, owner: str) -> tuple[tuple[Law, ...], NDArray[np.int64]]:
    if isinstance(law, Law):
        return (law,), np.zeros(size, dtype=np.int64)
    listed = list(law) if isinstance(law, list | tuple) else []
    if len(listed) != size or not all(isinstance(each, Law) for each in listed):
        must_be = "a law of noise, or a list of laws, one for each weight"
        raise InvalidParameterError("law", owner=owner, must_be=must_be, got="something else")
    places: dict[Law, int] = {}
    which = [places.setdefault(each, len(places)) for each in listed]
    return tuple(places), np.array(which, dtype=np.int64)
