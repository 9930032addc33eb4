"""Coarser tables: every person is in one group, and nothing of it depends on the rows."""

import numpy as np
import pytest

from evenhand.errors import ColumnNotFoundError, InvalidParameterError, SchemaError, UnknownNameError
from evenhand.release.table.coarse import checked_generalization, coarse_histogram, coarse_schema
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Level, Schema

SCHEMA = Schema(
    [
        Column("age", Domain.integers(1, 4), nulls="other", levels=[Level("half", cuts=[3])]),
        Column("sex", Domain.categorical(["f", "m"])),
    ],
    protected="sex",
    privileged="m",
    target="age",
    positive=4,
)
GROUPS = {"age": {"odd": [1, 3], "even": [2, 4]}}


def _rule(given):
    return checked_generalization(given, owner="Test")


def test_groups_add_the_people_of_their_values():
    table = Histogram.of([[1, 10], [2, 20], [3, 30], [4, 40], [5, 50]], SCHEMA, bound=60)
    made = coarse_histogram(table, _rule(GROUPS), owner="Test")

    assert made.counts.tolist() == [[4, 40], [6, 60], [5, 50]]
    assert list(made.schema["age"].labels) == ["odd", "even", "other"]
    assert made.bound is None
    assert made.people == table.people


def test_a_level_of_the_schema_can_be_named():
    table = Histogram.of(np.arange(10).reshape(5, 2), SCHEMA)
    made = coarse_histogram(table, _rule({"age": "half"}), owner="Test")

    assert made.counts.tolist() == [[2, 4], [10, 12], [8, 9]]


def test_several_columns_and_the_roles_they_had():
    rule = _rule(GROUPS | {"sex": {"all": ["f", "m"]}})
    schema = coarse_schema(SCHEMA, rule, owner="Test")

    assert (schema.protected, schema.privileged) == ("sex", None)
    assert (schema.target, schema.positive) == ("age", None)
    assert coarse_schema(SCHEMA, _rule(GROUPS), owner="Test").privileged == "m"
    made = coarse_histogram(Histogram.of(np.ones((5, 2), int), SCHEMA), rule, owner="Test")
    assert made.counts.tolist() == [[4], [4], [2]]


def test_no_groups_is_the_table_itself():
    table = Histogram.of(np.ones((5, 2), int), SCHEMA)

    assert coarse_histogram(table, (), owner="Test") is table
    bounded = Histogram.of(np.ones((5, 2), int), SCHEMA, bound=3)
    assert coarse_histogram(bounded, (), owner="Test").bound is None


def _large():
    wide = Domain.integers(1, 10_000)
    return Schema([Column("a", wide, levels=[Level("half", cuts=[5001])]), Column("b", wide)])


def test_a_sparse_table_is_added_up_cell_by_cell():
    table = Histogram.of_cells([0, 3, 49_990_003, 50_000_003], [5, 7, 1, 2], _large())
    still_large = coarse_histogram(table, (("b", (("x", tuple(range(1, 10_001))),)),), owner="Test")
    small = coarse_histogram(table, (("a", "half"), ("b", (("x", tuple(range(1, 10_001))),))), owner="Test")

    assert still_large.is_sparse is False
    assert still_large.counts.sum() == 15
    assert small.counts.tolist() == [[13], [2]]


def test_a_sparse_table_may_stay_sparse():
    wide = Domain.integers(1, 100_000)
    schema = Schema(
        [Column("a", wide), Column("b", wide, levels=[Level("half", cuts=[50_001])]), Column("c", wide)]
    )
    table = Histogram.of_cells([0, 10**10 + 5], [4, 6], schema)
    made = coarse_histogram(table, (("b", "half"),), owner="Test")

    assert made.is_sparse
    assert made.filled.tolist() == [4, 6]
    assert made.size == 2 * 10**10


def test_the_kept_form_is_read_back():
    """A record of a release is JSON, where tuples are lists."""
    kept = _rule(GROUPS | {"sex": "all"})

    assert (
        _rule([[name, how if isinstance(how, str) else [list(each) for each in how]] for name, how in kept])
        == kept
    )
    assert _rule(None) == ()


@pytest.mark.parametrize(
    "given",
    [
        7,
        "age",
        {},
        {3: "half"},
        {"age": 3},
        {"age": {"x": "abc"}},
        {"age": {"x": 4}},
        {"age": {}},
        [("age", "a"), ("age", "b")],
    ],
)
def test_what_is_no_mapping_of_groups_is_refused(given):
    with pytest.raises(InvalidParameterError, match="'generalization' parameter of Test"):
        _rule(given)


def test_what_does_not_fit_the_table_is_refused():
    table = Histogram.of(np.ones((5, 2), int), SCHEMA)
    with pytest.raises(ColumnNotFoundError, match="'height' is not in the table"):
        coarse_histogram(table, (("height", "half"),), owner="Test")
    with pytest.raises(UnknownNameError, match="quarter"):
        coarse_histogram(table, (("age", "quarter"),), owner="Test")
    with pytest.raises(SchemaError, match="leaves out"):
        coarse_histogram(table, (("age", (("low", (1, 2)),)),), owner="Test")
