"""A channel of two probabilities counts as it says."""

from fractions import Fraction

import numpy as np

from evenhand.collect.protocols.channel import Channel


def test_smoothing_adds_two_people_spread_over_the_four_kinds_of_reports():
    """Intervals of few reports rest on the added people; one in place of two makes them too short."""
    channel = Channel(Fraction(3, 4), Fraction(1, 4))
    sums, products, people = channel.smoothed(np.zeros((2, 2)), np.zeros(()))
    kinds = [(first, second) for first in (0, 1) for second in (0, 1)]  # which value a report supports
    scores = [[(bit - 0.25) / 0.5 for bit in kind] for kind in kinds]

    assert people == 2
    assert sums.tolist() == [sum(0.5 * score[value] for score in scores) for value in (0, 1)]
    for one in (0, 1):
        for other in (0, 1):
            expected = sum(0.5 * score[one] * score[other] for score in scores)

            assert products[one, other] == expected
