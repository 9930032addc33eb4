"""What is written is what is read, and one text stands for one schema."""

import copy
import pickle
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.schema import Column, Domain, Level, Schema
from property._schemas import DOMAINS, NAMES, TEXTS, schemas

pytestmark = pytest.mark.figures

FEWER = settings(
    max_examples=settings().max_examples // 2
)  # the schemas take longer to draw than to check; nightly there are 5,000


@FEWER
@given(schemas())
def test_a_schema_survives_its_file(schema):
    """A schema that changes on its way through a file changes what the codes of a release mean."""
    again = Schema.from_toml(schema.to_toml())

    assert again == schema
    assert hash(again) == hash(schema)
    assert again.fingerprint == schema.fingerprint
    assert again.to_toml() == schema.to_toml()
    assert repr(again) == repr(schema)
    assert [column.labels for column in again] == [column.labels for column in schema]
    assert [type(value) for value in vars(again.roles).values()] == [
        type(value) for value in vars(schema.roles).values()
    ]


@FEWER
@given(schemas())
def test_a_schema_survives_the_disk_and_other_processes(schema):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema.toml"
        schema.save(path)

        assert Schema.load(path) == schema
    assert pickle.loads(pickle.dumps(schema)) == copy.deepcopy(schema) == schema


@given(
    st.lists(NAMES, min_size=1, max_size=4, unique=True), st.lists(TEXTS, min_size=1, max_size=6, unique=True)
)
def test_any_text_may_be_a_name_a_value_or_a_group(names, values):
    schema = Schema(
        [
            Column(name, Domain.categorical(values), nulls="other", levels=[Level(name, {name: values})])
            for name in names
        ],
        sensitive=names,
        protected=names[0],
        privileged=values[0],
    )

    assert Schema.from_toml(schema.to_toml()) == schema


@st.composite
def _pairs(draw):
    """Return a schema and a near twin: the same, without a role, or in another order."""
    one = draw(schemas())
    roles = {**vars(one.roles), "sensitive": one.sensitive[::-1]}
    again = Schema(iter(one.columns), **roles)
    return one, draw(st.sampled_from([again, one.with_roles(sensitive=None), one.select(one.names[::-1])]))


@FEWER
@given(_pairs())
def test_two_schemas_are_equal_exactly_if_their_texts_are(pair):
    one, other = pair

    assert (one == other) == (one.to_toml() == other.to_toml()) == (one.fingerprint == other.fingerprint)
    assert one != other or hash(one) == hash(other)


@given(DOMAINS, DOMAINS)
def test_two_domains_are_equal_exactly_if_their_texts_are(one, other):
    texts = [Schema([Column("x", domain)]).to_toml() for domain in (one, other)]

    assert (one == other) == (texts[0] == texts[1])


@given(st.lists(st.integers(0, 1), min_size=1, max_size=2, unique=True))
def test_the_type_of_a_value_is_in_the_text(bits):
    """True == 1 == 1.0, but a file that lost the type would turn flags into counts."""
    kinds = [
        Schema([Column("x", Domain.categorical([kind(bit) for bit in bits]))])
        for kind in (bool, int, float, str)
    ]

    assert len(set(kinds)) == len({schema.to_toml() for schema in kinds}) == 4
    assert [Schema.from_toml(schema.to_toml()) for schema in kinds] == kinds


@FEWER
@given(schemas())
def test_the_text_is_plain_toml_that_other_tools_read(schema):
    document = tomllib.loads(schema.to_toml())

    assert document["format"] == 1
    assert [table["name"] for table in document["columns"]] == list(schema.names)
    assert document.get("roles", {}).get("protected") == schema.protected


@FEWER
@given(schemas())
def test_every_schema_can_be_shown(schema):
    assert len(repr(schema).splitlines()) == 1 + len(schema)
    assert schema._repr_html_().count("<tr>") == 1 + len(schema)


@FEWER
@given(schemas(), st.data())
def test_a_part_of_a_schema_is_a_schema(schema, data):
    names = data.draw(st.lists(st.sampled_from(schema.names), min_size=1, unique=True))
    part = schema.select(names)

    assert part.names == tuple(names)
    assert [part[name] for name in names] == [schema[name] for name in names]
    assert set(part.sensitive) == set(schema.sensitive) & set(names)
    assert part.select(part.names) == part
    assert schema.with_columns(*part) == schema
    assert schema.with_roles(**vars(schema.roles)) == schema
