"""Hostile rows given to private training: nothing leaks through a message, a failure or a huge number."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evenhand.errors import EvenhandError
from evenhand.learn.training import descent, logistic
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.privacy.grid_noise import GridNoise, TrainingGuarantee
from evenhand.privacy.randomness import SeededSource

SECRET = "48151623.42"
"""A value that no message may hold, as text and as a number."""


@pytest.fixture(autouse=True)
def uncounted(monkeypatch):
    """Leave out the accounting, which takes longest and has tests of its own."""

    def stated(epsilon, delta, *, noise, sampling, steps, unit, rows_per_person, dimensions, clip):
        multiplier = Fraction(2 if noise is None else str(noise))
        grid = GridNoise(clip, multiplier, dimensions * steps)
        spent = (Fraction(epsilon or 1), Fraction(str(delta)))
        return TrainingGuarantee(multiplier, (grid,), *spent, sampling, steps, unit, rows_per_person)

    monkeypatch.setattr(logistic, "training_guarantee", stated)


def declared(**given):
    """Return a model for which everything but the rows is public."""
    public = {"rows": 50, "classes": [0, 1], "epochs": 2, "noise": 2, "rng": 3}
    return DPLogisticRegression(**public | given)


# -- messages ------------------------------------------------------------------------------------------

number = float(SECRET)
LABELS = np.array([0, 1] * 10)
GOOD = np.full((20, 2), number)
BAD_FEATURES = {
    "NaN": np.where(np.arange(40).reshape(20, 2) == 7, np.nan, number),
    "infinity": np.where(np.arange(40).reshape(20, 2) == 7, -np.inf, number),
    "text": np.array([[SECRET + "x", "1"]] * 20),
    "text in a frame": pd.DataFrame({"a": [SECRET] * 20}),
    "dates in a frame": pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 20)}),
    "missing in a frame": pd.DataFrame({"a": [number, None] * 10}),
    "a flat list": [number] * 20,
    "ragged": [[number]] * 19 + [[number, number]],
    "objects": np.array([[{SECRET: 1}]] * 20),
    "lists": np.array([[[number], [number, 1]]] * 20, dtype=object),
    "masked": np.ma.masked_array(GOOD, mask=np.arange(40).reshape(20, 2) == 7),
    "fewer columns": GOOD[:, :1],
}
BAD_LABELS = {
    "one class": np.full(20, number),
    "numbers": np.arange(20) + number,
    "NaN": np.where(np.arange(20) == 7, np.nan, LABELS),
    "too few": LABELS[:-1],
    "several types": np.array([SECRET, 1] * 10, dtype=object),
    "two columns": np.full((20, 2), number),
    "complex numbers": LABELS + 1j * number,
    "others than declared": np.array([SECRET, "no"] * 10),
}


def told(error):
    """Return everything that a traceback would show of an error and of those before it."""
    texts = []
    while error is not None:
        texts.append(str(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return " ".join(texts)


@pytest.mark.parametrize("kind", BAD_FEATURES)
def test_no_message_about_features_tells_one(kind):
    model = DPLogisticRegression(epochs=1, noise=2)
    if kind == "fewer columns":
        model.fit(GOOD, LABELS)
    with pytest.raises(ValueError, match="DPLogisticRegression") as caught:
        model.predict(BAD_FEATURES[kind]) if kind == "fewer columns" else model.fit(
            BAD_FEATURES[kind], LABELS
        )

    assert SECRET[:6] not in told(caught.value)
    assert "20" not in told(caught.value).replace("2020", "")  # nor how many rows there are


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_no_message_about_labels_tells_one(kind):
    public = {"classes": ["yes", "no"]} if kind == "others than declared" else {}
    with pytest.raises(ValueError, match=r"label|class|'y'") as caught:
        DPLogisticRegression(**public).fit(GOOD, BAD_LABELS[kind])

    assert SECRET[:6] not in told(caught.value)
    assert "20" not in told(caught.value)


# -- failures ------------------------------------------------------------------------------------------


def test_whether_training_succeeds_does_not_depend_on_a_person():
    """An error with a person and none without would itself tell about the person."""
    hostile = [0.0, 5e-324, -1.0, 1e150, -1e300, 1.7976931348623157e308]
    rows = np.array(list(itertools.product(hostile, repeat=2)))
    labels = np.arange(len(rows)) % 2
    outcomes = set()
    for left_out in (*range(0, len(rows), 7), None):
        kept = np.arange(len(rows)) != (-1 if left_out is None else left_out)
        for y in (labels[kept], np.ones(kept.sum(), dtype=int)):
            model = declared().fit(rows[kept], y)
            outcomes.add(
                (np.isfinite(model.coef_).all(), model.steps_, model.noise_, model.predict(rows).shape)
            )
    one = declared().fit(rows[:1], labels[:1])

    assert outcomes == {(True, one.steps_, one.noise_, (len(rows),))}


@pytest.mark.parametrize("size", [1e300, 1.7e308, 5e-324, 1e-160])
def test_numbers_of_any_size_move_no_sum_by_more_than_the_clip(monkeypatch, size):
    """A length that overflows to infinity, or vanishes, must not let a row through unclipped."""
    sums = []
    real = descent.TailMean.add

    def noted(self, value):
        sums.append(value.copy())
        real(self, value)

    monkeypatch.setattr(descent.TailMean, "add", noted)
    grid = GridNoise(1, Fraction(2), 8)
    monkeypatch.setattr(GridNoise, "draw", lambda self, shape, source: np.zeros(shape, dtype=np.int64))
    for constant in (True, False):
        sums.clear()
        declared(rows=1, batch=1, epochs=3, fit_intercept=constant, average=False).fit(
            [[size, -size, 0.0]], [1]
        )
        steps = np.diff(np.concatenate([np.zeros_like(sums[:1]), np.array(sums)]), axis=0).reshape(3, -1)
        whole = np.rint(steps * grid.longest).astype(np.int64)

        assert ((whole**2).sum(axis=1) <= grid.longest**2).all()


def test_predictions_for_rows_of_any_size_are_chances():
    model = declared().fit(SeededSource(1).generator().normal(size=(50, 2)), np.arange(50) % 2)
    chances = model.predict_proba([[1e308, -1e308], [1e308, 1e308], [5e-324, 0.0]])

    assert ((chances >= 0) & (chances <= 1)).all()
    assert chances.sum(axis=1) == pytest.approx(1)


# -- planted: what the accounting would not cover ------------------------------------------------------


def test_the_public_numbers_are_the_same_with_a_person_and_without():
    """Steps, chance and noise that moved with the rows would have to be paid for."""
    draws = SeededSource(2).generator()
    rows, labels = draws.normal(size=(60, 2)), np.arange(60) % 2
    with_them, without = declared().fit(rows, labels), declared().fit(rows[1:], labels[1:])

    for name in ("steps_", "sampling_", "noise_"):
        assert getattr(with_them, name) == getattr(without, name)
    assert with_them.guarantee_ == without.guarantee_


def test_an_error_of_ours_is_what_comes():
    for X in BAD_FEATURES.values():
        if X is not BAD_FEATURES["fewer columns"]:
            with pytest.raises(EvenhandError):
                DPLogisticRegression().fit(X, LABELS)
