"""Exact means of shares against the plain sum over all noise, for tables that nobody chose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace
from evenhand.release.postprocess.steps import Nonnegative, Shrink
from unit.decide._slow_shares import by_enumeration

TABLES = st.lists(
    st.tuples(st.sampled_from([0, 0.25, 0.5, 1, 2, 3, 7]), st.integers(0, 3000) | st.integers(0, 9)),
    min_size=1,
    max_size=3,
).filter(lambda table: sum(weight * count for weight, count in table) > 0)
LAWS = st.sampled_from(
    [
        (DiscreteLaplace("0.3"), 11),
        (DiscreteLaplace("0.5"), 17),
        (DiscreteGaussian("0.2"), 5),
        (DiscreteGaussian(1), 9),
    ]
)


@settings(max_examples=25)
@given(TABLES, LAWS)
def test_the_bias_is_within_its_bound_of_the_sum(table, law):
    """Whatever method was taken: what it says about its error is what people rely on."""
    weights, counts = map(list, zip(*table, strict=True))
    found = allotment_bias(Allotment(weights), counts, law[0])
    inside = 0.9 if "at most nine tenths" in found.method else None
    slow, _ = by_enumeration(weights, counts, law[0], law[1], inside=inside)

    assert (np.abs(found.values - slow) <= found.error_bound + 2e-14).all()


@settings(max_examples=25)
@given(TABLES, LAWS, st.sampled_from([Nonnegative(), Nonnegative(least=2), Shrink(1), Shrink(12)]))
def test_so_is_the_bias_after_a_clamp(table, law, step):
    """The same, for counts that were clamped or shrunk; the mean then always exists."""
    weights, counts = map(list, zip(*table, strict=True))
    found = allotment_bias(Allotment(weights), counts, law[0], post=[step])
    slow, _ = by_enumeration(weights, counts, law[0], law[1], step=step.apply)

    assert (np.abs(found.values - slow) <= found.error_bound + 2e-12).all()


@given(TABLES, st.integers(0, 5))
@settings(max_examples=25)
def test_permuting_entities_permutes_their_bias(table, turn):
    """Nobody's figure may depend on the order of the list."""
    weights, counts = (np.array(each) for each in zip(*table, strict=True))
    order = np.roll(np.arange(len(weights)), turn)
    found = allotment_bias(Allotment(weights), counts, DiscreteLaplace(1))
    moved = allotment_bias(Allotment(weights[order]), counts[order], DiscreteLaplace(1))

    assert moved.values == pytest.approx(found.values[order], rel=1e-9, abs=1e-13)
