"""Money in whole cents that adds up to the budget exactly, shared out by the method of largest remainders."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["award_cents"]

_CENTS = 100
_LARGEST = 1 << 62


def award_cents(
    claims: ArrayLike, budget: Number, *, names: Sequence[str] | None = None
) -> NDArray[np.int64]:
    r"""Return what each place gets, in whole cents that add up to the budget.

    .. math:: q_i = C\, w_i / \sum_j w_j, \quad A_i = \lfloor q_i \rfloor + 1\{i \text{ among the } r
              \text{ largest } q_i - \lfloor q_i \rfloor\}, \quad r = C - \sum_i \lfloor q_i \rfloor

    where :math:`w_i` are the ``claims`` and :math:`C` is the budget in cents. Nobody is more than a cent away
    from the exact share. All of it is integer arithmetic; a float is taken for the number it holds exactly.

    Ties between equal remainders go to the larger claim, then to the name that sorts first. So, with names,
    permuting the places permutes the awards. Without names the last ties, which are between equal claims, go
    to the place listed first.

    Parameters
    ----------
    claims : array of numbers
        Weighted counts or shares, at least 0, not all 0; only their proportions matter. Whole numbers are
        best: shares that were rounded on the way carry their rounding into the cents.
    budget : int, float, str, Fraction or Decimal
        The money, at least 0, in whole cents: ``"1000.25"``.
    names : sequence of str, optional
        Different names of the places.

    Returns
    -------
    array of int64
        Cents.

    Examples
    --------
    >>> award_cents([1, 1, 1], 1, names=["Rye", "Ash", "Elm"])
    array([33, 34, 33])
    >>> int(award_cents([0.1, 0.2, 0.7], "6500000000.01").sum())
    650000000001
    """
    weights = _whole_claims(claims)
    cents = _cents(budget)
    order = _order_of(names, len(weights))
    total = sum(weights)
    quotas = [divmod(cents * weight, total) for weight in weights]
    awards = np.array([whole for whole, _ in quotas], dtype=np.int64)
    left = cents - sum(whole for whole, _ in quotas)
    ranked = sorted(range(len(weights)), key=lambda place: (-quotas[place][1], -weights[place], order[place]))
    awards[ranked[:left]] += 1
    awards.setflags(write=False)
    return awards


def _whole_claims(claims: ArrayLike) -> list[int]:
    """Return whole numbers in the same proportions."""
    must_be = "a list of finite numbers of at least 0 that are not all 0"
    try:
        values = _numbers(claims)
        whole = _to_common_denominator(values)
    except (TypeError, ValueError, OverflowError):
        whole = []
    if not whole or min(whole) < 0 or not any(whole):
        got = "other values" if whole else "something else"
        raise InvalidParameterError("claims", owner="award_cents", must_be=must_be, got=got)
    return whole


def _numbers(claims: ArrayLike) -> list[Any]:
    array = np.asarray(claims)
    if array.ndim != 1 or array.dtype.kind not in "iufO":
        raise ValueError
    listed: list[Any] = array.tolist()
    return listed


def _to_common_denominator(values: list[Any]) -> list[int]:
    if all(type(value) is int for value in values):
        return values
    ratios = [_ratio(value) for value in values]
    common = math.lcm(*(below for _, below in ratios))
    return [above * (common // below) for above, below in ratios]


def _ratio(value: Any) -> tuple[int, int]:
    if isinstance(value, bool) or not isinstance(value, Rational | float | Decimal):
        raise TypeError
    return (
        value.as_integer_ratio() if isinstance(value, float | Decimal) else Fraction(value).as_integer_ratio()
    )


def _cents(budget: Number) -> int:
    cents = exact(budget, name="budget", owner="award_cents", least=0) * _CENTS
    if cents.denominator != 1 or cents > _LARGEST:
        raise InvalidParameterError(
            "budget", owner="award_cents", must_be="money in whole cents, below 2**62 of them", got=budget
        )
    return int(cents)


def _order_of(names: Sequence[str] | None, places: int) -> list[int]:
    """Return the rank of each place among ties."""
    if names is None:
        return list(range(places))
    listed = list(names)
    texts = all(isinstance(name, str) for name in listed)
    if not texts or len(listed) != places or len(set(listed)) != places:
        raise InvalidParameterError(
            "names", owner="award_cents", must_be="as many different texts as claims", got="something else"
        )
    ranks = [0] * places
    for rank, place in enumerate(sorted(range(places), key=listed.__getitem__)):
        ranks[place] = rank
    return ranks
