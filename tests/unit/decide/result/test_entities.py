"""Entities: read from any frame, and refused without a word about what is in them."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.decide.result.entities import LARGEST_COUNT, Entities
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

TABLE = {
    "county": ["Ash", "Bay", "Ash"],
    "state": ["TX", "TX", "ME"],
    "s": [1000, 0, 987_654_321],
    "sp": [60, 0, 3],
    "weight": [1.5, 0.0, 2.0],
    "young": [200, 0, 5],
    "old": [800, 0, 7],
}
FRAMES = {
    "mapping": lambda table: table,
    "arrays": lambda table: {name: np.array(each) for name, each in table.items()},
    "pandas": pd.DataFrame,
    "nullable": lambda table: pd.DataFrame(table).convert_dtypes(),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "arrow columns": lambda table: {name: pa.array(each) for name, each in table.items()},
    "series": lambda table: {name: pd.Series(each, index=[7, 7, 7]) for name, each in table.items()},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_reads_the_same(kind):
    made = Entities.read(
        FRAMES[kind](TABLE),
        name=["county", "state"],
        counts=["s", "sp"],
        weights="weight",
        groups={"under 18": "young", "others": "old"},
    )

    assert made.names == ("Ash, TX", "Bay, TX", "Ash, ME")
    assert {name: each.tolist() for name, each in made.counts.items()} == {"s": TABLE["s"], "sp": TABLE["sp"]}
    assert made.weights.tolist() == TABLE["weight"]
    assert made.groups == ("under 18", "others")
    assert made.populations.tolist() == [[200, 800], [0, 0], [5, 7]]
    assert made.inputs == ("s", "sp")
    assert len(made) == 3


def test_the_arrays_cannot_be_written_to():
    """A caller who wrote into the true counts would change every result computed later."""
    given = {"x": np.array([1, 2]), "w": np.array([1.0, 2.0]), "g": np.array([1, 1])}
    made = Entities.read(given, counts="x", weights="w", groups=["g"])

    for array in (made.counts["x"], made.weights, made.populations):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
    given["x"][0] = 9
    assert made.counts["x"].tolist() == [1, 2]
    with pytest.raises(TypeError):
        made.counts["y"] = made.counts["x"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_entities_survive_the_way_to_a_worker(copied):
    made = Entities.read(TABLE, name="county", counts=["s", "sp"], weights="weight", groups=["old"])
    twin = copied(made)

    assert (twin.names, twin.groups, twin.inputs) == (made.names, made.groups, made.inputs)
    assert twin.counts["s"].tolist() == TABLE["s"]
    for array in (twin.counts["s"], twin.weights, twin.populations):
        assert not array.flags.writeable


def test_entities_without_names_are_numbered_and_the_same_name_stays_two():
    assert Entities.read({"x": [5, 6]}, counts=["x"]).names == ("1", "2")
    twice = Entities.read({"x": [5, 6], "n": ["Ash", "Ash"]}, counts=["x"], name="n")
    assert twice.names == ("Ash", "Ash")
    assert len(twice) == 2


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, np.nan])
def test_a_missing_name_is_empty(missing):
    names = pd.Series(["Ash", missing], dtype=object)

    assert Entities.read({"x": [5, 6], "n": names}, counts=["x"], name="n").names == ("Ash", "")


@pytest.mark.parametrize(
    "column",
    [
        [1, -1],
        [1, None],
        [1.0, np.nan],
        [1.0, 0.5],
        [1.0, np.inf],
        [1.0, -0.5],
        [1, LARGEST_COUNT + 1],
        [1, 10**30],
        [1, 10**400],
        ["1", "2"],
        ["1", 2],
        [True, False],
        np.array([1, True], dtype=object),
        [1 + 0j, 2],
        [[1], [2]],
        [[1], [2, 3]],
        [],
        7,
        np.ma.array([1, 2], mask=[True, False]),
        pd.Series([1, None], dtype="Int64"),
        pa.array([1, None]),
        np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
    ],
    ids=str,
)
@pytest.mark.parametrize("role", ["counts", "groups"])
def test_a_column_that_holds_no_counts_is_refused_by_its_name_alone(column, role):
    """Whether a place has a missing or a negative count is private, and so is how many have."""
    asked = {"counts": "fine", "groups": ["x"]} if role == "groups" else {"counts": "x"}
    with pytest.raises(InvalidParameterError, match="column 'x'") as caught:
        Entities.read({"x": column, "fine": [3, 4]}, **asked)

    message = str(caught.value).replace("10**15", "").replace("1e308", "")
    assert not any(figure in message for figure in "123456789")


def test_missing_negative_and_broken_counts_read_alike():
    """Two messages would tell them apart."""
    said = set()
    for column in ([1.0, -1.0], [1.0, np.nan], [1.0, 0.5], [1.0, 1e300]):
        with pytest.raises(InvalidParameterError) as caught:
            Entities.read({"x": column}, counts="x")
        said.add(str(caught.value))

    assert len(said) == 1


def test_counts_of_every_width_and_whole_floats_are_counts():
    columns = {
        "bytes": np.array([255, 0], dtype=np.uint8),
        "floats": np.array([3.0, 0.0], dtype=np.float32),
        "minus zero": [-0.0, 1.0],
        "largest": [LARGEST_COUNT, 0],
        "objects": np.array([np.int64(4), 5], dtype=object),
        "masked": np.ma.array([1, 2], mask=[False, False]),
    }
    made = Entities.read(columns, counts=list(columns))

    assert [each.tolist() for each in made.counts.values()] == [
        [255, 0],
        [3, 0],
        [0, 1],
        [LARGEST_COUNT, 0],
        [4, 5],
        [1, 2],
    ]
    assert {each.dtype for each in made.counts.values()} == {np.dtype(np.int64)}


@pytest.mark.parametrize(
    "weights",
    [[0, 0], [1, -1], [1, np.nan], [1, np.inf], [1, 1e51], [1, 1e-51], ["a", "b"], [None, 1], [True, True]],
)
def test_weights_that_cannot_share_are_refused(weights):
    with pytest.raises(InvalidParameterError, match="column 'w'"):
        Entities.read({"x": [1, 2], "w": weights}, counts="x", weights="w")


def test_one_entity_is_enough_and_none_is_not():
    one = Entities.read({"x": [0], "w": [3]}, counts="x", weights="w")

    assert len(one) == 1
    assert repr(one) == "<Entities: 1, counts x, weighted>"
    with pytest.raises(InvalidParameterError, match="at least one"):
        Entities.read({"x": []}, counts="x")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"counts": []}, "'counts' parameter"),
        ({"counts": ["x", "x"]}, "each once"),
        ({"counts": [3]}, "names of columns"),
        ({"counts": ["x"], "name": "short"}, "one length"),
        ({"counts": ["x", "short"]}, "one length"),
        ({"counts": ["x"], "weights": "short"}, "one length"),
        ({"counts": ["x"], "groups": ["short"]}, "one length"),
        ({"counts": ["x"], "name": ["x", "short"]}, "one length"),
        ({"counts": ["x"], "groups": {"a": 3}}, "names of columns"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(asked, words):
    with pytest.raises(InvalidParameterError, match=words):
        Entities.read({"x": [1, 2], "short": [1]}, **asked)


@pytest.mark.parametrize(
    "asked", [{"counts": "X"}, {"counts": "x", "name": "X"}, {"counts": "x", "weights": "X"}]
)
def test_a_column_that_is_not_there_is_named_with_a_guess(asked):
    with pytest.raises(ColumnNotFoundError, match="did you mean 'x'"):
        Entities.read({"x": [1, 2]}, **asked)


@pytest.mark.parametrize("frame", [None, 3, "x,y\n1,2", [1, 2], pl.LazyFrame({"x": [1]})])
def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(InvalidParameterError, match=r"'frame' parameter of Entities\.read"):
        Entities.read(frame, counts="x")
