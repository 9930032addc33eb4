"""The scikit-learn transformer: what it refuses, before anything is drawn."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from evenhand.collect import GRR
from evenhand.collect.privatizer import columns as privatizer_columns
from evenhand.collect.privatizer import output as privatizer_output
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import (
    ColumnNotFoundError,
    DomainInferredWarning,
    InvalidParameterError,
    LimitExceededError,
    SchemaError,
    UnknownNameError,
)
from evenhand.schema import Column, Domain, Schema
from unit.collect._privatized_people import NAMES, SCHEMA, N, made, people_frame


@pytest.fixture
def frame():
    return people_frame()


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"protocol": "grrr"}, UnknownNameError, "did you mean 'grr'"),
        ({"protocol": 3}, InvalidParameterError, "'protocol' parameter of LocalPrivatizer must be the name"),
        (
            {"protocol": GRR(k=9, epsilon=1)},
            InvalidParameterError,
            "must be one for 3 values in column 'gender'",
        ),
        ({"protocol": {"gender": "grr"}}, InvalidParameterError, "none for column 'race'"),
        (
            {"protocol": {"county": "grr"}},
            ColumnNotFoundError,
            "'county' is not among the columns that are rep",
        ),
        ({"epsilon": 0}, InvalidParameterError, "'epsilon' parameter of LocalPrivatizer must be"),
        ({"epsilon": -1}, InvalidParameterError, "'epsilon' parameter of LocalPrivatizer must be"),
        ({"epsilon": None}, InvalidParameterError, "'epsilon' parameter of LocalPrivatizer must be"),
        ({"split": "uniform", "strategy": "single"}, InvalidParameterError, "must be left out with strategy"),
        ({"split": "k-based", "strategy": "combined"}, InvalidParameterError, "which has nothing to split"),
        ({"split": "fair"}, InvalidParameterError, "uniform"),
        (
            {"strategy": "both"},
            InvalidParameterError,
            "'strategy' parameter of LocalPrivatizer must be one of",
        ),
        ({"others": "keep"}, InvalidParameterError, "'others' parameter of LocalPrivatizer must be one of"),
        ({"columns": "Race"}, ColumnNotFoundError, "did you mean 'race'"),
        ({"columns": []}, InvalidParameterError, "'columns' parameter of LocalPrivatizer must be the name"),
        ({"columns": ["race", "race"]}, InvalidParameterError, "a list of different names"),
        ({"columns": [3]}, InvalidParameterError, "a list of different names"),
        ({"schema": "schema.toml"}, InvalidParameterError, "must be a Schema or None"),
        ({"schema": SCHEMA.with_roles(sensitive=())}, InvalidParameterError, "no sensitive column"),
        (
            {"schema": SCHEMA.with_roles(protected=None), "strategy": "single"},
            InvalidParameterError,
            "single",
        ),
        ({"rng": "seven"}, InvalidParameterError, "'rng' parameter"),
        ({"strategy": "combined", "protocol": "oue"}, InvalidParameterError, "combined"),
    ],
    ids=repr,
)
def test_wrong_parameters_are_refused_in_words(frame, given, error, match):
    with pytest.raises(error, match=match):
        made(**given).fit(frame).transform(frame)


def test_the_schema_must_know_the_column(frame):
    with pytest.raises(ColumnNotFoundError, match="'note' is not in the schema"):
        made(columns="note").fit(frame.assign(note="x"))


@pytest.mark.parametrize("strategy", ["independent", "single"])
def test_a_sensitive_column_that_is_missing_is_named(frame, strategy):
    with pytest.raises(ColumnNotFoundError, match="'gender' is not in the frame"):
        made(strategy=strategy).fit(frame.drop(columns="gender"))


@pytest.mark.parametrize("rule", ["outside", "nulls"])
def test_dropping_rows_is_refused_whatever_the_rows_hold(frame, rule):
    """scikit-learn pairs rows with labels by position."""
    schema = SCHEMA.with_columns(Column("county", Domain.categorical(["north", "south"]), **{rule: "drop"}))
    with pytest.raises(SchemaError, match=f"declare {rule}='other', or leave the rows out first"):
        made(schema=schema).fit(frame)

    made(schema=schema, others="passthrough").fit(frame)  # a column that is not encoded has no rule


def test_a_column_with_one_value_is_refused(frame):
    schema = SCHEMA.with_columns(Column("county", Domain.categorical(["north"])))
    with pytest.raises(InvalidParameterError, match="column 'county', whose domain has one"):
        made(schema=schema, columns="county").fit(frame)


def test_output_names_must_differ(frame):
    schema = Schema(
        [Column("a", Domain.categorical(["b_c", "d"])), Column("a_b", Domain.categorical(["c", "d"]))],
        sensitive=["a", "a_b"],
    )
    with pytest.raises(InvalidParameterError, match="one from 'a' and one from 'a_b'"):
        LocalPrivatizer(schema=schema).fit(pd.DataFrame({"a": ["d"], "a_b": ["c"]}))


def test_too_many_columns_are_refused_with_the_numbers(frame):
    schema = SCHEMA.with_columns(Column("age", Domain.integers(0, 10**9)))
    with pytest.raises(LimitExceededError, match="would be 1,000,000,009 output columns"):
        made(schema=schema, columns="age", protocol="oue").fit(frame)

    assert privatizer_columns.MOST_COLUMNS == 1 << 20


def test_too_much_output_is_refused_before_anything_is_drawn(frame, monkeypatch):
    privatizer = made().fit(frame)
    monkeypatch.setattr(privatizer_output, "MOST_BYTES", 1000)
    with pytest.raises(LimitExceededError, match="9 columns of 8 bytes would take more than 1,000") as caught:
        privatizer.transform(frame)

    assert privatizer.collections_ == 0
    assert "enough for 13 rows" in str(caught.value)
    assert str(N) not in str(caught.value)  # how many people there are is theirs to tell


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (["secret"], "1 dimension"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        ([["secret"], ["a", "b"]], "rows of several lengths"),
        (np.array([["secret", 1], [{}, 2]], dtype=object), "numbers, truth values or text in column 'x0'"),
        (np.zeros((3, 2)) + 1j, "Complex data not supported"),
        (pl.LazyFrame({"secret": [1]}), "collect a lazy frame first"),
        (np.zeros((3, 0)), "0 feature"),
        (csr_array(np.eye(3)), "a sparse matrix"),
    ],
    ids=["1-d", "3-d", "ragged", "objects", "complex", "lazy", "no columns", "sparse"],
)
def test_an_object_that_is_no_table_is_refused_without_showing_it(given, match):
    with pytest.raises(ValueError, match=match) as caught:
        LocalPrivatizer().fit(given)

    assert "secret" not in str(caught.value)


def test_an_array_must_have_the_columns_of_the_schema(frame):
    with pytest.raises(InvalidParameterError, match="Got an array of 3 columns without names"):
        made().fit(frame.to_numpy()[:, :3])
    whole = made().fit(frame.assign(income="<=50K").to_numpy())

    assert whole.get_feature_names_out().tolist() == [*NAMES, "income_<=50K", "income_>50K"]


def test_other_columns_than_at_fit_are_refused(frame):
    privatizer = made().fit(frame)
    with pytest.raises(ValueError, match="unseen at fit time"):
        privatizer.transform(frame.assign(more=1))
    with pytest.raises(ValueError, match="same order"):
        privatizer.encode(frame[["race", "gender", "county", "age"]])


@pytest.mark.parametrize("out", ["polars", "pyarrow"])
def test_a_column_that_cannot_pass_is_refused_before_anything_is_drawn(frame, out):
    """Arrow's own message would show the value, and the collection would be spent on nothing."""
    mixed = frame.assign(note=pd.Series([1, "secret"] * (N // 2), index=frame.index, dtype=object))
    privatizer = made().set_output(transform=out).fit(mixed)
    with pytest.raises(InvalidParameterError, match="others in column 'note'") as caught:
        privatizer.transform(mixed)

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert privatizer.collections_ == 0


def test_a_frame_is_not_read_by_position_after_an_array(frame):
    """The sensitive column would be sent as it is, and another one reported in its place."""
    schema = Schema([Column(name, Domain.integers(0, 9)) for name in "ab"], sensitive=["a"])
    privatizer = made(schema=schema).fit(np.array([[1, 2], [3, 4]]))
    with (
        pytest.warns(UserWarning, match="fitted without feature names"),
        pytest.raises(InvalidParameterError, match="a frame with the columns a, b in this order"),
    ):
        privatizer.transform(pd.DataFrame({"b": [1, 2], "a": [3, 4]}))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        clean = privatizer.encode(pd.DataFrame({"a": [3, 4], "b": [1, 2]}))

    assert clean[:, :10].argmax(axis=1).tolist() == [3, 4]
    assert privatizer.collections_ == 0


def test_columns_are_all_named_or_all_numbered(frame):
    """Read by position, a frame that begins with age would report the age as the gender."""
    half = frame[["age", "race", "county", "gender"]].rename(columns={"race": 1})
    with pytest.raises(InvalidParameterError, match="all named, or all numbered"):
        made().fit(half)


def test_single_does_not_leave_a_column_in_the_clear_that_was_asked_for(frame):
    with pytest.raises(InvalidParameterError, match="or several with 'gender', the protected one, among"):
        made(strategy="single", columns=["race", "county"]).fit(frame)

    assert made(strategy="single", columns=["race", "gender"]).fit(frame).private_columns_ == ("gender",)


@pytest.mark.parametrize("rng", ["seven", -1, 0.5])
def test_a_wrong_rng_is_refused_when_fitting_and_costs_nothing(frame, rng):
    with pytest.raises(InvalidParameterError, match="'rng' parameter"):
        made(rng=rng).fit(frame)
    privatizer = made().fit(frame).set_params(rng=rng)
    with pytest.raises(InvalidParameterError, match="'rng' parameter"):
        privatizer.fit(frame)

    assert privatizer.collections_ == 0
    assert (privatizer.transform(frame) == made().fit(frame).transform(frame)).all()  # that of the good fit


def test_fitting_draws_nothing_from_a_generator(frame):
    generator = np.random.default_rng(3)
    made(rng=generator).fit(frame)

    assert generator.bit_generator.state == np.random.default_rng(3).bit_generator.state


def test_a_domain_read_from_the_rows_is_stated_as_in_the_clear(frame):
    """The names of the output columns tell it, and no epsilon covers that."""
    with pytest.warns(DomainInferredWarning):
        privatizer = LocalPrivatizer(columns="race", rng=1).fit(frame)

    assert privatizer.guarantee_per_collection_.in_clear[-1] == "domains read from the rows"
    assert "domains read from the rows" not in made().fit(frame).guarantee_per_collection_.in_clear


@pytest.mark.parametrize("ask", ["transform", "encode"])
@pytest.mark.parametrize("split", ["uniform", "sample"])
@pytest.mark.parametrize("out", ["default", "pandas", "pyarrow"])
def test_memory_is_the_output_and_little_more(ask, split, out):
    schema = Schema([Column("a", Domain.integers(0, 199))], sensitive=["a"])
    rows = pa.table({"a": np.arange(200_000, dtype=np.uint8) % 200})
    privatizer = made(schema=schema, split=split).set_output(transform=out).fit(rows)
    getattr(made(schema=schema, split=split).set_output(transform=out).fit(rows), ask)(
        rows.slice(0, 100)
    )  # what is imported and compiled once
    tracemalloc.start()
    getattr(privatizer, ask)(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 200 * len(rows) + 25_000_000  # twice the output would be 80 MB


def test_half_precision_is_read():
    with pytest.warns(DomainInferredWarning):
        out = LocalPrivatizer().fit_transform(np.array([[0.5], [1.5]], dtype=np.float16))

    assert out.shape[0] == 2


def test_an_empty_batch_is_a_batch(frame):
    assert made().fit(frame).transform(frame.head(0)).shape == (0, len(NAMES))


@pytest.mark.parametrize("name", ["row order", "index", "domains read from the rows", "people scored later"])
def test_a_column_named_like_what_a_guarantee_lists_beside_columns_is_refused(frame, name):
    told = f"'X' parameter of LocalPrivatizer .* Got a column named '{name}'.*rename the column"
    declared = [*SCHEMA, Column(name, Domain.categorical(["f", "m"]))]

    with pytest.raises(InvalidParameterError, match=told):
        made().fit(frame.assign(**{name: 1}))
    with pytest.raises(InvalidParameterError, match=told):
        made(columns=[name], schema=Schema(declared)).fit(frame.assign(**{name: "f"}))
    with pytest.raises(InvalidParameterError, match=told):
        made(columns="race", schema=Schema(declared, target=name)).fit(frame)
