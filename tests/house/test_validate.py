"""Public parameters are refused in one wording."""

import numpy as np
import pytest

from evenhand._validate import boolean, integer, one_of
from evenhand.errors import InvalidParameterError


def test_yes_and_no_are_true_and_false_alone():
    assert boolean("keep_order", value=True, owner="privatize_file") is True
    for value in ("no", 0, None, np.False_):
        with pytest.raises(
            InvalidParameterError, match=r"'keep_order' parameter .* must be True or False\. Got"
        ):
            boolean("keep_order", value, owner="privatize_file")


def test_whole_numbers_of_any_kind_become_ints():
    assert integer("k", np.uint8(3), owner="GRR", low=2) == 3
    assert type(integer("k", np.uint8(3), owner="GRR")) is int


@pytest.mark.parametrize("value", [True, 2.0, "2", None, 1, 11])
def test_anything_else_is_refused(value):
    with pytest.raises(InvalidParameterError, match=r"must be a whole number from 2 to 10\. Got"):
        integer("k", value, owner="GRR", low=2, high=10)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(None, None, "a whole number"), (2, None, "of at least 2"), (None, 9, "of at most 9")],
)
def test_the_message_says_the_range(low, high, words):
    with pytest.raises(InvalidParameterError, match=words):
        integer("k", "x", owner="GRR", low=low, high=high)


def test_a_choice_is_one_of_those_listed():
    assert one_of("how", "uniform", ("uniform", "optimal"), owner="split_budget") == "uniform"
    with pytest.raises(
        InvalidParameterError, match=r"must be one of 'uniform', 'optimal'\. Got 'best' instead"
    ):
        one_of("how", "best", ("uniform", "optimal"), owner="split_budget")


def test_a_wrong_choice_of_several_words_is_shown_in_quotes():
    with pytest.raises(InvalidParameterError, match=r"Got 'replce one' instead"):
        one_of("unit", "replce one", ("replace one", "one person"), owner="Guarantee")
