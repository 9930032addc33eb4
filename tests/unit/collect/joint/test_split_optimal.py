"""The pieces of the optimal split, each against a slow and obvious one."""

import itertools

import mpmath
import numpy as np
import pytest

from evenhand.collect.joint import split_optimal
from evenhand.collect.joint.split_optimal import Attributes, optimal_split
from evenhand.collect.protocols.registry import PROTOCOLS, formula_names, ideal, is_convex

ALL = formula_names()
CONVEX = tuple(filter(is_convex, ALL))


def attributes(sizes, name="grr", weights=None):
    names = (name,) * len(sizes) if isinstance(name, str) else tuple(name)
    return Attributes(np.array(sizes, float), np.array(sizes if weights is None else weights, float), names)


@pytest.mark.parametrize("name", CONVEX)
def test_the_logarithm_of_the_gain_is_that_of_the_derivative(name):
    """Equal gains mark the optimum only if they are the gains."""
    mpmath.mp.dps = 40
    variance = {
        "grr": lambda x: (5 + mpmath.exp(x)) / (mpmath.exp(x) - 1) ** 2,
        "oue": lambda x: 4 * mpmath.exp(x) / (mpmath.exp(x) - 1) ** 2,
        "blh": lambda x: (mpmath.exp(x) + 1) ** 2 / (mpmath.exp(x) - 1) ** 2,
        "rappor": lambda x: mpmath.exp(x / 2) / (mpmath.exp(x / 2) - 1) ** 2,
    }[name]
    for epsilon in (1e-3, 0.3, 1.0, 7.0, 30.0):
        truth = float(mpmath.log(-mpmath.diff(variance, mpmath.mpf(epsilon))))
        found = PROTOCOLS[name].log_gain(np.array([7.0]), np.array([epsilon]))

        assert found[0] == pytest.approx(truth, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", CONVEX)
def test_what_is_called_convex_is_convex(name):
    """A falling gain is what makes the split with equal gains the best one."""
    epsilons = np.geomspace(1e-6, 700, 20_000)
    for k in (2.0, 3.0, 100_000.0):
        assert (np.diff(PROTOCOLS[name].log_gain(np.full_like(epsilons, k), epsilons)) < 0).all()


@pytest.mark.parametrize("name", sorted(set(ALL) - set(CONVEX) - {"the"}))
def test_some_of_the_others_are_not(name):
    """If they were, the dynamic programming would be wasted time."""
    epsilons = np.linspace(0.05, 5, 4_000)
    second = np.diff(ideal(name, 50, epsilons).variance, 2)

    assert (second < 0).any()


def test_least_sums_are_those_of_a_double_loop():
    draws = np.random.default_rng(1)
    first, second = draws.random(37), draws.random(37)
    least, where = split_optimal._least_sums(first, second)
    for m in range(37):
        sums = [first[m - i] + second[i] for i in range(m + 1)]

        assert least[m] == min(sums)
        assert where[m] == sums.index(min(sums))


@pytest.mark.parametrize("sizes", [(2, 5), (2, 5, 41), (3, 3, 30, 7)])
@pytest.mark.parametrize("name", ["ss", "olh", "auto"])
def test_the_grid_finds_the_best_of_all_splits_in_whole_parts(monkeypatch, name, sizes):
    """Dynamic programming must find what trying every split finds."""
    monkeypatch.setattr(split_optimal, "_GRID", 24)
    monkeypatch.setattr(split_optimal, "max", lambda *given: given[0], raising=False)  # no finer grid
    given, parts, total = attributes(sizes, name), 24, 2.0
    found = split_optimal._split_on_grid(total, given)
    every = [
        np.array(counts) * (total / parts)
        for counts in itertools.product(range(1, parts), repeat=len(sizes))
        if sum(counts) == parts
    ]

    assert given.total(found) == pytest.approx(min(map(given.total, every)), rel=1e-12)
    assert found.sum() == pytest.approx(total)


def test_many_attributes_have_twenty_parts_of_the_grid_each(monkeypatch):
    """A grid of fewer parts could not even give equal attributes equal parts."""
    monkeypatch.setattr(split_optimal, "_GRID", 24)
    given = attributes((3,) * 7, "grr")

    assert split_optimal._split_on_grid(2.0, given) == pytest.approx(np.full(7, 2 / 7), rel=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_the_polish_only_improves_and_keeps_the_sum(name):
    given = attributes((2, 5, 41), name)
    start = np.array([0.2, 0.3, 0.5])
    found = split_optimal._polish_split(start, given)

    assert given.total(found) <= given.total(start)
    assert found.sum() == pytest.approx(1.0, rel=1e-12)
    assert (found > 0).all()


@pytest.mark.parametrize("name", CONVEX)
def test_both_methods_agree_where_both_hold(name):
    """Two ways to one optimum, found independently."""
    for sizes, total in (((2, 5, 41, 74), 1.0), ((2, 2, 74), 4.0), ((3, 1000), 0.05)):
        given = attributes(sizes, name)
        smooth = split_optimal._water_filling(total, given)
        grid = split_optimal._polish_split(split_optimal._split_on_grid(total, given), given)

        assert given.total(grid) == pytest.approx(given.total(smooth), rel=1e-10)
        assert smooth.sum() == pytest.approx(total, rel=1e-12)


def test_equal_gains_for_different_protocols():
    given = attributes((2, 5, 41, 74), ("grr", "oue", "rappor", "blh"))
    found = optimal_split(1.0, given, [])
    gains = given.log_gains(found)

    assert np.ptp(gains) < 1e-9
    assert found.sum() == pytest.approx(1.0, rel=1e-12)


def test_costs_of_different_protocols_are_each_their_own():
    given = attributes((2, 5), ("grr", "ss"), weights=(3, 4))
    costs = given.costs(np.array([[0.5, 1.0]]))

    assert costs[0].tolist() == [3 * ideal("grr", 2, 0.5).variance, 4 * ideal("ss", 5, 1.0).variance]


def test_a_better_start_is_kept():
    """The result is never worse than a split that was known before."""
    given = attributes((2, 5), "ss")
    found = optimal_split(1.0, given, [np.array([0.4, 0.6]), np.array([0.3, 0.7])])

    assert given.total(found) <= min(given.total(np.array(each)) for each in ([0.4, 0.6], [0.3, 0.7]))


def test_one_attribute_gets_everything():
    assert optimal_split(0.7, attributes((9,), "ss"), []).tolist() == [0.7]
