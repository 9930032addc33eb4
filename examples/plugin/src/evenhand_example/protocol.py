"""A protocol: randomized response that spends half of epsilon and saves the rest for a second report."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from evenhand.collect import GRR


@dataclass(frozen=True, init=False, repr=False)
class SavingResponse(GRR):
    """Say the true value with the probability that half of epsilon allows, otherwise another value."""

    name: ClassVar[str] = "saving"
    title: ClassVar[str] = "randomized response with half of epsilon"

    @classmethod
    def ideal(cls, k: Any, epsilon: Any) -> Any:
        """Return p, q and the variance at share zero in floats."""
        return GRR.ideal(k, epsilon / 2)

    @classmethod
    def log_gain(cls, k: Any, epsilon: Any) -> Any:
        """Return the logarithm of minus the derivative of the variance, by which budgets are split."""
        return GRR.log_gain(k, epsilon / 2) - math.log(2)

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        half = GRR(self.k, self.epsilon / 2)
        return half.p_exact, half.q_exact
