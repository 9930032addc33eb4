"""Train on private reports, predict from clean values: that way round, and refused the other way."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import evenhand.learn
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.datasets import load
from evenhand.errors import DomainInferredWarning, InvalidParameterError, PrivacyWarning
from evenhand.learn import PrivateTraining
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.randomness import Source

PEOPLE = load("causal", n=2_000, seed=3, backend="pandas")
X, Y = PEOPLE.frame.drop(columns="Y"), PEOPLE.frame["Y"]


def privatizer(**given):
    usual = {"schema": PEOPLE.schema, "epsilon": 3, "split": "uniform", "rng": 7, "others": "one-hot-all"}
    return LocalPrivatizer(**{**usual, **given})


def clean_columns():
    return privatizer().fit(X).encode(X)


class Counted(Source):
    """A seeded stream that counts how often it is asked, and can be shut."""

    kind = "seeded"
    asked = 0
    shut = False

    def words(self, count):
        if Counted.shut:
            raise AssertionError("something was drawn")
        Counted.asked += 1
        return np.random.default_rng(Counted.asked).integers(0, 2**64, count, dtype=np.uint64)


@pytest.fixture
def counted():
    Counted.asked, Counted.shut = 0, False
    return Counted()


# -- the right way round ------------------------------------------------------------------------------


def test_predicting_uses_no_randomness(counted):
    """A prediction about a person must not depend on a throw of dice."""
    model = PrivateTraining(LogisticRegression(), privatizer(rng=counted)).fit(X, Y)
    Counted.shut = True
    first = model.predict(X)

    assert (model.predict(X) == first).all()
    assert (model.predict_proba(X) == model.predict_proba(X)).all()
    assert (model.decision_function(X) == model.decision_function(X)).all()
    assert model.score(X, Y) == np.mean(first == Y)
    assert model.privatizer_.collections_ == 1


def test_predicting_is_the_estimator_on_clean_columns():
    model = PrivateTraining(LogisticRegression(), privatizer()).fit(X, Y)

    assert (model.predict_proba(X) == model.estimator_.predict_proba(clean_columns())).all()
    assert (model.predict_log_proba(X) == model.estimator_.predict_log_proba(clean_columns())).all()
    assert (model.classes_ == [0, 1]).all()


def test_training_sees_the_reports_and_nothing_else():
    """The slow way: collect by hand with the same seed, then train."""
    model = PrivateTraining(BernoulliNB(), privatizer()).fit(X, Y)
    by_hand = BernoulliNB().fit(privatizer().fit(X).transform(X), Y)

    assert (model.estimator_.feature_log_prob_ == by_hand.feature_log_prob_).all()
    assert (
        model.estimator_.feature_log_prob_ != BernoulliNB().fit(clean_columns(), Y).feature_log_prob_
    ).any()


def test_without_noise_it_is_training_on_clean_data():
    model = PrivateTraining(LogisticRegression(), privatizer(epsilon=150)).fit(X, Y)
    clean = LogisticRegression().fit(clean_columns(), Y)

    assert (model.estimator_.coef_ == clean.coef_).all()


def test_with_almost_no_epsilon_the_sensitive_columns_teach_nothing():
    """A model that still learns from them has seen the truth."""
    clean = LogisticRegression().fit(clean_columns(), Y).coef_
    coefficients = [
        PrivateTraining(LogisticRegression(), privatizer(epsilon="1/1000", rng=seed))
        .fit(X, Y)
        .estimator_.coef_
        for seed in range(3)
    ]
    spread = clean_columns().std(axis=0).max()

    assert np.abs(clean).max() > 0.5  # there is something to learn
    assert all(np.abs(each).max() < 6.5 * 2 / (np.sqrt(len(X)) * spread) for each in coefficients)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        DecisionTreeClassifier(random_state=0),
        LinearSVC(),
        DummyClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        LinearRegression(),
    ],
    ids=lambda each: type(each).__name__,
)
def test_any_estimator_can_be_trained(estimator):
    model = PrivateTraining(estimator, privatizer()).fit(X, Y)

    assert model.predict(X).shape == (len(X),)
    assert is_classifier(model) == is_classifier(estimator)
    assert is_regressor(model) == is_regressor(estimator)
    assert hasattr(model, "predict_proba") == hasattr(estimator, "predict_proba")
    assert hasattr(model, "decision_function") == hasattr(estimator, "decision_function")


def test_it_works_with_cross_validation_and_grid_search():
    model = PrivateTraining(LogisticRegression(), privatizer())
    with pytest.warns(PrivacyWarning, match="or a copy or clone of it, collects a second time"):
        scores = cross_val_score(model, X, Y, cv=3)
    grid = {"privatizer__epsilon": ["1/4", "1/2"], "estimator__C": [0.1, 1]}
    fresh = PrivateTraining(LogisticRegression(), privatizer())
    with pytest.warns(PrivacyWarning, match="or a copy or clone of it, collects a second time"):
        search = GridSearchCV(fresh, grid, cv=2).fit(X, Y)
    best = Fraction(search.best_params_["privatizer__epsilon"])

    assert scores.shape == (3,)
    assert not np.isnan(scores).any()
    assert set(search.best_params_) == {"privatizer__epsilon", "estimator__C"}
    assert (
        search.best_estimator_.guarantee_.epsilon == 2 * 2 * Fraction(3, 4) + best
    )  # all that was collected
    assert search.best_estimator_.privatizer_.guarantee_per_collection_.epsilon == best


def test_the_draws_happen_once_per_fit(counted):
    model = PrivateTraining(LogisticRegression(), privatizer(rng=counted)).fit(X, Y)
    drawn = Counted.asked
    model.predict(X)

    assert drawn > 0
    assert Counted.asked == drawn
    assert model.privatizer_.collections_ == 1
    assert not hasattr(model.privatizer, "strategy_")  # a clone did the work


def test_weights_are_passed_on():
    weights = np.where(np.arange(len(X)) < 1000, 1.0, 0.0)
    weighted = PrivateTraining(BernoulliNB(), privatizer()).fit(X, Y, sample_weight=weights)
    by_hand = BernoulliNB().fit(privatizer().fit(X).transform(X), Y, sample_weight=weights)

    assert (weighted.estimator_.feature_log_prob_ == by_hand.feature_log_prob_).all()
    half = np.mean(weighted.predict(X)[:1000] == Y[:1000])
    assert weighted.score(X, Y, sample_weight=weights) == pytest.approx(half)
    with pytest.raises(InvalidParameterError, match="KNeighborsClassifier, which takes no weights"):
        PrivateTraining(KNeighborsClassifier(), privatizer()).fit(X, Y, sample_weight=weights)


def test_the_guarantee_says_what_is_in_the_clear():
    model = PrivateTraining(LogisticRegression(), privatizer(columns=["A"])).fit(X, Y)
    promise = model.guarantee_

    assert (promise.epsilon, promise.unit) == (3, "one person")
    assert promise.protects == ("A",)
    assert promise.in_clear == ("C", "M", "Y", "row order", "people scored later")
    with pytest.warns(DomainInferredWarning):
        plain = PrivateTraining(LogisticRegression(), LocalPrivatizer(rng=1)).fit(X.to_numpy(), Y)
    assert plain.guarantee_.in_clear == (
        "row order",
        "domains read from the rows",
        "the label",
        "people scored later",
    )


def test_fitting_again_adds_to_the_guarantee():
    """The rows are collected a second time, whatever becomes of the first model."""
    model = PrivateTraining(LogisticRegression(), privatizer()).fit(X, Y)
    first = model.estimator_.coef_
    with pytest.warns(PrivacyWarning, match="has spent epsilon = 6 by now"):
        model.fit(X, Y)

    assert (model.guarantee_.epsilon, model.privatizer_.collections_) == (6, 2)
    assert (model.estimator_.coef_ != first).any()  # with draws of its own
    assert clone(model).fit(X, Y).guarantee_.epsilon == 9
    assert PrivateTraining(LogisticRegression(), privatizer()).fit(X, Y).guarantee_.epsilon == 3


def test_features_are_named_as_scikit_learn_does():
    named = PrivateTraining(LogisticRegression(), privatizer()).fit(X, Y)
    array = PrivateTraining(LogisticRegression(), privatizer()).fit(X.to_numpy(), Y)

    assert list(named.feature_names_in_) == ["C", "A", "M"]
    assert (array.n_features_in_, hasattr(array, "feature_names_in_")) == (3, False)
    assert (array.predict(X.to_numpy()) == named.predict(X)).all()


def test_frames_reach_the_estimator_where_asked():
    model = PrivateTraining(LogisticRegression(), privatizer().set_output(transform="pandas"))
    model.fit(pl.from_pandas(X), Y)

    assert list(model.estimator_.feature_names_in_[:2]) == ["C_0", "C_1"]
    assert model.predict(pl.from_pandas(X)).shape == (len(X),)


# -- the wrong ways round --------------------------------------------------------------------------------


def test_swapped_parts_are_refused():
    with pytest.raises(InvalidParameterError, match="the estimator comes first, the privatizer second"):
        PrivateTraining(privatizer(), LogisticRegression()).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="must be a LocalPrivatizer"):
        PrivateTraining(LogisticRegression(), make_pipeline(privatizer())).fit(X, Y)


@pytest.mark.parametrize("estimator", [None, "lightgbm", LogisticRegression])
def test_something_else_than_an_estimator_is_refused(estimator):
    with pytest.raises(InvalidParameterError, match="must be a scikit-learn classifier or regressor"):
        PrivateTraining(estimator, privatizer()).fit(X, Y)


@pytest.mark.parametrize(
    "inside",
    [
        make_pipeline(privatizer(), LogisticRegression()),
        make_pipeline(make_column_transformer((privatizer(), ["A"])), LogisticRegression()),
        PrivateTraining(LogisticRegression(), privatizer()),
    ],
)
def test_a_privatizer_inside_the_estimator_is_refused(inside):
    """It would draw at every prediction."""
    with pytest.raises(InvalidParameterError, match="one without a LocalPrivatizer of its own"):
        PrivateTraining(inside, privatizer()).fit(X, Y)


@pytest.mark.parametrize("out", ["default", "pandas", "polars", "pyarrow"])
def test_a_privatizer_in_front_of_it_is_refused(out):
    """Reports of reports teach little, and predictions would be random."""
    model = PrivateTraining(LogisticRegression(), LocalPrivatizer(rng=1))
    with pytest.raises(InvalidParameterError, match="In a Pipeline, take the LocalPrivatizer in front out"):
        make_pipeline(privatizer().set_output(transform=out), model).fit(X, Y)


@pytest.mark.parametrize("made", ["transform", "encode"])
@pytest.mark.parametrize("out", ["default", "pandas"])
def test_privatised_or_encoded_rows_are_refused_when_predicting(made, out):
    model = PrivateTraining(LogisticRegression(), privatizer()).fit(X, Y)
    given = getattr(privatizer().set_output(transform=out).fit(X), made)(X)
    with pytest.raises(InvalidParameterError, match="predict encodes them itself, without any noise"):
        model.predict(given)
    with pytest.raises(InvalidParameterError, match="predict encodes them itself, without any noise"):
        model.score(given[:10], Y[:10])


def test_columns_that_look_like_reports_are_refused_when_fitting():
    given = privatizer().set_output(transform="pandas").fit_transform(X).iloc[:100]
    with pytest.raises(InvalidParameterError, match="no column 'C' but its indicator 'C_0'"):
        PrivateTraining(LogisticRegression(), privatizer()).fit(given, Y[:100])


def test_a_column_may_be_called_like_an_indicator():
    """Only where the true column is missing is it taken for one."""
    model = PrivateTraining(LogisticRegression(), privatizer())

    assert model.fit(X.assign(C_00=1), Y).predict(X.assign(C_00=1)).shape == (len(X),)


def test_the_label_among_the_features_is_refused():
    for given in (PEOPLE.frame, PEOPLE.frame.to_numpy(), PEOPLE.frame.to_numpy().tolist()):
        with pytest.raises(InvalidParameterError, match="the target 'Y' among them"):
            PrivateTraining(LogisticRegression(), privatizer()).fit(given, Y)


@pytest.mark.parametrize(
    ("label", "weights", "match"),
    [
        (Y[:-1], None, "The 'y' parameter .* must be as long as 'X'"),
        (None, None, "The 'y' parameter .* must be as long as 'X'"),
        (Y.where(Y.index > 0), None, "Input y contains NaN"),
        (Y, np.ones(3), "The 'sample_weight' parameter .* must be as long as 'X'"),
        (Y, np.full(len(Y), np.nan), "Input sample_weight contains NaN"),
    ],
)
def test_wrong_labels_and_weights_are_refused_before_a_ledger_is_charged(tmp_path, label, weights, match):
    """If this is false, people have paid for reports that train no model."""
    ledger = Ledger(tmp_path / "ledger.db", epsilon=10)
    model = PrivateTraining(LogisticRegression(), privatizer(ledger=ledger, rng=None))
    with pytest.raises(ValueError, match=match):
        model.fit(X, label, sample_weight=weights)

    assert [entry.kind for entry in ledger.history()] == ["open"]


def test_one_weight_may_stand_for_all_rows():
    model = PrivateTraining(LogisticRegression(), privatizer()).fit(X, Y, sample_weight=2.0)

    assert model.predict(X).shape == (len(X),)


def test_other_columns_are_refused_as_by_scikit_learn():
    model = PrivateTraining(LogisticRegression(), privatizer()).fit(X, Y)
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(X.rename(columns={"C": "D"}))
    with pytest.raises(ValueError, match="3 features"):
        PrivateTraining(LogisticRegression(), privatizer()).fit(X.to_numpy(), Y).predict(X.to_numpy()[:, :2])


def test_there_is_no_transform():
    assert not hasattr(PrivateTraining(LogisticRegression(), privatizer()), "transform")


def test_parameters_reach_inside_and_survive_a_clone():
    model = PrivateTraining(LogisticRegression(), privatizer())

    assert clone(model).set_params(privatizer__epsilon=9).privatizer.epsilon == 9
    assert model.privatizer.epsilon == 3


def test_it_reads_well():
    """A schema of fifty columns would bury the rest."""
    model = PrivateTraining(LogisticRegression(), privatizer(rng=None, others="one-hot"))

    assert repr(model) == (
        "PrivateTraining(estimator=LogisticRegression(), "
        "privatizer=LocalPrivatizer(epsilon=3, split='uniform', schema=<Schema of 4 columns>))"
    )


def test_the_package_offers_its_names():
    assert dir(evenhand.learn) == sorted(evenhand.learn.__all__)
    assert all(callable(getattr(evenhand.learn, name)) for name in evenhand.learn.__all__)
    with pytest.raises(AttributeError, match=r"module 'evenhand\.learn' has no attribute 'Nothing'"):
        evenhand.learn.Nothing  # noqa: B018 - looking it up is the test
