"""The roles of columns that stand beside a schema: survey weights, and whose row it is."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import read_csv

SEX = Column("sex", Domain.categorical(["f", "m"]))
SCHEMA = Schema([SEX], sensitive="sex", weight="w", person="id", rows_per_person=3)


def test_weights_are_in_the_clear_and_the_person_is_not_told():
    assert SCHEMA.in_clear == ("w",)
    assert SCHEMA.beside == ("w", "id")
    assert SCHEMA.names == ("sex",)


def test_roles_come_back_from_a_file():
    assert Schema.from_toml(SCHEMA.to_toml()) == SCHEMA
    assert SCHEMA.select(["sex"]) == SCHEMA


def test_a_schema_without_them_has_the_text_it_had():
    text = Schema([SEX], protected="sex").to_toml()

    assert '[roles]\nprotected = "sex"\n\n[[columns]]' in text


def test_they_are_shown():
    assert "weights: w" in repr(SCHEMA)
    assert "person: id, of whom at most 3 rows count" in SCHEMA._repr_html_()
    assert "at most 1 row count" in repr(SCHEMA.with_roles(rows_per_person=1))


def test_a_person_counts_once_unless_told():
    assert Schema([SEX], person="id").rows_per_person == 1
    assert SCHEMA.with_roles(person="pid").rows_per_person == 1
    assert SCHEMA.with_roles(person=None).rows_per_person is None


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"weight": "sex"}, "The 'weight' parameter of Schema must be a column without another use"),
        ({"weight": "w", "person": "w"}, "The 'person' parameter of Schema must be a column without another"),
        ({"weight": 3}, "The 'weight' parameter of Schema must be the name of a column"),
        ({"person": "id", "rows_per_person": 0}, "The 'rows_per_person' parameter of Schema must be"),
    ],
)
def test_what_cannot_be_is_refused(roles, message):
    with pytest.raises(InvalidParameterError, match=message):
        Schema([SEX], **roles)


def test_rows_without_a_person_are_not_bounded():
    with pytest.raises(SchemaError, match="Hint: give 'person' too"):
        Schema([SEX], rows_per_person=2)
    with pytest.raises(SchemaError, match="rows_per_person"):
        Schema.from_toml(SCHEMA.to_toml().replace("rows_per_person = 3", "rows_per_person = 0"))
    with pytest.raises(SchemaError, match=r"'roles.weight' is not valid"):
        Schema.from_toml(SCHEMA.to_toml().replace('weight = "w"', "weight = 1"))


def test_inferring_leaves_them_out_of_the_columns():
    frame = pa.table({"sex": ["f", "m"], "w": [1.5, 2.0], "id": [1, 1]})
    with warnings.catch_warnings(action="ignore"):
        schema = Schema.infer(frame, weight="w", person="id", rows_per_person=2)

    assert schema.names == ("sex",)
    assert (schema.weight, schema.person, schema.rows_per_person) == ("w", "id", 2)


def test_a_file_is_read_with_its_weights_as_numbers_and_persons_as_text(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,sex,w,note\n07,f,1.5,x\n7,m,2,y\n,f,,z\n")

    assert read_csv(path, schema=SCHEMA).to_pydict() == {
        "sex": ["f", "m", "f"],
        "w": [1.5, 2.0, None],
        "id": ["07", "7", None],
    }
