"""Labels of values: people read them, while files, codes and the values of roles stay what they are."""

import pytest

from evenhand.errors import InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Schema

BIT = Domain.categorical([0, 1])


def labelled(**rules):
    return Column("white", BIT, value_labels={1: "White", 0: "Not white"}, **rules)


def test_labels_are_shown_and_codes_stay():
    column = labelled(nulls="other")

    assert column.display_labels == ("Not white", "White", "other")
    assert column.labels == ("0", "1", "other")
    assert column.size == 3


def test_a_schema_without_labels_has_the_toml_it_had():
    assert "value_labels" not in Schema([Column("white", BIT)]).to_toml()


@pytest.mark.parametrize(
    "domain",
    [BIT, Domain.categorical([0.5, 1.0]), Domain.categorical([False, True]), Domain.integers(0, 1)],
)
def test_labels_survive_a_file(domain):
    schema = Schema([Column("a", domain, value_labels={domain.labels[1]: 'the "second"'}), Column("b", BIT)])

    assert Schema.from_toml(schema.to_toml()) == schema
    assert hash(Schema.from_toml(schema.to_toml())) == hash(schema)


def test_bins_have_labels_too():
    column = Column("age", Domain.binned([0, 18, 99]), value_labels={"[0, 18)": "children"})

    assert column.display_labels == ("children", "[18, 99]")
    assert Schema.from_toml(Schema([column]).to_toml())["age"] == column


def test_a_role_may_be_given_by_its_label_and_keeps_the_value():
    schema = Schema([labelled()], protected="white", privileged="White")

    assert schema.privileged == 1
    assert schema.privileged_label == "White"
    assert "privileged: White" in repr(schema)
    assert "0 (Not white), 1 (White)" in repr(schema)


def test_a_value_comes_before_a_label():
    """A label that is another value's text is refused, so that no word means two values."""
    with pytest.raises(InvalidParameterError, match="none that another value has or is written as"):
        Column("x", BIT, value_labels={0: "1"})


@pytest.mark.parametrize(
    "labels", [{1: "a", "1": "b"}, {0: "a", 1: "a"}, {2: "a"}, {1: ""}, {1: 3}, [("1", "a")], {None: "a"}]
)
def test_labels_that_do_not_tell_values_apart_are_refused(labels):
    with pytest.raises(InvalidParameterError, match="'value_labels'"):
        Column("x", BIT, value_labels=labels)


def test_a_huge_range_takes_no_labels():
    with pytest.raises(InvalidParameterError, match="at most 100,000 values"):
        Column("x", Domain.integers(0, 10**9), value_labels={0: "none"})


def test_a_faulty_file_names_the_field():
    text = Schema([labelled()]).to_toml().replace('1 = "White"', '7 = "White"')

    with pytest.raises(SchemaError) as refusal:
        Schema.from_toml(text)

    assert refusal.value.field == "columns.white.value_labels"


def test_other_keeps_a_label_of_its_own():
    column = Column("x", BIT, value_labels={1: "other"}, nulls="other")

    assert column.display_labels == ("0", "other", "(other)")


def test_new_labels_take_the_place_of_old_ones():
    schema = Schema([labelled()]).with_labels({"white": {1: "Caucasian"}})

    assert schema["white"].display_labels == ("Not white", "Caucasian")
