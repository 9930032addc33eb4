"""Weights of rows: a row that weighs three is three rows, in the scores, the prices and what is counted."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from evenhand.errors import InvalidParameterError
from evenhand.learn.projection.classifier import FairProjection
from evenhand.learn.projection.inputs import read_weights

DRAW = np.random.default_rng(11)
GROUP = DRAW.integers(0, 3, 240)
X = np.column_stack([DRAW.normal(size=240) + 0.7 * GROUP, DRAW.normal(size=240)])
Y = (X[:, 0] + DRAW.normal(size=240) > 0.5).astype(int)
TIMES = DRAW.integers(0, 4, 240)
SHARES = DRAW.dirichlet(np.ones(3), 240)
MANY = np.repeat(np.arange(240), TIMES)


def both(given, *, prefit=None, **parameters):
    """Return the model of weighted rows and the model of repeated ones."""
    estimator = GaussianNB() if prefit is None else prefit
    model = FairProjection(estimator, prefit=prefit is not None, **parameters)
    name, groups = given
    weighted = model.fit(X, Y, **{name: groups}, sample_weight=0.5 * TIMES)
    repeated = FairProjection(**model.get_params(deep=False)).fit(X[MANY], Y[MANY], **{name: groups[MANY]})
    return weighted, repeated


@pytest.mark.parametrize("kind", ["parity", "odds"])
@pytest.mark.parametrize("divergence", ["kl", "ce"])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
@pytest.mark.parametrize("given", [("group", GROUP), ("group_proba", SHARES)], ids=["known", "shared"])
def test_a_weight_is_a_number_of_equal_rows(kind, divergence, tolerance, given):
    """A survey's weights say for how many people a row stands; half of each must change nothing."""
    weighted, repeated = both(given, kind=kind, divergence=divergence, tolerance=tolerance)
    one, other = (model.predict_proba(X, **{given[0]: given[1]}) for model in (weighted, repeated))

    assert one == pytest.approx(other, abs=1e-7)
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-9)
    assert weighted.largest_tolerance_ == pytest.approx(repeated.largest_tolerance_, abs=1e-9)


@pytest.mark.parametrize("kind", ["parity", "odds"])
def test_the_weighted_means_are_as_close_as_asked(kind):
    """Against the definition: for parity, the weighted mean of each group over the weighted mean of all."""
    model = FairProjection(LogisticRegression(), kind, tolerance=0.02, marginals="calibrated")
    scores = model.fit(X, Y, group=GROUP, sample_weight=TIMES).predict_proba(X, group=GROUP)
    smoothed = model.estimator_.predict_proba(X) + 1e-4
    belongs = smoothed / smoothed.sum(axis=1, keepdims=True) if kind == "odds" else np.ones_like(scores)
    for c in (0, 1):
        heavy = TIMES * belongs[:, c]
        overall = np.average(scores[:, c], weights=heavy)
        parts = [np.flatnonzero(s == GROUP) for s in range(3)]
        means = [np.average(scores[part, c], weights=heavy[part]) for part in parts]

        assert np.abs(np.array(means) / overall - 1).max() <= 0.02 + 1e-7


@pytest.mark.parametrize("given", [("group", GROUP), ("group_proba", SHARES)], ids=["known", "shared"])
def test_what_is_counted_is_weighted_too(given):
    """The rows of fit are counted with their weights, others with weights of their own."""
    trained = LogisticRegression().fit(X, Y)
    weighted, repeated = both(given, prefit=trained, divergence="ce")
    name, groups = given
    told = weighted.curve(X, Y, **{name: groups}, sample_weight=TIMES, tolerances=[0.0, 0.1])
    for curve in (weighted.curve(tolerances=[0.0, 0.1]), told):
        other = repeated.curve(tolerances=[0.0, 0.1])

        assert curve.gap == pytest.approx(other.gap, abs=1e-9)
        assert curve.accuracy == pytest.approx(other.accuracy, abs=1e-9)
        assert curve.objective == pytest.approx(other.objective, abs=1e-9)
    assert weighted.tolerance_for(0.4, X, Y, **{name: groups}, sample_weight=TIMES) == pytest.approx(
        repeated.tolerance_for(0.4), abs=1e-6
    )


@pytest.mark.parametrize("given", [("group", GROUP), ("group_proba", SHARES)], ids=["known", "shared"])
def test_the_printed_form_is_weighted_too(given):
    """Its penalty hangs on the number of rows, so only weights that are all alike leave it as it is."""
    trained, groups = LogisticRegression().fit(X, Y), dict([given])
    plain = FairProjection(trained, "odds", as_printed=True, prefit=True)
    without = plain.fit(X, Y, **groups).prices_
    alike = plain.fit(X, Y, **groups, sample_weight=np.full(240, 7)).prices_
    others = plain.fit(X, Y, **groups, sample_weight=TIMES).prices_

    assert alike == pytest.approx(without, abs=1e-9)
    assert np.abs(others - without).max() > 1e-3


WRONG = [np.ones(5), np.full(240, -1.0), np.full(240, np.nan), np.zeros(240), np.ones((240, 1)), "many"]


@pytest.mark.parametrize("weights", WRONG)
def test_other_weights_are_refused(weights):
    with pytest.raises(InvalidParameterError, match=r"'sample_weight' parameter of FairProjection\.fit"):
        FairProjection(LogisticRegression()).fit(X, Y, group=GROUP, sample_weight=weights)


def test_weights_have_a_mean_of_one():
    assert read_weights([1, 2, 3], 3, owner="example").tolist() == [0.5, 1.0, 1.5]
    assert read_weights(None, 3, owner="example") is None


def test_a_group_that_weighs_nothing_is_refused():
    """Its share would be 0, and its price infinite."""
    with pytest.raises(InvalidParameterError, match="'group' parameter"):
        FairProjection(LogisticRegression()).fit(X, Y, group=GROUP, sample_weight=1.0 * (GROUP > 0))


def test_an_estimator_that_takes_no_weights_is_refused_unless_it_is_fitted():
    """Trained without the weights and projected with them, it would be neither."""
    nearest = KNeighborsClassifier()
    with pytest.raises(InvalidParameterError, match=r"takes weights.*prefit=True"):
        FairProjection(nearest).fit(X, Y, group=GROUP, sample_weight=TIMES)
    model = FairProjection(nearest.fit(X, Y), prefit=True).fit(X, Y, group=GROUP, sample_weight=TIMES)

    assert np.isfinite(model.prices_).all()


def test_weights_without_rows_are_refused():
    model = FairProjection(LogisticRegression()).fit(X, Y, group=GROUP)
    with pytest.raises(InvalidParameterError, match="'X' parameter"):
        model.curve(sample_weight=TIMES)
