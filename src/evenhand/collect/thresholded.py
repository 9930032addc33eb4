"""Thresholding with histogram encoding: a noisy histogram of one person, cut at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from evenhand.collect.dyadic import exp_above, exp_below, round_down, round_up
from evenhand.collect.unary import Unary

if TYPE_CHECKING:
    from evenhand.privacy.rational import Number

__all__ = ["THE"]


@dataclass(frozen=True, init=False, repr=False)
class THE(Unary):
    r"""Add Laplace noise to a one-hot vector and say which entries pass a threshold.

    .. math:: p = 1 - \tfrac12 e^{\varepsilon'(\theta - 1)/2}, \qquad q = \tfrac12 e^{-\varepsilon'\theta/2}

    where :math:`\varepsilon'` is ``noise_epsilon`` and :math:`\theta`, between one half and 1, is the
    ``threshold`` of least variance.

    **Guarantee.** Pure local differential privacy; unit: one report; tight. The noisy vector would have
    :math:`\varepsilon'`; what is sent, the thresholded set, has exactly
    :math:`\ln\frac{p(1-q)}{q(1-p)} < \varepsilon'`, and `guarantee` says that figure.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.
    recalibrated : bool
        Lower the noise until the report has `epsilon` itself. By default the noise has `epsilon`, as in the
        literature, and the report has less.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha (2017). Locally differentially private protocols for frequency estimation.
           USENIX Security.

    Examples
    --------
    >>> the = THE(k=10, epsilon=1)
    >>> f"{the.threshold:.4f} {float(the.guarantee.epsilon):.4f} {the.variance():.4f}"
    '0.6186 0.8960 4.8072'
    >>> f"{THE(k=10, epsilon=1, recalibrated=True).variance():.4f}"
    '3.8...'
    """

    name: ClassVar[str] = "the"
    title: ClassVar[str] = "thresholded histogram encoding"

    recalibrated: bool = False

    def __init__(self, k: int, epsilon: Number, *, recalibrated: bool = False) -> None:
        super().__init__(k, epsilon)
        self._set(recalibrated=bool(recalibrated))

    @cached_property
    def noise_epsilon(self) -> float:
        """The epsilon of the noisy vector before the threshold."""
        if not self.recalibrated:
            return float(self.epsilon)
        from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

        target = float(self.epsilon)
        return float(brentq(lambda noise: _exact_epsilon(noise) - target, target, 3 * target + 3, xtol=1e-14))

    @cached_property
    def threshold(self) -> float:
        """The threshold of least variance."""
        return _best_threshold(self.noise_epsilon)

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        threshold = Fraction(self.threshold)
        q = round_up(exp_above(-self._noise * threshold / 2) / 2)
        p = round_down(1 - exp_above(self._noise * (threshold - 1) / 2) / 2)
        lifted = exp_below(self.epsilon) * q
        return min(p, round_down(lifted / (1 - q + lifted))), q

    @property
    def _noise(self) -> Fraction:
        return Fraction(self.noise_epsilon) if self.recalibrated else self.epsilon


def _probabilities(noise: float, threshold: float) -> tuple[float, float]:
    """Return one minus p, and q."""
    return 0.5 * math.exp(noise * (threshold - 1) / 2), 0.5 * math.exp(-noise * threshold / 2)


def _best_threshold(noise: float) -> float:
    """Return where the derivative of the logarithm of q (1 - q) / (p - q)**2 is nought."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

    def slope(threshold: float) -> float:
        missed, q = _probabilities(noise, threshold)
        return 2 * (missed - q) / (1 - missed - q) - (1 - 2 * q) / (1 - q)

    return float(brentq(slope, 0.5, 1.0, xtol=1e-15))


def _exact_epsilon(noise: float) -> float:
    missed, q = _probabilities(noise, _best_threshold(noise))
    return math.log((1 - missed) * (1 - q) / (q * missed))
