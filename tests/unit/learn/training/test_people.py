"""Private training where one person has several rows: at most so many count, and the noise covers them."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from evenhand.errors import InvalidParameterError
from evenhand.learn import DPFermi, DPLogisticRegression, ParityPostProcessor
from evenhand.learn.fermi import training as fermi_training
from evenhand.learn.training import logistic
from evenhand.learn.training.people import read_people
from evenhand.privacy.accounting import noise_for
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import ONE_ROW
from evenhand.privacy.randomness import SeededSource

ROWS = 600
DRAW = np.random.default_rng(5)
X = DRAW.normal(size=(ROWS, 2))
GROUP = DRAW.integers(0, 2, ROWS)
Y = (X[:, 0] + GROUP + DRAW.normal(size=ROWS) > 0.5).astype(int)
PERSON = np.repeat(np.arange(ROWS // 4), 4)  # four rows each
TERMS = {"epsilon": 2, "delta": "1e-5", "epochs": 2, "classes": [0, 1], "rng": 3}
STATED = (
    "rows with the same 'person' are those of one person, of whom at most 2 rows drawn at random count; "
    "numbers are compared as numbers and blanks around them do not count"
)


def fit_logistic(**given):
    return DPLogisticRegression(**{**TERMS, "rows_per_person": 2, **given}).fit(X, Y, person=PERSON)


def test_the_noise_is_that_of_an_independent_search_and_not_that_of_one_row():
    """The twin: were the guarantee left at one row, half the noise would do."""
    model = fit_logistic()
    terms = {"sampling": model.sampling_, "steps": model.steps_, "unit": "add or remove one"}
    enough = noise_for("1.999", "0.99e-5", rows_per_person=2, **terms)
    one_row = noise_for("1.999", "0.99e-5", **terms)

    assert enough == pytest.approx(model.noise_, rel=2e-3)
    assert one_row < 0.7 * model.noise_


@pytest.mark.parametrize(("unit", "stated"), [("add or remove one",) * 2, ("replace one", "one person")])
def test_the_promise_is_to_one_person(unit, stated):
    model = fit_logistic(unit=unit)

    assert (model.guarantee_.epsilon, str(model.guarantee_.unit)) == (2, stated)
    assert STATED in model.guarantee_.assumptions
    assert ONE_ROW not in model.guarantee_.assumptions


ROWS_LEFT = (
    "how many rows are left, at most 2 of each person, is treated as public, and one person can change it"
)


def fit_fermi(**given):
    model = DPFermi(**{**TERMS, "rows_per_person": 2, "groups": [0, 1], **given})
    return model.fit(X, Y, group=GROUP, person=PERSON)


def fit_parity(**given):
    base = DPLogisticRegression(**{**TERMS, "rows_per_person": 2, **given})
    model = ParityPostProcessor(base, epsilon=2, prefit=False, rows_per_person=2, groups=[0, 1], rng=3)
    return model.fit(X, Y, group=GROUP, person=PERSON)


@pytest.mark.parametrize("fit", [fit_logistic, fit_fermi, fit_parity])
def test_a_number_of_rows_that_one_person_changes_stands_first_among_the_assumptions(fit):
    """Steps and noise follow from it, so that they tell how many rows of a person there are."""
    assert fit().guarantee_.assumptions[0] == ROWS_LEFT
    assert not any("public, and one person" in text for text in fit().guarantee_.assumptions[1:])
    assert not any("public, and one person" in text for text in fit(rows=300).guarantee_.assumptions)


@pytest.mark.parametrize(("rows", "same"), [(None, False), (300, True)])
def test_with_a_public_number_of_rows_one_person_changes_nothing_that_is_planned(rows, same):
    """A person with one row in the place of two: what is planned tells, unless the number is declared."""
    kept = np.arange(ROWS) >= 3  # one row of the first person
    model, other = (
        DPLogisticRegression(**TERMS, rows_per_person=2, rows=rows, batch=100).fit(
            X[chosen], Y[chosen], person=PERSON[chosen]
        )
        for chosen in (slice(None), kept)
    )

    assert ((model.sampling_, model.noise_) == (other.sampling_, other.noise_)) is same


def test_without_a_person_the_guarantee_says_what_it_assumes():
    model = DPLogisticRegression(**TERMS).fit(X, Y)

    assert ONE_ROW in model.guarantee_.assumptions


def test_only_so_many_rows_of_each_person_train(monkeypatch):
    seen = []
    real = logistic.TrainingRows.of
    monkeypatch.setattr(
        logistic.TrainingRows,
        "of",
        lambda features, labels, constant: seen.append(features) or real(features, labels, constant=constant),
    )
    fit_logistic()
    owner = {tuple(row): person for row, person in zip(X, PERSON, strict=True)}

    assert Counter(Counter(owner[tuple(row)] for row in seen[0]).values()) == {2: ROWS // 4}


def test_rows_that_are_left_out_change_nothing():
    """The same seed draws the same rows, and no others are looked at."""
    model = DPLogisticRegression(rng=SeededSource(3))
    kept = read_people(PERSON, ROWS, most=2, owner="example").draw(model._next_stream(model.rng))
    changed = X.copy()
    changed[np.setdiff1d(np.arange(ROWS), kept)] = 99.0

    first, second = (
        DPLogisticRegression(**{**TERMS, "rng": SeededSource(3), "rows_per_person": 2}).fit(
            features, Y, person=PERSON
        )
        for features in (X, changed)
    )

    assert np.array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize("unit", ["add or remove one", "replace one"])
def test_the_counts_of_fermi_get_noise_for_so_many_rows(unit, monkeypatch):
    budgets = []
    real = fermi_training.budget_of
    monkeypatch.setattr(
        fermi_training, "budget_of", lambda *a, **k: budgets.append(real(*a, **k)) or budgets[-1]
    )
    for rows in (1, 3):
        model = DPFermi(**TERMS, unit=unit, groups=[0, 1], rows_per_person=rows)
        model.fit(X, Y, group=GROUP, person=PERSON)

    assert budgets[1].scale == pytest.approx(3 * budgets[0].scale)
    assert budgets[1].steps.noise > 2 * budgets[0].steps.noise
    assert model.guarantee_.epsilon <= 2
    assert any("at most 3 rows" in text for text in model.guarantee_.assumptions)


def processor(estimator, **given):
    terms = {"epsilon": 1, "groups": [0, 1], "rng": 4, "rows_per_person": 2}
    return ParityPostProcessor(estimator, **{**terms, **given})


@pytest.mark.parametrize(("unit", "scale"), [("add or remove one", 2), ("replace one", 4)])
def test_the_table_of_predictions_gets_noise_for_so_many_rows(unit, scale):
    trained = LogisticRegression().fit(X[:300], Y[:300])
    model = processor(trained, held_out=True, unit=unit).fit(X[300:], group=GROUP[300:], person=PERSON[300:])

    assert model.table_.scale == Fraction(scale)
    assert model.rates_guarantee_.epsilon == 1
    assert STATED in model.rates_guarantee_.assumptions
    assert model.bounds_ is None  # they hold for rows of different people
    with pytest.raises(InvalidParameterError, match="several of one person"):
        model.measured(X, group=GROUP)


def test_a_person_trains_or_is_counted_and_never_both(monkeypatch):
    """A coin for each row would let one person spend both epsilons."""
    seen = {}
    private = DPLogisticRegression(**TERMS, rows_per_person=2)
    monkeypatch.setattr(
        "evenhand.learn.training.logistic.read_people",
        lambda person, *a, **k: seen.setdefault("trained", person) is None or read_people(person, *a, **k),
    )
    count = "evenhand.learn.parity.post_processor.ParityPostProcessor._table"
    real = ParityPostProcessor._table
    monkeypatch.setattr(
        count,
        lambda self, rows, *a, **k: (
            seen.setdefault("counted", rows.people) is None or real(self, rows, *a, **k)
        ),
    )
    model = processor(private, prefit=False).fit(X, Y, group=GROUP, person=PERSON)

    assert not set(seen["trained"]) & set(seen["counted"])
    assert set(seen["trained"]) | set(seen["counted"]) == set(range(ROWS // 4))
    assert model.guarantee_.epsilon == 2  # the larger of both
    assert any("a coin for each person" in text for text in model.guarantee_.assumptions)


class Stated(LogisticRegression):
    """A classifier that promises something to rows, and is never told whose they are."""

    @property
    def guarantee_(self):
        return Guarantee(epsilon=1, unit="add or remove one", trust="central", assumptions=[ONE_ROW])


def test_what_is_promised_to_rows_is_not_passed_on_to_people():
    model = processor(Stated(), prefit=False).fit(X, Y, group=GROUP, person=PERSON)

    assert str(model.guarantee_.trust) == "none"


@pytest.mark.parametrize(
    ("fit", "told"),
    [
        (lambda: DPLogisticRegression(**TERMS, rows_per_person=2).fit(X, Y), "'person' parameter"),
        (lambda: DPLogisticRegression(**TERMS).fit(X, Y, person=PERSON[1:]), "as long as 'X'"),
        (lambda: fit_logistic(rows_per_person=101), "'rows_per_person' parameter of DPLogisticRegression"),
        (
            lambda: DPFermi(**TERMS, as_printed=True).fit(X, Y, group=GROUP, person=PERSON),
            "left out with 'as_printed'",
        ),
        (
            lambda: processor({0: Stated(), 1: Stated()}, prefit=False).fit(X, Y, group=GROUP, person=PERSON),
            "fit trains a classifier for each group",
        ),
        (
            lambda: processor(Stated(), as_printed=True, prefit=False).fit(X, Y, group=GROUP, person=PERSON),
            "1 with 'as_printed'",
        ),
    ],
)
def test_what_no_proof_covers_is_refused(fit, told):
    with pytest.raises(InvalidParameterError, match=told):
        fit()


def test_a_row_without_a_person_is_refused_without_a_value():
    ids = pd.Series([f"secret {place}" for place in range(ROWS)])
    ids[7] = None
    with pytest.raises(InvalidParameterError) as caught:
        DPLogisticRegression(**TERMS).fit(X, Y, person=ids)

    assert "'person'" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_person_is_one_however_the_id_is_spelled():
    """If this is false one person has several rows in each step, and the noise covers one."""
    people = read_people(["7", " 7", "07", "7.0", "8"], 5, most=1, owner="example")

    assert people.rows_left == 2
    with pytest.raises(InvalidParameterError, match="without missing values"):
        read_people(["7", "NA"], 2, most=1, owner="example")
