"""Random swapping measured from outside: never above what is claimed, and an overrun would be seen.

A table of many rows that are all the same gives as many independent outputs in one release.
"""

import numpy as np
import pytest

from evenhand.privacy.audit.measured import audit_epsilon
from evenhand.privacy.randomness import SeededSource
from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping
from statistical._exact import ALPHA
from unit.release._slow_swapping import small_table

pytestmark = pytest.mark.statistical

SURE = 1 - ALPHA


def _outputs(mechanism):
    def draw(row, size, source):
        table = small_table(np.repeat(np.array(row)[:, None], max(size, 2), axis=1))
        return mechanism.release(table, rng=source).histogram.counts.T[:size]

    return draw


def _audited(mechanism, pair, size, **claims):
    source = SeededSource(31).for_cell(repr(mechanism))
    return audit_epsilon(_outputs(mechanism), pair, size=size, confidence=SURE, rng=source, **claims)


@pytest.mark.parametrize("pair", [((1, 0, 0), (0, 0, 1)), ((2, 1, 0), (1, 1, 1))])
def test_swapping_people_shows_no_more_than_epsilon(pair):
    """Above the claim the guarantee is false."""
    assert not _audited(RecordSwapping(1), pair, 40_000, claimed=1).exceeds


def test_an_epsilon_a_fifth_too_large_is_seen():
    """The twin: an audit that sees nothing proves nothing."""
    alone = ((1, 0), (0, 1))

    assert _audited(RecordSwapping("6/5"), alone, 100_000, claimed=1).exceeds
    assert _audited(RecordSwapping(1), alone, 100_000, claimed=1).measured_epsilon > 0.9


def test_swapping_cells_shows_no_more_than_its_delta_and_far_more_than_epsilon():
    """The delta holds, the paper's epsilon with the printed delta does not."""
    pair = ((0, 1, 1), (0, 0, 2))
    guarantee = RandomSwapping(1).guarantee_for(small_table([0, 0, 0]))
    printed = RandomSwapping(1).guarantee_for(small_table([0, 0, 0]), as_printed=True)

    assert not _audited(RandomSwapping(1), pair, 50_000, claimed=0, delta=guarantee.delta).exceeds
    assert _audited(RandomSwapping(1), pair, 50_000, claimed=1, delta=printed.delta).exceeds
