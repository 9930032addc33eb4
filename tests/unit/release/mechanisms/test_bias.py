"""The bias and the variance of a release, and how they are sampled."""

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure.alpha import alpha_fairness, bias_from_runs
from evenhand.release.mechanisms.bias import Bias, Variance
from evenhand.release.mechanisms.mechanism import DRAWS, Published, ReleaseMechanism
from evenhand.release.mechanisms.noise import Laplace
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("a", Domain.integers(0, 1)), Column("b", Domain.integers(0, 1))])
TABLE = Histogram.of([[5, 0], [9, 100]], SCHEMA)


class Sampled(Laplace):
    """Laplace noise whose bias and variance nobody has worked out."""

    def _bias(self, histogram, post):
        return ReleaseMechanism._bias(self, histogram, post)

    def _variance(self, histogram):
        return ReleaseMechanism._variance(self, histogram)


class Constant(Sampled):
    """Publishes the table as it is, shifted by 3."""

    def _publish(self, histogram, source):
        return Published(histogram.with_counts(histogram.counts + 3))


def test_the_figures_of_a_bias():
    bias = Bias(np.array([[0.5, -0.25], [0.0, 1.0]]))

    assert bias.l1 == 1.75
    assert bias.alpha == 1.25 == alpha_fairness(np.asarray(bias).ravel())
    assert bias.shape == (2, 2)
    assert bias.interval()[0] is bias.values
    assert repr(bias) == "<Bias of 2 x 2 cells: formula>"


def test_a_sampled_bias_has_an_interval():
    bias = Bias(np.zeros(2), np.array([1.0, 2.0]), exact=False, method="sampled", draws=10)
    low, high = bias.interval(0.95)

    assert high == pytest.approx([1.959964, 3.919928], rel=1e-6)
    assert (low == -high).all()
    assert repr(bias) == "<Bias of 2 cells: sampled, 10 draws>"


def test_sums_give_the_same_bias_as_the_runs_themselves():
    runs = np.array([[6, 1], [2, 3], [4, 4]])
    errors = runs - [5, 0]
    ours = Bias.sampled(errors.sum(axis=0), (errors**2).sum(axis=0), draws=3, method="sampled")
    theirs = bias_from_runs(runs, [5, 0])

    assert ours.values == pytest.approx(theirs.values)
    assert ours.standard_error == pytest.approx(theirs.standard_error)


@pytest.mark.parametrize("confidence", [0, 1, "x", None, True])
def test_a_confidence_is_between_nought_and_one(confidence):
    with pytest.raises(InvalidParameterError, match="above 0 and below 1"):
        Bias(np.zeros(2)).interval(confidence)


def test_what_contradicts_itself_is_refused():
    with pytest.raises(InvalidParameterError, match="without standard errors"):
        Bias(np.zeros(2), exact=False)
    with pytest.raises(InvalidParameterError, match="without standard errors"):
        Bias(np.zeros(2), np.zeros(2))
    with pytest.raises(InvalidParameterError, match="the shape of 'values'"):
        Bias(np.zeros(2), np.zeros(3), exact=False, draws=3)


def test_the_arrays_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        Bias(np.zeros(2)).values[0] = 1
    assert Variance(np.array([4.0, 9.0])).standard_deviation.tolist() == [2, 3]


def test_what_has_no_formula_is_sampled():
    mechanism = Sampled(1, unit="replace one")
    bias, variance = mechanism.bias(TABLE), mechanism.variance(TABLE, draws=500, rng=3)

    assert (bias.exact, bias.draws, variance.draws) == (False, DRAWS, 500)
    assert (np.abs(bias.values) < 7 * bias.standard_error).all()
    assert (np.abs(variance.values - mechanism.law.variance) < 14 * variance.standard_error).all()
    assert mechanism.alpha(TABLE, draws=10) == mechanism.bias(TABLE, draws=10).alpha


def test_a_sampled_bias_can_be_repeated():
    mechanism = Sampled(1, unit="replace one")

    assert np.array_equal(mechanism.bias(TABLE, draws=5), mechanism.bias(TABLE, draws=5, rng=0))
    assert not np.array_equal(mechanism.bias(TABLE, draws=5), mechanism.bias(TABLE, draws=5, rng=1))


def test_what_does_not_move_has_no_error():
    bias = Constant(1, unit="replace one").bias(TABLE, draws=7)
    variance = Constant(1, unit="replace one").variance(TABLE, draws=7)

    assert (bias.values == 3).all()
    assert (bias.standard_error == 0).all()
    assert (variance.values == 0).all()


@pytest.mark.parametrize("draws", [0, 1, -1, 1.5, "x"])
def test_two_draws_at_least(draws):
    with pytest.raises(InvalidParameterError, match="draws"):
        Sampled(1, unit="replace one").bias(TABLE, draws=draws)
