"""The post-processor: what it decides, what it promises, what it keeps, and what it refuses."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evenhand.errors import InvalidParameterError, PrivacyWarning
from evenhand.learn.parity.closest import closest_rates
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.privacy.guarantees.units import Trust
from evenhand.privacy.randomness import SecureSource, SeededSource
from unit.learn._parity_cases import GROUP, TRAINED, Column, GroupAware, X, Y, fitted, rows

PRIVATE = Column(epsilon=2).fit(X, Y)


# --- what is decided -------------------------------------------------------------------------------


def test_without_privacy_the_rates_of_the_rows_become_equal():
    """Exact parity on the rows is what Algorithm 1 promises."""
    model = fitted()
    chance = model.predict_proba(X, group=GROUP)[:, 1]
    by_hand = closest_rates([0.6, 0.3, 0.45], weights=[2, 3, 1])

    assert model.rates_.target == pytest.approx(by_hand.target)
    assert [chance[a == GROUP].mean() for a in (0, 1, 2)] == pytest.approx(by_hand.target)
    assert model.measured(X, group=GROUP).measured == pytest.approx(0)
    assert model.rates_.cost == pytest.approx(model.changes_.overall)


def test_weights_by_group_move_other_people():
    """Ties between groups and between people are not the same."""
    by_groups = fitted(weights="groups").rates_

    assert by_groups.target == pytest.approx([0.45] * 3)
    assert by_groups.cost == pytest.approx(0.3)
    assert fitted().rates_.target == pytest.approx([0.375] * 3)  # half of the people are at .3 or below


def test_answers_have_the_probabilities_that_were_found():
    """Draws that missed the probabilities would miss parity."""
    data = rows((0.6, 0.3), (40_000, 40_000))
    model = fitted(data=data, weights="groups")
    answers = model.predict(data[0], group=data[2])
    kept = answers[(data[0][:, 0] == 1) & (data[2] == 0)].mean()
    promoted = answers[(data[0][:, 0] == 0) & (data[2] == 1)].mean()

    assert kept == pytest.approx(0.75, abs=0.02)
    assert promoted == pytest.approx(0.2142857, abs=0.02)
    assert (answers[(data[0][:, 0] == 0) & (data[2] == 0)] == 0).all()
    assert (answers[(data[0][:, 0] == 1) & (data[2] == 1)] == 1).all()


def test_answers_are_drawn_anew_at_every_call_without_a_key():
    """The docs say so; whoever needs the same answer twice needs a key."""
    model = fitted()
    first, second = (model.predict(X, group=GROUP) for _ in range(2))

    assert (first != second).any()
    assert np.array_equal(fitted().predict(X, group=GROUP), first)  # a seed repeats the whole


def test_a_target_gap_is_used_up_and_not_more():
    model = fitted(0.1)

    assert np.ptp(model.rates_.target) == pytest.approx(0.1)
    assert model.measured(X, group=GROUP).measured == pytest.approx(0.1)
    assert fitted(1.0).changes_.overall == 0


def test_accuracy_may_be_kept_instead_of_answers():
    """Where a group's rejections are mostly wrong, raising it is what helps."""
    right = fitted(aim="accuracy")
    few = fitted()
    wrong = [
        np.where(Y == 1, 1 - chance, chance).mean()
        for chance in (model.predict_proba(X, group=GROUP)[:, 1] for model in (right, few))
    ]

    assert np.ptp(right.rates_.target) == pytest.approx(0)
    assert wrong[0] <= wrong[1] + 1e-12
    assert right.rates_.cost == pytest.approx(wrong[0] - np.mean(X[:, 0] != Y))


@pytest.mark.parametrize("aim", ["changes", "accuracy"])
def test_odds_are_equal_on_the_rows(aim):
    model = fitted(kind="odds", aim=aim)
    found = model.measured(X, Y, group=GROUP)

    assert [part.name for part in found.parts] == ["false positive rate", "true positive rate"]
    assert found.measured == pytest.approx(0, abs=1e-8)
    assert model.rates_.lower_bound == pytest.approx(model.rates_.cost, abs=1e-8)


@pytest.mark.parametrize("kind", ["parity", "odds"])
def test_other_names_and_another_order_of_the_groups_change_nothing(kind):
    """A group must not fare better for its place in the alphabet."""
    names = np.array(["c", "a", "b"])
    plain, named = fitted(kind=kind), fitted(kind=kind, data=(X, Y, names[GROUP]))
    places = [named.groups_.index(name) for name in names]

    assert np.array_equal(named.rates_.keep[places], plain.rates_.keep)
    assert np.array_equal(named.rates_.promote[places], plain.rates_.promote)
    assert named.bounds_.likely == plain.bounds_.likely


def test_the_positive_class_may_be_the_first():
    """Which label counts as positive is a choice, and every number follows it."""
    named = np.array(["granted", "refused"])[Y]
    model = fitted(estimator=Column().fit(X, named), data=(X, named, GROUP), positive="granted")
    chance = model.predict_proba(X, group=GROUP)[:, 0]

    assert model.rates_.rates == pytest.approx([0.4, 0.7, 0.55])
    assert [chance[a == GROUP].mean() for a in (0, 1, 2)] == pytest.approx(model.rates_.target)
    assert set(model.predict(X, group=GROUP)) == {"granted", "refused"}


def test_one_classifier_for_each_group():
    """Decoupled classifiers are asked about their own group only."""
    none, every = (
        DummyClassifier(strategy="constant", constant=0),
        DummyClassifier(strategy="constant", constant=1),
    )
    models = {2: every.fit(X, Y), 0: none.fit(X, Y), 1: none}
    model = fitted(estimator=models)

    assert model.groups_ == (2, 0, 1)
    assert model.table_.counts.tolist() == [[0, 100], [200, 0], [300, 0]]
    assert model.rates_.target == pytest.approx([0, 0, 0])
    assert model.predict(X, group=GROUP).sum() == 0


def test_all_positive_predictions_stay():
    """There is nothing to change where everybody is let through."""
    ones = np.ones_like(X)
    model = fitted(data=(ones, Y, GROUP))

    assert model.changes_.overall == 0
    assert model.predict(ones, group=GROUP).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda rows: rows.tolist()])
def test_rows_may_come_in_any_container(frame):
    columns = frame(X.astype(float)) if frame is not pd.DataFrame else frame(X, columns=["a"])
    model = fitted(prefit=False, data=(columns, Y, pd.Series(GROUP)), epsilon=1)
    same = fitted(prefit=False, epsilon=1)

    assert np.array_equal(model.table_.counts, same.table_.counts)
    assert len(model.predict(columns, group=GROUP.tolist())) == len(X)


# --- what is promised ------------------------------------------------------------------------------


def test_without_epsilon_nothing_is_promised_and_a_lost_promise_is_told():
    """A private classifier that is corrected with the rows themselves is private no longer."""
    assert fitted().guarantee_.trust is Trust.NONE
    with pytest.warns(PrivacyWarning, match="does not hold for the two together"):
        model = fitted(estimator=PRIVATE)

    assert model.guarantee_.trust is Trust.NONE


def test_public_rows_leave_the_guarantee_as_it_is():
    assert fitted(estimator=PRIVATE, public_rows=True).guarantee_ == PRIVATE.guarantee_


@pytest.mark.parametrize(
    ("given", "epsilon"),
    [
        ({"epsilon": 1}, 2),  # disjoint people: the larger
        ({"epsilon": 3}, 3),
        ({"epsilon": 1, "prefit": False}, 2),
        ({"epsilon": 1, "unit": "replace one"}, 5),  # twice 2, and somebody may change sides
        ({"epsilon": 1, "unit": "replace one", "prefit": False}, 4),  # a coin does not look at the record
        ({"epsilon": 1, "as_printed": True}, 5),
        ({"epsilon": 1, "as_printed": True, "held_out": False}, 5),
    ],
)
def test_the_whole_costs_what_the_parts_cost_together(given, epsilon):
    """Claiming less than is lost is the worst a library like this can do."""
    model = fitted(estimator=PRIVATE, **given)

    assert model.guarantee_.epsilon == epsilon
    assert model.rates_guarantee_.epsilon == given["epsilon"]


def test_a_classifier_that_promises_nothing_makes_the_whole_promise_nothing():
    model = fitted(epsilon=1)

    assert model.guarantee_.trust is Trust.NONE
    assert model.rates_guarantee_.epsilon == 1


def test_fitting_again_adds_to_what_was_lost():
    """Two tables of the same people tell more than one, whatever became of the first."""
    model = fitted(estimator=PRIVATE, epsilon=1)
    model.fit(X, group=GROUP)

    assert model.rates_guarantee_.epsilon == 2
    assert model.guarantee_.epsilon == 4
    assert fitted(estimator=PRIVATE, epsilon=1).guarantee_.epsilon == 2
    model.set_params(epsilon=None, public_rows=True).fit(X, group=GROUP)
    assert model.rates_guarantee_.trust is Trust.NONE


def test_what_is_assumed_is_said():
    """Groups read from the rows, coins and held-out rows: whoever relies on the guarantee must know."""
    read = fitted(epsilon=1).rates_guarantee_.assumptions
    told = fitted(epsilon=1, groups=[0, 1, 2], prefit=False).rates_guarantee_.assumptions

    assert any("were read from the rows" in each for each in read)
    assert any("trained the classifier" in each for each in read)
    assert not any("were read from the rows" in each for each in told)
    assert any("coin" in each for each in told)


def test_classifiers_that_came_trained_are_assumed_to_have_no_person_in_common():
    """Their largest epsilon counts only then; trained on the same people, all of them add up."""
    several = {a: Column(epsilon=2).fit(X, Y) for a in (0, 1, 2)}

    def told(estimator, **given):
        assumed = fitted(epsilon=1, estimator=estimator, **given).guarantee_.assumptions
        return any("classifiers of two groups" in each for each in assumed)

    assert told(several)
    assert not told(dict.fromkeys(several, PRIVATE))
    assert not told(several, prefit=False)
    assert not told(PRIVATE)


def test_only_the_table_with_noise_is_kept():
    """Everything the model knows of the rows must be what was released."""
    model = fitted(epsilon=1, kind="odds")
    stored = pickle.loads(pickle.dumps(model))

    assert np.array_equal(stored.table_.counts, model.table_.counts)
    assert not any(isinstance(value, np.ndarray) and len(value) == len(X) for value in vars(stored).values())


def test_a_seed_makes_it_a_simulation():
    assert fitted(epsilon=1).simulated_
    assert not fitted(epsilon=1, rng=None).simulated_
    assert isinstance(fitted(rng=None)._source, SecureSource)
    assert fitted(epsilon=1, rng=None, estimator=Column(epsilon=1, simulated=True).fit(X, Y)).simulated_
    assert fitted(rng=SeededSource(4)).simulated_
    assert fitted(epsilon=1).set_params(rng=None).fit(X, group=GROUP).simulated_  # the first fit still was


def test_a_pipeline_promises_what_its_last_step_does_unless_a_step_learns():
    """Scaling by the mean of private rows is not private, whatever comes after."""

    class Public(StandardScaler):
        assumptions = ("the constants are public",)

    learns = make_pipeline(StandardScaler(with_mean=False, with_std=False), Column(epsilon=2)).fit(X, Y)
    public = make_pipeline(Public(with_mean=False, with_std=False), Column(epsilon=2)).fit(X, Y)

    assert fitted(epsilon=1, estimator=learns).guarantee_.trust is Trust.NONE
    assert fitted(epsilon=1, estimator=public).guarantee_.epsilon == 2


def test_a_frozen_classifier_keeps_its_promise_and_survives_cloning():
    """A search over settings clones the whole; the trained classifier must come through."""
    model = clone(ParityPostProcessor(FrozenEstimator(PRIVATE), epsilon=1, held_out=True, rng=1))
    model.fit(X, group=GROUP)

    assert model.guarantee_.epsilon == 2
    assert np.array_equal(model.table_.counts, fitted(estimator=PRIVATE, epsilon=1).table_.counts)


# --- training --------------------------------------------------------------------------------------


def test_a_classifier_that_takes_groups_is_told_them():
    """DP-FERMI is trained with groups, and may be finished by this."""
    names = np.array(["a", "b", "c"])[GROUP]
    model = fitted(estimator=GroupAware(), prefit=False, data=(X, Y, names))

    assert model.estimator_.seen_ == ["a", "b", "c"]
    assert len(model.predict(X, group=names)) == len(X)


def test_so_is_the_last_step_of_a_pipeline():
    """Features are usually encoded by a step before it."""
    model = fitted(estimator=make_pipeline("passthrough", GroupAware()), prefit=False)

    assert model.estimator_[-1].seen_ == [0, 1, 2]
    assert len(model.predict(X, group=GROUP)) == len(X)


def test_decoupled_classifiers_are_trained_on_their_groups():
    model = fitted(estimator={a: Column(epsilon=2) for a in (0, 1, 2)}, prefit=False, epsilon=1)

    assert set(model.estimator_) == {0, 1, 2}
    assert model.guarantee_.epsilon == 2
    assert clone(model).estimator.keys() == {0, 1, 2}


@pytest.mark.parametrize("labels", [np.ones_like(Y), np.where(GROUP == 1, 1, Y)])
def test_labels_of_one_class_are_refused(labels):
    """All-positive labels train nothing; the reader should hear that from us."""
    models = {a: Column() for a in (0, 1, 2)}
    with pytest.raises(InvalidParameterError, match="must be such that the rows that train"):
        fitted(estimator=models, prefit=False, data=(X, labels, GROUP))


# --- as an estimator, and what it refuses ----------------------------------------------------------


def test_it_is_a_classifier_like_others():
    model = ParityPostProcessor(LogisticRegression(), prefit=False, rng=1)

    assert is_classifier(model)
    assert clone(model).get_params()["holdout"] == 0.25
    with pytest.raises(NotFittedError):
        model.predict(X, group=GROUP)
    model.fit(X, Y, group=GROUP)
    assert model.n_features_in_ == 1
    assert 0.5 < model.score(X, Y, group=GROUP) < 1
    assert ParityPostProcessor({0: TRAINED}).__sklearn_tags__().non_deterministic


def test_a_failed_fit_leaves_nothing_to_predict_with():
    """Old probabilities with a new table would be wrong in silence."""
    model = fitted()
    with pytest.raises(InvalidParameterError):
        model.set_params(gap=-1).fit(X, group=GROUP)
    with pytest.raises(NotFittedError):
        model.predict(X, group=GROUP)


def test_a_failed_fit_shows_no_classifier_that_the_guarantee_does_not_count():
    """It was trained on the rows; fitted again, the guarantee would know of the second training alone."""
    model = ParityPostProcessor(Column(epsilon=2), epsilon=1, prefit=False, confidence=2, rng=1)
    with pytest.raises(InvalidParameterError, match="confidence"):
        model.fit(X, Y, group=GROUP)

    assert not hasattr(model, "estimator_")
    assert hasattr(model.set_params(confidence=0.9).fit(X, Y, group=GROUP), "estimator_")


def test_an_empty_group_is_refused_without_privacy_and_lived_with_under_it():
    """With privacy whether a group is empty is a secret: nothing may be raised because of it."""
    with pytest.raises(InvalidParameterError, match="every group has rows"):
        fitted(groups=[0, 1, 2, 3])
    with pytest.raises(InvalidParameterError, match="every group has rows"):
        fitted(groups=[0, 1, 2, 3], epsilon=1, as_printed=True)
    with pytest.raises(InvalidParameterError, match="rows of both classes"):
        fitted(kind="odds", data=(X, np.where(GROUP == 0, 0, Y), GROUP))
    model = fitted(groups=[0, 1, 2, 3], epsilon=1)

    assert model.bounds_.likely > 0.5
    assert model.predict(X[:1], group=[3]).shape == (1,)


@pytest.mark.parametrize("kind", ["parity", "odds"])
@pytest.mark.parametrize("aim", ["changes", "accuracy"])
def test_no_rows_at_all_make_a_model_under_privacy(kind, aim):
    model = fitted(groups=[0, 1], epsilon=1, kind=kind, aim=aim, data=(X[:0], Y[:0], GROUP[:0]))

    assert model.bounds_.expected == 1.0
    assert np.isfinite(model.rates_.target).all()
    assert np.isfinite(model.changes_.up).all()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"gap": 2}, "gap"), ({"epsilon": 0}, "epsilon"), ({"kind": "oods"}, "kind"), ({"aim": "x"}, "aim"),
        ({"weights": "w"}, "weights"), ({"unit": "one report"}, "unit"), ({"holdout": 0}, "holdout"),
        ({"holdout": 1}, "holdout"), ({"groups": "ab"}, "groups"), ({"groups": 3}, "groups"),
        ({"groups": [0, 0, 1]}, "groups"), ({"groups": [0]}, "groups"), ({"key": b"k"}, "key"),
        ({"groups": [[0], [1]]}, "groups"), ({"estimator": {}}, "estimator"),
        ({"estimator": {0: TRAINED}, "data": (X, Y, GROUP * 0)}, "estimator"),
        ({"as_printed": True, "kind": "odds"}, "as_printed"), ({"positive": 5}, "positive"),
        ({"confidence": 1}, "confidence"), ({"estimator": Column}, "estimator"),
        ({"estimator": 3}, "estimator"),
        ({"estimator": {0: TRAINED, 1: TRAINED, 2: TRAINED}, "groups": [0, 1]}, "groups"),
        ({"groups": [0, 1]}, "group"), ({"data": (X, Y, None)}, "group"),
        ({"data": (X, Y, GROUP[:-1])}, "group"),
        ({"data": (X, Y, GROUP * 0)}, "group"), ({"data": (X, Y[:-1], GROUP)}, "y"),
        ({"data": (X, None, GROUP), "kind": "odds"}, "y"), ({"data": (X, None, GROUP), "prefit": False}, "y"),
        ({"data": (X, Y + 1, GROUP), "kind": "odds"}, "y"),
        ({"data": (X, Y + GROUP, GROUP), "prefit": False, "kind": "odds"}, "y"),
        ({"estimator": Column().fit(X, np.zeros(len(X)))}, "estimator"),
        ({"estimator": {0: TRAINED, 1: TRAINED, 2: Column().fit(X, Y + 1)}}, "estimator"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(given, told):
    with pytest.raises(InvalidParameterError, match=rf"The '{told}' parameter of ParityPostProcessor"):
        fitted(**given)


def test_a_group_never_declared_has_no_answer():
    """A guess would be a decision about people nobody looked at."""
    with pytest.raises(InvalidParameterError, match="labels of declared groups only") as caught:
        fitted().predict(X[:2], group=[0, 77])

    assert "77" not in str(caught.value)
    with pytest.raises(InvalidParameterError, match="must be the group of each row"):
        fitted().predict(X)
    with pytest.raises(InvalidParameterError, match="as long as 'X'"):
        fitted().predict(X, group=GROUP[:-1])


def test_measuring_odds_needs_labels():
    with pytest.raises(InvalidParameterError, match=r"'y' parameter of ParityPostProcessor\.measured"):
        fitted(kind="odds").measured(X, group=GROUP)
    with pytest.raises(InvalidParameterError, match="as long as 'X'"):
        fitted(kind="odds").measured(X, Y[:-1], group=GROUP)


def test_a_classifier_that_is_not_fitted_is_told_so():
    with pytest.raises(NotFittedError):
        fitted(estimator=Column())


def test_amounts_are_exact():
    assert fitted(epsilon=0.1).rates_guarantee_.epsilon == Fraction(1, 10)
