"""The fairest channel: the published values, awkward inputs, refusals, and that all get the same matrix."""

import math
import threading

import numpy as np
import pytest

from evenhand.collect.fairest import highs as channel_highs
from evenhand.collect.fairest import optimum as channel_fairest
from evenhand.collect.fairest.optimum import Recent, clear_channels, error_range, fairest_channel
from evenhand.collect.fairest.population import channel_unfairness, population, printed_channel
from evenhand.errors import InvalidParameterError
from property._channel_instances import grr_matrix, is_channel, slow_error, slow_unfairness

THREE = ([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1)
TWO = ([0.7, 0.3], [0.2, 0.6], 1)
FIVE = ([0.855, 0.096, 0.031, 0.010, 0.008], [0.26, 0.13, 0.27, 0.12, 0.11])
SAME = 1e-8


@pytest.mark.parametrize(
    ("case", "error", "unfairness"),
    [
        (THREE, "minimum", 0.155463233602),
        (THREE, 0.45, 0.098388955524),
        (THREE, 0.50, 0.057880111107),
        (THREE, 0.55, 0.021970578943),
        (THREE, 0.58, 0.0),
        (TWO, 0.30, 0.25),
        (TWO, 0.35, 0.160714285714),
        (TWO, 0.4052, 0.087734452122),
    ],
)
def test_the_least_unfairness_is_the_one_worked_out_before(case, error, unfairness):
    """These values were confirmed by other solvers; a change of any digit is a fault."""
    found = fairest_channel(*case, error=error)

    assert abs(found.unfairness - unfairness) < SAME
    assert unfairness - SAME < found.bound + SAME <= unfairness + 2 * SAME
    assert abs(slow_unfairness(found.matrix, *case[:2]) - found.unfairness) < 1e-12
    assert is_channel(found.matrix, case[2])


@pytest.mark.parametrize(
    ("epsilon", "least", "grr", "fair", "at_least", "at_grr"),
    [
        (0.5, 0.618475, 0.708125, 0.715737, 0.02599, 0.00069),
        (1, 0.410680, 0.595390, 0.648111, 0.05921, 0.00661),
        (2, 0.208569, 0.351214, 0.562091, 0.17079, 0.03927),
        (4, 0.056041, 0.068262, 0.500046, 0.39743, 0.31975),
    ],
)
def test_the_error_of_randomized_response_buys_most_of_the_fairness(
    epsilon, least, grr, fair, at_least, at_grr
):
    """The default budget rests on this table."""
    spread = error_range(*FIVE, epsilon)
    values = [fairest_channel(*FIVE, epsilon, error=error).unfairness for error in ("minimum", "grr")]

    assert spread == pytest.approx((least, grr, fair), abs=6e-7)
    assert values == pytest.approx([at_least, at_grr], abs=6e-6)


def test_the_least_error_has_the_diagonal_worked_out_before():
    """At the least error the matrix is nearly determined."""
    found = fairest_channel(*THREE, error="minimum")

    assert np.diagonal(found.matrix) == pytest.approx([0.64141144, 0.64141144, 0.33333333], abs=1e-6)
    assert found.error == pytest.approx(0.420204182795, abs=2e-9)


def test_two_groups_at_the_least_error_are_randomized_response():
    """With two groups there is no more truthful channel than randomized response."""
    found = fairest_channel(*TWO, error="minimum")

    assert found.matrix == pytest.approx(grr_matrix(population(*TWO, owner="test")), abs=1e-6)
    assert found.error == pytest.approx(0.268941421370, abs=2e-9)


def test_the_printed_form_is_beaten_at_its_own_error():
    """Tightness at epsilon is a modelling choice: at the same error another channel is much fairer."""
    printed = printed_channel(TWO[0], 1)
    error = slow_error(printed, TWO[0])
    found = fairest_channel(*TWO, error=error)

    assert error == pytest.approx(0.4052, abs=5e-5)
    assert channel_unfairness(printed, *TWO[:2]) == pytest.approx(0.2048, abs=5e-5)
    assert found.unfairness == pytest.approx(0.087755105, abs=1e-8)
    assert np.diagonal(found.matrix) == pytest.approx([0.6355, 0.5], abs=5e-5)


def test_the_default_budget_is_that_of_randomized_response():
    """Same truthfulness as the usual protocol, and fairer: that is the promise."""
    found = fairest_channel(*THREE)
    usual = grr_matrix(population(*THREE, owner="test"))

    assert found.error_budget == pytest.approx(2 / (math.e + 2), rel=1e-12)
    assert found.error <= slow_error(usual, THREE[0]) + 3e-9
    assert found.unfairness < channel_unfairness(usual, *THREE[:2])
    assert found.unfairness_before == pytest.approx(1 - 0.2 / 0.51)
    assert (found.kind, found.solves >= 4) == ("ratio", True)


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 5, 12, 20])
@pytest.mark.parametrize(
    ("weights", "rates"),
    [
        ([0.6, 0.4, 0.0], [0.2, 0.6, 0.9]),
        ([1.0, 0.0], [0.3, 0.6]),
        ([0.5, 0.3, 0.2], [0.4, 0.4, 0.4]),
        ([0.5, 0.3, 0.2], [1.0, 0.0, 1.0]),
        ([0.5, 0.5], [1.0, 1.0]),
        ([1 - 2e-9, 1e-9, 1e-9], [0.5, 0.1, 0.9]),
        ([0.25] * 4, [0.5 - 1e-9, 0.5, 0.5, 0.5 + 1e-9]),
    ],
)
def test_awkward_groups_get_a_private_channel(weights, rates, epsilon):
    """Empty groups, equal rates and rates of 0 and 1 all happen in data."""
    found = fairest_channel(weights, rates, epsilon)

    assert is_channel(found.matrix, epsilon)
    assert found.bound <= found.unfairness <= found.bound + 1e-8
    assert found.error <= found.error_budget + 3e-9


def test_equal_rates_get_the_most_truthful_channel():
    """Where there is no unfairness to remove, nothing is paid for its removal."""
    weights = [0.5, 0.3, 0.2]
    found = fairest_channel(weights, [0.4] * 3, 1)

    assert found.unfairness < 1e-12
    assert found.error == pytest.approx(error_range(weights, [0.4] * 3, 1).least, abs=3e-9)


def test_a_group_that_nobody_is_in_has_a_truthful_row_and_no_say():
    """Its row costs no error and no fairness, but who joins it later must not be made to lie."""
    found = fairest_channel([0.6, 0.4, 0.0], [0.2, 0.6, 0.5], 2)
    other = fairest_channel([0.6, 0.4, 0.0], [0.2, 0.6, 0.9], 2)

    assert found.matrix[2, 2] >= 1 / 3 - 1e-9
    assert found.matrix[2, 2] >= found.matrix[2].max() - 1e-9
    assert found.matrix == pytest.approx(other.matrix, abs=1e-9)


def test_groups_alike_are_treated_alike():
    """A fixed rule must not favour one of two groups that differ in nothing."""
    matrix = fairest_channel([0.3, 0.2, 0.2, 0.3], [0.2, 0.5, 0.5, 0.2], 1, error=0.6).matrix
    swapped = matrix[np.ix_([3, 2, 1, 0], [3, 2, 1, 0])]

    assert matrix == pytest.approx(swapped, abs=1e-12)


def test_the_order_of_the_groups_does_not_change_how_fair_it_is():
    """Only the choice among equals may depend on the order."""
    order = [2, 0, 1]
    there = fairest_channel(*THREE, error=0.45)
    back = fairest_channel(np.array(THREE[0])[order], np.array(THREE[1])[order], 1, error=0.45)

    assert back.unfairness == pytest.approx(there.unfairness, abs=1e-9)


def test_another_method_gives_the_same_matrix(monkeypatch):
    """Among many optimal channels a fixed rule takes one, so it must not matter how it was found."""
    usual = fairest_channel(*THREE, error=0.45)
    clear_channels()
    monkeypatch.setattr(channel_highs, "_SIMPLEX", {**channel_highs._INTERIOR, "run_crossover": "on"})
    other = fairest_channel(*THREE, error=0.45)
    clear_channels()

    assert other is not usual
    assert other.matrix == pytest.approx(usual.matrix, abs=1e-6)


def test_the_same_question_is_answered_from_memory():
    """Studies ask for the same channel for every seed."""
    clear_channels()
    first = fairest_channel(*THREE, error=0.5)
    again = fairest_channel(np.array(THREE[0]) + 1e-15, THREE[1], 1.0, error=0.5)

    assert again is first
    assert fairest_channel(*THREE, error=0.5, kind="difference") is not first


def test_an_answer_does_not_depend_on_what_was_asked_before():
    """Two people who compute the same channel must get the same one, whatever else either of them asked."""
    near = np.array(THREE[0]) + np.array([1e-14, 0, -1e-14])
    clear_channels()
    alone = fairest_channel(*THREE, error=0.5)
    clear_channels()
    fairest_channel(near, np.array(THREE[1]) - 1e-14, 1.0, error=0.45)
    fairest_channel(near, np.array(THREE[1]) - 1e-14, 1.0, error=0.5)
    after = fairest_channel(*THREE, error=0.5)

    assert (after.matrix == alone.matrix).all()
    assert (after.unfairness, after.bound, after.error) == (alone.unfairness, alone.bound, alone.error)
    assert after.solves == alone.solves


def test_an_epsilon_counts_with_all_its_digits():
    """A channel of a larger epsilon, however little, is not as private as was asked."""
    clear_channels()
    larger = fairest_channel(*THREE[:2], 1 + 2e-14, error=0.5)
    asked = fairest_channel(*THREE[:2], 1.0, error=0.5)

    assert asked is not larger


def test_an_answer_cannot_be_written_to():
    """Everybody gets the same object."""
    found = fairest_channel(*THREE, error=0.5)
    with pytest.raises(ValueError, match="read-only"):
        found.matrix[0, 0] = 1
    with pytest.raises(AttributeError):
        found.error = 0


def test_progress_counts_the_programs():
    """A solve of a minute that says nothing looks like a hang."""
    clear_channels()
    calls = []
    found = fairest_channel(*THREE, error=0.47, progress=lambda done, about: calls.append((done, about)))

    assert [done for done, _ in calls] == list(range(1, found.solves + 1))
    assert all(done <= about for done, about in calls)


def test_an_interruption_passes():
    """Control and C must end a long solve, not be taken for a solver that failed."""
    clear_channels()

    def stop(done, _about):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fairest_channel(*THREE, error=0.46, progress=stop)
    assert fairest_channel(*THREE, error=0.46).unfairness < 0.1


def test_threads_may_ask_at_the_same_time():
    """A server answers several people."""
    clear_channels()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(fairest_channel(*THREE, error=0.52))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert all((each.matrix == found[0].matrix).all() for each in found)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"weights": [0.5, 0.6]}, "'weights' .* sum to one. Got a sum of 1.1"),
        ({"weights": [1.0]}, "'weights' .* at least two groups"),
        ({"weights": [-0.5, 1.5]}, "'weights' .* from 0 to 1"),
        ({"weights": "ab"}, "'weights'"),
        ({"weights": [[0.5, 0.5]]}, "'weights'"),
        ({"rates": [0.5, float("nan")]}, "'rates'"),
        ({"rates": [0.5]}, "'rates' .* one number for each of the 2 groups"),
        ({"rates": [0.0, 0.0]}, "'rates' .*kind='difference'"),
        ({"epsilon": 0}, "'epsilon'"),
        ({"epsilon": None}, "'epsilon'"),
        ({"kind": "gap"}, "'kind' .* one of 'ratio', 'difference'"),
        ({"error": "least"}, "'error' .* one of 'grr', 'minimum'"),
        ({"error": 0.1}, "'error' .* a number from 0.268941 to 1"),
        ({"error": 1.1}, "'error'"),
        ({"error": True}, "'error'"),
        ({"error": None}, "'error'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(change, match):
    """A wrong matrix is worse than none."""
    given = {"weights": TWO[0], "rates": TWO[1], "epsilon": 1, **change}
    with pytest.raises(InvalidParameterError, match=match):
        fairest_channel(**given)


def test_rates_of_zero_have_no_difference():
    """The hint of the refusal must work."""
    found = fairest_channel([0.5, 0.5], [0.0, 0.0], 1, kind="difference")

    assert found.unfairness == found.bound == 0


def test_a_difference_is_smaller_than_that_of_the_fairest_ratio():
    """Each of the two is best at its own aim."""
    ratio, difference = (fairest_channel(*THREE, error=0.45, kind=kind) for kind in ("ratio", "difference"))

    assert difference.unfairness <= channel_unfairness(ratio.matrix, *THREE[:2], kind="difference") + 1e-9
    assert channel_unfairness(difference.matrix, *THREE[:2]) >= ratio.bound - 1e-9
    assert difference.unfairness * 0.99 <= difference.bound <= difference.unfairness
    assert is_channel(difference.matrix, 1)


def test_many_groups_are_solved_by_the_interior_point_method():
    """Above 20 groups the matrix is no corner; it must be private and fair all the same."""
    draw = np.random.default_rng(5)
    weights, rates = draw.dirichlet(np.full(22, 5.0)), 0.3 + 0.3 * draw.random(22)
    weights[0], weights[1] = 0.0, weights[0] + weights[1]
    spread = error_range(weights, rates, 2)
    found = fairest_channel(weights, rates, 2, error=(spread.least + spread.fair) / 2)

    assert is_channel(found.matrix, 2)
    assert found.unfairness - found.bound < 1e-7
    assert found.error <= found.error_budget + 1e-8


def test_a_choice_that_costs_fairness_is_not_taken(monkeypatch):
    """The rule among equals is a nicety; the optimum is the promise."""
    right = fairest_channel(*THREE, error=0.45)
    clear_channels()
    monkeypatch.setattr(channel_fairest, "choose", lambda *_, **__: np.eye(3))
    found = fairest_channel(*THREE, error=0.45)
    clear_channels()

    assert found.unfairness == pytest.approx(right.unfairness, abs=1e-8)
    assert is_channel(found.matrix, 1)


# --- The last few answers are kept, and no more ---


def test_the_oldest_answer_is_forgotten_first():
    """Memory must not grow with the number of questions."""
    kept, made = Recent(2), []

    def ask(key):
        return kept.get(key, lambda: made.append(key) or key)

    for key in "abacab":
        ask(key)

    assert made == ["a", "b", "c", "b"]
    kept.clear()
    ask("a")
    assert made[-1] == "a"
