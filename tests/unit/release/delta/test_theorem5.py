"""Theorem 5 as the paper prints it."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.errors import InvalidParameterError
from evenhand.release.delta.theorem5 import theorem_5_delta


def _slow(epsilon, beta, counts):
    share = -math.expm1(-epsilon)
    return 1 - min(binom.cdf(math.floor(share * count), count, beta) for count in counts) ** 2


@pytest.mark.parametrize(("epsilon", "printed"), [(0.5, 0.8787), (1, 0.9061), (2, 0.9817), (4, 0.9997)])
def test_the_numbers_of_table_1_come_out(epsilon, printed):
    """They are what the paper's tables cut to three digits."""
    assert round(theorem_5_delta(epsilon), 4) == printed


@pytest.mark.parametrize(("epsilon", "count"), [(0.5, 5), (1, 3), (2, 1), (4, 1)])
def test_the_least_sum_is_at_a_small_count(epsilon, count):
    """Any bound from there on gives the same delta, a smaller one gives less."""
    whole = theorem_5_delta(epsilon)

    assert theorem_5_delta(epsilon, bound=count) == whole
    assert theorem_5_delta(epsilon, bound=200) == whole
    if count > 1:
        assert theorem_5_delta(epsilon, bound=count - 1) < whole


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 0.3, 0.7, 3, 20])
def test_no_count_beyond_the_search_is_worse(epsilon):
    """The search stops; a slow one over many more counts must not find less."""
    beta = -math.expm1(-epsilon)
    counts = np.unique(np.geomspace(1, 2_000 / beta, 2_000).astype(int))

    assert theorem_5_delta(epsilon) >= _slow(epsilon, beta, counts) - 1e-12


@pytest.mark.parametrize(("epsilon", "beta"), [(0.1, 0.5), (1, 0.2), (2, 0.99)])
def test_another_beta_is_searched_up_to_the_bound(epsilon, beta):
    """The theorem is stated for every beta."""
    assert theorem_5_delta(epsilon, beta=beta, bound=90) == pytest.approx(
        _slow(epsilon, beta, range(1, 91)), abs=1e-12
    )


def test_a_share_below_beta_without_a_bound_gives_one():
    """The chance to stay below a smaller share than the mean tends to zero."""
    assert theorem_5_delta(0.1, beta=0.5) == 1
    assert theorem_5_delta(0, beta=0.5) == 1


def test_a_whole_product_is_rounded_down_to_itself():
    """With e to the -epsilon near one half, twice the share is a hair off 1: floats alone cannot tell."""
    below, above = "0.69314718055994530941", "0.69314718055994530943"

    assert theorem_5_delta(below, beta="1/2", bound=2) == pytest.approx(1 - 0.25**2, abs=1e-12)
    assert theorem_5_delta(above, beta="1/2", bound=2) == pytest.approx(1 - 0.5**2, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"beta": 1}, "beta"),
        ({"beta": 0}, "beta"),
        ({"bound": 0}, "bound"),
    ],
)
def test_what_cannot_be_is_refused_by_name(change, name):
    """The message has to say which argument is wrong."""
    with pytest.raises(InvalidParameterError) as caught:
        theorem_5_delta(**({"epsilon": 1} | change))

    assert name == caught.value.parameter


@pytest.mark.parametrize("epsilon", [-1, -0.5])
def test_an_epsilon_below_nought_is_refused_with_a_rate_too(epsilon):
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of theorem_5_delta"):
        theorem_5_delta(epsilon, beta=0.3)


def test_a_rate_of_nought_is_refused_in_the_words_of_every_number():
    with pytest.raises(
        InvalidParameterError, match="'beta' parameter of theorem_5_delta must be a number > 0"
    ):
        theorem_5_delta(1, beta=0)
