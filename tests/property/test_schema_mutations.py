"""A damaged or hostile schema file gives a schema or one clear error that names the field."""

import datetime as dt
import random
import string
import time
import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import SchemaError
from evenhand.schema import Column, Domain, Level, Schema

SEED = 20_261_115

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

TOKENS = [
    "nan", "inf", "-0.0", "true", "1e400", "9" * 25, "0x" + "f" * 40, "1979-05-27", "07:32:00", "[]", "{}",
    "[[1]]", '""', '"\\u0000"', "'''", '"""', "\x00", "\\", "#", "=", "[[columns]]", "[roles]", "format = 1",
    "[columns.levels.groups]", 'name = "age"', "\r", "\ud7ff", "😀", "\u202e", "a.b.c = 1",
    "{a = {b = [1, {c = 2}]}}", "[" * 2_000, "a." * 40,
]  # fmt: skip

VALUES = [
    None, True, False, 0, 1, -1, 2**63, -(2**70), 10**4000, 0.0, 0.5, float("nan"), float("inf"), 1e308, "",
    "x", "age", "Male", "other", "x" * 3_000, "\x00", "\u202e", [], [[]], ["x"], [1, "x"], [1.5], {},
    {"x": 1}, {"name": "x"}, dt.date(1979, 5, 27), dt.time(7, 32), ["gender", "age"], [True], "categorical",
    "integers", "binned", "drop",
]  # fmt: skip


def _damage_text(text, rng):
    """Cut, copy, swap or overwrite a part of the text."""
    place, length = rng.randrange(len(text)), rng.choice([1, 1, 2, 5, 40])
    lines = text.split("\n")
    line, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(8)
    if how == 0:
        return text[:place] + text[place + length :]
    if how == 1:
        return text[:place] + rng.choice(TOKENS) + text[place:]
    if how == 2:
        return text[:place] + rng.choice(TOKENS) + text[place + length :]
    if how == 3:
        return text[:place] + rng.choice(string.printable) + text[place + 1 :]
    if how == 4:
        return text[:place]
    if how == 5:
        lines[line], lines[other] = lines[other], lines[line]
    elif how == 6:
        lines.insert(other, lines[line])
    else:
        key, _, _ = lines[line].partition("=")
        lines[line] = f"{key}= {rng.choice(TOKENS)}"
    return "\n".join(lines)


def _nodes(node, path=()):
    yield path
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, each in inside:
        yield from _nodes(each, (*path, key))


def _damage_document(text, rng):
    """Put something else, or nothing, where a value or a table stands."""
    document = tomllib.loads(text)
    *parents, last = rng.choice([path for path in _nodes(document) if path])
    owner = document
    for key in parents:
        owner = owner[key]
    value = rng.choice(VALUES)
    if value is None:
        del owner[last]
    elif isinstance(owner, dict) and rng.random() < 0.2:
        owner[rng.choice(["nam", "values", "extra", "cuts", "of", ""])] = value
    else:
        owner[last] = value
    return tomli_w.dumps(document)


def _damaged(rng):
    try:
        text = _damage_document(WHOLE, rng) if rng.random() < 0.5 else WHOLE
    except ValueError:  # a number of more digits than Python writes
        text = WHOLE
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        text = _damage_text(text or " ", rng)
    return text


def _outcome(text):
    """Read `text`; return the schema, or the field at fault; anything else is a failure."""
    try:
        schema = Schema.from_toml(text)
    except SchemaError as caught:
        field, message = caught.field, str(caught)
    else:
        assert Schema.from_toml(schema.to_toml()) == schema
        return schema
    assert isinstance(field, str)
    assert field
    assert len(message) < 5_000
    return field


def _try_many(count):
    rng = random.Random(SEED)
    outcomes = []
    for _ in range(count):
        text = _damaged(rng)
        start = time.perf_counter()
        outcomes.append(_outcome(text))
        assert time.perf_counter() - start < 2
    fields = [each for each in outcomes if isinstance(each, str)]

    assert len(outcomes) - len(fields) > count / 50  # some damage is harmless,
    assert len(fields) > count / 2  # most is not,
    assert len(set(fields)) > 30  # and the field at fault is told, not just that there is one
    return fields


def test_five_hundred_damaged_files_give_a_schema_or_one_clear_error():
    _try_many(500)


@pytest.mark.nightly
def test_twenty_thousand_damaged_files_give_a_schema_or_one_clear_error():
    _try_many(20_000)


@given(st.text())
def test_any_text_gives_a_schema_or_one_clear_error(text):
    _outcome(text)


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
        sorted({key for path in _nodes(tomllib.loads(WHOLE)) for key in path if isinstance(key, str)})
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
        _outcome(tomli_w.dumps(changed))


def _without_none(value):
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_none(each) for each in value if each is not None]
    return 0 if value is None else value
