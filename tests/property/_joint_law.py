"""The law of a whole report, written out slowly: every combination of values by every report there can be."""

from fractions import Fraction
from itertools import product

import numpy as np

from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Sampled
from evenhand.privacy.rational import exp_bounds


def combinations(strategy):
    """Return every combination of values, the last column changing fastest."""
    return list(product(*(range(k) for k in strategy.sizes.values())))


def joint_law(strategy):
    """Return the probability, as a Fraction, of every whole report (column) under every combination (row).

    Independent columns multiply, report by report; a combination is one value; one question of several is
    drawn first and then answered.
    """
    if isinstance(strategy, Combined):
        return strategy.product.matrix(exact=True)
    laws = [protocol.matrix(exact=True) for protocol in strategy.protocols.values()]
    if isinstance(strategy, Sampled):
        rows = [
            [
                share * entry
                for share, law, value in zip(strategy.shares, laws, held, strict=True)
                for entry in law[value]
            ]
            for held in combinations(strategy)
        ]
        return np.array(rows, dtype=object)
    rows = []
    for held in combinations(strategy):
        row = [Fraction(1)]
        for law, value in zip(laws, held, strict=True):
            row = [before * entry for before in row for entry in law[value]]
        rows.append(row)
    return np.array(rows, dtype=object)


def worst_ratio(law, pairs):
    """Return the largest ratio of the probabilities of one report under the two rows of a pair."""
    found = Fraction(0)
    for one, other in pairs:
        for above, below in zip(law[one], law[other], strict=True):
            if above or below:
                found = max(found, above / below)
    return found


def all_pairs(strategy):
    number = len(combinations(strategy))
    return [(one, other) for one in range(number) for other in range(number) if one != other]


def pairs_that_differ_in(strategy, column):
    """Return the pairs of combinations that differ in one column alone."""
    every, axis = combinations(strategy), strategy.columns.index(column)
    return [
        (one, other)
        for one, other in all_pairs(strategy)
        if [i for i, (a, b) in enumerate(zip(every[one], every[other], strict=True)) if a != b] == [axis]
    ]


def within(ratio, epsilon):
    """Whether a ratio is at most e to the epsilon, decided in 60 digits."""
    return ratio <= exp_bounds(epsilon, digits=60)[0]


def assert_whole_report_is_private(strategy):
    """Fail if some report tells two combinations apart by more than the guarantee of the whole report."""
    ratio = worst_ratio(joint_law(strategy), all_pairs(strategy))

    assert within(ratio, strategy.guarantee.epsilon), "more is told than the whole report claims"


def assert_parts_make_up_the_whole(strategy):
    """Fail if the whole report claims less than its columns, composed, add up to."""
    parts = sum(protocol.guarantee for protocol in strategy.protocols.values())

    assert strategy.guarantee.epsilon >= parts.epsilon, "the whole claims less than its parts"
