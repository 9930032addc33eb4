"""What is known of measures: words, limits and which way is better."""

import numpy as np
import pytest

from evenhand.measure import MEASURES
from evenhand.measure.gaps import COMPARED
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES, CLASSIFIER_RATES


def test_every_measure_is_described():
    """A new measure without words would break the sentence about it."""
    assert list(CLASSIFIER_MEASURES) == list(MEASURES)
    assert all(measure.words for measure in CLASSIFIER_MEASURES.values())


def test_only_comparisons_with_the_privileged_group_have_a_sign():
    signed = [name for name, measure in CLASSIFIER_MEASURES.items() if measure.signed]

    assert signed == [name for name in MEASURES if name in COMPARED]


@pytest.mark.parametrize("name", MEASURES)
def test_better_is_higher_for_everybody_and_nearer_to_no_disparity_between_groups(name):
    worst, best = {"acc": (0.5, 1.0), "di": (0.5, 1.0)}.get(name, (0.5, 0.0))
    if name in {"f1", "recall", "balanced_accuracy", "auc"}:
        worst, best = 0.5, 1.0
    goodness = CLASSIFIER_MEASURES[name].goodness

    assert goodness(np.array([best]))[0] > goodness(np.array([worst]))[0]


def test_a_measure_that_is_not_known_may_have_any_value():
    assert CollectTask().measure("paper's own").limits == (-np.inf, np.inf)
    assert CLASSIFIER_RATES["tpr"].limits == (0, 1)
    assert CLASSIFIER_RATES["people"].limits == (0, np.inf)


def test_limits_of_one_name_differ_between_tasks():
    """Rights refused are people where something is decided, and a share where a classifier is trained."""
    assert DecideTask(rule="x > 1").group_number("refused").limits == (0, np.inf)
    assert DecideTask(rule="x > 1").measure("alpha").words == "largest minus smallest bias of an entity"
