"""Allotments: a budget shared out in proportion to weighted counts, or by any smooth formula.

:func:`award_cents` turns shares into whole cents that add up to the budget exactly, by the method of largest
remainders.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import require_true_values
from evenhand.decide.language.tokens import check_input_name, quote_name, write_number
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

_LARGEST_WEIGHT, _SMALLEST_WEIGHT = 1e50, 1e-50
_CENTS_OF_ONE, _MOST_CENTS = 100, 1 << 62

_STEP = 2.0**-10  # of a count, but at least one; the error of the extrapolated difference is of its 4th power


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
        object.__setattr__(self, "weights", check_weights(weights, owner="Allotment"))
        object.__setattr__(self, "budget", money)
        object.__setattr__(self, "count", check_input_name(count, parameter="count", owner="Allotment"))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The name of the one column that it looks at."""
        return (self.count,)

    @property
    def size(self) -> int:
        """Return how many entities share."""
        return int(self.weights.size)

    @property
    def formula(self) -> str:
        """The formula as a text."""
        name = quote_name(self.count)
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
        require_true_values(counts, name="counts", owner="Allotment")
        array = np.asarray(counts)
        numeric = array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
        if not numeric or array.ndim == 0 or array.shape[-1] != self.size:
            must_be = "finite numbers, one for each weight"
            raise InvalidParameterError("counts", owner="Allotment.shares", must_be=must_be, got="others")
        return array.astype(np.float64)

    def __reduce__(self) -> tuple[Any, ...]:  # so that the weights cannot be written to afterwards either
        return Allotment, (self.weights, self.budget, self.count)

    def __repr__(self) -> str:
        money = "" if self.budget is None else f" of {write_number(self.budget)}"
        return f"{self.formula}{money} among {self.size} {'entity' if self.size == 1 else 'entities'}"


def check_weights(weights: npt.ArrayLike, *, owner: str) -> Values:
    """Return weights that cannot be written to: 0 or from 1e-50 to 1e50, and one of them above 0."""
    raw: Any = np.asarray(weights)
    right = raw.ndim == 1 and raw.size > 0 and raw.dtype.kind in "iuf"
    array = raw.astype(np.float64) if right else np.zeros(1)
    fine = (array == 0) | ((array >= _SMALLEST_WEIGHT) & (array <= _LARGEST_WEIGHT))
    if not (right and fine.all() and (array > 0).any()):
        must_be = "a row of numbers, each 0 or from 1e-50 to 1e50, and one of them above 0"
        raise InvalidParameterError("weights", owner=owner, must_be=must_be, got="others")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, repr=False)
class Formula:
    r"""A formula that turns counts into shares, twice differentiable in each count.

    .. math:: P_i = f_i(x_1, \dots, x_n), \quad
              \operatorname{bias}_i \approx \tfrac12 \sum_j \operatorname{Var}(\eta_j)
              \frac{\partial^2 f_i}{\partial x_j^2}

    Parameters
    ----------
    function : callable
        Takes an array of n counts (floats) and returns the array of n shares.
    hessian_diagonal : callable, optional
        Takes the counts and returns an (n, n) array: in row i and column j the second derivative of share i
        by count j. Without it central differences are taken, at two steps that cancel their leading error.
    fourth_derivative : float or array of float, optional
        The largest absolute fourth derivative of every share, or of each, along any line of unit direction,
        over all real counts, negative ones too. With it the bias to second order is certified; see
        :mod:`~evenhand.decide.exact.second_order`. 0 says that shares are polynomials of at most the third
        degree.
    count : str
        The name of the column with the counts.

    Notes
    -----
    ``bias(..., method="second order")`` gives the bias above, with the size of what it leaves out. Automatic
    differentiation can be brought along as `hessian_diagonal`.

    Examples
    --------
    >>> import numpy as np
    >>> formula = Formula(lambda x: np.sqrt(x) / np.sqrt(x).sum())
    >>> counts = np.array([100.0, 400.0])
    >>> formula.shares(counts).round(4).tolist()
    [0.3333, 0.6667]
    >>> formula.second_order_bias(counts, variances=8.0).round(8).tolist()
    [-3.38e-05, 3.38e-05]
    """

    function: Callable[[Values], Any]
    _: KW_ONLY
    hessian_diagonal: Callable[[Values], Any] | None = None
    fourth_derivative: npt.ArrayLike | None = None
    count: str = "x"

    def __post_init__(self) -> None:
        for name in ("function", "hessian_diagonal"):
            value = getattr(self, name)
            if not callable(value) and (value is not None or name == "function"):
                raise InvalidParameterError(name, owner="Formula", must_be="a function", got=value)
        if self.fourth_derivative is not None:
            object.__setattr__(self, "fourth_derivative", _check_bound(self.fourth_derivative))
        object.__setattr__(self, "count", check_input_name(self.count, parameter="count", owner="Formula"))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The name of the one column that it looks at."""
        return (self.count,)

    @property
    def formula(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def shares(self, counts: npt.ArrayLike) -> Values:
        """Return the share of each entity; rows of counts give rows of shares."""
        array = _check_counts(counts)
        rows = array.reshape(-1, array.shape[-1])
        return np.array([self.value(row) for row in rows]).reshape(array.shape)

    def second_derivatives(self, counts: npt.ArrayLike) -> Values:
        """Return the (n, n) array of the second derivative of share i by count j."""
        array = _check_counts(counts, rows=False)
        if self.hessian_diagonal is None:
            return np.stack([self.second_difference(array, place) for place in range(array.size)], axis=1)
        return self._shaped(self.hessian_diagonal(array.copy()), (array.size, array.size), "hessian_diagonal")

    def second_order_bias(self, counts: npt.ArrayLike, *, variances: npt.ArrayLike) -> Values:
        """Return half the sum of variance times second derivative, for each share.

        Parameters
        ----------
        counts : array
            The n true counts.
        variances : float or array
            The variance of the noise on each count.
        """
        array = _check_counts(counts, rows=False)
        spread = np.broadcast_to(np.asarray(variances, dtype=np.float64), array.shape)
        if self.hessian_diagonal is not None:
            return np.asarray(self.second_derivatives(array) @ spread / 2)
        total = np.zeros(array.size)
        for place in range(array.size):  # one column at a time: an (n, n) array need not be held
            far = math.sqrt(spread[place])
            total += spread[place] / 2 * self.second_difference(array, place, at_least=far)
        return total

    def limits(self, size: int) -> Values:
        """Return the bound of the fourth derivative of each of so many shares."""
        bounds = np.asarray(self.fourth_derivative, dtype=np.float64)
        if bounds.ndim and bounds.size != size:
            must_be = f"one number, or one for each entity, which are {size:,}"
            got = f"{bounds.size:,} of them"
            raise InvalidParameterError("fourth_derivative", owner="Formula", must_be=must_be, got=got)
        return np.broadcast_to(bounds, (size,))

    def slope(self, counts: Values, place: int) -> Values:
        """Return the derivative of every share by one count, by a central difference."""
        step = self.step(counts[place])
        above, below = self._values_beside(counts, place, step)
        return (above - below) / (2 * step)

    def second_difference(self, counts: Values, place: int, *, at_least: float = 0.0) -> Values:
        """Return the second derivative of every share by one count, by differences at two steps.

        The steps are a part of the count. Where that is less than `at_least`, such as the deviation of the
        noise, they are that long, so that what rounding does is small beside what the noise does; unless the
        formula is not finite so far away.
        """
        middle, short = 2 * self.value(counts), self.step(counts[place])
        derivative = self._extrapolate(counts, place, max(short, at_least), middle)
        if short < at_least and not np.isfinite(derivative).all():
            return self._extrapolate(counts, place, short, middle)
        return derivative

    @staticmethod
    def step(count: float) -> float:
        """Return the step by which a count is changed unless a longer one is asked for."""
        return max(1.0, abs(float(count))) * _STEP

    def _extrapolate(self, counts: Values, place: int, step: float, middle: Values) -> Values:
        coarse, fine = (
            (above - middle + below) / length**2
            for length in (step, step / 2)
            for above, below in [self._values_beside(counts, place, length)]
        )
        return (4 * fine - coarse) / 3

    def _values_beside(self, counts: Values, place: int, step: float) -> tuple[Values, Values]:
        """Return the shares where one count is a step higher, and a step lower."""
        up, down = counts.copy(), counts.copy()
        up[place] += step
        down[place] -= step
        return self.value(up), self.value(down)

    def value(self, counts: Values) -> Values:
        """Return the shares of one row of counts, which need not be finite."""
        return self._shaped(self.function(counts.copy()), counts.shape, "function")

    def _shaped(self, values: Any, shape: tuple[int, ...], parameter: str) -> Values:
        array = np.asarray(values)
        if array.shape != shape or array.dtype.kind not in "iuf":
            must_be = f"a function that returns an array of numbers of shape {shape}"
            raise InvalidParameterError(parameter, owner="Formula", must_be=must_be, got="another")
        return array.astype(np.float64)

    def __repr__(self) -> str:
        return f"Formula({self.formula}, count={self.count!r})"


def _check_counts(counts: npt.ArrayLike, *, rows: bool = True) -> Values:
    require_true_values(counts, name="counts", owner="Formula")
    array = np.asarray(counts)
    numeric = array.dtype.kind in "iuf" and array.size > 0 and bool(np.isfinite(array).all())
    if not numeric or array.ndim == 0 or (array.ndim > 1 and not rows):
        must_be = "finite numbers, one for each entity"
        raise InvalidParameterError("counts", owner="Formula", must_be=must_be, got="others")
    return array.astype(np.float64)


def _check_bound(bound: npt.ArrayLike) -> float | tuple[float, ...]:
    array = np.asarray(bound)
    numeric = array.dtype.kind in "iuf" and array.ndim <= 1 and array.size > 0
    if not numeric or not bool((np.isfinite(array) & (array >= 0)).all()):
        must_be = "a finite number >= 0, or one for each entity"
        raise InvalidParameterError("fourth_derivative", owner="Formula", must_be=must_be, got="another")
    return tuple(float(number) for number in array) if array.ndim else float(array)


# --- awards -------------------------------------------------------------------------------------------


def award_cents(
    claims: npt.ArrayLike, budget: Number, *, names: Sequence[str] | None = None
) -> npt.NDArray[np.int64]:
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


def _whole_claims(claims: npt.ArrayLike) -> list[int]:
    """Return whole numbers in the same proportions."""
    try:
        array = np.asarray(claims)
        fits = array.ndim == 1 and array.dtype.kind in "iufO"
        whole: list[Any] = array.tolist() if fits else []
        if array.dtype.kind not in "iu":
            ratios = [_ratio(value) for value in whole]
            common = math.lcm(*(below for _, below in ratios))
            whole = [above * (common // below) for above, below in ratios]
    except (TypeError, ValueError, OverflowError):
        whole = []
    if not whole or min(whole) < 0 or not any(whole):
        must_be = "a list of finite numbers of at least 0 that are not all 0"
        got = "other values" if whole else "something else"
        raise InvalidParameterError("claims", owner="award_cents", must_be=must_be, got=got)
    return whole


def _ratio(value: Any) -> tuple[int, int]:
    if isinstance(value, bool) or not isinstance(value, float | Decimal | Rational):
        raise TypeError
    exactly = value if isinstance(value, int | float | Decimal) else Fraction(value)
    return exactly.as_integer_ratio()


def _cents(budget: Number) -> int:
    cents = exact(budget, name="budget", owner="award_cents", least=0) * _CENTS_OF_ONE
    if cents.denominator != 1 or cents > _MOST_CENTS:
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
