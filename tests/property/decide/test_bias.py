"""What holds of every result, whatever the counts: order, totals, limits."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.bounds import ErrorRange, alpha_bound, composed_error, error_limits, threshold_bound
from evenhand.decide.language.terms import count, ratio, threshold
from evenhand.decide.result.bias import bias
from evenhand.decide.result.breakdown import group_shares
from evenhand.decide.result.entities import Entities
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

FEWER = settings(max_examples=settings.default.max_examples // 14)  # each example computes several laws
LAWS = st.sampled_from([Laplace(3), Gaussian(9), DiscreteLaplace(3), DiscreteGaussian(9)])
COUNTS = st.lists(st.integers(0, 300), min_size=2, max_size=6)
RULE = ((ratio("x", "y") > 0.25) | (count("x") > 90)) & (count("x") + count("y") > 60)


@FEWER
@given(COUNTS, LAWS, st.randoms(use_true_random=False))
def test_entities_in_another_order_get_the_same(counts, law, shuffler):
    """Who is first in the file must not matter."""
    order = list(range(len(counts)))
    shuffler.shuffle(order)
    x, y = np.array(counts), np.array(counts[::-1]) + 20
    rule = bias(RULE, {"x": x, "y": y}, law)
    turned = bias(RULE, {"x": x[order], "y": y[order]}, law)

    assert turned.bias == pytest.approx(rule.bias[order], abs=1e-12)
    assert turned.alpha == pytest.approx(rule.alpha, abs=1e-12)


@FEWER
@given(COUNTS, LAWS, st.randoms(use_true_random=False))
def test_shares_in_another_order_are_the_same(counts, law, shuffler):
    order = list(range(len(counts)))
    shuffler.shuffle(order)
    x, weights = np.array(counts) + 40, 1 + np.arange(len(counts)) / 4
    shares = bias(Allotment(weights), x, law)
    turned = bias(Allotment(weights[order]), x[order], law)

    assert turned.bias == pytest.approx(shares.bias[order], rel=1e-8, abs=1e-13)
    assert turned.cost(100) == pytest.approx(shares.cost(100), rel=1e-8, abs=1e-12)


@FEWER
@given(COUNTS, LAWS)
def test_what_some_gain_others_lose(counts, law):
    """Shares add up to 1 with noise and without, so biases add up to 0, over places and over groups."""
    x = np.array(counts) + 40
    people = {"young": x * 2, "old": x[::-1] + 1}
    entities = Entities.read({"x": x, **people}, counts=["x"], groups=["young", "old"])
    found = bias(Allotment(np.ones(x.size), budget=1_000), entities, law)
    groups = group_shares(found)

    assert found.bias.sum() == pytest.approx(0, abs=1e-12)
    assert found.moved() == pytest.approx(found.cost(), abs=1e-9)
    assert sum(each.gain for each in groups.groups) == pytest.approx(0, abs=1e-9)
    assert sum(each.due for each in groups.groups) == pytest.approx(1_000)


@FEWER
@given(COUNTS, LAWS, st.integers(0, 300))
def test_no_threshold_flips_more_than_half_the_time(counts, law, level):
    """Theorem 4."""
    found = bias(threshold("x", level), counts, law)

    assert found.flip.max() <= threshold_bound(law) + 1e-12
    assert found.alpha <= threshold_bound(law) + 1e-12


@FEWER
@given(COUNTS, LAWS, st.sampled_from(["and", "or", "xor"]))
def test_compositions_of_separate_counts_obey_the_lemmas_and_the_bounds(counts, law, operator):
    """Lemmas 1 to 3 and Theorems 5 and 6, on rules rather than on numbers."""
    data = {"x": np.array(counts), "y": np.array(counts[::-1])}
    first, second = count("x") >= 100, count("y") > 150
    joined = {"and": first & second, "or": first | second, "xor": first ^ second}[operator]
    one, two, both = (bias(rule, data, law) for rule in (first, second, joined))
    lemma = composed_error(operator, one.flip, two.flip, first_true=one.truth, second_true=two.truth)

    assert both.flip == pytest.approx(lemma, abs=1e-9)
    assert both.alpha <= alpha_bound(operator, ErrorRange.of(one.flip), ErrorRange.of(two.flip)) + 1e-9


@FEWER
@given(COUNTS, LAWS, st.sampled_from(["and", "or", "xor"]))
def test_compositions_that_share_a_count_stay_within_their_limits(counts, law, operator):
    data = {"x": np.array(counts), "y": np.array(counts[::-1])}
    first, second = count("x") >= 100, count("x") + count("y") > 210
    joined = {"and": first & second, "or": first | second, "xor": first ^ second}[operator]
    one, two, both = (bias(rule, data, law) for rule in (first, second, joined))
    low, high = error_limits(operator, one.flip, two.flip, first_true=one.truth, second_true=two.truth)

    assert (low - 1e-9 <= both.flip).all()
    assert (both.flip <= high + 1e-9).all()


@FEWER
@given(st.lists(st.integers(1, 200), min_size=2, max_size=6), LAWS)
def test_scaling_all_weights_changes_nothing(counts, law):
    x = np.array(counts) + 40
    assume(np.ptp(x) > 0)
    plain, scaled = bias(Allotment(np.ones(x.size)), x, law), bias(Allotment(np.full(x.size, 4.0)), x, law)

    assert scaled.bias == pytest.approx(plain.bias, rel=1e-8, abs=1e-13)
