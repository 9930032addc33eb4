"""Shares that add up to one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.protocols.channel import onto_simplex
from evenhand.collect.protocols.grr import GRR
from evenhand.errors import InvalidParameterError

VALUES = hnp.arrays(float, st.integers(1, 40), elements=st.floats(-50, 50))


def _slow(values):
    """Halve the interval in which the shift t lies until the sum is right."""
    low, high = values.min() - 1.0, values.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(values - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(values - (low + high) / 2, 0)


@given(VALUES)
def test_the_projection_is_the_nearest_point(values):
    found = onto_simplex(values)

    assert found == pytest.approx(_slow(values), abs=1e-9)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()


@given(VALUES, st.randoms(use_true_random=False))
def test_no_other_shares_are_nearer(values, random):
    found = onto_simplex(values)
    other = np.array([random.random() for _ in values])
    other = onto_simplex(other) if not other.sum() else other / other.sum()

    assert np.sum((found - values) ** 2) <= np.sum((other - values) ** 2) + 1e-9


def test_shares_that_add_up_stay_as_they_are():
    assert onto_simplex([0.25, 0.75, 0.0]).tolist() == [0.25, 0.75, 0.0]


def test_equal_values_share_equally():
    assert onto_simplex([-3.0] * 4).tolist() == [0.25] * 4


def _estimate():
    return Frequencies([62, 29, 9], n=100, protocol=GRR(k=3, epsilon=2))


def test_the_choice_is_named_and_its_bias_told():
    """Whoever reads the table must learn that these shares are not the estimate."""
    shares = _estimate().consistent()

    assert shares.how == "simplex"
    assert "small shares come out too large and large ones too small" in shares.note
    assert shares.note in repr(shares)
    assert "consistent share" in shares._repr_html_()
    assert shares.values.tolist() == onto_simplex(_estimate().values).tolist()


def test_intervals_stay_those_of_the_estimate():
    """Projected limits would be too narrow where shares are small."""
    estimate = _estimate()
    projected = estimate.consistent().interval(0.9, of="population")

    assert projected.low.tolist() == estimate.interval(0.9, of="population").low.tolist()


def test_the_frame_holds_both():
    frame = _estimate().consistent().to_frame(["a", "b", "c"], backend="pyarrow").to_pydict()

    assert min(frame["share"]) < 0
    assert min(frame["consistent_share"]) == 0
    assert sum(frame["consistent_share"]) == pytest.approx(1)


def test_other_choices_are_refused():
    with pytest.raises(InvalidParameterError, match="one of 'simplex'"):
        _estimate().consistent(how="clip")
