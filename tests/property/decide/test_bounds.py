"""The bounds on composed rules hold on random instances, and the printed versions that are wrong do not."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.decide.bounds import (
    OPERATORS,
    ErrorRange,
    alpha_bound,
    alpha_bound_excess,
    check_independent,
    composed_error,
    error_limits,
    errors_by_truth,
    most_erring_truth,
)
from evenhand.errors import InvalidParameterError

ERRORS = st.lists(st.floats(0, 0.5), min_size=1, max_size=6)
ANY = st.floats(0, 1)
JOINED = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
TRUTHS = list(itertools.product([True, False], repeat=2))


def enumerated(operator, first, second, truth):
    """The error of two independent predicates, by going through the four ways in which they can err."""
    right = JOINED[operator](*truth)
    total = 0.0
    for errs in itertools.product([True, False], repeat=2):
        probability = (first if errs[0] else 1 - first) * (second if errs[1] else 1 - second)
        total += probability * (JOINED[operator](truth[0] ^ errs[0], truth[1] ^ errs[1]) != right)
    return total


@given(st.sampled_from(OPERATORS), ANY, ANY, st.sampled_from(TRUTHS))
def test_lemmas_1_to_3_are_the_sum_over_the_ways_to_err(operator, first, second, truth):
    """Everything else about compositions rests on these three."""
    found = composed_error(operator, first, second, first_true=truth[0], second_true=truth[1])

    assert found == pytest.approx(enumerated(operator, first, second, truth), abs=1e-12)


@given(st.sampled_from(OPERATORS), ANY, ANY, st.sampled_from(TRUTHS), ANY)
def test_the_limits_hold_whatever_the_two_predicates_share(operator, first, second, truth, place):
    """They are what is left to say without independence; a limit that can be passed says nothing."""
    both_least, both_most = max(0.0, first + second - 1), min(first, second)
    both = both_least + place * (both_most - both_least)  # any law of two events with these two probabilities
    law = {
        (True, True): both,
        (True, False): first - both,
        (False, True): second - both,
        (False, False): 1 - first - second + both,
    }
    right = JOINED[operator](*truth)
    error = sum(
        probability
        for errs, probability in law.items()
        if JOINED[operator](truth[0] ^ errs[0], truth[1] ^ errs[1]) != right
    )
    low, high = error_limits(operator, first, second, first_true=truth[0], second_true=truth[1])

    assert low - 1e-12 <= error <= high + 1e-12


@given(st.sampled_from(OPERATORS), ANY, ANY, st.sampled_from(TRUTHS))
def test_the_limits_are_met(operator, first, second, truth):
    """A limit nobody meets would be too wide."""
    low, high = error_limits(operator, first, second, first_true=truth[0], second_true=truth[1])
    independent = composed_error(operator, first, second, first_true=truth[0], second_true=truth[1])
    met = []
    for both in (max(0.0, first + second - 1), min(first, second)):
        law = {
            (True, True): both,
            (True, False): first - both,
            (False, True): second - both,
            (False, False): 1 - first - second + both,
        }
        right = JOINED[operator](*truth)
        met.append(
            sum(
                p
                for errs, p in law.items()
                if JOINED[operator](truth[0] ^ errs[0], truth[1] ^ errs[1]) != right
            )
        )

    assert sorted(met) == pytest.approx([low, high], abs=1e-12)
    assert low - 1e-12 <= independent <= high + 1e-12


@given(st.sampled_from(OPERATORS), st.data())
def test_theorems_5_and_6_bound_alpha(operator, data):
    """An alpha above its bound would make every promise from the bound false."""
    first = np.array(data.draw(ERRORS))
    second = np.array(data.draw(st.lists(st.floats(0, 0.5), min_size=first.size, max_size=first.size)))
    truths = data.draw(st.lists(st.sampled_from(TRUTHS), min_size=first.size, max_size=first.size))
    one, two = np.array(truths).T
    errors = composed_error(operator, first, second, first_true=one, second_true=two)

    assert np.ptp(errors) <= alpha_bound(operator, ErrorRange.of(first), ErrorRange.of(second)) + 1e-12


@given(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.5))
def test_corollary_6_is_about_the_bound(a, b, c, d):
    first, second = ErrorRange.of([a, b]), ErrorRange.of([c, d])
    bound = alpha_bound("and", first, second)
    excess = alpha_bound_excess(first, second)

    assert excess == pytest.approx(bound - max(first.alpha, second.alpha), abs=1e-12)
    assert excess >= -1e-15
    assert alpha_bound("or", first, second) == bound


@given(ANY, ANY)
def test_theorems_7_and_8_name_the_answers_that_err_most(first, second):
    """Who is refused most often is what the theorems are for."""
    for operator in ("and", "or"):
        named = most_erring_truth(operator, [first, first], [second])
        by_truth = {truth: enumerated(operator, first, second, truth) for truth in TRUTHS}

        assert by_truth[named] >= max(by_truth.values()) - 1e-12
        assert errors_by_truth(operator, first, second) == pytest.approx(by_truth, abs=1e-12)


def test_equal_errors_stay_equal_under_xor():
    """Corollary 3."""
    same = ErrorRange(least=0.2, greatest=0.2)

    assert alpha_bound("xor", same, ErrorRange(least=0.4, greatest=0.4)) == 0
    assert alpha_bound("and", same, same) > 0


def test_step_20b_as_printed_is_not_the_bound():
    """Entities with errors (.4, .3) and (.1, .2): alpha is .2, as (17) has it; (20b) as printed gives .52."""
    high, low = (0.4, 0.3), (0.1, 0.2)
    either = {"first_true": True, "second_true": True}
    alpha = float(composed_error("xor", *high, **either) - composed_error("xor", *low, **either))
    printed = high[0] + high[1] - 2 * high[0] * high[1] - low[0] + low[1] - 2 * low[0] * low[1]
    first, second = ErrorRange(least=0.1, greatest=0.4), ErrorRange(least=0.2, greatest=0.3)

    assert alpha == pytest.approx(0.2)
    assert alpha_bound("xor", first, second) == pytest.approx(0.2)
    assert printed == pytest.approx(0.52)


def test_step_20b_as_printed_contradicts_corollary_3():
    """It is too large by 2 B2 (1 - 2 B1), also where both predicates err for all alike and alpha is 0."""
    for first, second in itertools.product(np.linspace(0, 0.5, 6), repeat=2):
        at_both = first + second - 2 * first * second
        printed = at_both - first + second - 2 * first * second

        assert printed == pytest.approx(2 * second * (1 - 2 * first))
        assert alpha_bound("xor", ErrorRange.of([first]), ErrorRange.of([second])) == 0


def test_a_composition_can_be_more_even_than_its_parts():
    """Corollary 6 read as a statement about alpha itself is false."""
    first, second = np.array([0.1, 0.4]), np.array([0.4, 0.1])
    errors = composed_error("and", first, second, first_true=[True, True], second_true=[True, True])

    assert np.ptp(errors) == pytest.approx(0.0)
    assert max(np.ptp(first), np.ptp(second)) == pytest.approx(0.3)
    assert alpha_bound("and", ErrorRange.of(first), ErrorRange.of(second)) > 0.3


def test_step_21b_as_printed_leaves_a_term_out():
    first, second = ErrorRange(least=0.3, greatest=0.4), ErrorRange(least=0.2, greatest=0.45)
    printed = first.least + second.alpha + second.least - first.alpha * second.alpha
    printed -= first.alpha * second.least + second.alpha * first.least
    true = alpha_bound("or", first, second) - first.alpha

    assert printed - true == pytest.approx(2 * first.least * second.least)


def test_the_bounds_fail_beyond_one_half():
    """So the condition is needed, and is checked."""
    first, second = np.array([0.9, 0.9]), np.array([0.9, 0.9])
    errors = composed_error("and", first, second, first_true=[True, True], second_true=[False, True])
    formula = 0.9 + 0.9 - 0.81 - 0.81

    assert np.ptp(errors) > formula
    with pytest.raises(InvalidParameterError, match="at most 1/2"):
        ErrorRange.of(first)


def test_the_lemmas_are_refused_where_rules_share_an_input():
    """In the language rule independence is wrong by up to 12 points."""
    share, many = SimpleNamespace(inputs=("sp", "s")), SimpleNamespace(inputs=("sp",))
    with pytest.raises(InvalidParameterError, match="also reads 'sp'"):
        check_independent(share, many)

    check_independent(SimpleNamespace(inputs=("s",)), many)
