"""The formulas agree with the protocols, which round, and with figures worked out elsewhere."""

import mpmath
import numpy as np
import pytest

from evenhand.collect.protocols.registry import (
    PROTOCOLS,
    auto_name,
    compared_names,
    formula_names,
    ideal,
)
from evenhand.errors import InvalidParameterError

FIGURES = [  # protocol, k, epsilon, p, q, variance; THE's p and q from a root in 40 digits
    ("grr", 10, 1.0, 0.23196931668407, 0.085336742590658, 3.6302486929155),
    ("grr", 5, 0.5, 0.29187513274058, 0.17703121681486, 11.046310108521),
    ("blh", 10, 1.0, 0.73105857863, 0.5, 4.6826943768312),
    ("olh", 10, 1.0, 0.47536688641867, 0.25, 3.6916546174567),
    ("olh", 10, 0.5, None, 1 / 3, 15.817400276842),
    ("olh", 10, 2.0, None, 1 / 8, 0.72459138906815),
    ("rappor", 10, 1.0, 0.62245933120185, 1 - 0.62245933120185, 3.9176980890328),
    ("oue", 10, 1.0, 0.5, 0.26894142137, 3.6826943768312),
    ("ss", 10, 1.0, 0.40460967519169, 0.17726559164537, 2.821738684993),
    ("ss", 41, 0.5, None, None, 14.871947554195),
    ("ss", 74, 2.0, None, None, 0.67790804625054),
    ("the", 10, 1.0, 0.586819385879112, 0.366988817349968, 4.8071541300973),
    ("the", 10, 2.0, None, None, 1.28357729327633),
    ("the", 10, 0.5, None, None, 17.8278468641643),
]


@pytest.mark.parametrize(("protocol", "k", "epsilon", "p", "q", "variance"), FIGURES)
def test_figures_worked_out_elsewhere_are_met(protocol, k, epsilon, p, q, variance):
    found = ideal(protocol, k, epsilon)

    assert found.variance == pytest.approx(variance, rel=1e-13)
    assert p is None or found.p == pytest.approx(p, rel=1e-11)
    assert q is None or found.q == pytest.approx(q, rel=1e-11)


@pytest.mark.parametrize("k", [2, 3, 10, 1000])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0, 5.0, 8.0])
@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "optimal"])
def test_a_formula_agrees_with_the_protocol_that_rounds(name, epsilon, k):
    """A budget split by a wrong formula would be a bad one, in silence."""
    found, drawn = ideal(name, k, epsilon), PROTOCOLS[name](k, epsilon)

    grain = 2**-51 * k / (drawn.p - drawn.q)  # of k - 1 false values, each rounded

    assert found.p == pytest.approx(drawn.p, rel=1e-11)
    assert found.q == pytest.approx(drawn.q, rel=1e-9)
    assert found.variance == pytest.approx(drawn.variance(), rel=1e-9 + grain)


@pytest.mark.parametrize("name", formula_names())
def test_nothing_overflows_and_the_variance_falls(name):
    epsilons = np.geomspace(1e-6, 700, 400)
    for k in (2, 5, 100_000):
        found = ideal(name, k, epsilons)  # warnings are errors here

        assert all(np.isfinite(each).all() and (each > 0).all() for each in found)
        assert (np.diff(found.variance) <= 1e-12 * found.variance[1:]).all()


def test_the_formulas_keep_their_digits_at_both_ends():
    mpmath.mp.dps = 50
    truth = {
        "grr": lambda k, e: (k - 2 + e) / (e - 1) ** 2,
        "oue": lambda k, e: 4 * e / (e - 1) ** 2,
        "blh": lambda k, e: (e + 1) ** 2 / (e - 1) ** 2,
        "rappor": lambda k, e: mpmath.sqrt(e) / (mpmath.sqrt(e) - 1) ** 2,
    }
    for name, formula in truth.items():
        for epsilon in (1e-6, 1e-3, 30.0, 700.0):
            right = formula(7, mpmath.exp(mpmath.mpf(epsilon)))

            assert ideal(name, 7, epsilon).variance == pytest.approx(float(right), rel=1e-14)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.5, 1.0, 4.0, 40.0, 300.0])
def test_the_threshold_in_closed_form_is_the_best_one(epsilon):
    """The root of a quadratic must be where fifty digits find the least variance."""
    mpmath.mp.dps = 50
    half = mpmath.mpf(epsilon) / 2

    def variance(threshold):
        p, q = 1 - mpmath.exp(half * (threshold - 1)) / 2, mpmath.exp(-half * threshold) / 2
        return q * (1 - q) / (p - q) ** 2

    found = ideal("the", 2, epsilon)
    threshold = -mpmath.log(2 * mpmath.mpf(found.q)) / half
    least = float(variance(threshold))

    assert 0.5 < threshold < 1
    assert found.variance == pytest.approx(least, rel=1e-13)
    assert found.p == pytest.approx(float(1 - mpmath.exp(half * (threshold - 1)) / 2), rel=1e-13)
    for other in (threshold * (1 + mpmath.mpf("1e-4")), threshold * (1 - mpmath.mpf("1e-4"))):
        assert variance(other) > variance(threshold)


def test_subset_selection_is_never_beaten_and_best_takes_the_least():
    epsilons = np.geomspace(0.05, 6, 60)
    for k in (2, 3, 10, 41, 500):
        least = np.min([ideal(name, k, epsilons).variance for name in compared_names()], axis=0)

        assert (ideal("auto", k, epsilons).variance == least).all()
        assert (ideal("ss", k, epsilons).variance <= least * (1 + 1e-12)).all()
        assert (ideal("ss", k, epsilons).variance <= ideal("olh", k, epsilons).variance * (1 + 1e-12)).all()


def test_grr_beats_oue_below_three_e_plus_two_values():
    for epsilon in (0.25, 1.0, 2.0, 3.5):
        for k in range(2, 120):
            grr, oue = (ideal(name, k, epsilon).variance for name in ("grr", "oue"))

            assert (grr < oue) == (k < 3 * np.exp(epsilon) + 2)


def test_sizes_and_epsilons_are_broadcast():
    table = ideal("auto", np.array([[2], [41]]), np.array([0.5, 1.0, 2.0]))

    assert table.variance.shape == table.p.shape == table.q.shape == (2, 3)
    assert table.variance[1, 2] == ideal("auto", 41, 2.0).variance


def test_the_name_of_the_best_is_a_cheap_one_in_a_tie():
    assert auto_name(2, 1.0) == "grr"
    assert auto_name(100, 8.0) == "grr"  # a set of one value is a value
    assert auto_name(100, 1.0) == "ss"
    assert auto_name(10**6, 1.0) == "olh"  # a report of OUE or SS would be as long as the list of values
    assert auto_name(100, 10**6) == "grr"


def test_an_unknown_name_is_refused():
    with pytest.raises(InvalidParameterError, match="must be one of 'grr'"):
        ideal("laplace", 2, 1.0)
