"""How comparisons depend on each other, on structures written out."""

import pytest

from evenhand.decide.exact.components import (
    Component,
    Structure,
    best_input,
    candidates,
    components_given,
    cost,
    is_rotated,
    simple_form,
    split_components,
)
from evenhand.privacy.laws import DiscreteLaplace, Gaussian, Laplace

LANGUAGE = (  # inputs: 0 sp, 1 s, 2 spe
    ((0, 20), (1, -1)),
    ((1, 1),),
    ((0, 1),),
    ((2, 10_000), (0, -131)),
)


def structure(coefficients, law, floored=()):
    inputs = 1 + max(name for row in coefficients for name, _ in row)
    return Structure(tuple(coefficients), (True,) * len(coefficients), (law,) * inputs, frozenset(floored))


def test_comparisons_that_share_an_input_through_others_are_one_component():
    """Taking them for independent is the error that this package is about."""
    chain = structure([((0, 1), (1, 1)), ((2, 1),), ((1, 1), (3, 1)), ((3, 2), (4, 1))], Laplace(1))

    assert set(split_components(chain, (0, 1, 2, 3), (0, 1, 2, 3, 4))) == {
        Component((0, 2, 3), (0, 1, 3, 4)),
        Component((1,), (2,)),
    }
    assert set(split_components(chain, (0, 2, 3), (0, 3, 4))) == {
        Component((0,), (0,)),
        Component((2, 3), (3, 4)),
    }


@pytest.mark.parametrize("law", [Laplace(10), DiscreteLaplace(10)])
def test_the_language_rule_is_conditioned_on_the_count_it_shares(law):
    """Given sp, the others are alone; any other choice takes two dimensions."""
    rule = structure(LANGUAGE, law)
    (whole,) = split_components(rule, (0, 1, 2, 3), (0, 1, 2))

    assert best_input(rule, whole) == 0
    assert set(components_given(rule, whole, 0)) == {Component((0, 1), (1,)), Component((3,), (2,))}
    assert cost(rule, whole) < 2_000


def test_whole_noise_is_conditioned_on_before_real_noise():
    """Over a real input, the probability of a whole one is a staircase; no rule of integration likes it."""
    mixed = Structure((((0, 1), (1, 1)),), (True,), (Laplace(1), DiscreteLaplace(1)))
    (whole,) = split_components(mixed, (0,), (0, 1))

    assert simple_form(mixed, whole) is None
    assert candidates(mixed, whole) == (1,)
    assert best_input(mixed, whole) == 1


def test_parallel_comparisons_are_one_sum():
    """x - 2y > c, 2y - x > d and 3x - 6y > e ask about the same sum."""
    parallel = structure([((0, 1), (1, -2)), ((0, -1), (1, 2)), ((0, 3), (1, -6))], DiscreteLaplace(1))
    (whole,) = split_components(parallel, (0, 1, 2), (0, 1))
    form = simple_form(parallel, whole)

    assert form.multiples == (1, -1, 3)
    assert form.floored is None
    assert (
        simple_form(structure([((0, 1), (1, -2)), ((0, 1), (1, 2))], Laplace(1)), Component((0, 1), (0, 1)))
        is None
    )
    assert (
        simple_form(structure([((0, 1),), ((0, 1), (1, 2))], Laplace(1)), Component((0, 1), (0, 1))) is None
    )


def test_a_clamped_input_is_in_closed_form_only_when_alone():
    """The sum of a clamped count and another has no law of the tables."""
    alone, both = structure([((0, -4),)], Laplace(1), {0}), structure([((0, 1), (1, 1))], Laplace(1), {0})

    assert simple_form(alone, Component((0,), (0,))).floored == 0
    assert simple_form(alone, Component((0,), (0,))).multiples == (-4,)
    assert simple_form(both, Component((0,), (0, 1))) is None


def test_gaussian_inputs_are_turned_where_that_takes_fewer_integrals():
    """Two comparisons of four inputs need one integral, not three; a clamp or another law forbids it."""
    rows = [tuple((k, 1) for k in range(4)), ((0, 1), (1, 2), (2, -1), (3, -3))]
    whole = Component((0, 1), (0, 1, 2, 3))

    assert is_rotated(structure(rows, Gaussian(1)), whole)
    assert not is_rotated(structure(rows, Gaussian(1), {2}), whole)
    assert not is_rotated(structure(rows, Laplace(1)), whole)
    assert cost(structure(rows, Gaussian(1)), whole) < 1_000 < cost(structure(rows, Laplace(1)), whole)


def test_an_integrand_with_too_many_kinks_is_not_tried():
    """Twenty comparisons of three inputs meet in thousands of places."""
    rows = [((0, 1), (1, k), (2, k * k)) for k in range(1, 21)]

    assert cost(structure(rows, Laplace(1)), Component(tuple(range(20)), (0, 1, 2))) == float("inf")
