"""Public features of any declared column, against a slow version that takes one cell at a time."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.errors import InvalidParameterError
from evenhand.learn.encoding.encoder import PublicEncoder
from evenhand.schema import Column, Domain, Schema
from property._schemas import DOMAINS, binned, categorical, ranges

pytestmark = pytest.mark.figures

NUMBERS = st.sampled_from(["auto", "linear", "log", "bins"])
MOST = 1 << 63


def encoder_of(column, numbers):
    encoder = PublicEncoder(Schema([column]), numbers=numbers)
    refused = None
    try:
        encoder.get_feature_names_out()
    except InvalidParameterError as error:
        refused = str(error)
    assert refused is None or "1e300" in refused
    assume(refused is None)
    return encoder


@st.composite
def columns_with_codes(draw, domains=DOMAINS):
    column = Column("a", draw(domains), outside=draw(st.sampled_from(["error", "other"])))
    codes = draw(st.lists(st.integers(0, min(column.size, MOST) - 1), min_size=1, max_size=5))
    return column, np.array(codes, dtype=column.dtype)


@given(columns_with_codes(), NUMBERS)
def test_features_are_finite_moderate_and_follow_from_the_own_row_alone(drawn, numbers):
    """A feature that another row can move would change the sensitivity that the noise is made for."""
    column, codes = drawn
    encoder = encoder_of(column, numbers)
    whole = encoder.features({"a": codes})
    alone = np.vstack([encoder.features({"a": codes[place : place + 1]}) for place in range(len(codes))])

    assert np.isfinite(whole).all()
    assert np.abs(whole).max() <= 1
    assert np.linalg.norm(whole, axis=1).max() <= math.sqrt(2)
    assert np.array_equal(whole, alone)
    assert whole.shape[1] == len(encoder.get_feature_names_out())


@given(columns_with_codes(ranges() | binned()), st.sampled_from(["linear", "log"]))
def test_numbers_keep_their_order_and_reach_from_end_to_end(drawn, numbers):
    """A number that loses its order cannot be learnt from."""
    column, codes = drawn
    encoder = encoder_of(column, numbers)
    inside = np.sort(codes[codes < column.domain.size])
    made = encoder.features({"a": inside})[:, 0]
    ends = encoder.features({"a": np.array([0, column.domain.size - 1], column.dtype)})[:, 0]

    assert (np.diff(made) >= 0).all()
    if column.domain.kind == "integers" and column.domain.size > 1:
        assert ends.tolist() == [-1, 1]


@given(columns_with_codes(categorical().filter(lambda domain: not domain.ordered)))
def test_a_category_is_one_where_the_row_has_it(drawn):
    column, codes = drawn
    made = encoder_of(column, "auto").features({"a": codes})
    slow = [[1.0 if code == value else 0.0 for value in range(column.size)] for code in codes.tolist()]

    assert made.tolist() == slow


@given(st.integers(-(10**6), 10**6), st.integers(21, 10**7), st.data())
def test_wide_and_narrow_ranges_follow_their_formulas(low, span, data):
    high = low + span
    value = data.draw(st.integers(low, high))
    column = Column("a", Domain.integers(low, high))
    made = PublicEncoder(Schema([column])).features({"a": np.array([value - low])})[0]
    smallest = 0 if low <= 0 <= high else min(abs(low), abs(high))
    if max(abs(low), abs(high)) > 1000 * max(smallest, 1):
        ends = [math.copysign(math.log(1 + abs(each)), each) for each in (low, value, high)]
        slow = [2 * (ends[1] - ends[0]) / (ends[2] - ends[0]) - 1, value / max(abs(low), abs(high))]
    else:
        slow = [2 * (value - low) / (high - low) - 1]

    assert np.allclose(made, slow, rtol=0, atol=1e-9)
