"""The experiments of zhu2023 run on a made-up survey, and what they draw follows its law."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evenhand.errors import DataSetNotFoundError
from evenhand.papers.claims import Evidence
from evenhand.papers.zhu2023 import data, experiments
from evenhand.papers.zhu2023.data import (
    EPSILONS,
    GAUSSIAN,
    LAPLACE,
    MECHANISMS,
    SUPPRESSION,
    SWAPPING,
    exact_record,
)
from evenhand.privacy.laws import DiscreteGaussian
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess import clamp_bias
from evenhand.schema import Column, Domain, Schema

SIZES = {"PUMA": 2, "RAC1P": 3, "SEX": 2, "OWN_RENT": 2, "INCOME_ABOVE_50000": 2, "AGE_BRACKET": 2}


@pytest.fixture(name="people")
def _people(monkeypatch):
    """Stand in for the excerpts: 300 people with six columns."""
    draw = np.random.default_rng(11)
    frame = pd.DataFrame({name: draw.integers(0, size, 300) for name, size in SIZES.items()})
    frame["INCOME_ABOVE_50000"] = ((frame["SEX"] + draw.integers(0, 2, 300)) > 1).astype(int)
    schema = Schema(tuple(Column(name, Domain.integers(0, size - 1)) for name, size in SIZES.items()))
    monkeypatch.setattr(data, "load_people", lambda _: SimpleNamespace(frame=frame, schema=schema))
    monkeypatch.setattr(experiments, "REPETITIONS", 4)
    monkeypatch.setattr(experiments, "FEW", 2)
    monkeypatch.setattr(data, "THRESHOLDS", (2, 6))
    monkeypatch.setattr(data, "SHARES", (10, 50))
    monkeypatch.setattr(experiments, "TRAINED", 1)
    data.count_people.cache_clear()
    yield frame
    data.count_people.cache_clear()


# --- what is drawn --------------------------------------------------------------------------------


def test_what_is_reported_of_errors_is_what_the_paper_reports():
    """The bias is that of the average, so opposite errors cancel; the error is not."""
    found = experiments.summarise_errors(np.array([[2.0, 0.0, -1.0], [-2.0, 0.0, -1.0]]))

    assert found == {"l1": 1.0, "alpha": 1.0, "error": 3.0}


@pytest.mark.parametrize("text", ["0.5", "4"])
def test_average_errors_tend_to_the_exact_bias(text):
    """A draw of another law than the formula's would be seen in 30,000 repetitions."""
    counts, epsilon, number = np.array([0, 2, 6, 30]), Fraction(text), 30_000
    source = SeededSource(5)
    found = {
        name: experiments.draw_errors(name, SimpleNamespace(counts=counts), epsilon, number, source)
        for name in (LAPLACE, GAUSSIAN, SUPPRESSION)
    }
    expected = {
        LAPLACE: data.rounded_bias(counts, epsilon),
        GAUSSIAN: clamp_bias(counts, DiscreteGaussian(data.variance(epsilon))),
        SUPPRESSION: data.suppression_bias(counts, epsilon, 6),
    }
    for name, errors in found.items():
        unseen = 60 / number  # of errors of 3 that happen once in 1,500 times or less
        slack = 7 * errors.std(axis=0) / number**0.5 + unseen

        assert (np.abs(errors.mean(axis=0) - expected[name]) <= slack).all()
    off = np.abs(found[LAPLACE].mean(axis=0) - data.rounded_bias(counts, epsilon * Fraction(11, 10)))
    assert (off > 7 * found[LAPLACE].std(axis=0) / number**0.5 + 60 / number).any()


def test_one_noisy_threshold_suppresses_the_smaller_counts_together():
    """That is what tells Algorithm 2 from equation (2)."""
    counts = np.array([1, 5, 9])
    table = SimpleNamespace(counts=counts)
    errors = experiments.draw_errors(data.BY_THRESHOLD, table, Fraction(1), 500, SeededSource(2))
    hidden = counts + errors != counts

    assert (hidden[:, 0] >= hidden[:, 2]).all()
    assert hidden.any()
    assert not hidden.all()


def test_a_sample_is_compared_with_itself_and_with_everybody(people):
    """Against everybody, all who are left out are missing."""
    table = data.count_people("ma", data.COLUMNS, data.COLUMNS)
    inside, outside = experiments.anonymity_errors(table, Fraction(1, 2), 5, SeededSource(3), k=2)
    whole, same = experiments.anonymity_errors(table, None, 2, SeededSource(3), k=2)

    assert (inside.sum(axis=1) == 0).all()
    assert (outside.sum(axis=1) < -0.4 * len(people)).all()
    assert (whole == same).all()


# --- records --------------------------------------------------------------------------------------


def test_an_experiment_has_every_mechanism_and_epsilon(people):
    """And the same number gives the same record, whatever was run before."""
    first, _, tables, _coded, figures = _trials()
    record = tables.compute(0)

    assert set(record["numbers"]) == {
        *MECHANISMS, data.SMALLER_NOISE, data.BY_THRESHOLD, data.AGAINST_ALL
    }  # fmt: skip
    assert all(set(found) == set(EPSILONS) for found in record["numbers"].values())
    assert record == tables.compute(0)
    assert record != tables.compute(1)
    assert first.compute(0)["people"] == len(people)
    drawn = figures.compute(0)
    assert set(drawn["swapping"]) == {*data.READINGS, "epsilon"}
    assert set(drawn["k-anonymity"]["6"]) == {
        "original",
        *EPSILONS,
        *(f"{each}, everybody" for each in EPSILONS),
    }


def _trials():
    made = experiments.paper_trials({"ma": (2, 1, 0)})[:-1]
    return made[0], *made


def test_the_exact_record_has_the_facts_of_the_table(people):
    """The claims read them."""
    exact_trials, *_ = _trials()
    record = exact_record(Evidence({}, None, {data.EXACT: exact_trials.run(None)}), "ma")

    assert (record["name"], record["areas"], record["cells"]) == ("ma", 2, 48)
    assert record["people"] == len(people)
    assert set(record["shipped"]) < set(MECHANISMS)
    assert record["shipped"][GAUSSIAN]["1"]["l1"] == pytest.approx(record["numbers"][GAUSSIAN]["1"]["l1"])
    assert record["shipped"][GAUSSIAN]["1"]["delta"] == pytest.approx(
        record["numbers"][GAUSSIAN]["1"]["exact delta"]
    )


def test_classifiers_are_trained_on_every_table(people):
    """The baseline is at least as accurate as the most frequent outcome."""
    record = experiments.paper_trials({"ma": (0, 0, 1)})[-1].compute(0)

    assert set(record) == set(experiments.SETTINGS)
    for found in record.values():
        assert set(found) == {"baseline", "majority", *experiments.ORIGINALS.values(), *MECHANISMS}
        assert found["baseline"][""] >= found["majority"][""] > 0.4
        assert all(0 <= value <= 1 for each in found.values() for value in each.values())
    assert len(people) == 300


def test_a_classifier_of_one_outcome_says_that_outcome():
    """A table may be released without anybody of one outcome."""
    true = np.array([[3, 1], [2, 4]])

    assert experiments.accuracy(np.array([[5, 0], [1, 0]]), true) == 0.5
    assert experiments.accuracy(np.array([[0, 5], [0, 1]]), true) == 0.5
    assert experiments.accuracy(np.array([[500, 100], [100, 500]]), true) == 0.7


def test_the_real_table_has_the_cells_of_the_paper():
    """Nine races, so that Theorem 3 gives the printed deltas."""
    data.count_people.cache_clear()
    try:
        table = data.count_people("ma")
    except DataSetNotFoundError:
        pytest.skip("the excerpts are not on this machine")

    assert table.shape == (5, 9, 2, 3, 2)
    assert table.as_matrix().shape == (60, 9)
    assert table.people == 7_634


# --- the other coding of race ---------------------------------------------------------------------


def test_the_coding_of_ipums_merges_and_splits_codes_and_loses_nobody(monkeypatch):
    """Nine codes stay nine: three become one, one becomes three, and one becomes two."""
    rows = np.arange(1, 10)[None, :, None, None, None] * np.full((2, 1, 1, 1, 1), 40)
    table = SimpleNamespace(counts=rows, with_counts=lambda counts: SimpleNamespace(counts=counts))
    monkeypatch.setattr(data, "count_people", lambda _: table)
    coded = data.draw_ipums_coding("ma", SeededSource(4)).counts[:, :, 0, 0, 0]
    given = rows[:, :, 0, 0, 0]

    assert (coded.sum(axis=1) == given.sum(axis=1)).all()
    assert (coded[:, :2] == given[:, :2]).all()
    assert (coded[:, 2] == given[:, 2:5].sum(axis=1)).all()
    assert (coded[:, 3:6].sum(axis=1) == given[:, 5:7].sum(axis=1)).all()
    assert (coded[:, 6] == given[:, 7]).all()
    assert (coded[:, 7:].sum(axis=1) == given[:, 8]).all()
    assert (coded[:, 3] > coded[:, 4]).all()
    assert (coded[:, 7] > 4 * coded[:, 8]).all()

    alone = data.draw_ipums_coding("ma", SeededSource(4), asians=(0.0, 0.0), three=0.0).counts[:, :, 0, 0, 0]
    assert not alone[:, [3, 4, 8]].any()
    assert (alone.sum(axis=1) == given.sum(axis=1)).all()


def test_an_experiment_with_the_other_coding_leaves_k_anonymity_out(monkeypatch, people):
    """What k-anonymity merged is not known anyway."""
    monkeypatch.setattr(data, "draw_ipums_coding", lambda name, _: data.count_people(name))
    coded = _trials()[3].compute(0)

    assert set(coded["numbers"]) == {LAPLACE, GAUSSIAN, SUPPRESSION, SWAPPING}
    assert coded == _trials()[3].compute(0)
