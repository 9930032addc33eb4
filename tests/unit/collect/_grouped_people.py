"""People in two groups, for the tests of rates by group."""

import numpy as np

from evenhand.collect.estimates.group_rates import GroupRates
from evenhand.collect.estimates.outcome_counts import OutcomeCounts
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.grr import GRR

SHARES, RATES = np.array([0.7, 0.3]), np.array([0.2, 0.6])


def expected_counts(protocol, shares, rates, n=1_000_000.0):
    """The counts that are expected, not rounded."""
    law, support = protocol.matrix(), protocol.indicators(protocol.outputs()).astype(float)
    cells = np.stack([(shares * (1 - rates)) @ law, (shares * rates) @ law]) * n
    together = np.einsum("yo,ou,ov->yuv", cells, support, support)
    return OutcomeCounts(cells.sum(axis=1), together)


def channel_of(protocol):
    return Channel(protocol.p_exact, protocol.q_exact)


def found_rates(protocol=None, **given):
    protocol = GRR(k=2, epsilon=1) if protocol is None else protocol
    counts = expected_counts(protocol, SHARES, RATES)
    return GroupRates(counts, channel_of(protocol), ("men", "women"), protocol=protocol, **given)


def two_groups(n=4000, protocol=None, seed=7):
    """People in two groups with 20 % and 60 % outcomes, exactly."""
    protocol = GRR(k=2, epsilon=1) if protocol is None else protocol
    men = n * 7 // 10
    group = np.repeat([0, 1], [men, n - men])
    outcome = np.r_[np.arange(men) < men // 5, np.arange(n - men) < (n - men) * 3 // 5]
    return outcome, protocol.privatize(group, rng=seed)
