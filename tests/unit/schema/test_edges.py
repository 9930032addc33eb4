"""Inferred bins have edges a person would write."""

import math
import sys
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.schema import Domain
from evenhand.schema.infer import round_edges

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("low", "high", "bins", "expected"),
    [
        (0, 1, 10, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        (17, 90, 10, [10, 20, 30, 40, 50, 60, 70, 80, 90]),
        (0.03, 0.97, 4, [0, 0.25, 0.5, 0.75, 1]),
        (-7, 7, 3, [-10, 0, 10]),
        (-1, 1, 1, [-1, 1]),
        (-3, 8, 1, [-10, 10]),
        (17, 90, 1, [0, 100]),
        (0, 0, 10, [0, 1]),
        (5, 5, 10, [5, 5.5]),
        (-1234, -1234, 10, [-1400, -1200]),
    ],
)
def test_the_edges_are_round(low, high, bins, expected):
    assert list(round_edges(low, high, bins)) == expected


@given(FINITE, FINITE, st.integers(1, 50))
@example(-sys.float_info.max, sys.float_info.max, 10)
@example(5e-324, 1e-323, 10)
@example(1e16, 1e16 + 2, 10)
@example(0.0, 5e-324, 3)
@example(sys.float_info.max, sys.float_info.max, 1)
def test_the_edges_hold_both_ends_in_at_most_the_bins_asked_for(one, other, bins):
    """A value outside its own inferred domain would be refused as soon as it is encoded."""
    low, high = sorted((one, other))
    edges = round_edges(low, high, bins)

    assert edges[0] <= low <= high <= edges[-1]
    assert 1 <= len(edges) - 1 <= bins
    assert all(math.isfinite(edge) for edge in edges)
    assert all(left < right for left, right in pairwise(edges))
    assert Domain.binned(edges).size == len(edges) - 1


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 20))
def test_the_bins_are_equally_wide(low, span, bins):
    edges = [Fraction(repr(edge)) for edge in round_edges(low, low + span, bins)]
    widths = {right - left for left, right in pairwise(edges)}
    width = float(widths.pop())

    assert widths == set()
    assert f"{width:e}".split("e")[0].rstrip("0") in {"1.", "2.", "2.5", "5."}
