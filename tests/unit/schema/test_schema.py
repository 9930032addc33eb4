"""A schema is frozen public knowledge: equal by value, checked as a whole, with roles that fit."""

import copy
import dataclasses
import pickle

import pytest

from evenhand.errors import ColumnNotFoundError, InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Level, Roles, Schema

GENDER = Column("gender", Domain.categorical(["Female", "Male"]))
AGE = Column("age", Domain.integers(17, 90), outside="drop", nulls="other")
HOURS = Column("hours", Domain.binned([0, 20, 40, 100]))
INCOME = Column("income", Domain.categorical(["<=50K", ">50K"]))
COLUMNS = (GENDER, AGE, HOURS, INCOME)
ROLES = {
    "sensitive": ("gender", "age"),
    "protected": "gender",
    "privileged": "Male",
    "target": "income",
    "positive": ">50K",
    "quasi_identifiers": ("age", "hours"),
}


@pytest.fixture
def schema():
    return Schema(columns=COLUMNS, **ROLES)


def test_a_schema_gives_its_columns_by_name(schema):
    assert schema["age"] is schema.column("age") is AGE
    assert schema.names == ("gender", "age", "hours", "income")
    assert schema.sizes == {"gender": 2, "age": 75, "hours": 3, "income": 2}
    assert list(schema) == list(COLUMNS)
    assert len(schema) == 4
    assert "age" in schema
    assert "Age" not in schema
    assert ["age"] not in schema


def test_an_unknown_column_is_refused_with_a_guess(schema):
    with pytest.raises(
        ColumnNotFoundError, match=r"Column 'Age' is not in the schema. Hint: did you mean 'age'"
    ):
        schema["Age"]
    with pytest.raises(ColumnNotFoundError, match="is not in the schema"):
        schema[["age", "income"]]


def test_the_roles_are_one_object(schema):
    assert schema.roles == Roles(**ROLES)
    assert schema.roles.of("gender") == ("sensitive", "protected")
    assert schema.roles.of("age") == ("sensitive", "quasi-identifier")
    assert schema.roles.of("income") == ("target",)
    with pytest.raises(dataclasses.FrozenInstanceError):
        schema.roles.target = "age"


def test_what_is_not_sensitive_is_in_the_clear(schema):
    """A mechanism that protects gender leaves the label readable, and the report must say so."""
    assert schema.in_clear == ("hours", "income")
    assert Schema(COLUMNS).in_clear == schema.names


def test_a_protected_column_need_not_be_sensitive():
    assert Schema(COLUMNS, protected="gender").sensitive == ()


def test_one_name_stands_for_a_list_of_one():
    assert Schema(COLUMNS, sensitive="age", quasi_identifiers="age") == Schema(
        COLUMNS, sensitive=["age"], quasi_identifiers=("age",)
    )


def test_the_order_in_which_roles_are_named_does_not_count():
    left, right = Schema(COLUMNS, sensitive=["age", "gender"]), Schema(COLUMNS, sensitive={"gender", "age"})

    assert left.sensitive == ("gender", "age")
    assert left == right
    assert left.fingerprint == right.fingerprint


def test_the_order_of_columns_counts(schema):
    assert Schema(COLUMNS[::-1], **ROLES) != schema


def test_schemas_are_equal_by_value(schema):
    twin = Schema([*COLUMNS], **ROLES)

    assert twin == schema
    assert hash(twin) == hash(schema)
    assert len({twin, schema}) == 1
    assert schema != Schema(COLUMNS)
    assert schema != "schema"
    for copied in (copy.copy(schema), copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert copied == schema
        assert copied.fingerprint == schema.fingerprint


def test_schemas_of_flags_and_of_counts_differ():
    flags, counts, numbers, texts = (
        Schema([Column("x", Domain.categorical(values))], protected="x", privileged=values[1])
        for values in ([False, True], [0, 1], [0.0, 1.0], ["0", "1"])
    )

    assert len({flags, counts, numbers, texts}) == 4
    assert len({each.fingerprint for each in (flags, counts, numbers, texts)}) == 4


def test_a_schema_cannot_be_changed(schema):
    for field in dataclasses.fields(schema):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(schema, field.name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del schema.columns
    with pytest.raises(TypeError):
        schema["age"] = AGE
    schema.sizes["age"] = 0

    assert schema.sizes["age"] == 75


def test_a_role_value_is_kept_as_the_domain_has_it():
    column = Column("rate", Domain.categorical([0.0, 1.0]))

    assert type(Schema([column], protected="rate", privileged=1).privileged) is float
    assert Schema([column], protected="rate", privileged=1) == Schema(
        [column], protected="rate", privileged=1.0
    )
    assert Schema([AGE], target="age", positive=40).positive == 40
    assert Schema([HOURS], target="hours", positive="[20, 40)").positive == "[20, 40)"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((), "at least one Column. Got an empty list"),
        ((GENDER, AGE, GENDER), "distinct values. Got 'gender' twice"),
        (("gender",), "of type Column. Got a value of type str"),
        ("gender", "a list or a tuple"),
        (GENDER, "a list or a tuple"),
        ({GENDER, AGE}, "a list or a tuple. Got a value of type set"),
    ],
)
def test_what_is_no_list_of_columns_is_refused(columns, message):
    with pytest.raises(InvalidParameterError, match=f"'columns' parameter of Schema must be .*{message}"):
        Schema(columns)


@pytest.mark.parametrize("role", ["sensitive", "protected", "target", "quasi_identifiers"])
def test_a_role_of_an_unknown_column_is_refused_with_a_guess(role):
    with pytest.raises(
        ColumnNotFoundError, match=r"Column 'Gender' is not in the schema. Hint: did you mean 'gender'"
    ):
        Schema(COLUMNS, **{role: "Gender"})


@pytest.mark.parametrize("given", [3, b"age", {"age": 1}, [3], [None], ["age", ["gender"]], True])
@pytest.mark.parametrize("role", ["sensitive", "protected", "target", "quasi_identifiers"])
def test_a_role_that_is_no_name_is_refused(role, given):
    with pytest.raises(InvalidParameterError, match=f"'{role}' parameter of Schema must be .*name.? of"):
        Schema(COLUMNS, **{role: given})


@pytest.mark.parametrize("role", ["sensitive", "quasi_identifiers"])
def test_a_column_named_twice_in_a_role_is_refused(role):
    with pytest.raises(
        InvalidParameterError, match=f"'{role}' parameter of Schema must be a list of distinct columns"
    ):
        Schema(COLUMNS, **{role: ["age", "age"]})


@pytest.mark.parametrize(
    ("roles", "message", "field"),
    [
        (
            {"privileged": "Male"},
            "Role 'privileged' is a value of .* 'protected', but there is none",
            "roles.privileged",
        ),
        (
            {"positive": ">50K"},
            "Role 'positive' is a value of .* 'target', but there is none",
            "roles.positive",
        ),
        (
            {"protected": "gender", "privileged": "male"},
            "Value 'male' is not in the domain of column 'gender' .* did you mean 'Male'",
            "roles.privileged",
        ),
        (
            {"protected": "gender", "privileged": 1},
            "Value 1 is not in the domain of column 'gender'",
            "roles.privileged",
        ),
        ({"target": "income", "positive": True}, "Value True is not in the domain", "roles.positive"),
        (
            {"target": "age", "positive": 91},
            "Value 91 of role 'positive' .* It holds 74 values: 17 … 90",
            "roles.positive",
        ),
        ({"target": "age", "positive": "other"}, "Value 'other' of role 'positive'", "roles.positive"),
        (
            {"target": "hours", "positive": 30},
            "Value 30 is not in the domain of column 'hours'",
            "roles.positive",
        ),
        ({"target": "hours", "positive": ["x"]}, "Value 'a value of type list' is not", "roles.positive"),
    ],
)
def test_a_role_value_must_be_in_the_domain_of_its_column(roles, message, field):
    with pytest.raises(SchemaError, match=message) as caught:
        Schema(COLUMNS, **roles)

    assert caught.value.field == field


def test_a_guess_is_not_looked_for_among_thousands_of_values():
    column = Column("place", Domain.categorical([f"place {number}" for number in range(2_000)]))

    with pytest.raises(SchemaError, match="It holds 2,000 values: place 0, place 1, place 2 … place 1999"):
        Schema([column], protected="place", privileged="plaice 3")


def test_selecting_columns_keeps_their_order_and_the_roles_that_remain(schema):
    small = schema.select(["income", "age"])

    assert small == Schema(
        (INCOME, AGE), sensitive="age", target="income", positive=">50K", quasi_identifiers="age"
    )
    assert schema.select("gender").roles == Roles(
        sensitive=("gender",), protected="gender", privileged="Male"
    )
    assert schema.select(schema.names) == schema


def test_selecting_what_is_not_there_is_refused(schema):
    with pytest.raises(ColumnNotFoundError, match="did you mean 'age'"):
        schema.select(["ages"])
    with pytest.raises(InvalidParameterError, match="at least one Column"):
        schema.select([])
    with pytest.raises(InvalidParameterError, match="twice"):
        schema.select(["age", "age"])


def test_columns_are_replaced_in_place_or_added_at_the_end(schema):
    wider, extra = Column("age", Domain.integers(0, 120)), Column("x", Domain.integers(0, 1))
    changed = schema.with_columns(extra, wider)

    assert changed.names == ("gender", "age", "hours", "income", "x")
    assert changed["age"] == wider
    assert changed.roles == schema.roles
    assert schema["age"] == AGE
    with pytest.raises(InvalidParameterError, match="of type Column"):
        schema.with_columns("age")
    with pytest.raises(SchemaError, match="'>50K' is not in the domain of column 'income'"):
        schema.with_columns(Column("income", Domain.categorical(["low", "high"])))


def test_a_role_that_is_not_named_stays_and_none_takes_it_away(schema):
    assert schema.with_roles() == schema
    assert schema.with_roles(sensitive=["income"]).roles == dataclasses.replace(
        schema.roles, sensitive=("income",)
    )
    assert schema.with_roles(sensitive=None, quasi_identifiers=None).in_clear == schema.names
    assert schema.with_roles(positive=None).target == "income"
    with pytest.raises(TypeError):
        schema.with_roles(weights="age")


def test_a_new_protected_column_forgets_the_old_privileged_group(schema):
    assert schema.with_roles(protected="age").privileged is None
    assert schema.with_roles(protected="age", privileged=40).privileged == 40
    assert schema.with_roles(protected="gender").privileged == "Male"
    assert schema.with_roles(protected=None).privileged is None
    assert schema.with_roles(target="age").positive is None
    with pytest.raises(SchemaError, match="Value 'Male' of role 'privileged' is not"):
        schema.with_roles(protected="age", privileged="Male")


def test_the_repr_is_a_line_for_each_column(schema):
    levelled = schema.with_columns(
        dataclasses.replace(AGE, levels=(Level("life", cuts=[30]), Level("all", cuts=[])))
    )

    assert repr(levelled).splitlines() == [
        "Schema of 4 columns",
        "  gender  2 values: Female, Male                sensitive, protected (privileged: Male)",
        (
            "  age     74 values: 17 … 90                    sensitive, quasi-identifier; outside: drop; "
            "missing: other; levels: life, all"
        ),
        "  hours   3 bins: [0, 20), [20, 40), [40, 100]  quasi-identifier",
        "  income  2 values: <=50K, >50K                 target (positive: >50K)",
    ]
    assert repr(Schema([GENDER])) == "Schema of 1 column\n  gender  2 values: Female, Male"


def test_names_that_would_break_a_line_are_escaped():
    text = repr(Schema([Column("a\nb\u202ec", Domain.categorical(["\x1b[31m", " ", "x" * 100]))]))

    assert len(text.splitlines()) == 2
    assert "a\\nb\\u202ec" in text
    assert "\\x1b[31m, ' ', xxxxx" in text
    assert "x" * 41 not in text
