"""A column whose domain was read from rows says so, wherever it goes."""

import pickle
import warnings

import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Schema

FRAME = pa.table({"race": ["a", "b"], "member": [True, False], "age": [30, 41]})


@pytest.fixture
def schema():
    with warnings.catch_warnings(action="ignore"):
        return Schema.infer(FRAME, sensitive="race")


def test_columns_that_were_read_are_marked_and_the_others_are_not(schema):
    assert schema.inferred == ("race", "age")
    assert Schema([Column("race", Domain.categorical(["a", "b"]))]).inferred == ()


def test_a_column_without_a_list_is_marked_where_its_missing_values_were_read():
    with warnings.catch_warnings(action="ignore"):
        assert Schema.infer(pa.table({"member": [True, None]})).inferred == ("member",)


def test_the_mark_stays_in_schemas_and_files_made_from_this_one(schema, tmp_path):
    schema.save(tmp_path / "schema.toml")
    made = [
        schema.select(["race", "member"]),
        schema.with_roles(sensitive=None),
        schema.with_columns(Column("job", Domain.categorical(["x", "y"]))),
        Schema.from_toml(schema.to_toml()),
        Schema.load(tmp_path / "schema.toml"),
        pickle.loads(pickle.dumps(schema)),
    ]

    assert [each["race"].inferred for each in made] == [True] * len(made)
    assert made[3] == schema
    assert "inferred = true" in schema.to_toml()


def test_a_column_that_is_declared_in_its_place_has_no_mark(schema):
    declared = schema.with_columns(Column("race", Domain.categorical(["a", "b", "c"])))

    assert declared.inferred == ("age",)
    assert declared.fingerprint != schema.fingerprint


def test_a_schema_that_was_declared_is_written_as_before():
    declared = Schema([Column("race", Domain.categorical(["a", "b"]))])

    assert "inferred" not in declared.to_toml()
    assert "inferred" not in repr(declared["race"])


def test_it_is_shown(schema):
    assert "read from the rows" in repr(schema)
    assert "read from the rows" in schema._repr_html_()
    assert repr(schema["race"]).endswith("inferred=True)")


def test_the_mark_is_true_or_false():
    with pytest.raises(
        InvalidParameterError, match="'inferred' parameter of column 'x' must be True or False"
    ):
        Column("x", Domain.integers(0, 1), inferred="yes")
    text = Schema([Column("x", Domain.integers(0, 1), inferred=True)]).to_toml()
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(text.replace("inferred = true", "inferred = 1"))
    assert caught.value.field == "columns.x.inferred"


@pytest.mark.parametrize("rule", ["outside", "nulls"])
def test_a_schema_names_the_columns_whose_rules_may_leave_rows_out(rule):
    columns = [Column("x", Domain.integers(0, 1), **{rule: "drop"}), Column("y", Domain.integers(0, 1))]

    assert [column.may_drop for column in columns] == [True, False]
    assert Schema(columns).may_drop == ("x",)
