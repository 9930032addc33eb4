r"""From zero-concentrated differential privacy to (epsilon, delta), rounded against us.

A mechanism with :math:`\rho`-zCDP is :math:`(\varepsilon, \delta)`-DP for every order :math:`\alpha > 1` with

.. math:: \delta = \frac{e^{(\alpha - 1)(\alpha\rho - \varepsilon)}}{\alpha - 1}
                   \left(1 - \frac{1}{\alpha}\right)^{\alpha}

[1]_, Corollary 13. At :math:`\alpha = (\varepsilon + \rho) / 2\rho` the exponential alone is the simple
bound :math:`e^{-(\varepsilon - \rho)^2 / 4\rho}` and the other factor is below :math:`1 / \alpha`, so for
:math:`\varepsilon > \rho` the best order is better than the simple bound.

The best order is looked for with 35 digits. *Any* order gives a valid bound, so nothing hangs on that
search: the bound is then evaluated at the order found, in rationals, with every logarithm and exponential
rounded the unfavourable way. Write :math:`u = \alpha - 1`. Then

.. math:: \ln\delta(u) = u((u + 1)\rho - \varepsilon) - u \ln(1 + 1/u) - \ln(1 + u)
.. math:: \varepsilon(u) = (u + 1)\rho + \frac{\ln(1/\delta) - \ln(1 + u)}{u} - \ln(1 + 1/u)

References
----------
.. [1] Canonne, Kamath, Steinke (2020). The discrete Gaussian for differential privacy. NeurIPS.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import (
    Number,
    decimal_context,
    exact,
    exp_bounds,
    leading_zeros,
    log_above,
    log_below,
    round_up,
)

__all__ = ["STATED_DIGITS", "delta_from_zcdp", "epsilon_from_zcdp"]

STATED_DIGITS = 30
"""Significant digits of an epsilon or a delta that comes out of a conversion; the last is rounded up."""

_WORKING_DIGITS = 60
_SEARCH_DIGITS = 35
_CLOSE_ENOUGH = Decimal("1e-18")  # of the order, relative; the bound then misses the best by its square
_SMALLEST_DELTA = Fraction(1, 10**400)
_LARGEST_DELTA = 1 - _SMALLEST_DELTA  # nearer to 1, a logarithm would need as many digits as there are nines
_SMALLEST_LOG = -922  # e to this is below the smallest delta, so that it is stated instead


def delta_from_zcdp(rho: Number, epsilon: Number) -> Fraction:
    r"""Return a delta such that :math:`\rho`-zCDP implies :math:`(\varepsilon, \delta)`-DP.

    It is never below the infimum over all orders and less than one part in :math:`10^{29}` above it.
    A delta below :math:`10^{-400}` is stated as :math:`10^{-400}`.

    Parameters
    ----------
    rho, epsilon : int, float, str, Fraction or Decimal
        Both >= 0.

    Examples
    --------
    >>> f"{float(delta_from_zcdp('1/10', 1)):.14f}"
    '0.00893324577182'
    """
    spent = exact(rho, name="rho", owner="delta_from_zcdp", least=0)
    wanted = exact(epsilon, name="epsilon", owner="delta_from_zcdp", least=0)
    if spent == 0:
        return Fraction(0)
    if spent - wanted > 80:  # the best delta is above 1 - e**-80 then
        return Fraction(1)
    return _delta_at(spent, wanted, _best_for_delta(spent, wanted))


def epsilon_from_zcdp(rho: Number, delta: Number) -> Fraction:
    r"""Return an epsilon such that :math:`\rho`-zCDP implies :math:`(\varepsilon, \delta)`-DP.

    It is never below the infimum over all orders, nor below 0, and less than one part in :math:`10^{29}`
    above the infimum (where that is above :math:`10^{-20}`). A delta between :math:`1 - 10^{-400}` and 1 is
    read as the former.

    Parameters
    ----------
    rho : int, float, str, Fraction or Decimal
        At least 0.
    delta : int, float, str, Fraction or Decimal
        Above 0 and at most 1; 0 is allowed when `rho` is 0.

    Examples
    --------
    >>> f"{float(epsilon_from_zcdp('1/10', '1e-6')):.6f}"
    '2.141939'
    """
    spent = exact(rho, name="rho", owner="epsilon_from_zcdp", least=0)
    allowed = exact(delta, name="delta", owner="epsilon_from_zcdp", least=0, most=1)
    if spent == 0 or allowed == 1:
        return Fraction(0)
    if allowed == 0:
        raise InvalidParameterError(
            "delta",
            owner="epsilon_from_zcdp",
            must_be="a number > 0, since no finite epsilon goes with delta = 0",
            got=delta,
        )
    allowed = min(allowed, _LARGEST_DELTA)
    return _epsilon_at(spent, allowed, _best_for_epsilon(spent, allowed))


def _delta_at(rho: Fraction, epsilon: Fraction, order: Fraction) -> Fraction:
    """Evaluate ln delta(u) from above, then delta from above."""
    digits = _WORKING_DIGITS
    logs = order * log_below(1 + 1 / order, digits=digits) + log_below(1 + order, digits=digits)
    exponent = order * ((order + 1) * rho - epsilon) - logs
    if exponent < _SMALLEST_LOG:
        return _SMALLEST_DELTA
    above = exp_bounds(exponent, digits=digits)[1]
    return min(Fraction(1), max(_SMALLEST_DELTA, round_up(above, digits=STATED_DIGITS)))


def _epsilon_at(rho: Fraction, delta: Fraction, order: Fraction) -> Fraction:
    """Evaluate epsilon(u) from above; a negative value means that epsilon = 0 will do."""
    digits = _WORKING_DIGITS
    allowance = log_above(1 / delta, digits=digits) - log_below(1 + order, digits=digits)
    above = (order + 1) * rho + allowance / order - log_below(1 + 1 / order, digits=digits)
    return round_up(max(Fraction(0), above), digits=STATED_DIGITS)


def _best_for_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    r"""Solve :math:`2u\rho = (\varepsilon - \rho) + \ln(1 + 1/u)`, where :math:`\delta(u)` is smallest.

    Left minus right is increasing and concave in u, so Newton's steps from a point left of the root stay left
    of it. Three such points: with :math:`\ln(1 + 1/u) \ge 1/(u + 1)`, :math:`u = (6\rho)^{-1/2}` when that is
    at least 1; :math:`u = (\varepsilon - \rho)/2\rho`; and the point where the left side is at most 1 and the
    logarithm at least 1 above what :math:`\rho - \varepsilon` asks of it.
    """
    with localcontext(decimal_context(_SEARCH_DIGITS)):
        spent, gap = _decimal(rho), _decimal(epsilon - rho)
        if 6 * rho <= 1:
            order = 1 / (6 * spent).sqrt()
        else:
            order = min(1 / (2 * spent), 1 / ((1 + max(-gap, Decimal(0))).exp() - 1))
        order = max(order, gap / (2 * spent))
        step = order
        while step > order * _CLOSE_ENOUGH:
            step = (gap + _log1p(1 / order) - 2 * spent * order) / (2 * spent + 1 / (order * (order + 1)))
            order += step
    return Fraction(order)


def _best_for_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    r"""Solve :math:`\rho u^2 + \ln(1 + u) = \ln(1/\delta)`, where :math:`\varepsilon(u)` is smallest.

    The left side is increasing and convex in :math:`\ln u`, so Newton's steps in :math:`\ln u` from a point
    right of the root stay right of it; where one of the two terms alone reaches the right side is such a
    point.
    """
    with localcontext(decimal_context(_SEARCH_DIGITS)):
        spent, aim = _decimal(rho), _decimal(log_above(1 / delta))
        order = min((aim / spent).sqrt(), _decimal(1 / delta - 1))
        step = Decimal(1)
        while step > _CLOSE_ENOUGH:
            square = spent * order * order
            step = (square + _log1p(order) - aim) / (2 * square + order / (1 + order))
            order *= (-step).exp()
    return Fraction(order)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _log1p(value: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec += leading_zeros(Fraction(value))
        return (1 + value).ln()
