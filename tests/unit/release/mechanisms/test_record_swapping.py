"""Random swapping of people: pure epsilon for quasi-identifiers, and estimates without bias."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError, PrivacyWarning
from evenhand.privacy.guarantees.units import Measure, Trust, Unit
from evenhand.privacy.rational import exp_bounds
from evenhand.release.mechanisms import random_swapping
from evenhand.release.mechanisms.quasi_response import ResponseLaw
from evenhand.release.mechanisms.random_swapping import RecordSwapping, SwapEstimate
from evenhand.release.postprocess.steps import Integral, Nonnegative
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit.release._slow_swapping import (
    hockey_stick,
    neighbours,
    records_law,
    several_rows,
    small_table,
    tables_of,
)


def _laws(n, epsilon, most=3):
    keep = RecordSwapping(epsilon).response(small_table(np.zeros((n, 1), int))).keep
    return {row: records_law(row, keep) for people in range(1, most + 1) for row in tables_of(people, n)}


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("epsilon", ["1/1000", 1, 20])
@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_no_table_is_likelier_by_more_than_the_ratio_drawn(n, epsilon):
    """The guarantee itself, over all neighbours of a small universe: exact, and attained."""
    laws = _laws(n, epsilon, most=3 if n < 4 else 2)
    law = RecordSwapping(epsilon).response(small_table(np.zeros((n, 1), int)))
    worst = max(
        chance / laws[other][made]
        for row, drawn in laws.items()
        for other in neighbours(row)
        for made, chance in drawn.items()
    )

    assert worst == law.ratio
    assert worst <= exp_bounds(Fraction(epsilon), digits=60)[0]
    assert RecordSwapping(epsilon).guarantee_for(small_table(np.zeros((n, 1), int))).epsilon == Fraction(
        epsilon
    )


@pytest.mark.parametrize("factor", [Fraction(1), Fraction(3, 2), Fraction(2)])
def test_below_its_epsilon_delta_is_the_worst_over_all_neighbours(factor):
    laws = _laws(3, 1)
    law = RecordSwapping(1).response(small_table([0, 0, 0]))
    worst = max(
        hockey_stick(drawn, laws[other], factor) for row, drawn in laws.items() for other in neighbours(row)
    )

    assert worst == law.keep - factor * law.other


def test_the_guarantee_at_a_smaller_epsilon_has_that_delta():
    law = RecordSwapping(1).response(small_table([0, 0, 0]))
    at_zero = RecordSwapping(1).guarantee_for(small_table([0, 0, 0]), epsilon=0)

    assert at_zero.delta == pytest.approx(float(law.keep - law.other), rel=1e-12)
    assert at_zero.delta >= law.keep - law.other
    assert RecordSwapping(1).guarantee_for(small_table([0, 0, 0]), epsilon=2).delta == 0


def test_where_another_column_changes_nothing_is_promised():
    """The other columns' table is published as it is, so this must be in the text."""
    keep = RecordSwapping(1).response(small_table([0, 0])).keep
    before = several_rows(records_law, [(1, 1), (0, 1)], keep)
    after = several_rows(records_law, [(0, 1), (1, 1)], keep)
    guarantee = RecordSwapping(1).guarantee_for(small_table([[1, 0], [1, 1]]))

    assert hockey_stick(before, after, Fraction(10**9)) == 1
    assert guarantee.in_clear == ("c1",)
    assert any("nothing is promised" in each for each in guarantee.assumptions)


def test_the_guarantee_is_pure_for_the_quasi_identifiers():
    guarantee = RecordSwapping("1/2").guarantee_for(small_table([[1, 0], [1, 1]]))

    assert (guarantee.epsilon, guarantee.delta, guarantee.measure) == (Fraction(1, 2), 0, Measure.PURE)
    assert (guarantee.unit, guarantee.trust, guarantee.tight) == (Unit.REPLACE_ONE, Trust.CENTRAL, True)
    assert guarantee.protects == ("c0",)
    assert guarantee == RecordSwapping("1/2").guarantee_for(small_table([[1, 0], [1, 1]]), as_printed=True)


def test_an_epsilon_beyond_the_grid_is_claimed_as_drawn():
    with pytest.warns(PrivacyWarning):
        guarantee = RecordSwapping(1000).guarantee_for(small_table([3, 1]))

    assert 44 < guarantee.epsilon < 45


# --- errors and estimates -----------------------------------------------------------------------


def test_bias_and_variance_have_the_shape_of_the_table():
    table = small_table(np.arange(12).reshape(3, 4))
    law = RecordSwapping(1).response(table)
    bias, variance = RecordSwapping(1).bias(table), RecordSwapping(1).variance(table)

    for other in range(4):
        row = [table.counts[:, other]]

        assert bias.values[:, other] == pytest.approx(law.bias(row)[0])
        assert variance.values[:, other] == pytest.approx(law.record_variance(row)[0])
    assert bias.exact
    assert variance.exact


def test_variance_of_the_vector():
    found = RecordSwapping(1).variance(small_table([500, 20, 10])).values

    assert found[0] == pytest.approx(127.1, abs=0.05)


def test_bias_is_exact_where_post_processing_changes_nothing():
    table = small_table([5, 1, 0])
    after = RecordSwapping(1).bias(table, post=[Nonnegative(), Integral()])

    assert after.exact
    assert (after.values == RecordSwapping(1).bias(table).values).all()
    assert not RecordSwapping(1).bias(table, post=[Nonnegative(least=1)], draws=3).exact


def test_bias_after_post_processing_is_sampled():
    class Same:
        words = "as it is"

        def apply(self, values, *, source):
            del source
            return values

    assert not RecordSwapping(1).bias(small_table([5, 1, 0]), post=[Same()], draws=5).exact


@pytest.mark.parametrize("row", [(1, 0, 0), (3, 1, 0), (2, 2)])
@pytest.mark.parametrize("epsilon", ["1/10", 1])
def test_estimates_and_their_variances_are_right_on_average(row, epsilon):
    """Over the whole law: the mean estimate is the truth, the mean squared error the mean stated variance."""
    table = small_table(row)
    response = ResponseLaw(len(row), Fraction(epsilon), owner="a test")
    law = records_law(row, response.keep)
    mean, error, stated = np.zeros(len(row)), np.zeros(len(row)), np.zeros(len(row))
    for made, chance in law.items():
        found = SwapEstimate.of(table.with_counts(made), response)
        mean += float(chance) * found.values
        error += float(chance) * (found.values - row) ** 2
        stated += float(chance) * found.standard_error**2

    assert mean == pytest.approx(row, abs=1e-9)
    assert stated == pytest.approx(error, rel=1e-9)
    gap = float(response.keep - response.other)
    assert error == pytest.approx(response.record_variance([row])[0] / gap**2, rel=1e-9)


def test_an_estimate_comes_with_intervals_in_the_shape_of_the_table():
    table = small_table(np.arange(12).reshape(3, 4) * 100)
    release = RecordSwapping(2).release(table, rng=4)
    found = RecordSwapping(2).estimate(release)
    low, high = found.interval(0.9)

    assert found.values.shape == table.shape
    assert found.values.sum(axis=0) == pytest.approx(table.counts.sum(axis=0))
    assert (high - low)[1, 2] == pytest.approx(2 * 1.6448536269514722 * found.standard_error[1, 2])
    assert (np.asarray(found) == found.values).all()
    assert repr(found) == "<SwapEstimate of 3 x 4 cells>"
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 1


@pytest.mark.parametrize("confidence", [0, 1, True, "0.9"])
def test_a_confidence_that_is_none_is_refused(confidence):
    found = RecordSwapping(2).estimate(RecordSwapping(2).release(small_table([3, 1]), rng=4))
    with pytest.raises(InvalidParameterError, match="'confidence'"):
        found.interval(confidence)


def test_estimates_are_for_releases_of_this_mechanism_as_drawn():
    """Numbers from another mechanism, or rounded ones, would be read with the wrong probabilities."""

    class Same:
        words = "as it is"

        def apply(self, values, *, source):
            del source
            return values

    table = small_table([3, 1])
    for wrong in (
        RecordSwapping(1).release(table, rng=1),
        RecordSwapping(2).release(table, rng=1, post=[Same()]),
        table,
    ):
        with pytest.raises(InvalidParameterError, match="without post-processing"):
            RecordSwapping(2).estimate(wrong)


# --- draws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_people_move_one_by_one_and_the_other_columns_stay(chunk, monkeypatch):
    monkeypatch.setattr(random_swapping, "_CHUNK", chunk)
    counts = np.array([[9, 0, 1], [0, 3, 2]])
    for seed in range(10):
        made = RecordSwapping("1/2").release(small_table(counts), rng=seed).histogram.counts

        assert (made.sum(axis=0) == counts.sum(axis=0)).all()
        assert made.min() >= 0


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 100])
def test_every_person_is_drawn_for_once_whatever_the_chunks(chunk, monkeypatch):
    """A person left out would be published as they are."""
    monkeypatch.setattr(random_swapping, "_CHUNK", chunk)
    parts = list(random_swapping._people(np.array([1, 4, 2, 3])))

    assert np.concatenate(parts).tolist() == [0, 1, 1, 1, 1, 2, 2, 3, 3, 3]
    assert max(map(len, parts)) <= chunk


def test_a_sparse_table_moves_in_the_same_way():
    columns = [Column(name, Domain.integers(0, 999)) for name in "abc"]
    table = Histogram.of_cells([1_001_001, 7_000_000], [50, 2], Schema(columns, quasi_identifiers=["b"]))
    made = RecordSwapping("1/1000").release(table, rng=1).histogram

    assert made.is_sparse
    assert made.people == 52
    assert (made.margin(["a", "c"]).counts == table.margin(["a", "c"]).counts).all()
    assert (made.filled > 0).all()
    with pytest.raises(LimitExceededError):
        RecordSwapping("1/1000").estimate(RecordSwapping("1/1000").release(table, rng=1))


@pytest.mark.parametrize("counts", [[0, 0], [1, 0], [0] * 500])
@pytest.mark.parametrize("epsilon", ["0.001", 10])
def test_hostile_tables_are_published(counts, epsilon):
    made = RecordSwapping(epsilon).release(small_table(counts))

    assert made.histogram.people == sum(counts)
    assert not made.simulated


def test_more_people_than_live_are_refused_without_a_count():
    with pytest.raises(LimitExceededError, match="for each person") as refused:
        RecordSwapping(1).release(small_table([2**40, 5]), rng=1)

    assert str(2**40) not in str(refused.value).replace(",", "")


@pytest.mark.parametrize("epsilon", [0, -1, "nan", None])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of RecordSwapping"):
        RecordSwapping(epsilon)


def test_it_writes_itself_down():
    assert repr(RecordSwapping("1/3")) == "RecordSwapping(epsilon='1/3')"
    assert RecordSwapping("1/3").to_dict() == {"mechanism": "record-swapping", "epsilon": "1/3"}
    assert RecordSwapping.example() == RecordSwapping(1)
