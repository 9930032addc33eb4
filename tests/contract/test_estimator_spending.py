"""What a family of copies has spent is told by each of them: copies, clones, pickles, folds and searches."""

import copy
import gc
import pickle
from fractions import Fraction

import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from contract._estimator_cases import (
    FRAME,
    LABEL,
    QUICK,
    SCHEMA,
    counted_by,
    fit_with_groups,
    parametrize_spending,
    spend,
)
from evenhand.collect.privatizer import spent
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import PrivacyWarning
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.learn.training.private_training import PrivateTraining

pytestmark = pytest.mark.figures

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
    model = spend(case, case.make())
    once = counted_by(case, model)
    again = spend(case, WAYS[way](model))

    assert once > 0
    assert counted_by(case, again) == 2 * once
    assert counted_by(case, model) == 2 * once  # the original learns of it too


@parametrize_spending
@pytest.mark.parametrize("way", WAYS)
def test_copies_of_a_model_that_was_never_fitted_count_together(case, way):
    """A search over settings copies a model that has no fit, and fits the copies on the same rows."""
    model = case.make()
    first, second = (WAYS[way](model) for _ in range(2))
    once = counted_by(case, spend(case, first))

    assert counted_by(case, spend(case, second)) == 2 * once
    assert counted_by(case, first) == 2 * once
    assert counted_by(case, spend(case, model)) == 3 * once


@parametrize_spending
def test_a_new_estimator_with_the_same_parameters_counts_for_itself(case):
    """For other people, who were in none of the fits before."""
    model = spend(case, case.make())
    fresh = type(model)(**case.make().get_params(deep=False))

    assert counted_by(case, spend(case, fresh)) == counted_by(case, model)


@parametrize_spending
def test_a_stored_copy_goes_on_where_its_own_process_left_off(case, monkeypatch):
    """In another process nothing is known but what is in the file."""
    model = spend(case, case.make())
    once = counted_by(case, model)
    stored = pickle.dumps(model)
    _forget_this_process(monkeypatch)
    elsewhere = spend(case, pickle.loads(stored))

    assert counted_by(case, elsewhere) == 2 * once
    assert counted_by(case, model) == once  # nobody told this process
    _remember_this_process(monkeypatch)
    back = pickle.loads(pickle.dumps(elsewhere))
    assert counted_by(case, back) == 2 * once
    assert counted_by(case, model) == 2 * once  # now it was told
    assert counted_by(case, spend(case, model)) == 3 * once


def _forget_this_process(monkeypatch):
    monkeypatch.setattr(spent, "_TALLIES", type(spent._TALLIES)())


def _remember_this_process(monkeypatch):
    monkeypatch.undo()


@parametrize_spending
def test_a_simulated_fit_marks_all_copies(case):
    if case.name == "PrivateTraining":
        pytest.skip("its privatizer_ says so")
    model = spend(case, case.make())
    again = spend(case, clone(model).set_params(rng=None))

    assert again.simulated_


@parametrize_spending
def test_a_clone_has_the_parameters_and_no_fit(case):
    model = spend(case, case.make())
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


def test_a_failed_fit_with_another_privatizer_counts_in_the_model_as_it_was():
    """The model goes on with the earlier fit, and tells what the people in it have spent by now."""
    model = PrivateTraining(
        LogisticRegression(), LocalPrivatizer(epsilon=1, split="uniform", schema=SCHEMA, rng=7)
    ).fit(FRAME, LABEL)
    copied = copy.deepcopy(model)
    other = LocalPrivatizer(epsilon=2, split="uniform", schema=SCHEMA, rng=7)
    with pytest.warns(PrivacyWarning), pytest.raises(ValueError, match="class"):
        model.set_params(privatizer=other).fit(FRAME, 0 * LABEL)

    assert model.guarantee_.epsilon == copied.guarantee_.epsilon == 3


def test_a_pickle_that_is_loaded_after_its_model_is_gone_does_not_begin_anew():
    privatizer = LocalPrivatizer(epsilon=1, split="uniform", schema=SCHEMA, rng=7).fit(FRAME)
    privatizer.transform(FRAME)
    stored = pickle.dumps(privatizer)
    with pytest.warns(PrivacyWarning):
        privatizer.transform(FRAME)
    del privatizer
    gc.collect()

    assert pickle.loads(stored).guarantee_.epsilon == 2


def test_the_warning_comes_when_copies_return_that_collected_elsewhere(monkeypatch):
    """Two copies collected once each, in processes of their own, and neither could warn."""
    privatizer = LocalPrivatizer(epsilon=1, split="uniform", schema=SCHEMA, rng=7).fit(FRAME)
    stored, returned = pickle.dumps(privatizer), []
    for _ in range(2):
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(spent, "_TALLIES", {})
            copied = pickle.loads(stored)
            copied.transform(FRAME)
            returned.append(pickle.dumps(copied))
    for text in returned:
        pickle.loads(text)

    assert privatizer.collections_ == 2
    with pytest.warns(PrivacyWarning, match="epsilon = 3"):
        privatizer.transform(FRAME)


# --- what is trained inside -----------------------------------------------------------------------


def _private():
    return DPLogisticRegression(1, "1e-6", **QUICK)


def _trained_inside(estimator, **given):
    model = ParityPostProcessor(estimator, epsilon="1/2", prefit=False, groups=[0, 1], rng=7, **given)
    return fit_with_groups(model)


def test_fits_of_a_classifier_before_it_was_post_processed_count_once():
    """The same people may have been in both; counting the first fit twice would be a bound, not the sum."""
    classifier = _private().fit(FRAME, LABEL)
    with pytest.warns(PrivacyWarning, match="fitted a second time"):
        model = _trained_inside(classifier)

    assert model.guarantee_.epsilon == 1 + 1  # the earlier fit, and the larger of training and table
    fit_with_groups(model)
    assert model.guarantee_.epsilon == 1 + 1 + 1
    assert classifier.guarantee_.epsilon == 3


def test_classifiers_of_groups_that_are_clones_of_each_other_still_count_by_the_largest():
    """Nobody is in two groups, so the fits inside one call do not add up; what was before does."""
    classifier = _private()
    with pytest.warns(PrivacyWarning, match="fitted a second time"):
        model = _trained_inside({0: classifier, 1: clone(classifier)})

    assert model.guarantee_.epsilon == 1
    assert fit_with_groups(clone(model)).guarantee_.epsilon == 2


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
