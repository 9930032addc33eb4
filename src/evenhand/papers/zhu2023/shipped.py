"""The tables of zhu2023 by the mechanisms that evenhand ships: exact noise, exact bias, exact delta."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.papers.zhu2023.data import THRESHOLD
from evenhand.papers.zhu2023.exact import variance
from evenhand.papers.zhu2023.printed import EPSILONS, GAUSSIAN, LAPLACE, SUPPRESSION, SWAPPING
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.random_swapping import RandomSwapping
from evenhand.release.mechanisms.suppression import NoisySuppression
from evenhand.release.postprocess.steps import Nonnegative

if TYPE_CHECKING:
    from evenhand.release.table.histogram import Histogram

__all__ = ["shipped"]

_UNIT = "replace one"


def shipped(histogram: Histogram) -> dict[str, dict[str, dict[str, float]]]:
    """Return delta, bias and alpha by mechanism and epsilon; noise is clipped at nought as in the paper."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for text in EPSILONS:
        epsilon = Fraction(text)
        for name, mechanism in _mechanisms(epsilon).items():
            post = [Nonnegative()] if name in (LAPLACE, GAUSSIAN) else []
            bias = mechanism.bias(histogram, post=post)
            delta = mechanism.guarantee_for(histogram, epsilon=epsilon).delta
            numbers = {"delta": float(delta), "l1": bias.l1, "alpha": bias.alpha}
            found.setdefault(name, {})[text] = numbers
    return found


def _mechanisms(epsilon: Fraction) -> dict[str, Any]:
    return {
        LAPLACE: Laplace(epsilon=epsilon, unit=_UNIT),
        GAUSSIAN: DiscreteGaussian(rho=1 / variance(epsilon), unit=_UNIT),
        SUPPRESSION: NoisySuppression(epsilon=epsilon, threshold=THRESHOLD),
        SWAPPING: RandomSwapping(epsilon=epsilon),
    }
