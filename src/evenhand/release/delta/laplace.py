r"""The exact delta of discrete Laplace noise at an epsilon below its own, rounded up.

With noise of scale :math:`b` on counts of which one person moves :math:`c` by 1, :math:`a = e^{-1/b}`, each
count that is moved shifts the odds by :math:`e^{1/b}` with probability :math:`1/(1 + a)`, else by
:math:`e^{-1/b}`. Only where all of them shift the same way is there a loss above nought:

.. math:: \delta(\varepsilon) = \frac{1 - e^{\varepsilon - c/b}}{(1 + a)^c}, \quad c \in \{1, 2\}
"""

from __future__ import annotations

from fractions import Fraction

from evenhand.privacy.rational import exp_bounds, round_up
from evenhand.release.delta.gaussian import STATED_DIGITS

__all__ = ["laplace_delta"]

_SMALLEST_LOG = -1_000


def laplace_delta(scale: Fraction, epsilon: Fraction, *, cells: int) -> Fraction:
    """Return delta at `epsilon`, never below the truth; 0 from the noise's own epsilon on.

    Examples
    --------
    >>> f"{float(laplace_delta(Fraction(2), Fraction(1, 2), cells=2)):.6f}"
    '0.152452'
    >>> laplace_delta(Fraction(2), Fraction(1), cells=2)
    Fraction(0, 1)
    """
    left = cells / scale - epsilon
    if left <= 0:
        return Fraction(0)
    chance = 1 / (1 + _exp_below(-1 / scale)) ** cells
    return round_up(chance * (1 - _exp_below(-left)), digits=STATED_DIGITS)


def _exp_below(exponent: Fraction) -> Fraction:
    """Return a lower bound of an exponential; decimals are slow far below e**-1000, which is not seen."""
    return exp_bounds(exponent)[0] if exponent >= _SMALLEST_LOG else Fraction(0)
