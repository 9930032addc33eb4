"""Post-processing: what every step keeps, whatever was published."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess import Integral, Nonnegative, Shrink, SumTo, clamp_bias, shrink_bias

COUNTS = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12)
REALS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=12)
TOTALS = st.integers(0, 10**6)
LAWS = st.one_of(
    st.fractions(min_value="1/5", max_value=8, max_denominator=20).map(DiscreteLaplace),
    st.fractions(min_value="1/5", max_value=40, max_denominator=20).map(DiscreteGaussian),
)
FEWER = settings(max_examples=settings.default.max_examples // 2)  # each example draws or sums over a law


@FEWER
@given(st.one_of(COUNTS, REALS), st.integers(-5, 5), st.floats(0, 1e6))
def test_steps_on_single_counts_keep_their_order(values, least, temperature):
    """A larger noisy count must not come out below a smaller one."""
    for step in (Nonnegative(least=least), Shrink(temperature, least=least)):
        made = step.apply(np.sort(values))

        assert (np.diff(made) >= 0).all()
        assert made.min() >= least
        assert (made <= np.maximum(np.sort(values), least)).all()


@FEWER
@given(COUNTS, TOTALS)
def test_a_nonnegative_sum_is_the_nearest_point(values, total):
    """What it moves down it moves down by the same, and nothing else is nearer."""
    step = SumTo(total, nonnegative=True)
    made = step.apply(values)
    kept = made > 0

    assert made.min() >= 0
    assert abs(made.sum() - total) <= 1e-6 * (1 + total)
    if kept.any():
        moves = (np.array(values) - made)[kept]
        assert np.ptp(moves) <= 1e-6 * (1 + np.abs(values).max())
        assert (np.array(values)[~kept] <= moves.max() + 1e-6 * (1 + np.abs(values).max())).all()
    assert np.abs(step.apply(made) - made).max() <= 1e-6 * (1 + total)


@FEWER
@given(st.lists(st.floats(-(2.0**52), 2.0**52), min_size=1, max_size=20), st.integers(0, 2**32))
def test_rounding_moves_by_less_than_one(values, seed):
    """A whole number stays, and any other goes to a neighbour."""
    made = Integral().apply(np.array(values), source=SeededSource(seed))

    for value, whole in zip(values, made.tolist(), strict=True):
        assert abs(whole - value) < 1 or value == whole


@FEWER
@given(LAWS, st.lists(st.integers(0, 60), min_size=1, max_size=6), st.floats(0, 200))
def test_clamping_pushes_up_and_shrinking_lies_below(law, counts, temperature):
    """A clamp never loses people on average; a temperature lowers every count, and more of it lowers more."""
    assume(temperature > 0)
    clamped = clamp_bias(counts, law)
    shrunk, colder = (shrink_bias(counts, law, T=each) for each in (temperature, temperature / 2))

    assert (clamped >= 0).all()
    assert (shrunk <= colder + 1e-12).all()
    assert (colder <= clamped + 1e-12).all()
