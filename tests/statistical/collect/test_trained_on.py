"""How often training is suspected: trees that memorised reports, and outcomes that nothing memorised."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

from evenhand.collect import GRR, group_rates
from evenhand.collect.estimates.outcome_counts import SUSPECT
from evenhand.errors import IndependenceWarning
from statistical._exact import ALPHA

pytestmark = [pytest.mark.statistical]

PEOPLE = 10_000
TREES = 30
PROTOCOL = GRR(k=2, epsilon=1)


def _is_suspected(outcome, reports, trained_on):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        group_rates(outcome, reports, trained_on=trained_on)
    return any(issubclass(each.category, IndependenceWarning) for each in caught)


def _people(seed, n=PEOPLE):
    draws = np.random.default_rng([20, seed])
    group = (draws.random(n) < 0.4).astype(int)
    return draws, group, PROTOCOL.privatize(group, rng=draws), draws.random(n) < 0.5


def _tree(seed):
    draws, group, reports, trained = _people(seed)
    features = draws.normal(size=(PEOPLE, 8))
    features[:, 0] += group
    tree = DecisionTreeClassifier(max_depth=10, min_samples_leaf=5, random_state=0)
    predicted = tree.fit(features[trained], reports.values[trained]).predict(features)
    return predicted, reports, trained


def test_trees_that_memorised_reports_are_suspected():
    """Without the comparison not one of them was; their gaps were more than twice the true ones."""
    trees = [_tree(seed) for seed in range(TREES)]

    assert [_is_suspected(*tree) for tree in trees] == [True] * TREES
    assert sum(_is_suspected(*tree[:2], None) for tree in trees) == 0


def test_outcomes_that_nothing_memorised_are_suspected_no_more_often_than_stated():
    """Outcomes follow the true group as closely as the reports do: where alarms are likeliest."""
    alarms = 0
    for seed in range(1_000):
        draws, group, reports, trained = _people(seed, n=2_000)
        alarms += _is_suspected(np.where(draws.random(2_000) < 0.7, group, 1 - group), reports, trained)

    assert binom.sf(alarms - 1, 1_000, SUSPECT) > ALPHA
