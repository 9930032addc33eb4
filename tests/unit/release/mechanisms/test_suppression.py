"""Suppression, with and without noise: what is published, what is promised, what is off."""

import json

import numpy as np
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.units import Trust, Unit
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.delta.suppression import count_noise_delta, threshold_noise_delta
from evenhand.release.mechanisms.registry import mechanism_from
from evenhand.release.mechanisms.suppression import NoisySuppression, Suppression
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit.release._slow_suppression import ADD, REPLACE, small_table

BOTH = pytest.mark.parametrize("noise", ["count", "threshold"])


class Scripted:
    """Stands for the law of noise: gives what it is told."""

    def __init__(self, noise):
        self.noise = noise

    def __call__(self, _scale):
        return self

    def draw(self, *, size, source):
        return np.broadcast_to(np.asarray(self.noise), size)


@pytest.fixture
def noise_is(monkeypatch):
    place = "evenhand.release.mechanisms.suppression.DiscreteLaplace"
    return lambda noise: monkeypatch.setattr(place, Scripted(noise))


# --- without noise ------------------------------------------------------------------------------------


def test_suppressed_cells_are_blank_and_marked():
    """A number that nobody counted would be read as one, most of all in cells where nobody is."""
    made = Suppression(threshold=6).release(small_table([0, 4, 5, 6, 7]), rng=1)
    frame = made.to_frame("pyarrow").to_pydict()

    assert frame["count"] == [None, None, None, 6, 7]
    assert frame["suppressed"] == [True, True, True, False, False]
    assert made.fill is None


@BOTH
def test_noisy_suppression_leaves_cells_blank_too(noise):
    made = NoisySuppression(9, 6, noise=noise).release(small_table([0, 0, 900]), rng=1)

    assert made.to_frame("pyarrow")["count"].to_pylist() == [None, None, 900]
    assert made.fill is None


def test_half_the_threshold_is_published_where_it_is_asked_for():
    """Equation 1 of the paper would publish 4 and 5 as they are."""
    made = Suppression(threshold=6, fill="half-threshold").release(small_table([0, 4, 5, 6, 7]), rng=1)

    assert made.histogram.counts.tolist() == [3, 3, 3, 6, 7]
    assert made.suppressed.tolist() == [True, True, True, False, False]
    assert made.to_frame("pyarrow")["suppressed"].to_pylist() == [True, True, True, False, False]
    assert made.fill == 3


@BOTH
def test_a_fill_of_zero_says_that_nobody_is_there(noise):
    """It has the bias of a blank that is read as 0, whichever noise decides."""
    table = small_table([0, 4, 6, 9])
    zero, blank = (NoisySuppression(1, 6, noise=noise, fill=each) for each in ("zero", "blank"))

    assert Suppression(6, fill="zero").release(table, rng=1).to_frame("pyarrow")["count"].to_pylist() == [
        0,
        0,
        6,
        9,
    ]
    assert zero.bias(table).values.tolist() == blank.bias(table).values.tolist()
    assert zero.bias(table).values[2] == pytest.approx(-6 * blank.bias(table).values[1] / -4 * _ratio(6, 4))


def _ratio(count, other):
    """How much likelier one count is suppressed than another at threshold 6 and scale 2."""
    law = DiscreteLaplace(2)
    return float(law.cdf(6 - count - 1) / law.cdf(6 - other - 1))


def test_suppression_promises_nothing():
    """Nothing is random, so one person's move between large cells is seen for certain."""
    guarantee = Suppression(threshold=6).guarantee_for(small_table([1, 2], bound=10))

    assert (guarantee.epsilon, guarantee.delta, guarantee.trust) == (0, 1, Trust.NONE)
    assert guarantee.in_clear == ("cell",)
    assert "no meaningful guarantee" in str(guarantee)


def test_suppression_is_off_by_what_it_replaces():
    table = small_table([0, 4, 9])
    mechanism = Suppression(threshold=6, fill="half-threshold")

    assert Suppression(threshold=6).bias(table).values.tolist() == [0, -4, 0]
    assert mechanism.bias(table).values.tolist() == [3, -1, 0]
    assert mechanism.bias(table).exact
    assert mechanism.alpha(table) == 4
    assert mechanism.variance(table).values.tolist() == [0, 0, 0]
    assert mechanism.law is None


def test_threshold_nought_and_one_suppress_nothing_and_the_empty_cells():
    table = small_table([0, 1, 2])

    assert Suppression(threshold=0).release(table, rng=1).suppressed.tolist() == [False] * 3
    assert Suppression(threshold=1).release(table, rng=1).suppressed.tolist() == [True, False, False]
    assert Suppression(threshold=1).release(table, rng=1).histogram.counts.tolist() == [0, 1, 2]


# --- what is published with noise ---------------------------------------------------------------------


def test_noise_on_counts_decides_and_is_thrown_away(noise_is):
    """Where it decides against suppression, the true count is published: that is why delta is near 1."""
    noise_is([-1, 1, 2, -2, 0])
    made = NoisySuppression(1, 6, fill="half-threshold").release(small_table([6, 4, 4, 9, 6]), rng=1)

    assert made.histogram.counts.tolist() == [3, 3, 4, 9, 6]
    assert made.suppressed.tolist() == [True, True, False, False, False]
    assert made.fill == 3


def test_a_noisy_threshold_serves_all_counts_and_its_half_fills(noise_is):
    """The two noises have different fills: half the threshold, and half the noisy one."""
    noise_is(3)
    made = NoisySuppression(1, 6, noise="threshold", fill="half-threshold").release(
        small_table([8, 9, 0]), rng=1
    )

    assert made.histogram.counts.tolist() == [4, 9, 4]
    assert made.fill == 4


def test_a_threshold_that_nothing_met_stays_unsaid(noise_is):
    noise_is(-9)
    made = NoisySuppression(1, 6, noise="threshold", fill="half-threshold").release(
        small_table([8, 9, 0]), rng=1
    )

    assert made.histogram.counts.tolist() == [8, 9, 0]
    assert made.fill is None
    assert not made.suppressed.any()


def test_an_odd_threshold_has_a_fill_between_two_numbers():
    """The paper writes k/2; rounding it would be another mechanism with another bias."""
    mechanism = NoisySuppression(5, 5, fill="half-threshold")
    made = mechanism.release(small_table([0, 90]), rng=1)

    assert made.values.tolist() == [2.5, 90]
    assert mechanism.bias(small_table([0, 90])).values[0] == pytest.approx(2.5, rel=1e-4)


@BOTH
def test_counts_near_the_largest_are_published_as_they_are(noise):
    table = small_table([2**40, 2**62, 0])
    made = NoisySuppression(1, 6, noise=noise).release(table, rng=2)

    assert made.histogram.counts[:2].tolist() == [2**40, 2**62]


@BOTH
@pytest.mark.parametrize("epsilon", ["0.001", 20])
def test_small_and_large_epsilons_are_served(noise, epsilon):
    mechanism = NoisySuppression(epsilon, 6, noise=noise)
    table = small_table([0, 5, 6, 2000], bound=3000)

    assert mechanism.release(table, rng=1).histogram.shape == (4,)
    assert np.isfinite(mechanism.bias(table).values).all()
    assert 0 < mechanism.guarantee_for(table).delta <= 1


@BOTH
@pytest.mark.parametrize("counts", [[0], [1], [0, 0, 0]])
def test_an_empty_table_one_cell_and_one_person_are_served(noise, counts):
    mechanism = NoisySuppression(1, 6, noise=noise)
    made = mechanism.release(small_table(counts), rng=3)

    assert made.histogram.counts.shape == (len(counts),)
    assert mechanism.bias(small_table(counts)).values.shape == (len(counts),)


# --- what is promised ---------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("unit", [REPLACE, ADD])
def test_the_guarantee_is_the_exact_delta_of_the_public_bound(noise, unit):
    mechanism = NoisySuppression("1/2", 5, noise=noise, unit=unit)
    made = mechanism.guarantee_for(small_table([1, 2], bound=8))
    expected = (
        count_noise_delta(5, 8, scale=4, unit=unit)
        if noise == "count"
        else threshold_noise_delta(5, 8, scale=4)
    )

    assert (made.epsilon, made.delta, made.unit, made.tight) == (0, expected, unit, True)
    assert mechanism.guarantee_for(small_table([1, 2], bound=8), epsilon=3).epsilon == 3
    assert "no meaningful guarantee" in str(made)


@BOTH
def test_the_guarantee_depends_on_the_bound_and_never_on_a_count(noise):
    """A bound read from the rows would itself tell something about them."""
    mechanism = NoisySuppression(1, 5, noise=noise)
    small, large = (mechanism.guarantee_for(small_table([count, 0], bound=8)) for count in (0, 8))

    assert small == large
    assert mechanism.guarantee_for(small_table([0, 0], bound=9)).delta > small.delta


@BOTH
def test_without_a_bound_nothing_is_promised_and_the_message_says_what_to_do(noise):
    made = NoisySuppression(1, 5, noise=noise).guarantee_for(small_table([1, 2]))

    assert (made.epsilon, made.delta, made.protects) == (0, 1, ())
    assert "no meaningful guarantee" in str(made)
    assert "Histogram.count(..., bound=...)" in str(made)


def test_a_table_of_one_cell_tells_nothing_of_who_was_replaced():
    table = small_table([3], bound=5)

    assert NoisySuppression(1, 5).guarantee_for(table).delta == 0
    assert NoisySuppression(1, 5, unit=ADD).guarantee_for(table).delta > 0


@BOTH
def test_the_printed_number_is_marked_as_printed(noise):
    mechanism = NoisySuppression(1, 5, noise=noise)
    printed = mechanism.guarantee_for(small_table([1, 2], bound=8), as_printed=True)

    assert float(printed.delta) == pytest.approx(0.98755323290803)
    assert printed.epsilon == 1
    assert "as printed" in printed.proof
    assert ("too small" in printed.proof) == (noise == "count")
    with pytest.raises(GuaranteeError, match="Theorem 1"):
        mechanism.guarantee_for(small_table([1, 2], bound=5), as_printed=True)
    assert mechanism.guarantee_for(small_table([1, 2]), as_printed=True).delta == 1


@BOTH
def test_the_diagnostic_is_from_the_counts_and_no_guarantee(noise):
    mechanism = NoisySuppression(1, 5, noise=noise)
    table = small_table([8, 7, 0], bound=8)

    assert mechanism.diagnostic(table) == pytest.approx(float(mechanism.guarantee_for(table).delta))
    assert mechanism.diagnostic(small_table([0, 0, 0], bound=8)) < mechanism.diagnostic(table)


# --- what is off --------------------------------------------------------------------------------------


@BOTH
def test_bias_and_variance_are_exact_and_those_of_many_draws(noise):
    """Seeded releases, a normal bound of error rate 1e-9; the twin is the other noise's bias."""
    table = small_table([0, 4, 6, 9], bound=20)
    mechanism = NoisySuppression(1, 6, noise=noise, fill="half-threshold")
    source = SeededSource(5)
    draws = np.stack([mechanism._publish(table, source).histogram.counts for _ in range(1500)])
    errors = draws - table.counts
    reach = 6.5 * errors.std(axis=0) / np.sqrt(len(draws))
    off = np.abs(errors.mean(axis=0) - mechanism.bias(table).values)
    other = NoisySuppression(1, 6, noise="threshold" if noise == "count" else "count", fill="half-threshold")

    assert mechanism.bias(table).exact
    assert (off <= reach).all()
    assert (np.abs(errors.mean(axis=0) - other.bias(table).values) > reach).any()
    assert mechanism.variance(table).values == pytest.approx(errors.var(axis=0), rel=0.3)


def test_bias_after_post_processing_is_sampled():
    class Doubled:
        words = "doubled"

        def apply(self, values, *, source):
            return 2 * values

    table = small_table([0, 9])
    for mechanism in (Suppression(6), NoisySuppression(1, 6)):
        made = mechanism.bias(table, post=[Doubled()], draws=50)

        assert not made.exact
    filled = Suppression(6, fill="half-threshold")
    assert filled.bias(table, post=[Doubled()], draws=5).values.tolist() == [6, 9]


# --- records and refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism",
    [
        Suppression(3),
        Suppression(3, fill="half-threshold"),
        NoisySuppression("1/3", 5, fill="zero"),
        NoisySuppression(1, 5, noise="threshold", unit=ADD),
    ],
)
def test_a_record_is_read_back(mechanism):
    assert mechanism_from(json.loads(json.dumps(mechanism.to_dict()))) == mechanism
    assert eval(repr(mechanism)) == mechanism


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidParameterError, match="from 0 to 1000000"):
        Suppression(1_000_001)
    with pytest.raises(InvalidParameterError, match="'threshold' parameter of Suppression"):
        Suppression(-1)
    with pytest.raises(InvalidParameterError, match="'threshold' parameter of NoisySuppression"):
        NoisySuppression(1, 2.5)
    with pytest.raises(InvalidParameterError, match="'fill' parameter of Suppression must be"):
        Suppression(5, fill=3)
    with pytest.raises(InvalidParameterError, match="'noise' parameter of NoisySuppression"):
        NoisySuppression(1, 5, noise="both")
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of NoisySuppression"):
        NoisySuppression(0, 5)
    with pytest.raises(InvalidParameterError, match="'unit' parameter of NoisySuppression"):
        NoisySuppression(1, 5, unit="one report")
    with pytest.raises(InvalidParameterError, match="'scale' parameter"):
        NoisySuppression("1e-12", 5)
    assert NoisySuppression(1, 5).unit is Unit.REPLACE_ONE


@pytest.mark.parametrize("counts", [[0.5, 1.0], [-1, 3]])
def test_a_table_that_counts_no_people_is_refused(counts):
    for mechanism in (Suppression(6), NoisySuppression(1, 6)):
        with pytest.raises(InvalidParameterError, match="whole"):
            mechanism.release(small_table(counts), rng=1)


def test_a_table_too_large_for_its_fills_is_refused():
    wide = Domain.integers(1, 10_000)
    sparse = Histogram.of_cells([3], [9], Schema([Column("a", wide), Column("b", wide)]))
    with pytest.raises(LimitExceededError, match="ThresholdedLaplace"):
        NoisySuppression(1, 6).release(sparse, rng=1)
