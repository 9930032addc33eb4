"""Thresholding with histogram encoding: a noisy histogram of one person, cut at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evenhand._lazy import lazy
from evenhand.collect.protocols.probabilities import Ideal, exp_above, exp_below, round_down, round_up
from evenhand.collect.protocols.unary import Unary

if TYPE_CHECKING:
    from evenhand.collect.protocols.probabilities import Floats
    from evenhand.privacy.rational import Number

optimize = lazy("scipy.optimize")

_LEAST_NOISE = 1e-290  # below, floats have no digits left for the equation, nor p and q a difference


@dataclass(frozen=True, init=False, repr=False)
class THE(Unary):
    r"""Add Laplace noise to a one-hot vector and say which entries pass a threshold.

    .. math:: p = 1 - \tfrac12 e^{\varepsilon'(\theta - 1)/2}, \qquad q = \tfrac12 e^{-\varepsilon'\theta/2}

    where :math:`\varepsilon'` is ``noise_epsilon`` and :math:`\theta`, between one half and 1, is the
    ``threshold`` of least variance. A report supports the values whose entries pass.

    **Guarantee.** Pure local differential privacy; unit: one report; tight (met by the reports in which the
    bits of two values differ). The noisy vector would have :math:`\varepsilon'`; what is sent, the
    thresholded set, has exactly :math:`\ln\frac{p(1-q)}{q(1-p)} < \varepsilon'`, and `guarantee` says that
    figure. Assumes that the values are public and each report uses fresh randomness. Numerics: exact. May be
    used for release.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.
    recalibrated : bool
        Lower the noise until the report has `epsilon` itself. By default the noise has `epsilon`, as in the
        literature, and the report has less.

    Notes
    -----
    No noise is added to anything: an entry passes with probability :math:`p` or :math:`q`, each on its own,
    so bits with these probabilities are drawn. :math:`q` is rounded up and :math:`p` down to multiples of
    :math:`2^{-53}`, and :math:`p` further down where the ratio would still exceed :math:`e^\varepsilon`.
    The threshold solves the equation for the least variance, where [1]_ minimises numerically; it is public
    and any rounding in it changes the variance alone.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha (2017). Locally differentially private protocols for frequency estimation.
           USENIX Security. Thresholding with histogram encoding.

    Examples
    --------
    >>> the = THE(k=10, epsilon=1)
    >>> f"{the.threshold:.4f} {float(the.guarantee.epsilon):.4f} {the.variance():.4f}"
    '0.6186 0.8960 4.8072'
    >>> recalibrated = THE(k=10, epsilon=1, recalibrated=True)
    >>> f"{recalibrated.noise_epsilon:.4f} {recalibrated.variance():.4f}"
    '1.1305 3.8172'
    """

    name: ClassVar[str] = "the"
    title: ClassVar[str] = "thresholded histogram encoding"

    recalibrated: bool = False

    def __init__(self, k: int, epsilon: Number, *, recalibrated: bool = False) -> None:
        super().__init__(k, epsilon)
        self._set(recalibrated=bool(recalibrated))

    @classmethod
    def ideal(cls, k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG003 - every formula has the same signature
        r"""Return p, q and the variance at share zero in floats, at the best threshold in closed form.

        With :math:`c = e^{-\varepsilon/2}` and :math:`x = e^{\varepsilon\theta/2}`,
        :math:`p = 1 - c x / 2` and :math:`q = 1 / (2 x)`; the variance is least at the larger root of
        :math:`3 c x^2 - 2 (1 + c) x + 1`.
        """
        shrunk, gap = np.exp(-epsilon / 2), -np.expm1(-epsilon / 2)
        part = shrunk / (1 + np.sqrt(1 - gap + gap**2))
        above = gap * (2 - part) / (3 * shrunk)  # x - 1
        truth = gap * (1 + part) / 3  # 1 - c x, which is 2 p - 1
        q = 0.5 / (1 + above)
        apart = 0.5 * (truth + above / (1 + above))
        return Ideal(0.5 + 0.5 * truth, q, q * (1 - q) / apart**2)

    @cached_property
    def noise_epsilon(self) -> float:
        """The epsilon of the noisy vector before the threshold."""
        if not self.recalibrated:
            return float(self.epsilon)
        target = float(self.epsilon)
        low, high = target / 2, 3 * target + 3  # the report has less than its noise, and at least half of it
        return float(optimize.brentq(lambda noise: _exact_epsilon(noise) - target, low, high, xtol=1e-300))

    @cached_property
    def threshold(self) -> float:
        """The threshold of least variance."""
        return _best_threshold(self.noise_epsilon)

    def _bit_probabilities(self) -> tuple[Fraction, Fraction]:
        threshold = Fraction(self.threshold)
        q = round_up(exp_above(-self._noise * threshold / 2) / 2)
        p = round_down(1 - exp_above(self._noise * (threshold - 1) / 2) / 2)
        lifted = exp_below(self.epsilon) * q
        return min(p, round_down(lifted / (1 - q + lifted))), q

    @property
    def _noise(self) -> Fraction:
        return Fraction(self.noise_epsilon) if self.recalibrated else self.epsilon


def _parts(noise: float, threshold: float) -> tuple[float, float]:
    """Return 1 - 2 p and 2 q - 1, both below zero, without loss where p and q are near one half."""
    return math.expm1(noise * (threshold - 1) / 2), math.expm1(-noise * threshold / 2)


def _best_threshold(noise: float) -> float:
    """Return where the derivative of the logarithm of q (1 - q) / (p - q)**2 is zero."""
    if noise < _LEAST_NOISE:
        return 0.5

    def slope(threshold: float) -> float:
        missed, false = _parts(noise, threshold)
        return 2 * (false - missed) / (false + missed) + 2 * false / (1 - false)

    return float(optimize.brentq(slope, 0.5, 1.0, xtol=1e-15))


def _exact_epsilon(noise: float) -> float:
    """Return the epsilon of the thresholded report.

    The logarithm of p (1 - q) / (q (1 - p)) is noise / 2 + ln 2 p + ln 2 (1 - q).
    """
    missed, false = _parts(noise, _best_threshold(noise))
    return noise / 2 + math.log1p(-missed) + math.log1p(-false)
