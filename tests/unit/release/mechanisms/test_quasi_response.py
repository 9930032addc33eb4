"""The probabilities of the random swaps: never more than epsilon allows, and what follows is exact."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import exp_bounds
from evenhand.release.mechanisms.quasi_response import GRID, ResponseLaw, printed_delta
from unit.release._slow_swapping import cells_law, moments, records_law

EPSILONS = [
    Fraction(1, 1000),
    Fraction(1, 2),
    Fraction(1),
    Fraction(4),
    Fraction(20),
    Fraction(60),
    Fraction(10**4),
]


def _law(n, epsilon):
    return ResponseLaw(n, Fraction(epsilon), owner="a test")


@pytest.mark.parametrize(
    ("n", "epsilon", "expected"),
    [
        (9, "1/2", 0.88939115542638),
        (9, 1, 0.891744479468),
        (3, 1, 0.7108745563013),
        (9, 2, 0.9080),
        (9, 4, 0.9703),
        (2, "1/2", 0.530),
    ],
)
def test_delta_is_the_one_that_was_checked_by_enumeration(n, epsilon, expected):
    """A delta that is too small is a promise that is broken."""
    digits = max(0, len(str(expected)) - 2)

    assert float(_law(n, epsilon).together_delta) == pytest.approx(expected, abs=0.6 * 10**-digits)


@pytest.mark.parametrize(
    ("epsilon", "printed", "in_table"),
    [("1/2", 0.8679, 0.868), (1, 0.8743, 0.874), (2, 0.8996, 0.899), (4, 0.9698, 0.969)],
)
def test_the_printed_delta_is_that_of_the_paper_and_too_small(epsilon, printed, in_table):
    """The wrong number must be recognised by who has read the paper, and never be taken for ours."""
    found = printed_delta(9, Fraction(epsilon))

    assert float(found) == pytest.approx(printed, abs=5e-5)
    assert abs(float(found) - in_table) < 1e-3
    assert found < _law(9, epsilon).together_delta


def test_the_printed_delta_for_two_values_is_less_than_half_of_the_truth():
    assert float(printed_delta(2, Fraction(1, 2))) == pytest.approx(0.245, abs=5e-4)
    assert float(_law(2, "1/2").together_delta) == pytest.approx(0.530, abs=5e-4)


@pytest.mark.parametrize(("n", "epsilon"), list(itertools.product([2, 3, 9, 1000], EPSILONS)))
def test_probabilities_are_on_the_grid_and_their_ratio_keeps_epsilon(n, epsilon):
    """A ratio above e to the epsilon would break the guarantee of record swapping."""
    law = _law(n, epsilon)

    assert (law.other * GRID).denominator == (law.keep * GRID).denominator == 1
    assert law.keep + (n - 1) * law.other == 1
    assert law.keep > law.other > 0
    assert law.ratio <= exp_bounds(min(epsilon, Fraction(100)), digits=60)[0]
    assert law.realised_epsilon <= law.claimed_epsilon <= epsilon


def test_little_is_lost_by_the_grid():
    assert _law(9, 1).epsilon - _law(9, 1).realised_epsilon < Fraction(1, 10**17)
    assert _law(9, 1).claimed_epsilon == 1


def test_a_ratio_beyond_the_grid_is_claimed_as_it_is():
    """At epsilon 60 the grid gives less, and the guarantee may say so."""
    law = _law(5, 60)

    assert 44 < law.claimed_epsilon < 45
    assert law.realised_epsilon <= law.claimed_epsilon


def test_values_too_many_for_the_grid_are_refused():
    """The truth would be the least likely answer."""
    with pytest.raises(
        InvalidParameterError, match="'epsilon' parameter of a test must be large enough that 10,000,000,000"
    ):
        _law(10**10, "1/1000")


def test_a_single_value_is_refused():
    with pytest.raises(InvalidParameterError, match="'values'"):
        _law(1, 1)


def test_probabilities_that_do_not_keep_epsilon_are_never_drawn_with(monkeypatch):
    """A fault in the rounding must stop everything."""
    monkeypatch.setattr(ResponseLaw, "other", Fraction(1, 100))
    with pytest.raises(GuaranteeError, match="nothing was drawn"):
        _law(3, 1)


@pytest.mark.parametrize("factor", [Fraction(1), Fraction(3, 2), Fraction(5, 2), Fraction(3)])
def test_the_delta_of_one_response_is_its_hockey_stick(factor):
    law = _law(3, 1)
    epsilon = Fraction(math.log(factor)).limit_denominator(10**12)
    high = exp_bounds(epsilon)[1]
    exact = max(Fraction(0), law.keep - high * law.other)

    assert exact <= law.delta_at(epsilon) <= exact + Fraction(1, 10**30)
    assert law.delta_at(Fraction(1)) == 0


@pytest.mark.parametrize("row", [(0, 0, 0), (1, 0, 0), (5, 1, 0), (2, 2, 2)])
@pytest.mark.parametrize("epsilon", ["1/1000", 1, 20])
def test_bias_and_variance_are_those_of_the_enumerated_laws(row, epsilon):
    """Whoever publishes the table relies on these figures to say how wrong it is."""
    law = _law(3, epsilon)
    means, cell_spread = moments(cells_law(row, law.keep))
    people_means, people_spread = moments(records_law(row, law.keep))

    assert means == people_means
    assert law.bias([row])[0] == pytest.approx(
        [float(m - x) for m, x in zip(means, row, strict=True)], abs=1e-12
    )
    assert law.cell_variance([row])[0] == pytest.approx(list(map(float, cell_spread)), rel=1e-12, abs=1e-15)
    assert law.record_variance([row])[0] == pytest.approx(
        list(map(float, people_spread)), rel=1e-12, abs=1e-15
    )


def test_bias_of_the_vector():
    expected = [-1.907474018554, 0.635824672851, 1.271649345703]

    assert _law(3, 1).bias([[5, 1, 0]])[0] == pytest.approx(expected, abs=1e-11)


def test_variances_of_the_vector():
    """Moving people instead of cells is what makes the difference."""
    row = [[500, 20, 10]]

    assert _law(3, 1).record_variance(row)[0, 0] == pytest.approx(127.1, abs=0.05)
    assert _law(3, 1).cell_variance(row)[0, 0] == pytest.approx(61135, abs=0.5)


def test_counts_near_two_to_the_forty_do_not_wrap():
    """Squares of such counts do not fit 64 bits."""
    big = 2**40
    law = _law(3, 1)
    expected = big**2 * law.keep * (1 - law.keep) + 2 * big**2 * law.other * (1 - law.other)

    assert law.cell_variance([[big] * 3])[0] == pytest.approx([float(expected)] * 3, rel=1e-12)
    assert np.abs(law.bias([[big] * 3])).max() == 0


def test_what_moves_becomes_another_value():
    values = np.repeat(np.arange(4), 5_000)
    places, became = _law(4, 1).draw_moves(values, source=SeededSource(3))

    assert (became != values[places]).all()
    assert set(became.tolist()) == {0, 1, 2, 3}
    assert places.size == pytest.approx(20_000 * float(1 - _law(4, 1).keep), rel=0.05)


def test_an_epsilon_is_claimed_as_asked_up_to_a_thousand_millionth():
    law = ResponseLaw(3, 1, owner="test")
    for realised, claimed in ((Fraction(10**9 - 1, 10**9), 1), (Fraction(9, 10), Fraction(9, 10))):
        law.__dict__["realised_epsilon"] = realised

        assert law.claimed_epsilon == claimed
