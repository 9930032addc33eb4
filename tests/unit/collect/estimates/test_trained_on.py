"""People in the training of a model beside the others: what it memorised of their reports shows."""

import math
import re
import warnings

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from evenhand.collect import GRR, OUE, group_rates, strategy_for
from evenhand.collect.estimates.outcome_counts import SUSPECT, OutcomeCounts, differing_groups
from evenhand.errors import IndependenceWarning, InvalidParameterError

PEOPLE = 10_000


def memorised(protocol, seed=3):
    """Return predictions of a tree that was trained on one half to predict what people reported."""
    draws = np.random.default_rng(seed)
    group = (draws.random(PEOPLE) < 0.4).astype(int)
    features = draws.normal(size=(PEOPLE, 8))
    features[:, 0] += group
    reports = protocol.privatize(group, rng=seed)
    said = protocol.indicators(reports)[:, 1]
    trained = draws.random(PEOPLE) < 0.5
    tree = DecisionTreeClassifier(max_depth=10, min_samples_leaf=5, random_state=0)
    return tree.fit(features[trained], said[trained]).predict(features), reports, trained, group


@pytest.mark.parametrize("protocol", [GRR(k=2, epsilon=1), OUE(k=2, epsilon=2)], ids=repr)
def test_a_tree_that_memorised_reports_is_noticed(protocol):
    """If this is false, a gap of 30 points is given as one of 82, with a narrow interval."""
    predicted, reports, trained, _ = memorised(protocol)
    with pytest.warns(IndependenceWarning, match="people in the training report group"):
        group_rates(predicted, reports, trained_on=trained)


def test_people_left_out_of_the_training_have_right_rates():
    """What the warning advises must be right."""
    predicted, reports, trained, group = memorised(GRR(k=2, epsilon=1))
    found = group_rates(predicted[~trained], reports[~trained])
    low, high = found.interval(1, against=0)

    assert low < predicted[~trained & (group == 1)].mean() - predicted[~trained & (group == 0)].mean() < high


def test_a_memorised_column_is_noticed_where_columns_are_crossed():
    predicted, reports, trained, _ = memorised(GRR(k=2, epsilon=1))
    other = GRR(k=3, epsilon=1).privatize(np.arange(PEOPLE) % 3, rng=4)
    with pytest.warns(IndependenceWarning, match="more or less often"):
        group_rates(predicted, {"group": reports, "other": other}, trained_on=trained)


def test_reports_of_several_columns_made_together_are_compared_too():
    codes = {"a": np.arange(PEOPLE) % 2, "b": np.arange(PEOPLE) % 3}
    joint = strategy_for({"a": 2, "b": 3}, epsilon=1, strategy="combined").privatize(codes, rng=5)
    trained = np.random.default_rng(1).random(PEOPLE) < 0.5
    leaning = trained & (joint["a"].values == 1)
    predicted = np.random.default_rng(2).random(PEOPLE) < np.where(leaning, 0.5, 0.3)
    with pytest.warns(IndependenceWarning, match="more or less often"):
        group_rates(predicted, joint, trained_on=trained)


def test_observed_outcomes_are_not_suspected():
    draws = np.random.default_rng(8)
    group, trained = np.arange(PEOPLE) % 2, draws.random(PEOPLE) < 0.3
    reports = GRR(k=2, epsilon=1).privatize(group, rng=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = group_rates(draws.random(PEOPLE) < 0.2 + 0.3 * group, reports, trained_on=trained)

    assert found.n == PEOPLE


def test_the_warning_of_training_holds_no_counts():
    predicted, reports, trained, _ = memorised(GRR(k=2, epsilon=1))
    with pytest.warns(IndependenceWarning) as caught:
        group_rates(predicted, reports, trained_on=trained)

    assert caught[0].filename == __file__
    assert not re.search(r"\d{2}", str(caught[0].message))


@pytest.mark.parametrize(
    "trained",
    [np.ones(PEOPLE, bool), np.zeros(PEOPLE, bool), np.arange(PEOPLE), np.ones(3, bool)],
    ids=["everybody", "nobody", "positions", "too few"],
)
def test_a_part_that_cannot_be_compared_is_refused(trained):
    """Positions in the place of truth values would choose other people."""
    predicted, reports, _, _ = memorised(GRR(k=2, epsilon=1))
    with pytest.raises(InvalidParameterError, match="'trained_on' parameter of group_rates"):
        group_rates(predicted, reports, trained_on=trained)


def test_the_comparison_is_exact():
    """A part is suspected exactly where the tail of the hypergeometric law is below the stated chance."""
    people, support, drawn = 60, 30, 30
    chances = [
        math.comb(support, j) * math.comb(people - support, drawn - j) / math.comb(people, drawn)
        for j in range(drawn + 1)
    ]

    def counts(n, supporting):
        return OutcomeCounts(np.array([0, n]), np.array([[[0]], [[supporting]]]))

    for found in range(drawn + 1):
        rare = min(math.fsum(chances[: found + 1]), math.fsum(chances[found:])) < SUSPECT / 4
        suspected = differing_groups(counts(people, support), counts(drawn, found)).size == 1

        assert suspected == rare
