"""What one row can change in a step of private training, for any row and any weights at all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.learn.training.descent import TrainingRows
from evenhand.learn.training.descent_kernels import add_gradients, residuals
from evenhand.learn.training.private_rows import LARGEST_FEATURE

REACHES = st.sampled_from([2, 16, 2**14, 2**19, 2**30])
CLIPS = st.sampled_from([1e-9, 0.1, 1.0, 1.5, 1e9])


@st.composite
def rows_and_weights(draw, *, most_rows=3, large=LARGEST_FEATURE):
    """Return rows of hostile numbers, and weights for them."""
    n, width = draw(st.integers(1, most_rows)), draw(st.integers(1, 4))
    classes, constant = draw(st.integers(2, 4)), draw(st.booleans())
    hostile = [0.0, -0.0, 5e-324, -2.2e-308, 1e-154, 1.0, -1.0, large, -large]
    numbers = st.one_of(st.sampled_from(hostile), st.floats(-large, large))
    features = draw(arrays(np.float64, (n, width), elements=numbers))
    labels = draw(arrays(np.int64, n, elements=st.integers(0, classes - 1)))
    answers = 1 if classes == 2 else classes
    weights = draw(arrays(np.float64, (answers, width + constant), elements=st.floats(-1e9, 1e9)))
    return TrainingRows.of(features, labels, constant=constant), weights


def summed(rows, weights, batch, clip, reach):
    total = np.zeros(weights.shape, dtype=np.int64)
    errors, room = np.empty(len(weights)), np.empty(weights.shape, dtype=np.int32)
    add_gradients(
        rows.features, rows.lengths, rows.labels, np.array(batch, dtype=np.int64), weights,
        clip, reach, errors, room, total,
    )  # fmt: skip
    return total


@given(rows_and_weights(), CLIPS, REACHES)
def test_one_row_moves_a_sum_by_at_most_the_clip(case, clip, reach):
    """If this is false the noise is too small and the model is not private."""
    rows, weights = case
    everybody = list(range(len(rows.labels)))
    whole = summed(rows, weights, everybody, clip, reach)

    assert (summed(rows, weights, everybody[::-1], clip, reach) == whole).all()  # in any order
    for left_out in everybody:
        others = [row for row in everybody if row != left_out]
        change = (whole - summed(rows, weights, others, clip, reach)).ravel().tolist()

        assert sum(each**2 for each in change) <= reach**2  # Python's integers: exact


@given(rows_and_weights(most_rows=1, large=1e6), CLIPS)
def test_the_scaled_row_is_the_gradient_clipped_in_the_plain_way(case, clip):
    """Clipping in closed form must be what clipping each row's gradient would be."""
    rows, weights = case
    reach = 2**30
    errors = np.empty(len(weights))
    residuals(rows.features, 0, rows.labels[0], weights, errors)
    row = rows.features[0] if weights.shape[1] == rows.features.shape[1] else np.append(rows.features[0], 1.0)
    gradient = np.outer(errors, row)
    length = np.sqrt((gradient**2).sum())
    clipped = gradient * min(1.0, clip / length) if length > 0 else gradient
    made = summed(rows, weights, [0], clip, reach) * (clip / reach)

    assert np.abs(made - clipped).max() <= 2 * clip / reach
    assert np.sqrt((clipped**2).sum()) <= clip * (1 + 1e-12)
