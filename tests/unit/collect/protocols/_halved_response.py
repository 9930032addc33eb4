"""A ninth protocol, for tests: everything that a protocol is, in one file."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evenhand.collect import GRR
from evenhand.collect.protocols.grr import Naming, flip_probability, respond
from evenhand.collect.protocols.probabilities import response_log_gain


@dataclass(frozen=True, init=False, repr=False)
class HalvedResponse(Naming):
    """Randomized response with half of the epsilon that is asked for, so with another q."""

    name: ClassVar[str] = "halved"
    title: ClassVar[str] = "halved randomized response"

    @classmethod
    def ideal(cls, k, epsilon):
        """Return p, q and the variance at share zero in floats."""
        return GRR.ideal(k, epsilon / 2)

    @classmethod
    def log_gain(cls, k, epsilon):
        """Return the logarithm of minus the derivative of the variance."""
        return response_log_gain(k, epsilon / 2) - np.log(2)

    def both_supported(self):
        """Return zero twice: a report names one value."""
        return 0 * self.p_exact, 0 * self.p_exact

    def _probabilities(self):
        other = flip_probability(self.k, self.epsilon / 2, owner="HalvedResponse")
        return 1 - (self.k - 1) * other, other

    def _worst_ratio(self):
        return self.p_exact / self.q_exact

    def _privatize(self, codes, source):
        return respond(codes, self.k, self.p_exact, source)

    def _law(self):
        law = np.full((self.k, self.k), self.q_exact, dtype=object)
        np.fill_diagonal(law, self.p_exact)
        return law
