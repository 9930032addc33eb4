"""ghoukasian2024, chapter 3: rows, accounting and runs, on made-up people."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import DataSetNotFoundError
from evenhand.papers.ghoukasian2024_central import accounting, training
from evenhand.papers.ghoukasian2024_central.accounting import DELTA, TABLES
from evenhand.papers.ghoukasian2024_central.theory_checks import OWN
from evenhand.privacy import accounting as product
from evenhand.privacy.randomness import SeededSource

# --- rows -----------------------------------------------------------------------------------------


def _made_up(number=3_000):
    draw = np.random.default_rng(5)
    group = draw.integers(0, 2, number)
    like = np.where(draw.random(number) < 0.9, group, 1 - group)
    features = np.column_stack([draw.normal(size=number), like])
    labels = (features[:, 0] - group + draw.normal(size=number) > 0).astype(np.int64)
    return training.Rows(features, labels, group)


@pytest.fixture(name="people")
def _people(monkeypatch):
    """Stand in for both files."""
    made = _made_up()
    monkeypatch.setattr(training, "load_rows", lambda _: made)
    return made


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("credit", 30_000),
        pytest.param("adult", 45_222, marks=pytest.mark.slow),
        pytest.param("adult-twice", 60_324, marks=pytest.mark.slow),
    ],
)
def test_files_have_the_inputs_of_the_thesis(name, number):
    """102 and 85 without the group: another coding would be another classifier."""
    try:
        found, divided = training.load_rows(name), training.split_rows(name)
    except DataSetNotFoundError:
        pytest.skip("the data set is not on this machine")
    finally:
        training.load_rows.cache_clear()
    sizes = tuple(np.bincount(found.group[divided.rates]).tolist())

    assert found.features.shape == (number, training.FILES[name].inputs)
    assert np.abs(found.features.mean(axis=0)[found.features.min(axis=0) < 0]).max() < 1e-9
    assert 0.3 < found.group.mean() < 0.61
    assert len(divided.fitting) == accounting._FITTING[f"{number:,} rows"]
    assert name == "adult-twice" or sizes in {each[:2] for each in OWN.values()}


def test_a_column_is_scaled_or_one_hot():
    """Only values that occur have a column, as when vocabularies are taken from the rows."""
    codes = np.array([4, 0, 4, 1])
    scaled = training._columns(codes, scaled=True)

    assert training._columns(codes, scaled=False).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert scaled.mean() == pytest.approx(0)
    assert scaled.std() == pytest.approx(1)


def test_parts_are_half_a_quarter_and_a_quarter(people):
    """Nobody is in two of them, and the same rows are drawn every time."""
    found, again = training.split_rows("adult"), training.split_rows("adult")
    sizes = [len(each) for each in (found.training, found.fitting, found.rates, found.test)]

    assert sizes == [2_250, 1_500, 750, 750]
    assert sorted(np.concatenate([found.fitting, found.rates, found.test])) == list(range(3_000))
    assert (found.training == again.training).all()
    assert (found.rates == again.rates).all()


def test_the_training_part_is_what_pandas_would_sample(people):
    """The published code draws it with DataFrame.sample and random state 100."""
    import pandas as pd

    expected = pd.Series(range(3_000)).sample(frac=0.75, random_state=100)

    assert training.split_rows("adult").training.tolist() == expected.tolist()


def test_codes_name_the_first_group():
    """The code is an input, so its direction matters to a classifier that is not converged."""
    made = _made_up(10)

    assert (made.codes("men") == made.group).all()
    assert (made.codes("women") == 1 - made.group).all()
    assert (made.aware("women")[:, -1] == 1 - made.group).all()


# --- accounting -----------------------------------------------------------------------------------


def test_readings_are_those_of_the_row_counts():
    """q and the steps decide the epsilon."""
    adult, credit = (accounting.readings(TABLES[name]) for name in ("table-3.1", "table-3.4"))

    assert [(round(float(each.sampling), 5), each.steps) for each in adult] == [
        (0.034, 1500), (0.04529, 1150), (0.04348, 1150), (0.03395, 1500), (0.03397, 1500),
    ]  # fmt: skip
    assert [(round(float(each.sampling), 5), each.steps) for each in credit] == [
        (0.0683, 1500), (0.06827, 1500), (0.06667, 1500),
    ]  # fmt: skip


def test_several_rows_of_a_person_cost_more():
    """Group privacy: the epsilon times the rows, and the delta more than that."""

    def delta(epsilon):
        return np.exp(-5 * epsilon)

    found = accounting.person_epsilon(delta)
    each = found / 2

    assert delta(each) * (1 + np.exp(each)) <= DELTA
    assert delta(each - 0.01) * (1 + np.exp(each - 0.01)) > DELTA
    assert accounting.person_epsilon(lambda _: 1.0) == np.inf


def test_a_table_s_record_has_every_reading(monkeypatch):
    """The accountant is asked for the noise, the share and the steps of each, in the right unit."""
    asked = []

    class Fake:
        def __init__(self, noise, sampling, steps):
            self.inputs = (round(noise, 4), sampling, steps)

        def epsilon(self, delta, *, unit):
            asked.append((*self.inputs, delta, unit))
            return Fraction(3)

        def delta(self, epsilon, *, unit):
            return Fraction(1)

    monkeypatch.setattr(accounting, "SampledGaussian", Fake)
    monkeypatch.setattr(accounting, "noise_for", lambda *_, **__: 2.0)
    found = accounting.accounting_trials().compute(0)

    assert found["table"] == "table-3.1"
    assert found["readings"][accounting.TWICE]["person"] is None
    assert set(found["needed"]) == {accounting.AS_PRINTED, accounting.CLEAN}
    assert (2.0867, Fraction(34, 1000), 1500, DELTA, "add or remove one") in asked
    assert (2.0867, Fraction(1024, 22_611), 1150, DELTA, "replace one") in asked


def test_the_accountant_finds_the_epsilon_of_table_3_1():
    """For the file of 45,222 rows, where it is above what is claimed."""
    table = TABLES["table-3.1"]
    clean = accounting.readings(table)[1]
    steps = product.SampledGaussian(table.multiplier, clean.sampling, clean.steps)

    assert float(steps.epsilon(DELTA, unit="add or remove one")) == pytest.approx(3.37943, abs=1e-3)


# --- runs -----------------------------------------------------------------------------------------


@pytest.fixture(name="short")
def _short(monkeypatch):
    """Make the tables short: one epoch of small batches, two lambdas."""
    short = {
        name: replace(table, epochs=2, lines=table.lines[:3], noise=1.5) for name, table in TABLES.items()
    }
    monkeypatch.setattr(training, "TABLES", short)
    monkeypatch.setattr(training.printed, "BATCH", 256)
    return short


def test_a_run_has_both_methods_in_every_table(people, short):
    """The record is what tables and claims read, and a number gives the same record again."""
    found, again, other = (training.run_trial("adult", number) for number in (0, 0, 1))
    methods = found["tables"]["table-3.1"]

    assert set(found["tables"]) == {"table-3.1", "table-3.2"}
    assert set(methods) == {"men", "women"}
    assert set(methods["men"]["fermi"]["lambdas"]) == {"0.5", "1"}
    assert found == again
    assert found != other
    assert found["inputs"] == 2
    assert sum(found["test"]) == 750
    assert found["majority"] == 1 - people.labels[training.split_rows("adult").test].mean()


@pytest.mark.parametrize("start", training.STARTS)
def test_algorithm_2_closes_the_gap_of_dp_sgd(people, short, start):
    """Before it the group tells; after it rates are alike but for chance."""
    table = replace(short["table-3.1"], epochs=40, rate_epsilon="2")
    found = training.run_parity(
        people, training.split_rows("adult"), table, SeededSource(1), first="men", start=start
    )

    assert found["before"]["gap"] > 0.2
    assert found["after"]["gap"] < 0.15
    assert found["after"]["gap"] == abs(found["after"]["men"] - found["after"]["women"])


def test_starting_at_random_is_the_same_training_from_elsewhere(people, short):
    """With a start of 0 and the same stream it is evenhand's classifier, weight by weight."""

    class Still(SeededSource):
        def generator(self):
            return SimpleNamespace(uniform=lambda *_, size: np.zeros(size))

    table, labels = short["table-3.1"], people.labels
    random = training.from_random(people.features, labels, table, SeededSource(5))
    zero = training.from_random(people.features, labels, table, Still(5))
    ours = training.from_zero(people.features, labels, table, SeededSource(5))

    assert zero.coef_.tolist() == ours.coef_.tolist()
    assert zero.intercept_.tolist() == ours.intercept_.tolist()
    assert np.abs(random.coef_ - ours.coef_).max() > 0.01
    assert (random.predict(people.features) == (random.decision_function(people.features) > 0)).all()


def test_lengths_are_those_of_the_rows_gradients(people, short):
    """They are compared with the bound that the noise assumes."""
    table = short["table-3.1"]
    trained = training._train_fermi(people, training.split_rows("adult"), table, SeededSource(2), "women")
    found = trained.lengths()
    row, place = 7, 1
    x, w = trained.inputs[row], trained.single[place]
    p = 1 / (1 + np.exp(-x @ trained.weights[place]))
    inside = 2 * w * trained.first[row] / np.sqrt(trained.share) - w**2
    slope = p - trained.labels[row] + trained.strengths[place] * inside * p * (1 - p)

    assert found.shape == (2_250, 2)
    assert found[row, place] == pytest.approx(np.linalg.norm(slope * x), rel=1e-12)
    assert (trained.first == (people.group[training.split_rows("adult").training] == 1)).all()


def test_the_penalised_group_is_the_first(people, short):
    """What DP-FERMI does to the rates depends on the coding that the file decides."""
    table = replace(short["table-3.1"], epsilon="900000", epochs=60)
    by = {
        first: training.run_fermi(people, training.split_rows("adult"), table, SeededSource(4), first=first)
        for first in training.FIRST
    }
    men, women = (by[first]["lambdas"]["1"] for first in training.FIRST)

    assert men["men"] < women["men"]
    assert women["women"] < men["women"]


def test_trials_are_named_by_their_file():
    """The folder of a file's runs must not be another's."""
    found = training.training_trials(3, ("adult", "credit"))

    assert [(each.name, each.number) for each in found] == [("runs-adult", 3), ("runs-credit", 3)]
