"""The scikit-learn transformer: layout, randomness, guarantees, and everything it refuses."""

import copy
import pickle
import threading
import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from evenhand.collect import GRR, OUE, PROTOCOLS, privatizer_columns, privatizer_output
from evenhand.collect.privatizer import LocalPrivatizer
from evenhand.errors import (
    ColumnNotFoundError,
    DomainInferredWarning,
    InvalidParameterError,
    LimitExceededError,
    MissingExtraError,
    OutsideDomainError,
    PrivacyWarning,
    SchemaError,
    UnknownNameError,
)
from evenhand.privacy.randomness import SeededSource, Source
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema(
    [
        Column("gender", Domain.categorical(["Female", "Male"]), outside="other", nulls="other"),
        Column("race", Domain.categorical(["a", "b", "c"])),
        Column("county", Domain.categorical(["north", "south"])),
        Column("age", Domain.integers(17, 90)),
        Column("income", Domain.categorical(["<=50K", ">50K"])),
    ],
    sensitive=["gender", "race"],
    protected="gender",
    privileged="Male",
    target="income",
    positive=">50K",
)
NAMES = [
    *("gender_Female", "gender_Male", "gender_other", "race_a", "race_b", "race_c"),
    *("county_north", "county_south", "age"),
]
N = 300


@pytest.fixture
def frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "gender": rng.choice(["Female", "Male"], N),
            "race": rng.choice(["a", "b", "c"], N),
            "county": rng.choice(["north", "south"], N),
            "age": rng.integers(17, 91, N),
        },
        index=np.arange(N) + 1000,
    )


def made(**given):
    return LocalPrivatizer(**{"schema": SCHEMA, "epsilon": 2, "rng": 7, **given})


def by_hand(frame):
    """The clean columns, one value after the other."""
    columns = [frame["gender"] == "Female", frame["gender"] == "Male", frame["gender"] == "nobody"]
    columns += [frame["race"] == each for each in "abc"]
    columns += [frame["county"] == each for each in ("north", "south")]
    return np.column_stack([*(np.asarray(each, dtype=float) for each in columns), frame["age"]])


# -- layout ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
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
    privatizer = made(others=others).set_output(transform="pandas").fit(frame)
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
    assert isinstance(privatizer.set_output().fit_transform(frame), pa.Table)
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


# -- randomness and guarantees ----------------------------------------------------------------------------


class Broken(Source):
    kind = "seeded"

    def words(self, count):
        raise RuntimeError("no words today")


def test_each_collection_has_a_stream_of_its_own(frame):
    """With the same draws twice, the outputs would differ where the people do."""
    privatizer = made().fit(frame)
    first = privatizer.transform(frame)
    with pytest.warns(PrivacyWarning, match="collects a second time"):
        second = privatizer.transform(frame)
    third = privatizer.fit(frame).transform(frame)  # fitting again does not set it back

    assert (first != second).any()
    assert (second != third).any()
    assert (first != third).any()
    assert (clone(privatizer).fit_transform(frame) == first).all()  # a clone begins again


def test_a_generator_moves_on(frame):
    privatizer = made(rng=np.random.default_rng(3)).fit(frame)
    first = privatizer.transform(frame)
    with pytest.warns(PrivacyWarning):
        second = privatizer.transform(frame)

    assert (first != second).any()


def test_threads_get_different_streams(frame):
    privatizer, found = made().fit(frame), []
    with warnings.catch_warnings(action="ignore"):
        threads = [
            threading.Thread(target=lambda: found.append(privatizer.transform(frame).tobytes()))
            for _ in range(6)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    assert len(set(found)) == 6
    assert privatizer.collections_ == 6


def test_fitting_spends_nothing_and_each_transform_adds(frame):
    privatizer = made(epsilon="1/2").fit(frame)

    assert (privatizer.guarantee_.epsilon, privatizer.collections_) == (0, 0)
    assert privatizer.guarantee_.protects == ("gender", "race")
    assert privatizer.guarantee_per_collection_.epsilon <= Fraction(1, 2)
    with warnings.catch_warnings(action="ignore"):
        for _ in range(3):
            privatizer.transform(frame)
    total = privatizer.guarantee_
    assert total.epsilon == 3 * privatizer.strategy_.epsilon
    assert (total.unit, total.trust) == ("one person", "local")
    assert total.protects == ("gender", "race")
    assert total.in_clear == ("county", "age", "income")
    assert "each person sends at most 3 reports" in total.assumptions


def test_what_was_collected_before_fitting_again_counts(frame):
    privatizer = made(epsilon=1, split="uniform").fit(frame)
    privatizer.transform(frame)
    privatizer.set_params(epsilon=2, columns="race").fit(frame)
    with pytest.warns(PrivacyWarning, match=r"has spent epsilon = 3 by now"):
        privatizer.transform(frame)

    assert privatizer.guarantee_.epsilon == 3
    assert "gender" in privatizer.guarantee_.in_clear  # the second time it was sent as it is


def test_only_the_second_collection_warns(frame):
    privatizer = made().fit(frame)
    privatizer.transform(frame)
    with pytest.warns(PrivacyWarning):
        privatizer.transform(frame)

    privatizer.transform(frame)  # a warning would be an error here


def test_a_collection_counts_before_it_is_drawn(frame):
    """A crash may waste budget; it may not hide it."""
    privatizer = made(rng=Broken()).fit(frame)
    with pytest.raises(RuntimeError, match="no words"):
        privatizer.transform(frame)

    assert privatizer.collections_ == 1


def test_refused_rows_are_no_collection(frame):
    privatizer = made().fit(frame)
    with pytest.raises(OutsideDomainError):
        privatizer.transform(frame.assign(race="unheard of"))

    assert privatizer.collections_ == 0


def test_simulations_are_marked(frame):
    earnest, simulated = made(rng=None).fit(frame), made().fit(frame)
    earnest.transform(frame)
    simulated.transform(frame)

    assert (earnest.simulated_, simulated.simulated_) == (False, True)


# -- which columns and how -----------------------------------------------------------------------------------


def test_single_reports_the_protected_column_alone(frame):
    privatizer = made(strategy="single").fit(frame)
    out = privatizer.transform(frame)

    assert privatizer.private_columns_ == ("gender",)
    assert (out[:, 3:] == by_hand(frame)[:, 3:]).all()
    assert privatizer.guarantee_.in_clear == ("race", "county", "age", "income")
    assert made(strategy="single", columns="race").fit(frame).private_columns_ == ("race",)


def test_combined_reports_whole_combinations(frame):
    privatizer = made(strategy="combined").fit(frame)
    out = privatizer.transform(frame)

    assert (out[:, :3].sum(axis=1) == 1).all()
    assert privatizer.guarantee_.epsilon == 2


@pytest.mark.parametrize("split", ["uniform", "k-based", "optimal", "sample", {"gender": 0.5, "race": 1.5}])
def test_every_split_stays_within_epsilon(frame, split):
    privatizer = made(split=split).fit(frame)

    assert 0 < privatizer.strategy_.epsilon <= 2
    assert privatizer.transform(frame).shape == (N, len(NAMES))


def test_protocols_can_be_made_before(frame):
    protocols = {"gender": GRR(k=3, epsilon=1), "race": OUE(k=3, epsilon=1)}
    privatizer = made(protocol=protocols).fit(frame)

    assert dict(privatizer.strategy_.protocols) == protocols
    assert made(protocol={"gender": "grr", "race": OUE}).fit(frame).strategy_.epsilon <= 2
    assert made(protocol="best", columns="race").fit(frame).strategy_.epsilon == 2


def test_a_sensitive_target_is_not_looked_for_among_the_features(frame):
    schema = SCHEMA.with_roles(sensitive=["race", "income"])
    privatizer = made(schema=schema).fit(frame)

    assert privatizer.private_columns_ == ("race",)
    assert "income" in privatizer.guarantee_per_collection_.in_clear
    whole = made(schema=schema).fit(frame.assign(income="<=50K"))
    assert whole.private_columns_ == ("race", "income")
    assert whole.guarantee_per_collection_.in_clear == ("gender", "county", "age")


def test_missing_values_follow_the_rule(frame):
    holes = frame.assign(gender=[None] * N)

    assert (made().fit(frame).encode(holes)[:, 2] == 1).all()


def test_the_schema_may_be_read_from_the_rows_with_a_warning(frame):
    with pytest.warns(DomainInferredWarning):
        privatizer = LocalPrivatizer(columns="race", rng=1).fit(frame)
    names = privatizer.get_feature_names_out().tolist()

    assert privatizer.private_columns_ == ("race",)
    assert names[-5:-1] == ["race_other", "county_north", "county_south", "county_other"]
    assert names[-1] == "age"  # numbers in the clear pass
    assert (privatizer.encode(frame.assign(race="new"))[:, 6] == 1).all()  # no content makes it fail
    with pytest.warns(DomainInferredWarning):
        assert LocalPrivatizer().fit(frame).private_columns_ == ("gender", "race", "county", "age")
    with pytest.warns(DomainInferredWarning):
        only = LocalPrivatizer(columns="race", others="passthrough").fit(frame)
    assert only.schema_.names == ("race",)


# -- refusals ---------------------------------------------------------------------------------------------


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
def test_what_is_no_table_is_refused_without_showing_it(given, match):
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
        privatizer.transform(frame)

    assert privatizer.collections_ == 0


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
    getattr(clone(privatizer).fit(rows), ask)(rows.slice(0, 100))  # what is imported and compiled once
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
