"""The private logistic regression: what it learns, what it promises, and what it refuses."""

import builtins
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from evenhand.errors import InvalidParameterError, MissingExtraError, PrivacyWarning
from evenhand.learn.training import logistic
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.privacy.grid_noise import GridNoise, TrainingGuarantee
from evenhand.privacy.laws import DiscreteGaussian
from evenhand.privacy.randomness import SecureSource, SeededSource
from statistical._exact import ALPHA, exact_events_pvalue

DRAWS = SeededSource(5).generator()
X = DRAWS.normal(size=(2_000, 3))
TRUTH = np.array([1.5, -1.0, 0.0])
Y = (X @ TRUTH + 0.5 + DRAWS.logistic(size=2_000) > 0).astype(int)
QUICK = {"noise": 1, "delta": "1e-6", "epochs": 10, "rng": 7}


@pytest.fixture
def uncounted(monkeypatch):
    """Leave out the accounting, which takes longest and has tests of its own."""
    asked = []

    def stated(epsilon, delta, *, noise, sampling, steps, unit, rows_per_person, dimensions, clip):
        asked.append({"epsilon": epsilon, "delta": delta, "sampling": sampling, "steps": steps, "unit": unit})
        multiplier = Fraction(1 if noise is None else noise)
        grid = GridNoise(clip, multiplier, dimensions * steps)
        return TrainingGuarantee(
            multiplier,
            (grid,),
            Fraction(epsilon or 1),
            Fraction(delta),
            sampling,
            steps,
            unit,
            rows_per_person,
        )

    monkeypatch.setattr(logistic, "training_guarantee", stated)
    return asked


def fitted(**given):
    return DPLogisticRegression(**QUICK | given).fit(X, Y)


# -- what it learns ------------------------------------------------------------------------------------


def test_it_comes_close_to_the_model_that_promises_nothing(uncounted):
    private = fitted(epochs=30)
    plain = LogisticRegression(C=np.inf).fit(X, Y)

    assert private.score(X, Y) > plain.score(X, Y) - 0.01
    assert private.coef_.shape == plain.coef_.shape
    assert private.coef_[0] @ plain.coef_[0] > 0.98 * np.sqrt(
        (private.coef_**2).sum() * (plain.coef_**2).sum()
    )


def test_many_classes_are_learnt_by_a_softmax(uncounted):
    points, labels = make_blobs(900, centers=[[0, 2], [2, -1], [-2, -1]], random_state=3)
    names = np.array(["a", "b", "c"])[labels]
    model = DPLogisticRegression(**QUICK).fit(points, names)
    chances = model.predict_proba(points)

    assert model.score(points, names) > 0.9
    assert model.coef_.shape == (3, 2)
    assert chances.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.log(chances) == pytest.approx(model.predict_log_proba(points), abs=1e-9)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(points)).all()
    assert model.decision_function(points).shape == (900, 3)


def test_chances_scores_and_decisions_of_two_classes_agree(uncounted):
    model = fitted()
    chances = model.predict_proba(X)

    assert chances[:, 1] == pytest.approx(1 / (1 + np.exp(-model.decision_function(X))), abs=1e-12)
    assert np.exp(model.predict_log_proba(X)) == pytest.approx(chances, abs=1e-12)
    assert ((chances[:, 1] > 0.5) == model.predict(X)).all()
    assert is_classifier(model)


def test_without_an_intercept_there_is_none(uncounted):
    model = fitted(fit_intercept=False)

    assert model.intercept_.tolist() == [0.0]
    assert model.coef_.shape == (1, 3)


def test_the_mean_is_less_noisy_than_the_last_step(uncounted):
    far = {"noise": 20, "epochs": 20}
    plain = LogisticRegression(C=np.inf).fit(X, Y).coef_

    def error(**given):
        return np.mean([np.abs(fitted(**far, **given, rng=seed).coef_ - plain).sum() for seed in range(5)])

    assert error(average=True) < error(average=False)


def test_frames_of_all_kinds_give_the_same_model(uncounted):
    names = ["a", "b", "c"]
    frames = [X, pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    models = [DPLogisticRegression(**QUICK).fit(frame, Y) for frame in frames]

    assert all((model.coef_ == models[0].coef_).all() for model in models)
    assert models[2].feature_names_in_.tolist() == names
    assert (models[1].predict(frames[1]) == models[0].predict(X)).all()


# -- randomness ----------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_model_again_and_says_it_is_simulated(uncounted):
    first, again, other = fitted(), fitted(), fitted(rng=8)

    assert (first.coef_ == again.coef_).all()
    assert (first.coef_ != other.coef_).all()
    assert first.simulated_
    assert fitted(rng=SeededSource(7)).simulated_
    with pytest.warns(PrivacyWarning, match="or a copy or clone of it, is fitted a second time"):
        assert (clone(first).fit(X, Y).coef_ == first.coef_).all()


def test_the_secure_source_draws_anew_and_is_fit_for_release(uncounted):
    first, again = fitted(rng=None), fitted(rng=SecureSource())

    assert (first.coef_ != again.coef_).all()
    assert not first.simulated_
    assert not again.simulated_


def test_a_second_fit_draws_anew_and_its_cost_is_added(uncounted):
    """A model that is fitted twice on a person's row has told about it twice."""
    model = DPLogisticRegression(2, "1e-6", epochs=1, rng=7).fit(X, Y)
    before = model.coef_
    with pytest.warns(PrivacyWarning, match=r"fitted a second time.*epsilon = 4 "):
        model.fit(X, Y)
    model.fit(X, Y)

    assert (model.coef_ != before).all()
    assert (model.guarantee_.epsilon, model.guarantee_.delta) == (6, Fraction(3, 10**6))
    assert (model.guarantee_per_fit_.epsilon, model.guarantee_per_fit_.delta) == (2, Fraction(1, 10**6))
    assert clone(model).fit(X, Y).guarantee_.epsilon == 8
    assert DPLogisticRegression(**model.get_params()).fit(X, Y).guarantee_.epsilon == 2


def test_one_simulated_fit_marks_the_model(uncounted):
    model = fitted()
    with pytest.warns(PrivacyWarning):
        model.set_params(rng=None).fit(X, Y)

    assert model.simulated_


def test_a_model_survives_being_stored(uncounted):
    model = fitted()
    again = pickle.loads(pickle.dumps(model))

    assert (again.predict(X) == model.predict(X)).all()
    assert again.guarantee_ == model.guarantee_


def test_models_fitted_side_by_side_are_those_fitted_one_after_the_other(uncounted):
    """Threads must share no room and no stream, or results would depend on who comes first."""
    alone = [fitted(rng=seed).coef_ for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = [model.coef_ for model in threads.map(lambda seed: fitted(rng=seed), range(4))]

    assert np.array_equal(alone, together)


@pytest.mark.statistical
def test_the_noise_in_the_weights_is_that_which_is_claimed(uncounted):
    """One step on a row of zeros is noise alone, in whole steps of the grid."""
    width, multiplier = 50_000, Fraction(3)
    public = {
        "noise": multiplier,
        "rows": 1,
        "batch": 1,
        "epochs": 1,
        "classes": [0, 1],
        "fit_intercept": False,
    }
    model = DPLogisticRegression(**public, rng=11).fit(np.zeros((1, width)), [1])
    grid = GridNoise(1, multiplier, width)
    steps = model.coef_[0] * grid.longest
    draws = steps.astype(np.int64)

    assert (draws == steps).all()
    assert exact_events_pvalue(draws, DiscreteGaussian(grid.variance)) > ALPHA
    for wrong in (0.9, 1.1):  # the twin: noise that is a twentieth off is seen
        other = DiscreteGaussian(Fraction(str(wrong)) * grid.variance)
        assert exact_events_pvalue(draws, other) < ALPHA


# -- what it promises ----------------------------------------------------------------------------------


def test_the_guarantee_says_for_whom_of_what_and_on_what_it_rests(uncounted):
    told = fitted().guarantee_

    assert (str(told.unit), str(told.trust), told.people) == ("add or remove one", "central", 2_000)
    assert told.protects == ("features", "label")
    assert told.in_clear == ("people scored later",)
    assert "the number of rows that train the model is public" in told.assumptions
    assert "which classes there are is public" in told.assumptions
    assert "each person is one row" in told.assumptions
    assert any("scaling constants and vocabularies" in each for each in told.assumptions)


def test_what_is_declared_is_not_assumed(uncounted):
    model = fitted(rows=2_100, classes=[0, 1], preprocessing=["ages are cut at 18 and 90"])
    told = model.guarantee_

    assert told.people == 2_100
    assert "the number of rows that train the model is public" not in told.assumptions
    assert "which classes there are is public" not in told.assumptions
    assert "ages are cut at 18 and 90" in told.assumptions
    assert (model.steps_, model.sampling_) == (10 * 4, Fraction(1, 4))


def test_a_declared_number_of_rows_makes_every_public_number_the_same_for_neighbours(uncounted):
    models = [DPLogisticRegression(**QUICK, rows=2_000).fit(X[:n], Y[:n]) for n in (2_000, 1_999, 40)]

    assert len({(model.steps_, model.sampling_, model.noise_) for model in models}) == 1


def test_the_noise_is_looked_for_or_given(uncounted):
    fitted(noise=None, epsilon="1/2", unit="replace one")
    fitted(noise=2)

    assert [asked["epsilon"] for asked in uncounted] == ["1/2", None]
    assert [asked["unit"] for asked in uncounted] == ["replace one", "add or remove one"]
    assert [asked["steps"] for asked in uncounted] == [40, 40]


def test_the_budget_is_kept_by_the_real_accounting():
    model = DPLogisticRegression(3, "1e-6", epochs=5, rng=7).fit(X, Y)
    stated = model.guarantee_

    assert (stated.epsilon, stated.delta) == (3, Fraction(1, 10**6))
    assert 2.10 < model.noise_ < 2.11  # what dp-accounting needs for 20 steps of a quarter of the rows
    assert model.score(X, Y) > 0.7


def test_what_is_missing_for_the_accounting_is_told_before_anything_is_drawn(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **given):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *args, **given)

    monkeypatch.setattr(builtins, "__import__", without)
    model = DPLogisticRegression(epsilon=1.2345, epochs=3)

    with pytest.raises(MissingExtraError, match=r"pip install 'evenhand\[dp\]'"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.guarantee_  # noqa: B018 - reading it is the test


# -- what it refuses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"unit": "one person"}, "'unit' parameter of DPLogisticRegression must be one of"),
        ({"batch": 2_001}, "at most the number of rows"),
        ({"batch": 0}, "at least 1"),
        ({"epochs": 0}, "whole number from 1"),
        ({"rate": 0}, "'rate'"),
        ({"clip": -1}, "'clip'"),
        ({"clip": 1e10}, "from 1e-09 to 1e\\+09"),
        ({"rows": 0}, "'rows'"),
        ({"classes": [1]}, "'classes'"),
        ({"classes": [1, 2]}, "labels that are among 'classes'"),
        ({"preprocessing": [3]}, "'preprocessing'"),
        ({"rng": "seed"}, "'rng'"),
        ({"noise": 0}, "'noise'"),
        ({"noise": 0.04}, "'noise' parameter of DPLogisticRegression must be a number from"),
        ({"delta": 1}, "'delta'"),
        ({"noise": None, "epsilon": 0}, "'epsilon'"),
        ({"noise": None, "delta": 0}, "'delta'"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_spent(given, words):
    model = DPLogisticRegression(**QUICK | given)
    with pytest.raises(InvalidParameterError, match=words):
        model.fit(X, Y)

    assert len(model._spending) == 0


def test_weights_and_other_arguments_are_refused():
    with pytest.raises(InvalidParameterError, match="rows that count once"):
        DPLogisticRegression().fit(X, Y, sample_weight=np.ones(2_000))
    with pytest.raises(TypeError, match="unexpected keyword argument 'group'"):
        DPLogisticRegression().fit(X, Y, group=Y)


def test_too_many_weights_are_refused():
    """Squared lengths must fit into 64 bits."""
    with pytest.raises(InvalidParameterError, match="at most 1,048,576 weights"):
        DPLogisticRegression(classes=[0, 1]).fit(np.zeros((1, 1 << 20)), Y[:1])


def test_one_class_is_refused_unless_the_classes_are_declared(uncounted):
    with pytest.raises(InvalidParameterError, match="one class"):
        DPLogisticRegression(**QUICK).fit(X, np.ones(2_000, dtype=int))
    model = DPLogisticRegression(**QUICK, classes=[0, 1]).fit(X, np.ones(2_000, dtype=int))

    assert (model.predict(X) == 1).all()


def test_nothing_is_predicted_before_fitting():
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(DPLogisticRegression(), name)(X)
    for name in ("guarantee_", "guarantee_per_fit_", "simulated_"):
        with pytest.raises(NotFittedError):
            getattr(DPLogisticRegression(), name)


def test_progress_is_told_to_the_end(uncounted):
    told = []
    fitted(progress=lambda *steps: told.append(steps))

    assert told[-1] == (40, 40)
