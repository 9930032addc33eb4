"""Tables in which one person may have several rows: the promise is to the person, and the noise covers it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.zcdp import delta_from_zcdp
from evenhand.release import DiscreteGaussian, Histogram, KAnonymity, Laplace, Suppression, ThresholdedLaplace
from evenhand.release.mechanisms.registry import mechanism_from
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table, write_csv

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))])
UNITS = ("replace one", "add or remove one")


def _people(most):
    return SCHEMA.with_roles(person="id", rows_per_person=most)


def _table(most, counts=(9, 4)):
    return Histogram.of(np.array(counts), _people(most))


def _reachable(most, unit):
    """Yield the changes of both counts that everything about one person can make, all of them."""
    holdings = [(f, m) for f in range(most + 1) for m in range(most + 1) if f + m <= most]
    for first, second in itertools.product(holdings, holdings):
        if unit == "replace one" or (0, 0) in (first, second):
            yield first[0] - second[0], first[1] - second[1]


def _worst_loss(law, most, unit):
    """Return the largest logarithm of a ratio of chances, over outputs and over all changes of one person."""
    outputs = np.arange(-60, 61)
    losses = []
    for change in _reachable(most, unit):
        each = [np.max(np.log(law.pmf(outputs) / law.pmf(outputs - shift))) for shift in change]
        losses.append(sum(each))  # the noise of the cells is independent
    return max(losses)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("kind", [Laplace, lambda **given: ThresholdedLaplace(threshold=2, **given)])
def test_everything_about_one_person_costs_the_epsilon_that_was_asked_for(kind, most, unit):
    """If this is false a person with several rows is promised more than is kept."""
    mechanism = kind(epsilon=1, unit=unit)
    scaled = mechanism.for_table(_table(most))

    assert _worst_loss(scaled.law, most, unit) == pytest.approx(1, rel=1e-6)
    assert mechanism.guarantee_for(_table(most)).epsilon == scaled.noise.epsilon <= 1
    if most > 1:  # so that the test can see: noise for one row gives several times as much away
        assert _worst_loss(mechanism.law, most, unit) == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("most", [1, 2])
def test_the_epsilon_holds_for_the_law_that_drawing_rows_makes(most):
    """Which rows count is drawn too, so what is published follows a mixture; it must not tell more."""
    held = ["fffm", "ffmm", "mmm", "f", ""]  # what two people may have in the file, more than counts
    outputs = np.arange(-40, 41)

    def chances(rows, law):
        chosen = list(itertools.combinations(rows, min(most, len(rows))))
        laws = [[law.pmf(outputs - kept.count(sex)) for sex in "fm"] for kept in map("".join, chosen)]
        return sum(np.outer(*pair) for pair in laws) / len(laws)

    mechanism = Laplace(epsilon=1, unit="replace one")
    losses = {}
    for name, law in (("scaled", mechanism.for_table(_table(most)).law), ("row", mechanism.law)):
        tables = [chances(rows, law) for rows in held]
        pairs = itertools.permutations(tables, 2)
        losses[name] = max(float(np.log(first / second).max()) for first, second in pairs)

    assert losses["scaled"] <= 1 + 1e-9
    assert most == 1 or losses["row"] > 1.5  # so that the test can see


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("most", [2, 3])
def test_the_rho_of_gaussian_noise_covers_every_change_of_one_person(most, unit):
    scaled = DiscreteGaussian(rho="1/10", unit=unit).for_table(_table(most))
    squares = [sum(shift**2 for shift in change) for change in _reachable(most, unit)]

    assert Fraction(max(squares)) / (2 * scaled.noise.variance) == scaled.noise.rho <= Fraction(1, 10)
    assert scaled.guarantee_for(_table(most), as_printed=True).rho > scaled.noise.rho  # sensitivity 2 per row


def _exact_delta(law, change, epsilon):
    """Return the delta of two independent counts that change so, by the sum over all outputs."""
    outputs = np.arange(-120, 121)
    chances = [(law.pmf(outputs), law.pmf(outputs - shift)) for shift in change]
    first, second = (np.outer(chances[0][side], chances[1][side]) for side in (0, 1))
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


@pytest.mark.parametrize("unit", UNITS)
def test_the_epsilon_and_delta_of_gaussian_noise_hold_for_several_rows(unit):
    mechanism = DiscreteGaussian(epsilon=1, delta="1e-3", unit=unit)
    scaled = mechanism.for_table(_table(2))
    promise = mechanism.guarantee_for(_table(2))
    worst = max(_exact_delta(scaled.law, change, 1) for change in _reachable(2, unit))
    unscaled = max(_exact_delta(mechanism.law, change, 1) for change in _reachable(2, unit))

    assert promise.delta == delta_from_zcdp(scaled.noise.rho, 1) <= Fraction("1e-3")
    assert float(promise.delta) > 0.99e-3
    assert worst <= float(promise.delta)
    assert unscaled > 1e-3  # noise for one row would not do
    assert not promise.tight


def test_the_release_says_one_person_and_how_many_rows_count():
    published = Laplace(epsilon=1, unit="replace one").release(_table(3), rng=1)
    promise = published.guarantee

    assert (promise.epsilon, str(promise.unit)) == (1, "one person")
    assert "at most 3 rows drawn at random count" in promise.assumptions[0]
    assert "each row is counted in one cell" in promise.assumptions
    assert published.mechanism == Laplace(epsilon=1, unit="replace one", rows_per_person=3)
    assert mechanism_from(published.mechanism.to_dict()) == published.mechanism
    assert "rows_per_person" not in Laplace(epsilon=1, unit="replace one").to_dict()


@pytest.mark.parametrize("mechanism", [Laplace(1, unit=UNITS[0]), DiscreteGaussian(rho=1, unit=UNITS[0])])
def test_errors_are_those_of_the_larger_noise(mechanism):
    scaled = mechanism.for_table(_table(3))

    assert mechanism.variance(_table(3)).values[0] == scaled.law.variance > 3 * mechanism.law.variance
    assert (mechanism.bias(_table(3)).values == 0).all()
    assert (mechanism.exact_absolute_error(_table(3)) == scaled.exact_absolute_error(_table(3))).all()
    assert scaled.for_table(_table(2)) is scaled


def test_without_a_person_the_promise_assumes_one_row_each():
    for mechanism in (Laplace(1, unit=UNITS[0]), DiscreteGaussian(rho=1, unit=UNITS[0])):
        promise = mechanism.release(Histogram.of([3, 1], SCHEMA), rng=1).guarantee

        assert "each person is one row" in promise.assumptions
        assert str(promise.unit) == "replace one"


@pytest.mark.parametrize("mechanism", [Suppression(threshold=3), KAnonymity(k=2)])
def test_who_takes_rows_for_people_takes_one_of_each(mechanism):
    with pytest.raises(InvalidParameterError, match=r"'rows_per_person' parameter of .* must be 1"):
        mechanism.release(_table(2), rng=1)

    assert mechanism.for_table(_table(1)) is mechanism


def test_counting_leaves_out_rows_beyond_the_bound_before_it_reads_them():
    frame = pa.table({"sex": list("ffffmx"), "id": [1, 1, 1, 2, 2, 3]})
    schema = Schema(
        [Column("sex", Domain.categorical(["f", "m"]), outside="drop")], person="id", rows_per_person=1
    )
    totals = {int(Histogram.count(frame, schema, rng=seed).people) for seed in range(30)}

    assert totals == {2}  # a person whose row is left out by a rule gets no other in its place
    assert Histogram.count(frame, schema).people == 2
    with pytest.raises(InvalidParameterError, match=r"'df' parameter of Histogram.count must be a frame"):
        Histogram.count(Table.encode(frame, schema), schema)


@pytest.mark.parametrize("as_file", [False, True])
def test_a_table_whose_rows_a_seed_chose_is_not_published(as_file, tmp_path):
    """Whoever has the seed knows which rows count, and one person more moves the rows of all the others."""
    rows = pa.table({"sex": list("fmfmf"), "id": list("aabbc")})
    write_csv(rows, tmp_path / "rows.csv")
    seeded = Histogram.count(tmp_path / "rows.csv" if as_file else rows, _people(1), rng=7)
    ledger = Ledger(tmp_path / "ledger.db", epsilon=9)
    for table in (seeded, seeded.margin(["sex"]), seeded.with_counts([5, 4])):
        with pytest.raises(GuaranteeError, match="decided by a seed"):
            Laplace(epsilon=1, unit="replace one").release(table, ledger=ledger)

        assert Laplace(epsilon=1, unit="replace one").release(table, rng=1).simulated
    assert [entry.kind for entry in ledger.history()] == ["open"]
    assert not Histogram.count(rows, _people(1)).simulated
    assert not Histogram.count(rows, SCHEMA, rng=7).simulated  # without persons nothing is drawn


def test_weighted_counts_are_sums_of_weights_that_no_mechanism_publishes():
    frame = pa.table({"sex": list("ffm"), "w": [1.5, 2.0, 4.0]})
    weighted = Histogram.count(frame, SCHEMA.with_roles(weight="w"))

    assert weighted.counts.tolist() == [3.5, 4.0]
    with pytest.raises(InvalidParameterError, match="a weight would let one person move a count"):
        Laplace(1, unit=UNITS[0]).release(weighted)
