"""Rates come from rows that did not train the classifier."""

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.sampling import bernoulli
from unit.learn._parity_cases import GROUP, X, Y, fitted, rows


@pytest.mark.parametrize("said", [None, False, 1, "yes"])
def test_rows_must_be_said_to_be_held_out(said):
    """On training rows no bound holds, and a silent default would be read as a promise."""
    with pytest.raises(
        InvalidParameterError, match="'held_out' parameter of ParityPostProcessor must be True"
    ):
        fitted(held_out=said)


def test_rows_known_to_have_trained_the_classifier_are_refused():
    """Saying so does not make it so, where this process knows better."""
    model = fitted(prefit=False, holdout=0.5)
    again = ParityPostProcessor(model.estimator_, held_out=True)
    coins = bernoulli("1/2", size=len(X), source=SeededSource(1))
    with pytest.raises(InvalidParameterError, match="must be rows that did not train the classifier"):
        again.fit(X[~coins], group=GROUP[~coins])

    again.fit(X[coins], group=GROUP[coins])


def test_each_row_trains_or_is_counted_by_its_own_coin():
    """Independent coins are what makes the larger epsilon enough."""
    model = fitted(prefit=False, holdout=0.25, rng=5)
    coins = bernoulli("1/4", size=len(X), source=SeededSource(5))

    assert model.table_.counts.sum() == coins.sum()
    assert 0.15 < coins.mean() < 0.35
    assert fitted(prefit=False, holdout=0.1).table_.counts.sum() < coins.sum()


def test_as_printed_may_count_the_training_rows_but_states_no_bound():
    model = fitted(epsilon=1, as_printed=True, held_out=False)

    assert model.bounds_ is None
    with pytest.raises(InvalidParameterError, match="there are no bounds"):
        model.measured(X, group=GROUP)


def test_as_printed_is_algorithm_2_with_each_groups_own_size():
    data = rows((0.6, 0.3), (300, 700))
    model = fitted(epsilon="1/2", as_printed=True, data=data)
    alpha, beta = (n1 / n for n1, n in zip(model.table_.counts[:, 1], (300, 700), strict=True))

    assert model.table_.sizes.tolist() == [300, 700]
    assert model.rates_.keep[0] == pytest.approx((alpha + beta) / (2 * alpha))
    assert model.rates_.promote[1] == pytest.approx((alpha - beta) / (2 * (1 - beta)))
    assert model.bounds_.parts[0].printed.expected == pytest.approx(0.057289546634, abs=1e-9)
    assert model.bounds_.parts[0].printed.likely == pytest.approx(0.193913363592, abs=1e-9)
    assert model.bounds_.sizes == "public"
    assert str(model.rates_guarantee_.unit) == "replace one"


def test_rows_of_a_private_classifier_are_known_though_it_was_trained_elsewhere():
    """The commonest mistake: one table for training and for the rates."""
    trained = DPLogisticRegression(noise=1, epochs=1, rng=1).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="must be rows that did not train the classifier"):
        ParityPostProcessor(trained, held_out=True).fit(X, group=GROUP)
