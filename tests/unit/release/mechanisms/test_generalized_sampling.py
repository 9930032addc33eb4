"""Sampling in public groups: what is published, promised and estimated."""

import json
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.randomness import SeededSource
from evenhand.release.delta.sampling import sampled_delta
from evenhand.release.mechanisms import generalized_sampling as module
from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling, draw_sample
from evenhand.release.mechanisms.registry import mechanism_from
from evenhand.release.mechanisms.suppression_bias import sampled_moments
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit.release._slow_suppression import ADD, REPLACE, small_table

HALVES = {"cell": {"low": [1, 2], "high": [3, 4]}}


def _mechanism(**given):
    return GeneralizedSampling(**({"k": 3, "epsilon": 1, "delta": "1/100"} | given))


@pytest.mark.parametrize("unit", [REPLACE, ADD])
def test_the_guarantee_is_within_what_was_asked_and_is_that_of_the_rate(unit):
    mechanism = _mechanism(unit=unit)
    made = mechanism.guarantee_for(small_table([1, 2]))

    assert Fraction(999_999, 10**8) <= made.delta <= Fraction(1, 100)
    assert (made.epsilon, made.unit, made.tight) == (1, unit, True)
    assert made.protects == ("cell",)
    other = mechanism.guarantee_for(small_table([1, 2]), epsilon="1/4")
    assert other.delta == sampled_delta("1/4", rate=mechanism.rate, k=3, unit=unit).delta > made.delta


def test_the_printed_number_is_marked_as_printed():
    made = _mechanism().guarantee_for(small_table([1, 2]), as_printed=True)

    assert made.delta > Fraction(1, 10)
    assert "as printed" in made.proof


def test_small_sampled_counts_are_left_out_and_the_others_are_true_of_the_sample():
    mechanism = _mechanism()
    table = small_table([0, 2, 300, 5000])
    made = mechanism.release(table, rng=4)
    counts = made.histogram.counts

    assert made.suppressed[:2].all()
    assert made.fill is None
    assert counts[:2].tolist() == [0, 0]
    assert all(0 <= count <= most for count, most in zip(counts, table.counts, strict=True))
    assert (counts[~made.suppressed] >= 3).all()
    estimate = mechanism.estimate(made)
    assert np.isnan(estimate[:2]).all()
    assert estimate[3] == counts[3] / float(mechanism.rate)


def test_people_are_counted_in_the_public_groups():
    mechanism = _mechanism(generalization=HALVES)
    made = mechanism.release(small_table([500, 0, 0, 700]), rng=4)

    assert list(made.histogram.schema["cell"].labels) == ["low", "high"]
    assert made.histogram.shape == (2,)
    assert mechanism.coarse(small_table([1, 2, 3, 4])).counts.tolist() == [3, 7]


def test_bias_and_variance_are_those_of_the_published_groups():
    mechanism = _mechanism(generalization=HALVES)
    table = small_table([1, 2, 30, 4])
    rate = float(mechanism.rate)
    plain, weighted = (
        sampled_moments([3, 34], 3, rate),
        sampled_moments([3, 34], 3, rate, weight=1 / rate),
    )

    assert mechanism.bias(table).values == pytest.approx(plain.bias)
    assert mechanism.bias(table, post=[mechanism.weighted()]).values == pytest.approx(weighted.bias)
    assert mechanism.bias(table, post=[mechanism.weighted()]).exact
    assert mechanism.variance(table).values == pytest.approx(plain.variance)
    twice = [mechanism.weighted(), mechanism.weighted()]
    assert not mechanism.bias(table, post=twice, draws=20).exact


def test_the_stated_bias_is_that_of_the_draws():
    mechanism = _mechanism()
    table = small_table([2, 8, 40])
    source = SeededSource(9)
    draws = np.stack([mechanism._publish(table, source).histogram.counts for _ in range(1500)])
    errors = draws - table.counts
    reach = 6.5 * errors.std(axis=0) / np.sqrt(len(draws))

    assert (np.abs(errors.mean(axis=0) - mechanism.bias(table).values) <= reach).all()
    wrong = sampled_moments(table.counts, 4, float(mechanism.rate)).bias  # the twin: one off
    assert (np.abs(errors.mean(axis=0) - wrong) > reach).any()


def test_weighting_is_a_step_of_post_processing():
    mechanism = _mechanism()
    made = mechanism.release(small_table([4000, 1]), rng=1, post=[mechanism.weighted()])

    assert made.values[0] == pytest.approx(4000, rel=0.2)
    assert made.postprocessing[0].startswith("divided by the sampling rate 0.2")


def test_a_sparse_table_publishes_the_cells_that_pass():
    wide = Domain.integers(1, 10_000)
    schema = Schema([Column("a", wide), Column("b", wide)])
    table = Histogram.of_cells([3, 10**7, 9 * 10**7], [1, 4000, 5000], schema)
    mechanism = _mechanism()
    made = mechanism.release(table, rng=1)

    assert made.histogram.cells.tolist() == [10**7, 9 * 10**7]
    assert mechanism.estimate(made) == pytest.approx([4000, 5000], rel=0.2)
    assert not made.suppressed.any()


def test_k_above_the_number_of_people_publishes_nothing():
    made = _mechanism(k=50, delta="1e-9").release(small_table([10, 20]), rng=1)

    assert made.suppressed.all()


@pytest.mark.parametrize("counts", [[0], [1], [0, 0]])
def test_an_empty_table_one_cell_and_one_person_are_served(counts):
    made = _mechanism(k=1).release(small_table(counts), rng=1)

    assert made.histogram.shape == (len(counts),)


@pytest.mark.parametrize("epsilon", ["0.001", 20])
@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_small_and_large_epsilons_are_served(epsilon):
    mechanism = _mechanism(epsilon=epsilon, delta="1/50", unit=ADD)

    assert mechanism.release(small_table([10, 20]), rng=1).guarantee.delta <= Fraction(1, 50)


def test_people_are_drawn_in_pieces_with_one_law(monkeypatch):
    """A table of any size takes the memory of its counts; the pieces must not lose or double a person."""
    monkeypatch.setattr(module, "_CHUNK", 7)
    drawn = draw_sample(np.array([5, 0, 16, 1]), Fraction(1), source=SeededSource(1))

    assert drawn.tolist() == [5, 0, 16, 1]
    assert draw_sample(np.array([5, 9]), Fraction(0), source=SeededSource(1)).tolist() == [0, 0]
    half = draw_sample(np.array([5000, 0, 5000]), Fraction(1, 2), source=SeededSource(1))
    assert half[1] == 0
    assert abs(half.sum() - 5000) < 325


def test_more_people_than_there_are_is_refused_without_telling_how_many():
    with pytest.raises(LimitExceededError, match="more than 10,000,000,000 people") as caught:
        _mechanism().release(small_table([2**40, 2**62]), rng=1)

    assert str(2**40) not in str(caught.value).replace(",", "")


def test_a_record_is_read_back():
    for mechanism in (_mechanism(), _mechanism(generalization=HALVES, unit=ADD)):
        assert mechanism_from(json.loads(json.dumps(mechanism.to_dict()))) == mechanism
    assert _mechanism(generalization={}) == _mechanism()
    assert _mechanism().unit is Unit.REPLACE_ONE


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"k": 0}, "k"),
        ({"k": 1001}, "k"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"delta": "1e-50"}, "delta"),
        ({"generalization": 3}, "generalization"),
        ({"unit": "one person"}, "unit"),
    ],
)
def test_what_cannot_be_is_refused(given, name):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of GeneralizedSampling"):
        _mechanism(**given)


def test_a_table_that_counts_no_people_is_refused():
    with pytest.raises(InvalidParameterError, match="whole"):
        _mechanism().release(small_table([0.5, 1.0]), rng=1)
