"""The cells of the audits of local protocols: every protocol at six epsilons and three sizes of domain."""

import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.privacy.audit.measured import Audit, audit_epsilon
from evenhand.privacy.randomness import SeededSource

EPSILONS = ("1/4", "1/2", "1", "2", "4", "8")
SIZES = (2, 16, 100)
CELLS = tuple(
    (name, epsilon, k)
    for name in PROTOCOLS
    for epsilon in EPSILONS
    for k in SIZES
    if name != "optimal" or k < 100  # half a minute to solve
)
OVERRUN = Fraction(11, 10)


class Cell(NamedTuple):
    """One protocol, audited as it is and when it overruns its claim."""

    protocol: str
    epsilon: Fraction
    k: int
    right: Audit
    wrong: Audit
    seconds: float
    """Of processor time, for the audit of the right one."""

    @property
    def share(self):
        """Return which share of the claimed epsilon was measured."""
        return self.right.measured_epsilon / float(self.right.claimed_epsilon)


class Overrun:
    """Reports of one protocol under the claim of another."""

    def __init__(self, drawn, claimed):
        self.privatize, self.indicators = drawn.privatize, drawn.indicators
        self.guarantee = claimed.guarantee


def overrun(protocol, factor=OVERRUN):
    """Return a mechanism that claims what `protocol` claims and draws with a larger epsilon."""
    larger = factor * protocol.guarantee.epsilon
    if protocol.name == "the":  # its report has less than the epsilon of its noise, unless it is calibrated
        return Overrun(type(protocol)(protocol.k, larger, recalibrated=True), protocol)
    if protocol.name == "optimal":  # whose matrix at a larger epsilon may tell no more between two values
        return Overrun(PROTOCOLS["grr"](protocol.k, larger), protocol)
    return Overrun(type(protocol)(protocol.k, larger), protocol)


def worst_pair(protocol):
    """Return two values that reports tell apart best: the first and the last, unless a matrix says else."""
    if protocol.name != "optimal":
        return 0, protocol.k - 1
    law = protocol.matrix()
    ratios = (law[:, None, :] / law[None, :, :]).max(axis=2)
    return tuple(int(each) for each in np.unravel_index(ratios.argmax(), ratios.shape))


def audit_cell(name, epsilon, k, *, seed, **settings):
    """Audit the two values that are told apart best."""
    protocol = PROTOCOLS[name].example(k=k, epsilon=epsilon)
    source = SeededSource(seed, cell=f"{name}/{epsilon}/{k}")
    began = time.process_time()
    pair = worst_pair(protocol)
    right = audit_epsilon(protocol, pair, rng=source, **settings)
    seconds = time.process_time() - began
    wrong = audit_epsilon(overrun(protocol), pair, rng=source, **settings)
    return Cell(name, Fraction(epsilon), k, right, wrong, seconds)
