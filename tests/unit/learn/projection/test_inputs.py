"""What a projection is given: read in any shape it may have, refused without telling a value."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from evenhand.errors import InvalidParameterError
from evenhand.learn.projection import inputs

SECRET = "a-group-nobody-may-read"


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.25), np.int64(1)])
def test_tolerances_are_numbers(value):
    assert inputs.check_tolerance(value, owner="example") == value


@pytest.mark.parametrize("value", [-0.1, "0.1", None, True, np.nan, np.inf, [0.1]])
def test_other_tolerances_are_refused(value):
    with pytest.raises(InvalidParameterError, match="'tolerance' parameter of example must be a number of"):
        inputs.check_tolerance(value, owner="example")


@pytest.mark.parametrize("estimator", [LinearSVC(), LogisticRegression, None, "lightgbm"])
def test_what_gives_no_probabilities_is_refused(estimator):
    with pytest.raises(InvalidParameterError, match="a scikit-learn classifier with predict_proba"):
        inputs.check_classifier(estimator, owner="example")


def test_scores_are_smoothed():
    made = inputs.read_scores([[0, 1], [0.25, 0.75]], 2, owner="example")

    assert made[0] == pytest.approx([1e-4 / 1.0002, 1.0001 / 1.0002])
    assert made.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    "scores",
    [[[0.5, 0.4]], [[0.2, 0.3, 0.5]], [[-0.5, 1.5]], [[np.nan, 1]], [0.5, 0.5]],
    ids=["sum", "classes", "negative", "missing", "flat"],
)
def test_scores_that_are_no_probabilities_are_refused(scores):
    with pytest.raises(InvalidParameterError, match="one probability for each of its classes"):
        inputs.read_scores(scores, 2, owner="example")


@pytest.mark.parametrize(
    "group",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
    ],
    ids=["list", "array", "pandas", "polars"],
)
def test_groups_have_labels_of_any_kind(group):
    codes, labels, _ = inputs.read_groups(group, 3, n_classes=2, owner="example")

    assert (codes.tolist(), labels) == ([1, 0, 1], ["a", "b"])
    assert inputs.new_groups(["a", "b", "b"], 3, labels, owner="example").tolist() == [0, 1, 1]


@pytest.mark.parametrize("group", [[SECRET] * 3, list(range(1_001))], ids=["one", "many"])
def test_too_few_or_too_many_groups_are_refused(group):
    with pytest.raises(InvalidParameterError, match="at least two groups, and of at most 1,000") as caught:
        inputs.read_groups(group, len(group), n_classes=2, owner="example")

    assert SECRET not in str(caught.value)


def test_an_unknown_group_is_refused_and_not_named():
    with pytest.raises(InvalidParameterError, match="labels of groups that fit has seen") as caught:
        inputs.new_groups(["a", SECRET], 2, ["a", "b"], owner="example")

    assert SECRET not in str(caught.value)


def test_an_unknown_label_is_refused_and_not_named():
    assert inputs.read_labels([1, 0, 1.0], 3, [0, 1], owner="example").tolist() == [1, 0, 1]
    with pytest.raises(InvalidParameterError, match="labels that are classes of the estimator") as caught:
        inputs.read_labels(["yes", SECRET], 2, ["no", "yes"], owner="example")

    assert SECRET not in str(caught.value)


def test_columns_are_as_long_as_the_rows():
    for read in (
        lambda: inputs.read_groups(["a", "b"], 3, n_classes=2, owner="example"),
        lambda: inputs.new_groups(["a", "b"], 3, ["a", "b"], owner="example"),
        lambda: inputs.read_shares(np.full((2, 2), 0.5), 3, n_classes=2, n_groups=2, owner="example"),
    ):
        with pytest.raises(InvalidParameterError, match="must be as long as 'X'"):
            read()


def test_missing_groups_are_refused():
    with pytest.raises(InvalidParameterError, match="without missing values"):
        inputs.read_groups(["a", None, "b"], 3, n_classes=2, owner="example")


def test_probabilities_of_groups_are_read_for_all_classes_or_for_each():
    flat = np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]])
    each = np.stack([flat, flat[::-1]], axis=1)

    assert inputs.read_shares(flat, 3, n_classes=2, n_groups=None, owner="example") == pytest.approx(flat)
    made = inputs.read_shares(each, 3, n_classes=2, n_groups=2, owner="example")
    assert made.shape == (2, 3, 2)
    assert made[1] == pytest.approx(flat[::-1])


@pytest.mark.parametrize(
    ("shares", "match"),
    [
        ([0.5, 0.5], "another shape"),
        ([[1.0], [1.0]], "another shape"),
        ([[0.2, 0.3, 0.5]] * 2, "another shape"),
        (np.full((2, 3, 2), 0.5), "another shape"),
        ([[0.5, 0.6]] * 2, "add up to one"),
        ([[-0.5, 1.5]] * 2, "add up to one"),
        ([[np.nan, 0.5]] * 2, "add up to one"),
    ],
)
def test_other_probabilities_are_refused(shares, match):
    with pytest.raises(InvalidParameterError, match=match):
        inputs.read_shares(shares, 2, n_classes=2, n_groups=2, owner="example")
