"""The scikit-learn transformer: what comes in and what comes out."""

import copy
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from evenhand.collect import PROTOCOLS
from evenhand.collect.privatizer import output as privatizer_output
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import (
    DomainInferredWarning,
    InvalidParameterError,
    MissingExtraError,
    PrivacyWarning,
)
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from unit.collect._privatized_people import NAMES, SCHEMA, Broken, N, by_hand, made, people_frame


@pytest.fixture
def frame():
    return people_frame()


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "optimal"])
def test_the_columns_are_the_same_whatever_the_protocol(frame, protocol):
    """A model must not have to know how its data was collected."""
    privatizer = made(protocol=protocol, split="uniform").fit(frame)
    out = privatizer.transform(frame)

    assert privatizer.get_feature_names_out().tolist() == NAMES
    assert out.shape == (N, len(NAMES))
    assert set(np.unique(out[:, :8])) <= {0, 1}
    assert (out[:, 6:] == by_hand(frame)[:, 6:]).all()  # the others are untouched


def test_encode_is_the_truth_and_draws_nothing(frame):
    privatizer = made(rng=Broken()).fit(frame)

    assert (privatizer.encode(frame) == by_hand(frame)).all()
    assert privatizer.collections_ == 0


def test_transform_is_the_report_of_the_strategy(frame):
    """The slow way: codes, strategy, indicators, by hand."""
    privatizer = made(epsilon=1).fit(frame)
    out = privatizer.transform(frame)
    codes = {
        "gender": (frame["gender"] == "Male").to_numpy().astype(int),
        "race": frame["race"].map({"a": 0, "b": 1, "c": 2}).to_numpy(),
    }
    strategy = privatizer.strategy_
    reports = strategy.privatize(codes, rng=SeededSource(7).for_cell("collection 0"))
    slow = strategy.indicators(reports)

    assert (out[:, :3] == slow["gender"]).all()
    assert (out[:, 3:6] == slow["race"]).all()
    assert (out[:, 3:6] != by_hand(frame)[:, 3:6]).any()


def test_indicators_alone_take_a_byte_each(frame):
    out = made(columns=["gender", "race", "county", "age"]).fit(frame).transform(frame)

    assert out.dtype == np.uint8
    assert out.shape == (N, 3 + 3 + 2 + 74)


@pytest.mark.parametrize(
    ("others", "names"),
    [
        ("one-hot", ["county_north", "county_south", "age"]),
        ("one-hot-all", ["county_north", "county_south", *(f"age_{each}" for each in range(17, 91))]),
        ("passthrough", ["county", "age"]),
    ],
)
def test_the_other_columns_are_one_hot_or_pass(frame, others, names):
    privatizer = made(others=others, keep_index=True).set_output(transform="pandas").fit(frame)
    out = privatizer.transform(frame)

    assert list(out.columns) == NAMES[:6] + names
    assert out.index.equals(frame.index)
    if others == "passthrough":
        pd.testing.assert_frame_equal(out[["county", "age"]], frame[["county", "age"]])


def test_a_column_that_is_not_declared_passes(frame):
    out = made().set_output(transform="pandas").fit_transform(frame.assign(note="text", score=0.5))

    assert list(out.columns) == [*NAMES, "note", "score"]
    assert (out["score"] == 0.5).all()


# -- containers ---------------------------------------------------------------------------------------


def containers(frame):
    return {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "batch": pa.RecordBatch.from_pandas(frame, preserve_index=False),
        "object": frame.to_numpy(),
        "list": frame.to_numpy().tolist(),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "batch", "object", "list"])
@pytest.mark.parametrize("out", ["default", "pandas", "polars", "pyarrow"])
def test_any_container_in_and_any_out(frame, kind, out):
    given = containers(frame)[kind]
    privatizer = made().set_output(transform=out).fit(given)
    private, clean = privatizer.transform(given), privatizer.encode(given)
    kinds = {"default": np.ndarray, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}

    assert isinstance(private, kinds[out])
    assert isinstance(clean, kinds[out])
    values = np.asarray(clean.to_pandas() if out == "pyarrow" else clean, dtype=float)
    assert (values == by_hand(frame)).all()
    if out != "default":
        assert list(getattr(private, "column_names", private.columns)) == NAMES


def test_the_global_choice_of_container_counts(frame):
    with sklearn.config_context(transform_output="polars"):
        assert isinstance(made().fit_transform(frame), pl.DataFrame)
        assert isinstance(made().fit(frame).encode(frame), pl.DataFrame)


def test_the_choice_of_container_survives_a_clone(frame):
    privatizer = made().set_output(transform="pyarrow")

    assert isinstance(clone(privatizer).fit_transform(frame), pa.Table)
    assert isinstance(privatizer.set_output().fit(frame).encode(frame), pa.Table)
    assert isinstance(privatizer.set_output(transform="default").encode(frame), np.ndarray)
    with pytest.raises(
        InvalidParameterError, match="must be one of 'default', 'pandas', 'polars', 'pyarrow'"
    ):
        privatizer.set_output(transform="excel")


def test_a_library_that_is_missing_is_named(frame, monkeypatch):
    privatizer = made().set_output(transform="polars").fit(frame)
    monkeypatch.setattr(privatizer_output.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="polars"):
        privatizer.encode(frame)
    with pytest.raises(MissingExtraError, match="polars"):
        privatizer.transform(frame)
    assert privatizer.collections_ == 0


def test_pandas_with_numbered_columns_is_an_array(frame):
    numbered = frame.set_axis(range(4), axis=1)
    privatizer = made().fit(numbered)

    assert privatizer.get_feature_names_out().tolist() == NAMES
    assert not hasattr(privatizer, "feature_names_in_")
    assert (privatizer.encode(numbered) == by_hand(frame)).all()


def test_text_cannot_pass_into_an_array(frame):
    with pytest.raises(InvalidParameterError, match="column 'county' of type String") as caught:
        made(others="passthrough").fit_transform(frame)

    assert "north" not in str(caught.value)


@pytest.mark.parametrize(
    ("library", "values"),
    [
        (pl.Series, [1, None]),
        (pl.Series, [True, None]),
        (pl.Series, [Decimal(1), None]),
        (pa.array, [Decimal(1), None]),
        (pa.array, [True, None]),
        (lambda each: pd.array(each, dtype="Int64"), [1, None]),
        (lambda each: pd.array(each, dtype="boolean"), [True, None]),
    ],
)
def test_numbers_pass_into_an_array_as_numbers(library, values):
    """An array of Python objects would fail far away, in the model."""
    make = {"polars": pl.DataFrame, "pyarrow": pa.table}.get(type(library(values)).__module__.split(".")[0])
    frame = (make or pd.DataFrame)({"race": ["a", "b"], "number": library(values)})
    out = made(schema=SCHEMA.select(["race"])).fit_transform(frame)

    assert out.dtype == np.float64
    assert out[0, 3] == 1
    assert np.isnan(out[1, 3])


# -- scikit-learn ---------------------------------------------------------------------------------------


def test_it_works_inside_a_column_transformer_and_a_pipeline(frame):
    label = np.arange(N) % 2
    inside = ColumnTransformer(
        [("private", made(schema=SCHEMA), ["gender", "race"])],
        remainder="drop",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    out = inside.fit_transform(frame)

    assert list(out.columns) == NAMES[:6]
    piped = make_pipeline(make_column_transformer((made(), ["gender", "race"])), LogisticRegression())
    piped.fit(frame, label)
    with pytest.warns(PrivacyWarning, match=r"encode\(X\) gives clean columns for people to be scored"):
        assert piped.predict(frame).shape == (N,)


def test_parameters_are_kept_as_given_and_can_be_set():
    given = {"protocol": "oue", "epsilon": "1/3", "columns": ["race"], "others": "passthrough", "rng": 3}
    privatizer = made(**given)

    assert clone(privatizer).get_params() == privatizer.get_params()
    assert privatizer.set_params(epsilon=5).get_params()["epsilon"] == 5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_is_the_same_and_goes_on_counting(frame, copied):
    privatizer = made().fit(frame)
    privatizer.transform(frame)
    other = copied(privatizer)

    assert other.collections_ == 1
    assert other.guarantee_ == privatizer.guarantee_
    assert (other.encode(frame) == privatizer.encode(frame)).all()


def test_names_can_be_given_to_the_columns_of_an_array():
    with pytest.warns(DomainInferredWarning):
        privatizer = LocalPrivatizer().fit([["u", 1], ["v", 2]])

    assert privatizer.get_feature_names_out(["a", "b"]).tolist() == [
        "a_u",
        "a_v",
        "a_other",
        "b_1",
        "b_2",
        "b_other",
    ]
    assert privatizer.get_feature_names_out()[0] == "x0_u"


def test_nothing_works_before_fitting(frame):
    for ask in ("transform", "encode"):
        with pytest.raises(NotFittedError):
            getattr(made(), ask)(frame)
    for name in ("guarantee_", "guarantee_per_collection_", "collections_", "simulated_"):
        assert not hasattr(made(), name)


def test_it_reads_well():
    assert repr(LocalPrivatizer()) == "LocalPrivatizer()"
    assert repr(made(epsilon=1.0, rng=None)) == "LocalPrivatizer(schema=<Schema of 5 columns>)"
    assert repr(made(columns="race", schema=SCHEMA.select(["race"]), rng=None)) == (
        "LocalPrivatizer(epsilon=2, columns='race', schema=<Schema of 1 column>)"
    )


def test_its_page_in_a_notebook_holds_text_as_text():
    hostile = Schema([Column("<script>alert(1)</script>", Domain.categorical(["<b>", "c"]))])
    page = LocalPrivatizer(schema=hostile, columns="<script>alert(1)</script>")._repr_html_()

    assert "<script>alert" not in page
    assert "LocalPrivatizer" in page
