"""What every estimator keeps: after a fit its parameters change nothing, and its copies forget nothing.

Two claims for every estimator. What is drawn, predicted and promised after a fit comes from the fit, whatever
the parameters are set to later. And what a family of copies has spent is told by each of them.
"""

import copy
import pickle
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from evenhand.collect import spent
from evenhand.collect.privatizer import LocalPrivatizer
from evenhand.errors import PrivacyWarning
from evenhand.learn.encoding import PublicEncoder
from evenhand.learn.fermi import DPFermi
from evenhand.learn.logistic import DPLogisticRegression
from evenhand.learn.parity import ParityPostProcessor
from evenhand.learn.projection import FairProjection
from evenhand.learn.training import PrivateTraining
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema

_draws = SeededSource(21).generator()
ROWS = 240
FRAME = pd.DataFrame(
    {"a": _draws.integers(0, 2, ROWS), "b": _draws.integers(0, 3, ROWS), "c": _draws.integers(0, 9, ROWS)}
)
GROUP = FRAME["a"].to_numpy()
LABEL = (FRAME["c"].to_numpy() + 3 * GROUP + _draws.normal(size=ROWS) > 5).astype(int)
SCHEMA = Schema(
    [
        Column("a", Domain.integers(0, 1)),
        Column("b", Domain.integers(0, 2)),
        Column("c", Domain.integers(0, 8)),
        Column("y", Domain.integers(0, 1)),
    ],
    sensitive=["a", "b"],
    protected="a",
    privileged=1,
    target="y",
    positive=1,
)
OTHER_SCHEMA = Schema(list(SCHEMA), sensitive=["b"], target="c")
QUICK = {"epochs": 1, "batch": 60, "rng": 7, "classes": [0, 1], "rows": ROWS}
PREFIT = FrozenEstimator(LogisticRegression().fit(FRAME, LABEL))


@dataclass(frozen=True)
class Case:
    """An estimator, how it is fitted and used, and other values of its parameters."""

    name: str
    make: Any
    fit: Any
    use: Any
    others: dict[str, Any]


def _told(model):
    names = ("guarantee_", "guarantee_per_fit_", "guarantee_per_collection_", "rates_guarantee_")
    names += ("simulated_", "collections_", "assumptions")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def _grouped(model):
    return model.fit(FRAME, LABEL, group=GROUP)


CASES = [
    Case(
        "LocalPrivatizer",
        lambda: LocalPrivatizer(epsilon="1/10", split="uniform", schema=SCHEMA, rng=7),
        lambda model: model.fit(FRAME),
        lambda model: (model.transform(FRAME), model.encode(FRAME), list(model.get_feature_names_out())),
        {
            "epsilon": 8,
            "protocol": "oue",
            "split": "sample",
            "strategy": "combined",
            "columns": "b",
            "schema": OTHER_SCHEMA,
            "others": "passthrough",
            "keep_index": True,
            "rng": 99,
        },
    ),
    Case(
        "PrivateTraining",
        lambda: PrivateTraining(
            LogisticRegression(), LocalPrivatizer(epsilon="1/10", split="uniform", schema=SCHEMA, rng=7)
        ),
        lambda model: model.fit(FRAME, LABEL),
        lambda model: model.predict_proba(FRAME),
        {
            "estimator": LogisticRegression(C=1e-4),
            "privatizer": LocalPrivatizer(epsilon=8, schema=OTHER_SCHEMA),
            "estimator__C": 1e-4,
            "privatizer__epsilon": 8,
            "privatizer__schema": OTHER_SCHEMA,
            "privatizer__rng": None,
        },
    ),
    Case(
        "DPLogisticRegression",
        lambda: DPLogisticRegression(1, "1e-6", **QUICK),
        lambda model: model.fit(FRAME, LABEL),
        lambda model: model.predict_proba(FRAME),
        {
            "epsilon": 8,
            "delta": "1e-3",
            "noise": 9,
            "unit": "replace one",
            "clip": 7.0,
            "epochs": 3,
            "batch": 10,
            "rate": 9.0,
            "average": False,
            "fit_intercept": False,
            "rows": 999,
            "classes": [1, 2],
            "preprocessing": ["nobody looked"],
            "rng": None,
            "progress": print,
        },
    ),
    Case(
        "DPFermi",
        lambda: DPFermi(1, "1e-6", group_epsilon="1/10", groups=[0, 1], **QUICK),
        _grouped,
        lambda model: model.predict_proba(FRAME),
        {
            "epsilon": 8,
            "delta": "1e-3",
            "unit": "replace one",
            "strength": 0.0,
            "group_epsilon": 1,
            "share": 0.1,
            "clip": 7.0,
            "matrix_clip": 7.0,
            "radius": 1.0,
            "epochs": 3,
            "batch": 10,
            "rate": 1.0,
            "matrix_rate": 1.0,
            "average": False,
            "kind": "odds",
            "as_printed": True,
            "rows": 999,
            "groups": [0, 1, 2],
            "classes": [1, 2],
            "preprocessing": ["nobody looked"],
            "rng": None,
            "progress": print,
        },
    ),
    Case(
        "ParityPostProcessor",
        lambda: ParityPostProcessor(PREFIT, epsilon="1/10", held_out=True, groups=[0, 1], rng=7),
        lambda model: model.fit(FRAME[:100].copy(), LABEL[:100], group=GROUP[:100]),
        lambda model: (model.predict(FRAME, group=GROUP), model.predict_proba(FRAME, group=GROUP)),
        {
            "estimator": LogisticRegression(C=1e-4).fit(FRAME, 1 - LABEL),
            "gap": 0.5,
            "epsilon": 8,
            "kind": "odds",
            "aim": "accuracy",
            "weights": "groups",
            "prefit": False,
            "held_out": False,
            "holdout": 0.5,
            "unit": "replace one",
            "groups": [1, 0],
            "positive": 0,
            "as_printed": True,
            "public_rows": True,
            "confidence": 0.5,
            "rng": None,
        },
    ),
    Case(
        "FairProjection",
        lambda: FairProjection(LogisticRegression(), tolerance=0.05),
        _grouped,
        lambda model: model.predict_proba(FRAME, group=GROUP),
        {
            "estimator": LogisticRegression(C=1e-4),
            "kind": "odds",
            "divergence": "ce",
            "tolerance": 0.5,
            "prefit": True,
            "marginals": "calibrated",
            "as_printed": True,
            "public_rows": True,
        },
    ),
    Case(
        "PublicEncoder",
        lambda: PublicEncoder(SCHEMA),
        lambda model: model.fit(FRAME),
        lambda model: (
            model.transform(FRAME),
            model.features({name: FRAME[name].to_numpy() for name in FRAME}),
            list(model.get_feature_names_out()),
        ),
        {"schema": OTHER_SCHEMA, "columns": ["b"], "without": ["a"], "numbers": "linear"},
    ),
]
SPENDING = [case for case in CASES if case.name not in {"FairProjection", "PublicEncoder"}]
NOT_FITTED = {"ParityPostProcessor": {"key"}}
"""The key of a deployment is never stored with a model, and is set on it afterwards."""

parametrize = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
parametrize_spending = pytest.mark.parametrize("case", SPENDING, ids=lambda case: case.name)


def _fitted(case):
    return case.fit(case.make())


def _same(one, other):
    if isinstance(one, tuple):
        return all(_same(*pair) for pair in zip(one, other, strict=True))
    return np.array_equal(np.asarray(one), np.asarray(other))


def _spent(model):
    return model.guarantee_.loss.amount if hasattr(model, "guarantee_") else None


def _counted(case, model):
    """Return what the last act of the model counted for: epsilon of all tables, fits or collections."""
    return model.rates_guarantee_.epsilon if case.name == "ParityPostProcessor" else _spent(model)


def _spend(case, model):
    """Fit again and, where fitting costs nothing, collect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        case.fit(model)
        if case.name == "LocalPrivatizer":
            model.transform(FRAME)
    return model


# --- parameters set after a fit -------------------------------------------------------------------


@parametrize
def test_every_parameter_is_among_those_that_are_changed(case):
    """A parameter that is left out here is one that nobody has looked at."""
    named = set(case.make().get_params(deep=False))

    assert named - NOT_FITTED.get(case.name, set()) == {name for name in case.others if "__" not in name}


@parametrize
@pytest.mark.parametrize("way", ["set_params", "attribute"])
def test_a_parameter_set_after_a_fit_changes_nothing_that_is_drawn_or_told(case, way):
    """A model that draws at epsilon 8 and claims 1/10 makes a false promise."""
    changes = [name for name in case.others if way == "set_params" or "__" not in name]
    kept = _fitted(case)
    told, used, told_after = _told(kept), case.use(kept), _told(kept)
    for name in changes:
        changed = _fitted(case)
        if way == "set_params":
            changed.set_params(**{name: case.others[name]})
        else:
            setattr(changed, name, case.others[name])

        assert _told(changed) == told, name
        assert _same(case.use(changed), used), name
        assert _told(changed) == told_after, name


@parametrize
def test_all_parameters_changed_at_once_wait_for_the_next_fit(case):
    kept, changed = _fitted(case), _fitted(case)
    for name, value in case.others.items():
        if "__" not in name:
            setattr(changed, name, value)

    assert _told(changed) == _told(kept)
    assert _same(case.use(changed), case.use(kept))
    assert _told(changed) == _told(kept)


def test_the_next_fit_takes_the_new_parameters():
    privatizer = LocalPrivatizer(epsilon="1/10", schema=SCHEMA, columns="a", rng=7).fit(FRAME)
    privatizer.transform(FRAME)
    privatizer.set_params(epsilon=8).fit(FRAME)
    with pytest.warns(PrivacyWarning, match="epsilon = 81/10"):
        privatizer.transform(FRAME)

    assert privatizer.guarantee_per_collection_.epsilon == 8
    assert str(privatizer.guarantee_.epsilon) == "81/10"


# --- copies ---------------------------------------------------------------------------------------

WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": clone,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "clone of a pickle": lambda model: clone(pickle.loads(pickle.dumps(model))),
    "pickle of a clone": lambda model: pickle.loads(pickle.dumps(clone(model))),
}


@parametrize_spending
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_keeps_what_was_spent(case, way):
    """A person in both fits has lost twice, whichever of the two objects is asked."""
    model = _spend(case, case.make())
    once = _counted(case, model)
    again = _spend(case, WAYS[way](model))

    assert once > 0
    assert _counted(case, again) == 2 * once
    assert _counted(case, model) == 2 * once  # the original learns of it too


@parametrize_spending
@pytest.mark.parametrize("way", WAYS)
def test_copies_of_a_model_that_was_never_fitted_count_together(case, way):
    """A search over settings copies a model that has no fit, and fits the copies on the same rows."""
    model = case.make()
    first, second = (WAYS[way](model) for _ in range(2))
    once = _counted(case, _spend(case, first))

    assert _counted(case, _spend(case, second)) == 2 * once
    assert _counted(case, first) == 2 * once
    assert _counted(case, _spend(case, model)) == 3 * once


@parametrize_spending
def test_a_new_estimator_with_the_same_parameters_counts_for_itself(case):
    """For other people, who were in none of the fits before."""
    model = _spend(case, case.make())
    fresh = type(model)(**case.make().get_params(deep=False))

    assert _counted(case, _spend(case, fresh)) == _counted(case, model)


@parametrize_spending
def test_a_stored_copy_goes_on_where_its_own_process_left_off(case, monkeypatch):
    """In another process nothing is known but what is in the file."""
    model = _spend(case, case.make())
    once = _counted(case, model)
    stored = pickle.dumps(model)
    _forget_this_process(monkeypatch)
    elsewhere = _spend(case, pickle.loads(stored))

    assert _counted(case, elsewhere) == 2 * once
    assert _counted(case, model) == once  # nobody told this process
    _remember_this_process(monkeypatch)
    back = pickle.loads(pickle.dumps(elsewhere))
    assert _counted(case, back) == 2 * once
    assert _counted(case, model) == 2 * once  # now it was told
    assert _counted(case, _spend(case, model)) == 3 * once


def _forget_this_process(monkeypatch):
    monkeypatch.setattr(spent, "_TALLIES", type(spent._TALLIES)())


def _remember_this_process(monkeypatch):
    monkeypatch.undo()


@parametrize_spending
def test_a_simulated_fit_marks_all_copies(case):
    if case.name == "PrivateTraining":
        pytest.skip("its privatizer_ says so")
    model = _spend(case, case.make())
    again = _spend(case, clone(model).set_params(rng=None))

    assert again.simulated_


@parametrize_spending
def test_a_clone_has_the_parameters_and_no_fit(case):
    model = _spend(case, case.make())
    made = clone(model)

    assert made.get_params().keys() == model.get_params().keys()
    assert not hasattr(made, "estimator_")
    assert not hasattr(made, "coef_")
    assert not hasattr(made, "strategy_")


def test_a_search_over_settings_tells_the_sum_of_all_its_fits():
    """Four settings, two folds and the last fit: nine collections of the people."""
    model = PrivateTraining(
        LogisticRegression(), LocalPrivatizer(split="uniform", schema=SCHEMA, rng=7, epsilon=1)
    )
    grid = {"privatizer__epsilon": ["1/4", "1/2"], "estimator__C": [0.1, 1]}
    with pytest.warns(PrivacyWarning, match="collects a second time"):
        search = GridSearchCV(model, grid, cv=2).fit(FRAME, LABEL)
    best = search.best_params_["privatizer__epsilon"]

    assert search.best_estimator_.guarantee_.epsilon == 2 * Fraction(2 + 2 + 1 + 1, 4) + Fraction(best)
    assert search.best_estimator_.privatizer_.collections_ == 9


def test_folds_of_a_cross_validation_add_up():
    model = DPLogisticRegression(1, "1e-6", **QUICK)
    with pytest.warns(PrivacyWarning, match="fitted a second time"):
        folds = cross_validate(model, FRAME, LABEL, cv=3, return_estimator=True)["estimator"]

    assert [fold.guarantee_.epsilon for fold in folds] == [3, 3, 3]
    assert [fold.guarantee_per_fit_.epsilon for fold in folds] == [1, 1, 1]


def test_a_fit_that_fails_after_the_collection_is_not_forgotten():
    """The reports were drawn; that nothing was learnt from them does not take them back."""

    class Failing(LogisticRegression):
        def fit(self, X, y, sample_weight=None):  # noqa: N803 - scikit-learn's names
            raise ValueError("no")

    model = PrivateTraining(Failing(), LocalPrivatizer(epsilon=1, split="uniform", schema=SCHEMA, rng=7))
    with pytest.raises(ValueError, match="no"):
        model.fit(FRAME, LABEL)
    with pytest.warns(PrivacyWarning):
        model.set_params(estimator=LogisticRegression()).fit(FRAME, LABEL)

    assert model.guarantee_.epsilon == 2


def test_another_privatizer_does_not_undo_what_the_first_collected():
    model = PrivateTraining(
        LogisticRegression(), LocalPrivatizer(epsilon=1, split="uniform", schema=SCHEMA, rng=7)
    ).fit(FRAME, LABEL)
    other = LocalPrivatizer(epsilon=2, split="uniform", schema=SCHEMA, rng=7)
    with pytest.warns(PrivacyWarning):
        model.set_params(privatizer=other).fit(FRAME, LABEL)

    assert model.guarantee_.epsilon == 3


# --- what is trained inside -----------------------------------------------------------------------


def _private():
    return DPLogisticRegression(1, "1e-6", **QUICK)


def _trained_inside(estimator, **given):
    model = ParityPostProcessor(estimator, epsilon="1/2", prefit=False, groups=[0, 1], rng=7, **given)
    return _grouped(model)


def test_fits_of_a_classifier_before_it_was_post_processed_count_once():
    """The same people may have been in both; counting the first fit twice would be a bound, not the sum."""
    classifier = _private().fit(FRAME, LABEL)
    with pytest.warns(PrivacyWarning, match="fitted a second time"):
        model = _trained_inside(classifier)

    assert model.guarantee_.epsilon == 1 + 1  # the earlier fit, and the larger of training and table
    _grouped(model)
    assert model.guarantee_.epsilon == 1 + 1 + 1
    assert classifier.guarantee_.epsilon == 3


def test_classifiers_of_groups_that_are_clones_of_each_other_still_count_by_the_largest():
    """Nobody is in two groups, so the fits inside one call do not add up; what was before does."""
    classifier = _private()
    with pytest.warns(PrivacyWarning, match="fitted a second time"):
        model = _trained_inside({0: classifier, 1: clone(classifier)})

    assert model.guarantee_.epsilon == 1
    assert _grouped(clone(model)).guarantee_.epsilon == 2


def test_two_tallies_that_meet_again_are_joined_without_counting_twice(monkeypatch):
    once = spent.Act((_private().fit(FRAME, LABEL).guarantee_,), simulated=True)
    here = spent.Spending()
    here.add(once)
    stored = pickle.dumps(here)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(spent, "_TALLIES", type(spent._TALLIES)())
        away = pickle.loads(stored)
        away.add(once)
        away.add(once)
        returned = pickle.dumps(away)
    here.add(once)
    back = pickle.loads(returned)

    assert (len(away), len(here), len(back)) == (3, 4, 4)
    assert (len(here.own), len(back.own)) == (2, 3)
