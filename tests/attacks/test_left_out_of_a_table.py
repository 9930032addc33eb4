"""A rule that leaves people out of a table must not break what is promised to the person left out."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError, PlanError
from evenhand.privacy.guarantees.units import Trust
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.release import (
    MECHANISMS,
    DiscreteGaussian,
    GeneralizedSampling,
    Histogram,
    Laplace,
    NoisySuppression,
    RandomSwapping,
    RecordSwapping,
)
from evenhand.release.delta.sampling import sampled_delta
from evenhand.release.table.coarse import coarse_histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.study import Plan
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.release.task import ReleaseTask
from evenhand.table import Table
from property._hockey_stick import excess, together

ONE_OR_NONE = "each person is counted in one cell, or in none where a rule of race leaves the row out"
SWAPPED = ("random-swapping", "record-swapping")


def schema(*, race="drop", job="other", values=("a", "b")):
    return Schema(
        [
            Column("race", Domain.categorical(list(values)), outside=race, nulls=race),
            Column("job", Domain.categorical(["cook", "nurse"]), outside=job, nulls=job),
        ],
        quasi_identifiers="race",
        protected="race",
    )


def people(last="a"):
    """Return ten people, of whom the last may be another one; under "replace one" they are neighbours."""
    return pa.table({"race": ["a", "b", "b"] * 3 + [last], "job": ["cook", "nurse"] * 5})


def published_totals(mechanism, table, draws=200):
    return {mechanism.release(table, rng=seed).histogram.people for seed in range(draws)}


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_mechanism_with_a_promise_tells_for_certain_who_was_left_out(name):
    """Swapping publishes how many people it counts, and the total of ten people with one left out is nine."""
    mechanism = MECHANISMS[name].example()
    tables = [Histogram.count(people(last), schema(), bound=50) for last in ("a", None)]
    try:
        guarantee = mechanism.guarantee_for(tables[0])
    except InvalidParameterError:
        assert name in SWAPPED
        return

    if guarantee.trust is not Trust.NONE and guarantee.delta < 1:
        totals = [published_totals(mechanism, table) for table in tables]
        assert totals != [{10}, {9}]


@pytest.mark.parametrize("mechanism", [RecordSwapping(1), RandomSwapping(1)])
def test_swapping_would_tell_it_for_certain(mechanism):
    """The twin: the same counts, said to be of a column without the rule, are told apart every time."""
    unsaid = schema(race="error")
    counts = [Histogram.count(people(last), schema()).counts for last in ("a", None)]

    assert [published_totals(mechanism, Histogram.of(each, unsaid)) for each in counts] == [{10}, {9}]


@pytest.mark.parametrize("mechanism", [RecordSwapping(1), RandomSwapping(1)])
def test_swapping_refuses_a_table_whose_total_may_depend_on_a_quasi_identifier(mechanism):
    """Whether a row was left out does not count, so the refusal tells nothing of the rows."""
    for last in ("a", None):
        table = Histogram.count(people(last), schema())

        with pytest.raises(InvalidParameterError, match="no rule leaves people out for column 'race'"):
            mechanism.guarantee_for(table)
        with pytest.raises(InvalidParameterError, match="Hint: declare 'other' for the column"):
            mechanism.release(table, rng=1)


def test_swapping_may_leave_people_out_for_a_column_in_the_clear():
    """That column is published as it is, and nothing is promised where it changes."""
    table = Histogram.count(people(), schema(race="other", job="drop"))

    assert RecordSwapping(1).guarantee_for(table).in_clear == ("job",)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in SWAPPED])
def test_a_promise_says_that_a_person_may_be_in_no_cell(name):
    table = Histogram.count(people(), schema(), bound=50)
    guarantee = MECHANISMS[name].example().guarantee_for(table)

    assert guarantee.trust is Trust.NONE or ONE_OR_NONE in guarantee.assumptions


# --- replace one: the person left out is covered by the amount that is stated ------------------------


def shifted(law, centre, reach=80):
    return law.pmf(np.arange(-reach, reach + 1) - centre)


@pytest.mark.parametrize("epsilon", ["1/4", "1/2", "1"])
@pytest.mark.parametrize(
    "mechanism", [Laplace(1, unit="replace one"), DiscreteGaussian(rho="1/4", unit="replace one")]
)
def test_noise_covers_a_person_who_is_replaced_by_one_who_is_left_out(mechanism, epsilon):
    """One count changes by one, where two do for a person who moves: exact sums, from the definition."""
    table = Histogram.count(people(), schema())
    claimed = float(mechanism.guarantee_for(table, epsilon=epsilon).delta)
    law = mechanism.law
    at = float(Fraction(epsilon))
    left_out = excess(shifted(law, 0), shifted(law, 1), at)
    moves = excess(together(shifted(law, 0), shifted(law, 1)), together(shifted(law, 1), shifted(law, 0)), at)

    assert left_out <= claimed + 1e-12
    assert math.isclose(moves, claimed, rel_tol=1e-6, abs_tol=1e-12)  # so the sums are those of the claim


def test_sampling_covers_a_person_who_is_replaced_by_one_who_is_left_out():
    table = Histogram.count(people(), schema())
    mechanism = GeneralizedSampling(k=2, epsilon=1, delta="1/20", unit="replace one")
    left_out = sampled_delta(1, rate=mechanism.rate, k=2, unit="add or remove one").delta

    assert 0 < left_out <= mechanism.guarantee_for(table).delta


@pytest.mark.parametrize("noise", ["count", "threshold"])
def test_a_table_of_one_cell_changes_when_a_person_is_left_out(noise):
    """Without the rule the single count is the number of people, and nobody's replacement changes it."""
    bound, threshold = 8, 5
    mechanism = NoisySuppression(epsilon=1, threshold=threshold, noise=noise)
    single = [
        Histogram.of([bound], Schema([Column("race", Domain.categorical(["a"]), outside=rule)]), bound=bound)
        for rule in ("drop", "error")
    ]
    law = DiscreteLaplace(mechanism.scale)
    hidden = law.cdf(threshold - bound - 1) if noise == "count" else 1 - law.cdf(bound - threshold)

    delta = float(mechanism.guarantee_for(single[0]).delta)
    assert math.isclose(delta, 1 - hidden, rel_tol=1e-9)
    assert mechanism.guarantee_for(single[1]).delta == 0


# --- a table knows which rules made it -------------------------------------------------------------


def test_a_table_knows_the_rules_that_may_have_left_people_out():
    """The rule that is declared counts, not whether a row was left out, and it stays with every part."""
    table = Histogram.count(people(), schema())

    assert table.may_drop == ("race",)
    assert Histogram.count(people(), schema(race="other")).may_drop == ()
    parts = [
        table.margin("job"),
        table.slice({"race": "a"}),
        table.with_counts(table.counts),
        table.from_matrix(table.as_matrix()),
        copy.deepcopy(table),
        pickle.loads(pickle.dumps(table)),
        coarse_histogram(table, (("job", (("all", ("cook", "nurse")),)),), owner="test"),
        Histogram.of(table.counts, schema()),
        Histogram.from_frame(table.to_frame("pyarrow"), schema()),
    ]
    assert [part.may_drop for part in parts] == [("race",)] * len(parts)


def test_a_table_counted_from_codes_knows_the_rules_of_the_codes():
    """Rows were left out when the codes were made, for columns that need not be in the table at all."""
    coded = Table.encode(people(None), schema())
    declared = Schema([Column("race", Domain.categorical(["a", "b"]))], quasi_identifiers="race")
    table = Histogram.count(coded, declared)

    assert table.may_drop == ("race",)
    assert Histogram.count(coded, schema(), ["job"]).may_drop == ("race",)


def test_a_sparse_table_keeps_it_too():
    wide = Schema(
        [
            Column("home", Domain.integers(0, 9_999), nulls="drop"),
            Column("work", Domain.integers(0, 9_999)),
        ],
        quasi_identifiers="work",
    )
    table = Histogram.count(pa.table({"home": [1, None], "work": [2, 3]}), wide)

    assert table.is_sparse
    assert [each.may_drop for each in (table, table.margin("work"), table.slice({"home": 1}))] == [
        ("home",)
    ] * 3


def test_a_study_of_swapping_refuses_it_before_a_row_is_counted():
    task = ReleaseTask(["race", "job"], ["record-swapping"], [1], classify=False)

    with pytest.raises(PlanError, match="no rule leaves people out for column 'race'") as caught:
        prepare(Plan(schema=schema(), task=task), frame=people())
    assert caught.value.field == "task.mechanisms"
    laplace = ReleaseTask(["race", "job"], ["laplace"], [1], classify=False)
    assert prepare(Plan(schema=schema(), task=laplace), frame=people(None)).facts.dropped == 1
