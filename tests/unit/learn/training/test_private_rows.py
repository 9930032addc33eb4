"""Rows that a private model is given: what is taken, what is refused, and that no message tells a value."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from evenhand.errors import InvalidParameterError
from evenhand.learn.training.private_rows import (
    LARGEST_FEATURE,
    assumptions_about,
    positive,
    public_classes,
    read_features,
    read_labels,
    refuse_others,
)

TABLE = {"age": [31, 42, 53], "member": [True, False, True], "pay": [1.5, -2.0, 0.0]}
EXPECTED = [[31, 1, 1.5], [42, 0, -2], [53, 1, 0]]


class Model(BaseEstimator):
    """Something that notes names and widths."""


def read(X, model=None, **given):  # noqa: N803 - scikit-learn's name
    return read_features(model or Model(), X, **{"place": "fit", "reset": True} | given)


# -- features ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE).convert_dtypes(),
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        pa.RecordBatch.from_pydict(TABLE),
        np.array(EXPECTED),
        np.asfortranarray(EXPECTED),
        EXPECTED,
        np.array(EXPECTED, dtype=object),
        np.array(EXPECTED, dtype=np.longdouble),
    ],
)
def test_frames_and_arrays_become_rows_of_floats(frame):
    rows = read(frame)

    assert rows.tolist() == EXPECTED
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous


def test_names_and_widths_are_noted_and_compared():
    model = Model()
    read(pd.DataFrame(TABLE), model)

    assert model.feature_names_in_.tolist() == ["age", "member", "pay"]
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="names should match"):
        read(pd.DataFrame(TABLE).rename(columns={"age": "years"}), model, reset=False)
    unnamed = Model()
    read(EXPECTED, unnamed)
    with pytest.raises(ValueError, match="X has 2 features, but Model is expecting 3"):
        read([[1.0, 2.0]], unnamed, reset=False)


def test_columns_that_are_numbered_are_taken_in_order():
    assert read(pd.DataFrame(EXPECTED)).tolist() == EXPECTED


def test_values_beyond_the_largest_count_as_it():
    """The length of a row must be a number, or clipping would not know what to divide by."""
    rows = read([[1e300, -1.7e308], [1.0, 5e-324]])

    assert rows.tolist() == [[LARGEST_FEATURE, -LARGEST_FEATURE], [1.0, 5e-324]]
    assert np.isfinite((rows**2).sum())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[7.25, np.nan]], "a NaN among them"),
        ([[7.25, -np.inf]], r"an infinity \(inf\) among them"),
        ([[np.inf, np.nan]], "a NaN among them"),
        ([["7.25secret"]], "PublicEncoder"),
        (np.array([["7.25secret"]], dtype=object), "PublicEncoder"),
        (np.array([[{"secret": 7.25}]]), "PublicEncoder"),
        (np.array([["2020-01-07"]], dtype="datetime64[D]"), "PublicEncoder"),
        ([7.25, 7.25], "Reshape your data"),
        ([[[7.25]]], "3 dimension"),
        ([[7.25], [7.25, 7.25]], "several lengths"),
        ([[7.25 + 1j]], "Complex data not supported"),
        (csr_array([[7.25]]), "a sparse matrix"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((7, 0)), r"0 feature\(s\) \(shape=\(1, 0\)\)"),
        (pl.DataFrame(), r"0 feature\(s\)"),
        (pd.DataFrame({"race": ["secret"], "pay": [7.25]}), "columns that hold no numbers: 'race'"),
        (pd.DataFrame({f"text{i}": ["secret"] for i in range(9)}), "'text4' and others"),
        (pl.DataFrame({"pay": [7.25, None]}), "a null or NaN in column 'pay'"),
        (pd.DataFrame({"pay": [7.25, None]}), "in column 'pay'"),
        (pl.DataFrame({"pay": [7.25, float("nan")]}), "a NaN among them"),
        (pl.DataFrame({"pay": [7.25]}).lazy(), "collect"),
    ],
)
def test_what_is_refused_is_refused_without_a_value(given, words):
    with pytest.raises((InvalidParameterError, ValueError), match=words) as caught:
        read(given)

    told = f"{caught.value}{caught.value.__cause__ or ''}{caught.value.__context__ or ''}"
    assert getattr(caught.value, "parameter", "X") == "X"
    assert "secret" not in told
    assert "7.25" not in told


# -- labels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1, 0, 1], [0, 1]),
        (["yes", "no", "yes"], ["no", "yes"]),
        ([True, False, True], [False, True]),
        (pd.Series(["b", "a", "b"]), ["a", "b"]),
        (pl.Series([2.0, 1.0, 2.0]), [1.0, 2.0]),
        (pa.array([5, 3, 5]), [3, 5]),
    ],
)
def test_labels_become_places_among_the_sorted_classes(y, classes):
    places, found = read_labels(y, 3, owner="Model.fit")

    assert places.tolist() == [1, 0, 1]
    assert found.tolist() == classes


def test_declared_classes_need_not_all_occur():
    declared = public_classes(["c", "a", "b"], owner="Model")
    places, found = read_labels(["b", "b"], 2, owner="Model.fit", classes=declared)

    assert places.tolist() == [1, 1]
    assert found.tolist() == ["a", "b", "c"]


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        places, _ = read_labels(np.array([[1], [0]]), 2, owner="Model.fit")

    assert places.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "this Model requires y to be passed, but the target y is None"),
        ([1, 0], "as long as 'X'"),
        ([7, 7, 7], "labels of two classes at least. Got one class"),
        ([7.25, 8.5, 9.75], "Unknown label type"),
        ([0.0, 1.0, np.inf], "contains infinity"),
        ([0.0, 1.0, np.nan], "missing"),
        (np.zeros((3, 2)), "one dimension"),
        (np.array(["secret", 7, 7], dtype=object), "labels of several types"),
    ],
)
def test_labels_that_cannot_be_are_refused_without_a_value(y, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_labels(y, 3, owner="Model.fit")

    assert "secret" not in str(caught.value)
    assert "7" not in str(caught.value)


def test_labels_outside_the_declared_classes_are_refused_without_a_value():
    with pytest.raises(InvalidParameterError, match="labels that are among 'classes'") as caught:
        read_labels(["a", "secret"], 2, owner="Model.fit", classes=np.array(["a", "b"]))

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("classes", [[], ["a"], ["a", "a"], np.array(["a", 1], dtype=object), 3])
def test_classes_that_cannot_be_are_refused(classes):
    with pytest.raises(InvalidParameterError, match="'classes' parameter of Model"):
        public_classes(classes, owner="Model")


def test_no_classes_are_no_classes():
    assert public_classes(None, owner="Model") is None


# -- the rest ------------------------------------------------------------------------------------------


def test_weights_are_refused_with_the_reason():
    refuse_others({"sample_weight": None}, owner="Model.fit")

    with pytest.raises(InvalidParameterError, match="rows that count once"):
        refuse_others({"sample_weight": [1.0]}, owner="Model.fit")


def test_assumptions_say_what_is_taken_as_public():
    usual = assumptions_about(preprocessing=None, rows=None, classes=None, owner="Model")
    declared = assumptions_about(preprocessing=["so it was"], rows=9, classes=[0, 1], owner="Model")
    unseen = "no setting was chosen by looking at the private rows"

    assert len(usual) == 4
    assert "not learnt from the rows" in usual[0]
    assert usual[1:] == (
        "the number of rows that train the model is public",
        "which classes there are is public",
        unseen,
    )
    assert declared == ("so it was", unseen)
    assert assumptions_about(preprocessing="one", rows=9, classes=[0, 1], owner="Model")[0] == "one"
    with pytest.raises(InvalidParameterError, match="'preprocessing' parameter of Model"):
        assumptions_about(preprocessing=[3], rows=None, classes=None, owner="Model")


@pytest.mark.parametrize("value", [0.5, "1/2", Fraction(1, 2), Decimal("0.5")])
def test_public_numbers_are_exact(value):
    assert positive("rate", value, owner="Model", least=1e-9, most=1e6) == Fraction(1, 2)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), None, True, "much", 1e-10, 2e6])
def test_public_numbers_out_of_range_are_refused(value):
    with pytest.raises(InvalidParameterError, match="'rate' parameter of Model"):
        positive("rate", value, owner="Model", least=1e-9, most=1e6)
