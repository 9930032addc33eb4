"""What the samplers take, refuse and return, and that seeded draws stay what they are."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy import feeding
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.privacy.sampling import bernoulli, discrete_gaussian, discrete_laplace, subsets, uniform_below
from unit.privacy._slow_sampling import SAMPLERS, ScriptedSource


@pytest.mark.parametrize("name", SAMPLERS)
def test_memory_is_the_result_and_a_constant(name):
    source = ScriptedSource([], then=SeededSource(11))
    SAMPLERS[name](size=200_000, source=source)

    assert max(source.asked) <= feeding.MOST_WORDS == 3 * 2**14


# --- what comes in -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize(
    ("size", "shape"),
    [(0, (0,)), (5, (5,)), ((2, 3), (2, 3)), ((), ()), ((0, 4), (0, 4)), (np.int64(3), (3,))],
)
def test_the_result_has_the_shape_asked_for(name, size, shape):
    draws = SAMPLERS[name](size=size, source=SeededSource(13))

    assert draws.shape == ((*shape, 4) if name == "subsets" else shape)
    assert draws.dtype == {"bernoulli": np.bool_, "subsets": np.int32}.get(name, np.int64)


@pytest.mark.parametrize("size", [-1, 1.0, True, "3", None, (2, -1), [2, 3], (1.5,)])
@pytest.mark.parametrize("name", SAMPLERS)
def test_another_size_is_refused(name, size):
    with pytest.raises(
        InvalidParameterError, match=r"The 'size' parameter of .* must be a whole number of at least 0"
    ):
        SAMPLERS[name](size=size, source=SeededSource(13))


@pytest.mark.parametrize("source", [None, 7, "secure", np.random.default_rng(1), SecureSource])
@pytest.mark.parametrize("name", SAMPLERS)
def test_there_is_no_source_by_default_and_no_seed_in_its_place(name, source):
    """A mechanism must not choose its own randomness, nor take a seed for a source."""
    with pytest.raises(InvalidParameterError, match="must be a SecureSource or a SeededSource"):
        SAMPLERS[name](size=3, source=source)


def test_the_source_is_a_required_keyword():
    with pytest.raises(TypeError, match="source"):
        discrete_laplace(1, size=1)
    with pytest.raises(TypeError):
        discrete_laplace(1, 1, SecureSource())


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "x", None, True, Fraction(-1, 2)])
def test_a_scale_that_is_no_positive_number_is_refused(scale):
    with pytest.raises(
        InvalidParameterError, match="The 'scale' parameter of discrete_laplace must be a number > 0"
    ):
        discrete_laplace(scale, size=1, source=SecureSource())
    with pytest.raises(InvalidParameterError, match="The 'variance' parameter of discrete_gaussian must be"):
        discrete_gaussian(scale, size=1, source=SecureSource())


@pytest.mark.parametrize("scale", [2**31, Fraction(1, 2**31), 10 / 3, Fraction(2**31, 2**31 - 1), 1e-12])
def test_a_scale_beyond_the_kernels_is_refused_with_the_way_out(scale):
    """Rounding it here would change the guarantee behind the caller's back."""
    for draw in (discrete_laplace, discrete_gaussian):
        with pytest.raises(
            InvalidParameterError, match=r"below 2\*\*31.*representable rounds it up; compute the guarantee"
        ):
            draw(scale, size=1, source=SecureSource())


def test_scales_may_be_written_in_every_exact_way():
    ways = [Fraction(5, 2), 2.5, "5/2", "2.5", np.float64(2.5)]
    draws = [discrete_laplace(way, size=50, source=SeededSource(14)).tolist() for way in ways]

    assert all(each == draws[0] for each in draws)


@pytest.mark.parametrize(
    "probability", [0.1, Fraction(1, 3), -1, 2, Fraction(3, 2), Fraction(1, 2**65), float("nan"), None]
)
def test_a_probability_that_is_not_dyadic_is_refused(probability):
    with pytest.raises(InvalidParameterError, match="The 'probability' parameter of bernoulli must be"):
        bernoulli(probability, size=1, source=SecureSource())


def test_the_refusal_of_a_probability_says_to_round_toward_privacy():
    with pytest.raises(InvalidParameterError, match="round it toward privacy"):
        bernoulli("1/3", size=1, source=SecureSource())


def test_certain_and_impossible_draws_are_certain_and_impossible():
    assert bernoulli(1, size=1_000, source=SeededSource(15)).all()
    assert not bernoulli(0, size=1_000, source=SeededSource(15)).any()
    with pytest.raises(InvalidParameterError, match="source"):
        bernoulli(1, size=1, source=None)


@pytest.mark.parametrize("n", [0, -1, 2**63 + 1, 1.0, True, "6"])
def test_another_bound_is_refused(n):
    with pytest.raises(
        InvalidParameterError, match="The 'n' parameter of uniform_below must be a whole number from 1 to"
    ):
        uniform_below(n, size=1, source=SecureSource())


@pytest.mark.parametrize(("n", "k"), [(0, 0), (3, 4), (3, -1), (2**31, 1), (3.0, 1), (3, True)])
def test_another_choice_is_refused(n, k):
    with pytest.raises(InvalidParameterError, match="parameter of subsets must be"):
        subsets(n, k, size=1, source=SecureSource())


def test_every_row_of_subsets_has_different_members():
    rows = subsets(20, 13, size=500, source=SecureSource())

    assert (np.diff(np.sort(rows, axis=1), axis=1) > 0).all()
    assert rows.min() >= 0
    assert rows.max() < 20


# --- seeded draws stay what they are -----------------------------------------------------------


def test_seeded_draws_are_frozen():
    """A change here changes every stored study: bump the version of the stream instead."""
    source = SeededSource(7, cell="frozen")

    assert discrete_laplace(10, size=8, source=source).tolist() == FROZEN["laplace"]
    assert discrete_gaussian(100, size=8, source=source).tolist() == FROZEN["gaussian"]
    assert uniform_below(1_000, size=8, source=source).tolist() == FROZEN["uniform"]
    assert bernoulli("1/2", size=8, source=source).astype(int).tolist() == FROZEN["bernoulli"]
    assert subsets(9, 3, size=2, source=source).tolist() == FROZEN["subsets"]


FROZEN = {
    "laplace": [-2, 2, -5, -26, 0, -2, -6, -10],
    "gaussian": [7, -10, 2, 3, -4, 0, -9, 2],
    "uniform": [421, 265, 65, 234, 621, 145, 782, 691],
    "bernoulli": [1, 0, 1, 1, 1, 0, 1, 0],
    "subsets": [[2, 6, 3], [6, 4, 1]],
}
