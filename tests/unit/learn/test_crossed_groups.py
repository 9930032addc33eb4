"""Crossed groups in all models that know groups: the same as one column of combinations."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from evenhand.errors import InvalidParameterError
from evenhand.learn import DPFermi, FairProjection, ParityPostProcessor
from unit.learn._parity_cases import Column, GroupAware

DRAWS = np.random.default_rng(1)
N = 600
SEX, RACE = DRAWS.choice(["f", "m"], N), DRAWS.choice([0, 1, 2], N)
CROSSED = {"sex": SEX, "race": RACE}
JOINED = np.array([f"{sex}{race}" for sex, race in zip(SEX, RACE, strict=True)])
FEATURES = DRAWS.normal(size=(N, 2)) + (SEX == "f")[:, None] * (RACE == 1)[:, None]
Y = (FEATURES[:, 0] + DRAWS.normal(size=N) > 0).astype(int)
PREDICTED = (FEATURES[:, :1] > 0).astype(int)
COMBINATIONS = [(sex, race) for sex in "fm" for race in (0, 1, 2)]


def parity(group, **given):
    model = ParityPostProcessor(Column().fit(PREDICTED, Y), **{"held_out": True, "rng": 1} | given)
    return model.fit(PREDICTED, Y, group=group)


def projection(group):
    return FairProjection(LogisticRegression(), tolerance=0.02).fit(FEATURES, Y, group=group)


FORMS = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_crossed_columns_are_post_processed_as_one_column_of_combinations(form):
    crossed, joined = parity(form(CROSSED)), parity(JOINED)

    assert crossed.groups_ == tuple(COMBINATIONS)
    assert crossed.group_columns_ == ("sex", "race")
    assert np.array_equal(crossed.rates_.target, joined.rates_.target)
    assert np.array_equal(
        crossed.predict_proba(PREDICTED, group=form(CROSSED)), joined.predict_proba(PREDICTED, group=JOINED)
    )
    assert "f, 0" in repr(crossed.changes_)


def test_private_rates_are_counted_over_combinations():
    groups = {"sex": ["f", "m"], "race": [0, 1, 2]}
    model = parity(CROSSED, epsilon=1, groups=groups)

    assert model.table_.counts.shape == (6, 2)
    assert model.table_.draws == 12
    assert not any("read from the rows" in text for text in model.rates_guarantee_.assumptions)
    assert parity(CROSSED, epsilon=1, groups=COMBINATIONS).groups_ == model.groups_ == tuple(COMBINATIONS)


@pytest.mark.parametrize("model", [parity, projection], ids=["parity", "projection"])
def test_columns_are_taken_by_name_and_not_by_their_order(model):
    """Values of two columns may look alike, and people would silently get the answers of others."""
    codes = {"first": (SEX == "f").astype(int), "second": (RACE == 1).astype(int)}
    fitted = model(codes)
    rows = PREDICTED if model is parity else FEATURES
    turned = {"second": codes["second"], "first": codes["first"]}

    assert np.array_equal(fitted.predict_proba(rows, group=codes), fitted.predict_proba(rows, group=turned))
    for wrong in ({"first": codes["first"]}, codes["first"], codes | {"third": codes["first"]}):
        with pytest.raises(InvalidParameterError, match="the columns first, second, as in fit"):
            fitted.predict(rows, group=wrong)
    with pytest.raises(InvalidParameterError, match="one column, as in fit"):
        model(codes["first"]).predict(rows, group=codes)


def test_declared_columns_are_taken_by_name_too():
    codes = {"first": (SEX == "f").astype(int), "second": RACE}
    declared = {"second": [0, 1, 2], "first": [0, 1]}

    assert parity(codes, groups=declared).groups_ == tuple((a, b) for a in (0, 1, 2) for b in (0, 1))
    with pytest.raises(InvalidParameterError, match="the columns second, first"):
        parity(RACE, groups=declared)


@pytest.mark.parametrize("model", [parity, projection], ids=["parity", "projection"])
def test_a_combination_never_seen_is_refused_and_not_told(model):
    seen = ~((SEX == "m") & (RACE == 2))
    rows = PREDICTED if model is parity else FEATURES
    if model is parity:
        estimator = ParityPostProcessor(Column().fit(PREDICTED, Y), held_out=True)
    else:
        estimator = FairProjection(LogisticRegression(), tolerance=0.1)
    fitted = estimator.fit(rows[seen], Y[seen], group={"sex": SEX[seen], "race": RACE[seen]})

    assert len(fitted.groups_) == 5
    with pytest.raises(InvalidParameterError, match="The 'group' parameter") as error:
        fitted.predict(rows, group=CROSSED)
    assert "'m'" not in str(error.value)


def test_classifiers_of_combinations_and_those_that_take_groups():
    by_group = {group: Column().fit(PREDICTED, Y) for group in COMBINATIONS}
    decoupled = ParityPostProcessor(by_group, held_out=True, rng=1).fit(PREDICTED, Y, group=CROSSED)
    assert np.array_equal(decoupled.rates_.target, parity(CROSSED).rates_.target)

    class Aware(GroupAware):
        def fit(self, X, y, group):  # noqa: N803 - scikit-learn's name
            self.seen_ = group
            return Column.fit(self, X, y)

        def predict(self, X, *, group):  # noqa: N803 - as above
            assert list(group) == ["sex", "race"]
            return Column.predict(self, X)

    told = ParityPostProcessor(Aware(), prefit=False, rng=1).fit(PREDICTED, Y, group=CROSSED)
    assert set(told.estimator_.seen_["sex"]) == {"f", "m"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_crossed_columns_are_projected_as_one_column_of_combinations(form):
    crossed, joined = projection(form(CROSSED)), projection(JOINED)

    assert crossed.groups_ == COMBINATIONS
    assert crossed.prices_ == pytest.approx(joined.prices_)
    assert crossed.predict_proba(FEATURES, group=form(CROSSED)) == pytest.approx(
        joined.predict_proba(FEATURES, group=JOINED)
    )


@pytest.mark.parametrize("declared", [None, COMBINATIONS, {"sex": ["f", "m"], "race": [0, 1, 2]}])
def test_crossed_columns_are_trained_on_as_one_column_of_combinations(declared):
    terms = {"epsilon": 4, "rows": N, "classes": [0, 1], "epochs": 2, "rng": 7}
    joined = None if declared is None else sorted(set(JOINED))
    crossed = DPFermi(groups=declared, **terms).fit(FEATURES / 5, Y, group=CROSSED)
    single = DPFermi(groups=joined, **terms).fit(FEATURES / 5, Y, group=JOINED)

    assert crossed.groups_ == COMBINATIONS
    assert np.array_equal(crossed.coef_, single.coef_)
    assert np.array_equal(crossed.shares_, single.shares_)


def test_groups_that_are_no_combinations_are_refused():
    with pytest.raises(InvalidParameterError, match="groups"):
        DPFermi(groups=[("f", 0), ("f", 0)], epsilon=1, rows=N).fit(FEATURES, Y, group=CROSSED)
    with pytest.raises(InvalidParameterError, match="at most 1,000 combinations"):
        parity({"a": np.arange(N), "b": np.arange(N)})
