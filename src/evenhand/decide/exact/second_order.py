r"""The bias of a formula that is given as a function: half the variance times its curvature.

With independent noise :math:`\eta_j` that is as likely above as below,

.. math:: E[f_i(x + \eta)] - f_i(x) = \frac12 \sum_j \operatorname{Var}(\eta_j)
          \frac{\partial^2 f_i}{\partial x_j^2}(x) + R_i

since all terms of odd order vanish. With :math:`M_i` the largest absolute fourth derivative of :math:`f_i`
along any line of unit direction, over all real counts, Taylor's theorem along the line from :math:`x` to
:math:`x + \eta` gives

.. math:: |R_i| \le \frac{M_i}{24} E\|\eta\|^4, \quad
          E\|\eta\|^4 = n \mu_4 + n (n - 1) \operatorname{Var}(\eta)^2 .

A central difference of step :math:`h` is off by at most :math:`M_i h^2 / 12`, and the extrapolated one, of
the steps :math:`h` and :math:`h / 2`, by at most :math:`M_i h^2 / 18`.

Where :math:`M_i` is not known the error is only estimated, by twice the size of the next term,

.. math:: \frac1{24} \sum_j \mu_4 \frac{\partial^4 f_i}{\partial x_j^4} + \frac18 \sum_{j \ne k}
          \operatorname{Var}(\eta)^2 \frac{\partial^4 f_i}{\partial x_j^2\, \partial x_k^2},

which would cover all later ones if each were at most half of the one before. It is found by differences of up
to one standard deviation: along each axis, and along diagonals :math:`(\pm 1, \dots, \pm 1)` for the pairs,
since signs that are drawn at random leave only these and the axes. Up to seven entities have at most
64 diagonals, which are all taken; of more, 64 are drawn, and twice the standard error is added. What axes and
diagonals give is added without signs, so that it does not cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notes import Note
from evenhand.decide.exact.noise_laws import most_orders, standard_cumulants
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.decide.allotment.allotment import Formula
    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]

_DIAGONALS = 64
_ROUNDING = 96 * np.finfo(np.float64).eps  # of a difference times its squared step, over the share


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """Hold what the curvature of a formula says about its bias.

    Attributes
    ----------
    bias : array
        Half the variance times the curvature, for each entity.
    error_bound : array
        How far that is from the bias: proved where `certified`, apart from rounding inside the function;
        otherwise an estimate, twice the size of the next term.
    certified : bool
        Whether the formula has a bound of its fourth derivative.
    variance : callable
        Returns the variance of the linear part of the formula, for each entity.
    """

    bias: Values
    error_bound: Values
    certified: bool
    variance: Callable[[], Values]

    @property
    def method(self) -> str:
        """Return how it was found, in words."""
        if self.certified:
            return "second order, certified by the bound of the fourth derivative"
        return Note("estimated error", "second order, not certified, error estimated by the next term")


def second_order(formula: Formula, counts: NDArray[Any], law: Law) -> SecondOrder | str:
    """Return the bias of a formula to second order, or why it cannot be computed.

    Parameters
    ----------
    formula : Formula
        The function, with its second derivatives and a bound of its fourth ones if they are known.
    counts : array
        The true counts.
    law : Law
        The noise on each of them.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Formula
    >>> from evenhand.privacy.laws import Laplace
    >>> approximation = second_order(Formula(lambda x: x / x.sum()), np.array([40.0, 60, 900]), Laplace(10))
    >>> approximation.bias.round(7) + 0
    array([-0.000176, -0.000164,  0.00034 ])
    >>> bool((approximation.error_bound < 0.05 * abs(approximation.bias)).all()), approximation.certified
    (True, False)
    """
    at = np.asarray(counts, dtype=np.float64)
    with np.errstate(all="ignore"):
        values, steps = _curvature_bias(formula, at, law)
        if formula.fourth_derivative is None:
            rest = _next_term(formula, at, law)
        else:
            norm = at.size * (_fourth_moment(law) + at.size - 1) * law.variance**2
            rest = formula.limits(at.size) * (norm / 24)
    if not (np.isfinite(values).all() and np.isfinite(rest).all()):
        return "the formula has no finite values around the true counts"
    later = partial(_variance, formula, at, law)
    return SecondOrder(values, rest + steps, formula.fourth_derivative is not None, later)


def _curvature_bias(formula: Formula, at: Values, law: Law) -> tuple[Values, Values]:
    """Return half the variance times the curvature, and how far differences may be off by their steps."""
    if formula.hessian_diagonal is not None:
        return formula.second_order_bias(at, variances=law.variance), np.zeros(at.size)
    sizes, half = np.abs(formula.value(at)), law.variance / 2
    longest = _longest(formula, law, float(sizes.max()), at.size)
    steps = np.maximum([formula.step(count) for count in at], longest)
    values = np.zeros(at.size)
    for place in range(at.size):
        values += half * formula.second_difference(at, place, at_least=longest)
    if formula.fourth_derivative is None:  # errors of rounding add up as chance does
        return values, _ROUNDING * half * math.sqrt(float((steps**-4).sum())) * sizes
    cut = formula.limits(at.size) * float((steps**2).sum()) / 18
    return values, half * (cut + _ROUNDING * float((steps**-2).sum()) * sizes)


def _longest(formula: Formula, law: Law, size: float, number: int) -> float:
    """Return the deviation of the noise, or a shorter step at which the bound of a difference is least."""
    greatest = 0.0 if formula.fourth_derivative is None else float(formula.limits(number).max())
    balanced = (18 * _ROUNDING * size / greatest) ** 0.25 if greatest else math.inf
    return min(law.standard_deviation, balanced)


def _fourth_moment(law: Law) -> float:
    """Return the fourth moment over the squared variance."""
    if most_orders(law) < 2:  # the noise is at most 1, but for a chance below rounding
        return 1 / law.variance if law.variance else 1.0
    return 3.0 + standard_cumulants(law, 2)[1]


def _next_term(formula: Formula, at: Values, law: Law) -> Values:
    """Return twice the size of the term of fourth order, with twice the standard error of what was drawn."""
    length, middle = law.standard_deviation / 2, 6 * formula.value(at)
    along = np.zeros(at.size)
    for place in range(at.size):
        step = np.zeros(at.size)
        step[place] = length
        along += _fourth_difference(formula, at, step, middle)
    signs = _signs(at.size)
    across = np.array([_fourth_difference(formula, at, length * diagonal, middle) for diagonal in signs])
    mean = across.mean(axis=0)
    drawn = signs.shape[0] < 2 ** (at.size - 1)
    spread = across.std(axis=0, ddof=1) / math.sqrt(len(signs)) if drawn else np.zeros(at.size)
    size: Values = np.abs(mean) + (_fourth_moment(law) - 1) * np.abs(along) + 2 * spread
    return size * (2 / 24 * 2**4)


def _fourth_difference(formula: Formula, at: Values, step: Values, middle: Values) -> Values:
    far = formula.value(at + 2 * step) + formula.value(at - 2 * step)
    near = formula.value(at + step) + formula.value(at - step)
    return far - 4 * near + middle


def _signs(size: int) -> Values:
    """Return diagonals, one of each pair of opposite ones: all of them, or some that are drawn."""
    if 2 ** (size - 1) <= _DIAGONALS:
        bits = np.arange(2 ** (size - 1))[:, np.newaxis] >> np.arange(size)
    else:
        words = SeededSource(0).words(_DIAGONALS * size)
        bits = (np.asarray(words) & 1).reshape(_DIAGONALS, size)
    return 1.0 - 2.0 * (bits & 1).astype(np.float64)


def _variance(formula: Formula, at: Values, law: Law) -> Values:
    squares = (formula.slope(at, place) ** 2 for place in range(at.size))
    return sum(squares, np.zeros(at.size)) * law.variance
