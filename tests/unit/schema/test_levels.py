"""A level says which values are told as one; a column checks that it says so for each value once."""

import copy
import dataclasses
import math
import pickle
import time

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Level

PLACES = Domain.categorical(["Delft", "Leiden", "Paris", "Lyon"])
COUNTRY = Level("country", {"Netherlands": ["Delft", "Leiden"], "France": ["Paris", "Lyon"]})
WORLD = Level("world", {"all": ["Delft", "Leiden", "Paris", "Lyon"]})


def _places(*levels, **rules):
    return Column("place", PLACES, levels=levels, **rules)


def test_groups_map_base_codes_to_coarse_codes():
    column = _places(COUNTRY, WORLD)

    assert column.level_codes("country").tolist() == [0, 0, 1, 1]
    assert column.level("country").labels == ("Netherlands", "France")
    assert column.level_codes("world").tolist() == [0, 0, 0, 0]
    assert column.level_codes("country").dtype == np.dtype("uint8")


def test_other_is_a_group_of_its_own():
    column = _places(COUNTRY, nulls="other")

    assert column.level_codes("country").tolist() == [0, 0, 1, 1, 2]
    assert column.level("country").labels == ("Netherlands", "France", "other")
    assert (column.level("country").size, column.level("country").declared) == (3, 2)


def test_a_group_called_other_keeps_its_label():
    level = Level("capital", {"capital": ["Paris"], "other": ["Delft", "Leiden", "Lyon"]})

    assert _places(level, outside="other").level("capital").labels == ("capital", "other", "(other)")


def test_cuts_of_whole_numbers_start_a_new_group():
    column = Column("age", Domain.integers(17, 90), levels=[Level("life", cuts=[18, 65])])

    assert column.level("life").labels == ("17", "18 to 64", "65 to 90")
    assert column.level_codes("life").tolist() == [0] + [1] * 47 + [2] * 26


def test_cuts_of_bins_are_edges():
    column = Column("income", Domain.binned([0, 0.5, 1, 5, 10]), levels=[Level("rough", cuts=[1.0, 5])])

    assert column.level("rough").labels == ("[0, 1)", "[1, 5)", "[5, 10]")
    assert column.level_codes("rough").tolist() == [0, 0, 1, 2]


def test_cuts_may_have_labels_and_may_be_none_at_all():
    labelled = Level("life", cuts=[18], labels=["child", "adult"])

    assert Column("age", Domain.integers(0, 99), levels=[labelled]).level("life").labels == ("child", "adult")
    assert Column("age", Domain.integers(0, 99), levels=[Level("all", cuts=[])]).level("all").labels == (
        "0 to 99",
    )


def test_whole_numbers_and_bins_may_be_grouped_by_name():
    parity = Level("parity", {"even": [0, 2], "odd": [1, 3]})
    sides = Level("sides", {"ends": ["[0, 1)", "[2, 3]"], "middle": ["[1, 2)"]})

    assert Column("n", Domain.integers(0, 3), levels=[parity]).level_codes("parity").tolist() == [0, 1, 0, 1]
    assert Column("x", Domain.binned([0, 1, 2, 3]), levels=[sides]).level_codes("sides").tolist() == [0, 1, 0]


def test_a_level_may_be_made_of_an_earlier_one():
    decade = Level("decade", cuts=[10, 20, 30])
    stage = Level("stage", {"young": ["0 to 9", "10 to 19"], "old": ["20 to 29", "30 to 39"]}, of="decade")
    column = Column("age", Domain.integers(0, 39), nulls="other", levels=[decade, stage])

    assert column.level("stage").labels == ("young", "old", "other")
    assert column.level_codes("stage").tolist() == [0] * 20 + [1] * 20 + [2]


def test_a_level_made_of_a_level_equals_one_that_lists_the_values():
    names = Level("names", {"d": ["Delft"], "l": ["Leiden", "Lyon"], "p": ["Paris"]})
    short = _places(names, Level("two", {"x": ["l"], "y": ["d", "p"]}, of="names"))
    long = _places(names, Level("two", {"x": ["Leiden", "Lyon"], "y": ["Delft", "Paris"]}))

    assert short.level_codes("two").tolist() == long.level_codes("two").tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([Level("c", {"all": ["Delft", "Leiden", "Paris"]})], "leaves out 'Lyon', but every value"),
        (
            [Level("c", {"all": ["Delft", "Leiden", "Paris", "Lyon", "Rome"]})],
            "puts 'Rome' into 'all', but that is not",
        ),
        (
            [Level("c", {"a": ["Delft", "Leiden"], "b": ["Leiden"]})],
            "puts 'Leiden' into a group twice, .* into 'b'",
        ),
        ([Level("c", {"all": ["Delft", "Delft"]})], "puts 'Delft' into a group twice"),
        ([Level("c", {"all": [1, 2, 3, 4]})], "puts 1 into 'all', but that is not in the domain"),
        ([Level("c", cuts=[2])], "has cuts, but a categorical domain can only be put into groups"),
        ([WORLD, dataclasses.replace(COUNTRY, name="c")], "splits the group 'all' of level 'world'"),
        (
            [dataclasses.replace(COUNTRY, name="c"), dataclasses.replace(WORLD, name="c")],
            "the name of an earlier level",
        ),
        (
            [Level("c", {"all": ["Netherlands", "France"]}, of="country")],
            "is made of level 'country', which is not one",
        ),
    ],
)
def test_a_level_that_does_not_fit_is_named_with_the_label_at_fault(levels, message):
    """A value in no group would vanish from a generalised table; one in two would be counted twice."""
    with pytest.raises(SchemaError, match=f"Level 'c' of column 'place' .*{message}") as caught:
        _places(*levels)

    assert caught.value.field == "columns.place.levels.c"


@pytest.mark.parametrize(
    ("domain", "level", "message"),
    [
        (
            Domain.integers(0, 9),
            Level("c", cuts=[0]),
            "cuts at 0, but a cut must be a whole number above 0 and at most 9",
        ),
        (Domain.integers(0, 9), Level("c", cuts=[10]), "cuts at 10"),
        (Domain.integers(0, 9), Level("c", cuts=[2.5]), "cuts at 2.5"),
        (Domain.integers(0, 10**9), Level("c", {"few": [0, 1]}), "leaves out '2'"),
        (
            Domain.binned([0, 1, 2]),
            Level("c", cuts=[0.5]),
            "cuts at 0.5, which is not an edge between two bins",
        ),
        (Domain.binned([0, 1, 2]), Level("c", cuts=[0]), "cuts at 0, which is not an edge between two bins"),
        (Domain.binned([0, 1, 2]), Level("c", cuts=[2]), "cuts at 2, which is not an edge between two bins"),
        (Domain.categorical([0.0, 1.0]), Level("c", {"a": [False, True]}), "puts False into 'a'"),
    ],
)
def test_cuts_that_do_not_fit_the_domain_are_refused(domain, level, message):
    with pytest.raises(SchemaError, match=message):
        Column("x", domain, levels=[level])


def test_a_level_of_a_level_must_use_its_groups_once_each():
    decade = Level("decade", cuts=[10], labels=["a", "b"])
    for groups, message in (
        ({"x": ["a"]}, "leaves out 'b'"),
        ({"x": ["a", "b", "a"]}, "puts 'a' into a group twice"),
        ({"x": ["a", "b", "other"]}, "puts 'other' into 'x'"),
    ):
        with pytest.raises(SchemaError, match=message):
            Column(
                "n", Domain.integers(0, 19), nulls="other", levels=[decade, Level("top", groups, of="decade")]
            )


def test_coarsening_is_checked_against_the_level_right_before():
    fine, middle = Level("fine", cuts=[5, 10]), Level("middle", cuts=[10])

    assert Column("n", Domain.integers(0, 19), levels=[fine, middle]).level_names == ("fine", "middle")
    with pytest.raises(SchemaError, match="splits the group '0 to 9' of level 'middle'"):
        Column("n", Domain.integers(0, 19), levels=[middle, fine])
    with pytest.raises(SchemaError, match="splits the group '10 to 19' of level 'middle'"):
        Column("n", Domain.integers(0, 19), levels=[middle, Level("late", cuts=[12])])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "'name' parameter of Level must be a non-empty string"),
        ({}, "'groups' parameter of Level 'c' must be given, or else 'cuts'. Got 'neither'"),
        ({"groups": {}}, "must be given, or else 'cuts'"),
        ({"groups": {"a": [1]}, "cuts": [1]}, "must be given, or else 'cuts'. Got 'both'"),
        ({"groups": {"a": []}}, "at least one member. Got the empty group 'a'"),
        ({"groups": {"": [1]}}, "'groups' parameter of Level 'c' must be a non-empty string"),
        ({"groups": {"a": "bc"}}, "a list or a tuple"),
        ({"groups": {"a": [None]}}, "Got None in 'a'"),
        ({"groups": {"a": [math.nan]}}, "Got nan in 'a'"),
        ({"groups": {"a": [["b"]]}}, "Got a value of type list in 'a'"),
        ({"groups": [("a", ["b"]), ("a", ["c"])]}, "distinct values. Got 'a' twice"),
        ({"groups": ["a", "b"]}, "a mapping from a coarse label to its members"),
        ({"groups": 3}, "a list or a tuple"),
        ({"groups": {"a": ["b"]}, "labels": ["x"]}, "'labels' .* left out unless 'cuts' are given"),
        ({"groups": {"a": ["b"]}, "of": ""}, "'of' parameter of Level 'c' must be a non-empty string"),
        ({"cuts": [1], "of": "b"}, "'of' .* left out unless 'groups' are given"),
        ({"cuts": [1], "labels": ["x"]}, "a list of 2 labels"),
        ({"cuts": [1], "labels": ["x", "x"]}, "distinct values"),
        ({"cuts": [1], "labels": ""}, "'labels' .* a list or a tuple"),
        ({"cuts": 1}, "'cuts' .* a list or a tuple"),
        ({"cuts": ["1"]}, "finite numbers. Got the cut '1'"),
        ({"cuts": [True]}, "finite numbers. Got the cut True"),
        ({"cuts": [math.inf]}, "finite numbers. Got the cut inf"),
        ({"cuts": [2, 1]}, "strictly increasing. Got 2 followed by 1"),
        ({"cuts": [1, 1.0]}, "strictly increasing. Got 1 followed by 1"),
    ],
)
def test_a_level_that_says_nothing_clear_is_refused(arguments, message):
    with pytest.raises(InvalidParameterError, match=message):
        Level(**{"name": "c", **arguments})


def test_levels_are_frozen_hashable_and_equal_by_value_and_type():
    levels = [
        Level("c", {"a": [0], "b": [1]}),
        Level("c", {"a": [False], "b": [True]}),
        Level("c", {"a": [0.0], "b": [1.0]}),
        Level("c", {"a": ["0"], "b": ["1"]}),
        Level("c", {"b": [1], "a": [0]}),
        Level("c", {"a": ["0"], "b": ["1"]}, of="x"),
        Level("c", cuts=[1]),
        Level("c", cuts=[1], labels=["a", "b"]),
    ]

    assert len(set(levels)) == len(levels)
    for level in levels:
        assert [level == other for other in levels].count(True) == 1
        assert pickle.loads(pickle.dumps(level)) == copy.deepcopy(level) == level
        assert eval(repr(level), {"Level": Level}) == level
        with pytest.raises(dataclasses.FrozenInstanceError):
            level.name = "d"
    assert levels[0] != "c"


def test_a_whole_cut_is_a_whole_number_however_it_is_written():
    """Equal levels must be written alike, or equal schemas would have two fingerprints."""
    assert Level("c", cuts=[20.0, 30]) == Level("c", cuts=[20, np.int8(30)])
    assert Level("c", cuts=[1e17]) == Level("c", cuts=[10**17])
    assert repr(Level("c", cuts=[1e17])) == "Level('c', cuts=[100000000000000000])"
    assert repr(Level("c", cuts=[1e300])) == "Level('c', cuts=[1e+300])"
    assert repr(Level("c", cuts=[20.0, 30.5])) == "Level('c', cuts=[20, 30.5])"


def test_a_billion_whole_numbers_are_coarsened_without_a_table():
    start = time.perf_counter()
    column = Column(
        "n", Domain.integers(0, 10**9), nulls="other", levels=[Level("m", cuts=range(10**6, 10**8, 10**6))]
    )
    codes = column.level("m").apply(np.array([0, 10**6 - 1, 10**6, 10**9, 10**9 + 1], dtype=np.uint32))

    assert time.perf_counter() - start < 0.5
    assert codes.tolist() == [0, 0, 1, 99, 100]


def test_applying_a_level_equals_looking_it_up():
    column = _places(COUNTRY, nulls="other")
    codes = np.array([[4, 0], [3, 2]], dtype=np.uint8)

    assert column.level("country").apply(codes).tolist() == column.level_codes("country")[codes].tolist()
    assert column.level("country").apply(np.array([], dtype=np.uint8)).tolist() == []


@pytest.mark.parametrize("codes", [[4], [-1], [0.0], ["a"]])
def test_codes_that_are_none_are_refused_without_showing_them(codes):
    """Codes are private data: a message may not hold them."""
    with pytest.raises(
        InvalidParameterError, match=r"whole numbers from 0 to 3. Got something else instead.$"
    ):
        _places(COUNTRY).level("country").apply(np.array(codes))


def test_nobody_can_change_what_a_level_does():
    level = _places(COUNTRY).level("country")
    level.codes()[:] = 9

    assert level.codes().tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        level._groups[0] = 9
    with pytest.raises(dataclasses.FrozenInstanceError):
        level.labels = ()
