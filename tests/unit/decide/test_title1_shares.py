"""The Title I table: 16,641 school districts, certified, and the caution about shrinking."""

import os

import numpy as np
import pytest

from evenhand.datasets import load
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias
from evenhand.decide.mitigate import decision_temperature
from evenhand.privacy.laws import DiscreteLaplace, Laplace
from evenhand.release.postprocess import Nonnegative, Shrink, optimal_temperature

BUDGET = 6.5e9


@pytest.fixture(scope="module")
def title1():
    if not os.environ.get("EVENHAND_DATA"):
        pytest.skip("EVENHAND_DATA names no folder of data files")
    frame = load("title1").frame
    return Allotment(np.asarray(frame["exp_index"])), np.asarray(frame["num_students"])


def moved(problem, counts, law, post=None):
    """Return the money that goes to other districts than it should, on average."""
    return np.abs(allotment_bias(problem, counts, law, post=post).values).sum() / 2 * BUDGET


@pytest.mark.parametrize("law", [DiscreteLaplace(10), DiscreteLaplace(200), Laplace(2000)], ids=repr)
def test_every_district_is_certified(title1, law):
    """To 1e-9 of its own bias, not only of the effects that it is the difference of."""
    values, bound, method = allotment_bias(*title1, law)

    assert "certified" in method
    assert (bound <= 1e-9 * np.abs(values)).all()
    assert abs(values.sum()) < 1e-15 * np.abs(values).sum() * len(values)


@pytest.mark.slow
def test_shrinking_for_counts_moves_more_money_than_the_clamp(title1):
    """At epsilon 1/10: about 501,000 against 91,000; a temperature chosen for the decision beats both."""
    law = Laplace(10)
    chosen = decision_temperature(title1[0], {"x": title1[1]}, law)

    assert moved(*title1, law) == pytest.approx(6.16, abs=0.01)
    assert moved(*title1, law, [Nonnegative()]) == pytest.approx(91_000, abs=500)
    assert moved(*title1, law, [Shrink(optimal_temperature(law))]) == pytest.approx(501_000, abs=500)
    assert moved(*title1, law, [Shrink(chosen)]) < 60_000
