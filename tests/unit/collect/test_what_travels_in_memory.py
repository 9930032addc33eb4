"""What a privatizer hands on besides reports and columns in the clear, one by one, as the docs list it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.interchange import CompatLevel
from sklearn.compose import ColumnTransformer
from sklearn.utils.estimator_checks import check_set_output_transform_pandas

from evenhand.collect import PROTOCOLS, LocalPrivatizer
from evenhand.errors import InvalidParameterError
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
N = 60
SEX = np.array(["f", "m"] * (N // 2))
AGES = np.arange(N) + 100
CONTAINERS = ("pandas", "polars", "pyarrow")


def _frame(index=None, **beside):
    return pd.DataFrame({"sex": SEX, "age": AGES, **beside}, index=index)


def _made(container="pandas", **how):
    return LocalPrivatizer(epsilon=1, schema=SCHEMA, **how).set_output(transform=container)


# --- the index ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index", [SEX, pd.Index(SEX, name="sex"), AGES, pd.MultiIndex.from_arrays([SEX, AGES])]
)
def test_the_index_of_a_frame_does_not_travel(index):
    """It may be the sensitive value itself."""
    privatizer = _made()
    out = privatizer.fit_transform(_frame(index))

    assert type(out.index) is pd.RangeIndex
    assert out.index.equals(pd.RangeIndex(N))
    assert out.index.name is None
    assert "index" not in privatizer.guarantee_.in_clear


def test_an_index_that_is_handed_on_is_said_to_be_in_the_clear():
    privatizer = _made(keep_index=True)
    out = privatizer.fit_transform(_frame(SEX))

    assert out.index.tolist() == SEX.tolist()
    assert privatizer.guarantee_.in_clear == ("age", "index", "row order")
    assert "In the clear, and so not protected: age, index and row order." in str(privatizer.guarantee_)


def test_an_index_handed_on_once_stays_in_the_clear():
    privatizer = _made(keep_index=True)
    privatizer.fit_transform(_frame(SEX))

    assert "index" in privatizer.set_params(keep_index=False).guarantee_.in_clear


NAMES = [f"person {place}" for place in range(N)]


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(NAMES),
        pd.MultiIndex.from_arrays([NAMES, AGES]),
        pd.CategoricalIndex(NAMES),
        pd.Index(AGES),
    ],
    ids=["text", "levels", "categories", "numbers"],
)
def test_an_index_that_is_handed_on_holds_no_label_of_other_rows(index):
    """Levels, categories and the memory behind a slice would name people who are not in it."""
    whole = _frame(index)
    out = _made(keep_index=True).fit(whole).transform(whole.iloc[5:8])

    assert list(out.index) == list(whole.index[5:8])
    assert b"person 40" not in pickle.dumps(out.index)
    assert not np.shares_memory(np.asarray(out.index), np.asarray(whole.index))
    assert getattr(np.asarray(out.index).base, "size", 0) <= 3


def test_true_values_keep_their_index():
    """What `encode` gives is as private as what it was given, and nobody is promised anything for it."""
    assert _made().fit(_frame()).encode(_frame(SEX)).index.tolist() == SEX.tolist()


def test_an_index_is_asked_for_by_true_or_false():
    with pytest.raises(InvalidParameterError, match="'keep_index' parameter of LocalPrivatizer"):
        _made(keep_index="no").fit(_frame())


def _beside_a_column_that_keeps_its_index(keep_index):
    privatizer = LocalPrivatizer(epsilon=1_000, schema=SCHEMA, rng=0, keep_index=keep_index)
    parts = [("reports", privatizer, ["sex"]), ("clear", "passthrough", ["age"])]
    return ColumnTransformer(parts).set_output(transform="pandas")


@pytest.mark.filterwarnings(
    "ignore::evenhand.errors.PrivacyWarning"
)  # epsilon is large: what is drawn is true
@pytest.mark.parametrize("index", [[f"p{age}" for age in AGES], AGES - 90, AGES[::-1] - 100])
def test_rows_are_never_joined_to_other_people(index):
    """A column beside the reports keeps its index; pandas joins by labels."""
    frame = _frame().set_axis(index)
    out = _beside_a_column_that_keeps_its_index(keep_index=True).fit_transform(frame)

    assert out["clear__age"].tolist() == AGES.tolist()
    assert (out["reports__sex_m"].to_numpy() == (SEX == "m")).all()
    with pytest.raises(ValueError, match=r"[Ii]ndex"):
        _beside_a_column_that_keeps_its_index(keep_index=False).fit_transform(frame)


@pytest.mark.parametrize("kind", [np.int32, np.uint64, np.float64, object, "Int64", "Float64", "category"])
def test_labels_in_another_order_are_refused_whatever_their_type(kind):
    """Pandas takes 3.0 for 3: it would join the rows to the wrong people."""
    labels = pd.Index(AGES[::-1] - 100)

    with pytest.raises(InvalidParameterError, match="these labels in another order"):
        _made().fit_transform(_frame(labels.astype(kind)))
    assert _made().fit_transform(_frame(labels[::-1].astype(kind))).index.equals(pd.RangeIndex(N))
    assert _made().fit_transform(_frame(labels.astype(str))).index.equals(pd.RangeIndex(N))


def test_truth_values_as_labels_are_numbers_to_pandas():
    frame = _frame()[:2].set_axis(pd.Index([True, False], dtype=object))

    with pytest.raises(InvalidParameterError, match="these labels in another order"):
        _made().fit_transform(frame)


@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
@pytest.mark.filterwarnings("ignore::evenhand.errors.DomainInferredWarning")
@pytest.mark.filterwarnings("ignore:X (has|does not have):UserWarning")  # names at fit, or none, as it comes
def test_with_its_index_a_frame_is_what_scikit_learn_expects():
    exact = LocalPrivatizer(epsilon=1_000, split="uniform", rng=0, keep_index=True)

    check_set_output_transform_pandas("LocalPrivatizer", exact)
    with pytest.raises(AssertionError, match="index are different"):
        check_set_output_transform_pandas("LocalPrivatizer", exact.set_params(keep_index=False))


# --- the order of the rows -----------------------------------------------------------------------


@pytest.mark.parametrize("container", ["default", *CONTAINERS])
def test_the_order_of_the_rows_travels_and_is_said_to(container):
    """A transformer of scikit-learn may not change the order of rows."""
    privatizer = _made(container)
    out = privatizer.fit_transform(_frame())
    ages = out[:, -1] if container == "default" else out["age"]

    assert list(np.asarray(ages)) == AGES.tolist()
    assert privatizer.guarantee_.in_clear[-1] == "row order"
    assert privatizer.guarantee_per_collection_.in_clear[-1] == "row order"


# --- notes ----------------------------------------------------------------------------------------


def test_notes_of_a_pandas_frame_do_not_travel():
    frame = _frame()
    frame.attrs["author"] = "secret"
    frame.columns.name = "secret"
    out = _made().fit_transform(frame)

    assert out.attrs == {}
    assert out["age"].attrs == {}
    assert out.columns.name is None


@pytest.mark.parametrize("container", ["pyarrow", "pandas"])
def test_metadata_of_an_arrow_table_does_not_travel(container):
    fields = [pa.field("sex", pa.string()), pa.field("age", pa.int64(), metadata={"source": "secret"})]
    table = pa.table(
        [SEX, AGES], schema=pa.schema(fields, metadata={"pandas": '{"index_columns": ["secret"]}'})
    )
    out = _made(container).fit_transform(table)

    if container == "pyarrow":
        assert out.schema.metadata is None
        assert all(field.metadata is None for field in out.schema)
    else:
        assert out.index.equals(pd.RangeIndex(N))
        assert out.attrs == {}


# --- values of other rows ------------------------------------------------------------------------


def test_categories_that_no_row_has_do_not_travel():
    """A filtered frame keeps the categories of the people who were left out."""
    town = pd.Categorical(["b", "a"] * (N // 2), categories=["secret", "b", "a"], ordered=True)
    out = {each: _made(each).fit_transform(_frame(town=town)) for each in ("pandas", "pyarrow")}

    assert out["pandas"]["town"].cat.categories.tolist() == ["b", "a"]
    assert out["pandas"]["town"].cat.ordered
    assert out["pyarrow"]["town"].chunk(0).dictionary.to_pylist() == ["b", "a"]
    assert out["pyarrow"]["town"].to_pylist() == ["b", "a"] * (N // 2)


def test_categories_of_polars_travel_only_with_their_rows():
    whole = pl.DataFrame({"sex": SEX, "town": pl.Series(["secret"] + ["b"] * (N - 1), dtype=pl.Categorical)})
    out = _made("polars").fit_transform(whole[1:])["town"]

    assert out.dtype == pl.Categorical
    assert out.to_arrow().dictionary.to_pylist() == ["b"]
    assert b"secret" not in pickle.dumps(out)


def test_lists_of_values_of_arrow_hold_only_those_that_occur():
    places = pa.array([2, None, 0] * (N // 3))
    town = pa.DictionaryArray.from_arrays(places, pa.array(["a", "secret", "b"]))
    out = _made("pyarrow").fit_transform(pa.table({"sex": SEX, "age": AGES, "town": town}))["town"]

    assert out.chunk(0).dictionary.to_pylist() == ["a", "b"]
    assert out.to_pylist() == ["b", None, "a"] * (N // 3)


@pytest.mark.parametrize("kind", ["pandas", "pandas with Arrow", "polars", "pyarrow", "pyarrow in chunks"])
def test_a_part_of_a_frame_does_not_bring_the_memory_of_the_whole(kind):
    """Whoever gets a column that looks at a larger one could read the rows that were not handed over."""
    whole = pa.table({"sex": SEX, "note": ["secret"] * (N - 10) + ["public"] * 10})
    if kind == "pyarrow in chunks":
        whole = pa.concat_tables([whole.slice(0, N - 5), whole.slice(N - 5)])
    frames = {
        "pandas": whole.to_pandas,
        "pandas with Arrow": lambda: whole.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(whole),
    }
    frame = frames.get(kind, lambda: whole)()
    part = frame.iloc[N - 10 :] if "pandas" in kind else frame[N - 10 :]
    container = kind.split()[0]
    out = _made(container).fit_transform(part)["note"]
    arrow = pa.array(out) if container == "pandas" else out.to_arrow() if container == "polars" else out
    chunks = arrow.chunks if isinstance(arrow, pa.ChunkedArray) else [arrow]
    held = b"".join(buffer.to_pybytes() for chunk in chunks for buffer in chunk.buffers() if buffer)

    assert b"public" in held or "view" in str(arrow.type)
    assert b"secret" not in held
    assert b"secret" not in pickle.dumps(out)


SECRET, PUBLIC = "secret, and longer than a view holds itself", "public, and longer than a view holds itself"


def _read_buffers(array):
    """Return all bytes that an Arrow array or column holds on to."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    return b"".join(buffer.to_pybytes() for chunk in chunks for buffer in chunk.buffers() if buffer)


@pytest.mark.parametrize("kind", ["text", "bytes", "list", "record"])
def test_long_text_of_polars_does_not_bring_that_of_other_rows(kind):
    """Polars keeps long text in buffers that rows share; rows that are taken still look at all of it."""
    text = pl.Series("note", [SECRET] * (N - 10) + [PUBLIC] * 10)
    notes = {
        "text": text,
        "bytes": text.cast(pl.Binary),
        "list": text.reshape((N, 1)).arr.to_list(),
        "record": pl.DataFrame({"inner": text}).to_struct("note"),
    }
    part = pl.DataFrame({"sex": SEX, "note": notes[kind]})[N - 10 :]
    out = _made("polars").fit_transform(part)["note"]
    held = _read_buffers(out.to_arrow(compat_level=CompatLevel.newest()))

    assert SECRET.encode() in _read_buffers(part["note"].to_arrow(compat_level=CompatLevel.newest()))
    assert SECRET.encode() not in held
    assert PUBLIC.encode() in held
    assert out.equals(part["note"])
    assert out.dtype == part["note"].dtype


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
def test_views_of_arrow_are_handed_on_as_text_of_their_own(container, kind):
    kinds = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    notes = pa.array([SECRET] * (N - 10) + [None] + [PUBLIC] * 9).cast(kinds[kind]).cast(kind)
    part = pa.table({"sex": SEX, "note": notes})[N - 10 :]
    out = _made(container).fit_transform(part)["note"]
    arrow = pa.array(out) if container == "pandas" else out.to_arrow() if container == "polars" else out

    assert SECRET.encode() in _read_buffers(part["note"])
    assert SECRET.encode() not in _read_buffers(arrow)
    assert arrow.to_pylist() == part["note"].to_pylist()


@pytest.mark.parametrize("container", ["default", *CONTAINERS])
def test_nothing_that_is_handed_on_shares_memory_with_the_input(container):
    ages = AGES.astype(np.int64).copy()
    frame = pd.DataFrame({"sex": SEX, "age": ages}, copy=False)
    out = _made(container).fit_transform(frame)
    frame.loc[:, "age"] = -1
    ages[:] = -1
    found = out[:, -1] if container == "default" else np.asarray(out["age"])

    assert (found == AGES).all()


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.int64])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_reports_share_no_memory_with_the_codes(name, kind):
    codes = np.array(SEX == "m", dtype=kind)
    reports = PROTOCOLS[name].example(k=2).privatize(codes)

    assert not np.shares_memory(reports.values, codes)


@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_come_in_one_piece_whatever_the_pieces_of_the_input(container):
    """Where a table was cut says how it was put together."""
    table = pa.table({"sex": SEX, "age": AGES})
    cut = pa.concat_tables([table.slice(0, 7), table.slice(7, 20), table.slice(27)])
    out = _made(container).fit_transform(cut)
    pieces = {
        "pandas": lambda: [1],
        "polars": lambda: out.n_chunks("all"),
        "pyarrow": lambda: [column.num_chunks for column in out.columns],
    }[container]()

    assert set(pieces) == {1}


# --- rows and gaps --------------------------------------------------------------------------------


@pytest.mark.parametrize("container", ["default", *CONTAINERS])
def test_the_number_of_rows_is_that_of_the_input(container):
    """It is public: nobody is added, and nobody is left out."""
    assert _made(container).fit_transform(_frame()).shape[0] == N


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_missing_value_of_a_column_that_passes_stays_missing(container):
    """What is missing in the clear is known to whoever sees the column, and stands in `in_clear` with it."""
    wage = pd.Series([1.5, None] * (N // 2))
    privatizer = _made(container)
    out = privatizer.fit_transform(_frame(wage=wage))

    assert list(pd.isna(pd.Series(np.asarray(out["wage"], dtype=float)))) == [False, True] * (N // 2)
    assert "wage" in privatizer.guarantee_.in_clear


def test_a_missing_number_is_nan_in_an_array():
    out = LocalPrivatizer(epsilon=1, schema=SCHEMA).fit_transform(
        _frame(wage=pd.Series([1.5, None] * (N // 2)))
    )

    assert list(np.isnan(out[:, -1].astype(float))) == [False, True] * (N // 2)
