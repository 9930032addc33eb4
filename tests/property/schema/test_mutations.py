"""A damaged or hostile schema file gives a schema or one clear error that names the field."""

import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import SchemaError
from evenhand.schema import Column, Domain, Level, Schema
from property._damage import VALUES, Damage, nodes

pytestmark = pytest.mark.figures

WHOLE = Schema(
    [
        Column("gender", Domain.categorical(["Female", "Male"]), nulls="other"),
        Column(
            "age",
            Domain.integers(17, 90),
            outside="drop",
            levels=[
                Level(
                    "decade", cuts=[20, 40, 60], labels=["under 20", "20 to 39", "40 to 59", "60 and over"]
                ),
                Level(
                    "half",
                    {"young": ["under 20", "20 to 39"], "old": ["40 to 59", "60 and over"]},
                    of="decade",
                ),
            ],
        ),
        Column(
            "place", Domain.categorical([1, 2, 5]), levels=[Level("side", {"left": [1], "right": [2, 5]})]
        ),
        Column("rate", Domain.categorical([0.5, 1.5], ordered=True)),
        Column("flag", Domain.categorical([False, True])),
        Column(
            "income", Domain.binned([0, 0.5, 1e300], labels=["low", "high"]), outside="other", nulls="other"
        ),
    ],
    sensitive=["gender", "age"],
    protected="gender",
    privileged="Male",
    target="income",
    positive="high",
    quasi_identifiers=["place"],
).to_toml()

DAMAGE = Damage(
    wholes=[WHOLE],
    values=VALUES,
    keys=["nam", "values", "extra", "cuts", "of", ""],
    read=Schema.from_toml,
    write=Schema.to_toml,
    compared=lambda schema: schema,
    error=SchemaError,
    longest=5_000,
)


def test_five_hundred_damaged_files_give_a_schema_or_one_clear_error():
    DAMAGE.try_many(500)


@pytest.mark.nightly
def test_twenty_thousand_damaged_files_give_a_schema_or_one_clear_error():
    DAMAGE.try_many(20_000)


@given(st.text())
def test_any_text_gives_a_schema_or_one_clear_error(text):
    DAMAGE.outcome(text)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats()
        | st.text(max_size=5)
        | st.dates(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "kind", "x"]), inner)
        ),
        max_leaves=6,
    ),
    st.sampled_from(
        sorted({key for path in nodes(tomllib.loads(WHOLE)) for key in path if isinstance(key, str)})
    ),
)
def test_any_value_under_any_key_gives_a_schema_or_one_clear_error(value, key):
    document = tomllib.loads(WHOLE)
    table = {key: _without_none(value)}
    for changed in (
        {**document, **table},
        {**document, "roles": {**document["roles"], **table}},
        {**document, "columns": [{**document["columns"][1], **table}, *document["columns"]]},
        {**document, "columns": [{**document["columns"][1], "levels": [{"name": "l", **table}]}]},
    ):
        DAMAGE.outcome(tomli_w.dumps(changed))


def _without_none(value):
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_none(each) for each in value if each is not None]
    return 0 if value is None else value


def test_the_whole_file_is_read():
    """Else every damage would be refused for a reason that was there before."""
    assert isinstance(DAMAGE.outcome(WHOLE), Schema)
