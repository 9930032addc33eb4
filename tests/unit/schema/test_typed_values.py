"""Labels as a person types them."""

import pytest

from evenhand.errors import ColumnNotFoundError, InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.schema.typed_values import label_values

SCHEMA = Schema(
    [
        Column("white", Domain.categorical([0.0, 1.0])),
        Column("time=zone", Domain.categorical(["a:b", "c"])),
        Column("sex", Domain.categorical([" Male", "Female"])),
    ]
)


def test_values_are_meant_as_people_write_them():
    schema = label_values(SCHEMA, ["white=1:White", "sex=Male:Men", "time=zone=a:b:Central"])

    assert schema["white"].display_labels == ("0.0", "White")
    assert schema["sex"].display_labels == ("Men", "Female")
    assert schema["time=zone"].display_labels == ("Central", "c")


@pytest.mark.parametrize("text", ["white", "white=1", "white=1:", "=1:White", "", "white=:White"])
def test_another_form_is_refused_with_an_example(text):
    with pytest.raises(InvalidParameterError, match="COLUMN=VALUE:LABEL, such as white=1:White"):
        label_values(SCHEMA, [text])


@pytest.mark.parametrize(
    "text", ["white=1:White,0:Black", "white=1:White, 0.0: Black", "sex=Male:Men,Female:Women"]
)
def test_several_values_in_one_label_are_refused(text):
    with pytest.raises(InvalidParameterError, match="--label white=1:White --label white=0:Black"):
        label_values(SCHEMA, [text])


def test_a_label_may_hold_commas_and_colons():
    schema = label_values(SCHEMA, ["white=1:White, or: Caucasian", "white=0:Black, 1 of 2"])

    assert schema["white"].display_labels == ("Black, 1 of 2", "White, or: Caucasian")


@pytest.mark.parametrize("second", ["white=1:Caucasian", "white=1.0:White", "white=0:White", "white=1:White"])
def test_a_label_or_a_value_given_twice_is_refused(second):
    with pytest.raises(InvalidParameterError, match="twice"):
        label_values(SCHEMA, ["white=1:White", second])


def test_a_label_may_not_be_another_value():
    with pytest.raises(InvalidParameterError, match="twice"):
        label_values(SCHEMA, ["sex=Male:Female"])


def test_a_column_or_value_that_is_not_there_is_refused_without_a_value_of_the_rows():
    with pytest.raises(ColumnNotFoundError):
        label_values(SCHEMA, ["race=1:White"])
    with pytest.raises(SchemaError) as refusal:
        label_values(SCHEMA, ["sex=x:Men"])
    assert "Female" not in str(refusal.value)
