"""What is sensitive is randomised or left out, unless somebody names it."""

import re

import pytest

from evenhand.engine.choices import choose_columns, strategy_of
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.schema import Column, Domain, Schema
from unit.engine._streams import SCHEMA

NAMES = ("id", "race", "age", "wage", "note", "hired")


def _choose(**given):
    return choose_columns(NAMES, SCHEMA, **{"columns": None, "keep": None, "strategy": "independent"} | given)


def test_sensitive_columns_are_reported_and_no_other_is_kept_unless_it_is_named():
    """Columns that nobody thought of link rows to people, whatever the reports hide."""
    found = _choose()

    assert found.reported == ("race", "age")
    assert found.in_clear == ()
    assert found.left_out == ("id", "wage", "note", "hired")
    assert found.in_order == ("race", "age")
    assert _choose(keep=["hired", "id"]).in_order == ("id", "race", "age", "hired")


def test_whose_row_it_is_is_in_the_clear_only_by_name():
    given = {"columns": None, "keep": None, "strategy": "independent"}
    schema = SCHEMA.with_roles(person="id")

    assert "id" in choose_columns(NAMES, schema, **given).left_out
    assert choose_columns(NAMES, schema, **given | {"keep": ["id"]}).in_clear == ("id",)


def test_a_sensitive_column_is_in_the_clear_only_by_name():
    """A column somebody called sensitive must not slip through because another one was asked for."""
    found = _choose(columns=["age"])

    assert (found.reported, found.in_order) == (("age",), ("age",))
    assert "race" not in found.kept
    assert _choose(columns=["age"], keep=["race"]).in_clear == ("race",)


def test_columns_come_in_the_order_of_the_file():
    assert _choose(columns=["hired", "race"], keep=["note", "id"]).in_order == ("id", "race", "note", "hired")
    assert _choose(keep=()).in_clear == ()


RESERVED = [
    "row order",
    "row order (id gives it back)",
    "linkable rows",
    "linkable rows (1 % are unique on these columns)",
    "index",
    "domains read from the rows",
    "people scored later",
]


@pytest.mark.parametrize("name", RESERVED)
def test_a_column_named_like_what_a_guarantee_lists_beside_columns_is_refused(name):
    """Listed as in the clear it could not be told from the order of the rows, or from an index."""
    told = f"'path' parameter of privatize_file .* Got a column named '{re.escape(name)}'.*rename the column"
    schema = Schema([*SCHEMA, Column(name, Domain.categorical(["f", "m"]))], sensitive=[name])
    how = {"columns": None, "keep": None, "strategy": "independent"}

    with pytest.raises(InvalidParameterError, match=told):
        choose_columns((*NAMES, name), SCHEMA, **how | {"keep": [name]})
    with pytest.raises(InvalidParameterError, match=told):
        choose_columns((*NAMES, name), schema, **how)
    assert choose_columns((*NAMES, name), SCHEMA, **how | {"keep": ["id"]}).in_clear == ("id",)
    assert (
        choose_columns((*NAMES, f"my {name}"), SCHEMA, **how | {"keep": [f"my {name}"]}).in_clear[-1]
        == f"my {name}"
    )


def test_a_single_one_of_several_is_the_protected_one():
    assert _choose(strategy="single").reported == ("race",)
    assert _choose(strategy="single", columns="wage").reported == ("wage",)
    with pytest.raises(InvalidParameterError, match="one column with the strategy 'single'"):
        _choose(strategy="single", columns=["age", "wage"])


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"columns": ["wages"]}, ColumnNotFoundError),
        ({"columns": ["note"]}, ColumnNotFoundError),  # it has no domain
        ({"columns": ["age", "age"]}, InvalidParameterError),
        ({"columns": [7]}, InvalidParameterError),
        ({"columns": []}, InvalidParameterError),
        ({"keep": ["race"]}, InvalidParameterError),
        ({"keep": ["nothing"]}, ColumnNotFoundError),
        ({"strategy": "other"}, InvalidParameterError),
    ],
)
def test_wrong_columns_are_refused(given, error):
    with pytest.raises(error):
        _choose(**given)


def test_a_schema_without_a_sensitive_column_needs_columns():
    with pytest.raises(InvalidParameterError, match="when the schema has no sensitive column"):
        choose_columns(
            NAMES, SCHEMA.with_roles(sensitive=None), columns=None, keep=None, strategy="independent"
        )


def test_a_column_that_the_file_lacks_is_named_and_no_other_is():
    """A file without a header has people's values where the names should be."""
    with pytest.raises(ColumnNotFoundError) as caught:
        choose_columns(("Smith", "1970"), SCHEMA, columns=None, keep=None, strategy="independent")
    assert "Smith" not in str(caught.value)
    assert "1970" not in str(caught.value)


def test_the_strategy_is_what_the_words_say():
    how = {"epsilon": "1/2", "protocol": "grr", "split": "uniform"}

    assert strategy_of(SCHEMA, ("race", "age"), strategy="independent", **how).name == "independent"
    assert strategy_of(SCHEMA, ("race", "age"), strategy="combined", **how).name == "combined"
    assert strategy_of(SCHEMA, ("race",), strategy="single", **how).columns == ("race",)
    sampled = strategy_of(SCHEMA, ("race", "age"), strategy="independent", **how | {"split": "sample"})
    assert sampled.name == "sampled"
    own = how | {"split": {"race": "1/8", "age": "3/8"}}
    parts = strategy_of(SCHEMA, ("race", "age"), strategy="independent", **own)
    assert parts.epsilon_within_report("race") * 4 == parts.epsilon


def test_a_split_that_does_not_exist_is_refused_even_if_nothing_is_split():
    with pytest.raises(InvalidParameterError, match="'split'"):
        strategy_of(SCHEMA, ("race",), epsilon=1, protocol="grr", split="halves", strategy="independent")


def test_a_column_of_one_value_is_refused():
    schema = SCHEMA.with_columns(Column("age", Domain.integers(3, 3)))

    with pytest.raises(InvalidParameterError, match="columns of at least two values"):
        strategy_of(schema, ("age",), epsilon=1, protocol="grr", split="uniform", strategy="independent")
