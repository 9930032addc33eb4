"""Steps of post-processing as part of a release and of its bias."""

import numpy as np
import pytest

from evenhand.release.audit.audit import audit_release
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.postprocess import (
    Integral,
    Nonnegative,
    Shrink,
    SumTo,
    clamp_bias,
    nonnegative,
    optimal_temperature,
    shrink_bias,
)
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("x", Domain.integers(0, 2)), Column("y", Domain.integers(0, 1))])
TABLE = Histogram.of([0, 1, 3, 9, 40, 200], SCHEMA)
LAPLACE = Laplace(epsilon=1, unit="replace one")
MECHANISMS = [LAPLACE, DiscreteGaussian(rho="1/8", unit="add or remove one")]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_steps_run_in_order_and_are_named(mechanism):
    """What is written beside the table is what was done to it."""
    post = [Nonnegative(), SumTo(253), Integral()]
    plain, made = mechanism.release(TABLE, rng=4), mechanism.release(TABLE, rng=4, post=post)
    clamped = np.maximum(plain.histogram.counts, 0)
    moved = clamped + (253 - clamped.sum()) / 6

    assert made.histogram.counts.dtype == np.int64
    assert np.abs(made.histogram.counts - moved).max() < 1
    assert made.postprocessing == tuple(step.words for step in post)
    assert made.guarantee == plain.guarantee
    assert np.array_equal(nonnegative(plain).histogram.counts, clamped)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_bias_of_a_release_is_that_of_its_steps(mechanism):
    """Exact where there is a formula, by the law that is drawn."""
    clamp, temperature = clamp_bias(TABLE.counts, mechanism.law), optimal_temperature(mechanism.law)
    after_clamp = mechanism.bias(TABLE, post=[Nonnegative()])
    after_shrink = mechanism.bias(TABLE, post=[Shrink(temperature), Integral()])

    assert after_clamp.exact
    assert np.array_equal(after_clamp.values, clamp)
    assert mechanism.alpha(TABLE, [Nonnegative()]) == pytest.approx(np.ptp(clamp))
    assert np.array_equal(after_shrink.values, shrink_bias(TABLE.counts, mechanism.law, T=temperature))
    assert mechanism.alpha(TABLE, [Nonnegative(), SumTo(253)]) == pytest.approx(np.ptp(clamp))


@pytest.mark.parametrize(
    "post", [[Nonnegative()], [Shrink(3)], [Nonnegative(), SumTo(253), Integral()]], ids=str
)
def test_draws_agree_with_the_formula(post):
    """400 releases, 6.5 standard errors."""
    exact = LAPLACE.bias(TABLE, post=post).values
    errors = np.array(
        [LAPLACE.release(TABLE, rng=seed, post=post).histogram.counts - TABLE.counts for seed in range(400)]
    )
    reach = 6.5 * errors.std(axis=0) / np.sqrt(len(errors)) + 1e-12

    assert (np.abs(errors.mean(axis=0) - exact) < reach).all()


def test_what_has_no_formula_is_drawn_with_an_interval():
    """None below 0 and a total: an empty cell gains, a large one does not; the sum alone has alpha 0."""
    post = [SumTo(253, nonnegative=True)]
    found = LAPLACE.bias(TABLE, post=post, draws=300, rng=1)
    low, high = found.interval(0.999)

    assert not found.exact
    assert LAPLACE.bias(TABLE, post=[SumTo(253)]).alpha == 0
    assert low[0, 0] > max(0, high[2, 1])


def test_a_release_can_be_audited_as_it_is():
    """The same object that is published."""
    made = LAPLACE.release(TABLE, rng=2, post=[Nonnegative()])
    audit = audit_release(TABLE, made, group="y")

    assert audit.l1 == np.abs(made.histogram.counts - TABLE.counts).sum()
    assert len(audit.by_group) == 2
