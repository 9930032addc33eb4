"""A column adds a name, rules and at most one code to its domain."""

import dataclasses

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.schema import Column, Domain, Level

RULES = ("error", "other", "drop")


@pytest.mark.parametrize("outside", RULES)
@pytest.mark.parametrize("nulls", RULES)
@pytest.mark.parametrize(
    "domain", [Domain.categorical(["a", "b"]), Domain.integers(0, 1), Domain.binned([0, 1, 2])]
)
def test_there_is_one_code_for_other_if_either_rule_asks_for_it(domain, outside, nulls):
    """Two codes for 'other' would make cells nobody can be in; none would lose people."""
    column = Column("x", domain, outside=outside, nulls=nulls)
    wanted = "other" in (outside, nulls)

    assert column.has_other == wanted
    assert column.size == len(column.labels) == domain.size + wanted
    assert column.other_code == (domain.size if wanted else None)
    assert tuple(column.labels) == (*domain.labels, *["other"] * wanted)


def test_a_declared_other_keeps_its_label_and_the_extra_code_gets_brackets():
    twice = Column("x", Domain.categorical(["other", "(other)"]), nulls="other")

    assert Column("x", Domain.categorical(["Other"]), nulls="other").labels == ("Other", "other")
    assert Column("x", Domain.categorical(["other"]), nulls="other").labels == ("other", "(other)")
    assert twice.labels == ("other", "(other)", "((other))")


@pytest.mark.parametrize(
    ("size", "dtype"),
    [
        (1, "uint8"),
        (256, "uint8"),
        (257, "uint16"),
        (2**16, "uint16"),
        (2**16 + 1, "uint32"),
        (2**32, "uint32"),
        (2**32 + 1, "uint64"),
        (2**63 - 2, "uint64"),
    ],
)
def test_codes_take_the_least_room(size, dtype):
    assert Column("x", Domain.integers(0, size - 1)).dtype == np.dtype(dtype)


def test_the_code_of_other_counts_for_the_room():
    assert Column("x", Domain.integers(0, 255), nulls="other").dtype == np.dtype("uint16")


@pytest.mark.parametrize("name", ["", None, 3, "\ud800", b"age", ["age"]])
def test_a_name_is_text_that_is_not_empty(name):
    with pytest.raises(InvalidParameterError, match="'name' parameter of Column must be a non-empty string"):
        Column(name, Domain.integers(0, 1))


@pytest.mark.parametrize("name", [" ", "a.b", "Größe", "日本", "\n", "<b>", "$x"])
def test_any_other_text_is_a_name(name):
    assert Column(name, Domain.integers(0, 1)).name == name


def test_what_is_no_domain_rule_or_level_is_refused():
    domain = Domain.integers(0, 1)

    with pytest.raises(
        InvalidParameterError, match="'domain' parameter of column 'x' must be of type Domain"
    ):
        Column("x", ["a", "b"])
    with pytest.raises(
        InvalidParameterError, match="'outside' parameter of column 'x' must be one of 'error', 'other'"
    ):
        Column("x", domain, outside="ignore")
    with pytest.raises(InvalidParameterError, match="'nulls' parameter of column 'x' must be one of"):
        Column("x", domain, nulls=None)
    with pytest.raises(InvalidParameterError, match="'levels' parameter of column 'x' must be of type Level"):
        Column("x", domain, levels=["decade"])
    with pytest.raises(InvalidParameterError, match="'levels' parameter of column 'x' must be a list"):
        Column("x", domain, levels="decade")
    with pytest.raises(InvalidParameterError, match=r"at most 64 levels. Got 65 of them"):
        Column("x", domain, levels=[Level(f"level {number}", cuts=[]) for number in range(65)])
    with pytest.raises(TypeError):
        Column("x", domain, "drop")


def test_columns_are_frozen_and_equal_by_value():
    domain, level = Domain.integers(0, 9), Level("half", cuts=[5])
    column = Column("x", domain, nulls="drop", levels=[level])

    assert column == Column("x", Domain.integers(0, 9), nulls="drop", levels=(Level("half", cuts=[5]),))
    assert hash(column) == hash(Column("x", domain, nulls="drop", levels=iter([level])))
    assert column != Column("x", domain, outside="drop", levels=[level])
    assert column != Column("x", domain, nulls="drop")
    assert column != Column("y", domain, nulls="drop", levels=[level])
    assert Column("x", Domain.categorical([0, 1])) != Column("x", Domain.categorical([False, True]))
    for field in dataclasses.fields(column):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(column, field.name, None)


def test_the_repr_makes_the_column_again():
    names = {"Column": Column, "Domain": Domain, "Level": Level}
    for column in (
        Column("x", Domain.categorical(["a", "b"])),
        Column("x", Domain.integers(0, 9), outside="drop", nulls="other", levels=[Level("half", cuts=[5])]),
    ):
        assert eval(repr(column), names) == column


def test_an_unknown_level_is_refused_with_a_guess():
    column = Column("age", Domain.integers(0, 99), levels=[Level("decade", cuts=range(10, 100, 10))])

    assert column.level_names == ("decade",)
    with pytest.raises(
        UnknownNameError, match=r"Level 'decades' is not a level of column 'age'. Hint: did you mean 'decade'"
    ):
        column.level("decades")
