"""The classifier that projects: what it decides, what it takes, what it keeps, and what it refuses."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.datasets import load
from evenhand.errors import InvalidParameterError, PrivacyWarning
from evenhand.learn.projection.classifier import FairProjection
from evenhand.learn.training.private_training import PrivateTraining
from evenhand.measure import group_report

PEOPLE = load("causal", n=1_500, seed=5, backend="pandas")
X, Y = PEOPLE.frame.drop(columns="Y"), PEOPLE.frame["Y"]
GROUP = PEOPLE.frame["A"]
NAMED = np.where(GROUP, "men", "women")


def fitted(*args, **given):
    return FairProjection(LogisticRegression(), *args, **given).fit(X, Y, group=GROUP)


def worst_mean(scores, group):
    means = [scores[group == each].mean(axis=0) for each in np.unique(group)]
    return max(np.abs(mean / scores.mean(axis=0) - 1).max() for mean in means)


# -- what it does --------------------------------------------------------------------------------------


@pytest.mark.parametrize("divergence", ["kl", "ce"])
@pytest.mark.parametrize("tolerance", [0.0, 0.03])
def test_mean_scores_of_groups_are_as_close_as_asked(divergence, tolerance):
    model = fitted("parity", divergence, tolerance)
    scores = model.predict_proba(X, group=GROUP)

    assert worst_mean(scores, GROUP) == pytest.approx(tolerance, abs=1e-8)
    assert scores.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert model.objective_ > 0


def test_mean_scores_of_true_classes_are_as_close_as_asked():
    """As far as the scores tell the classes: that is what the constraint of odds says."""
    model = fitted("odds", tolerance=0.0, marginals="calibrated")
    before, after = model.estimator_.predict_proba(X), model.predict_proba(X, group=GROUP)
    smoothed = (before + 1e-4) / (1 + 2e-4)
    for c in (0, 1):
        weighted = smoothed[:, c] * after[:, c]
        rates = [weighted[rows].sum() / smoothed[rows, c].sum() for rows in (GROUP == 0, GROUP == 1)]

        assert rates[0] == pytest.approx(rates[1], abs=1e-8)


def test_a_large_tolerance_leaves_the_decisions_as_they_are():
    model = fitted(tolerance=10)

    assert (model.predict(X, group=GROUP) == model.estimator_.predict(X)).all()
    assert model.objective_ == pytest.approx(0, abs=1e-15)
    assert not model.prices_.any()
    assert model.at(model.largest_tolerance_ * 0.99).prices_.any()


def test_deciding_narrows_the_gap():
    before = group_report(Y, fitted(tolerance=10).predict(X, group=GROUP), GROUP).sp_gap
    after = group_report(Y, fitted().predict(X, group=GROUP), GROUP).sp_gap

    assert after < before / 2


def test_labels_of_classes_and_groups_may_be_anything():
    plain = fitted(tolerance=0.02)
    words = np.where(Y, "yes", "no")
    model = FairProjection(LogisticRegression(), tolerance=0.02).fit(X, words, group=NAMED)

    assert model.groups_ == ["men", "women"]
    assert list(model.classes_) == ["no", "yes"]
    assert model.predict_proba(X, group=NAMED) == pytest.approx(plain.predict_proba(X, group=GROUP), abs=1e-9)
    assert (model.predict(X, group=NAMED) == np.where(plain.predict(X, group=GROUP), "yes", "no")).all()
    assert model.score(X, words, group=NAMED) == plain.score(X, Y, group=GROUP)
    half = np.arange(len(X)) < 700
    assert plain.score(X, Y, half.astype(float), group=GROUP) == np.mean(
        plain.predict(X[half], group=GROUP[half]) == Y[half]
    )


def test_three_classes_and_three_groups():
    group, label = PEOPLE.frame["M"], PEOPLE.frame["M"] + PEOPLE.frame["Y"]
    for kind in ("parity", "odds"):
        model = FairProjection(LogisticRegression(), kind, "ce", 0.05, marginals="calibrated")
        model.fit(X, label, group=group)
        scores = model.predict_proba(X, group=group)

        assert scores.shape == (len(X), 4)
        assert kind == "odds" or worst_mean(scores, group) <= 0.05 + 1e-8
        assert model.curve(tolerances=[0.1]).gap.shape == (1,)


def test_an_estimator_that_is_fitted_is_projected_on_other_rows():
    trained = LogisticRegression().fit(X[:500], Y[:500])
    weights = trained.coef_.copy()
    model = FairProjection(trained, prefit=True).fit(X[500:], group=GROUP[500:])

    assert (model.estimator_.coef_ == weights).all()
    assert (trained.coef_ == weights).all()
    assert worst_mean(model.predict_proba(X[500:], group=GROUP[500:]), GROUP[500:]) < 1e-8
    assert np.isnan(model.curve(tolerances=[0]).accuracy).all()
    assert not np.isnan(model.curve(X, Y, group=GROUP, tolerances=[0]).accuracy).any()


def test_an_estimator_that_is_not_fitted_is_not_taken_for_one():
    with pytest.raises(sklearn.exceptions.NotFittedError):
        FairProjection(LogisticRegression(), prefit=True).fit(X, Y, group=GROUP)


def test_certain_probabilities_of_groups_give_the_same_projection():
    one_hot = np.eye(2)[GROUP]
    for kind, shares in (("parity", one_hot), ("odds", np.stack([one_hot, one_hot], axis=1))):
        known = FairProjection(LogisticRegression(), kind, tolerance=0.02).fit(X, Y, group=GROUP)
        model = FairProjection(LogisticRegression(), kind, tolerance=0.02).fit(X, Y, group_proba=shares)
        wanted = known.predict_proba(X, group=GROUP)

        assert model.groups_ == [0, 1]
        assert model.predict_proba(X, group_proba=shares) == pytest.approx(wanted, abs=1e-8)
        assert known.predict_proba(X, group_proba=shares) == pytest.approx(wanted, abs=1e-12)
        assert model.curve(tolerances=[0.02]).gap == pytest.approx(known.curve(tolerances=[0.02]).gap)
        given = {"group_proba": shares, "tolerances": [0.02]}
        assert model.curve(X, Y, **given).accuracy == pytest.approx(model.curve(tolerances=[0.02]).accuracy)


def test_the_printed_form_is_another_projection():
    for divergence in ("kl", "ce"):
        exact, printed = (fitted("parity", divergence, as_printed=each) for each in (False, True))

        assert worst_mean(exact.predict_proba(X, group=GROUP), GROUP) < 1e-8
        assert worst_mean(printed.predict_proba(X, group=GROUP), GROUP) > 1e-4


# -- other tolerances --------------------------------------------------------------------------------


def test_a_copy_at_another_tolerance_trains_nothing():
    model = fitted()
    other = model.at(0.05)

    assert other.estimator_ is model.estimator_
    assert (model.tolerance, other.tolerance) == (0.0, 0.05)
    assert other.predict_proba(X, group=GROUP) == pytest.approx(
        fitted(tolerance=0.05).predict_proba(X, group=GROUP), abs=1e-12
    )


def test_the_curve_runs_from_strict_to_unchanged():
    model = fitted()
    curve = model.curve()

    assert len(curve) == 33
    assert curve.tolerance[0] == 0
    assert curve.tolerance[-1] == model.largest_tolerance_
    assert (np.diff(curve.objective) <= 1e-12).all()
    assert curve.objective[0] == model.objective_
    assert curve.objective[-1] == pytest.approx(0, abs=1e-12)
    plain = group_report(Y, model.estimator_.predict(X), GROUP)
    assert curve.gap[-1] == pytest.approx(plain.sp_gap)
    assert curve.accuracy[-1] == pytest.approx(plain.value("acc"))


def test_the_curve_counts_the_rows_it_is_given():
    model = fitted()
    curve = model.curve(X[:200], Y[:200], group=GROUP[:200], tolerances=[0.1, 0])
    report = group_report(Y[:200], model.at(0.1).predict(X[:200], group=GROUP[:200]), GROUP[:200])

    assert curve.tolerance.tolist() == [0, 0.1]
    assert curve.gap[1] == pytest.approx(report.sp_gap)
    assert curve.accuracy[1] == pytest.approx(report.value("acc"))


@pytest.mark.parametrize("kind", ["parity", "odds"])
def test_a_tolerance_is_chosen_for_a_gap(kind):
    generator = np.random.default_rng(8)
    features = generator.normal(size=(1_500, 2)) + GROUP.to_numpy()[:, None]
    label = (features.sum(axis=1) + generator.normal(size=1_500) > 1).astype(int)
    model = FairProjection(LogisticRegression(), kind).fit(features, label, group=GROUP)
    wide = model.curve(tolerances=[10]).gap[0]
    chosen = model.choose(0.6 * wide)
    report = group_report(label, chosen.predict(features, group=GROUP), GROUP)

    assert 0 < chosen.tolerance < model.largest_tolerance_
    assert report.value("sp_gap" if kind == "parity" else "meo_gap") <= 0.6 * wide + 1e-12
    assert chosen.curve(tolerances=[1.1 * chosen.tolerance]).gap[0] > 0.5 * wide
    assert model.tolerance_for(1.0) == model.largest_tolerance_
    held = (features[:600], label[:600])
    assert model.tolerance_for(0.6 * wide, *held, group=GROUP[:600]) > 0


def test_twelve_kinds_of_people_jump_over_a_gap():
    with pytest.raises(InvalidParameterError, match="post-processing"):
        fitted().tolerance_for(1e-6)


# -- privacy ----------------------------------------------------------------------------------------


def private_training():
    return PrivateTraining(LogisticRegression(), LocalPrivatizer(epsilon=3, schema=PEOPLE.schema, rng=7))


def test_it_says_that_it_is_not_private():
    assert FairProjection.private is False
    assert "**Guarantee.** None." in FairProjection.__doc__


@pytest.mark.parametrize("inside", [False, True])
def test_projecting_a_private_model_on_private_rows_is_warned_of(inside):
    """The prices are made of raw rows: the guarantee of the training is gone."""
    model = make_pipeline(private_training()) if inside else private_training()
    with pytest.warns(PrivacyWarning, match="does not hold for the projected model"):
        FairProjection(model).fit(X, Y, group=GROUP)


def test_a_private_model_on_public_rows_is_fine():
    trained = private_training().fit(X[:700], Y[:700])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FairProjection(trained, prefit=True, public_rows=True).fit(
            X[700:], Y[700:], group=GROUP[700:]
        )

    assert model.estimator_.guarantee_.epsilon == 3


def test_a_stored_model_holds_no_rows():
    """A file that is passed on would pass on the scores and groups of people."""
    model = fitted()
    stored = pickle.loads(pickle.dumps(model))

    assert len(pickle.dumps(model)) < 5_000
    assert (stored.predict_proba(X, group=GROUP) == model.predict_proba(X, group=GROUP)).all()
    for use in (stored.curve, lambda: stored.at(0.1), lambda: stored.tolerance_for(0.1)):
        with pytest.raises(InvalidParameterError, match="are not stored with the model"):
            use()


class NoNames(FunctionTransformer):
    """A first step that does not say what it has seen."""

    def fit(self, X, y=None):  # noqa: N803 - scikit-learn's name
        return self

    def __sklearn_is_fitted__(self):
        return True


# -- scikit-learn -----------------------------------------------------------------------------------


def test_it_is_a_classifier_with_parameters():
    model = FairProjection(LogisticRegression(), "odds", "ce", 0.1, prefit=True)
    copied = clone(model).set_params(estimator__C=3.0, tolerance=0.2)

    assert is_classifier(model)
    assert (copied.estimator.C, copied.tolerance, copied.kind, copied.prefit) == (3.0, 0.2, "odds", True)
    assert model.tolerance == 0.1


def test_features_are_named_as_the_estimator_names_them():
    named = fitted()
    array = FairProjection(LogisticRegression()).fit(X.to_numpy(), Y.to_numpy(), group=GROUP.tolist())

    assert list(named.feature_names_in_) == ["C", "A", "M"]
    assert (array.n_features_in_, hasattr(array, "feature_names_in_")) == (3, False)
    pipeline = FairProjection(make_pipeline(NoNames(), LogisticRegression())).fit(X, Y, group=GROUP)
    assert not hasattr(pipeline, "n_features_in_")
    with pytest.raises(ValueError, match="unseen at fit time"):
        named.predict(X.rename(columns={"C": "D"}), group=GROUP)


def test_frames_go_through_to_the_estimator():
    model = FairProjection(make_pipeline(StandardScaler(), LogisticRegression()))
    frame = pl.from_pandas(X)
    scores = model.fit(frame, Y, group=pl.Series(NAMED)).predict_proba(frame, group=pd.Series(NAMED))

    assert worst_mean(scores, NAMED) < 1e-8


def test_groups_are_routed_in_cross_validation():
    with sklearn.config_context(enable_metadata_routing=True):
        model = FairProjection(LogisticRegression()).set_fit_request(group=True).set_score_request(group=True)
        found = cross_val_score(model, X, Y, params={"group": GROUP}, cv=3)

    assert found.shape == (3,)
    assert not np.isnan(found).any()


def test_calibrated_scores_can_be_projected():
    model = FairProjection(CalibratedClassifierCV(LinearSVC(), cv=2)).fit(X, Y, group=GROUP)

    assert worst_mean(model.predict_proba(X, group=GROUP), GROUP) < 1e-8


# -- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"kind": "equality"}, "'kind' parameter of FairProjection must be one of 'parity', 'odds'"),
        ({"divergence": "tv"}, "'divergence' parameter"),
        ({"marginals": "guessed"}, "'marginals' parameter"),
        ({"tolerance": -1}, "'tolerance' parameter"),
    ],
)
def test_other_parameters_are_refused(given, match):
    with pytest.raises(InvalidParameterError, match=match):
        fitted(**given)


def test_what_is_missing_is_named():
    model = FairProjection(LogisticRegression())
    with pytest.raises(InvalidParameterError, match="requires y to be passed"):
        model.fit(X, group=GROUP)
    with pytest.raises(InvalidParameterError, match="Got neither of the two"):
        model.fit(X, Y)
    with pytest.raises(InvalidParameterError, match="Got both of them"):
        model.fit(X, Y, group=GROUP, group_proba=np.eye(2)[GROUP])
    model.fit(X, Y, group=GROUP)
    with pytest.raises(InvalidParameterError, match=r"FairProjection\.predict must be given"):
        model.predict(X)
    with pytest.raises(InvalidParameterError, match=r"'X' parameter of FairProjection\.curve must be given"):
        model.curve(y=Y)
    with pytest.raises(InvalidParameterError, match="as long as 'X'"):
        model.curve(X, Y[:10], group=GROUP)
    odds = fitted("odds")
    with pytest.raises(InvalidParameterError, match=r"'y' parameter of FairProjection\.tolerance_for"):
        odds.tolerance_for(0.1, X, group=GROUP)


def test_an_unknown_group_is_refused_and_not_named():
    with pytest.raises(InvalidParameterError, match="groups that fit has seen") as caught:
        fitted().predict(X, group=np.where(GROUP, 1, 97531))

    assert "97531" not in str(caught.value)


def test_a_group_without_a_class_is_refused_for_odds():
    label = Y.where(GROUP == 1, 0)
    with pytest.raises(InvalidParameterError, match="every group has rows of every class"):
        FairProjection(LogisticRegression(), "odds").fit(X, label, group=GROUP)
    model = FairProjection(LogisticRegression(), "odds", marginals="calibrated").fit(X, label, group=GROUP)

    assert np.isfinite(model.prices_).all()


def test_nothing_is_predicted_before_fitting():
    for use in ("predict", "predict_proba"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(FairProjection(LogisticRegression()), use)(X, group=GROUP)


# -- a model that is changed after it was made -----------------------------------------------------------


@pytest.mark.parametrize("changed", [{"divergence": "ce"}, {"kind": "odds"}, {"as_printed": True}])
def test_prices_are_used_as_they_were_made(changed):
    """Prices of one divergence used for another gave scores that kept no tolerance, without a word."""
    model = fitted("parity", "kl", 0.0)
    before, other = model.predict_proba(X, group=GROUP), model.at(0.1).predict_proba(X, group=GROUP)
    points = model.curve(tolerances=[0.0, 0.1])
    model.set_params(**changed)
    after = model.curve(tolerances=[0.0, 0.1])

    assert np.array_equal(model.predict_proba(X, group=GROUP), before)
    assert np.array_equal(model.at(0.1).predict_proba(X, group=GROUP), other)
    assert np.array_equal(after.gap, points.gap)
    assert np.array_equal(after.objective, points.objective)
    assert after.divergence == "kl"


def test_a_fit_that_failed_leaves_nothing_to_predict_with():
    """The prices of earlier rows with an estimator of later ones would be nobody's projection."""
    model = fitted()
    with pytest.raises(InvalidParameterError, match="as long as"):
        model.fit(-X, Y, group=GROUP[:10])
    with pytest.raises(NotFittedError):
        model.predict_proba(X, group=GROUP)
    with pytest.raises(NotFittedError):
        model.curve()


def test_labels_of_another_length_are_refused_when_nothing_is_trained():
    trained = LogisticRegression().fit(X, Y)
    with pytest.raises(
        InvalidParameterError, match=r"'y' parameter of FairProjection\.fit must be as long as"
    ):
        FairProjection(trained, prefit=True).fit(X, Y[:7], group=GROUP)
