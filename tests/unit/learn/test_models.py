import builtins
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from evenhand.errors import InvalidParameterError, MissingExtraError
from evenhand.learn.models import MODELS, check_model, classifier, number_type, predicted
from unit.study._small_studies import Recorder

KINDS = {
    "quick-boosting": "Pipeline",
    "gradient-boosting": "HistGradientBoostingClassifier",
    "lightgbm": "LGBMClassifier",
    "random-forest": "RandomForestClassifier",
    "logistic": "Pipeline",
}


@pytest.fixture(autouse=True)
def one_thread():
    """Two threads of boosting that wait for each other make a busy machine slower, not faster."""
    with threadpool_limits(1):
        yield


def rows(n=300):
    """Return features, some of them alike, and labels that depend on them."""
    draws = np.random.default_rng(5)
    features = draws.integers(0, 3, (n, 4)).astype(float)
    return features, (features.sum(axis=1) + draws.normal(0, 1, n) > 4).astype(np.uint8)


@pytest.mark.parametrize("model", MODELS)
def test_a_name_makes_its_model_with_the_seed(model):
    made = classifier(model, seed=41)
    seeds = [value for name, value in made.get_params().items() if name.endswith("random_state")]

    assert type(made).__name__ == KINDS[model]
    assert seeds == [41]


@pytest.mark.parametrize("model", MODELS)
def test_parameters_reach_the_model(model):
    name, value = ("C", 0.5) if model == "logistic" else ("max_depth", 3)
    made = classifier(model, {name: value}, seed=0)
    found = [each for key, each in made.get_params().items() if key.rpartition("__")[2] == name]

    assert found == [value]


def test_the_quick_model_scores_as_the_same_trees_on_features_whose_sign_is_not_turned():
    """Its features are turned for speed alone."""
    features, labels = rows(2000)
    quick = classifier("quick-boosting", seed=3).fit(features, labels)
    plain = clone(quick[-1]).fit(features, labels)

    np.testing.assert_allclose(predicted(quick, features, model="quick-boosting")[1],
                               plain.predict_proba(features)[:, 1], rtol=1e-9)  # fmt: skip


def test_the_quick_model_learns_as_much_in_a_quarter_of_the_trees():
    """What a step leaves to learn, to the power of the steps, is that of the slower model."""
    left = {
        name: (1 - trees.learning_rate) ** trees.max_iter
        for name, trees in (
            ("quick", classifier("quick-boosting", seed=0)[-1]),
            ("slow", classifier("gradient-boosting", seed=0)),
        )
    }

    assert left["quick"] <= left["slow"]
    assert 4 * classifier("quick-boosting", seed=0)[-1].max_iter == 100


def test_lightgbm_runs_quietly_on_one_thread():
    made = classifier("lightgbm", seed=0)

    assert (made.n_jobs, made.objective) == (1, "binary")
    assert made.get_params()["verbosity"] == -1


def test_a_seed_beyond_31_bits_is_folded_for_lightgbm():
    """LightGBM keeps seeds in 32 bits with a sign; a plan's seed plus a repeat may be larger."""
    made = classifier("lightgbm", {"n_estimators": 2}, seed=2**31 + 5)
    made.fit(*rows())

    assert made.random_state == 5


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["random_state", "n_jobs", "no_such_thing"])
def test_a_parameter_that_is_unknown_or_set_here_is_refused(model, name):
    with pytest.raises(InvalidParameterError, match=name) as caught:
        classifier(model, {name: 1}, seed=0)

    assert caught.value.parameter == "parameters"


def test_a_misspelt_parameter_gets_a_guess():
    with pytest.raises(InvalidParameterError, match="did you mean 'max_depth'"):
        classifier("lightgbm", {"max_deph": 3}, seed=0)


def test_a_refusal_of_the_model_is_shown_whole(monkeypatch):
    """Its words are those of another package, which may write any sentence."""

    def refuse(_):
        raise ValueError("l1_ratio and penalty contradict each other.")

    monkeypatch.setattr(LogisticRegression, "_validate_params", refuse)
    with pytest.raises(InvalidParameterError, match=r"Regression takes \(l1_ratio and penalty cont"):
        classifier("logistic", seed=0)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("gradient-boosting", {"max_iter": -3}),
        ("random-forest", {"n_estimators": "many"}),
        ("logistic", {"C": -1.0}),
        ("lightgbm", {"num_leaves": 1}),
        ("lightgbm", {"learning_rate": "fast"}),
    ],
)
def test_a_value_that_a_parameter_cannot_have_is_refused_before_rows_are_read(model, parameters):
    with pytest.raises(InvalidParameterError, match="must be") as caught:
        check_model(model, parameters)

    assert caught.value.parameter == "parameters"
    assert next(iter(parameters)) in str(caught.value)


@pytest.mark.parametrize("parameters", [{}, {"n_estimators": 50, "max_bin": 15}])
def test_right_parameters_pass_the_check(parameters):
    check_model("lightgbm", parameters)


# --- classifiers from Python ----------------------------------------------------------------------


def test_a_classifier_of_the_users_is_copied_and_seeded_inside_pipelines():
    own = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=3))
    made = classifier(own, seed=9)

    assert made is not own
    assert made[-1].random_state == 9
    assert own[-1].random_state is None


def test_a_classifier_without_a_random_state_is_only_copied():
    assert isinstance(classifier(BernoulliNB(), seed=9), BernoulliNB)


def test_a_classifier_that_is_not_scikit_learns_is_copied():
    own = Recorder()
    made = classifier(own, seed=9)

    assert made is not own
    assert isinstance(made, Recorder)


# --- LightGBM that cannot be had ------------------------------------------------------------------


def refuse_import(monkeypatch, error):
    """Make ``import lightgbm`` raise."""
    real = builtins.__import__

    def fake(name, *rest, **more):
        if name.partition(".")[0] == "lightgbm":
            raise error
        return real(name, *rest, **more)

    for name in [each for each in sys.modules if each.partition(".")[0] == "lightgbm"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", fake)


def test_without_lightgbm_the_extra_is_named(monkeypatch):
    refuse_import(monkeypatch, ImportError("No module named 'lightgbm'"))

    with pytest.raises(MissingExtraError, match=r"evenhand\[learn\]") as caught:
        classifier("lightgbm", seed=0)
    assert caught.value.extra == "learn"


def test_without_libgomp_the_system_package_is_named(monkeypatch):
    refuse_import(monkeypatch, OSError("libgomp.so.1: cannot open shared object file"))

    with pytest.raises(MissingExtraError, match="system package libgomp1") as caught:
        classifier("lightgbm", seed=0)
    assert caught.value.package == "libgomp1"


def test_another_fault_of_the_import_is_not_hidden(monkeypatch):
    refuse_import(monkeypatch, OSError("disk on fire"))

    with pytest.raises(OSError, match="disk on fire"):
        classifier("lightgbm", seed=0)


# --- predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_labels_are_those_of_the_models_own_predict(model):
    """The class of the larger probability must be what the model itself would say."""
    parameters = {"n_estimators": 20} if model == "random-forest" else {}
    features, target = rows()
    features = features.astype(number_type(model))
    made = classifier(model, parameters, seed=1).fit(features, target)
    labels, scores = predicted(made, features, model=model)

    assert (labels == made.predict(features)).all()
    assert scores == pytest.approx(made.predict_proba(features)[:, 1], abs=1e-12)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_estimators": 90, "learning_rate": 0.3},
        {"n_estimators": 25},
        {"n_estimators": 60, "boosting_type": "dart"},
        {"n_estimators": 60, "boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
    ],
)
def test_lightgbm_asked_some_trees_at_a_time_says_what_it_says_at_once(parameters):
    """The scores are sums over trees, except for forests and other ways to boost."""
    features, target = rows(600)
    made = classifier("lightgbm", parameters, seed=1).fit(features.astype(np.float32), target)
    labels, scores = predicted(made, features.astype(np.float32), model="lightgbm")

    assert scores == pytest.approx(made.predict_proba(features)[:, 1], abs=1e-12)
    assert (labels == made.predict(features)).all()


def test_a_classifier_from_python_says_its_own_labels():
    """Some classifiers predict another class than the more probable one."""

    class Contrary(LogisticRegression):
        def predict(self, features):
            return 1 - super().predict(features)

    features, target = rows()
    made = Contrary().fit(features, target)
    labels, scores = predicted(made, features, model=Contrary())

    assert (labels == (scores <= 0.5)).all()


def test_a_classifier_without_probabilities_has_no_scores():
    features, _ = rows()
    _, scores = predicted(Recorder(), features, model=Recorder())

    assert scores is None


def test_scores_are_of_the_positive_class_whatever_the_order_of_classes():
    features, target = rows()
    made = HistGradientBoostingClassifier(max_iter=5).fit(features, 1 - target)
    made.classes_ = np.array([1, 0])
    labels, scores = predicted(made, features, model="gradient-boosting")

    assert (labels == (scores > 0.5)).mean() > 0.99
