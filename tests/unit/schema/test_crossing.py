"""Several protected columns: what a schema makes of them, and what it refuses."""

import itertools

import numpy as np
import pytest

from evenhand.errors import ColumnNotFoundError, InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Schema

SEX = Column("sex", Domain.categorical(["Female", "Male"]))
RACE = Column("race", Domain.categorical(["Black", "White", "Asian"]), nulls="other")
PAY = Column("pay", Domain.integers(0, 1))


def schema(*columns, **roles):
    return Schema(columns or (SEX, RACE, PAY), **{"protected": ["sex", "race"], **roles})


def test_groups_are_the_combinations_in_the_order_given():
    crossed, turned = schema(), schema(protected=["race", "sex"])

    assert crossed.group_column.domain.values[:2] == ("Female, Black", "Female, White")
    assert turned.group_column.domain.values[:2] == ("Black, Female", "Black, Male")
    assert crossed.protected_name == "sex × race"
    assert crossed != turned


@pytest.mark.parametrize("missing_group", [False, True])
def test_codes_are_those_of_the_combination_row_by_row(missing_group):
    """One missing value means that the group is not stated, unless missing values are a group."""
    crossed = schema(missing_group=missing_group)
    pairs = list(itertools.product(range(SEX.size), range(RACE.size)))
    codes = crossed.group_codes(
        {"sex": np.array([s for s, _ in pairs]), "race": np.array([r for _, r in pairs])}
    )
    labels = crossed.group_column.display_labels
    for (sex, race), code in zip(pairs, codes, strict=True):
        if race == RACE.other_code and not missing_group:
            assert code == crossed.not_stated
        else:
            values = RACE.domain.values[race] if race < 3 else "race = not stated"
            assert labels[code] == f"{SEX.domain.values[sex]}, {values}"
    assert (crossed.not_stated is None) == missing_group


def test_the_privileged_group_is_a_value_of_each_column():
    crossed = schema(privileged=["Male", "White"])

    assert crossed.privileged == ("Male", "White")
    assert crossed.privileged_label == "Male, White"
    assert crossed.privileged_code == 4
    assert schema().privileged_code is None
    assert "protected (privileged: Male)" in repr(crossed)
    assert "protected (privileged: White)" in repr(crossed)


def test_a_file_says_the_same():
    crossed = schema(privileged=("Male", "White"), pool_below=30)

    assert Schema.from_toml(crossed.to_toml()) == crossed
    assert 'protected = ["sex", "race"]' in crossed.to_toml()
    assert 'privileged = ["Male", "White"]' in crossed.to_toml()


def test_one_column_in_a_list_is_that_column_and_written_as_before():
    alone = schema(protected=["sex"], privileged="Male")

    assert alone == schema(protected="sex", privileged="Male")
    assert 'protected = "sex"' in alone.to_toml()
    assert alone.crossing is None
    assert alone.group_column is alone["sex"]


def test_values_that_say_nothing_alone_come_with_their_column():
    coded = schema(
        Column("a", Domain.integers(0, 1)), Column("b", Domain.integers(0, 1)), protected=["a", "b"]
    )

    assert coded.group_column.domain.values[0] == "a = 0, b = 0"


def test_values_with_commas_stay_distinct():
    first = Column("a", Domain.categorical(["one", "one, two"]))
    second = Column("b", Domain.categorical(["two, six", "six"]))

    assert len(set(schema(first, second, protected=["a", "b"]).group_column.domain.values)) == 4


def test_schemas_made_from_one_keep_the_groups_only_with_all_their_columns():
    crossed = schema(privileged=("Male", "White"), pool_below=9)

    assert crossed.select(["race", "sex"]).privileged == ("Male", "White")
    assert crossed.select(["sex", "pay"]).protected is None
    assert crossed.with_roles(protected=["sex", "race"]).privileged == ("Male", "White")
    assert crossed.with_roles(protected="sex").privileged is None
    assert crossed.with_roles(protected="sex").pool_below is None


@pytest.mark.parametrize(
    ("roles", "error", "words"),
    [
        ({"protected": []}, InvalidParameterError, "an empty list"),
        ({"protected": ["sex", "sex"]}, InvalidParameterError, "one of them twice"),
        ({"protected": ["sex", "Race"]}, ColumnNotFoundError, "did you mean 'race'"),
        ({"protected": ["sex", 3]}, InvalidParameterError, "the name of a column"),
        ({"privileged": "Male"}, SchemaError, "one value each of 'sex' and 'race', in this order"),
        ({"privileged": ("Male",)}, SchemaError, "one value each"),
        ({"privileged": ("Male", None)}, SchemaError, "a value of each"),
        ({"privileged": ("Male", "Green")}, SchemaError, "'Green' is not in the domain of column 'race'"),
        ({"pool_below": 0}, InvalidParameterError, "pool_below"),
        ({"protected": None, "pool_below": 3}, SchemaError, "give 'protected' too"),
    ],
)
def test_what_contradicts_itself_is_refused_in_one_sentence(roles, error, words):
    with pytest.raises(error, match=words):
        schema(**roles)


def test_a_crossing_of_ten_thousand_cells_is_refused():
    hundred = [Column(name, Domain.integers(0, 99)) for name in "ab"]
    with pytest.raises(InvalidParameterError, match="at most 1,000 combinations"):
        schema(*hundred, protected=["a", "b"])


@pytest.mark.parametrize("number", [2, 3])
def test_codes_of_random_columns_are_those_of_their_labels(number):
    """A hundred random tables each, row by row: a code in the wrong place would have another label."""
    for seed in range(100):
        draws = np.random.default_rng(seed)
        columns = [
            Column(
                f"column {place}",
                Domain.categorical([f"value {value}" for value in range(draws.integers(1, 5))]),
                nulls=str(draws.choice(["error", "other"])),
                outside=str(draws.choice(["error", "other"])),
            )
            for place in range(number)
        ]
        crossed = schema(*columns, protected=[column.name for column in columns])
        codes = {column.name: draws.integers(0, column.size, 20) for column in columns}
        labels, stated = crossed.group_column.display_labels, crossed.not_stated
        for row, code in enumerate(crossed.group_codes(codes)):
            unknown = [
                column.nulls == "other" != column.outside and codes[column.name][row] == column.other_code
                for column in columns
            ]
            parts = [column.display_labels[codes[column.name][row]] for column in columns]
            named = [
                f"{column.name} = other" if part == "other" else part
                for column, part in zip(columns, parts, strict=True)
            ]
            assert code == stated if any(unknown) else labels[code] == ", ".join(named)
