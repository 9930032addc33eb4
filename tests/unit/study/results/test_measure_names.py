"""Names and directions of measures."""

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import MEASURES
from evenhand.measure.gaps import COMPARED
from evenhand.study.results.measure_names import (
    WORDS,
    goodness,
    is_signed,
    measure_named,
    possible,
    possible_rate,
)


def test_every_measure_has_words():
    """A new measure without words would break the sentence about it."""
    assert list(WORDS) == list(MEASURES)


def test_other_names_are_listed_when_a_name_is_refused():
    with pytest.raises(InvalidParameterError, match="one of 'accuracy', 'acc'"):
        measure_named("precision", ["acc"], parameter="x", owner="frontier")


def test_only_comparisons_with_the_privileged_group_have_a_sign():
    assert [name for name in MEASURES if is_signed(name)] == [name for name in MEASURES if name in COMPARED]


@pytest.mark.parametrize("measure", MEASURES)
def test_better_is_higher_for_everybody_and_nearer_to_no_disparity_between_groups(measure):
    worst, best = {"acc": (0.5, 1.0), "di": (0.5, 1.0)}.get(measure, (0.5, 0.0))
    if measure in {"f1", "recall", "balanced_accuracy", "auc"}:
        worst, best = 0.5, 1.0

    assert goodness(measure, np.array([best]))[0] > goodness(measure, np.array([worst]))[0]


def test_a_measure_that_is_not_known_may_have_any_value():
    assert possible("paper's own") == (-np.inf, np.inf)
    assert possible_rate("tpr") == (0, 1)
    assert possible_rate("people") == (0, np.inf)
